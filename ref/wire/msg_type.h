/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_MSG_TYPE_H
#define O2_WIRE_MSG_TYPE_H

#include <stdint.h>

#include "wire/msg.h"

/* Constant properties of each message type.  Source: docs/wire.md, "Bodies" and "Rules". */

enum o2_msg_body {
	O2_BODY_NONE,	    /* NOOP */
	O2_BODY_CONNPARAMS, /* CONNREQ, CONNACK */
	O2_BODY_IMMEDIATE,
	O2_BODY_PUTREQ,
	O2_BODY_PUTACK,
	O2_BODY_GET,
	O2_BODY_COMPLETION, /* PUT_NAK, PUT_DONE, GET_DONE */
};

struct o2_msg_type_info {
	uint32_t minimum_nob; /* header and the fixed part of the body */
	enum o2_msg_body body;
	uint32_t lnet_types; /* set of LNet types that it may carry: bit t for LNet type t */
	/* Rules of this type (enum o2_wire_rule_id); 0 where there is none. */
	unsigned int nob_rule;
	unsigned int lnet_type_rule;
	unsigned int payload_not_zero_rule;
	unsigned int payload_over_limit_rule;
	unsigned int desc_rule;
	unsigned int status_rule;
};

/* Names such as "PUT_REQ", indexed by message type; NULL for a value that is not a type. */
extern const char *const o2_msg_type_names[];

/* The table's entry for a message type; NULL for a value that is not a type. */
/* o2iblnd: kiblnd_msgtype2size */
const struct o2_msg_type_info *o2_msg_type_info(uint8_t type);

#endif
