/* SPDX-License-Identifier: MIT */
#include "tests/unit/lnd/lnd_talks.h"

#include "wire/layout.h"

/* Conversations about answers that no operation waits for, and about messages with another incarnation's stamp
 * (docs/transport.md, "Errors"). */

/* A pair whose side a has started a PUT or a GET that side b does not answer. */
static struct pair *pair_with_open(enum o2_transfer_op op, uint64_t *cookie)
{
	struct pair *pair = pair_default();
	struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_FASTREG);

	pair->b.answer = talk_memory(1, 9000, O2_REG_FASTREG);
	start_op(pair->a.conn, op, &memory, cookie);
	deliver(&pair->a, NULL, 0);
	return pair;
}

static void hear_status(enum o2_transfer_op op, enum o2_msg_type type, int32_t status, const char *rule)
{
	uint64_t cookie;
	struct pair *pair = pair_with_open(op, &cookie);

	send_completion(&pair->b, type, cookie, status);
	deliver(&pair->a, NULL, 0);
	assert_refused(&pair->a, rule);
	assert_int_equal(pair->a.nresults, 1);
	assert_int_equal(pair->a.result[0].status,
			 strcmp(rule, "conn/unknown-cookie") == 0 ? -ECONNABORTED : -EPROTO);
	pair_close(pair);
}

TEST(hears_a_nak_of_success)
{
	hear_status(O2_OP_PUT, O2_MSG_PUT_NAK, 1, "conn/nak-status");
}

TEST(hears_of_more_than_the_sink)
{
	hear_status(O2_OP_GET, O2_MSG_GET_DONE, 9001, "conn/get-done-status");
}

/* An answer with the right cookie, but of a type that its operation does not wait for. */
TEST(hears_another_answer)
{
	hear_status(O2_OP_PUT, O2_MSG_GET_DONE, 0, "conn/unknown-cookie");
	hear_status(O2_OP_PUT, O2_MSG_PUT_DONE, 9000, "conn/unknown-cookie");
	hear_status(O2_OP_GET, O2_MSG_PUT_NAK, 0, "conn/unknown-cookie");
	hear_status(O2_OP_GET, O2_MSG_PUT_DONE, 9000, "conn/unknown-cookie");
}

/* The sink of a PUT of 9000 bytes is told another length. */
TEST(hears_another_length)
{
	static const int32_t lengths[] = {0, 8999, 9001};

	for (int i = 0; i < 3; i++) {
		struct pair *pair = pair_with_open(O2_OP_PUT, NULL);

		deliver(&pair->b, NULL, 0);
		assert_int_equal(view_of(&pair->b).puts_accepted, 1);
		send_completion(&pair->a, O2_MSG_PUT_DONE,
				TAILQ_FIRST(&pair->b.conn->list[O2_LIST_ACTIVE])->base.cookie, lengths[i]);
		deliver(&pair->b, NULL, 0);
		assert_refused(&pair->b, "conn/put-done-status");
		assert_int_equal(pair->b.result[0].status, -EPROTO);
		pair_close(pair);
	}
}

static void accepts_again(struct pair *pair, uint64_t cookie)
{
	struct o2_msg *msg = o2_msg_begin(pair->b.conn, O2_MSG_PUT_ACK);

	msg->u.putack.ibpam_src_cookie = cookie;
	msg->u.putack.ibpam_rd.rd_nfrags = 1;
	msg->u.putack.ibpam_rd.rd_frags[0].rf_nob = 9000;
	send_msg(&pair->b);
}

/*
 * A second answer to an operation, accepted or refused: its transmit still exists, because its send has not
 * completed, but no longer waits for an answer.
 */
TEST(hears_an_answer_twice)
{
	for (int refused = 0; refused < 2; refused++) {
		struct pair *pair = pair_of(O2_MSG_VERSION_2, 2);
		const struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_GLOBAL);
		struct held held = {.count = 0};
		uint64_t cookie;

		pair->b.answer = talk_memory(1, 9000, O2_REG_GLOBAL);
		assert_int_equal(start_put(pair->a.conn, &memory, 0, &cookie, NULL), 0);
		pair->b.match_rc = refused ? -EACCES : 0;
		deliver(&pair->b, NULL, 0);
		deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
		assert_int_equal(view_of(&pair->a).active, 1);
		if (refused)
			send_completion(&pair->b, O2_MSG_PUT_NAK, cookie, -EACCES);
		else
			accepts_again(pair, cookie);
		deliver(&pair->a, &held, work_bit(O2_WORK_MESSAGE));
		assert_refused(&pair->a, "conn/unknown-cookie");
		assert_int_equal(pair->a.nresults, 1);
		pair_close(pair);
	}
}

/* An answer to an operation that is still queued is refused, because the peer cannot know its cookie yet. */
TEST(hears_of_what_was_not_sent)
{
	struct pair *pair = pair_of(O2_MSG_VERSION_2, 2);
	struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_FASTREG);

	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
	assert_int_equal(view_of(&pair->a).queued_reserved, 1);
	send_completion(&pair->b, O2_MSG_GET_DONE,
			TAILQ_FIRST(&pair->a.conn->list[O2_LIST_RESERVED])->base.cookie, 0);
	deliver(&pair->a, NULL, 0);
	assert_refused(&pair->a, "conn/unknown-cookie");
	assert_int_equal(pair->a.nresults, 3);
	pair_close(pair);
}

/* The transfer needs more WRITEs than were agreed upon: the sink gets an error, and so does the source's owner. */
TEST(cannot_plan_its_writes)
{
	static struct o2_kiov kiov[2][O2_MAX_FRAGS];
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_transfer_memory many = gapped(kiov[0], 0, 40, 100, O2_REG_GLOBAL);
	struct o2_transfer_memory one = dense(kiov[1], 300, 4000, O2_REG_FASTREG);
	struct pair *pair;

	config.max_frags = 4;
	pair = pair_open(&config, &config);
	pair->b.answer = one;
	assert_int_equal(start_put(pair->a.conn, &many, 0, NULL, NULL), 0);
	quiet(pair);
	pair->b.answer = many;
	assert_int_equal(start_get(pair->a.conn, &one, 0, NULL, NULL), 0);
	quiet(pair);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pair->a.result[i].status, -EMSGSIZE);
		assert_int_equal(pair->b.result[i].status, -EMSGSIZE);
	}
	pair_close_settled(pair);
}

/* Messages with the stamp of another incarnation of either end are refused. */
TEST(hears_of_another_life)
{
	for (int i = 0; i < 2; i++) {
		struct pair *pair = pair_default();
		uint64_t *stamp = i == 0 ? &pair->b.conn->self.incarnation : &pair->b.conn->peer.incarnation;

		(*stamp)--;
		send_text(&pair->b, 5);
		deliver(&pair->a, NULL, 0);
		assert_refused(&pair->a, i == 0 ? "conn/srcstamp" : "conn/dststamp");
		assert_int_equal(o2_conn_get_fault(pair->a.conn)->code, -ESTALE);
		pair_close(pair);
	}
}

/* A list of three pages becomes one fragment, and the message is only as long as one fragment requires. */
TEST(says_how_long_it_is)
{
	struct pair *pair = pair_default();
	struct o2_transfer_memory memory = talk_memory(0, 9000, O2_REG_FASTREG);
	struct held held = {.count = 0};

	pair->b.answer = talk_memory(1, 9000, O2_REG_FASTREG);
	assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
	deliver(&pair->b, &held, work_bit(O2_WORK_RECV));
	assert_int_equal(held.count, 1);
	assert_int_equal(held.wc[0].byte_len, O2_AT_GET_REQ_DESC + O2_DESC_AT_FRAGS + O2_FRAG_BYTES);
	release(&pair->b, &held);
	quiet(pair);
	pair_close_settled(pair);
}
