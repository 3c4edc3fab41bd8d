/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "props/hostile/hostile_net.h"
#include "wire/nid.h"

/*
 * A peer that accepts no orders: it is judged by what can be observed from outside.  It is unknown when it is
 * done, so every wait has a limit.
 */

#define REST_MS	  60u	 /* time without an event after which no more is expected */
#define SETTLE_MS 10000u /* time limit for an answer that is due */

#define NEEDS_MEMORY "needs memory that the peer serves (--portal, --match-bits)"

/* What the liar lacks for an order; NULL: nothing. */
static const char *needed(const struct o2_net_liar *net, enum o2_victim_act act)
{
	switch (act) {
	case O2_ACT_MEET:
	case O2_ACT_CLOCK:
	case O2_ACT_LOOK:
	case O2_ACT_FRAGMENTS:
		return NULL;
	case O2_ACT_SERVE:
	case O2_ACT_PUT:
		return net->options.served ? NULL : NEEDS_MEMORY;
	case O2_ACT_GET:
		return "needs the peer to start a GET";
	case O2_ACT_SEND:
		return net->h.liar.established ? NULL : "needs the peer to ask for a connection";
	default:
		return "needs a victim of ours: no peer can bring this situation about";
	}
}

static bool over(const struct o2_liar *liar)
{
	return liar->gone || liar->errors > 0;
}

/* Wait until the connection is over, or ms milliseconds have passed. */
static void wait_for_end(struct o2_net_liar *net, uint64_t ms)
{
	uint64_t end_ms = o2_monotonic_ms() + ms;

	while (!over(&net->h.liar) && o2_monotonic_ms() < end_ms)
		if (o2_net_liar_pump(net) == 0)
			poll(NULL, 0, 1);
}

/* True if the awaited message has come, or cannot come any more. */
static bool awaited_came(const struct o2_hostile *h, bool asked)
{
	if (h->awaited != 0)
		return h->liar.nheard[h->awaited - O2_MSG_NOOP] > 0 || over(&h->liar);
	return asked && !h->liar.waits;
}

/* Wait for the awaited message; if none is awaited, until nothing has come for a while. */
static void settle(struct o2_hostile *h)
{
	struct o2_net_liar *net = (struct o2_net_liar *)h;
	bool asked = h->liar.waits, awaits = asked || h->awaited != 0;
	uint64_t now_ms = o2_monotonic_ms(), end_ms = now_ms + SETTLE_MS, rest_ms = now_ms;

	while (now_ms < end_ms && !awaited_came(h, asked) &&
	       (awaits || now_ms < rest_ms + REST_MS || !o2_net_liar_quiet(net))) {
		if (o2_net_liar_pump(net) > 0)
			rest_ms = o2_monotonic_ms();
		else
			poll(NULL, 0, 1);
		now_ms = o2_monotonic_ms();
	}
}

/*
 * LNet answers a GET in an IMMEDIATE with a REPLY: in an IMMEDIATE if that is long enough, else by a PUT.
 * With this the liar makes a peer send a message or start a PUT.
 */
static bool ask_for(struct o2_net_liar *net, uint32_t portal, uint64_t match_bits, uint32_t sink_bytes)
{
	struct o2_hostile *h = &net->h;
	struct o2_lnet_hdr *hdr = &o2_liar_begin(h, O2_MSG_IMMEDIATE)->u.immediate.hdr;

	hdr->type = O2_LNET_GET;
	memset(&hdr->msg, 0, sizeof(hdr->msg));
	hdr->msg.get.return_wmd = (struct o2_lnet_handle){h->liar.stamp, ++h->tries};
	hdr->msg.get.match_bits = match_bits;
	hdr->msg.get.ptl_index = portal;
	hdr->msg.get.sink_length = sink_bytes;
	if (!o2_liar_send(h))
		return false;
	o2_hostile_settle(h);
	return true;
}

/* Negotiate the fragment limit again, with a new connection of the liar. */
static bool take_fragments(struct o2_net_liar *net, uint64_t count)
{
	struct o2_liar_spoil spoil = {.offset = O2_AT_MAX_FRAGS, .width = 2, .value = count};
	char why[O2_VICTIM_WHY_BYTES];

	o2_net_liar_end(net);
	return o2_net_liar_connect(net, &spoil, why);
}

static bool do_order(struct o2_net_liar *net, const struct o2_victim_order *what)
{
	switch (what->act) {
	case O2_ACT_CLOCK:
		wait_for_end(net, what->value);
		return true;
	case O2_ACT_PUT:
		return ask_for(net, net->options.portal, net->options.match_bits, (uint32_t)what->value);
	case O2_ACT_FRAGMENTS:
		return take_fragments(net, what->value);
	case O2_ACT_SEND:
		return ask_for(net, O2_PING_PORTAL, O2_PING_MATCH_BITS, O2_PING_SINK_BYTES);
	default:
		return true;
	}
}

static bool order(struct o2_hostile *h, const struct o2_victim_order *what, struct o2_victim_answer *answer)
{
	struct o2_net_liar *net = (struct o2_net_liar *)h;

	memset(answer, 0, sizeof(*answer));
	h->untold = needed(net, what->act);
	return h->untold == NULL && do_order(net, what);
}

static const struct o2_hostile_world world = {.outside = true, .order = order, .settle = settle};

bool o2_stranger_open(struct o2_net_liar *net, char *why)
{
	struct o2_liar *liar = &net->h.liar;
	struct o2_error error;

	if (o2_net_liar_attach(net, o2_nid_network(net->options.peer), &error) != 0) {
		o2_net_liar_refused(net, &error, why);
		return false;
	}
	net->h.world = &world;
	net->h.patience_ms = net->options.patience_ms;
	o2_liar_hear(liar, net->h.place[O2_NI_LIAR].cm);
	liar->victim_nid = net->options.peer;
	liar->port = net->options.port;
	liar->privileged_port = geteuid() == 0;
	/* A failure before the first lie is not the effect of a lie. */
	return o2_honest_asks(net, true, why);
}

void o2_stranger_close(struct o2_net_liar *net)
{
	o2_net_liar_detach(net);
}

/* True if the peer handles the next message and answers it. */
static bool answers_ping(struct o2_net_liar *net, char *why)
{
	struct o2_hostile *h = &net->h;
	struct o2_msg reply;

	snprintf(why, O2_VICTIM_WHY_BYTES, "the connection is over");
	if (over(&h->liar) || !ask_for(net, O2_PING_PORTAL, O2_PING_MATCH_BITS, O2_PING_SINK_BYTES))
		return false;
	snprintf(why, O2_VICTIM_WHY_BYTES, "the next message, a ping, is not answered");
	return o2_liar_hears(h, O2_MSG_IMMEDIATE, &reply) && reply.u.immediate.hdr.type == O2_LNET_REPLY &&
	       reply.u.immediate.hdr.msg.reply.dst_wmd.wh_object_cookie == h->tries;
}

static bool met(struct o2_net_liar *net, const struct o2_misbehaviour *what, char *why)
{
	const struct o2_liar *liar = &net->h.liar;

	if (what->reaction == O2_REACT_REJECT) {
		snprintf(why, O2_VICTIM_WHY_BYTES, "%s, reason %u; expected a reject with reason %d",
			 liar->established ? "accepted"
			 : liar->rejected  ? "rejected"
					   : "not answered",
			 liar->reject.ibr_why, what->code);
		return liar->rejected && !liar->established && liar->reject.ibr_why == what->code;
	}
	if (what->reaction == O2_REACT_KEEP)
		return answers_ping(net, why);
	wait_for_end(net,
		     what->reaction == O2_REACT_TIMEOUT ? net->options.patience_ms : net->options.closing_ms);
	snprintf(why, O2_VICTIM_WHY_BYTES, "the connection is still there");
	return over(liar);
}

/* True if the peer went on normally, or accepted what it could reject, as known of its implementation. */
static bool tolerates(struct o2_net_liar *net, const struct o2_misbehaviour *what)
{
	char why[O2_VICTIM_WHY_BYTES];

	if (net->options.profile != O2_HOSTILE_KERNEL || !what->kernel_tolerates)
		return false;
	return what->reaction == O2_REACT_REJECT ? net->h.liar.established : answers_ping(net, why);
}

/* Run the lie and judge it from the liar's side; its connection is over afterwards. */
static enum o2_net_outcome lie(struct o2_net_liar *net, const struct o2_misbehaviour *what, char *why)
{
	enum o2_net_outcome outcome = O2_NET_NOT_MET;

	if (!o2_net_liar_begin(net, what, why))
		return O2_NET_NOT_MET;
	if (!o2_misbehaviour_do(&net->h, what))
		snprintf(why, O2_VICTIM_WHY_BYTES, "%s",
			 net->h.untold != NULL ? net->h.untold : "the liar was not answered as it must be");
	else if (net->h.untold == NULL && met(net, what, why))
		outcome = O2_NET_MET;
	if (net->h.untold != NULL)
		return O2_NET_NOT_TRIED;
	return outcome == O2_NET_NOT_MET && tolerates(net, what) ? O2_NET_TOLERATED : outcome;
}

enum o2_net_outcome o2_stranger_try(struct o2_net_liar *net, const struct o2_misbehaviour *what, char *why)
{
	enum o2_net_outcome outcome = lie(net, what, why);
	bool held = outcome == O2_NET_MET || outcome == O2_NET_TOLERATED;
	char harm[O2_VICTIM_WHY_BYTES];

	o2_net_liar_end(net);
	if (!held || o2_honest_asks(net, false, harm))
		return outcome;
	snprintf(why, O2_VICTIM_WHY_BYTES, "%s", harm);
	return O2_NET_NOT_MET;
}
