/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_HOST_H
#define O2_ORACLE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oracle/answer.h"
#include "oracle/case.h"

/*
 * An implementation under test, in a process of its own: a shared object (host_object.c) or a program that
 * speaks the process protocol (host_program.c).  Each question gets an answer whatever the implementation
 * does: a crash, a hang or nonsense is a broken answer; then the process is started again and asked the
 * remaining questions.
 */

#define O2_HOST_BATCH 32u /* questions that are asked at a time, at most */

struct o2_host_options {
	uint32_t timeout_ms; /* for one answer */
	uint32_t growth_mib; /* a program may grow by so much after its first answers */
};

/* Gets each answer, in the order of the questions; it must not ask.  index: of the question in its batch. */
typedef void (*o2_host_answered)(void *context, uint32_t index, const struct o2_answer *answer);

struct o2_host {
	const struct o2_host_ops *ops;
	char title[64];	   /* what it calls itself, or "" */
	const char *name;  /* as the user named it */
	bool has_capacity; /* msg_encode is given a capacity */
	/* Stages that it does not have; of a program those of version 2, until it has said in an answer which. */
	bool absent[O2_STAGES];
	bool thorough; /* ask each question alone and several times: shows what leaks */
	struct o2_host_options options;
	uint64_t restarts;
};

struct o2_host_ops {
	/* count: 1 to O2_HOST_BATCH.  Returns 0, or -errno when the machine itself fails. */
	int (*ask)(struct o2_host *host, struct o2_case *const *asked, uint32_t count,
		   o2_host_answered answered, void *context);
	void (*close)(struct o2_host *host);
};

/*
 * Load a shared object.  Returns 0; -errno with a line in text when it cannot be run at all: no such file, no
 * o2_impl_v1, another version.
 */
int o2_host_open_object(const char *path, const struct o2_host_options *options, struct o2_host **host,
			char *text, size_t text_bytes);

/* Run a program; argv ends with NULL; its words stay the caller's.  As o2_host_open_object. */
int o2_host_open_program(char *const *argv, const struct o2_host_options *options, struct o2_host **host,
			 char *text, size_t text_bytes);

#endif
