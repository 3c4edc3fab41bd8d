/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_NET_PROCESS_H
#define O2_PROPS_NET_PROCESS_H

#include "cli/net/network.h"
#include "props/command/command.h"

/* Run a network command in a forked child, on a network inside that child, which the property provides. */

struct o2_net_inside {
	bool (*open)(struct o2_net_options *options, uint32_t arena_pages, struct o2_net_network *network);
	void (*close)(struct o2_net_network *network);
	int (*progress)(struct o2_net_network *network, uint64_t now_ms);
	bool sleeps; /* sleep until the next event is due; false: ask again at once */
};

/* Between these calls no allocation fails or is counted: the allocations of the network are not the command's. */
uint32_t o2_net_hold(void);
void o2_net_go_on(uint32_t held);

/* Copy to memory that the child shares while the command runs; NULL: no memory. */
void *o2_net_share(const void *told, size_t bytes);
/* Copy the result back to told, and unmap the shared memory. */
void o2_net_unshare(void *shared, void *told, size_t bytes);

/*
 * Run the command on the words of *run in a forked child, whose first descriptors are fd[0] to fd[fds - 1]. Returns
 * its exit status; -1: it was killed, or could not be run.
 */
int o2_own_process(struct o2_command_run *run, int (*command)(int argc, char **argv), const int *fd, int fds);

/* Run a network command with the words of *run. */
void o2_net_process(struct o2_command_run *run, const struct o2_net_inside *inside);

#endif
