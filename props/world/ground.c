/* SPDX-License-Identifier: MIT */
#include "props/world/ground.h"

#include <assert.h>
#include <errno.h>

#include "base/monotonic.h"
#include "props/world/device.h"
#include "props/world/end_watch.h"

#define REST_EVENTS  100000u /* most events without a change of time */
#define QUIET_ROUNDS 3u
/* Each round has a pause: if the host stops the guest, the moment passes, but not the rounds. */
#define WAIT_ROUNDS 80u

static void fail(const struct o2_ground *ground, const char *what, const char *why, int value)
{
	o2_report_fail_in(ground->report, ground->property, what, "%s: %d", why, value);
}

int o2_ground_watch(struct o2_ground *ground, uint32_t i, struct o2_ni_config *config, struct o2_error *error)
{
	assert(i < O2_GROUND_NODES && ground->watch[i] == NULL);
	ground->watch[i] = o2_end_watch_new(&ground->now_ms, ground->report);
	if (ground->watch[i] == NULL)
		return o2_refuse(error, -ENOMEM, "ground/memory", "watch", i, 0, O2_NO_LIMIT);
	config->watch = o2_end_watch_hook(ground->watch[i]);
	return 0;
}

void o2_ground_unwatch(struct o2_ground *ground)
{
	for (uint32_t i = 0; i < O2_GROUND_NODES; i++) {
		o2_end_watch_free(ground->watch[i]);
		ground->watch[i] = NULL;
	}
}

int o2_ground_pump(struct o2_ground *ground)
{
	const int events = ground->ops->pump(ground);

	if (events < 0)
		fail(ground, "network", "the connection manager has failed", events);
	return events;
}

void o2_ground_check_left(const struct o2_ground *ground, uint32_t interfaces, uint64_t regions)
{
	const struct o2_ground_ops *ops = ground->ops;

	if (!ground->report->failed && ops->left_behind != NULL && ops->left_behind(interfaces, regions))
		fail(ground, "left-behind",
		     "the devices do not have what the open interfaces account for; interfaces",
		     (int)interfaces);
}

void o2_ground_exhaust(struct o2_ground *ground, int (*pump)(void *context), bool (*rests)(void *context))
{
	const uint32_t moment_ms = ground->ops->moment_ms;
	uint64_t since_ms = moment_ms > 0 ? o2_monotonic_ms() : 0;
	uint32_t quiet = 0, busy = 0;
	bool waits = false; /* waits for events in flight */

	while (!ground->report->failed &&
	       (quiet < QUIET_ROUNDS ||
		(waits && (quiet < WAIT_ROUNDS || o2_monotonic_ms() - since_ms < moment_ms)))) {
		if (pump(ground->context) == 0) {
			quiet++;
			waits = moment_ms > 0 && !rests(ground->context);
			if (waits)
				o2_device_pause();
			continue;
		}
		quiet = 0;
		since_ms = moment_ms > 0 ? o2_monotonic_ms() : 0;
		if (++busy == REST_EVENTS)
			fail(ground, "restless", "still no rest after so many rounds", (int)REST_EVENTS);
	}
}
