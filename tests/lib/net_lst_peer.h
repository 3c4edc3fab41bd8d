/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_NET_LST_PEER_H
#define O2_TESTS_NET_LST_PEER_H

#include "lst/node_internal.h"
#include "tests/lib/net_world.h"

/* A test node of LNet selftest as the peer of a command (net_world.h). */

#define NET_LST_NODE_PAGE 2u /* of the peer's arena: the node's memory begins there */

/* From net_lst_open on, until the command has ended; NULL: there is none. */
extern struct o2_lst_node *net_lst_node;
extern uint64_t net_lst_sessions; /* that it had made when it left */

/* To be changed before net_lst_open. */
struct o2_lst_node_config net_lst_config(void);
/* In world.start: the node is the world's. */
void net_lst_open(const struct o2_lst_node_config *config);

/* As though 10.77.0.9@o2ib had made a session, "theirs". */
void net_lst_occupy(void);

/* world_run with these wishes; a node that there is leaves with the peer. */
int net_lst_run(const char *line, void (*start)(void), void (*round)(void));

#endif
