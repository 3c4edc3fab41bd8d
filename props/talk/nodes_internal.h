/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_NODES_INTERNAL_H
#define O2_PROPS_NODES_INTERNAL_H

#include "lnd/node/node.h"
#include "props/engine/report.h"
#include "props/talk/nodes.h"
#include "props/world/account.h"
#include "props/world/memory.h"
#include "props/world/place.h"
#include "wire/reject.h"

#define O2_NODES_MAX	    3u
#define O2_NODES_OPS	    16u /* of each node, while steps are drawn */
#define O2_NODES_LATE	    8u	/* of each node after that */
#define O2_NODES_SLOTS	    (O2_NODES_OPS + O2_NODES_LATE)
#define O2_NODES_STEPS	    400u  /* of a case */
#define O2_NODES_POOL	    2u	  /* elements of a registration pool */
#define O2_NODES_TX	    8u	  /* transmits of a pool */
#define O2_NODES_SLOT_PAGES 3u	  /* of one side of an operation */
#define O2_NODES_BURST	    0xffu /* in match bits, where others have the number of an operation */
#define O2_NODES_ENDS	    64u	  /* of connections, that a node has at a time */
#define O2_NODES_LOST	    (O2_NODES_MAX * O2_NODES_SLOTS)

/* What an operation does. */
enum o2_nodes_kind {
	O2_NODES_PUT,
	O2_NODES_GET,
	O2_NODES_IMMEDIATE,
	O2_NODES_REFUSED, /* an IMMEDIATE whose header the receiver does not accept */
	O2_NODES_KINDS,
};

/* What the other end makes of a PUT or a GET. */
enum o2_nodes_verdict {
	O2_NODES_TAKE,
	O2_NODES_LESS, /* takes or has less than is asked for */
	O2_NODES_NO_MATCH,
	O2_NODES_DENY, /* answers with an errno */
	O2_NODES_VERDICTS,
};

struct o2_nodes_op {
	enum o2_nodes_kind kind;
	enum o2_nodes_verdict verdict;
	uint32_t to;
	uint32_t bytes;
	uint32_t wanted; /* by the other end */
	bool as_bytes;	 /* IMMEDIATE: handed over as plain bytes */
	struct o2_op_memory ours, theirs;
	uint32_t max_frags; /* the fewest of a connection that it may have found itself on */
	bool started, arrived, accepted;
	uint32_t ended, ended_there; /* how often */
	int status, status_there;
	uint64_t started_ms, ended_ms;
	uint64_t nob; /* that came to the sink */
};

/*
 * What a node knows of another one (docs/connection.md, "Negotiation"), worked out from its settings and from
 * what went by it; as long as it keeps a record.
 */
struct o2_nodes_known {
	uint16_t version; /* 0: nothing but the NID */
	uint64_t incarnation;
	uint16_t depth, frags;	       /* that it asks for */
	uint32_t races;		       /* requests in a row that lost one */
	enum o2_cksum_flavour flavour; /* of what it is told */
};

struct o2_nodes_pair {
	struct o2_nodes_known known;
	bool was_up;
	/* What the network was told to do to messages of this node; it has not heard of it yet. */
	uint32_t unresolved, unreachable, refused;
	/* Attempts in a row; the number of the last one that was made, and when. */
	uint32_t attempts, attempt;
	uint64_t attempt_ms;
};

/*
 * One end of a connection, from the attempt on, as its node tells the connection manager of it.  Both ends know
 * the queue pair of the other.
 */
struct o2_nodes_end {
	const struct o2_cm_id *id;
	struct ibv_qp *qp; /* there until the end is over */
	uint32_t qp_num, other_qp_num;
	uint32_t to;
	bool asked;		     /* ours was the request */
	bool up;		     /* the node has heard that it is */
	bool over;		     /* the node has given it up */
	bool gone;		     /* and has freed the identifier */
	bool killed;		     /* the case has put the queue pair into error */
	struct o2_conn_params terms; /* asked for, as far as the device has room; from the reply on agreed */
	struct o2_account_limits limits; /* by the settings and those */
	enum o2_cksum_flavour flavour;	 /* of its messages */
	const struct o2_conn *conn;	 /* NULL: over */
	uint64_t incarnation;		 /* of the other node, which it is with */
	uint64_t since_ms;
};

/* What the case makes a node do at this moment. */
enum o2_nodes_doing {
	O2_NODES_NOTHING,
	O2_NODES_STARTS,
	O2_NODES_PROGRESSES,
	O2_NODES_HEARS, /* an event of the connection manager */
	O2_NODES_IS_TOLD_THE_TIME,
	O2_NODES_CLOSES, /* one peer */
	O2_NODES_ENDS_ALL,
};

struct o2_nodes_moment {
	enum o2_nodes_doing doing;
	uint32_t with; /* the node that is closed, or asks; O2_NODES_MAX: none by itself */
	int code;      /* it is closed with */
	const struct o2_cm_event *event;
	struct o2_nodes_end *end; /* that the event is about; NULL: none, or none yet */
	/* Of a request: what it says, and the answer that is foretold; why 0: it is accepted. */
	struct o2_conn_params asked;
	uint64_t incarnation, dststamp;
	enum o2_reject_why why;
	bool answered;
	bool no_receives;		       /* the device takes none */
	bool send_refused;		       /* and has refused a message */
	struct o2_transfer_fault not_accepted; /* the connection manager could not: its asker has given up */
	bool header_refused[O2_NODES_MAX];     /* by this node, in a message of that one */
	/* What has ended since: the end that was given up last, and the fault of the last end with each node. */
	struct o2_nodes_end *given_up;
	struct o2_transfer_fault down[O2_NODES_MAX];
	bool is_down[O2_NODES_MAX];
	/* Operations that say that they were on a connection; the end of it has to follow. */
	struct {
		const struct o2_nodes_op *op;
		uint32_t with;
		struct o2_transfer_fault fault;
	} lost[O2_NODES_LOST];
	uint32_t nlost;
};

struct o2_nodes_seat {
	struct o2_nodes *nodes;
	uint32_t index;
	uint32_t address;
	uint16_t network;   /* of its NID: o2ib, o2ib1 .. */
	bool cksum_auto;    /* in each life: what an earlier one has shown is shown by no later message */
	bool hears_no_sums; /* in requests */
	struct o2_place place;
	bool no_descriptors; /* the device makes none */
	uint64_t descriptors_gone;
	struct o2_cm *cm;
	struct o2_node *node;
	struct o2_node_config config;
	/* The node's own handler; events pass through ours. */
	void (*handler)(void *context, const struct o2_cm_event *event);
	void *handler_context;
	struct o2_nodes_op op[O2_NODES_SLOTS];
	uint32_t nops;
	struct o2_nodes_pair pair[O2_NODES_MAX];
	/* The connection manager's own calls; ours come before them. */
	const struct o2_cm_ops *cm_ops;
	struct o2_cm_ops tap;
	struct o2_account_room room; /* of the device */
	uint64_t deaf_until_ms;	     /* requests of until then may have found nobody that listens */
	struct o2_nodes_end end[O2_NODES_ENDS];
	struct o2_nodes_moment now;
	uint32_t burst_arrived, burst_ended;
	bool refuses_a_send;		/* the device, the next one */
	bool lost;			/* the device */
	struct o2_transfer_fault fault; /* why the last connection ended, or could not be made */
};

struct o2_nodes {
	struct o2_nodes_run *run;
	struct o2_choice *choice;
	struct o2_report *report;
	struct o2_ground ground;
	struct o2_arenas arenas; /* of all cases */
	struct o2_nodes_seat seat[O2_NODES_MAX];
	uint32_t nseats;
	bool deep;   /* nodes have deep queues */
	bool broken; /* a connection breaks under the burst at hand, so not all of it arrives */
};

static inline void o2_nodes_seen(struct o2_nodes *nodes, enum o2_nodes_situation what)
{
	nodes->run->tally.seen[what]++;
}

static inline uint64_t o2_nodes_nid(const struct o2_nodes *nodes, uint32_t i)
{
	return 0x0005000000000000ull | (uint64_t)nodes->seat[i].network << 32 | nodes->seat[i].address;
}

/* The node with this NID; nseats: none. */
static inline uint32_t o2_nodes_index(const struct o2_nodes *nodes, uint64_t nid)
{
	uint32_t i = 0;

	while (i < nodes->nseats && o2_nodes_nid(nodes, i) != nid)
		i++;
	return i;
}

/* The node with this address; nseats: none. */
static inline uint32_t o2_nodes_at(const struct o2_nodes *nodes, uint32_t address)
{
	uint32_t i = 0;

	while (i < nodes->nseats && nodes->seat[i].address != address)
		i++;
	return i;
}

/* nodes_memory.c: slots of pages. */
void o2_nodes_memory_draw(struct o2_choice *c, struct o2_nodes_seat *seat, uint32_t first_page,
			  uint32_t bytes, struct o2_op_memory *m);
/* One piece at the start of its page, which every connection can describe. */
void o2_nodes_memory_plain(struct o2_nodes_seat *seat, uint32_t first_page, uint32_t bytes,
			   enum o2_reg_mode mode, struct o2_op_memory *m);

/* nodes_op.c: operations are drawn and started. */
void o2_nodes_start(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to);
/*
 * A PUT that nothing speaks against, with this mode at both ends.  Returns what the node says, 0 or -errno.
 */
int o2_nodes_start_plain(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to,
			 enum o2_reg_mode mode);
bool o2_nodes_all_ended(const struct o2_nodes *nodes);
/* What the two ends must see of an operation that no connection fails. */
int o2_nodes_foretell(const struct o2_nodes_op *op, uint64_t *nob);

/* nodes_judge.c: what a node is asked and told. */
extern const struct o2_node_ops o2_nodes_ops;
void o2_nodes_check_ended(struct o2_nodes *nodes);

/* nodes_terms.c: what connections have agreed upon. */
void o2_nodes_check_up(struct o2_nodes_seat *seat, uint64_t nid);
void o2_nodes_check_ends(struct o2_nodes *nodes);
/* This one can get a connection to that one on a good network, by the settings of the two alone. */
bool o2_nodes_can_connect(const struct o2_nodes_seat *seat, const struct o2_nodes_seat *other);

/* nodes_event.c: events that a node gets, and the moments in which it does something. */
void o2_nodes_watch(struct o2_nodes_seat *seat);
/* Before and after each call by which the case makes a node do something. */
void o2_nodes_begin(struct o2_nodes_seat *seat, enum o2_nodes_doing doing, uint32_t with, int code);
void o2_nodes_finish(struct o2_nodes_seat *seat);

/* nodes_tap.c: calls of a node to its connection manager, and the ends that they make. */
void o2_nodes_tap(struct o2_nodes_seat *seat);
/* The end with this identifier; NULL: none. */
struct o2_nodes_end *o2_nodes_end_with(struct o2_nodes_seat *seat, const struct o2_cm_id *id);
/* Ends with that node that have not been given up: those that are up, or all. */
uint32_t o2_nodes_count_ends(const struct o2_nodes_seat *seat, uint32_t to, bool up);
/* The end of this queue pair; NULL: none. */
struct o2_nodes_end *o2_nodes_end_of(struct o2_nodes_seat *seat, uint32_t to, uint32_t qp_num);
/* Of a connection with that node. */
uint32_t o2_nodes_fewest_frags(const struct o2_nodes_seat *seat, uint32_t to);
/* From the device, when the queue pair is in RTS. */
void o2_nodes_learn_other_end(struct o2_nodes_end *end);
/* The other end of a connection; NULL: that node has given it up, or never had it. */
const struct o2_nodes_end *o2_nodes_other_end(const struct o2_nodes_seat *seat,
					      const struct o2_nodes_end *end);

/* nodes_known.c: what nodes know of each other, and have to answer each other. */
/* What this node asks that one for. */
struct o2_conn_params o2_nodes_offer(const struct o2_nodes_seat *seat, uint32_t to);
/* The answer to the request that is at hand: a reason, or 0: it is accepted. */
enum o2_reject_why o2_nodes_answer(const struct o2_nodes_seat *seat);
/* That request is for another life of this node. */
bool o2_nodes_other_life(const struct o2_nodes_seat *seat);
/* A reject has come, or could have been heeded: what the node has learnt if it asks again. */
void o2_nodes_learn(struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
		    const struct o2_cm_event *event);
/* Nothing is known any more, or yet. */
void o2_nodes_unknown(struct o2_nodes_seat *seat, uint32_t to);
/* What a reject tells an end whose request it answers: the fault with which the attempt ends, and whether it is
 * to be made again. */
bool o2_nodes_rejected(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
		       const struct o2_cm_event *event, struct o2_transfer_fault *fault);

/* nodes_said.c: bytes that a node hands to its connection manager, field by field. */
void o2_nodes_said_request(struct o2_nodes_seat *seat, const struct o2_nodes_end *end, const uint8_t *bytes,
			   size_t length);
/* A request says that its sender takes no longer messages than that. */
void o2_nodes_said_without_sum(uint8_t *bytes);
void o2_nodes_said_smaller(uint8_t *bytes, uint32_t max_msg_bytes);
void o2_nodes_said_reply(struct o2_nodes_seat *seat, const struct o2_nodes_end *end, const uint8_t *bytes,
			 size_t length);
/* The flavour that a CONNREQ or CONNACK of that node shows, if this one learns it. */
void o2_nodes_learn_flavour(struct o2_nodes_seat *seat, uint32_t from, const uint8_t *bytes);
/* The other node is of that life; what an earlier one has shown says nothing of its sums. */
void o2_nodes_learn_life(struct o2_nodes_seat *seat, uint32_t of, uint64_t incarnation);
/* The flavours that messages on connections with that node have shown. */
void o2_nodes_sync_flavours(struct o2_nodes_seat *seat, uint32_t from);
void o2_nodes_said_reject(struct o2_nodes_seat *seat, const uint8_t *bytes, size_t length);

/* nodes_fault.c: faults, as a cause foretells them. */
uint64_t o2_nodes_attempt_ms(const struct o2_nodes_seat *seat);
bool o2_nodes_same_text(const char *a, const char *b);
bool o2_nodes_same_fault(const struct o2_transfer_fault *a, const struct o2_transfer_fault *b);
/* rule NULL: no error record. */
struct o2_transfer_fault o2_nodes_fault(enum o2_fault_side side, int code, const char *rule,
					const char *field, uint64_t value, uint64_t limit);
/* Of what ends because something else has ended so. */
struct o2_transfer_fault o2_nodes_because(const struct o2_transfer_fault *why);
/* A finding; foretold NULL: there is no cause at all. */
void o2_nodes_fail_fault(struct o2_nodes_seat *seat, uint32_t with, const char *what,
			 const struct o2_transfer_fault *is, const struct o2_transfer_fault *foretold);

/* nodes_cause.c: why connections and attempts end. */
/* The event that a node is about to hear is one that the case has brought about. */
void o2_nodes_check_event(struct o2_nodes_seat *seat);
void o2_nodes_check_down(struct o2_nodes_seat *seat, uint32_t with, const struct o2_transfer_fault *fault);

/* nodes_lost.c: why operations end with them. */
/* A connection has ended, and its operations before it. */
void o2_nodes_check_its_operations(struct o2_nodes_seat *seat, uint32_t with,
				   const struct o2_transfer_fault *fault);
/* An operation of this node, or one that it serves, has ended so, and not for what it is itself. */
void o2_nodes_check_lost(struct o2_nodes_seat *seat, uint32_t with, const struct o2_nodes_op *op,
			 bool initiator, const struct o2_transfer_fault *fault);
/* The time has been told: nothing is left that it should have ended. */
void o2_nodes_check_overdue(struct o2_nodes_seat *seat);

/* A node whose device is lost ends everything and asks for nothing more.  The last of a case. */
void o2_nodes_check_device_lost(struct o2_nodes *nodes);
/* The fault of all that ends then. */
struct o2_transfer_fault o2_nodes_device_lost(void);

/* nodes_slow.c: behind ten attempts in a row there is one in a second. */
void o2_nodes_check_slow(struct o2_nodes *nodes);

/* nodes_post.c: devices that refuse what is posted. */
void o2_nodes_posts_watch(struct o2_nodes_seat *seat);

/* nodes_flow.c: the account of credits of each connection. */
void o2_nodes_check_flow(struct o2_nodes *nodes);
/* Is it that of connections at rest?  account: what is not. */
bool o2_nodes_flow_rests(const struct o2_nodes *nodes, struct o2_account *account);

/* nodes_config.c: settings. */
void o2_nodes_draw_config(const struct o2_nodes *nodes, struct o2_node_config *config);
/* A node with one setting out of its range is not made.  Called while there is none. */
void o2_nodes_check_refusal(struct o2_nodes_seat *seat);

/* nodes_idle.c: what time does to the pools of nodes that are at rest. */
extern const struct o2_reg_ops o2_nodes_reg_ops; /* of every interface */
void o2_nodes_check_idle_pools(struct o2_nodes *nodes);
void o2_nodes_check_growth(struct o2_nodes *nodes);

/* nodes_burst.c: all credits of a deep connection under way. */
void o2_nodes_check_burst(struct o2_nodes *nodes);
/* A connection breaks while those that have waited go out on it: their order is kept. */
void o2_nodes_check_order(struct o2_nodes *nodes);
bool o2_nodes_is_burst(uint64_t match_bits);
void o2_nodes_burst_arrives(struct o2_nodes_seat *seat, const struct o2_lnet_hdr *hdr);
void o2_nodes_burst_ends(struct o2_nodes_seat *seat, const struct o2_transfer_result *result);

/* nodes_world.c: makes, restarts, settles and ends them. */
void o2_nodes_open(struct o2_nodes *nodes);
void o2_nodes_restart(struct o2_nodes_seat *seat);
void o2_nodes_close_peer(struct o2_nodes_seat *seat, uint32_t to, int code);
void o2_nodes_kill(struct o2_nodes_seat *seat, uint32_t to);
void o2_nodes_clock(struct o2_nodes *nodes, uint64_t ms);
int o2_nodes_progress(struct o2_nodes_seat *seat);
/* So much time, in steps, and what happens in it. */
void o2_nodes_let_pass(struct o2_nodes *nodes, uint64_t ms);
void o2_nodes_settle(struct o2_nodes *nodes);
void o2_nodes_close(struct o2_nodes *nodes);

#endif
