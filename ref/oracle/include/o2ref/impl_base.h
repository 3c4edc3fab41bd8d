/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_BASE_H
#define O2REF_IMPL_BASE_H

#include <stdint.h>

/* What all stages share: limits, what a function returns, refusals.  Include o2ref/impl.h. */

/* Limits of this protocol (docs/wire.md and docs/mapping.md, "Limits"). */
#define O2_IMPL_MAX_FRAGS	 257u	    /* fragments, entries, segments, pages of a list */
#define O2_IMPL_MAX_WRQ_SGE	 32u	    /* gather entries of one work request */
#define O2_IMPL_MSG_BYTES	 4096u	    /* a message */
#define O2_IMPL_PAYLOAD_BYTES	 3976u	    /* payload of an IMMEDIATE */
#define O2_IMPL_TRANSFER_BYTES	 (1u << 20) /* of one transfer */
#define O2_IMPL_ERROR_NAME_BYTES 64u

enum o2_impl_status {
	O2_IMPL_OK = 0,
	O2_IMPL_REFUSED = 1,
	O2_IMPL_NOT_IMPLEMENTED = 89, /* for this input: say a mode or a device kind that is not modelled */
};

/* What a refusal costs the connection; only msg_decode and deliver are asked. */
enum o2_impl_cost {
	O2_IMPL_COST_NOT_SAID = 0,
	O2_IMPL_COST_MESSAGE = 1,    /* this message fails, the connection is kept */
	O2_IMPL_COST_CONNECTION = 2, /* the connection closes */
};

/* Whose work refused; only the whole transfer is asked. */
enum o2_impl_where {
	O2_IMPL_WHERE_NOT_SAID = 0,
	O2_IMPL_WHERE_SOURCE = 1, /* the source's memory: its list, mapping or registration */
	O2_IMPL_WHERE_SINK = 2,	  /* the sink's */
	O2_IMPL_WHERE_WRITES = 3, /* both can be registered; the work requests cannot be made */
};

struct o2_impl_refusal {
	uint32_t error;			     /* errno, positive: EINVAL is 22 */
	uint32_t cost;			     /* enum o2_impl_cost */
	uint32_t where;			     /* enum o2_impl_where */
	uint32_t index;			     /* the entry it is about; UINT32_MAX: none, or not said */
	char name[O2_IMPL_ERROR_NAME_BYTES]; /* your own name of the error, ends with a zero; "": none.
						An error map turns it into a rule id of the reference. */
};

#endif
