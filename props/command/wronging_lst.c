/* SPDX-License-Identifier: MIT */
/* Wrong replies of a test node: docs/conform.md, "LNet selftest", and docs/lst.md, "Status". */
#include "props/command/wronging.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_name.h"
#include "wire/msg.h"

/* Offsets by docs/lst.md, "The message"; the message is the payload of an IMMEDIATE. */
#define MESSAGE	     120u
#define STATUS	     24u
#define SESSION	     28u
#define TIMEOUT	     44u /* of MKSN_REPLY and DEBUG_REPLY; active part of a batch */
#define NAME	     48u /* of MKSN_REPLY */
#define DEBUG_NAME   52u
#define COUNTERS     44u
#define TIMEOUT_S    100u
#define SESSION_NAME "o2ref conform"
#define OTHER	     UINT64_C(0x000500000a000002)
#define FOREVER	     UINT32_MAX

enum reply {
	MKSN = 1,
	RMSN = 3,
	BATCH = 5,
	STAT = 7,
	TEST = 9,
	DEBUG = 11,
	BRW = 13,
	PING = 15,
};

static const char *const names[] = {[MKSN] = "MKSN", [RMSN] = "RMSN", [BATCH] = "BATCH",
				    [STAT] = "STAT", [TEST] = "TEST", [DEBUG] = "DEBUG"};

/* Replies of a probe: the type, which one of that type, the right status.  none: the node is in no session. */
static const struct framework {
	const char *probe;
	enum reply reply;
	uint32_t number;
	int status;
	bool none;
} framework[] = {
	{"lst/session", DEBUG, 0, 0, false},	  {"lst/session", RMSN, 0, 0, true},
	{"lst/session", DEBUG, 1, ESRCH, true},	  {"lst/session-twice", MKSN, 1, 0, false},
	{"lst/session-twice", RMSN, 0, 0, false}, {"lst/session-twice", STAT, 0, 0, false},
	{"lst/session-twice", RMSN, 1, 0, true},  {"lst/busy", MKSN, 1, EBUSY, false},
	{"lst/busy", STAT, 0, 0, false},	  {"lst/force", TEST, 0, 0, false},
	{"lst/force", MKSN, 1, 0, false},	  {"lst/force", RMSN, 0, EBUSY, false},
	{"lst/force", BATCH, 0, ENOENT, false},	  {"lst/none", MKSN, 1, EINVAL, false},
	{"lst/none", RMSN, 0, EINVAL, false},	  {"lst/none", STAT, 0, EINVAL, false},
	{"lst/none", TEST, 0, EINVAL, false},	  {"lst/other", STAT, 0, ESRCH, false},
	{"lst/other", BATCH, 0, ESRCH, false},	  {"lst/other", TEST, 0, ENOENT, false},
	{"lst/other", RMSN, 0, EBUSY, false},	  {"lst/other", STAT, 1, ESRCH, true},
	{"lst/other", RMSN, 2, ESRCH, true},	  {"lst/features", STAT, 0, EPROTO, false},
	{"lst/halves", TEST, 1, 0, false},	  {"lst/halves", BATCH, 2, 0, false},
	{"lst/halves", BATCH, 3, ENOENT, false},  {"lst/halves", BATCH, 4, EINVAL, false},
	{"lst/batch", BATCH, 0, 0, false},	  {"lst/batch", BATCH, 1, ENOENT, false},
	{"lst/batch", BATCH, 5, ENOENT, false},	  {"lst/stat", STAT, 1, 0, false},
};

static void in_probe(struct o2_wronging *wronging, const char *id, enum reply reply, uint32_t number)
{
	o2_wronging_tell(wronging, id, O2_MSG_IMMEDIATE, O2_LNET_PUT, number);
	wronging->trial->lst = true;
	wronging->wrong->lst_type = reply;
}

static int draw_code(struct o2_choice *c)
{
	static const int codes[] = {EIO, ENOMEM, EBADMSG, EBUSY, EINVAL, ENOENT, EPERM};

	return codes[o2_draw_pick(c, sizeof(codes) / sizeof(codes[0]))];
}

static const char *status_text(int status, char text[O2_ERRNO_TEXT_BYTES])
{
	return status == 0 ? "success" : o2_errno_text(status, text);
}

static void spoil_framework(struct o2_wronging *wronging)
{
	struct o2_choice *c = wronging->c;
	const struct framework *row = &framework[o2_draw_pick(c, sizeof(framework) / sizeof(framework[0]))];
	char got[O2_ERRNO_TEXT_BYTES], want[O2_ERRNO_TEXT_BYTES];
	int status;

	in_probe(wronging, row->probe, row->reply, row->number);
	if (o2_draw_bool(c, 2, 1)) {
		o2_wronging_spoil(wronging, MESSAGE + SESSION, 8, OTHER);
		o2_wronging_see(wronging,
				"%s_REPLY: the node says that it is in session 10.0.0.2@o2ib/#, not %s",
				names[row->reply], row->none ? "no session" : "session 10.0.0.1@o2ib/#");
		return;
	}
	status = row->status != 0 && o2_draw_bool(c, 1, 1) ? 0 : draw_code(c);
	o2_wronging_spoil(wronging, MESSAGE + STATUS, 4, (uint64_t)status);
	if (status != row->status)
		o2_wronging_see(wronging, "%s_REPLY: the status is %s, not %s", names[row->reply],
				status_text(status, got), status_text(row->status, want));
}

/* Spoil another field of a reply. */
static void spoil_more(struct o2_wronging *wronging)
{
	struct o2_choice *c = wronging->c;
	const uint32_t more = (uint32_t)o2_draw(c, 1000), which = (uint32_t)o2_draw(c, 2);
	const uint64_t kind = o2_draw(c, 6);

	switch (kind) {
	case 0:
		in_probe(wronging, "lst/session", DEBUG, 0);
		o2_wronging_spoil(wronging, MESSAGE + TIMEOUT, 4, more);
		if (more != TIMEOUT_S)
			o2_wronging_see(wronging,
					"DEBUG_REPLY: the session is 'o2ref conform', its timeout %" PRIu32
					" s; MKSN_REPLY said 100 s",
					more);
		break;
	case 1:
		in_probe(wronging, "lst/busy", MKSN, 1);
		o2_wronging_spoil(wronging, MESSAGE + TIMEOUT, 4, more);
		if (more != TIMEOUT_S)
			o2_wronging_see(wronging,
					"MKSN_REPLY: EBUSY with the name 'o2ref conform', timeout %" PRIu32,
					more);
		break;
	case 2:
		in_probe(wronging, "lst/halves", BATCH, which);
		o2_wronging_spoil(wronging, MESSAGE + TIMEOUT, 4, more);
		if (more != 0)
			o2_wronging_see(wronging,
					"BATCH_REPLY: test %" PRIu32 ": %" PRIu32 " active, of server halves",
					which, more);
		break;
	case 3:
		in_probe(wronging, "lst/expire", MKSN, 0);
		o2_wronging_spoil(wronging, MESSAGE + TIMEOUT, 4, more < 2 ? 0 : more);
		wronging->skips = true;
		if (more < 2)
			o2_wronging_see(wronging, "its sessions do not expire");
		else
			o2_wronging_see(wronging,
					"its session timeout (%" PRIu32 " s) is not below --timeout", more);
		break;
	case 4:
		in_probe(wronging, "lst/busy", MKSN, 1);
		o2_wronging_spoil(wronging, MESSAGE + NAME + which, 1, 'X');
		o2_wronging_see(wronging, "MKSN_REPLY: EBUSY with the name '%.*sX%s', timeout 100",
				(int)which, SESSION_NAME, &SESSION_NAME[which + 1]);
		break;
	case 5:
		/* Spoil active_batches, brw_errors or ping_errors. */
		in_probe(wronging, "lst/stat", STAT, 1);
		o2_wronging_spoil(wronging, MESSAGE + COUNTERS + (which == 0 ? 4 : 8 + 4 * which), 4, more);
		if (more != 0)
			o2_wronging_see(
				wronging,
				"STAT_REPLY: %" PRIu32 " errors of brw and %" PRIu32 " of ping, %" PRIu32
				" batches active; expected none: no batch runs, and the node is not a client",
				which == 1 ? more : 0, which == 2 ? more : 0, which == 0 ? more : 0);
		break;
	default:
		/* Count fewer bytes than were read or written: 10 times 4096. */
		in_probe(wronging, "lst/stat", STAT, 1);
		o2_wronging_spoil(wronging, MESSAGE + COUNTERS + 20 + (which == 0 ? 20 : 28), 8, 40 * more);
		if (more < 1024)
			o2_wronging_see(wronging,
					"STAT_REPLY: it counts # requests, %" PRIu32 " bytes put, %" PRIu32
					" got; we made 30, with 40960 bytes each way",
					which == 0 ? 40960 : 40 * more, which == 0 ? 40 * more : 40960);
	}
}

/* Spoil the reply to a ping, read or write: its status, or the id of the request. */
static void spoil_test(struct o2_wronging *wronging)
{
	static const struct {
		const char *probe, *what;
		bool pings;
	} tests[] = {
		{"lst/ping", "ping", true},
		{"lst/ping-many", "ping", true},
		{"lst/read-4096", "read of 4096 bytes, offset 0, check #", false},
		{"lst/write-8", "write of 8 bytes, offset 0, check #", false},
		{"lst/read-many", "read of 65536 bytes, offset 0, check full", false},
		{"lst/write-many", "write of 65536 bytes, offset 0, check full", false},
	};
	struct o2_choice *c = wronging->c;
	const size_t which = o2_draw_pick(c, sizeof(tests) / sizeof(tests[0]));
	const bool pings = tests[which].pings, plain = strchr(tests[which].what, '#') == NULL;
	const int code = draw_code(c);
	char name[O2_ERRNO_TEXT_BYTES];

	in_probe(wronging, tests[which].probe, pings ? PING : BRW, 0);
	if (!plain) {
		o2_wronging_see(wronging, "%.*snone: ", (int)strcspn(tests[which].what, "#"),
				tests[which].what);
	} else {
		o2_wronging_see(wronging, "%s: ", tests[which].what);
	}
	o2_wronging_see(wronging, "1 of # failed, the first so: ");
	if (pings && o2_draw_bool(c, 1, 1)) {
		o2_wronging_spoil(wronging, MESSAGE + (o2_draw_bool(c, 1, 1) ? 28 : 32), 4,
				  1 + o2_draw(c, 100));
		wronging->wrong->adds = true;
		o2_wronging_see(wronging, "the reply does not match the request");
		return;
	}
	o2_wronging_spoil(wronging, MESSAGE + STATUS, 4, (uint64_t)code);
	o2_wronging_see(wronging, "the node replied with status %s", o2_errno_text(code, name));
}

/* Spoil a read or write whose memory is longer than the data. */
static void spoil_longer(struct o2_wronging *wronging)
{
	static const uint32_t sizes[] = {8, 2048, 8192, 524288};
	const bool reads = o2_draw_bool(wronging->c, 1, 1);
	const uint32_t which = (uint32_t)o2_draw(wronging->c, 3);
	const int code = draw_code(wronging->c);

	in_probe(wronging, reads ? "lst/read-longer" : "lst/write-longer", BRW, which);
	o2_wronging_spoil(wronging, MESSAGE + STATUS, 4, (uint64_t)code);
	o2_wronging_see(wronging, "BRW_REPLY to a %s of %" PRIu32 " bytes: status %d, not 0",
			reads ? "read" : "write", sizes[which], code);
}

/* After we come back, our session cannot be ended. */
static void spoil_returns(struct o2_wronging *wronging)
{
	static const struct {
		const char *probe;
		uint32_t stride;
	} probes[] = {{"lst/leave-read", 1}, {"lst/leave-write", 1}, {"lst/leave-many", 7}};
	const size_t which = o2_draw_pick(wronging->c, 3);
	const uint32_t rounds = wronging->trial->rounds;
	const uint32_t spares = (uint32_t)o2_draw(wronging->c, rounds);
	const int code = draw_code(wronging->c);
	char name[O2_ERRNO_TEXT_BYTES];

	in_probe(wronging, probes[which].probe, RMSN, spares);
	o2_wronging_return(wronging, spares);
	o2_wronging_spoil(wronging, MESSAGE + STATUS, 4, (uint64_t)code);
	o2_wronging_see(wronging,
			"# of # reconnects failed, the first after step %" PRIu32
			": RMSN_REPLY: the status is %s, not success",
			spares / rounds * probes[which].stride, o2_errno_text(code, name));
}

static void spoil_also(struct o2_wronging *wronging, uint32_t at, uint32_t width, uint64_t value)
{
	struct o2_wrong *wrong = wronging->wrong;

	wrong->more[wrong->nmore++] = (struct o2_wrong_more){MESSAGE + at, width, value};
}

/*
 * The node is in the session of another console, which must not be touched: from the first contact on, or only when
 * a probe wants its own session.
 */
static void spoil_busy(struct o2_wronging *wronging)
{
	static const char *const probes[] = {
		"lst/session", "lst/session-twice", "lst/busy",	  "lst/force", "lst/none",
		"lst/other",   "lst/features",	    "lst/halves", "lst/batch", "lst/stat",
		"lst/ping",    "lst/read-4096",	    "lst/write-8"};
	struct o2_choice *c = wronging->c;
	const char *probe = probes[o2_draw_pick(c, sizeof(probes) / sizeof(probes[0]))];
	const bool survey = o2_draw_bool(c, 2, 1);
	const uint32_t address = 2 + (uint32_t)o2_draw(c, 252), seconds = (uint32_t)o2_draw(c, 1000);
	char name[8] = "", until[48];

	in_probe(wronging, probe, survey ? DEBUG : MKSN, 0);
	/* The first contact is just before the first probe. */
	wronging->wrong->from = survey ? UINT32_MAX : 0;
	o2_wronging_spoil(wronging, MESSAGE + STATUS, 4, survey ? 0 : EBUSY);
	for (uint64_t i = o2_draw(c, sizeof(name) - 1); i > 0; i--)
		name[i - 1] = (char)('a' + o2_draw(c, 25));
	spoil_also(wronging, SESSION, 8, OTHER - 2 + address);
	spoil_also(wronging, TIMEOUT, 4, seconds);
	for (uint32_t i = 0; i < 2; i++)
		spoil_also(wronging, (survey ? DEBUG_NAME : NAME) + 4 * i, 4,
			   (uint64_t)(uint8_t)name[4 * i] | (uint64_t)(uint8_t)name[4 * i + 1] << 8 |
				   (uint64_t)(uint8_t)name[4 * i + 2] << 16 |
				   (uint64_t)(uint8_t)name[4 * i + 3] << 24);
	wronging->skips = true;
	if (seconds == 0)
		snprintf(until, sizeof(until), "which has no timeout");
	else
		snprintf(until, sizeof(until), "until %" PRIu32 " s after its last request", seconds);
	o2_wronging_see(wronging, "it is in session '%s' of 10.0.0.%" PRIu32 "@o2ib, %s", name, address,
			until);
}

void o2_wronging_lst(struct o2_wronging *wronging)
{
	static void (*const kinds[])(struct o2_wronging * wronging) = {
		spoil_framework, spoil_more, spoil_test, spoil_longer, spoil_returns, spoil_busy};
	static const uint32_t weights[] = {6, 4, 3, 1, 2, 6};
	const size_t kind = o2_draw_weighted(wronging->c, weights, 6);

	kinds[kind](wronging);
	wronging->trial->run->tally.seen[O2_COMMANDS_WRONG_BUSY] += kind == 5;
}
