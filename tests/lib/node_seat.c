/* SPDX-License-Identifier: MIT */
#include "tests/lib/node_seat.h"

#include <poll.h>

#include "tests/lib/lnd_memory.h"

void node_terms_ask(const struct node_terms *terms, struct o2_node_config *a, struct o2_node_config *b)
{
	a->conn.version = terms->version_a;
	b->conn.version = terms->version_b;
	a->conn.queue_depth = terms->depth_a;
	b->conn.queue_depth = terms->depth_b;
	a->conn.max_frags = terms->frags_a;
	b->conn.max_frags = terms->frags_b;
}

static int seat_match(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		      struct o2_transfer_memory *memory)
{
	struct seat *seat = context;

	assert_true(nid != seat->side.ni.config.nid);
	return side_match(&seat->side, request, sink_bytes, memory);
}

static int seat_receive(void *context, uint64_t nid, const struct o2_msg *msg)
{
	struct seat *seat = context;

	assert_int_equal(msg->ibm_srcnid, nid);
	seat->nreceived++;
	seat->received_bytes += msg->u.immediate.hdr.payload_length;
	seat->received_flavour = msg->cksum_flavour;
	return 0;
}

static void seat_done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	struct seat *seat = context;

	if (!result->initiator) {
		seat->nserved++;
		seat->status_served = result->status;
		return;
	}
	assert_true(result->tag < FATES);
	seat->ended[result->tag]++;
	seat->status[result->tag] = result->status;
	seat->fault[result->tag] = result->fault;
	seat->health[result->tag] = result->health;
	seat->nended++;
	side_done(&seat->side, result);
	if (seat->closes != 0) {
		const uint64_t closes = seat->closes;

		seat->closes = 0;
		o2_node_close_peer(seat->node, closes, -EIO);
	} else if (seat->again != 0) {
		const uint64_t again = seat->again;

		seat->again = 0;
		assert_int_equal(seat_start_op(seat, again, O2_LNET_PUT, 5000, O2_REG_GLOBAL, NULL), 0);
	}
}

static void seat_up(void *context, uint64_t nid)
{
	struct seat *seat = context;

	seat->nup++;
}

static void seat_down(void *context, uint64_t nid, const struct o2_transfer_fault *fault)
{
	struct seat *seat = context;

	seat->ndown++;
	seat->down = *fault;
}

void seat_start(struct seat *seat)
{
	static const struct o2_node_ops ops = {seat_match, seat_receive, seat_done, seat_up, seat_down};
	struct o2_error error;

	if (o2_node_create(&seat->side.ni, seat->cm, &seat->config, &ops, seat, &seat->node, &error) != 0) {
		show_error("o2_node_create", &error);
		fail();
	}
}

bool seat_readable(const struct seat *seat)
{
	struct pollfd fd = {.fd = o2_ni_fd(&seat->side.ni), .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

void seat_assert_ended(const struct seat *seat)
{
	assert_int_equal(seat->nended, seat->nstarted);
	for (uint32_t tag = 0; tag < seat->nstarted; tag++)
		assert_int_equal(seat->ended[tag], 1);
}

struct o2_lnet_hdr lnet_hdr(const struct seat *seat, uint64_t nid, enum o2_lnet_type type, uint64_t nob)
{
	struct o2_lnet_hdr hdr = {
		.dest_nid = nid,
		.src_nid = seat->side.ni.config.nid,
		.dest_pid = 12345,
		.src_pid = 12345,
		.type = (uint32_t)type,
	};

	if (type == O2_LNET_PUT)
		hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	else if (type == O2_LNET_GET)
		hdr.msg.get.sink_length = (uint32_t)nob;
	return hdr;
}

int seat_start_op(struct seat *from, uint64_t nid, enum o2_lnet_type type, uint32_t nob,
		  enum o2_reg_mode mode, struct o2_error *error)
{
	static struct o2_kiov kiov[O2_MAX_FRAGS];
	struct o2_transfer_memory memory = dense(kiov, 0, nob, mode);
	struct o2_lnet_hdr hdr = lnet_hdr(from, nid, type, nob);
	int rc;

	assert_true(from->nstarted < FATES);
	memory.tag = from->nstarted++;
	if (type == O2_LNET_PUT)
		rc = o2_node_put(from->node, nid, &hdr, &memory, error);
	else
		rc = o2_node_get(from->node, nid, &hdr, &memory, error);
	if (rc != 0)
		from->nstarted--;
	return rc;
}

struct o2_peer_view peer_view(const struct seat *seat, uint64_t nid)
{
	struct o2_peer_view view;

	o2_node_peer(seat->node, nid, &view);
	return view;
}
