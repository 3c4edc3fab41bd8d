/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LINKS_INTERNAL_H
#define O2_CLI_LINKS_INTERNAL_H

#include "cli/links.h"

/* What the files of the links share. */

#define O2_LINKS_DIRECTIONS ((size_t)O2_LINKS_MAX * O2_JUDGE_SIDES)

/* A connection.  qp[side]: the queue pair of that side, to which the other side sends. */
struct o2_link {
	struct o2_judge_conn *conn; /* NULL: not in use */
	struct o2_roce_address addr[O2_JUDGE_SIDES];
	uint32_t qp[O2_JUDGE_SIDES], cm_id[O2_JUDGE_SIDES], last_psn[O2_JUDGE_SIDES];
	bool has_qp[O2_JUDGE_SIDES], has_cm_id[O2_JUDGE_SIDES];
	/* Of what the side sends: PSN of its first packet, as the other side asked for; whether it has sent any. */
	uint32_t start_psn[O2_JUDGE_SIDES];
	bool has_sent[O2_JUDGE_SIDES];
	uint32_t first_psn[O2_JUDGE_SIDES]; /* of what was heard of it */
	/* The other side has acknowledged what the side sends up to this packet, before it was heard. */
	uint32_t acked_psn[O2_JUDGE_SIDES];
	bool has_acked[O2_JUDGE_SIDES];
	/* The first packet of B that A has acknowledged while nothing of B was heard. */
	uint32_t unheard_psn;
	bool has_unheard;
	bool o2iblnd;	     /* its request or a message has shown that it is o2iblnd's */
	bool other_protocol; /* they have shown that it is not: the judge hears nothing of it */
	uint64_t last_use;
};

/* A request that was rejected: it may come again, if the reject was lost behind the capture. */
struct o2_links_rejected {
	struct o2_roce_address src, dst;
	uint32_t cm_id, qp, psn;
};

#define O2_LINKS_REJECTED 64u /* requests that are remembered */

struct o2_links {
	struct o2_judge *judge;
	uint64_t clock;
	uint64_t last_frame, last_ns; /* of the last event of any connection */
	struct o2_links_totals totals;
	size_t rejections; /* so many were rejected: the last ones are in `rejected`, a ring */
	struct o2_links_rejected rejected[O2_LINKS_REJECTED];
	struct o2_link link[O2_LINKS_MAX];
};

/* Do the event's addresses fit a packet from that side of the link to the other? */
static inline bool o2_link_goes_from(const struct o2_link *link, enum o2_judge_side from,
				     const struct o2_event *event)
{
	return link->conn != NULL && o2_roce_address_same(&link->addr[from], &event->src) &&
	       o2_roce_address_same(&link->addr[1 - from], &event->dst);
}

/* A new link from event->src, side A, to event->dst, side B.  NULL: no memory. */
struct o2_link *o2_links_add(struct o2_links *links, const struct o2_event *event, enum o2_judge_seen seen);
/* Count the link, and forget it. */
void o2_links_drop(struct o2_links *links, struct o2_link *link);
/* Tell the judge of an event of the link. */
int o2_links_tell(struct o2_links *links, struct o2_link *link, enum o2_judge_side from,
		  enum o2_judge_event_kind kind, const struct o2_event *event);

/* Do the bytes begin with o2iblnd's magic, in either byte order? */
bool o2_links_has_magic(const uint8_t *bytes, size_t length_bytes);

/* A message of the connection manager. */
int o2_links_take_cm(struct o2_links *links, const struct o2_event *event);

#endif
