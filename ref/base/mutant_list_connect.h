/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_MUTANT_LIST_CONNECT_H
#define O2_BASE_MUTANT_LIST_CONNECT_H

/*
 * Deliberate defects in how connections are made and in how long what they need is kept, in the form of
 * mutant_list.h: what an established connection does is right.  Property nodes kills each;
 * tests/test_node_mutants.c has a meeting of two nodes for each.
 */
#define O2_MUTANTS_OF_CONNECT(X)                                                                 \
	X(FORGET_NEGOTIATED, "forget-negotiated", "connect", "LU-3322",                          \
	  "what a reject says of the peer's limits is forgotten with the attempt that it ended") \
	X(OFFER_TUNABLE, "offer-tunable", "connect", "LU-10129",                                 \
	  "a tunable is offered as the number of fragments, not the size of the arrays")         \
	X(WAITING_LEFT, "waiting-left", "connect", "LU-10682",                                   \
	  "what waits for a connection that is closing as it comes up is left behind")           \
	X(POOL_CLOCK_STANDS, "pool-clock-stands", "pool", "",                                    \
	  "for its pools the clock of an interface stands still: none is ever idle for long")

#endif
