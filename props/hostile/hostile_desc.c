/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/hostile/hostile.h"

/* Descriptors that nothing may be written to. */

/* Where a PUT_ACK's and a GET_REQ's descriptor, and fragment i of it, stand. */
#define COUNT(start)	 ((start) + O2_DESC_AT_NFRAGS)
#define FRAG_NOB(start)	 ((start) + O2_DESC_AT_FRAGS + O2_FRAG_AT_NOB)
#define FRAG_ADDR(start) ((start) + O2_DESC_AT_FRAGS + O2_FRAG_AT_ADDR)

/* The victim has started a PUT and waits for this. */
static struct o2_msg *begin_ack(struct o2_hostile *h)
{
	struct o2_msg request, *ack;

	if (!o2_victim_put(h, 5000, O2_REG_FMR) || !o2_liar_hears(h, O2_MSG_PUT_REQ, &request))
		return NULL;
	ack = o2_liar_begin(h, O2_MSG_PUT_ACK);
	ack->u.putack.ibpam_src_cookie = request.u.putreq.ibprm_cookie;
	ack->u.putack.ibpam_dst_cookie = 0x77;
	return ack;
}

static bool spoil(struct o2_hostile *h, bool ack, uint32_t offset, uint32_t width, uint64_t value)
{
	if (ack && begin_ack(h) == NULL)
		return false;
	if (!ack)
		o2_liar_begin(h, O2_MSG_GET_REQ);
	return o2_liar_send_patched(h, offset, width, value, 0);
}

/* Two fragments that are good each, and too much together. */
static bool too_much(struct o2_hostile *h, bool ack)
{
	struct o2_msg *msg = ack ? begin_ack(h) : o2_liar_begin(h, O2_MSG_GET_REQ);
	struct o2_rdma_desc *desc;
	uint32_t start = ack ? O2_AT_PUT_ACK_DESC : O2_AT_GET_REQ_DESC;

	if (msg == NULL)
		return false;
	desc = ack ? &msg->u.putack.ibpam_rd : &msg->u.get.ibgm_rd;
	desc->rd_nfrags = 2;
	desc->rd_frags[0].rf_nob = 1u << 19;
	desc->rd_frags[1] = (struct o2_rdma_frag){.rf_nob = 1u << 19, .rf_addr = 1u << 30};
	return o2_liar_send_patched(h, FRAG_NOB(start), 4, (1u << 19) + 1, 0);
}

/* Both messages that carry a descriptor, spoiled alike. */
#define BOTH(name, place, width, value)                                          \
	static bool ack_##name(struct o2_hostile *h)                             \
	{                                                                        \
		return spoil(h, true, place(O2_AT_PUT_ACK_DESC), width, value);  \
	}                                                                        \
	static bool get_##name(struct o2_hostile *h)                             \
	{                                                                        \
		return spoil(h, false, place(O2_AT_GET_REQ_DESC), width, value); \
	}

BOTH(none, COUNT, 4, 0)
BOTH(many, COUNT, 4, 258)
BOTH(negative, COUNT, 4, 0x80000001)
BOTH(cut, COUNT, 4, 2)
BOTH(empty, FRAG_NOB, 4, 0)
BOTH(huge, FRAG_NOB, 4, 0x100001)
BOTH(wrapping, FRAG_ADDR, 8, UINT64_MAX - 100)

static bool ack_too_much(struct o2_hostile *h)
{
	return too_much(h, true);
}

static bool get_too_much(struct o2_hostile *h)
{
	return too_much(h, false);
}

/* The source has 5000 bytes and is asked for 6000: the sink is told, and the source's owner. */
static bool asks_for_more(struct o2_hostile *h)
{
	struct o2_msg *ack = begin_ack(h), done;

	if (ack == NULL)
		return false;
	ack->u.putack.ibpam_rd.rd_frags[0].rf_nob = 6000;
	return o2_liar_send(h) && o2_liar_hears(h, O2_MSG_PUT_DONE, &done) &&
	       done.u.completion.ibcm_status == -EPROTO && o2_victim_ended(h, -EPROTO);
}

/* More fragments than were agreed on, one byte each. */
static bool asks_for_crumbs(struct o2_hostile *h)
{
	struct o2_msg *ack = o2_victim_takes_fragments(h, 4) ? begin_ack(h) : NULL, done;

	if (ack == NULL)
		return false;
	ack->u.putack.ibpam_rd.rd_nfrags = 5;
	for (uint32_t i = 0; i < 5; i++)
		ack->u.putack.ibpam_rd.rd_frags[i] =
			(struct o2_rdma_frag){.rf_nob = 1, .rf_addr = 0x1000 + i};
	return o2_liar_send(h) && o2_liar_hears(h, O2_MSG_PUT_DONE, &done) &&
	       done.u.completion.ibcm_status == -EMSGSIZE && o2_victim_ended(h, -EMSGSIZE);
}

#define ROWS(name, text, fault, ...)                                                            \
	{"ack-" name,                                                                           \
	 "descriptor",                                                                          \
	 "a PUT_ACK " text,                                                                     \
	 "wire/put_ack/" fault,                                                                 \
	 "wire.md",                                                                             \
	 O2_REACT_CLOSE,                                                                        \
	 -EPROTO,                                                                               \
	 NULL,                                                                                  \
	 .script = ack_##__VA_ARGS__},                                                          \
	{                                                                                       \
		"get-" name, "descriptor", "a GET_REQ " text, "wire/get_req/" fault, "wire.md", \
			O2_REACT_CLOSE, -EPROTO, NULL, .script = get_##__VA_ARGS__              \
	}

const struct o2_misbehaviour o2_hostile_desc[] = {
	ROWS("no-fragments", "without a fragment", "nfrags-zero", none),
	ROWS("many-fragments", "with 258 fragments", "nfrags-over-limit", many),
	{"ack-negative-count", "descriptor", "a PUT_ACK with a count that is negative where it is signed",
	 "wire/put_ack/nfrags-over-limit", "wire.md", O2_REACT_CLOSE, -EPROTO, "count-signed",
	 .script = ack_negative},
	{"get-negative-count", "descriptor", "a GET_REQ with a count that is negative where it is signed",
	 "wire/get_req/nfrags-over-limit", "wire.md", O2_REACT_CLOSE, -EPROTO, "count-signed",
	 .script = get_negative},
	ROWS("cut-fragments", "with more fragments than bytes", "nob-under-frags", cut),
	ROWS("empty-fragment", "with a fragment of no bytes", "frag-nob-zero", empty, O2_KERNEL_TOLERATES),
	ROWS("huge-fragment", "with a fragment of more than 1 MiB", "frag-nob-over-limit", huge,
	     O2_KERNEL_TOLERATES),
	ROWS("too-much", "with more than 1 MiB in all", "frag-sum-over-limit", too_much, O2_KERNEL_TOLERATES),
	ROWS("wrapping", "with a fragment beyond the last address", "frag-addr-wraps", wrapping),
	{"asks-for-more", "descriptor", "a PUT_ACK for more bytes than the source has",
	 "rdma/source-too-small", "mapping.md", O2_REACT_KEEP, 0, "plan-failure-hidden",
	 .script = asks_for_more},
	{"asks-for-crumbs", "descriptor", "a PUT_ACK with more fragments than were agreed on",
	 "rdma/too-many-work-requests", "mapping.md", O2_REACT_KEEP, 0, "builder-unlimited",
	 .script = asks_for_crumbs},
	{.name = NULL},
};
