/* SPDX-License-Identifier: MIT */
/* Wrong CONNACKs and rejects: docs/connection.md, "Checks of a CONNACK" and "What a reject means". */
#include "props/command/wronging.h"
#include "props/model/reject_model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEPTH	    8u /* of the peer, and requested by default */
#define LEAST_DEPTH 2u
#define FRAGS	    257u
#define BYTES	    4096u
#define LEAST	    148u /* docs/connection.md: smallest message size */
#define US	    UINT64_C(0x000500000a000001)
#define THEM	    UINT64_C(0x000500000a630001)
#define GRANTS	    8u
/* Reasons of a reject: docs/wire.md, "Reject record". */
#define RACE	     1u
#define FATAL	     3u
#define UNCOMPATIBLE 4u
#define STALE	     5u

struct terms {
	uint32_t depth, frags, bytes, version;
};

/* Probes whose first request is accepted. */
static const struct {
	const char *id;
	uint32_t depth, frags;
} granted[] = {
	{"connect/depth-2", 2, FRAGS},	     {"connect/depth-3", 3, FRAGS},
	{"connect/depth-4", 4, FRAGS},	     {"connect/depth-8", 8, FRAGS},
	{"connect/frags-1", DEPTH, 1},	     {"connect/frags-2", DEPTH, 2},
	{"connect/frags-16", DEPTH, 16},     {"connect/frags-255", DEPTH, 255},
	{"connect/frags-256", DEPTH, 256},   {"connect/frags-257", DEPTH, FRAGS},
	{"connect/size-4096", DEPTH, FRAGS},
};

static const uint32_t ngranted = sizeof(granted) / sizeof(granted[0]);

static uint32_t around(struct o2_choice *c, uint32_t limit)
{
	return o2_draw_bool(c, 2, 1) ? (uint32_t)o2_draw(c, UINT16_MAX) : limit - 2 + (uint32_t)o2_draw(c, 4);
}

static void see_terms(struct o2_wronging *wronging, const struct terms *terms, const char *type)
{
	o2_wronging_see(wronging,
			"accepted: %s, version 0x%" PRIx32 ", depth %" PRIu32 ", %" PRIu32
			" fragments, %" PRIu32 " bytes",
			type, terms->version, terms->depth, terms->frags, terms->bytes);
}

/* Expect a complaint unless low <= value <= high. */
static void held(struct o2_wronging *wronging, const struct terms *terms, const char *rule, const char *field,
		 uint32_t value, uint32_t low, uint32_t high)
{
	if (value >= low && value <= high)
		return;
	see_terms(wronging, terms, "CONNACK");
	o2_wronging_see(wronging, ": connack/%s-%s: ibcp_%s is %" PRIu32 ", limit %" PRIu32 " (%s)", rule,
			value > high ? "over"
			: low == 1   ? "zero"
				     : "under",
			field, value, value > high ? high : low, strerror(EPROTO));
}

static void other(struct o2_wronging *wronging, const struct terms *terms, const char *type, const char *what,
		  int code)
{
	see_terms(wronging, terms, type);
	o2_wronging_see(wronging, ": connack/%s (%s)", what, strerror(code));
}

static void spoil_reply(struct o2_wronging *wronging, struct terms asked)
{
	struct o2_choice *c = wronging->c;
	struct terms terms = asked;
	char what[100];

	switch (o2_draw(c, 8)) {
	case 0:
		terms.depth = around(c, asked.depth);
		o2_wronging_spoil(wronging, 48, 2, terms.depth);
		held(wronging, &terms, "queue-depth", "queue_depth", terms.depth, LEAST_DEPTH, asked.depth);
		break;
	case 1:
		terms.frags = around(c, asked.frags < 2 ? 2 : asked.frags);
		o2_wronging_spoil(wronging, 50, 2, terms.frags);
		held(wronging, &terms, "max-frags", "max_frags", terms.frags, 1, asked.frags);
		break;
	case 2:
		terms.bytes = around(c, o2_draw_bool(c, 1, 1) ? BYTES : LEAST);
		o2_wronging_spoil(wronging, 52, 4, terms.bytes);
		held(wronging, &terms, "max-msg-size", "max_msg_size", terms.bytes, LEAST, BYTES);
		break;
	case 3:
		terms.version = 0x11 + (uint32_t)o2_draw(c, 2);
		o2_wronging_spoil(wronging, 4, 2, terms.version);
		if (terms.version == 0x11)
			other(wronging, &terms, "CONNACK", "version: ibm_version is 17, expected 18", EPROTO);
		else if (terms.version == 0x13)
			o2_wronging_see(wronging,
					"accepted with a reply that breaks a rule: wire/header/version: "
					"ibm_version is 19, limit 18 (%s)",
					strerror(EPROTO));
		break;
	case 4:
		o2_wronging_spoil(wronging, 6, 1, 0xc0);
		other(wronging, &terms, "CONNREQ", "type: ibm_type is 192, expected 193", EPROTO);
		break;
	case 5:
		o2_wronging_spoil(wronging, 0, 4, 1 + o2_draw(c, 1000));
		o2_wronging_see(
			wronging,
			"accepted with a reply that breaks a rule: wire/header/magic: ibm_magic is %" PRIu64
			", expected # (%s)",
			wronging->wrong->value, strerror(EPROTO));
		break;
	case 6:
		o2_wronging_spoil(wronging, 16, 8, THEM + 1 + o2_draw(c, 100));
		o2_wronging_see(wronging, "ibm_srcnid is 0x%" PRIx64 ", expected 0x%" PRIx64,
				wronging->wrong->value, THEM);
		break;
	case 7:
		o2_wronging_spoil(wronging, 32, 8, US + 1 + o2_draw(c, 100));
		snprintf(what, sizeof(what), "dstnid: ibm_dstnid is %" PRIu64 ", expected %" PRIu64,
			 wronging->wrong->value, US);
		other(wronging, &terms, "CONNACK", what, ESTALE);
		break;
	default:
		o2_wronging_spoil(wronging, 40, 8, 1 + o2_draw(c, 100));
		wronging->wrong->adds = true;
		other(wronging, &terms, "CONNACK", "dststamp: ibm_dststamp is #, expected #", ESTALE);
	}
}

/* Keep the order of the table, so that a probe is asked after those before it. */
void o2_wronging_reply(struct o2_wronging *wronging)
{
	struct o2_choice *c = wronging->c;
	const uint32_t step = 1 + (uint32_t)o2_draw(c, 2);
	uint32_t at = (uint32_t)o2_draw(c, ngranted - 1);

	wronging->wrong->in = O2_WRONG_REPLY;
	wronging->heard = "a reply of ";
	wronging->at = (uint32_t)o2_draw(c, O2_WRONGING_PROBES - 1);
	at = at < wronging->at * step ? wronging->at * step : at;
	wronging->wrong->from = wronging->at;
	spoil_reply(wronging, (struct terms){granted[at].depth, granted[at].frags, BYTES, 0x12});
	at -= wronging->at * step;
	while (wronging->probes < O2_WRONGING_PROBES && at < ngranted) {
		snprintf(wronging->probe[wronging->probes++], sizeof(wronging->probe[0]), "%s",
			 granted[at].id);
		at += step;
	}
}

static void see_reject(struct o2_wronging *wronging, const char *why, uint32_t number, uint32_t depth)
{
	o2_wronging_see(wronging,
			"rejected: %s (reason %" PRIu32 "), version 0x12, depth %" PRIu32 ", 257 fragments",
			why, number, depth);
}

/* The peer has and states a depth of 8; its reject of a larger request is changed. */
static void spoil_limit(struct o2_wronging *wronging, uint32_t asked)
{
	struct o2_choice *c = wronging->c;
	uint32_t value, still;

	wronging->wrong->most = 1 + (uint32_t)o2_draw(c, 1);
	wronging->wrong->answers = 2;
	switch (o2_draw(c, 3)) {
	case 0:
		value = around(c, o2_draw_bool(c, 1, 1)	  ? asked
				  : o2_draw_bool(c, 1, 1) ? DEPTH
							  : LEAST_DEPTH);
		still = wronging->wrong->most == 2 ? value : DEPTH;
		wronging->trial->told = value;
		o2_wronging_spoil(wronging, 16, 2, value);
		if (value >= asked || value < LEAST_DEPTH) {
			see_reject(wronging, "queue-depth", 7, value);
		} else if (value > DEPTH) {
			o2_wronging_see(wronging,
					"asked for what its reject allows (depth %" PRIu32
					", 257 fragments): ",
					value);
			see_reject(wronging, "queue-depth", 7, still);
		}
		break;
	case 1:
		value = (uint32_t)o2_draw_range(c, 1, 9);
		if (value == RACE)
			wronging->wrong->most = 1;
		wronging->trial->stale = value == STALE || value == RACE;
		o2_wronging_spoil(wronging, 6, 1, value);
		if (value != 7 && value != RACE && (value != STALE || wronging->wrong->most == 2))
			see_reject(wronging, o2_rm_reasons[value], value, DEPTH);
		break;
	case 2:
		o2_wronging_spoil(wronging, 0, 4, 1 + o2_draw(c, 1000));
		o2_wronging_see(wronging, "rejected without a record: consumer reject (28)");
		break;
	default:
		o2_wronging_spoil(wronging, 8, 8, 1 + o2_draw(c, 100));
		wronging->wrong->adds = true;
		o2_wronging_see(wronging, "asked for what its reject allows (depth 8, 257 fragments): ");
		see_reject(wronging, "stale", 5, DEPTH);
	}
}

/* A node known by another version is rejected first.  A peer that does not speak the version is not blamed. */
static void spoil_version(struct o2_wronging *wronging)
{
	const uint32_t why = (uint32_t)o2_draw_range(wronging->c, 1, 9);

	snprintf(wronging->probe[0], sizeof(wronging->probe[0]), "connect/version-1");
	o2_wronging_spoil(wronging, 6, 1, why);
	if (why == STALE || why == RACE)
		return;
	wronging->skips = why == UNCOMPATIBLE || why == FATAL;
	o2_wronging_see(wronging, "%srejected: %s (reason %" PRIu32 "), version 0x#, depth #, # fragments",
			wronging->skips ? "it does not speak it: " : "", o2_rm_reasons[why], why);
}

void o2_wronging_reject(struct o2_wronging *wronging)
{
	static const uint32_t deep[] = {16, 32, 128, 255};
	const uint32_t asked = deep[o2_draw_pick(wronging->c, 4)];

	wronging->wrong->in = O2_WRONG_REJECT;
	wronging->heard = "a reject of ";
	wronging->probes = 1;
	if (o2_draw_bool(wronging->c, 2, 1)) {
		spoil_version(wronging);
		return;
	}
	snprintf(wronging->probe[0], sizeof(wronging->probe[0]), "connect/depth-%" PRIu32, asked);
	spoil_limit(wronging, asked);
}
