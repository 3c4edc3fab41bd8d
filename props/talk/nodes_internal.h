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
#define O2_NODES_OPS	    16u /* operations of each node while steps are drawn */
#define O2_NODES_LATE	    12u /* operations of each node after the steps */
#define O2_NODES_SLOTS	    (O2_NODES_OPS + O2_NODES_LATE)
#define O2_NODES_STEPS	    400u  /* most steps of a case */
#define O2_NODES_POOL	    2u	  /* elements of a registration pool */
#define O2_NODES_TX	    8u	  /* transmits of a transmit pool */
#define O2_NODES_SLOT_PAGES 3u	  /* pages of one side of an operation */
#define O2_NODES_BURST	    0xffu /* in the match bits of a burst's messages, instead of a number */
#define O2_NODES_ENDS	    64u	  /* most connection ends that a node has at a time */
#define O2_NODES_MSG_BYTES  4096u /* of the longest message */
#define O2_NODES_HEADERS    120u  /* bytes before the payload of an IMMEDIATE (docs/wire.md) */
#define O2_NODES_PAYLOAD    (O2_NODES_MSG_BYTES - O2_NODES_HEADERS)
#define O2_NODES_AHEAD	    4u /* messages of the connection manager that one side knows first */
#define O2_NODES_LOST	    (O2_NODES_MAX * O2_NODES_SLOTS)
/* What waits for a connection does so for the time of an attempt and this (docs/connection.md, "Times"). */
#define O2_NODES_WAITING_EXTRA_MS 10000u

/* What an operation does. */
enum o2_nodes_kind {
	O2_NODES_PUT,
	O2_NODES_GET,
	O2_NODES_IMMEDIATE,
	O2_NODES_REFUSED, /* an IMMEDIATE whose LNet header the receiver refuses */
	O2_NODES_KINDS,
};

/* How the other end answers a PUT or a GET. */
enum o2_nodes_verdict {
	O2_NODES_TAKE,
	O2_NODES_LESS, /* accepts, with fewer bytes than offered or asked for */
	O2_NODES_NO_MATCH,
	O2_NODES_DENY, /* refuses with an errno */
	O2_NODES_VERDICTS,
};

struct o2_nodes_op {
	enum o2_nodes_kind kind;
	enum o2_nodes_verdict verdict;
	uint32_t to;
	uint32_t bytes;
	uint32_t wanted; /* bytes that the other end moves */
	bool as_bytes;	 /* IMMEDIATE: the payload is handed over as plain bytes */
	bool as_send;	 /* PUT: started as a SEND, for which it is too long */
	bool too_long;	 /* IMMEDIATE: for any connection */
	struct o2_op_memory ours, theirs;
	uint32_t max_frags; /* least fragment limit of the connections that may have carried it */
	bool started, arrived, accepted;
	uint32_t ended, ended_there; /* how often the end was reported, at each side */
	int status, status_there;
	uint64_t started_ms, ended_ms;
	uint64_t nob; /* bytes that arrived in the sink */
};

/*
 * What a node knows of a peer (docs/connection.md, "Negotiation"), computed from the node's settings and from the
 * messages it has received; kept as long as the node keeps its record of the peer.
 */
struct o2_nodes_known {
	uint16_t version; /* 0: only the peer's NID is known */
	uint64_t incarnation;
	uint16_t depth, frags;	       /* what the node asks this peer for */
	uint32_t races;		       /* requests in a row that lost a connection race */
	enum o2_cksum_flavour flavour; /* checksum flavour of messages to this peer */
};

struct o2_nodes_pair {
	struct o2_nodes_known known;
	bool was_up;
	/* Network faults that have hit messages of this node, and of which the node has not been told yet. */
	uint32_t unresolved, unreachable, refused;
	/* Attempts in a row without a connection; number and time of the last attempt made. */
	uint32_t attempts, attempt;
	uint64_t attempt_ms;
	/* Queue pair that carried the last operation started; sum of the numbers of all that were up then. */
	uint32_t carrier;
	uint64_t carriers;
};

/*
 * One end of a connection, from the attempt on, as the node's calls to its connection manager show it.  Each end
 * knows the other's queue pair number.
 */
struct o2_nodes_end {
	const struct o2_cm_id *id;
	struct ibv_qp *qp; /* valid until the end is over */
	uint32_t qp_num, other_qp_num;
	uint32_t to;
	bool asked;			 /* this node sent the request */
	bool up;			 /* the node was told that the connection is established */
	bool over;			 /* the node has given the connection up */
	bool gone;			 /* the node has also freed the identifier */
	bool bad_reply;			 /* the node has refused the reply to its request */
	bool killed;			 /* the case has put its queue pair into error */
	struct o2_conn_params terms;	 /* requested, within the device's limits; agreed from the reply on */
	struct o2_account_limits limits; /* computed from the settings and the terms */
	enum o2_cksum_flavour flavour;	 /* of messages that this end sends */
	const struct o2_conn *conn;	 /* NULL: over */
	const void *key;		 /* by which the watch knows the connection; not dereferenced */
	bool told_gone;			 /* the watch has heard that the connection is gone */
	uint64_t incarnation;		 /* of the other node, when the connection was made */
	uint64_t since_ms, over_ms;	 /* when the end was made, and when it was given up */
};

/* A message of the connection manager: as the watch hears of it, or as it was sent or received. */
struct o2_nodes_notice {
	enum o2_watched_kind kind;
	bool ours;
	const void *conn;
	size_t length;
	uint64_t sum; /* of the private data */
};

/* Messages that only the watch (by_watch), or only the property, knows of so far. */
struct o2_nodes_heard {
	struct o2_nodes_notice ahead[O2_NODES_AHEAD];
	uint32_t count;
	bool by_watch;
};

/* What the case makes a node do now. */
enum o2_nodes_doing {
	O2_NODES_NOTHING,
	O2_NODES_STARTS,
	O2_NODES_PROGRESSES,
	O2_NODES_HEARS, /* a connection manager event is delivered */
	O2_NODES_IS_TOLD_THE_TIME,
	O2_NODES_CLOSES, /* one peer */
	O2_NODES_ENDS_ALL,
};

struct o2_nodes_moment {
	enum o2_nodes_doing doing;
	uint32_t with; /* the peer that is closed, or that sends the request; O2_NODES_MAX: no single peer */
	int code;      /* errno that the peer is closed with */
	const struct o2_cm_event *event;
	const uint8_t *unspoiled; /* the private data as it was sent, if the event's is spoiled */
	struct o2_nodes_end *end; /* the end that the event is about; NULL: none, or none yet */
	/* A peer without a connection is closed: the first end of an operation starts another one; it has. */
	bool starts_again, started_again;
	uint32_t told_up; /* how often the node has reported that a connection has come up */
	/* For a request: what it says, and the predicted answer; why 0: the node accepts it. */
	struct o2_conn_params asked;
	uint64_t incarnation, dststamp;
	enum o2_reject_why why;
	bool answered;
	struct o2_transfer_fault
		bad_reply; /* why the node must refuse the reply that it hears; code 0: no reason */
	bool no_receives;  /* the device refuses all receives of new connections */
	uint32_t not_made; /* attempts that failed because of that, and of which the node has not told yet */
	bool send_refused; /* the device has refused to send a message */
	struct o2_transfer_fault not_accepted; /* accepting failed: the requester had given up */
	bool header_refused[O2_NODES_MAX];     /* this node has refused an LNet header from that peer */
	/* What ended during this moment: the last end given up, and the last connection fault with each peer. */
	struct o2_nodes_end *given_up;
	struct o2_transfer_fault down[O2_NODES_MAX];
	bool is_down[O2_NODES_MAX];
	/* Operations reported as lost with their connection; the report of that connection's end must follow. */
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
	uint16_t network;   /* network number of its NID: o2ib, o2ib1 .. */
	bool cksum_auto;    /* checksum flavour is learnt, anew in each life */
	bool hears_no_sums; /* requests reach this node without checksums */
	struct o2_place place;
	bool no_descriptors; /* the device cannot make descriptors */
	uint64_t descriptors_gone;
	struct o2_cm *cm;
	/* The judge of what is sent and received, and the hook before it. */
	const struct o2_watch *judge;
	struct o2_watch hook;
	struct o2_nodes_heard heard;
	struct o2_node *node;
	struct o2_node_config config;
	/* The node's own event handler; the property's handler runs first and calls it. */
	void (*handler)(void *context, const struct o2_cm_event *event);
	void *handler_context;
	struct o2_nodes_op op[O2_NODES_SLOTS];
	uint32_t nops;
	struct o2_nodes_pair pair[O2_NODES_MAX];
	/* The connection manager's own calls; the property's wrappers (tap) call them. */
	const struct o2_cm_ops *cm_ops;
	struct o2_cm_ops tap;
	struct o2_account_room room; /* what the device has room for */
	uint64_t deaf_until_ms;	     /* requests sent until then may have found no listener */
	struct o2_nodes_end end[O2_NODES_ENDS];
	struct o2_nodes_moment now;
	uint32_t burst_arrived, burst_ended;
	uint32_t
		burst_culprits; /* messages of the burst that ended with the fault of the connection itself */
	bool starts_inside;	/* as a peer is closed, what waits for it is started again from inside done */
	bool refuses_a_send;	/* the device refuses the next send */
	bool lost;		/* its device is lost */
	bool early;		/* requests come too early for it: o2_node_set_up */
	bool asleep;		/* armed, and nothing was left to do */
	struct o2_transfer_fault fault; /* why the last connection ended or could not be made */
};

struct o2_nodes {
	struct o2_nodes_run *run;
	struct o2_choice *choice;
	struct o2_report *report;
	struct o2_ground ground;
	struct o2_arenas arenas; /* memory arenas, shared by all cases */
	struct o2_nodes_seat seat[O2_NODES_MAX];
	uint32_t nseats;
	bool deep;   /* nodes use deep queues */
	bool broken; /* a connection breaks during the current burst, so not all of it arrives */
};

static inline void o2_nodes_seen(struct o2_nodes *nodes, enum o2_nodes_situation what)
{
	nodes->run->tally.seen[what]++;
}

static inline uint64_t o2_nodes_nid(const struct o2_nodes *nodes, uint32_t i)
{
	return 0x0005000000000000ull | (uint64_t)nodes->seat[i].network << 32 | nodes->seat[i].address;
}

/* Index of the node with this NID; nseats: no such node. */
static inline uint32_t o2_nodes_index(const struct o2_nodes *nodes, uint64_t nid)
{
	uint32_t i = 0;

	while (i < nodes->nseats && o2_nodes_nid(nodes, i) != nid)
		i++;
	return i;
}

/* Index of the node with this address; nseats: no such node. */
static inline uint32_t o2_nodes_at(const struct o2_nodes *nodes, uint32_t address)
{
	uint32_t i = 0;

	while (i < nodes->nseats && nodes->seat[i].address != address)
		i++;
	return i;
}

/* nodes_memory.c: draws the memory of operations, in slots of pages. */
void o2_nodes_memory_draw(struct o2_choice *c, struct o2_nodes_seat *seat, uint32_t first_page,
			  uint32_t bytes, struct o2_op_memory *m);
/* One piece at the start of its page: any connection can describe it. */
void o2_nodes_memory_plain(struct o2_nodes_seat *seat, uint32_t first_page, uint32_t bytes,
			   enum o2_reg_mode mode, struct o2_op_memory *m);

/* nodes_op.c: draws and starts operations. */
void o2_nodes_start(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to);
/* Start a PUT that no setting makes fail, with this mode at both ends.  Returns the node's answer: 0, -errno. */
int o2_nodes_start_plain(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to,
			 enum o2_reg_mode mode);
/* Start a message of plain bytes; or a SEND from memory, which is too long for that and goes as a PUT.  As above. */
int o2_nodes_start_long(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to, uint32_t bytes,
			bool as_bytes);
bool o2_nodes_all_ended(const struct o2_nodes *nodes);
/* The status and *nob that both ends must report for an operation whose connection does not fail. */
int o2_nodes_foretell(const struct o2_nodes_op *op, uint64_t *nob);

/* nodes_judge.c: callbacks of the nodes, and checks of what they report. */
extern const struct o2_node_ops o2_nodes_ops;
void o2_nodes_check_ended(struct o2_nodes *nodes);

/* nodes_terms.c: checks of the parameters that connections agreed on. */
void o2_nodes_check_up(struct o2_nodes_seat *seat, uint32_t j);
void o2_nodes_check_ends(struct o2_nodes *nodes);
/* True if the settings of the two nodes let this one connect to the other over a working network. */
bool o2_nodes_can_connect(const struct o2_nodes_seat *seat, const struct o2_nodes_seat *other);

/* nodes_event.c: events that a node receives, and the moments in which it acts. */
/* bad_reply: why the event must be refused; code 0: it need not.  unspoiled: its private data then, as it was sent. */
void o2_nodes_hear(struct o2_nodes_seat *seat, const struct o2_cm_event *event,
		   const struct o2_transfer_fault *bad_reply, const uint8_t *unspoiled);
/* Call before and after each call by which the case makes a node act. */
void o2_nodes_begin(struct o2_nodes_seat *seat, enum o2_nodes_doing doing, uint32_t with, int code);
void o2_nodes_finish(struct o2_nodes_seat *seat);

/* nodes_spoil.c: what is changed in transit. */
void o2_nodes_watch(struct o2_nodes_seat *seat);
/* The judge of the open interface hears what was sent, where this property has spoiled it. */
void o2_nodes_hook(struct o2_nodes_seat *seat);

/* nodes_heard.c: what a node's watch hears of the connection manager. */
/* A message is sent or received.  conn: by what the watch knows the connection. */
void o2_nodes_carries(struct o2_nodes_seat *seat, enum o2_watched_kind kind, bool ours, const void *conn,
		      const uint8_t *bytes, size_t length);
/* The event that is about to be delivered; the request that was delivered, which is answered now. */
void o2_nodes_carries_event(struct o2_nodes_seat *seat);
void o2_nodes_carries_request(struct o2_nodes_seat *seat, const void *conn);
void o2_nodes_watch_hears(struct o2_nodes_seat *seat, const struct o2_watched *watched);
/* The moment is over: both know the same. */
void o2_nodes_check_heard(struct o2_nodes_seat *seat);
/* The node has freed the end. */
void o2_nodes_check_told_gone(struct o2_nodes_seat *seat, const struct o2_nodes_end *end);

/* nodes_tap.c: a node's calls to its connection manager, and the connection ends they create. */
void o2_nodes_tap(struct o2_nodes_seat *seat);
/* The end with this identifier; NULL: there is none. */
struct o2_nodes_end *o2_nodes_end_with(struct o2_nodes_seat *seat, const struct o2_cm_id *id);
/* Number of ends with that node not given up: those that are up, or all. */
uint32_t o2_nodes_count_ends(const struct o2_nodes_seat *seat, uint32_t to, bool up);
/* The end with this queue pair; NULL: there is none. */
struct o2_nodes_end *o2_nodes_end_of(struct o2_nodes_seat *seat, uint32_t to, uint32_t qp_num);
/* The least fragment limit of any connection with that node. */
uint32_t o2_nodes_fewest_frags(const struct o2_nodes_seat *seat, uint32_t to);
/* Read the other end's queue pair number from the device; the queue pair must be in RTS. */
void o2_nodes_learn_other_end(struct o2_nodes_end *end);
/* The other end of a connection; NULL: the other node has given it up, or never had it. */
const struct o2_nodes_end *o2_nodes_other_end(const struct o2_nodes_seat *seat,
					      const struct o2_nodes_end *end);

/* nodes_known.c: what nodes know of each other, and the answers they owe each other. */
/* The parameters that this node requests from that one. */
struct o2_conn_params o2_nodes_offer(const struct o2_nodes_seat *seat, uint32_t to);
/* The predicted answer to the current request: a reject reason, or 0: accepted. */
enum o2_reject_why o2_nodes_answer(const struct o2_nodes_seat *seat);
/* True if the current request is for another life of this node. */
bool o2_nodes_other_life(const struct o2_nodes_seat *seat);
/* A reject has arrived, or one that would be heeded: update what the node knows if it asks again. */
void o2_nodes_learn(struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
		    const struct o2_cm_event *event);
/* Reset what the node knows of the peer. */
void o2_nodes_unknown(struct o2_nodes_seat *seat, uint32_t to);
/* Predict the effect of a reject on the end whose request it answers: *fault is how the attempt ends.
 * True: the attempt is to be repeated. */
bool o2_nodes_rejected(const struct o2_nodes_seat *seat, const struct o2_nodes_end *end,
		       const struct o2_cm_event *event, struct o2_transfer_fault *fault);

/* nodes_said.c: checks private data that a node passes to its connection manager, field by field. */
void o2_nodes_said_request(struct o2_nodes_seat *seat, const struct o2_nodes_end *end, const uint8_t *bytes,
			   size_t length);
/* Change a request: remove its checksum; make its sender accept only messages up to max_msg_bytes. */
void o2_nodes_said_without_sum(uint8_t *bytes);
void o2_nodes_said_smaller(uint8_t *bytes, uint32_t max_msg_bytes);
/* Spoil one field of a reply that this end hears; *fault is how the node must refuse it. */
void o2_nodes_said_badly(struct o2_nodes_seat *seat, const struct o2_nodes_end *end, uint8_t *bytes,
			 struct o2_transfer_fault *fault);
void o2_nodes_said_reply(struct o2_nodes_seat *seat, const struct o2_nodes_end *end, const uint8_t *bytes,
			 size_t length);
/* Learn the peer's checksum flavour from its CONNREQ or CONNACK, if this node learns flavours. */
void o2_nodes_learn_flavour(struct o2_nodes_seat *seat, uint32_t from, const uint8_t *bytes);
/* The peer is in that life: the checksum flavour of an earlier life no longer counts. */
void o2_nodes_learn_life(struct o2_nodes_seat *seat, uint32_t of, uint64_t incarnation);
/* Learn the checksum flavours that messages on connections with that node have shown. */
void o2_nodes_sync_flavours(struct o2_nodes_seat *seat, uint32_t from);
void o2_nodes_said_reject(struct o2_nodes_seat *seat, const uint8_t *bytes, size_t length);

/* nodes_fault.c: builds and compares predicted faults. */
uint64_t o2_nodes_attempt_ms(const struct o2_nodes_seat *seat);
bool o2_nodes_same_fault(const struct o2_transfer_fault *a, const struct o2_transfer_fault *b);
/* rule NULL: without an error record. */
struct o2_transfer_fault o2_nodes_fault(enum o2_fault_side side, int code, const char *rule,
					const char *field, uint64_t value, uint64_t limit);
/* The fault of an operation or connection that ends because something else ended with *why. */
struct o2_transfer_fault o2_nodes_because(const struct o2_transfer_fault *why);
/* Report an unexpected fault; foretold NULL: no cause was found at all. */
void o2_nodes_fail_fault(struct o2_nodes_seat *seat, uint32_t with, const char *what,
			 const struct o2_transfer_fault *is, const struct o2_transfer_fault *foretold);

/* nodes_cause.c: checks why connections and attempts end. */
/* Check that the case has caused the event that is about to be delivered to the node. */
void o2_nodes_check_event(struct o2_nodes_seat *seat);
void o2_nodes_check_down(struct o2_nodes_seat *seat, uint32_t with, const struct o2_transfer_fault *fault);

/* nodes_lost.c: checks why operations end with their connections. */
/* A connection has ended, after its operations: check their faults against the connection's. */
void o2_nodes_check_its_operations(struct o2_nodes_seat *seat, uint32_t with,
				   const struct o2_transfer_fault *fault);
/* An operation that this node started or serves has ended with *fault, for a reason outside the operation. */
void o2_nodes_check_lost(struct o2_nodes_seat *seat, uint32_t with, const struct o2_nodes_op *op,
			 bool initiator, const struct o2_transfer_fault *fault);
/* The node has been told the time: check that no operation is left that is overdue. */
void o2_nodes_check_overdue(struct o2_nodes_seat *seat);

/* Check that a node whose device is lost ends everything and asks for nothing more.  Last check of a case. */
void o2_nodes_check_device_lost(struct o2_nodes *nodes);
/* The fault with which everything ends when the device is lost. */
struct o2_transfer_fault o2_nodes_device_lost(void);

/* nodes_refused.c: operations that a node refuses at once. */
void o2_nodes_check_refused(struct o2_nodes *nodes);

/* nodes_slow.c: after ten attempts in a row, a node makes only one attempt per second. */
void o2_nodes_check_slow(struct o2_nodes *nodes);

/* nodes_long.c: messages at the limit of a connection, and past it. */
void o2_nodes_check_long(struct o2_nodes *nodes);

/* nodes_post.c: devices that refuse work requests when they are posted. */
void o2_nodes_posts_watch(struct o2_nodes_seat *seat);

/* nodes_flow.c: checks the credit account of each connection. */
void o2_nodes_check_flow(struct o2_nodes *nodes);
/* True if all accounts are those of idle connections; else *account is the value that is not. */
bool o2_nodes_flow_rests(const struct o2_nodes *nodes, struct o2_account *account);

/* nodes_config.c: draws settings. */
void o2_nodes_draw_config(const struct o2_nodes *nodes, struct o2_node_config *config);
/* Check that a node with one setting out of range is refused.  Called while the seat has no node. */
void o2_nodes_check_refusal(struct o2_nodes_seat *seat);

/* nodes_idle.c: how the pools of idle nodes shrink and grow over time. */
extern const struct o2_reg_ops o2_nodes_reg_ops; /* used by every interface */
void o2_nodes_check_idle_pools(struct o2_nodes *nodes);
void o2_nodes_check_growth(struct o2_nodes *nodes);

/* nodes_burst.c: bursts that use all credits of a deep connection at once. */
void o2_nodes_check_burst(struct o2_nodes *nodes);
/* Check that messages that waited for a connection keep their order when it breaks as they are sent. */
void o2_nodes_check_order(struct o2_nodes *nodes);
bool o2_nodes_is_burst(uint64_t match_bits);
void o2_nodes_burst_arrives(struct o2_nodes_seat *seat, const struct o2_lnet_hdr *hdr);
void o2_nodes_burst_ends(struct o2_nodes_seat *seat, const struct o2_transfer_result *result);

/* nodes_world.c: creates, restarts, settles and closes the nodes. */
void o2_nodes_open(struct o2_nodes *nodes);
void o2_nodes_restart(struct o2_nodes_seat *seat);
void o2_nodes_close_peer(struct o2_nodes_seat *seat, uint32_t to, int code);
void o2_nodes_kill(struct o2_nodes_seat *seat, uint32_t to);
void o2_nodes_clock(struct o2_nodes *nodes, uint64_t ms);
int o2_nodes_progress(struct o2_nodes_seat *seat); /* nodes_sleep.c */
/* Let `ms` pass in steps, and deliver what happens meanwhile. */
void o2_nodes_let_pass(struct o2_nodes *nodes, uint64_t ms);
void o2_nodes_settle(struct o2_nodes *nodes);
void o2_nodes_close(struct o2_nodes *nodes);

#endif
