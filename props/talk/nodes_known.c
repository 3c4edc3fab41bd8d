/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/talk/nodes_internal.h"

/*
 * What nodes know of each other, what they request, and how they must answer (docs/connection.md, "Negotiation"),
 * computed from their settings and the traffic; the nodes themselves are not asked.
 */

#define DEPTH_V1  8u
#define DEPTH_MIN 2u
#define RACES_MAX 20u
#define UNSAID	  UINT64_MAX

void o2_nodes_unknown(struct o2_nodes_seat *seat, uint32_t to)
{
	seat->pair[to].known = (struct o2_nodes_known){
		.depth = (uint16_t)seat->config.conn.queue_depth,
		.frags = (uint16_t)seat->config.conn.max_frags,
		.flavour = seat->config.conn.cksum_flavour,
	};
}

struct o2_conn_params o2_nodes_offer(const struct o2_nodes_seat *seat, uint32_t to)
{
	const struct o2_nodes_known *known = &seat->pair[to].known;
	struct o2_conn_params params = {
		.version = known->version != 0 ? known->version : seat->config.conn.version,
		.queue_depth = known->depth,
		.max_frags = known->frags,
		.max_msg_size = O2_NODES_MSG_BYTES,
	};

	if (params.version == O2_MSG_VERSION_1)
		params.queue_depth = DEPTH_V1;
	return params;
}

/* --- answers --- */

/* The address as a number in the memory of a host with this byte order. */
static uint32_t rank(const struct o2_nodes_seat *seat, uint64_t nid)
{
	uint32_t address = (uint32_t)nid;

	if (seat->config.conn.order == O2_LITTLE_ENDIAN)
		address = address << 24 | (address & 0xff00) << 8 | (address >> 8 & 0xff00) | address >> 24;
	return (uint32_t)(nid >> 32) ^ address;
}

static bool wins_over(const struct o2_nodes_seat *seat, uint64_t nid)
{
	const uint64_t own = o2_nodes_nid(seat->nodes, seat->index);

	return seat->config.ranking == O2_RACE_BY_NID ? nid < own : rank(seat, nid) < rank(seat, own);
}

static bool is_asking(const struct o2_nodes_seat *seat, uint32_t to)
{
	for (uint32_t n = 0; n < O2_NODES_ENDS; n++)
		if (seat->end[n].id != NULL && seat->end[n].to == to && seat->end[n].asked &&
		    !seat->end[n].up && !seat->end[n].over)
			return true;
	return false;
}

/* Number of connections whose end both sides have not yet confirmed, without the node's own attempts. */
static uint32_t count_all(const struct o2_nodes_seat *seat, uint32_t to)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < O2_NODES_ENDS; n++)
		count += seat->end[n].id != NULL && !seat->end[n].gone && seat->end[n].to == to &&
			 (seat->end[n].up || !seat->end[n].asked);
	return count;
}

static enum o2_reject_why answer_known(const struct o2_nodes_seat *seat, uint32_t from)
{
	const struct o2_nodes_known *known = &seat->pair[from].known;
	const struct o2_nodes_moment *now = &seat->now;

	if (known->version != 0 && known->incarnation != UNSAID && known->incarnation != now->incarnation)
		return O2_REJECT_CONN_STALE;
	if (known->version != 0 && known->version != now->asked.version)
		return O2_REJECT_CONN_STALE;
	if (is_asking(seat, from) && wins_over(seat, o2_nodes_nid(seat->nodes, from)) &&
	    known->races < RACES_MAX)
		return O2_REJECT_CONN_RACE;
	if (count_all(seat, from) >= seat->config.max_conns_per_peer)
		return O2_REJECT_NO_RESOURCES;
	return (enum o2_reject_why)0;
}

bool o2_nodes_other_life(const struct o2_nodes_seat *seat)
{
	const struct o2_nodes_moment *now = &seat->now;
	const bool unsaid =
		now->dststamp == 0 || (now->asked.version == O2_MSG_VERSION_1 && now->dststamp == UNSAID);

	return !unsaid && now->dststamp != seat->place.ni.config.incarnation;
}

enum o2_reject_why o2_nodes_answer(const struct o2_nodes_seat *seat)
{
	const struct o2_conn_config *own = &seat->config.conn;
	const struct o2_conn_params *asked = &seat->now.asked;
	const bool first = asked->version == O2_MSG_VERSION_1;
	const uint32_t most = first ? DEPTH_V1 : own->queue_depth, least = first ? DEPTH_V1 : DEPTH_MIN;

	if (asked->version < O2_MSG_VERSION_1 || asked->version > own->version)
		return O2_REJECT_FATAL;
	if (seat->early)
		return O2_REJECT_EARLY;
	if (o2_nodes_other_life(seat))
		return O2_REJECT_CONN_STALE;
	if (asked->queue_depth > most || asked->queue_depth < least)
		return first ? O2_REJECT_FATAL : O2_REJECT_MSG_QUEUE_SIZE;
	if (asked->max_frags > own->max_frags || asked->max_frags == 0)
		return first ? O2_REJECT_FATAL : O2_REJECT_RDMA_FRAGS;
	return answer_known(seat, seat->now.with);
}

/* --- rejects --- */

static struct o2_transfer_fault refused(int code, const char *rule, const char *field, uint64_t value)
{
	struct o2_transfer_fault fault = {.side = O2_FAULT_REJECTED, .code = code};

	o2_error_clear(&fault.error);
	if (rule != NULL)
		o2_refuse_peer(&fault.error, code, rule, field, value, O2_NO_LIMIT);
	return fault;
}

/* True if the reject offers less than was asked for, in the parameter that its reason is about. */
static bool tells_less(const struct o2_reject *reject, const struct o2_conn_params *asked)
{
	return reject->ibr_why == O2_REJECT_RDMA_FRAGS ? reject->ibr_cp.ibcp_max_frags < asked->max_frags
						       : reject->ibr_cp.ibcp_queue_depth < asked->queue_depth;
}

static bool is_to_be_asked_again(uint8_t why, const struct o2_reject *reject,
				 const struct o2_conn_params *asked)
{
	switch (why) {
	case O2_REJECT_CONN_RACE:
	case O2_REJECT_CONN_STALE:
	case O2_REJECT_CONN_UNCOMPAT:
		return true;
	case O2_REJECT_MSG_QUEUE_SIZE:
	case O2_REJECT_RDMA_FRAGS:
		return reject->ibr_version != O2_MSG_VERSION_1 && tells_less(reject, asked);
	default:
		return false;
	}
}

bool o2_nodes_rejected(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
		       const struct o2_cm_event *event, struct o2_transfer_fault *fault)
{
	struct o2_reject reject = {.ibr_why = 0};
	struct o2_error error;
	bool again = event->reason == O2_CM_REJECT_STALE;
	uint8_t why = 0;

	if (event->reason == O2_CM_REJECT_NO_LISTENER) {
		*fault = refused(-EHOSTUNREACH, "reject/no-listener", "cm reason", event->reason);
	} else if (again) {
		*fault = refused(-ECONNREFUSED, NULL, NULL, 0);
	} else if (event->reason != O2_CM_REJECT_CONSUMER) {
		*fault = refused(-ECONNREFUSED, "reject/cm-reason", "cm reason", event->reason);
	} else if (o2_reject_decode(event->private_data, event->private_bytes, &reject, &error) != 0) {
		*fault = refused(-ECONNREFUSED, NULL, NULL, 0);
		fault->error = error;
	} else {
		why = reject.ibr_why;
		if (why == O2_REJECT_FATAL && reject.ibr_version == O2_MSG_VERSION_1 &&
		    end->terms.version == O2_MSG_VERSION_2)
			why = O2_REJECT_CONN_UNCOMPAT;
		again = reject.ibr_version <= seat->config.conn.version &&
			is_to_be_asked_again(why, &reject, &end->terms);
		*fault = refused(-ECONNREFUSED, again ? NULL : "reject/why", "ibr_why", reject.ibr_why);
	}
	fault->cm_reason = event->reason;
	fault->reject_why = why;
	return again;
}

void o2_nodes_learn_life(struct o2_nodes_seat *seat, uint32_t of, uint64_t incarnation)
{
	struct o2_nodes_known *known = &seat->pair[of].known;

	o2_nodes_sync_flavours(seat, of);
	if (known->incarnation != incarnation)
		known->flavour = seat->config.conn.cksum_flavour;
	known->incarnation = incarnation;
}

void o2_nodes_learn(struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
		    const struct o2_cm_event *event)
{
	struct o2_nodes_known *known = &seat->pair[end->to].known;
	struct o2_conn_params offer = end->terms;
	struct o2_reject reject;

	known->version = offer.version;
	if (event->reason == O2_CM_REJECT_CONSUMER &&
	    o2_reject_decode(event->private_data, event->private_bytes, &reject, NULL) == 0) {
		known->version = reject.ibr_version;
		if (reject.ibr_version == O2_MSG_VERSION_1)
			o2_nodes_learn_life(seat, end->to, UNSAID);
		else if (reject.ibr_incarnation != 0)
			o2_nodes_learn_life(seat, end->to, reject.ibr_incarnation);
		if (reject.ibr_why == O2_REJECT_MSG_QUEUE_SIZE || reject.ibr_why == O2_REJECT_RDMA_FRAGS) {
			offer.queue_depth = o2_smaller(offer.queue_depth, reject.ibr_cp.ibcp_queue_depth);
			offer.max_frags = o2_smaller(offer.max_frags, reject.ibr_cp.ibcp_max_frags);
		}
	}
	if (known->version == O2_MSG_VERSION_1)
		offer.queue_depth = DEPTH_V1;
	known->depth = o2_smaller(known->depth, offer.queue_depth);
	known->frags = o2_smaller(known->frags, offer.max_frags);
}
