/* SPDX-License-Identifier: MIT */
#ifndef O2_JUDGE_INTERNAL_H
#define O2_JUDGE_INTERNAL_H

#include <sys/queue.h>

#include "judge/judge.h"
#include "wire/msg_type.h"

#define O2_JUDGE_TOLD_MAX    64u /* rejects that are remembered, of all nodes */
#define O2_JUDGE_ENDED_MAX   32u /* descriptors of a side that have ended */
#define O2_JUDGE_WAITING_MAX 8u	 /* findings that wait for a proof */
#define O2_JUDGE_HANDLE_MAX  64u /* PUTs and GETs of a side for which LNet wants an answer */

#define O2_JUDGE_PUTS_MAX 32u /* PUTs of a side whose place is remembered */

/* A stretch of the memory that a node offers. */
struct o2_judge_place {
	uint32_t portal;
	uint64_t match_bits, offset, bytes;
};

/* A PUT, and the place that it has written. */
struct o2_judge_put {
	uint64_t number; /* of its request; 0: none */
	struct o2_judge_place place;
	uint64_t stream;
	bool ended; /* and all of it has been written */
	bool mixed; /* with what another one writes there, which was open when it began */
};

/* What the bytes of a PUT or a GET are, if they are the pattern's at all. */
struct o2_judge_pattern {
	bool known;
	bool carried; /* they are */
	bool said;
	uint64_t stream, offset; /* of their first */
	uint64_t looked;	 /* bytes, none of which has shown that they are */
	/* The first that is wrong, or of a stretch that stands elsewhere: not told before they are carried. */
	bool wrong;
	const char *field;
	uint32_t at;
	uint64_t is, expected;
	struct o2_judge_place place;
};

enum o2_transfer_step {
	O2_TRANSFER_PUT_ASKED, /* PUT_REQ; PUT_ACK or PUT_NAK is due */
	O2_TRANSFER_PUT_OPEN,  /* PUT_ACK; WRITEs and PUT_DONE are due, from who asked */
	O2_TRANSFER_GET_OPEN,  /* GET_REQ; WRITEs and GET_DONE are due */
};

#define O2_JUDGE_HOLES_MAX 8u /* of a transfer that are remembered */

/* Bytes [from, to) of a transfer that were not written when others behind them were. */
struct o2_judge_hole {
	uint64_t from, to;
};

/* A transfer from its request to the message that ends it. */
struct o2_judge_transfer {
	TAILQ_ENTRY(o2_judge_transfer) link;
	enum o2_transfer_step step;
	bool late;		  /* that it takes too long has been said */
	uint64_t number, time_ns; /* of the request; of the PUT_ACK from then on */
	uint64_t cookie;	  /* of who asked */
	uint64_t sink_cookie;	  /* PUT_OPEN: of the sink */
	uint64_t asked_bytes;	  /* PUT: that the source offers; GET: that the sink has room for */
	uint64_t put;		  /* number of the PUT_REQ */
	struct o2_judge_pattern pattern;
	/* The sink's descriptor: PUT_OPEN, GET_OPEN. */
	uint32_t rkey, nfrags;
	uint64_t sink_bytes;
	uint64_t low, high; /* its fragments lie from here to before there */
	uint64_t written_bytes;
	uint32_t at_frag; /* where the next WRITE belongs: behind all that was written */
	uint32_t at_byte;
	struct o2_judge_hole hole[O2_JUDGE_HOLES_MAX]; /* what was left out before there */
	uint32_t nholes;
	bool more_holes;	   /* there were more than that: what lies there is not known */
	struct o2_rdma_frag *frag; /* nfrags, owned */
};

/* Does a byte of the range lie between the lowest and the highest of the sink? */
static inline bool o2_judge_near(const struct o2_judge_transfer *transfer, uint64_t low, uint64_t high)
{
	return low < transfer->high && transfer->low < high;
}

TAILQ_HEAD(o2_judge_transfers, o2_judge_transfer);

/* What LNet was promised: an ACK for a PUT, a REPLY for a GET. */
struct o2_judge_handle {
	bool used, is_get;
	struct o2_lnet_handle handle;
	uint64_t number;
	bool exact; /* moved bytes are known; else at most so many */
	uint64_t bytes;
	struct o2_judge_pattern pattern; /* GET */
};

/* Memory that was a sink. */
struct o2_judge_ended {
	uint32_t rkey;
	uint64_t number; /* of the message that ended it; 0: none */
};

struct o2_judge_end {
	uint64_t nid, stamp;	/* 0: not known */
	bool named;		/* it has said them itself; else the other side has */
	uint32_t max_msg_bytes; /* the largest message that it takes; 0: not known */
	/* As a sender. */
	uint64_t last_message_ns; /* 0: none yet */
	bool disconnected;
	uint64_t summed; /* number of its first message with a checksum; 0: none */
	bool writes_unseen;
	uint32_t empty_noops; /* in the second that began then */
	uint64_t empty_noops_ns;
	/* Credits: messages of this side that took one, and credit bytes that it was sent. */
	uint64_t taken, given;
	int64_t least, most;	 /* of given - taken, since everything is seen */
	uint32_t accepted;	 /* PUT_REQs of this side with a PUT_ACK and no PUT_DONE */
	bool empty;		 /* it has no credit, and all are owed to it, */
	uint64_t empty_since_ns; /* since then */
	bool withheld_said;
	/* Requests of this side, oldest first: by their last step. */
	struct o2_judge_transfers open;
	uint32_t nopen, unanswered; /* unanswered: without PUT_ACK, PUT_NAK or GET_DONE */
	uint32_t nasked;	    /* of those that are open: O2_TRANSFER_PUT_ASKED */
	/* Descriptors of this side that have ended; keys that LNet wants answers for. */
	struct o2_judge_ended ended[O2_JUDGE_ENDED_MAX];
	struct o2_judge_handle handle[O2_JUDGE_HANDLE_MAX];
	struct o2_judge_put put[O2_JUDGE_PUTS_MAX];
	uint32_t next_ended, next_handle, next_put;
	bool forgot_puts; /* there were more than are remembered */
	uint64_t messages, writes, write_bytes;
	/* Findings, for which nothing may be missing of what this side has sent. */
	struct o2_judge_finding waiting[O2_JUDGE_WAITING_MAX];
	uint32_t nwaiting;
};

/* Between whom a message goes, and in which version. */
struct o2_judge_naming {
	uint64_t nid[O2_JUDGE_SIDES], stamp[O2_JUDGE_SIDES];
	uint16_t version;
};

struct o2_judge_conn {
	LIST_ENTRY(o2_judge_conn) link;
	uint64_t id, heard; /* as in o2_judge_view */
	bool whole;	    /* all of it is seen: what is not known is not there */
	bool exact;	    /* the credits of both sides are known, not only bounds of them */
	bool one_way;	    /* what the other side says is not seen */
	/* The version was agreed, or both sides use it; else versioner does. */
	bool version_sure;
	enum o2_judge_side versioner;
	/* Since something was lost no message was of this connection: they may be of another one that came after. */
	bool doubtful;
	bool is_told; /* of that by a message of `teller` */
	enum o2_judge_side teller;
	struct o2_judge_naming other;
	uint16_t version;
	uint32_t queue_depth, max_frags; /* 0: not known */
	/* What was asked for. */
	bool asked;
	uint16_t asked_version;
	uint32_t asked_depth, asked_frags;
	uint64_t asked_number;
	uint64_t now_ns;   /* goes on by what passes between events: never back */
	bool clocked;	   /* an event has had a time */
	uint64_t clock_ns; /* of the caller: the latest time of an event since that clock was set back */
	struct o2_judge_end end[O2_JUDGE_SIDES];
};

/* What a reject told the node that asked. */
struct o2_judge_told {
	uint64_t asker_nid, asker_stamp, target_nid; /* asker_nid 0: none */
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
	uint64_t met; /* connections */
	uint32_t transfers;
	uint32_t next_told;
	struct o2_judge_told told[O2_JUDGE_TOLD_MAX];
	LIST_HEAD(, o2_judge_conn) conns;
};

/* One event on its way through the rules. */
struct o2_judging {
	struct o2_judge *judge;
	struct o2_judge_conn *conn;
	const struct o2_judge_event *event;
	enum o2_judge_side from, to;
};

/* Report that `who` has broken the rule, by the event at hand.  earlier: as in the finding. */
void o2_judge_broken(const struct o2_judging *at, enum o2_judge_rule_id rule, enum o2_judge_side who,
		     uint64_t earlier, const char *field, uint64_t value, uint64_t limit,
		     enum o2_limit_kind kind);
/* The same of the sender and of an entry of a list, where the limit is the only value. */
void o2_judge_entry_differs(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t earlier,
			    const char *field, uint32_t index, uint64_t value, uint64_t expected);
/* The same of the sender, where the limit is a bound, or the only value. */
void o2_judge_over(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t earlier,
		   const char *field, uint64_t value, uint64_t limit);
void o2_judge_differs(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t earlier,
		      const char *field, uint64_t value, uint64_t expected);

/* As o2_judge_differs(), if value is not the one that is expected. */
void o2_judge_expect(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t earlier,
		     const char *field, uint64_t value, uint64_t expected);

/* The sender's message, which the codec refuses. */
void o2_judge_refused(const struct o2_judging *at);

/* What the sender has said is not known, now and from here on: less can be judged. */
void o2_judge_unseen(const struct o2_judging *at);

/* connect.c */
void o2_judge_request(const struct o2_judging *at);
void o2_judge_reply(const struct o2_judging *at);
void o2_judge_reject(const struct o2_judging *at);

/* message.c */
/* Something of the sender is missing: what comes may be of another connection on the same queue pairs. */
void o2_judge_doubt(const struct o2_judging *at);
/* Returns 0 or -ENOMEM. */
int o2_judge_message(const struct o2_judging *at);

/* credits.c */
void o2_judge_credits_start(struct o2_judge_conn *conn);
/* Nothing is known of the credits of either side: what comes is judged by itself. */
void o2_judge_credits_unknown(struct o2_judge_conn *conn);
void o2_judge_credits(const struct o2_judging *at);
/* The message has also been followed as part of a transfer: to whom are credits due from now on? */
void o2_judge_credits_due(const struct o2_judging *at);
void o2_judge_credits_time(const struct o2_judging *at);
void o2_judge_credits_view(const struct o2_judge_conn *conn, struct o2_judge_view *view);

/* transfer.c */
int o2_judge_transfer(const struct o2_judging *at);
/* Is this PUT_ACK the answer that a PUT_REQ of its receiver's waits for? */
bool o2_judge_put_asked(const struct o2_judging *at);
void o2_judge_transfer_time(const struct o2_judging *at);
/* All transfers of a connection are forgotten, without a word. */
void o2_judge_transfers_drop(struct o2_judge *judge, struct o2_judge_conn *conn);

/* write.c */
void o2_judge_write(const struct o2_judging *at);
void o2_judge_write_part(const struct o2_judging *at);
/* A descriptor of `sink` is open from now on: says if its memory is in use. */
void o2_judge_key_offered(const struct o2_judging *at, const struct o2_judge_transfer *transfer);

/* lnet.c: what LNet's header promises, and whether it is kept. */
void o2_judge_lnet(const struct o2_judging *at, const struct o2_lnet_hdr *hdr);
/* payload.c: what the bytes are.  The sender asks. */
void o2_judge_payload_put(const struct o2_judging *at, const struct o2_lnet_hdr *hdr,
			  struct o2_judge_pattern *pattern);
void o2_judge_payload_get(const struct o2_judging *at, const struct o2_lnet_hdr *hdr,
			  struct o2_judge_pattern *pattern);
/* All of the sender's PUT is where it belongs. */
void o2_judge_payload_ended(struct o2_judge_end *from, uint64_t number);
/* A PUT of this side was not seen, or may not have been. */
void o2_judge_payload_unseen(struct o2_judge_end *from);
/* n bytes of the sender's, from byte `at_byte` on.  number: of the request. */
void o2_judge_payload_look(const struct o2_judging *at, struct o2_judge_pattern *pattern,
			   enum o2_judge_rule_id rule, uint64_t number, uint64_t at_byte,
			   const uint8_t *bytes, size_t n);

/* A PUT by RDMA has ended well.  number: of its PUT_REQ. */
void o2_judge_lnet_moved(struct o2_judge_end *source, uint64_t number, uint64_t bytes);

#endif
