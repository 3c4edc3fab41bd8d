/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_CONSOLE_INTERNAL_H
#define O2_LST_CONSOLE_INTERNAL_H

#include "lst/console.h"

/* Internals of a console, shared by the files console*.c. */

/* A lane runs one RPC of the test at a time. */
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
	bool asking; /* a request to the framework has no answer yet */
	uint64_t asked_call;
	uint64_t asked_ms; /* time of the last such request that was sent */
	uint64_t heard_ms; /* time of the node's last answer to one */
	bool stopping;	   /* begin no more RPCs of the test */
	bool stopped;	   /* the owner has asked for that */
	bool lost;	   /* the node is in another session, or in none */
	bool pumping;
	uint64_t next; /* number of the next RPC */
	uint32_t nbusy;
	struct o2_lst_lane *lane;
	struct o2_lst_pages *pages; /* NULL: the test has no bulk */
	struct o2_lst_tester *tester;
	/* reverse: */
	struct o2_kiov list_kiov; /* the list of destinations: only this console */
	struct o2_transfer_memory list;
	enum o2_lst_batch_opc opc;	      /* the last request to the batch */
	bool told_stop, by_force, told_force; /* by_force: wanted; told_force: the node was told so */
};

/* console.c: the test has ended; enter the next step. */
void o2_lst_console_conclude(struct o2_lst_console *console);

void o2_lst_console_ask(struct o2_lst_console *console, uint32_t type);

/* console_config.c: a request of that type.  A BATCH_REQST has no body yet. */
struct o2_lst_msg o2_lst_console_request(const struct o2_lst_console_config *config, uint32_t type);

/* console_reverse.c: a test that the node runs. */
int o2_lst_reverse_open(struct o2_lst_console *console, struct o2_error *error);
void o2_lst_reverse_half(const struct o2_lst_console_config *config, struct o2_lst_test_reqst *test);
struct o2_lst_batch_reqst o2_lst_reverse_batch(const struct o2_lst_console *console);
void o2_lst_reverse_run(struct o2_lst_console *console);
/* Send the next request to the batch, if it is time. */
void o2_lst_reverse_go_on(struct o2_lst_console *console);
void o2_lst_reverse_take(struct o2_lst_console *console, const struct o2_lst_batch_reply *reply);

/* console_run.c */
/* Begin RPCs in all free lanes; if none is left to do or open, conclude. */
void o2_lst_console_pump(struct o2_lst_console *console);

#endif
