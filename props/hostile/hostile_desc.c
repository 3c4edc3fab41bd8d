/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/hostile/hostile.h"

/* Misbehaviours with descriptors that a peer must not write to. */

/* Offsets in the descriptor of a PUT_ACK or a GET_REQ, and in its first fragment. */
#define COUNT(start)	 ((start) + O2_DESC_AT_NFRAGS)
#define FRAG_NOB(start)	 ((start) + O2_DESC_AT_FRAGS + O2_FRAG_AT_NOB)
#define FRAG_ADDR(start) ((start) + O2_DESC_AT_FRAGS + O2_FRAG_AT_ADDR)

/* Make the victim start a PUT; begin the PUT_ACK that it waits for. */
static struct o2_msg *begin_ack(struct o2_hostile *h)
{
	struct o2_msg *ack;
	uint64_t cookie;

	if (!o2_victim_awaits(h, O2_MSG_PUT_REQ, O2_REG_FMR, &cookie))
		return NULL;
	ack = o2_liar_begin(h, O2_MSG_PUT_ACK);
	ack->u.putack.ibpam_src_cookie = cookie;
	ack->u.putack.ibpam_dst_cookie = 0x77;
	return ack;
}

/* Two fragments that are each valid, but too large together. */
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
	return o2_liar_send_spoiled(h, &(struct o2_liar_spoil){FRAG_NOB(start), 4, (1u << 19) + 1, 0, false});
}

static bool ack_too_much(struct o2_hostile *h)
{
	return too_much(h, true);
}

static bool get_too_much(struct o2_hostile *h)
{
	return too_much(h, false);
}

/* Ask for 6000 bytes of a source of 5000: the sink gets an errno, and so does the source's owner. */
static bool asks_for_more(struct o2_hostile *h)
{
	struct o2_msg *ack = begin_ack(h), done;

	if (ack == NULL)
		return false;
	ack->u.putack.ibpam_rd.rd_frags[0].rf_nob = 6000;
	return o2_liar_send(h) && o2_liar_hears(h, O2_MSG_PUT_DONE, &done) &&
	       done.u.completion.ibcm_status == -EPROTO && o2_victim_ended(h, -EPROTO);
}

/* More fragments than agreed, one byte each. */
static bool asks_for_crumbs(struct o2_hostile *h)
{
	struct o2_msg *ack = o2_victim_does(h, O2_ACT_FRAGMENTS, 4, 0) ? begin_ack(h) : NULL, done;

	if (ack == NULL)
		return false;
	ack->u.putack.ibpam_rd.rd_nfrags = 5;
	for (uint32_t i = 0; i < 5; i++)
		ack->u.putack.ibpam_rd.rd_frags[i] =
			(struct o2_rdma_frag){.rf_nob = 1, .rf_addr = 0x1000 + i};
	return o2_liar_send(h) && o2_liar_hears(h, O2_MSG_PUT_DONE, &done) &&
	       done.u.completion.ibcm_status == -EMSGSIZE && o2_victim_ended(h, -EMSGSIZE);
}

#define ACK(at, bytes, is)               \
	.lie = {.type = O2_MSG_PUT_ACK,  \
		.after = O2_MSG_PUT_REQ, \
		.mode = O2_REG_FMR,      \
		.spoil = {.offset = at, .width = bytes, .value = is}}

#define ROW(name, text, rule, mutant, ...)                                                          \
	{                                                                                           \
		name, "descriptor", text, "wire/" rule, "wire.md", O2_REACT_CLOSE, -EPROTO, mutant, \
			__VA_ARGS__                                                                 \
	}
/* Rows for both messages that carry a descriptor, with the same change. */
#define ROWS(name, text, fault, mutant, place, width, value, ...)             \
	ROW("ack-" name, "a PUT_ACK " text, "put_ack/" fault, mutant,         \
	    ACK(place(O2_AT_PUT_ACK_DESC), width, value), __VA_ARGS__),       \
		ROW("get-" name, "a GET_REQ " text, "get_req/" fault, mutant, \
		    O2_SAYS(O2_MSG_GET_REQ, place(O2_AT_GET_REQ_DESC), width, value), __VA_ARGS__)

const struct o2_misbehaviour o2_hostile_desc[] = {
	ROWS("no-fragments", "without a fragment", "nfrags-zero", NULL, COUNT, 4, 0, O2_KERNEL_REFUSES),
	ROWS("many-fragments", "with 258 fragments", "nfrags-over-limit", NULL, COUNT, 4, 258,
	     O2_KERNEL_REFUSES),
	ROWS("negative-count", "with a count that is negative where it is signed", "nfrags-over-limit",
	     "count-signed", COUNT, 4, 0x80000001, O2_KERNEL_REFUSES),
	ROWS("cut-fragments", "with more fragments than bytes", "nob-under-frags", NULL, COUNT, 4, 2,
	     O2_KERNEL_REFUSES),
	ROWS("empty-fragment", "with a fragment of no bytes", "frag-nob-zero", NULL, FRAG_NOB, 4, 0,
	     O2_KERNEL_TOLERATES),
	ROWS("huge-fragment", "with a fragment of more than 1 MiB", "frag-nob-over-limit", NULL, FRAG_NOB, 4,
	     0x100001, O2_KERNEL_TOLERATES),
	ROW("ack-too-much", "a PUT_ACK with more than 1 MiB in all", "put_ack/frag-sum-over-limit", NULL,
	    .script = ack_too_much, O2_KERNEL_TOLERATES),
	ROW("get-too-much", "a GET_REQ with more than 1 MiB in all", "get_req/frag-sum-over-limit", NULL,
	    .script = get_too_much, O2_KERNEL_TOLERATES),
	ROWS("wrapping", "with a fragment beyond the last address", "frag-addr-wraps", NULL, FRAG_ADDR, 8,
	     UINT64_MAX - 100, O2_KERNEL_REFUSES),
	{"asks-for-more", "descriptor", "a PUT_ACK for more bytes than the source has",
	 "rdma/source-too-small", "mapping.md", O2_REACT_KEEP, 0, "plan-failure-hidden",
	 .script = asks_for_more},
	{"asks-for-crumbs", "descriptor", "a PUT_ACK with more fragments than were agreed on",
	 "rdma/too-many-work-requests", "mapping.md", O2_REACT_KEEP, 0, "builder-unlimited",
	 .script = asks_for_crumbs},
	{.name = NULL},
};
