/* SPDX-License-Identifier: MIT */
#ifndef O2_LOOPVERBS_INTERNAL_H
#define O2_LOOPVERBS_INTERNAL_H

/*
 * Declarations that the files of loopverbs share.  The caller of an o2l_* function must hold the fabric's lock,
 * unless the comment says otherwise; verbs entry points take the lock.
 */

#include <assert.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "loopverbs/loopverbs.h"

/* verbs.h defines these as function-like macros; this library defines functions of the same names. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/* Limits that soft-RoCE reports or was measured to have (docs/loopverbs.md, "Limits"). */
#define O2L_MAX_SGE	   32u
#define O2L_MAX_INLINE	   512u
#define O2L_MAX_QP_WR	   16384u /* soft-RoCE reports more */
#define O2L_MAX_CQE	   32767u
#define O2L_MAX_SRQ_WR	   16384u
#define O2L_MAX_SRQ_SGE	   27u
#define O2L_MAX_RD_ATOMIC  128u
#define O2L_MAX_MSG_BYTES  (1u << 31)
#define O2L_PAGE_BYTES	   4096u
#define O2L_GIDS	   2u /* per port */
#define O2L_PSN_MASK	   0xffffffu
#define O2L_RETRY_FOREVER  7u
#define O2L_GRH_BYTES	   40u
#define O2L_NEVER	   UINT64_MAX
#define O2L_FIRST_MR_INDEX 1u
#define O2L_FIRST_MW_INDEX 32768u
#define O2L_MR_SLOTS	   (O2L_FIRST_MW_INDEX - O2L_FIRST_MR_INDEX)
#define O2L_MW_SLOTS	   32768u
#define O2L_FIRST_QPN	   17u /* 0 and 1 are reserved by the specification; soft-RoCE starts at 17 too */
#define O2L_QP_SLOTS	   16384u
static_assert(O2L_FIRST_MW_INDEX + O2L_MW_SLOTS <= 1u << 24, "a key has its index in its upper 24 bits");
static_assert(O2L_FIRST_QPN + O2L_QP_SLOTS <= 1u << 24 && O2L_PSN_MASK == (1u << 24) - 1,
	      "numbers of queue pairs and packets have 24 bits");
static_assert(O2_LOOP_GID_INDEX < O2L_GIDS, "the port has this GID");
static_assert(O2_LOOP_DEVICES < UINT8_MAX, "an address ends with a device's number, from 1");
static_assert(O2L_RETRY_FOREVER == (1u << 3) - 1, "retries are counted in 3 bits");

#define O2L_REMOTE_CHANGE		 ((unsigned int)(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC))
#define O2L_CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Entry `offset` (at most `entries`) of a ring that begins at entry head: a division would take longer. */
static inline uint32_t o2l_ring_at(uint32_t head, uint32_t offset, uint32_t entries)
{
	const uint32_t at = head + offset;

	return at < entries ? at : at - entries;
}

/* Set errno, and return what a verbs call that failed returns: NULL (no object), or -1.  They need no lock. */
static inline void *o2l_refuse_object(int error)
{
	errno = error;
	return NULL;
}

static inline int o2l_refuse_call(int error)
{
	errno = error;
	return -1;
}

/* Allocates numbers in rotation, so that a freed number is not reused soon. */
struct o2l_index {
	void **slot;
	uint32_t first; /* number that belongs to slot[0] */
	uint32_t count; /* number of slots */
	uint32_t next;	/* slot at which the next search starts */
};

struct o2l_device {
	struct ibv_device ibv;
	union ibv_gid gid[O2L_GIDS];
	uint32_t number;
};

struct o2l_async_event {
	struct ibv_async_event event;
	TAILQ_ENTRY(o2l_async_event) link;
};

struct o2l_pd;
struct o2l_mr;
struct o2l_mw;
struct o2l_cq;
struct o2l_channel;
struct o2l_qp;
struct o2l_srq;
struct o2l_ah;

struct o2l_context {
	struct o2l_device *device;
	LIST_ENTRY(o2l_context) link;
	TAILQ_HEAD(, o2l_async_event) events;
	LIST_HEAD(, o2l_pd) pds;
	LIST_HEAD(, o2l_mr) mrs;
	LIST_HEAD(, o2l_mw) mws;
	LIST_HEAD(, o2l_cq) cqs;
	LIST_HEAD(, o2l_channel) channels;
	LIST_HEAD(, o2l_qp) qps;
	LIST_HEAD(, o2l_srq) srqs;
	LIST_HEAD(, o2l_ah) ahs;
	struct verbs_context verbs; /* programs hold a pointer to verbs.context */
};

struct o2l_pd {
	struct ibv_pd ibv;
	uint32_t users;
	LIST_ENTRY(o2l_pd) link;
};

struct o2l_mr {
	struct ibv_mr ibv;
	uint64_t iova;
	unsigned int access;
	uint32_t windows;      /* valid memory windows that are bound to this region */
	struct o2l_gaps *gaps; /* NULL: the region is contiguous memory at ibv.addr */
	struct o2l_fast *fast; /* for fast registration; NULL: an ordinary region */
	LIST_ENTRY(o2l_mr) link;
};

struct o2l_mw {
	struct ibv_mw ibv;
	uint32_t rkey; /* the current key; ibv.rkey is the program's copy */
	bool valid;
	struct o2l_mr *mr; /* NULL unless bound to a range */
	struct o2l_qp *qp; /* type 2: the queue pair that bound it */
	uint64_t addr;
	uint64_t length;
	unsigned int access;
	LIST_ENTRY(o2l_mw) link;
};

struct o2l_channel {
	struct ibv_comp_channel ibv; /* ibv.fd is an eventfd that counts pending events */
	TAILQ_HEAD(, o2l_cq) ready;
	LIST_ENTRY(o2l_channel) link;
};

enum o2l_armed { O2L_NOT_ARMED, O2L_ARMED_SOLICITED, O2L_ARMED_ANY };

struct o2l_cq {
	struct ibv_cq ibv;
	struct ibv_wc *ring;
	uint32_t head;
	uint32_t count;
	uint32_t users;
	enum o2l_armed armed;
	uint32_t events_pending;
	uint32_t events_delivered;
	TAILQ_ENTRY(o2l_cq) ready_link;
	LIST_ENTRY(o2l_cq) link;
};

struct o2l_ah {
	struct ibv_ah ibv;
	struct ibv_ah_attr attr;
	LIST_ENTRY(o2l_ah) link;
};

struct o2l_recv {
	uint64_t wr_id;
	uint32_t num_sge;
};

/* A ring of posted receives: of a queue pair, or of a shared receive queue. */
struct o2l_rq {
	struct o2l_recv *ring;
	struct ibv_sge *sges; /* max_sge for each slot */
	uint32_t max_wr;
	uint32_t max_sge;
	uint32_t head;
	uint32_t count;
};

struct o2l_srq {
	struct ibv_srq ibv;
	struct o2l_rq rq;
	uint32_t limit; /* 0: not armed */
	uint32_t users;
	LIST_ENTRY(o2l_srq) link;
};

/* A posted send.  It refers to objects by key, never by pointer, since the program may destroy them meanwhile. */
struct o2l_send {
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	uint32_t num_sge;
	uint32_t length_bytes;
	union {
		__be32 imm_data;
		uint32_t invalidate_rkey;
	};
	uint64_t remote_addr;
	uint32_t rkey;
	union {
		struct {
			uint64_t compare_add;
			uint64_t swap;
		} atomic;
		struct {
			uint32_t old_rkey;
			uint32_t new_rkey;
			uint32_t mr_lkey; /* 0: no region */
			unsigned int access;
			uint64_t addr;
			uint64_t length;
		} bind;
		struct {
			union ibv_gid dgid;
			uint32_t sgid_index;
			uint32_t qpn;
			uint32_t qkey;
		} ud;
	};
};

enum o2l_wait { O2L_NO_WAIT, O2L_WAIT_RNR, O2L_WAIT_ACK };

struct o2l_qp {
	struct ibv_qp ibv;
	enum ibv_qp_state state; /* the actual state; ibv.state is the program's view */
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct o2l_device *device;
	struct o2l_device *dest_device; /* from the address vector; NULL: no device has that GID */
	struct o2l_send *sq;
	struct ibv_sge *sq_sges;
	uint8_t *sq_inline;
	uint32_t sq_head, sq_count;
	struct o2l_rq own_rq;
	struct o2l_rq *rq; /* &own_rq, or the ring of the shared receive queue */
	uint32_t sq_psn;   /* next packet to send */
	uint32_t rq_psn;   /* next packet expected */
	uint32_t bound_windows;
	bool begun;  /* the request at the head was tried, and will be again: also in SQD */
	bool queued; /* is on the runnable list */
	bool broken; /* it refused a request: it enters ERR once the requester has completed that request */
	enum o2l_wait wait;
	const struct o2l_qp *wait_peer; /* O2L_WAIT_RNR: the pair that has no receive */
	uint64_t due_ns;
	uint32_t rnr_left, ack_left;   /* retries */
	TAILQ_ENTRY(o2l_qp) run_link;  /* on the list `runnable` */
	TAILQ_ENTRY(o2l_qp) wait_link; /* on the list `waiting` */
	LIST_ENTRY(o2l_qp) link;
};

struct o2l_fabric {
	struct o2l_device device[O2_LOOP_DEVICES];
	LIST_HEAD(, o2l_context) contexts;
	TAILQ_HEAD(o2l_run_list, o2l_qp) runnable;
	TAILQ_HEAD(o2l_wait_list, o2l_qp) waiting;
	struct o2l_index mrs;
	struct o2l_index mws;
	struct o2l_index qps;
	uint32_t runnable_count;
	uint32_t next_handle, key_salt;
	bool ready;
	unsigned int option[O2_LOOP_OPTIONS];
	o2_loop_pick_fn pick;
	void *pick_arg;
	o2_loop_fault_fn fault;
	void *fault_arg;
	o2_loop_tap_fn tap;
	void *tap_arg;
	struct o2_loop_counters counters;
};

extern struct o2l_fabric o2l_fabric;

/* fabric.c */
void o2l_lock(void); /* also initializes the fabric on first use */
void o2l_unlock(void);
int o2l_index_add(struct o2l_index *index, void *object, uint32_t *number); /* 0 or -ENOMEM */
void *o2l_index_get(const struct o2l_index *index, uint32_t number);	    /* NULL if none */
void o2l_index_remove(struct o2l_index *index, uint32_t number);
uint32_t o2l_next_handle(void);
uint32_t o2l_key(uint32_t index); /* a key with a fresh low byte */
uint64_t o2l_ack_timeout_ns(uint8_t timeout);
uint64_t o2l_rnr_timer_ns(uint8_t min_rnr_timer);

/* device.c */
struct o2l_context *o2l_context_of(struct ibv_context *context);
void o2l_context_free(struct o2l_context *context);
struct o2l_device *o2l_device_by_gid(const union ibv_gid *gid);
int o2l_check_ah_attr(const struct o2l_device *device, const struct ibv_ah_attr *attr); /* 0 or errno */
void o2l_fill_ops(struct verbs_context *verbs);

/* pd_mr.c */
void o2l_mr_free(struct o2l_mr *mr);
void o2l_pd_free(struct o2l_pd *pd);
int o2l_check_range(const void *addr, size_t length, unsigned int access); /* 0 or errno */
/* The caller has checked the range.  NULL: no memory. */
struct ibv_mr *o2l_mr_make(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access);
struct o2l_mr *o2l_mr_by_lkey(const struct ibv_pd *pd, uint32_t lkey);
struct o2l_mr *o2l_mr_by_rkey(const struct ibv_pd *pd, uint32_t rkey);
bool o2l_range_in(uint64_t addr, uint64_t length, uint64_t base, uint64_t base_length);

/* mw.c */
struct ibv_mw *o2l_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type); /* takes the lock */
int o2l_dealloc_mw(struct ibv_mw *mw);				       /* takes the lock */
void o2l_mw_free(struct o2l_mw *mw);
enum ibv_wc_status o2l_mw_bind(struct o2l_qp *qp, const struct o2l_send *wr);
/* Invalidate a type 2 window or a fast registration by its key.  False: this queue pair may not invalidate it. */
bool o2l_mw_invalidate(struct o2l_qp *qp, uint32_t rkey);
/* The memory of [addr, addr+length) under rkey, for an access by the peer of qp; NULL: the access is refused. */
uint8_t *o2l_remote_range(const struct o2l_qp *qp, uint32_t rkey, uint64_t addr, uint64_t length,
			  unsigned int access);

/* cq.c */
int o2l_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc); /* takes the lock */
int o2l_req_notify_cq(struct ibv_cq *cq, int solicited_only);		/* takes the lock */
void o2l_cq_push(struct o2l_cq *cq, const struct ibv_wc *wc, bool solicited);
void o2l_cq_free(struct o2l_cq *cq);

/* events.c */
void o2l_channel_free(struct o2l_channel *channel);
void o2l_channel_notify(struct o2l_cq *cq);
void o2l_channel_forget(struct o2l_cq *cq); /* drop the pending events of a queue that is being destroyed */
void o2l_async(struct ibv_context *context, const struct ibv_async_event *event);
void o2l_async_forget(struct o2l_context *context, const void *element); /* NULL: drop all events */

/* ah.c */
void o2l_ah_free(struct o2l_ah *ah);

/* srq.c */
int o2l_rq_init(struct o2l_rq *rq, uint32_t max_wr, uint32_t max_sge); /* 0 or errno */
void o2l_rq_fini(struct o2l_rq *rq);
/* Post receives up to the first that fails, which *bad is set to.  0 or errno.  qp_num 0: of an SRQ. */
int o2l_rq_post(struct o2l_rq *rq, const struct ibv_pd *pd, uint32_t qp_num, struct ibv_recv_wr *wr,
		struct ibv_recv_wr **bad);
const struct ibv_sge *o2l_rq_sges(const struct o2l_rq *rq); /* of the receive at the head */
void o2l_rq_pop(struct o2l_qp *qp);			    /* consume the receive at the head */
int o2l_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad); /* locks */
void o2l_srq_free(struct o2l_srq *srq);

/* qp.c */
struct ibv_qp *o2l_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init); /* locks */
void o2l_qp_free(struct o2l_qp *qp);

/* qp_state.c */
void o2l_qp_reset(struct o2l_qp *qp);
void o2l_qp_drained(struct o2l_qp *qp);
void o2l_qp_error(struct o2l_qp *qp); /* enter ERR and flush both queues; no effect if in ERR already */

/* post.c */
int o2l_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad); /* takes the lock */
int o2l_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad); /* takes the lock */
int o2l_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);	/* takes the lock */

/* engine.c */
bool o2l_run(void);			  /* run until nothing is runnable; true if it executed anything */
void o2l_break_peer(struct o2l_qp *peer); /* move peer (may be NULL) to ERR if it is `broken` */
bool o2l_tick(void);			  /* advance the clock to the next timer; false: there is none */
void o2l_kick(struct o2l_qp *qp);	  /* make it runnable if it has work that it may do */
void o2l_unschedule(struct o2l_qp *qp);	  /* remove it from every list */
void o2l_wake_rnr(const struct o2l_rq *rq, const struct o2l_qp *peer);
void o2l_sleep(bool (*over)(const void *arg), const void *arg);
/* Remove the send at the head of the queue, and write its completion if one is due. */
void o2l_complete_send(struct o2l_qp *qp, enum ibv_wc_status status, uint32_t byte_len);

/* requester.c */
enum o2l_verdict { O2L_DONE, O2L_RNR, O2L_LOST, O2L_FAILED };
struct o2l_outcome {
	enum ibv_wc_status status; /* O2L_FAILED: why */
	uint32_t byte_len;	   /* O2L_DONE */
	struct o2l_qp *peer;	   /* the queue pair that answered, or NULL */
};
enum o2l_verdict o2l_execute(struct o2l_qp *qp, const struct o2l_send *wr, struct o2l_outcome *outcome);

/* sgl.c */
struct o2l_segment {
	uint8_t *base;
	size_t length;
};

/* faults.c */
int o2l_fault(enum o2_loop_call call, uint32_t qp_num); /* 0, or the hook's return value */

/* gaps.c */
struct o2l_gaps;
struct o2l_gaps *o2l_gaps_make(const struct ibv_sge *entry, uint32_t count); /* NULL: no memory */
void o2l_gaps_free(struct o2l_gaps *gaps);				     /* NULL is allowed */
/* The virtual range that represents the byte ranges, and their total length. */
uint8_t *o2l_gaps_range(const struct o2l_gaps *gaps, uint64_t *length);
/* The real memory at a place of any region; reduces *length to the bytes that are contiguous there. */
uint8_t *o2l_gaps_resolve(uint8_t *place, size_t *length);

/* fast_reg.c */
struct o2l_fast;
void o2l_fast_free(struct o2l_mr *mr);		/* free the region's fast-registration state, if any */
bool o2l_fast_is_free(const struct o2l_mr *mr); /* it is for fast registration, and not registered */
int o2l_fast_check(const struct o2l_qp *qp, const struct ibv_send_wr *wr); /* 0 or errno */
bool o2l_fast_register(struct o2l_qp *qp, const struct o2l_send *wr);
/* False: there is no such region, or it is registered under another key. */
bool o2l_fast_invalidate(struct o2l_qp *qp, uint32_t key);

/* A scatter/gather list translated to host addresses, up to the first fault. */
struct o2l_sgl {
	struct o2l_segment segment[O2L_MAX_SGE + 1]; /* one more for a datagram's route header */
	uint32_t count;
	uint64_t valid_bytes;	   /* bytes before the first fault, or all bytes */
	enum ibv_wc_status status; /* the first fault, or IBV_WC_SUCCESS */
};

uint32_t o2l_mtu_bytes(enum ibv_mtu mtu);
uint32_t o2l_packets(uint64_t length, uint32_t mtu_bytes);
/*
 * Translate up to length bytes of the list.  When sending, a fault drops the whole packet, since it is never
 * built. When receiving, it drops only the piece, since earlier pieces are already written.
 */
void o2l_sgl_gather(const struct ibv_pd *pd, const struct ibv_sge *sges, uint32_t count, uint64_t length,
		    uint32_t mtu_bytes, struct o2l_sgl *sgl);
void o2l_sgl_scatter(const struct ibv_pd *pd, const struct ibv_sge *sges, uint32_t count, uint64_t length,
		     uint32_t mtu_bytes, struct o2l_sgl *sgl);
void o2l_sgl_copy(const struct o2l_sgl *to, const struct o2l_sgl *from, uint64_t length);
/* Make a list that consists of one range of host memory. */
void o2l_sgl_one(struct o2l_sgl *sgl, uint8_t *base, uint64_t length);

/* faults.c: to be called when a receive was posted, and when a SEND or WRITE has arrived. */
void o2l_scribble(const struct ibv_pd *pd, const struct ibv_recv_wr *wr);
void o2l_tell_tap(const struct o2l_qp *from, const struct o2l_qp *to, const struct o2l_send *wr,
		  const struct o2l_sgl *data);

/* responder.c */
struct o2l_request {
	const struct o2l_send *wr;
	const struct o2l_sgl *data; /* data from the requester; valid_bytes may be below wr->length_bytes */
	uint32_t mtu_bytes, src_qp;
	bool miscut;	    /* its packets are of another size than the responder's path MTU says */
	union ibv_gid sgid; /* of the requester */
};
/* Each returns the verdict for the requester; for O2L_FAILED it also sets *status. */
enum o2l_verdict o2l_respond_send(struct o2l_qp *peer, const struct o2l_request *request,
				  enum ibv_wc_status *status);
enum o2l_verdict o2l_respond_write(struct o2l_qp *peer, const struct o2l_request *request,
				   enum ibv_wc_status *status);
/* On O2L_DONE *range is memory of length_bytes (8 for an atomic) to read, or for an atomic to read and write. */
enum o2l_verdict o2l_respond_range(struct o2l_qp *peer, const struct o2l_send *wr, uint8_t **range,
				   enum ibv_wc_status *status);
void o2l_respond_ud(struct o2l_qp *peer, const struct o2l_request *request);

#endif
