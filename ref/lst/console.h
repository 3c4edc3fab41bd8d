/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_CONSOLE_H
#define O2_LST_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lst/rpc.h"
#include "lst/test.h"

/*
 * A console of LNet selftest that is the client of its test itself: it makes a session at one node, adds the
 * server half of a test there, sends the test's RPCs, asks for the node's counters and removes the session.  Or it
 * is the test's server: it adds the client half, and has the node run it towards us.
 * Source: docs/lst.md, "The console of o2ref".
 *
 * It has no thread and no clock of its own: the RPCs that it uses tell it of everything, and
 * o2_lst_console_check_time follows the interface's clock.  No request leaves it that
 * o2_lst_range_check() refuses.  What the node says is never believed.
 */

/* What it does, in this order. */
enum o2_lst_console_step {
	O2_LST_STEP_MAKE,   /* MKSN */
	O2_LST_STEP_TEST,   /* TEST, the server half */
	O2_LST_STEP_BEFORE, /* STAT, if it is wanted before too */
	O2_LST_STEP_RUN,    /* the test's RPCs; DEBUG, so that the session does not expire */
	O2_LST_STEP_AFTER,  /* STAT */
	O2_LST_STEP_REMOVE, /* RMSN */
	O2_LST_STEP_OVER,
};

/* "make session" and so on. */
const char *o2_lst_console_step_name(enum o2_lst_console_step step);

struct o2_lst_console_config {
	uint64_t nid;	       /* of the node */
	uint32_t pid;	       /* 0: O2_LNET_PID_KERNEL */
	struct o2_lst_sid sid; /* names the session: our NID, and a stamp that no earlier session had */
	struct o2_lst_name name;
	bool force;		 /* take the node from another session */
	uint64_t batch;		 /* number of the batch; any */
	bool before;		 /* ask for the counters before the test too: they never start again at 0 */
	struct o2_lst_test test; /* features: 1 */
	/*
	 * The node is the client, and we are the server: whoever owns the RPCs serves ping and brw there.  count is
	 * rounded up to a multiple of concurrency, and what becomes of each RPC the node knows: after.str_fw.
	 */
	bool reverse;
	uint32_t concurrency;  /* RPCs at a time */
	uint64_t count;	       /* RPCs; 0: no limit */
	uint64_t duration_ms;  /* after which no more are begun; 0: no limit */
	uint32_t first_page;   /* o2_lst_console_pages of the arena belong to the console */
	enum o2_reg_mode mode; /* of the memory of bulk */
};

/* How an RPC of the test has ended. */
enum o2_lst_outcome {
	O2_LST_WELL,
	O2_LST_CANCELED,       /* o2_lst_console_stop has ended it */
	O2_LST_FAIL_LOCAL,     /* it could not be sent, or its bulk failed; status */
	O2_LST_FAIL_TIMEOUT,   /* nothing, or not all, came in time */
	O2_LST_FAIL_MALFORMED, /* what came as the reply is none */
	O2_LST_FAIL_STATUS,    /* the reply's status is not 0; status is its negative */
	O2_LST_FAIL_ANSWER,    /* ping: not the magic, or not the number that was sent */
	O2_LST_FAIL_LENGTH,    /* brw: other than the bytes that were asked for were moved */
	O2_LST_FAIL_DATA,      /* read: a word is not what it must be */
	O2_LST_OUTCOMES,
};

/* "timeout" and so on. */
const char *o2_lst_outcome_name(enum o2_lst_outcome outcome);

struct o2_lst_console_result {
	uint64_t number; /* of the RPC, from 0 */
	uint32_t lane;	 /* which of those at a time */
	enum o2_lst_outcome outcome;
	enum o2_lst_failure failure;  /* the same, as the test's client has said it */
	int status;		      /* 0 or -errno */
	uint64_t bytes;		      /* that were moved */
	struct o2_lst_wrong wrong;    /* DATA */
	const struct o2_error *error; /* may be NULL */
};

struct o2_lst_console_ops {
	/* May be NULL.  An RPC of the test begins. */
	void (*began)(void *context, uint32_t lane);
	/* May be NULL.  It has ended, exactly once. */
	void (*ended)(void *context, const struct o2_lst_console_result *result);
};

/* What it came to. */
struct o2_lst_console_report {
	/* Where it is; or where and why it failed: status 0 or -errno. -EBUSY: the node is in the session of owner.  -ESTALE:
	 * another session has taken it. */
	enum o2_lst_console_step step;
	int status;
	bool has_error;
	struct o2_error error;
	struct o2_lst_sid owner;       /* -EBUSY, -ESTALE */
	struct o2_lst_name owner_name; /* -EBUSY; empty: unknown */
	uint32_t owner_timeout_s;
	bool made;		    /* there was a session of ours */
	bool left;		    /* and it may be there still, until its timeout */
	uint32_t session_timeout_s; /* the node's; 0: never */
	uint64_t begun;
	uint64_t outcome[O2_LST_OUTCOMES];
	uint64_t bytes;		       /* of those that went well */
	uint64_t started_ms, ended_ms; /* the test, by the interface's clock */
	bool has_before, has_after;
	struct o2_lst_stat_reply before, after;
};

struct o2_lst_console;

/*
 * What such a console may ask of a node: 0, or -EINVAL with *error (may be NULL) that names field, value and
 * limit, by a rule "lst/send/..." or "lst/console/...".
 */
int o2_lst_console_check(const struct o2_lst_console_config *config, struct o2_error *error);

/* What it takes: pages of the arena; calls of the RPCs at a time.  The configuration has been checked. */
uint32_t o2_lst_console_pages(const struct o2_lst_console_config *config, uint32_t page_bytes);
uint32_t o2_lst_console_calls(const struct o2_lst_console_config *config);

/*
 * rpc, arena and clock outlive it; ops are copied.  Nothing is sent yet.  Returns 0; -EINVAL:
 * o2_lst_console_check, or pages that do not exist; -ENOMEM.
 * LNet: lstcon_session_new
 */
int o2_lst_console_create(const struct o2_lst_console_config *config, struct o2_lst_rpc *rpc,
			  const struct o2_arena *arena, const struct o2_clock *clock,
			  const struct o2_lst_console_ops *ops, void *context,
			  struct o2_lst_console **console, struct o2_error *error);

/* No call of its is under way any more: it is over, or the RPCs were stopped.  NULL: nothing. */
void o2_lst_console_destroy(struct o2_lst_console *console);

/* Begin.  Once. */
void o2_lst_console_start(struct o2_lst_console *console);

/*
 * Begin no more RPCs of the test, and go on to the counters and the end of the session.  cancel: do not wait
 * for those under way.  Before the test, or without a session: as soon as what is under way has ended.
 * LNet: lstcon_batch_stop, lstcon_session_end
 */
void o2_lst_console_stop(struct o2_lst_console *console, bool cancel);

/*
 * The clock was told another time.
 * LNet: lstcon_rpc_pinger
 */
void o2_lst_console_check_time(struct o2_lst_console *console);

bool o2_lst_console_is_over(const struct o2_lst_console *console);

/* So far; valid while the console is. */
const struct o2_lst_console_report *o2_lst_console_report(const struct o2_lst_console *console);

#endif
