/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FAR_WORDS_H
#define O2_PROPS_FAR_WORDS_H

#include <jansson.h>

#include "props/world/end_life.h"

/*
 * Questions and answers of an end (props/world/end.h) as JSON, for an end on another machine.  Writers return
 * a new object, or NULL without memory; readers return 0 or -EINVAL with *error for any input.
 */

/* The size of an end's memory: the most bytes in one message. */
#define O2_FAR_MEMORY_BYTES ((uint64_t)O2_SCENARIO_PAGES * O2_SCENARIO_PAGE_BYTES)

/*
 * The identity of the program.  Both ends must be the same program byte by byte, because they rely on more
 * than the messages.
 */
#define O2_FAR_VERSION_BYTES 32u
struct o2_far_identity {
	char version[O2_FAR_VERSION_BYTES]; /* as text, "0.1.0" */
	uint64_t digest;		    /* of the program's file */
};

/* The identity of the running program.  Returns 0, or -errno if its file cannot be read. */
int o2_far_identity(struct o2_far_identity *identity, struct o2_error *error);

json_t *o2_far_hello(const struct o2_far_identity *identity);
/* Is object the hello of the same program?  0; -EPROTO (far/version, far/identity); -EBADMSG: it is not a hello. */
int o2_far_check_hello(const json_t *object, const struct o2_far_identity *identity, struct o2_error *error);

json_t *o2_far_question(const struct o2_end_question *question);
int o2_far_read_question(const json_t *object, struct o2_end_question *question, struct o2_error *error);

json_t *o2_far_answer(const struct o2_end_answer *answer);
int o2_far_read_answer(const json_t *object, struct o2_end_answer *answer, struct o2_error *error);

json_t *o2_far_farewell(const struct o2_end_farewell *farewell);
int o2_far_read_farewell(const json_t *object, struct o2_end_farewell *farewell, struct o2_error *error);

/*
 * A copy of text that is kept as long as the process, as strings of errors must be.  There is room for as
 * many as programs have rules; later texts become "(another)".
 */
const char *o2_far_keep(const char *text);

#endif
