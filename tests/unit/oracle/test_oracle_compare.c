/* SPDX-License-Identifier: MIT */
/*
 * The comparer of the oracle, on answers of the reference that are changed on purpose: every check has a
 * change that makes it fail, and changes that only cut lists differently fail none of severity must.
 */
#include "tests/impl/reference/world.h"

/* --- refusals ----------------------------------------------------------------------------------------------
 */

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

/* Every rule that a drawn case breaks is the check that fails when it is admitted. */
static void test_what_must_be_refused(void **state)
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
			assert_true(has(rule));
			rules += !seen[rule];
			seen[rule] = true;
		}
	}
	assert_true(rules > 85);
}

static void test_what_must_not_be_refused(void **state)
{
	expect(O2_STAGE_RDMA_PLAN, O2_CHECK_RDMA_REFUSED_LEGAL, refuse);
	expect(O2_STAGE_TRANSFER, O2_CHECK_TRANSFER_REFUSED_LEGAL, refuse);
	for (uint32_t stage = 0; stage < O2_STAGES; stage++) {
		for (uint64_t index = 0; index < CASES / 10; index++) {
			if (!draw((enum o2_stage)stage, index) || !refuse())
				continue;
			o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
			assert_int_equal(w->comparison.count, 1);
			assert_non_null(strstr(o2_check_name(w->comparison.item[0].check), "refused-legal"));
		}
	}
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

static void test_words_of_refusals(void **state)
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

/* --- messages ----------------------------------------------------------------------------------------------
 */

#define MSG	(w->found.msg_decode.msg)
#define TYPE(t) (MSG.ibm_type == O2_MSG_##t)

CHANGE(msg_order, true, MSG.order = MSG.order == O2_BIG_ENDIAN ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN)
CHANGE(msg_version, true, MSG.ibm_version ^= 3)
CHANGE(msg_type, true, MSG.ibm_type ^= 1)
CHANGE(msg_credits, true, MSG.ibm_credits++)
CHANGE(msg_nob, true, MSG.ibm_nob++)
CHANGE(msg_flavour, true, MSG.cksum_flavour ^= 1)
CHANGE(msg_srcnid, true, MSG.ibm_srcnid++)
CHANGE(msg_srcstamp, true, MSG.ibm_srcstamp++)
CHANGE(msg_dstnid, true, MSG.ibm_dstnid++)
CHANGE(msg_dststamp, true, MSG.ibm_dststamp++)
CHANGE(msg_depth, TYPE(CONNREQ), MSG.u.connparams.ibcp_queue_depth++)
CHANGE(msg_frags, TYPE(CONNACK), MSG.u.connparams.ibcp_max_frags++)
CHANGE(msg_size, TYPE(CONNACK), MSG.u.connparams.ibcp_max_msg_size++)
CHANGE(msg_lnet_nid, TYPE(PUT_REQ), MSG.u.putreq.hdr.dest_nid++)
CHANGE(msg_lnet_bits, TYPE(GET_REQ), MSG.u.get.hdr.msg.get.match_bits++)
CHANGE(msg_lnet_put, TYPE(IMMEDIATE) && MSG.u.immediate.hdr.type == O2_LNET_PUT,
       MSG.u.immediate.hdr.msg.put.hdr_data++)
CHANGE(msg_lnet_ack, TYPE(IMMEDIATE) && MSG.u.immediate.hdr.type == O2_LNET_ACK,
       MSG.u.immediate.hdr.msg.ack.mlength++)
CHANGE(msg_lnet_reply, TYPE(IMMEDIATE) && MSG.u.immediate.hdr.type == O2_LNET_REPLY,
       MSG.u.immediate.hdr.msg.reply.dst_wmd.wh_object_cookie++)
CHANGE(msg_cookie_req, TYPE(PUT_REQ), MSG.u.putreq.ibprm_cookie++)
CHANGE(msg_cookie_ack, TYPE(PUT_ACK), MSG.u.putack.ibpam_dst_cookie++)
CHANGE(msg_cookie_get, TYPE(GET_REQ), MSG.u.get.ibgm_cookie++)
CHANGE(msg_cookie_done, TYPE(GET_DONE), MSG.u.completion.ibcm_cookie++)
CHANGE(msg_status, TYPE(PUT_DONE), MSG.u.completion.ibcm_status++)
CHANGE(msg_key, TYPE(PUT_ACK), MSG.u.putack.ibpam_rd.rd_key++)
CHANGE(msg_nfrags, TYPE(GET_REQ), MSG.u.get.ibgm_rd.rd_nfrags--)
CHANGE(msg_rf_nob, TYPE(PUT_ACK), MSG.u.putack.ibpam_rd.rd_frags[0].rf_nob++)
CHANGE(msg_rf_addr, TYPE(GET_REQ), MSG.u.get.ibgm_rd.rd_frags[MSG.u.get.ibgm_rd.rd_nfrags - 1].rf_addr++)
CHANGE(msg_payload, TYPE(IMMEDIATE) && MSG.u.immediate.hdr.payload_length > 0,
       w->found.msg_decode.payload[MSG.u.immediate.hdr.payload_length - 1]++)

static void test_decoded_messages(void **state)
{
	static const struct {
		enum o2_check_id check;
		change_fn change;
	} rows[] = {
		{O2_CHECK_WIRE_DECODE_BYTE_ORDER, msg_order},
		{O2_CHECK_WIRE_DECODE_VERSION, msg_version},
		{O2_CHECK_WIRE_DECODE_TYPE, msg_type},
		{O2_CHECK_WIRE_DECODE_CREDITS, msg_credits},
		{O2_CHECK_WIRE_DECODE_NOB, msg_nob},
		{O2_CHECK_WIRE_DECODE_CKSUM_FLAVOUR, msg_flavour},
		{O2_CHECK_WIRE_DECODE_SRCNID, msg_srcnid},
		{O2_CHECK_WIRE_DECODE_SRCSTAMP, msg_srcstamp},
		{O2_CHECK_WIRE_DECODE_DSTNID, msg_dstnid},
		{O2_CHECK_WIRE_DECODE_DSTSTAMP, msg_dststamp},
		{O2_CHECK_WIRE_DECODE_CONNPARAMS, msg_depth},
		{O2_CHECK_WIRE_DECODE_CONNPARAMS, msg_frags},
		{O2_CHECK_WIRE_DECODE_CONNPARAMS, msg_size},
		{O2_CHECK_WIRE_DECODE_LNET_HDR, msg_lnet_nid},
		{O2_CHECK_WIRE_DECODE_LNET_HDR, msg_lnet_bits},
		{O2_CHECK_WIRE_DECODE_LNET_HDR, msg_lnet_put},
		{O2_CHECK_WIRE_DECODE_LNET_HDR, msg_lnet_ack},
		{O2_CHECK_WIRE_DECODE_LNET_HDR, msg_lnet_reply},
		{O2_CHECK_WIRE_DECODE_COOKIE, msg_cookie_req},
		{O2_CHECK_WIRE_DECODE_COOKIE, msg_cookie_ack},
		{O2_CHECK_WIRE_DECODE_COOKIE, msg_cookie_get},
		{O2_CHECK_WIRE_DECODE_COOKIE, msg_cookie_done},
		{O2_CHECK_WIRE_DECODE_STATUS, msg_status},
		{O2_CHECK_WIRE_DECODE_RD_KEY, msg_key},
		{O2_CHECK_WIRE_DECODE_RD_NFRAGS, msg_nfrags},
		{O2_CHECK_WIRE_DECODE_RF_NOB, msg_rf_nob},
		{O2_CHECK_WIRE_DECODE_RF_ADDR, msg_rf_addr},
		{O2_CHECK_WIRE_DECODE_PAYLOAD, msg_payload},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(O2_STAGE_MSG_DECODE, rows[i].check, rows[i].change);
}

#define BYTES	(w->found.msg_encode.bytes)
#define ASKED	(w->asked.msg_encode.msg)
#define IS(t)	(ASKED.ibm_type == O2_MSG_##t)
#define HAS_SUM (ASKED.cksum_flavour != O2_CKSUM_NONE)

CHANGE(enc_length, true, w->found.msg_encode.length_bytes--)
CHANGE(enc_nob, true, BYTES[8]++)
CHANGE(enc_header, true, BYTES[20]++)
CHANGE(enc_checksum, HAS_SUM, BYTES[12]++)
CHANGE(enc_connparams, IS(CONNREQ), BYTES[48]++)
CHANGE(enc_lnet, IS(PUT_REQ), BYTES[60]++)
CHANGE(enc_unused, IS(IMMEDIATE) && ASKED.u.immediate.hdr.type == O2_LNET_REPLY, BYTES[119]++)
CHANGE(enc_cookie_req, IS(PUT_REQ), BYTES[127]++)
CHANGE(enc_cookie_get, IS(GET_REQ), BYTES[120]++)
CHANGE(enc_cookie_ack, IS(PUT_ACK), BYTES[63]++)
CHANGE(enc_cookie_done, IS(PUT_DONE), BYTES[55]++)
CHANGE(enc_status, IS(GET_DONE), BYTES[56]++)
CHANGE(enc_desc_get, IS(GET_REQ), BYTES[128]++)
CHANGE(enc_desc_ack, IS(PUT_ACK), BYTES[64]++)
CHANGE(enc_payload, IS(IMMEDIATE) && ASKED.u.immediate.hdr.payload_length > 0, BYTES[120]++)

static void test_encoded_messages(void **state)
{
	static const struct {
		enum o2_check_id check;
		change_fn change;
	} rows[] = {
		{O2_CHECK_WIRE_ENCODE_LENGTH, enc_length},
		{O2_CHECK_WIRE_ENCODE_LENGTH, enc_nob},
		{O2_CHECK_WIRE_ENCODE_HEADER, enc_header},
		{O2_CHECK_WIRE_ENCODE_CHECKSUM, enc_checksum},
		{O2_CHECK_WIRE_ENCODE_CONNPARAMS, enc_connparams},
		{O2_CHECK_WIRE_ENCODE_LNET_HDR, enc_lnet},
		{O2_CHECK_WIRE_ENCODE_UNUSED_BYTES, enc_unused},
		{O2_CHECK_WIRE_ENCODE_COOKIE, enc_cookie_req},
		{O2_CHECK_WIRE_ENCODE_COOKIE, enc_cookie_get},
		{O2_CHECK_WIRE_ENCODE_COOKIE, enc_cookie_ack},
		{O2_CHECK_WIRE_ENCODE_COOKIE, enc_cookie_done},
		{O2_CHECK_WIRE_ENCODE_STATUS, enc_status},
		{O2_CHECK_WIRE_ENCODE_DESCRIPTOR, enc_desc_get},
		{O2_CHECK_WIRE_ENCODE_DESCRIPTOR, enc_desc_ack},
		{O2_CHECK_WIRE_ENCODE_PAYLOAD, enc_payload},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(O2_STAGE_MSG_ENCODE, rows[i].check, rows[i].change);
}

/*
 * Under profile kernel what public trees admit may be admitted, what they refuse may not, and words are a
 * matter of `should`; what happens to bytes is held as under profile strict.
 */
static void test_the_kernel_profile(void **state)
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

/* A message that only passes by the other flavour, or by tolerance, may be refused there. */
static void test_flavours_in_the_kernel_profile(void **state)
{
	uint32_t passed = 0, failed = 0;

	w->comparison.profile = O2_PROFILE_KERNEL;
	for (uint64_t index = 0; index < CASES; index++) {
		enum o2_cksum_flavour flavour;

		if (!draw(O2_STAGE_MSG_DECODE, index) || !IS_RESULT)
			continue;
		flavour = MSG.cksum_flavour;
		refuse();
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		if (flavour == O2_CKSUM_SIGNED || flavour == O2_CKSUM_UNVERIFIED) {
			assert_int_equal(w->comparison.count, 0);
			passed++;
		} else {
			assert_int_equal(w->comparison.count, 1);
			failed++;
		}
	}
	assert_true(passed > 100 && failed > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_must_be_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_must_not_be_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_words_of_refusals, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_decoded_messages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_encoded_messages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_kernel_profile, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_flavours_in_the_kernel_profile, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
