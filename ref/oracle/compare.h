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
 * Compare two answers to one question, and list the checks in which they differ.  If the specification
 * allows only one answer, the results themselves are compared.  If several answers are right, the properties
 * that all right answers share are compared (docs/oracle.md, "What is compared").
 */

#define O2_DIFFERENCES		 48u
#define O2_DIFFERENCE_TEXT_BYTES 96u
#define O2_CAUSE_BYTES		 192u

/*
 * A cause distinguishes the differences of one check: it is the field without its numbers, plus a reason if
 * the field can be wrong in several ways (docs/oracle.md, "Causes").
 */
struct o2_difference {
	enum o2_check_id check;
	char cause[O2_CAUSE_BYTES];
	char field[O2_DIFFERENCE_TEXT_BYTES]; /* "entry[3].length" */
	char expected[O2_DIFFERENCE_TEXT_BYTES];
	char found[O2_ANSWER_TEXT_BYTES];
	uint32_t known; /* result of o2_known_find */
	/* Set if the verdicts, or the contents of two refusals, differ; otherwise both are "". */
	char rule[O2_ANSWER_NAME_BYTES]; /* rule by which the reference refuses; "": it admits */
	char refused_as
		[O2_ANSWER_NAME_BYTES]; /* the implementation's name for its refusal, or errno; "": it admits */
};

bool o2_same_cause(const struct o2_difference *a, const struct o2_difference *b);

/* One comparison.  About 550 KiB: keep it off the stack.  It owns nothing; map, known and asked are borrowed. */
struct o2_comparison {
	/* set by the caller */
	enum o2_profile profile;
	const struct o2_error_map *map;
	const struct o2_known *known;
	enum o2_cksum_flavour flavour; /* the only accepted one (flavour.h); NONE: both, neither, unknown */
	const struct o2_case *asked;   /* set by o2_compare */

	/*
	 * The result: at most one difference for each cause of a check.  Checks that the profile turns off
	 * are left out.
	 */
	uint32_t count;
	struct o2_difference item[O2_DIFFERENCES];
	bool unmapped; /* the implementation's error name is not in the map, and is no rule id */
	bool no_memory; /* memory ran out, so the result is incomplete: do not conclude that the answers agree */
	/* Checks that differ although the profile turns them off; each is listed once. */
	uint32_t accepted;
	enum o2_check_id accepted_check[O2_DIFFERENCES];

	struct o2_answer exact; /* o2_answer_by_exact_gaps */
	struct o2_stream expected_from, expected_to, found_from, found_to;
};

/* Whether the profile asks this question.  Profile kernel trusts callers: it asks msg_encode and send_plan
   only what the reference admits, and raises the capacity of msg_encode to the maximum. */
bool o2_profile_asks(enum o2_profile profile, struct o2_case *asked, struct o2_answer *scratch);

/* Compare the reference's answer (expected) with the implementation's (found). */
void o2_compare(struct o2_comparison *comparison, const struct o2_case *asked,
		const struct o2_answer *expected, const struct o2_answer *found);

/* --- internal functions of the comparison, which the files for the kinds of answers share --- */

/* As o2_compare, but without the separate classes of differences (docs/oracle.md, "Classes"). */
void o2_compare_answers(struct o2_comparison *comparison, const struct o2_case *asked,
			const struct o2_answer *expected, const struct o2_answer *found);

/*
 * Record a difference, unless the check is off or already has a difference in this field.  index: replaces
 * the "[]" in the name of the field; O2_NO_INDEX: none.
 */
void o2_differ(struct o2_comparison *comparison, enum o2_check_id check, const char *field, uint32_t index,
	       uint64_t expected, uint64_t found);

/* As o2_differ, for addresses and keys, which are shown in hexadecimal. */
void o2_differ_hex(struct o2_comparison *comparison, enum o2_check_id check, const char *field,
		   uint32_t index, uint64_t expected, uint64_t found);

/* Record a difference if the numbers are not equal. */
void o2_expect(struct o2_comparison *comparison, enum o2_check_id check, const char *field, uint32_t index,
	       uint64_t expected, uint64_t found);
void o2_expect_hex(struct o2_comparison *comparison, enum o2_check_id check, const char *field,
		   uint32_t index, uint64_t expected, uint64_t found);

/* Record a difference of this cause; the caller fills in its texts.  NULL: off, recorded before, or no room. */
struct o2_difference *o2_differ_text(struct o2_comparison *comparison, enum o2_check_id check,
				     const char *field, const char *reason);

/* Record the first byte at which the streams differ, if they do. */
void o2_differ_stream(struct o2_comparison *comparison, enum o2_check_id check, const char *what,
		      const struct o2_stream *expected, const struct o2_stream *found);

void o2_compare_decoded(struct o2_comparison *comparison, const struct o2_msg *expected,
			const struct o2_msg *found);
void o2_compare_encoded(struct o2_comparison *comparison, const struct o2_msg *msg,
			const struct o2_answer_bytes *expected, const struct o2_answer_bytes *found);
/* Parts of o2_compare_encoded: the fields up to the shorter length; the checksum, under the caller's check. */
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

/* Make the message that must arrive (its checksum aside), with the payload that the question's pieces hold. */
void o2_send_message(const struct o2_case_send *asked, const struct o2_answer_send *expected,
		     struct o2_answer_bytes *message);

/*
 * Read the bytes of one gather entry of an answer, `room` at most, on a model of the device.  Returns the
 * number of bytes read.  It is less than both `room` and the entry's length if the next byte was not written
 * to the slot, or is not registered under the entry's key.  stream: work space.
 *
 * *unmapped: the check that is broken because some of the bytes are in memory that the device cannot reach
 * (the DMA mapping fails, or a page has no CPU mapping); O2_CHECKS: none.
 */
uint32_t o2_send_gather(const struct o2_case_send *asked, const struct o2_answer_send *found, uint32_t index,
			uint32_t room, struct o2_stream *stream, uint8_t *bytes, enum o2_check_id *unmapped);

/* Make a plan of the writes of a chain.  Returns false if the SEND is not the last and only one of the chain. */
bool o2_chain_writes(const struct o2_case_chain *asked, const struct o2_answer_chain *chain,
		     struct o2_rdma_plan *plan);

/* The checks of what device and peer require of a plan, apart from its bytes; O2_CHECKS: not checked. */
struct o2_plan_checks {
	enum o2_check_id peer_limit, access, source_access,
		sink_fragments; /* if access is O2_CHECKS, none of these four is checked */
	enum o2_check_id range, range_in_pages, pages, iova, entries;
};

struct o2_plan_terms {
	const char *of; /* prefix for the names of the plan's fields: "sink.", or "" */
	enum o2_reg_mode mode;
	enum o2_side side;
	uint32_t page_bytes;
	uint32_t max_pages; /* maximum number of pages in one registration */
	uint32_t max_frags; /* maximum number of fragments that the peer accepts */
	const struct o2_plan_checks *checks;
};

/*
 * Check that the plan can be registered in its mode, and that a peer can use what it publishes.  Of the
 * expected plan only the iova is compared, if the mode determines it; the rest only appears in reports.
 */
void o2_compare_terms(struct o2_comparison *comparison, const struct o2_plan_terms *asked,
		      const struct o2_reg_plan *expected, const struct o2_reg_plan *found);

#endif
