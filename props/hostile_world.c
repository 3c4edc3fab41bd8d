/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lnd/ni_counts.h"
#include "props/hostile_internal.h"

/* One liar, one victim, one honest bystander; what is true of all of them when the liar is done. */

#define IDLE_ROUNDS	  8u
#define STEPS_AT_MOST	  20000u /* of the loop that lets everything happen */
#define DESCRIBED_AT_MOST 12288u
#define HONEST_BYTES	  9000u

/* `nob` bytes from `at` on, page by page. */
struct o2_transfer_memory o2_hostile_memory(struct o2_hostile_end *end, int which, uint32_t at, uint64_t nob,
					    enum o2_reg_mode mode)
{
	struct o2_kiov *kiov = end->kiov[which];
	uint32_t count = 0;

	for (uint64_t left = nob; left > 0; count++) {
		uint32_t take = 4096 - at % 4096;

		if (take > left)
			take = (uint32_t)left;
		kiov[count] = (struct o2_kiov){at / 4096, at % 4096, take};
		at += take;
		left -= take;
	}
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = count, .nob = nob, .kiov = kiov},
		.mode = mode,
	};
}

static int match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	struct o2_hostile_end *end = context;

	(void)request;
	(void)sink_bytes;
	if (end->serve.buffer.nob == 0)
		return -ENODATA;
	end->matched++;
	*memory = end->serve;
	return 0;
}

static int receive(void *context, const struct o2_msg *msg)
{
	struct o2_hostile_end *end = context;

	(void)msg;
	end->received++;
	return 0;
}

static void done(void *context, const struct o2_transfer_result *result)
{
	struct o2_hostile_end *end = context;

	end->done++;
	end->last = *result;
	if (result->status != 0)
		return;
	end->puts_well += result->initiator && result->op == O2_OP_PUT;
	end->gets_well += result->initiator && result->op == O2_OP_GET;
	end->served_well += !result->initiator;
}

static void closed(void *context, const struct o2_transfer_fault *fault)
{
	struct o2_hostile_end *end = context;

	(void)fault;
	end->closed++;
}

static const struct o2_conn_ops ops = {.match = match, .receive = receive, .done = done, .closed = closed};

int o2_hostile_ni_open(struct o2_ni *ni, enum o2_hostile_ni which)
{
	static const uint64_t nids[] = {O2_VICTIM_NID, O2_LIAR_NID, O2_FRIEND_NID};
	static const uint64_t stamps[] = {O2_VICTIM_STAMP, O2_LIAR_STAMP, O2_FRIEND_STAMP};
	struct o2_ni_config config = {
		.device = which == O2_NI_VICTIM ? "loop0" : "loop1",
		.port = 1,
		.gid_index = 1,
		.nid = nids[which],
		.incarnation = stamps[which],
		.dma_kind = O2_DMA_BUS,
		.dma_base = UINT64_C(0x240000000),
		.arena_pages = which == O2_NI_LIAR ? 1 : O2_HOSTILE_PAGES,
	};

	return o2_ni_open(&config, ni, NULL);
}

static int make_end(struct o2_hostile *h, struct o2_hostile_end *end, enum o2_hostile_ni ni,
		    const struct o2_conn_config *config)
{
	struct o2_conn_config few = *config;

	memset(end, 0, sizeof(*end));
	end->h = h;
	few.max_transfers = 32;
	return o2_conn_create(&h->ni[ni], &few, &ops, end, &end->conn, NULL);
}

static int connect_honest(struct o2_hostile *h)
{
	struct o2_conn_address a, b;
	int rc;

	o2_conn_get_address(h->honest.conn, &a);
	o2_conn_get_address(h->friend.conn, &b);
	rc = o2_conn_connect(h->honest.conn, &b, NULL);
	return rc == 0 ? o2_conn_connect(h->friend.conn, &a, NULL) : rc;
}

static void fill(struct o2_hostile *h, size_t at, size_t bytes)
{
	uint8_t *memory = h->ni[O2_NI_VICTIM].arena.memory;

	for (size_t i = at; i < at + bytes; i++)
		memory[i] = (uint8_t)(i * 2654435761u >> 13);
	memcpy(h->before + at, memory + at, bytes);
}

int o2_hostile_open(struct o2_hostile *h)
{
	size_t bytes = (size_t)O2_HOSTILE_PAGES * 4096;
	int rc = 0;

	for (int i = 0; i < O2_HOSTILE_NIS && rc == 0; i++)
		rc = o2_hostile_ni_open(&h->ni[i], (enum o2_hostile_ni)i);
	if (rc == 0)
		rc = make_end(h, &h->honest, O2_NI_VICTIM, &O2_CONN_DEFAULTS);
	if (rc == 0)
		rc = make_end(h, &h->friend, O2_NI_FRIEND, &O2_CONN_DEFAULTS);
	if (rc == 0)
		rc = connect_honest(h);
	if (rc != 0)
		return rc;
	h->before = malloc(bytes);
	if (h->before == NULL)
		return -ENOMEM;
	fill(h, 0, bytes);
	return 0;
}

int o2_hostile_meet(struct o2_hostile *h, const struct o2_conn_config *config)
{
	struct o2_conn_peer peer = {O2_LIAR_NID,	 O2_LIAR_STAMP,	    O2_MSG_VERSION_2,
				    config->queue_depth, config->max_frags, O2_MSG_BYTES};
	int rc;

	memset(&h->liar, 0, sizeof(h->liar));
	memset(h->described_bytes, 0, sizeof(h->described_bytes));
	h->now_ms = 0;
	h->endless = false;
	/* As if nobody had been there before. */
	fill(h, O2_SERVED_AT, DESCRIBED_AT_MOST);
	fill(h, O2_GET_AT, DESCRIBED_AT_MOST);
	rc = make_end(h, &h->victim, O2_NI_VICTIM, config);
	if (rc == 0)
		rc = o2_liar_open(h);
	if (rc == 0)
		rc = o2_conn_set_peer(h->victim.conn, &peer, NULL);
	if (rc == 0)
		rc = o2_liar_connect(h);
	if (rc == 0)
		o2_conn_establish(h->victim.conn, 0);
	return rc;
}

void o2_hostile_part(struct o2_hostile *h)
{
	o2_conn_destroy(h->victim.conn);
	h->victim.conn = NULL;
	o2_liar_close(h);
	memset(&h->liar, 0, sizeof(h->liar));
}

void o2_hostile_close(struct o2_hostile *h)
{
	o2_hostile_part(h);
	o2_conn_destroy(h->honest.conn);
	o2_conn_destroy(h->friend.conn);
	for (int i = 0; i < O2_HOSTILE_NIS; i++)
		o2_ni_close(&h->ni[i]);
	free(h->before);
	memset(h, 0, sizeof(*h));
}

void o2_hostile_settle(struct o2_hostile *h)
{
	uint32_t idle = 0;

	for (uint32_t step = 0; idle < IDLE_ROUNDS; step++) {
		int busy = o2_liar_progress(h);
		int rc[] = {o2_conn_progress(h->victim.conn), o2_conn_progress(h->honest.conn),
			    o2_conn_progress(h->friend.conn)};

		for (int i = 0; i < 3; i++)
			busy += rc[i] > 0;
		idle = busy > 0 ? 0 : idle + 1;
		if (step > STEPS_AT_MOST) {
			h->endless = true;
			return;
		}
	}
}

static struct o2_lnet_hdr header(const struct o2_conn *conn, enum o2_lnet_type type, uint64_t nob)
{
	return o2_conn_lnet_hdr(conn, type, 0, nob);
}

bool o2_victim_put(struct o2_hostile *h, uint64_t nob, enum o2_reg_mode mode)
{
	struct o2_transfer_memory memory = o2_hostile_memory(&h->victim, 1, O2_PUT_AT, nob, mode);
	struct o2_lnet_hdr hdr = header(h->victim.conn, O2_LNET_PUT, nob);

	if (o2_conn_put(h->victim.conn, &hdr, &memory, NULL, NULL) != 0)
		return false;
	h->victim.started++;
	return true;
}

bool o2_victim_get(struct o2_hostile *h, uint64_t nob, enum o2_reg_mode mode)
{
	struct o2_transfer_memory memory = o2_hostile_memory(&h->victim, 2, O2_GET_AT, nob, mode);
	struct o2_lnet_hdr hdr = header(h->victim.conn, O2_LNET_GET, nob);

	if (o2_conn_get(h->victim.conn, &hdr, &memory, NULL, NULL) != 0)
		return false;
	h->victim.started++;
	if (nob > h->described_bytes[1])
		h->described_bytes[1] = nob;
	return true;
}

bool o2_victim_send(struct o2_hostile *h)
{
	struct o2_lnet_hdr hdr = header(h->victim.conn, O2_LNET_PUT, 0);

	if (o2_conn_send(h->victim.conn, &hdr, NULL, NULL, NULL) != 0)
		return false;
	h->victim.started++;
	return true;
}

void o2_victim_serves(struct o2_hostile *h, uint64_t nob, enum o2_reg_mode mode)
{
	h->victim.serve = o2_hostile_memory(&h->victim, 0, O2_SERVED_AT, nob, mode);
	h->described_bytes[0] = nob;
}

void o2_hostile_clock(struct o2_hostile *h, uint64_t ms)
{
	h->now_ms += ms;
	o2_conn_clock(h->victim.conn, h->now_ms);
}

const struct o2_transfer_result *o2_victim_result(const struct o2_hostile *h)
{
	return h->victim.done > 0 ? &h->victim.last : NULL;
}

struct o2_conn *o2_victim_conn(const struct o2_hostile *h)
{
	return h->victim.conn;
}

static bool met(struct o2_hostile *h, const struct o2_misbehaviour *what, char *why)
{
	const struct o2_transfer_fault *fault = o2_conn_get_fault(h->victim.conn);
	bool open = o2_conn_get_state(h->victim.conn) == O2_CONN_ESTABLISHED;
	const char *rule = fault->error.rule == NULL ? "-" : fault->error.rule;
	uint32_t received = h->victim.received;

	if (what->reaction == O2_REACT_KEEP) {
		/* It is not only open: it hears the next message. */
		o2_liar_begin(h, O2_MSG_IMMEDIATE);
		open = open && o2_liar_send(h);
		o2_hostile_settle(h);
		snprintf(why, 200, "kept: %d, next message heard: %d; closed by %s", open,
			 h->victim.received == received + 1, rule);
		return open && h->victim.received == received + 1;
	}
	snprintf(why, 200, "open %d, closed with %d by %s; expected %d by %s", open, fault->code, rule,
		 what->code, what->rule);
	if (open || fault->code != what->code)
		return false;
	if (what->reaction == O2_REACT_CLOSE)
		return fault->side == O2_FAULT_PEER_MESSAGE && strcmp(rule, what->rule) == 0;
	return fault->side ==
	       (what->reaction == O2_REACT_TIMEOUT ? O2_FAULT_DEADLINE : O2_FAULT_LOCAL_COMPLETION);
}

/* The victim's other connection moves bytes as if nothing had happened. */
static bool honest_works(struct o2_hostile *h)
{
	struct o2_transfer_memory source =
		o2_hostile_memory(&h->friend, 0, O2_HONEST_AT, HONEST_BYTES, O2_REG_FASTREG);
	struct o2_lnet_hdr hdr = header(h->friend.conn, O2_LNET_PUT, HONEST_BYTES);
	uint8_t *from = h->ni[O2_NI_FRIEND].arena.memory + O2_HONEST_AT;
	uint32_t before = h->friend.done;

	h->honest.serve = o2_hostile_memory(&h->honest, 0, O2_HONEST_AT, HONEST_BYTES, O2_REG_FASTREG);
	for (uint32_t i = 0; i < HONEST_BYTES; i++)
		from[i] = (uint8_t)(i * 40503u >> 5);
	if (o2_conn_put(h->friend.conn, &hdr, &source, NULL, NULL) != 0)
		return false;
	o2_hostile_settle(h);
	return h->friend.done == before + 1 && h->friend.last.status == 0 && h->honest.done == before + 1 &&
	       h->honest.last.status == 0 &&
	       memcmp(h->ni[O2_NI_VICTIM].arena.memory + O2_HONEST_AT, from, HONEST_BYTES) == 0;
}

/* Only what was described to the liar may have changed, and what the friend has written. */
static bool memory_kept(const struct o2_hostile *h)
{
	const uint32_t at[] = {O2_SERVED_AT, O2_GET_AT, O2_HONEST_AT};
	const uint64_t nob[] = {h->described_bytes[0], h->described_bytes[1], HONEST_BYTES};
	size_t bytes = (size_t)O2_HOSTILE_PAGES * 4096;
	uint8_t *now = h->ni[O2_NI_VICTIM].arena.memory;

	for (int i = 0; i < 3; i++)
		memcpy(h->before + at[i], now + at[i], nob[i]);
	return memcmp(h->before, now, bytes) == 0;
}

static bool nothing_left(struct o2_hostile *h, char *why)
{
	struct o2_error error;

	o2_conn_close(h->victim.conn, 0);
	if (h->victim.done != h->victim.started + h->victim.matched || h->victim.closed != 1) {
		snprintf(why, 200, "%u operations started, %u matched, %u ended; closed %u times",
			 h->victim.started, h->victim.matched, h->victim.done, h->victim.closed);
		return false;
	}
	if (o2_ni_check_idle(&h->ni[O2_NI_VICTIM], &error) == 0)
		return true;
	o2_error_text(&error, why, 200);
	return false;
}

bool o2_hostile_harmless(struct o2_hostile *h, char *why)
{
	if (h->endless) {
		snprintf(why, 200, "did not come to rest within %u steps", STEPS_AT_MOST);
		return false;
	}
	if (!honest_works(h)) {
		snprintf(why, 200, "the honest connection does not work any more");
		return false;
	}
	if (!memory_kept(h)) {
		snprintf(why, 200, "memory changed that was not described to the liar");
		return false;
	}
	return nothing_left(h, why);
}

static bool try(struct o2_hostile *h, const struct o2_misbehaviour *what, char *why)
{
	if (!what->script(h)) {
		snprintf(why, 200, "the liar was not answered as it must be");
		return false;
	}
	o2_hostile_settle(h);
	if (what->reaction == O2_REACT_TIMEOUT)
		for (int i = 0; i < 5; i++)
			o2_hostile_clock(h, 12500);
	return met(h, what, why) && o2_hostile_harmless(h, why);
}

bool o2_hostile_try(const struct o2_misbehaviour *what, char *why)
{
	struct o2_hostile *h;
	bool held;

	if (what->reaction == O2_REACT_REJECT || what->reaction == O2_REACT_FAIL)
		return o2_hostile_try_meeting(what, why);
	h = calloc(1, sizeof(*h));
	snprintf(why, 200, "no memory, or no device");
	held = h != NULL && o2_hostile_open(h) == 0 && o2_hostile_meet(h, &O2_CONN_DEFAULTS) == 0 &&
	       try(h, what, why);
	if (h != NULL)
		o2_hostile_close(h);
	free(h);
	return held;
}
