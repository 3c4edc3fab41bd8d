/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SIM_INTERNAL_H
#define O2_PROPS_SIM_INTERNAL_H

#include <stdio.h>

#include "lnd/conn/conn.h"
#include "lnd/ni/ni.h"
#include "loopverbs/loopverbs.h"
#include "props/engine/report.h"
#include "props/talk/sim.h"
#include "props/world/account.h"
#include "props/world/memory.h"
#include "props/world/place.h"
#include "props/world/receives.h"
#include "props/world/witness.h"

/* The inside of the simulation; shared by props/talk/sim_*.c (docs/simulation.md). */

#define O2_SIM_NODES	     3u
#define O2_SIM_ENDS	     6u /* two for each pair of nodes */
#define O2_SIM_REASONS	     32u
#define O2_SIM_IMMEDIATE_HDR 120u /* bytes ahead of its payload */
#define O2_SIM_OPS	     640u /* of a deep case, at most */
#define O2_SIM_FEW_OPS	     128u /* of any other */
#define O2_SIM_STEPS	     600u
#define O2_SIM_PAGES	     256u  /* of a node */
#define O2_SIM_MANY_PAGES    1024u /* of a deep case */
#define O2_SIM_MAX_NOB	     12000u
#define O2_SIM_FIRST_NID     0x00050000c0a80a01ull
#define O2_SIM_FIRST_STAMP   0x0006000011112222ull
#define O2_SIM_DMA_BASE	     0x7f0000000000ull /* device address of the first node's first page */
#define O2_SIM_LOG	     4096u
#define O2_SIM_ON_THE_WAY    1024u
#define O2_SIM_CODES	     12u

/* --- operations (sim_op.c) --- */

/* What the node at the other end makes of a request. */
enum o2_sim_verdict {
	O2_SIM_ACCEPT,
	O2_SIM_SHORT, /* fewer bytes than offered, or than there is room for */
	O2_SIM_ZERO,
	O2_SIM_NO_MATCH,
	O2_SIM_REFUSE, /* with -EACCES */
	O2_SIM_LONGER, /* more bytes than offered: a mistake of its own */
	O2_SIM_INSANE, /* "this LNet header is not acceptable" */
	O2_SIM_VERDICTS,
};

/* Negative errnos that something was made to fail with. */
struct o2_sim_codes {
	int code[O2_SIM_CODES];
	uint32_t count;
};

/* Why a connection may close. */
struct o2_sim_reason {
	enum o2_fault_side side;
	int code;
	const char *rule; /* NULL: none */
};

struct o2_sim_reasons {
	struct o2_sim_reason reason[O2_SIM_REASONS];
	uint32_t count;
};

struct o2_sim_end;

/* What one end has posted and heard of an operation (sim_stand.c). */
struct o2_sim_stand {
	uint32_t due;		      /* messages that it has to send, so far */
	uint32_t posted, acked;	      /* of them; and those whose completion it has handled */
	uint8_t last;		      /* type of the one that was posted last */
	bool answered;		      /* nothing more comes from the other end */
	const struct o2_tx *transmit; /* whose work requests they were; only compared */
};

struct o2_sim_op {
	uint32_t id, place; /* place: among those that its end has posted, from 1 */
	enum o2_transfer_op op;
	uint32_t lnet_type; /* IMMEDIATE */
	struct o2_sim_end *end;
	bool as_bytes; /* IMMEDIATE: by o2_conn_send_bytes */
	enum o2_sim_verdict verdict;
	uint64_t nob;		    /* offered, or the size of the sink */
	uint64_t wanted;	    /* that are to move */
	struct o2_op_memory ours;   /* at the initiator */
	struct o2_op_memory theirs; /* PUT, GET: at the other end */

	/* What is foretold where nothing breaks: the answer of the call, and of done on either side. */
	int start_code;
	int code;
	uint64_t done_nob;
	int code_there;

	struct o2_sim_codes hit, hit_there; /* what was made to fail in what each side did for it */
	bool started, ended, matched, ended_there, received;
	bool closed_by_match; /* the other end has accepted it, and closed the connection from inside match */
	bool status_sent;     /* a PUT_NAK, PUT_DONE or GET_DONE was seen on the fabric, with .wire_status */
	int32_t wire_status;
	uint64_t since_ms, since_there_ms; /* when its deadline began to run */
	/* As seen on the fabric. */
	bool requested, acknowledged;
	uint64_t cookie, cookie_there; /* of the request, of its PUT_ACK */
	uint32_t key;		       /* of the sink's descriptor, and its first address */
	uint64_t key_addr;
	uint32_t frags;		      /* of that descriptor; 0: none was seen */
	struct o2_sim_stand stand[2]; /* at its initiator, at the other end */
};

/* --- ends of connections --- */

/* One message that has arrived and was not handled yet. */
struct o2_sim_message {
	uint8_t type;
	uint8_t credits;
	uint32_t op; /* which operation's; O2_SIM_OPS: not known, or none's */
};

/* What an end has sent, as seen on the fabric. */
struct o2_sim_wire {
	uint64_t messages, credit_messages, credits, noops;
	uint64_t handled_credits; /* of those messages whose completions the other end has handled */
	struct o2_sim_message on_the_way[O2_SIM_ON_THE_WAY];
	uint32_t first, count;
};

struct o2_sim_end {
	struct o2_sim *sim;
	struct o2_sim_end *other;
	uint32_t node, index;
	struct o2_conn *conn;
	uint32_t qp_num;
	uint32_t depth, max_msg_bytes; /* as agreed with the other end; of a message that it takes */
	struct o2_account_limits limits;
	bool asleep;	    /* a slow peer: its completions are not handled for now */
	bool forged;	    /* it has got a forged message */
	bool broken;	    /* its queue pair is in error or gone */
	bool never_ready;   /* the device has given up sending it NOOPs that the other end has no room for */
	uint32_t rnr_waits; /* of its first message, so far */
	bool closed;	    /* and has said so */
	struct o2_transfer_fault fault;
	uint32_t culprits;	  /* operations that ended with the connection's own error */
	enum ibv_wc_status cause; /* of its completions the one that tells most; SUCCESS: none failed */
	const struct o2_sim_op
		*blamed; /* whose work request failed, or could not be posted; NULL: nobody's */
	const struct o2_sim_op
		*hearing;   /* a message of this one is being handled: it may not have been yet */
	uint32_t sends;	    /* messages posted whose completion was not handled */
	uint64_t posted_ms; /* its last message; without any, when it was established */
	bool in_progress;   /* it handles many completions, and nobody sees which it is at */
	uint64_t oldest_ms; /* of what was late: the greatest age */
	bool oldest_sent;   /* and one that old had all that was due posted */
	struct o2_sim_reasons may_close; /* what it may close with */
	uint32_t open, asked, shown;	 /* operations of its own; posted; known to the other end */
	uint64_t silent_since_ms;	 /* a request was refused, whose answer may be under way; 0: none */
	uint64_t no_noops_ms;		 /* the last time that it had none */
	bool deadline_due;		 /* the time that comes is too late for something of it */
	struct o2_sim_wire wire;
	struct o2_receives receives;
	struct o2_conn_view view; /* after the last step */
};

struct o2_sim_node {
	struct o2_place *place;	  /* the one of this case, of: */
	struct o2_place standing; /* lives on from case to case */
	struct o2_place special;  /* made for one case, beside the one that lives on */
	bool used_up;	   /* .place is to be closed before the next case: its pools are not what they were */
	uint64_t since_ms; /* its clock, when the case began */
	uint64_t told_ms;  /* what it was told last of how late it is */
	uint32_t next_page;
	struct o2_sim_codes failed;  /* while connections are made: errnos of what was made to fail */
	bool gone;		     /* its device is, and another has taken its place */
	uint64_t no_growth_until_ms; /* a pool that could not grow refuses until then; 0: none */
};

/* --- what happens --- */

enum o2_sim_event_kind {
	O2_SIM_EV_START, /* the application's operation .n; code: what the call said */
	O2_SIM_EV_ENDED, /* at the initiator */
	O2_SIM_EV_ENDED_THERE,
	O2_SIM_EV_MATCHED,
	O2_SIM_EV_RECEIVED,
	O2_SIM_EV_COMPLETION, /* n: wr_id's kind, code: status */
	O2_SIM_EV_EXECUTE,    /* the device: one work request of end .a */
	O2_SIM_EV_MESSAGE,    /* n: type, code: credits */
	O2_SIM_EV_PROGRESS,
	O2_SIM_EV_CLOCK,  /* n: milliseconds later */
	O2_SIM_EV_TICK,	  /* a timer of the device */
	O2_SIM_EV_ARM,	  /* fault n is armed, to fire at occurrence code */
	O2_SIM_EV_FAULT,  /* it has fired */
	O2_SIM_EV_CLOSE,  /* the application closes end .a */
	O2_SIM_EV_CLOSED, /* end .a says that it is closed */
	O2_SIM_EV_SLEEP,
	O2_SIM_EV_ESTABLISH,
	O2_SIM_EV_FORGE, /* lie .n is told to end .a */
	O2_SIM_EV_KINDS,
};

struct o2_sim_event {
	enum o2_sim_event_kind kind;
	uint32_t a, n;
	int32_t code;
};

enum o2_sim_fault_kind {
	O2_SIM_NO_FAULT,
	O2_SIM_FAIL_CALL, /* .call of the device */
	O2_SIM_FAIL_ALLOCATION,
};

struct o2_sim_fault {
	enum o2_sim_fault_kind kind;
	enum o2_loop_call call;
	uint32_t left; /* occurrences until it fires */
	int value;     /* errno, or a status of a completion */
};

struct o2_sim {
	struct o2_sim_run *run;
	struct o2_choice *choice;
	struct o2_report *report;
	struct o2_arenas arenas; /* of all cases */
	struct o2_sim_node node[O2_SIM_NODES];
	uint32_t nnodes;
	struct o2_sim_end end[O2_SIM_ENDS];
	uint32_t nends;
	struct o2_conn_config config; /* of all ends, but for queue_depth */
	uint32_t depth;		      /* that is asked for; memory that is short makes it less */
	uint32_t op_weight[3];	      /* of IMMEDIATE, PUT, GET */
	struct o2_sim_op op[O2_SIM_OPS];
	uint32_t nops, most_ops;
	uint64_t now_ms;
	uint32_t inside_left; /* operations that callbacks start */
	bool close_inside;    /* the next callback closes its connection */
	bool faults;	      /* this case has some */
	bool small;	      /* its pools are, and it has few windows for scattered memory */
	bool deep;	      /* depths up to 255, and as many operations at a time */
	bool wide;	      /* up to 257 fragments */
	bool kernel_order;    /* the second node registers by work requests, as kernels do */
	bool remapped;	      /* a unit between memory and the first node's device remaps pages */
	struct o2_sim_fault fault;
	struct o2_sim_end *acting;    /* whose code runs */
	struct o2_sim_op *at_work;    /* for which it does something, if that is known */
	uint64_t rnr_waits, overruns; /* of the devices, so far */
	struct o2_witness *witness;   /* of what forged messages have no part in */

	/* The device: what can run, and what may. */
	uint32_t runnable[O2_SIM_ENDS];
	uint32_t nrunnable;
	int run_next; /* index, or -1: nothing */

	uint64_t trace;
	uint64_t events;
	struct o2_sim_event log[O2_SIM_LOG]; /* the last ones */
};

/* sim_memory.c */

uint32_t o2_sim_pages(const struct o2_sim *sim); /* of a node */
/* Draw nob bytes of memory for one side, on pages of its own.  False: the arena is full. */
bool o2_sim_memory_draw(struct o2_sim *sim, uint32_t node, uint64_t nob, struct o2_op_memory *memory);
/* The same, as it is said here; memory says whether it is gapped or scattered. */
bool o2_sim_memory_make(struct o2_sim *sim, uint32_t node, uint64_t nob, enum o2_reg_mode mode,
			uint32_t offset, struct o2_op_memory *memory);
/* Both sides of an operation hold bytes that no byte of the other side equals. */
void o2_sim_memory_fill(struct o2_sim_op *op);
void o2_sim_memory_check_all(struct o2_sim *sim);
/* Fragments that it is described with, and what mapping it is refused with (0: nothing). */
uint32_t o2_sim_memory_frags(const struct o2_op_memory *memory);
int o2_sim_memory_refusal(const struct o2_sim_op *op, const struct o2_op_memory *memory);
uint32_t o2_sim_sink_frags(const struct o2_sim_op *op); /* that it may have, by what the source takes */
/* Work requests that moving nob bytes takes. */
uint32_t o2_sim_memory_wrs(const struct o2_sim *sim, const struct o2_op_memory *source,
			   const struct o2_op_memory *sink, uint64_t nob);

/* sim_op.c */

/* Draw an operation of this end and start it.  False: there is no room for one. */
bool o2_sim_op_start(struct o2_sim *sim, struct o2_sim_end *end);
/* Draw one, and start up to that many that are like it. */
void o2_sim_op_flood(struct o2_sim *sim, struct o2_sim_end *end, uint32_t count);
/* Start one that is filled in, down to what the other end makes of it. */
void o2_sim_op_launch(struct o2_sim *sim, struct o2_sim_op *op);
extern const struct o2_conn_ops o2_sim_conn_ops;

/* sim_judge.c */

/* Is this how the operation may end? */
void o2_sim_judge_start(struct o2_sim *sim, struct o2_sim_op *op, int code, const struct o2_error *error);
void o2_sim_judge_end(struct o2_sim *sim, struct o2_sim_end *end, struct o2_sim_op *op,
		      const struct o2_transfer_result *result);
void o2_sim_judge_closed(struct o2_sim *sim, struct o2_sim_end *end);

/* sim_record.c */

/* Is this the end that is foretold to refuse the operation?  The other one hears of it. */
bool o2_sim_refuses(const struct o2_sim_op *op, const struct o2_sim_end *end);
/* Does the record say what it has to, of an operation that was refused at its start with the foretold code? */
bool o2_sim_record_of_start(const struct o2_sim_op *op, int code, const struct o2_error *error);
/* Of one that has ended at this end. */
bool o2_sim_record_of_end(const struct o2_sim_end *end, const struct o2_sim_op *op,
			  const struct o2_transfer_result *result);
/* Of a connection. */
bool o2_sim_record_of_close(const struct o2_transfer_fault *fault);

/* sim_fault.c */

void o2_sim_faults_install(struct o2_sim *sim);
void o2_sim_faults_remove(void);
void o2_sim_fault_draw(struct o2_sim *sim);
void o2_sim_fault_disarm(struct o2_sim *sim);
/* A call's occurrence number 1 to most fails; an allocation's. */
void o2_sim_fault_arm(struct o2_sim *sim, enum o2_loop_call call, uint32_t most);
void o2_sim_fault_arm_allocation(struct o2_sim *sim, uint32_t most);
/* Code of this end has run: has an allocation failed in it? */
void o2_sim_fault_after(struct o2_sim *sim, struct o2_sim_end *end);
/* Why something was refused or has failed: of what was made to fail, what only its rule tells is counted. */
void o2_sim_fault_reason(struct o2_sim *sim, const struct o2_error *error);
/* Was something made to fail with that code, in what this end does for the operation? */
bool o2_sim_may_fail(const struct o2_sim_op *op, const struct o2_sim_end *end, int code);
/* Code of this end begins to do something for an operation. */
void o2_sim_works_on(struct o2_sim *sim, struct o2_sim_end *end, struct o2_sim_op *op);
void o2_sim_codes_add(struct o2_sim_codes *codes, int code);
bool o2_sim_codes_has(const struct o2_sim_codes *codes, int code);
void o2_sim_may_close(struct o2_sim_end *end, enum o2_fault_side side, int code, const char *rule);
/* Its application ends it with that code. */
void o2_sim_is_closed(struct o2_sim_end *end, int code);
/* Its queue pair is no good any more: the other end will notice. */
void o2_sim_break(struct o2_sim_end *end);

/* sim_stand.c */

/* A message of the operation is to be posted at this end; it has handled one of that type. */
void o2_sim_stand_due(struct o2_sim_op *op, const struct o2_sim_end *end);
void o2_sim_stand_heard(struct o2_sim_end *end, uint8_t type, struct o2_sim_op *op);
/* A message was posted, or (rc) could not be.  op: NULL: no operation's. */
void o2_sim_stand_posted(struct o2_sim_end *end, const struct ibv_send_wr *wr, struct o2_sim_op *op,
			 uint8_t type, int rc);
/* A completion is about to be handled; a completion was taken from the queue. */
void o2_sim_stand_completed(struct o2_sim_end *end, const struct ibv_wc *wc);
void o2_sim_stand_failed(struct o2_sim_end *end, const struct ibv_wc *wc);
/* Does the result say what follows from that? */
void o2_sim_stand_judge(struct o2_sim *sim, struct o2_sim_end *end, struct o2_sim_op *op,
			const struct o2_transfer_result *result);
/* Does the end of the connection, for its deadline? */
bool o2_sim_stand_oldest(const struct o2_sim_end *end, const struct o2_transfer_fault *fault);

/* sim_forge.c */

/* A message that no honest peer would send now, and the one thing that may come of it. */
void o2_sim_forge(struct o2_sim *sim);

/* sim_wire.c */

void o2_sim_tap(void *arg, const struct o2_loop_seen *seen);
/* The operation that a message of this end is about; NULL: none, or nobody's. */
struct o2_sim_op *o2_sim_op_of(struct o2_sim_end *from, const uint8_t *bytes, uint64_t length, uint8_t type);
/* Message completions of this end that are about to be handled. */
void o2_sim_wire_handled(struct o2_sim_end *end, uint32_t count);

/* sim_fields.c */

/* A message has arrived: is each field of it what it has to be?  length: of its first piece.  op: that it is
 * about, or NULL.  again: such a message of it was seen before. */
void o2_sim_check_fields(const struct o2_sim_end *from, const uint8_t *bytes, uint64_t length,
			 const struct o2_sim_op *op, bool again);

/* sim_post.c */

/* From now on all that is posted on this device is looked at. */
void o2_sim_posts_watch(struct o2_sim *sim, struct ibv_context *context);
/* It knows how late it is: who has said nothing for the keep-alive's time cannot, whatever it has heard meanwhile. */
void o2_sim_check_silence(const struct o2_sim_end *end);

/* sim_model.c */

/* The device has found no receive for the first message of this end: is that foretold, and is it the last? */
void o2_sim_not_ready(struct o2_sim *sim, struct o2_sim_end *from);
/* After each step: credits, queues, and what the fabric has seen. */
void o2_sim_check(struct o2_sim *sim);
/* Nothing moves any more: what must be true then. */
void o2_sim_check_rest(struct o2_sim *sim);

/* sim_config.c */

/* sim->deep and sim->wide are drawn before. */
void o2_sim_draw_config(struct o2_sim *sim);
/* It was made with that, and says end->depth: is it as large as that makes it? */
void o2_sim_check_sizes(struct o2_sim *sim, struct o2_sim_end *end, const struct o2_conn_config *config);
/* The smaller depth counts at both ends. */
void o2_sim_agree(struct o2_sim_end *a, struct o2_sim_end *b);

/* sim_world.c */

void o2_sim_world_open(struct o2_sim *sim);
/* Two ends as config says; what it does not say is the simplest, where sim->choice is empty. */
void o2_sim_world_make(struct o2_sim *sim, const struct o2_conn_config *config);
void o2_sim_world_close(struct o2_sim *sim);
/* The nodes that live on. */
void o2_sim_world_free(struct o2_sim *sim);
void o2_sim_tell_time(struct o2_sim_end *end);
void o2_sim_establish(struct o2_sim *sim, struct o2_sim_end *end); /* if it is not yet */
struct o2_sim_end *o2_sim_end_of_qp(struct o2_sim *sim, uint32_t qp_num);

/* sim_step.c */

void o2_sim_step(struct o2_sim *sim);
/* No more operations and no more faults: all that can happen happens, fairly. */
void o2_sim_settle(struct o2_sim *sim);
/* Ask the device what could run (sim->runnable); nothing does. */
void o2_sim_look_at_device(struct o2_sim *sim);
/* Run it. */
void o2_sim_execute(struct o2_sim *sim, uint32_t index);
/* The device executes one work request of this end, which handles what completes.  False: it has none. */
bool o2_sim_execute_one(struct o2_sim *sim, struct o2_sim_end *end);
void o2_sim_clock(struct o2_sim *sim, uint64_t ms);

/* sim_complete.c */

bool o2_sim_has_completion(const struct o2_sim_end *end);
/* Handle the next completion, if there is one; with it the one that overtakes it. */
void o2_sim_complete(struct o2_sim *sim, struct o2_sim_end *end);

/* sim_print.c */

void o2_sim_log(struct o2_sim *sim, enum o2_sim_event_kind kind, const struct o2_sim_end *end, uint32_t n,
		int32_t code);
void o2_sim_print(const struct o2_sim *sim, uint32_t pieces, FILE *out);

static inline bool o2_sim_ok(const struct o2_sim *sim)
{
	return !sim->report->failed;
}

/* Is what began then too old now?  Only with a time-out. */
static inline bool o2_sim_late(const struct o2_sim *sim, uint64_t since_ms)
{
	return sim->now_ms >= since_ms + sim->config.timeout_ms;
}

static inline void o2_sim_seen(struct o2_sim *sim, enum o2_sim_situation situation)
{
	sim->run->tally.seen[situation]++;
}

#endif
