/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/lst/lst_requests.h"
#include "props/lst/lst_work.h"
#include "wire/bytes.h"

/* Reads and writes of a work case: the order in which they are served, and the console's own writes. */

#define PAGE_BYTES  4096u
#define LEFT_PAGES  3u /* more than the largest request drawn then needs */
#define TWO_PAGES   8192u
#define LARGE_BYTES 100000u
#define WORD_BYTES  8u
#define WORD	    UINT64_C(0xeeb0eeb1eeb2eeb3)

/* --- of tests --- */

/* True if the check covers the word with the wrong bit, per page of the client: docs/peer.md, "Quirks". */
static bool is_found(const struct o2_work_half *half)
{
	const uint32_t most = half->length_bytes < 4096 ? half->length_bytes : 4096;
	const uint32_t word = most / 2 / 8 * 8, at = half->offset + word;

	if (half->check == O2_LST_CHECK_FULL)
		return true;
	return half->check == O2_LST_CHECK_SIMPLE &&
	       (word == 0 || word + 8 == half->length_bytes || at % 4096 == 0 || (at + 8) % 4096 == 0);
}

/* A read whose changed word is at the end or the start of a page, because of the offset. */
static void draw_at_edge(struct o2_choice *c, struct o2_work_half *half)
{
	half->is_read = true;
	half->check = O2_LST_CHECK_SIMPLE;
	half->length_bytes = 4104;
	half->offset = 2040 + WORD_BYTES * (uint32_t)o2_draw(c, 1);
}

void o2_work_draw_bulk(struct o2_work *work, struct o2_work_half *half)
{
	static const uint32_t lengths[] = {8, 16, 24, 2048, 3976, 3984, 4088, 4096, 4104, 8192, 1048576};
	struct o2_lst_test_reqst *asked = &half->asked;
	struct o2_choice *c = work->the->choice;

	half->is_brw = true;
	asked->tsr_service = O2_LST_SERVICE_BRW;
	half->is_read = o2_draw_bool(c, 1, 2);
	half->check = 1 + (uint32_t)o2_draw(c, 3);
	half->length_bytes =
		lengths[o2_draw_bool(c, work->config.client_pages > 258 ? 1 : 80, 1) ? 10 : o2_draw(c, 9)];
	if (o2_work_is_scarce(work) && o2_draw_bool(c, 1, 1))
		half->length_bytes = TWO_PAGES;
	if (half->length_bytes > LARGE_BYTES && (work->kept || o2_work_is_scarce(work)))
		half->length_bytes = 4096;
	if (half->length_bytes > LARGE_BYTES)
		asked->tsr_loop = asked->tsr_loop > 2 ? 2 : asked->tsr_loop;
	if (work->features == 0) {
		half->length_bytes = (half->length_bytes + 4095) / 4096 * 4096;
		if (o2_draw_bool(c, 9, 1))
			half->length_bytes = o2_draw_bool(c, 1, 1) ? 0 : 257 * 4096;
		asked->tsr_u.bulk_v0 = (struct o2_lst_bulk_v0){half->is_read ? 1 : 2,
							       half->length_bytes / 4096, half->check};
	} else {
		if (half->length_bytes % 4096 != 0)
			half->offset = 8 * (uint32_t)o2_draw(c, (4096 - half->length_bytes % 4096) / 8);
		if (work->flips && o2_draw_bool(c, 3, 1))
			draw_at_edge(c, half);
		if (o2_draw_bool(c, 9, 1))
			half->length_bytes = o2_draw_bool(c, 1, 1) ? 0 : half->length_bytes + 4;
		else if (o2_draw_bool(c, 9, 1))
			half->offset += o2_draw_bool(c, 1, 1) ? 4 : 4096;
		asked->tsr_u.bulk_v1 =
			(struct o2_lst_bulk_v1){(uint16_t)(half->is_read ? 1 : 2), (uint16_t)half->check,
						half->length_bytes, half->offset};
	}
	half->fails = half->is_read && work->flips && is_found(half);
}

/*
 * A request that needs all pages of the other node waits while an abandoned write still holds some, for a time that
 * the model cannot predict.  So one case has only one of the two.  If pages are scarce, all requests are large.
 */
bool o2_work_has_large(const struct o2_work *work)
{
	if (o2_work_is_scarce(work))
		return true;
	for (uint32_t i = 0; i < work->nhalves; i++)
		if (work->half[i].length_bytes > LARGE_BYTES)
			return true;
	return false;
}

/* --- in which order --- */

/* True if there are pages for the request, but others wait before it. */
static bool waits_with_room(const struct o2_lst_node *node, const struct o2_lst_msg *msg)
{
	const uint32_t left = node->config.server_pages - o2_lst_pages_used(node->server_pages);

	return !TAILQ_EMPTY(&node->waiting) && msg->u.brw_reqst.brw_len <= left * PAGE_BYTES;
}

/* The other node serves requests in order of arrival, even if a later one would have room at once. */
void o2_work_check_order(struct o2_work *work, const struct o2_letter *letter)
{
	const struct o2_lnet_hdr *hdr = &letter->hdr;
	struct o2_lst_msg msg;
	uint64_t id;
	uint32_t i = 0;

	if (letter->from == &work->the->lnet.b) {
		if (hdr->type == O2_LNET_PUT && letter->kind == O2_LETTER_IMMEDIATE &&
		    o2_lst_msg_decode(letter->payload, hdr->payload_length, &msg, NULL) == 0 &&
		    msg.msg_type == O2_LST_BRW_REQST && work->nunserved < O2_WORK_UNSERVED) {
			work->unserved[work->nunserved++] = msg.u.reqst.bulkid;
			work->the->seen[WORK_IN_LINE] += waits_with_room(work->the->a.node, &msg);
		}
		return;
	}
	if (hdr->type == O2_LNET_PUT && hdr->msg.put.ptl_index == O2_LST_PORTAL_RDMA)
		id = hdr->msg.put.match_bits;
	else if (hdr->type == O2_LNET_GET)
		id = hdr->msg.get.match_bits;
	else
		return;
	while (i < work->nunserved && work->unserved[i] != id)
		i++;
	if (i == work->nunserved)
		return;
	if (i > 0)
		o2_report_fail(work->the->report, "lst/work-order",
			       "bulk %" PRIu64 " is served before bulk %" PRIu64
			       ", which was asked for first",
			       id, work->unserved[0]);
	work->nunserved--;
	memmove(&work->unserved[i], &work->unserved[i + 1],
		(work->nunserved - i) * sizeof(work->unserved[0]));
}

void o2_work_draw_scarce(struct o2_work *work)
{
	struct o2_choice *c = work->the->choice;
	const struct o2_lst_node *node = work->the->a.node;
	const uint32_t left = LEFT_PAGES + (uint32_t)o2_draw(c, 2);

	if (o2_draw_bool(c, 2, 1))
		o2_lst_bulk_get(node->server_pages, (node->config.server_pages - left) * PAGE_BYTES, 0,
				&work->held);
}

/* --- writes of the console --- */

struct o2_lst_msg o2_work_lay_write(struct o2_work *work, uint8_t *bytes, struct o2_work_write *write)
{
	static const uint32_t lengths[] = {8, 16, 2048, 3976, 3984, 4088, 4096};
	struct o2_choice *c = work->the->choice;
	uint32_t words, check;

	*write = (struct o2_work_write){.len = work->features == 0 ? 4096 : lengths[o2_draw(c, 6)]};
	check = 1 + (uint32_t)o2_draw(c, 2);
	words = write->len / WORD_BYTES;
	for (uint32_t i = 0; i < words; i++)
		o2_store64(bytes + i * WORD_BYTES, work->order, WORD);
	if (o2_draw_bool(c, 1, 1)) {
		write->at = WORD_BYTES * (o2_draw_bool(c, 1, 1) ? 0 : (uint32_t)o2_draw(c, words - 1));
		write->found = check == O2_LST_CHECK_FULL ||
			       (check == O2_LST_CHECK_SIMPLE &&
				(write->at == 0 || write->at == write->len - WORD_BYTES));
		write->got = WORD ^ UINT64_C(1) << o2_draw(c, 63);
		o2_store64(bytes + write->at, work->order, write->got);
	}
	write->bytes = write->len;
	if (write->len > WORD_BYTES && o2_draw_bool(c, 3, 1)) {
		write->bytes = WORD_BYTES * (1 + (uint32_t)o2_draw(c, words - 2));
		write->found = true;
	}
	work->checked += check != O2_LST_CHECK_NONE || write->bytes < write->len;
	work->written_bytes += write->bytes;
	work->written += !write->found;
	work->wrong_written += write->found;
	work->fetched_bytes += write->bytes;
	return o2_lst_ask_brw(O2_LST_BRW_WRITE, (enum o2_lst_brw_check)check, write->len);
}

void o2_work_check_write(struct o2_work *work, const struct o2_work_write *write, uint32_t nwrong)
{
	const struct o2_lst_node_wrong *wrong = &work->the->b.wrong;

	o2_work_count_wrong(work, "wrong words of a write", work->the->b.nwrong - nwrong, write->found);
	work->the->seen[write->bytes < write->len ? WORK_WRITE_SHORT : WORK_WRITE_WRONG] += write->found;
	if (write->found && (wrong->nid != O2_LNET_NID_A || wrong->is_client || wrong->len != write->len ||
			     wrong->bytes != write->bytes))
		o2_report_fail(work->the->report, "lst/work-wrong",
			       "a write of %" PRIu32 " bytes, of which %" PRIu32
			       " come, is told as one of %" PRIu32 ", of which %" PRIu64 " have come",
			       write->len, write->bytes, wrong->len, wrong->bytes);
	else if (write->found && write->bytes == write->len &&
		 (wrong->word.at != write->at || wrong->word.want != WORD || wrong->word.got != write->got))
		o2_report_fail(work->the->report, "lst/work-wrong",
			       "of a write of %" PRIu32 " bytes, byte %" PRIu32 " is told as 0x%016" PRIx64,
			       wrong->len, wrong->word.at, wrong->word.got);
}
