/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "props/lst/lst_internal.h"

/* The bytes of a read of the console's test, and what its result says of them: docs/lst.md, "Tests and batches". */

#define PAGE_BYTES 4096u
#define WORD_BYTES 8u
#define WORD	   UINT64_C(0xeeb0eeb1eeb2eeb3)

/* True if the console checks this word of a read.  It checks per page of its own memory. */
static bool is_looked_at(const struct o2_lst_test *test, uint32_t at)
{
	const uint32_t place = (test->offset + at) % PAGE_BYTES;

	if (test->every_word || test->check == O2_LST_CHECK_FULL)
		return true;
	return test->check == O2_LST_CHECK_SIMPLE &&
	       (at == 0 || at == test->len - WORD_BYTES || place == 0 || place == PAGE_BYTES - WORD_BYTES);
}

static uint64_t load(const uint8_t *bytes, bool big)
{
	uint64_t word = 0;

	for (uint32_t i = 0; i < WORD_BYTES; i++)
		word = word << 8 | bytes[big ? i : WORD_BYTES - 1 - i];
	return word;
}

void o2_talk_look(const struct o2_lst_talk *talk, struct o2_talk_asked *asked, const uint8_t *bytes)
{
	for (uint32_t at = 0; at < asked->moved_bytes; at += WORD_BYTES)
		for (int order = 0; order < 2; order++) {
			const bool big = order == O2_BIG_ENDIAN;
			const uint32_t rest = asked->moved_bytes - at;
			uint8_t word[WORD_BYTES];
			uint64_t got;

			/* What does not come of a word is as it should be. */
			for (uint32_t i = 0; i < WORD_BYTES; i++)
				word[i] = i < rest ? bytes[at + i]
						   : (uint8_t)(WORD >> 8 * (big ? WORD_BYTES - 1 - i : i));
			got = load(word, big);
			if (got == WORD)
				continue;
			if (!is_looked_at(&talk->config.test, at)) {
				asked->unseen |= order == (int)talk->order;
			} else if (!asked->wrong[order]) {
				asked->wrong[order] = true;
				asked->found[order] = (struct o2_lst_wrong){at, got, WORD};
			}
		}
}

void o2_talk_check_details(struct o2_lst_talk *talk, const struct o2_talk_asked *asked,
			   const struct o2_lst_console_result *result)
{
	static const enum o2_lst_failure failures[O2_LST_OUTCOMES] = {
		[O2_LST_WELL] = O2_LST_FAILURE_NONE,	      [O2_LST_CANCELED] = O2_LST_FAILURE_RPC,
		[O2_LST_FAIL_LOCAL] = O2_LST_FAILURE_RPC,     [O2_LST_FAIL_TIMEOUT] = O2_LST_FAILURE_RPC,
		[O2_LST_FAIL_MALFORMED] = O2_LST_FAILURE_RPC, [O2_LST_FAIL_STATUS] = O2_LST_FAILURE_STATUS,
		[O2_LST_FAIL_ANSWER] = O2_LST_FAILURE_ANSWER, [O2_LST_FAIL_LENGTH] = O2_LST_FAILURE_LENGTH,
		[O2_LST_FAIL_DATA] = O2_LST_FAILURE_DATA,
	};
	const struct o2_lst_wrong *found = &asked->found[asked->reply.order], *told = &result->wrong;

	if (result->failure != failures[result->outcome])
		o2_report_fail(talk->report, "lst/console-outcome",
			       "RPC %" PRIu64 " ends as '%s', failure %d", result->number,
			       o2_lst_outcome_name(result->outcome), (int)result->failure);
	if (result->outcome == O2_LST_FAIL_DATA &&
	    (told->at != found->at || told->got != found->got || told->want != found->want))
		o2_report_fail(talk->report, "lst/console-word",
			       "RPC %" PRIu64 ": the word at %" PRIu32 " is 0x%" PRIx64 ", not 0x%" PRIx64
			       "; by what has come at %" PRIu32 " 0x%" PRIx64,
			       result->number, told->at, told->got, told->want, found->at, found->got);
}

static bool same(const struct o2_lst_stat_reply *a, const struct o2_lst_stat_reply *b)
{
	struct o2_lst_msg msg[2] = {{.msg_type = O2_LST_STAT_REPLY}, {.msg_type = O2_LST_STAT_REPLY}};
	uint8_t bytes[2][O2_LST_MSG_BYTES] = {{0}, {0}};

	msg[0].u.stat_reply = *a;
	msg[1].u.stat_reply = *b;
	for (uint32_t i = 0; i < 2; i++)
		(void)o2_lst_msg_encode(&msg[i], bytes[i], NULL);
	return memcmp(bytes[0], bytes[1], O2_LST_MSG_BYTES) == 0;
}

void o2_talk_check_counters(struct o2_lst_talk *talk, const struct o2_talk_asked *asked,
			    const struct o2_lst_stat_reply *told)
{
	if (!same(&asked->reply.u.stat_reply, told))
		o2_report_fail(talk->report, "lst/console-report",
			       "counters: they are not those of the answer");
}
