/* SPDX-License-Identifier: MIT */
#include "props/world/rung_kept.h"

#include <errno.h>

#include "props/world/rung_side.h"

static int ended_so(const struct o2_transfer_fault *fault, enum o2_side side, struct o2_error *error)
{
	if (fault->error.code == 0)
		return o2_refuse(error, fault->code != 0 ? fault->code : -ECONNRESET, "rung/ended",
				 "side of the fault", side, fault->side, O2_NO_LIMIT);
	*error = fault->error;
	return fault->error.code;
}

int o2_rung_check_kept(const struct o2_end_answer answer[2], const uint32_t downs[2], struct o2_error *error)
{
	for (int i = 0; i < 2; i++)
		if (answer[i].downs != downs[i])
			return ended_so(&answer[i].down, (enum o2_side)i, error);
	return 0;
}

bool o2_rung_nothing_between(const struct o2_end_answer answer[2])
{
	const struct o2_end_answer *a = &answer[O2_SOURCE], *b = &answer[O2_SINK];

	return a->messages_sent == b->messages_handled && b->messages_sent == a->messages_handled &&
	       a->noops_sent == b->noops_received && b->noops_sent == a->noops_received;
}

void o2_rung_tell_broken(const struct o2_end_answer answer[2], struct o2_observed *observed)
{
	for (int i = 0; i < 2 && observed->broken == NULL; i++) {
		observed->broken = answer[i].broken;
		observed->judged = answer[i].judged;
	}
}

int o2_rung_check_connected(const struct o2_end_answer answer[2], uint64_t took_ms, struct o2_error *error)
{
	if (took_ms > O2_RUNG_CONNECT_MS)
		return o2_refuse_value(error, -ETIMEDOUT, "rung/connect-time", "ms", took_ms,
				       O2_RUNG_CONNECT_MS);
	for (uint32_t i = 0; i < 2; i++) {
		if (!answer[i].connected)
			return o2_refuse(error, -ENOTCONN, "rung/connected", "connections", i, 0, 1);
		if (answer[i].version != O2_MSG_VERSION_2)
			return o2_refuse(error, -EPROTO, "rung/version", "version", i, answer[i].version,
					 O2_MSG_VERSION_2);
		if (answer[i].queue_depth != O2_RUNG_QUEUE_DEPTH)
			return o2_refuse(error, -EPROTO, "rung/queue-depth", "queue_depth", i,
					 answer[i].queue_depth, O2_RUNG_QUEUE_DEPTH);
	}
	return 0;
}

int o2_rung_check_parted(const struct o2_end_answer answer[2], const uint32_t downs[2], enum o2_side closer,
			 struct o2_error *error)
{
	for (int i = 0; i < 2; i++) {
		const enum o2_fault_side side = i == (int)closer ? O2_FAULT_NONE : O2_FAULT_PEER_CLOSED;

		if (answer[i].downs != downs[i] + 1)
			return o2_refuse(error, -EPROTO, "rung/ends", "ends of connections", (uint32_t)i,
					 answer[i].downs - downs[i], 1);
		if (answer[i].down.side != side || answer[i].down.code != 0)
			return ended_so(&answer[i].down, (enum o2_side)i, error);
	}
	return 0;
}
