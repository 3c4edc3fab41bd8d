/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_WIRE_MSG_H
#define O2_LST_WIRE_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "lst/wire/body.h"
#include "wire/msg.h"

/*
 * Messages of LNet selftest (LST): 160 bytes on one side, a plain struct on the other.  Source: docs/lst.md.
 *
 * The codec is pure: no allocation, no state, no byte read past those given, the input is never changed.
 */

/*
 * One message.  Start from zeros: `struct o2_lst_msg msg = {.msg_version = O2_LST_MSG_VERSION, ...}`.
 * LNet: srpc_msg
 */
struct o2_lst_msg {
	enum o2_byte_order order; /* the sender's; a reply is in the replier's own */
	uint32_t msg_version;
	uint32_t msg_type;	/* enum o2_lst_msg_type: selects the member of u */
	uint32_t msg_reserved0; /* 0; nobody reads them */
	uint32_t msg_reserved1;
	uint32_t msg_ses_feats;
	union {
		struct o2_lst_generic_reqst reqst; /* the beginning of every request */
		struct o2_lst_generic_reply reply; /* and of every reply */
		struct o2_lst_mksn_reqst mksn_reqst;
		struct o2_lst_mksn_reply mksn_reply;
		struct o2_lst_rmsn_reqst rmsn_reqst;
		struct o2_lst_rmsn_reply rmsn_reply;
		struct o2_lst_debug_reqst debug_reqst;
		struct o2_lst_debug_reply debug_reply;
		struct o2_lst_batch_reqst batch_reqst;
		struct o2_lst_batch_reply batch_reply;
		struct o2_lst_stat_reqst stat_reqst;
		struct o2_lst_stat_reply stat_reply;
		struct o2_lst_test_reqst test_reqst;
		struct o2_lst_test_reply test_reply;
		struct o2_lst_brw_reqst brw_reqst;
		struct o2_lst_brw_reply brw_reply;
		struct o2_lst_ping_reqst ping_reqst;
		struct o2_lst_ping_reply ping_reply;
		struct o2_lst_join_reqst join_reqst;
		struct o2_lst_join_reply join_reply;
	} u;
};

/*
 * Decode one message.  What lies behind the body of its type is never looked at.  The body is read whole:
 * which of its fields a reply's status warrants is for the caller to know (the comments above); kernels leave
 * in the others what earlier messages held.  A name without a zero is cut to 31 characters.
 *
 * Returns 0, or -EPROTO with *error (may be NULL) naming the rule:
 *   lst/length   length_bytes is not O2_LST_MSG_BYTES
 *   lst/magic    in neither byte order
 *   lst/type     not one of enum o2_lst_msg_type
 *   lst/version  not 1: *msg is filled all the same, as though it were, for a request of such a version is
 *                answered (EPROTO); after the other rules *msg is all zero
 *
 * LNet: srpc_unpack_msg_hdr, sfw_unpack_message
 */
int o2_lst_msg_decode(const uint8_t *bytes, size_t length_bytes, struct o2_lst_msg *msg,
		      struct o2_error *error);

/*
 * Encode *msg in its byte order: the canonical form, with zeros behind the body and behind names.  bytes:
 * O2_LST_MSG_BYTES of them.  Any values of numbers are encoded, so that a test can send what is wrong;
 * lst/wire/range.h says what may be sent to a kernel.
 *
 * Returns 0, or -EINVAL with *error (may be NULL): lst/encode/order, lst/encode/type, lst/encode/name (no
 * zero within its 32 bytes).
 */
int o2_lst_msg_encode(const struct o2_lst_msg *msg, uint8_t *bytes, struct o2_error *error);

/*
 * 0 if the message is of that type; else -EPROTO by rule lst/type-for-service: what came to a service is not
 * its request, or what came as a reply is not the reply to what was asked.
 */
int o2_lst_msg_expect(const struct o2_lst_msg *msg, uint32_t msg_type, struct o2_error *error);

/* Which member of tsr_u the TEST_REQST has: by its service and features. */
enum o2_lst_test_kind o2_lst_test_kind(const struct o2_lst_msg *msg);

/* --- types, services and portals --- */

/* "MKSN_REQST" and so on, by type; NULL for a value that is none. */
extern const char *const o2_lst_type_names[O2_LST_TYPE_COUNT];
const char *o2_lst_type_name(uint32_t msg_type);

static inline bool o2_lst_type_is_reply(uint32_t msg_type)
{
	return msg_type % 2 != 0;
}

/* Of the body, in bytes; 0 for a value that is no type. */
uint32_t o2_lst_body_bytes(uint32_t msg_type);

/* The service of a request or reply; msg_type is one. */
enum o2_lst_service o2_lst_service_of_type(uint32_t msg_type);

/* The type of a service's request; -1: there is no such service. */
int o2_lst_request_type(uint64_t service);

/* Where a request to the service goes. */
static inline uint32_t o2_lst_portal_of_service(enum o2_lst_service service)
{
	return service < O2_LST_SERVICE_FRAMEWORK_END ? O2_LST_PORTAL_FRAMEWORK : O2_LST_PORTAL_TEST;
}

/* "make session" and so on; NULL for a number that is no service. */
const char *o2_lst_service_name(uint64_t service);

/* "read", "simple", "run" and so on; NULL for a number that is none of them. */
const char *o2_lst_rw_name(uint32_t rw);
const char *o2_lst_check_name(uint32_t check);
const char *o2_lst_opc_name(uint32_t opc);

/* --- destinations: the bulk of a TEST_REQST for a client half --- */

#define O2_LST_DEST_BYTES 12u /* of one, without padding between them */

/* LNet: lnet_process_id_packed */
struct o2_lst_dest {
	uint64_t nid;
	uint32_t pid;
};

/* order: of the message that announced the list.  bytes: O2_LST_DEST_BYTES of them. */
void o2_lst_dest_load(const uint8_t *bytes, enum o2_byte_order order, struct o2_lst_dest *dest);
void o2_lst_dest_store(const struct o2_lst_dest *dest, enum o2_byte_order order, uint8_t *bytes);

#endif
