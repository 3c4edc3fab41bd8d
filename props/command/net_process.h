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

/* Between them no allocation fails, and none is counted: what the network takes is not the command's. */
uint32_t o2_net_hold(void);
void o2_net_go_on(uint32_t held);

/* A copy that both processes will have, while the command runs; NULL: no memory. */
void *o2_net_share(const void *told, size_t bytes);
/* What became of it comes back. */
void o2_net_unshare(void *shared, void *told, size_t bytes);

/*
 * One run of the words by the command, in a process of its own, whose first descriptors are those.  Returns its exit
 * status; -1: it was killed, or could not be run.
 */
int o2_own_process(struct o2_command_run *run, int (*command)(int argc, char **argv), const int *fd, int fds);

/* One run of the words of a network command. */
void o2_net_process(struct o2_command_run *run, const struct o2_net_inside *inside);

#endif
