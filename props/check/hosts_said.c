/* SPDX-License-Identifier: MIT */
/* Draws what a program prints and how it ends, with the answer that must be reported. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "oracle/stage.h"
#include "props/check/hosts.h"
#include "props/model/wire_model.h"

#define IMPATIENCE_MS 40u
#define AT_FIRST      10u /* factor for the first question's time limit */
#define NO_STAGE      89

/* --- output --- */

static void say(struct o2_hosts_run *run, const void *bytes, size_t count)
{
	memcpy(run->said + run->said_bytes, bytes, count);
	run->said_bytes += count;
}

static void say_length(struct o2_hosts_run *run, uint32_t length)
{
	uint8_t head[O2_HOSTS_HEAD_BYTES];

	o2_wm_store(head, O2_HOSTS_HEAD_BYTES, true, length);
	say(run, head, sizeof(head));
}

void o2_hosts_say_frame(struct o2_hosts_run *run, const char *text)
{
	say_length(run, (uint32_t)strlen(text));
	say(run, text, strlen(text));
}

/* Show the bytes as reports do: at most 59 of them. */
static void excerpt(const char *bytes, size_t count, char text[60])
{
	count = count < 59 ? count : 59;
	for (size_t i = 0; i < count; i++)
		text[i] = bytes[i] < ' ' || bytes[i] > '~' ? '.' : bytes[i];
	text[count] = '\0';
}

/* The answer of a program without the stage. */
static void no_stage(const char *stage, char *text, size_t text_bytes)
{
	snprintf(text, text_bytes,
		 "{\"form\": \"o2ref/%s/output\", \"version\": 1, \"not_implemented\": true}", stage);
}

/* Append an answer in a frame of its own, perhaps one that cannot be read. */
void o2_hosts_say_answer(struct o2_hosts_run *run, struct o2_hosts_due *due)
{
	static const struct {
		const char *name;
		int error;
	} errors[] = {{"EINVAL", EINVAL}, {"ENOMEM", ENOMEM}, {"EMSGSIZE", EMSGSIZE}, {"EPROTO", EPROTO}};
	struct o2_choice *c = run->c;
	const char *stage = o2_stage_name(run->asked[0].stage);
	const uint64_t kind = o2_draw(c, 7), number = o2_draw(c, 999), which = o2_draw(c, 3);
	char text[200], shown[60];

	*due = (struct o2_hosts_due){.kind = O2_ANSWER_NOT_IMPLEMENTED};
	switch (kind) {
	case 4:
		snprintf(text, sizeof(text), "[%" PRIu64 ", \"\\u00e4\t\"]", number);
		if (which > 1) {
			snprintf(text, sizeof(text), "[%" PRIu64 "]", number);
			snprintf(due->text, sizeof(due->text), "it is no object: '[%" PRIu64 "]'", number);
		}
		excerpt(text, strlen(text), shown);
		snprintf(due->text_end, sizeof(due->text_end), ": '%s'", shown);
		due->kind = O2_ANSWER_BROKEN;
		due->check = "protocol/json";
		run->tally.seen[O2_HOSTS_NO_JSON]++;
		break;
	case 5:
		snprintf(text, sizeof(text), "{\"form\": \"o2ref/%s/output%" PRIu64 "\", \"version\": 1}",
			 stage, number);
		due->kind = O2_ANSWER_BROKEN;
		due->check = "protocol/form";
		run->tally.seen[O2_HOSTS_OTHER_FORM]++;
		break;
	case 6:
	case 7:
		no_stage(stage, text, sizeof(text));
		break;
	default:
		snprintf(due->name, sizeof(due->name), "r%" PRIu64, number);
		snprintf(text, sizeof(text),
			 "{\"form\": \"o2ref/%s/output\", \"version\": 1, \"refused\": {\"errno\": \"%s\", "
			 "\"rule\": \"%s\"}}",
			 stage, errors[which].name, due->name);
		due->kind = O2_ANSWER_REFUSED;
		due->error = errors[which].error;
		break;
	}
	o2_hosts_say_frame(run, text);
}

/* Append a frame that exceeds a pipe's capacity; blanks in front of a JSON text do not count. */
void o2_hosts_say_long(struct o2_hosts_run *run)
{
	const uint32_t blanks = 60000 + (uint32_t)o2_draw(run->c, 200000);
	char text[128];

	no_stage(o2_stage_name(run->asked[0].stage), text, sizeof(text));
	run->due[0] = (struct o2_hosts_due){.kind = O2_ANSWER_NOT_IMPLEMENTED};
	say_length(run, blanks + (uint32_t)strlen(text));
	memset(run->said + run->said_bytes, ' ', blanks);
	run->said_bytes += blanks;
	say(run, text, strlen(text));
}

/* --- the end --- */

static void leave(struct o2_hosts_run *run, struct o2_hosts_ending *end, const char *words, const char *site)
{
	static const struct {
		const char *name, *text;
	} signals[] = {/* No signal that a parent may have set to be ignored, as nohup(1) does with SIGHUP. */
		       {"TERM", "Terminated"},
		       {"KILL", "Killed"},
		       {"USR1", "User defined signal 1"},
		       {"ALRM", "Alarm clock"},
		       {"USR2", "User defined signal 2"}};
	struct o2_hosts_due *due = &end->due;
	const uint64_t kind = o2_draw(run->c, 2), which = o2_draw(run->c, 4);
	const int status = o2_draw_bool(run->c, 3, 1) ? NO_STAGE : (int)o2_draw(run->c, 255);

	due->kind = O2_ANSWER_BROKEN;
	if (kind == 0) {
		due->check = "run/crash";
		snprintf(end->command, sizeof(end->command), "kill -%s $$", signals[which].name);
		snprintf(due->text, sizeof(due->text), "it was ended by SIG%s (%s)%.130s",
			 signals[which].name, signals[which].text, words);
		run->tally.seen[O2_HOSTS_SIGNAL]++;
	} else if (status == NO_STAGE) {
		due->kind = O2_ANSWER_NOT_IMPLEMENTED;
		end->absent = true;
		run->tally.seen[O2_HOSTS_ABSENT]++;
	} else {
		due->check = "run/exit";
		snprintf(due->text, sizeof(due->text), "it ended with status %d%.130s", status, words);
		run->tally.seen[O2_HOSTS_EXIT]++;
	}
	if (kind != 0)
		snprintf(end->command, sizeof(end->command), "exit %d", status);
	snprintf(due->site, sizeof(due->site), "%s", site);
	run->tally.seen[O2_HOSTS_SITE] += site[0] != '\0';
	run->tally.seen[O2_HOSTS_FIRST] += run->first_of_two;
}

/* The length is invalid: too great, or printed text. */
static void say_no_frame(struct o2_hosts_run *run, struct o2_hosts_ending *end, const char *words)
{
	const size_t at = run->said_bytes;
	char shown[60], why[160];

	if (o2_draw_bool(run->c, 1, 1))
		say_length(run, (16u << 20) + 1 + (uint32_t)o2_draw(run->c, 1000));
	for (uint64_t left = 4 + o2_draw(run->c, 100); left > 0; left--)
		say(run, &"looking \n\t\xe4%s"[o2_draw(run->c, 12)], 1);
	excerpt(run->said + at, run->said_bytes - at, shown);
	snprintf(why, sizeof(why), "not a frame: it begins with '%s'", shown);
	end->due.kind = O2_ANSWER_BROKEN;
	end->due.check = "protocol/frame";
	snprintf(end->due.text, sizeof(end->due.text), "%.150s%.90s", why, words);
	snprintf(end->command, sizeof(end->command), "cat >/dev/null");
	run->tally.seen[O2_HOSTS_NO_FRAME]++;
}

/* Append less than the length announces; then the program ends, or hangs. */
static void say_half(struct o2_hosts_run *run, struct o2_hosts_ending *end, const char *words, bool hangs)
{
	const size_t at = run->said_bytes;
	const uint64_t some = o2_draw(run->c, 80);
	char shown[60];

	end->due.kind = O2_ANSWER_BROKEN;
	end->due.check = "protocol/frame";
	if (!hangs || o2_draw_bool(run->c, 1, 1)) {
		say_length(run, o2_draw_bool(run->c, 1, 1) ? 16u << 20 : (uint32_t)some + 1);
		/* Perhaps not even all bytes of the length. */
		run->said_bytes -= some == 0 ? o2_draw(run->c, 3) : 0;
		for (uint64_t i = 0; i < some; i++)
			say(run, "{", 1);
	}
	run->tally.seen[hangs ? O2_HOSTS_HANG : O2_HOSTS_HALF]++;
	if (!hangs) {
		snprintf(end->due.text, sizeof(end->due.text),
			 "its output ended in the middle of a frame%.90s", words);
		snprintf(end->command, sizeof(end->command), "exit 0");
		return;
	}
	end->timeout_ms = IMPATIENCE_MS;
	snprintf(end->command, sizeof(end->command), "exec sleep 60");
	excerpt(run->said + at, run->said_bytes - at, shown);
	if (run->said_bytes != at) {
		snprintf(end->due.text, sizeof(end->due.text),
			 "%zu bytes came within %u ms that are no whole frame: '%s'%.90s",
			 run->said_bytes - at, AT_FIRST * IMPATIENCE_MS, shown, words);
		return;
	}
	end->due.check = "run/hang";
	snprintf(end->due.text, sizeof(end->due.text), "no answer within %u ms%.90s",
		 AT_FIRST * IMPATIENCE_MS, words);
}

struct o2_hosts_ending o2_hosts_draw_ending(struct o2_hosts_run *run, const char *words, const char *site)
{
	static const uint32_t weights[] = {16, 24, 12, 12, 2};
	struct o2_hosts_ending end = {.ends = true, .timeout_ms = O2_HOSTS_PATIENCE_MS};

	switch (o2_draw_weighted(run->c, weights, 5)) {
	case 0:
		end.ends = false;
		snprintf(end.command, sizeof(end.command), "cat >/dev/null");
		break;
	case 1:
		leave(run, &end, words, site);
		break;
	case 2:
		say_no_frame(run, &end, words);
		break;
	case 3:
		say_half(run, &end, words, false);
		break;
	default:
		say_half(run, &end, words, true);
		break;
	}
	return end;
}
