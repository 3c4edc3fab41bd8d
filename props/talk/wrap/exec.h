/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WRAP_EXEC_H
#define O2_PROPS_WRAP_EXEC_H

/*
 * What a process would become with execv(3), in programs that are linked with -Wl,--wrap=execv: the function says and does
 * what that program would, and ends the process.  NULL: it becomes the program.
 */
void o2_exec_as(int (*function)(const char *path, char *const argv[]));

#endif
