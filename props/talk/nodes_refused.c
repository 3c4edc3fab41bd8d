/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/talk/nodes_internal.h"

/*
 * Operations that a node refuses whoever its peers are: with itself, with a NID that no node has, and plain bytes that
 * are longer than any message.  It makes no record of such a peer, and reports no end.
 */

#define NIDS 4u

static void check(struct o2_nodes_seat *seat, const char *what, int rc, const struct o2_error *error,
		  int code, const char *rule, uint64_t value)
{
	if (rc != code || error->code != code || error->rule == NULL || strcmp(error->rule, rule) != 0 ||
	    error->value != value)
		o2_report_fail(seat->nodes->report, "nodes/start",
			       "an operation of node %" PRIu32 " %s is answered with %d by %s, %" PRIu64
			       ", expected %d by %s, %" PRIu64,
			       seat->index, what, rc, error->rule == NULL ? "nothing" : error->rule,
			       error->value, code, rule, value);
}

static int start(struct o2_nodes_seat *seat, uint64_t nid, uint64_t kind, uint32_t bytes,
		 struct o2_error *error)
{
	static const uint8_t payload[O2_NODES_MSG_BYTES + 1];
	const struct o2_lnet_hdr hdr = {.dest_nid = nid, .type = kind == 1 ? O2_LNET_GET : O2_LNET_PUT};
	struct o2_op_memory memory;
	int rc;

	o2_nodes_memory_plain(seat, 0, 1, O2_REG_GLOBAL, &memory);
	o2_error_clear(error);
	o2_nodes_begin(seat, O2_NODES_STARTS, O2_NODES_MAX, 0);
	if (kind == 0)
		rc = o2_node_put(seat->node, nid, &hdr, &memory.memory, error);
	else if (kind == 1)
		rc = o2_node_get(seat->node, nid, &hdr, &memory.memory, error);
	else if (kind == 2)
		rc = o2_node_send(seat->node, nid, &hdr, &memory.memory, error);
	else
		rc = o2_node_send_bytes(seat->node, nid, &hdr, payload, bytes, O2_NODES_SLOTS, error);
	o2_nodes_finish(seat);
	return rc;
}

void o2_nodes_check_refused(struct o2_nodes *nodes)
{
	struct o2_choice *c = nodes->choice;
	struct o2_nodes_seat *seat = &nodes->seat[o2_draw_pick(c, nodes->nseats)];
	const uint64_t own = o2_nodes_nid(nodes, seat->index);
	const uint64_t nids[NIDS] = {own, 0, UINT64_MAX, own & 0xffffffff00000000u};
	const uint32_t npeers = o2_node_npeers(seat->node), which = (uint32_t)o2_draw(c, NIDS);
	struct o2_error error;
	int rc;

	if (which == NIDS) {
		const uint64_t to = o2_nodes_nid(nodes, (seat->index + 1) % nodes->nseats);

		rc = start(seat, to, 3, O2_NODES_MSG_BYTES + 1, &error);
		check(seat, "with more bytes than a message has", rc, &error, -EMSGSIZE, "node/payload",
		      O2_NODES_MSG_BYTES + 1);
	} else {
		rc = start(seat, nids[which], o2_draw(c, 3), 1, &error);
		check(seat, which == 0 ? "with itself" : "with nobody", rc, &error, -EINVAL,
		      which == 0 ? "node/own-nid" : "node/nid", nids[which]);
	}
	if (o2_node_npeers(seat->node) != npeers)
		o2_report_fail(nodes->report, "nodes/records",
			       "node %" PRIu32 " keeps a record of a node that it has refused to use",
			       seat->index);
}
