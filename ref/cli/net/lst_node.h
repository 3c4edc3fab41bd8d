/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_LST_NODE_H
#define O2_CLI_NET_LST_NODE_H

#include <jansson.h>

#include "cli/net/options.h"
#include "lnet/endpoint.h"
#include "lst/node.h"

/*
 * The test node of LNet selftest beside the memory that a peer offers: in serve --lst, and in the peer that
 * device loop has for lst and for conform --lst.  Source: docs/lst.md, "The node".
 */

struct o2_net_lst_node {
	struct o2_lst_node *node; /* NULL: there is none */
	const struct o2_clock *clock;
	uint64_t told_ms;
	uint64_t served;    /* of o2_net_lst_is_idle: requests of tests */
	uint64_t served_ms; /* since when there are so many; 0: it was not asked yet */
	bool quiet;	    /* print nothing about errors: the requester alone is told */
	uint64_t wrong;	    /* bulks whose bytes were not the pattern, or not all there */
};

/* The mode in which bulks are registered. */
enum o2_reg_mode o2_net_lst_mode(const struct o2_net_options *options);

/* Where the numbers of RPCs begin: a late reply to an earlier run must find no memory of this one. */
uint64_t o2_net_lst_first_id(void);

/* Without options->lst there is no node, and the functions below do nothing. */

/* Pages of the arena that the node needs; the entries and messages of LNet that it needs, added to config. */
uint32_t o2_net_lst_pages(const struct o2_net_options *options, uint32_t page_bytes);
void o2_net_lst_make_room(const struct o2_net_options *options, struct o2_lnet_config *config);

/* Messages of the node that one connection may have open. */
uint32_t o2_net_lst_messages(const struct o2_net_options *options);

/* Make the node on an endpoint of ni; its pages begin at first_page.  Without --lst there is none.  0 or -errno. */
int o2_net_lst_open(const struct o2_net_options *options, const struct o2_ni *ni, struct o2_lnet *lnet,
		    uint32_t first_page, struct o2_net_lst_node *lst, struct o2_error *error);
/* Stop the node before the endpoint is closed; close the node after that. */
void o2_net_lst_stop(struct o2_net_lst_node *lst);
void o2_net_lst_close(struct o2_net_lst_node *lst);

/* Pass a result or an event of LNet to the node; true: it was meant for the node. */
bool o2_net_lst_done(struct o2_net_lst_node *lst, const struct o2_lnet_result *result);
bool o2_net_lst_event(struct o2_net_lst_node *lst, const struct o2_lnet_event *event);

/* To be called once in each round of a loop. */
void o2_net_lst_round(struct o2_net_lst_node *lst);

/* Has it served no request of a test for that long?  Then the time begins anew.  To be called now and then. */
bool o2_net_lst_is_idle(struct o2_net_lst_node *lst, uint64_t limit_ms);

/* What the node has done: as a line, or as an object, which needs a node (NULL: memory ran out). */
void o2_net_lst_print(const struct o2_net_lst_node *lst);
json_t *o2_net_lst_to_json(const struct o2_net_lst_node *lst);

#endif
