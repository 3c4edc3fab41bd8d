/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_ENDPOINTS_INTERNAL_H
#define O2_PROPS_ENDPOINTS_INTERNAL_H

#include "lnet/endpoint.h"
#include "props/engine/report.h"
#include "props/lnet/endpoints.h"
#include "props/world/memory.h"
#include "props/world/place.h"

#define O2_ENDPOINTS_MAX	 4u
#define O2_ENDPOINTS_OPS	 255u /* of each endpoint, from one rest to the next */
#define O2_ENDPOINTS_FEW	 24u  /* of them where the case does not have many */
#define O2_ENDPOINTS_ENTRIES	 8u   /* of an endpoint's table, those of pings included */
#define O2_ENDPOINTS_LNET	 2u   /* of them LNet's own, and pages of LNet's own */
#define O2_ENDPOINTS_ENTRY_PAGES 4u
#define O2_ENDPOINTS_OP_PAGES	 3u
#define O2_ENDPOINTS_LINE_BYTES	 64u /* of a page, for a small operation */
#define O2_ENDPOINTS_TAKES	 1024u
#define O2_ENDPOINTS_STARTED	 4096u /* operations of a life whose numbers are looked at */
#define O2_ENDPOINTS_INFO_BYTES	 48u   /* of the answer to a ping */

/* What an operation does. */
enum o2_endpoints_kind {
	O2_ENDPOINTS_PUT,
	O2_ENDPOINTS_GET,
	O2_ENDPOINTS_PING,
	O2_ENDPOINTS_PUSH,
	O2_ENDPOINTS_KINDS,
};

/* What became of a request at its target. */
enum o2_endpoints_there {
	O2_ENDPOINTS_UNSEEN,
	O2_ENDPOINTS_TAKEN, /* the target's application was told of it, at its start or its end */
	O2_ENDPOINTS_DROPPED,
};

/* What a case does to a pair of endpoints so that operations between them may fail. */
enum o2_endpoints_cause {
	O2_ENDPOINTS_BY_NETWORK = 1u << 0, /* a message of the connection manager was not delivered */
	O2_ENDPOINTS_BY_KILL = 1u << 1,	   /* a queue pair has failed */
	O2_ENDPOINTS_BY_CLOSE = 1u << 2,   /* one was told to close the other */
	O2_ENDPOINTS_BY_LEAVE = 1u << 3,   /* one of them has left, and may have come back */
	O2_ENDPOINTS_BY_TIME = 1u << 4,	   /* time has passed, and nothing could happen meanwhile */
	O2_ENDPOINTS_ANY = (1u << 5) - 1,
};

/* Memory that an endpoint offers, and what the model knows of it. */
struct o2_endpoints_entry {
	bool attached;
	int index; /* that attaching returned */
	uint64_t order;
	bool closed; /* it is to go when it is not in use any more */
	bool gone;   /* it has gone by itself, since the last rest */
	struct o2_lnet_entry entry;
	struct o2_op_memory memory;
	uint32_t takes; /* requests that it has taken */
	/* Without a remote offset: where the next begins, as of the last rest, and what was taken since. */
	uint64_t local_offset;
	uint32_t ntaken;
	struct {
		uint64_t offset, length_bytes;
	} taken[O2_ENDPOINTS_TAKES];
};

struct o2_endpoints_op {
	enum o2_endpoints_kind kind;
	uint32_t to;
	uint32_t bytes;
	uint32_t portal;
	uint64_t match_bits;
	uint64_t offset;
	bool ack;
	uint32_t pid;	     /* of the target; 0: the kernel's */
	uint32_t timeout_ms; /* its own; 0: the configured one */
	bool cancelled;	     /* it was asked to end */
	uint32_t follow;     /* operations that are started from its done, and from theirs */
	bool followed;	     /* it was started from another's done */
	struct o2_op_memory memory;
	uint64_t operation, interface_cookie; /* what names it in answers */
	uint64_t started_ms;
	bool started;
	uint32_t causes; /* what the case has brought about while it was open */
	bool clash; /* another one that was open had the same bytes of an entry, and one of them writes */
	/* At its initiator: */
	uint32_t ended;
	int status;
	uint64_t length_bytes;
	struct o2_transfer_fault fault;
	bool has_fault;
	/* At its target: */
	uint32_t life_there; /* of the target, when it was seen there */
	enum o2_endpoints_there there;
	const char *rule; /* DROPPED */
	uint32_t entry;	  /* TAKEN */
	uint64_t offset_there, length_there;
	uint32_t begun, ended_there; /* how often */
	uint64_t request;
	int status_there;
	bool acknowledged; /* TAKEN: with an ACK, if one was asked for */
	bool judged;	   /* the two ends agree, and the bytes are right */
};

/* A header that is nobody's: while it is looked at, what is dropped is that. */
struct o2_endpoints_stray {
	bool expected, dropped;
	struct o2_error error;
};

struct o2_endpoints_seat {
	struct o2_endpoints *endpoints;
	uint32_t index;
	uint32_t address;
	struct o2_place place;
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
	bool open;    /* the endpoint is */
	bool closing; /* it is being closed */
	/* It may sleep: completions make events; and it does: nothing was to be done, and each will make one. */
	bool sleeper, asleep;
	struct o2_node_config node_config;
	struct o2_lnet_config lnet_config;
	uint32_t life;
	uint64_t number[O2_ENDPOINTS_STARTED]; /* of all operations of this life */
	uint32_t nstarted;
	uint32_t nops, nlarge;
	struct o2_endpoints_op op[O2_ENDPOINTS_OPS];
	struct o2_endpoints_entry entry[O2_ENDPOINTS_ENTRIES];
	uint64_t next_order;
	struct o2_work_ops work_ops;
	struct o2_endpoints_stray stray;
	uint32_t downs; /* connections that went down, or were not made */
	struct o2_transfer_fault fault;
};

/* What will be done once a message of this type is posted by this endpoint. */
struct o2_endpoints_trap {
	bool armed, sprung;
	uint32_t at, victim;
	uint8_t type;
	uint32_t after; /* so many more of them */
	uint32_t action;
};

struct o2_endpoints {
	struct o2_endpoints_run *run;
	struct o2_choice *choice;
	struct o2_report *report;
	struct o2_ground ground;
	struct o2_arenas arenas; /* of all cases */
	struct o2_endpoints_seat seat[O2_ENDPOINTS_MAX];
	uint32_t nseats;
	bool many;    /* operations: as many as may be in flight */
	bool trouble; /* the case may do harm: to connections, to endpoints, and by the clock */
	uint32_t cause[O2_ENDPOINTS_MAX][O2_ENDPOINTS_MAX]; /* of each pair since the last rest; both ways */
	uint64_t exhausted_ms; /* when nothing was left to happen for the last time */
	uint64_t serial;       /* of fills: no two are the same */
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

/* The endpoint with this NID; nseats: none. */
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

/* Nobody will hear of it any more. */
static inline bool o2_endpoints_over(const struct o2_endpoints_op *op)
{
	return !op->started || op->judged;
}

/* endpoints_memory.c: the arena of an endpoint, and what is in it. */
uint32_t o2_endpoints_pages(const struct o2_endpoints *endpoints);
/* How many operations an endpoint may have from one rest to the next. */
static inline uint32_t o2_endpoints_most(const struct o2_endpoints *endpoints)
{
	return endpoints->many ? O2_ENDPOINTS_OPS : O2_ENDPOINTS_FEW;
}

void o2_endpoints_lay_lnet(struct o2_endpoints_seat *seat);
void o2_endpoints_draw_entry_memory(struct o2_choice *c, struct o2_endpoints_seat *seat, uint32_t i);
/* Memory of a new operation of op->bytes. */
void o2_endpoints_draw_op_memory(struct o2_choice *c, struct o2_endpoints_seat *seat,
				 struct o2_endpoints_op *op);
/* The same, like that of another one. */
void o2_endpoints_same_op_memory(struct o2_endpoints_seat *seat, const struct o2_endpoints_op *like,
				 struct o2_endpoints_op *op);
void o2_endpoints_check_memory(struct o2_endpoints *endpoints);

/* endpoints_model.c: the match table, worked out from the case alone. */
bool o2_endpoints_fits(const struct o2_endpoints_seat *initiator, const struct o2_endpoints_op *op,
		       const struct o2_endpoints_seat *target, const struct o2_endpoints_entry *entry);
/* The first, or the next behind *after, of the target's entries that a request fits; NULL: none. */
struct o2_endpoints_entry *o2_endpoints_next_fit(const struct o2_endpoints_seat *initiator,
						 const struct o2_endpoints_op *op,
						 struct o2_endpoints_seat *target,
						 const struct o2_endpoints_entry *after);
/* Which of the target's entries has taken a request; O2_ENDPOINTS_ENTRIES: none that there is. */
uint32_t o2_endpoints_entry_number(const struct o2_lnet_event *event);
/* May the target's entry have taken so much of it, or the request been dropped by this rule? */
void o2_endpoints_take(struct o2_endpoints_seat *initiator, struct o2_endpoints_op *op,
		       const struct o2_lnet_event *event);
void o2_endpoints_drop(struct o2_endpoints_seat *initiator, struct o2_endpoints_op *op,
		       const struct o2_lnet_event *event);
/* At rest: is there an order of all requests since the last one that explains what became of each? */
void o2_endpoints_check_tables(struct o2_endpoints *endpoints);
/* The entry that a request has ended in: has it gone if and only if it had to? */
void o2_endpoints_check_unlinked(struct o2_endpoints_seat *target, struct o2_endpoints_entry *entry,
				 bool unlinked);
/* At rest: what was to go has gone; its number is free. */
void o2_endpoints_forget_gone(struct o2_endpoints *endpoints);
/* Other open operations of which one writes where the other writes or reads. */
void o2_endpoints_find_clashes(struct o2_endpoints_seat *seat, struct o2_endpoints_op *op);

/* endpoints_offer.c: entries come and go. */
void o2_endpoints_offer_lnet(struct o2_endpoints_seat *seat);
void o2_endpoints_attach(struct o2_endpoints_seat *seat);
void o2_endpoints_detach(struct o2_endpoints_seat *seat);
/* PUTs that have begun and not ended: they use the entry. */
uint32_t o2_endpoints_users(const struct o2_endpoints_seat *seat, uint32_t number);

/* endpoints_op.c: operations are drawn and started. */
void o2_endpoints_start(struct o2_endpoints *endpoints, struct o2_endpoints_seat *seat, uint32_t to);
/* At rest: so many pings of one endpoint, one after the other, that a counter of 8 bits goes round. */
void o2_endpoints_ping_on(struct o2_endpoints *endpoints);
void o2_endpoints_cancel(struct o2_endpoints_seat *seat);
void o2_endpoints_follow(struct o2_endpoints_seat *seat, const struct o2_endpoints_op *op);

/* endpoints_stray.c: a header that is not for one of them, or not from its peer. */
void o2_endpoints_stray(struct o2_endpoints *endpoints);
/* A REPLY to an operation that has ended comes once more, whoever waits for one now. */
void o2_endpoints_late_reply(struct o2_endpoints_seat *seat, uint32_t from, uint64_t number);

/* endpoints_judge.c: what an application is told. */
extern const struct o2_lnet_ops o2_endpoints_ops;
void o2_endpoints_check_ops(struct o2_endpoints *endpoints);

/* endpoints_cause.c: what may fail, and how. */
void o2_endpoints_blame(struct o2_endpoints *endpoints, uint32_t i, uint32_t j,
			enum o2_endpoints_cause cause);
void o2_endpoints_blame_all(struct o2_endpoints *endpoints, uint32_t i, enum o2_endpoints_cause cause);
/* At rest: what has been is no cause of what comes. */
void o2_endpoints_forgive(struct o2_endpoints *endpoints);
/* Does one of these causes foretell that an operation ends so? */
bool o2_endpoints_foretold(uint32_t causes, int status, const struct o2_transfer_fault *fault);
/* ... and that a connection does? */
bool o2_endpoints_may_go_down(uint32_t causes, const struct o2_transfer_fault *fault);

/* endpoints_wire.c: a message that this endpoint posts. */
void o2_endpoints_check_posted(struct o2_endpoints_seat *seat, const uint8_t *bytes);

/* endpoints_trap.c: at a step of a transfer. */
void o2_endpoints_watch(struct o2_endpoints_seat *seat);
void o2_endpoints_set_trap(struct o2_endpoints *endpoints, uint32_t at, uint32_t victim);
/* Do what was to be done, if it is time. */
void o2_endpoints_spring(struct o2_endpoints *endpoints);

/* endpoints_rest.c: time, and how a case comes to rest. */
void o2_endpoints_clock(struct o2_endpoints *endpoints, uint64_t ms);
/* Until nothing more happens without time. */
void o2_endpoints_exhaust(struct o2_endpoints *endpoints);
/* Until all is at rest, and is as it should be. */
void o2_endpoints_settle(struct o2_endpoints *endpoints);
/* What an endpoint does between two sleeps.  Returns how much that was. */
int o2_endpoints_look(struct o2_endpoints_seat *seat);
/* Something else than a completion has happened: nobody sleeps. */
void o2_endpoints_wake(struct o2_endpoints *endpoints);
/* Nobody has anything to say for so long. */
void o2_endpoints_idle(struct o2_endpoints *endpoints, uint64_t ms);
/* Have all interfaces everything back? */
void o2_endpoints_check_idle(struct o2_endpoints *endpoints);

/* endpoints_world.c: makes, closes, opens and ends them. */
void o2_endpoints_open(struct o2_endpoints *endpoints);
void o2_endpoints_leave(struct o2_endpoints_seat *seat);
void o2_endpoints_return(struct o2_endpoints_seat *seat);
void o2_endpoints_kill(struct o2_endpoints_seat *seat, uint32_t to);
void o2_endpoints_close_peer(struct o2_endpoints_seat *seat, uint32_t to, int code);
void o2_endpoints_close(struct o2_endpoints *endpoints);

#endif
