/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_REJECT_H
#define O2_WIRE_REJECT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "wire/msg.h"
#include "wire/rules.h"

/*
 * The reject record: what the passive side says when it refuses a CONNREQ.  It travels as private data of the
 * connection manager's reject (its reason is then 28, "consumer defined"), which pads it with zeros to 148
 * bytes. Source: docs/wire.md, "Reject record".  Field names are Lustre's.
 *
 * As the codec of messages this one is pure: no allocation, no state, no byte read past those given.
 */

#define O2_REJECT_BYTES		24u	    /* of the record */
#define O2_REJECT_V1_BYTES	7u	    /* of it, those that version 0x11 fills in */
#define O2_REJECT_PRIVATE_BYTES 148u	    /* as a connection manager hands it over, padded */
#define O2_LNET_PROTO_MAGIC	0x45726963u /* LNet: LNET_PROTO_MAGIC. Of a peer that did not know our version */

enum {
	O2_REJECT_AT_MAGIC = 0,
	O2_REJECT_AT_VERSION = 4,
	O2_REJECT_AT_WHY = 6,
	O2_REJECT_AT_PADDING = 7,
	O2_REJECT_AT_INCARNATION = 8,
	O2_REJECT_AT_QUEUE_DEPTH = 16,
	O2_REJECT_AT_MAX_FRAGS = 18,
	O2_REJECT_AT_MAX_MSG_SIZE = 20,
};

static_assert(O2_REJECT_AT_WHY + 1 == O2_REJECT_V1_BYTES, "version 0x11 ends with the reason");
static_assert(O2_REJECT_AT_MAX_MSG_SIZE + 4 == O2_REJECT_BYTES && O2_REJECT_BYTES <= O2_REJECT_PRIVATE_BYTES,
	      "the record ends with the size of messages; padding follows");

/* o2iblnd: IBLND_REJECT_CONN_RACE, IBLND_REJECT_NO_RESOURCES, IBLND_REJECT_FATAL */
/* o2iblnd: IBLND_REJECT_CONN_UNCOMPAT, IBLND_REJECT_CONN_STALE, IBLND_REJECT_RDMA_FRAGS */
/* o2iblnd: IBLND_REJECT_MSG_QUEUE_SIZE, IBLND_REJECT_INVALID_SRV_ID, IBLND_REJECT_EARLY */
enum o2_reject_why {
	O2_REJECT_CONN_RACE = 1,      /* both sides connect at once and the other one wins */
	O2_REJECT_NO_RESOURCES = 2,   /* no memory, no queue pair */
	O2_REJECT_FATAL = 3,	      /* anything else: do not try again */
	O2_REJECT_CONN_UNCOMPAT = 4,  /* version; seldom sent: concluded from reason 3 of version 0x11 */
	O2_REJECT_CONN_STALE = 5,     /* the CONNREQ was for an earlier incarnation */
	O2_REJECT_RDMA_FRAGS = 6,     /* too many fragments asked for: see ibr_cp */
	O2_REJECT_MSG_QUEUE_SIZE = 7, /* too deep a queue asked for: see ibr_cp */
	O2_REJECT_INVALID_SRV_ID = 8, /* nothing listens there */
	O2_REJECT_EARLY = 9,	      /* the network interface is not up yet */
};

/* o2iblnd: kib_rej */
struct o2_reject {
	enum o2_byte_order order;
	bool generic_magic;   /* it begins with O2_LNET_PROTO_MAGIC */
	uint16_t ibr_version; /* 0x11 or 0x12 */
	uint8_t ibr_why;      /* enum o2_reject_why */
	/* What the rejecting side is and can do.  Version 0x11 does not say: all zero. */
	uint64_t ibr_incarnation; /* 0 when no interface of it was found */
	struct {
		uint16_t ibcp_queue_depth;
		uint16_t ibcp_max_frags;
		uint32_t ibcp_max_msg_size;
	} ibr_cp;
};

/* Every reason for which a record is refused, in the order of the checks; a table of its own. */
enum o2_reject_rule_id {
	O2_REJECT_RULE_ORDER, /* the first three: the caller's mistakes when encoding */
	O2_REJECT_RULE_V1_PARAMS,
	O2_REJECT_RULE_CAPACITY,
	O2_REJECT_RULE_SHORT_FOR_WHY,
	O2_REJECT_RULE_MAGIC,
	O2_REJECT_RULE_VERSION,
	O2_REJECT_RULE_WHY,
	O2_REJECT_RULE_SHORT_FOR_PARAMS,
	O2_REJECT_RULE_COUNT,
};

/* Rule `index` of 0 to O2_REJECT_RULE_COUNT - 1; NULL from there on. */
const struct o2_wire_rule *o2_reject_rule(unsigned int index);

/*
 * Decode the record that starts at bytes[0]; what follows its 24 bytes is ignored.  Version 0x11 needs only
 * 7, and the rest of such a record is ignored too.
 *
 * Returns 0 or -EPROTO with *error (may be NULL) filled in.  *reject is undefined after a refusal.
 */
int o2_reject_decode(const uint8_t *bytes, size_t length_bytes, struct o2_reject *reject,
		     struct o2_error *error);

/*
 * Encode *reject in its byte order, always 24 bytes: the canonical form, in which the padding byte, and in
 * version 0x11 all that follows it, is zero.
 *
 * Returns 24, -EPROTO for what decoding would refuse, -EINVAL (order; parameters in version 0x11), or
 * -ENOSPC.
 */
int o2_reject_encode(const struct o2_reject *reject, uint8_t *bytes, size_t capacity_bytes,
		     struct o2_error *error);

/* By reason: "queue-depth" and so on; NULL for 0, which is none. */
extern const char *const o2_reject_why_names[O2_REJECT_EARLY + 1];

/* The same; NULL for a value that is no reason. */
const char *o2_reject_why_name(uint8_t why);

#endif
