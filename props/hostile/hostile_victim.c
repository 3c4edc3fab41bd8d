/* SPDX-License-Identifier: MIT */
#include "props/hostile/hostile_victim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lnd/conn/conn_internal.h"
#include "lnd/ni/counts.h"

/* The orders of a victim, and its report. */

#define ARENA_BYTES ((size_t)O2_HOSTILE_PAGES * 4096)

static const char *const names[O2_VICTIM_ACTS] = {"meet",    "put",    "get",	    "send",	 "serve",
						  "clock",   "look",   "checksums", "fragments", "hold",
						  "release", "queued", "slots",	    "source",	 "end"};

const char *o2_victim_act_name(enum o2_victim_act act)
{
	return names[act];
}

enum o2_victim_act o2_victim_act_find(const char *name)
{
	enum o2_victim_act act = 0;

	while (act < O2_VICTIM_ACTS && strcmp(names[act], name) != 0)
		act++;
	return act;
}

/* Fill with bytes that no peer writes: those of the liar and of the honest peer have even parity. */
static void fill(struct o2_victim *victim, uint64_t at, uint64_t bytes)
{
	o2_shadow_fill(&victim->shadow, at, bytes, 0,
		       (struct o2_origin){.kind = O2_FILL_RED, .offset_bytes = at});
}

int o2_victim_open(struct o2_victim *victim, struct o2_ni *ni)
{
	memset(victim, 0, sizeof(*victim));
	victim->ni = ni;
	o2_clock_tell(&ni->clock, 0);
	if (o2_shadow_open(&victim->shadow, &ni->arena, 0) != 0)
		return -ENOMEM;
	fill(victim, 0, ARENA_BYTES);
	victim->honest.serve =
		o2_hostile_memory(&victim->honest, 0, O2_HONEST_AT, O2_CHECKED_BYTES, O2_REG_FASTREG);
	return 0;
}

void o2_victim_close(struct o2_victim *victim)
{
	o2_node_destroy(victim->node);
	o2_conn_destroy(victim->node == NULL ? victim->liar.conn : NULL);
	o2_conn_destroy(victim->node == NULL ? victim->honest.conn : NULL);
	o2_shadow_close(&victim->shadow);
	memset(victim, 0, sizeof(*victim));
}

static void meet(struct o2_victim *victim)
{
	struct o2_conn *conn = victim->liar.conn;

	/* Nothing else can have changed. */
	fill(victim, O2_SERVED_AT, victim->liar.described_bytes[0]);
	fill(victim, O2_GET_AT, victim->liar.described_bytes[1]);
	memset(&victim->liar, 0, sizeof(victim->liar));
	victim->liar.conn = conn;
}

/* --- operations of the application --- */

static int started(struct o2_victim *victim, int rc)
{
	victim->liar.started += rc == 0;
	return rc;
}

static struct o2_lnet_hdr header(const struct o2_victim *victim, enum o2_lnet_type type, uint64_t nob)
{
	return o2_conn_lnet_hdr(victim->liar.conn, type, 0, nob);
}

static int put(struct o2_victim *victim, uint64_t nob, enum o2_reg_mode mode)
{
	struct o2_transfer_memory memory = o2_hostile_memory(&victim->liar, 1, O2_PUT_AT, nob, mode);
	struct o2_lnet_hdr hdr = header(victim, O2_LNET_PUT, nob);

	if (victim->node != NULL)
		return started(victim, o2_node_put(victim->node, victim->liar_nid, &hdr, &memory, NULL));
	return started(victim, o2_conn_put(victim->liar.conn, &hdr, &memory, NULL, NULL));
}

static int get(struct o2_victim *victim, uint64_t nob, enum o2_reg_mode mode)
{
	struct o2_transfer_memory memory = o2_hostile_memory(&victim->liar, 2, O2_GET_AT, nob, mode);
	struct o2_lnet_hdr hdr = header(victim, O2_LNET_GET, nob);
	int rc;

	if (victim->node != NULL)
		rc = o2_node_get(victim->node, victim->liar_nid, &hdr, &memory, NULL);
	else
		rc = o2_conn_get(victim->liar.conn, &hdr, &memory, NULL, NULL);
	if (rc == 0 && nob > victim->liar.described_bytes[1])
		victim->liar.described_bytes[1] = nob;
	return started(victim, rc);
}

static int send_one(struct o2_victim *victim)
{
	struct o2_lnet_hdr hdr = {
		.dest_nid = victim->liar_nid,
		.src_nid = victim->ni->config.nid,
		.dest_pid = O2_LNET_PID,
		.src_pid = O2_LNET_PID,
		.type = O2_LNET_ACK,
	};

	if (victim->node != NULL)
		return started(victim,
			       o2_node_send_bytes(victim->node, victim->liar_nid, &hdr, NULL, 0, 0, NULL));
	return started(victim, o2_conn_send_bytes(victim->liar.conn, &hdr, NULL, 0, 0, NULL, NULL));
}

static void let_pass(struct o2_victim *victim, uint64_t ms)
{
	const uint64_t now_ms = o2_clock_ms(&victim->ni->clock) + ms;

	if (victim->node != NULL)
		o2_node_clock(victim->node, now_ms);
	else
		o2_conn_clock(victim->liar.conn, now_ms);
}

/* --- the report --- */

static void look(const struct o2_victim *victim, struct o2_victim_report *report)
{
	const struct o2_hostile_end *liar = &victim->liar;
	const char *rule = liar->fault.error.rule == NULL ? "-" : liar->fault.error.rule;

	*report = (struct o2_victim_report){
		.open = liar->conn != NULL && o2_conn_get_state(liar->conn) == O2_CONN_ESTABLISHED,
		.code = liar->fault.code,
		.side = liar->fault.side,
		.started = liar->started,
		.matched = liar->matched,
		.done = liar->done,
		.received = liar->received,
		.closed = liar->closed,
		.status = liar->last.status,
	};
	memcpy(report->rule, rule, strnlen(rule, sizeof(report->rule) - 1));
}

/* True if only memory described to the liar has changed, and the honest peer's bytes are there. */
static bool memory_kept(struct o2_victim *victim, uint64_t salt)
{
	o2_shadow_accept(&victim->shadow, O2_SERVED_AT, victim->liar.described_bytes[0]);
	o2_shadow_accept(&victim->shadow, O2_GET_AT, victim->liar.described_bytes[1]);
	o2_honest_fill(victim->shadow.bytes + O2_HONEST_AT, O2_CHECKED_BYTES, salt);
	return memcmp(victim->shadow.bytes, victim->ni->arena.memory, ARENA_BYTES) == 0;
}

/* Check that every operation has ended once, and that the interface has everything back. */
static bool nothing_left(struct o2_victim *victim, char *why)
{
	const struct o2_hostile_end *liar = &victim->liar;
	struct o2_error error;

	if (victim->node != NULL)
		o2_node_close_peer(victim->node, victim->liar_nid, 0);
	else
		o2_conn_close(victim->liar.conn, 0);
	/* A node may never have had a connection. */
	if (liar->done != liar->started + liar->matched || liar->closed > 1 ||
	    (victim->node == NULL && liar->closed != 1)) {
		snprintf(why, O2_VICTIM_WHY_BYTES,
			 "%u operations started, %u matched, %u ended; closed %u times", liar->started,
			 liar->matched, liar->done, liar->closed);
		return false;
	}
	if (o2_ni_check_idle(victim->ni, &error) == 0)
		return true;
	o2_error_text(&error, why, O2_VICTIM_WHY_BYTES);
	return false;
}

static void end(struct o2_victim *victim, uint64_t salt, struct o2_victim_answer *answer)
{
	answer->status = -EBADE;
	if (!memory_kept(victim, salt))
		snprintf(answer->why, sizeof(answer->why),
			 "memory changed that was not described to the liar, or the honest peer's bytes are "
			 "wrong");
	else if (nothing_left(victim, answer->why))
		answer->status = 0;
}

/* --- orders --- */

/* Orders that read or change the internal state of the connection with the liar. */
static int reach_in(struct o2_victim *victim, const struct o2_victim_order *order, uint64_t value[2])
{
	struct o2_conn *conn = victim->liar.conn;
	const struct o2_tx *queued = TAILQ_FIRST(&conn->list[O2_LIST_RESERVED]);

	switch (order->act) {
	case O2_ACT_CHECKSUMS:
		conn->config.wire.require_checksum = true;
		return 0;
	case O2_ACT_FRAGMENTS:
		if (order->value < 1 || order->value > conn->config.max_frags)
			return -EINVAL;
		conn->config.max_frags = (uint32_t)order->value;
		return 0;
	case O2_ACT_HOLD:
		conn->credits.in_flight = conn->credits.concurrent_sends;
		return 0;
	case O2_ACT_RELEASE:
		conn->credits.in_flight--;
		let_pass(victim, 1);
		conn->credits.in_flight++;
		return 0;
	case O2_ACT_QUEUED:
		value[0] = queued == NULL ? 0 : queued->base.cookie;
		return queued == NULL ? -ENOENT : 0;
	case O2_ACT_SLOTS:
		value[0] = (uintptr_t)conn->rx_area;
		value[1] = conn->rx_mr->rkey;
		return 0;
	case O2_ACT_SOURCE:
		value[0] = victim->ni->domain.dma.base + O2_PUT_AT;
		value[1] = victim->ni->domain.global_local->rkey;
		return 0;
	default:
		return -EINVAL;
	}
}

static bool is_for_conn(enum o2_victim_act act)
{
	return act == O2_ACT_PUT || act == O2_ACT_GET || (act >= O2_ACT_CHECKSUMS && act <= O2_ACT_SOURCE);
}

static bool has_memory(enum o2_victim_act act)
{
	return act == O2_ACT_PUT || act == O2_ACT_GET || act == O2_ACT_SERVE;
}

static int obey(struct o2_victim *victim, const struct o2_victim_order *order,
		struct o2_victim_answer *answer)
{
	if (has_memory(order->act) && order->value > O2_HOSTILE_ROOM_BYTES)
		return -EINVAL;
	if (is_for_conn(order->act) && victim->liar.conn == NULL)
		return -ENOTCONN;
	switch (order->act) {
	case O2_ACT_MEET:
		meet(victim);
		return 0;
	case O2_ACT_PUT:
		return put(victim, order->value, order->mode);
	case O2_ACT_GET:
		return get(victim, order->value, order->mode);
	case O2_ACT_SEND:
		return send_one(victim);
	case O2_ACT_SERVE:
		victim->liar.serve =
			o2_hostile_memory(&victim->liar, 0, O2_SERVED_AT, order->value, order->mode);
		return 0;
	case O2_ACT_CLOCK:
		let_pass(victim, order->value);
		return 0;
	case O2_ACT_LOOK:
		return 0;
	case O2_ACT_END:
		end(victim, order->value, answer);
		return answer->status;
	default:
		return reach_in(victim, order, answer->value);
	}
}

void o2_victim_obey(struct o2_victim *victim, const struct o2_victim_order *order,
		    struct o2_victim_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	answer->status = obey(victim, order, answer);
	look(victim, &answer->report);
}
