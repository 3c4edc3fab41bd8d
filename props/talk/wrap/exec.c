/* SPDX-License-Identifier: MIT */
#include "props/talk/wrap/exec.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Names defined by the linker (ld(1), --wrap). */
int __real_execv(const char *path, char *const argv[]);
int __wrap_execv(const char *path, char *const argv[]);
int __real_pipe(int fds[2]);
int __wrap_pipe(int fds[2]);
pid_t __real_fork(void);
pid_t __wrap_fork(void);
FILE *__real_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode);

static int (*instead)(const char *path, char *const argv[]);

void o2_exec_as(int (*function)(const char *path, char *const argv[]))
{
	instead = function;
}

int __wrap_execv(const char *path, char *const argv[])
{
	return instead != NULL ? instead(path, argv) : __real_execv(path, argv);
}

struct lack {
	unsigned int left;
	int code;
};
static struct lack pipes, processes, streams;

void o2_exec_lacks_pipe(unsigned int nth, int code)
{
	pipes = (struct lack){nth, code};
}

void o2_exec_lacks_process(unsigned int nth, int code)
{
	processes = (struct lack){nth, code};
}

void o2_exec_lacks_stream(unsigned int nth, int code)
{
	streams = (struct lack){nth, code};
}

static bool lacks(struct lack *lack)
{
	if (lack->left == 0 || --lack->left > 0)
		return false;
	errno = lack->code;
	return true;
}

int __wrap_pipe(int fds[2])
{
	return lacks(&pipes) ? -1 : __real_pipe(fds);
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
	return lacks(&streams) ? NULL : __real_fdopen(fd, mode);
}

pid_t __wrap_fork(void)
{
	return lacks(&processes) ? -1 : __real_fork();
}
