/* SPDX-License-Identifier: MIT */
#include "props/world/rung_ends.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_far(const struct o2_rung_ends *ends, enum o2_side side)
{
	return ends->far != NULL && ends->config.far->side == side;
}

static void stop(struct o2_rung_ends *ends)
{
	for (int i = 0; i < 2; i++) {
		o2_end_process_kill(&ends->process[i]);
		if (ends->end[i] != NULL)
			o2_end_close(ends->end[i]);
	}
	if (ends->far != NULL)
		o2_far_kill(ends->far);
	if (ends->network != NULL)
		ends->network->ops->close(ends->network);
	ends->network = NULL;
	ends->running = false;
}

static int start_end(struct o2_rung_ends *ends, enum o2_side side, struct o2_error *error)
{
	struct o2_end_config config = {
		.device = ends->device[side],
		.gid_index = ends->config.gid_index,
		.side = side,
		.arena = &ends->arena[side],
		.alone = ends->config.processes,
	};
	int rc;

	if (is_far(ends, side)) {
		rc = o2_far_opened(ends->far, error);
		ends->waits += rc != 0;
		ends->nid[side] = ends->far->nid;
		return rc;
	}
	if (ends->far != NULL) {
		config.not_ours[0] = ends->far->talk.in;
		config.not_ours[1] = ends->far->talk.out;
	}
	if (ends->config.processes) {
		rc = o2_end_process_start(&config, ends->config.open_network, &ends->process[side], error);
		ends->nid[side] = ends->process[side].nid;
		return rc;
	}
	rc = o2_end_open(&config, ends->network, ends->end[side], error);
	ends->nid[side] = o2_end_nid(ends->end[side]);
	return rc;
}

/* Start the far end first, so that an unreachable one is reported before anything else. */
static int start_far(struct o2_rung_ends *ends, struct o2_error *error)
{
	const int rc = ends->far == NULL ? 0 : o2_far_start(ends->far, ends->config.far, error);

	ends->waits += rc != 0;
	return rc;
}

int o2_rung_ends_start(struct o2_rung_ends *ends, struct o2_error *error)
{
	int rc = start_far(ends, error);

	if (rc == 0 && !ends->config.processes)
		rc = ends->config.open_network(&ends->network, error);
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = start_end(ends, (enum o2_side)i, error);
	ends->running = rc == 0;
	if (rc != 0)
		stop(ends);
	return rc;
}

/* Has the lost end cost the whole timeout?  A part of an answer, and then nothing, is reported as garbage. */
static bool was_silent(const struct o2_rung_ends *ends, const struct o2_error *error)
{
	return error->code == -ETIMEDOUT || ends->far->talk.silent;
}

void o2_rung_ends_ask(struct o2_rung_ends *ends, enum o2_side side, const struct o2_end_question *question,
		      struct o2_end_answer *answer)
{
	if (is_far(ends, side))
		o2_far_ask(ends->far, question, answer);
	else if (ends->config.processes)
		o2_end_process_ask(&ends->process[side], question, answer);
	else if (question->verb == O2_END_WAIT)
		o2_ends_wait(ends->end, 2, side, question->until, answer);
	else
		o2_end_ask(ends->end[side], question, answer);
	if (answer->code != -EPIPE)
		return;
	ends->waits += is_far(ends, side) && was_silent(ends, &answer->error);
	stop(ends);
}

bool o2_rung_ends_given_up(const struct o2_rung_ends *ends)
{
	return ends->waits >= O2_RUNG_ENDS_WAITS;
}

void o2_rung_ends_images(struct o2_rung_ends *ends, struct o2_image *const image[2])
{
	if (ends->far != NULL)
		ends->far->copy.image = image[ends->config.far->side];
}

int o2_rung_ends_fetch(struct o2_rung_ends *ends, struct o2_error *error)
{
	const int rc = ends->far == NULL || !ends->running ? 0 : o2_far_fetch(ends->far, error);

	if (rc == 0)
		return 0;
	ends->waits += was_silent(ends, error);
	stop(ends);
	return rc;
}

int o2_rung_ends_quit(struct o2_rung_ends *ends, enum o2_side side, struct o2_end_farewell *farewell,
		      struct o2_error *error)
{
	if (!ends->config.processes || !ends->running)
		return 0;
	if (is_far(ends, side))
		return o2_far_quit(ends->far, farewell, error);
	return o2_end_process_quit(&ends->process[side], farewell, error);
}

void o2_rung_ends_close(struct o2_rung_ends *ends)
{
	stop(ends);
	for (int i = 0; i < 2; i++) {
		o2_arena_destroy(&ends->arena[i]);
		free(ends->end[i]);
	}
	free(ends->far);
}

int o2_rung_ends_open(struct o2_rung_ends *ends, const struct o2_rung_nodes_config *config,
		      struct o2_error *error)
{
	int rc = 0;

	ends->config = *config;
	for (int i = 0; i < 2; i++)
		ends->arena[i].fd = -1;
	if (config->far != NULL) {
		ends->config.processes = true;
		ends->far = calloc(1, sizeof(*ends->far));
		if (ends->far == NULL)
			return o2_refuse_value(error, -ENOMEM, "rung/memory", "far", sizeof(*ends->far),
					       O2_NO_LIMIT);
	}
	for (int i = 0; i < 2 && rc == 0; i++) {
		snprintf(ends->device[i], sizeof(ends->device[i]), "%s", config->device[i]);
		ends->end[i] = calloc(1, sizeof(*ends->end[i]));
		rc = o2_arena_create(O2_SCENARIO_PAGES, &ends->arena[i], error);
		if (ends->end[i] == NULL)
			rc = o2_refuse_value(error, -ENOMEM, "rung/memory", "end", sizeof(*ends->end[i]),
					     O2_NO_LIMIT);
	}
	return rc;
}
