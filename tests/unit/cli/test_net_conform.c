/* SPDX-License-Identifier: MIT */

#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/net/conform/capture.h"
#include "cli/net/conform/hostile.h"
#include "cli/net/conform/known.h"
#include "cli/net/conform/listen.h"
#include "cli/net/conform/report.h"
#include "tests/lib/unit_test.h"
#include "wire/bytes.h"
#include "wire/layout.h"

/* How conform reports the liar's output and the judge's findings (docs/conform.md). */

static void expect_line(const char *line, const char *name, enum o2_conform_outcome outcome, const char *text)
{
	struct o2_conform_result result;
	char got[O2_CONFORM_ID_BYTES];

	assert_true(o2_conform_hostile_line(line, got, &result));
	assert_string_equal(got, name);
	assert_int_equal(result.outcome, outcome);
	assert_string_equal(result.text, text);
}

TEST(each_outcome_of_the_liar_is_understood)
{
	expect_line("magic                    met\n", "magic", O2_CONFORM_HOLDS, "");
	expect_line("noop-storm               TOLERATED (known): the connection is still there\n",
		    "noop-storm", O2_CONFORM_TOLERATED, "the connection is still there");
	expect_line("asks-depth-0             NOT MET: accepted, reason 0; expected a reject with reason 7\n",
		    "asks-depth-0", O2_CONFORM_FINDING,
		    "accepted, reason 0; expected a reject with reason 7");
	expect_line("no-credit                not tried: needs a victim of ours\n", "no-credit",
		    O2_CONFORM_NOT_TRIED, "needs a victim of ours");
	expect_line("a-name-that-is-longer-than-its-column not tried: x",
		    "a-name-that-is-longer-than-its-column", O2_CONFORM_NOT_TRIED, "x");
}

TEST(other_lines_are_none)
{
	static const char *const lines[] = {
		"",
		"\n",
		"seed 0x1\n",
		"2 passed, 0 failed, 0 tolerated, 0 not tried\n",
		"magic\n",
		"magic met\n\0x",
		"magic                    MET\n",
		" magic met\n",
	};
	struct o2_conform_result result;
	char name[O2_CONFORM_ID_BYTES], longer[400];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(o2_conform_hostile_line(lines[i], name, &result), i == 5);
	memset(longer, 'a', sizeof(longer));
	memcpy(longer + sizeof(longer) - 6, " met\n", 6);
	assert_false(o2_conform_hostile_line(longer, name, &result));
}

TEST(rows_of_the_table_are_understood)
{
	char name[O2_CONFORM_ID_BYTES], sentence[192];

	assert_true(o2_conform_hostile_row("| `magic` | header | another protocol's magic | "
					   "`wire/header/magic` ([wire.md](wire.md)) | closes, "
					   "EPROTO | - | `without/wire/header/magic` |\n",
					   name, sentence, sizeof(sentence)));
	assert_string_equal(name, "magic");
	assert_string_equal(sentence, "another protocol's magic: closes, EPROTO");
	assert_false(
		o2_conform_hostile_row("| Name | Group | What the peer does | Rule | Reaction | x | y |\n",
				       name, sentence, sizeof(sentence)));
	assert_false(
		o2_conform_hostile_row("|---|---|---|---|---|---|---|\n", name, sentence, sizeof(sentence)));
	assert_false(o2_conform_hostile_row("| `magic` | header | cut", name, sentence, sizeof(sentence)));
}

#define US   UINT64_C(0x000500000a000001)
#define THEM UINT64_C(0x000500000a000002)

static const char msg_name; /* its address identifies the connection; it is never dereferenced */

/* Report a message of one side to the watch, as if it had been sent. */
static void say(const struct o2_watch *watch, enum o2_watched_kind kind, bool ours, enum o2_msg_type type,
		uint8_t credits, size_t more_bytes)
{
	struct o2_msg msg = {.order = O2_LITTLE_ENDIAN,
			     .ibm_version = O2_MSG_VERSION_2,
			     .ibm_type = (uint8_t)type,
			     .ibm_credits = credits,
			     .ibm_srcnid = ours ? US : THEM,
			     .ibm_srcstamp = ours ? 11 : 22,
			     .ibm_dstnid = ours ? THEM : US,
			     .ibm_dststamp = type == O2_MSG_CONNREQ ? 0
					     : ours		    ? 22
								    : 11};
	struct o2_watched watched = {.kind = kind, .ours = ours, .conn = &msg_name};
	uint8_t bytes[O2_MSG_BYTES] = {0};
	int length;

	if (type == O2_MSG_CONNREQ || type == O2_MSG_CONNACK) {
		msg.u.connparams.ibcp_queue_depth = 8;
		msg.u.connparams.ibcp_max_frags = O2_MAX_FRAGS;
		msg.u.connparams.ibcp_max_msg_size = O2_MSG_BYTES;
	}
	length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), NULL);
	assert_true(length > 0);
	watched.bytes = bytes;
	watched.length_bytes = (size_t)length + more_bytes;
	if (more_bytes > 0)
		o2_store32(bytes + O2_AT_NOB, O2_LITTLE_ENDIAN, (uint32_t)watched.length_bytes);
	watch->hear(watch->context, &watched);
}

/* Does our end send the NOOP, is our end the liar, and the rules that then name the liar. */
static struct {
	bool ours, lies;
	char named[O2_CONFORM_NAMED_BYTES];
	const char *only; /* --only */
} noop;

/* Run one connection on which a side that owes no credits sends a NOOP with `credits`, and more_bytes behind it. */
static void hear_noop(uint8_t credits, size_t more_bytes, enum o2_net_profile profile,
		      struct o2_conform_report *report)
{
	const struct o2_conform_known known = report->known;
	static struct o2_net_options options;
	const struct o2_watched gone = {.kind = O2_WATCHED_GONE, .ours = true, .conn = &msg_name};
	struct o2_conform_listener *listener;
	const struct o2_watch *watch;

	options = (struct o2_net_options){.nid = US,
					  .peer = THEM,
					  .port = 987,
					  .timeout_ms = 50000,
					  .json = true,
					  .profile = profile,
					  .only = noop.only};
	*report = (struct o2_conform_report){.options = &options, .known = known, .whole = true};
	listener = o2_conform_listen(&options);
	assert_non_null(listener);
	watch = o2_conform_listener_watch(listener);
	o2_conform_listener_at(listener, "ping/one");
	say(watch, O2_WATCHED_REQUEST, true, O2_MSG_CONNREQ, 0, 0);
	say(watch, O2_WATCHED_REPLY, false, O2_MSG_CONNACK, 0, 0);
	o2_conform_listener_at(listener, "ping/info");
	o2_conform_listener_lies(listener, noop.lies);
	say(watch, O2_WATCHED_MESSAGE, noop.ours, O2_MSG_NOOP, credits, more_bytes);
	o2_conform_listener_named(listener, noop.named);
	watch->hear(watch->context, &gone);
	o2_conform_listener_report(listener, report);
	assert_true(o2_conform_listener_free(listener));
}

TEST(what_the_judge_finds_is_a_row_with_side_probe_and_bytes)
{
	struct o2_conform_report report = {.nrows = 0};

	hear_noop(3, 0, O2_NET_KERNEL, &report);
	assert_int_equal(report.nrows, 1);
	assert_string_equal(report.rows[0].id, "judge/credits/over-owed");
	assert_string_equal(report.rows[0].again, "ping/info");
	assert_string_equal(report.rows[0].source, "transport.md, \"Flow control\"");
	assert_int_equal(report.rows[0].result.outcome, O2_CONFORM_FINDING);
	/* Magic, version, type 0xd0 and the credits. */
	assert_non_null(strstr(report.rows[0].result.text, "the peer, in ping/info: "));
	assert_non_null(strstr(report.rows[0].result.text, "; bytes 911be90b 1200d003 "));
	assert_int_equal(report.judged.connections, 1);
	assert_int_equal(report.judged.messages, 1);
	o2_conform_report_free(&report);
}

/* A rule that is listed as known counts as tried when all probes were: it is named as gone if nobody breaks it. */
TEST(a_known_rule_is_tried_by_all_probes)
{
	static struct o2_conform_known_entry entries[2];
	struct o2_conform_report report;

	for (unsigned int some = 0; some < 2; some++) {
		memset(entries, 0, sizeof(entries));
		strcpy(entries[0].id, "judge/credits/over-owed");
		strcpy(entries[1].id, "judge/transfer/unanswered");
		report.known = (struct o2_conform_known){.count = 2, .entry = entries};
		noop.only = some ? "ping/" : NULL;
		hear_noop(3, 0, O2_NET_STRICT, &report);
		noop.only = NULL;
		assert_int_equal(report.rows[0].result.outcome, O2_CONFORM_KNOWN);
		assert_true(entries[0].tried && entries[0].occurs);
		assert_true(entries[1].tried != some && !entries[1].occurs);
		free(report.rows);
	}
}

TEST(what_should_hold_is_known_of_kernels)
{
	struct o2_conform_report report = {.nrows = 0};

	hear_noop(0, 4, O2_NET_STRICT, &report);
	assert_int_equal(report.nrows, 1);
	assert_string_equal(report.rows[0].id, "judge/message/length");
	assert_int_equal(report.rows[0].result.outcome, O2_CONFORM_FINDING);
	o2_conform_report_free(&report);
	hear_noop(0, 4, O2_NET_KERNEL, &report);
	assert_int_equal(report.rows[0].result.outcome, O2_CONFORM_TOLERATED);
	o2_conform_report_free(&report);
}

TEST(a_liar_is_named_and_is_no_finding)
{
	struct o2_conform_report report = {.nrows = 0};

	noop.lies = noop.ours = true;
	hear_noop(3, 4, O2_NET_STRICT, &report);
	assert_int_equal(report.nrows, 0);
	assert_string_equal(noop.named, "message/length, credits/over-owed");
	o2_conform_report_free(&report);
	/* A NOOP of the liar's peer is a finding. */
	noop.ours = false;
	hear_noop(3, 0, O2_NET_STRICT, &report);
	assert_int_equal(report.nrows, 1);
	assert_string_equal(report.rows[0].id, "judge/credits/over-owed");
	assert_non_null(strstr(report.rows[0].result.text, "the peer, in ping/info: "));
	assert_string_equal(noop.named, "");
	o2_conform_report_free(&report);
	/* A NOOP of our end is a finding if our end is not the liar. */
	noop.lies = false;
	noop.ours = true;
	hear_noop(3, 0, O2_NET_STRICT, &report);
	assert_int_equal(report.nrows, 1);
	assert_non_null(strstr(report.rows[0].result.text, "this end, in ping/info: "));
	o2_conform_report_free(&report);
	noop.ours = false;
}

/* An event that could not be written for lack of space stays missing, even if there is space again later. */
TEST(a_capture_with_a_gap_is_not_whole)
{
	const uint8_t bytes[O2_CM_REQUEST_BYTES] = {0};
	const struct o2_watched request = {.kind = O2_WATCHED_REQUEST,
					   .ours = true,
					   .conn = &msg_name,
					   .bytes = bytes,
					   .length_bytes = sizeof(bytes)};
	const struct o2_watched write = {
		.kind = O2_WATCHED_WRITE, .ours = true, .conn = &msg_name, .length_bytes = 1u << 20};
	void (*const before)(int) = signal(SIGXFSZ, SIG_IGN);
	const int file = memfd_create("said", 0);
	struct o2_conform_capture *capture;
	struct rlimit limit;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int narrow = 0; narrow < 2; narrow++) {
		capture = o2_conform_capture_open(path, US, THEM, 987);
		assert_non_null(capture);
		o2_conform_capture_hear(capture, &request);
		assert_int_equal(setrlimit(RLIMIT_FSIZE,
					   &(struct rlimit){narrow ? 4096 : limit.rlim_cur, limit.rlim_max}),
				 0);
		o2_conform_capture_hear(capture, &write);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		assert_int_equal(o2_conform_capture_close(capture), !narrow);
	}
	close(file);
	signal(SIGXFSZ, before);
}

static const char *again(char *const *argv, int argc, char *text, size_t bytes)
{
	const struct o2_conform_report report = {.argc = argc, .argv = (char **)argv};

	o2_conform_again(&report, "ping/one", text, bytes);
	return text;
}

/* The printed command gives the same arguments in a shell; a text that is too long is cut, with quotes closed. */
TEST(a_finding_is_tried_again_by_the_same_words)
{
	char *const odd[] = {"conform", "", "it's", "a b", "--only=x", "10.77.0.2@o2ib"};
	char *const two[] = {"conform", "a b c d e f"};
	char *const end[] = {"conform", "--", "10.77.0.2@o2ib"};
	char text[100];

	assert_string_equal(again(odd, 6, text, sizeof(text)),
			    "o2ref conform '' 'it'\\''s' 'a b' 10.77.0.2@o2ib --only ping/one");
	assert_string_equal(again(two, 2, text, 22), "o2ref conform 'a' --o");
	/* What follows "--" would be no option. */
	assert_string_equal(again(end, 3, text, sizeof(text)),
			    "o2ref conform 10.77.0.2@o2ib --only ping/one");
	for (size_t bytes = 1; bytes < 50; bytes++) {
		memset(text, 'x', sizeof(text));
		assert_true(strlen(again(two, 2, text, bytes)) < bytes);
		for (size_t i = bytes; i < sizeof(text); i++)
			assert_int_equal(text[i], 'x');
	}
}

static bool is_any(const char *id)
{
	return id[0] != '\0';
}

/* A new list of known findings is marked as neither tried nor met, whatever its memory held before. */
TEST(what_is_known_begins_as_not_tried)
{
	static const char text[] = "ping/one\nput/size-1 # why\n";
	const int fd = memfd_create("known", 0);
	struct o2_conform_known known;
	char path[40];

	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	mallopt(M_PERTURB, 0x5a);
	assert_true(o2_conform_known_read(path, is_any, &known));
	mallopt(M_PERTURB, 0);
	assert_int_equal(known.count, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_false(known.entry[i].tried || known.entry[i].occurs);
	assert_true(o2_conform_known_note(&known, "ping/one", true));
	assert_true(known.entry[0].tried && known.entry[0].occurs && !known.entry[1].tried);
	o2_conform_known_free(&known);
	close(fd);
}
