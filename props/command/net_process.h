/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_NET_PROCESS_H
#define O2_PROPS_NET_PROCESS_H

#include "cli/net/network.h"
#include "props/command/command.h"

/* A network command in a process of its own, on a network inside that process, which a property makes. */

struct o2_net_inside {
	bool (*open)(struct o2_net_options *options, uint32_t arena_pages, struct o2_net_network *network);
	void (*close)(struct o2_net_network *network);
	int (*progress)(struct o2_net_network *network, uint64_t now_ms);
	bool sleeps; /* only time brings on what is next; else it is asked again at once */
};

/* A copy that both processes will have, while the command runs; NULL: no memory. */
void *o2_net_share(const void *told, size_t bytes);
/* What became of it comes back. */
void o2_net_unshare(void *shared, void *told, size_t bytes);

/* One run of the words. */
void o2_net_process(struct o2_command_run *run, const struct o2_net_inside *inside);

#endif
