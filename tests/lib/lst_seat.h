/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LST_SEAT_H
#define O2_TESTS_LST_SEAT_H

#include "lst/rpc.h"
#include "tests/lib/lnet_pair.h"

/*
 * A mock node of LNet selftest at side B of a pair.  It answers all services as the test sets in struct
 * lst_seat, and records the requests that it receives.
 */

#define SEAT_RPC_PAGE  500u
#define SEAT_BULK_PAGE 16u
#define SEAT_ASKED     64u
#define SEAT_SERVED    16u
#define SEAT_TIMEOUT_S 100u

struct lst_seat {
	struct o2_lnet_pair *pair;
	struct o2_lst_rpc *rpc;
	enum o2_byte_order order;
	struct o2_lst_sid sid; /* the node's current session */
	uint32_t nasked;
	struct o2_lst_msg asked[SEAT_ASKED];
	const struct o2_lst_msg *moving[SEAT_SERVED]; /* the request, by `served` modulo SEAT_SERVED */
	/* Deviations from normal behaviour, by the type of the request: status of the reply; no reply at all. */
	uint32_t status[O2_LST_TYPE_COUNT];
	bool silent[O2_LST_TYPE_COUNT];
	const struct o2_lst_sid *says[O2_LST_TYPE_COUNT]; /* session id in replies; NULL: the node's own */
	/* Deviations for all requests. */
	uint32_t features;	       /* feature bits in replies */
	uint32_t bulk_less;	       /* bytes missing from each bulk transfer */
	uint32_t seq_more, magic_more; /* added in ping replies */
	uint32_t active;	       /* bar_active in replies */
	/* A byte of the client's memory, which is changed after each bulk transfer. */
	uint8_t *harm;		/* NULL: none */
	const uint8_t *pattern; /* 8 bytes that fill bulk memory outside the checked words; NULL: zeros */
};

/* Create the RPC layer of a side; it gets the events and results of the side's LNet first. */
struct o2_lst_rpc *lst_rpc_open(struct o2_lnet_side *side, const struct o2_lst_rpc_config *config);

/* order: the byte order of the node's messages and of its bulk pattern. */
void lst_seat_open(struct lst_seat *seat, struct o2_lnet_pair *pair, enum o2_byte_order order);
void lst_seat_close(struct lst_seat *seat);

/* The number of requests of this type that were received. */
uint32_t lst_seat_count(const struct lst_seat *seat, uint32_t type);

#endif
