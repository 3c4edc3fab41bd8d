/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WRAP_EXEC_H
#define O2_PROPS_WRAP_EXEC_H

/* Replace execv(3) in programs linked with -Wl,--wrap=execv,--wrap=pipe,--wrap=fork,--wrap=fdopen: execv calls
 * `function`, which acts as the new program would and ends the process.  NULL: execv executes the program. */
void o2_exec_as(int (*function)(const char *path, char *const argv[]));

/* Make the nth pipe(2), fork(2) or fdopen(3) from now on fail with errno `code`, 1 being the next; 0: none. */
void o2_exec_lacks_pipe(unsigned int nth, int code);
void o2_exec_lacks_process(unsigned int nth, int code);
void o2_exec_lacks_stream(unsigned int nth, int code);

#endif
