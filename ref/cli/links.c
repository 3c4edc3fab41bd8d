/* SPDX-License-Identifier: MIT */
#include "cli/links_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/flows.h"
#include "cli/roce_layout.h"
#include "wire/bytes.h"

struct o2_links *o2_links_new(struct o2_judge *judge)
{
	struct o2_links *links = calloc(1, sizeof(*links));

	if (links != NULL)
		links->judge = judge;
	return links;
}

/* Add what was sent over the connection. */
static void count_said(const struct o2_link *link, struct o2_links_totals *totals)
{
	const struct o2_judge_view view = o2_judge_view(link->conn);

	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		totals->messages += view.messages[side];
		totals->writes += view.writes[side];
		totals->write_bytes += view.write_bytes[side];
	}
}

static void count(const struct o2_link *link, struct o2_links_totals *totals)
{
	const struct o2_judge_view view = o2_judge_view(link->conn);

	totals->other_protocols += link->other_protocol;
	if (link->other_protocol)
		return;
	totals->connections++;
	totals->whole += view.seen == O2_JUDGE_WHOLE;
	totals->one_way += view.seen == O2_JUDGE_ONE_WAY;
	count_said(link, totals);
}

static void part(struct o2_links *links, struct o2_link *link)
{
	o2_judge_part(links->judge, link->conn);
	*link = (struct o2_link){.conn = NULL};
}

void o2_links_drop(struct o2_links *links, struct o2_link *link)
{
	count(link, &links->totals);
	part(links, link);
}

void o2_links_free(struct o2_links *links)
{
	for (size_t i = 0; links != NULL && i < O2_LINKS_MAX; i++) {
		if (links->link[i].conn == NULL)
			continue;
		o2_judge_silent(links->judge, links->link[i].conn, links->last_frame, links->last_ns);
		o2_links_drop(links, &links->link[i]);
	}
	free(links);
}

struct o2_links_totals o2_links_totals(const struct o2_links *links)
{
	struct o2_links_totals totals = links->totals;

	for (size_t i = 0; i < O2_LINKS_MAX; i++)
		if (links->link[i].conn != NULL)
			count(&links->link[i], &totals);
	return totals;
}

/* The link that a packet belongs to; *from: the side that sends it. */
static struct o2_link *by_qp(struct o2_links *links, const struct o2_event *event, enum o2_judge_side *from)
{
	for (size_t i = 0; i < O2_LINKS_DIRECTIONS; i++) {
		struct o2_link *link = &links->link[i / O2_JUDGE_SIDES];

		*from = i % O2_JUDGE_SIDES;
		if (link->has_qp[1 - *from] && link->qp[1 - *from] == event->dest_qp &&
		    o2_link_goes_from(link, *from, event))
			return link;
	}
	return NULL;
}

struct o2_link *o2_links_add(struct o2_links *links, const struct o2_event *event, enum o2_judge_seen seen)
{
	struct o2_link *link = &links->link[0];

	for (size_t i = 0; i < O2_LINKS_MAX && link->conn != NULL; i++)
		if (links->link[i].conn == NULL || links->link[i].last_use < link->last_use)
			link = &links->link[i];
	if (link->conn != NULL) {
		links->totals.forgotten++;
		o2_links_drop(links, link);
	}
	link->conn = o2_judge_meet(links->judge, seen);
	if (link->conn == NULL)
		return NULL;
	link->addr[O2_JUDGE_A] = event->src;
	link->addr[O2_JUDGE_B] = event->dst;
	return link;
}

int o2_links_tell(struct o2_links *links, struct o2_link *link, enum o2_judge_side from,
		  enum o2_judge_event_kind kind, const struct o2_event *event)
{
	const struct o2_judge_event told = {
		.kind = kind,
		.from = from,
		.number = event->frame,
		.time_ns = event->time_ns,
		.timeless = event->time_ns == 0,
		.msg = event->msg,
		.reject = event->reject,
		.refused = event->refused,
		.bytes = event->bytes,
		.payload = event->payload,
		.addr = event->va,
		.rkey = event->rkey,
		.announced_bytes = event->dma_bytes,
	};

	link->last_use = ++links->clock;
	if (link->other_protocol)
		return 0;
	return o2_judge_hear(links->judge, link->conn, &told);
}

bool o2_links_has_magic(const uint8_t *bytes, size_t length_bytes)
{
	return bytes != NULL && length_bytes >= sizeof(uint32_t) &&
	       (o2_load32(bytes, O2_LITTLE_ENDIAN) == O2_MSG_MAGIC ||
		o2_load32(bytes, O2_BIG_ENDIAN) == O2_MSG_MAGIC);
}

static uint32_t first_psn(const struct o2_event *event)
{
	return (event->psn - event->packets + 1) & O2_24_BITS;
}

/* A request shows the protocol.  Without one, the first message shows it, or a later one that is o2iblnd's. */
static void learn_protocol(struct o2_link *link, const struct o2_event *event)
{
	if (link->has_cm_id[O2_JUDGE_A])
		return;
	link->o2iblnd =
		link->o2iblnd || event->msg != NULL || o2_links_has_magic(event->raw, event->raw_bytes);
	link->other_protocol = !link->o2iblnd;
}

/*
 * Something was missed before the first packet of a side if it does not have the agreed PSN, or, where that is
 * not known, if the other side has acknowledged an earlier packet.  Without such an acknowledgement it is not known
 * whether something was.
 */
static int begin_sending(struct o2_links *links, struct o2_link *link, enum o2_judge_side from,
			 const struct o2_event *event)
{
	const uint32_t psn = first_psn(event);
	const bool lost = link->has_cm_id[O2_JUDGE_B]
				  ? psn != link->start_psn[from]
				  : from == O2_JUDGE_B && link->has_unheard && psn != link->unheard_psn &&
					    !o2_roce_psn_behind(psn, link->unheard_psn);
	int rc = 0;

	if (link->has_sent[from])
		return 0;
	if (lost)
		rc = o2_links_tell(links, link, from, O2_JUDGE_LOST, event);
	else if (from == O2_JUDGE_B && !link->has_cm_id[O2_JUDGE_B])
		o2_judge_start_unseen(links->judge, link->conn, from);
	link->has_sent[from] = true;
	link->first_psn[from] = psn;
	return rc;
}

/* Did the packet arrive before it was heard?  Then it was missed, and now it is repeated. */
static bool acked_before(const struct o2_link *link, enum o2_judge_side from, const struct o2_event *event)
{
	return link->has_acked[from] &&
	       ((link->acked_psn[from] - event->psn) & O2_24_BITS) <= O2_FLOW_REPEAT_MAX;
}

/* After a jump that is too far for a loss or a repetition, the queue pairs carry a new connection. */
static void look_for_jump(struct o2_link *link, enum o2_judge_side from, const struct o2_event *event)
{
	const uint32_t ahead = (first_psn(event) - link->last_psn[from]) & O2_24_BITS;

	if ((link->has_sent[from] || link->has_cm_id[O2_JUDGE_B]) && ahead > O2_FLOW_REPEAT_MAX &&
	    ahead < O2_24_BITS - O2_FLOW_REPEAT_MAX)
		o2_judge_terms_unknown(link->conn);
}

/* A message or a WRITE over a connection. */
static int take_packets(struct o2_links *links, const struct o2_event *event, enum o2_judge_event_kind kind)
{
	enum o2_judge_side from;
	struct o2_link *link = by_qp(links, event, &from);
	int rc;

	/* Only the link's request was seen, not its reply or what was sent before this: start again. */
	if (link != NULL && !link->has_qp[O2_JUDGE_B]) {
		o2_links_drop(links, link);
		link = NULL;
	}
	if (link == NULL) {
		from = O2_JUDGE_A;
		link = o2_links_add(links, event, O2_JUDGE_ONE_WAY);
		if (link == NULL)
			return -ENOMEM;
		link->qp[O2_JUDGE_B] = event->dest_qp;
		link->has_qp[O2_JUDGE_B] = true;
	}
	if (kind == O2_JUDGE_MESSAGE)
		learn_protocol(link, event);
	look_for_jump(link, from, event);
	rc = begin_sending(links, link, from, event);
	link->last_psn[from] = event->psn;
	link->has_acked[from] = acked_before(link, from, event);
	if (link->has_acked[from])
		kind = O2_JUDGE_LOST;
	return rc != 0 ? rc : o2_links_tell(links, link, from, kind, event);
}

/* In dense traffic an acknowledgement is for a packet this far back, or less.  Farther back it may fit by chance. */
#define ACKED_BACK_MAX 4096u

/* May the acknowledgement be of what was heard of A? */
static bool fits(const struct o2_link *link, uint32_t psn)
{
	const uint32_t back = (link->last_psn[O2_JUDGE_A] - psn) & O2_24_BITS;

	return back <= ACKED_BACK_MAX &&
	       back <= ((link->last_psn[O2_JUDGE_A] - link->first_psn[O2_JUDGE_A]) & O2_24_BITS);
}

/*
 * The only link without side A's queue pair whose last packet the acknowledgement is of, else the only one that it
 * fits; NULL: none, or several.
 */
static struct o2_link *acknowledged(struct o2_links *links, const struct o2_event *event)
{
	struct o2_link *last = NULL, *any = NULL;
	uint32_t of_last = 0, of_any = 0;

	for (size_t i = 0; i < O2_LINKS_MAX; i++) {
		struct o2_link *link = &links->link[i];

		if (!o2_link_goes_from(link, O2_JUDGE_B, event) || link->has_qp[O2_JUDGE_A] ||
		    !fits(link, event->psn))
			continue;
		any = link;
		of_any++;
		if (link->last_psn[O2_JUDGE_A] != event->psn)
			continue;
		last = link;
		of_last++;
	}
	return of_last == 1 ? last : of_any == 1 ? any : NULL;
}

/* Remember that A has acknowledged what B has sent, if nothing of B was heard. */
static void learn_unheard(struct o2_link *link, const struct o2_event *event)
{
	if (link->has_sent[O2_JUDGE_B] || link->has_unheard)
		return;
	link->has_unheard = true;
	link->unheard_psn = event->psn;
}

/* Remember that the side has sent more than was heard of it.  Maybe only the end of a message is still to come. */
static void learn_acked(struct o2_link *link, enum o2_judge_side sender, const struct o2_event *event)
{
	if ((!link->has_sent[sender] && !link->has_cm_id[O2_JUDGE_B]) ||
	    !o2_roce_psn_behind(link->last_psn[sender], event->psn))
		return;
	link->has_acked[sender] = true;
	link->acked_psn[sender] = event->psn;
}

/* An acknowledgement may show that two directions, seen apart so far, are one connection. */
static int take_ack(struct o2_links *links, const struct o2_event *event)
{
	enum o2_judge_side from;
	struct o2_link *other = by_qp(links, event, &from), *link;

	if (other != NULL && from == O2_JUDGE_A)
		learn_unheard(other, event);
	if (other != NULL)
		learn_acked(other, o2_judge_other(from), event);
	if (other != NULL && other->has_qp[O2_JUDGE_A])
		return 0;
	link = acknowledged(links, event);
	if (link == NULL || link == other)
		return 0;
	link->qp[O2_JUDGE_A] = event->dest_qp;
	link->has_qp[O2_JUDGE_A] = true;
	if (other == NULL) {
		o2_judge_both_ways(link->conn);
		return 0;
	}
	/* Each direction was judged by itself, and their common order is not known: the judge starts again. */
	link->o2iblnd = link->o2iblnd || other->o2iblnd;
	link->other_protocol = !link->o2iblnd && (link->other_protocol || other->other_protocol);
	if (!link->other_protocol) {
		count_said(other, &links->totals);
		count_said(link, &links->totals);
	}
	link->last_psn[O2_JUDGE_B] = other->last_psn[O2_JUDGE_A];
	link->has_sent[O2_JUDGE_B] = true;
	part(links, other);
	o2_judge_part(links->judge, link->conn);
	link->conn = o2_judge_meet(links->judge, O2_JUDGE_LATER);
	return link->conn == NULL ? -ENOMEM : 0;
}

/* Something was not seen: if no link has that direction, maybe in any of these hosts (queue pair 0: all hosts). */
static int take_missing(struct o2_links *links, const struct o2_event *event)
{
	enum o2_judge_side from;
	struct o2_link *link = by_qp(links, event, &from);
	int rc = 0;

	if (link != NULL && (event->kind != O2_EVENT_ANEW || link->has_sent[from]))
		return o2_links_tell(links, link, from, O2_JUDGE_LOST, event);
	for (size_t i = 0; i < O2_LINKS_DIRECTIONS && rc == 0 && event->kind != O2_EVENT_ANEW; i++) {
		link = &links->link[i / O2_JUDGE_SIDES];
		from = i % O2_JUDGE_SIDES;
		if (link->conn != NULL && (event->dest_qp == 0 || o2_link_goes_from(link, from, event)))
			rc = o2_links_tell(links, link, from, O2_JUDGE_LOST, event);
	}
	return rc;
}

static int take_nak(struct o2_links *links, const struct o2_event *event)
{
	enum o2_judge_side from;
	struct o2_link *link = by_qp(links, event, &from);

	return link == NULL ? 0 : o2_links_tell(links, link, from, O2_JUDGE_NAK, event);
}

/* If the link is not known yet, the WRITE that follows will make it known. */
static int take_part(struct o2_links *links, const struct o2_event *event)
{
	enum o2_judge_side from;
	struct o2_link *link = by_qp(links, event, &from);
	int rc = 0;

	if (link == NULL || !link->has_qp[O2_JUDGE_B] || acked_before(link, from, event))
		return 0;
	/* A's acknowledgements from here on are of this WRITE.  With an agreed PSN the whole WRITE is looked at. */
	if (!link->has_cm_id[O2_JUDGE_B])
		rc = begin_sending(links, link, from, event);
	return rc != 0 ? rc : o2_links_tell(links, link, from, O2_JUDGE_PART, event);
}

int o2_links_hear(struct o2_links *links, const struct o2_event *event)
{
	links->last_frame = event->frame;
	/* A packet without a time is not the end of the time that has passed. */
	links->last_ns = event->time_ns != 0 ? event->time_ns : links->last_ns;
	/* The judge may have heard it already, and its receiver may have handled it before. */
	if (event->again)
		return 0;
	switch (event->kind) {
	case O2_EVENT_SEND:
		return take_packets(links, event, O2_JUDGE_MESSAGE);
	case O2_EVENT_WRITE:
		return take_packets(links, event, O2_JUDGE_WRITE);
	case O2_EVENT_CM:
		return o2_links_take_cm(links, event);
	case O2_EVENT_NAK:
		return take_nak(links, event);
	case O2_EVENT_NOTE:
	case O2_EVENT_BACK:
	case O2_EVENT_ANEW:
		return event->kind != O2_EVENT_NOTE || event->missing ? take_missing(links, event) : 0;
	case O2_EVENT_ACK:
		return take_ack(links, event);
	case O2_EVENT_PART:
		return take_part(links, event);
	}
	return 0;
}
