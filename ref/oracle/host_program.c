/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json_read.h"
#include "base/monotonic.h"
#include "oracle/child.h"
#include "oracle/frame.h"
#include "oracle/host.h"

/* The host of a program that speaks the process protocol (docs/oracle.md, "Process protocol"). */

#define READ_BYTES   (64u << 10)
#define WARM_BATCHES 16u
#define START_FACTOR 10u
#define SETTLE_MS    100	 /* for bytes behind the very last answer */
#define AHEAD_BYTES  (64u << 10) /* bytes of encoded questions that may wait for room in the pipe */

struct program {
	struct o2_host host;
	char **argv; /* a copy of the array; the caller owns the strings */
	struct o2_child child;
	uint32_t batches;
	bool left[O2_STAGES]; /* the program has exited with status 89 on a request of the stage */
	bool talked;	      /* bytes behind the last answer have been reported */
	bool quiet;	      /* no bytes came behind the last answer that was waited for */
	uint64_t warm_bytes;  /* resident memory after WARM_BATCHES batches */
	struct o2_frame_buffer out;
	struct o2_frame_buffer in;
	struct o2_answer answer; /* the answer passed to the callback */
};

/* A batch in progress. */
struct batch {
	struct o2_case *const *asked;
	uint32_t count;
	uint32_t next;		    /* index of the question whose answer is due next */
	uint32_t written;	    /* number of questions appended to out, or skipped */
	uint32_t limit_ms;	    /* time limit for the next answer */
	size_t sent;		    /* bytes of out that were written to the pipe */
	bool unsent[O2_HOST_BATCH]; /* the question was skipped: its stage is absent, or it has no JSON */
	o2_host_answered answered;
	void *context;
};

static struct program *program_of(struct o2_host *host)
{
	return (struct program *)host;
}

static void deliver(struct program *program, struct batch *batch)
{
	batch->answered(batch->context, batch->next, &program->answer);
	batch->next++;
	program->answer.conduct.check = O2_CHECKS;
}

static _Noreturn void become(char *const *argv, int in, int out, int failed)
{
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	execvp(argv[0], argv);
	error = errno;
	if (write(failed, &error, sizeof(error)) != sizeof(error))
		_exit(126);
	_exit(127);
}

/* Returns 0, or -errno when the program cannot be run. */
static int start(struct program *program)
{
	int failed[2], in, out, status;
	int error = 0;
	int rc = pipe2(failed, O_CLOEXEC) == 0 ? 0 : -errno;

	if (rc != 0)
		return rc;
	program->in.used = 0;
	program->batches = 0;
	rc = o2_child_fork(&program->child, &in, &out);
	if (rc == 1)
		become(program->argv, in, out, failed[1]);
	close(failed[1]);
	/* exec closes the pipe; if exec fails, the child writes the errno to it. */
	if (rc == 0 && TEMP_FAILURE_RETRY(read(failed[0], &error, sizeof(error))) == sizeof(error)) {
		o2_child_end(&program->child, &status);
		rc = -error;
	}
	close(failed[0]);
	if (rc == 0 && fcntl(program->child.to, F_SETFL, O_NONBLOCK) != 0)
		rc = -errno;
	return rc;
}

/* The program ended, or must be ended, at the current question: deliver a broken answer for it. */
static void ended(struct program *program, struct batch *batch, enum o2_check_id check, const char *why)
{
	char how[128], words[128], site[O2_ANSWER_SITE_BYTES];
	bool left;
	int status;

	o2_child_last_words(&program->child, words, sizeof(words));
	o2_child_site(&program->child, site, sizeof(site));
	if (check != O2_CHECK_RUN_CRASH) {
		o2_child_end(&program->child, &status);
		o2_answer_break(&program->answer, check, "%.150s%.90s", why, words);
		deliver(program, batch);
		return;
	}
	left = o2_child_reap_how(&program->child, &status, how, sizeof(how));
	if (!left) {
		o2_answer_break(&program->answer, O2_CHECK_PROTOCOL_FRAME, "%s%s", how, words);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == O2_EXIT_NOT_IMPLEMENTED) {
		program->left[batch->asked[batch->next]->stage] = true;
		program->host.absent[batch->asked[batch->next]->stage] = true;
		program->answer.kind = O2_ANSWER_NOT_IMPLEMENTED;
	} else {
		o2_answer_break(&program->answer, WIFEXITED(status) ? O2_CHECK_RUN_EXIT : O2_CHECK_RUN_CRASH,
				"%s%s", how, words);
		memcpy(program->answer.fault.site, site, sizeof(site));
	}
	deliver(program, batch);
}

/* Whether the current question is the last of the batch to which an answer is due. */
static bool is_last(const struct program *program, const struct batch *batch)
{
	for (uint32_t i = batch->next + 1; i < batch->count; i++)
		if (i < batch->written ? !batch->unsent[i] : !program->host.absent[batch->asked[i]->stage])
			return false;
	return true;
}

/* Wait for bytes behind the last answer. */
static void read_behind(struct program *program)
{
	if (o2_child_wait(&program->child, o2_monotonic_ms() + SETTLE_MS) == 1)
		(void)o2_frame_read(&program->in, program->child.from, READ_BYTES);
}

/* Read the answer to the current question from the bytes of one frame. */
static void take_answer(struct program *program, struct batch *batch, const uint8_t *bytes,
			uint32_t length_bytes)
{
	char excerpt[60];
	json_error_t error;
	json_t *object;
	size_t behind = 0;

	o2_json_arena_begin();
	object = o2_json_read((const char *)bytes, length_bytes, JSON_REJECT_DUPLICATES, &error);
	if (json_is_object(object)) {
		o2_answer_stages(object, program->host.absent);
		for (uint32_t i = 0; i < O2_STAGES; i++)
			program->host.absent[i] |= program->left[i];
		o2_answer_from_json(batch->asked[batch->next], object, &program->answer);
	} else {
		o2_frame_excerpt(bytes, length_bytes, excerpt, sizeof(excerpt));
		o2_answer_break(&program->answer, O2_CHECK_PROTOCOL_JSON, "%s: '%s'",
				object == NULL ? error.text : "it is no object", excerpt);
	}
	o2_json_arena_end(object);
	if (is_last(program, batch)) {
		/* A second answer would be taken for that to the next question. */
		if (!program->quiet)
			read_behind(program);
		behind = program->in.used - O2_FRAME_HEAD_BYTES - length_bytes;
		program->quiet = behind == 0;
	}
	if (behind > 0) {
		program->talked = true;
		program->answer.conduct.check = O2_CHECK_PROTOCOL_FRAME;
		snprintf(program->answer.conduct.text, sizeof(program->answer.conduct.text),
			 "%zu bytes came behind the answer", behind);
	}
	deliver(program, batch);
}

/* Deliver "not implemented" for questions that are not sent. */
static void skip_unsent(struct program *program, struct batch *batch)
{
	while (batch->next < batch->written && batch->unsent[batch->next]) {
		program->answer.kind = O2_ANSWER_NOT_IMPLEMENTED;
		deliver(program, batch);
	}
}

/* Take the frames that were received.  False: the bytes are no frame, and the program was ended. */
static bool take_frames(struct program *program, struct batch *batch)
{
	char excerpt[60], why[160];
	uint32_t length;

	for (;;) {
		skip_unsent(program, batch);
		/* All questions are answered.  Remaining bytes are unsolicited; ask() handles them. */
		if (batch->next == batch->count)
			return true;
		switch (o2_frame_look(&program->in, &length)) {
		case O2_FRAME_PARTIAL:
			return true;
		case O2_FRAME_ILLEGAL:
			o2_frame_excerpt(program->in.bytes, program->in.used, excerpt, sizeof(excerpt));
			snprintf(why, sizeof(why), "not a frame: it begins with '%s'", excerpt);
			ended(program, batch, O2_CHECK_PROTOCOL_FRAME, why);
			return false;
		case O2_FRAME_WHOLE:
			break;
		}
		take_answer(program, batch, program->in.bytes + O2_FRAME_HEAD_BYTES, length);
		o2_frame_consume(&program->in, O2_FRAME_HEAD_BYTES + length);
	}
}

/* The time is up: no bytes arrived, or an incomplete frame.  Ends the program and returns false. */
static bool hung(struct program *program, struct batch *batch)
{
	char excerpt[60], why[160];

	if (program->in.used == 0) {
		snprintf(why, sizeof(why), "no answer within %u ms", batch->limit_ms);
		ended(program, batch, O2_CHECK_RUN_HANG, why);
		return false;
	}
	o2_frame_excerpt(program->in.bytes, program->in.used, excerpt, sizeof(excerpt));
	snprintf(why, sizeof(why), "%zu bytes came within %u ms that are no whole frame: '%s'",
		 program->in.used, batch->limit_ms, excerpt);
	ended(program, batch, O2_CHECK_PROTOCOL_FRAME, why);
	return false;
}

/* Append questions as frames to out, up to AHEAD_BYTES ahead of what was sent. */
static int write_questions(struct program *program, struct batch *batch)
{
	int rc = 0;

	if (batch->sent == program->out.used)
		batch->sent = program->out.used = 0;
	while (rc == 0 && batch->written < batch->count && program->out.used - batch->sent < AHEAD_BYTES) {
		const uint32_t i = batch->written++;
		json_t *object = NULL;

		o2_json_arena_begin();
		if (!program->host.absent[batch->asked[i]->stage])
			object = o2_case_to_json(batch->asked[i]);
		batch->unsent[i] = object == NULL;
		if (object != NULL)
			rc = o2_frame_append(&program->out, object);
		o2_json_arena_end(object);
	}
	return rc;
}

/* Write as much as the pipe has room for.  After EPIPE drop the rest; the program's output is still read. */
static void send_questions(struct program *program, struct batch *batch)
{
	const ssize_t n =
		write(program->child.to, program->out.bytes + batch->sent, program->out.used - batch->sent);

	if (n > 0)
		batch->sent += (size_t)n;
	else if (n < 0 && errno == EPIPE)
		batch->sent = program->out.used;
}

/* Read available bytes and take the frames in them.  False: the program has ended. */
static bool receive(struct program *program, struct batch *batch)
{
	const ssize_t n = o2_frame_read(&program->in, program->child.from, READ_BYTES);

	if (n > 0)
		return take_frames(program, batch);
	if (n < 0)
		ended(program, batch, O2_CHECK_PROTOCOL_FRAME, "no memory for so long an answer");
	else if (program->in.used > 0)
		ended(program, batch, O2_CHECK_PROTOCOL_FRAME, "its output ended in the middle of a frame");
	else
		ended(program, batch, O2_CHECK_RUN_CRASH, "");
	return false;
}

/* Wait until the pipes are ready, then send and receive.  False: the program has ended. */
static bool exchange(struct program *program, struct batch *batch, uint64_t until_ms)
{
	struct pollfd fds[2] = {
		{.fd = program->child.from, .events = POLLIN},
		{.fd = batch->sent < program->out.used ? program->child.to : -1, .events = POLLOUT},
	};
	const uint64_t now = o2_monotonic_ms();

	if (poll(fds, 2, now < until_ms ? (int)(until_ms - now) : 0) == 0)
		return hung(program, batch);
	if (fds[1].revents != 0)
		send_questions(program, batch);
	return fds[0].revents == 0 || receive(program, batch);
}

/* Has the program's resident memory grown beyond the limit since its first batches? */
static void look_at_memory(struct program *program)
{
	const uint64_t bytes = o2_child_resident_bytes(&program->child);

	if (program->batches == WARM_BATCHES)
		program->warm_bytes = bytes;
	if (program->batches < WARM_BATCHES ||
	    bytes <= program->warm_bytes + ((uint64_t)program->host.options.growth_mib << 20))
		return;
	program->answer.conduct.check = O2_CHECK_PROTOCOL_MEMORY;
	snprintf(program->answer.conduct.text, sizeof(program->answer.conduct.text),
		 "it has %llu MiB in memory, %llu MiB after its first answers",
		 (unsigned long long)(bytes >> 20), (unsigned long long)(program->warm_bytes >> 20));
}

/* End a program that wrote unsolicited bytes, which would be taken for answers of the next batch. */
static void end_talker(struct program *program)
{
	int status;

	o2_child_end(&program->child, &status);
	if (program->talked) {
		program->talked = false;
		return;
	}
	program->answer.conduct.check = O2_CHECK_PROTOCOL_FRAME;
	snprintf(program->answer.conduct.text, sizeof(program->answer.conduct.text),
		 "%zu bytes more than the answers that were asked for", program->in.used);
}

static int ask(struct o2_host *host, struct o2_case *const *asked, uint32_t count, o2_host_answered answered,
	       void *context)
{
	struct program *program = program_of(host);
	struct batch batch = {.asked = asked, .count = count, .answered = answered, .context = context};
	int rc = 0;

	program->out.used = 0;
	while (rc == 0) {
		uint64_t until_ms;
		uint32_t before;

		rc = write_questions(program, &batch);
		if (rc != 0)
			break;
		skip_unsent(program, &batch);
		if (batch.next == count)
			break;
		if (program->child.pid == 0) {
			host->restarts++;
			batch.written = batch.next;
			batch.sent = program->out.used = 0;
			rc = start(program);
			continue;
		}
		/* The time limit restarts with each answer.  The first batch of a program gets more time. */
		batch.limit_ms = host->options.timeout_ms * (program->batches == 0 ? START_FACTOR : 1);
		before = batch.next;
		until_ms = o2_monotonic_ms() + batch.limit_ms;
		while (rc == 0 && batch.next == before && exchange(program, &batch, until_ms))
			rc = write_questions(program, &batch);
	}
	if (rc == 0 && program->child.pid != 0) {
		if (++program->batches % WARM_BATCHES == 0) {
			o2_child_empty(program->child.noise);
			look_at_memory(program);
		}
		if (program->in.used > 0)
			end_talker(program);
	}
	return rc;
}

/* The next batch would report what the last one left behind, so this is for the last one of all. */
static void settle(struct o2_host *host, struct o2_answer_fault *conduct)
{
	struct program *program = program_of(host);

	if (program->child.pid != 0) {
		/* What was said of it may have gone to a question that was asked to make another finding small. */
		if (program->batches > WARM_BATCHES)
			look_at_memory(program);
		read_behind(program);
		if (program->in.used > 0)
			end_talker(program);
	}
	*conduct = program->answer.conduct;
	program->answer.conduct.check = O2_CHECKS;
}

static void close_program(struct o2_host *host)
{
	struct program *program = program_of(host);
	int status;

	o2_child_end(&program->child, &status);
	o2_frame_buffer_free(&program->out);
	o2_frame_buffer_free(&program->in);
	free(program->argv);
	free(program);
}

static char **copy_of(char *const *argv)
{
	size_t count = 0;
	char **copy;

	while (argv[count] != NULL)
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	if (copy != NULL)
		memcpy(copy, argv, count * sizeof(*copy));
	return copy;
}

int o2_host_open_program(char *const *argv, const struct o2_host_options *options, struct o2_host **host,
			 char *text, size_t text_bytes)
{
	static const struct o2_host_ops ops = {.ask = ask, .settle = settle, .close = close_program};
	struct program *program = calloc(1, sizeof(*program));
	int rc = program == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		program->host = (struct o2_host){.ops = &ops, .name = argv[0], .options = *options};
		program->argv = copy_of(argv);
		program->answer.conduct.check = O2_CHECKS;
		/* The stages of version 2 are absent until an answer lists them (o2_answer_stages). */
		for (uint32_t i = O2_STAGES_1; i < O2_STAGES; i++)
			program->host.absent[i] = true;
		rc = program->argv == NULL ? -ENOMEM : start(program);
	}
	if (rc != 0) {
		snprintf(text, text_bytes, "%s", strerror(-rc));
		if (program != NULL)
			close_program(&program->host);
		return rc;
	}
	*host = &program->host;
	return 0;
}
