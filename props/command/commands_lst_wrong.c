/* SPDX-License-Identifier: MIT */
/* lst against a test node with one wrong reply: docs/lst.md, "The console of o2ref". */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_name.h"
#include "props/command/commands.h"
#include "props/command/wrong.h"
#include "wire/msg.h"

#define PEER  "10.99.0.1@o2ib"
#define US    "10.77.3.4@o2ib"
#define OTHER UINT64_C(0x000500000a000002)
#define SIZE  4096u
/* Offsets by docs/lst.md, "The message"; the message is the payload of an IMMEDIATE. */
#define MESSAGE	 120u
#define STATUS	 (MESSAGE + 24u)
#define SESSION	 (MESSAGE + 28u)
#define RPC	 (MESSAGE + 64u)
#define MKSN	 1u
#define RMSN	 3u
#define STAT	 7u
#define TEST	 9u
#define BRW	 13u
#define PING	 15u
#define COUNTERS 5u

struct spoilt {
	struct o2_commands_run *run;
	struct o2_wrong *wrong;
	bool ping, reads, json;
	uint32_t count;
	/* The expected outcome. */
	uint64_t done, failed;
	const char *failure;	    /* kind of the failure; NULL: none */
	const char *step, *status;  /* of the session that failed; NULL: none */
	bool owned, counted;	    /* owned: the session belongs to another console */
	bool unmade, left;	    /* no session was made; ours may remain */
	uint64_t counter[COUNTERS]; /* requests, dropped, errors, read, written */
	char err[400];
};

static void say(struct spoilt *spoilt, uint32_t reply, uint32_t spares, uint32_t at, uint32_t width,
		uint64_t value)
{
	*spoilt->wrong = (struct o2_wrong){.in = O2_WRONG_MESSAGE,
					   .type = O2_MSG_IMMEDIATE,
					   .lnet_type = O2_LNET_PUT,
					   .lst_type = reply,
					   .at = at,
					   .width = width,
					   .value = value,
					   .answers = 1,
					   .spares = spares,
					   .most = 1};
}

static int draw_code(struct o2_choice *c)
{
	static const int codes[] = {EIO, ENOMEM, EPROTO, EINVAL, EBADMSG, ETIMEDOUT};

	return codes[o2_draw_pick(c, sizeof(codes) / sizeof(codes[0]))];
}

/* Spoil a step of the console: the node fails, or is in another session. */
static void spoil_step(struct spoilt *spoilt)
{
	static const struct {
		uint32_t reply, spares;
		const char *name;
	} steps[] = {{MKSN, 0, "make session"},
		     {TEST, 0, "add test"},
		     {STAT, 0, "counters"},
		     {STAT, 1, "counters"},
		     {RMSN, 0, "remove session"}};
	static char name[O2_ERRNO_TEXT_BYTES];
	struct o2_choice *c = spoilt->run->c;
	const size_t which = o2_draw_pick(c, 5);
	int code;

	spoilt->counted = spoilt->left = which == 4;
	spoilt->unmade = which == 0;
	spoilt->step = steps[which].name;
	if (which < 3)
		spoilt->done = 0;
	if (which > 0 && which < 4 && o2_draw_bool(c, 1, 1)) {
		spoilt->owned = true;
		spoilt->status = "ESTALE";
		say(spoilt, steps[which].reply, steps[which].spares, SESSION, 8, OTHER);
		snprintf(spoilt->err, sizeof(spoilt->err),
			 "o2ref: " PEER ": %s: a session of 10.0.0.2@o2ib has taken it from us\n",
			 steps[which].name);
		return;
	}
	code = which == 0 && o2_draw_bool(c, 1, 1) ? EBUSY : draw_code(c);
	spoilt->status = o2_errno_text(code, name);
	say(spoilt, steps[which].reply, steps[which].spares, STATUS, 4, (uint64_t)code);
	if (code == EBUSY)
		snprintf(spoilt->err, sizeof(spoilt->err),
			 "o2ref: " PEER " is busy: it is in session '' of " US
			 ", until 100 s after its last request (--force takes it)\n");
	else
		snprintf(spoilt->err, sizeof(spoilt->err),
			 "o2ref: " PEER ": %s: the node replied with status %s\n%s", steps[which].name,
			 spoilt->status,
			 which == 4 ? "o2ref: " PEER ": our session may remain on the node for 100 s\n" : "");
}

/* Spoil one RPC of the test, selected by number. */
static void spoil_test(struct spoilt *spoilt)
{
	struct o2_choice *c = spoilt->run->c;
	const uint32_t number = (uint32_t)o2_draw(c, spoilt->count - 1);
	const int code = draw_code(c);
	char name[O2_ERRNO_TEXT_BYTES];

	spoilt->done--;
	spoilt->failed = 1;
	snprintf(spoilt->err, sizeof(spoilt->err), "o2ref: %s %" PRIu32 " at " PEER ": ",
		 spoilt->ping	 ? "ping"
		 : spoilt->reads ? "read"
				 : "write",
		 number);
	if (spoilt->ping && o2_draw_bool(c, 1, 1)) {
		spoilt->failure = "answer";
		say(spoilt, PING, number, STATUS + 4 * (1 + (uint32_t)o2_draw(c, 1)), 4, 1 + o2_draw(c, 100));
		spoilt->wrong->adds = true;
		snprintf(spoilt->err + strlen(spoilt->err), sizeof(spoilt->err) - strlen(spoilt->err),
			 "answer: the reply does not match the request\n");
		return;
	}
	spoilt->failure = "status";
	say(spoilt, spoilt->ping ? PING : BRW, number, STATUS, 4, (uint64_t)code);
	snprintf(spoilt->err + strlen(spoilt->err), sizeof(spoilt->err) - strlen(spoilt->err),
		 "status: the node replied with status %s\n", o2_errno_text(code, name));
}

/* Spoil a counter before or after the test; it may wrap. */
static void spoil_counter(struct spoilt *spoilt)
{
	static const struct {
		uint32_t at, width;
	} places[COUNTERS] = {{8, 4}, {12, 4}, {0, 4}, {28, 8}, {20, 8}};
	struct o2_choice *c = spoilt->run->c;
	const size_t which = o2_draw_pick(c, COUNTERS);
	const uint64_t more = 1 + o2_draw(c, UINT32_MAX - 1);
	const bool before = o2_draw_bool(c, 1, 1);

	say(spoilt, STAT, before ? 0 : 1, RPC + places[which].at, places[which].width, more);
	spoilt->wrong->adds = true;
	spoilt->counter[which] += before ? -more : more;
	if (places[which].width == 4)
		spoilt->counter[which] &= UINT32_MAX;
}

/* --- checking the output --- */

static void check_words(struct spoilt *spoilt)
{
	const uint64_t bytes = spoilt->ping ? 0 : spoilt->done * SIZE;
	const bool looks = !spoilt->ping && spoilt->reads;
	char verify[80] = "", failed[40] = "", node[200] = "";

	if (looks)
		snprintf(verify, sizeof(verify), "verify: %" PRIu64 " checked, 0 wrong\n", spoilt->done);
	if (spoilt->failure != NULL)
		snprintf(failed, sizeof(failed), "failed: 1 %s\n", spoilt->failure);
	if (spoilt->counted)
		snprintf(node, sizeof(node),
			 "the node counts: %" PRIu64 " requests, %" PRIu64 " dropped, %" PRIu64
			 " errors, %" PRIu64 " bytes read from it, %" PRIu64 " bytes written to it\n",
			 spoilt->counter[0], spoilt->counter[1], spoilt->counter[2], spoilt->counter[3],
			 spoilt->counter[4]);
	o2_commands_says(spoilt->run, "words", spoilt->run->command.out,
			 "lst: %" PRIu64 " done, %" PRIu64 " failed, %" PRIu64
			 " bytes in # s: # MB/s, #/s%s\n%s%s%s",
			 spoilt->done, spoilt->failed, bytes,
			 spoilt->done > 0 ? "; #/#/# us (min/mean/max)" : "", verify, failed, node);
}

static bool is_text(const json_t *object, const char *key, const char *expected)
{
	const char *text = json_string_value(json_object_get(object, key));

	return expected == NULL ? text == NULL : text != NULL && strcmp(text, expected) == 0;
}

static bool is_number(const json_t *object, const char *key, uint64_t expected)
{
	return (uint64_t)json_integer_value(json_object_get(object, key)) == expected;
}

static void check_json(struct spoilt *spoilt)
{
	static const char *const counters[] = {"rpcs_rcvd", "rpcs_dropped", "errors", "bulk_put", "bulk_get"};
	json_t *found = json_loads(spoilt->run->command.out, 0, NULL);
	const json_t *failures = json_object_get(found, "failures"),
		     *session = json_object_get(found, "session"), *node = json_object_get(found, "node");
	bool fits = is_number(found, "done", spoilt->done) && is_number(found, "failed", spoilt->failed) &&
		    is_number(failures, "status", spoilt->failed > 0 && spoilt->failure[0] == 's') &&
		    is_number(failures, "answer", spoilt->failed > 0 && spoilt->failure[0] == 'a') &&
		    is_text(session, "failed_at", spoilt->step) &&
		    is_text(session, "status", spoilt->status) && (node != NULL) == spoilt->counted;

	if (spoilt->status == NULL || strcmp(spoilt->status, "EBUSY") != 0)
		fits = fits && is_text(session, "owner", spoilt->owned ? "10.0.0.2@o2ib" : NULL);
	else
		fits = fits && is_text(session, "owner", US);
	fits = fits && json_is_true(json_object_get(session, "made")) == !spoilt->unmade &&
	       json_is_true(json_object_get(session, "left")) == spoilt->left &&
	       is_number(session, "timeout_s", spoilt->unmade ? 0 : 100);
	for (size_t i = 0; i < COUNTERS && spoilt->counted; i++)
		fits = fits && is_number(node, counters[i], spoilt->counter[i]);
	if (!fits)
		o2_commands_wrong(spoilt->run, "json");
	json_decref(found);
}

static void draw(struct spoilt *spoilt)
{
	struct o2_choice *c = spoilt->run->c;
	const uint64_t test = o2_draw(c, 2);

	spoilt->ping = test == 0;
	spoilt->reads = test == 1;
	spoilt->json = o2_draw_bool(c, 1, 1);
	spoilt->count = 1 + (uint32_t)o2_draw(c, 5);
	spoilt->done = spoilt->count;
	spoilt->counted = true;
	spoilt->counter[0] = spoilt->count + 1;
	spoilt->counter[test == 1 ? 3 : 4] = test == 0 ? 0 : (uint64_t)spoilt->count * SIZE;
	o2_commands_words(spoilt->run, "lst --device=loop --concurrency=1 --nid=" US);
	o2_command_word(&spoilt->run->command, "--count=%" PRIu32, spoilt->count);
	o2_command_word(&spoilt->run->command, "--size=%u", SIZE);
	o2_command_word_if(&spoilt->run->command, spoilt->json, "--json");
	o2_commands_words(spoilt->run, PEER);
	o2_commands_words(spoilt->run, test == 0 ? "ping" : test == 1 ? "read" : "write");
}

void o2_commands_lst_wrong(struct o2_commands_run *run)
{
	static void (*const kinds[])(struct spoilt * spoilt) = {spoil_step, spoil_test, spoil_counter};
	struct o2_wrong wrong;
	struct spoilt spoilt = {.run = run, .wrong = &wrong};

	draw(&spoilt);
	kinds[o2_draw_pick(run->c, 3)](&spoilt);
	run->tally.seen[O2_COMMANDS_LST_FAILED]++;
	o2_wrong_execute(&run->command, spoilt.wrong);
	if (run->command.status != (spoilt.err[0] != '\0'))
		o2_commands_wrong(run, "status");
	else if (spoilt.wrong->told == 0)
		o2_commands_wrong(run, "untold");
	else if (strcmp(run->command.err, spoilt.err) != 0)
		o2_commands_wrong(run, "complaint");
	else if (spoilt.json)
		check_json(&spoilt);
	else
		check_words(&spoilt);
	if (run->report->failed)
		o2_report_add(run->report, "%u bytes at %u are %s%" PRIu64 " in reply %u, expected %s",
			      spoilt.wrong->width, spoilt.wrong->at, spoilt.wrong->adds ? "more by " : "",
			      spoilt.wrong->value, spoilt.wrong->lst_type, spoilt.err);
}
