/* SPDX-License-Identifier: MIT */
/* Wrong answers to pings: docs/peer.md, "Ping", and docs/conform.md, "Leaving in the middle". */
#include "props/command/wronging.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "wire/msg.h"

#define MAGIC	    UINT64_C(0x70696e67)
#define PAYLOAD	    120u
#define NIS	    16u /* list behind them: a NID and its status each */
#define UP	    0x15aac0deu
#define THEM	    UINT64_C(0x000500000a630001)
#define ACK_LENGTH  (48u + 32u + 24u)
#define PUSH_BYTES  48u
#define FOREVER	    UINT32_MAX
#define LARGE_BYTES 65536u
#define STEPS	    64u /* docs/conform.md, "Leaving in the middle": most steps */

static void in_probe(struct o2_wronging *wronging, const char *id, uint32_t lnet_type, uint32_t spares)
{
	o2_wronging_tell(wronging, id, O2_MSG_IMMEDIATE, lnet_type, spares);
}

static void spoil_magic(struct o2_wronging *wronging)
{
	const uint64_t magic = o2_draw(wronging->c, MAGIC - 1);

	o2_wronging_spoil(wronging, PAYLOAD, 4, magic);
	o2_wronging_see(wronging,
			"the answer to a ping is no ping info: lnet/ping/magic: pi_magic is %" PRIu64
			", expected %" PRIu64 " (%s)",
			magic, MAGIC, strerror(EPROTO));
}

static void spoil_info(struct o2_wronging *wronging)
{
	struct o2_choice *c = wronging->c;
	uint32_t status;

	in_probe(wronging, "ping/info", O2_LNET_REPLY, 0);
	switch (o2_draw(c, 2)) {
	case 0:
		o2_wronging_spoil(wronging, PAYLOAD + NIS, 8, THEM + o2_draw(c, 1));
		o2_wronging_see(wronging, "ns_nid of the first of 2 is not 0@lo");
		break;
	case 1:
		o2_wronging_spoil(wronging, PAYLOAD + NIS + 16, 8, THEM + 1 + o2_draw(c, 100));
		o2_wronging_see(wronging, "the NID that was asked is not among its 2");
		break;
	default:
		status = (uint32_t)o2_draw(c, UP);
		o2_wronging_spoil(wronging, PAYLOAD + NIS + 24, 4, status);
		if (status != UP)
			o2_wronging_see(wronging,
					"ns_status of the NID that was asked is 0x%" PRIx32
					", expected 0x%" PRIx32,
					status, UP);
	}
}

static void spoil_push(struct o2_wronging *wronging)
{
	const uint64_t told = o2_draw(wronging->c, PUSH_BYTES - 1);

	in_probe(wronging, "ping/push", O2_LNET_ACK, 0);
	o2_wronging_spoil(wronging, ACK_LENGTH, 4, told);
	o2_wronging_see(wronging, "PUT of 48 bytes at offset 0: the peer reports %" PRIu64 " bytes", told);
}

void o2_wronging_return(struct o2_wronging *wronging, uint32_t good)
{
	wronging->returns = true;
	wronging->good = good;
	wronging->once = o2_draw_bool(wronging->c, 1, 1);
	wronging->wrong->answers = FOREVER;
	wronging->wrong->most = wronging->once ? 1 : FOREVER;
}

/* From one of the times that we come back on, or only once, an answer is wrong. */
static void spoil_returns(struct o2_wronging *wronging)
{
	static const char *const probes[] = {"leave/ping", "leave/put", "leave/get", "leave/put-small"};
	const uint32_t rounds = wronging->trial->rounds;
	const size_t probe = o2_draw_pick(wronging->c, 4);
	/* A ping may be answered in its first step, before we leave, so it is not noticed when we come back. */
	const uint32_t spares = (uint32_t)o2_draw(wronging->c, probe == 0 ? rounds - 1 : rounds);

	in_probe(wronging, probes[probe], O2_LNET_REPLY, spares);
	o2_wronging_return(wronging, spares);
	wronging->late = o2_draw_bool(wronging->c, 2, 1);
	if (wronging->late)
		wronging->wrong->late = STEPS + (uint32_t)o2_draw(wronging->c, 20);
	o2_wronging_see(wronging,
			"# of # reconnects failed, the first after step %" PRIu32 " of #: ", spares / rounds);
	spoil_magic(wronging);
}

/* The check that bytes still move comes after one request per life; with another stamp, after two. */
static void spoil_end(struct o2_wronging *wronging)
{
	const bool restarts = o2_draw_bool(wronging->c, 1, 1);
	const uint64_t told = o2_draw(wronging->c, LARGE_BYTES - 1);

	in_probe(wronging, restarts ? "restart/stamp" : "leave/many", 0, 0);
	wronging->wrong->type = O2_MSG_GET_DONE;
	wronging->wrong->from = restarts ? 2 * wronging->trial->rounds - 1 : wronging->trial->rounds;
	wronging->wrong->answers = wronging->wrong->most = FOREVER;
	o2_wronging_spoil(wronging, 56, 4, told);
	o2_wronging_see(wronging, "GET of 65536 bytes at offset 0: the peer reports %" PRIu64 " bytes", told);
}

void o2_wronging_ping(struct o2_wronging *wronging)
{
	struct o2_choice *c = wronging->c;

	switch (o2_draw(c, 6)) {
	case 0:
		in_probe(wronging, "ping/twenty", O2_LNET_REPLY, (uint32_t)o2_draw(c, 19));
		spoil_magic(wronging);
		break;
	case 1:
		in_probe(wronging, "connect/again", O2_LNET_REPLY, 0);
		wronging->wrong->from = (uint32_t)o2_draw(c, 19);
		spoil_magic(wronging);
		break;
	case 2:
		spoil_push(wronging);
		break;
	case 3:
	case 4:
		spoil_returns(wronging);
		break;
	case 5:
		spoil_end(wronging);
		break;
	default:
		spoil_info(wronging);
	}
}

bool o2_wronging_returned(const struct o2_wronging *wronging, const char *seen)
{
	const uint32_t rounds = wronging->trial->rounds;
	uint32_t times, bad, first, steps;
	int read;

	if (!wronging->returns)
		return true;
	read = sscanf(seen,
		      "%" SCNu32 " of %" SCNu32 " reconnects failed, the first after step %" SCNu32
		      " of %" SCNu32,
		      &bad, &times, &first, &steps);
	/* The line of LNet selftest has no step number. */
	steps = read == 3 ? times / rounds - 1 : steps;
	return read >= 3 && times == (steps + 1) * rounds &&
	       bad == (wronging->once ? 1 : times - wronging->good) && (read == 3) == wronging->trial->lst &&
	       (wronging->late ? steps == STEPS - 1 : steps > 1 && steps < STEPS - 1);
}
