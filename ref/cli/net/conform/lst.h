/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_LST_H
#define O2_CLI_NET_CONFORM_LST_H

#include "cli/net/conform/conform.h"
#include "lst/test.h"

/*
 * --lst: parts of probes of LNet selftest: an endpoint with RPCs, requests to the node's framework, and
 * tests.  We are a console, and the client of its tests.  Nothing is sent that o2_lst_range_check() refuses.
 * Source: docs/conform.md, "LNet selftest".
 */

#define O2_CONFORM_LST	     "lst/" /* ids of these probes begin with it */
#define O2_CONFORM_LST_MANY  64u    /* tests at a time */
#define O2_CONFORM_LST_BATCH 1u
#define O2_CONFORM_LST_STAY  UINT32_MAX

/* A request, and its result. */
struct o2_conform_lst_asked {
	bool ended;
	int status;		 /* 0, or the status of struct o2_lst_answer */
	struct o2_lst_msg reply; /* if status is 0 */
	uint64_t bulk_bytes;	 /* bytes that were moved */
	char why[160];		 /* more about the status; "": nothing */
};

/* Results of tests of one or several kinds. */
struct o2_conform_lst_tries {
	uint32_t begun, ended, failed;
	bool starved;			     /* our own side ran out of memory for one */
	uint32_t first;			     /* index of the first kind that failed */
	char why[O2_CONFORM_TEXT_BYTES / 2]; /* why that one failed */
};

struct o2_conform_lst {
	struct o2_lst_rpc *rpc;
	struct o2_lst_pages *pages;
	struct o2_lst_tester *tester;
	enum o2_byte_order order; /* byte order of what we send */
	uint32_t features;	  /* of our session */
	struct o2_lst_sid sid;	  /* of our session, or of the next one to make */
	uint32_t session_timeout_s;
	uint64_t told_ms; /* the time that the RPCs know */
	bool down;	  /* a connection has ended */
	int down_code;
	uint32_t steps; /* leave after so many more steps; O2_CONFORM_LST_STAY: never */
	bool left;	/* we have left */
	struct o2_conform_lst_asked asked, silent;
	uint64_t silent_call;
	/* Bulk of a request that belongs to no test; all zero: none. */
	struct o2_lst_bulk bulk;
	struct o2_transfer_memory memory;
	struct o2_conform_lst_tries tries;
};

extern const struct o2_conform_probe o2_conform_lst_session_probes[], o2_conform_lst_bulk_probes[],
	o2_conform_lst_leave_probes[];

/* --- lst.c: the endpoint --- */

/* Pages of the arena that RPCs need, after those of the other probes; 0 without --lst. */
uint32_t o2_conform_lst_pages(const struct o2_net_options *options, uint32_t page_bytes);

/* Start an endpoint with RPCs, which o2_conform_stop() ends.  False: the reason was reported. */
bool o2_conform_lst_start(struct o2_conform *conform);
bool o2_conform_lst_start_in(struct o2_conform *conform, enum o2_byte_order order);

/* Parts of o2_conform_stop(), before and after the endpoint is closed; no effect without RPCs. */
void o2_conform_lst_stop(struct o2_conform *conform);
void o2_conform_lst_free(struct o2_conform *conform);

/* Pass a result or an event of LNet to the RPCs; true: it was meant for them. */
bool o2_conform_lst_done(struct o2_conform *conform, const struct o2_lnet_result *result);
bool o2_conform_lst_event(struct o2_conform *conform, const struct o2_lnet_event *event);

/* One round of the loop.  False: it ends, for a reason that was reported, or because we leave (left). */
bool o2_conform_lst_step(struct o2_conform *conform);

/* --- lst_ask.c: the framework; false or NULL: the reason was reported, or we have left --- */

/* A request of that type from our session. */
struct o2_lst_msg o2_conform_lst_request(const struct o2_conform *conform, uint32_t type);

/* Bulk that goes with a request. */
struct o2_conform_lst_bulk {
	const struct o2_transfer_memory *memory;
	bool is_source;
};

/* Send a request and wait for its result; bulk may be NULL.  The reply is valid until the next request. */
const struct o2_lst_msg *o2_conform_lst_ask(struct o2_conform *conform, const struct o2_lst_msg *request,
					    const struct o2_conform_lst_bulk *bulk);
/* The same; the reply must have that status, and the framework's replies must name that session. */
const struct o2_lst_msg *o2_conform_lst_expect(struct o2_conform *conform, const struct o2_lst_msg *request,
					       uint32_t status, struct o2_lst_sid sid);

/* Send a request that must get no reply; after a later request was answered, check that there was none. */
bool o2_conform_lst_silence(struct o2_conform *conform, const struct o2_lst_msg *request);
bool o2_conform_lst_was_silent(struct o2_conform *conform, const struct o2_lst_msg *request);

/*
 * Make our session, which replaces one that we have left behind.  A node in somebody else's session is not to
 * be tried; then this reports that, and returns false.
 */
bool o2_conform_lst_session(struct o2_conform *conform);
/* Add the server half of a test. */
bool o2_conform_lst_half(struct o2_conform *conform, enum o2_lst_service service);
/* Remove our session. */
bool o2_conform_lst_end(struct o2_conform *conform);

/* Find out whether the peer is a test node that can be tried; sets conform->has and conform->lacks. */
void o2_conform_lst_survey(struct o2_conform *conform);

/* --- lst_try.c: tests --- */

struct o2_lst_test o2_conform_lst_ping(const struct o2_conform *conform);
struct o2_lst_test o2_conform_lst_brw(const struct o2_conform *conform, enum o2_lst_brw_rw rw, uint32_t len);

/* Do `count` tests, at_a_time at a time, of each of the kinds `tests` in turn.  All must succeed. */
bool o2_conform_lst_try(struct o2_conform *conform, const struct o2_lst_test *tests, uint32_t ntests,
			uint32_t count, uint32_t at_a_time);

#endif
