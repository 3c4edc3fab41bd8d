/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_H
#define O2_CLI_NET_CONFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/net/session.h"
#include "lnd/node/negotiate.h"
#include "lnet/ping.h"

/*
 * o2ref conform: tries a table of probes on a live peer, one after another.  Each probe has its own endpoint,
 * so that it does not suffer from what an earlier one has spoilt.  Source: docs/conform.md.
 */

#define O2_CONFORM_CANNOT      77
#define O2_CONFORM_TEXT_BYTES  640u
#define O2_CONFORM_NAMED_BYTES 160u
#define O2_CONFORM_HEARD_BYTES 224u

enum o2_conform_outcome {
	O2_CONFORM_HOLDS,
	O2_CONFORM_FINDING,
	O2_CONFORM_KNOWN,     /* a finding that the file of --known lists */
	O2_CONFORM_TOLERATED, /* a finding that is known of the peer's kind: --profile */
	O2_CONFORM_NOT_TRIED,
	O2_CONFORM_OUTCOMES,
};

/* What a probe needs of the peer's application. */
enum o2_conform_needs {
	O2_CONFORM_PLACE = 1u << 0,	 /* memory that takes PUTs and GETs */
	O2_CONFORM_READ_PLACE = 1u << 1, /* memory that takes GETs */
	O2_CONFORM_END = 1u << 2,	 /* the memory of O2_CONFORM_PLACE ends at --place-bytes */
	O2_CONFORM_TEST_NODE = 1u << 3,	 /* a test node of LNet selftest */
};

struct o2_conform;

struct o2_conform_probe {
	const char *id;	       /* stable: docs/conform.md, "Probes" */
	const char *sentence;  /* what must hold */
	const char *source;    /* the page and section that say so */
	unsigned int needs;    /* enum o2_conform_needs */
	bool kernel_otherwise; /* kernels are known not to keep to it */
	/* Reports by o2_conform_find or o2_conform_skip that the sentence does not hold, or could not be tried. */
	void (*run)(struct o2_conform *conform, const struct o2_conform_probe *probe);
	uint32_t value;
};

struct o2_conform_result {
	enum o2_conform_outcome outcome;
	char text[O2_CONFORM_TEXT_BYTES]; /* what was seen, or why it was not tried */
	/* A finding: what the peer sent last, and its first bytes; "" if the judge's text has them. */
	char heard[O2_CONFORM_HEARD_BYTES];
	uint64_t took_ns;
	uint64_t first_packet, last_packet; /* in the capture; 0: there is none, or nothing was said */
	/* A misbehaviour of ours: whether it was done, and the rules that the judge named for it: "a, b". */
	bool lie;
	char named[O2_CONFORM_NAMED_BYTES];
};

/* An operation of ours. */
struct o2_conform_op {
	bool is_get, ended;
	uint64_t operation;
	int status;
	uint64_t length_bytes;
	struct o2_transfer_fault fault;
	struct o2_net_memory memory;	/* owned */
	struct o2_transfer_memory part; /* the part of memory that is moved */
	uint64_t offset;		/* at the peer */
	uint64_t stream, stream_at;	/* stream of the bytes, and where in it they begin */
};

/* What an operation is to move. */
struct o2_conform_move {
	uint32_t size_bytes;
	uint32_t fragments; /* 0: as 1 */
	enum o2_reg_mode mode;
	uint32_t skew_bytes; /* where our memory begins in its first page */
	uint32_t portal;     /* under --match-bits */
	bool ping;	     /* at LNet's ping, whatever the portal */
	uint64_t offset;     /* at the peer */
	bool no_ack;
	uint64_t stream, stream_at; /* GET: stream of the expected bytes, and where in it they begin */
	const uint8_t *bytes;	    /* PUT: these bytes; NULL: those of the next stream */
};

struct o2_conform {
	struct o2_net_options *options;
	struct o2_net_session session;
	bool started;	    /* there is an endpoint */
	uint32_t next_page; /* the first free page of the arena */
	struct o2_conform_op op[O2_NET_MAX_IN_FLIGHT];
	uint32_t nops;
	uint64_t stream;		  /* the last stream that was PUT */
	struct o2_conform_result *result; /* of the current probe */
	struct o2_conform_listener *listener;
	bool lost;    /* the device is lost */
	bool starved; /* our memory ran out, so something was not tried */
	/* --lst: conform/lst.h */
	struct o2_conform_lst *lst; /* NULL: the endpoint has no RPCs */
	uint32_t lst_page;	    /* the first page of the arena that they use */
	uint32_t lst_endpoints;	    /* endpoints with RPCs so far */
	/* What is known of the peer. */
	unsigned int has;			  /* enum o2_conform_needs */
	char lacks[4][O2_CONFORM_TEXT_BYTES / 4]; /* by bit: why the peer does not have that */
	struct o2_ping_info info;		  /* its answer to the first ping */
	uint64_t stamp;
};

/* The tables, in the order in which they are tried; each ends with a row without an id. */
extern const struct o2_conform_probe o2_conform_ping_probes[], o2_conform_connect_probes[],
	o2_conform_move_probes[], o2_conform_place_probes[], o2_conform_leave_probes[];

/* The probe of that number, counted over all tables; NULL past the last one. */
const struct o2_conform_probe *o2_conform_probe(uint32_t number);

/* Whether an id is one of the words "A,B", or begins with a word that ends with a slash. */
bool o2_conform_is_in(const char *id, const char *words);
/* Whether it is the id of a probe that --lst adds. */
bool o2_conform_is_lst(const char *id);
/* Whether an id is to be tried: --only is absent or names it, and --lst is given if the id needs that. */
bool o2_conform_wanted(const struct o2_net_options *options, const char *id);

/* How often we came back to a peer that we had left, and what came of it. */
struct o2_conform_returns {
	uint32_t times, bad;
	uint32_t first_bad; /* the step after which the first bad return came */
	char why[O2_CONFORM_TEXT_BYTES];
};

/* Come back after that step: `live` starts an endpoint again and uses the peer.  Everything must work. */
void o2_conform_come_back(struct o2_conform *conform, struct o2_conform_returns *returns,
			  void (*live)(struct o2_conform *conform), uint32_t step);

/* --- what probes say --- */

/* The sentence does not hold.  Only a probe's first result counts. */
void o2_conform_find(struct o2_conform *conform, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The sentence could not be tried. */
void o2_conform_skip(struct o2_conform *conform, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Likewise, because our own memory ran out: not everything was tried then. */
void o2_conform_starve(struct o2_conform *conform, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline bool o2_conform_said(const struct o2_conform *conform)
{
	return conform->result->outcome != O2_CONFORM_HOLDS;
}

/* --- what probes do; false: the reason was reported --- */

/* The command line's settings of an endpoint, which a probe may change. */
struct o2_node_config o2_conform_node(const struct o2_conform *conform);
/* Start an endpoint; node: NULL for o2_conform_node. */
bool o2_conform_start(struct o2_conform *conform, const struct o2_node_config *node);
/* The same with other settings of LNet than the command line's. */
bool o2_conform_start_with(struct o2_conform *conform, const struct o2_node_config *node,
			   const struct o2_lnet_config *lnet);
/* Stop the endpoint, and forget the operations. */
void o2_conform_stop(struct o2_conform *conform);

/* One round of the loop; false: the device is lost, or a signal has come. */
bool o2_conform_step(struct o2_conform *conform);

/* Start an operation.  NULL: it was refused on our side, which was reported. */
struct o2_conform_op *o2_conform_begin(struct o2_conform *conform, bool is_get,
				       const struct o2_conform_move *move);
/* Wait until the operation has ended; until all have ended. */
bool o2_conform_wait_for(struct o2_conform *conform, const struct o2_conform_op *op);
bool o2_conform_wait(struct o2_conform *conform);
/* Whether it failed because our own side ran out of memory, wherever that was; this reports it. */
bool o2_conform_was_starved(struct o2_conform *conform, const struct o2_conform_op *op);
/* Whether it succeeded and moved all bytes; if not, this reports it. */
bool o2_conform_moved(struct o2_conform *conform, const struct o2_conform_op *op);
/* A GET: its bytes are those of its stream, as far as they were reported, and no others were written. */
bool o2_conform_right(struct o2_conform *conform, const struct o2_conform_op *op);
/* Forget the operations, all of which have ended. */
void o2_conform_forget(struct o2_conform *conform);

/*
 * For an operation that need not be answered: ping after it.  When the ping is answered, the operation's own
 * answer is here, or will not come.  Returns whether it has ended.
 */
bool o2_conform_answered(struct o2_conform *conform, const struct o2_conform_op *op);

/* PUT, and GET the same bytes back. */
bool o2_conform_there_and_back(struct o2_conform *conform, const struct o2_conform_move *move);
/* Ping, and check the answer; info may be NULL. */
bool o2_conform_ping(struct o2_conform *conform, struct o2_ping_info *info);

/* A move at the writable place, with the settings of the command line. */
struct o2_conform_move o2_conform_move(const struct o2_conform *conform, uint32_t size_bytes);

/* Find out what the peer's application has. */
void o2_conform_survey(struct o2_conform *conform);
/* Record why the peer lacks that bit of enum o2_conform_needs.  `format` may have a place for `value`. */
void o2_conform_lacks(struct o2_conform *conform, unsigned int bit, const char *format, uint32_t value);

/* --- ask.c: a request for a connection, and nothing more --- */

struct o2_conform_asked {
	bool accepted, rejected; /* neither: no answer; code: an errno, or 0 */
	int code;
	struct o2_msg reply; /* accepted */
	uint32_t cm_reason;  /* rejected */
	bool has_record;
	struct o2_reject record;
	char text[O2_CONFORM_TEXT_BYTES / 2]; /* the same as text */
};

/* No endpoint may be started.  Returns false, after reporting it, if the peer could not be asked. */
bool o2_conform_ask(struct o2_conform *conform, const struct o2_conn_params *offer, uint64_t dststamp,
		    struct o2_conform_asked *asked);

#endif
