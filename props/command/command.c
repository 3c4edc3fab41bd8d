/* SPDX-License-Identifier: MIT */
#include "props/command/command.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/own_path.h"
#include "props/command/net_process.h"

#define PROGRAM "o2ref"
#define FILES	(3 + O2_COMMAND_FILES)

void o2_command_input(struct o2_command_run *run, const void *bytes, size_t count)
{
	run->input = bytes;
	run->input_bytes = count;
}

void o2_command_word(struct o2_command_run *run, const char *format, ...)
{
	va_list arguments;

	assert(run->words + 1 < O2_COMMAND_WORDS);
	va_start(arguments, format);
	vsnprintf(run->word[run->words++], O2_COMMAND_WORD, format, arguments);
	va_end(arguments);
}

void o2_command_word_if(struct o2_command_run *run, bool has, const char *word)
{
	if (has)
		o2_command_word(run, "%s", word);
}

static bool path_of_program(char *path, size_t bytes)
{
	return o2_own_path(PROGRAM, path, bytes) == 0 && access(path, X_OK) == 0;
}

void o2_command_take(int fd, char *text)
{
	size_t length = 0;
	ssize_t count;

	lseek(fd, 0, SEEK_SET);
	while (length < O2_COMMAND_BYTES && (count = read(fd, text + length, O2_COMMAND_BYTES - length)) > 0)
		length += (size_t)count;
	text[length] = '\0';
}

/* Copy all output to a file.  The first output shows that the process runs, and sends the signal. */
static void pass_on(int from, int to, pid_t pid, int signal_number)
{
	char text[4096];
	ssize_t count;

	while ((count = TEMP_FAILURE_RETRY(read(from, text, sizeof(text)))) > 0) {
		if (signal_number != 0)
			kill(pid, signal_number);
		signal_number = 0;
		if (write(to, text, (size_t)count) != count)
			break;
	}
	close(from);
}

/* stdin, stdout, stderr and the output files; descriptors are moved above their target numbers. */
static int spawn(struct o2_command_run *run, const char *path, const int fd[FILES])
{
	char *words[O2_COMMAND_WORDS + 2] = {(char[]){PROGRAM}};
	int rc, status = -1, out[2] = {-1, -1};
	posix_spawn_file_actions_t actions;
	pid_t pid;

	for (uint32_t i = 0; i < run->words; i++)
		words[1 + i] = run->word[i];
	if (run->signal != 0 && pipe2(out, O_CLOEXEC) != 0)
		return -1;
	rc = posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < (int)FILES && rc == 0; i++)
		rc = posix_spawn_file_actions_adddup2(&actions, i == 1 && out[1] >= 0 ? out[1] : fd[i], i);
	if (rc == 0)
		rc = posix_spawn(&pid, path, &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (out[1] >= 0) {
		close(out[1]);
		pass_on(out[0], fd[1], rc == 0 ? pid : 0, rc == 0 ? run->signal : 0);
	}
	if (rc != 0 || TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Make a memory file with these bytes.  Returns its descriptor, or -1. */
static int open_input(const uint8_t *bytes, size_t count)
{
	const int fd = memfd_create("o2ref", MFD_CLOEXEC);
	size_t written = 0;

	while (fd >= 0 && written < count) {
		const ssize_t now = write(fd, bytes + written, count - written);

		if (now <= 0)
			break;
		written += (size_t)now;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

/* A socket that delivers the bytes that fit, then fails: its peer was closed with unread data, unix(7). */
static int open_broken(const uint8_t *bytes, size_t count)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) != 0)
		return -1;
	if (count > 0)
		send(fd[1], bytes, count, MSG_DONTWAIT);
	send(fd[0], "?", 1, MSG_DONTWAIT);
	close(fd[1]);
	return fd[0];
}

/* Open one end of a terminal; *master must stay open with it. */
static int open_terminal(int *master)
{
	*master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*master < 0 || grantpt(*master) != 0 || unlockpt(*master) != 0)
		return -1;
	return open(ptsname(*master), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
}

static int open_output(const struct o2_command_run *run, int *master)
{
	if (run->full)
		return open("/dev/full", O_WRONLY | O_CLOEXEC);
	return run->terminal ? open_terminal(master) : memfd_create("o2ref", MFD_CLOEXEC);
}

/* Copy the program to memory, so that nothing is beside it in its folder; path: of the copy. */
static int copy_program(char *path, size_t bytes)
{
	const int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("o2ref", MFD_CLOEXEC);
	struct stat program;
	off_t done = 0;

	if (from >= 0 && fstat(from, &program) == 0)
		while (done < program.st_size &&
		       sendfile(to, from, &done, (size_t)(program.st_size - done)) > 0)
			;
	if (from >= 0)
		close(from);
	snprintf(path, bytes, "/proc/%d/fd/%d", (int)getpid(), to);
	return to;
}

bool o2_command_execute(struct o2_command_run *run)
{
	char path[4096];
	int fd[FILES], master = -1, copy = -1;
	bool ready = path_of_program(path, sizeof(path));

	if (ready && run->alone)
		copy = copy_program(path, sizeof(path));
	for (uint32_t i = 0; i < FILES; i++) {
		if (i == 0)
			fd[i] = run->broken ? open_broken(run->input, run->input_bytes)
					    : open_input(run->input, run->input_bytes);
		else
			fd[i] = i == 1 ? open_output(run, &master) : memfd_create("o2ref", MFD_CLOEXEC);
		ready = ready && fd[i] >= 0;
	}
	run->began_ns = o2_wall_ns();
	run->status = -1;
	run->out[0] = run->err[0] = '\0';
	if (ready) {
		run->status = run->command != NULL ? o2_own_process(run, run->command, fd, FILES)
						   : spawn(run, path, fd);
		o2_command_take(fd[1], run->out);
		o2_command_take(fd[2], run->err);
		for (uint32_t i = 0; i < O2_COMMAND_FILES; i++)
			o2_command_take(fd[O2_COMMAND_FD(i)], run->file[i]);
	}
	for (uint32_t i = 0; i < FILES; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	if (master >= 0)
		close(master);
	if (copy >= 0)
		close(copy);
	return ready;
}
