/* SPDX-License-Identifier: MIT */
/* The script of a program under trial, the expected lines, and the trial itself. */
#include "props/check/hosts_trial.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "oracle/selftest.h"
#include "oracle/selftest_requests.h"
#include "props/check/hosts_scarce.h"
#include "props/model/wire_model.h"

#define SHOWN	 47u /* most bytes that are shown */
#define NO_STAGE 89
#define FRAME	 600u

static int file_in_memory(void)
{
	const int fd = memfd_create("o2ref-hosts", 0);

	if (fd < 0)
		abort(); /* out of memory: the harness cannot test anything */
	return fd;
}

void o2_hosts_trial_begin(struct o2_hosts_trial *t, struct o2_hosts_run *run, uint32_t scarce_after)
{
	memset(t, 0, sizeof(*t));
	t->run = run;
	t->scarce_after = scarce_after;
	t->timeout_ms = O2_HOSTS_PATIENCE_MS;
	t->counter = file_in_memory();
	t->ears = file_in_memory();
	t->file = file_in_memory();
	o2_hosts_script(t, "read n </dev/fd/%d\necho $((n+1)) >/dev/fd/%d\ncase $n in\n", t->counter,
			t->counter);
}

void o2_hosts_trial_end(struct o2_hosts_trial *t)
{
	close(t->counter);
	close(t->ears);
	close(t->file);
}

/* --- the script --- */

void o2_hosts_script(struct o2_hosts_trial *t, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	t->script_bytes += (size_t)vsnprintf(t->script + t->script_bytes, sizeof(t->script) - t->script_bytes,
					     format, list);
	va_end(list);
	if (t->script_bytes >= sizeof(t->script))
		abort();
}

void o2_hosts_due_line(struct o2_hosts_trial *t, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	t->due_bytes += (size_t)vsnprintf(t->due + t->due_bytes, sizeof(t->due) - t->due_bytes, format, list);
	va_end(list);
	t->due_bytes += (size_t)snprintf(t->due + t->due_bytes, sizeof(t->due) - t->due_bytes, "\n");
	if (t->due_bytes >= sizeof(t->due))
		abort();
	t->lines++;
}

static void print(struct o2_hosts_trial *t, const uint8_t *bytes, size_t count)
{
	o2_hosts_script(t, "printf '");
	for (size_t i = 0; i < count; i++)
		o2_hosts_script(t, isalnum(bytes[i]) ? "%c" : "\\%03o", bytes[i]);
	o2_hosts_script(t, "'; ");
}

void o2_hosts_hear(struct o2_hosts_trial *t)
{
	const char *request = o2_selftest_request(t->stage);
	const size_t bytes = strlen(request);

	o2_hosts_script(t, "head -c %zu >>/dev/fd/%d; ", bytes + O2_HOSTS_HEAD_BYTES, t->ears);
	if (t->asked_bytes + O2_HOSTS_HEAD_BYTES + bytes > sizeof(t->asked))
		abort();
	o2_wm_store((uint8_t *)t->asked + t->asked_bytes, O2_HOSTS_HEAD_BYTES, true, bytes);
	memcpy(t->asked + t->asked_bytes + O2_HOSTS_HEAD_BYTES, request, bytes);
	t->asked_bytes += O2_HOSTS_HEAD_BYTES + bytes;
}

/* Were the requests questions of the right stages, in the right order? */
bool o2_hosts_heard(const struct o2_hosts_trial *t)
{
	static char heard[sizeof(t->asked) + 1];
	static struct o2_case asked;
	json_t *form;
	struct o2_error error;
	bool right;

	if (pread(t->ears, heard, sizeof(heard), 0) != (ssize_t)t->asked_bytes ||
	    memcmp(heard, t->asked, t->asked_bytes) != 0)
		return false;
	if (t->stage >= O2_STAGES)
		return true;
	form = json_loads(o2_selftest_request(t->stage), 0, NULL);
	right = o2_case_from_json(form, &asked, &error) == 0 && asked.stage == t->stage;
	json_decref(form);
	return right;
}

/* --- right answers --- */

static size_t frame(uint8_t *bytes, const char *text, bool little, uint64_t length)
{
	size_t used = O2_HOSTS_HEAD_BYTES;

	o2_wm_store(bytes, O2_HOSTS_HEAD_BYTES, little, length);
	while (*text != '\0')
		bytes[used++] = (uint8_t)*text++;
	return used;
}

/* Make the text long enough that every length occurs. */
static void right_text(struct o2_hosts_trial *t, bool tells, char *text, size_t room)
{
	struct o2_choice *c = t->run->c;
	size_t used = (size_t)snprintf(
		text, room, "{\"form\": \"o2ref/%s/output\", \"version\": 1, %s", o2_stage_name(t->stage),
		o2_draw_bool(c, 1, 1) ? "\"not_implemented\": true" : "\"refused\": {\"errno\": \"EINVAL\"}");

	if (tells) {
		used += (size_t)snprintf(text + used, room - used, ", \"stages\": [1");
		for (uint32_t i = O2_STAGES_1; i < O2_STAGES; i++) {
			t->told[i] = o2_draw_bool(c, 2, 1);
			if (t->told[i])
				used += (size_t)snprintf(text + used, room - used, ", \"%s\"",
							 o2_stage_name((enum o2_stage)i));
		}
		used += (size_t)snprintf(text + used, room - used, ", \"sg_build\"]");
	}
	snprintf(text + used, room - used, "%*s}", (int)o2_draw(c, 60), "");
}

void o2_hosts_print_right(struct o2_hosts_trial *t, bool tells)
{
	uint8_t bytes[FRAME];
	char text[FRAME - O2_HOSTS_HEAD_BYTES];

	right_text(t, tells, text, sizeof(text));
	print(t, bytes, frame(bytes, text, true, strlen(text)));
}

void o2_hosts_print_more(struct o2_hosts_trial *t, const char *more, size_t count)
{
	uint8_t bytes[FRAME];
	char text[FRAME - O2_HOSTS_HEAD_BYTES];
	size_t used;

	right_text(t, false, text, sizeof(text) - count);
	used = frame(bytes, text, true, strlen(text));
	memcpy(bytes + used, more, count);
	print(t, bytes, used + count);
	o2_hosts_script(t, "read x");
}

/* --- wrong answers --- */

enum o2_hosts_way o2_hosts_draw_way(struct o2_hosts_trial *t)
{
	return (enum o2_hosts_way)(1 + o2_draw(t->run->c, O2_HOSTS_WAYS - 2));
}

static void show(const uint8_t *bytes, size_t count, char shown[SHOWN + 1])
{
	count = count < SHOWN ? count : SHOWN;
	for (size_t i = 0; i < count; i++)
		shown[i] = bytes[i] < ' ' || bytes[i] > '~' ? '.' : (char)bytes[i];
	shown[count] = '\0';
}

/* Make an invalid length, or bytes without one.  Returns how many bytes. */
static size_t no_frame(struct o2_hosts_trial *t, enum o2_hosts_way way, const char *text, uint8_t *bytes)
{
	struct o2_choice *c = t->run->c;
	const size_t length = strlen(text);
	/* Include a length whose first byte is '{', like that of JSON. */
	uint64_t said = length < '{' && o2_draw_bool(c, 2, 1) ? '{' : length + 1 + o2_draw(c, 500);
	char shown[SHOWN + 1];
	size_t used = 0;

	if (said == length + O2_HOSTS_HEAD_BYTES)
		said--;
	switch (way) {
	case O2_HOSTS_SHORT_HEAD:
		for (uint64_t left = 1 + o2_draw(c, 2); left > 0; left--)
			bytes[used++] = (uint8_t) "{\n a\x80\x07"[o2_draw(c, 5)];
		snprintf(t->words, sizeof(t->words),
			 "only %zu bytes came: a frame begins with four bytes of length", used);
		return used;
	case O2_HOSTS_BARE:
		for (size_t i = 0; i < length; i++)
			bytes[i] = (uint8_t)text[i];
		show(bytes, length, shown);
		snprintf(t->words, sizeof(t->words),
			 "the answer begins with its JSON ('%s'): four bytes of length go first", shown);
		return length;
	case O2_HOSTS_TEXT:
		for (uint64_t left = 4 + o2_draw(c, 60); left > 0; left--, used++)
			bytes[used] =
				(uint8_t) "look ~at.it\n\t\r\v\f\x7f\xe4{"[o2_draw(c, used < 4 ? 14 : 17)];
		show(bytes, used, shown);
		snprintf(t->words, sizeof(t->words),
			 "text came ('%s'): standard output is for frames, print to standard error", shown);
		return used;
	case O2_HOSTS_BIG_ENDIAN:
		snprintf(t->words, sizeof(t->words), "the length is big-endian; it is to be little-endian");
		return frame(bytes, text, false, length);
	case O2_HOSTS_OWN_LENGTH:
		said = length + O2_HOSTS_HEAD_BYTES;
		snprintf(t->words, sizeof(t->words),
			 "the length (%" PRIu64 ") counts its own four bytes; it is that of the JSON alone",
			 said);
		return frame(bytes, text, true, said);
	default:
		/* Perhaps also more than any frame may have. */
		said += o2_draw_bool(c, 1, 1) ? 16u << 20 : 0;
		snprintf(t->words, sizeof(t->words),
			 "the length is %" PRIu64 ", and %zu bytes came behind it", said, length);
		return frame(bytes, text, true, said);
	}
}

/* Make a frame that holds no answer of the stage. */
static size_t no_answer(struct o2_hosts_trial *t, enum o2_hosts_way way, uint8_t *bytes)
{
	static const char *const wrongs[] = {"{", "", "[1", "{\"form\": 1,}", "nothing"};
	static const char *const forms[] = {"{\"version\": 1}", "[1]", "{\"form\": 1, \"version\": 1}", "{}"};
	static const char *const versions[] = {"", ", \"version\": 0", ", \"version\": 2",
					       ", \"version\": \"1\""};
	const uint64_t number = o2_draw(t->run->c, 999);
	const char *stage = o2_stage_name(t->stage);
	char text[120];
	json_error_t error;

	if (way == O2_HOSTS_WRONG_JSON) {
		snprintf(text, sizeof(text), "%s", wrongs[number % 5]);
		json_decref(json_loadb(text, strlen(text), 0, &error));
		snprintf(t->words, sizeof(t->words), "the frame of %zu bytes is no JSON: %s", strlen(text),
			 error.text);
	} else if (way == O2_HOSTS_WITHOUT_FORM) {
		snprintf(text, sizeof(text), "%s", forms[number % 4]);
		snprintf(t->words, sizeof(t->words), "its \"form\" is missing, expected \"o2ref/%s/output\"",
			 stage);
	} else if (way == O2_HOSTS_FORM_OF_ANOTHER) {
		snprintf(text, sizeof(text), "{\"form\": \"o2ref/%s/output%" PRIu64 "\", \"version\": 1}",
			 stage, number);
		snprintf(t->words, sizeof(t->words),
			 "its \"form\" is o2ref/%s/output%" PRIu64 ", expected \"o2ref/%s/output\"", stage,
			 number, stage);
	} else {
		snprintf(text, sizeof(text), "{\"form\": \"o2ref/%s/output\"%s}", stage,
			 versions[number % 4]);
		snprintf(t->words, sizeof(t->words), "its \"version\" is not 1");
	}
	return frame(bytes, text, true, strlen(text));
}

/* Then exit, so that an incomplete frame cannot be completed. */
void o2_hosts_print_wrong(struct o2_hosts_trial *t, enum o2_hosts_way way)
{
	uint8_t bytes[FRAME];
	char text[200];

	right_text(t, false, text, sizeof(text));
	print(t, bytes, way <= O2_HOSTS_OVERLONG ? no_frame(t, way, text, bytes) : no_answer(t, way, bytes));
	o2_hosts_script(t, "exit 0");
}

void o2_hosts_go(struct o2_hosts_trial *t, bool aloud)
{
	static const char *const signals[][2] = {{"TERM", "Terminated"},
						 {"KILL", "Killed"},
						 {"USR1", "User defined signal 1"},
						 {"ALRM", "Alarm clock"}};
	struct o2_choice *c = t->run->c;
	const uint64_t which = o2_draw(c, 3), number = o2_draw(c, 99999);
	int status = (int)o2_draw(c, 255);
	size_t used;

	if (aloud)
		o2_hosts_script(t, "printf 'it is\\nnumber %" PRIu64 " \\n\\n' >&2; ", number);
	if (o2_draw_bool(c, 1, 1)) {
		o2_hosts_script(t, "kill -%s $$", signals[which][0]);
		used = (size_t)snprintf(t->words, sizeof(t->words), "it was ended by SIG%s (%s)",
					signals[which][0], signals[which][1]);
	} else {
		/* NO_STAGE would mean that the program lacks the stage. */
		status -= status == NO_STAGE;
		o2_hosts_script(t, "exit %d", status);
		used = (size_t)snprintf(t->words, sizeof(t->words), "it ended with status %d", status);
	}
	if (aloud)
		snprintf(t->words + used, sizeof(t->words) - used, ": number %" PRIu64, number);
}

/* --- the trial --- */

/* Collect printed lines; after the drawn line no descriptor can be opened any more. */
static ssize_t take_said(void *context, const char *bytes, size_t count)
{
	struct o2_hosts_trial *t = context;

	for (size_t i = 0; i < count; i++) {
		if (t->said_bytes + 1 < sizeof(t->said))
			t->said[t->said_bytes++] = bytes[i];
		t->said_lines += bytes[i] == '\n';
		if (bytes[i] == '\n' && t->said_lines == t->scarce_after)
			o2_hosts_scarce(0);
	}
	return (ssize_t)count;
}

int o2_hosts_trial_run(struct o2_hosts_trial *t, const char *program)
{
	const cookie_io_functions_t take = {.write = take_said};
	FILE *out = fopencookie(t, "w", take);
	char shell[] = "sh", file[40], other[40];
	char *argv[] = {shell, file, NULL};
	int rc;

	o2_hosts_script(t, ";;\nesac\n");
	snprintf(file, sizeof(file), "/dev/fd/%d", t->file);
	if (program != NULL) {
		snprintf(other, sizeof(other), "%s", program);
		argv[0] = other;
	}
	if (out == NULL || write(t->file, t->script, t->script_bytes) != (ssize_t)t->script_bytes ||
	    write(t->counter, "0\n", 2) != 2)
		abort();
	setvbuf(out, NULL, _IONBF, 0);
	if (t->scarce_after == 0)
		o2_hosts_scarce(0);
	rc = o2_oracle_selftest(argv, t->timeout_ms, out);
	o2_hosts_plenty();
	fclose(out);
	return rc;
}
