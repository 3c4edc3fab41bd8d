/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/monotonic.h"
#include "props/hostile/hostile_net.h"
#include "wire/nid.h"

/*
 * A victim of this program in another process.  It gets the same orders as a victim in this process, as
 * lines, so the same checks apply.
 */

#define REST_ROUNDS   2u     /* rounds in which neither side had an event */
#define SETTLE_MS     15000u /* after this time the ends count as not coming to rest */
#define HONEST_OFFSET 1u     /* offset of the honest peer's network number: it has the liar's address */

static bool ask(struct o2_net_liar *net, const struct o2_victim_line *line, struct o2_victim_answer *answer,
		uint32_t *work)
{
	if (o2_victim_child_ask(&net->child, line, answer, work))
		return true;
	net->h.untold = "the victim does not answer";
	return false;
}

static bool order(struct o2_hostile *h, const struct o2_victim_order *what, struct o2_victim_answer *answer)
{
	struct o2_victim_line line = {.order = *what};
	uint32_t work;

	return ask((struct o2_net_liar *)h, &line, answer, &work);
}

/*
 * A PUT that has not ended counts as in flight: while the victim waits for the connection manager to report the
 * connection, neither side has an event.
 */
static bool honest_quiet(const struct o2_net_liar *net)
{
	const struct o2_friend *honest = &net->h.friend;
	struct o2_conn *conn = o2_node_conn(honest->node, net->child.nid, 0);
	struct o2_conn_view view = {.send_wrs = 0};

	if (conn != NULL)
		o2_conn_view(conn, &view);
	return honest->end.done == honest->end.started && view.send_wrs == 0;
}

/* Let everything in flight arrive: all sends are acknowledged, and a disconnect is reported. */
static void settle(struct o2_hostile *h)
{
	struct o2_net_liar *net = (struct o2_net_liar *)h;
	struct o2_victim_line line = {.settle = true};
	struct o2_victim_answer answer = {.status = 0};
	uint64_t end_ms = o2_monotonic_ms() + SETTLE_MS;
	uint32_t rest = 0, work = 0;

	while (rest < REST_ROUNDS) {
		int busy = o2_net_liar_pump(net) + o2_node_progress(h->friend.node);

		if (o2_monotonic_ms() > end_ms) {
			h->endless = true;
			return;
		}
		if (busy > 0 || !o2_net_liar_quiet(net) || !honest_quiet(net)) {
			rest = 0;
			sched_yield();
			continue;
		}
		if (!ask(net, &line, &answer, &work))
			return;
		h->endless = h->endless || answer.status != 0;
		if (work > 0 || (answer.report.closed > 0 && h->liar.established && !h->liar.gone))
			rest = 0;
		else
			rest++;
	}
}

static const struct o2_hostile_world world = {.order = order, .settle = settle};

static int open_own_side(struct o2_net_liar *net, struct o2_error *error)
{
	int rc = o2_net_liar_attach(net, o2_nid_network(net->options.peer) + HONEST_OFFSET, error);

	if (rc == 0)
		rc = o2_liar_listen(&net->h.liar, net->h.place[O2_NI_LIAR].cm, error);
	if (rc == 0)
		rc = o2_friend_start_node(&net->h.friend, &net->h.place[O2_NI_FRIEND].ni,
					  net->h.place[O2_NI_FRIEND].cm, error);
	return rc;
}

bool o2_far_open(struct o2_net_liar *net, char *why)
{
	struct o2_victim_options victim = {.device = net->options.victim_device,
					   .gid_index = net->options.gid_index,
					   .mutant = net->options.mutant};
	struct o2_error error;
	int rc;

	net->h.world = &world;
	if (open_own_side(net, &error) != 0) {
		o2_net_liar_refused(net, &error, why);
		return false;
	}
	victim.liar_nid = net->h.liar.nid;
	rc = o2_victim_child_start(&victim, &net->child);
	net->h.liar.victim_nid = net->child.nid;
	snprintf(why, O2_VICTIM_WHY_BYTES, "the victim's process does not start: %s", strerror(-rc));
	return rc == 0;
}

void o2_far_close(struct o2_net_liar *net)
{
	struct o2_net_liar_options options = net->options;
	char how[32];

	o2_node_destroy(net->h.friend.node);
	o2_net_liar_detach(net);
	o2_victim_child_end(&net->child, how);
	memset(net, 0, sizeof(*net));
	net->options = options;
}

/* Add to why how the victim's process ended, if it did not end normally. */
static void say_how_it_ended(struct o2_net_liar *net, char *why)
{
	char how[32];
	size_t length = strlen(why);

	o2_victim_child_end(&net->child, how);
	if (how[0] != '\0')
		snprintf(why + length, O2_VICTIM_WHY_BYTES - length, "; the victim ended with %s", how);
}

enum o2_net_outcome o2_far_try(struct o2_net_liar *net, const struct o2_misbehaviour *what, char *why)
{
	struct o2_victim_answer answer;
	bool held = o2_hostile_order(&net->h, O2_ACT_MEET, 0, 0, &answer) &&
		    o2_net_liar_begin(net, what, why) && o2_hostile_judge(&net->h, what, why);

	if (held) {
		o2_net_liar_end(net);
		o2_hostile_settle(&net->h);
		return O2_NET_MET;
	}
	if (net->h.untold != NULL)
		snprintf(why, O2_VICTIM_WHY_BYTES, "%s", net->h.untold);
	say_how_it_ended(net, why);
	return O2_NET_NOT_MET;
}
