/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_INTERNAL_H
#define O2_PROPS_CHECK_INTERNAL_H

#include "props/check/check.h"
#include "props/check/check_steer.h"

/* The run of one subject: what its parts share. */

/* Where a question of a batch came from. */
struct o2_check_item {
	struct o2_case asked;
	struct o2_scenario scenario; /* of a transfer */
	bool has_scenario;
	char origin[O2_CHECK_ORIGIN_BYTES];
	bool drawn; /* from seed and index; else from choices, or from neither */
	uint64_t index;
	uint32_t nchoices;
	uint8_t choices[O2_CHOICE_MAX_BYTES];
};

/* A difference of a batch that is to be followed (shrunk and kept) when the batch is over. */
struct o2_check_lead {
	uint32_t item;
	uint64_t after;			 /* answers, and */
	double seconds;			 /* when it was seen */
	struct o2_difference difference; /* as it was seen first */
};

#define O2_CHECK_LEADS 64u

struct o2_check_run {
	const struct o2_check_options *options;
	struct o2_check_subject *subject;
	struct o2_comparison *comparison;
	struct o2_answer *expected;
	struct o2_choice *choice;
	struct o2_steer *steer;
	bool flavour_asked;
	uint64_t answers;
	double start;
	double following; /* seconds that shrinking took: they are not of those that were asked for */
	uint32_t items;
	struct o2_check_item *item[O2_HOST_BATCH];
	uint32_t leads;
	struct o2_check_lead lead[O2_CHECK_LEADS];
	int rc; /* -errno: the machine failed */
};

/* The next free item of the batch; its question is to be filled in, then o2_check_add is called. */
struct o2_check_item *o2_check_next(struct o2_check_run *run);

/* Ask, unless something has failed before (run->rc), and note there what fails, in `answered` or outside. */
void o2_check_ask(struct o2_check_run *run, struct o2_case *const *asked, uint32_t count,
		  o2_host_answered answered, void *context);

/* The item is ready; a full batch is asked. */
void o2_check_add(struct o2_check_run *run);

/* Ask what is in the batch. */
void o2_check_flush(struct o2_check_run *run);

/*
 * Ask a program one question that is not counted, so that it can say which stages of version 2 it has: where no
 * stage of version 1 will be asked that would do.  Returns 0, or -errno.
 */
int o2_check_greet(struct o2_check_run *run);

/* Committed cases from a corpus directory.  Returns 0, or -errno with a line in text. */
int o2_check_corpus(struct o2_check_run *run, const char *directory, char *text, size_t text_bytes);

/* One case from a file: an input form, a scenario, or bytes of a message; or a form itself: "{...}". */
int o2_check_file(struct o2_check_run *run, const char *path, char *text, size_t text_bytes);

/* What an earlier result has findings of, in the order in which they are there. */
void o2_check_again(struct o2_check_run *run);

/* One case from its choices, "sg_build:00ff12". */
int o2_check_choices(struct o2_check_run *run, const char *words, char *text, size_t text_bytes);

/* Choices as hexadecimal digits; NULL when memory runs out. */
char *o2_check_hex(const uint8_t *bytes, size_t length_bytes);

/* Shrink what a lead points to and keep it as the finding of its cause. */
void o2_check_follow(struct o2_check_run *run, const struct o2_check_lead *lead);

/* The finding of a difference's cause in a stage; NULL when there is none yet. */
struct o2_check_finding *o2_check_finding_of(struct o2_check_subject *subject, enum o2_stage stage,
					     const struct o2_difference *difference);

/* Is the difference no more than what a known one brings about? */
bool o2_check_explains(const struct o2_difference *known, const struct o2_difference *difference);

/* What it holds. */
void o2_check_finding_free(struct o2_check_finding *finding);

#endif
