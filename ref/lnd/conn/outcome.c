/* SPDX-License-Identifier: MIT */
#include "lnd/conn/outcome.h"

#include <assert.h>
#include <errno.h>

int o2_outcome_judge(enum o2_msg_type type, int32_t status, uint64_t nob, struct o2_error *error)
{
	assert(type == O2_MSG_PUT_NAK || type == O2_MSG_PUT_DONE || type == O2_MSG_GET_DONE);
	if (status < 0)
		return 0;
	if (type == O2_MSG_PUT_NAK && status > 0)
		return o2_refuse_peer(error, -EPROTO, "conn/nak-status", "ibcm_status", (uint64_t)status, 0);
	if (type == O2_MSG_PUT_DONE && (uint64_t)status != nob)
		return o2_refuse_peer_other(error, -EPROTO, "conn/put-done-status", "ibcm_status",
					    (uint64_t)status, nob);
	if (type == O2_MSG_GET_DONE && (uint64_t)status > nob)
		return o2_refuse_peer(error, -EPROTO, "conn/get-done-status", "ibcm_status", (uint64_t)status,
				      nob);
	return 0;
}
