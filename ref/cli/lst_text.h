/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LST_TEXT_H
#define O2_CLI_LST_TEXT_H

#include <stdbool.h>

#include "lst/wire/msg.h"
#include "wire/msg.h"

/* Messages of LNet selftest (docs/lst.md) that IMMEDIATE messages carry. */

/*
 * Whether the message carries one: a PUT of 160 bytes to portal 50, 51 or 52 that begins with the magic and
 * has a known type.  *lst: the decoded message.
 */
bool o2_lst_inside(const struct o2_msg *msg, struct o2_lst_msg *lst);

/* The message in a few words: "LST BRW_REQST write 2048 bytes, check full". */
#define O2_LST_TEXT_BYTES 320u /* longer than any text */
void o2_lst_text(const struct o2_lst_msg *msg, char text[O2_LST_TEXT_BYTES]);

#endif
