/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_LST_H
#define O2_CLI_NET_CONFORM_LST_H

#include "cli/net/conform/conform.h"
#include "lst/test.h"

/*
 * --lst: what probes of LNet selftest are made of: an endpoint with RPCs, requests to the node's framework, and
 * tests.  We are a console and the client of its tests.  Nothing leaves that o2_lst_range_check() refuses.
 * Source: docs/conform.md, "LNet selftest".
 */

#define O2_CONFORM_LST	     "lst/" /* ids of these probes begin so */
#define O2_CONFORM_LST_MANY  64u    /* tests at a time */
#define O2_CONFORM_LST_BATCH 1u
#define O2_CONFORM_LST_STAY  UINT32_MAX

/* A request, and what came of it. */
struct o2_conform_lst_asked {
	bool ended;
	int status;		 /* 0, or that of o2_lst_answer */
	struct o2_lst_msg reply; /* status 0 */
	uint64_t bulk_bytes;	 /* moved */
	char why[160];		 /* more about the status; "": nothing */
};

/* Tests of one kind. */
struct o2_conform_lst_tries {
	uint32_t begun, ended, failed;
	bool starved;			     /* one of them, of memory on our own side */
	uint32_t first;			     /* that failed: which of the kinds */
	char why[O2_CONFORM_TEXT_BYTES / 2]; /* its */
};

struct o2_conform_lst {
	struct o2_lst_rpc *rpc;
	struct o2_lst_pages *pages;
	struct o2_lst_tester *tester;
	enum o2_byte_order order; /* of what we send */
	uint32_t features;	  /* of our session */
	struct o2_lst_sid sid;	  /* likewise, and of the next one before there is one */
	uint32_t session_timeout_s;
	uint64_t told_ms; /* the RPCs know this time */
	bool down;	  /* a connection has ended */
	int down_code;
	uint32_t steps; /* so many more, and we go away; O2_CONFORM_LST_STAY */
	bool left;	/* that has come */
	struct o2_conform_lst_asked asked, silent;
	uint64_t silent_call;
	/* Bulk of a request that no test makes; all zero: none. */
	struct o2_lst_bulk bulk;
	struct o2_transfer_memory memory;
	struct o2_conform_lst_tries tries;
};

extern const struct o2_conform_probe o2_conform_lst_session_probes[], o2_conform_lst_bulk_probes[],
	o2_conform_lst_leave_probes[];

/* --- lst.c: the endpoint --- */

/* Pages of the arena, behind those of the other probes; 0 without --lst. */
uint32_t o2_conform_lst_pages(const struct o2_net_options *options, uint32_t page_bytes);

/* Be a peer with RPCs, which o2_conform_stop() ends.  False: it has said why. */
bool o2_conform_lst_start(struct o2_conform *conform);
bool o2_conform_lst_start_in(struct o2_conform *conform, enum o2_byte_order order);

/* What o2_conform_stop() does, before and after the endpoint's end; of no effect without RPCs. */
void o2_conform_lst_stop(struct o2_conform *conform);
void o2_conform_lst_free(struct o2_conform *conform);

/* What LNet tells; true: it was meant for RPCs. */
bool o2_conform_lst_done(struct o2_conform *conform, const struct o2_lnet_result *result);
void o2_conform_lst_event(struct o2_conform *conform, const struct o2_lnet_event *event);

/* One round of the loop.  False: no more, which was said, or is as the probe wanted it (left). */
bool o2_conform_lst_step(struct o2_conform *conform);

/* --- lst_ask.c: the framework; false or NULL: it has said why, or we have left --- */

/* A request of that type from our session. */
struct o2_lst_msg o2_conform_lst_request(const struct o2_conform *conform, uint32_t type);

/* Bulk that goes with a request. */
struct o2_conform_lst_bulk {
	const struct o2_transfer_memory *memory;
	bool is_source;
};

/* Send it and wait for what belongs to it; bulk: may be NULL.  The reply is valid until the next one. */
const struct o2_lst_msg *o2_conform_lst_ask(struct o2_conform *conform, const struct o2_lst_msg *request,
					    const struct o2_conform_lst_bulk *bulk);
/* The same, and the reply must have that status; of the framework's, that session too. */
const struct o2_lst_msg *o2_conform_lst_expect(struct o2_conform *conform, const struct o2_lst_msg *request,
					       uint32_t status, struct o2_lst_sid sid);

/* Send one that is to get no reply; and, when something that was sent later was answered: it has got none. */
bool o2_conform_lst_silence(struct o2_conform *conform, const struct o2_lst_msg *request);
bool o2_conform_lst_was_silent(struct o2_conform *conform, const struct o2_lst_msg *request);

/*
 * Make our session.  One that we have left behind is taken; the node of somebody else is not to be tried, which
 * is said.
 */
bool o2_conform_lst_session(struct o2_conform *conform);
/* Add the server half of a test. */
bool o2_conform_lst_half(struct o2_conform *conform, enum o2_lst_service service);
/* Remove our session. */
bool o2_conform_lst_end(struct o2_conform *conform);

/* Whether the peer is a test node that can be tried: conform->has and conform->lacks. */
void o2_conform_lst_survey(struct o2_conform *conform);

/* --- lst_try.c: tests --- */

struct o2_lst_test o2_conform_lst_ping(const struct o2_conform *conform);
struct o2_lst_test o2_conform_lst_brw(const struct o2_conform *conform, enum o2_lst_brw_rw rw, uint32_t len);

/* So many, so many at a time, of each kind in turn.  All must go well. */
bool o2_conform_lst_try(struct o2_conform *conform, const struct o2_lst_test *tests, uint32_t ntests,
			uint32_t count, uint32_t at_a_time);

#endif
