/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LST_SIDE_H
#define O2_PROPS_LST_SIDE_H

#include "lst/node_internal.h"
#include "props/world/lnet_pair.h"

/* A test node of LNet selftest over the LNet of one side of a pair. */

struct o2_lst_side {
	struct o2_lnet_side *lnet;
	struct o2_lst_node *node;
	uint32_t nwrong; /* how often it has told of wrong bytes, and what it told last */
	struct o2_lst_node_wrong wrong;
};

/* Little limits, which fit into the pages of a side. */
struct o2_lst_node_config o2_lst_side_config(void);

/* lnet, which listens to the side from now on, outlives it.  Returns what o2_lst_node_create says. */
int o2_lst_side_open(struct o2_lst_side *side, struct o2_lnet_side *lnet,
		     const struct o2_lst_node_config *config);

#endif
