/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PREDICT_H
#define O2_PROPS_PREDICT_H

#include "props/scenario.h"

/*
 * An independent predictor: from the scenario alone it says whether the transfer moves its bytes or which
 * side refuses it with which errno.  It is written from docs/mapping.md and docs/modes.md and calls no stage
 * of the library (docs/properties.md, "Refusals").
 */

enum o2_verdict {
	O2_MOVES,	   /* byte-exact, status 0 on both sides */
	O2_REFUSED_LOCAL,  /* the initiator's own stages refuse: o2_conn_put or o2_conn_get returns the errno,
			      no message */
	O2_REFUSED_PEER,   /* the other side refuses: the initiator's result carries the errno as the peer's
			      status */
	O2_REFUSED_WRITER, /* PUT: the source cannot build the work requests: both sides end with the errno */
};

struct o2_prediction {
	enum o2_verdict verdict;
	int code;		 /* negative errno; 0 for O2_MOVES */
	const char *reason;	 /* a short text for reports: "sink: gaps under fastreg" */
	uint32_t source_entries; /* scatter entries of each side's transferred range, for counters */
	uint32_t sink_entries;
	bool source_gaps;
	bool sink_gaps;
};

/*
 * view_page of each side: the page table of the view that its IOV points into (NULL for a KIOV).
 */
void o2_predict(const struct o2_scenario *scenario, const uint32_t *source_view_page,
		const uint32_t *sink_view_page, struct o2_prediction *prediction);

#endif
