/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/monotonic.h"
#include "props/world/far.h"

/* The far end's side of a run (props/world/far.h). */

#define SAY_MS 60000u /* time limit for the near end to read a message */

struct server {
	const struct o2_far_served *served;
	struct o2_far_talk talk;
	struct o2_far_memory memory;
	struct o2_end_life life;
	struct o2_error *error;
	bool over; /* the near end has ended the run */
};

/* Send a message; takes over object. */
static int say(struct server *server, json_t *object, const uint8_t *bytes, size_t length)
{
	const struct o2_far_message message = {object, bytes, length};

	return o2_far_say(&server->talk, &message, o2_monotonic_ms() + SAY_MS, server->error);
}

/* Wait for the next message and serve the device meanwhile. */
static int next(struct server *server, struct o2_far_message *message)
{
	const uint64_t limit_ms = server->served->deserted_ms, until_ms = o2_monotonic_ms() + limit_ms;
	int rc;

	while ((rc = o2_far_hear(&server->talk, message, server->error)) == 0) {
		if (o2_monotonic_ms() > until_ms)
			return o2_refuse_value(server->error, -ETIMEDOUT, "far/deserted",
					       "ms without a question of the near end", limit_ms, limit_ms);
		o2_end_life_idle(&server->life, server->talk.in);
	}
	return rc > 0 ? 0 : rc;
}

/* Send an answer with the pages that no longer hold what they were filled with. */
static int say_pages(struct server *server, json_t *object, bool all)
{
	size_t length;
	json_t *pages = o2_far_memory_changed(&server->memory, all, &length);

	return say(server, o2_json_with(object, "pages", pages), server->memory.changed, length);
}

static json_t *numbered(const json_t *question, const char *key, json_t *child)
{
	json_t *object = json_object();

	object = o2_json_with(object, "number", json_incref(json_object_get(question, "number")));
	return key == NULL ? object : o2_json_with(object, key, child);
}

static int serve_one(struct server *server, const json_t *question)
{
	struct o2_end_life *life = &server->life;
	int rc = o2_far_memory_fill(&server->memory, question, server->error);

	if (rc != 0)
		return rc;
	if (json_is_true(json_object_get(question, "all")))
		return say_pages(server, numbered(question, NULL, NULL), true);
	rc = o2_far_read_question(question, &life->question, server->error);
	if (rc != 0)
		return rc;
	server->over = life->question.verb == O2_END_QUIT;
	if (server->over)
		return 0;
	o2_end_life_answer(life);
	if (life->question.verb == O2_END_REST)
		return say_pages(server, numbered(question, "answer", o2_far_answer(&life->answer)), false);
	return say(server, numbered(question, "answer", o2_far_answer(&life->answer)), NULL, 0);
}

static int serve(struct server *server)
{
	struct o2_far_message message = {0};
	uint64_t number = 0;
	int rc = 0;

	while (rc == 0 && !server->over) {
		rc = next(server, &message);
		if (rc != 0)
			break;
		rc = o2_json_get_uint(message.object, "number", INT64_MAX, &number, server->error);
		if (rc == 0)
			rc = serve_one(server, message.object);
		json_decref(message.object);
	}
	o2_far_talk_free(&server->talk); /* so that this memory is not counted as left behind */
	o2_end_life_over(&server->life);
	if (rc == 0) {
		json_t *object = json_pack("{s:I}", "number", (json_int_t)number);

		rc = say(server, o2_json_with(object, "farewell", o2_far_farewell(&server->life.farewell)),
			 NULL, 0);
	}
	return rc;
}

static int live(struct server *server)
{
	const struct o2_far_served *served = server->served;
	struct o2_end_config config = served->end;
	int rc = say(server, o2_far_hello(&served->identity), NULL, 0);

	if (rc == 0)
		rc = o2_far_memory_open(&server->memory, server->error);
	if (rc != 0)
		return rc;
	config.arena = &server->memory.arena;
	config.alone = true;
	config.stream = server->talk.in;
	o2_far_talk_free(&server->talk);
	o2_end_life_begin(&server->life, &config, served->open_network);
	rc = say(server, json_pack("{s:o}", "answer", o2_far_answer(&server->life.answer)), NULL, 0);
	if (rc == 0 && server->life.open)
		rc = serve(server);
	else
		o2_end_life_over(&server->life); /* the near end was told the reason */
	o2_far_memory_close(&server->memory);
	return rc;
}

int o2_far_serve(const struct o2_far_served *served, struct o2_error *error)
{
	struct server *server = calloc(1, sizeof(*server));
	int rc;

	if (server == NULL)
		return o2_refuse_value(error, -ENOMEM, "far/memory", "bytes", sizeof(*server), O2_NO_LIMIT);
	server->talk = (struct o2_far_talk){.in = served->in, .out = served->out};
	server->served = served;
	server->error = error;
	/* Non-blocking, so that waiting for a full stream has a limit. */
	rc = fcntl(served->out, F_SETFL, fcntl(served->out, F_GETFL) | O_NONBLOCK) == 0 ? 0 : -errno;
	if (rc != 0)
		o2_refuse_value(error, rc, "far/stream", "descriptor", (uint64_t)served->out, O2_NO_LIMIT);
	else
		rc = live(server);
	o2_far_talk_free(&server->talk);
	free(server);
	close(served->in);
	close(served->out);
	return rc;
}
