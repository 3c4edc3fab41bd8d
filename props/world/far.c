/* SPDX-License-Identifier: MIT */
#include "props/world/far.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/monotonic.h"

#define LEAVE_MS      2000u /* for the process to end after its stream has ended */
#define MAX_ARGUMENTS 32u

/* --- its process --- */

static _Noreturn void become(const struct o2_far_config *config, int in, int out)
{
	static char sh[] = "sh", c[] = "-c";
	char line[1024];
	char *argv[MAX_ARGUMENTS + 5] = {sh, c, line, sh};
	uint32_t n = 4;

	for (uint32_t i = 0; config->argv[i] != NULL && i < MAX_ARGUMENTS; i++)
		argv[n++] = strdup(config->argv[i]);
	if (snprintf(line, sizeof(line), "%s \"$@\"", config->words) >= (int)sizeof(line))
		_exit(126);
	setpgid(0, 0); /* so that all processes of the command end with it */
	signal(SIGPIPE, SIG_DFL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	execv("/bin/sh", argv);
	_exit(127);
}

/* Wait a while for the process to end; *status: how it ended.  False: it had to be killed. */
static bool reap(struct o2_far *far, int *status)
{
	const uint64_t until_ms = o2_monotonic_ms() + LEAVE_MS;
	const struct timespec moment = {.tv_nsec = 1000000};
	siginfo_t info = {0};

	while (waitid(P_PID, (id_t)far->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0 &&
	       o2_monotonic_ms() < until_ms)
		nanosleep(&moment, NULL);
	kill(-far->pid, SIGKILL); /* other processes of its group may still run */
	while (waitpid(far->pid, status, 0) < 0 && errno == EINTR)
		;
	far->pid = 0;
	return info.si_pid != 0;
}

static void forget(struct o2_far *far)
{
	close(far->talk.in);
	close(far->talk.out);
	o2_far_talk_free(&far->talk);
	o2_far_copy_forget(&far->copy);
}

/* The stream has ended: report how the process ended.  Returns 0 if it ended without an error. */
static int bury(struct o2_far *far, struct o2_error *error)
{
	int status = 0;
	bool by_itself;

	forget(far);
	by_itself = reap(far, &status);
	if (!by_itself)
		return o2_refuse_value(error, -EPIPE, "far/closed",
				       "ms that the far end's process outlived its stream", LEAVE_MS,
				       O2_NO_LIMIT);
	if (WIFSIGNALED(status))
		return o2_refuse_value(error, -EPIPE, "far/killed", "signal of the far end's process",
				       (uint64_t)WTERMSIG(status), O2_NO_LIMIT);
	if (WEXITSTATUS(status) != 0)
		return o2_refuse_value(error, -EPIPE, "far/exited", "exit status of the far end",
				       (uint64_t)WEXITSTATUS(status), O2_NO_LIMIT);
	return 0;
}

void o2_far_kill(struct o2_far *far)
{
	int status;

	if (far->pid == 0)
		return;
	kill(-far->pid, SIGKILL);
	forget(far);
	reap(far, &status);
}

/* After a wrong message, or none: kill the process.  Returns -EPIPE, with *error. */
static int lost(struct o2_far *far, int code, struct o2_error *error)
{
	if (code == -EPIPE) {
		if (bury(far, error) == 0)
			o2_refuse_value(error, -EPIPE, "far/exited", "exit status of the far end", 0,
					O2_NO_LIMIT);
		return -EPIPE;
	}
	if (code == -ETIMEDOUT)
		o2_refuse_value(error, -ETIMEDOUT, "far/silent", "ms without an answer of the far end",
				far->config->timeout_ms, far->config->timeout_ms);
	o2_far_kill(far);
	return -EPIPE;
}

/* --- starting --- */

/* Open one stream for each direction: its end shows that the far side closed it, whoever still holds the other. */
static int open_streams(int to[2], int from[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, from) == 0)
		return 0;
	close(to[0]);
	close(to[1]);
	return -errno;
}

static int start_process(struct o2_far *far, struct o2_error *error)
{
	int to[2], from[2];
	int rc = open_streams(to, from);

	if (rc != 0)
		return o2_refuse_value(error, rc, "far/streams", "side", far->config->side, O2_NO_LIMIT);
	fflush(NULL); /* so that buffered output is not printed twice */
	far->pid = fork();
	rc = -errno;
	if (far->pid == 0)
		become(far->config, to[1], from[1]);
	close(to[1]);
	close(from[1]);
	far->talk = (struct o2_far_talk){.in = from[0], .out = to[0]};
	if (far->pid > 0) {
		setpgid(far->pid, far->pid); /* parent and child both do it: either may be first */
		return 0;
	}
	far->pid = 0;
	forget(far);
	return o2_refuse_value(error, rc, "far/fork", "side", far->config->side, O2_NO_LIMIT);
}

static uint64_t deadline(const struct o2_far *far)
{
	return o2_monotonic_ms() + far->config->timeout_ms;
}

/* An error during the start, before any question. */
static int not_started(struct o2_far *far, int code, struct o2_error *error)
{
	lost(far, code, error);
	error->code = code == -EPIPE ? -ENOTCONN : code;
	return error->code;
}

int o2_far_start(struct o2_far *far, const struct o2_far_config *config, struct o2_error *error)
{
	struct o2_far_message hello = {0};
	int rc;

	far->config = config;
	far->number = 0;
	o2_far_copy_forget(&far->copy);
	rc = start_process(far, error);
	if (rc != 0)
		return rc;
	rc = o2_far_await(&far->talk, &hello, deadline(far), error);
	if (rc == 0)
		rc = o2_far_check_hello(hello.object, &config->identity, error);
	json_decref(hello.object);
	return rc == 0 ? 0 : not_started(far, rc, error);
}

int o2_far_opened(struct o2_far *far, struct o2_error *error)
{
	struct o2_far_message message = {0};
	struct o2_end_answer answer;
	int rc = o2_far_await(&far->talk, &message, deadline(far), error);

	if (rc == 0 && o2_far_read_answer(message.object, &answer, error) != 0)
		rc = -EBADMSG;
	json_decref(message.object);
	if (rc != 0)
		return not_started(far, rc, error);
	if (answer.code != 0) {
		char field[128];

		o2_far_kill(far);
		*error = answer.error;
		snprintf(field, sizeof(field), "the far end's %s", answer.error.field);
		error->field = o2_far_keep(field);
		return answer.code;
	}
	far->nid = answer.nid;
	return 0;
}

/* --- asking --- */

/* Send a question and wait for its answer, which the caller owns.  0, or -EPIPE and *error: the end is lost. */
static int exchange(struct o2_far *far, json_t *object, struct o2_far_message *answer, struct o2_error *error)
{
	const uint64_t until_ms = deadline(far);
	struct o2_far_message question = {0};
	uint64_t number = 0;
	int rc;

	question.object = o2_json_with(object, "number", json_integer((json_int_t)++far->number));
	*answer = (struct o2_far_message){0};
	rc = o2_far_say(&far->talk, &question, until_ms, error);
	if (rc == 0)
		rc = o2_far_await(&far->talk, answer, until_ms, error);
	if (rc == 0 && (o2_json_get_uint(answer->object, "number", INT64_MAX, &number, error) != 0 ||
			number != far->number))
		rc = o2_refuse_other(error, -EBADMSG, "far/garbage", "number of the far end's answer", number,
				     far->number);
	if (rc == 0)
		return 0;
	json_decref(answer->object);
	return lost(far, rc, error);
}

/* Far memory: the fills go there with a question, changed pages come back with the answer. */
static json_t *with_fills(struct o2_far *far, json_t *object)
{
	return o2_json_with(object, "fills", o2_far_copy_fills(&far->copy));
}

static int take(struct o2_far *far, const struct o2_far_message *message, struct o2_error *error)
{
	if (json_object_get(message->object, "pages") == NULL)
		return 0;
	return o2_far_copy_take(&far->copy, message->object, message->bytes, message->length, error);
}

void o2_far_ask(struct o2_far *far, const struct o2_end_question *question, struct o2_end_answer *answer)
{
	struct o2_far_message message;
	struct o2_error error = {0};
	json_t *object = o2_far_question(question);
	int rc;

	if (question->verb == O2_END_BEGIN)
		object = with_fills(far, object);
	rc = exchange(far, object, &message, &error);
	if (rc == 0) {
		rc = o2_far_read_answer(message.object, answer, &error);
		if (rc == 0)
			rc = take(far, &message, &error);
		json_decref(message.object);
		if (rc != 0)
			rc = lost(far, -EBADMSG, &error);
	}
	if (rc != 0)
		*answer = (struct o2_end_answer){.code = rc, .error = error};
}

int o2_far_fetch(struct o2_far *far, struct o2_error *error)
{
	struct o2_far_message message;
	int rc = exchange(far, with_fills(far, json_pack("{s:b}", "all", true)), &message, error);

	if (rc != 0)
		return rc;
	rc = take(far, &message, error);
	json_decref(message.object);
	return rc == 0 ? 0 : lost(far, -EBADMSG, error);
}

int o2_far_quit(struct o2_far *far, struct o2_end_farewell *farewell, struct o2_error *error)
{
	const struct o2_end_question question = {.verb = O2_END_QUIT};
	struct o2_far_message message;
	int rc = exchange(far, o2_far_question(&question), &message, error);

	if (rc != 0)
		return rc;
	rc = o2_far_read_farewell(message.object, farewell, error);
	json_decref(message.object);
	return rc == 0 ? bury(far, error) : lost(far, -EBADMSG, error);
}
