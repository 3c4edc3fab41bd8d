/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_CHILD_H
#define O2_ORACLE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process that an implementation runs in: two pipes, a file for its standard error, a way to end it. */
struct o2_child {
	pid_t pid; /* 0: there is none */
	int to;	   /* what we write */
	int from;  /* what we read */
	int noise; /* a file in memory: its standard error */
};

/*
 * Fork.  The child leads a process group of its own: what it starts in turn ends with it, and a terminal's
 * signals do not reach it (o2_child_end_with_us).  Returns 0 in the parent with *child filled in; 1 in the child, which has the other ends in *in and
 * *out and the file as its standard error; or -errno.
 */
int o2_child_fork(struct o2_child *child, int *in, int *out);

/*
 * Wait until there is something to read, until `until_ms` (o2_now_ms), or until the process is gone.
 * Returns 1: something to read, or the end of it; 0: the time is up; -errno.
 */
int o2_child_wait(const struct o2_child *child, uint64_t until_ms);

/* End it, if it runs, with all processes of its group, and reap it.  *status: as waitpid(2) says. */
void o2_child_end(struct o2_child *child, int *status);

/* From now on a signal that ends this process (SIGHUP, SIGINT, SIGQUIT, SIGTERM) ends those that run first. */
void o2_child_end_with_us(void);

/*
 * The same, for one whose pipe has ended: it gets a moment to leave by itself.  False: it had to be killed.
 */
bool o2_child_reap(struct o2_child *child, int *status);

/*
 * The same, and how it ended in words: as o2_child_how has it, or that it went on.  False: it had to be killed.
 */
bool o2_child_reap_how(struct o2_child *child, int *status, char *text, size_t text_bytes);

/* "it was ended by SIGSEGV (Segmentation fault)", "it ended with status 3". */
void o2_child_how(int status, char *text, size_t text_bytes);

/* The last line of its standard error, after ": "; "" when there is none. */
void o2_child_last_words(const struct o2_child *child, char *text, size_t text_bytes);

/*
 * Where its standard error says that it went wrong: "mine.py:12" of a line that names a file and a line in one
 * of the ways that languages have; the last one of Python's, else the first.  "" when it says nothing so.
 */
void o2_child_site(const struct o2_child *child, char *text, size_t text_bytes);

#endif
