/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_CHILD_H
#define O2_ORACLE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A child process that runs an implementation, with two pipes and a file for its standard error. */
struct o2_child {
	pid_t pid; /* 0: no process */
	int to;	   /* pipe to the child */
	int from;  /* pipe from the child */
	int noise; /* memory file that receives the child's standard error */
};

/*
 * Fork.  The child leads its own process group, so o2_child_end() also ends the processes that it starts, and
 * a terminal's signals do not reach it (see o2_child_end_with_us).  Returns 0 in the parent, with *child set;
 * 1 in the child, with its ends of the pipes in *in and *out and stderr redirected to the file; or -errno.
 */
int o2_child_fork(struct o2_child *child, int *in, int *out);

/*
 * Wait until child->from is readable or at its end, or until the time `until_ms` (o2_monotonic_ms).
 * Returns 1: readable or at its end; 0: the time is up; -errno.
 */
int o2_child_wait(const struct o2_child *child, uint64_t until_ms);

/* Kill the child and all processes of its group, if it runs, and reap it.  *status: as from waitpid(2). */
void o2_child_end(struct o2_child *child, int *status);

/*
 * Let SIGHUP, SIGINT, SIGQUIT and SIGTERM kill all children before they end this process.  at_last is called behind
 * that, in the signal's handler.
 */
void o2_child_end_with_us(void (*at_last)(void));

/*
 * Reap a child whose output pipe has ended.  The child gets half a second to exit by itself.  Returns false
 * if it had to be killed.
 */
bool o2_child_reap(struct o2_child *child, int *status);

/* As o2_child_reap, with another time to exit in. */
bool o2_child_reap_within(struct o2_child *child, int *status, uint64_t time_ms);

/* As o2_child_reap.  text: how the child ended (o2_child_how), or that it did not exit by itself. */
bool o2_child_reap_how(struct o2_child *child, int *status, char *text, size_t text_bytes);

/* A wait status as text: "it was ended by SIGSEGV (Segmentation fault)", "it ended with status 3". */
void o2_child_how(int status, char *text, size_t text_bytes);

/* Resident memory of the child in bytes; 0 if it cannot be determined. */
uint64_t o2_child_resident_bytes(const struct o2_child *child);

/* The last line of the child's standard error, after ": "; "" if it is empty. */
void o2_child_last_words(const struct o2_child *child, char *text, size_t text_bytes);

/*
 * Empty a file that a child prints to, the child's `noise` for one, if there is much in it: what is printed without end
 * would fill the memory.  The child goes on at the beginning.
 */
void o2_child_empty(int file);

/*
 * The source line that the child's standard error names as the place of its failure, e.g. "mine.py:12": the
 * last line of a Python traceback, otherwise the first "file:line".  "" if it names none.
 */
void o2_child_site(const struct o2_child *child, char *text, size_t text_bytes);

#endif
