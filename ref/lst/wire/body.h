/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_WIRE_BODY_H
#define O2_LST_WIRE_BODY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * LNet selftest: constants, limits, and the bodies of messages as structs in host order.  Fields have Lustre's
 * names.  Source: docs/lst.md, "The message" and "Bodies".
 *
 * o2iblnd: none, the upper layer has them
 */

#define O2_LST_MSG_BYTES	160u	    /* every message has this length */
#define O2_LST_MSG_HEADER_BYTES 24u	    /* bytes before the body */
#define O2_LST_MSG_MAGIC	0xeeb0f00du /* LNet: SRPC_MSG_MAGIC */
#define O2_LST_MSG_VERSION	1u	    /* LNet: SRPC_MSG_VERSION */

/* The portals of LNet to which messages are sent. */
#define O2_LST_PORTAL_TEST	50u /* LNet: SRPC_REQUEST_PORTAL. Requests of the services brw and ping */
#define O2_LST_PORTAL_FRAMEWORK 51u /* LNet: SRPC_FRAMEWORK_REQUEST_PORTAL. All other requests */
#define O2_LST_PORTAL_RDMA	52u /* LNet: SRPC_RDMA_PORTAL. Replies and bulk */

/*
 * The match bits of a request are the number of its service.
 * LNet: SRPC_SERVICE_DEBUG, SRPC_SERVICE_MAKE_SESSION, SRPC_SERVICE_REMOVE_SESSION, SRPC_SERVICE_BATCH
 * LNet: SRPC_SERVICE_TEST, SRPC_SERVICE_QUERY_STAT, SRPC_SERVICE_JOIN, SRPC_SERVICE_BRW, SRPC_SERVICE_PING
 */
enum o2_lst_service {
	O2_LST_SERVICE_DEBUG = 0,
	O2_LST_SERVICE_MAKE_SESSION = 1,
	O2_LST_SERVICE_REMOVE_SESSION = 2,
	O2_LST_SERVICE_BATCH = 3,
	O2_LST_SERVICE_TEST = 4,
	O2_LST_SERVICE_QUERY_STAT = 5,
	O2_LST_SERVICE_JOIN = 6,
	O2_LST_SERVICE_FRAMEWORK_END = 10, /* not a service; the services of tests are above it */
	O2_LST_SERVICE_BRW = 11,
	O2_LST_SERVICE_PING = 12,
};

/*
 * A reply's type is its request's plus 1.
 * LNet: srpc_msg_type
 */
enum o2_lst_msg_type {
	O2_LST_MKSN_REQST = 0,
	O2_LST_MKSN_REPLY = 1,
	O2_LST_RMSN_REQST = 2,
	O2_LST_RMSN_REPLY = 3,
	O2_LST_BATCH_REQST = 4,
	O2_LST_BATCH_REPLY = 5,
	O2_LST_STAT_REQST = 6,
	O2_LST_STAT_REPLY = 7,
	O2_LST_TEST_REQST = 8,
	O2_LST_TEST_REPLY = 9,
	O2_LST_DEBUG_REQST = 10,
	O2_LST_DEBUG_REPLY = 11,
	O2_LST_BRW_REQST = 12,
	O2_LST_BRW_REPLY = 13,
	O2_LST_PING_REQST = 14,
	O2_LST_PING_REPLY = 15,
	O2_LST_JOIN_REQST = 16,
	O2_LST_JOIN_REPLY = 17,
	O2_LST_TYPE_COUNT,
};

#define O2_LST_FEAT_BULK_LEN 1u /* LNet: LST_FEAT_BULK_LEN. Bulk has a length in bytes, and an offset */
#define O2_LST_FEATS_MASK    O2_LST_FEAT_BULK_LEN /* LNet: LST_FEATS_MASK. All defined features */

#define O2_LST_PING_MAGIC  0xbabefaceu			/* LNet: LST_PING_TEST_MAGIC */
#define O2_LST_DATA_WORD   UINT64_C(0xeeb0eeb1eeb2eeb3) /* LNet: BRW_MAGIC. In the writer's byte order */
#define O2_LST_POISON_WORD UINT64_C(0xbeefbeefbeefbeef) /* LNet: BRW_POISON. In a sink before a transfer */

/* LNet: lst_brw_type */
enum o2_lst_brw_rw {
	O2_LST_BRW_READ = 1,  /* the server PUTs the bulk to the client */
	O2_LST_BRW_WRITE = 2, /* the server GETs the bulk from the client */
};

/* LNet: lst_brw_flags */
enum o2_lst_brw_check {
	O2_LST_CHECK_NONE = 1,
	O2_LST_CHECK_SIMPLE = 2,  /* the first and last word of each part that lies in one page */
	O2_LST_CHECK_FULL = 3,	  /* every word */
	O2_LST_CHECK_DISCARD = 4, /* no check, and the receiver may drop the bytes */
};

/* LNet: SRPC_BATCH_OPC_RUN, SRPC_BATCH_OPC_STOP, SRPC_BATCH_OPC_QUERY */
enum o2_lst_batch_opc {
	O2_LST_BATCH_RUN = 1,
	O2_LST_BATCH_STOP = 2,
	O2_LST_BATCH_QUERY = 3,
};

/* Limits: docs/lst.md, "What may be sent" and "Limits". */
#define O2_LST_NAME_BYTES	  32u	 /* LNet: LST_NAME_SIZE. Includes the terminating zero */
#define O2_LST_MAX_CONCURRENCY	  1024u	 /* LNet: SFW_MAX_CONCUR. For one test */
#define O2_LST_MAX_DESTINATIONS	  341u	 /* a sender has one page of them, and sends no more */
#define O2_LST_CHECK_DESTINATIONS 87296u /* LNet: SFW_MAX_NDESTS. A test node refuses more */
#define O2_LST_MAX_BULK_BYTES	  (1u << 20)
#define O2_LST_BULK_MULTIPLE	  8u	     /* lengths and offsets must be multiples of this */
#define O2_LST_PAGE_BYTES	  4096u	     /* limit of offsets; unit of lengths without features */
#define O2_LST_LOOP_ENDLESS	  UINT32_MAX /* any value that is negative as int32_t is endless */
#define O2_LST_RPC_TIMEOUT_S	  64u	     /* LNet: SRPC_RPC_TIMEOUT */
#define O2_LST_SESSION_TIMEOUT_S  100u	     /* LNet: LST_NODE_TIMEOUT. For a session at a node */

/*
 * The name of a session: the NID of its console (an 8-byte NID) and a time stamp.
 * LNet: lst_sid
 */
struct o2_lst_sid {
	uint64_t ses_nid;
	uint64_t ses_stamp; /* signed in Lustre; only compared for equality */
};

/*
 * The value that means "no session".
 * LNet: LST_INVALID_SID
 */
#define O2_LST_NO_SID ((struct o2_lst_sid){UINT64_MAX, UINT64_MAX})

static inline bool o2_lst_sid_equal(struct o2_lst_sid a, struct o2_lst_sid b)
{
	return a.ses_nid == b.ses_nid && a.ses_stamp == b.ses_stamp;
}

static inline bool o2_lst_sid_is_none(struct o2_lst_sid sid)
{
	return o2_lst_sid_equal(sid, O2_LST_NO_SID);
}

/* A zero-terminated name.  The decoder fills the rest with zeros too. */
struct o2_lst_name {
	char text[O2_LST_NAME_BYTES];
};

/*
 * The beginning of every request.  bulkid: in TEST_REQST and BRW_REQST only.
 * LNet: srpc_generic_reqst
 */
struct o2_lst_generic_reqst {
	uint64_t rpyid;	 /* match bits of the reply at portal 52 */
	uint64_t bulkid; /* match bits of the bulk at the same portal */
};

/*
 * The beginning of every reply.  status: a positive errno of Linux, or 0.  sid: framework's replies only.
 * LNet: srpc_generic_reply
 */
struct o2_lst_generic_reply {
	uint32_t status;
	struct o2_lst_sid sid; /* the session that the node is in after the request */
};

/* LNet: srpc_mksn_reqst */
struct o2_lst_mksn_reqst {
	uint64_t mksn_rpyid;
	struct o2_lst_sid mksn_sid;
	uint32_t mksn_force; /* not 0: take the node from another session */
	struct o2_lst_name mksn_name;
};

/* LNet: srpc_mksn_reply */
struct o2_lst_mksn_reply {
	uint32_t mksn_status;
	struct o2_lst_sid mksn_sid;
	uint32_t mksn_timeout;	      /* seconds; only if the status is 0 or EBUSY */
	struct o2_lst_name mksn_name; /* only if the status is EBUSY: the name of that session */
};

/* LNet: srpc_rmsn_reqst */
struct o2_lst_rmsn_reqst {
	uint64_t rmsn_rpyid;
	struct o2_lst_sid rmsn_sid;
};

/* LNet: srpc_rmsn_reply */
struct o2_lst_rmsn_reply {
	uint32_t rmsn_status;
	struct o2_lst_sid rmsn_sid;
};

/* LNet: srpc_debug_reqst */
struct o2_lst_debug_reqst {
	uint64_t dbg_rpyid;
	struct o2_lst_sid dbg_sid; /* not read by Lustre */
	uint32_t dbg_flags;	   /* not read by Lustre; 0 */
};

/* LNet: srpc_debug_reply */
struct o2_lst_debug_reply {
	uint32_t dbg_status;
	struct o2_lst_sid dbg_sid;
	uint32_t dbg_timeout; /* seconds; this and dbg_name: only if the status is 0 */
	uint32_t dbg_nbatch;  /* not set by Lustre */
	struct o2_lst_name dbg_name;
};

/* LNet: srpc_batch_reqst */
struct o2_lst_batch_reqst {
	uint64_t bar_rpyid;
	struct o2_lst_sid bar_sid;
	uint64_t bar_bid;
	uint32_t bar_opc;     /* enum o2_lst_batch_opc */
	uint32_t bar_testidx; /* query: 0: the batch; n: the nth test added */
	uint32_t bar_arg;     /* run: a timeout, 0; stop: not 0: by force */
};

/* LNet: srpc_batch_reply */
struct o2_lst_batch_reply {
	uint32_t bar_status;
	struct o2_lst_sid bar_sid;
	uint32_t bar_active; /* only for a query with status 0 */
	uint32_t bar_time;   /* not set by Lustre */
};

/* LNet: srpc_stat_reqst */
struct o2_lst_stat_reqst {
	uint64_t str_rpyid;
	struct o2_lst_sid str_sid;
	uint32_t str_type; /* not read by Lustre; 0 */
};

/*
 * docs/lst.md, "Counters", describes each counter.
 * LNet: sfw_counters
 */
struct o2_lst_fw_counters {
	uint32_t running_ms;
	uint32_t active_batches;
	uint32_t zombie_sessions;
	uint32_t brw_errors;
	uint32_t ping_errors;
};

/* LNet: srpc_counters */
struct o2_lst_rpc_counters {
	uint32_t errors;
	uint32_t rpcs_sent;
	uint32_t rpcs_rcvd;
	uint32_t rpcs_dropped;
	uint32_t rpcs_expired;
	uint64_t bulk_get; /* bytes */
	uint64_t bulk_put;
};

/* LNet: lnet_counters_common */
struct o2_lst_lnet_counters {
	uint32_t lcc_msgs_alloc;
	uint32_t lcc_msgs_max;
	uint32_t lcc_errors;
	uint32_t lcc_send_count;
	uint32_t lcc_recv_count;
	uint32_t lcc_route_count;
	uint32_t lcc_drop_count;
	uint64_t lcc_send_length; /* bytes */
	uint64_t lcc_recv_length;
	uint64_t lcc_route_length;
	uint64_t lcc_drop_length;
};

/* LNet: srpc_stat_reply */
struct o2_lst_stat_reply {
	uint32_t str_status;
	struct o2_lst_sid str_sid;
	struct o2_lst_fw_counters str_fw; /* this and the following: only if the status is 0 */
	struct o2_lst_rpc_counters str_rpc;
	struct o2_lst_lnet_counters str_lnet;
};

/*
 * The parameters of a brw test, with LST_FEAT_BULK_LEN.
 * LNet: test_bulk_req_v1
 */
struct o2_lst_bulk_v1 {
	uint16_t blk_opc;   /* enum o2_lst_brw_rw */
	uint16_t blk_flags; /* enum o2_lst_brw_check */
	uint32_t blk_len;
	uint32_t blk_offset; /* offset of the client's memory in its first page */
};

/*
 * The parameters of a brw test, without LST_FEAT_BULK_LEN: whole pages.
 * LNet: test_bulk_req
 */
struct o2_lst_bulk_v0 {
	uint32_t blk_opc;
	uint32_t blk_npg;
	uint32_t blk_flags;
};

/*
 * The parameters of a ping test, which no node uses.
 * LNet: test_ping_req
 */
struct o2_lst_ping_param {
	uint32_t png_size;
	uint32_t png_flags;
};

/* Which member of tsr_u a TEST_REQST has. */
enum o2_lst_test_kind {
	O2_LST_TEST_OTHER, /* none: the 12 bytes have no meaning, and are sent as zeros */
	O2_LST_TEST_BULK_V1,
	O2_LST_TEST_BULK_V0,
	O2_LST_TEST_PING,
};

/* LNet: srpc_test_reqst */
struct o2_lst_test_reqst {
	uint64_t tsr_rpyid;
	uint64_t tsr_bulkid; /* client half: match bits for fetching its destinations */
	struct o2_lst_sid tsr_sid;
	uint64_t tsr_bid;
	uint32_t tsr_service;	/* O2_LST_SERVICE_BRW or O2_LST_SERVICE_PING */
	uint32_t tsr_loop;	/* client half: RPCs of each unit; server half: number of request buffers */
	uint32_t tsr_concur;	/* units for each destination */
	uint8_t tsr_is_client;	/* not 0: client half; 0: server half */
	uint8_t tsr_stop_onerr; /* not 0: a unit ends at its first failure */
	uint32_t tsr_ndest;
	union {
		struct o2_lst_bulk_v1 bulk_v1;
		struct o2_lst_bulk_v0 bulk_v0;
		struct o2_lst_ping_param ping;
	} tsr_u;
};

/* LNet: srpc_test_reply */
struct o2_lst_test_reply {
	uint32_t tsr_status;
	struct o2_lst_sid tsr_sid;
};

/* LNet: srpc_brw_reqst */
struct o2_lst_brw_reqst {
	uint64_t brw_rpyid;
	uint64_t brw_bulkid;
	uint32_t brw_rw; /* enum o2_lst_brw_rw */
	uint32_t brw_len;
	uint32_t brw_flags; /* enum o2_lst_brw_check */
};

/* LNet: srpc_brw_reply */
struct o2_lst_brw_reply {
	uint32_t brw_status;
};

/* LNet: srpc_ping_reqst */
struct o2_lst_ping_reqst {
	uint64_t pnr_rpyid;
	uint32_t pnr_magic; /* O2_LST_PING_MAGIC */
	uint32_t pnr_seq;
	uint64_t pnr_time_sec;
	uint64_t pnr_time_nsec;
};

/* LNet: srpc_ping_reply */
struct o2_lst_ping_reply {
	uint32_t pnr_status;
	uint32_t pnr_magic;
	uint32_t pnr_seq;
};

/* LNet: srpc_join_reqst */
struct o2_lst_join_reqst {
	uint64_t join_rpyid;
	struct o2_lst_sid join_sid;
	struct o2_lst_name join_group;
};

/* LNet: srpc_join_reply */
struct o2_lst_join_reply {
	uint32_t join_status;
	struct o2_lst_sid join_sid;
	uint32_t join_timeout;
	struct o2_lst_name join_session;
};

#endif
