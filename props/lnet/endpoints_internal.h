/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_ENDPOINTS_INTERNAL_H
#define O2_PROPS_ENDPOINTS_INTERNAL_H

#include "lnet/endpoint.h"
#include "props/engine/report.h"
#include "props/lnet/endpoints.h"
#include "props/world/memory.h"
#include "props/world/place.h"

#define O2_ENDPOINTS_MAX	 4u
#define O2_ENDPOINTS_OPS	 255u /* operations of each endpoint between two rests */
#define O2_ENDPOINTS_FEW	 24u  /* the same, in a case without `many` */
#define O2_ENDPOINTS_ENTRIES	 8u   /* entries of an endpoint's table, including those of pings */
#define O2_ENDPOINTS_LNET	 2u   /* of them LNet's own entries; also the number of pages for these */
#define O2_ENDPOINTS_ENTRY_PAGES 4u
#define O2_ENDPOINTS_OP_PAGES	 3u
#define O2_ENDPOINTS_LINE_BYTES	 64u /* share of a page that a small operation uses */
#define O2_ENDPOINTS_TAKES	 (O2_ENDPOINTS_MAX * O2_ENDPOINTS_OPS) /* an operation is taken once */
#define O2_ENDPOINTS_STARTED	 4096u /* operations of one life whose numbers are checked */
#define O2_ENDPOINTS_INFO_BYTES	 48u   /* bytes of the answer to a ping */

/* What an operation does. */
enum o2_endpoints_kind {
	O2_ENDPOINTS_PUT,
	O2_ENDPOINTS_GET,
	O2_ENDPOINTS_PING,
	O2_ENDPOINTS_PUSH,
	O2_ENDPOINTS_KINDS,
};

/* Fate of a request at its target. */
enum o2_endpoints_there {
	O2_ENDPOINTS_UNSEEN,
	O2_ENDPOINTS_TAKEN, /* the target's application was told of it, when it started or ended */
	O2_ENDPOINTS_DROPPED,
};

/* What a case may do to a pair of endpoints so that operations between them may fail. */
enum o2_endpoints_cause {
	O2_ENDPOINTS_BY_NETWORK = 1u << 0, /* a message of the connection manager was not delivered */
	O2_ENDPOINTS_BY_KILL = 1u << 1,	   /* a queue pair has failed */
	O2_ENDPOINTS_BY_CLOSE = 1u << 2,   /* one endpoint was told to close the other */
	O2_ENDPOINTS_BY_LEAVE = 1u << 3,   /* one of them has left, and may have come back */
	O2_ENDPOINTS_BY_TIME = 1u << 4,	   /* time has passed in which no event could be handled */
	O2_ENDPOINTS_BY_DEVICE = 1u << 5,  /* a completion queue could not be armed, or not be polled then */
	O2_ENDPOINTS_ANY = (1u << 6) - 1,
};

/* Memory that an endpoint offers, with the model's state of it. */
struct o2_endpoints_entry {
	bool attached;
	int index; /* index returned when it was attached */
	uint64_t order;
	bool closed; /* it is detached as soon as it is unused */
	bool gone;   /* it unlinked itself since the last rest */
	struct o2_lnet_entry entry;
	struct o2_op_memory memory;
	uint32_t takes; /* requests that it has taken */
	/* Without a remote offset: start of the next request as of the last rest, and what was taken since. */
	uint64_t local_offset;
	uint32_t ntaken;
	struct {
		uint64_t offset, length_bytes;
	} taken[O2_ENDPOINTS_TAKES];
};

/*
 * An answer that the case has given to an operation, and that counts: it is the first.  The payload of a REPLY in a
 * message is zeros; a REPLY by RDMA writes nothing.
 */
struct o2_endpoints_answer {
	bool given;
	bool by_rdma;
	int status; /* of a REPLY; -EMSGSIZE: of more bytes than the sink has room for; -EIO: its transfer has failed */
	uint64_t bytes;
};

/* What an operation's initiator is told. */
struct o2_endpoints_outcome {
	int status;
	uint64_t length_bytes;
};

struct o2_endpoints_op {
	enum o2_endpoints_kind kind;
	uint32_t to;
	uint32_t bytes;
	uint32_t portal;
	uint64_t match_bits;
	uint64_t offset;
	bool ack;
	uint32_t pid;	     /* PID of the target; 0: the kernel's */
	uint32_t timeout_ms; /* its own time-out; 0: the configured one */
	bool cancelled;	     /* the case has cancelled it */
	struct o2_endpoints_answer answer;
	uint32_t follow; /* how many operations to start in turn, each from the last one's `done` */
	bool followed;	 /* it was started from another operation's `done` */
	struct o2_op_memory memory;
	uint64_t operation, interface_cookie; /* the identifiers that answers carry */
	uint64_t started_ms;
	bool started;
	uint32_t causes; /* causes (enum o2_endpoints_cause) while it was open */
	bool clash;	 /* an open operation used the same bytes of an entry, and one of the two writes */
	/* At its initiator: */
	uint32_t ended;
	int status;
	uint64_t length_bytes;
	struct o2_transfer_fault fault;
	bool has_fault;
	uint64_t step_ms; /* by how much the clock had advanced at last */
	/* At its target: */
	uint32_t life_there; /* the target's life when the request was seen there */
	enum o2_endpoints_there there;
	const char *rule; /* DROPPED */
	uint32_t entry;	  /* TAKEN */
	uint64_t offset_there, length_there;
	uint32_t begun, ended_there; /* how often it was reported */
	uint64_t request;
	int status_there;
	bool acknowledged; /* TAKEN: an ACK was due if one was requested */
	bool judged;	   /* checked: both ends agree, and the bytes are right */
};

/* A stray header: while it is being handled, a header that is dropped is this one. */
struct o2_endpoints_stray {
	bool expected, dropped;
	struct o2_error error;
	struct o2_transfer_memory memory; /* where it is to write to, under this tag */
	uint64_t tag;
};

struct o2_endpoints_seat {
	struct o2_endpoints *endpoints;
	uint32_t index;
	uint32_t address;
	struct o2_place place;
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
	bool open;    /* the endpoint is open */
	bool closing; /* the endpoint is being closed */
	/* sleeper: completions make events.  asleep: it found nothing to do; the next completion makes an event. */
	bool sleeper, asleep;
	struct o2_node_config node_config;
	struct o2_lnet_config lnet_config;
	uint32_t life;
	uint64_t number[O2_ENDPOINTS_STARTED]; /* numbers of all operations of this life */
	uint32_t nstarted;
	uint32_t nops, nlarge;
	struct o2_endpoints_op op[O2_ENDPOINTS_OPS];
	struct o2_endpoints_entry entry[O2_ENDPOINTS_ENTRIES];
	uint64_t next_order;
	struct o2_work_ops work_ops;
	struct o2_endpoints_stray stray;
	uint32_t downs; /* connections that went down or could not be made */
	struct o2_transfer_fault fault;
};

/* An action to perform once this endpoint has posted a message of this type. */
struct o2_endpoints_trap {
	bool armed, sprung;
	uint32_t at, victim;
	uint8_t type;
	uint32_t after; /* further messages of the type to let pass first */
	uint32_t action;
};

struct o2_endpoints {
	struct o2_endpoints_run *run;
	struct o2_choice *choice;
	struct o2_report *report;
	struct o2_ground ground;
	struct o2_arenas arenas; /* memory arenas, shared by all cases */
	struct o2_endpoints_seat seat[O2_ENDPOINTS_MAX];
	uint32_t nseats;
	bool many;    /* as many operations as may be in flight */
	bool trouble; /* the case may harm connections and endpoints, and advance the clock */
	uint32_t cause[O2_ENDPOINTS_MAX][O2_ENDPOINTS_MAX]; /* by pair, since the last rest; symmetric */
	uint64_t exhausted_ms; /* last time at which no event was left to handle */
	uint64_t told_ms;      /* the time that the endpoints were told last */
	uint64_t step_ms;      /* how much later than the time before */
	uint64_t serial;       /* number of the last fill pattern: all differ */
	struct o2_endpoints_trap trap;
};

static inline void o2_endpoints_seen(struct o2_endpoints *endpoints, enum o2_endpoints_situation what)
{
	endpoints->run->tally.seen[what]++;
}

static inline uint64_t o2_endpoints_nid(const struct o2_endpoints *endpoints, uint32_t i)
{
	return 0x0005000000000000ull | endpoints->seat[i].address;
}

/* Index of the endpoint with this NID; nseats: none. */
static inline uint32_t o2_endpoints_index(const struct o2_endpoints *endpoints, uint64_t nid)
{
	uint32_t i = 0;

	while (i < endpoints->nseats && o2_endpoints_nid(endpoints, i) != nid)
		i++;
	return i;
}

static inline bool o2_endpoints_is_get(const struct o2_endpoints_op *op)
{
	return op->kind == O2_ENDPOINTS_GET || op->kind == O2_ENDPOINTS_PING;
}

/* Its request asks for a transfer by RDMA. */
static inline bool o2_endpoints_by_rdma(const struct o2_endpoints_op *op)
{
	return op->bytes > O2_IMMEDIATE_MAX;
}

/* True if nothing more is reported for the operation. */
static inline bool o2_endpoints_over(const struct o2_endpoints_op *op)
{
	return !op->started || op->judged;
}

/* endpoints_memory.c: the arena of an endpoint and its content. */
uint32_t o2_endpoints_pages(const struct o2_endpoints *endpoints);
/* Most operations of an endpoint between two rests. */
static inline uint32_t o2_endpoints_most(const struct o2_endpoints *endpoints)
{
	return endpoints->many ? O2_ENDPOINTS_OPS : O2_ENDPOINTS_FEW;
}

void o2_endpoints_lay_lnet(struct o2_endpoints_seat *seat);
void o2_endpoints_draw_entry_memory(struct o2_choice *c, struct o2_endpoints_seat *seat, uint32_t i);
/* Draw memory of op->bytes for a new operation. */
void o2_endpoints_draw_op_memory(struct o2_choice *c, struct o2_endpoints_seat *seat,
				 struct o2_endpoints_op *op);
/* The same, with the layout of another operation's memory. */
void o2_endpoints_same_op_memory(struct o2_endpoints_seat *seat, const struct o2_endpoints_op *like,
				 struct o2_endpoints_op *op);
void o2_endpoints_check_memory(struct o2_endpoints *endpoints);

/* endpoints_model.c: the match table, computed from the case alone. */
bool o2_endpoints_fits(const struct o2_endpoints_seat *initiator, const struct o2_endpoints_op *op,
		       const struct o2_endpoints_seat *target, const struct o2_endpoints_entry *entry);
/* The first of the target's entries that fits a request, or the next after *after; NULL: none. */
struct o2_endpoints_entry *o2_endpoints_next_fit(const struct o2_endpoints_seat *initiator,
						 const struct o2_endpoints_op *op,
						 struct o2_endpoints_seat *target,
						 const struct o2_endpoints_entry *after);
/* Number of the target's entry that took a request; O2_ENDPOINTS_ENTRIES: no existing one. */
uint32_t o2_endpoints_entry_number(const struct o2_lnet_event *event);
/* Check that the entry may have taken that much of the request, or that this rule may have dropped it. */
void o2_endpoints_take(struct o2_endpoints_seat *initiator, struct o2_endpoints_op *op,
		       const struct o2_lnet_event *event);
void o2_endpoints_drop(struct o2_endpoints_seat *initiator, struct o2_endpoints_op *op,
		       const struct o2_lnet_event *event);
/* At rest: check that some order of all requests since the last rest explains what became of each. */
void o2_endpoints_check_tables(struct o2_endpoints *endpoints);
/* A request has ended in the entry: check that it was unlinked if and only if it had to be. */
void o2_endpoints_check_unlinked(struct o2_endpoints_seat *target, struct o2_endpoints_entry *entry,
				 bool unlinked);
/* At rest: forget the entries that have been unlinked; their numbers are free. */
void o2_endpoints_forget_gone(struct o2_endpoints *endpoints);
/* Mark the operation, and each other open one, if both use the same bytes and one of them writes. */
void o2_endpoints_find_clashes(struct o2_endpoints_seat *seat, struct o2_endpoints_op *op);

/* endpoints_offer.c: attaches and detaches entries. */
void o2_endpoints_offer_lnet(struct o2_endpoints_seat *seat);
void o2_endpoints_attach(struct o2_endpoints_seat *seat);
void o2_endpoints_detach(struct o2_endpoints_seat *seat);
/* Number of PUTs that have begun and not ended: each uses the entry. */
uint32_t o2_endpoints_users(const struct o2_endpoints_seat *seat, uint32_t number);

/* endpoints_op.c: draws and starts operations. */
void o2_endpoints_start(struct o2_endpoints *endpoints, struct o2_endpoints_seat *seat, uint32_t to);
/* At rest: ping one endpoint often enough that a counter of 8 bits wraps around. */
void o2_endpoints_ping_on(struct o2_endpoints *endpoints);
/* An open operation of this endpoint: the drawn one, or the next after it; NULL: none. */
struct o2_endpoints_op *o2_endpoints_draw_open(struct o2_endpoints_seat *seat);
void o2_endpoints_cancel(struct o2_endpoints_seat *seat);
void o2_endpoints_follow(struct o2_endpoints_seat *seat, const struct o2_endpoints_op *op);

/* endpoints_stray.c: headers addressed to no endpoint, or not from the connection's peer. */
void o2_endpoints_stray(struct o2_endpoints *endpoints);
/* Hand the header to the endpoint; its payload is zeros.  by_rdma: it asks where to write to, or to read from. */
int o2_endpoints_deliver_stray(struct o2_endpoints_seat *seat, uint64_t nid, const struct o2_lnet_hdr *hdr,
			       bool by_rdma, struct o2_error *error);
/* The error that an answer is dropped with if nothing waits for it. */
struct o2_error o2_endpoints_unknown_handle(uint64_t number);
bool o2_endpoints_stray_is(const struct o2_error *error, const struct o2_error *expected);
void o2_endpoints_stray_differs(const struct o2_endpoints *endpoints, const char *what,
				const struct o2_error *error, const struct o2_error *expected);

/* endpoints_answer.c: answers of the case, and what they make of an operation. */
/* Deliver the REPLY to an operation that has ended once more, while others may wait for theirs. */
void o2_endpoints_late_reply(struct o2_endpoints_seat *seat, uint32_t from, uint64_t number);
/* Answer an open operation as only a wrong peer does, or with fewer bytes than it asks for. */
void o2_endpoints_answer_wrongly(struct o2_endpoints_seat *seat);
/* Of an operation with such an answer, if the case has caused no failure: what its initiator is told. */
struct o2_endpoints_outcome o2_endpoints_foretell_answered(const struct o2_endpoints_op *op);
/* True if the fault matches the status. */
bool o2_endpoints_answer_blamed(const struct o2_endpoints_op *op);
/* True if the answer has settled how the operation ends, whatever its target has seen. */
bool o2_endpoints_is_settled(const struct o2_endpoints_op *op);
void o2_endpoints_count_answered(struct o2_endpoints *endpoints, const struct o2_endpoints_op *op);
/* The sink of a GET: from here on the answer's bytes are expected in it. */
void o2_endpoints_expect_answer(const struct o2_endpoints_op *op, struct o2_report *report);

/* endpoints_judge.c: checks of what an application is told. */
extern const struct o2_lnet_ops o2_endpoints_ops;
/* The endpoint's own operation that answers name so; NULL: none since the last rest. */
struct o2_endpoints_op *o2_endpoints_by_handle(struct o2_endpoints_seat *seat, struct o2_lnet_handle handle);
void o2_endpoints_check_ops(struct o2_endpoints *endpoints);

/* endpoints_cause.c: which failures are permitted, and how they are reported. */
void o2_endpoints_blame(struct o2_endpoints *endpoints, uint32_t i, uint32_t j,
			enum o2_endpoints_cause cause);
void o2_endpoints_blame_all(struct o2_endpoints *endpoints, uint32_t i, enum o2_endpoints_cause cause);
/* At rest: clear all causes, so that they explain no later failure. */
void o2_endpoints_forgive(struct o2_endpoints *endpoints);
/* Do these causes explain that an operation ends with this status and fault? */
bool o2_endpoints_foretold(uint32_t causes, int status, const struct o2_transfer_fault *fault);
/* Do they explain that a connection goes down with this fault? */
bool o2_endpoints_may_go_down(uint32_t causes, const struct o2_transfer_fault *fault);

/* endpoints_wire.c: checks a message that this endpoint posts. */
void o2_endpoints_check_posted(struct o2_endpoints_seat *seat, const uint8_t *bytes);

/* endpoints_trap.c: performs an action at a chosen step of a transfer. */
void o2_endpoints_watch(struct o2_endpoints_seat *seat);
void o2_endpoints_set_trap(struct o2_endpoints *endpoints, uint32_t at, uint32_t victim);
/* Perform the trap's action if it is due. */
void o2_endpoints_spring(struct o2_endpoints *endpoints);

/* endpoints_rest.c: advances the clock, and brings a case to rest. */
void o2_endpoints_clock(struct o2_endpoints *endpoints, uint64_t ms);
/* Run until no event is left that does not need time to pass. */
void o2_endpoints_exhaust(struct o2_endpoints *endpoints);
/* Run until all is at rest, and check the state. */
void o2_endpoints_settle(struct o2_endpoints *endpoints);
/* One pass of an endpoint's loop between two sleeps.  Returns the number of events handled. */
int o2_endpoints_look(struct o2_endpoints_seat *seat);
/* An event other than a completion occurred: wake all endpoints. */
void o2_endpoints_wake(struct o2_endpoints *endpoints);
/* Let `ms` pass without any operation. */
void o2_endpoints_idle(struct o2_endpoints *endpoints, uint64_t ms);
/* Check that all resources of all interfaces are idle again. */
void o2_endpoints_check_idle(struct o2_endpoints *endpoints);

/* endpoints_world.c: opens, closes, reopens and destroys endpoints. */
void o2_endpoints_open(struct o2_endpoints *endpoints);
void o2_endpoints_leave(struct o2_endpoints_seat *seat);
void o2_endpoints_return(struct o2_endpoints_seat *seat);
/* True if there was a connection, or an attempt, to end. */
bool o2_endpoints_kill(struct o2_endpoints_seat *seat, uint32_t to);
bool o2_endpoints_fail_arm(struct o2_endpoints_seat *seat, uint32_t to);
bool o2_endpoints_close_peer(struct o2_endpoints_seat *seat, uint32_t to, int code);
void o2_endpoints_close(struct o2_endpoints *endpoints);

#endif
