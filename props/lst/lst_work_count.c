/* SPDX-License-Identifier: MIT */
#include "props/lst/lst_work.h"

#include <inttypes.h>

/* Compares what both nodes of a work case count and report with the model: docs/lst.md, "Counters". */

#define WORD_BYTES  8u
#define PAGE_BYTES  4096u
#define SERVER_WORD UINT64_C(0xeeb0eeb1eeb2eeb3)

void o2_work_count_wrong(struct o2_work *work, const char *what, uint64_t found, uint64_t expected)
{
	if (found != expected)
		o2_report_fail(work->the->report, "lst/work-count",
			       "%s: %" PRIu64 ", and %" PRIu64 " were foretold", what, found, expected);
}

static void check_stat(struct o2_work *work, const struct o2_lst_stat_reply *stat,
		       const struct o2_lst_lnet_counters *lnet, uint64_t started_ms)
{
	o2_work_count_wrong(work, "running_ms", stat->str_fw.running_ms, work->the->now_ms - started_ms);
	o2_work_count_wrong(work, "active_batches", stat->str_fw.active_batches, 0);
	o2_work_count_wrong(work, "zombie_sessions", stat->str_fw.zombie_sessions, 0);
	o2_work_count_wrong(work, "brw_errors", stat->str_fw.brw_errors, work->brw_errors);
	o2_work_count_wrong(work, "ping_errors", stat->str_fw.ping_errors, work->ping_errors);
	o2_work_count_wrong(work, "errors", stat->str_rpc.errors, work->lost);
	o2_work_count_wrong(work, "rpcs_sent", stat->str_rpc.rpcs_sent, work->tries - work->lost);
	o2_work_count_wrong(work, "rpcs_rcvd", stat->str_rpc.rpcs_rcvd, work->requests);
	o2_work_count_wrong(work, "rpcs_dropped", stat->str_rpc.rpcs_dropped, 0);
	o2_work_count_wrong(work, "rpcs_expired", stat->str_rpc.rpcs_expired, 0);
	o2_work_count_wrong(work, "bulk_get", stat->str_rpc.bulk_get, work->fetched_bytes);
	o2_work_count_wrong(work, "bulk_put", stat->str_rpc.bulk_put, 0);
	if (work->forced)
		return;
	o2_work_count_wrong(work, "lcc_errors", stat->str_lnet.lcc_errors, work->lost);
	o2_work_count_wrong(work, "lcc_drop_count", stat->str_lnet.lcc_drop_count, 0);
	o2_work_count_wrong(work, "lcc_send_count", stat->str_lnet.lcc_send_count, lnet->lcc_send_count);
	o2_work_count_wrong(work, "lcc_send_length", stat->str_lnet.lcc_send_length, lnet->lcc_send_length);
	o2_work_count_wrong(work, "lcc_recv_count", stat->str_lnet.lcc_recv_count, lnet->lcc_recv_count);
	o2_work_count_wrong(work, "lcc_recv_length", stat->str_lnet.lcc_recv_length, lnet->lcc_recv_length);
	o2_work_count_wrong(work, "lcc_msgs_alloc", stat->str_lnet.lcc_msgs_alloc, 0);
	o2_work_count_wrong(work, "lcc_msgs_max large enough", stat->str_lnet.lcc_msgs_max >= work->most, 1);
}

static void check_reports(struct o2_work *work)
{
	struct o2_lst_case *the = work->the;
	const struct o2_lst_node_report *b = o2_lst_node_report(the->b.node),
					*a = o2_lst_node_report(the->a.node);

	o2_work_count_wrong(work, "tries", b->tries, work->tries);
	o2_work_count_wrong(work, "failed", b->failed, work->failed);
	o2_work_count_wrong(work, "refused", b->refused, work->refused);
	o2_work_count_wrong(work, "writes of the console", b->writes, work->written);
	o2_work_count_wrong(work, "writes of the console that were wrong", b->wrong_writes,
			    work->wrong_written);
	o2_work_count_wrong(work, "writes of the console that were checked", b->checked_writes,
			    work->checked);
	o2_work_count_wrong(work, "bytes of the console", b->bytes, work->written_bytes);
	o2_work_count_wrong(work, "sessions", b->sessions, 1);
	o2_work_count_wrong(work, "pings that were served", a->pings, work->pings);
	o2_work_count_wrong(work, "writes that were wrong", a->wrong_writes, 0);
	if (work->forced)
		return;
	o2_work_count_wrong(work, "reads that were served", a->reads, work->reads);
	o2_work_count_wrong(work, "writes that were served", a->writes, work->writes);
	o2_work_count_wrong(work, "bytes that were served", a->bytes, work->bytes);
	o2_work_count_wrong(work, "wrong words", the->b.nwrong, work->wrong);
}

/* Check the last report of wrong bytes: it must be the bit that the other node inverts. */
static void check_wrong(struct o2_work *work)
{
	const struct o2_lst_node_wrong *wrong = &work->the->b.wrong;
	const uint32_t at = (wrong->len < 4096 ? wrong->len : 4096) / 2;
	const uint32_t bit = work->order == O2_LITTLE_ENDIAN ? at % 8 * 8 : 56 - at % 8 * 8;

	if (work->the->b.nwrong == 0)
		return;
	if (wrong->bytes < wrong->len) {
		work->the->seen[WORK_SHORT]++;
		if (wrong->nid != O2_LNET_NID_A || !wrong->is_client ||
		    wrong->len - wrong->bytes != (work->features != 0 ? WORD_BYTES : PAGE_BYTES))
			o2_report_fail(work->the->report, "lst/work-wrong",
				       "a read of %" PRIu32 " bytes is told to have brought %" PRIu64,
				       wrong->len, wrong->bytes);
		return;
	}
	work->the->seen[WORK_WRONG]++;
	if (wrong->nid != O2_LNET_NID_A || !wrong->is_client || wrong->word.at != at / 8 * 8 ||
	    wrong->word.want != SERVER_WORD || wrong->word.got != (SERVER_WORD ^ UINT64_C(1) << bit))
		o2_report_fail(work->the->report, "lst/work-wrong",
			       "of a read of %" PRIu32 " bytes, byte %" PRIu32 " is told as 0x%016" PRIx64,
			       wrong->len, wrong->word.at, wrong->word.got);
}

void o2_work_check_counts(struct o2_work *work, const struct o2_lst_stat_reply *stat,
			  const struct o2_lst_lnet_counters *lnet, uint64_t started_ms)
{
	check_stat(work, stat, lnet, started_ms);
	check_reports(work);
	check_wrong(work);
}
