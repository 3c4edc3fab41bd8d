/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LST_SEAT_H
#define O2_TESTS_LST_SEAT_H

#include "lst/rpc.h"
#include "tests/lib/lnet_pair.h"

/*
 * A node of LNet selftest that does what a test tells it, at side B of a pair: it answers all services, and
 * keeps a list of what it was asked.
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
	struct o2_lst_sid sid; /* the session that it is in */
	uint32_t nasked;
	struct o2_lst_msg asked[SEAT_ASKED];
	const struct o2_lst_msg *moving[SEAT_SERVED]; /* of which bulk is moved, by place */
	/* What it does otherwise, by the type of the request. */
	uint32_t status[O2_LST_TYPE_COUNT];
	bool silent[O2_LST_TYPE_COUNT];
	const struct o2_lst_sid *says[O2_LST_TYPE_COUNT]; /* the session that a reply names; NULL: its own */
	/* Of all: */
	uint32_t features;  /* of replies */
	uint32_t bulk_less; /* bytes that it moves less */
	uint32_t seq_more, magic_more;
	/* Of the client's memory: this byte is changed once bulk was moved. */
	uint8_t *harm;		/* NULL: none */
	const uint8_t *pattern; /* 8 bytes that its memory holds where a check says nothing; NULL: zeros */
};

/* RPCs of a side, which are told first what its LNet tells. */
struct o2_lst_rpc *lst_rpc_open(struct o2_lnet_side *side, const struct o2_lst_rpc_config *config);

/* order: of its messages, and of what it fills memory with. */
void lst_seat_open(struct lst_seat *seat, struct o2_lnet_pair *pair, enum o2_byte_order order);
void lst_seat_close(struct lst_seat *seat);

/* How many requests of that type have come. */
uint32_t lst_seat_count(const struct lst_seat *seat, uint32_t type);

#endif
