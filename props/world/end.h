/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_END_H
#define O2_PROPS_END_H

#include "lnd/ni/ni.h"
#include "lnd/node/node.h"
#include "props/world/end_watch.h"
#include "props/world/place.h"
#include "props/world/rung.h"

/*
 * One end of a rung of nodes (docs/properties.md, "Rungs"): one side of the scenarios, with an interface and
 * a node.  It follows requests and reports what it observes.  Questions and answers are plain structs, so
 * that an end may live in this process or in another.
 */

enum o2_end_verb {
	O2_END_BEGIN,	/* prepare for .scenario with .peer: configure the device */
	O2_END_CONNECT, /* greet the peer with a message without payload, which makes a connection */
	O2_END_LIMIT,	/* configure the connection for the scenario */
	O2_END_START,	/* start the operation; if this end refuses it, the reason is in .code and .error */
	O2_END_WAIT,	/* wait until .until holds; -ETIMEDOUT after O2_RUNG_GIVE_UP_S */
	O2_END_TRY_KEY, /* after a GET that this end served: write with its key again */
	O2_END_PART,	/* close the connections with the peer */
	O2_END_REST,	/* the scenario is over: has all been handed back?  -EBUSY and .error if not */
	O2_END_QUIT,	/* to an end's process: close everything and exit */
};

enum o2_end_until {
	O2_END_GREETED, /* a connection exists, and the greeting went over it; -errno: it cannot */
	O2_END_OVER,	/* this end's operation has ended; the peer's has ended, or never came here */
	O2_END_STILL,	/* nothing of this end is in flight or queued */
	O2_END_PARTED,	/* no connection with the peer is left, not even half open */
};

struct o2_end_question {
	enum o2_end_verb verb;
	enum o2_end_until until;
	uint64_t peer;
	struct o2_scenario scenario; /* only for BEGIN: other questions are sent without it */
};

/* Error strings point into the program, which is the same in every process of a run. */
struct o2_end_answer {
	int code; /* 0 or -errno, with .error */
	struct o2_error error;
	uint64_t nid; /* this end's NID */
	bool connected;
	/* Counts of this connection, since it came up, so that both ends can be compared. */
	uint64_t messages_sent, messages_handled, noops_sent, noops_received;
	uint16_t version; /* as agreed, also queue_depth */
	uint32_t queue_depth;
	/* Connections and attempts that have ended here so far, and the fault of the last one. */
	uint32_t downs;
	struct o2_transfer_fault down;
	/* Of the current scenario. */
	struct o2_observed_end initiator, responder;
	uint32_t nwr, nfrags; /* as far as this end knows them */
	bool stale_tried, stale_admitted;
	uint32_t ways; /* to REST: bits of enum o2_way */
	struct o2_dma_ledger ledger;
	/* A rule that the judge found broken in what this end sends and receives, and the details.  NULL: none. */
	const char *broken;
	struct o2_error judged;
};

struct o2_end_config {
	const char *device;
	uint8_t gid_index;
	enum o2_side side;
	const struct o2_arena *arena; /* of O2_SCENARIO_PAGES; outlives the end */
	bool alone;	 /* alone on its network: it may sleep until the device or a question wakes it */
	int not_ours[2]; /* descriptors that an end's process closes; 0: none */
	int stream;	 /* stream of its questions: when it hangs up, waits end; 0: none */
};

struct o2_end {
	enum o2_side side;
	uint32_t address;
	struct o2_end_watch *watch;
	struct o2_place place;
	bool alone;
	int stream; /* as configured */
	struct o2_node *node;
	uint64_t clock_ms; /* the node's clock */
	uint32_t downs;
	struct o2_transfer_fault down;

	uint64_t peer;
	int greeted; /* 1: the greeting was sent or received; -errno: it cannot be */
	struct o2_scenario scenario;
	struct o2_iov iov[O2_SCENARIO_PIECES];
	bool started, matched; /* this end has started its operation; the peer's has been matched */
	bool done[2];	       /* the peer's operation; this end's operation */
	uint32_t key;	       /* key of a GET that this end serves, and the address of its first byte */
	uint64_t key_addr;
	struct o2_end_answer seen; /* without code and error */
};

/*
 * Open an end on a network, which outlives it.  Returns 0 or -errno of o2_network_address, o2_ni_open,
 * attaching and o2_node_create; on an error nothing is left behind.
 */
int o2_end_open(const struct o2_end_config *config, struct o2_network *network, struct o2_end *end,
		struct o2_error *error);

/* Close an end and hand everything back.  Does nothing if it is closed. */
void o2_end_close(struct o2_end *end);

uint64_t o2_end_nid(const struct o2_end *end);

/* Answer a question other than WAIT and QUIT. */
void o2_end_ask(struct o2_end *end, const struct o2_end_question *question, struct o2_end_answer *answer);

/* Handle pending events at the ends, all of one network.  Returns the number of events, or -errno. */
int o2_ends_step(struct o2_end *const *ends, uint32_t nends);

/*
 * Sleep at an end that is alone until it has something to do, fd is readable (-1: none), or it is time to
 * check deadlines.  May return at once.
 */
void o2_end_sleep(struct o2_end *end, int fd);

/* Answer WAIT: step all ends until the condition holds at ends[who], or the asker has gone. */
void o2_ends_wait(struct o2_end *const *ends, uint32_t nends, uint32_t who, enum o2_end_until until,
		  struct o2_end_answer *answer);

#endif
