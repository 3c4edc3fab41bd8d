/* SPDX-License-Identifier: MIT */
#include "oracle/child.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/plain.h"

#define LEAVE_MS   500u /* time for a process that has closed its output to exit */
#define RUNNING	   32u	/* more than the number of children at any time */
#define PIPE_BYTES (1u << 20)
#define KEPT_BYTES (1u << 20) /* of what a child prints */

/* Process groups of the running children, for the signal handler; 0: free entry. */
static volatile pid_t running[RUNNING];

static void (*last_of_all)(void); /* NULL: nothing, as in children */

static void note_running(pid_t before, pid_t now)
{
	for (uint32_t i = 0; i < RUNNING; i++)
		if (running[i] == before) {
			running[i] = now;
			return;
		}
}

static void close_all(const int *fd, int count)
{
	for (int i = 0; i < count; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

int o2_child_fork(struct o2_child *child, int *in, int *out)
{
	int fd[5] = {-1, -1, -1, -1, -1};
	int rc;

	if (pipe2(fd, O_CLOEXEC) != 0 || pipe2(fd + 2, O_CLOEXEC) != 0 ||
	    (fd[4] = memfd_create("o2ref-stderr", MFD_CLOEXEC)) < 0) {
		rc = -errno;
		close_all(fd, 5);
		return rc;
	}
	/* Large pipes save wake-ups.  1 MiB is the limit of an unprivileged user; a failure is harmless. */
	fcntl(fd[1], F_SETPIPE_SZ, PIPE_BYTES);
	fcntl(fd[3], F_SETPIPE_SZ, PIPE_BYTES);
	fflush(stdout);
	fflush(stderr);
	child->pid = fork();
	if (child->pid < 0) {
		rc = -errno;
		child->pid = 0;
		close_all(fd, 5);
		return rc;
	}
	/* Parent and child both call setpgid, so that the group exists whichever of them runs first. */
	setpgid(child->pid, 0);
	if (child->pid == 0) {
		last_of_all = NULL;
		for (uint32_t i = 0; i < RUNNING; i++)
			running[i] = 0;
		close(fd[1]);
		close(fd[2]);
		dup2(fd[4], STDERR_FILENO);
		*in = fd[0];
		*out = fd[3];
		return 1;
	}
	note_running(0, child->pid);
	close(fd[0]);
	close(fd[3]);
	child->to = fd[1];
	child->from = fd[2];
	child->noise = fd[4];
	return 0;
}

int o2_child_wait(const struct o2_child *child, uint64_t until_ms)
{
	struct pollfd poll_fd = {.fd = child->from, .events = POLLIN};

	for (;;) {
		const uint64_t now = o2_monotonic_ms();
		int n = poll(&poll_fd, 1, now < until_ms ? (int)(until_ms - now) : 0);

		if (n >= 0)
			return n > 0;
		if (errno != EINTR)
			return -errno;
	}
}

static void forget(struct o2_child *child)
{
	close(child->to);
	close(child->from);
	close(child->noise);
	note_running(child->pid, 0);
	child->pid = 0;
}

void o2_child_end(struct o2_child *child, int *status)
{
	*status = 0;
	if (child->pid == 0)
		return;
	/* Kill before waitpid: until the child is reaped, no other process group can have its number. */
	kill(-child->pid, SIGKILL);
	while (waitpid(child->pid, status, 0) < 0 && errno == EINTR)
		;
	forget(child);
}

static void end_all(int number)
{
	for (uint32_t i = 0; i < RUNNING; i++)
		if (running[i] != 0)
			kill(-running[i], SIGKILL);
	if (last_of_all != NULL)
		last_of_all();
	signal(number, SIG_DFL);
	raise(number);
}

void o2_child_end_with_us(void (*at_last)(void))
{
	static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

	last_of_all = at_last;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (signal(ends[i], end_all) == SIG_IGN)
			signal(ends[i], SIG_IGN);
}

bool o2_child_reap(struct o2_child *child, int *status)
{
	return o2_child_reap_within(child, status, LEAVE_MS);
}

bool o2_child_reap_within(struct o2_child *child, int *status, uint64_t time_ms)
{
	const uint64_t until_ms = o2_monotonic_ms() + time_ms;
	const struct timespec moment = {.tv_nsec = 1000000};
	siginfo_t left = {0};

	while (waitid(P_PID, (id_t)child->pid, &left, WEXITED | WNOHANG | WNOWAIT) == 0 && left.si_pid == 0 &&
	       o2_monotonic_ms() < until_ms)
		nanosleep(&moment, NULL);
	o2_child_end(child, status);
	return left.si_pid != 0;
}

void o2_child_how(int status, char *text, size_t text_bytes)
{
	if (WIFSIGNALED(status))
		snprintf(text, text_bytes, "it was ended by SIG%s (%s)", sigabbrev_np(WTERMSIG(status)),
			 sigdescr_np(WTERMSIG(status)));
	else
		snprintf(text, text_bytes, "it ended with status %d", WEXITSTATUS(status));
}

bool o2_child_reap_how(struct o2_child *child, int *status, char *text, size_t text_bytes)
{
	const bool left = o2_child_reap(child, status);

	if (left)
		o2_child_how(*status, text, text_bytes);
	else
		snprintf(text, text_bytes, "it closed its output and went on");
	return left;
}

/* Read the end of the child's standard error as text.  Returns its length. */
static size_t read_tail(const struct o2_child *child, char *tail, size_t tail_bytes)
{
	const off_t end = lseek(child->noise, 0, SEEK_END);
	const off_t from = end > (off_t)tail_bytes - 1 ? end - ((off_t)tail_bytes - 1) : 0;
	ssize_t n = end < 0 ? 0 : pread(child->noise, tail, (size_t)(end - from), from);

	while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == ' '))
		n--;
	if (n < 0)
		n = 0;
	tail[n] = '\0';
	return (size_t)n;
}

void o2_child_last_words(const struct o2_child *child, char *text, size_t text_bytes)
{
	char tail[512];
	char *line = tail;

	text[0] = '\0';
	if (read_tail(child, tail, sizeof(tail)) == 0)
		return;
	for (char *c = tail; *c != '\0'; c++) {
		if (*c == '\n')
			line = c + 1;
		else if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	snprintf(text, text_bytes, ": %s", line);
	o2_make_utf8(text);
}

void o2_child_empty(int file)
{
	/* The child writes where the offset is, which it shares: a hole in front of its words would hide them. */
	if (lseek(file, 0, SEEK_END) > (off_t)KEPT_BYTES && ftruncate(file, 0) == 0)
		lseek(file, 0, SEEK_SET);
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Write "name.c:12" to site if a file name precedes the colon and digits follow it; folders are dropped. */
static bool name_before(const char *text, const char *colon, char *site, size_t site_bytes)
{
	const char *name = colon;

	while (name > text && is_of_name(name[-1]))
		name--;
	if (!isdigit((unsigned char)colon[1]) || memchr(name, '.', (size_t)(colon - name)) == NULL)
		return false;
	snprintf(site, site_bytes, "%.*s:%lu", (int)(colon - name), name, strtoul(colon + 1, NULL, 10));
	return true;
}

void o2_child_site(const struct o2_child *child, char *text, size_t text_bytes)
{
	static const char python[] = "\", line ";
	char tail[8192];
	const char *at, *last = NULL;

	text[0] = '\0';
	if (read_tail(child, tail, sizeof(tail)) == 0)
		return;
	for (at = tail; (at = strstr(at, python)) != NULL; at++)
		last = at;
	if (last != NULL) {
		const char *name = last;

		while (name > tail && is_of_name(name[-1]))
			name--;
		snprintf(text, text_bytes, "%.*s:%lu", (int)(last - name), name,
			 strtoul(last + sizeof(python) - 1, NULL, 10));
		return;
	}
	for (at = tail; (at = strchr(at, ':')) != NULL; at++)
		if (name_before(tail, at, text, text_bytes))
			return;
}

uint64_t o2_child_resident_bytes(const struct o2_child *child)
{
	unsigned long long pages = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)child->pid);
	file = fopen(path, "r");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%*u %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
