/* SPDX-License-Identifier: MIT */
/* The messages between a run and an end on another machine: memory, and words. */
#include "props/world/far_memory.h"
#include "props/world/far_words.h"
#include "tests/lib/unit_test.h"
#include "tests/unit/props/far_scenario.h"

/* --- memory --- */

struct memories {
	struct o2_arena arena;
	struct o2_image image;
	struct o2_far_copy copy;
	struct o2_far_memory far;
};

static json_t *pack_fills(struct memories *m)
{
	return json_pack("{s:o}", "fills", o2_far_copy_fills(&m->copy));
}

/* Tells the far memory its contents; returns the number of fills, each for one or more pages. */
static size_t tell(struct memories *m)
{
	json_t *message = pack_fills(m);
	const size_t count = json_array_size(json_object_get(message, "fills"));

	assert_int_equal(o2_far_memory_fill(&m->far, message, NULL), 0);
	json_decref(message);
	return count;
}

/* Fetches the changed pages of the far memory; returns their number. */
static size_t bring(struct memories *m, bool all)
{
	size_t length, count;
	json_t *message = json_pack("{s:o}", "pages", o2_far_memory_changed(&m->far, all, &length));

	assert_int_equal(o2_far_copy_take(&m->copy, message, m->far.changed, length, NULL), 0);
	count = json_array_size(json_object_get(message, "pages"));
	json_decref(message);
	return count;
}

static void are_alike(const struct memories *m)
{
	assert_memory_equal(m->arena.memory, m->far.arena.memory, O2_FAR_MEMORY_BYTES);
}

TEST(memory)
{
	struct memories *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	assert_int_equal(o2_arena_create(O2_SCENARIO_PAGES, &m->arena, NULL), 0);
	assert_int_equal(o2_far_memory_open(&m->far, NULL), 0);
	o2_image_init(&m->image, &m->arena, 77);
	m->copy.image = &m->image;
	assert_int_equal(tell(m), 1);
	are_alike(m);
	assert_int_equal(tell(m), 0);
	assert_int_equal(bring(m, false), 0);
	o2_image_fill_data(&m->image, 3, 5);
	o2_image_fill_data(&m->image, 786, 5);
	o2_image_fill_data(&m->image, 4, 6);
	o2_image_fill_poison(&m->image, 0, 5, 9);
	assert_int_equal(tell(m), 3);
	are_alike(m);
	/* Change a page that was just filled, and one that was not. */
	o2_arena_page(&m->far.arena, 786)[4095] ^= 1;
	o2_arena_page(&m->far.arena, 100)[0] ^= 1;
	assert_int_equal(bring(m, false), 1);
	assert_int_equal(o2_arena_page(&m->arena, 786)[4095], o2_arena_page(&m->far.arena, 786)[4095]);
	assert_int_equal(bring(m, false), 0);
	assert_int_equal(bring(m, true), 2);
	are_alike(m);
	/* A fetched page is filled again, whatever it holds; and every page when the image is new. */
	o2_image_fill_data(&m->image, 786, 5);
	o2_image_fill_red(&m->image, 100);
	assert_int_equal(tell(m), 2);
	are_alike(m);
	o2_arena_page(&m->far.arena, 200)[8] ^= 1;
	o2_image_init(&m->image, &m->arena, 78);
	assert_int_equal(tell(m), 1);
	are_alike(m);
	o2_far_memory_close(&m->far);
	o2_arena_destroy(&m->arena);
	free(m);
}

/* --- words --- */

static struct o2_error an_error(int number)
{
	struct o2_error error;

	o2_refuse(&error, -number, "some/rule", "field[].of", (uint32_t)number, UINT64_MAX - 1, UINT64_MAX);
	error.class = O2_CLASS_CONNECTION;
	error.offset_bytes = 12;
	error.limit_kind = O2_LIMIT_MULTIPLE;
	return error;
}

static struct o2_transfer_fault a_fault(int number)
{
	const struct o2_error error = an_error(number);
	struct o2_transfer_fault fault = o2_fault_of(O2_FAULT_DEVICE, -number, &error);

	fault.closed_by = O2_FAULT_DEADLINE;
	fault.wait = O2_WAIT_LNET_REPLY;
	fault.wc_status = IBV_WC_REM_ACCESS_ERR;
	fault.wc_opcode = IBV_WC_RECV_RDMA_WITH_IMM;
	fault.cm_reason = 28;
	fault.reject_why = 3;
	fault.tolerable = true;
	return fault;
}

/* The text is the same afterwards; the string is a constant of the program or is never freed. */
static void same_text(const char *a, const char *b)
{
	if (a == NULL)
		assert_null(b);
	else
		assert_string_equal(a, b);
}

static void same_error(const struct o2_error *a, const struct o2_error *b)
{
	char one[300], other[300];

	same_text(a->rule, b->rule);
	same_text(a->field, b->field);
	assert_int_equal(a->code, b->code);
	assert_int_equal(a->class, b->class);
	assert_int_equal(a->offset_bytes, b->offset_bytes);
	if (a->rule == NULL)
		return;
	o2_error_text(a, one, sizeof(one));
	o2_error_text(b, other, sizeof(other));
	assert_string_equal(one, other);
}

static void same_fault(const struct o2_transfer_fault *a, const struct o2_transfer_fault *b)
{
	same_error(&a->error, &b->error);
	assert_int_equal(a->side, b->side);
	assert_int_equal(a->code, b->code);
	assert_int_equal(a->closed_by, b->closed_by);
	assert_int_equal(a->wait, b->wait);
	assert_int_equal(a->wc_status, b->wc_status);
	assert_int_equal(a->wc_opcode, b->wc_opcode);
	assert_int_equal(a->cm_reason, b->cm_reason);
	assert_int_equal(a->reject_why, b->reject_why);
	assert_int_equal(a->tolerable, b->tolerable);
}

static void same_end(const struct o2_observed_end *a, const struct o2_observed_end *b)
{
	same_fault(&a->fault, &b->fault);
	assert_int_equal(a->involved, b->involved);
	assert_int_equal(a->status, b->status);
	assert_int_equal(a->nob, b->nob);
	assert_int_equal(a->mapped, b->mapped);
}

static void same_answer(const struct o2_end_answer *a)
{
	json_t *object = json_pack("{s:o}", "answer", o2_far_answer(a));
	struct o2_end_answer b;

	assert_int_equal(o2_far_read_answer(object, &b, NULL), 0);
	json_decref(object);
	assert_int_equal(a->code, b.code);
	same_error(&a->error, &b.error);
	assert_int_equal(a->nid, b.nid);
	assert_int_equal(a->connected, b.connected);
	assert_int_equal(a->messages_sent, b.messages_sent);
	assert_int_equal(a->messages_handled, b.messages_handled);
	assert_int_equal(a->noops_sent, b.noops_sent);
	assert_int_equal(a->noops_received, b.noops_received);
	assert_int_equal(a->version, b.version);
	assert_int_equal(a->queue_depth, b.queue_depth);
	assert_int_equal(a->downs, b.downs);
	same_fault(&a->down, &b.down);
	same_end(&a->initiator, &b.initiator);
	same_end(&a->responder, &b.responder);
	assert_int_equal(a->nwr, b.nwr);
	assert_int_equal(a->nfrags, b.nfrags);
	assert_int_equal(a->stale_tried, b.stale_tried);
	assert_int_equal(a->stale_admitted, b.stale_admitted);
	assert_int_equal(a->ways, b.ways);
	assert_memory_equal(&a->ledger, &b.ledger, sizeof(b.ledger));
	same_text(a->broken, b.broken);
	same_error(&a->judged, &b.judged);
}

TEST(words_of_an_answer)
{
	const struct o2_end_answer all = {
		.code = -110,
		.error = an_error(1),
		.nid = UINT64_MAX,
		.connected = true,
		.messages_sent = UINT64_MAX,
		.messages_handled = 2,
		.noops_sent = 3,
		.noops_received = 4,
		.version = 0x12,
		.queue_depth = UINT32_MAX,
		.downs = 5,
		.down = a_fault(2),
		.initiator = {true, -5, UINT64_MAX, a_fault(3), true},
		.responder = {true, -6, 1, a_fault(4), false},
		.nwr = 6,
		.nfrags = 7,
		.stale_tried = true,
		.stale_admitted = true,
		.ways = UINT32_MAX,
		.ledger = {UINT64_MAX, 8, 9, 10, 11},
		.broken = "connack/credits",
		.judged = an_error(5),
	};
	const struct o2_end_answer none = {0};

	same_answer(&all);
	same_answer(&none);
}

/* A question to begin carries a scenario, any scenario. */
TEST(words_of_a_question)
{
	struct o2_end_question *one = calloc(2, sizeof(*one)), *two = one + 1;

	assert_non_null(one);
	for (uint64_t number = 0; number < 20; number++) {
		json_t *object, *again;

		one->verb = O2_END_BEGIN;
		one->peer = number;
		draw(&one->scenario, number);
		object = o2_far_question(one);
		assert_int_equal(o2_far_read_question(object, two, NULL), 0);
		again = o2_far_question(two);
		assert_true(json_equal(object, again));
		json_decref(object);
		json_decref(again);
	}
	free(one);
}

TEST(kept_texts)
{
	const char *first = o2_far_keep("first");
	char text[100];

	assert_ptr_equal(o2_far_keep("first"), first);
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "%099d", i);
		assert_true(strlen(o2_far_keep(text)) < 64);
		snprintf(text, sizeof(text), "text %d", i);
		o2_far_keep(text);
	}
	assert_string_equal(o2_far_keep("one more"), "(another)");
	assert_ptr_equal(o2_far_keep("first"), first);
}
