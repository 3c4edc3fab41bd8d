/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_CM_RDMA_WORLD_H
#define O2_TESTS_CM_RDMA_WORLD_H

#include <arpa/inet.h>
#include <poll.h>
#include <sched.h>

#include "base/monotonic.h"
#include "tests/lib/lnd_memory.h"
#include "tests/lib/node_seat.h"

#include "lnd/cm/rdma.h"
#include "wire/bytes.h"
#include "wire/nid.h"

/*
 * Two nodes in one process on the machine's RDMA devices, with librdmacm between them.  The devices are named
 * by O2REF_TEST_DEVICE_A and _B, their addresses by O2REF_IP_A and _B, as a guest of ci/vm/run has them.
 */

#define WAIT_S	  30 /* seconds after which a waiting test fails */
#define TEST_PORT 987

struct world {
	struct seat seat[2];
};

static inline uint32_t address_of(bool first)
{
	struct in_addr in;

	assert_int_equal(inet_pton(AF_INET, env_or(first ? "O2REF_IP_A" : "O2REF_IP_B", "127.0.0.1"), &in),
			 1);
	return ntohl(in.s_addr);
}

static inline uint64_t nid_at(uint32_t address)
{
	return 0x0005000000000000ull | address;
}

static inline uint64_t seat_nid(const struct world *world, uint32_t i)
{
	return world->seat[i].side.ni.config.nid;
}

static inline uint32_t seat_address(const struct seat *seat)
{
	return o2_nid_address(seat->side.ni.config.nid);
}

static inline void seat_start_now(struct seat *seat)
{
	seat_start(seat);
	o2_node_clock(seat->node, o2_monotonic_ms());
}

static inline struct o2_node_config usual_config(void)
{
	struct o2_node_config config = O2_NODE_DEFAULTS;

	config.conn.ack_timeout = 14; /* short, so that a lost peer is noticed soon */
	return config;
}

/* a, b: NULL selects usual_config(). */
static inline struct world *world_open(const struct o2_node_config *a, const struct o2_node_config *b)
{
	static struct o2_kiov kiov[O2_MAX_FRAGS];
	struct world *world = calloc(1, sizeof(*world));
	struct o2_error error;

	assert_non_null(world);
	for (uint32_t i = 0; i < 2; i++) {
		struct seat *seat = &world->seat[i];
		const struct o2_node_config *config = i == 0 ? a : b;

		side_open(&seat->side, i == 0, O2_DMA_VIRTUAL, 0);
		seat->side.ni.config.nid = nid_at(address_of(i == 0));
		seat->config = config != NULL ? *config : usual_config();
		if (o2_cm_rdma_open(&seat->side.ni, seat_address(seat), &seat->cm, &error) != 0) {
			show_error("o2_cm_rdma_open", &error);
			fail();
		}
		seat_start_now(seat);
		seat->side.answer = dense(kiov, 400, 70000, O2_REG_GLOBAL);
	}
	return world;
}

static inline bool world_step(struct world *world)
{
	int handled = 0;

	for (uint32_t i = 0; i < 2; i++) {
		struct seat *seat = &world->seat[i];
		int rc = o2_cm_rdma_progress(seat->cm);

		assert_true(rc >= 0);
		handled += rc;
		if (seat->node == NULL)
			continue;
		handled += o2_node_progress(seat->node);
		o2_node_clock(seat->node, o2_monotonic_ms());
	}
	return handled > 0;
}

/* Runs both nodes until the condition holds; fails the test after WAIT_S seconds. */
#define world_until(world, condition)                                                             \
	do {                                                                                      \
		uint64_t end_ms = o2_monotonic_ms() + WAIT_S * 1000;                              \
                                                                                                  \
		while (!(condition)) {                                                            \
			if (!world_step(world))                                                   \
				sched_yield();                                                    \
			if (o2_monotonic_ms() > end_ms)                                           \
				fail_msg("%s:%d: still not: %s", __FILE__, __LINE__, #condition); \
		}                                                                                 \
	} while (0)

static inline void world_close(struct world *world)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct seat *seat = &world->seat[i];

		o2_node_destroy(seat->node);
		seat_assert_ended(seat);
		side_assert_idle(&seat->side);
		o2_cm_rdma_close(seat->cm);
		o2_ni_close(&seat->side.ni);
	}
	free(world);
}

static inline void put(struct world *world, uint32_t i)
{
	assert_int_equal(seat_start_op(&world->seat[i], seat_nid(world, 1 - i), O2_LNET_PUT, 70000,
				       O2_REG_GLOBAL, NULL),
			 0);
}

static inline struct o2_peer_view view_at(const struct world *world, uint32_t i)
{
	return peer_view(&world->seat[i], seat_nid(world, 1 - i));
}

#endif
