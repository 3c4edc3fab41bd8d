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
 *
 * Each with its name, and what it fails with.
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
	/* What gives something back: when it fails the device keeps it. */  \
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
