/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_TEST_H
#define O2_LST_TEST_H

#include <stdbool.h>
#include <stdint.h>

#include "lst/bulk.h"
#include "lst/pattern.h"
#include "lst/rpc.h"

/*
 * The client of a test: each try does one ping or brw, and checks the result.  A test node uses it for its
 * client halves, and a console for itself.  Source: docs/lst.md, "Tests and batches".
 */

struct o2_lst_test {
	enum o2_lst_service service; /* O2_LST_SERVICE_BRW or O2_LST_SERVICE_PING */
	uint32_t features;	     /* of the session: 0 or O2_LST_FEAT_BULK_LEN */
	/* brw: */
	enum o2_lst_brw_rw rw;
	enum o2_lst_brw_check check;
	uint32_t len, offset; /* length in bytes; offset of the memory in its first page */
	/*
	 * Read: check every word, whatever `check` is.  Only for servers that fill all of the memory, as o2ref
	 * does; a kernel does this for check full only.
	 */
	bool every_word;
};

/*
 * Returns 0 if a kernel may be asked to take part in the test; else -EINVAL with *error (may be NULL), by the
 * rules of lst/wire/range.h.
 */
int o2_lst_test_check(const struct o2_lst_test *test, struct o2_error *error);

/* The reason for a failure. */
enum o2_lst_failure {
	O2_LST_FAILURE_NONE,
	O2_LST_FAILURE_RPC,    /* no reply, or a malformed one */
	O2_LST_FAILURE_STATUS, /* the reply's status is not 0 */
	O2_LST_FAILURE_ANSWER, /* the magic or the number of a ping is wrong */
	O2_LST_FAILURE_LENGTH, /* not exactly len bytes were moved */
	O2_LST_FAILURE_DATA,   /* the bytes of a read are not the pattern */
	O2_LST_FAILURES,
};

struct o2_lst_test_result {
	uint64_t tag;
	enum o2_lst_failure failure;
	/*
	 * 0, or -errno: the status of the RPC (o2_lst_answer); the negative status of the reply; or -EBADMSG
	 * for the other failures.
	 */
	int status;
	uint64_t bytes;		      /* bytes moved */
	struct o2_lst_wrong wrong;    /* O2_LST_FAILURE_DATA: the first wrong word */
	const struct o2_error *error; /* details of a failed RPC; may be NULL; valid during the call only */
};

struct o2_lst_tester;

/*
 * max: tries at a time.  rpc, pages and clock must outlive the tester.  Returns 0, -EINVAL (max 0) or -ENOMEM.
 */
int o2_lst_tester_create(uint32_t max, struct o2_lst_rpc *rpc, struct o2_lst_pages *pages,
			 const struct o2_clock *clock, struct o2_lst_tester **tester, struct o2_error *error);
/* No try may be open.  tester may be NULL. */
void o2_lst_tester_destroy(struct o2_lst_tester *tester);

/* Number of open tries. */
uint32_t o2_lst_tester_active(const struct o2_lst_tester *tester);

/*
 * To be called when a ping test is added: the next ping has number 0.
 * LNet: ping_client_init
 */
void o2_lst_tester_new_ping(struct o2_lst_tester *tester);

struct o2_lst_try {
	const struct o2_lst_test *test; /* must pass o2_lst_test_check() */
	uint64_t nid;
	uint32_t pid; /* 0: O2_LNET_PID_KERNEL */
	/* Called exactly once, when all of the try has ended; it may start another one. */
	void (*done)(void *context, const struct o2_lst_test_result *result);
	void *context;
	uint64_t tag;
};

/*
 * Do the ping or brw once.  *id (may be NULL) is set to a name for o2_lst_test_cancel.  Returns 0, or -errno if
 * nothing was started and done will not be called: -ENOSPC (max, or max_calls of the RPCs), -ENOBUFS (too few
 * pages are free), -EMSGSIZE (too few pages exist), -ENOMEM, or an error of o2_lst_call_start.
 * LNet: ping_client_prep_rpc, brw_client_prep_rpc, ping_client_done_rpc, brw_client_done_rpc
 */
int o2_lst_test_start(struct o2_lst_tester *tester, const struct o2_lst_try *asked, uint64_t *id,
		      struct o2_error *error);

/* End a try with -ECANCELED, as o2_lst_call_cancel does.  Returns 0, or -ENOENT: it has ended. */
int o2_lst_test_cancel(struct o2_lst_tester *tester, uint64_t id);

#endif
