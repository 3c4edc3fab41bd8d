/* SPDX-License-Identifier: MIT */
/*
 * The oracle's comparer, on deliberately changed answers of the reference: for every check a change makes it
 * fail, and changes that only split lists differently fail no check of severity must.
 */
#include "oracle/flavour.h"
#include "tests/unit/oracle/world.h"
#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/layout.h"

/* --- refusals --- */

static bool admit(void)
{
	if (w->found.kind != O2_ANSWER_REFUSED)
		return false;
	memset(&w->found, 0, sizeof(w->found));
	w->found.conduct.check = O2_CHECKS;
	w->found.kind = O2_ANSWER_RESULT;
	return true;
}

static bool refuse(void)
{
	if (!IS_RESULT)
		return false;
	w->found.kind = O2_ANSWER_REFUSED;
	w->found.refusal = (struct o2_answer_refusal){.error = 22, .index = O2_NO_INDEX};
	return true;
}

/* Each rule that a drawn case breaks is reported by the check of its name when the case is admitted. */
TEST_WITH(test_what_must_be_refused, set_up, tear_down)
{
	static bool seen[O2_CHECKS];
	uint32_t rules = 0;

	for (uint32_t stage = 0; stage < O2_STAGES; stage++) {
		for (uint64_t index = 0; index < CASES; index++) {
			enum o2_check_id rule;

			if (!draw((enum o2_stage)stage, index) || !admit())
				continue;
			rule = o2_check_find(w->expected.refusal.name);
			if (rule == O2_CHECKS)
				fail_msg("%s is no check", w->expected.refusal.name);
			o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
			if (has(O2_CHECK_RDMA_IMPOSSIBLE))
				continue;
			assert_true(has(rule));
			rules += !seen[rule];
			seen[rule] = true;
		}
	}
	assert_true(rules > 85);
}

TEST_WITH(test_what_must_not_be_refused, set_up, tear_down)
{
	expect(O2_STAGE_RDMA_PLAN, O2_CHECK_RDMA_REFUSED_LEGAL, refuse);
	expect(O2_STAGE_TRANSFER, O2_CHECK_TRANSFER_REFUSED_LEGAL, refuse);
	for (uint32_t stage = 0; stage < O2_STAGES; stage++) {
		for (uint64_t index = 0; index < CASES / 10; index++) {
			if (!draw((enum o2_stage)stage, index) || !refuse())
				continue;
			o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
			assert_int_equal(w->comparison.count, 1);
			if (!has(O2_CHECK_RDMA_IMPOSSIBLE))
				assert_non_null(
					strstr(o2_check_name(w->comparison.item[0].check), "refused-legal"));
		}
	}
}

/* A sink that no decoder accepts, refused with a decoder's errno: one check fails, and none under kernel. */
TEST_WITH(test_an_impossible_sink, set_up, tear_down)
{
	uint32_t refused = 0;

	for (uint64_t index = 0; index < CASES; index++) {
		const struct o2_rdma_input *rdma = &w->asked.rdma;
		bool empty = false, source_is_empty = false;

		if (!draw(O2_STAGE_RDMA_PLAN, index) || !refuse())
			continue;
		for (uint32_t i = 0; i < rdma->sink.rd_nfrags; i++)
			empty |= rdma->sink.rd_frags[i].rf_nob == 0;
		for (uint32_t i = 0; i < rdma->source.rd_nfrags; i++)
			source_is_empty |= rdma->source.rd_frags[i].rf_nob == 0;
		if (!empty || source_is_empty)
			continue;
		w->comparison.profile = O2_PROFILE_STRICT;
		w->found.refusal.error = EPROTO;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		assert_true(has(O2_CHECK_RDMA_IMPOSSIBLE));
		assert_int_equal(w->comparison.count, 1);
		refused++;
		w->comparison.profile = O2_PROFILE_KERNEL;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		assert_int_equal(w->comparison.count, 0);
		assert_int_equal(w->comparison.accepted, 1);
		assert_int_equal(w->comparison.accepted_check[0], O2_CHECK_RDMA_IMPOSSIBLE);
		w->found.conduct.check = O2_CHECK_RUN_STDOUT;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		assert_true(w->comparison.count == 1 && has(O2_CHECK_RUN_STDOUT));
		w->found.conduct.check = O2_CHECKS;
		o2_answer_break(&w->found, O2_CHECK_RUN_HANG, "no answer within 1000 ms");
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		assert_true(has(O2_CHECK_RUN_HANG));
	}
	assert_true(refused > 100);
}

/* With a source that no caller makes, all differences fail one check, which is off under kernel. */
TEST_WITH(test_an_impossible_source, set_up, tear_down)
{
	uint32_t impossible = 0, others = 0;

	for (uint64_t index = 0; index < CASES; index++) {
		const struct o2_rdma_desc *source = &w->asked.rdma.source;
		bool empty = false;

		if (!draw(O2_STAGE_RDMA_PLAN, index) || !(refuse() || admit()))
			continue;
		for (uint32_t i = 0; i < source->rd_nfrags; i++)
			empty |= source->rd_frags[i].rf_nob == 0;
		w->comparison.profile = O2_PROFILE_STRICT;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		assert_true(w->comparison.count > 0);
		if (empty)
			assert_true(has(O2_CHECK_RDMA_IMPOSSIBLE));
		impossible += has(O2_CHECK_RDMA_IMPOSSIBLE);
		others += !has(O2_CHECK_RDMA_IMPOSSIBLE);
		if (!has(O2_CHECK_RDMA_IMPOSSIBLE))
			continue;
		assert_int_equal(w->comparison.count, 1);
		w->comparison.profile = O2_PROFILE_KERNEL;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		assert_int_equal(w->comparison.count, 0);
	}
	assert_true(impossible > 100 && others > 1000);
}

#define WORDS(name, condition, action)                                  \
	static bool name(void)                                          \
	{                                                               \
		struct o2_answer_refusal *r = &w->found.refusal;        \
		if (w->found.kind != O2_ANSWER_REFUSED || !(condition)) \
			return false;                                   \
		action;                                                 \
		return true;                                            \
	}

WORDS(other_errno, true, r->error = 1)
WORDS(other_rule, strcmp(r->name, "wire/header/magic") != 0,
      snprintf(r->name, sizeof(r->name), "wire/header/magic"))
WORDS(other_index, r->index != O2_NO_INDEX, r->index++)
WORDS(other_cost, true, r->cost = r->cost == O2_COST_MESSAGE ? O2_COST_CONNECTION : O2_COST_MESSAGE)
WORDS(other_where, true, r->where = r->where == O2_WHERE_SOURCE ? O2_WHERE_SINK : O2_WHERE_SOURCE)
WORDS(own_name, true, snprintf(r->name, sizeof(r->name), "EverythingIsWrong"))
WORDS(no_words, true, r->name[0] = '\0'; r->cost = O2_COST_NOT_SAID; r->where = O2_WHERE_NOT_SAID)

TEST_WITH(test_words_of_refusals, set_up, tear_down)
{
	static const struct {
		enum o2_stage stage;
		enum o2_check_id error, rule, index;
	} checks[] = {
		{O2_STAGE_MSG_DECODE, O2_CHECK_WIRE_ERRNO, O2_CHECK_WIRE_RULE, O2_CHECK_WIRE_INDEX},
		{O2_STAGE_MSG_ENCODE, O2_CHECK_WIRE_ERRNO, O2_CHECK_WIRE_RULE, O2_CHECK_WIRE_INDEX},
		{O2_STAGE_SG_BUILD, O2_CHECK_SG_ERRNO, O2_CHECK_SG_RULE, O2_CHECK_SG_INDEX},
		{O2_STAGE_DMA_MAP, O2_CHECK_DMA_ERRNO, O2_CHECK_DMA_RULE, O2_CHECK_DMA_INDEX},
		{O2_STAGE_REG_PLAN, O2_CHECK_REG_ERRNO, O2_CHECK_REG_RULE, O2_CHECK_REG_INDEX},
		{O2_STAGE_RDMA_PLAN, O2_CHECK_RDMA_ERRNO, O2_CHECK_RDMA_RULE, O2_CHECKS},
		{O2_STAGE_TRANSFER, O2_CHECK_TRANSFER_ERRNO, O2_CHECK_TRANSFER_RULE, O2_CHECKS},
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		expect(checks[i].stage, checks[i].error, other_errno);
		expect(checks[i].stage, checks[i].rule, other_rule);
		if (checks[i].index != O2_CHECKS)
			expect(checks[i].stage, checks[i].index, other_index);
	}
	expect(O2_STAGE_MSG_DECODE, O2_CHECK_WIRE_COST, other_cost);
	expect(O2_STAGE_TRANSFER, O2_CHECK_TRANSFER_WHERE, other_where);
	expect_equal(O2_STAGE_SG_BUILD, "a name that nobody knows", own_name);
	expect_equal(O2_STAGE_MSG_DECODE, "no words", no_words);
	expect_equal(O2_STAGE_TRANSFER, "no words", no_words);
}

/* --- messages --- */

#define STAGE	O2_STAGE_MSG_DECODE
#define MSG	(w->found.msg_decode.msg)
#define TYPE(t) (MSG.ibm_type == O2_MSG_##t)

CHANGE(msg_order, WIRE_DECODE_BYTE_ORDER, true,
       MSG.order = MSG.order == O2_BIG_ENDIAN ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN)
CHANGE(msg_version, WIRE_DECODE_VERSION, true, MSG.ibm_version ^= 3)
CHANGE(msg_type, WIRE_DECODE_TYPE, true, MSG.ibm_type ^= 1)
CHANGE(msg_credits, WIRE_DECODE_CREDITS, true, MSG.ibm_credits++)
CHANGE(msg_nob, WIRE_DECODE_NOB, true, MSG.ibm_nob++)
CHANGE(msg_flavour, WIRE_DECODE_CKSUM_FLAVOUR, true, MSG.cksum_flavour ^= 1)
CHANGE(msg_srcnid, WIRE_DECODE_SRCNID, true, MSG.ibm_srcnid++)
CHANGE(msg_srcstamp, WIRE_DECODE_SRCSTAMP, true, MSG.ibm_srcstamp++)
CHANGE(msg_dstnid, WIRE_DECODE_DSTNID, true, MSG.ibm_dstnid++)
CHANGE(msg_dststamp, WIRE_DECODE_DSTSTAMP, true, MSG.ibm_dststamp++)
CHANGE(msg_depth, WIRE_DECODE_CONNPARAMS, TYPE(CONNREQ), MSG.u.connparams.ibcp_queue_depth++)
CHANGE(msg_frags, WIRE_DECODE_CONNPARAMS, TYPE(CONNACK), MSG.u.connparams.ibcp_max_frags++)
CHANGE(msg_size, WIRE_DECODE_CONNPARAMS, TYPE(CONNACK), MSG.u.connparams.ibcp_max_msg_size++)
CHANGE(msg_lnet_nid, WIRE_DECODE_LNET_HDR, TYPE(PUT_REQ), MSG.u.putreq.hdr.dest_nid++)
CHANGE(msg_lnet_top, WIRE_LNET_NID_FOLDED, TYPE(PUT_REQ), MSG.u.putreq.hdr.src_nid ^= UINT64_C(1) << 60)
CHANGE(msg_lnet_bits, WIRE_DECODE_LNET_HDR, TYPE(GET_REQ), MSG.u.get.hdr.msg.get.match_bits++)
CHANGE(msg_lnet_put, WIRE_DECODE_LNET_HDR, TYPE(IMMEDIATE) && MSG.u.immediate.hdr.type == O2_LNET_PUT,
       MSG.u.immediate.hdr.msg.put.hdr_data++)
CHANGE(msg_lnet_ack, WIRE_DECODE_LNET_HDR, TYPE(IMMEDIATE) && MSG.u.immediate.hdr.type == O2_LNET_ACK,
       MSG.u.immediate.hdr.msg.ack.mlength++)
CHANGE(msg_lnet_reply, WIRE_DECODE_LNET_HDR, TYPE(IMMEDIATE) && MSG.u.immediate.hdr.type == O2_LNET_REPLY,
       MSG.u.immediate.hdr.msg.reply.dst_wmd.wh_object_cookie++)
CHANGE(msg_cookie_req, WIRE_DECODE_COOKIE, TYPE(PUT_REQ), MSG.u.putreq.ibprm_cookie++)
CHANGE(msg_cookie_ack, WIRE_DECODE_COOKIE, TYPE(PUT_ACK), MSG.u.putack.ibpam_dst_cookie++)
CHANGE(msg_cookie_get, WIRE_DECODE_COOKIE, TYPE(GET_REQ), MSG.u.get.ibgm_cookie++)
CHANGE(msg_cookie_done, WIRE_DECODE_COOKIE, TYPE(GET_DONE), MSG.u.completion.ibcm_cookie++)
CHANGE(msg_status, WIRE_DECODE_STATUS, TYPE(PUT_DONE), MSG.u.completion.ibcm_status++)
CHANGE(msg_key, WIRE_DECODE_RD_KEY, TYPE(PUT_ACK), MSG.u.putack.ibpam_rd.rd_key++)
CHANGE(msg_nfrags, WIRE_DECODE_RD_NFRAGS, TYPE(GET_REQ), MSG.u.get.ibgm_rd.rd_nfrags--)
CHANGE(msg_rf_nob, WIRE_DECODE_RF_NOB, TYPE(PUT_ACK), MSG.u.putack.ibpam_rd.rd_frags[0].rf_nob++)
CHANGE(msg_rf_addr, WIRE_DECODE_RF_ADDR, TYPE(GET_REQ),
       MSG.u.get.ibgm_rd.rd_frags[MSG.u.get.ibgm_rd.rd_nfrags - 1].rf_addr++)
CHANGE(msg_payload, WIRE_DECODE_PAYLOAD, TYPE(IMMEDIATE) && MSG.u.immediate.hdr.payload_length > 0,
       w->found.msg_decode.payload[MSG.u.immediate.hdr.payload_length - 1]++)

#undef STAGE
#define STAGE	O2_STAGE_MSG_ENCODE
#define BYTES	(w->found.msg_encode.bytes)
#define ASKED	(w->asked.msg_encode.msg)
#define IS(t)	(ASKED.ibm_type == O2_MSG_##t)
#define HAS_SUM (ASKED.cksum_flavour != O2_CKSUM_NONE)

static void put_sum(enum o2_cksum_flavour flavour)
{
	o2_store32(BYTES + O2_AT_CKSUM, ASKED.order,
		   o2_checksum_of(o2_msg_checksum_both(BYTES, w->found.msg_encode.length_bytes), flavour));
}

CHANGE(enc_length, WIRE_ENCODE_LENGTH, true, w->found.msg_encode.length_bytes--)
CHANGE(enc_nob, WIRE_ENCODE_LENGTH, true, BYTES[8]++)
CHANGE(enc_header, WIRE_ENCODE_HEADER, true, BYTES[20]++)
CHANGE(enc_checksum, WIRE_ENCODE_CHECKSUM, HAS_SUM, BYTES[12]++)
CHANGE(enc_flavour, WIRE_CHECKSUM_ONE_FLAVOUR, ASKED.cksum_flavour == O2_CKSUM_UNSIGNED,
       put_sum(O2_CKSUM_SIGNED))
CHANGE(enc_lnet_top, WIRE_LNET_NID_FOLDED, IS(GET_REQ), BYTES[O2_AT_LNET_HDR + 7]++)
CHANGE(enc_connparams, WIRE_ENCODE_CONNPARAMS, IS(CONNREQ), BYTES[48]++)
CHANGE(enc_lnet, WIRE_ENCODE_LNET_HDR, IS(PUT_REQ), BYTES[60]++)
CHANGE(enc_unused, WIRE_ENCODE_UNUSED_BYTES, IS(IMMEDIATE) && ASKED.u.immediate.hdr.type == O2_LNET_REPLY,
       BYTES[119]++)
CHANGE(enc_cookie_req, WIRE_ENCODE_COOKIE, IS(PUT_REQ), BYTES[127]++)
CHANGE(enc_cookie_get, WIRE_ENCODE_COOKIE, IS(GET_REQ), BYTES[120]++)
CHANGE(enc_cookie_ack, WIRE_ENCODE_COOKIE, IS(PUT_ACK), BYTES[63]++)
CHANGE(enc_cookie_done, WIRE_ENCODE_COOKIE, IS(PUT_DONE), BYTES[55]++)
CHANGE(enc_status, WIRE_ENCODE_STATUS, IS(GET_DONE), BYTES[56]++)
CHANGE(enc_desc_get, WIRE_ENCODE_DESCRIPTOR, IS(GET_REQ), BYTES[128]++)
CHANGE(enc_desc_ack, WIRE_ENCODE_DESCRIPTOR, IS(PUT_ACK), BYTES[64]++)
CHANGE(enc_payload, WIRE_ENCODE_PAYLOAD, IS(IMMEDIATE) && ASKED.u.immediate.hdr.payload_length > 0,
       BYTES[120]++)

/*
 * Under profile kernel an answer may admit what public kernel trees admit, but not what they refuse, and
 * words have severity `should`; bytes are judged as under profile strict.
 */
TEST_WITH(test_the_kernel_profile, set_up, tear_down)
{
	uint32_t admitted = 0, failed = 0, words = 0, bytes = 0;

	w->comparison.profile = O2_PROFILE_KERNEL;
	for (uint64_t index = 0; index < CASES; index++) {
		enum o2_check_id rule;

		if (!draw(O2_STAGE_MSG_DECODE, index))
			continue;
		if (IS_RESULT) {
			MSG.ibm_srcstamp++;
			o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
			assert_true(has(O2_CHECK_WIRE_DECODE_SRCSTAMP));
			bytes++;
			continue;
		}
		rule = o2_check_find(w->expected.refusal.name);
		w->found.refusal.error = 1;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		for (uint32_t i = 0; i < w->comparison.count; i++, words++)
			assert_int_equal(o2_check_severity(w->comparison.item[i].check, O2_PROFILE_KERNEL),
					 O2_CHECK_SHOULD);
		admit();
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		if (o2_check_severity(rule, O2_PROFILE_KERNEL) == O2_CHECK_OFF) {
			assert_int_equal(w->comparison.count, 0);
			admitted++;
		} else {
			assert_true(has(rule));
			failed++;
		}
	}
	assert_true(admitted > 100 && failed > 100 && words > 100 && bytes > 100);
}

/* What a trusted caller never hands over may crash; what comes from a peer may not, and nothing may hang. */
TEST_WITH(test_the_kernel_profile_and_crashes, set_up, tear_down)
{
	static const struct {
		enum o2_stage stage;
		bool from_peer;
	} stages[] = {{O2_STAGE_MSG_DECODE, true},
		      {O2_STAGE_CONNECT, true},
		      {O2_STAGE_DELIVER, true},
		      {O2_STAGE_SG_BUILD, false}};

	w->comparison.profile = O2_PROFILE_KERNEL;
	for (uint32_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		uint32_t judged = 0;

		for (uint64_t index = 0; index < CASES; index++) {
			enum o2_check_id rule;

			if (!draw(stages[i].stage, index) || w->expected.kind != O2_ANSWER_REFUSED)
				continue;
			rule = o2_check_find(w->expected.refusal.name);
			if (rule == O2_CHECKS || o2_check_severity(rule, O2_PROFILE_KERNEL) != O2_CHECK_OFF)
				continue;
			o2_answer_break(&w->found, O2_CHECK_RUN_CRASH, "it was ended by SIGABRT");
			o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
			assert_int_equal(has(O2_CHECK_RUN_CRASH), stages[i].from_peer);
			o2_answer_break(&w->found, O2_CHECK_RUN_HANG, "no answer within 1000 ms");
			o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
			assert_true(has(O2_CHECK_RUN_HANG));
			judged++;
		}
		assert_true(judged > 5);
	}
}

/* The checksum is compared even if other bytes are wrong: it must match them, and is shown as a word. */
TEST_WITH(test_a_checksum_is_of_the_bytes_that_were_written, set_up, tear_down)
{
	uint32_t right = 0, wrong = 0;

	for (uint64_t index = 0; index < CASES && (right < 20 || wrong < 20); index++) {
		if (!draw(O2_STAGE_MSG_ENCODE, index) || !IS_RESULT || !HAS_SUM)
			continue;
		BYTES[O2_AT_SRCSTAMP]++;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		assert_true(has(O2_CHECK_WIRE_ENCODE_HEADER) && has(O2_CHECK_WIRE_ENCODE_CHECKSUM));
		assert_string_equal(w->comparison.item[w->comparison.count - 1].field, "ibm_cksum");
		wrong++;
		put_sum(ASKED.cksum_flavour);
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		assert_true(has(O2_CHECK_WIRE_ENCODE_HEADER) && !has(O2_CHECK_WIRE_ENCODE_CHECKSUM));
		right++;
	}
	assert_true(right >= 20 && wrong >= 20);
}

/* Refuses each valid message: only if it has the flavour that is not taken does this explain the refusal. */
static void refuse_all(enum o2_profile profile, enum o2_cksum_flavour taken)
{
	uint32_t passed = 0, failed = 0;

	w->comparison.profile = profile;
	w->comparison.flavour = taken;
	for (uint64_t index = 0; index < CASES; index++) {
		enum o2_cksum_flavour flavour;
		bool explained;

		if (!draw(O2_STAGE_MSG_DECODE, index) || !IS_RESULT)
			continue;
		flavour = MSG.cksum_flavour;
		refuse();
		w->found.refusal.error = 71; /* EPROTO */
		explained = flavour != O2_CKSUM_NONE && flavour != taken && taken != O2_CKSUM_NONE;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		assert_int_equal(w->comparison.count, explained && profile == O2_PROFILE_KERNEL ? 0 : 1);
		assert_int_equal(has(O2_CHECK_WIRE_CHECKSUM_ONE_FLAVOUR),
				 explained && profile == O2_PROFILE_STRICT);
		passed += explained;
		failed += !explained;
	}
	assert_true((passed > 100 || taken == O2_CKSUM_NONE) && failed > 100);
}

TEST_WITH(test_flavours, set_up, tear_down)
{
	for (uint32_t profile = 0; profile < O2_PROFILES; profile++) {
		refuse_all((enum o2_profile)profile, O2_CKSUM_UNSIGNED);
		refuse_all((enum o2_profile)profile, O2_CKSUM_SIGNED);
		refuse_all((enum o2_profile)profile, O2_CKSUM_NONE);
	}
}

/* A refusal with the right errno is right, even if the flavour would be a reason as well. */
TEST_WITH(test_the_flavour_is_no_cause_of_the_same_errno, set_up, tear_down)
{
	uint32_t explained = 0;

	for (uint64_t index = 0; index < CASES; index++) {
		if (!draw(O2_STAGE_MSG_DECODE, index) || IS_RESULT)
			continue;
		w->found.refusal.name[0] = '\0';
		for (uint32_t taken = O2_CKSUM_UNSIGNED; taken <= O2_CKSUM_SIGNED; taken++) {
			w->comparison.flavour = (enum o2_cksum_flavour)taken;
			o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
			assert_int_equal(w->comparison.count, 0);
			explained += o2_flavour_explains(&w->comparison, &w->asked, &w->found.refusal);
		}
	}
	assert_true(explained > 20);
}

/* The two questions differ only in the checksum, and their answers show which flavour is accepted. */
TEST_WITH(test_the_question_of_a_flavour, set_up, tear_down)
{
	static const enum o2_cksum_flavour flavours[] = {O2_CKSUM_UNSIGNED, O2_CKSUM_SIGNED};

	for (uint32_t i = 0; i < 2; i++) {
		o2_flavour_question(O2_STAGE_MSG_DECODE, flavours[i], &w->asked);
		o2_answer_of_reference(&w->asked, &w->expected);
		assert_int_equal(w->expected.kind, O2_ANSWER_RESULT);
		assert_int_equal(w->expected.msg_decode.msg.cksum_flavour, flavours[i]);
	}
	for (uint32_t i = 0; i < 2 * O2_FLAVOUR_STAGES; i++) {
		o2_flavour_question(o2_flavour_stages[i / 2], flavours[i % 2], &w->asked);
		assert_int_equal(w->asked.stage, o2_flavour_stages[i / 2]);
		assert_true(o2_flavour_matters(&w->asked));
		o2_answer_of_reference(&w->asked, &w->expected);
		assert_int_equal(w->expected.kind, O2_ANSWER_RESULT);
	}
	assert_int_equal(o2_flavour_of(true, false), O2_CKSUM_UNSIGNED);
	assert_int_equal(o2_flavour_of(false, true), O2_CKSUM_SIGNED);
	assert_int_equal(o2_flavour_of(true, true), O2_CKSUM_NONE);
	assert_int_equal(o2_flavour_of(false, false), O2_CKSUM_NONE);
}
