/* SPDX-License-Identifier: MIT */
/* lst against the test node of --device=loop: docs/lst.md, "The command". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/command/commands.h"

#define PEER	   "10.99.0.1@o2ib"
#define PAGE_BYTES 4096u
/* docs/lst.md, "What may be sent" and "Constants". */
#define MAX_BYTES	1048576u
#define MAX_CONCURRENCY 1024u
#define WORD		UINT64_C(0xeeb0eeb1eeb2eeb3)
#define IMMEDIATE_BYTES 3976u /* docs/wire.md: longest payload of an IMMEDIATE */

enum test {
	PING,
	READ,
	WRITE,
};

static const char *const test_names[] = {[PING] = "ping", [READ] = "read", [WRITE] = "write"};

enum check {
	NONE,
	SIMPLE,
	FULL,
};

static const char *const check_names[] = {[NONE] = "none", [SIMPLE] = "simple", [FULL] = "full"};

struct tried {
	enum test test;
	enum check check;
	uint64_t count, concurrency, size, offset;
	bool every_word, json, judge, ours, flips;
	bool reverse; /* the node is the client */
	const char *mode;
};

/* The offset must not add a page to the bulk. */
static uint64_t most_offset(uint64_t size)
{
	return size % PAGE_BYTES == 0 ? 0 : PAGE_BYTES - size % PAGE_BYTES;
}

static uint64_t draw_size(struct o2_choice *c)
{
	static const uint32_t edges[] = {8, 16, 24, 2040, 3976, 3984, 4088, 4096, 4104, 1048568, MAX_BYTES};

	return o2_draw_bool(c, 1, 1) ? edges[o2_draw_pick(c, sizeof(edges) / sizeof(edges[0]))]
				     : 8 + 8 * o2_draw(c, 4000);
}

static struct tried draw(struct o2_choice *c)
{
	static const char *const modes[] = {"fastreg", "fmr", "global", "user", "phys", "fastreg_gaps"};
	struct tried tried = {.test = (enum test)o2_draw(c, 2)};

	tried.check = (enum check)(2 - o2_draw(c, 2));
	tried.every_word = o2_draw_bool(c, 3, 1);
	tried.size = draw_size(c);
	tried.offset = o2_draw_bool(c, 1, 1) ? 8 * o2_draw(c, most_offset(tried.size) / 8) : 0;
	tried.count = 1 + o2_draw(c, tried.size > 100000 ? 3 : 30);
	tried.concurrency = 1 + o2_draw(c, o2_draw_bool(c, 3, 1) ? MAX_CONCURRENCY - 1 : 9);
	tried.mode = modes[o2_draw_pick(c, 6)];
	tried.json = o2_draw_bool(c, 1, 1);
	tried.judge = o2_draw_bool(c, 3, 1);
	tried.ours = o2_draw_bool(c, 3, 1);
	return tried;
}

/* Append the words, with some drawn options that change nothing in the output. */
static void tell(struct o2_commands_run *run, const struct tried *tried)
{
	struct o2_choice *c = run->c;

	o2_commands_words(run, "lst --device=loop");
	o2_command_word(&run->command, "--size=%" PRIu64, tried->size);
	o2_command_word(&run->command, "--offset=%" PRIu64, tried->offset);
	o2_command_word(&run->command, "--check=%s", check_names[tried->check]);
	o2_command_word(&run->command, "--count=%" PRIu64, tried->count);
	o2_command_word(&run->command, "--concurrency=%" PRIu64, tried->concurrency);
	o2_command_word(&run->command, "--mode=%s", tried->mode);
	if (o2_draw_bool(c, 3, 1))
		o2_command_word(&run->command, "--queue-depth=%" PRIu64, 2 + o2_draw(c, 253));
	o2_command_word_if(&run->command, o2_draw_bool(c, 3, 1), "--force");
	o2_command_word_if(&run->command, tried->every_word, "--every-word");
	o2_command_word_if(&run->command, tried->json, "--json");
	o2_command_word_if(&run->command, tried->judge, "--judge");
	o2_command_word_if(&run->command, tried->ours, "--nid=10.77.3.4@o2ib");
	o2_command_word_if(&run->command, tried->reverse, "--reverse");
	o2_command_word_if(&run->command, tried->flips, "--loop-quirk=lst-flip-bit");
	o2_commands_words(run, PEER);
	o2_commands_words(run, test_names[tried->test]);
}

static bool looks(const struct tried *tried)
{
	return tried->test == (tried->reverse ? WRITE : READ) && (tried->every_word || tried->check != NONE);
}

/* In reverse, the node divides the count among its units and rounds up. */
static uint64_t done_of(const struct tried *tried)
{
	const uint64_t units = tried->concurrency < tried->count ? tried->concurrency : tried->count;

	return tried->reverse ? (tried->count + units - 1) / units * units : tried->count;
}

/* --- the wrong bit: the lowest of byte n/2, but at most of byte 2048 (docs/peer.md, "Quirks") --- */

static uint64_t wrong_byte(const struct tried *tried)
{
	return tried->size / 2 < 2048 ? tried->size / 2 : 2048;
}

/* Check simple compares only the first and the last word of each page. */
static bool is_found(const struct tried *tried)
{
	const uint64_t word = wrong_byte(tried) / 8 * 8, at = tried->offset + word;

	if (!looks(tried) || !tried->flips)
		return false;
	return tried->every_word || tried->check == FULL || word == 0 || word + 8 == tried->size ||
	       at % PAGE_BYTES == 0 || (at + 8) % PAGE_BYTES == 0;
}

/* --- the output --- */

static json_t *node_of(const struct tried *tried)
{
	const uint64_t all = tried->reverse ? 0 : tried->count * tried->size;
	const json_int_t bytes = (json_int_t)all;

	/* The second request for the counters is counted too. */
	return json_pack("{s:I, s:i, s:i, s:I, s:I}", "rpcs_rcvd",
			 tried->reverse ? 0 : (json_int_t)tried->count + 1, "rpcs_dropped", 0, "errors", 0,
			 "bulk_put", tried->test == READ ? bytes : 0, "bulk_get",
			 tried->test == WRITE ? bytes : 0);
}

/* Our WRITEs for data that the node asked for: one per fragment of the node. */
static json_int_t writes_of(const struct tried *tried)
{
	const bool by_page = strcmp(tried->mode, "global") == 0;
	const uint64_t fragments = by_page ? (tried->size + PAGE_BYTES - 1) / PAGE_BYTES : 1;

	return tried->test == (tried->reverse ? READ : WRITE) && tried->size > IMMEDIATE_BYTES
		       ? (json_int_t)(done_of(tried) * fragments)
		       : 0;
}

/* The expected summary, without times, rates, and the number of messages. */
static json_t *expected_of(const struct tried *tried)
{
	const json_int_t count = (json_int_t)done_of(tried), bad = is_found(tried) ? count : 0;
	const json_int_t size = tried->test == PING ? 0 : (json_int_t)tried->size;
	json_t *all = json_pack("{s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:i}", "form",
				"o2ref/lst/output", "version", 1, "nid",
				tried->ours ? "10.77.3.4@o2ib" : "10.0.0.1@o2ib", "peer", PEER, "done",
				count - bad, "failed", bad, "bytes", (count - bad) * size, "verified",
				looks(tried) ? count : 0, "wrong", bad, "test", test_names[tried->test],
				"concurrency", (json_int_t)tried->concurrency, "canceled", 0);

	if (tried->reverse)
		json_object_set_new(all, "reverse", json_true());
	if (tried->test != PING) {
		json_object_set_new(all, "size", json_integer((json_int_t)tried->size));
		json_object_set_new(all, "offset", json_integer((json_int_t)tried->offset));
		json_object_set_new(all, "check", json_string(check_names[tried->check]));
	}
	json_object_set_new(all, "failures",
			    json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:I}", "transport", 0, "timeout", 0,
				      "malformed", 0, "status", 0, "answer", 0, "length", 0, "data", bad));
	json_object_set_new(all, "session",
			    json_pack("{s:b, s:b, s:i}", "made", 1, "left", 0, "timeout_s", 100));
	json_object_set_new(all, "node", node_of(tried));
	if (tried->judge)
		json_object_set_new(all, "judge",
				    json_pack("{s:i, s:I, s:i, s:i, s:i, s:[]}", "connections", 1, "writes",
					      writes_of(tried), "must", 0, "should", 0, "note", 0,
					      "findings"));
	return all;
}

static void check_json(struct o2_commands_run *run, const struct tried *tried)
{
	static const char *const free_of[] = {"seconds", "bytes_per_second", "operations_per_second",
					      "min_us",	 "mean_us",	     "max_us"};
	json_t *found = json_loads(run->command.out, 0, NULL), *expected = expected_of(tried);
	json_t *node = json_object_get(found, "node");
	char *text;

	/* In reverse the node gets at least 3 RPCs: run, one or more status requests, and the counters. */
	if (tried->reverse && json_integer_value(json_object_get(node, "rpcs_rcvd")) >= 3)
		json_object_set_new(node, "rpcs_rcvd", json_integer(0));
	if (!o2_commands_rates_fit(found)) {
		o2_commands_wrong(run, "rates");
	} else {
		for (size_t i = 0; i < sizeof(free_of) / sizeof(free_of[0]); i++)
			json_object_del(found, free_of[i]);
		json_object_del(json_object_get(found, "judge"), "messages");
		text = json_equal(found, expected) ? NULL : json_dumps(expected, JSON_SORT_KEYS);
		if (text != NULL) {
			o2_commands_wrong(run, "json");
			o2_report_add(run->report, "expected %s", text);
		}
		free(text);
	}
	json_decref(found);
	json_decref(expected);
}

/* Write what the node has served, and its counters. */
static void counted(const struct tried *tried, uint64_t bytes, char *text, size_t room)
{
	if (tried->reverse)
		snprintf(text, room,
			 "# requests, 0 dropped, 0 errors, 0 bytes read from it, 0 bytes written to it");
	else
		snprintf(text, room,
			 "%" PRIu64 " requests, 0 dropped, 0 errors, %" PRIu64 " bytes read from it, %" PRIu64
			 " bytes written to it",
			 tried->count + 1, tried->test == READ ? bytes : 0, tried->test == WRITE ? bytes : 0);
}

static void check_words(struct o2_commands_run *run, const struct tried *tried)
{
	const uint64_t count = done_of(tried), bytes = tried->test == PING ? 0 : count * tried->size;
	const bool bad = is_found(tried);
	char verify[80] = "", judge[120] = "", failed[40] = "", node[160];

	counted(tried, bytes, node, sizeof(node));
	if (looks(tried))
		snprintf(verify, sizeof(verify), "verify: %" PRIu64 " checked, %" PRIu64 " wrong\n", count,
			 bad ? count : 0);
	if (bad)
		snprintf(failed, sizeof(failed), "failed: %" PRIu64 " data\n", count);
	if (tried->judge)
		snprintf(judge, sizeof(judge),
			 "judge: # messages and %" JSON_INTEGER_FORMAT
			 " WRITEs of ours on 1 connection: 0 must, 0 should, 0 notes\n",
			 writes_of(tried));
	o2_commands_says(run, "words", run->command.out,
			 "lst: %" PRIu64 " done, %" PRIu64 " failed, %" PRIu64
			 " bytes in # s: # MB/s, #/s%s\n%s%sthe node counts: %s\n%s",
			 bad ? 0 : count, bad ? count : 0, bad ? 0 : bytes,
			 bad || tried->reverse ? "" : "; #/#/# us (min/mean/max)", verify, failed, node,
			 judge);
}

static void check_said(struct o2_commands_run *run, const struct tried *tried)
{
	if (run->report->failed)
		return;
	if (tried->json)
		check_json(run, tried);
	else
		check_words(run, tried);
}

/* --- the cases --- */

static void in_order(struct o2_commands_run *run)
{
	struct tried tried = draw(run->c);

	tried.reverse = o2_draw_bool(run->c, 1, 1);
	tried.every_word &= !tried.reverse;
	run->tally.seen[tried.reverse ? O2_COMMANDS_LST_REVERSE : O2_COMMANDS_LST]++;
	tell(run, &tried);
	if (o2_commands_go(run, 0))
		check_said(run, &tried);
}

/* Of several wrong reads the first is reported. */
static void wrong_bit(struct o2_commands_run *run)
{
	struct tried tried = draw(run->c);
	uint64_t byte, got;

	tried.test = READ;
	tried.flips = true;
	byte = wrong_byte(&tried);
	got = WORD ^ UINT64_C(1) << byte % 8 * 8;
	run->tally.seen[O2_COMMANDS_LST_WRONG]++;
	tell(run, &tried);
	if (!o2_commands_go(run, is_found(&tried)))
		return;
	if (is_found(&tried))
		o2_commands_complains(run,
				      "o2ref: read # at " PEER ": data: bytes %" PRIu64 " to %" PRIu64
				      " are 0x%016" PRIx64 ", not 0x%016" PRIx64 "\n",
				      byte / 8 * 8, byte / 8 * 8 + 7, got, WORD);
	check_said(run, &tried);
}

/* One number out of range that a kernel would accept. */
static void out_of_range(struct o2_commands_run *run)
{
	struct tried tried = draw(run->c);
	const uint64_t kind = o2_draw(run->c, 5), offset = most_offset(tried.size);
	const char *rule = "concur", *field = "tsr_concur";
	uint64_t value = 0;
	char more[40];

	tried.test = tried.test == PING && kind > 1 ? READ : tried.test;
	snprintf(more, sizeof(more), "limit %u", kind == 0 ? 1 : MAX_CONCURRENCY);
	if (kind == 0) {
		tried.concurrency = 0;
	} else if (kind == 1) {
		tried.concurrency = value = MAX_CONCURRENCY + 1 + o2_draw(run->c, 1);
	} else if (kind == 2 || kind == 3) {
		rule = "brw-len";
		field = "brw_len";
		tried.size = value = kind == 2 ? o2_draw(run->c, 7) : MAX_BYTES + 1 + o2_draw(run->c, 8);
		snprintf(more, sizeof(more), "limit %u", kind == 2 ? 8 : MAX_BYTES);
	} else if (kind == 4) {
		rule = "brw-len-multiple";
		field = "brw_len";
		tried.size = value = 8 * (1 + o2_draw(run->c, 1000)) + 1 + o2_draw(run->c, 6);
		snprintf(more, sizeof(more), "expected a multiple of 8");
	} else {
		const bool odd = offset != 0 && o2_draw_bool(run->c, 1, 1);

		rule = odd ? "blk-offset-multiple" : "blk-offset";
		field = "blk_offset";
		tried.offset = value = odd ? o2_draw_range(run->c, 1, 7) : offset + 8;
		snprintf(more, sizeof(more), odd ? "expected a multiple of 8" : "limit %" PRIu64, offset);
	}
	run->tally.seen[O2_COMMANDS_LST_REFUSED]++;
	tell(run, &tried);
	if (!o2_commands_go(run, 2))
		return;
	o2_commands_complains(
		run,
		"o2ref: this test must not be requested from a node: lst/send/%s: %s is %" PRIu64
		", %s (Invalid argument)\n",
		rule, field, value, more);
	o2_commands_says(run, "output", run->command.out, "%s",
			 tried.judge && !tried.json ? "judge: 0 messages and 0 WRITEs of ours on 0 "
						      "connections: 0 must, 0 should, 0 notes\n"
						    : "");
}

/* The node disconnects instead of answering, or its first answer breaks a rule: it may have made a session. */
static void no_session(struct o2_commands_run *run)
{
	const bool closes = o2_draw_bool(run->c, 1, 1);
	const enum test test = (enum test)o2_draw(run->c, 2);

	o2_commands_words(run, "lst --device=loop");
	o2_command_word(&run->command, "--loop-quirk=%s", closes ? "closes-first" : "sums-other-bytes");
	o2_commands_words(run, PEER);
	o2_commands_words(run, test_names[test]);
	if (!o2_commands_go(run, 1))
		return;
	o2_commands_complains(
		run,
		"o2ref: " PEER ": make session: %s\n"
		"o2ref: " PEER ": our session may remain on the node until its own timeout\n",
		closes ? "the connection is gone (ECONNRESET): the peer has ended the connection "
			 "(DREQ)"
		       : "Protocol error (EPROTO): the peer has broken a rule: "
			 "wire/header/checksum: ibm_cksum is #, expected # (Protocol error)");
	o2_commands_says(run, "words", run->command.out,
			 "lst: 0 done, 0 failed, 0 bytes in # s: # MB/s, #/s\n%s",
			 test == READ ? "verify: 0 checked, 0 wrong\n" : "");
}

void o2_commands_lst(struct o2_commands_run *run)
{
	static void (*const kinds[])(struct o2_commands_run * run) = {in_order, wrong_bit, out_of_range,
								      no_session, o2_commands_lst_wrong};
	static const uint32_t weights[] = {9, 5, 5, 4, 14};

	kinds[o2_draw_weighted(run->c, weights, 5)](run);
}
