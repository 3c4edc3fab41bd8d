/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_NET_LST_PEER_H
#define O2_TESTS_NET_LST_PEER_H

#include "lst/node_internal.h"
#include "tests/lib/net_world.h"

/* An LNet selftest node as the peer of a network command (net_world.h). */

#define NET_LST_NODE_PAGE 2u /* page of the peer's arena where the node's memory begins */

/* The node, from net_lst_open until the command ends; otherwise NULL. */
extern struct o2_lst_node *net_lst_node;
extern uint64_t net_lst_sessions; /* sessions that the node had made when it stopped */

/* A configuration for net_lst_open, which the caller may change first. */
struct o2_lst_node_config net_lst_config(void);
/* Create the node.  Call it from world.start; net_lst_run destroys the node. */
void net_lst_open(const struct o2_lst_node_config *config);

/* Put the node into a session named "theirs", as if 10.77.0.9@o2ib had made it. */
void net_lst_occupy(void);

/* world_run with these callbacks as world.start and world.round.  Stops and destroys the node, if there is one. */
int net_lst_run(const char *line, void (*start)(void), void (*round)(void));

#endif
