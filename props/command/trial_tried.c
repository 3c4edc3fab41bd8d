/* SPDX-License-Identifier: MIT */
/* Reads from the capture what a probe said: docs/wire.md, docs/lst.md. */
#include "props/command/trial_tried.h"
#include "props/model/wire_model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HEADER	   48u /* of a message; in three types an LNet header follows */
#define PING_BITS  UINT64_C(0x8000000000000000)
#define MATCH_BITS UINT64_C(0x1234)

/* --- words --- */

static void flush(struct o2_tried_text *text)
{
	const size_t used = strlen(text->text), room = sizeof(text->text) - used;

	if (text->times == 0)
		return;
	if (text->last == 0 && text->step == 0)
		snprintf(text->text + used, room, "%s%" PRIu32 " %s", used == 0 ? "" : "; ", text->times,
			 text->word);
	else
		snprintf(text->text + used, room, "%s%" PRIu32 " %s at %" PRIu64 ", each %" PRIu64 " on",
			 used == 0 ? "" : "; ", text->times, text->word, text->first, text->step);
	text->times = 0;
}

void o2_tried_word(struct o2_tried_text *text, uint64_t place, const char *format, ...)
{
	char word[sizeof(text->word)];
	va_list list;

	va_start(list, format);
	vsnprintf(word, sizeof(word), format, list);
	va_end(list);
	text->requests += strncmp(word, "asks ", 5) == 0;
	if (text->times > 0 && strcmp(word, text->word) == 0 &&
	    (text->times == 1 || place - text->last == text->step)) {
		text->step = place - text->last;
		text->last = place;
		text->times++;
		return;
	}
	flush(text);
	memcpy(text->word, word, sizeof(word));
	text->first = text->last = place;
	text->step = 0;
	text->times = 1;
}

const char *o2_tried_whole(struct o2_tried_text *text)
{
	flush(text);
	return text->text;
}

/* --- rows --- */

static void judge(struct o2_tried *tried)
{
	static struct o2_tried_text expected; /* large */
	const struct o2_trial *trial = tried->trial;
	const struct o2_trial_row *row = &trial->row[tried->row];
	struct o2_report *report = trial->run->report;

	memset(&expected, 0, sizeof(expected));
	if (report->failed || strcmp(row->outcome, "holds") != 0 ||
	    (trial->quirk->quirk != NULL && trial->quirk->found != NULL) ||
	    (trial->other_place && strncmp(row->probe.id, "end/", 4) == 0) ||
	    !o2_tried_foretell(tried, row->probe.id, &expected) ||
	    strcmp(o2_tried_whole(&tried->said), o2_tried_whole(&expected)) == 0)
		return;
	o2_report_fail(report, "commands/conform/tried", "%s: expected: %s", row->probe.id, expected.text);
	o2_report_add(report, "found: %s", tried->said.text);
}

static void next_row(struct o2_tried *tried)
{
	judge(tried);
	tried->row++;
	tried->known = tried->version;
	tried->number = 0;
	memset(&tried->said, 0, sizeof(tried->said));
}

/* Does the packet belong to a probe?  Finishes the probes before it. */
static bool is_of_probe(struct o2_tried *tried, uint64_t packet)
{
	const struct o2_trial *trial = tried->trial;

	while (tried->row < trial->rows && packet > trial->row[tried->row].last)
		next_row(tried);
	return tried->row < trial->rows && packet >= trial->row[tried->row].first;
}

void o2_tried_start(struct o2_tried *tried, struct o2_trial *trial)
{
	memset(tried, 0, sizeof(*tried));
	tried->trial = trial;
}

void o2_tried_finish(struct o2_tried *tried)
{
	while (tried->row < tried->trial->rows)
		next_row(tried);
}

/* --- things said --- */

void o2_tried_asks(struct o2_tried *tried, uint64_t packet, const uint8_t *message)
{
	const bool big = message[0] == 0x0b;
	const uint64_t life = o2_wm_load(message + 24, 8, !big), of_peer = o2_wm_load(message + 40, 8, !big);
	const bool another = tried->life != 0 && tried->life != life, is_of = is_of_probe(tried, packet);

	tried->version = (uint16_t)o2_wm_load(message + 4, 2, !big);
	tried->life = life;
	if (is_of)
		o2_tried_word(&tried->said, 0, "asks %" PRIu64 "/%" PRIu64 "/%" PRIu64 " version 0x%x%s%s%s",
			      o2_wm_load(message + 48, 2, !big), o2_wm_load(message + 50, 2, !big),
			      o2_wm_load(message + 52, 4, !big), tried->version, big ? " big-endian" : "",
			      another ? " in another life" : "",
			      of_peer == 0		    ? ""
			      : of_peer == tried->peer_life ? " of this life"
							    : " of another life");
}

void o2_tried_granted(struct o2_tried *tried, const uint8_t *message)
{
	tried->peer_life = o2_wm_load(message + 24, 8, message[0] != 0x0b);
}

void o2_tried_rejected(struct o2_tried *tried, uint64_t packet)
{
	if (is_of_probe(tried, packet))
		o2_tried_word(&tried->said, 0, "rejected");
}

void o2_tried_ends(struct o2_tried *tried, uint64_t packet)
{
	if (is_of_probe(tried, packet))
		o2_tried_word(&tried->said, 0, "leaves");
}

/* LNet selftest: the payload is a request. */
static void says_test(struct o2_tried *tried, uint32_t portal, const uint8_t *body)
{
	static const char *const names[] = {[0] = "MKSN", [2] = "RMSN", [6] = "STAT", [10] = "DEBUG"};
	const bool big = body[0] == 0xee;
	const uint64_t type = o2_wm_load(body + 8, 4, !big);
	struct o2_tried_text *said = &tried->said;

	if (type == 4 && portal == 51) {
		o2_tried_word(said, 0, "BATCH %" PRIu64 " %" PRIu64 " %" PRIu64,
			      o2_wm_load(body + 56, 4, !big), o2_wm_load(body + 48, 8, !big),
			      o2_wm_load(body + 60, 4, !big));
	} else if (type == 8 && portal == 51) {
		o2_tried_word(said, 0, "TEST %" PRIu64 "%s", o2_wm_load(body + 64, 4, !big),
			      body[76] == 0 ? "" : " client");
	} else if (type == 12 && portal == 50) {
		o2_tried_word(said, 0, "brw %" PRIu64 " %" PRIu64 " %" PRIu64, o2_wm_load(body + 40, 4, !big),
			      o2_wm_load(body + 44, 4, !big), o2_wm_load(body + 48, 4, !big));
	} else if (type == 14 && portal == 50) {
		tried->number = tried->number == 0 ? o2_wm_load(body + 36, 4, !big) + 1 : tried->number;
		o2_tried_word(said, o2_wm_load(body + 36, 4, !big) + 1 - tried->number, "lst-ping%s",
			      o2_wm_load(body + 32, 4, !big) == 0xbabeface ? "" : " of another magic");
	} else {
		o2_tried_word(said, 0, "%s",
			      portal == 51 && type <= 10 && names[type] != NULL ? names[type] : "another");
	}
}

void o2_tried_says(struct o2_tried *tried, uint64_t packet, const uint8_t *message)
{
	const uint8_t *lnet = message + HEADER;
	const uint8_t type = message[6];
	const bool big = message[0] == 0x0b, put = o2_wm_load(lnet + 24, 4, true) == 1,
		   get = o2_wm_load(lnet + 24, 4, true) == 2;
	const uint32_t portal = (uint32_t)o2_wm_load(lnet + (put ? 64 : 56), 4, true);
	const uint64_t bits = o2_wm_load(lnet + 48, 8, true),
		       offset = o2_wm_load(lnet + (put ? 68 : 60), 4, true);
	const uint64_t bytes = o2_wm_load(lnet + (put ? 28 : 64), 4, true);
	char by[64] = "";

	/* Types IMMEDIATE, PUT_REQ and GET_REQ. */
	if (!is_of_probe(tried, packet) || (type != 0xd1 && type != 0xd2 && type != 0xd6) || (!put && !get))
		return;
	if (put && (portal == 50 || portal == 51)) {
		says_test(tried, portal, lnet + 72);
		return;
	}
	if (portal == 0 && bits == PING_BITS && offset == 0) {
		o2_tried_word(&tried->said, 0, "%s %" PRIu64, put ? "push" : "ping", bytes);
		return;
	}
	if (type == 0xd6)
		snprintf(by, sizeof(by), " in %" PRIu64 " from byte %" PRIu64,
			 o2_wm_load(message + 132, 4, !big), o2_wm_load(message + 140, 8, !big) % 4096);
	else if (put && o2_wm_load(lnet + 40, 8, true) == UINT64_MAX)
		snprintf(by, sizeof(by), " without ACK");
	o2_tried_word(&tried->said, offset, "%s %" PRIu64 " portal %" PRIu32 "%s%s%s", put ? "PUT" : "GET",
		      bytes, portal, by, type == 0xd1 ? " in a message" : "",
		      bits == MATCH_BITS ? "" : " other bits");
}
