/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/lst/lst_internal.h"
#include "props/lst/lst_requests.h"

/* Bulk reads and writes of the console, each in memory of its own, of which every byte is checked. */

#define SLOT_PAGE  2u
#define PAGE_BYTES 4096u
#define SLOT_BYTES (O2_LST_SLOT_PAGES * PAGE_BYTES)
#define POISON	   0xa5u

static const uint8_t word[8] = {0xb3, 0xee, 0xb2, 0xee, 0xb1, 0xee, 0xb0, 0xee};

static uint32_t slot_page(const struct o2_lst_operation *operation)
{
	return SLOT_PAGE + (uint32_t)(operation - operation->of->operation) * O2_LST_SLOT_PAGES;
}

static uint8_t *slot_bytes(const struct o2_lst_operation *operation)
{
	return o2_lnet_side_bytes(&operation->of->lnet.a, slot_page(operation));
}

/* Check that its memory is the pattern (moved) or unchanged, and that the memory around it is unchanged. */
static void check_slot(const struct o2_lst_operation *operation, bool moved)
{
	static uint8_t want[SLOT_BYTES];
	const uint8_t *bytes = slot_bytes(operation);
	const uint32_t first = PAGE_BYTES + operation->offset;
	uint32_t at = 0;
	bool inside;

	memset(want, POISON, sizeof(want));
	for (uint32_t i = 0; moved && i < operation->len; i++)
		want[first + i] = word[i % 8];
	if (memcmp(bytes, want, sizeof(want)) == 0)
		return;
	while (bytes[at] == want[at])
		at++;
	inside = at >= first && at < first + operation->len;
	o2_report_fail(operation->of->report, inside ? "lst/read" : "lst/around",
		       "a read of %" PRIu32 " bytes, %s: byte %" PRId64 " is 0x%02x and not 0x%02x",
		       operation->len, moved ? "moved" : "not moved", (int64_t)at - first, bytes[at],
		       want[at]);
}

static void check_status(const struct o2_lst_operation *operation, int status, int expected)
{
	if (status != expected)
		o2_report_fail(operation->of->report,
			       operation->rw == O2_LST_BRW_READ ? "lst/read-status" : "lst/write-status",
			       "a %s of %" PRIu32 " bytes with check %" PRIu32 " is answered with %d, not %d",
			       operation->rw == O2_LST_BRW_READ ? "read" : "write", operation->len,
			       operation->check, status, expected);
}

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	struct o2_lst_operation *operation = context;
	uint64_t *seen = operation->of->seen;
	const bool is_read = operation->rw == O2_LST_BRW_READ;
	const int status = answer->status == 0 ? (int)answer->reply->u.reply.status : 0;

	operation->busy = false;
	if (!answer->bulk_moved && answer->bulk_bytes != 0)
		o2_report_fail(operation->of->report, "lst/read-length",
			       "a bulk of %" PRIu32 " bytes that has not moved is told as %" PRIu64,
			       operation->len, (uint64_t)answer->bulk_bytes);
	if (is_read && operation->in_range)
		check_slot(operation, answer->bulk_moved);
	if (answer->status != 0)
		return;
	check_status(operation, status, operation->expected);
	if (answer->reply->msg_ses_feats != O2_LST_FEATS_MASK)
		o2_report_fail(operation->of->report, "lst/fields",
			       "a bulk is answered with features %" PRIu32, answer->reply->msg_ses_feats);
	if (!operation->in_range)
		seen[OUT_OF_RANGE]++;
	else if (!is_read)
		seen[operation->expected != 0 ? WRITE_WRONG : WRITE_RIGHT]++;
	else if (answer->bulk_bytes != operation->len)
		o2_report_fail(operation->of->report, "lst/read-length",
			       "a read of %" PRIu32 " bytes has moved %" PRIu64, operation->len,
			       (uint64_t)answer->bulk_bytes);
	else
		seen[READ_RIGHT]++;
}

/* True if the server's check covers the wrong word of a write.  The server's memory starts at a page boundary. */
static bool is_looked_at(const struct o2_lst_operation *operation, uint32_t at)
{
	const uint32_t last = operation->len - 8;

	if (operation->check == O2_LST_CHECK_FULL)
		return true;
	return operation->check == O2_LST_CHECK_SIMPLE &&
	       (at % PAGE_BYTES == 0 || at % PAGE_BYTES == PAGE_BYTES - 8 || at == last);
}

static void lay(struct o2_lst_operation *operation)
{
	uint32_t left = operation->len, offset = operation->offset, count = 0;

	for (; left > 0; offset = 0) {
		const uint32_t take = PAGE_BYTES - offset < left ? PAGE_BYTES - offset : left;

		operation->kiov[count] = (struct o2_kiov){slot_page(operation) + 1 + count, offset, take};
		left -= take;
		count++;
	}
	operation->memory = (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = count, .nob = operation->len, .kiov = operation->kiov},
		.mode = O2_REG_GLOBAL};
}

static void fill(struct o2_lst_operation *operation)
{
	struct o2_lst_case *the = operation->of;
	uint8_t *bytes = slot_bytes(operation) + PAGE_BYTES + operation->offset;
	uint32_t words, at;

	for (uint32_t i = 0; i < operation->len; i++)
		bytes[i] = word[i % 8];
	if (!o2_draw_bool(the->choice, 1, 1))
		return;
	words = operation->len / 8;
	at = o2_draw_bool(the->choice, 1, 1) ? 0 : o2_lst_draw(the, words - 1) * 8;
	bytes[at + o2_lst_draw(the, 7)] ^= 0x20;
	operation->expected = is_looked_at(operation, at) ? EBADMSG : 0;
	the->seen[WRITE_WRONG_UNSEEN] += operation->expected == 0;
}

static void draw_operation(struct o2_lst_operation *operation)
{
	static const uint32_t lengths[] = {8, 16, 2048, 3976, 3984, 4096, 4104, 8000, 16384};
	struct o2_lst_case *the = operation->of;
	uint32_t tail;

	operation->rw = 1 + o2_lst_draw(the, 1);
	operation->check = 1 + o2_lst_draw(the, 3);
	operation->len = lengths[o2_lst_draw(the, 8)];
	tail = operation->len % PAGE_BYTES;
	if (tail != 0)
		operation->offset = o2_lst_draw(the, (PAGE_BYTES - tail) / 8) * 8 % PAGE_BYTES;
	operation->in_range = !o2_draw_bool(the->choice, 5, 1);
	lay(operation);
	memset(slot_bytes(operation), POISON, SLOT_BYTES);
	if (operation->rw == O2_LST_BRW_WRITE)
		fill(operation);
}

void o2_lst_start_bulk(struct o2_lst_case *the)
{
	static const uint32_t bad[] = {7, 9, UINT32_MAX - 7};
	struct o2_lst_operation *operation = &the->operation[o2_lst_draw(the, O2_LST_OPERATIONS - 1)];
	struct o2_lst_msg msg;
	struct o2_lst_call call = {
		.nid = O2_LNET_NID_B, .request = &msg, .done = note_answer, .context = operation};

	if (operation->busy)
		return;
	memset(operation, 0, sizeof(*operation));
	operation->of = the;
	draw_operation(operation);
	msg = o2_lst_ask_brw((enum o2_lst_brw_rw)operation->rw, (enum o2_lst_brw_check)operation->check,
			     operation->len);
	if (!operation->in_range) {
		uint32_t *const field[] = {&msg.u.brw_reqst.brw_rw, &msg.u.brw_reqst.brw_flags,
					   &msg.u.brw_reqst.brw_len};
		const uint32_t which = o2_lst_draw(the, 3);

		if (which < 3)
			*field[which] = bad[which];
		else
			msg.msg_ses_feats = 2 + o2_lst_draw(the, 5);
		operation->expected = which < 3 ? EINVAL : EPROTO;
		the->seen[OTHER_FEATURES] += which == 3;
	}
	call.bulk = &operation->memory;
	call.bulk_is_source = operation->rw == O2_LST_BRW_WRITE;
	operation->busy = true;
	if (o2_lst_call_start(the->a.node->rpc, &call, NULL, NULL) != 0)
		operation->busy = false;
}
