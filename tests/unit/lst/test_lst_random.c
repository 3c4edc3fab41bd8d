/* SPDX-License-Identifier: MIT */

/*
 * A console that asks whatever there is to ask, also what it may not, a node of ours, and a bad network between
 * them: letters are lost, doubled and late, requests are changed on their way, tests run in both directions,
 * sessions are stolen and expire.  An account of its own, made of the requests that arrive and of the clock,
 * says what the node has to answer; every byte of a read, and around it, is looked at; what a write has to be
 * answered with is known from where it was made wrong.  At the end nothing is left.
 *
 * usage: test_lst_random [SEED [RUN]]   RUN alone is repeated
 */

#include "props/engine/prng.h"
#include "tests/lib/lst_pair.h"

#define RUNS	   300u
#define STEPS	   250u
#define OPERATIONS 6u
#define SLOT_PAGE  2u /* of the memory of operations */
#define SLOT_PAGES 6u /* of each: one in front and one behind are left out */
#define SLOT_BYTES (SLOT_PAGES * 4096u)
#define POISON	   0xa5u
#define TIMEOUT_MS 100000u

static uint64_t seed = 20261122;

/* What was met, in all runs. */
enum met {
	READ_RIGHT,
	WRITE_RIGHT,
	WRITE_WRONG,
	WRITE_WRONG_UNSEEN,
	OUT_OF_RANGE,
	MADE,
	MADE_AGAIN,
	BUSY,
	STOLEN,
	REMOVED,
	EXPIRED,
	NO_SESSION,
	TEST_ADDED,
	TEST_RAN,
	LOST,
	DOUBLED,
	CHANGED,
	MET,
};
static uint64_t met[MET];

struct operation {
	bool busy;
	uint32_t rw, check, len, offset;
	int expected; /* status of a write, by the account */
	bool in_range;
	struct o2_kiov kiov[SLOT_PAGES];
	struct o2_transfer_memory memory;
};

struct run {
	struct lst_pair pair;
	struct o2_prng prng;
	uint64_t now_ms;
	struct operation operation[OPERATIONS];
	/* The account of B's session. */
	struct o2_lst_sid sid;
	uint32_t features;
	uint64_t made, heard_ms;
};

static struct run run;

static uint32_t draw(uint32_t max)
{
	return (uint32_t)o2_prng_upto(&run.prng, max);
}

/* --- reads and writes of the console --- */

static uint8_t *slot_bytes(const struct operation *operation)
{
	return lnet_side_bytes(&run.pair.lnet.a,
			       SLOT_PAGE + (uint32_t)(operation - run.operation) * SLOT_PAGES);
}

static const uint8_t word[8] = {0xb3, 0xee, 0xb2, 0xee, 0xb1, 0xee, 0xb0, 0xee};

/* Its memory is the pattern (true) or as it was before, and what is around it was never written. */
static void check_slot(const struct operation *operation, bool moved)
{
	const uint8_t *bytes = slot_bytes(operation);
	const uint32_t first = 4096 + operation->offset;

	for (uint32_t i = 0; i < SLOT_BYTES; i++) {
		const bool inside = i >= first && i < first + operation->len;

		assert_int_equal(bytes[i], inside && moved ? word[(i - first) % 8] : POISON);
	}
}

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	struct operation *operation = context;
	const int status = answer->status == 0 ? (int)answer->reply->u.reply.status : 0;

	operation->busy = false;
	if (operation->rw == O2_LST_BRW_READ && operation->in_range)
		check_slot(operation, answer->bulk_moved);
	if (answer->status != 0)
		return;
	if (!operation->in_range) {
		assert_int_equal(status, EINVAL);
		met[OUT_OF_RANGE]++;
		return;
	}
	if (operation->rw == O2_LST_BRW_READ) {
		assert_int_equal(status, 0);
		assert_int_equal(answer->bulk_bytes, operation->len);
		met[READ_RIGHT]++;
		return;
	}
	assert_int_equal(status, operation->expected);
	met[operation->expected != 0 ? WRITE_WRONG : WRITE_RIGHT]++;
}

/* One word of a write is wrong: whether the check is about it, at a server whose memory begins at a page. */
static bool is_looked_at(const struct operation *operation, uint32_t at)
{
	const uint32_t last = operation->len - 8;

	if (operation->check == O2_LST_CHECK_FULL)
		return true;
	return operation->check == O2_LST_CHECK_SIMPLE && (at % 4096 == 0 || at % 4096 == 4088 || at == last);
}

static void lay(struct operation *operation)
{
	const uint32_t page = SLOT_PAGE + (uint32_t)(operation - run.operation) * SLOT_PAGES + 1;
	uint32_t left = operation->len, offset = operation->offset, count = 0;

	for (; left > 0; offset = 0) {
		const uint32_t take = 4096 - offset < left ? 4096 - offset : left;

		operation->kiov[count] = (struct o2_kiov){page + count, offset, take};
		left -= take;
		count++;
	}
	operation->memory = (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = count, .nob = operation->len, .kiov = operation->kiov},
		.mode = O2_REG_GLOBAL};
}

static void fill(struct operation *operation)
{
	uint8_t *bytes = slot_bytes(operation) + 4096 + operation->offset;
	uint32_t at;

	for (uint32_t i = 0; i < operation->len; i++)
		bytes[i] = word[i % 8];
	if (draw(1) == 0)
		return;
	at = draw(operation->len / 8 - 1) * 8;
	bytes[at + draw(7)] ^= 0x20;
	operation->expected = is_looked_at(operation, at) ? EBADMSG : 0;
	met[WRITE_WRONG_UNSEEN] += operation->expected == 0;
}

static void start_brw(void)
{
	static const uint32_t lengths[] = {8, 16, 2048, 3976, 3984, 4096, 4104, 8000, 16384};
	struct operation *operation = &run.operation[draw(OPERATIONS - 1)];
	struct o2_lst_msg msg;
	struct o2_lst_call call = {.nid = NID_B, .request = &msg, .done = note_answer, .context = operation};

	if (operation->busy)
		return;
	memset(operation, 0, sizeof(*operation));
	operation->rw = 1 + draw(1);
	operation->check = 1 + draw(3);
	operation->len = lengths[draw(8)];
	operation->offset = operation->len % 4096 == 0 ? 0 : draw((4096 - operation->len % 4096) / 8) * 8;
	operation->offset %= 4096;
	operation->in_range = draw(5) != 0;
	lay(operation);
	memset(slot_bytes(operation), POISON, SLOT_BYTES);
	if (operation->rw == O2_LST_BRW_WRITE)
		fill(operation);
	msg = lst_brw((enum o2_lst_brw_rw)operation->rw, (enum o2_lst_brw_check)operation->check,
		      operation->len);
	if (!operation->in_range) {
		uint32_t *const field[] = {&msg.u.brw_reqst.brw_rw, &msg.u.brw_reqst.brw_flags,
					   &msg.u.brw_reqst.brw_len};
		static const uint32_t bad[] = {7, 9, UINT32_MAX - 7};
		const uint32_t which = draw(2);

		*field[which] = bad[which];
	}
	call.bulk = &operation->memory;
	call.bulk_is_source = operation->rw == O2_LST_BRW_WRITE;
	operation->busy = o2_lst_call_start(run.pair.a.node->rpc, &call, NULL, NULL) == 0;
}

/* --- the framework --- */

static void ignore_answer(void *context, const struct o2_lst_answer *answer)
{
	(void)context;
	(void)answer;
}

static struct o2_lst_msg draw_test(struct o2_lst_sid sid)
{
	struct o2_lst_msg msg = lst_test(sid, draw(2) > 0, draw(1) + (draw(7) > 0));
	struct o2_lst_test_reqst *test = &msg.u.test_reqst;

	test->tsr_bid = 1 + draw(4);
	test->tsr_concur = draw(5);
	test->tsr_loop = draw(3) == 0 ? UINT32_MAX : draw(4);
	test->tsr_stop_onerr = (uint8_t)draw(1);
	if (draw(1) == 0) {
		test->tsr_service = O2_LST_SERVICE_BRW;
		test->tsr_u.bulk_v1 = (struct o2_lst_bulk_v1){(uint16_t)(1 + draw(1)),
							      (uint16_t)(1 + draw(4)), 8 * draw(1100), 0};
	}
	return msg;
}

static struct o2_lst_msg draw_request(void)
{
	const struct o2_lst_sid sid = draw(9) == 0 ? O2_LST_NO_SID : lst_sid(1 + draw(1));

	switch (draw(9)) {
	case 0:
	case 1:
		return lst_mksn(sid, draw(3) == 0, "someone");
	case 2:
		return lst_rmsn(sid);
	case 3:
		return lst_debug();
	case 4:
		return lst_stat(sid);
	case 5:
	case 6:
	case 7:
		return draw_test(sid);
	default:
		return lst_batch(sid, 1 + draw(4), 1 + draw(3), draw(3), draw(1));
	}
}

static void start_request(void)
{
	static struct o2_kiov kiov;
	static struct o2_transfer_memory list;
	const struct o2_lst_dest dest = {NID_A, O2_LNET_PID_KERNEL};
	const struct o2_lst_msg msg = draw_request();
	struct o2_lst_call call = {.nid = NID_B, .request = &msg, .done = ignore_answer};
	const uint32_t page = SLOT_PAGE + OPERATIONS * SLOT_PAGES;

	kiov = (struct o2_kiov){page, 0, 2 * O2_LST_DEST_BYTES};
	list = (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = 1, .nob = 2 * O2_LST_DEST_BYTES, .kiov = &kiov},
		.mode = O2_REG_GLOBAL};
	for (uint32_t i = 0; i < 2; i++)
		o2_lst_dest_store(&dest, O2_LITTLE_ENDIAN,
				  lnet_side_bytes(&run.pair.lnet.a, page) + (size_t)i * O2_LST_DEST_BYTES);
	if (msg.msg_type == O2_LST_TEST_REQST && draw(9) > 0) {
		call.bulk = &list;
		call.bulk_is_source = true;
	}
	o2_lst_call_start(run.pair.a.node->rpc, &call, NULL, NULL);
}

/* --- the account of the session --- */

static bool has_session(void)
{
	return !o2_lst_sid_is_none(run.sid);
}

static uint32_t account_of_mksn(const struct o2_lst_mksn_reqst *asked, uint32_t features)
{
	if (o2_lst_sid_is_none(asked->mksn_sid))
		return EINVAL;
	if (has_session() && o2_lst_sid_equal(asked->mksn_sid, run.sid)) {
		run.made++;
		met[MADE_AGAIN]++;
		return 0;
	}
	if (has_session() && asked->mksn_force == 0) {
		met[BUSY]++;
		return EBUSY;
	}
	met[has_session() ? STOLEN : MADE]++;
	run.sid = asked->mksn_sid;
	run.features = features;
	run.made = 1;
	return 0;
}

static uint32_t account_of_rmsn(const struct o2_lst_rmsn_reqst *asked)
{
	if (o2_lst_sid_is_none(asked->rmsn_sid))
		return EINVAL;
	if (!has_session())
		return ESRCH;
	if (!o2_lst_sid_equal(asked->rmsn_sid, run.sid))
		return EBUSY;
	if (--run.made == 0) {
		run.sid = O2_LST_NO_SID;
		met[REMOVED]++;
	}
	return 0;
}

/* What the request is answered with; -1: the account does not say. */
static int account_of(const struct o2_lst_msg *msg)
{
	run.heard_ms = run.now_ms;
	if (msg->msg_type != O2_LST_MKSN_REQST && msg->msg_type != O2_LST_DEBUG_REQST && has_session() &&
	    msg->msg_ses_feats != run.features)
		return EPROTO;
	if (msg->msg_ses_feats > 1 &&
	    (msg->msg_type == O2_LST_MKSN_REQST || msg->msg_type == O2_LST_DEBUG_REQST))
		return EPROTO;
	switch (msg->msg_type) {
	case O2_LST_MKSN_REQST:
		return (int)account_of_mksn(&msg->u.mksn_reqst, msg->msg_ses_feats);
	case O2_LST_RMSN_REQST:
		return (int)account_of_rmsn(&msg->u.rmsn_reqst);
	case O2_LST_DEBUG_REQST:
		met[NO_SESSION] += !has_session();
		return has_session() ? 0 : ESRCH;
	case O2_LST_STAT_REQST:
		if (o2_lst_sid_is_none(msg->u.stat_reqst.str_sid))
			return EINVAL;
		return has_session() && o2_lst_sid_equal(msg->u.stat_reqst.str_sid, run.sid) ? 0 : ESRCH;
	case O2_LST_BATCH_REQST:
		return has_session() && o2_lst_sid_equal(msg->u.batch_reqst.bar_sid, run.sid) ? -1 : ESRCH;
	default:
		return -1;
	}
}

/* The node's newest letter is the answer to this request. */
static void check_answer(const struct o2_lst_msg *request, int expected)
{
	const struct lnet_side *b = &run.pair.lnet.b;
	const struct letter *letter = NULL;
	struct o2_lst_msg reply;

	for (uint32_t i = 0; i < b->nletters; i++)
		if (b->letter[i].hdr.type == O2_LNET_PUT &&
		    b->letter[i].hdr.msg.put.match_bits == request->u.reqst.rpyid)
			letter = &b->letter[i];
	assert_non_null(letter);
	assert_int_equal(o2_lst_msg_decode(letter->payload, letter->hdr.payload_length, &reply, NULL), 0);
	assert_int_equal(reply.msg_type, request->msg_type + 1);
	assert_int_equal(reply.u.reply.status, expected);
	assert_true(o2_lst_sid_equal(reply.u.reply.sid, run.sid));
}

/* --- the network --- */

static bool is_framework_request(const struct letter *letter, struct o2_lst_msg *msg)
{
	return letter->kind == LETTER_IMMEDIATE && letter->hdr.type == O2_LNET_PUT &&
	       letter->hdr.msg.put.ptl_index == O2_LST_PORTAL_FRAMEWORK &&
	       o2_lst_msg_decode(letter->payload, letter->hdr.payload_length, msg, NULL) == 0 &&
	       o2_lst_request_type(letter->hdr.msg.put.match_bits) == (int)msg->msg_type;
}

static struct letter taken(struct lnet_side *side)
{
	const struct letter letter = side->letter[0];

	side->nletters--;
	memmove(side->letter, side->letter + 1, side->nletters * sizeof(letter));
	return letter;
}

/* An IMMEDIATE comes to its receiver; what the account says of it holds. */
static void receive(const struct letter *letter)
{
	struct lnet_side *to = letter->from->peer;
	struct o2_lst_msg msg;
	const bool judged = to == &run.pair.lnet.b && is_framework_request(letter, &msg);
	const int expected = judged ? account_of(&msg) : -1;

	to->nevents = 0;
	o2_lnet_receive(to->lnet, letter->from->nid, &letter->hdr, letter->payload, &to->error);
	if (expected >= 0)
		check_answer(&msg, expected);
}

/* A request that its console did not send so: fields behind the ids, so that answers still find their way. */
static void change(struct letter *letter)
{
	struct o2_lst_msg msg;

	if (!is_framework_request(letter, &msg))
		return;
	letter->payload[20 + draw(19) % 4] ^= (uint8_t)(1u << draw(7));
	if (draw(1) == 0)
		letter->payload[40 + draw(53)] ^= (uint8_t)(1u << draw(7));
	met[CHANGED]++;
}

static void deliver(void)
{
	struct lnet_side *side = draw(1) == 0 ? &run.pair.lnet.a : &run.pair.lnet.b;
	static struct letter letter;
	const uint32_t fate = draw(19);

	if (side->nletters == 0)
		return;
	side->peer->nevents = side->nevents = 0;
	if (side->letter[0].kind != LETTER_IMMEDIATE) {
		side->fail_transfer = fate == 0 ? -EIO : 0;
		lnet_deliver(side);
		side->fail_transfer = 0;
		return;
	}
	letter = taken(side);
	if (fate == 0) {
		met[LOST]++;
		o2_lnet_finished(side->lnet, letter.tag, draw(1) == 0 ? -ECONNABORTED : 0, 0, NULL);
		return;
	}
	if (fate == 1)
		change(&letter);
	receive(&letter);
	if (fate == 2) {
		met[DOUBLED]++;
		receive(&letter);
	}
	o2_lnet_finished(side->lnet, letter.tag, 0, 0, NULL);
}

static void pass_time(void)
{
	run.now_ms += draw(3) == 0 ? draw(120000) : draw(3000);
	if (has_session() && run.now_ms - run.heard_ms >= TIMEOUT_MS) {
		run.sid = O2_LST_NO_SID;
		met[EXPIRED]++;
	}
	lst_pair_clock(&run.pair, run.now_ms);
	assert_true(o2_lst_sid_equal(o2_lst_node_sid(run.pair.b.node), run.sid));
}

static void play(uint64_t number)
{
	struct lnet_side *const sides[] = {&run.pair.lnet.a, &run.pair.lnet.b};

	memset(&run, 0, sizeof(run));
	run.prng = o2_prng_init(seed, number);
	run.sid = O2_LST_NO_SID;
	lst_pair_open(&run.pair, NULL);
	for (uint32_t i = 0; i < STEPS; i++) {
		const uint32_t what = draw(9);

		if (what == 0 && draw(2) == 0)
			pass_time();
		else if (what == 1)
			start_brw();
		else if (what == 2)
			start_request();
		else
			deliver();
	}
	met[TEST_ADDED] += run.pair.b.node->nhalves;
	met[TEST_RAN] += o2_lst_node_report(run.pair.b.node)->tries;
	/* Nothing new; what is under way ends, or at its timeout. */
	o2_lst_node_stop(run.pair.b.node, -ESHUTDOWN);
	for (uint32_t i = 0; i < 2; i++)
		while (sides[0]->nletters + sides[1]->nletters > 0) {
			sides[0]->nevents = sides[1]->nevents = 0;
			lnet_deliver(sides[0]->nletters > 0 ? sides[0] : sides[1]);
		}
	lst_pair_clock(&run.pair, run.now_ms + 1000000);
	for (uint32_t i = 0; i < OPERATIONS; i++)
		assert_false(run.operation[i].busy);
	lst_pair_close(&run.pair);
}

static uint64_t only = UINT64_MAX, current;

static int say_replay(void **state)
{
	if (current != UINT64_MAX)
		print_message("replay: test_lst_random %lu %lu\n", (unsigned long)seed,
			      (unsigned long)current);
	return 0;
}

TEST_WITH(test_random, NULL, say_replay)
{
	for (current = only == UINT64_MAX ? 0 : only; current < (only == UINT64_MAX ? RUNS : only + 1);
	     current++)
		play(current);
	for (uint32_t i = 0; only == UINT64_MAX && i < MET; i++)
		if (met[i] == 0)
			fail_msg("situation %u was never met", i);
	current = UINT64_MAX;
}

int main(int argc, char **argv)
{
	tests_take_numbers(argc, argv, &seed, &only);
	print_message("seed %lu\n", (unsigned long)seed);
	return tests_run();
}
