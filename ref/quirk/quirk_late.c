/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/monotonic.h"
#include "quirk/quirk_internal.h"

/* O2_QUIRK_LATE: completions are delayed, and delivered in their order. */

struct o2_quirk_held {
	struct o2_quirk_held *next;
	struct ibv_cq *cq;
	struct ibv_wc wc;
	uint64_t due_ms;
};

/* Delay a completion.  Returns false if there is no memory. */
static bool hold(struct o2_quirks *quirks, struct ibv_cq *cq, const struct ibv_wc *wc, uint64_t due_ms)
{
	struct o2_quirk_held *held = malloc(sizeof(*held)), **end = &quirks->held;

	if (held == NULL)
		return false;
	while (*end != NULL)
		end = &(*end)->next;
	*held = (struct o2_quirk_held){.cq = cq, .wc = *wc, .due_ms = due_ms};
	*end = held;
	return true;
}

/* Move the due completions of this queue to wc.  Returns their number. */
static int release(struct o2_quirks *quirks, const struct ibv_cq *cq, int count, struct ibv_wc *wc,
		   uint64_t now_ms)
{
	struct o2_quirk_held **at = &quirks->held, *held;
	int found = 0;

	while (found < count && (held = *at) != NULL) {
		if (held->cq != cq || held->due_ms > now_ms) {
			at = &held->next;
			continue;
		}
		wc[found++] = held->wc;
		*at = held->next;
		free(held);
	}
	return found;
}

int o2_quirk_poll_late(void *context, struct ibv_cq *cq, int count, struct ibv_wc *wc, uint64_t now_ms)
{
	struct o2_quirks *quirks = context;
	struct ibv_wc come;
	int rc;

	/* An interface that is told no time, or arbitrary ones, cannot tell when a completion is due. */
	if (quirks->own_clock)
		now_ms = o2_monotonic_ms();
	while ((rc = ibv_poll_cq(cq, 1, &come)) > 0)
		if (!hold(quirks, cq, &come, now_ms + quirks->late_ms))
			return -1;
	return rc < 0 ? rc : release(quirks, cq, count, wc, now_ms);
}

void o2_quirk_forget(void *context, struct ibv_cq *cq)
{
	struct o2_quirks *quirks = context;
	struct o2_quirk_held **at = &quirks->held, *held;

	while ((held = *at) != NULL) {
		if (held->cq != cq) {
			at = &held->next;
			continue;
		}
		*at = held->next;
		free(held);
	}
}

void o2_quirks_end(struct o2_quirks *quirks)
{
	while (quirks->held != NULL)
		o2_quirk_forget(quirks, quirks->held->cq);
}
