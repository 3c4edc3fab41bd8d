/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_RPC_H
#define O2_LST_RPC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "lnd/conn/transfer.h"
#include "lnet/lnet.h"
#include "lst/wire/msg.h"
#include "mem/arena.h"

/*
 * RPCs of LNet selftest on top of LNet (lnet/lnet.h), client and server: request, perhaps bulk data, reply.
 * Source: docs/lst.md, "An RPC".
 *
 * The RPC layer has no thread and no clock of its own.  The owner of its LNet passes events to it
 * (o2_lst_rpc_done, o2_lst_rpc_event), and o2_lst_rpc_check_time follows the interface's clock.  It trusts
 * neither the content of messages nor their order.  The configuration limits its memory.  Its callbacks may
 * call every function but o2_lst_rpc_destroy.
 */

struct o2_lst_rpc_config {
	uint32_t first_page; /* first of o2_lst_rpc_pages() pages of the arena */
	uint32_t max_calls;  /* calls at a time, as a client */
	uint32_t max_served; /* requests at a time, as a server; further ones are dropped */
	uint32_t timeout_ms; /* for a call, and for a server's GET; 0: no limit */
	uint64_t first_id;   /* match bits of the first reply; later replies and bulks count on from it */
	enum o2_byte_order order; /* byte order of the messages that it sends */
	enum o2_reg_mode mode;	  /* how the memory of messages is registered for RDMA */
};

#define O2_LST_RPC_DEFAULTS                                                     \
	((struct o2_lst_rpc_config){.max_calls = 64,                            \
				    .max_served = 256,                          \
				    .timeout_ms = O2_LST_RPC_TIMEOUT_S * 1000u, \
				    .first_id = 1,                              \
				    .order = O2_LITTLE_ENDIAN})

struct o2_lst_rpc;

/* Resources that the configuration needs: pages of the arena, entries and messages of the LNet. */
uint32_t o2_lst_rpc_pages(const struct o2_lst_rpc_config *config, uint32_t page_bytes);
uint32_t o2_lst_rpc_entries(const struct o2_lst_rpc_config *config);
uint32_t o2_lst_rpc_messages(const struct o2_lst_rpc_config *config);

/*
 * lnet, arena and clock must outlive it.  Returns 0, -EINVAL (a limit of 0, no such pages) or -ENOMEM.
 * LNet: srpc_startup
 */
int o2_lst_rpc_create(const struct o2_lst_rpc_config *config, struct o2_lnet *lnet,
		      const struct o2_arena *arena, const struct o2_clock *clock, struct o2_lst_rpc **rpc,
		      struct o2_error *error);

/* End all calls with `code`, and all requests without a reply; start and serve nothing new.  What LNet is still
 * working on ends when LNet reports it. */
void o2_lst_rpc_stop(struct o2_lst_rpc *rpc, int code);

/* Number of open calls and requests: 0 when all have ended. */
uint32_t o2_lst_rpc_active(const struct o2_lst_rpc *rpc);

/* The byte order of the messages that it sends. */
enum o2_byte_order o2_lst_rpc_order(const struct o2_lst_rpc *rpc);

/* Free it without calling any callback.  LNet must have no more events for it. */
void o2_lst_rpc_destroy(struct o2_lst_rpc *rpc);

/*
 * LNet's owner must pass every result of ops->done and event of ops->event.  Return true if it belongs to an
 * RPC.  Tags of entries and targets whose upper 24 bits are those of O2_LST_RPC_TAG are reserved for RPCs.
 */
#define O2_LST_RPC_TAG (UINT64_C(0x4c5354) << 40)
bool o2_lst_rpc_done(struct o2_lst_rpc *rpc, const struct o2_lnet_result *result);
bool o2_lst_rpc_event(struct o2_lst_rpc *rpc, const struct o2_lnet_event *event);

/* The clock has advanced: end the calls that have waited too long. */
void o2_lst_rpc_check_time(struct o2_lst_rpc *rpc);

/* The node nid is down: end all calls to it with code (-errno). */
void o2_lst_rpc_peer_down(struct o2_lst_rpc *rpc, uint64_t nid, int code);

/*
 * The counters that docs/lst.md, "Counters", describes.
 * LNet: srpc_get_counters
 */
const struct o2_lst_rpc_counters *o2_lst_rpc_counters(const struct o2_lst_rpc *rpc);

/* --- as a client --- */

/* How a call has ended. */
struct o2_lst_answer {
	uint64_t call; /* what o2_lst_call_start returned */
	uint64_t tag;
	/*
	 * 0: the reply has come, and if the reply's status is 0 all bulk has been moved.  Else -errno: an error
	 * of the transport, which may be any; -ETIMEDOUT; -EBADMSG with an error: the reply is malformed;
	 * -ECANCELED; or the code of o2_lst_rpc_stop.
	 */
	int status;
	const struct o2_lst_msg *reply; /* if status is 0; else NULL.  Valid during the call only */
	bool bulk_moved;
	uint64_t bulk_bytes;	      /* moved by the server; may be fewer than offered */
	const struct o2_error *error; /* may be NULL */
};

struct o2_lst_call {
	uint64_t nid;
	uint32_t pid;			  /* 0: O2_LNET_PID_KERNEL.  Answers must come from it */
	const struct o2_lst_msg *request; /* ids, version and byte order are set here */
	/*
	 * NULL: no bulk.  The bulk and its vectors must stay until done.  Its tag is not used.
	 */
	const struct o2_transfer_memory *bulk;
	bool bulk_is_source; /* the server GETs the bulk; else it PUTs to it */
	/* Called exactly once, when the request, the reply and the bulk have all ended. */
	void (*done)(void *context, const struct o2_lst_answer *answer);
	void *context;
	uint64_t tag; /* for the caller; returned in the answer */
};

/*
 * Send a request, and wait for its reply and bulk.  *id (may be NULL) is set, for o2_lst_call_cancel.  The
 * caller must know whether a kernel may be sent the values of the request (lst/wire/range.h).
 *
 * Returns 0, or -errno if nothing was started and done will not be called: -ENOSPC (max_calls, or a limit of
 * LNet), -ESHUTDOWN (stopped), -EINVAL (o2_lst_msg_encode), or another error of LNet.
 * LNet: srpc_post_rpc
 */
int o2_lst_call_start(struct o2_lst_rpc *rpc, const struct o2_lst_call *call, uint64_t *id,
		      struct o2_error *error);

/*
 * End a call with -ECANCELED, at once or when LNet has released its memory.  Returns 0; -ENOENT: it has ended.
 * LNet: srpc_abort_rpc
 */
int o2_lst_call_cancel(struct o2_lst_rpc *rpc, uint64_t id);

/* --- as a server --- */

/* A request to a service. */
struct o2_lst_request {
	uint64_t served; /* identifies the request until over() */
	uint64_t nid;
	uint32_t pid;
	const struct o2_lst_msg *msg; /* has the service's type.  Valid during the call only */
};

struct o2_lst_service_ops {
	/* A request has come.  Answer it once, now or later, by o2_lst_served_reply or o2_lst_served_drop. */
	void (*request)(void *context, const struct o2_lst_request *request);
	/* The request's bulk has ended: status 0 or -errno, bytes moved.  Answer the request now. */
	void (*moved)(void *context, uint64_t served, int status, uint64_t bytes);
	/*
	 * Called exactly once for each request, when all of it has ended.  status 0: the reply was sent; else
	 * -errno: why it was not.
	 */
	void (*over)(void *context, uint64_t served, int status);
};

/*
 * Accept requests of a service from now on.  *ops must stay valid.  Returns 0, -EEXIST, -EINVAL (no such
 * service), or an error of o2_lnet_attach.
 * LNet: srpc_add_service, srpc_service_post_buffer
 */
int o2_lst_serve(struct o2_lst_rpc *rpc, enum o2_lst_service service, const struct o2_lst_service_ops *ops,
		 void *context, struct o2_error *error);

/*
 * PUT *memory to the client, or GET the client's bulk into it, under the request's bulkid; once per request.
 * ops->moved reports the end; *memory must stay until ops->over.  Returns 0, or an error of LNet: not started.
 * LNet: srpc_do_bulk
 */
int o2_lst_served_put(struct o2_lst_rpc *rpc, uint64_t served, const struct o2_transfer_memory *memory);
int o2_lst_served_get(struct o2_lst_rpc *rpc, uint64_t served, const struct o2_transfer_memory *memory);

/*
 * Send the reply, whose type must be that of the request plus 1; version and byte order are set here.  The end
 * is reported by ops->over, perhaps before this returns.
 * LNet: srpc_send_reply
 */
void o2_lst_served_reply(struct o2_lst_rpc *rpc, uint64_t served, const struct o2_lst_msg *reply);

/*
 * End the request without a reply, even while its bulk is moved: the client will time out.  ops->over reports
 * the end with `status`, perhaps before this returns.  Has no effect after o2_lst_served_reply.
 * LNet: srpc_server_rpc_done, srpc_abort_service
 */
void o2_lst_served_drop(struct o2_lst_rpc *rpc, uint64_t served, int status);

#endif
