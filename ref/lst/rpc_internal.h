/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_RPC_INTERNAL_H
#define O2_LST_RPC_INTERNAL_H

#include "lst/rpc.h"
#include "lst/wire/rules.h"

/* Internals of RPCs, shared by rpc.c, rpc_client.c and rpc_server.c. */

#define O2_LST_SERVICES (O2_LST_SERVICE_PING + 1u) /* all service numbers are below it */

/* The use of a tag is in its bits 32 to 39; the index of the slot or service is in the lower 32. */
enum o2_lst_tag_kind {
	O2_LST_TAG_REQUEST, /* an entry for requests; index is the service */
	O2_LST_TAG_REPLY,   /* these two: entries of a call */
	O2_LST_TAG_BULK,
	O2_LST_TAG_SEND,	/* operation: the PUT of a call's request */
	O2_LST_TAG_SERVED_BULK, /* these two: operations of a server */
	O2_LST_TAG_SERVED_REPLY,
};

/* An entry of a call in LNet's match table. */
struct o2_lst_call_entry {
	bool attached;
	uint32_t index;
};

/* LNet: srpc_client_rpc */
struct o2_lst_call_slot {
	bool in_use;
	uint32_t generation;
	struct o2_lst_call asked;
	uint32_t reply_type;
	uint64_t deadline_ms;
	bool sending; /* LNet has not finished the request */
	uint64_t operation;
	struct o2_lst_call_entry reply_entry, bulk_entry;
	bool replied, moved;
	bool ending; /* its result is final; only LNet must still release its memory */
	int status;
	bool has_error;
	struct o2_error error;
	struct o2_lst_msg reply;
	uint64_t bulk_bytes;
};

/* LNet: srpc_server_rpc */
struct o2_lst_served_slot {
	bool in_use;
	uint32_t generation;
	enum o2_lst_service service;
	uint64_t nid;
	uint32_t pid;
	uint32_t request_type;
	uint64_t rpyid, bulkid;
	bool told;	       /* the service knows of the request */
	bool moving, replying; /* LNet has not finished the bulk, or the reply */
	uint64_t operation;
	bool dropped; /* it ends with `status` as soon as LNet has finished */
	int status;
};

/* LNet: srpc_service */
struct o2_lst_service_slot {
	const struct o2_lst_service_ops *ops; /* NULL: not served */
	void *context;
	uint32_t entry;
};

struct o2_lst_rpc {
	struct o2_lst_rpc_config config;
	struct o2_lnet *lnet;
	const struct o2_arena *arena;
	const struct o2_clock *clock;
	bool stopped;
	uint64_t next_id;
	struct o2_lst_rpc_counters counters;
	struct o2_kiov *buffer; /* message buffers; index: o2_lst_buffer_*() */
	struct o2_lst_service_slot service[O2_LST_SERVICES];
	struct o2_lst_call_slot *call;
	uint32_t *free_call; /* stack; so is free_served */
	uint32_t nfree_calls;
	struct o2_lst_served_slot *served;
	uint32_t *free_served;
	uint32_t nfree_served;
};

static inline uint64_t o2_lst_tag(enum o2_lst_tag_kind kind, uint32_t index)
{
	return O2_LST_RPC_TAG | (uint64_t)kind << 32 | index;
}

/* Is lst/version the rule that was broken?  In this case the message was decoded all the same. */
static inline bool o2_lst_is_other_version(const struct o2_error *error)
{
	return error->rule == o2_lst_rules[O2_LST_RULE_VERSION].id;
}

/* rpc.c: indexes of buffers; each holds one message. */
static inline uint32_t o2_lst_buffer_service(uint32_t service)
{
	return service;
}

static inline uint32_t o2_lst_buffer_request(uint32_t call)
{
	return O2_LST_SERVICES + 2 * call;
}

static inline uint32_t o2_lst_buffer_reply(uint32_t call)
{
	return O2_LST_SERVICES + 2 * call + 1;
}

static inline uint32_t o2_lst_buffer_served(const struct o2_lst_rpc *rpc, uint32_t served)
{
	return O2_LST_SERVICES + 2 * rpc->config.max_calls + served;
}

struct o2_transfer_memory o2_lst_buffer_memory(const struct o2_lst_rpc *rpc, uint32_t buffer);
int o2_lst_buffer_read(const struct o2_lst_rpc *rpc, uint32_t buffer, uint8_t *bytes, struct o2_error *error);
/* Encode a message with our version and byte order. */
int o2_lst_buffer_encode(const struct o2_lst_rpc *rpc, uint32_t buffer, const struct o2_lst_msg *msg,
			 struct o2_error *error);
/* How long LNet waits for an answer. */
uint32_t o2_lst_patience_ms(const struct o2_lst_rpc *rpc);

/* rpc_client.c */
void o2_lst_call_sent(struct o2_lst_rpc *rpc, uint32_t index, int status);
void o2_lst_call_replied(struct o2_lst_rpc *rpc, uint32_t index, const struct o2_lnet_event *event);
void o2_lst_call_moved(struct o2_lst_rpc *rpc, uint32_t index, const struct o2_lnet_event *event);
void o2_lst_call_end(struct o2_lst_rpc *rpc, struct o2_lst_call_slot *call, int status);

/* rpc_server.c */
void o2_lst_serve_request(struct o2_lst_rpc *rpc, uint32_t service, const struct o2_lnet_event *event);
void o2_lst_served_moved(struct o2_lst_rpc *rpc, uint32_t index, const struct o2_lnet_result *result);
void o2_lst_served_replied(struct o2_lst_rpc *rpc, uint32_t index, int status);
void o2_lst_serve_stop(struct o2_lst_rpc *rpc, int code);

#endif
