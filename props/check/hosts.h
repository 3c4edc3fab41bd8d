/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTS_H
#define O2_PROPS_HOSTS_H

#include <limits.h>

#include "oracle/host.h"
#include "props/engine/property.h"
#include "props/engine/report.h"
#include "props/engine/tally.h"
#include "props/scenario/scenario.h"

/*
 * The property: whatever a process does when asked, each question gets one answer, in order, that says what the
 * process did (docs/properties.md, "The hosts property").
 */

#define O2_HOSTS_HEAD_BYTES  4u /* length in front of a frame (docs/oracle.md, "Process protocol") */
#define O2_HOSTS_ASKED	     4u
#define O2_HOSTS_PATIENCE_MS 60000u
#define O2_HOSTS_LONG	     400000u /* most bytes of output; one frame comes in parts */
#define O2_HOSTS_MURMUR	     24000u  /* most bytes on standard error */

/* The answer that one question must get.  Texts are those of a fault; "": any text, or none. */
struct o2_hosts_due {
	enum o2_answer_kind kind;
	int error;	   /* of kind REFUSED */
	char name[16];	   /* of kind REFUSED */
	const char *check; /* of kind BROKEN: name of the check */
	char text[O2_ANSWER_TEXT_BYTES];
	char text_end[O2_ANSWER_TEXT_BYTES]; /* set if only the end of the text can be predicted */
	char site[O2_ANSWER_SITE_BYTES];
	char conduct[O2_ANSWER_TEXT_BYTES]; /* "": no complaint about its conduct */
	uint32_t lost_bytes;		    /* bytes leaked with each call, reported as conduct; 0: none */
};

struct o2_hosts_run {
	struct o2_tally tally; /* must be first: props/engine/tally.h */
	struct o2_choice *c;
	struct o2_report *report;
	struct o2_scenario scenario;
	struct o2_case asked[O2_HOSTS_ASKED];
	uint32_t nasked, answered;
	uint64_t lives;
	struct o2_hosts_due due[O2_HOSTS_ASKED];
	char said[O2_HOSTS_LONG], murmur[O2_HOSTS_MURMUR];
	size_t said_bytes, murmur_bytes;
	bool first_of_two; /* standard error names two places, of which the first is reported */
	char script[400], object[PATH_MAX];
	void (*fail_allocation)(uint32_t nth); /* make the nth allocation fail; NULL: not possible here */
	int64_t (*allocated)(void);
	void (*lacks_process)(unsigned int nth, int code); /* props/talk/wrap/exec.h; with fail_allocation */
	const char *calls; /* of an object: the function that crashes; NULL: the end is not seen */
};

/* *run: zeros at first; the caller owns it.  It is large: keep it off the stack. */
struct o2_property o2_hosts_property(struct o2_hosts_run *run);

#define O2_HOSTS_SITUATION_LIST(ENTRY)                                 \
	ENTRY(O2_HOSTS_ANSWERED, "all_answered")                       \
	ENTRY(O2_HOSTS_IN_PARTS, "frame_in_parts")                     \
	ENTRY(O2_HOSTS_NO_JSON, "no_json")                             \
	ENTRY(O2_HOSTS_OTHER_FORM, "form_of_another_stage")            \
	ENTRY(O2_HOSTS_NO_FRAME, "no_frame")                           \
	ENTRY(O2_HOSTS_HALF, "half_a_frame")                           \
	ENTRY(O2_HOSTS_EXIT, "exit")                                   \
	ENTRY(O2_HOSTS_SIGNAL, "signal")                               \
	ENTRY(O2_HOSTS_ABSENT, "stage_not_there")                      \
	ENTRY(O2_HOSTS_BEHIND, "bytes_behind_the_last_answer")         \
	ENTRY(O2_HOSTS_HANG, "hang")                                   \
	ENTRY(O2_HOSTS_AGAIN, "begun_again")                           \
	ENTRY(O2_HOSTS_SITE, "place_named_on_standard_error")          \
	ENTRY(O2_HOSTS_FIRST, "first_of_two_places")                   \
	ENTRY(O2_HOSTS_FORGOTTEN, "place_too_far_back")                \
	ENTRY(O2_HOSTS_OBJECT, "shared_object")                        \
	ENTRY(O2_HOSTS_UNUSABLE, "shared_object_that_cannot_be_asked") \
	ENTRY(O2_HOSTS_TRIED_RIGHT, "selftest_of_what_is_right")       \
	ENTRY(O2_HOSTS_TRIED_WRONG, "selftest_of_what_is_wrong")       \
	ENTRY(O2_HOSTS_TRIED_GONE, "selftest_of_what_ends")            \
	ENTRY(O2_HOSTS_TRIED_SILENT, "selftest_of_what_says_nothing")  \
	ENTRY(O2_HOSTS_TRIED_MORE, "selftest_of_what_says_more")       \
	ENTRY(O2_HOSTS_TRIED_NONE, "selftest_of_no_stage")             \
	ENTRY(O2_HOSTS_TRIED_CANNOT, "selftest_without_a_process")     \
	ENTRY(O2_HOSTS_NOT_BEGUN, "cannot_be_begun")                   \
	ENTRY(O2_HOSTS_NO_MEMORY, "without_memory")                    \
	ENTRY(O2_HOSTS_GROWN, "memory_that_grows")                     \
	ENTRY(O2_HOSTS_FRAMES, "frames_where_memory_ends")

enum o2_hosts_situation { O2_HOSTS_SITUATION_LIST(O2_SITUATION_ID) O2_HOSTS_SITUATIONS };

/* How a life of a program ends. */
struct o2_hosts_ending {
	bool ends;
	struct o2_hosts_due due; /* the answer to the current question */
	char command[64];
	bool absent; /* for all further questions too: no such stage */
	uint32_t timeout_ms;
};

/* Append to the output: a frame; a frame with an answer; the one answer in a frame that comes in parts. */
void o2_hosts_say_frame(struct o2_hosts_run *run, const char *text);
void o2_hosts_say_answer(struct o2_hosts_run *run, struct o2_hosts_due *due);
void o2_hosts_say_long(struct o2_hosts_run *run);
/* Draw how the life ends.  words, site: what standard error is expected to add to the report. */
struct o2_hosts_ending o2_hosts_draw_ending(struct o2_hosts_run *run, const char *words, const char *site);
/* Draw standard error.  words (behind ": ") and site: what the report must take from it. */
void o2_hosts_draw_murmur(struct o2_hosts_run *run, char *words, char *site);
/* Run a case of a shared object that misbehaves, if that object is beside this program. */
void o2_hosts_object(struct o2_hosts_run *run);
/* Run a trial of the framing (o2_oracle_selftest) with a program that misbehaves in one way. */
void o2_hosts_selftest(struct o2_hosts_run *run);
/* Programs that cannot be started (again); one whose memory grows (run->said: frame of its question). */
void o2_hosts_start(struct o2_hosts_run *run);
void o2_hosts_grow(struct o2_hosts_run *run);
/* Check how frames are read, without a program. */
void o2_hosts_frames(struct o2_hosts_run *run);
void o2_hosts_frames_prepare(void);
/* Prepare the environment before a case. */
void o2_hosts_prepare(void);
/* Check the backtrace of a shared object that crashed. */
void o2_hosts_check_calls(struct o2_hosts_run *run, const struct o2_answer_fault *fault);
/* Check that an answer is the predicted one.  It is an o2_host_answered; context: struct o2_hosts_run. */
void o2_hosts_take(void *context, uint32_t index, const struct o2_answer *answer);
/* Ask; check that all answers came, and that the program was started as often as predicted. */
void o2_hosts_ask(struct o2_hosts_run *run, struct o2_host *host);

#endif
