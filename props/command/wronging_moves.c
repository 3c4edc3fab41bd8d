/* SPDX-License-Identifier: MIT */
/* Wrong bytes in transfers, and wrong places: docs/conform.md, "Probes". */
#include "props/command/wronging.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_name.h"
#include "props/command/serving.h"
#include "wire/msg.h"

#define IMMEDIATE  3976u
#define PEER_SEED  1u
#define RUN	   8u /* so many wrong bytes in a row count as not written */
#define PAYLOAD	   120u
#define STATUS	   56u
#define ACK_LENGTH (48u + 32u + 24u)
/* How a status of the peer is reported: docs/peer.md, "When it does not work". */
#define FAILURE "the peer reports a failure: transfer/peer-status: -ibcm_status is %d (%s)"

/* What probes PUT and GET, one size after the other. */
static const struct {
	const char *id;
	uint32_t sizes[4], offset;
} moving[] = {
	{"put/size-1", {1}, 0},
	{"put/size-3975", {3975}, 0},
	{"put/size-3976", {3976}, 0},
	{"put/size-3977", {3977}, 0},
	{"put/size-4097", {4097}, 0},
	{"put/size-65536", {65536}, 0},
	{"frags/2", {8192}, 0},
	{"frags/257", {1048576}, 0},
	{"mode/fastreg", {1, 3977, 65536, 1048576}, 0},
	{"mode/global", {1, 3977, 65536, 1048576}, 0},
	{"offset/local-511", {3000, 65537}, 0},
	{"offset/remote-511", {3000, 65537}, 511},
	{"offset/remote-5000", {3000, 65537}, 5000},
};

#define NMOVING (sizeof(moving) / sizeof(moving[0]))

/* Draw the status of a GET_DONE: a number of bytes, or an errno. */
static void draw_status(struct o2_wronging *wronging, uint32_t size, uint32_t offset)
{
	static const int codes[] = {EIO, ENOMEM, EFAULT, ETIMEDOUT, EPROTO};
	char name[O2_ERRNO_TEXT_BYTES];

	if (o2_draw_bool(wronging->c, 1, 1)) {
		const uint64_t told = o2_draw(wronging->c, size - 1);

		o2_wronging_spoil(wronging, STATUS, 4, told);
		o2_wronging_see(wronging,
				"GET of %" PRIu32 " bytes at offset %" PRIu32 ": the peer reports %" PRIu64
				" bytes",
				size, offset, told);
	} else {
		const int code = codes[o2_draw_pick(wronging->c, 5)];

		o2_wronging_spoil(wronging, STATUS, 4, (uint32_t)-code);
		o2_wronging_see(wronging,
				"GET of %" PRIu32 " bytes at offset %" PRIu32 " ends with %s: " FAILURE, size,
				offset, o2_errno_text(code, name), code, strerror(code));
	}
}

static uint64_t stream_of(const char *id)
{
	struct o2_probe probe;
	uint32_t number = 0;

	while (o2_probe_at(number, &probe) && strcmp(probe.id, id) != 0)
		number++;
	return (uint64_t)(number + 1) << 32;
}

/* Spoil bytes of a GET in one message; they belong to that stream. */
static void spoil_bytes(struct o2_wronging *wronging, uint32_t size, uint32_t offset, uint64_t stream)
{
	const uint64_t seed = wronging->trial->seed;
	const uint32_t width = size < RUN || o2_draw_bool(wronging->c, 2, 1) ? 1 : RUN;
	const uint32_t at = (uint32_t)o2_draw(wronging->c, size - width);
	uint64_t value = 0;

	o2_wronging_see(wronging, "GET of %" PRIu32 " bytes at offset %" PRIu32 ": ", size, offset);
	for (uint32_t i = 0; i < width; i++)
		value |= (uint64_t)(uint8_t)~o2_serving_byte(seed, stream, at + i) << 8 * i;
	/* All bytes are wrong, as if they were not written. */
	if (width == RUN || size == 1) {
		o2_wronging_see(wronging, "the peer reports %" PRIu32 " bytes and wrote %" PRIu32 " of them",
				size, size - width);
	} else {
		const uint8_t belongs = (uint8_t)~value;

		value = (uint8_t)(belongs + 1 + o2_draw(wronging->c, 254));
		o2_wronging_see(wronging, "byte %" PRIu32 " is 0x%02x, not 0x%02x (seed %" PRIu64 ")", at,
				(unsigned int)value, belongs, seed);
	}
	o2_wronging_spoil(wronging, PAYLOAD + at, width, value);
}

/* Spoil a PUT or the GET after it. */
void o2_wronging_move(struct o2_wronging *wronging)
{
	struct o2_choice *c = wronging->c;
	const size_t which = o2_draw_pick(c, NMOVING);
	const uint32_t *sizes = moving[which].sizes;
	uint32_t count = 0, at, size, before = 0;

	while (count < 4 && sizes[count] != 0)
		count++;
	at = (uint32_t)o2_draw(c, count - 1);
	size = sizes[at];
	if (o2_draw_bool(c, 2, 1)) {
		const uint64_t told = o2_draw(c, size - 1);

		o2_wronging_tell(wronging, moving[which].id, O2_MSG_IMMEDIATE, O2_LNET_ACK, at);
		o2_wronging_spoil(wronging, ACK_LENGTH, 4, told);
		o2_wronging_see(wronging, "PUT of %" PRIu32 " bytes at offset %" PRIu32, size,
				moving[which].offset);
		/* An IMMEDIATE may be accepted in part; a WRITE only as a whole. */
		if (size <= IMMEDIATE)
			o2_wronging_see(wronging, ": the peer reports %" PRIu64 " bytes", told);
		else
			o2_wronging_see(wronging,
					" ends with EPROTO: the peer has broken a rule: "
					"lnet/ack/other-length: mlength is %" PRIu64 ", expected %" PRIu32
					" (%s)",
					told, size, strerror(EPROTO));
		return;
	}
	for (uint32_t i = 0; i < at; i++)
		before += (sizes[i] <= IMMEDIATE) == (size <= IMMEDIATE);
	if (size <= IMMEDIATE) {
		o2_wronging_tell(wronging, moving[which].id, O2_MSG_IMMEDIATE, O2_LNET_REPLY, before);
		spoil_bytes(wronging, size, moving[which].offset, stream_of(moving[which].id) + at + 1);
	} else {
		o2_wronging_tell(wronging, moving[which].id, O2_MSG_GET_DONE, 0, before);
		draw_status(wronging, size, moving[which].offset);
	}
}

/* Of two GETs of the same bytes, spoil one. */
void o2_wronging_twice(struct o2_wronging *wronging)
{
	static const uint32_t sizes[] = {1, 3975, 3976, 3977, 4096, 65535, 1048576}, widths[] = {1, 2, 4, 8};
	struct o2_choice *c = wronging->c;
	const uint32_t size = sizes[o2_draw_pick(c, 7)];
	const uint32_t width = size == 1 ? 1 : widths[o2_draw_pick(c, 4)];
	const bool second = o2_draw_bool(c, 1, 1);
	uint32_t at, differ = 0, first = width;
	uint64_t value;
	char id[32];

	snprintf(id, sizeof(id), "get/size-%" PRIu32, size);
	if (size > IMMEDIATE) {
		o2_wronging_tell(wronging, id, O2_MSG_GET_DONE, 0, second);
		draw_status(wronging, size, 0);
		return;
	}
	o2_wronging_tell(wronging, id, O2_MSG_IMMEDIATE, O2_LNET_REPLY, second);
	at = (uint32_t)o2_draw(c, size - width);
	value = o2_draw(c, width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1);
	o2_wronging_spoil(wronging, PAYLOAD + at, width, value);
	for (uint32_t i = width; i-- > 0;)
		if ((uint8_t)(value >> 8 * i) != o2_serving_byte(PEER_SEED, 0, at + i)) {
			differ++;
			first = i;
		}
	if (differ > 0) {
		const uint8_t right = o2_serving_byte(PEER_SEED, 0, at + first);
		const uint8_t told = (uint8_t)(value >> 8 * first);

		o2_wronging_see(wronging,
				"GET of %" PRIu32 " bytes twice: %" PRIu32 " bytes differ, from byte %" PRIu32
				" on (0x%02x, 0x%02x): not written, or not the same",
				size, differ, at + first, second ? right : told, second ? told : right);
	}
}

/* Spoil the answer to a GET or PUT where no memory is, or only part of it. */
void o2_wronging_place(struct o2_wronging *wronging)
{
	static const char *const probes[] = {"missing/put", "missing/get", "end/put", "end/get"};
	const size_t which = o2_draw_pick(wronging->c, 4);
	const uint32_t offset = which < 2 ? 0 : wronging->place_bytes - 4096;
	static const int codes[] = {EIO, ENOMEM, EFAULT, ENODATA};
	const int code = codes[o2_draw_pick(wronging->c, 4)];
	char name[O2_ERRNO_TEXT_BYTES];

	o2_wronging_tell(wronging, probes[which], which % 2 == 0 ? O2_MSG_PUT_NAK : O2_MSG_GET_DONE, 0, 0);
	if (which % 2 == 1 && o2_draw_bool(wronging->c, 1, 1)) {
		const uint64_t told = o2_draw(wronging->c, 8192);

		o2_wronging_spoil(wronging, STATUS, 4, told);
		if (which == 1)
			o2_wronging_see(wronging,
					"GET of 8192 bytes to portal 65535: success, %" PRIu64 " bytes",
					told);
		else if (told > 0)
			o2_wronging_see(wronging,
					"GET of 8192 bytes at offset %" PRIu32 ": the peer reports %" PRIu64
					" bytes and wrote 0 of them",
					offset, told);
		return;
	}
	o2_wronging_spoil(wronging, STATUS, 4, (uint32_t)-code);
	/* Where there is no memory, a PUT_NAK must say so with status 0; past its end, ENODATA is right too. */
	if (code != ENODATA || which == 0)
		o2_wronging_see(wronging, "%s of 8192 bytes at offset %" PRIu32 " ends with %s: " FAILURE,
				which % 2 == 0 ? "PUT" : "GET", offset, o2_errno_text(code, name), code,
				strerror(code));
}
