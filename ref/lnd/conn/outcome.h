/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_OUTCOME_H
#define O2_LND_OUTCOME_H

#include <stdint.h>

#include "base/error.h"
#include "wire/msg.h"

/*
 * May a PUT_NAK, PUT_DONE or GET_DONE say this of an operation of nob bytes?  A status below 0 is an errno;
 * else how many bytes have moved: of a NAK none, of a PUT all of them, of a GET no more than were asked for.
 * Returns 0, or -EPROTO with *error.  Pure.  Source: docs/transport.md, "Operations".
 * o2iblnd: kiblnd_handle_completion
 */
int o2_outcome_judge(enum o2_msg_type type, int32_t status, uint64_t nob, struct o2_error *error);

#endif
