/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "props/hostile/hostile_process.h"
#include "props/hostile/hostile_quirk.h"
#include "wire/nid.h"

/* The victim's process, from the side of the process that gives the orders. */

#define ANSWER_MS 30000 /* time limit for a line; "settle" takes longest */

static int spawn(const struct o2_victim_options *options, int to, int from, pid_t *pid)
{
	char gid_index[8], nid[O2_NID_TEXT_BYTES];
	/* These nine, two options with a value, and the NULL behind the last. */
	const char *words[9 + 2 * 2 + 1] = {"o2props",	   "hostile", "--victim", "--device", options->device,
					    "--gid-index", gid_index, "--liar",	  nid};
	size_t count = 9;
	posix_spawn_file_actions_t actions;
	int rc;

	snprintf(gid_index, sizeof(gid_index), "%u", options->gid_index);
	o2_nid_to_text(options->liar_nid, nid, sizeof(nid));
	if (options->mutant != NULL) {
		words[count++] = "--mutant";
		words[count++] = options->mutant;
	}
	if (o2_hostile_quirk_words() != NULL) {
		words[count++] = "--quirk";
		words[count++] = o2_hostile_quirk_words();
	}
	rc = posix_spawn_file_actions_init(&actions);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, to, STDIN_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, from, STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawn(pid, "/proc/self/exe", &actions, NULL, (char *const *)words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

/* Read the next line into child->line, without its newline. */
static bool read_line(struct o2_victim_child *child)
{
	struct pollfd input = {.fd = child->from, .events = POLLIN};

	for (child->length = 0; child->length + 1 < sizeof(child->line); child->length++) {
		char *at = child->line + child->length;

		if (TEMP_FAILURE_RETRY(poll(&input, 1, ANSWER_MS)) != 1 ||
		    TEMP_FAILURE_RETRY(read(child->from, at, 1)) != 1)
			return false;
		if (*at == '\n') {
			*at = '\0';
			return true;
		}
	}
	return false;
}

int o2_victim_child_start(const struct o2_victim_options *options, struct o2_victim_child *child)
{
	int to[2], from[2], rc;
	char how[32];

	memset(child, 0, sizeof(*child));
	/* A dead victim is noticed by its missing answers, not by a signal. */
	signal(SIGPIPE, SIG_IGN);
	if (pipe2(to, O_CLOEXEC) != 0)
		return -errno;
	if (pipe2(from, O_CLOEXEC) != 0) {
		rc = -errno;
		close(to[0]);
		close(to[1]);
		return rc;
	}
	rc = spawn(options, to[0], from[1], &child->pid);
	close(to[0]);
	close(from[1]);
	child->to = to[1];
	child->from = from[0];
	if (rc != 0) {
		child->pid = 0;
		close(child->to);
		close(child->from);
		return rc;
	}
	if (read_line(child) && strncmp(child->line, "victim ", 7) == 0 &&
	    o2_nid_from_text(child->line + 7, &child->nid, NULL) == 0)
		return 0;
	o2_victim_child_end(child, how);
	return -ENXIO;
}

bool o2_victim_child_ask(struct o2_victim_child *child, const struct o2_victim_line *line,
			 struct o2_victim_answer *answer, uint32_t *work)
{
	char text[O2_LINE_BYTES];
	size_t length;

	memset(answer, 0, sizeof(*answer));
	o2_line_order(line, text);
	length = strlen(text);
	return child->pid != 0 && TEMP_FAILURE_RETRY(write(child->to, text, length)) == (ssize_t)length &&
	       read_line(child) && o2_line_read_answer(child->line, answer, work);
}

/* The victim ends when its input does; one that hangs is killed. */
void o2_victim_child_end(struct o2_victim_child *child, char how[32])
{
	struct pollfd output = {.fd = child->from, .events = 0};
	int status = 0;

	how[0] = '\0';
	if (child->pid == 0)
		return;
	close(child->to);
	if (TEMP_FAILURE_RETRY(poll(&output, 1, ANSWER_MS)) != 1)
		kill(child->pid, SIGKILL);
	if (TEMP_FAILURE_RETRY(waitpid(child->pid, &status, 0)) == child->pid) {
		if (WIFSIGNALED(status))
			snprintf(how, 32, "signal %d", WTERMSIG(status));
		else if (WEXITSTATUS(status) != 0)
			snprintf(how, 32, "status %d", WEXITSTATUS(status));
	}
	close(child->from);
	memset(child, 0, sizeof(*child));
}
