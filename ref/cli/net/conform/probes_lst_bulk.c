/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/net/conform/lst.h"
#include "lst/wire/range.h"

/* LNet selftest: pings, and bulk in both directions: sizes, offsets, checks, many at a time. */

#define TESTS	   "lst.md#tests-and-batches"
#define MANY_BYTES 65536u
#define ROUND	   256u /* tests in a run of many */
#define WORD_BYTES 8u

static bool begin(struct o2_conform *conform, enum o2_lst_service service)
{
	return o2_conform_lst_start(conform) && o2_conform_lst_session(conform) &&
	       o2_conform_lst_half(conform, service);
}

static void ping(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_lst_test test;

	if (!begin(conform, O2_LST_SERVICE_PING))
		return;
	test = o2_conform_lst_ping(conform);
	if (o2_conform_lst_try(conform, &test, 1, ROUND, probe->value))
		o2_conform_lst_end(conform);
}

/* A ping with a wrong magic gets no reply; pings after it are answered. */
static void ping_magic(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_lst_msg request;
	struct o2_lst_test test;

	(void)probe;
	if (!begin(conform, O2_LST_SERVICE_PING))
		return;
	request = o2_conform_lst_request(conform, O2_LST_PING_REQST);
	request.u.ping_reqst.pnr_magic = ~O2_LST_PING_MAGIC;
	test = o2_conform_lst_ping(conform);
	if (o2_conform_lst_silence(conform, &request) &&
	    o2_conform_lst_try(conform, &test, 1, O2_CONFORM_LST_MANY, 1) &&
	    o2_conform_lst_was_silent(conform, &request))
		o2_conform_lst_end(conform);
}

/* --- sizes --- */

/*
 * Each side cuts pieces by its own pages.  With an offset and more than one page, pieces end at different
 * places on the two sides, and check simple looks at different words.
 */
static bool is_judged(const struct o2_lst_test *test)
{
	return test->check != O2_LST_CHECK_SIMPLE || test->offset == 0 ||
	       test->offset + test->len <= O2_LST_PAGE_BYTES;
}

/* Every check, with our memory at the start of a page, just behind that, in the middle, and as late as possible. */
static void move(struct o2_conform *conform, enum o2_lst_brw_rw rw, uint32_t len)
{
	const uint32_t max = o2_lst_range_max_offset(len);
	const uint32_t offsets[] = {0, WORD_BYTES, max / 2 / WORD_BYTES * WORD_BYTES, max};
	const uint32_t noffsets = max == 0 ? 1 : sizeof(offsets) / sizeof(offsets[0]);
	struct o2_lst_test tests[O2_LST_CHECK_DISCARD * (sizeof(offsets) / sizeof(offsets[0]))];
	uint32_t ntests = 0;

	if (!begin(conform, O2_LST_SERVICE_BRW))
		return;
	for (uint32_t check = O2_LST_CHECK_NONE; check <= O2_LST_CHECK_DISCARD; check++)
		for (uint32_t i = 0; i < noffsets; i++) {
			struct o2_lst_test test = o2_conform_lst_brw(conform, rw, len);

			test.check = (enum o2_lst_brw_check)check;
			test.offset = offsets[i];
			if (is_judged(&test))
				tests[ntests++] = test;
		}
	if (o2_conform_lst_try(conform, tests, ntests, ntests, 1))
		o2_conform_lst_end(conform);
}

static void read_size(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	move(conform, O2_LST_BRW_READ, probe->value);
}

static void write_size(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	move(conform, O2_LST_BRW_WRITE, probe->value);
}

/* --- memory of ours that is not as announced --- */

/* Prepare memory of `bytes` bytes for a brw test. */
static bool prepare(struct o2_conform *conform, const struct o2_lst_test *test, uint32_t bytes)
{
	struct o2_conform_lst *lst = conform->lst;
	int rc = o2_lst_bulk_get(lst->pages, bytes, 0, &lst->bulk);

	if (rc == 0)
		rc = test->rw == O2_LST_BRW_READ ? o2_lst_bulk_poison(&lst->bulk)
						 : o2_lst_bulk_fill(&lst->bulk, lst->order);
	if (rc != 0) {
		o2_conform_starve(conform, "not enough memory");
		return false;
	}
	lst->memory = o2_lst_bulk_memory(&lst->bulk);
	return true;
}

/* Send the request of a brw test, with the prepared memory; its reply must have that status. */
static bool ask(struct o2_conform *conform, const struct o2_lst_test *test, uint32_t status)
{
	struct o2_lst_msg request = o2_conform_lst_request(conform, O2_LST_BRW_REQST);
	const struct o2_conform_lst_bulk bulk = {&conform->lst->memory, test->rw == O2_LST_BRW_WRITE};
	const struct o2_lst_msg *reply;

	request.u.brw_reqst.brw_rw = test->rw;
	request.u.brw_reqst.brw_len = test->len;
	request.u.brw_reqst.brw_flags = test->check;
	reply = o2_conform_lst_ask(conform, &request, &bulk);
	if (reply == NULL)
		return false;
	if (reply->u.reply.status != status)
		o2_conform_find(conform,
				"BRW_REPLY to a %s of %" PRIu32 " bytes: status %" PRIu32 ", not %" PRIu32,
				o2_lst_rw_name(test->rw), test->len, reply->u.reply.status, status);
	else if (status == 0 && conform->lst->asked.bulk_bytes != test->len)
		o2_conform_find(conform, "a %s of %" PRIu32 " bytes: %" PRIu64 " were moved",
				o2_lst_rw_name(test->rw), test->len, conform->lst->asked.bulk_bytes);
	return !o2_conform_said(conform);
}

/* Nothing may be written beyond what was asked for. */
static bool rest_is_untouched(struct o2_conform *conform, uint32_t at, uint32_t bytes)
{
	uint8_t rest[WORD_BYTES], poison[WORD_BYTES];

	o2_lst_pattern_poison(poison, sizeof(poison));
	for (; at < bytes; at += WORD_BYTES) {
		if (o2_lst_bulk_read(&conform->lst->bulk, at, rest, sizeof(rest)) == 0 &&
		    memcmp(rest, poison, sizeof(rest)) == 0)
			continue;
		o2_conform_find(conform, "byte %" PRIu32 " or one of the seven after it was written", at);
		return false;
	}
	return true;
}

/* Our memory is longer than what is moved, in an IMMEDIATE and by RDMA. */
static void longer(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	static const uint32_t lens[] = {WORD_BYTES, 2048, 8192, O2_LST_MAX_BULK_BYTES / 2};

	if (!begin(conform, O2_LST_SERVICE_BRW))
		return;
	for (uint32_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		const struct o2_lst_test test =
			o2_conform_lst_brw(conform, (enum o2_lst_brw_rw)probe->value, lens[i]);

		if (!prepare(conform, &test, 2 * test.len) || !ask(conform, &test, 0) ||
		    (test.rw == O2_LST_BRW_READ && !rest_is_untouched(conform, test.len, 2 * test.len)))
			return;
		o2_lst_bulk_put(&conform->lst->bulk);
	}
	o2_conform_lst_end(conform);
}

/* A write with one wrong bit, in byte `at`. */
static bool harm(struct o2_conform *conform, enum o2_lst_brw_check check, uint32_t len, uint32_t at,
		 uint32_t status)
{
	struct o2_lst_test test = o2_conform_lst_brw(conform, O2_LST_BRW_WRITE, len);
	uint8_t byte = 0;
	bool right;

	test.check = check;
	if (!prepare(conform, &test, len))
		return false;
	right = o2_lst_bulk_read(&conform->lst->bulk, at, &byte, 1) == 0;
	byte ^= 1;
	right = right && o2_lst_bulk_write(&conform->lst->bulk, at, &byte, 1) == 0;
	assert(right);
	if (!ask(conform, &test, status))
		return false;
	o2_lst_bulk_put(&conform->lst->bulk);
	return true;
}

/* The check decides which bytes are looked at: the ends of each page, or all. */
static void wrong(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	const uint32_t len = probe->value, last = len - 1, middle = len / 2 + WORD_BYTES;

	if (begin(conform, O2_LST_SERVICE_BRW) && harm(conform, O2_LST_CHECK_FULL, len, 0, EBADMSG) &&
	    harm(conform, O2_LST_CHECK_FULL, len, middle, EBADMSG) &&
	    harm(conform, O2_LST_CHECK_FULL, len, last, EBADMSG) &&
	    harm(conform, O2_LST_CHECK_SIMPLE, len, 0, EBADMSG) &&
	    harm(conform, O2_LST_CHECK_SIMPLE, len, last, EBADMSG) &&
	    harm(conform, O2_LST_CHECK_SIMPLE, len, middle, 0) &&
	    harm(conform, O2_LST_CHECK_NONE, len, 0, 0) && harm(conform, O2_LST_CHECK_DISCARD, len, last, 0))
		o2_conform_lst_end(conform);
}

/* --- many at a time --- */

static void many(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_lst_test test;

	if (!begin(conform, O2_LST_SERVICE_BRW))
		return;
	test = o2_conform_lst_brw(conform, (enum o2_lst_brw_rw)probe->value, MANY_BYTES);
	if (o2_conform_lst_try(conform, &test, 1, ROUND, O2_CONFORM_LST_MANY))
		o2_conform_lst_end(conform);
}

/* Short and long bulks both ways, and pings between them. */
static void mixed(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_lst_test tests[7];

	if (!begin(conform, O2_LST_SERVICE_PING) || !o2_conform_lst_half(conform, O2_LST_SERVICE_BRW))
		return;
	tests[0] = o2_conform_lst_ping(conform);
	tests[1] = o2_conform_lst_brw(conform, O2_LST_BRW_READ, WORD_BYTES);
	tests[2] = o2_conform_lst_brw(conform, O2_LST_BRW_WRITE, WORD_BYTES);
	tests[3] = o2_conform_lst_brw(conform, O2_LST_BRW_READ, MANY_BYTES);
	tests[4] = o2_conform_lst_brw(conform, O2_LST_BRW_WRITE, MANY_BYTES);
	tests[5] = o2_conform_lst_brw(conform, O2_LST_BRW_READ, O2_LST_MAX_BULK_BYTES / 4);
	tests[6] = o2_conform_lst_brw(conform, O2_LST_BRW_WRITE, O2_LST_MAX_BULK_BYTES / 4);
	if (o2_conform_lst_try(conform, tests, 7, ROUND, probe->value))
		o2_conform_lst_end(conform);
}

#define NODE .needs = O2_CONFORM_TEST_NODE

#define READ(n)                                                                                            \
	{                                                                                                  \
		"lst/read-" #n, "a read of " #n " bytes brings the pattern, at every offset", TESTS, NODE, \
			.run = read_size, .value = n                                                       \
	}
#define WRITE(n)                                                                                             \
	{                                                                                                    \
		"lst/write-" #n, "a write of " #n " bytes arrives as the pattern, from every offset", TESTS, \
			NODE, .run = write_size, .value = n                                                  \
	}

/* Sizes around the most that fits in a message, around a page and around 16 pages, and up to the largest. */
const struct o2_conform_probe o2_conform_lst_bulk_probes[] = {
	{"lst/ping", "pings one after another are answered, each with its number", TESTS, NODE, .run = ping,
	 .value = 1},
	{"lst/ping-many", "64 pings at a time are answered, each with its number", TESTS, NODE, .run = ping,
	 .value = O2_CONFORM_LST_MANY},
	{"lst/ping-magic", "a ping with another magic gets no reply, and those after it do", TESTS, NODE,
	 .run = ping_magic},
	READ(8),
	READ(3976),
	READ(3984),
	READ(4088),
	READ(4096),
	READ(4104),
	READ(65528),
	READ(65536),
	READ(65544),
	READ(1048568),
	READ(1048576),
	WRITE(8),
	WRITE(3976),
	WRITE(3984),
	WRITE(4088),
	WRITE(4096),
	WRITE(4104),
	WRITE(65528),
	WRITE(65536),
	WRITE(65544),
	WRITE(1048568),
	WRITE(1048576),
	{"lst/read-longer", "a read into longer memory leaves the rest of it alone", TESTS, NODE,
	 .run = longer, .value = O2_LST_BRW_READ},
	{"lst/write-longer", "a write from longer memory is as long as it was announced", TESTS, NODE,
	 .run = longer, .value = O2_LST_BRW_WRITE},
	{"lst/write-wrong",
	 "a write with a wrong bit gets EBADMSG, where the check says that it is looked at", TESTS, NODE,
	 .run = wrong, .value = 16384},
	{"lst/read-many", "64 reads of 64 KiB at a time bring the pattern", TESTS, NODE, .run = many,
	 .value = O2_LST_BRW_READ},
	{"lst/write-many", "64 writes of 64 KiB at a time arrive as the pattern", TESTS, NODE, .run = many,
	 .value = O2_LST_BRW_WRITE},
	{"lst/mixed", "pings, and reads and writes of all sizes, go on at the same time", TESTS, NODE,
	 .run = mixed, .value = 16},
	{0},
};
