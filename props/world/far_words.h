/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FAR_WORDS_H
#define O2_PROPS_FAR_WORDS_H

#include <jansson.h>

#include "props/world/end_life.h"

/*
 * What an end is asked and says (props/world/end.h) as JSON, for one that is on another machine.  Writers
 * return a new object, or NULL where memory ran out; readers 0 or -EINVAL with *error, whatever comes.
 */

/* All of an end's memory: the most that one message brings. */
#define O2_FAR_MEMORY_BYTES ((uint64_t)O2_SCENARIO_PAGES * O2_SCENARIO_PAGE_BYTES)

/*
 * The program that speaks: both ends have to be the same one, byte by byte, because what they agree upon is more
 * than their messages.
 */
#define O2_FAR_VERSION_BYTES 32u
struct o2_far_identity {
	char version[O2_FAR_VERSION_BYTES]; /* in words, "0.1.0" */
	uint64_t digest;		    /* of the program's file */
};

/* Of the program that runs.  Returns 0, or -errno where its file cannot be read. */
int o2_far_identity(struct o2_far_identity *identity, struct o2_error *error);

json_t *o2_far_hello(const struct o2_far_identity *identity);
/* Is it the hello of the same program?  0; -EPROTO (far/version, far/identity); -EBADMSG: it is no hello. */
int o2_far_check_hello(const json_t *object, const struct o2_far_identity *identity, struct o2_error *error);

json_t *o2_far_question(const struct o2_end_question *question);
int o2_far_read_question(const json_t *object, struct o2_end_question *question, struct o2_error *error);

json_t *o2_far_answer(const struct o2_end_answer *answer);
int o2_far_read_answer(const json_t *object, struct o2_end_answer *answer, struct o2_error *error);

json_t *o2_far_farewell(const struct o2_end_farewell *farewell);
int o2_far_read_farewell(const json_t *object, struct o2_end_farewell *farewell, struct o2_error *error);

/*
 * A text as a string that stays for as long as the process, as those of errors do.  There is room for as many as
 * programs have rules; what comes later is "(another)".
 */
const char *o2_far_keep(const char *text);

#endif
