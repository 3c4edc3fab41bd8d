/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LST_REQUESTS_H
#define O2_PROPS_LST_REQUESTS_H

#include "lst/wire/msg.h"

/* Requests of a console at side A of a pair.  All have the feature of bulk lengths in bytes. */

struct o2_lst_sid o2_lst_sid_of(uint64_t stamp);
struct o2_lst_msg o2_lst_ask_mksn(struct o2_lst_sid sid, uint32_t force, const char *name);
struct o2_lst_msg o2_lst_ask_rmsn(struct o2_lst_sid sid);
struct o2_lst_msg o2_lst_ask_debug(void);
struct o2_lst_msg o2_lst_ask_ping(uint32_t sequence);
struct o2_lst_msg o2_lst_ask_join(struct o2_lst_sid sid);
struct o2_lst_msg o2_lst_ask_stat(struct o2_lst_sid sid);
struct o2_lst_msg o2_lst_ask_batch(struct o2_lst_sid sid, uint64_t batch, uint32_t opc, uint32_t index,
				   uint32_t arg);
/* One half of a ping test in batch 1: loop 3, concurrency 1, stop on error. */
struct o2_lst_msg o2_lst_ask_test(struct o2_lst_sid sid, bool is_client, uint32_t ndest);
struct o2_lst_msg o2_lst_ask_brw(enum o2_lst_brw_rw rw, enum o2_lst_brw_check check, uint32_t len);

#endif
