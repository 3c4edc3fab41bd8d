/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_HOST_H
#define O2_ORACLE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oracle/answer.h"
#include "oracle/case.h"

/*
 * A host runs an implementation under test in a child process: a shared object (host_object.c) or a program
 * that speaks the process protocol (host_program.c).  Each question gets an answer, whatever the
 * implementation does.  A crash, a hang or unreadable output gives a broken answer; the host then restarts
 * the process and asks the remaining questions.
 */

#define O2_HOST_BATCH 32u /* maximum number of questions in one batch */

struct o2_host_options {
	uint32_t timeout_ms; /* time limit for one answer */
	uint32_t growth_mib; /* limit on the growth of a program's resident memory after its first answers */
};

/* Called for each answer, in the order of the questions; must not call ask().  index: place in the batch. */
typedef void (*o2_host_answered)(void *context, uint32_t index, const struct o2_answer *answer);

struct o2_host {
	const struct o2_host_ops *ops;
	char title[64];	   /* the implementation's own name, or "" */
	const char *name;  /* path or program as the user gave it */
	bool has_capacity; /* whether questions of msg_encode have a capacity */
	/* Stages that are not implemented.  A program lacks those of version 2 until an answer lists them. */
	bool absent[O2_STAGES];
	bool thorough; /* ask each question again, alone and repeatedly, to find leaks */
	struct o2_host_options options;
	uint64_t restarts;
};

struct o2_host_ops {
	/* count: 1 to O2_HOST_BATCH.  Returns 0, or -errno if the host runs out of system resources. */
	int (*ask)(struct o2_host *host, struct o2_case *const *asked, uint32_t count,
		   o2_host_answered answered, void *context);
	/*
	 * Called when nothing more is asked: what the implementation did after its last answer.  check: O2_CHECKS if
	 * nothing.  NULL: such a host has nothing to say.
	 */
	void (*settle)(struct o2_host *host, struct o2_answer_fault *conduct);
	void (*close)(struct o2_host *host);
};

/*
 * Load a shared object.  Returns 0, or -errno with a line in text if the object cannot be used: no such file,
 * neither o2_impl_v1 nor o2_impl_v2, an unknown ABI version.
 */
int o2_host_open_object(const char *path, const struct o2_host_options *options, struct o2_host **host,
			char *text, size_t text_bytes);

/* Run a program.  argv ends with NULL; its strings remain the caller's.  Returns as o2_host_open_object. */
int o2_host_open_program(char *const *argv, const struct o2_host_options *options, struct o2_host **host,
			 char *text, size_t text_bytes);

#endif
