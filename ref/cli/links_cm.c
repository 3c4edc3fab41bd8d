/* SPDX-License-Identifier: MIT */
/* Links that the connection manager's messages begin and end. */
#include <errno.h>

#include "cli/cm_layout.h"
#include "cli/links_internal.h"
#include "cli/roce_layout.h"

/* The link that a message of the connection manager belongs to, by the sender's and the receiver's ids. */
static struct o2_link *by_cm_id(struct o2_links *links, const struct o2_event *event,
				enum o2_judge_side *from)
{
	const struct o2_cm_mad *cm = &event->cm;

	for (size_t i = 0; i < O2_LINKS_DIRECTIONS; i++) {
		struct o2_link *link = &links->link[i / O2_JUDGE_SIDES];
		const enum o2_judge_side side = i % O2_JUDGE_SIDES;

		if (!o2_link_goes_from(link, side, event) ||
		    !(link->has_cm_id[side] || link->has_cm_id[1 - side]) ||
		    (link->has_cm_id[side] && link->cm_id[side] != cm->local_id) ||
		    (link->has_cm_id[1 - side] && link->cm_id[1 - side] != cm->remote_id))
			continue;
		*from = side;
		return link;
	}
	return NULL;
}

static bool is_at(const struct o2_link *link, enum o2_judge_side side, const struct o2_roce_address *addr,
		  uint32_t qp)
{
	return link->conn != NULL && link->has_qp[side] && link->qp[side] == qp &&
	       o2_roce_address_same(&link->addr[side], addr);
}

/*
 * The queue pair `qp` at that address begins a new connection, so links that used it before have ended.
 * asking: the link of the new connection, which stays; NULL: none yet.
 */
static void forget_qp(struct o2_links *links, const struct o2_roce_address *addr, uint32_t qp,
		      const struct o2_link *asking)
{
	for (size_t i = 0; i < O2_LINKS_MAX; i++) {
		struct o2_link *link = &links->link[i];

		if (link != asking &&
		    (is_at(link, O2_JUDGE_A, addr, qp) || is_at(link, O2_JUDGE_B, addr, qp)))
			o2_links_drop(links, link);
	}
}

/*
 * Has a link begun with this same request?  A side that has sent packets has its reply, and asks no more: only a copy of
 * the request comes later, from where it passed another place.
 */
static bool asked_before(const struct o2_links *links, const struct o2_event *event)
{
	for (size_t i = 0; i < O2_LINKS_MAX; i++) {
		const struct o2_link *link = &links->link[i];

		if (o2_link_goes_from(link, O2_JUDGE_A, event) &&
		    (!link->has_sent[O2_JUDGE_A] || link->start_psn[O2_JUDGE_B] == event->cm.psn) &&
		    link->has_cm_id[O2_JUDGE_A] && link->cm_id[O2_JUDGE_A] == event->cm.local_id &&
		    link->qp[O2_JUDGE_A] == event->cm.qp)
			return true;
	}
	return false;
}

static void remember_rejected(struct o2_links *links, const struct o2_link *link)
{
	links->rejected[links->rejections++ % O2_LINKS_REJECTED] = (struct o2_links_rejected){
		.src = link->addr[O2_JUDGE_A],
		.dst = link->addr[O2_JUDGE_B],
		.cm_id = link->cm_id[O2_JUDGE_A],
		.qp = link->qp[O2_JUDGE_A],
		.psn = link->start_psn[O2_JUDGE_B],
	};
}

/* Was this same request rejected before? */
static bool rejected_before(const struct o2_links *links, const struct o2_event *event)
{
	for (size_t i = 0; i < O2_LINKS_REJECTED && i < links->rejections; i++) {
		const struct o2_links_rejected *rejected = &links->rejected[i];

		if (o2_roce_address_same(&rejected->src, &event->src) &&
		    o2_roce_address_same(&rejected->dst, &event->dst) &&
		    rejected->cm_id == event->cm.local_id && rejected->qp == event->cm.qp &&
		    rejected->psn == event->cm.psn)
			return true;
	}
	return false;
}

/* A request or a reply names its sender's queue pair, and the PSN of the first packet to that queue pair. */
static void learn_end(struct o2_link *link, enum o2_judge_side side, const struct o2_cm_mad *cm)
{
	link->qp[side] = cm->qp;
	link->cm_id[side] = cm->local_id;
	link->start_psn[1 - side] = cm->psn;
	link->last_psn[1 - side] = (cm->psn - 1) & O2_24_BITS;
	link->has_qp[side] = link->has_cm_id[side] = true;
}

/* Even an illegal request counts if it goes to o2iblnd's port, or to another one and begins as o2iblnd's do. */
static bool asks_o2iblnd(const struct o2_event *event)
{
	return event->msg != NULL || event->cm.service_id == O2_RDMA_SERVICE_O2IBLND ||
	       o2_links_has_magic(event->cm.private_data, event->cm.private_bytes);
}

static int take_request(struct o2_links *links, const struct o2_event *event)
{
	struct o2_link *link;

	if (asked_before(links, event) || rejected_before(links, event))
		return 0;
	forget_qp(links, &event->src, event->cm.qp, NULL);
	link = o2_links_add(links, event, O2_JUDGE_WHOLE);
	if (link == NULL)
		return -ENOMEM;
	learn_end(link, O2_JUDGE_A, &event->cm);
	link->o2iblnd = asks_o2iblnd(event);
	link->other_protocol = !link->o2iblnd;
	return o2_links_tell(links, link, O2_JUDGE_A, O2_JUDGE_REQUEST, event);
}

static int take_reply(struct o2_links *links, const struct o2_event *event)
{
	enum o2_judge_side from;
	struct o2_link *link = by_cm_id(links, event, &from);

	/* The request was not seen, or the reply is a repetition. */
	if (link == NULL || from != O2_JUDGE_B || link->has_cm_id[O2_JUDGE_B])
		return 0;
	forget_qp(links, &event->src, event->cm.qp, link);
	learn_end(link, O2_JUDGE_B, &event->cm);
	return o2_links_tell(links, link, O2_JUDGE_B, O2_JUDGE_REPLY, event);
}

int o2_links_take_cm(struct o2_links *links, const struct o2_event *event)
{
	enum o2_judge_side from;
	struct o2_link *link;
	int rc = 0;

	if (event->cm.kind == O2_CM_REQ)
		return take_request(links, event);
	if (event->cm.kind == O2_CM_REP)
		return take_reply(links, event);
	link = by_cm_id(links, event, &from);
	if (link == NULL)
		return 0;
	if (event->cm.kind == O2_CM_REJ) {
		if (from == O2_JUDGE_B && (event->reject != NULL || event->refused != NULL) &&
		    !o2_judge_reject_is_blank(event->raw, event->raw_bytes))
			rc = o2_links_tell(links, link, from, O2_JUDGE_REJECT, event);
		remember_rejected(links, link);
		o2_links_drop(links, link);
	} else if (event->cm.kind == O2_CM_DREQ) {
		rc = o2_links_tell(links, link, from, O2_JUDGE_DISCONNECT, event);
	}
	return rc;
}
