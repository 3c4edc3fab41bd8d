/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_BASE_H
#define O2REF_IMPL_BASE_H

#include <stdint.h>

/* Definitions for all stages: limits, return values, refusals.  Do not include directly: use o2ref/impl.h. */

/* Limits of this protocol (docs/wire.md and docs/mapping.md, "Limits"). */
#define O2_IMPL_MAX_FRAGS	 257u	    /* fragments, entries, segments or pages in one list */
#define O2_IMPL_MAX_WRQ_SGE	 32u	    /* gather entries of one work request */
#define O2_IMPL_MSG_BYTES	 4096u	    /* bytes of a message */
#define O2_IMPL_PAYLOAD_BYTES	 3976u	    /* payload bytes of an IMMEDIATE */
#define O2_IMPL_TRANSFER_BYTES	 (1u << 20) /* bytes of one transfer */
#define O2_IMPL_ERROR_NAME_BYTES 64u

enum o2_impl_status {
	O2_IMPL_OK = 0,
	O2_IMPL_REFUSED = 1,
	O2_IMPL_NOT_IMPLEMENTED = 89, /* this input is not supported, e.g. its mode or device kind */
};

/* The effect of a refusal on the connection.  Compared for msg_decode and deliver only. */
enum o2_impl_cost {
	O2_IMPL_COST_NOT_SAID = 0,
	O2_IMPL_COST_MESSAGE = 1,    /* this message fails, the connection is kept */
	O2_IMPL_COST_CONNECTION = 2, /* the connection closes */
};

/* The part of a transfer that was refused.  Compared for stage transfer only. */
enum o2_impl_where {
	O2_IMPL_WHERE_NOT_SAID = 0,
	O2_IMPL_WHERE_SOURCE = 1, /* the source's memory: its list, mapping or registration */
	O2_IMPL_WHERE_SINK = 2,	  /* the sink's memory: its list, mapping or registration */
	O2_IMPL_WHERE_WRITES = 3, /* both sides can be registered, but the work requests cannot be made */
};

struct o2_impl_refusal {
	uint32_t error;			     /* errno, positive: EINVAL is 22 */
	uint32_t cost;			     /* enum o2_impl_cost */
	uint32_t where;			     /* enum o2_impl_where */
	uint32_t index;			     /* index of the offending entry; UINT32_MAX: none, or not said */
	char name[O2_IMPL_ERROR_NAME_BYTES]; /* your name for the error, NUL-terminated; "": none.  An
						error map translates it into rule ids of the reference. */
};

#endif
