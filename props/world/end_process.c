/* SPDX-License-Identifier: MIT */
#include "props/world/end_process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- in the process --- */

static bool say(int fd, const void *bytes, size_t length)
{
	return TEMP_FAILURE_RETRY(send(fd, bytes, length, MSG_NOSIGNAL)) == (ssize_t)length;
}

/* Wait for the next question and serve the device meanwhile.  False: there are no more questions. */
static bool next_question(struct o2_end_life *life, int fd)
{
	for (;;) {
		ssize_t length = recv(fd, &life->question, sizeof(life->question), MSG_DONTWAIT);

		if (length >= 0)
			return length > 0;
		if (errno != EAGAIN && errno != EINTR)
			return false;
		o2_end_life_idle(life, fd);
	}
}

static void serve(struct o2_end_life *life, int fd)
{
	while (next_question(life, fd) && life->question.verb != O2_END_QUIT) {
		o2_end_life_answer(life);
		if (!say(fd, &life->answer, sizeof(life->answer)))
			return;
	}
}

/* Run the process.  Returns its exit status. */
static int live(const struct o2_end_config *config, o2_network_open_fn open_network, int fd)
{
	struct o2_end_life *life = calloc(1, sizeof(*life));
	struct o2_end_config alone = *config;

	if (life == NULL)
		return EXIT_FAILURE;
	alone.stream = fd;
	for (int i = 0; i < 2; i++)
		if (config->not_ours[i] > 0)
			close(config->not_ours[i]);
	o2_end_life_begin(life, &alone, open_network);
	if (say(fd, &life->answer, sizeof(life->answer)) && life->open)
		serve(life, fd);
	o2_end_life_over(life);
	say(fd, &life->farewell, sizeof(life->farewell));
	free(life);
	return EXIT_SUCCESS;
}

/* --- on the side that asks --- */

static const char *const exit_fields[] = {
	[O2_SOURCE] = "exit status of the source's process", [O2_SINK] = "exit status of the sink's process"};
static const char *const signal_fields[] = {
	[O2_SOURCE] = "signal of the source's process", [O2_SINK] = "signal of the sink's process"};

/* The process has ended or is ending: wait for it and report how.  Returns 0 if it ended without an error. */
static int bury(struct o2_end_process *process, struct o2_error *error)
{
	int status = 0;

	close(process->fd);
	while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
		;
	process->pid = 0;
	if (WIFSIGNALED(status))
		return o2_refuse_value(error, -EPIPE, "process/killed", signal_fields[process->side],
				       (uint64_t)WTERMSIG(status), O2_NO_LIMIT);
	if (WEXITSTATUS(status) != 0)
		return o2_refuse_value(error, -EPIPE, "process/exited", exit_fields[process->side],
				       (uint64_t)WEXITSTATUS(status), O2_NO_LIMIT);
	return 0;
}

void o2_end_process_kill(struct o2_end_process *process)
{
	struct o2_error error;

	if (process->pid == 0)
		return;
	kill(process->pid, SIGKILL);
	bury(process, &error);
}

/* Receive one whole message from the process.  0, or -EPIPE: the process is lost. */
static int hear(struct o2_end_process *process, void *bytes, size_t length, struct o2_error *error)
{
	struct pollfd pollfd = {.fd = process->fd, .events = POLLIN};
	int ready;

	while ((ready = poll(&pollfd, 1, process->answer_ms)) < 0 && errno == EINTR)
		;
	if (ready == 0) {
		o2_end_process_kill(process);
		return o2_refuse_value(error, -EPIPE, "process/silent", "ms without an answer",
				       (uint64_t)process->answer_ms, (uint64_t)process->answer_ms);
	}
	if (TEMP_FAILURE_RETRY(recv(process->fd, bytes, length, 0)) == (ssize_t)length)
		return 0;
	if (bury(process, error) == 0)
		o2_refuse_value(error, -EPIPE, "process/exited", exit_fields[process->side], 0, O2_NO_LIMIT);
	return -EPIPE;
}

int o2_end_process_start(const struct o2_end_config *config, o2_network_open_fn open_network,
			 struct o2_end_process *process, struct o2_error *error)
{
	struct o2_end_answer answer;
	int fd[2];
	int rc;

	*process = (struct o2_end_process){.side = config->side, .fd = -1, .answer_ms = O2_END_ANSWER_MS};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) != 0)
		return o2_refuse_value(error, -errno, "process/socket", "side", config->side, O2_NO_LIMIT);
	fflush(NULL); /* so that buffered output is not printed twice */
	process->pid = fork();
	if (process->pid == 0) {
		close(fd[0]);
		exit(live(config, open_network, fd[1]));
	}
	close(fd[1]);
	process->fd = fd[0];
	if (process->pid < 0) {
		rc = o2_refuse_value(error, -errno, "process/fork", "side", config->side, O2_NO_LIMIT);
		close(fd[0]);
		process->pid = 0;
		return rc;
	}
	rc = hear(process, &answer, sizeof(answer), error);
	if (rc == 0 && answer.code != 0) {
		bury(process, error);
		*error = answer.error;
		rc = answer.code;
	}
	process->nid = answer.nid;
	return rc;
}

/* Only BEGIN needs the scenario. */
static size_t length_of(const struct o2_end_question *question)
{
	return question->verb == O2_END_BEGIN ? sizeof(*question)
					      : offsetof(struct o2_end_question, scenario);
}

void o2_end_process_ask(struct o2_end_process *process, const struct o2_end_question *question,
			struct o2_end_answer *answer)
{
	struct o2_error error = {0};

	/* If sending fails the process is gone, and the missing answer reports that better. */
	say(process->fd, question, length_of(question));
	if (hear(process, answer, sizeof(*answer), &error) == 0)
		return;
	*answer = (struct o2_end_answer){.code = -EPIPE, .error = error};
}

int o2_end_process_quit(struct o2_end_process *process, struct o2_end_farewell *farewell,
			struct o2_error *error)
{
	const struct o2_end_question question = {.verb = O2_END_QUIT};
	int rc;

	say(process->fd, &question, length_of(&question));
	rc = hear(process, farewell, sizeof(*farewell), error);
	return rc == 0 ? bury(process, error) : rc;
}
