/* SPDX-License-Identifier: MIT */
#ifndef TESTS_LOOPVERBS_TRACE_WORLD_H
#define TESTS_LOOPVERBS_TRACE_WORLD_H

/*
 * The world of a verbs trace: two devices, one connected pair of queue pairs, and an arena on each side.
 * Static, for the one program that includes it (trace.c).
 *
 * All output is canonical: objects by number, places by offset, never a key, an address or a time.
 */

#include <errno.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE	    4096u
#define ARENA_BYTES (64u * PAGE)
#define REGIONS	    6u
#define WINDOWS	    3u
#define QUEUE_DEPTH 32u
#define MAX_SGE	    4u
#define MAX_INLINE  64u
#define SETTLE_MS   3000 /* longer than any retry below, also in an emulated guest */

struct region {
	struct ibv_mr *mr;
	uint32_t offset; /* in the arena */
	uint32_t length;
	uint64_t iova;
	int access;
};

enum window_state { FREE, VALID };

struct window {
	struct ibv_mw *mw;
	enum window_state state;
	uint32_t region, offset, length; /* valid while state is VALID; offset in the arena */
	unsigned int access;
};

struct side {
	char name;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *scq, *rcq;
	struct ibv_qp *qp;
	union ibv_gid gid;
	uint8_t *arena;
	struct region region[REGIONS];
	struct window window[WINDOWS];
	bool error;	  /* the queue pair has failed */
	uint32_t recvs;	  /* posted and not yet completed */
	uint32_t recv_id; /* of the next receive */
};

struct world {
	struct side side[2];
	uint64_t random;
	uint32_t op; /* number of the current operation, at the start of every line */
	int gid_index;
	uint8_t rnr_retry;
	unsigned int qp_access[2];
	bool merge_local; /* print all local failures as one word, because kernels differ in what they report */
};

/* splitmix64: small, and the same on every platform. */
static uint64_t draw64(struct world *w)
{
	uint64_t z = w->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint32_t draw(struct world *w, uint32_t below)
{
	return (uint32_t)(draw64(w) % below);
}

static bool chance(struct world *w, uint32_t percent)
{
	return draw(w, 100) < percent;
}

static void die(const char *what)
{
	fprintf(stderr, "verbs_trace: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static const char *error_name(int error)
{
	switch (error) {
	case 0:
		return "ok";
	case EINVAL:
		return "EINVAL";
	case ENOMEM:
		return "ENOMEM";
	case EFAULT:
		return "EFAULT";
	case EOPNOTSUPP:
		return "EOPNOTSUPP";
	case EBUSY:
		return "EBUSY";
	case EPERM:
		return "EPERM";
	default:
		return strerror(error);
	}
}

static void fill_arenas(struct world *w)
{
	for (int i = 0; i < 2; i++)
		for (uint32_t at = 0; at < ARENA_BYTES; at += 8) {
			uint64_t value = draw64(w);

			memcpy(w->side[i].arena + at, &value, 8);
		}
}

static uint64_t checksum(const uint8_t *p)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (uint32_t i = 0; i < ARENA_BYTES; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static enum ibv_qp_state state_of(struct side *s)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	if (ibv_query_qp(s->qp, &attr, IBV_QP_STATE, &init))
		die("ibv_query_qp");
	return attr.qp_state;
}

static void print_states(struct world *w)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	printf("%u state A %s B %s\n", w->op, names[state_of(&w->side[0])], names[state_of(&w->side[1])]);
	printf("%u bytes A %016" PRIx64 " B %016" PRIx64 "\n", w->op, checksum(w->side[0].arena),
	       checksum(w->side[1].arena));
}

static void open_side(struct world *w, struct side *s, char name, const char *device)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {QUEUE_DEPTH, QUEUE_DEPTH, MAX_SGE, MAX_SGE, MAX_INLINE}};

	for (int i = 0; i < count; i++)
		if (!strcmp(ibv_get_device_name(list[i]), device))
			s->context = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	if (!s->context)
		die(device);
	s->name = name;
	s->arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	s->pd = ibv_alloc_pd(s->context);
	s->scq = ibv_create_cq(s->context, 255, NULL, NULL, 0);
	s->rcq = ibv_create_cq(s->context, 255, NULL, NULL, 0);
	if (s->arena == MAP_FAILED || !s->pd || !s->scq || !s->rcq)
		die("ibv_create_cq");
	init.send_cq = s->scq;
	init.recv_cq = s->rcq;
	s->qp = ibv_create_qp(s->pd, &init);
	if (!s->qp || ibv_query_gid(s->context, 1, w->gid_index, &s->gid))
		die("ibv_create_qp");
}

static int modify(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static void to_rts(struct world *w, struct side *s, struct side *peer, enum ibv_mtu mtu, uint32_t psn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = w->qp_access[s == &w->side[1]]};

	if (ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("to INIT");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = mtu,
				    .dest_qp_num = peer->qp->qp_num,
				    .rq_psn = psn,
				    .max_dest_rd_atomic = 4,
				    .min_rnr_timer = 6};
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.dgid = peer->gid;
	attr.ah_attr.grh.sgid_index = (uint8_t)w->gid_index;
	attr.ah_attr.grh.hop_limit = 64;
	if (ibv_modify_qp(s->qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		die("to RTR");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = 13,	/* 34 ms: with less, an emulated guest would treat late answers as lost */
		.retry_cnt = 6, /* 7 would mean forever on some devices */
		.rnr_retry = w->rnr_retry,
		.sq_psn = psn,
		.max_rd_atomic = 4};
	if (ibv_modify_qp(s->qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("to RTS");
	s->error = false;
	s->recvs = 0;
}

/* Takes both ends from RESET to RTS, with new parameters.  Packet numbers must agree, so both ends change. */
static void reconnect(struct world *w)
{
	static const uint8_t retries[] = {0, 1, 7};
	enum ibv_mtu mtu = chance(w, 30) ? IBV_MTU_1024 : IBV_MTU_4096;
	uint32_t psn = draw(w, 1u << 24);

	w->rnr_retry = retries[draw(w, 3)];
	for (int i = 0; i < 2; i++) {
		w->qp_access[i] = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				  IBV_ACCESS_REMOTE_ATOMIC;
		if (chance(w, 3))
			w->qp_access[i] &= ~(unsigned int)IBV_ACCESS_REMOTE_WRITE;
		if (chance(w, 3))
			w->qp_access[i] &= ~(unsigned int)IBV_ACCESS_REMOTE_READ;
		if (modify(w->side[i].qp, IBV_QPS_RESET))
			die("to RESET");
	}
	to_rts(w, &w->side[0], &w->side[1], mtu, psn);
	to_rts(w, &w->side[1], &w->side[0], mtu, psn);
	printf("%u connect mtu %d rnr %u access A %x B %x\n", w->op, 128 << mtu, w->rnr_retry,
	       w->qp_access[0], w->qp_access[1]);
}

static void close_side(struct side *s)
{
	/* Free the windows first: a queue pair cannot be destroyed while a window is bound to it. */
	for (uint32_t i = 0; i < WINDOWS; i++)
		if (s->window[i].mw && ibv_dealloc_mw(s->window[i].mw))
			die("ibv_dealloc_mw");
	for (uint32_t i = 0; i < REGIONS; i++)
		if (s->region[i].mr && ibv_dereg_mr(s->region[i].mr))
			die("ibv_dereg_mr");
	if (ibv_destroy_qp(s->qp) || ibv_destroy_cq(s->scq) || ibv_destroy_cq(s->rcq) ||
	    ibv_dealloc_pd(s->pd) || ibv_close_device(s->context))
		die("closing");
	munmap(s->arena, ARENA_BYTES);
}

#endif
