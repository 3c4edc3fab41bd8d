/* SPDX-License-Identifier: MIT */
#include "oracle/selftest.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/json_read.h"
#include "base/monotonic.h"
#include "oracle/answer.h"
#include "oracle/child.h"
#include "oracle/frame.h"
#include "oracle/selftest_requests.h"
#include "oracle/stage.h"

#define EXIT_CANNOT 77
#define EXIT_USAGE  2
#define PAUSE_MS    20u	       /* pause between the pieces of a request */
#define LEAVE_MS    500u       /* least time to leave in at the end of the input */
#define READ_ON_MS  200u       /* for the rest of what is no frame */
#define MUCH_BYTES  (1u << 20) /* a program that never stops is not read on */

/* --- communication --- */

struct talk {
	char *const *argv;
	uint32_t timeout_ms;
	FILE *out;
	struct o2_child child;
	struct o2_frame_buffer in;
	bool ended;		/* the program's output has ended */
	bool cannot;		/* no process could be started */
	bool *no_program;	/* shared with the children, one of which could not run the program */
	uint32_t wrong;		/* number of failed steps */
	bool absent[O2_STAGES]; /* stages of version 2 that no answer has listed */
};

static void say(struct talk *t, bool holds, const char *step, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void say(struct talk *t, bool holds, const char *step, const char *format, ...)
{
	va_list arguments;

	fprintf(t->out, "%-5s %-28s ", holds ? "ok" : "WRONG", step);
	va_start(arguments, format);
	vfprintf(t->out, format, arguments);
	va_end(arguments);
	fputc('\n', t->out);
	t->wrong += !holds;
}

static int begin(struct talk *t)
{
	int in, out;
	int rc = o2_child_fork(&t->child, &in, &out);

	t->in.used = 0;
	t->ended = false;
	if (rc < 0) {
		fprintf(t->out, "      %-28s %s\n", "no process can be made", strerror(-rc));
		t->cannot = true;
	}
	if (rc != 1)
		return rc;
	signal(SIGPIPE, SIG_DFL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	execvp(t->argv[0], t->argv);
	*t->no_program = true;
	fprintf(stderr, "%s: %s\n", t->argv[0], strerror(errno));
	_exit(127);
}

static void end(struct talk *t)
{
	int status;

	o2_child_end(&t->child, &status);
}

/* The frame of a request, head and text.  The caller frees it. */
static uint8_t *frame_of(enum o2_stage stage, size_t *length)
{
	const char *request = o2_selftest_request(stage);
	const size_t n = strlen(request);
	uint8_t *frame = malloc(n + O2_FRAME_HEAD_BYTES);

	if (frame == NULL)
		abort();
	for (uint32_t i = 0; i < O2_FRAME_HEAD_BYTES; i++)
		frame[i] = (uint8_t)(n >> 8 * i);
	for (size_t i = 0; i < n; i++)
		frame[O2_FRAME_HEAD_BYTES + i] = (uint8_t)request[i];
	*length = n + O2_FRAME_HEAD_BYTES;
	return frame;
}

static bool put(struct talk *t, const uint8_t *bytes, size_t length)
{
	/* The write cannot block, because the request is shorter than the pipe's capacity. */
	return TEMP_FAILURE_RETRY(write(t->child.to, bytes, length)) == (ssize_t)length;
}

static void put_request(struct talk *t, enum o2_stage stage)
{
	size_t length;
	uint8_t *frame = frame_of(stage, &length);

	if (!put(t, frame, length))
		t->ended = true;
	free(frame);
}

static void read_some(struct talk *t)
{
	const ssize_t n = o2_frame_read(&t->in, t->child.from, 4096);

	if (n < 0)
		abort();
	t->ended = n == 0;
}

/* Read what is still on its way: only with all of it can be said what its first bytes mean. */
static void read_on(struct talk *t)
{
	const uint64_t until_ms = o2_monotonic_ms() + READ_ON_MS;

	while (!t->ended && t->in.used < MUCH_BYTES && o2_child_wait(&t->child, until_ms) == 1)
		read_some(t);
}

/* Read until a whole frame or an illegal one has arrived, the output ends, or the time is up. */
static enum o2_frame_state get(struct talk *t, uint32_t timeout_ms, uint32_t *length)
{
	const uint64_t until_ms = o2_monotonic_ms() + timeout_ms;
	enum o2_frame_state state;

	while ((state = o2_frame_look(&t->in, length)) == O2_FRAME_PARTIAL && !t->ended) {
		if (o2_child_wait(&t->child, until_ms) != 1)
			break;
		read_some(t);
	}
	return state;
}

/* --- diagnosis --- */

static uint32_t big_endian(const uint8_t *head)
{
	return (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
}

static bool is_text(const uint8_t head[O2_FRAME_HEAD_BYTES])
{
	for (size_t i = 0; i < O2_FRAME_HEAD_BYTES; i++)
		if (!isprint(head[i]) && !isspace(head[i]))
			return false;
	return true;
}

/* Explain received bytes that are no frame. */
static void explain_bytes(struct talk *t, const char *step)
{
	char excerpt[48];
	uint32_t length;

	o2_frame_excerpt(t->in.bytes, t->in.used, excerpt, sizeof(excerpt));
	if (t->in.used < O2_FRAME_HEAD_BYTES) {
		say(t, false, step, "only %zu bytes came: a frame begins with four bytes of length",
		    t->in.used);
	} else if (t->in.bytes[0] == '{' && is_text(t->in.bytes)) {
		say(t, false, step, "the answer begins with its JSON ('%s'): four bytes of length go first",
		    excerpt);
	} else if (is_text(t->in.bytes)) {
		say(t, false, step,
		    "text came ('%s'): standard output is for frames, print to standard error", excerpt);
	} else if (big_endian(t->in.bytes) + O2_FRAME_HEAD_BYTES == t->in.used) {
		say(t, false, step, "the length is big-endian; it is to be little-endian");
	} else {
		o2_frame_look(&t->in, &length);
		if (length == t->in.used)
			say(t, false, step,
			    "the length (%u) counts its own four bytes; it is that of the JSON alone",
			    length);
		else
			say(t, false, step, "the length is %u, and %zu bytes came behind it", length,
			    t->in.used - O2_FRAME_HEAD_BYTES);
	}
}

/* Explain why no bytes were received: the time is up, or the output has ended. */
static void explain_silence(struct talk *t, const char *step, uint32_t timeout_ms)
{
	char how[128], words[160];
	uint32_t length;
	int status;

	if (!t->ended) {
		/* Close the input: an answer that arrives only now was not flushed. */
		close(t->child.to);
		t->child.to = -1;
		if (get(t, 10 * t->timeout_ms, &length) == O2_FRAME_WHOLE) {
			say(t, false, step,
			    "the answer came only at the end of the input: flush standard output after each "
			    "answer");
			return;
		}
	}
	if (!t->ended) {
		say(t, false, step,
		    "no answer within %u ms: is the length read as four bytes, little-endian, and no more "
		    "than that many bytes behind it?",
		    timeout_ms);
		return;
	}
	o2_child_last_words(&t->child, words, sizeof(words));
	o2_child_reap_how(&t->child, &status, how, sizeof(how));
	say(t, false, step, "%s%s", how, words);
}

/* Whether the frame holds an output form of this stage. */
static bool judge(struct talk *t, const char *step, enum o2_stage stage, uint32_t length)
{
	const char *text = (const char *)t->in.bytes + O2_FRAME_HEAD_BYTES;
	const char *expected = o2_stage_output_form(stage);
	json_error_t error;
	json_t *object = o2_json_read(text, length, 0, &error);
	const char *form = json_string_value(json_object_get(object, "form"));
	bool holds = false;

	o2_answer_stages(object, t->absent);
	if (object == NULL)
		say(t, false, step, "the frame of %u bytes is no JSON: %s", length, error.text);
	else if (form == NULL || strcmp(form, expected) != 0)
		say(t, false, step, "its \"form\" is %s, expected \"%s\"", form == NULL ? "missing" : form,
		    expected);
	else if (json_integer_value(json_object_get(object, "version")) != 1)
		say(t, false, step, "its \"version\" is not 1");
	else
		holds = true;
	json_decref(object);
	o2_frame_consume(&t->in, O2_FRAME_HEAD_BYTES + length);
	return holds;
}

/* Receive the answer to a request.  Returns false after reporting what is wrong. */
static bool expect(struct talk *t, const char *step, enum o2_stage stage, uint32_t timeout_ms)
{
	uint32_t length;

	if (get(t, timeout_ms, &length) == O2_FRAME_WHOLE)
		return judge(t, step, stage, length);
	if (t->in.used > 0) {
		read_on(t);
		explain_bytes(t, step);
		return false;
	}
	explain_silence(t, step, timeout_ms);
	return false;
}

/* --- the steps --- */

/* Ask each stage once in a new process.  A stage at whose request the program exits with 89 is absent. */
static bool find_stages(struct talk *t, enum o2_stage *first)
{
	uint32_t found = 0;
	uint32_t length;
	int status;

	for (uint32_t i = 0; i < O2_STAGES; i++) {
		const enum o2_stage stage = (enum o2_stage)i;

		if (t->absent[stage])
			continue;
		if (begin(t) != 0)
			return false;
		put_request(t, stage);
		if (get(t, 10 * t->timeout_ms, &length) == O2_FRAME_PARTIAL && t->in.used == 0 && t->ended) {
			o2_child_reap(&t->child, &status);
			if (WIFEXITED(status) && WEXITSTATUS(status) == O2_EXIT_NOT_IMPLEMENTED) {
				fprintf(t->out, "      %-28s not implemented (exit status 89)\n",
					o2_stage_name(stage));
				continue;
			}
			t->child.pid = 0;
			if (begin(t) != 0)
				return false;
			put_request(t, stage);
		}
		if (!expect(t, o2_stage_name(stage), stage, 10 * t->timeout_ms)) {
			end(t);
			return false;
		}
		say(t, true, o2_stage_name(stage), "answered");
		if (found++ == 0)
			*first = stage;
		end(t);
	}
	return found > 0;
}

/* Check that no bytes follow the answer: nothing is allowed between two frames. */
static bool nothing_behind(struct talk *t, const char *step)
{
	if (t->in.used == 0)
		return true;
	say(t, false, step, "%zu bytes came behind the answer%s", t->in.used,
	    t->in.bytes[0] == '\n' ? ": no newline stands between frames" : "");
	return false;
}

static bool try_again(struct talk *t, enum o2_stage stage)
{
	put_request(t, stage);
	if (!expect(t, "first request", stage, 10 * t->timeout_ms) || !nothing_behind(t, "first request"))
		return false;
	put_request(t, stage);
	if (!expect(t, "second request", stage, t->timeout_ms) || !nothing_behind(t, "second request"))
		return false;
	say(t, true, "requests one by one", "answered");
	return true;
}

static bool try_together(struct talk *t, enum o2_stage stage)
{
	size_t length;
	uint8_t *frame = frame_of(stage, &length);
	uint8_t *both = malloc(2 * length);

	if (both == NULL)
		abort();
	memcpy(both, frame, length);
	memcpy(both + length, frame, length);
	put(t, both, 2 * length);
	free(both);
	free(frame);
	if (!expect(t, "two requests at once", stage, t->timeout_ms))
		return false;
	if (!expect(t, "two requests at once: second", stage, t->timeout_ms)) {
		fprintf(t->out, "      what is read behind the first request belongs to the second\n");
		return false;
	}
	say(t, true, "two requests at once", "answered in order");
	return true;
}

static bool try_pieces(struct talk *t, enum o2_stage stage)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
	size_t length;
	uint8_t *frame = frame_of(stage, &length);
	const size_t cut[] = {0, 2, 7, length / 2, length};
	bool holds;

	for (size_t i = 0; i + 1 < sizeof(cut) / sizeof(cut[0]); i++) {
		put(t, frame + cut[i], cut[i + 1] - cut[i]);
		nanosleep(&pause, NULL);
	}
	free(frame);
	holds = expect(t, "a request in four pieces", stage, t->timeout_ms);
	if (holds)
		say(t, true, "a request in four pieces", "answered");
	else
		fprintf(t->out, "      a read may return fewer bytes than were asked for: read on\n");
	return holds;
}

static void try_end(struct talk *t)
{
	char how[128];
	int status;

	close(t->child.to);
	t->child.to = -1;
	if (!o2_child_reap_within(&t->child, &status, t->timeout_ms > LEAVE_MS ? t->timeout_ms : LEAVE_MS)) {
		say(t, false, "end of input", "it does not leave");
		return;
	}
	o2_child_how(status, how, sizeof(how));
	say(t, WIFEXITED(status) && WEXITSTATUS(status) == 0, "end of input", "%s", how);
}

int o2_oracle_selftest(char *const *argv, uint32_t timeout_ms, FILE *out)
{
	struct talk t = {.argv = argv, .timeout_ms = timeout_ms, .out = out};
	enum o2_stage stage = O2_STAGE_SG_BUILD;
	bool no_program;

	t.no_program =
		mmap(NULL, sizeof(*t.no_program), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t.no_program == MAP_FAILED)
		return EXIT_CANNOT;
	for (uint32_t i = O2_STAGES_1; i < O2_STAGES; i++)
		t.absent[i] = true;
	if (find_stages(&t, &stage)) {
		if (begin(&t) == 0 && try_again(&t, stage) && try_together(&t, stage) &&
		    try_pieces(&t, stage))
			try_end(&t);
		end(&t);
	} else if (t.wrong == 0 && !t.cannot) {
		say(&t, false, "stages", "none is implemented");
	}
	o2_frame_buffer_free(&t.in);
	no_program = *t.no_program;
	munmap(t.no_program, sizeof(*t.no_program));
	if (t.cannot)
		return EXIT_CANNOT;
	if (no_program) {
		fprintf(out, "the program cannot be run\n");
		return EXIT_USAGE;
	}
	fprintf(out, t.wrong == 0 ? "the framing is right\n" : "the framing is wrong\n");
	return t.wrong == 0 ? 0 : 1;
}
