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
 * a node.  It does what it is asked and says what it sees.  Questions and answers are plain structs, so that
 * an end may live in this process or in one of its own.
 */

enum o2_end_verb {
	O2_END_BEGIN,	/* .scenario comes next, with .peer: tell the device what it wants */
	O2_END_CONNECT, /* greet the peer: a message without payload, for which a connection is made */
	O2_END_LIMIT,	/* tell the connection what the scenario wants */
	O2_END_START,	/* start the operation; a refusal by this end itself is in .code and .error */
	O2_END_WAIT,	/* until .until holds; -ETIMEDOUT after O2_RUNG_GIVE_UP_S */
	O2_END_TRY_KEY, /* of a GET that we served: write with its key again */
	O2_END_PART,	/* close the connections with the peer */
	O2_END_REST,	/* the scenario is over: is everything handed back?  -EBUSY and .error if not */
	O2_END_QUIT,	/* of a process: close everything, and end */
};

enum o2_end_until {
	O2_END_GREETED, /* there is a connection, and the greeting went over it; -errno when it cannot */
	O2_END_OVER,	/* what we started has ended; what the peer started has ended, or never came here */
	O2_END_STILL,	/* nothing of ours is in flight or queued */
	O2_END_PARTED,	/* no connection with the peer is left, not even half of one */
};

struct o2_end_question {
	enum o2_end_verb verb;
	enum o2_end_until until;
	uint64_t peer;
	struct o2_scenario scenario; /* of BEGIN alone: the others are sent without */
};

/* Strings of errors are those of the program, which is the same in every process of a run. */
struct o2_end_answer {
	int code; /* 0 or -errno, with .error */
	struct o2_error error;
	uint64_t nid; /* ours */
	bool connected;
	/* Of this connection, since it came up: for a look at both ends at once. */
	uint64_t messages_sent, messages_handled, noops_sent, noops_received;
	uint16_t version; /* and what was agreed upon */
	uint32_t queue_depth;
	/* Connections and attempts that have ended here so far, and how the last of them did. */
	uint32_t downs;
	struct o2_transfer_fault down;
	/* Of the scenario at hand. */
	struct o2_observed_end initiator, responder;
	uint32_t nwr, nfrags; /* as far as they are known here */
	bool stale_tried, stale_admitted;
	struct o2_dma_ledger ledger;
	/* A rule of the judge that was broken, by what this end sends and receives; and how.  NULL: none. */
	const char *broken;
	struct o2_error judged;
};

struct o2_end_config {
	const char *device;
	uint8_t gid_index;
	enum o2_side side;
	const struct o2_arena *arena; /* of O2_SCENARIO_PAGES; outlives the end */
	bool alone;	 /* on its network: it may sleep until the device or a question wakes it */
	int not_ours[2]; /* descriptors that an end's process does not keep; 0: none */
	int stream; /* its questions come from there: once that has hung up it waits for nothing; 0: none */
};

struct o2_end {
	enum o2_side side;
	uint32_t address;
	struct o2_end_watch *watch;
	struct o2_place place;
	bool alone;
	int stream; /* as configured */
	struct o2_node *node;
	uint64_t clock_ms; /* last told to the node */
	uint32_t downs;
	struct o2_transfer_fault down;

	uint64_t peer;
	int greeted; /* 1: the greeting has gone or come; -errno: it cannot */
	struct o2_scenario scenario;
	struct o2_iov iov[O2_SCENARIO_PIECES];
	bool started, matched; /* we have asked; the peer has */
	bool done[2];	       /* what it asked, what we asked */
	uint32_t key;	       /* of a GET that we serve, and where its first byte goes */
	uint64_t key_addr;
	struct o2_end_answer seen; /* but for code and error */
};

/*
 * Open an end on a network, which outlives it.  Returns 0 or -errno of o2_network_address, o2_ni_open,
 * attaching and o2_node_create; nothing is left behind then.
 */
int o2_end_open(const struct o2_end_config *config, struct o2_network *network, struct o2_end *end,
		struct o2_error *error);

/* Everything is closed and handed back.  Does nothing to what is closed. */
void o2_end_close(struct o2_end *end);

uint64_t o2_end_nid(const struct o2_end *end);

/* Do what is asked, except for WAIT and QUIT. */
void o2_end_ask(struct o2_end *end, const struct o2_end_question *question, struct o2_end_answer *answer);

/* Handle what is there at the ends, all of one network.  Returns how many events. */
int o2_ends_step(struct o2_end *const *ends, uint32_t nends);

/*
 * Of an end that is alone: until something is to be done for it, fd is readable (-1: none), or it is time to
 * look at deadlines.  May return at once.
 */
void o2_end_sleep(struct o2_end *end, int fd);

/* WAIT: step all of them until what is asked for holds at one, ends[who], or nobody is there for the answer. */
void o2_ends_wait(struct o2_end *const *ends, uint32_t nends, uint32_t who, enum o2_end_until until,
		  struct o2_end_answer *answer);

#endif
