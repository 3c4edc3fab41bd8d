/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SIM_INTERNAL_H
#define O2_PROPS_SIM_INTERNAL_H

#include <stdio.h>

#include "lnd/conn/conn.h"
#include "lnd/ni/ni.h"
#include "loopverbs/loopverbs.h"
#include "mem/kmap.h"
#include "props/engine/report.h"
#include "props/talk/sim.h"
#include "props/world/account.h"
#include "props/world/memory.h"
#include "props/world/place.h"
#include "props/world/receives.h"
#include "props/world/witness.h"

/* Internals of the simulation, shared by props/talk/sim_*.c (docs/simulation.md). */

#define O2_SIM_NODES	     3u
#define O2_SIM_ENDS	     6u /* two for each pair of nodes */
#define O2_SIM_REASONS	     32u
#define O2_SIM_IMMEDIATE_HDR 120u /* bytes ahead of an IMMEDIATE's payload */
#define O2_SIM_OPS	     640u /* most operations of a deep case */
#define O2_SIM_FEW_OPS	     128u /* most operations of any other case */
#define O2_SIM_STEPS	     600u
#define O2_SIM_PAGES	     256u  /* pages of a node */
#define O2_SIM_MANY_PAGES    1024u /* pages of a node in a deep case */
#define O2_SIM_MAX_NOB	     12000u
#define O2_SIM_FIRST_NID     0x00050000c0a80a01ull
#define O2_SIM_FIRST_STAMP   0x0006000011112222ull
#define O2_SIM_DMA_BASE	     0x7f0000000000ull /* device address of the first node's first page */
#define O2_SIM_LOG	     4096u
#define O2_SIM_ON_THE_WAY    1024u
#define O2_SIM_CODES	     12u

/* --- operations (sim_op.c) --- */

/* How the node at the other end answers a request. */
enum o2_sim_verdict {
	O2_SIM_ACCEPT,
	O2_SIM_SHORT, /* fewer bytes than are offered or than the sink holds */
	O2_SIM_ZERO,
	O2_SIM_NO_MATCH,
	O2_SIM_REFUSE, /* with -EACCES */
	O2_SIM_LONGER, /* more bytes than offered: a fault of the answering node */
	O2_SIM_INSANE, /* refuses the LNet header (-EPROTO) */
	O2_SIM_VERDICTS,
};

/* Negative errnos of faults that the case injected. */
struct o2_sim_codes {
	int code[O2_SIM_CODES];
	uint32_t count;
};

/* A reason for which a connection may close. */
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

/* What one end has posted and received for an operation (sim_stand.c). */
struct o2_sim_stand {
	uint32_t due;		      /* messages that the end has had to send so far */
	uint32_t posted, acked;	      /* of these: posted; posted and completion handled */
	uint8_t last;		      /* type of the last message posted */
	bool answered;		      /* the other end sends nothing more for it */
	const struct o2_tx *transmit; /* transmit that posted them; compared only, never dereferenced */
};

struct o2_sim_op {
	uint32_t id, place; /* place: ordinal among the requests that its end has posted, from 1 */
	enum o2_transfer_op op;
	uint32_t lnet_type; /* IMMEDIATE */
	struct o2_sim_end *end;
	bool as_bytes; /* IMMEDIATE: sent by o2_conn_send_bytes */
	enum o2_sim_verdict verdict;
	uint64_t nob;		    /* bytes offered, or the size of the sink */
	uint64_t wanted;	    /* bytes that are to move */
	struct o2_op_memory ours;   /* at the initiator */
	struct o2_op_memory theirs; /* PUT, GET: at the other end */

	/* Predicted results if nothing fails: of the start call, and of `done` on either side. */
	int start_code, code;
	uint64_t done_nob;
	int code_there;

	struct o2_sim_codes hit, hit_there; /* injected errors in what each side did for it */
	uint64_t told;			    /* the cookie that the start call gave */
	bool started, ended, matched, ended_there, received;
	bool closed_by_match; /* the other end accepted it, then closed the connection inside match */
	bool status_sent;     /* a PUT_NAK, PUT_DONE or GET_DONE with .wire_status was seen on the fabric */
	int32_t wire_status;
	uint64_t since_ms, since_there_ms; /* when its deadline began to run */
	/* As seen on the fabric. */
	bool requested, acknowledged;
	uint64_t cookie, cookie_there; /* cookies of the request and of its PUT_ACK */
	uint32_t key;		       /* rkey and first address of the sink's descriptor */
	uint64_t key_addr;
	uint32_t frags;		      /* fragments of that descriptor; 0: none was seen */
	struct o2_sim_stand stand[2]; /* [0] at the initiator, [1] at the other end */
};

/* --- ends of connections --- */

/* One message that has arrived and that its receiver has not yet handled. */
struct o2_sim_message {
	uint8_t type;
	uint8_t credits;
	uint32_t op; /* number of its operation; O2_SIM_OPS: none, or unknown */
};

/* What an end has sent, as seen on the fabric. */
struct o2_sim_wire {
	uint64_t messages, credit_messages, credits, noops;
	uint64_t handled_credits; /* credits in those messages that the other end has handled */
	struct o2_sim_message on_the_way[O2_SIM_ON_THE_WAY];
	uint32_t first, count;
};

struct o2_sim_end {
	struct o2_sim *sim;
	struct o2_sim_end *other;
	uint32_t node, index;
	struct o2_conn *conn;
	uint32_t qp_num;
	uint32_t depth, max_msg_bytes; /* the agreed depth; the largest message it accepts */
	struct o2_account_limits limits;
	bool asleep;	    /* simulates a slow peer: its completions are not handled for now */
	bool forged;	    /* it has received a forged message */
	bool broken;	    /* its queue pair is in the error state or destroyed */
	bool never_ready;   /* the device gave up sending NOOPs for which the other end has no receive */
	uint32_t rnr_waits; /* receiver-not-ready retries of its oldest message so far */
	bool closed;	    /* the connection has reported that it is closed */
	struct o2_transfer_fault fault;
	uint32_t culprits;	  /* operations that reported the connection's own error */
	enum ibv_wc_status cause; /* status of the most telling completion; SUCCESS: none failed */
	const struct o2_sim_op
		*blamed; /* operation whose work request failed or could not be posted; NULL: none */
	const struct o2_sim_op
		*hearing;	     /* operation whose message is being handled; may not have taken effect */
	uint32_t sends, invalidates; /* posted; their completions are not yet handled */
	uint64_t posted_ms;	     /* time of its last message, or of its establishment */
	bool in_progress;	     /* inside o2_conn_progress: which completion it is at cannot be seen */
	uint64_t oldest_ms;	     /* greatest age among operations that were late */
	bool oldest_sent;	     /* an operation of that age had posted all that was due */
	struct o2_sim_reasons may_close; /* reasons for which it may close */
	uint32_t open, asked, shown;	 /* own open; own posted; shown to the peer */
	uint32_t rank_ended;		 /* as it closes: the rank of what ended last */
	uint64_t silent_since_ms;	 /* when it refused a request; the answer may be in flight; 0: none */
	uint64_t no_noops_ms;		 /* last time at which it had no NOOP queued or in flight */
	bool deadline_due;		 /* some deadline of this end will pass with the next clock step */
	struct o2_sim_wire wire;
	struct o2_receives receives;
	struct o2_conn_view view; /* state of the connection after the last step */
};

struct o2_sim_node {
	struct o2_place *place;	  /* place used in this case: one of the next two */
	struct o2_place standing; /* kept from case to case */
	struct o2_place special;  /* made for one case only */
	bool used_up;		  /* close .place before the next case: its pools have been changed */
	uint64_t since_ms;	  /* reading of its clock when the case began */
	uint64_t told_ms;	  /* last time that it was told */
	uint32_t next_page;
	struct o2_sim_codes failed;  /* errnos injected while connections are made */
	bool gone;		     /* its device is lost and has been replaced */
	uint64_t no_growth_until_ms; /* pools refuse to grow until then, because growth failed */
};

/* --- what happens --- */

enum o2_sim_event_kind {
	O2_SIM_EV_START, /* the application starts operation .n; code: result of the call */
	O2_SIM_EV_ENDED, /* at the initiator */
	O2_SIM_EV_ENDED_THERE,
	O2_SIM_EV_MATCHED,
	O2_SIM_EV_RECEIVED,
	O2_SIM_EV_COMPLETION, /* n: kind of work in wr_id, code: status */
	O2_SIM_EV_EXECUTE,    /* the device executes one work request of end .a */
	O2_SIM_EV_MESSAGE,    /* n: type, code: credits */
	O2_SIM_EV_PROGRESS,
	O2_SIM_EV_CLOCK,  /* n: milliseconds later */
	O2_SIM_EV_TICK,	  /* a device timer expires */
	O2_SIM_EV_ARM,	  /* fault n is armed, to fire at occurrence code */
	O2_SIM_EV_FAULT,  /* fault n has fired */
	O2_SIM_EV_CLOSE,  /* the application closes end .a */
	O2_SIM_EV_CLOSED, /* end .a reports that it is closed */
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
	O2_SIM_FAIL_CALL, /* device call .call fails */
	O2_SIM_FAIL_ALLOCATION,
};

struct o2_sim_fault {
	enum o2_sim_fault_kind kind;
	enum o2_loop_call call;
	uint32_t left; /* occurrences until it fires */
	int value;     /* errno, or completion status */
};

struct o2_sim {
	struct o2_sim_run *run;
	struct o2_choice *choice;
	struct o2_report *report;
	struct o2_arenas arenas; /* memory arenas, shared by all cases */
	struct o2_sim_node node[O2_SIM_NODES];
	uint32_t nnodes;
	struct o2_sim_end end[O2_SIM_ENDS];
	uint32_t nends;
	struct o2_conn_config config; /* configuration of all ends, except queue_depth */
	uint32_t depth;		      /* depth that is asked for; less if device memory is short */
	uint32_t op_weight[3];	      /* draw weights of IMMEDIATE, PUT, GET */
	struct o2_sim_op op[O2_SIM_OPS];
	uint32_t nops, most_ops;
	uint64_t now_ms;
	uint32_t inside_left; /* operations still to be started from callbacks */
	bool close_inside;    /* the next callback closes its connection */
	bool faults;	      /* this case injects faults */
	bool small;	      /* small pools, and few windows for scattered memory */
	bool deep;	      /* depths up to 255, and as many concurrent operations */
	bool wide;	      /* up to 257 fragments */
	bool kernel_order;    /* the second node registers by work requests, as kernel nodes do */
	bool remapped;	      /* an IOMMU remaps the pages of the first node's device */
	struct o2_sim_fault fault;
	struct o2_kmapping kmap[O2_KMAPS_MAX]; /* temporary mappings of pages that the case holds */
	bool kmaps_taken;		       /* it holds all that there are */
	struct o2_sim_end *acting;	       /* end whose code is running */
	struct o2_sim_op *at_work;	       /* operation that code works for, if known */
	uint64_t rnr_waits, overruns;	       /* totals of the devices so far */
	struct o2_witness *witness;	       /* checks traffic that no forged message has touched */

	/* Queue pairs whose next work request the device could execute, and the one it may execute. */
	uint32_t runnable[O2_SIM_ENDS];
	uint32_t nrunnable;
	int run_next; /* index, or -1: nothing */

	uint64_t trace;
	uint64_t events;
	struct o2_sim_event log[O2_SIM_LOG]; /* the most recent events */
};

/* sim_memory.c */

uint32_t o2_sim_pages(const struct o2_sim *sim); /* number of pages of a node */
/* Draw nob bytes of memory for one side, on unshared pages.  False: the arena is full. */
bool o2_sim_memory_draw(struct o2_sim *sim, uint32_t node, uint64_t nob, struct o2_op_memory *memory);
/* Same, with these properties instead of drawn ones; *memory says whether it is gapped or scattered. */
bool o2_sim_memory_make(struct o2_sim *sim, uint32_t node, uint64_t nob, enum o2_reg_mode mode,
			uint32_t offset, struct o2_op_memory *memory);
/* Fill both sides so that each byte differs from the byte at the same place on the other side. */
void o2_sim_memory_fill(struct o2_sim_op *op);
void o2_sim_memory_check_all(struct o2_sim *sim);
/* Fragments in its descriptor; errno with which mapping it is refused (0: accepted). */
uint32_t o2_sim_memory_frags(const struct o2_op_memory *memory);
int o2_sim_memory_refusal(const struct o2_sim_op *op, const struct o2_op_memory *memory);
uint32_t o2_sim_sink_frags(const struct o2_sim_op *op); /* limit set by the source */
/* Work requests needed to move nob bytes. */
uint32_t o2_sim_memory_wrs(const struct o2_sim *sim, const struct o2_op_memory *source,
			   const struct o2_op_memory *sink, uint64_t nob);

/* sim_op.c */

/* Draw an operation of this end and start it.  False: the tables or the arena are full. */
bool o2_sim_op_start(struct o2_sim *sim, struct o2_sim_end *end);
/* Draw an operation and start up to `count` like it. */
void o2_sim_op_flood(struct o2_sim *sim, struct o2_sim_end *end, uint32_t count);
/* Start an operation that is filled in completely, including the other end's answer. */
void o2_sim_op_launch(struct o2_sim *sim, struct o2_sim_op *op);
/* The same for one that was made at sim->op[sim->nops]: fill its memory first, and count it. */
void o2_sim_op_add(struct o2_sim *sim, struct o2_sim_op *op);
extern const struct o2_conn_ops o2_sim_conn_ops;

/* sim_judge.c */

/* Check the result of starting or ending an operation, and of closing a connection. */
void o2_sim_judge_start(struct o2_sim *sim, struct o2_sim_op *op, int code, const struct o2_error *error);
void o2_sim_judge_end(struct o2_sim *sim, struct o2_sim_end *end, struct o2_sim_op *op,
		      const struct o2_transfer_result *result);
void o2_sim_judge_closed(struct o2_sim *sim, struct o2_sim_end *end);

/* sim_fault.c */

void o2_sim_faults_install(struct o2_sim *sim);
void o2_sim_faults_remove(void);
void o2_sim_fault_draw(struct o2_sim *sim);
void o2_sim_fault_disarm(struct o2_sim *sim);
/* Take all temporary mappings of pages, or give them back. */
void o2_sim_fault_kmaps(struct o2_sim *sim);
/* Make one of the next `most` occurrences of a call fail; the same for allocations. */
void o2_sim_fault_arm(struct o2_sim *sim, enum o2_loop_call call, uint32_t most);
void o2_sim_fault_arm_allocation(struct o2_sim *sim, uint32_t most);
/* Call after code of this end has run: records whether an allocation failed in it. */
void o2_sim_fault_after(struct o2_sim *sim, struct o2_sim_end *end);
/* The same as an operation ends, which may copy bytes of pages. */
void o2_sim_fault_at_end(struct o2_sim *sim, struct o2_sim_end *end, struct o2_sim_op *op);
/* Count the error of a failure, if its rule shows which injected fault caused it. */
void o2_sim_fault_reason(struct o2_sim *sim, const struct o2_error *error);
/* Was a fault with this code injected into what this end does for the operation? */
bool o2_sim_may_fail(const struct o2_sim_op *op, const struct o2_sim_end *end, int code);
/* Code of this end starts to work for an operation. */
void o2_sim_works_on(struct o2_sim *sim, struct o2_sim_end *end, struct o2_sim_op *op);
void o2_sim_codes_add(struct o2_sim_codes *codes, int code);
bool o2_sim_codes_has(const struct o2_sim_codes *codes, int code);
void o2_sim_may_close(struct o2_sim_end *end, enum o2_fault_side side, int code, const char *rule);
/* The application closes this end with that code. */
void o2_sim_is_closed(struct o2_sim_end *end, int code);
/* The queue pair of this end no longer works: the other end will notice. */
void o2_sim_break(struct o2_sim_end *end);

/* sim_stand.c */

/* A message of the operation is due at this end; this end handles a message of that type. */
void o2_sim_stand_due(struct o2_sim_op *op, const struct o2_sim_end *end);
void o2_sim_stand_heard(struct o2_sim_end *end, uint8_t type, struct o2_sim_op *op);
/* A message was posted (rc 0), or posting it failed.  op NULL: it belongs to no operation. */
void o2_sim_stand_posted(struct o2_sim_end *end, const struct ibv_send_wr *wr, struct o2_sim_op *op,
			 uint8_t type, int rc);
/* A completion is about to be handled; a completion was polled. */
void o2_sim_stand_completed(struct o2_sim_end *end, const struct ibv_wc *wc);
void o2_sim_stand_failed(struct o2_sim_end *end, const struct ibv_wc *wc);
/* Check that the result names the wait and the health that follow from these events. */
void o2_sim_stand_judge(struct o2_sim *sim, struct o2_sim_end *end, struct o2_sim_op *op,
			const struct o2_transfer_result *result);
/* Check the same of a connection that its deadline has closed. */
bool o2_sim_stand_oldest(const struct o2_sim_end *end, const struct o2_transfer_fault *fault);

/* sim_forge.c */

/* Deliver a message that no correct peer would send now, and record the one permitted outcome. */
void o2_sim_forge(struct o2_sim *sim);

/* sim_wire.c */

void o2_sim_tap(void *arg, const struct o2_loop_seen *seen);
/* The operation that a message of this end is about; NULL: none, or unknown. */
struct o2_sim_op *o2_sim_op_of(struct o2_sim_end *from, const uint8_t *bytes, uint64_t length, uint8_t type);
/* `count` messages that have arrived at this end are about to be handled. */
void o2_sim_wire_handled(struct o2_sim_end *end, uint32_t count);

/* sim_fields.c */

/* Check each field of a message that has arrived.  length: bytes of its first gather entry.  op: its
 * operation, or NULL.  again: a message of this type was seen before for this operation. */
void o2_sim_check_fields(const struct o2_sim_end *from, const uint8_t *bytes, uint64_t length,
			 const struct o2_sim_op *op, bool again);

/* sim_post.c */

/* From now on check every work request that is posted on this device. */
void o2_sim_posts_watch(struct o2_sim *sim, struct ibv_context *context);
/* The end knows the time: fail if it has sent nothing for the keep-alive time, whatever it has received. */
void o2_sim_check_silence(const struct o2_sim_end *end);

/* sim_model.c */

/* The device found no receive for the first message of this end: check that this, or giving up, is predicted. */
void o2_sim_not_ready(struct o2_sim *sim, struct o2_sim_end *from);
/* After each step: check credits, queues, and what the fabric has shown. */
void o2_sim_check(struct o2_sim *sim);
/* Nothing is in motion any more: check what must be true at rest. */
void o2_sim_check_rest(struct o2_sim *sim);

/* sim_config.c */

/* Draw the configuration.  sim->deep and sim->wide have been drawn before. */
void o2_sim_draw_config(struct o2_sim *sim);
/* The connection was created with *config and reports end->depth: check that this is the right size. */
void o2_sim_check_sizes(struct o2_sim *sim, struct o2_sim_end *end, const struct o2_conn_config *config);
/* Both ends agree on the smaller of their depths. */
void o2_sim_agree(struct o2_sim_end *a, struct o2_sim_end *b);

/* sim_world.c */

void o2_sim_world_open(struct o2_sim *sim);
/* Make two ends as config says.  If sim->choice is empty, all else is the simplest possible. */
void o2_sim_world_make(struct o2_sim *sim, const struct o2_conn_config *config);
void o2_sim_world_close(struct o2_sim *sim);
/* Free the nodes that are kept from case to case. */
void o2_sim_world_free(struct o2_sim *sim);
void o2_sim_tell_time(struct o2_sim_end *end);
void o2_sim_establish(struct o2_sim *sim, struct o2_sim_end *end); /* unless it is established already */
struct o2_sim_end *o2_sim_end_of_qp(struct o2_sim *sim, uint32_t qp_num);

/* sim_step.c */

void o2_sim_step(struct o2_sim *sim);
/* Start no more operations or faults; let all pending events happen, in fair order. */
void o2_sim_settle(struct o2_sim *sim);
/* Fill sim->runnable with what the device could execute, without executing anything. */
void o2_sim_look_at_device(struct o2_sim *sim);
/* Execute entry `index` of sim->runnable. */
void o2_sim_execute(struct o2_sim *sim, uint32_t index);
/* The device executes one work request of this end, which then handles completions.  False: none is left. */
bool o2_sim_execute_one(struct o2_sim *sim, struct o2_sim_end *end);
void o2_sim_clock(struct o2_sim *sim, uint64_t ms);

/* sim_complete.c */

bool o2_sim_has_completion(const struct o2_sim_end *end);
/* Handle the next completion, if any, and with it the one that overtakes it. */
void o2_sim_complete(struct o2_sim *sim, struct o2_sim_end *end);

/* sim_print.c */

void o2_sim_log(struct o2_sim *sim, enum o2_sim_event_kind kind, const struct o2_sim_end *end, uint32_t n,
		int32_t code);
void o2_sim_print(const struct o2_sim *sim, uint32_t pieces, FILE *out);

static inline bool o2_sim_ok(const struct o2_sim *sim)
{
	return !sim->report->failed;
}

/* Has what began at since_ms timed out?  Only valid with a time-out configured. */
static inline bool o2_sim_late(const struct o2_sim *sim, uint64_t since_ms)
{
	return sim->now_ms >= since_ms + sim->config.timeout_ms;
}

static inline void o2_sim_seen(struct o2_sim *sim, enum o2_sim_situation situation)
{
	sim->run->tally.seen[situation]++;
}

#endif
