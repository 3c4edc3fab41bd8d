/* SPDX-License-Identifier: MIT */
/* The judge checks what both ends of a transfer's connection post (docs/judge.md, "The properties"). */
#include "props/world/rung_judge.h"
#include "tests/lib/judge_say.h"
#include "tests/lib/unit_test.h"

static const char names[O2_JUDGE_SIDES];

static struct o2_rung_judge *met(void)
{
	const struct o2_judge_terms terms = {
		.nid = {SAY_A, SAY_B},
		.stamp = {say_header(O2_JUDGE_A, O2_MSG_NOOP, 0).ibm_srcstamp,
			  say_header(O2_JUDGE_B, O2_MSG_NOOP, 0).ibm_srcstamp},
		.version = O2_MSG_VERSION_2,
		.queue_depth = SAY_DEPTH,
		.max_frags = SAY_FRAGS,
		.max_msg_bytes = {O2_MSG_BYTES, O2_MSG_BYTES},
	};
	const void *const conn[] = {&names[0], &names[1]};
	struct o2_rung_judge *judge = o2_rung_judge_new();

	assert_non_null(judge);
	assert_int_equal(o2_rung_judge_met(judge, conn, &terms), 0);
	return judge;
}

#define JUDGE_TEST(name) TEST_ON(name, struct o2_rung_judge, judge, met(), o2_rung_judge_free)

static void tell(struct o2_rung_judge *judge, enum o2_watched_kind kind, bool ours, enum o2_judge_side from,
		 const uint8_t *bytes, size_t length_bytes)
{
	const struct o2_watch *watch = o2_rung_judge_watch(judge);
	const struct o2_watched watched = {.kind = kind,
					   .ours = ours,
					   .conn = &names[from],
					   .bytes = bytes,
					   .length_bytes = length_bytes};

	watch->hear(watch->context, &watched);
}

static void post_noop(struct o2_rung_judge *judge, enum o2_judge_side from, bool ours, uint8_t credits)
{
	const struct o2_msg msg = say_header(from, O2_MSG_NOOP, credits);
	uint8_t bytes[O2_MSG_BYTES];
	const int length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), NULL);

	assert_true(length > 0);
	tell(judge, O2_WATCHED_MESSAGE, ours, from, bytes, (size_t)length);
}

JUDGE_TEST(credits_that_nobody_owes)
{
	struct o2_error error;

	/* Only the sender's post of a message is judged, not its arrival. */
	post_noop(judge, O2_JUDGE_A, false, SAY_DEPTH);
	assert_null(o2_rung_judge_broken(judge, &error));
	post_noop(judge, O2_JUDGE_A, true, SAY_DEPTH);
	assert_string_equal(o2_rung_judge_broken(judge, &error), "credits/over-owed");
	assert_int_equal(error.value, SAY_DEPTH);
	/* A finding is reported once. */
	assert_null(o2_rung_judge_broken(judge, &error));
}

JUDGE_TEST(bytes_and_writes)
{
	static const uint8_t bytes[64];
	struct o2_error error;

	tell(judge, O2_WATCHED_WRITE, true, O2_JUDGE_B, NULL, 100);
	assert_string_equal(o2_rung_judge_broken(judge, &error), "write/key");
	tell(judge, O2_WATCHED_MESSAGE, true, O2_JUDGE_B, bytes, sizeof(bytes));
	assert_string_equal(o2_rung_judge_broken(judge, &error), "message/wire");
}

JUDGE_TEST(a_connection_that_is_gone)
{
	struct o2_error error;

	tell(judge, O2_WATCHED_GONE, true, O2_JUDGE_B, NULL, 0);
	tell(judge, O2_WATCHED_GONE, true, O2_JUDGE_A, NULL, 0);
	post_noop(judge, O2_JUDGE_A, true, SAY_DEPTH);
	assert_null(o2_rung_judge_broken(judge, &error));
}

/* Tell of a message in this form, and expect the broken rule, or NULL. */
static void expect_form(struct o2_rung_judge *judge, enum o2_byte_order order, enum o2_cksum_flavour flavour,
			const char *rule)
{
	struct o2_msg msg = say_header(O2_JUDGE_A, O2_MSG_NOOP, 0);
	uint8_t bytes[O2_MSG_BYTES];
	const char *broken;
	struct o2_error error;
	int length;

	msg.order = order;
	msg.cksum_flavour = flavour;
	msg.ibm_srcnid |= 0xff; /* the two kinds of checksum differ */
	length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), NULL);
	assert_true(length > 0);
	tell(judge, O2_WATCHED_GONE, true, O2_JUDGE_A, NULL, 0); /* the judge itself need not take it */
	tell(judge, O2_WATCHED_MESSAGE, true, O2_JUDGE_A, bytes, (size_t)length);
	broken = o2_rung_judge_broken(judge, &error);
	if (rule == NULL)
		assert_null(broken);
	else
		assert_string_equal(broken, rule);
}

JUDGE_TEST(the_form_of_messages)
{
	struct o2_judged_form *form = o2_rung_judge_form(judge);

	expect_form(judge, O2_BIG_ENDIAN, O2_CKSUM_NONE, NULL);
	assert_int_equal(form->seen, 0);
	for (int i = 0; i < 2 * (O2_CKSUM_SIGNED + 1); i++) {
		*form = (struct o2_judged_form){true, (enum o2_byte_order)(i % 2),
						(enum o2_cksum_flavour)(i / 2), 0};
		for (int other = 0; other < 2 * (O2_CKSUM_SIGNED + 1); other++)
			expect_form(judge, (enum o2_byte_order)(other % 2),
				    (enum o2_cksum_flavour)(other / 2),
				    i % 2 != other % 2 ? "scenario/byte-order"
				    : i != other       ? "scenario/checksum"
						       : NULL);
		assert_int_equal(form->seen, 1);
	}
}
