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
 * RPCs of LNet selftest over LNet's place: a request, perhaps bulk data, a reply.  Both ends of it.
 * Source: docs/lst.md, "An RPC".
 *
 * It has no thread and no clock of its own: the LNet that it uses tells it of everything, through its owner
 * (o2_lst_rpc_done, o2_lst_rpc_event), and o2_lst_rpc_check_time follows the interface's clock.  What is in a
 * message or comes in another order than it should is never believed.  Memory is bounded by the configuration.
 * Everything may be called from inside its callbacks, except o2_lst_rpc_destroy.
 */

struct o2_lst_rpc_config {
	uint32_t first_page;	  /* o2_lst_rpc_pages of the arena belong to the RPCs */
	uint32_t max_calls;	  /* as a client, at a time */
	uint32_t max_served;	  /* as a server, at a time; more are dropped */
	uint32_t timeout_ms;	  /* of a call, and of the GET of a server; 0: for ever */
	uint64_t first_id;	  /* match bits of the first reply; counted from there, for bulk too */
	enum o2_byte_order order; /* of what we send */
	enum o2_reg_mode mode;	  /* of the memory of messages, where one goes by RDMA */
};

#define O2_LST_RPC_DEFAULTS                                                     \
	((struct o2_lst_rpc_config){.max_calls = 64,                            \
				    .max_served = 256,                          \
				    .timeout_ms = O2_LST_RPC_TIMEOUT_S * 1000u, \
				    .first_id = 1,                              \
				    .order = O2_LITTLE_ENDIAN})

struct o2_lst_rpc;

/* What such a configuration takes: pages of the arena, entries and messages of the LNet. */
uint32_t o2_lst_rpc_pages(const struct o2_lst_rpc_config *config, uint32_t page_bytes);
uint32_t o2_lst_rpc_entries(const struct o2_lst_rpc_config *config);
uint32_t o2_lst_rpc_messages(const struct o2_lst_rpc_config *config);

/*
 * lnet, arena and clock outlive it.  Returns 0, -EINVAL (a limit of 0, pages that do not exist) or -ENOMEM.
 * LNet: srpc_startup
 */
int o2_lst_rpc_create(const struct o2_lst_rpc_config *config, struct o2_lnet *lnet,
		      const struct o2_arena *arena, const struct o2_clock *clock, struct o2_lst_rpc **rpc,
		      struct o2_error *error);

/* Calls end with code, nothing new is served, what is being served ends without a reply; what LNet still has
 * ends when LNet tells.  Nothing is started any more. */
void o2_lst_rpc_stop(struct o2_lst_rpc *rpc, int code);

/* Of calls and requests under way: 0 when all have ended. */
uint32_t o2_lst_rpc_active(const struct o2_lst_rpc *rpc);

/* Of what we send. */
enum o2_byte_order o2_lst_rpc_order(const struct o2_lst_rpc *rpc);

/* Frees it; the LNet must not tell it anything any more.  Nobody is called. */
void o2_lst_rpc_destroy(struct o2_lst_rpc *rpc);

/*
 * LNet's owner hands over what ops->done and ops->event are told; true: it was about an RPC.  Tags of entries
 * and of targets whose upper 24 bits are those of O2_LST_RPC_TAG are the RPCs' own.
 */
#define O2_LST_RPC_TAG (UINT64_C(0x4c5354) << 40)
bool o2_lst_rpc_done(struct o2_lst_rpc *rpc, const struct o2_lnet_result *result);
bool o2_lst_rpc_event(struct o2_lst_rpc *rpc, const struct o2_lnet_event *event);

/* The clock was told another time: end what has waited too long. */
void o2_lst_rpc_check_time(struct o2_lst_rpc *rpc);

/* Nothing more will come from this node: calls to it end with code (-errno). */
void o2_lst_rpc_peer_down(struct o2_lst_rpc *rpc, uint64_t nid, int code);

/*
 * docs/lst.md, "Counters".
 * LNet: srpc_get_counters
 */
const struct o2_lst_rpc_counters *o2_lst_rpc_counters(const struct o2_lst_rpc *rpc);

/* --- as a client --- */

/* How a call has ended. */
struct o2_lst_answer {
	uint64_t call; /* what o2_lst_call_start returned */
	uint64_t tag;
	/*
	 * 0: there is a reply, and if its status is 0 all bulk has been moved.  Else -errno: of the transport;
	 * -ETIMEDOUT; -EBADMSG: what came as the reply is none (error says why); -ECANCELED, or the code of
	 * o2_lst_rpc_stop.
	 */
	int status;
	const struct o2_lst_msg *reply; /* status 0; else NULL.  Valid in the call only */
	bool bulk_moved;
	uint64_t bulk_bytes;	      /* that the server has moved: it may be fewer than were offered */
	const struct o2_error *error; /* may be NULL */
};

struct o2_lst_call {
	uint64_t nid;
	uint32_t pid;			  /* 0: O2_LNET_PID_KERNEL.  The answers must come from it, too */
	const struct o2_lst_msg *request; /* its ids, version and byte order are set here */
	/*
	 * NULL: none.  It stays, with its vectors, until done.  Its tag is not used.
	 */
	const struct o2_transfer_memory *bulk;
	bool bulk_is_source; /* the server GETs it; else it PUTs to it */
	/* Exactly once, when neither the request nor the reply nor bulk is under way any more. */
	void (*done)(void *context, const struct o2_lst_answer *answer);
	void *context;
	uint64_t tag; /* the caller's own; comes back in the answer */
};

/*
 * Send a request, and wait for what belongs to it.  *id, may be NULL: names it.  What is asked is sent: whether
 * a kernel may be asked so is for the caller to know (lst/wire/range.h).
 *
 * Returns 0, or -errno when nothing was started and done will not be called: -ENOSPC (max_calls, or a limit of
 * LNet's), -ESHUTDOWN (stopped), -EINVAL (o2_lst_msg_encode), or what LNet says.
 * LNet: srpc_post_rpc
 */
int o2_lst_call_start(struct o2_lst_rpc *rpc, const struct o2_lst_call *call, uint64_t *id,
		      struct o2_error *error);

/*
 * End it with -ECANCELED: at once, or when LNet has let go of its memory.  Returns 0; -ENOENT: it has ended.
 * LNet: srpc_abort_rpc
 */
int o2_lst_call_cancel(struct o2_lst_rpc *rpc, uint64_t id);

/* --- as a server --- */

/* A request that came to a service. */
struct o2_lst_request {
	uint64_t served; /* names it until over */
	uint64_t nid;
	uint32_t pid;
	const struct o2_lst_msg *msg; /* of the service's type.  Valid in the call only */
};

struct o2_lst_service_ops {
	/* To be answered, now or later: by o2_lst_served_reply or o2_lst_served_drop, once. */
	void (*request)(void *context, const struct o2_lst_request *request);
	/* Its bulk has ended: status 0 or -errno, bytes moved.  To be answered now. */
	void (*moved)(void *context, uint64_t served, int status, uint64_t bytes);
	/*
	 * Exactly once for each request: nothing of it is under way any more.  status 0: the reply is out; else
	 * -errno: why it is not.
	 */
	void (*over)(void *context, uint64_t served, int status);
};

/*
 * Take requests of a service from now on.  ops stay.  Returns 0, -EEXIST, -EINVAL (no such service), or what
 * o2_lnet_attach says.
 * LNet: srpc_add_service, srpc_service_post_buffer
 */
int o2_lst_serve(struct o2_lst_rpc *rpc, enum o2_lst_service service, const struct o2_lst_service_ops *ops,
		 void *context, struct o2_error *error);

/*
 * PUT memory to the client, or GET the client's to it, under the bulkid of the request; once for a request.
 * ops->moved tells the end.  Memory stays until over.  Returns 0 or what LNet says: then nothing was started.
 * LNet: srpc_do_bulk
 */
int o2_lst_served_put(struct o2_lst_rpc *rpc, uint64_t served, const struct o2_transfer_memory *memory,
		      struct o2_error *error);
int o2_lst_served_get(struct o2_lst_rpc *rpc, uint64_t served, const struct o2_transfer_memory *memory,
		      struct o2_error *error);

/*
 * Send the reply, whose type is that of the request plus 1; version and byte order are set here.  ops->over
 * tells the end, perhaps from inside.
 * LNet: srpc_send_reply
 */
void o2_lst_served_reply(struct o2_lst_rpc *rpc, uint64_t served, const struct o2_lst_msg *reply);

/*
 * It gets no reply, whatever is under way: the client waits for its timeout.  ops->over tells the end with
 * status, perhaps from inside.  Of no effect when its reply was sent before.
 * LNet: srpc_server_rpc_done, srpc_abort_service
 */
void o2_lst_served_drop(struct o2_lst_rpc *rpc, uint64_t served, int status);

#endif
