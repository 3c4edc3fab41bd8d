/* SPDX-License-Identifier: MIT */
#include "lnd/choose.h"

enum o2_lnd_form o2_lnd_choose(const struct o2_lnd_question *question)
{
	bool large = question->nob > 0 && (question->force_rdma || question->nob > question->immediate_max);

	switch (question->type) {
	case O2_LNET_PUT:
	case O2_LNET_REPLY:
		return large ? O2_FORM_PUT_REQ : O2_FORM_IMMEDIATE;
	case O2_LNET_GET:
		return large && !question->routed ? O2_FORM_GET_REQ : O2_FORM_IMMEDIATE;
	case O2_LNET_ACK:
	case O2_LNET_HELLO:
		break;
	}
	return O2_FORM_IMMEDIATE;
}
