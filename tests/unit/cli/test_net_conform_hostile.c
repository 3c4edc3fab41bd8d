/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "cli/net/conform/hostile.h"
#include "judge/end/watch_line.h"
#include "tests/lib/judge_page.h"
#include "tests/lib/stranger.h"
#include "wire/nid.h"

/*
 * The messages of the liar of `o2ref conform --hostile` and of the honest node behind it, passed as lines to the
 * judge and to the capture (docs/conform.md, "Misbehaviours"): the judge names the liar, and not the peer.
 */

static struct o2_net_liar net;
static struct o2_conform_listener *listener;
static uint32_t lines;

/* Pass it on as a line, in the form that `o2props hostile --tell` prints. */
static void pass(void *context, const struct o2_watched *watched)
{
	char text[O2_WATCH_LINE_BYTES], line[O2_WATCH_LINE_BYTES + 16];

	o2_watch_line_put(watched, text);
	snprintf(line, sizeof(line), "%s %s\n", (const char *)context, text);
	assert_true(o2_conform_hostile_said(line, listener));
	lines++;
}

static const struct o2_watch by_liar = {O2_HOSTILE_SAID_LIAR, pass};
static const struct o2_watch by_honest = {O2_HOSTILE_SAID_HONEST, pass};

static struct o2_net_options options;
static char folder[] = "/tmp/o2ref-said-XXXXXX";

/* Start the listener before any message is sent. */
static void begin(void)
{
	uint32_t liar = 0;
	char why[O2_VICTIM_WHY_BYTES] = "";

	stranger = (struct stranger){.serves_bytes = 12000, .takes_bytes = 12000};
	assert_int_equal(o2_network_address("loop1", 1, &liar, NULL), 0);
	memset(&net, 0, sizeof(net));
	net.options = stranger_options();
	net.options.watch[O2_NI_LIAR] = &by_liar;
	net.options.watch[O2_NI_FRIEND] = &by_honest;
	assert_non_null(mkdtemp(folder));
	options = (struct o2_net_options){.nid = o2_nid_make(O2_LND_O2IB, 0, liar),
					  .peer = net.options.peer,
					  .port = O2_SERVICE_PORT,
					  .timeout_ms = STRANGER_TIMEOUT_MS,
					  .json = true,
					  .out = folder};
	listener = o2_conform_listen(&options);
	assert_non_null(listener);
	o2_conform_listener_at(listener, "hostile/begin");
	if (!o2_stranger_open(&net, why))
		fail_msg("%s", why);
}

/* With a peer that takes no orders, the liar acts differently and time passes (docs/hostile.md, "Any peer"). */
static bool is_besides(const char *name, const char *rule, size_t length)
{
	static const struct {
		const char *name, *rule;
	} besides[] = {
		{"asks-for-crumbs", "transfer/frags"}, /* the liar agrees on 4 fragments, but describes 5 */
		{"credit-twice", "credits/noop-uncalled"}, /* the liar was not quiet before */
		{"noop-storm", "credits/noop-uncalled"},
		{"late-done", "transfer/unasked"}, /* the connection has ended before */
		{"beyond", "end/open"},		   /* likewise, and nobody ends the transfer */
		{"before", "end/open"},
	};

	for (size_t i = 0; i < sizeof(besides) / sizeof(besides[0]); i++)
		if (strcmp(besides[i].name, name) == 0 && strlen(besides[i].rule) == length &&
		    strncmp(besides[i].rule, rule, length) == 0)
			return true;
	return false;
}

/* Count the named rules that docs/judge.md does not list for this misbehaviour, and one if it misses all listed. */
static size_t wrong_rules(const char *page, const char *name, const char *named)
{
	size_t wrong = 0, said = 0, length;

	for (const char *at = named; *at != '\0'; at += length + strspn(at + length, ", ")) {
		char first[64];

		length = strcspn(at, ",");
		snprintf(first, sizeof(first), "`%.*s`", (int)length, at);
		if (judge_page_has(page, first, name))
			said++;
		else
			wrong += !is_besides(name, at, length);
	}
	return wrong + (said == 0 && !judge_page_has(page, "none", name));
}

static size_t try_one(const char *page, const struct o2_misbehaviour *what, size_t *tried)
{
	char why[O2_VICTIM_WHY_BYTES] = "", named[O2_CONFORM_NAMED_BYTES];
	const uint64_t before = o2_conform_listener_packets(listener);
	size_t wrong;

	o2_conform_listener_at(listener, what->name);
	if (o2_stranger_try(&net, what, why) == O2_NET_NOT_TRIED)
		return 0;
	++*tried;
	o2_conform_listener_named(listener, named);
	wrong = wrong_rules(page, what->name, named);
	if (wrong > 0)
		print_message("%s: not what docs/judge.md says: '%s'\n", what->name, named);
	/* At least the liar's connection request and that of the honest node. */
	assert_true(o2_conform_listener_packets(listener) >= before + 2);
	return wrong;
}

TEST(the_liar_is_named_and_the_peer_is_not)
{
	const char *page = judge_misbehaviours();
	struct o2_conform_report report = {.options = &options};
	const struct o2_misbehaviour *list;
	const size_t count = o2_misbehaviours(&list);
	size_t wrong = 0, tried = 0;
	char path[64];

	begin();
	for (size_t i = 0; i < count; i++)
		wrong += try_one(page, &list[i], &tried);
	o2_stranger_close(&net);
	o2_conform_listener_report(listener, &report);
	for (uint32_t i = 0; i < report.nrows; i++)
		print_message("%s: %s\n", report.rows[i].id, report.rows[i].result.text);
	print_message("%zu tried, %u lines\n", tried, lines);
	assert_int_equal(wrong, 0);
	assert_int_equal(report.nrows, 0);
	assert_true(tried >= 95);
	assert_true(report.judged.messages > 10 * tried);
	o2_conform_report_free(&report);
	assert_true(o2_conform_listener_free(listener));
	snprintf(path, sizeof(path), "%s/" O2_CONFORM_SAID, folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

TEST(a_line_is_what_was_said)
{
	uint8_t bytes[O2_MSG_BYTES], read[O2_MSG_BYTES];
	char text[O2_WATCH_LINE_BYTES];
	struct o2_watched said = {.bytes = bytes, .conn = bytes, .addr = UINT64_MAX, .rkey = UINT32_MAX}, got;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	for (unsigned int kind = 0; kind <= O2_WATCHED_GONE; kind++) {
		said.kind = (enum o2_watched_kind)kind;
		said.ours = kind % 2 == 0;
		said.bytes = kind < O2_WATCHED_WRITE ? bytes : NULL;
		said.length_bytes = kind == 0 ? 1 : O2_MSG_BYTES;
		o2_watch_line_put(&said, text);
		assert_true(o2_watch_line_read(text, read, &got));
		assert_int_equal(got.kind, said.kind);
		assert_int_equal(got.ours, said.ours);
		assert_ptr_equal(got.conn, said.conn);
		assert_true(got.addr == said.addr && got.rkey == said.rkey);
		assert_int_equal(got.length_bytes, said.length_bytes);
		assert_int_equal(got.bytes == NULL, said.bytes == NULL);
		if (got.bytes != NULL)
			assert_memory_equal(read, bytes, said.length_bytes);
	}
}

TEST(other_lines_are_none)
{
	static const char *const bad[] = {
		"",
		"wire",
		"wire 1 message ours 1 0 0",
		"wire 1 message ours 1 0 0 ",
		"wire 1 message ours 1 0 0 0",
		"wire 1 message ours 2 0 0 00",
		"wire 1 message ours 1 0 0 00x",
		"wire 1 message ours 1 0 0 -x",
		"wire 1 message mine 1 0 0 00",
		"wire 1 letter ours 1 0 0 00",
		"magic                    met",
	};
	uint8_t bytes[O2_MSG_BYTES];
	struct o2_watched watched;
	char text[2 * O2_WATCH_LINE_BYTES];
	const int head = snprintf(text, sizeof(text), "wire 1 message ours %u 0 0 ", O2_MSG_BYTES + 1);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (o2_watch_line_read(bad[i], bytes, &watched))
			fail_msg("'%s' is none", bad[i]);
	memset(text + head, '0', 2 * (O2_MSG_BYTES + 1));
	text[head + 2 * (O2_MSG_BYTES + 1)] = '\0';
	assert_false(o2_watch_line_read(text, bytes, &watched));
	assert_true(o2_watch_line_read("wire 1 gone ours 0 0 0 -\n", bytes, &watched));
}

/* The peer's own timeout is not that of --timeout, and it looks at the time only four times in it. */
TEST(outlasts_the_peers_timeout)
{
	static const uint32_t rows[][2] = {{1, 75}, {5, 75}, {50, 75}, {51, 76}, {60, 85}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct o2_net_options given = {.timeout_ms = rows[i][0] * 1000};

		assert_int_equal(o2_conform_hostile_patience_s(&given), rows[i][1]);
	}
}
