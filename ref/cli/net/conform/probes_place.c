/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/net/conform/lst.h"

/* Memory that is not there, or only in part; and a survey of what the peer's application has. */

#define MATCHING    "peer.md#matching"
#define SMALL_BYTES 2000u
#define LARGE_BYTES 8192u
#define BLOCK_BYTES 4096u

/* No node has that many portals, unless --portal or --read-portal says so. */
#define NO_PORTAL 0xffffu

static uint32_t no_portal(const struct o2_net_options *options)
{
	uint32_t portal = NO_PORTAL;

	while (portal == options->portal || portal == options->read_portal)
		portal--;
	return portal;
}

/* Must fail with -ENODATA.  A PUT_NAK says that with status 0, which our end reports by this rule. */
static bool is_no_match(const struct o2_conform_op *op)
{
	return op->status == -ENODATA &&
	       (op->is_get ||
		(op->fault.error.rule != NULL && strcmp(op->fault.error.rule, "lnet/put/no-match") == 0));
}

/* An IMMEDIATE must fail or get no answer. */
static void expect_nothing(struct o2_conform *conform, bool is_get, uint32_t size_bytes)
{
	struct o2_conform_move move = o2_conform_move(conform, size_bytes);
	const struct o2_conform_op *op;

	move.portal = no_portal(conform->options);
	if (!o2_conform_start(conform, NULL))
		return;
	op = o2_conform_begin(conform, is_get, &move);
	if (op == NULL)
		return;
	if (size_bytes <= SMALL_BYTES && !o2_conform_answered(conform, op))
		return;
	if (!o2_conform_wait_for(conform, op))
		return;
	if (op->status == 0)
		o2_conform_find(conform, "%s of %" PRIu32 " bytes to portal %u: success, %" PRIu64 " bytes",
				is_get ? "GET" : "PUT", size_bytes, move.portal, op->length_bytes);
	else if (size_bytes > SMALL_BYTES && !is_no_match(op))
		o2_conform_moved(conform, op);
	else
		o2_conform_ping(conform, NULL);
}

static void missing_put(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	expect_nothing(conform, false, probe->value);
}

static void missing_get(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	expect_nothing(conform, true, probe->value);
}

/* PUT to the end of the place, so that it can be read there. */
static bool fill_end(struct o2_conform *conform, uint32_t half_bytes, struct o2_conform_move *move)
{
	const struct o2_conform_op *op;

	*move = o2_conform_move(conform, half_bytes);
	move->offset = conform->options->place_bytes - half_bytes;
	op = o2_conform_begin(conform, false, move);
	if (op == NULL || !o2_conform_wait(conform) || !o2_conform_moved(conform, op))
		return false;
	move->stream = op->stream;
	return true;
}

/* Check an operation that reaches past the end.  False: it moved nothing, which is right, or this reported it. */
static bool moved_part(struct o2_conform *conform, const struct o2_conform_op *op, uint32_t half_bytes)
{
	if (op->status != 0 && (op->status != -ENODATA || !o2_conform_ping(conform, NULL))) {
		o2_conform_moved(conform, op);
		return false;
	}
	if (op->status != 0)
		return false;
	if (op->is_get && !o2_conform_right(conform, op))
		return false;
	if (op->length_bytes > half_bytes)
		o2_conform_find(conform,
				"%s of %" PRIu64 " bytes, of which %" PRIu32
				" are there: the peer reports %" PRIu64 " bytes",
				op->is_get ? "GET" : "PUT", op->part.buffer.nob, half_bytes,
				op->length_bytes);
	return op->length_bytes > 0;
}

static void end_get(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	const uint32_t half_bytes = probe->value / 2;
	const struct o2_conform_op *op;
	struct o2_conform_move move;

	if (!o2_conform_start(conform, NULL) || !fill_end(conform, half_bytes, &move))
		return;
	move.size_bytes = probe->value;
	op = o2_conform_begin(conform, true, &move);
	if (op == NULL || (probe->value <= SMALL_BYTES && !o2_conform_answered(conform, op)))
		return;
	if (o2_conform_wait_for(conform, op))
		moved_part(conform, op, half_bytes);
}

static void end_put(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	const uint32_t half_bytes = probe->value / 2;
	struct o2_conform_move move = o2_conform_move(conform, probe->value);
	const struct o2_conform_op *op;

	move.offset = conform->options->place_bytes - half_bytes;
	if (!o2_conform_start(conform, NULL))
		return;
	op = o2_conform_begin(conform, false, &move);
	if (op == NULL || (probe->value <= SMALL_BYTES && !o2_conform_answered(conform, op)))
		return;
	if (!o2_conform_wait_for(conform, op) || !moved_part(conform, op, half_bytes))
		return;
	move.size_bytes = (uint32_t)op->length_bytes;
	move.stream = op->stream;
	op = o2_conform_begin(conform, true, &move);
	if (op != NULL && o2_conform_wait_for(conform, op) && o2_conform_moved(conform, op))
		o2_conform_right(conform, op);
}

const struct o2_conform_probe o2_conform_place_probes[] = {
	{"missing/put", "a PUT_REQ to a portal without memory gets a PUT_NAK with status 0", MATCHING,
	 .run = missing_put, .value = LARGE_BYTES},
	{"missing/get", "a GET_REQ to a portal without memory gets a GET_DONE with -ENODATA", MATCHING,
	 .run = missing_get, .value = LARGE_BYTES},
	{"missing/put-small", "a PUT in an IMMEDIATE to a portal without memory gets no ACK", MATCHING,
	 .run = missing_put, .value = SMALL_BYTES},
	{"missing/get-small", "a GET in an IMMEDIATE from a portal without memory gets no REPLY", MATCHING,
	 .run = missing_get, .value = SMALL_BYTES},
	{"end/put", "a PUT past the end reports no more bytes than fit", MATCHING,
	 .needs = O2_CONFORM_PLACE | O2_CONFORM_END, .run = end_put, .value = LARGE_BYTES},
	{"end/get", "a GET past the end reports no more bytes than are there and were written", MATCHING,
	 .needs = O2_CONFORM_PLACE | O2_CONFORM_END, .kernel_otherwise = true, .run = end_get,
	 .value = LARGE_BYTES},
	{"end/put-small", "a PUT in an IMMEDIATE past the end reports no more bytes than fit", MATCHING,
	 .needs = O2_CONFORM_PLACE | O2_CONFORM_END, .run = end_put, .value = SMALL_BYTES},
	{"end/get-small", "a GET in an IMMEDIATE past the end reports no more bytes than are there", MATCHING,
	 .needs = O2_CONFORM_PLACE | O2_CONFORM_END, .run = end_get, .value = SMALL_BYTES},
	{0},
};

/* --- what the peer's application has --- */

void o2_conform_lacks(struct o2_conform *conform, unsigned int bit, const char *format, uint32_t value)
{
	char *text = conform->lacks[bit];

	/* If the survey itself failed, that is the reason. */
	if (conform->result->outcome == O2_CONFORM_NOT_TRIED)
		snprintf(text, sizeof(conform->lacks[bit]), "%.150s", conform->result->text);
	else
		snprintf(text, sizeof(conform->lacks[bit]), format, value);
}

/* A place may work for IMMEDIATEs only; then the probes with large transfers report that. */
static bool takes_small(struct o2_conform *conform, bool is_get, uint32_t portal)
{
	struct o2_conform_move move = o2_conform_move(conform, 64);
	const struct o2_conform_op *op;

	move.portal = portal;
	op = o2_conform_begin(conform, is_get, &move);
	return op != NULL && o2_conform_answered(conform, op) && op->status == 0;
}

static bool takes(struct o2_conform *conform, bool is_get, uint32_t portal, uint64_t offset)
{
	struct o2_conform_move move = o2_conform_move(conform, BLOCK_BYTES);
	const struct o2_conform_op *op;

	move.portal = portal;
	move.offset = offset;
	op = o2_conform_begin(conform, is_get, &move);
	return op != NULL && o2_conform_wait_for(conform, op) && !o2_conform_was_starved(conform, op) &&
	       op->status != -ENODATA && (offset == 0 || op->length_bytes > 0);
}

/* Failures other than a missing place are reported by the probes. */
static bool has_place(struct o2_conform *conform, bool is_get, uint32_t portal)
{
	bool has = false;

	if (o2_conform_start(conform, NULL))
		has = takes(conform, is_get, portal, 0) || takes_small(conform, is_get, portal);
	o2_conform_stop(conform);
	return has;
}

static bool ends_there(struct o2_conform *conform)
{
	const uint32_t portal = conform->options->portal, end = conform->options->place_bytes;
	bool last = false, more = false;

	if (o2_conform_start(conform, NULL)) {
		last = takes(conform, false, portal, end - BLOCK_BYTES);
		more = takes(conform, false, portal, end);
	}
	o2_conform_stop(conform);
	return last && !more;
}

/* Sets conform->has, or the reason in conform->lacks, by bit of enum o2_conform_needs. */
static void survey_places(struct o2_conform *conform)
{
	const struct o2_net_options *options = conform->options;

	if (!has_place(conform, false, options->portal))
		o2_conform_lacks(conform, 0, "no memory takes PUTs at portal %u (see --portal, --match-bits)",
				 options->portal);
	else if (!has_place(conform, true, options->portal))
		o2_conform_lacks(conform, 0, "the memory at portal %u takes PUTs, but no GETs",
				 options->portal);
	else
		conform->has |= O2_CONFORM_PLACE;
	if (has_place(conform, true, options->read_portal))
		conform->has |= O2_CONFORM_READ_PLACE;
	else
		o2_conform_lacks(conform, 1,
				 "no memory takes GETs at portal %u (see --read-portal, --match-bits)",
				 options->read_portal);
	if ((conform->has & O2_CONFORM_PLACE) != 0 && ends_there(conform))
		conform->has |= O2_CONFORM_END;
	else
		o2_conform_lacks(conform, 2, "the peer's memory is not %u bytes long (see --place-bytes)",
				 options->place_bytes);
}

/* A test node needs no places, so if only its probes are wanted, places are not looked for. */
static bool wants_others(const struct o2_net_options *options)
{
	const struct o2_conform_probe *probe;

	for (uint32_t i = 0; (probe = o2_conform_probe(i)) != NULL; i++)
		if (o2_conform_wanted(options, probe->id) && !o2_conform_is_lst(probe->id))
			return true;
	return options->hostile;
}

void o2_conform_survey(struct o2_conform *conform)
{
	struct o2_conform_result unheard = {0};
	struct o2_conform_result *before = conform->result;

	conform->result = &unheard;
	conform->has = 0;
	if (wants_others(conform->options))
		survey_places(conform);
	/* That places could not be looked for does not concern the test node. */
	unheard.outcome = O2_CONFORM_HOLDS;
	if (conform->options->try_lst)
		o2_conform_lst_survey(conform);
	conform->result = before;
}
