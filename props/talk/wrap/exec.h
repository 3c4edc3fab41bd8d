/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WRAP_EXEC_H
#define O2_PROPS_WRAP_EXEC_H

/*
 * What a process would become with execv(3), in programs that are linked with -Wl,--wrap=execv,--wrap=pipe,--wrap=fork,
 * --wrap=fdopen: the function says and does what that program would, and ends the process.  NULL: it becomes the program.
 */
void o2_exec_as(int (*function)(const char *path, char *const argv[]));

/* From now on the nth pipe(2), fork(2) or fdopen(3) fails with that errno, 1 being the next; 0: none does. */
void o2_exec_lacks_pipe(unsigned int nth, int code);
void o2_exec_lacks_process(unsigned int nth, int code);
void o2_exec_lacks_stream(unsigned int nth, int code);

#endif
