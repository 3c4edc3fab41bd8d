/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_FAULTS_CALLS_H
#define O2_TEST_FAULTS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Calls that the library makes and that can fail, each of which fails once, at its n-th time, in a program
 * that is linked with --wrap for them (CMakeLists.txt) or finds them in the table of a device.  One count for
 * the process: the linker leaves no other place.
 */
enum faulty_call {
	/* Memory. */
	CALL_MALLOC,
	CALL_CALLOC,
	CALL_REALLOC,
	CALL_ALIGNED_ALLOC,
	CALL_MMAP,
	CALL_MEMFD_CREATE,
	CALL_FTRUNCATE,
	/* The device. */
	CALL_GET_DEVICE_LIST,
	CALL_OPEN_DEVICE,
	CALL_QUERY_DEVICE,
	CALL_QUERY_PORT,
	CALL_QUERY_GID,
	CALL_ALLOC_PD,
	CALL_REG_MR, /* with an iova or without one */
	CALL_ALLOC_MW,
	CALL_CREATE_CQ,
	CALL_CREATE_QP,
	CALL_MODIFY_QP,
	CALL_POST_SEND,
	CALL_POST_RECV,
	CALL_POLL_CQ,
	CALL_CREATE_COMP_CHANNEL,
	CALL_REQ_NOTIFY_CQ,
	CALL_GET_CQ_EVENT,
	/* What gives something back: when it fails the device keeps it. */
	CALL_DEREG_MR,
	CALL_DEALLOC_MW,
	CALL_DESTROY_QP,
	CALL_DESTROY_CQ,
	CALL_DESTROY_COMP_CHANNEL,
	CALL_DEALLOC_PD,
	CALL_CLOSE_DEVICE,
	/* No calls, but they fail as well. */
	CALL_MAPPING, /* o2_dma_map of a device behind a unit that remaps */
	CALL_EXECUTE, /* a work request by the device */
	CALL_MESSAGE, /* a message of the connection manager */
	CALL_REQUEST, /* one that asks for a connection */
	CALLS,
};

/* Its name in the source; "mapping" and so on for what is none. */
const char *faulty_call_name(enum faulty_call call);

/*
 * The n-th from now on fails with this errno (what is no call: with what its own caller says); 0: none does.
 */
void faulty_call_arm(enum faulty_call call, uint32_t nth, int code);

/* Asked by each call: fail now? */
bool faulty_call_due(enum faulty_call call);

/* Has it failed since it was armed? */
bool faulty_call_fired(void);

/* What is held now: allocations, and bytes that were mapped. */
struct faulty_call_held {
	int64_t allocations, mapped_bytes;
};

struct faulty_call_held faulty_call_held(void);

#endif
