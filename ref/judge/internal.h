/* SPDX-License-Identifier: MIT */
#ifndef O2_JUDGE_INTERNAL_H
#define O2_JUDGE_INTERNAL_H

#include <sys/queue.h>

#include "judge/judge.h"
#include "wire/msg_type.h"

#define O2_JUDGE_TOLD_MAX	64u /* rejects that the judge remembers, over all nodes */
#define O2_JUDGE_ENDED_MAX	32u /* ended descriptors that are remembered for a side */
#define O2_JUDGE_WAITING_MAX	8u  /* findings of a side that wait for proof */
#define O2_JUDGE_UNHEARD_MAX	8u  /* handles of requests of a side that were not heard, but answered */
#define O2_JUDGE_STRAYS_MAX	16u /* of a side: what the other one sends for messages that were not heard */
#define O2_JUDGE_HANDLE_MAX	64u /* PUTs and GETs of a side that LNet must answer (ACK or REPLY) */
#define O2_JUDGE_FORGOTTEN_BITS 65536u

#define O2_JUDGE_PUTS_MAX 32u /* PUTs of a side whose target memory is remembered */

/* A range of the memory that a node, which may be behind a router, offers to LNet. */
struct o2_judge_place {
	uint64_t target; /* NID of that node */
	uint32_t portal;
	uint64_t match_bits, offset, bytes;
};

/* A PUT, and the memory that it writes. */
struct o2_judge_put {
	uint64_t number; /* event number of its request; 0: this entry is unused */
	struct o2_judge_place place;
	uint64_t stream;
	bool ended; /* the PUT has completed and has written all of its bytes */
	bool mixed; /* when it began, another PUT to the same memory was still open */
};

#define O2_JUDGE_WRITTEN_BITS 8u

/* What PUTs may have written: bytes of [low, high), the last one with the event of that number; 0: nothing. */
struct o2_judge_range {
	uint64_t low, high, number;
};

/* The same of all places that share this entry. */
struct o2_judge_written {
	uint64_t writer;	    /* id of the connection that the last PUT came over */
	struct o2_judge_range last; /* over that connection, since another one */
	struct o2_judge_range before;
};

/* Compares the bytes of a PUT or a GET with o2ref's byte pattern (base/stream.h), if they follow it at all. */
struct o2_judge_pattern {
	bool known;		 /* stream and offset are valid: the bytes can be compared */
	bool carried;		 /* enough bytes matched: the sender does use the pattern */
	bool said;		 /* a finding was reported */
	uint64_t stream, offset; /* where in the pattern the first byte stands */
	uint64_t looked;	 /* bytes compared so far */
	/* The first byte that differs.  It is reported only once `carried` is set. */
	bool wrong;
	const char *field;
	uint32_t at;
	uint64_t is, expected;
	struct o2_judge_place place;
};

enum o2_transfer_step {
	O2_TRANSFER_PUT_ASKED, /* PUT_REQ was sent; PUT_ACK or PUT_NAK is due */
	O2_TRANSFER_PUT_OPEN, /* PUT_ACK was sent; WRITEs and PUT_DONE are due, from the side that sent PUT_REQ */
	O2_TRANSFER_GET_OPEN, /* GET_REQ was sent; WRITEs and GET_DONE are due */
};

#define O2_JUDGE_HOLES_MAX 8u /* holes that are remembered for a transfer */

/* Bytes [from, to) of a transfer that were skipped when bytes behind them were written. */
struct o2_judge_hole {
	uint64_t from, to;
};

/* A transfer from its request to the message that ends it. */
struct o2_judge_transfer {
	TAILQ_ENTRY(o2_judge_transfer) link;
	enum o2_transfer_step step;
	bool late;   /* transfer/unanswered was reported */
	bool shared; /* a WRITE may have been for another open transfer: what was written here is not known */
	bool unsure; /* its WRITEs, and what ended it, may have been missed */
	bool is_reply;		  /* a PUT_REQ with LNet's REPLY: its pattern is that of the GET */
	uint64_t number, time_ns; /* of the request; once a PUT_ACK has come, of the PUT_ACK */
	bool undated;	 /* that message had no time: time_ns will be that of the next event that has one */
	uint64_t cookie; /* of the side that sent the request */
	uint64_t sink_cookie; /* PUT_OPEN: the cookie of the sink */
	uint64_t asked_bytes; /* PUT: bytes that the source offers; GET: bytes that the sink has room for */
	uint64_t put;	      /* number of the PUT_REQ */
	struct o2_judge_pattern pattern;
	/* The sink's descriptor: PUT_OPEN, GET_OPEN. */
	uint32_t rkey, nfrags;
	uint64_t sink_bytes;
	uint64_t low, high; /* all of its fragments lie in [low, high) */
	uint64_t written_bytes;
	uint32_t at_frag; /* where the next WRITE should begin: just behind the last byte written */
	uint32_t at_byte;
	struct o2_judge_hole hole[O2_JUDGE_HOLES_MAX]; /* skipped bytes before that position */
	uint32_t nholes;
	bool more_holes;	   /* holes were dropped for lack of room: a byte may be in one of them */
	struct o2_rdma_frag *frag; /* nfrags, owned */
};

/* Does [low, high) overlap the range between the sink's lowest and highest byte? */
static inline bool o2_judge_near(const struct o2_judge_transfer *transfer, uint64_t low, uint64_t high)
{
	return low < transfer->high && transfer->low < high;
}

TAILQ_HEAD(o2_judge_transfers, o2_judge_transfer);

/* An answer that LNet expects: an ACK for a PUT, a REPLY for a GET. */
struct o2_judge_handle {
	bool used, is_get;
	bool direct; /* the receiver of the message is LNet's target; else a router, and the target may take less */
	struct o2_lnet_handle handle;
	uint64_t number;
	bool exact; /* the number of bytes moved is known; else `bytes` is an upper limit */
	uint64_t bytes;
	struct o2_judge_pattern pattern; /* GET only */
};

/* Memory whose transfer has ended. */
struct o2_judge_ended {
	uint32_t rkey;
	uint64_t number; /* event number of the message that ended it; 0: this entry is unused */
};

struct o2_judge_stray_write {
	uint64_t number, addr;
	uint32_t rkey;
};

/*
 * What the other side has sent since this side's last message or WRITE, and that fits nothing which was heard: cookies
 * of answers, and WRITEs.  The first ones are kept, all are counted.  A known loss ends nothing: of what was missed, the
 * last may still come again.
 */
struct o2_judge_strays {
	uint64_t answer[O2_JUDGE_STRAYS_MAX];
	struct o2_judge_stray_write write[O2_JUDGE_STRAYS_MAX];
	uint32_t nanswers, nwrites;
	uint64_t last; /* event number of the last WRITE, kept or not */
};

struct o2_judge_end {
	uint64_t nid, stamp;	/* 0: not known */
	bool named;		/* the side has named them itself; else the other side has */
	uint32_t max_msg_bytes; /* the largest message that this side receives; 0: not known */
	/* As a sender. */
	uint64_t last_message_ns; /* 0: none yet */
	bool disconnected;
	uint64_t summed; /* event number of this side's first message with a checksum; 0: none */
	bool writes_unseen;
	uint32_t empty_noops; /* NOOPs that gave no credit, in the second that began at empty_noops_ns */
	uint64_t empty_noops_ns;
	/* Credits: messages of this side that took one, and credits that the other side has given to it. */
	uint64_t taken, given;
	int64_t least, most;	 /* extremes of given - taken since the account began */
	uint32_t accepted;	 /* PUT_REQs of this side that have a PUT_ACK but no PUT_DONE yet */
	bool empty;		 /* this side has no credit, and the other side owes it all of them */
	uint64_t empty_since_ns; /* when `empty` became true */
	bool empty_undated;	 /* as in a transfer */
	bool withheld_said;
	/* Transfers that this side requested, ordered by the time of their last step, the oldest first. */
	struct o2_judge_transfers open;
	uint32_t nopen, unanswered; /* unanswered: those without PUT_ACK, PUT_NAK or GET_DONE */
	uint32_t nasked;	    /* open transfers in step O2_TRANSFER_PUT_ASKED */
	/* Ended descriptors of this side, and its PUTs and GETs that LNet must answer. */
	struct o2_judge_ended ended[O2_JUDGE_ENDED_MAX];
	struct o2_judge_handle handle[O2_JUDGE_HANDLE_MAX];
	struct o2_judge_put put[O2_JUDGE_PUTS_MAX];
	uint32_t next_ended, next_handle, next_put;
	uint32_t nhandles; /* those of handle[] that are used */
	/* Handles of requests of this side that were not heard, but answered since its last message or WRITE. */
	struct o2_lnet_handle unheard[O2_JUDGE_UNHEARD_MAX];
	uint32_t nunheard; /* those beyond the array are counted only */
	struct o2_judge_strays strays;
	bool forgot_puts; /* PUTs were dropped from put[] for lack of room */
	uint64_t messages, writes, write_bytes;
	/* Findings that hold only if no event of this side was missed; they wait for this side's next event. */
	struct o2_judge_finding waiting[O2_JUDGE_WAITING_MAX];
	uint32_t nwaiting;
};

/* The nodes that a message names, and its version. */
struct o2_judge_naming {
	uint64_t nid[O2_JUDGE_SIDES], stamp[O2_JUDGE_SIDES];
	uint16_t version;
};

struct o2_judge_conn {
	LIST_ENTRY(o2_judge_conn) link;
	uint64_t id, heard; /* as in o2_judge_view */
	bool whole;	    /* every event is seen: what was not heard did not happen */
	bool exact;	    /* the exact credits of both sides are known; else only bounds */
	bool one_way;	    /* only one side's messages are seen */
	/* version_sure: it was negotiated, or both sides use it.  Else only `versioner` has used it. */
	bool version_sure;
	enum o2_judge_side versioner;
	/* Events were lost, and no message has matched this connection since: the queue pairs may be reused. */
	bool doubtful;
	bool is_told; /* `teller` sent a message with other names: `other` */
	enum o2_judge_side teller;
	struct o2_judge_naming other;
	uint16_t version;
	uint32_t queue_depth, max_frags; /* 0: not known */
	/* What the CONNREQ asked for. */
	bool asked;
	uint16_t asked_version;
	uint32_t asked_depth, asked_frags;
	uint64_t asked_number;
	uint64_t now_ns;    /* sum of the time between events; never goes back */
	bool clocked;	    /* an event has had a time */
	bool undated;	    /* a transfer, or the time of `empty` of a side, may be undated */
	uint64_t clock_ns;  /* the caller's: the latest time of an event since that clock was set back */
	uint64_t behind_ns; /* how far it was set back in all, until it seems to have been set right */
	struct o2_judge_end end[O2_JUDGE_SIDES];
};

/* What a reject reported to the node that had asked. */
struct o2_judge_told {
	uint64_t asker_nid, asker_stamp, target_nid; /* asker_nid 0: this entry is unused */
	uint8_t why;
	uint32_t queue_depth, max_frags;
	uint64_t number;
};

struct o2_judge {
	struct o2_judge_options options;
	o2_judge_sink sink;
	void *context;
	o2_judge_listener listener; /* NULL: nobody listens */
	void *listener_context;
	uint64_t met; /* number of connections so far */
	uint32_t transfers;
	uint32_t next_told;
	struct o2_judge_told told[O2_JUDGE_TOLD_MAX];
	/* A bit for each handle of a request that was dropped from handle[] without an answer. */
	uint64_t forgotten[O2_JUDGE_FORGOTTEN_BITS / 64];
	struct o2_judge_written written[1u << O2_JUDGE_WRITTEN_BITS];
	LIST_HEAD(, o2_judge_conn) conns;
};

/* An answer that was not seen may have ended the transfer. */
static inline bool o2_judge_may_have_ended(const struct o2_judge_conn *conn,
					   const struct o2_judge_transfer *transfer)
{
	return conn->one_way || transfer->unsure;
}

/* A side has disconnected: transfers are forgotten, and nothing is due any more. */
static inline bool o2_judge_has_ended(const struct o2_judge_conn *conn)
{
	return conn->end[O2_JUDGE_A].disconnected || conn->end[O2_JUDGE_B].disconnected;
}

/* One event on its way through the rules. */
struct o2_judging {
	struct o2_judge *judge;
	struct o2_judge_conn *conn;
	const struct o2_judge_event *event;
	enum o2_judge_side from, to;
};

/* Report that `who` has broken the rule with the current event.  earlier: as in the finding. */
void o2_judge_broken(const struct o2_judging *at, enum o2_judge_rule_id rule, enum o2_judge_side who,
		     uint64_t earlier, const char *field, uint64_t value, uint64_t limit,
		     enum o2_limit_kind kind);
/* The same for the sender and entry `index` of an array; `expected` is the only allowed value. */
void o2_judge_entry_differs(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t earlier,
			    const char *field, uint32_t index, uint64_t value, uint64_t expected);
/* The same for the sender: o2_judge_over() with a bound, o2_judge_differs() with the only allowed value. */
void o2_judge_over(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t earlier,
		   const char *field, uint64_t value, uint64_t limit);
void o2_judge_differs(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t earlier,
		      const char *field, uint64_t value, uint64_t expected);

/* Call o2_judge_differs() if value is not the expected one. */
void o2_judge_expect(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t earlier,
		     const char *field, uint64_t value, uint64_t expected);

/* Report that the codec refuses the sender's message. */
void o2_judge_refused(const struct o2_judging *at);

/* A message of the sender was missed or cannot be decoded: forget all that depends on having seen every one. */
void o2_judge_unseen(const struct o2_judging *at);

/* connect.c */
void o2_judge_request(const struct o2_judging *at);
void o2_judge_reply(const struct o2_judging *at);
void o2_judge_reject(const struct o2_judging *at);

/* message.c */
/* Events of the sender were missed: later messages may be of another connection that reuses the queue pairs. */
void o2_judge_doubt(const struct o2_judging *at);
/* Returns 0 or -ENOMEM. */
int o2_judge_message(const struct o2_judging *at);

/* credits.c */
void o2_judge_credits_start(struct o2_judge_conn *conn);
/* The credits of neither side are known any more: from now on only bounds are judged. */
void o2_judge_credits_unknown(struct o2_judge_conn *conn);
void o2_judge_credits(const struct o2_judging *at);
/* To be called after o2_judge_transfer(): note which sides are now due credits. */
void o2_judge_credits_due(const struct o2_judging *at);
void o2_judge_credits_time(const struct o2_judging *at);
void o2_judge_credits_view(const struct o2_judge_conn *conn, struct o2_judge_view *view);

/* again.c: the sender has answered a message, or written for a descriptor, that was not heard. */
void o2_judge_stray_answer(const struct o2_judging *at, uint64_t cookie);
void o2_judge_stray_write(const struct o2_judging *at);

/* What the strays say of the message of this event. */
enum o2_judge_again {
	O2_JUDGE_NEW,	    /* nothing */
	O2_JUDGE_ANSWERED,  /* it was missed when it came first, and was answered */
	O2_JUDGE_UNDER_WAY, /* the other side may have begun to write for it */
};

enum o2_judge_again o2_judge_comes_again(const struct o2_judging *at);

/* transfer.c */
int o2_judge_transfer(const struct o2_judging *at);
/* Number of the PUT_REQ that waits for this PUT_ACK; 0: none of its receiver does. */
uint64_t o2_judge_put_number(const struct o2_judging *at);
/* What was written before for the transfer of this GET_REQ or PUT_ACK is not known. */
void o2_judge_transfer_unsure(const struct o2_judging *at);
void o2_judge_transfer_time(const struct o2_judging *at);
/* Set the time of those transfers, and of those credits, whose time was not known. */
void o2_judge_transfers_date(struct o2_judge_conn *conn);
void o2_judge_credits_date(struct o2_judge_conn *conn);
/* Forget all transfers of a connection without reporting anything. */
void o2_judge_transfers_drop(struct o2_judge *judge, struct o2_judge_conn *conn);

/* write.c */
void o2_judge_write(const struct o2_judging *at);
void o2_judge_write_part(const struct o2_judging *at);
/* The sender has offered the descriptor of *transfer: report if an open transfer uses its key and memory. */
void o2_judge_key_offered(const struct o2_judging *at, const struct o2_judge_transfer *transfer);

/* lnet.c: record which answer an LNet header asks for, and check each ACK and REPLY against the record. */
void o2_judge_lnet(const struct o2_judging *at, const struct o2_lnet_hdr *hdr);
/* Was this PUT or GET, which comes now, answered since the side's last message or WRITE? */
bool o2_judge_lnet_answered(const struct o2_judge_end *end, const struct o2_lnet_hdr *hdr);
/* The sender asks to move a REPLY by RDMA: the transfer brings what the GET must bring. */
void o2_judge_lnet_reply(const struct o2_judging *at, const struct o2_lnet_hdr *hdr,
			 struct o2_judge_transfer *transfer);
/* The connection ends: its requests may still be answered over another one. */
void o2_judge_lnet_part(struct o2_judge *judge, struct o2_judge_conn *conn);
/* payload.c: set up *pattern for a PUT or GET that the sender requests. */
void o2_judge_payload_put(const struct o2_judging *at, const struct o2_lnet_hdr *hdr,
			  struct o2_judge_pattern *pattern);
void o2_judge_payload_get(const struct o2_judging *at, const struct o2_lnet_hdr *hdr,
			  struct o2_judge_pattern *pattern);
/* The PUT that `from` requested has written all of its bytes.  number: of its request. */
void o2_judge_payload_ended(struct o2_judge_end *from, uint64_t number);
/* PUTs of this side were missed, or may have been: forget what it wrote, and do not compare its open GETs. */
void o2_judge_payload_unseen(struct o2_judge_conn *conn, enum o2_judge_side side);
/* Compare n bytes that the sender moved, at byte `at_byte` of the transfer.  number: of the request. */
void o2_judge_payload_look(const struct o2_judging *at, struct o2_judge_pattern *pattern,
			   enum o2_judge_rule_id rule, uint64_t number, uint64_t at_byte,
			   const uint8_t *bytes, size_t n);

/* A PUT by RDMA has succeeded and moved `bytes`.  number: of its PUT_REQ. */
void o2_judge_lnet_moved(struct o2_judge_end *source, uint64_t number, uint64_t bytes);

#endif
