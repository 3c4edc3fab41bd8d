/* SPDX-License-Identifier: MIT */
#include "tests/lib/endpoint_pair.h"

void endpoint_pair_open(struct endpoint_pair *pair)
{
	pair->wire = o2_cm_loop_create();
	assert_non_null(pair->wire);
}

void endpoint_seat_open(struct endpoint_pair *pair, uint32_t which, const struct o2_ni_config *ni,
			const struct o2_node_config *node, const struct o2_lnet_ops *ops, void *context)
{
	struct o2_lnet_config lnet = O2_LNET_DEFAULTS;
	struct endpoint_seat *seat = &pair->seat[which];
	struct o2_error error;

	/* The interface's clock has not been set yet. */
	assert_int_equal(o2_ni_open(ni, &seat->side.ni, NULL), 0);
	lnet.nid = ni->nid;
	assert_int_equal(o2_cm_loop_attach(pair->wire, &seat->side.ni, (uint32_t)ni->nid, &seat->cm, NULL),
			 0);
	if (o2_endpoint_open(&seat->side.ni, seat->cm, node, &lnet, ops, context, &seat->endpoint, &error) !=
	    0) {
		show_error("o2_endpoint_open", &error);
		fail();
	}
}

void endpoint_pair_close(struct endpoint_pair *pair)
{
	for (uint32_t i = 0; i < 2; i++)
		o2_endpoint_close(&pair->seat[i].endpoint);
	while (o2_cm_loop_deliver(pair->wire, 0))
		;
	for (uint32_t i = 0; i < 2; i++) {
		o2_cm_loop_detach(pair->seat[i].cm);
		side_assert_idle(&pair->seat[i].side);
		o2_ni_close(&pair->seat[i].side.ni);
	}
	o2_cm_loop_destroy(pair->wire);
}

bool endpoint_pair_progress(struct endpoint_pair *pair)
{
	bool busy = o2_cm_loop_deliver(pair->wire, 0);

	for (uint32_t i = 0; i < 2; i++)
		busy |= o2_node_progress(pair->seat[i].endpoint.node) > 0;
	return busy;
}
