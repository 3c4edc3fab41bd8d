/* SPDX-License-Identifier: MIT */
#include "props/world/held.h"

#include <stdio.h>
#include <string.h>

#include "loopverbs/loopverbs.h"
#include "props/engine/left_behind.h"

/* Only a program with the in-process device has its counters. */
#pragma weak o2_loop_get_counters

static uint64_t pinned_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	unsigned long long kib = 0;
	char line[128];

	if (status == NULL)
		return 0;
	while (fgets(line, sizeof(line), status) != NULL) {
		if (sscanf(line, "VmPin: %llu kB", &kib) == 1)
			break;
	}
	fclose(status);
	return kib;
}

void o2_held_now(struct o2_held *held)
{
	struct o2_loop_counters c;

	*held = (struct o2_held){.pinned_kib = pinned_kib()};
	if (o2_loop_get_counters == NULL)
		return;
	o2_loop_get_counters(&c);
	held->regions = c.live_mrs;
	held->windows = c.live_mws;
	held->queue_pairs = c.live_qps;
	held->others = c.live_contexts + c.live_pds + c.live_cqs + c.live_channels + c.live_srqs + c.live_ahs;
}

void o2_held_add(struct o2_held *sum, const struct o2_held *one)
{
	sum->pinned_kib += one->pinned_kib;
	sum->regions += one->regions;
	sum->windows += one->windows;
	sum->queue_pairs += one->queue_pairs;
	sum->others += one->others;
	o2_process_held_add(&sum->process, &one->process);
}

bool o2_held_equal(const struct o2_held *a, const struct o2_held *b)
{
	return a->pinned_kib == b->pinned_kib && a->regions == b->regions && a->windows == b->windows &&
	       a->queue_pairs == b->queue_pairs && a->others == b->others;
}

static json_t *to_json(const struct o2_held *held)
{
	return json_pack("{s:I, s:i, s:i, s:i, s:i}", "pinned_kib", (json_int_t)held->pinned_kib, "regions",
			 (int)held->regions, "windows", (int)held->windows, "queue_pairs",
			 (int)held->queue_pairs, "others", (int)held->others);
}

static void add_finding(json_t *result, const char *signature, const char *text)
{
	fprintf(stderr, "FINDING %s\n  %s\n", signature, text);
	json_array_append_new(json_object_get(result, "findings"),
			      json_pack("{s:s, s:[s]}", "signature", signature, "lines", text));
}

/* Check what the ended processes of ends left behind. */
static bool processes_left_nothing(const struct o2_held *before, const struct o2_held *after, json_t *result)
{
	const char *property = json_string_value(json_object_get(result, "property"));
	char signature[64], held[200], text[256];

	if (o2_process_held_equal(&before->process, &after->process))
		return true;
	snprintf(signature, sizeof(signature), "%s/" O2_LEFT_BEHIND, property);
	o2_process_held_text(&before->process, &after->process, held, sizeof(held));
	snprintf(text, sizeof(text), "the processes of the two ends held %s", held);
	add_finding(result, signature, text);
	return false;
}

bool o2_held_to_json(const struct o2_held *before, const struct o2_held *most, const struct o2_held *after,
		     json_t *result)
{
	char text[200];

	json_object_set_new(result, "held",
			    json_pack("{s:o, s:o, s:o}", "before", to_json(before), "most", to_json(most),
				      "after", to_json(after)));
	if (o2_held_equal(before, after))
		return processes_left_nothing(before, after, result);
	snprintf(text, sizeof(text),
		 "left after all was closed: %llu KiB pinned (%llu before), %u regions (%u), %u windows "
		 "(%u), %u queue pairs (%u), %u other objects (%u)",
		 (unsigned long long)after->pinned_kib, (unsigned long long)before->pinned_kib,
		 after->regions, before->regions, after->windows, before->windows, after->queue_pairs,
		 before->queue_pairs, after->others, before->others);
	add_finding(result, "left-behind", text);
	return false;
}
