/* SPDX-License-Identifier: MIT */
#include "props/talk/wrap/exec.h"

#include <stddef.h>

/* Names that the linker knows (ld(1), --wrap). */
int __real_execv(const char *path, char *const argv[]);
int __wrap_execv(const char *path, char *const argv[]);

static int (*instead)(const char *path, char *const argv[]);

void o2_exec_as(int (*function)(const char *path, char *const argv[]))
{
	instead = function;
}

int __wrap_execv(const char *path, char *const argv[])
{
	return instead != NULL ? instead(path, argv) : __real_execv(path, argv);
}
