/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_INTERNAL_H
#define O2_PROPS_CHECK_INTERNAL_H

#include "props/check/check.h"
#include "props/check/check_steer.h"

/* The state of a run of one subject, shared by the files that implement it. */

/* A question of a batch, and where it came from. */
struct o2_check_item {
	struct o2_case asked;
	struct o2_scenario scenario; /* set if has_scenario: of a transfer */
	bool has_scenario;
	char origin[O2_CHECK_ORIGIN_BYTES];
	bool drawn; /* from seed and index; false: from choices, a file, or an earlier result */
	uint64_t index;
	uint32_t nchoices;
	uint8_t choices[O2_CHOICE_MAX_BYTES];
};

/* A difference that will be followed (shrunk and kept) when the batch is over. */
struct o2_check_lead {
	uint32_t item;
	uint64_t after;			 /* answers when the difference was seen */
	double seconds;			 /* time when the difference was seen */
	struct o2_difference difference; /* as first seen */
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
	double following; /* seconds that shrinking took; they do not count as time for asking */
	uint32_t items;
	struct o2_check_item *item[O2_HOST_BATCH];
	struct o2_check_item *last; /* the last question of the last batch */
	bool has_last;
	uint32_t leads;
	struct o2_check_lead lead[O2_CHECK_LEADS];
	int rc;	       /* -errno: the machine failed */
	char why[200]; /* what is wrong with a committed file; "": the errno says it */
};

/* Returns the next free item of the batch. The caller fills in its question, then calls o2_check_add. */
struct o2_check_item *o2_check_next(struct o2_check_run *run);

/* Ask the questions, unless run->rc is set.  Store an error of the host or of `answered` in run->rc. */
void o2_check_ask(struct o2_check_run *run, struct o2_case *const *asked, uint32_t count,
		  o2_host_answered answered, void *context);

/* Add the item that o2_check_next returned.  A full batch is asked at once. */
void o2_check_add(struct o2_check_run *run);

/* Ask the questions of the batch. */
void o2_check_flush(struct o2_check_run *run);

/*
 * Ask a program questions of version 1 that are not counted, until it answers one. The answer says which stages of
 * version 2 the program has; without it the first questions to these would be lost. Returns 0, or -errno.
 */
int o2_check_greet(struct o2_check_run *run);

/* Ask the committed cases of a corpus directory.  Returns 0, or -errno with a line in text. */
int o2_check_corpus(struct o2_check_run *run, const char *directory, char *text, size_t text_bytes);

/*
 * Make the edits of an encode vector.  False: the question cannot be put to another implementation, or an edit is none
 * that a message has.
 */
bool o2_check_edit(struct o2_case_msg_encode *encode, const json_t *edits);

/* Ask one case from a file (input form, scenario, bytes of a message), or from a form as text: "{...}". */
int o2_check_file(struct o2_check_run *run, const char *path, char *text, size_t text_bytes);

/* Ask the questions of the findings of an earlier result, in their order there. */
void o2_check_again(struct o2_check_run *run);

/* Ask one case given by its choices, "sg_build:00ff12". */
int o2_check_choices(struct o2_check_run *run, const char *words, char *text, size_t text_bytes);

/* Choices as hexadecimal digits, to be freed; NULL when memory runs out. */
char *o2_check_hex(const uint8_t *bytes, size_t length_bytes);

/* Shrink the question of a lead and keep it as the finding of its cause. */
void o2_check_follow(struct o2_check_run *run, const struct o2_check_lead *lead);

/* The finding of a stage that has the cause of this difference; NULL: none yet. */
struct o2_check_finding *o2_check_finding_of(struct o2_check_subject *subject, enum o2_stage stage,
					     const struct o2_difference *difference);

/*
 * Is the difference worth following? Yes when it is new; and once more if this case can be shrunk and the kept one
 * cannot.  Otherwise it is counted.
 */
bool o2_check_is_news(struct o2_check_run *run, const struct o2_check_item *item,
		      const struct o2_difference *difference);

/*
 * May the check have a finding of one more cause? If each case has its own, a few examples are enough. If not, the
 * difference is counted as one that is not kept.
 */
bool o2_check_may_keep(struct o2_check_run *run, enum o2_stage stage, const struct o2_difference *difference);

/* Is it a hang that was found meanwhile, when an earlier one of the same batch was followed?  If so, count it. */
bool o2_check_hung_before(struct o2_check_run *run, const struct o2_check_lead *lead);

/* The answer that hung came in time when it was asked for again. */
void o2_check_late(struct o2_check_run *run, enum o2_stage stage);

/* Is `difference` only a consequence of the difference `known`? */
bool o2_check_explains(const struct o2_difference *known, const struct o2_difference *difference);

/* Free what the finding holds. */
void o2_check_finding_free(struct o2_check_finding *finding);

#endif
