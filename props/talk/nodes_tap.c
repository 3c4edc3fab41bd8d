/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "lnd/conn/conn_internal.h"
#include "props/talk/nodes_internal.h"

/*
 * A node's calls to its connection manager.  They show which connection ends exist, independent of the node's
 * reports.
 */

/* --- ends --- */

static struct o2_nodes_seat *seat_of(struct o2_cm *cm)
{
	return (struct o2_nodes_seat *)((char *)(uintptr_t)cm->ops - offsetof(struct o2_nodes_seat, tap));
}

struct o2_nodes_end *o2_nodes_end_with(struct o2_nodes_seat *seat, const struct o2_cm_id *id)
{
	for (uint32_t n = 0; id != NULL && n < O2_NODES_ENDS; n++)
		if (seat->end[n].id == id && !seat->end[n].gone)
			return &seat->end[n];
	return NULL;
}

struct o2_nodes_end *o2_nodes_end_of(struct o2_nodes_seat *seat, uint32_t to, uint32_t qp_num)
{
	for (uint32_t n = 0; n < O2_NODES_ENDS; n++)
		if (seat->end[n].id != NULL && !seat->end[n].over && seat->end[n].to == to &&
		    seat->end[n].qp_num == qp_num)
			return &seat->end[n];
	return NULL;
}

/* An active end learns the peer's queue pair number from the reply; a passive end knows it before. */
const struct o2_nodes_end *o2_nodes_other_end(const struct o2_nodes_seat *seat,
					      const struct o2_nodes_end *end)
{
	const struct o2_nodes_seat *there = &seat->nodes->seat[end->to];

	for (uint32_t n = 0; n < O2_NODES_ENDS; n++) {
		const struct o2_nodes_end *other = &there->end[n];

		if (other->id == NULL || other->over || other->to != seat->index)
			continue;
		if (end->other_qp_num == 0
			    ? other->other_qp_num == end->qp_num
			    : other->qp_num == end->other_qp_num &&
				      (other->other_qp_num == 0 || other->other_qp_num == end->qp_num))
			return other;
	}
	return NULL;
}

uint32_t o2_nodes_count_ends(const struct o2_nodes_seat *seat, uint32_t to, bool up)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < O2_NODES_ENDS; n++)
		count += seat->end[n].id != NULL && seat->end[n].to == to && !seat->end[n].over &&
			 (seat->end[n].up || !up);
	return count;
}

/* The queue pair is made for the depth that the device has room for. */
static void size(const struct o2_nodes_seat *seat, const struct o2_conn_params *asked,
		 struct o2_nodes_end *end)
{
	struct o2_conn_config config = seat->config.conn;

	/* Tunables relate to the node's own depth. */
	if (config.peer_tx_credits == 0)
		config.peer_tx_credits = config.queue_depth;
	config.version = asked->version;
	config.queue_depth = asked->queue_depth;
	config.max_frags = asked->max_frags;
	o2_account_limits(&config, &seat->room, &end->limits);
	end->terms = *asked;
	end->terms.queue_depth = (uint16_t)end->limits.made;
}

/* The completion queue's context is a member of the connection. */
static const struct o2_conn *conn_of(const struct ibv_qp *qp)
{
	return (const void *)((const char *)qp->recv_cq->cq_context - offsetof(struct o2_conn, armed));
}

static struct o2_nodes_end *new_end(struct o2_nodes_seat *seat, const struct o2_cm_id *id, struct ibv_qp *qp,
				    uint32_t to, const struct o2_conn_params *asked)
{
	struct o2_nodes_known *known = &seat->pair[to].known;

	for (uint32_t n = 0; n < O2_NODES_ENDS; n++) {
		struct o2_nodes_end *end = &seat->end[n];

		if (end->id != NULL)
			continue;
		*end = (struct o2_nodes_end){
			.id = id,
			.qp = qp,
			.conn = conn_of(qp),
			.key = conn_of(qp),
			.qp_num = qp->qp_num,
			.to = to,
			.since_ms = seat->nodes->ground.now_ms,
		};
		size(seat, asked, end);
		/* Ask for no more next time: the device will not have more room. */
		if (end->terms.queue_depth < asked->queue_depth && end->terms.queue_depth < known->depth)
			known->depth = end->terms.queue_depth;
		return end;
	}
	o2_report_fail(seat->nodes->report, "nodes/many-ends", "node %" PRIu32 " has %u ends of connections",
		       seat->index, O2_NODES_ENDS);
	return NULL;
}

uint32_t o2_nodes_fewest_frags(const struct o2_nodes_seat *seat, uint32_t to)
{
	uint32_t frags = O2_MAX_FRAGS;

	for (uint32_t n = 0; n < O2_NODES_ENDS; n++)
		if (seat->end[n].id != NULL && !seat->end[n].over && seat->end[n].to == to &&
		    seat->end[n].terms.max_frags < frags)
			frags = seat->end[n].terms.max_frags;
	return frags;
}

/* Note that operations between the two may use a connection with this fragment limit. */
static void fewer_frags(struct o2_nodes *nodes, uint32_t i, uint32_t j, uint32_t frags)
{
	const uint32_t ways[2][2] = {{i, j}, {j, i}};

	for (uint32_t way = 0; way < 2; way++) {
		struct o2_nodes_seat *seat = &nodes->seat[ways[way][0]];

		for (uint32_t k = 0; k < seat->nops; k++)
			if (seat->op[k].to == ways[way][1] && seat->op[k].max_frags > frags)
				seat->op[k].max_frags = frags;
	}
}

/* Reads the number from the device, once the queue pair is in RTS. */
void o2_nodes_learn_other_end(struct o2_nodes_end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (end->other_qp_num == 0 && ibv_query_qp(end->qp, &attr, IBV_QP_DEST_QPN, &init) == 0)
		end->other_qp_num = attr.dest_qp_num;
}

static void give_up(struct o2_nodes_seat *seat, struct o2_nodes_end *end)
{
	o2_nodes_sync_flavours(seat, end->to);
	end->conn = NULL;
	seat->now.given_up = end;
	end->over = true;
	end->over_ms = seat->nodes->ground.now_ms;
}

/* --- calls of the node --- */

static void check_target(struct o2_nodes_seat *seat, const struct o2_cm_target *target,
			 const struct o2_cm_param *param)
{
	const struct o2_node_config *config = &seat->config;

	if (target->port != config->port || target->privileged_port != config->use_privileged_port ||
	    target->resolve_timeout_ms != config->resolve_timeout_ms ||
	    param->retry_count != config->conn.retry_count ||
	    param->rnr_retry_count != config->conn.rnr_retry_count ||
	    param->ack_timeout != config->conn.ack_timeout)
		o2_report_fail(seat->nodes->report, "nodes/target",
			       "node %" PRIu32 " asks with other settings than its own", seat->index);
}

static int tap_connect(struct o2_cm *cm, const struct o2_cm_target *target, const struct o2_cm_param *param,
		       void *context, struct o2_cm_id **id, struct o2_error *error)
{
	struct o2_nodes_seat *seat = seat_of(cm);
	const uint32_t to = o2_nodes_at(seat->nodes, target->address);
	const int rc = seat->cm_ops->connect(cm, target, param, context, id, error);
	struct o2_conn_params asked;
	struct o2_nodes_end *end;

	check_target(seat, target, param);
	if (rc == 0)
		o2_nodes_carries(seat, O2_WATCHED_REQUEST, true, conn_of(param->qp), param->private_data,
				 param->private_bytes);
	if (rc != 0 || to == seat->nodes->nseats)
		return rc;
	o2_nodes_sync_flavours(seat, to);
	asked = o2_nodes_offer(seat, to);
	end = new_end(seat, *id, param->qp, to, &asked);
	if (end == NULL)
		return rc;
	end->asked = true;
	o2_nodes_said_request(seat, end, param->private_data, param->private_bytes);
	fewer_frags(seat->nodes, seat->index, to, asked.max_frags);
	return rc;
}

/* A kernel may know that the requester gave up before its reject is seen.  In one process that cannot happen. */
static void cannot_accept(struct o2_nodes_seat *seat, struct o2_nodes_end *end, int rc,
			  const struct o2_error *error)
{
	struct o2_nodes_moment *now = &seat->now;

	end->conn = NULL;
	end->over = end->gone = true;
	if (rc != -ECONNRESET || seat->nodes->ground.network == NULL)
		o2_report_fail(seat->nodes->report, "nodes/accept",
			       "node %" PRIu32 " cannot accept a request of node %" PRIu32 ": %d",
			       seat->index, now->with, rc);
	now->not_accepted = (struct o2_transfer_fault){
		.side = O2_FAULT_LOCAL_STAGE, .code = error->code, .error = *error};
	now->why = O2_REJECT_NO_RESOURCES;
}

static int tap_accept(struct o2_cm_id *id, const struct o2_cm_param *param, struct o2_error *error)
{
	struct o2_nodes_seat *seat = seat_of(id->cm);
	struct o2_nodes_moment *now = &seat->now;
	const int rc = seat->cm_ops->accept(id, param, error);
	struct o2_nodes_known *known = &seat->pair[now->with].known;
	struct o2_nodes_end *end;

	now->answered = true;
	if (now->why != 0)
		o2_report_fail(seat->nodes->report, "nodes/answer",
			       "node %" PRIu32 " accepts a request of node %" PRIu32
			       ", expected to refuse it for reason %u",
			       seat->index, now->with, now->why);
	if (known->version == 0) {
		known->version = now->asked.version;
		known->incarnation = now->incarnation;
	}
	known->races = 0;
	o2_nodes_sync_flavours(seat, now->with);
	end = new_end(seat, id, param->qp, now->with, &now->asked);
	if (end == NULL)
		return rc;
	end->incarnation = now->incarnation;
	o2_nodes_learn_flavour(seat, now->with, now->event->private_data);
	end->flavour = known->flavour;
	o2_nodes_said_reply(seat, end, param->private_data, param->private_bytes);
	if (rc != 0) {
		cannot_accept(seat, end, rc, error);
		return rc;
	}
	o2_nodes_carries_request(seat, end->key);
	o2_nodes_carries(seat, O2_WATCHED_REPLY, true, end->key, param->private_data, param->private_bytes);
	o2_nodes_learn_other_end(end);
	fewer_frags(seat->nodes, seat->index, now->with, end->terms.max_frags);
	return rc;
}

static void tap_reject(struct o2_cm_id *id, const uint8_t *bytes, size_t length)
{
	struct o2_nodes_seat *seat = seat_of(id->cm);
	struct o2_nodes_moment *now = &seat->now;
	struct o2_nodes_known *known = &seat->pair[now->with].known;

	now->answered = true;
	o2_nodes_carries_request(seat, id);
	if (length > 0)
		o2_nodes_carries(seat, O2_WATCHED_REJECT, true, id, bytes, length);
	o2_nodes_carries(seat, O2_WATCHED_GONE, true, id, NULL, 0);
	if (now->why == 0)
		o2_report_fail(seat->nodes->report, "nodes/answer",
			       "node %" PRIu32 " refuses a request of node %" PRIu32
			       " which nothing speaks against",
			       seat->index, now->with);
	else
		o2_nodes_said_reject(seat, bytes, length);
	if (now->why == O2_REJECT_CONN_RACE) {
		known->races++;
	} else if (now->why == O2_REJECT_CONN_STALE && !o2_nodes_other_life(seat)) {
		o2_nodes_learn_life(seat, now->with, now->incarnation);
		known->version = now->asked.version;
	}
	seat->cm_ops->reject(id, bytes, length);
}

static void tap_disconnect(struct o2_cm_id *id)
{
	struct o2_nodes_seat *seat = seat_of(id->cm);
	struct o2_nodes_end *end = o2_nodes_end_with(seat, id);

	if (end != NULL && end->up && !end->over)
		o2_nodes_carries(seat, O2_WATCHED_DISCONNECT, true, end->key, NULL, 0);
	if (end != NULL)
		give_up(seat, end);
	seat->cm_ops->disconnect(id);
}

/* A connection that closes is kept until the connection manager is done with it, for as long as an attempt takes. */
static void check_not_early(struct o2_nodes_seat *seat, const struct o2_nodes_end *end)
{
	const uint64_t age_ms = seat->nodes->ground.now_ms - end->over_ms;

	if (end->over && age_ms < o2_nodes_attempt_ms(seat) &&
	    (seat->now.doing == O2_NODES_IS_TOLD_THE_TIME || seat->now.doing == O2_NODES_PROGRESSES))
		o2_report_fail(seat->nodes->report, "nodes/closed-early",
			       "node %" PRIu32 " forgets a connection with node %" PRIu32
			       " that is closing since %" PRIu64 " ms",
			       seat->index, end->to, age_ms);
}

static void tap_destroy(struct o2_cm_id *id)
{
	struct o2_nodes_seat *seat = seat_of(id->cm);
	struct o2_nodes_end *end = o2_nodes_end_with(seat, id);

	if (end != NULL) {
		check_not_early(seat, end);
		if (!end->over)
			give_up(seat, end);
		end->gone = true;
	}
	seat->cm_ops->destroy(id);
}

void o2_nodes_tap(struct o2_nodes_seat *seat)
{
	seat->cm_ops = seat->cm->ops;
	seat->tap = *seat->cm->ops;
	seat->tap.connect = tap_connect;
	seat->tap.accept = tap_accept;
	seat->tap.reject = tap_reject;
	seat->tap.disconnect = tap_disconnect;
	seat->tap.destroy = tap_destroy;
	seat->cm->ops = &seat->tap;
}
