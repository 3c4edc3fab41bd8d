/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_CONSOLE_H
#define O2_LST_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lst/rpc.h"
#include "lst/test.h"

/*
 * A console of LNet selftest that takes part in its test.  As the client, it makes a session at one node, adds
 * the server half of a test there, sends the test's RPCs, asks for the node's counters and removes the session.
 * With `reverse` it is the server: it adds the client half, and the node runs the test against it.
 * Source: docs/lst.md, "The console of o2ref".
 *
 * It has no thread and no clock of its own: the RPC layer reports every event to it, and
 * o2_lst_console_check_time follows the interface's clock.  It sends no request that o2_lst_range_check()
 * refuses, and trusts nothing that the node sends.
 */

/* The steps of the console, in this order. */
enum o2_lst_console_step {
	O2_LST_STEP_MAKE,   /* MKSN */
	O2_LST_STEP_TEST,   /* TEST, the server half */
	O2_LST_STEP_BEFORE, /* STAT, if `before` is set */
	O2_LST_STEP_RUN,    /* the test's RPCs; DEBUG requests keep the session from expiring */
	O2_LST_STEP_AFTER,  /* STAT */
	O2_LST_STEP_REMOVE, /* RMSN */
	O2_LST_STEP_OVER,
};

/* "make session" and so on. */
const char *o2_lst_console_step_name(enum o2_lst_console_step step);

struct o2_lst_console_config {
	uint64_t nid;	       /* of the node */
	uint32_t pid;	       /* 0: O2_LNET_PID_KERNEL */
	struct o2_lst_sid sid; /* name of the session: our NID, and a stamp that is never reused */
	struct o2_lst_name name;
	bool force;		 /* take the node from another session */
	uint64_t batch;		 /* number of the batch; any value */
	bool before;		 /* ask for the counters before the test too, since they never restart at 0 */
	struct o2_lst_test test; /* features: 1 */
	/*
	 * The node is the client, and the owner of the RPCs serves ping and brw.  count is rounded up to a
	 * multiple of concurrency.  Only the node knows the outcome of each RPC: see after.str_fw.
	 */
	bool reverse;
	uint32_t concurrency;  /* number of RPCs at a time */
	uint64_t count;	       /* number of RPCs; 0: no limit */
	uint64_t duration_ms;  /* no RPC begins after this time; 0: no limit */
	uint32_t first_page;   /* of o2_lst_console_pages() pages of the arena */
	enum o2_reg_mode mode; /* how bulk memory is registered */
};

/* How an RPC of the test has ended. */
enum o2_lst_outcome {
	O2_LST_WELL,
	O2_LST_CANCELED,       /* o2_lst_console_stop ended it */
	O2_LST_FAIL_LOCAL,     /* it could not be sent, or its bulk failed; see status */
	O2_LST_FAIL_TIMEOUT,   /* the reply or bulk did not come in time */
	O2_LST_FAIL_MALFORMED, /* the reply is malformed */
	O2_LST_FAIL_STATUS,    /* the reply's status is not 0; status is its negative */
	O2_LST_FAIL_ANSWER,    /* ping: the reply's magic or number is wrong */
	O2_LST_FAIL_LENGTH,    /* brw: not exactly the requested bytes were moved */
	O2_LST_FAIL_DATA,      /* read: a word has a wrong value */
	O2_LST_OUTCOMES,
};

/* "timeout" and so on. */
const char *o2_lst_outcome_name(enum o2_lst_outcome outcome);

struct o2_lst_console_result {
	uint64_t number; /* of the RPC, from 0 */
	uint32_t lane;	 /* index of the lane, below concurrency */
	enum o2_lst_outcome outcome;
	enum o2_lst_failure failure;  /* the same, as lst/test.h reports it */
	int status;		      /* 0 or -errno */
	uint64_t bytes;		      /* bytes moved */
	struct o2_lst_wrong wrong;    /* O2_LST_FAIL_DATA: the first wrong word */
	const struct o2_error *error; /* may be NULL */
};

struct o2_lst_console_ops {
	/* May be NULL.  Called when an RPC of the test begins. */
	void (*began)(void *context, uint32_t lane);
	/* May be NULL.  Called exactly once when an RPC of the test has ended. */
	void (*ended)(void *context, const struct o2_lst_console_result *result);
};

/* The result of the console's work. */
struct o2_lst_console_report {
	/* The current step; or the step that failed, with status -errno. */
	enum o2_lst_console_step step;
	int status;
	/* status is the negative of the one that the node replied with, of one above INT32_MAX -EPROTO; MKSN,
	 * -EBUSY: see owner. */
	bool refused;
	bool taken; /* -ESTALE: the node said that it is in the session of `owner`, no longer in ours */
	bool has_error;
	struct o2_error error;
	struct o2_lst_sid owner;       /* the node's session, if it is not ours */
	struct o2_lst_name owner_name; /* of a busy node; empty: unknown */
	uint32_t owner_timeout_s;
	bool made;		    /* our session was made */
	bool left;		    /* our session may still exist, until its timeout */
	uint32_t session_timeout_s; /* timeout of the node; 0: never */
	uint64_t begun;
	uint64_t outcome[O2_LST_OUTCOMES];
	uint64_t bytes;		       /* bytes of the RPCs that succeeded */
	uint64_t started_ms, ended_ms; /* start and end of the test, by the interface's clock */
	bool has_before, has_after;
	struct o2_lst_stat_reply before, after;
};

struct o2_lst_console;

/*
 * Check the configuration.  Returns 0, or -EINVAL with *error (may be NULL) that names the field, its value and
 * the limit, by a rule "lst/send/..." or "lst/console/...".
 */
int o2_lst_console_check(const struct o2_lst_console_config *config, struct o2_error *error);

/* Pages of the arena, and simultaneous calls of the RPC layer, that the console needs.  *config must be valid. */
uint32_t o2_lst_console_pages(const struct o2_lst_console_config *config, uint32_t page_bytes);
uint32_t o2_lst_console_calls(const struct o2_lst_console_config *config);

/*
 * rpc, arena and clock must outlive the console; ops are copied.  Nothing is sent yet.  Returns 0; -EINVAL:
 * o2_lst_console_check failed, or the pages do not exist; -ENOMEM.
 * LNet: lstcon_session_new
 */
int o2_lst_console_create(const struct o2_lst_console_config *config, struct o2_lst_rpc *rpc,
			  const struct o2_arena *arena, const struct o2_clock *clock,
			  const struct o2_lst_console_ops *ops, void *context,
			  struct o2_lst_console **console, struct o2_error *error);

/* The console must have no open call: it is over, or the RPCs were stopped.  console may be NULL. */
void o2_lst_console_destroy(struct o2_lst_console *console);

/* Start the first step.  To be called once. */
void o2_lst_console_start(struct o2_lst_console *console);

/*
 * Begin no more RPCs of the test; continue with the counters and the end of the session.  cancel: end open RPCs
 * instead of waiting for them.  A request to the framework that is open is waited for, but cancel ends it too
 * before there is a session, and when the console was stopped before.
 * LNet: lstcon_batch_stop, lstcon_session_end
 */
void o2_lst_console_stop(struct o2_lst_console *console, bool cancel);

/*
 * To be called when the clock has advanced.
 * LNet: lstcon_rpc_pinger
 */
void o2_lst_console_check_time(struct o2_lst_console *console);

bool o2_lst_console_is_over(const struct o2_lst_console *console);

/* The report so far; valid until the console is destroyed. */
const struct o2_lst_console_report *o2_lst_console_report(const struct o2_lst_console *console);

#endif
