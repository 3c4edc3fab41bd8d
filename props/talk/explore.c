/* SPDX-License-Identifier: MIT */
#include "props/talk/explore.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "props/talk/explore_internal.h"

/*
 * The search.  A state itself is not stored, only the path to it.  After a state is reached again by replaying its
 * path, the search continues with untried events from state to state until none is left, and then closes both
 * ends, if no walk has done so in that state: creating and closing two ends costs more time than all events
 * between.  If anything fails, the search is repeated breadth first, so that the reported path is a shortest one.
 */

struct node {
	uint64_t hash;
	uint32_t parent;
	uint32_t length : 11; /* events from the initial state */
	uint32_t event : 3;   /* the last event of the path */
	uint32_t enabled : 8; /* set of events that are possible */
	uint32_t untried : 8; /* those not tried yet */
	uint32_t closed : 1;  /* closing both ends was tried in this state */
};

static_assert(O2_EXPLORE_PATH < 1u << 11 && O2_EXPLORE_EVENTS <= 8, "they fit");

/* For each event, the hash of the state that follows. */
struct after {
	uint64_t hash[O2_EXPLORE_EVENTS];
};

/* Another path to a state: by this event from node `from`. */
struct way {
	uint32_t from, to;
	uint8_t event;
};

struct search {
	struct o2_explore_world *world;
	struct o2_explore_result *result;
	struct o2_report *report;
	bool breadth_first;
	struct node *node;
	uint32_t nodes, room;
	/* Used only for verification: */
	struct after *after; /* indexed by node */
	struct way *way;
	uint32_t ways, way_room;
	uint32_t *slot; /* open hashing: number of the node + 1 */
	uint32_t slots; /* a power of two */
};

static bool grow_slots(struct search *s)
{
	uint32_t slots = s->slots == 0 ? 4096 : 2 * s->slots;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (slot == NULL)
		return false;
	for (uint32_t i = 0; i < s->nodes; i++) {
		uint32_t at = (uint32_t)s->node[i].hash & (slots - 1);

		while (slot[at] != 0)
			at = (at + 1) & (slots - 1);
		slot[at] = i + 1;
	}
	free(s->slot);
	s->slot = slot;
	s->slots = slots;
	return true;
}

static bool make_room(struct search *s)
{
	uint32_t room = s->room == 0 ? 4096 : 2 * s->room;
	struct after *after;
	struct node *node;

	if (2 * s->nodes >= s->slots && !grow_slots(s))
		return false;
	if (s->nodes < s->room)
		return true;
	node = realloc(s->node, room * sizeof(*node));
	if (node == NULL)
		return false;
	s->node = node;
	if (s->world->config->verify) {
		after = realloc(s->after, room * sizeof(*after));
		if (after == NULL)
			return false;
		s->after = after;
	}
	s->room = room;
	return true;
}

/* The hash slot of that state: its own, or the empty one for it. */
static uint32_t *find(const struct search *s, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & (s->slots - 1);

	while (s->slot[at] != 0 && s->node[s->slot[at] - 1].hash != hash)
		at = (at + 1) & (s->slots - 1);
	return &s->slot[at];
}

/* Stores the events from the initial state to node i; returns their number. */
static uint32_t way_to(const struct search *s, uint32_t i, uint8_t *way)
{
	uint32_t length = s->node[i].length;

	for (uint32_t at = length; at > 0; i = s->node[i].parent)
		way[--at] = s->node[i].event;
	return length;
}

static void note_way(struct o2_explore_result *result, const uint8_t *way, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		result->path[i] = o2_explore_letters[way[i]];
	result->path[length] = '\0';
}

static int note_other_way(struct search *s, uint32_t from, uint32_t event, uint32_t to)
{
	struct way *way;

	if (!s->world->config->verify)
		return 0;
	if (s->ways == s->way_room) {
		s->way_room = s->way_room == 0 ? 4096 : 2 * s->way_room;
		way = realloc(s->way, s->way_room * sizeof(*way));
		if (way == NULL)
			return -ENOMEM;
		s->way = way;
	}
	s->way[s->ways++] = (struct way){from, to, (uint8_t)event};
	return 0;
}

static void differ(struct search *s, const char *what)
{
	o2_report_fail(s->report, "explore/hash", "two states with equal hashes differ in %s", what);
}

/* Enter the world's current state, unless it is known.  *at: its node number.  Returns 0 or -ENOMEM. */
static int arrive(struct search *s, uint32_t parent, uint32_t event, uint32_t length, uint32_t *at)
{
	struct o2_explore_result *result = s->result;
	uint64_t hash = o2_explore_hash(s->world);
	uint32_t enabled = o2_explore_enabled(s->world);
	uint32_t *slot;

	if (!make_room(s))
		return -ENOMEM;
	if (length > 0 && s->after != NULL)
		s->after[parent].hash[event] = hash;
	slot = find(s, hash);
	if (*slot != 0) {
		*at = *slot - 1;
		if (s->node[*at].enabled != enabled)
			differ(s, "what can happen");
		return note_other_way(s, parent, event, *at);
	}
	*at = s->nodes++;
	s->node[*at] = (struct node){.hash = hash,
				     .parent = parent,
				     .length = length,
				     .event = event,
				     .enabled = enabled,
				     .untried = enabled};
	*slot = s->nodes;
	result->states++;
	result->longest = length > result->longest ? length : result->longest;
	if (o2_explore_at_rest(s->world)) {
		result->at_rest++;
		result->rest_sum += hash;
	}
	if (enabled == 0) {
		result->finished++;
		o2_explore_check_finished(s->world);
	}
	return 0;
}

/* A way was found from one state to the next; if it cannot be gone at once, one of the states was another. */
static void go(struct search *s, const uint8_t *way, uint32_t length)
{
	o2_explore_open(s->world, s->report);
	for (uint32_t k = 0; k < length && !s->report->failed; k++)
		if (o2_explore_enabled(s->world) & 1u << way[k])
			o2_explore_happen(s->world, way[k]);
		else
			differ(s, "what can happen");
}

/* True if node i has an untried event.  False also at the maximum path length. */
static bool has_untried(struct search *s, uint32_t i)
{
	const struct o2_explore_config *config = s->world->config;

	if (s->node[i].untried == 0)
		return false;
	if (s->node[i].length < (config->most_events > 0 ? config->most_events : O2_EXPLORE_PATH - 2))
		return true;
	s->result->all = false;
	return false;
}

/* Go to node i, then continue with untried events: one if breadth first, otherwise until none is left. */
static int walk(struct search *s, uint32_t i)
{
	uint8_t way[O2_EXPLORE_PATH] = {0};
	uint32_t length = way_to(s, i, way);
	int rc = 0;

	go(s, way, length);
	if (!s->report->failed && o2_explore_enabled(s->world) != s->node[i].enabled)
		differ(s, "what can happen");
	while (rc == 0 && !s->report->failed && length < O2_EXPLORE_PATH && has_untried(s, i)) {
		const uint32_t event = 31u - (uint32_t)__builtin_clz(s->node[i].untried);

		s->node[i].untried &= ~(1u << event);
		s->result->edges++;
		way[length++] = (uint8_t)event;
		o2_explore_happen(s->world, event);
		if (!s->report->failed)
			rc = arrive(s, i, event, s->node[i].length + 1, &i);
		if (s->breadth_first)
			break;
	}
	/* In any state, closing must leave nothing behind, and every operation must have ended once. */
	o2_explore_close(s->world);
	s->node[i].closed = true;
	if (s->report->failed)
		note_way(s->result, way, length);
	return rc;
}

static int expand(struct search *s, uint32_t i)
{
	int rc = 0;

	while (rc == 0 && !s->report->failed && (has_untried(s, i) || !s->node[i].closed))
		rc = walk(s, i);
	return rc;
}

/* Go to each state by each other path found, then by each possible event, and compare the hashes. */
static void verify(struct search *s)
{
	uint8_t way[O2_EXPLORE_PATH + 1];

	for (uint32_t i = 0; i < s->ways; i++) {
		const struct node *to = &s->node[s->way[i].to];
		uint32_t length = way_to(s, s->way[i].from, way);

		way[length++] = s->way[i].event;
		for (uint32_t event = 0; event < O2_EXPLORE_EVENTS && !s->report->failed; event++) {
			if (!(to->enabled & 1u << event))
				continue;
			way[length] = (uint8_t)event;
			s->result->verified++;
			go(s, way, length + 1);
			if (!s->report->failed &&
			    o2_explore_hash(s->world) != s->after[s->way[i].to].hash[event])
				differ(s, "what comes next");
			o2_explore_close(s->world);
			if (s->report->failed)
				note_way(s->result, way, length + 1);
		}
	}
}

static int search(struct search *s)
{
	uint32_t first = 0, most = s->world->config->most_states;
	int rc;

	*s->result = (struct o2_explore_result){.all = true};
	o2_report_clear(s->report);
	o2_explore_open(s->world, s->report);
	rc = s->report->failed ? 0 : arrive(s, 0, 0, 0, &first);
	o2_explore_close(s->world);
	if (s->nodes > 0)
		s->node[first].closed = true;
	for (uint32_t i = 0; i < s->nodes && rc == 0 && !s->report->failed; i++) {
		if (most > 0 && s->nodes >= most) {
			s->result->all = false;
			break;
		}
		rc = expand(s, i);
	}
	if (rc == 0 && s->result->all)
		verify(s);
	return rc != 0 ? rc : s->report->failed;
}

static void free_world(struct o2_explore_world *world)
{
	o2_explore_close(world);
	o2_sim_world_free(&world->sim);
	free(world);
}

static int search_in(struct o2_explore_world *world, bool breadth_first, struct o2_explore_result *result,
		     struct o2_report *report)
{
	struct search s = {
		.world = world, .result = result, .report = report, .breadth_first = breadth_first};
	const int rc = search(&s);

	if (rc != 0)
		result->all = false;
	free(s.node);
	free(s.after);
	free(s.way);
	free(s.slot);
	return rc;
}

int o2_explore(const struct o2_explore_config *config, struct o2_explore_result *result,
	       struct o2_report *report)
{
	/* Breadth first: the states that a bound leaves out are those with the longest paths. */
	const bool bounded = config->most_events > 0 || config->most_states > 0;
	struct o2_explore_world *world = calloc(1, sizeof(*world));
	int rc;

	if (world == NULL)
		return -ENOMEM;
	world->config = config;
	rc = search_in(world, bounded, result, report);
	if (rc == 1 && !bounded) {
		const struct o2_explore_result found = *result;
		const struct o2_report why = *report;

		rc = search_in(world, true, result, report);
		if (rc != 1) {
			*result = found;
			*report = why;
			rc = 1;
		}
	}
	free_world(world);
	return rc;
}

int o2_explore_replay(const struct o2_explore_config *config, const char *path, struct o2_report *report)
{
	struct o2_explore_world *world = calloc(1, sizeof(*world));
	int rc = 0;

	if (world == NULL)
		return -ENOMEM;
	world->config = config;
	o2_report_clear(report);
	o2_explore_open(world, report);
	for (; *path != '\0' && rc == 0 && !report->failed; path++) {
		const char *letter = strchr(o2_explore_letters, *path);
		uint32_t event = letter == NULL ? 31 : (uint32_t)(letter - o2_explore_letters);

		if (o2_explore_enabled(world) & 1u << event)
			o2_explore_happen(world, event);
		else
			rc = -EINVAL;
	}
	if (rc == 0 && !report->failed && o2_explore_enabled(world) == 0)
		o2_explore_check_finished(world);
	o2_sim_print(&world->sim, O2_EXPLORE_PATH, stdout);
	free_world(world);
	return rc != 0 ? rc : report->failed;
}
