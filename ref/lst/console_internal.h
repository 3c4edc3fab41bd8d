/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_CONSOLE_INTERNAL_H
#define O2_LST_CONSOLE_INTERNAL_H

#include "lst/console.h"

/* The inside of a console; shared by console.c and console_run.c. */

/* One RPC of the test at a time. */
struct o2_lst_lane {
	bool busy;
	uint64_t number;
	uint64_t call;
};

/* LNet: lstcon_session */
struct o2_lst_console {
	struct o2_lst_console_config config;
	struct o2_lst_rpc *rpc;
	const struct o2_arena *arena;
	const struct o2_clock *clock;
	struct o2_lst_console_ops ops;
	void *context;
	struct o2_lst_console_report report;
	enum o2_lst_console_step step;
	bool asking; /* a request to the framework is under way */
	uint64_t asked_call;
	uint64_t heard_ms; /* when the node last answered one */
	bool stopping;	   /* no more RPCs of the test */
	bool lost;	   /* the node is in another session, or in none */
	bool pumping;
	uint64_t next; /* number of the next RPC */
	uint32_t nbusy;
	struct o2_lst_lane *lane;
	struct o2_lst_pages *pages; /* NULL: the test has no bulk */
	struct o2_lst_tester *tester;
};

/* console.c: the test is over; the next step. */
void o2_lst_console_conclude(struct o2_lst_console *console);

/* console_run.c */
/* Begin what may be begun; when nothing is left, conclude. */
void o2_lst_console_pump(struct o2_lst_console *console);

#endif
