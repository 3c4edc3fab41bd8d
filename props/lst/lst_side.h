/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LST_SIDE_H
#define O2_PROPS_LST_SIDE_H

#include "lst/node_internal.h"
#include "props/world/lnet_pair.h"

/* A test node of LNet selftest, on top of the LNet of one side of a pair. */

/* What LNet has reported to a node. */
struct o2_lst_heard {
	uint64_t requests;    /* PUTs to the portals of services */
	uint64_t errors;      /* operations that failed without being canceled, and requests that did */
	uint64_t lnet_errors; /* the same with canceled operations */
	uint64_t dropped;     /* messages without memory for them */
	uint64_t put_bytes, got_bytes; /* moved by its own PUTs and GETs */
	uint32_t most;		       /* most messages under way at the time of a report */
};

struct o2_lst_side {
	struct o2_lnet_side *lnet;
	struct o2_lst_node *node;
	uint32_t nwrong; /* number of reports of wrong bytes, and the last report */
	struct o2_lst_node_wrong wrong;
	uint32_t nunserved; /* number of requests reported as not served, and the last report */
	uint64_t unserved_nid;
	int unserved_code;
	struct o2_lst_heard heard;
};

/* A configuration with small limits, which fits into the pages of a side. */
struct o2_lst_node_config o2_lst_side_config(void);

/* Create the node and register it with lnet, which must outlive it.  Returns the result of o2_lst_node_create. */
int o2_lst_side_open(struct o2_lst_side *side, struct o2_lnet_side *lnet,
		     const struct o2_lst_node_config *config);

#endif
