/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_TEST_H
#define O2_LST_TEST_H

#include <stdbool.h>
#include <stdint.h>

#include "lst/bulk.h"
#include "lst/pattern.h"
#include "lst/rpc.h"

/*
 * The client of a test: one ping or brw at a time and place, and whether what came of it is right.  A test node
 * does them for its client halves, and a console by itself.  Source: docs/lst.md, "Tests and batches".
 */

struct o2_lst_test {
	enum o2_lst_service service; /* O2_LST_SERVICE_BRW or O2_LST_SERVICE_PING */
	uint32_t features;	     /* of the session: 0 or 1 */
	/* brw: */
	enum o2_lst_brw_rw rw;
	enum o2_lst_brw_check check;
	uint32_t len, offset; /* bytes; where the memory begins in its first page */
	/*
	 * Of a read: hold every word to the pattern, whatever the check.  For who knows that the server fills
	 * all of it, as o2ref does; a kernel does so for check full only.
	 */
	bool every_word;
};

/*
 * 0 if a kernel may be asked to take part in it; else -EINVAL with *error (may be NULL), by the rules of
 * lst/wire/range.h.
 */
int o2_lst_test_check(const struct o2_lst_test *test, struct o2_error *error);

/* What has gone wrong. */
enum o2_lst_failure {
	O2_LST_FAILURE_NONE,
	O2_LST_FAILURE_RPC,    /* no reply, or what came is none */
	O2_LST_FAILURE_STATUS, /* the server says so */
	O2_LST_FAILURE_ANSWER, /* a ping's magic or number */
	O2_LST_FAILURE_LENGTH, /* other than len bytes were moved */
	O2_LST_FAILURE_DATA,   /* the bytes of a read are not the pattern */
	O2_LST_FAILURES,
};

struct o2_lst_test_result {
	uint64_t tag;
	enum o2_lst_failure failure;
	/*
	 * 0, or -errno: of the RPC (o2_lst_answer); the status of the reply, negative; -EBADMSG for the
	 * others.
	 */
	int status;
	uint64_t bytes;		       /* moved */
	uint64_t started_ms, ended_ms; /* by the clock */
	struct o2_lst_wrong wrong;     /* O2_LST_FAILURE_DATA: the first word */
	const struct o2_error *error;  /* may be NULL: more about an RPC; valid in the call only */
};

struct o2_lst_tester;

/*
 * max: how many at a time.  rpc, pages and clock outlive it.  Returns 0, -EINVAL (max 0) or -ENOMEM.
 */
int o2_lst_tester_create(uint32_t max, struct o2_lst_rpc *rpc, struct o2_lst_pages *pages,
			 const struct o2_clock *clock, struct o2_lst_tester **tester, struct o2_error *error);
/* Nothing may be under way. */
void o2_lst_tester_destroy(struct o2_lst_tester *tester);

/* How many are under way. */
uint32_t o2_lst_tester_active(const struct o2_lst_tester *tester);

/*
 * A ping test was added: its first ping has number 0.
 * LNet: ping_client_init
 */
void o2_lst_tester_new_ping(struct o2_lst_tester *tester);

struct o2_lst_try {
	const struct o2_lst_test *test; /* o2_lst_test_check() lets it pass */
	uint64_t nid;
	uint32_t pid; /* 0: O2_LNET_PID_KERNEL */
	/* Exactly once, when nothing of it is under way any more; from inside, another may be started. */
	void (*done)(void *context, const struct o2_lst_test_result *result);
	void *context;
	uint64_t tag;
};

/*
 * Do it once.  *id (may be NULL): names it for o2_lst_test_cancel.  Returns 0, or -errno when nothing was started and done
 * will not be called: -ENOSPC (max, or max_calls of the RPCs), -ENOBUFS (no pages now), -EMSGSIZE (never so
 * many pages), -ENOMEM, or what o2_lst_call_start says.
 * LNet: ping_client_prep_rpc, brw_client_prep_rpc, ping_client_done_rpc, brw_client_done_rpc
 */
int o2_lst_test_start(struct o2_lst_tester *tester, const struct o2_lst_try *asked, uint64_t *id,
		      struct o2_error *error);

/* End it with -ECANCELED, as o2_lst_call_cancel does.  Returns 0; -ENOENT: it has ended. */
int o2_lst_test_cancel(struct o2_lst_tester *tester, uint64_t id);

#endif
