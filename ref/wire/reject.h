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
 * The reject record, which the passive side sends when it refuses a CONNREQ.  It is the private data of the
 * connection manager's reject (whose reason is then 28, "consumer defined"), padded with zeros to 148 bytes.
 * Source: docs/wire.md, "Reject record".  Field names are Lustre's.
 *
 * Like the message codec this one is pure: no allocation, no state, no byte read past those given.
 */

#define O2_REJECT_BYTES		24u	    /* size of the record */
#define O2_REJECT_V1_BYTES	7u	    /* bytes of it that version 0x11 fills in */
#define O2_REJECT_PRIVATE_BYTES 148u	    /* padded size, as delivered by the connection manager */
#define O2_LNET_PROTO_MAGIC	0x45726963u /* LNet: LNET_PROTO_MAGIC. The peer does not know our version */

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
	O2_REJECT_CONN_RACE = 1,      /* both sides connect at once; the rejecting side's attempt wins */
	O2_REJECT_NO_RESOURCES = 2,   /* no memory, no queue pair */
	O2_REJECT_FATAL = 3,	      /* anything else: do not try again */
	O2_REJECT_CONN_UNCOMPAT = 4,  /* version; rarely sent: deduced from reason 3 of version 0x11 */
	O2_REJECT_CONN_STALE = 5,     /* the CONNREQ was for an earlier incarnation */
	O2_REJECT_RDMA_FRAGS = 6,     /* too many fragments requested: see ibr_cp */
	O2_REJECT_MSG_QUEUE_SIZE = 7, /* queue depth requested is too large: see ibr_cp */
	O2_REJECT_INVALID_SRV_ID = 8, /* nothing listens at this service id */
	O2_REJECT_EARLY = 9,	      /* the network interface is not up yet */
};

/* o2iblnd: kib_rej */
struct o2_reject {
	enum o2_byte_order order;
	bool generic_magic;   /* the record begins with O2_LNET_PROTO_MAGIC */
	uint16_t ibr_version; /* 0x11 or 0x12 */
	uint8_t ibr_why;      /* enum o2_reject_why */
	/* Identity and limits of the rejecting side; all zero in version 0x11, which does not carry them. */
	uint64_t ibr_incarnation; /* 0 if no interface of that side was found */
	struct {
		uint16_t ibcp_queue_depth;
		uint16_t ibcp_max_frags;
		uint32_t ibcp_max_msg_size;
	} ibr_cp;
};

/* The rules for which a record is refused, in the order of the checks.  They have a table of their own. */
enum o2_reject_rule_id {
	O2_REJECT_RULE_ORDER, /* the first three are mistakes of a caller that encodes */
	O2_REJECT_RULE_V1_PARAMS,
	O2_REJECT_RULE_CAPACITY,
	O2_REJECT_RULE_SHORT_FOR_WHY,
	O2_REJECT_RULE_MAGIC,
	O2_REJECT_RULE_VERSION,
	O2_REJECT_RULE_WHY,
	O2_REJECT_RULE_SHORT_FOR_PARAMS,
	O2_REJECT_RULE_COUNT,
};

/* Rule `index`, 0 to O2_REJECT_RULE_COUNT - 1; NULL for a larger index. */
const struct o2_wire_rule *o2_reject_rule(unsigned int index);

/*
 * Decode the record that starts at bytes[0]; bytes after the record's 24 are ignored.  Version 0x11 needs
 * only 7 bytes, and the rest of such a record is ignored too.
 *
 * Returns 0 or -EPROTO with *error (may be NULL) filled in.  *reject is undefined after a refusal.
 */
int o2_reject_decode(const uint8_t *bytes, size_t length_bytes, struct o2_reject *reject,
		     struct o2_error *error);

/*
 * Encode *reject in its byte order, always as 24 bytes: the canonical form, in which the padding byte is
 * zero, and in version 0x11 all bytes after it too.
 *
 * Returns 24, -EPROTO for what decoding would refuse, -EINVAL (order; parameters in version 0x11), or
 * -ENOSPC.
 */
int o2_reject_encode(const struct o2_reject *reject, uint8_t *bytes, size_t capacity_bytes,
		     struct o2_error *error);

/* Names such as "queue-depth", indexed by reason; NULL for 0, which is no reason. */
extern const char *const o2_reject_why_names[O2_REJECT_EARLY + 1];

/* The name of a reason; NULL for a value that is no reason. */
const char *o2_reject_why_name(uint8_t why);

#endif
