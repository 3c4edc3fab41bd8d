/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_VERBS_INTERNAL_H
#define O2_PROPS_VERBS_INTERNAL_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loopverbs/loopverbs.h"
#include "props/engine/choice.h"
#include "props/engine/report.h"
#include "props/engine/tally.h"
#include "props/verbs/verbs.h"

/* The objects of a case, with the model's state of each.  Only addresses, keys and numbers are the device's. */

#define O2_VERBS_SIDES	     2u
#define O2_VERBS_DOMAINS     2u
#define O2_VERBS_QUEUES	     3u /* completion queues of a side */
#define O2_VERBS_PAIRS	     3u /* queue pairs of a side */
#define O2_VERBS_REGIONS     6u
#define O2_VERBS_WINDOWS     4u
#define O2_VERBS_PIECES	     4u
#define O2_VERBS_PAGE	     4096u
#define O2_VERBS_ARENA_BYTES (6u * O2_VERBS_PAGE)
#define O2_VERBS_LIST_BYTES  (3u * O2_VERBS_PAGE) /* of a list, one wild entry not counted */
#define O2_VERBS_MOST_BYTES  (O2_VERBS_LIST_BYTES + O2_VERBS_ARENA_BYTES + 64u)
#define O2_VERBS_SGES	     32u
#define O2_VERBS_DEPTH	     12u /* depth of queues that are posted to */
#define O2_VERBS_ENTRIES     31u /* entries of completion queues that are used */
#define O2_VERBS_LOG	     512u
#define O2_VERBS_EVENTS	     512u
#define O2_VERBS_NEVER	     UINT64_MAX
#define O2_VERBS_NONE	     UINT32_MAX
#define O2_VERBS_RUNS	     64u /* most queue pairs that a pick callback is told of */

/* A range of a side's memory. */
struct o2_verbs_piece {
	uint32_t at, bytes;
};

enum o2_verbs_kind { O2_VERBS_PLAIN, O2_VERBS_GAPS, O2_VERBS_FAST };

struct o2_verbs_region {
	struct ibv_mr *mr; /* NULL: no such region */
	enum o2_verbs_kind kind;
	uint32_t domain;
	uint32_t key, rkey; /* keys for local and for remote access */
	uint32_t access;
	uint32_t windows; /* windows bound to it */
	uint64_t iova, bytes;
	uint32_t pieces;
	struct o2_verbs_piece piece[O2_VERBS_PIECES];
	/* Only FAST: */
	bool registered;
	uint32_t holds;
	uint32_t mapped; /* pieces of the next registration; 0: nothing mapped */
	uint64_t mapped_iova;
	struct o2_verbs_piece next[O2_VERBS_PIECES];
};

struct o2_verbs_window {
	struct ibv_mw *mw;
	enum ibv_mw_type type;
	uint32_t domain;
	uint32_t key;
	bool bound;
	uint32_t region; /* while bound */
	uint32_t pair;	 /* type 2, while bound */
	uint32_t access;
	uint64_t at, bytes;
};

struct o2_verbs_cq {
	struct ibv_cq *cq;
	bool channel;
	uint32_t entries, users, count;
	struct ibv_wc wc[O2_VERBS_ENTRIES + 1];
	enum { O2_VERBS_UNARMED, O2_VERBS_SOLICITED, O2_VERBS_ANY } armed;
	uint32_t pending, delivered, acked; /* events of its channel: pending, read, acknowledged */
};

struct o2_verbs_recv {
	uint64_t wr_id;
	uint32_t sges;
	struct ibv_sge sge[O2_VERBS_SGES];
};

struct o2_verbs_ring {
	uint32_t max, max_sge, count;
	struct o2_verbs_recv recv[O2_VERBS_DEPTH];
};

struct o2_verbs_send {
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	uint32_t flags;
	uint32_t bytes;
	uint32_t sges;
	struct ibv_sge sge[O2_VERBS_SGES];
	uint8_t data[512]; /* inline */
	uint32_t imm;	   /* immediate data, or the key to invalidate */
	uint64_t remote;
	uint32_t rkey;
	uint64_t compare_add, swap;
	/* a bind or a registration */
	uint32_t window, region; /* O2_VERBS_NONE: none */
	uint32_t old_key, new_key, region_key, access;
	uint64_t at, length;
	/* a datagram */
	uint32_t to_side, to_number, qkey, from_gid, to_gid;
};

enum o2_verbs_wait { O2_VERBS_NO_WAIT, O2_VERBS_WAIT_RNR, O2_VERBS_WAIT_ACK };

struct o2_verbs_qp {
	struct ibv_qp *qp;
	uint32_t side, index, number;
	enum ibv_qp_type type;
	uint32_t domain;
	uint32_t send_cq, recv_cq;
	bool shared, sig_all;
	struct ibv_qp_cap cap;
	enum ibv_qp_state state;
	struct ibv_qp_attr attr; /* attributes that were set */
	uint32_t dest_side;	 /* O2_VERBS_NONE: its destination address does not exist */
	uint32_t sends;
	struct o2_verbs_send send[O2_VERBS_DEPTH];
	struct o2_verbs_ring own;
	uint32_t sq_psn, rq_psn;
	uint32_t bound;	    /* type 2 windows bound through it */
	bool broken, begun; /* begun: its first request was tried, and waits to be tried again */
	enum o2_verbs_wait wait;
	struct o2_verbs_qp *wait_for; /* WAIT_RNR: the queue pair without a receive */
	uint64_t due_ns;
	uint32_t rnr_left, ack_left;
};

struct o2_verbs_event {
	enum ibv_event_type type;
	const void *element;
};

struct o2_verbs_side {
	struct ibv_context *context;
	union ibv_gid gid[2];
	struct ibv_pd *pd[O2_VERBS_DOMAINS];
	uint32_t pd_users[O2_VERBS_DOMAINS];
	struct ibv_ah *ah;		   /* address of the other side, in domain 0 */
	uint32_t ah_from, ah_gid, ah_dest; /* source GID, destination GID, destination side */
	struct ibv_comp_channel *channel;
	struct o2_verbs_cq cq[O2_VERBS_QUEUES];
	uint32_t ready[O2_VERBS_QUEUES]; /* completion queues with events, oldest first */
	uint32_t readies;
	struct ibv_srq *srq;
	uint32_t srq_domain, srq_users, srq_limit;
	struct o2_verbs_ring shared;
	struct o2_verbs_region region[O2_VERBS_REGIONS];
	struct o2_verbs_window window[O2_VERBS_WINDOWS];
	struct o2_verbs_qp qp[O2_VERBS_PAIRS];
	struct o2_verbs_event event[O2_VERBS_EVENTS];
	uint32_t events;
	uint8_t *arena;			     /* memory that the device uses */
	uint8_t model[O2_VERBS_ARENA_BYTES]; /* predicted content of the arena */
};

/* What a tap reported: once by the device, once by the model. */
struct o2_verbs_tapped {
	uint32_t from, to;
	bool is_write;
	uint64_t bytes, at;
	uint32_t rkey;
	uint64_t seen, sum; /* a SEND: length and checksum of its first bytes */
};

struct o2_verbs_picked {
	uint32_t count;
	uint32_t number[O2_VERBS_RUNS];
};

struct o2_verbs_log {
	uint32_t taps, picks, faults; /* picks: all, including those beyond the array */
	struct o2_verbs_tapped tap[O2_VERBS_LOG];
	struct o2_verbs_picked pick[O2_VERBS_LOG];
};
/* Faults, and the choice of what runs next.  From the same numbers the device's hook and the model's act alike. */
struct o2_verbs_hook {
	uint32_t after[O2_LOOP_CALLS]; /* the n-th call from now fails; 0: none */
	int error[O2_LOOP_CALLS];
	uint64_t numbers; /* checksum of the queue pairs that armed calls named */
	bool picks;
	uint64_t random; /* generator state of picks */
};
/* Bytes by their place in a side's memory, or by value. */
struct o2_verbs_bytes {
	uint32_t count;
	uint32_t place[O2_VERBS_MOST_BYTES];
	uint8_t value[O2_VERBS_MOST_BYTES]; /* values when the bytes were gathered */
	enum ibv_wc_status status;
};

struct o2_verbs_world {
	struct o2_choice *choice;
	struct o2_report *report;
	uint64_t *seen; /* counters, by situation */
	const struct o2_verbs_run *run;
	struct o2_verbs_side side[O2_VERBS_SIDES];
	struct o2_verbs_hook device_hook, hook;
	struct o2_verbs_log device_log, log;
	struct o2_loop_counters counters; /* predicted counters */
	struct o2_verbs_qp *runnable[O2_VERBS_SIDES * O2_VERBS_PAIRS];
	uint32_t runnables;
	struct o2_verbs_qp *waiting[O2_VERBS_SIDES * O2_VERBS_PAIRS];
	uint32_t waitings;
	bool option[O2_LOOP_OPTIONS];
	uint64_t next_id;
	uint32_t step;
	char text[160]; /* the current step, as text */
	/* Of the current request: the bytes it sends, where they go, and the bytes it reads from the peer. */
	struct o2_verbs_bytes source, sink, remote;
};

#define O2_VERBS_SITUATION_LIST(ENTRY)                                 \
	ENTRY(SEND, "send")                                            \
	ENTRY(SEND_IMM, "send_with_immediate")                         \
	ENTRY(SEND_INV, "send_with_invalidate")                        \
	ENTRY(INVALIDATE_WRONG, "send_with_invalidate_of_a_wrong_key") \
	ENTRY(WRITE, "write")                                          \
	ENTRY(WRITE_IMM, "write_with_immediate")                       \
	ENTRY(READ, "read")                                            \
	ENTRY(SWAP, "compare_and_swap")                                \
	ENTRY(ADD, "fetch_and_add")                                    \
	ENTRY(BIND_1, "bind_type_1")                                   \
	ENTRY(BIND_2, "bind_type_2")                                   \
	ENTRY(BIND_REFUSED, "bind_refused")                            \
	ENTRY(LOCAL_INV, "local_invalidate")                           \
	ENTRY(LOCAL_INV_WRONG, "local_invalidate_refused")             \
	ENTRY(FAST, "fast_registration")                               \
	ENTRY(FAST_REFUSED, "fast_registration_refused")               \
	ENTRY(THROUGH_WINDOW, "access_through_a_window")               \
	ENTRY(PAST_WINDOW, "access_past_a_window")                     \
	ENTRY(THROUGH_GAPS, "access_to_a_region_with_gaps")            \
	ENTRY(INLINE, "inline")                                        \
	ENTRY(LONG_LIST, "list_of_32_entries")                         \
	ENTRY(MANY_PACKETS, "many_packets")                            \
	ENTRY(LOCAL_KEY, "wrong_local_key")                            \
	ENTRY(LOCAL_RANGE, "wrong_local_range")                        \
	ENTRY(LOCAL_PART, "local_fault_after_whole_packets")           \
	ENTRY(READ_FAULT, "read_into_what_is_not_writable")            \
	ENTRY(REMOTE_ACCESS, "remote_access_refused")                  \
	ENTRY(REMOTE_RIGHT, "remote_right_missing")                    \
	ENTRY(TOO_LONG, "message_longer_than_its_receive")             \
	ENTRY(RECV_FAULT, "bad_entry_of_a_receive")                    \
	ENTRY(RNR_WAIT, "no_receive_yet")                              \
	ENTRY(RNR_WOKEN, "receive_came_in_time")                       \
	ENTRY(RNR_FAILED, "no_receive_in_time")                        \
	ENTRY(LOST, "nobody_answers")                                  \
	ENTRY(LOST_FAILED, "retries_used_up")                          \
	ENTRY(FLUSHED, "flushed")                                      \
	ENTRY(UNSIGNALLED, "unsignalled")                              \
	ENTRY(OVERRUN, "completion_queue_overrun")                     \
	ENTRY(QUEUE_FULL, "send_queue_full")                           \
	ENTRY(RECVS_FULL, "receive_queue_full")                        \
	ENTRY(SHARED, "shared_receive_queue")                          \
	ENTRY(SHARED_LIMIT, "limit_of_a_shared_queue")                 \
	ENTRY(SHARED_RESIZED, "shared_queue_resized")                  \
	ENTRY(NOTIFIED, "completion_event")                            \
	ENTRY(SOLICITED_ONLY, "solicited_event")                       \
	ENTRY(ASYNC, "asynchronous_event")                             \
	ENTRY(RESIZED, "completion_queue_resized")                     \
	ENTRY(BUSY, "busy")                                            \
	ENTRY(STATE_CHANGED, "state_changed")                          \
	ENTRY(STATE_REFUSED, "state_change_refused")                   \
	ENTRY(DRAINED, "send_queue_drained")                           \
	ENTRY(UNRELIABLE, "unreliable_connection")                     \
	ENTRY(DATAGRAM, "datagram")                                    \
	ENTRY(FAULT, "fault_put_in")                                   \
	ENTRY(PICKED, "picked_order")                                  \
	ENTRY(FORGED, "forged_message")                                \
	ENTRY(ADMITTED, "admitted_write")                              \
	ENTRY(LIMITS, "limits_and_one_more")                           \
	ENTRY(NO_GID, "address_that_is_no_gid")                        \
	ENTRY(KEYS_UNLIKE, "keys_in_no_order")                         \
	ENTRY(SHORT, "short_of_memory")                                \
	ENTRY(SHORT_CHANGE, "change_short_of_memory")                  \
	ENTRY(NO_DESCRIPTOR, "short_of_descriptors")                   \
	ENTRY(ASLEEP, "asleep_until_an_event")                         \
	ENTRY(INTERRUPTED, "interrupted_sleep")                        \
	ENTRY(TIMED_EVENT, "event_after_time_passed")

#define O2_VERBS_ID(id, name) O2_VERBS_SEEN_##id,
enum o2_verbs_situation { O2_VERBS_SITUATION_LIST(O2_VERBS_ID) O2_VERBS_SITUATIONS };

static inline void o2_verbs_saw(struct o2_verbs_world *world, enum o2_verbs_situation situation)
{
	world->seen[situation]++;
}

/* verbs_check.c: compares what the device reports with the prediction. */
void o2_verbs_expect(struct o2_verbs_world *world, const char *what, int64_t found, int64_t expected);
/* Check a call that creates an object.  error: the expected errno when it returns NULL; 0: it must succeed. */
bool o2_verbs_made(struct o2_verbs_world *world, const char *what, const void *object, int error);
/* Check a call that destroys an object.  False: it returned `error`, as expected, because the object is in use. */
bool o2_verbs_destroyed(struct o2_verbs_world *world, const char *what, int found, int error);
void o2_verbs_check(struct o2_verbs_world *world);
void o2_verbs_check_wc(struct o2_verbs_world *world, const struct ibv_wc *found,
		       const struct ibv_wc *expected);
void o2_verbs_query(struct o2_verbs_world *world, struct o2_verbs_qp *qp);
/* Checksum of the first bytes of a message. */
uint64_t o2_verbs_sum(const uint8_t *bytes, uint64_t count);

/* verbs_memory.c: access checks on each byte. */
/* The places of up to `bytes` bytes of a gather or scatter list, up to the first fault. */
void o2_verbs_list(struct o2_verbs_side *side, uint32_t domain, const struct ibv_sge *sge, uint32_t sges,
		   uint64_t bytes, uint32_t access, uint32_t mtu, struct o2_verbs_bytes *found);
/* The place of each byte if the peer may access them so; false: access refused. */
bool o2_verbs_reach(struct o2_verbs_world *world, struct o2_verbs_qp *qp, uint32_t key, uint64_t at,
		    uint64_t bytes, uint32_t access, struct o2_verbs_bytes *found);
bool o2_verbs_peek(struct o2_verbs_world *world, struct o2_verbs_qp *qp, uint32_t key, uint64_t at,
		   uint64_t bytes, uint32_t access, struct o2_verbs_bytes *found);
enum ibv_wc_status o2_verbs_bind(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
				 const struct o2_verbs_send *send);
bool o2_verbs_invalidate(struct o2_verbs_world *world, struct o2_verbs_qp *qp, uint32_t key);
bool o2_verbs_register(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
		       const struct o2_verbs_send *send);
void o2_verbs_unbind(struct o2_verbs_side *side, struct o2_verbs_window *window);

/* verbs_engine.c: which queue pair runs, waits and completes. */
int o2_verbs_fault(struct o2_verbs_hook *hook, enum o2_loop_call call, uint32_t number);
int64_t o2_verbs_choose(struct o2_verbs_hook *hook);
void o2_verbs_complete(struct o2_verbs_world *world, struct o2_verbs_qp *qp, enum ibv_wc_status status,
		       uint32_t bytes);
void o2_verbs_push(struct o2_verbs_world *world, struct o2_verbs_side *side, uint32_t cq,
		   const struct ibv_wc *wc, bool solicited);
void o2_verbs_tell(struct o2_verbs_side *side, enum ibv_event_type type, const void *element);
void o2_verbs_forget(struct o2_verbs_side *side, const void *element);
void o2_verbs_kick(struct o2_verbs_world *world, struct o2_verbs_qp *qp);
void o2_verbs_run(struct o2_verbs_world *world);
bool o2_verbs_tick(struct o2_verbs_world *world);
void o2_verbs_wake(struct o2_verbs_world *world, const struct o2_verbs_ring *ring,
		   const struct o2_verbs_qp *peer);
void o2_verbs_error(struct o2_verbs_world *world, struct o2_verbs_qp *qp);
void o2_verbs_drain(struct o2_verbs_world *world, struct o2_verbs_qp *qp);
void o2_verbs_drained(struct o2_verbs_world *world, struct o2_verbs_qp *qp);
/* Move the peer to ERR if it has refused a request.  NULL: does nothing. */
void o2_verbs_break_peer(struct o2_verbs_world *world, struct o2_verbs_qp *peer);
void o2_verbs_reset(struct o2_verbs_world *world, struct o2_verbs_qp *qp);
/* verbs_execute.c: executes one request. */
enum o2_verbs_verdict { O2_VERBS_DONE, O2_VERBS_RNR, O2_VERBS_LOST, O2_VERBS_FAILED };
struct o2_verbs_outcome {
	enum ibv_wc_status status;
	uint32_t bytes;
	struct o2_verbs_qp *peer;
	bool miscut; /* in: the packets are of another size than the peer's path MTU */
};
enum o2_verbs_verdict o2_verbs_execute(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
				       const struct o2_verbs_send *send, struct o2_verbs_outcome *outcome);

/* verbs_respond.c: the responder's actions; the incoming data is world->source. */
enum o2_verbs_verdict o2_verbs_arrive(struct o2_verbs_world *world, struct o2_verbs_qp *peer,
				      const struct o2_verbs_send *send, uint32_t mtu,
				      struct o2_verbs_outcome *outcome);
enum o2_verbs_verdict o2_verbs_write_to(struct o2_verbs_world *world, struct o2_verbs_qp *peer,
					const struct o2_verbs_send *send, uint32_t mtu,
					struct o2_verbs_outcome *outcome);
/* READ and atomics: the bytes read are stored in world->remote. */
enum o2_verbs_verdict o2_verbs_ask(struct o2_verbs_world *world, struct o2_verbs_qp *peer,
				   const struct o2_verbs_send *send, uint32_t right, uint32_t bytes,
				   struct o2_verbs_outcome *outcome);
void o2_verbs_datagram(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct o2_verbs_qp *peer,
		       const struct o2_verbs_send *send);
/* The places of a list of this domain that receives data, as world->sink. */
void o2_verbs_scatter(struct o2_verbs_world *world, struct o2_verbs_qp *qp, uint32_t domain,
		      const struct ibv_sge *sge, uint32_t sges, uint64_t bytes, uint32_t mtu);
void o2_verbs_put(struct o2_verbs_world *world, struct o2_verbs_side *side, const struct o2_verbs_bytes *to,
		  const uint8_t *value);
bool o2_verbs_forge(struct o2_verbs_world *world, struct o2_verbs_qp *qp, const uint8_t *bytes,
		    uint32_t count);
struct o2_verbs_ring *o2_verbs_ring_of(struct o2_verbs_world *world, struct o2_verbs_qp *qp);
void o2_verbs_pop(struct o2_verbs_world *world, struct o2_verbs_qp *qp);
/* The effect of posting a receive on the memory it names. */
void o2_verbs_scribble(struct o2_verbs_world *world, struct o2_verbs_side *side, uint32_t domain,
		       const struct o2_verbs_recv *recv);

/* verbs_query.c: queries of a device; needs domain 0 and the first completion queue. */
void o2_verbs_query_device(struct o2_verbs_world *world, struct o2_verbs_side *side);
/* verbs_state.c */
void o2_verbs_step_modify(struct o2_verbs_world *world);
/* Reconnect a pair of which one end is in error. */
void o2_verbs_mend(struct o2_verbs_world *world);
void o2_verbs_connect(struct o2_verbs_world *world, uint32_t index); /* both ends */
void o2_verbs_end_pair(struct o2_verbs_world *world, struct o2_verbs_qp *qp);

/* verbs_world.c, verbs_object.c, verbs_region.c: steps that create, change and destroy objects. */
void o2_verbs_open(struct o2_verbs_world *world);
void o2_verbs_close(struct o2_verbs_world *world);
void o2_verbs_make_cq(struct o2_verbs_world *world, struct o2_verbs_side *side, uint32_t index);
void o2_verbs_make_srq(struct o2_verbs_world *world, struct o2_verbs_side *side);
void o2_verbs_make_pair(struct o2_verbs_world *world, struct o2_verbs_side *side, uint32_t index);
void o2_verbs_step_pair(struct o2_verbs_world *world);
void o2_verbs_step_queue(struct o2_verbs_world *world);
void o2_verbs_step_shared(struct o2_verbs_world *world);
void o2_verbs_step_domain(struct o2_verbs_world *world);
void o2_verbs_step_limits(struct o2_verbs_world *world);
void o2_verbs_step_region(struct o2_verbs_world *world);
void o2_verbs_step_window(struct o2_verbs_world *world);
void o2_verbs_step_map(struct o2_verbs_world *world);

/* verbs_short.c: sometimes make an allocation of the next call fail; stop that, and return whether one failed. */
void o2_verbs_run_short(struct o2_verbs_world *world);
bool o2_verbs_ran_short(struct o2_verbs_world *world);
void o2_verbs_step_short(struct o2_verbs_world *world);

/* verbs_draw.c, verbs_request.c, verbs_post.c, verbs_wait.c */
void o2_verbs_draw_list(struct o2_verbs_world *world, uint32_t side, uint32_t domain, uint32_t bytes,
			uint32_t most, struct ibv_sge *sge, int *sges);
uint32_t o2_verbs_draw_bytes(struct o2_verbs_world *world);
void o2_verbs_draw_target(struct o2_verbs_world *world, uint32_t side, uint32_t bytes, uint32_t right,
			  uint64_t *at, uint32_t *key);
bool o2_verbs_is_atomic(enum ibv_wr_opcode opcode);
struct o2_verbs_qp *o2_verbs_draw_pair(struct o2_verbs_world *world); /* NULL: no such queue pair now */
void o2_verbs_draw_bind(struct o2_verbs_world *world, struct o2_verbs_side *side,
			struct ibv_mw_bind_info *info, uint32_t access);
/* False: an object that the request needs does not exist. */
bool o2_verbs_draw_request(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct ibv_send_wr *wr,
			   struct ibv_sge *sge);
void o2_verbs_step_send(struct o2_verbs_world *world);
void o2_verbs_step_recv(struct o2_verbs_world *world);
void o2_verbs_step_bind(struct o2_verbs_world *world);
bool o2_verbs_sleeps_for_ever(const struct o2_verbs_world *world);
void o2_verbs_step_poll(struct o2_verbs_world *world);
void o2_verbs_step_notify(struct o2_verbs_world *world);
void o2_verbs_step_event(struct o2_verbs_world *world);
void o2_verbs_step_async(struct o2_verbs_world *world);
void o2_verbs_readable(struct o2_verbs_world *world, const struct o2_verbs_side *side);
/* The result of ibv_get_async_event.  error: errno, 0: it returned an event. */
void o2_verbs_heard(struct o2_verbs_world *world, struct o2_verbs_side *side, int error,
		    struct ibv_async_event *event);
/* verbs_sleep.c: make the process allocate what it keeps for threads before live allocations are compared. */
void o2_verbs_warm_up(void);
void o2_verbs_step_sleep(struct o2_verbs_world *world);
/* Register the world's hooks with the device. */
void o2_verbs_hook(struct o2_verbs_world *world);
void o2_verbs_step_hook(struct o2_verbs_world *world);
void o2_verbs_step_beyond(struct o2_verbs_world *world);

#endif
