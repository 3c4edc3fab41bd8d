/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PREDICT_H
#define O2_PROPS_PREDICT_H

#include "props/scenario/scenario.h"

/*
 * An independent predictor: from the scenario alone it determines whether the transfer moves its bytes, or
 * which side refuses it with which errno.  It is written from docs/mapping.md and docs/modes.md and calls no
 * stage of the library (docs/properties.md, "Refusals").
 */

enum o2_verdict {
	O2_MOVES,	   /* byte-exact, status 0 on both sides */
	O2_REFUSED_LOCAL,  /* the initiator's own stages refuse: o2_conn_put or o2_conn_get returns the errno,
			      no message */
	O2_REFUSED_PEER,   /* the other side refuses: the initiator's result carries the errno as the peer's
			      status */
	O2_REFUSED_WRITER, /* PUT: the source cannot build the work requests: both sides end with the errno */
};

/* The rule that refuses the memory of one side, in the order of the checks. */
enum o2_predict_rule {
	O2_PREDICT_NONE,
	O2_PREDICT_SIZE,
	O2_PREDICT_VECTOR_SHORT,
	O2_PREDICT_ENTRIES,
	O2_PREDICT_UNMAPPED,
	O2_PREDICT_MAP_EIO,
	O2_PREDICT_MAP_NOTHING,
	O2_PREDICT_MAP_ENOMEM,
	O2_PREDICT_GAPS,	   /* under fastreg */
	O2_PREDICT_NOT_CONTIGUOUS, /* under user */
	O2_PREDICT_PHYS_GAPS,
	O2_PREDICT_PHYS_IOVA,
	O2_PREDICT_PHYS_WRAPS,
	O2_PREDICT_FRAGMENTS,
	O2_PREDICT_WORK_REQUESTS, /* of both sides together; attributed to the source */
	O2_PREDICT_RULES,
};

/* The rule's name in the library's error record, e.g. "reg/phys/gaps"; "" for O2_PREDICT_NONE. */
const char *o2_predict_rule_name(enum o2_predict_rule rule);

/* The rule's negative errno; 0 for O2_PREDICT_NONE. */
int o2_predict_rule_code(enum o2_predict_rule rule);

struct o2_prediction {
	enum o2_verdict verdict;
	int code;		   /* negative errno; 0 for O2_MOVES */
	enum o2_predict_rule rule; /* the rule that refuses; O2_PREDICT_NONE for O2_MOVES */
	enum o2_side side;	   /* the side whose memory is refused */
	const char *reason;	   /* a short text for reports: "sink: gaps under fastreg" */
	uint32_t source_entries;   /* scatter entries of each side's transferred range, for counters */
	uint32_t sink_entries;
	uint32_t source_segments; /* after merging; 0 when the side refuses earlier */
	uint32_t sink_segments;
	bool source_gaps;
	bool sink_gaps;
};

/*
 * source_view_page, sink_view_page: the page table of the view that the side's IOV points into (NULL for a
 * KIOV).  device_page: where the remapping of kind iommu puts each page; NULL: no two pages are adjacent.
 */
void o2_predict(const struct o2_scenario *scenario, const uint32_t *source_view_page,
		const uint32_t *sink_view_page, const uint32_t *device_page,
		struct o2_prediction *prediction);

#endif
