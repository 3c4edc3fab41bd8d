/* SPDX-License-Identifier: MIT */
#include "props/model/lst_model.h"

#include <string.h>

#define MAGIC	  0xeeb0f00du
#define TYPES	  18u
#define TEST	  8u
#define NAME	  32u
#define HEADER_AT 24u

/* By type: widths of the body's fields, in order.  A name has 32 bytes and no byte order. */
static const char *const bodies[TYPES] = {
	"\x08\x08\x08\x04\x20",		/* MKSN: rpyid, sid, force, name */
	"\x04\x08\x08\x04\x20",		/* status, sid, timeout, name */
	"\x08\x08\x08",			/* RMSN: rpyid, sid */
	"\x04\x08\x08",			/* status, sid */
	"\x08\x08\x08\x08\x04\x04\x04", /* BATCH: rpyid, sid, bid, opc, testidx, arg */
	"\x04\x08\x08\x04\x04",		/* status, sid, active, time */
	"\x08\x08\x08\x04",		/* STAT: rpyid, sid, type */
	/* status, sid; then the counters of fw, rpc and lnet */
	"\4\10\10\4\4\4\4\4\4\4\4\4\4\10\10\4\4\4\4\4\4\4\10\10\10\10",
	"\x08\x08\x08\x08\x08\x04\x04\x04\x01\x01\x04", /* TEST, up to tsr_u */
	"\x04\x08\x08",					/* status, sid */
	"\x08\x08\x08\x04",				/* DEBUG: rpyid, sid, flags */
	"\x04\x08\x08\x04\x04\x20",			/* status, sid, timeout, nbatch, name */
	"\x08\x08\x04\x04\x04",				/* BRW: rpyid, bulkid, rw, len, flags */
	"\x04",						/* status */
	"\x08\x04\x04\x08\x08",				/* PING: rpyid, magic, seq, sec, nsec */
	"\x04\x04\x04",					/* status, magic, seq */
	"\x08\x08\x08\x20",				/* JOIN: rpyid, sid, group */
	"\x04\x08\x08\x04\x20",				/* status, sid, timeout, session */
};

static uint32_t number(const uint8_t *bytes, bool big)
{
	uint32_t value = 0;

	for (uint32_t i = 0; i < 4; i++)
		value = value << 8 | bytes[big ? i : 3 - i];
	return value;
}

void o2_lstm_decode(const uint8_t *bytes, size_t length_bytes, struct o2_lstm_verdict *verdict)
{
	uint32_t type, version;

	*verdict =
		(struct o2_lstm_verdict){.rule = "lst/length", .value = length_bytes, .limit = O2_LSTM_BYTES};
	if (length_bytes != O2_LSTM_BYTES)
		return;
	verdict->big = number(bytes, true) == MAGIC;
	if (!verdict->big && number(bytes, false) != MAGIC) {
		verdict->rule = "lst/magic";
		verdict->value = number(bytes, false);
		verdict->limit = MAGIC;
		return;
	}
	type = number(bytes + 8, verdict->big);
	version = number(bytes + 4, verdict->big);
	verdict->is_read = type < TYPES;
	verdict->rule = type >= TYPES ? "lst/type" : version != 1 ? "lst/version" : NULL;
	verdict->value = type >= TYPES ? type : version;
	verdict->limit = type >= TYPES ? TYPES - 1 : 1;
}

/* Copy one field at `at` to both outputs; returns the offset of the next field. */
static uint32_t put(const uint8_t *bytes, uint32_t at, uint32_t width, uint8_t *same, uint8_t *other)
{
	for (uint32_t i = 0; i < width; i++) {
		if (width == NAME && (bytes[at + i] == 0 || i == NAME - 1))
			break;
		same[at + i] = bytes[at + i];
		other[at + (width == NAME ? i : width - 1 - i)] = bytes[at + i];
	}
	return at + width;
}

/* Widths of tsr_u. */
static const char *parameters(const uint8_t *bytes, bool big)
{
	const uint32_t service = number(bytes + 64, big);

	if (service == 12)
		return "\x04\x04";
	if (service != 11)
		return "";
	return number(bytes + 20, big) % 2 == 1 ? "\x02\x02\x04\x04" : "\x04\x04\x04";
}

void o2_lstm_again(const uint8_t *bytes, bool big, uint8_t *same, uint8_t *other)
{
	const uint32_t type = number(bytes + 8, big);
	uint32_t at = 0;

	memset(same, 0, O2_LSTM_BYTES);
	memset(other, 0, O2_LSTM_BYTES);
	while (at < HEADER_AT)
		at = put(bytes, at, 4, same, other);
	for (const char *width = bodies[type]; *width != '\0'; width++)
		at = put(bytes, at, (uint32_t)*width, same, other);
	if (type != TEST)
		return;
	for (const char *width = parameters(bytes, big); *width != '\0'; width++)
		at = put(bytes, at, (uint32_t)*width, same, other);
}
