/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_COMPARE_H
#define O2_ORACLE_COMPARE_H

#include <stdint.h>

#include "oracle/answer.h"
#include "oracle/case.h"
#include "oracle/check.h"
#include "oracle/judge.h"
#include "oracle/known.h"
#include "oracle/stream.h"

/*
 * Two answers to one question: in which checks do they differ?  Where the specification allows one answer,
 * the results are compared; where several answers are right, what all of them have in common is compared
 * (docs/oracle.md, "What is compared").
 */

#define O2_DIFFERENCES		 48u
#define O2_DIFFERENCE_TEXT_BYTES 96u
#define O2_CAUSE_BYTES		 192u

/*
 * A cause is what tells the differences of one check apart: the field, without its numbers, and why, where
 * there are several ways to be wrong (docs/oracle.md, "Causes").
 */
struct o2_difference {
	enum o2_check_id check;
	char cause[O2_CAUSE_BYTES];
	char field[O2_DIFFERENCE_TEXT_BYTES]; /* "entry[3].length" */
	char expected[O2_DIFFERENCE_TEXT_BYTES];
	char found[O2_ANSWER_TEXT_BYTES];
	uint32_t known; /* o2_known_find */
	/* Of a verdict, or of how a refusal is worded; else both are "". */
	char rule[O2_ANSWER_NAME_BYTES]; /* that the reference refuses by; "": it admits */
	char refused_as
		[O2_ANSWER_NAME_BYTES]; /* the implementation's own name, or its errno; "": it admits */
};

bool o2_same_cause(const struct o2_difference *a, const struct o2_difference *b);

/* One comparison.  About 550 KiB: keep it off the stack.  Plain data; the map and the cases are borrowed. */
struct o2_comparison {
	/* the caller's */
	enum o2_profile profile;
	const struct o2_error_map *map;
	const struct o2_known *known;
	enum o2_cksum_flavour flavour; /* the one that it takes (flavour.h); NONE: both, neither, not asked */
	const struct o2_case *asked;   /* set by o2_compare */

	/*
	 * the result: at most one difference for each cause of a check; those that the profile turns off are
	 * not in it
	 */
	uint32_t count;
	struct o2_difference item[O2_DIFFERENCES];
	bool unmapped;	/* the implementation's error name is in no map */
	bool no_memory; /* what is to be judged could not be: nothing follows from what is not in the result */
	/* Checks that the profile turns off and that differ all the same; each once. */
	uint32_t accepted;
	enum o2_check_id accepted_check[O2_DIFFERENCES];

	struct o2_answer exact; /* o2_answer_by_exact_gaps */
	struct o2_stream expected_from, expected_to, found_from, found_to;
};

/* Is this asked under the profile?  A caller that is trusted gives no input that breaks a rule of his. */
bool o2_profile_asks(enum o2_profile profile, struct o2_case *asked, struct o2_answer *scratch);

/* expected: the reference's answer. */
void o2_compare(struct o2_comparison *comparison, const struct o2_case *asked,
		const struct o2_answer *expected, const struct o2_answer *found);

/* --- for the parts, one for each kind of answer --- */

/* The same by the letter: no class of differences has been told apart yet. */
void o2_compare_answers(struct o2_comparison *comparison, const struct o2_case *asked,
			const struct o2_answer *expected, const struct o2_answer *found);

/*
 * Note a difference, unless the check is off or has one of this field.  index: of a list, or O2_NO_INDEX;
 * field has its "[]".
 */
void o2_differ(struct o2_comparison *comparison, enum o2_check_id check, const char *field, uint32_t index,
	       uint64_t expected, uint64_t found);

/* The same for addresses and keys, shown in hexadecimal. */
void o2_differ_hex(struct o2_comparison *comparison, enum o2_check_id check, const char *field,
		   uint32_t index, uint64_t expected, uint64_t found);

/* Numbers that have to be the same. */
void o2_expect(struct o2_comparison *comparison, enum o2_check_id check, const char *field, uint32_t index,
	       uint64_t expected, uint64_t found);
void o2_expect_hex(struct o2_comparison *comparison, enum o2_check_id check, const char *field,
		   uint32_t index, uint64_t expected, uint64_t found);

/* A difference in words, by a cause; reason: or "".  NULL when there is nothing to fill in. */
struct o2_difference *o2_differ_text(struct o2_comparison *comparison, enum o2_check_id check,
				     const char *field, const char *reason);

/* Note that the streams differ, at which byte. */
void o2_differ_stream(struct o2_comparison *comparison, enum o2_check_id check, const char *what,
		      const struct o2_stream *expected, const struct o2_stream *found);

void o2_compare_decoded(struct o2_comparison *comparison, const struct o2_msg *expected,
			const struct o2_msg *found);
void o2_compare_encoded(struct o2_comparison *comparison, const struct o2_msg *msg,
			const struct o2_answer_bytes *expected, const struct o2_answer_bytes *found);
/* Its parts: the fields, as far as both are long; and the sum of what was found, by a check of the caller. */
void o2_compare_fields(struct o2_comparison *comparison, const struct o2_msg *msg,
		       const struct o2_answer_bytes *expected, const struct o2_answer_bytes *found);
void o2_compare_checksum(struct o2_comparison *comparison, enum o2_check_id check, const struct o2_msg *msg,
			 const struct o2_answer_bytes *found);
void o2_compare_sg(struct o2_comparison *comparison, const struct o2_case_sg *asked,
		   const struct o2_sg_list *expected, const struct o2_sg_list *found);
void o2_compare_dma(struct o2_comparison *comparison, const struct o2_case_dma *asked,
		    const struct o2_dma_list *expected, const struct o2_dma_list *found);
void o2_compare_reg(struct o2_comparison *comparison, const struct o2_reg_request *request,
		    const struct o2_reg_plan *expected, const struct o2_reg_plan *found);
void o2_compare_rdma(struct o2_comparison *comparison, const struct o2_rdma_input *asked,
		     const struct o2_rdma_plan *expected, const struct o2_rdma_plan *found);
void o2_compare_transfer(struct o2_comparison *comparison, const struct o2_case_transfer *asked,
			 const struct o2_answer_transfer *expected, const struct o2_answer_transfer *found);

void o2_compare_send(struct o2_comparison *comparison, const struct o2_case_send *asked,
		     const struct o2_answer_send *expected, const struct o2_answer_send *found);

/* The message as it has to arrive, but for its checksum: the payload by the question's pieces. */
void o2_send_message(const struct o2_case_send *asked, const struct o2_answer_send *expected,
		     struct o2_answer_bytes *message);

/*
 * The first bytes that a gather entry of an answer yields, `room` at most, on a model of the device.  Returns how
 * many: fewer than its length and than `room` where what comes next was not written to the slot, or is not
 * registered under the entry's key.  stream: to work in.
 *
 * *unmapped: which check it breaks that some of them are in memory that the device does not have, because its
 * mapping fails or a page has no address; O2_CHECKS: none.
 */
uint32_t o2_send_gather(const struct o2_case_send *asked, const struct o2_answer_send *found, uint32_t index,
			uint32_t room, struct o2_stream *stream, uint8_t *bytes, enum o2_check_id *unmapped);

/*
 * The writes of a chain alone as a plan.  False, and no plan: another request than the last one is the message.
 */
bool o2_chain_writes(const struct o2_case_chain *asked, const struct o2_answer_chain *chain,
		     struct o2_rdma_plan *plan);

/* Checks of what a device and a peer ask of a plan, whatever bytes it stands for; O2_CHECKS: not asked. */
struct o2_plan_checks {
	enum o2_check_id peer_limit, access, source_access,
		sink_fragments; /* access O2_CHECKS: none of them */
	enum o2_check_id range, range_in_pages, pages, iova, entries;
};

struct o2_plan_terms {
	const char *of; /* in front of the names of the plan's fields: "sink.", or "" */
	enum o2_reg_mode mode;
	enum o2_side side;
	uint32_t page_bytes;
	uint32_t max_pages; /* that one registration holds */
	uint32_t max_frags; /* that the peer takes */
	const struct o2_plan_checks *checks;
};

/*
 * Can the plan be registered in its mode, and what it publishes be used?  Of what is expected the iova counts,
 * where the mode has one answer for it; the rest of it is what is shown.
 */
void o2_compare_terms(struct o2_comparison *comparison, const struct o2_plan_terms *asked,
		      const struct o2_reg_plan *expected, const struct o2_reg_plan *found);

/* What a plan registers, held against what its fragments span. */
enum o2_region_fit {
	O2_REGION_EXACT,
	O2_REGION_IN_PAGES, /* mode fmr: the same, from the start of the first page to the end of the last */
	O2_REGION_OTHER,
};

enum o2_region_fit o2_region_fit(const struct o2_reg_plan *plan, uint32_t page_bytes);

#endif
