/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <poll.h>

#include "lnd/ni/counts.h"
#include "props/lnet/endpoints_internal.h"

/* Advances the clock, and brings a case to rest. */

#define REST_MS	   240000u /* more than all deadlines that can follow each other */
#define EVENT_MS   5000	   /* more than a device takes from a completion to its event */
#define ATTEMPT_MS 5000u   /* shortest time-out of an attempt (docs/connection.md, "Times") */

/* The shortest of all deadlines. */
static uint64_t patience_ms(const struct o2_endpoints *endpoints)
{
	uint64_t least_ms = ATTEMPT_MS;

	for (uint32_t i = 0; i < endpoints->nseats; i++)
		if (endpoints->seat[i].lnet_config.response_timeout_ms < least_ms)
			least_ms = endpoints->seat[i].lnet_config.response_timeout_ms;
	return least_ms;
}

static void tell_time(struct o2_endpoints *endpoints)
{
	endpoints->step_ms = endpoints->ground.now_ms - endpoints->told_ms;
	endpoints->told_ms = endpoints->ground.now_ms;
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		if (endpoints->seat[i].open)
			o2_endpoint_clock(&endpoints->seat[i].endpoint, endpoints->ground.now_ms);
}

void o2_endpoints_clock(struct o2_endpoints *endpoints, uint64_t ms)
{
	o2_endpoints_wake(endpoints);
	endpoints->ground.ops->pass(&endpoints->ground, ms);
	if (endpoints->ground.now_ms - endpoints->exhausted_ms >= patience_ms(endpoints))
		for (uint32_t i = 0; i < endpoints->nseats; i++)
			o2_endpoints_blame_all(endpoints, i, O2_ENDPOINTS_BY_TIME);
	tell_time(endpoints);
}

/* True if each connection of i to j is established and j has it too.  view: what i knows of j. */
static bool connections_agree(const struct o2_endpoints *endpoints, uint32_t i, uint32_t j,
			      struct o2_peer_view *view)
{
	struct o2_peer_view there = {0};

	o2_node_peer(endpoints->seat[i].endpoint.node, o2_endpoints_nid(endpoints, j), view);
	if (endpoints->seat[j].open)
		o2_node_peer(endpoints->seat[j].endpoint.node, o2_endpoints_nid(endpoints, i), &there);
	return view->links == view->established && view->established == there.established;
}

static bool connections_rest(const struct o2_endpoints *endpoints, uint32_t i, uint32_t j)
{
	struct o2_peer_view view;

	return connections_agree(endpoints, i, j, &view) && view.attempts_due + view.waiting == 0;
}

static bool sends_are_complete(const struct o2_endpoints *endpoints, uint32_t i, uint32_t j)
{
	struct o2_conn_view view;
	const struct o2_conn *conn;

	for (uint32_t n = 0;; n++) {
		conn = o2_node_conn(endpoints->seat[i].endpoint.node, o2_endpoints_nid(endpoints, j), n);
		if (conn == NULL)
			return true;
		o2_conn_view(conn, &view);
		if (view.send_wrs > 0)
			return false;
	}
}

/*
 * True if nothing is in flight.  Whatever an operation still waits for needs time to pass, or never comes.  A
 * completed send has arrived: its receiver handles it in the rounds in which nothing else may happen.
 */
static bool is_silent(void *context)
{
	const struct o2_endpoints *endpoints = context;
	struct o2_peer_view view;

	for (uint32_t i = 0; i < endpoints->nseats; i++)
		for (uint32_t j = 0; j < endpoints->nseats; j++)
			if (i != j && endpoints->seat[i].open &&
			    (!connections_agree(endpoints, i, j, &view) ||
			     !sends_are_complete(endpoints, i, j)))
				return false;
	return true;
}

/* True if the endpoint is idle.  A kernel device may still have a NOOP in flight after all operations ended. */
static bool seat_rests(struct o2_endpoints_seat *seat)
{
	struct o2_error error;

	return seat->open && o2_lnet_messages(seat->endpoint.lnet) == 0 &&
	       o2_ni_check_idle(&seat->place.ni, &error) == 0;
}

static bool at_rest(struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++) {
		if (!seat_rests(&endpoints->seat[i]))
			return false;
		for (uint32_t j = 0; j < endpoints->nseats; j++)
			if (i != j && endpoints->seat[j].open && !connections_rest(endpoints, i, j))
				return false;
	}
	return true;
}

/* True if one of the endpoint's own operations waits for a window. */
static bool waits_for_window(const struct o2_endpoints_seat *seat)
{
	struct o2_conn_view view;
	const struct o2_conn *conn;

	for (uint32_t j = 0; j < seat->endpoints->nseats; j++) {
		conn = o2_node_conn(seat->endpoint.node, o2_endpoints_nid(seat->endpoints, j), 0);
		if (conn == NULL)
			continue;
		o2_conn_view(conn, &view);
		if (view.queued_window > 0)
			return true;
	}
	return false;
}

/* Prepare to sleep as a program does: arm the completion event, then look once more. */
static int arm(struct o2_endpoints_seat *seat)
{
	const int found = o2_node_arm(seat->endpoint.node);

	if (found < 0)
		o2_report_fail(seat->endpoints->report, "endpoint/arm", "endpoint %" PRIu32 ": %d",
			       seat->index, found);
	seat->asleep = found == 0;
	return found > 0 ? found : 0;
}

int o2_endpoints_look(struct o2_endpoints_seat *seat)
{
	struct pollfd event = {.fd = o2_ni_fd(&seat->place.ni), .events = POLLIN};
	const bool woken = !seat->asleep || poll(&event, 1, 0) > 0;
	int handled = o2_node_progress(seat->endpoint.node);

	/* The completion may have arrived in between: a kernel device makes the event after the completion. */
	if (!woken && handled > 0 && poll(&event, 1, EVENT_MS) <= 0)
		o2_report_fail(seat->endpoints->report, "endpoint/asleep",
			       "%d completions of endpoint %" PRIu32 " made no event", handled, seat->index);
	if (handled > 0 || woken)
		seat->asleep = false;
	return handled + (seat->sleeper && !seat->asleep && handled == 0 ? arm(seat) : 0);
}

void o2_endpoints_wake(struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		endpoints->seat[i].asleep = false;
}

/* Nothing is left to do: check that every endpoint that may sleep does. */
static void check_sleep(struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++) {
		struct o2_endpoints_seat *seat = &endpoints->seat[i];

		if (seat->open && seat->sleeper && arm(seat) != 0)
			o2_report_fail(endpoints->report, "endpoint/sleepless",
				       "endpoint %" PRIu32 " finds something to do where nothing is", i);
	}
}

static void progress(struct o2_endpoints_seat *seat, int *handled)
{
	if (!seat->open)
		return;
	if (seat->place.ni.arena.nwindows - seat->place.ni.arena.windows_in_use <=
		    seat->place.ni.kept_windows &&
	    waits_for_window(seat))
		o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_NO_WINDOW);
	*handled += o2_endpoints_look(seat);
}

static int pump_all(void *context)
{
	struct o2_endpoints *endpoints = context;
	int handled = 0, events;

	for (uint32_t i = 0; i < endpoints->nseats; i++)
		progress(&endpoints->seat[i], &handled);
	events = o2_ground_pump(&endpoints->ground);
	if (events > 0)
		o2_endpoints_wake(endpoints);
	handled += events;
	o2_endpoints_spring(endpoints);
	return handled;
}

void o2_endpoints_exhaust(struct o2_endpoints *endpoints)
{
	o2_ground_exhaust(&endpoints->ground, pump_all, is_silent);
	endpoints->exhausted_ms = endpoints->ground.now_ms;
}

/* Reopen all endpoints and let time pass, with network faults off: everything must end. */
static void settle(struct o2_endpoints *endpoints)
{
	const uint64_t end_ms = endpoints->ground.now_ms + REST_MS;

	o2_endpoints_exhaust(endpoints);
	while (!endpoints->report->failed && !at_rest(endpoints) && endpoints->ground.now_ms < end_ms) {
		for (uint32_t i = 0; i < endpoints->nseats; i++)
			o2_endpoints_return(&endpoints->seat[i]);
		/* Small enough steps that nothing times out which could have been handled, and that meet a deadline. */
		o2_endpoints_clock(endpoints, patience_ms(endpoints) / 2);
		o2_endpoints_exhaust(endpoints);
	}
	if (at_rest(endpoints)) {
		check_sleep(endpoints);
		return;
	}
	o2_endpoints_check_idle(endpoints);
	if (!endpoints->report->failed)
		o2_report_fail(endpoints->report, "endpoint/restless",
			       "the endpoints have not come to rest in %u ms", REST_MS);
}

void o2_endpoints_check_idle(struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		o2_place_check_idle(&endpoints->seat[i].place.ni, i, endpoints->report,
				    "endpoint/outstanding", "endpoint/ledger");
}

void o2_endpoints_settle(struct o2_endpoints *endpoints)
{
	const bool faults = endpoints->ground.faults;

	endpoints->ground.faults = false;
	settle(endpoints);
	endpoints->ground.faults = faults;
	if (!endpoints->report->failed)
		o2_endpoints_check_ops(endpoints);
	if (!endpoints->report->failed)
		o2_endpoints_check_tables(endpoints);
	if (!endpoints->report->failed)
		o2_endpoints_check_memory(endpoints);
	if (!endpoints->report->failed)
		o2_endpoints_forget_gone(endpoints);
	o2_endpoints_check_idle(endpoints);
	if (endpoints->report->failed)
		return;
	o2_endpoints_forgive(endpoints);
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		endpoints->seat[i].nops = endpoints->seat[i].nlarge = 0;
}

/* Check that idle connections survive the passing of time. */
void o2_endpoints_idle(struct o2_endpoints *endpoints, uint64_t ms)
{
	uint32_t downs[O2_ENDPOINTS_MAX] = {0};

	o2_endpoints_settle(endpoints);
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		downs[i] = endpoints->seat[i].downs;
	endpoints->ground.ops->pass(&endpoints->ground, ms);
	tell_time(endpoints);
	if (endpoints->report->failed)
		return;
	o2_endpoints_settle(endpoints);
	for (uint32_t i = 0; i < endpoints->nseats && !endpoints->report->failed; i++)
		if (endpoints->seat[i].downs != downs[i])
			o2_report_fail(endpoints->report, "endpoint/idle",
				       "endpoint %" PRIu32 " loses a connection in %" PRIu64
				       " ms without a message",
				       i, ms);
	o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_HOURS_IDLE);
}
