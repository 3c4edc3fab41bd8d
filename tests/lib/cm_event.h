/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_CM_EVENT_H
#define O2_TESTS_CM_EVENT_H

#include "lnd/cm/cm.h"

static inline const char *cm_event_name(enum o2_cm_event_type type)
{
	static const char *const names[] = {
		[O2_CM_REQUEST] = "request",	       [O2_CM_ESTABLISHED] = "established",
		[O2_CM_REJECTED] = "rejected",	       [O2_CM_UNRESOLVED] = "unresolved",
		[O2_CM_UNREACHABLE] = "unreachable",   [O2_CM_CONNECT_ERROR] = "connect-error",
		[O2_CM_DISCONNECTED] = "disconnected", [O2_CM_DEVICE_LOST] = "device-lost",
	};

	return names[type];
}

#endif
