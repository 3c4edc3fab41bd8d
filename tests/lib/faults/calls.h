/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_FAULTS_CALLS_H
#define O2_TEST_FAULTS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Fault injection: one chosen call of the library fails once, at its n-th time.  The program is linked with
 * --wrap for these calls (CMakeLists.txt), or replaces them in the device's table of operations.  The state is
 * global to the process, because wrapped functions have no context argument.
 *
 * ENTRY(ID, name, errno that the call fails with)
 */
#define FAULTY_CALLS(ENTRY)                                                  \
	/* Memory. */                                                        \
	ENTRY(MALLOC, "malloc", ENOMEM)                                      \
	ENTRY(CALLOC, "calloc", ENOMEM)                                      \
	ENTRY(REALLOC, "realloc", ENOMEM)                                    \
	ENTRY(ALIGNED_ALLOC, "aligned_alloc", ENOMEM)                        \
	ENTRY(MMAP, "mmap", ENOMEM)                                          \
	ENTRY(MEMFD_CREATE, "memfd_create", EMFILE)                          \
	ENTRY(FTRUNCATE, "ftruncate", ENOSPC)                                \
	/* The device. */                                                    \
	ENTRY(GET_DEVICE_LIST, "ibv_get_device_list", EPERM)                 \
	ENTRY(OPEN_DEVICE, "ibv_open_device", EPERM)                         \
	ENTRY(QUERY_DEVICE, "ibv_query_device", EPERM)                       \
	ENTRY(QUERY_PORT, "ibv_query_port", EPERM)                           \
	ENTRY(QUERY_GID, "ibv_query_gid", EPERM)                             \
	ENTRY(ALLOC_PD, "ibv_alloc_pd", EPERM)                               \
	ENTRY(REG_MR, "ibv_reg_mr", EPERM) /* with an iova or without one */ \
	ENTRY(ALLOC_MW, "ibv_alloc_mw", EPERM)                               \
	ENTRY(CREATE_CQ, "ibv_create_cq", EPERM)                             \
	ENTRY(CREATE_QP, "ibv_create_qp", EPERM)                             \
	ENTRY(MODIFY_QP, "ibv_modify_qp", EPERM)                             \
	ENTRY(POST_SEND, "ibv_post_send", EPERM)                             \
	ENTRY(POST_RECV, "ibv_post_recv", EPERM)                             \
	ENTRY(POLL_CQ, "ibv_poll_cq", EPERM)                                 \
	ENTRY(CREATE_COMP_CHANNEL, "ibv_create_comp_channel", EPERM)         \
	ENTRY(REQ_NOTIFY_CQ, "ibv_req_notify_cq", EPERM)                     \
	ENTRY(GET_CQ_EVENT, "ibv_get_cq_event", EPERM)                       \
	/* Releases: if one fails, the device keeps the object. */           \
	ENTRY(DEREG_MR, "ibv_dereg_mr", EBUSY)                               \
	ENTRY(DEALLOC_MW, "ibv_dealloc_mw", EBUSY)                           \
	ENTRY(DESTROY_QP, "ibv_destroy_qp", EBUSY)                           \
	ENTRY(DESTROY_CQ, "ibv_destroy_cq", EBUSY)                           \
	ENTRY(DESTROY_COMP_CHANNEL, "ibv_destroy_comp_channel", EBUSY)       \
	ENTRY(DEALLOC_PD, "ibv_dealloc_pd", EBUSY)                           \
	ENTRY(CLOSE_DEVICE, "ibv_close_device", EBUSY)

enum faulty_call {
#define FAULTY_CALL_ID(ID, name, code) CALL_##ID,
	FAULTY_CALLS(FAULTY_CALL_ID)
#undef FAULTY_CALL_ID
	/* Not library calls, but points where a failure can be injected. */
	CALL_MAPPING, /* o2_dma_map of a device behind an IOMMU */
	CALL_EXECUTE, /* the device executes a work request */
	CALL_MESSAGE, /* the connection manager delivers a message */
	CALL_REQUEST, /* the connection manager delivers a connection request */
	CALLS,
};

/* The function's name in the source; "mapping", "work request" and so on for the points that are no functions. */
const char *faulty_call_name(enum faulty_call call);

/* Make the nth `call` from now on fail with this errno.  nth 0: no call fails.  For points that are not library
 * calls (CALL_EXECUTE and so on) the code that asks faulty_call_due() chooses the error. */
void faulty_call_arm(enum faulty_call call, uint32_t nth, int code);

/* Count this call.  Returns true, with errno set, if the call must fail now. */
bool faulty_call_due(enum faulty_call call);

/* Has the armed call failed? */
bool faulty_call_fired(void);

/* Memory that the process holds now: allocations not freed, and bytes not unmapped. */
struct faulty_call_held {
	int64_t allocations, mapped_bytes;
};

struct faulty_call_held faulty_call_held(void);

#endif
