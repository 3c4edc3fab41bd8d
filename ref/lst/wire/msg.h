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
 * Messages of LNet selftest (LST): a plain struct, and its form on the wire of 160 bytes.  Source: docs/lst.md.
 *
 * The codec allocates nothing, keeps no state, reads no byte beyond those given, and never changes its input.
 */

/*
 * One message.  Start from zeros: `struct o2_lst_msg msg = {.msg_version = O2_LST_MSG_VERSION, ...}`.
 * LNet: srpc_msg
 */
struct o2_lst_msg {
	enum o2_byte_order order; /* the sender's; a reply has the replier's */
	uint32_t msg_version;
	uint32_t msg_type;	/* enum o2_lst_msg_type: selects the member of u */
	uint32_t msg_reserved0; /* both 0, and not read by Lustre */
	uint32_t msg_reserved1;
	uint32_t msg_ses_feats;
	union {
		struct o2_lst_generic_reqst reqst; /* common to all requests */
		struct o2_lst_generic_reply reply; /* common to all replies */
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
 * Decode one message.  Bytes behind the body of its type are ignored.  The whole body is decoded, but some
 * fields of a reply are valid only for some statuses (see body.h), which the caller must check: in the others,
 * kernels leave bytes of earlier messages.  A name without a terminating zero is cut to 31 characters.
 *
 * Returns 0, or -EPROTO with *error (may be NULL) naming the rule:
 *   lst/length   length_bytes is not O2_LST_MSG_BYTES
 *   lst/magic    the magic is wrong in both byte orders
 *   lst/type     not one of enum o2_lst_msg_type
 *   lst/version  not 1; *msg is filled as though it were, since a request of such a version must be
 *                answered (EPROTO).  After any other rule *msg is all zero.
 *
 * LNet: srpc_unpack_msg_hdr, sfw_unpack_message
 */
int o2_lst_msg_decode(const uint8_t *bytes, size_t length_bytes, struct o2_lst_msg *msg,
		      struct o2_error *error);

/*
 * Encode *msg in its byte order, in the canonical form: zeros behind the body and behind names.  bytes must
 * have room for O2_LST_MSG_BYTES.  Any values of numbers are encoded, so that tests can send wrong ones;
 * lst/wire/range.h checks what may be sent to a kernel.
 *
 * Returns 0, or -EINVAL with *error (may be NULL): lst/encode/order, lst/encode/type, lst/encode/name (no zero
 * within its 32 bytes).
 */
int o2_lst_msg_encode(const struct o2_lst_msg *msg, uint8_t *bytes, struct o2_error *error);

/*
 * Returns 0 if the message has that type; else -EPROTO by rule lst/type-for-service: the message is not a
 * request of the service that it came to, or not the reply to the request that was sent.
 */
int o2_lst_msg_expect(const struct o2_lst_msg *msg, uint32_t msg_type, struct o2_error *error);

/* Which member of tsr_u a TEST_REQST has, depending on its service and features. */
enum o2_lst_test_kind o2_lst_test_kind(const struct o2_lst_msg *msg);

/* --- types, services and portals --- */

/* "MKSN_REQST" and so on, by type; NULL for an unknown type. */
extern const char *const o2_lst_type_names[O2_LST_TYPE_COUNT];
const char *o2_lst_type_name(uint32_t msg_type);

static inline bool o2_lst_type_is_reply(uint32_t msg_type)
{
	return msg_type % 2 != 0;
}

/* Length of a type's body in bytes; 0 for an unknown type. */
uint32_t o2_lst_body_bytes(uint32_t msg_type);

/* The service of a request or reply; msg_type must be valid. */
enum o2_lst_service o2_lst_service_of_type(uint32_t msg_type);

/* The type of a service's request; -1: unknown service. */
int o2_lst_request_type(uint64_t service);

/* The portal to which a request to the service is sent. */
static inline uint32_t o2_lst_portal_of_service(enum o2_lst_service service)
{
	return service < O2_LST_SERVICE_FRAMEWORK_END ? O2_LST_PORTAL_FRAMEWORK : O2_LST_PORTAL_TEST;
}

/* "make session" and so on; NULL for an unknown service. */
const char *o2_lst_service_name(uint64_t service);

/* "read", "simple", "run" and so on; NULL for an unknown value. */
const char *o2_lst_rw_name(uint32_t rw);
const char *o2_lst_check_name(uint32_t check);
const char *o2_lst_opc_name(uint32_t opc);

/* --- destinations: the bulk of a TEST_REQST for a client half --- */

#define O2_LST_DEST_BYTES 12u /* of one destination; a list has no padding */

/* LNet: lnet_process_id_packed */
struct o2_lst_dest {
	uint64_t nid;
	uint32_t pid;
};

/* order: byte order of the TEST_REQST.  bytes: O2_LST_DEST_BYTES of them. */
void o2_lst_dest_load(const uint8_t *bytes, enum o2_byte_order order, struct o2_lst_dest *dest);
void o2_lst_dest_store(const struct o2_lst_dest *dest, enum o2_byte_order order, uint8_t *bytes);

#endif
