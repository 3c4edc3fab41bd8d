/* SPDX-License-Identifier: MIT */
/* Unit tests of parts that read and judge captures: sequence numbers, and the rows of a report. */
#include <errno.h>
#include <inttypes.h>

#include "cli/flows.h"
#include "cli/judge_junit.h"
#include "cli/judge_page.h"
#include "cli/ladder.h"
#include "cli/ladder_bytes.h"
#include "tests/lib/judge_say.h"
#include "tests/lib/unit_test.h"

#define REPEATS 0x10000u /* up to this distance a packet counts as a repeat (docs/cli.md, "Captures") */

/* A first packet too far behind for a repeat belongs to a new connection, whose start was not captured; no other does. */
TEST(test_a_first_packet_far_behind_is_new)
{
	for (uint32_t more = 0; more < 2; more++)
		for (uint32_t first = 0; first < 2; first++) {
			struct o2_flow flow = {.known = true, .next_psn = 5};
			const struct o2_roce_packet packet = {
				.kind = O2_ROCE_SEND, .first = first, .psn = (5 - REPEATS - more) & 0xffffff};
			const bool is_new = more && first;

			assert_int_equal(o2_flow_advance(&flow, &packet),
					 is_new ? O2_FLOW_GAP : O2_FLOW_REPEATED);
			assert_int_equal(flow.next_psn, is_new ? packet.psn + 1 : 5);
		}
}

static enum o2_flow_order order_of(struct o2_flow *flow, uint32_t psn)
{
	return o2_flow_advance(flow,
			       &(struct o2_roce_packet){.kind = O2_ROCE_SEND, .first = true, .psn = psn});
}

/* Of a queue pair that begins a new connection no gap is left, and no sender that has gone back. */
TEST(test_a_new_connection_of_a_queue_pair)
{
	const struct o2_roce_packet packet = {.kind = O2_ROCE_SEND, .dest_qp = 7};
	struct o2_flow_setup setup = {.qp = 7, .cm_id = 1, .psn = 13};
	struct o2_flows flows = {.count = 0};
	struct o2_flow lost, *flow = o2_flows_of(&flows, &packet, &lost);

	assert_non_null(flow);
	assert_int_equal(order_of(flow, 10), O2_FLOW_ANEW);
	assert_int_equal(order_of(flow, 14), O2_FLOW_GAP);
	assert_int_equal(order_of(flow, 11), O2_FLOW_BACK);
	assert_int_equal(order_of(flow, 13), O2_FLOW_GAP);
	assert_true(o2_flows_setup(&flows, &setup));
	assert_int_equal(order_of(flow, 13), O2_FLOW_ANEW);
	assert_int_equal(order_of(flow, 12), O2_FLOW_REPEATED);
	assert_int_equal(order_of(flow, 14), O2_FLOW_NEXT);
	assert_int_equal(order_of(flow, 15), O2_FLOW_NEXT);
	/* The same setup once more, as its message is repeated, changes nothing; another one does. */
	assert_int_equal(order_of(flow, 17), O2_FLOW_GAP);
	assert_true(o2_flows_setup(&flows, &setup));
	assert_int_equal(order_of(flow, 16), O2_FLOW_BACK);
	setup.cm_id = 2;
	assert_true(o2_flows_setup(&flows, &setup));
	assert_int_equal(order_of(flow, 99), O2_FLOW_ANEW);
	o2_flows_end(&flows);
}

/* A finding of the first rule, about a side whose NID is unknown, also gets a row. */
TEST(test_rows_of_a_report)
{
	static struct o2_judge_report report;
	struct o2_judge_finding finding = {.rule = (enum o2_judge_rule_id)0};
	struct say say;

	say_open(&say, NULL);
	say_meet(&say, O2_JUDGE_LATER);
	finding.conn = say.conn;
	for (uint32_t i = 0; i < 3; i++)
		o2_judge_report_add(&report, &finding);
	assert_int_equal(report.count, 1);
	assert_int_equal(report.row[0].times, 3);
	/* On another connection, one that has not named itself may be another node, and so may its peer. */
	say_meet(&say, O2_JUDGE_LATER);
	finding.conn = say.conn;
	o2_judge_report_add(&report, &finding);
	say_noop(&say, O2_JUDGE_B, 0);
	o2_judge_report_add(&report, &finding);
	assert_int_equal(report.count, 3);
	say_meet(&say, O2_JUDGE_LATER);
	finding.conn = say.conn;
	say_noop(&say, O2_JUDGE_B, 0);
	o2_judge_report_add(&report, &finding);
	assert_int_equal(report.count, 3);
	assert_int_equal(report.row[0].times, 3);
	assert_int_equal(report.row[1].times, 1);
	assert_int_equal(report.row[2].times, 2);
	say_close(&say);
}

/* Two connections of the same nodes: what is found on the first waits longer for its proof.  The row has the first. */
TEST(test_the_first_of_a_row)
{
	static struct o2_judge_report report;
	static const uint64_t numbers[] = {50, 10, 10, 70};
	struct o2_judge_finding finding = {.rule = O2_JUDGE_CREDITS_OVER_OWED};
	struct say say;

	say_open(&say, NULL);
	say_meet(&say, O2_JUDGE_LATER);
	finding.conn = say.conn;
	for (uint32_t i = 0; i < 4; i++) {
		finding.number = numbers[i];
		finding.time_ns = finding.error.value = 1 + i;
		o2_judge_report_add(&report, &finding);
	}
	assert_int_equal(report.count, 1);
	assert_int_equal(report.row[0].times, 4);
	assert_int_equal(report.row[0].number, 10);
	assert_int_equal(report.row[0].time_ns, 2);
	assert_int_equal(report.row[0].error.value, 2);
	say_close(&say);
}

/* A report has the severest of the findings without a row.  If all are notes, no case of JUnit fails for them. */
TEST(test_more_than_a_report_holds)
{
	static const enum o2_judge_rule_id more[] = {O2_JUDGE_END_OPEN, O2_JUDGE_MESSAGE_LENGTH,
						     O2_JUDGE_END_OPEN, O2_JUDGE_CREDITS_NONE,
						     O2_JUDGE_MESSAGE_LENGTH};
	static const enum o2_judge_severity rest[] = {O2_JUDGE_NOTE, O2_JUDGE_SHOULD, O2_JUDGE_SHOULD,
						      O2_JUDGE_MUST, O2_JUDGE_MUST};
	static const char rules[O2_JUDGE_ROWS_MAX];
	static struct o2_judge_report report;
	static const struct o2_judge_seen_totals totals;
	const struct o2_judge_result result = {.name = "x", .report = &report, .totals = &totals};
	struct o2_judge_finding finding = {.rule = O2_JUDGE_MESSAGE_WIRE};
	struct say say;

	say_open(&say, NULL);
	say_meet(&say, O2_JUDGE_LATER);
	finding.conn = say.conn;
	for (uint32_t i = 0; i < O2_JUDGE_ROWS_MAX; i++) {
		finding.error.rule = &rules[i];
		o2_judge_report_add(&report, &finding);
	}
	assert_int_equal(o2_judge_report_rest(&report), O2_JUDGE_SEVERITIES);
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		char *text = NULL, said[64];
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		finding.rule = more[i];
		o2_judge_report_add(&report, &finding);
		assert_int_equal(o2_judge_report_rest(&report), rest[i]);
		o2_judge_junit_add(&result, out);
		fclose(out);
		assert_non_null(strstr(text, rest[i] < O2_JUDGE_NOTE ? "failures=\"2\"" : "failures=\"1\""));
		snprintf(said, sizeof(said), "%s%zu more findings did not fit",
			 rest[i] < O2_JUDGE_NOTE ? "" : "<system-out>", i + 1);
		assert_non_null(strstr(text, said));
		free(text);
	}
	say_close(&say);
}

static const struct o2_wire_options wire = {.max_frags = O2_MAX_FRAGS};

/* Make the report page of one file.  The caller frees it. */
static char *page_of(const struct o2_judge_report *report, struct o2_ladder *ladder)
{
	static const struct o2_judge_seen_totals totals;
	const struct o2_judge_result result = {.name = "x", .report = report, .totals = &totals};
	struct o2_judge_page *page;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	page = o2_judge_page_new(out);
	assert_non_null(page);
	o2_judge_page_add(page, &result, ladder);
	assert_true(o2_judge_page_end(page));
	fclose(out);
	return text;
}

/* The text for the place of a finding whose events are not on the page. */
TEST(test_places_that_are_not_on_the_page)
{
	static const char *const places[] = {": packet 5<br>", ": packet 5 first; 2 times in all<br>"};
	static struct o2_judge_report report = {.count = 1};

	for (uint32_t more = 0; more < 2; more++) {
		struct o2_ladder *ladder = o2_ladder_new(O2_LADDER_FIRST, &wire);
		char *text;

		report.row[0] = (struct o2_judge_row){.times = 1 + more, .number = 5};
		text = page_of(&report, ladder);
		assert_non_null(strstr(text, places[more]));
		free(text);
		o2_ladder_free(ladder);
	}
}

/*
 * A later packet can have an earlier time than the first.  A packet without a time shows none, and times count from
 * the first packet that has one.
 */
TEST(test_times_on_the_page)
{
	static const struct o2_judge_report report;
	static const struct {
		uint64_t first_ns, then_ns[2];
		const char *times[3];
	} rows[] = {
		{3000000000, {1749995000, 3000000000}, {"0.000000", "-1.250005", "0.000000"}},
		{0, {3000000000, 3000004000}, {"?", "0.000000", "0.000004"}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_ladder *ladder = o2_ladder_new(O2_LADDER_FIRST, &wire);
		struct say say;
		char *text, cell[48];

		say_open(&say, NULL);
		o2_judge_listen(say.judge, o2_ladder_hear, ladder);
		say.now_ns = rows[i].first_ns;
		say_connected(&say);
		say.now_ns = rows[i].then_ns[0];
		say_noop(&say, O2_JUDGE_A, 1);
		say.now_ns = rows[i].then_ns[1];
		say_noop(&say, O2_JUDGE_B, 1);
		text = page_of(&report, ladder);
		for (size_t time = 0; time < 3; time++) {
			snprintf(cell, sizeof(cell), "<span class=\"t\">%s</span>", rows[i].times[time]);
			assert_non_null(strstr(text, cell));
		}
		free(text);
		say_close(&say);
		o2_ladder_free(ladder);
	}
}

/* A table up to the limit is shown completely; the last line of a longer one says how many lines there are. */
TEST(test_lines_of_a_table)
{
	struct o2_ladder *ladder = o2_ladder_new(O2_LADDER_FIRST, &wire);
	struct o2_msg msg = say_header(O2_JUDGE_B, O2_MSG_PUT_ACK, 0);
	struct o2_rdma_desc *desc = &msg.u.putack.ibpam_rd;

	for (uint32_t frags = 73; frags < 75; frags++) {
		uint8_t bytes[O2_MSG_BYTES];
		struct o2_ladder_event event = {.kind = O2_JUDGE_MESSAGE, .raw = bytes};
		char *text = NULL, line[80];
		uint32_t lines = 0;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		int length;

		/* Header, cookies, key and number of fragments take 14 lines. */
		desc->rd_nfrags = frags;
		for (uint32_t i = 0; i < frags; i++)
			desc->rd_frags[i].rf_nob = 1;
		length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), NULL);
		assert_true(length > 0);
		event.raw_bytes = (size_t)length;
		o2_ladder_bytes_html(ladder, &event, out);
		fclose(out);
		for (const char *at = text; (at = strstr(at, "<tr>")) != NULL; at++)
			lines++;
		assert_int_equal(lines, 160 + (frags - 73));
		snprintf(line, sizeof(line), "<td>%" PRIu32 " lines in all</td>", 14 + 2 * frags);
		assert_int_equal(strstr(text, line) != NULL, frags > 73);
		free(text);
	}
	o2_ladder_free(ladder);
}

/* The gap that a message shows which comes again is shown at that message: no other event tells of it. */
TEST(test_a_gap_that_a_repetition_shows)
{
	static const struct o2_judge_options lossy = {50000, 1000, true, 1};
	static const struct say_sink sink = {1, 0x1000, 1, 4096};
	struct o2_ladder *ladder = o2_ladder_new(O2_LADDER_FIRST, &wire);
	struct say say;

	say_open(&say, &lossy);
	o2_judge_listen(say.judge, o2_ladder_hear, ladder);
	say_connected(&say);
	say_done(&say, O2_JUDGE_B, O2_MSG_GET_DONE, 1, -EIO, 0);
	say_get_req(&say, O2_JUDGE_A, 1, &sink, 0);
	assert_int_equal(say.times[O2_JUDGE_TRANSPORT_LOST], 1);
	o2_ladder_find(ladder, &say.last[O2_JUDGE_TRANSPORT_LOST]);
	o2_ladder_end(ladder);
	assert_non_null(ladder->finding[0].event);
	assert_int_equal(ladder->finding[0].event->type, O2_MSG_GET_REQ);
	say_close(&say);
	o2_ladder_free(ladder);
}

/* The number of findings shown at their events is limited, in all and for each rule and pair of nodes. */
TEST(test_findings_at_their_events)
{
	static char rules[200][8];
	struct o2_judge_finding finding = {.rule = O2_JUDGE_MESSAGE_WIRE};
	struct o2_ladder *ladder = o2_ladder_new(O2_LADDER_FIRST, &wire);
	struct say say;

	say_open(&say, NULL);
	say_meet(&say, O2_JUDGE_WHOLE);
	finding.conn = say.conn;
	for (uint32_t i = 0; i < 1000; i++) {
		finding.error.rule = rules[i / 5];
		o2_ladder_find(ladder, &finding);
		assert_int_equal(ladder->findings, i / 5 * 4 + i % 5 + 1 - i % 5 / 4 < 512
							   ? i / 5 * 4 + i % 5 + 1 - i % 5 / 4
							   : 512);
	}
	say_close(&say);
	o2_ladder_free(ladder);
}
