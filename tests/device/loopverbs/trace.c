/* SPDX-License-Identifier: MIT */
/*
 * Runs a random sequence of verbs operations over two connected queue pairs, and prints one canonical line
 * for each event.  Built twice, against loopverbs and against libibverbs: the same seed must print the same
 * lines on any device (compare.py).
 *
 * It never invalidates a window that is not bound, and never destroys a queue pair with a bound window,
 * because programs must not.  It leaves out what devices may do differently: see the comments there, and
 * docs/loopverbs.md, "Differences from soft-RoCE".  Run loopverbs with LOOPVERBS_WINDOW_BOUNDS=0.
 */
#include <getopt.h>

#include "tests/device/loopverbs/trace_requests.h"

static void op_register(struct world *w, struct side *s)
{
	static const int rights[] = {0,
				     IBV_ACCESS_LOCAL_WRITE,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
				     IBV_ACCESS_REMOTE_READ,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
				     IBV_ACCESS_REMOTE_WRITE, /* refused: it needs local write */
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
					     IBV_ACCESS_MW_BIND};
	uint32_t slot = draw(w, REGIONS);
	struct region *r = &s->region[slot];
	struct region new = {.length = 1 + draw_length(w, ARENA_BYTES - 1)};

	if (r->mr)
		return;
	new.offset = draw(w, ARENA_BYTES - new.length + 1);
	new.access = rights[chance(w, 50) ? sizeof(rights) / sizeof(rights[0]) - 1 : draw(w, 7)];
	if (chance(w, 3)) {
		new.length = 0;
		new.offset -= new.offset % PAGE; /* other offsets are treated differently by devices */
	}
	switch (draw(w, 4)) {
	case 0: /* small */
		new.iova = PAGE *draw(w, 8) + new.offset % PAGE;
		break;
	case 1: /* large, but never past 2^64, where the bounds of a region are undefined */
		new.iova = UINT64_C(0x7fff00000000) + new.offset;
		break;
	default:
		new.iova = (uint64_t)(uintptr_t)(s->arena + new.offset);
	}
	if (chance(w, 4))
		new.iova += 1 + draw(w, PAGE - 1); /* not congruent to the offset modulo the page size */
	new.mr = ibv_reg_mr_iova(s->pd, s->arena + new.offset, new.length, new.iova, new.access);
	printf("%u register %c %u at %u len %u iova +%u access %x: %s\n", w->op, s->name, slot, new.offset,
	       new.length, (uint32_t)(new.iova % PAGE), new.access, new.mr ? "ok" : error_name(errno));
	if (new.mr)
		*r = new;
}

static void op_deregister(struct world *w, struct side *s)
{
	struct region *r = pick_region(w, s, 0);
	int error;

	if (!r)
		return;
	error = ibv_dereg_mr(r->mr);
	printf("%u deregister %c %u: %s\n", w->op, s->name, (uint32_t)(r - s->region), error_name(error));
	if (!error)
		r->mr = NULL;
}

static void op_window(struct world *w, struct side *s)
{
	struct window *v = &s->window[draw(w, WINDOWS)];
	enum ibv_mw_type type = chance(w, 80) ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1;

	if (!v->mw) {
		v->mw = ibv_alloc_mw(s->pd, type);
		if (!v->mw)
			die("ibv_alloc_mw");
		v->state = FREE;
		printf("%u window %c %u type %d\n", w->op, s->name, (uint32_t)(v - s->window), type);
	} else if (chance(w, 30)) {
		printf("%u window %c %u gone\n", w->op, s->name, (uint32_t)(v - s->window));
		if (ibv_dealloc_mw(v->mw))
			die("ibv_dealloc_mw");
		v->mw = NULL;
	}
}

/* A type 1 window: bound by a separate call, again and again, or unbound with length 0. */
static void op_bind_type1(struct world *w, struct side *s)
{
	struct window *v = pick_window(w, s, IBV_MW_TYPE_1, chance(w, 50) ? FREE : VALID);
	struct region *r = pick_region(w, s, IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mw_bind bind = {.wr_id = 999, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_wc wc;
	int error;

	if (!v || !r || s->error)
		return;
	v->region = (uint32_t)(r - s->region);
	v->length = chance(w, 20) ? 0 : 1 + draw(w, r->length);
	v->offset = r->offset + draw(w, r->length - v->length + 1);
	bind.bind_info = (struct ibv_mw_bind_info){r->mr, in_region(s, r, v->offset), v->length,
						   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
	error = ibv_bind_mw(s->qp, v->mw, &bind);
	printf("%u bind %c %u at %u len %u: %s\n", w->op, s->name, (uint32_t)(v - s->window), v->offset,
	       v->length, error_name(error));
	if (error)
		return;
	if (!poll_one(s->scq, &wc)) {
		printf("%u wc %c send: none\n", w->op, s->name);
		return;
	}
	printf("%u wc %c send %" PRIu64 " %s\n", w->op, s->name, wc.wr_id, status_name(w, s, wc.status));
	v->state = v->length ? VALID : FREE;
	if (wc.status != IBV_WC_SUCCESS)
		drain_recvs(w, s);
}

static void op_post_recvs(struct world *w, struct side *s)
{
	/* Devices differ in whether and when they flush receives posted in the error state. */
	if (s->error)
		return;
	for (uint32_t n = 1 + draw(w, 3); n && s->recvs < QUEUE_DEPTH; n--) {
		struct ibv_sge sges[MAX_SGE];
		struct ibv_recv_wr wr = {.wr_id = s->recv_id++, .sg_list = sges}, *bad;
		int error;

		draw_sges(w, s, sges, &wr.num_sge, IBV_ACCESS_LOCAL_WRITE);
		if (wr.num_sge && chance(w, 3))
			sges[0].lkey ^= 1;
		error = ibv_post_recv(s->qp, &wr, &bad);
		printf("%u recv %c %" PRIu64 " sges %d: %s\n", w->op, s->name, wr.wr_id, wr.num_sge,
		       error_name(error));
		if (!error)
			s->recvs++;
	}
}

static void finish_batch(struct world *w, struct side *s, struct batch *b)
{
	bool after_read = false;

	for (uint32_t i = 0; i < b->count; i++) {
		struct request *q = &b->request[i];

		q->wr.wr_id = (uint64_t)w->op * 10 + i;
		q->wr.sg_list = q->sges;
		if (chance(w, 40))
			q->wr.send_flags |= IBV_SEND_SIGNALED;
		if (after_read)
			q->wr.send_flags |= IBV_SEND_FENCE;
		if (q->wr.opcode == IBV_WR_RDMA_READ || q->wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		    q->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
			after_read = true;
	}
	(void)s;
}

static void op_batch(struct world *w, struct side *s, struct side *peer)
{
	struct batch b = {.count = 1 + draw(w, BATCH)};
	uint32_t recvs = peer->recvs;
	bool retrying = peer->error;

	for (uint32_t i = 0; i < b.count; i++) {
		struct request *q = &b.request[i];

		draw_request(w, s, peer, q, recvs, retrying);
		/* Only one request of a batch may use a window: its key is read when the batch is posted. */
		for (uint32_t j = 0; j < i; j++)
			if (q->window && q->window == b.request[j].window) {
				b.count = i;
				break;
			}
		if (b.count == i)
			break;
		if (takes_recv(q->wr.opcode) && !recvs)
			retrying = true;
		else if (takes_recv(q->wr.opcode))
			recvs--;
	}
	if (chance(w, 8) && request_length(&b.request[0]) <= 1024 && spoil_locally(w, s, &b.request[0])) {
		/* this request fails on its own side, before anything is sent */
	} else if (chance(w, 25) && b.request[b.count - 1].wr.opcode == IBV_WR_SEND_WITH_INV) {
		/* A key that is not the window's: the SEND leaves, then the peer fails.  It comes last, so
		 * that no request runs into the failed peer. */
		b.request[b.count - 1].wr.invalidate_rkey ^= 0x80;
		b.request[b.count - 1].window = NULL;
	} else if (request_length(&b.request[0]) <= MAX_INLINE && request_length(&b.request[0]) &&
		   b.request[0].wr.opcode == IBV_WR_SEND && b.request[0].wr.num_sge == 1) {
		struct region *r = pick_region(w, s, 0);

		/* Inline data is read at the program's own address, not at the region's. */
		b.request[0].sges[0].addr = (uintptr_t)(s->arena + (r ? r->offset : 0));
		if (!r || r->length >= request_length(&b.request[0]))
			b.request[0].wr.send_flags |= IBV_SEND_INLINE;
		else
			b.request[0].sges[0].length = 0;
	}
	finish_batch(w, s, &b);
	run_batch(w, s, peer, &b);
	print_states(w);
}

static void op_fail(struct world *w, struct side *s)
{
	printf("%u modify %c to ERR: %s\n", w->op, s->name, error_name(modify(s->qp, IBV_QPS_ERR)));
	drain_recvs(w, s);
	print_states(w);
}

static void one_op(struct world *w)
{
	uint32_t which = draw(w, 2);
	struct side *s = &w->side[which], *peer = &w->side[!which];

	/* Reconnect a failed pair soon, but not always at once. */
	if ((s->error || peer->error) && chance(w, 60)) {
		reconnect(w);
		return;
	}
	switch (draw(w, 20)) {
	case 0:
	case 1:
	case 2:
		op_register(w, s);
		break;
	case 3:
		op_deregister(w, s);
		break;
	case 4:
	case 5:
		op_window(w, s);
		break;
	case 6:
		op_bind_type1(w, s);
		break;
	case 7:
	case 8:
	case 9:
		op_post_recvs(w, s);
		break;
	case 10:
		if (chance(w, 20))
			op_fail(w, s);
		break;
	default:
		op_batch(w, s, peer);
	}
}

static void run_seed(const char *device, const char *device2, int gid_index, uint64_t seed, uint32_t ops,
		     bool merge)
{
	struct world w = {.random = seed, .gid_index = gid_index, .merge_local = merge};
	const char *share = getenv("O2REF_SHARE");

	if (share) {
		char path[4096];
		FILE *f;

		snprintf(path, sizeof(path), "%s/current-case", share);
		f = fopen(path, "w");
		if (f) {
			fprintf(f, "verbs_trace --seed %" PRIu64 " --ops %u\n", seed, ops);
			fclose(f);
		}
	}
	printf("seed %" PRIu64 "\n", seed);
	open_side(&w, &w.side[0], 'A', device);
	open_side(&w, &w.side[1], 'B', device2);
	fill_arenas(&w);
	reconnect(&w);
	for (uint32_t i = 0; i < 4; i++) /* regions to start from */
		op_register(&w, &w.side[i & 1]);
	for (w.op = 1; w.op <= ops; w.op++)
		one_op(&w);
	close_side(&w.side[0]);
	close_side(&w.side[1]);
	fflush(stdout);
}

static uint64_t number(const char *text, const char *name, uint64_t limit)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end || end == text || value > limit) {
		fprintf(stderr, "verbs_trace: %s is \"%s\", expected a number up to %" PRIu64 "\n", name,
			text, limit);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"device", 1, NULL, 'd'},      {"device2", 1, NULL, 'e'},
						{"gid-index", 1, NULL, 'g'},   {"seed", 1, NULL, 's'},
						{"seeds", 1, NULL, 'n'},       {"ops", 1, NULL, 'o'},
						{"merge-local", 0, NULL, 'm'}, {NULL, 0, NULL, 0}};
	const char *device = NULL, *device2 = NULL;
	uint64_t seed = 1, seeds = 1;
	uint32_t ops = 200;
	int gid_index = 1, c;
	bool merge = false;

	setvbuf(stdout, NULL, _IOLBF, 0); /* keep all lines that were printed before a crash */
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'd':
			device = optarg;
			break;
		case 'e':
			device2 = optarg;
			break;
		case 'g':
			gid_index = (int)number(optarg, "--gid-index", 255);
			break;
		case 's':
			seed = number(optarg, "--seed", UINT64_MAX);
			break;
		case 'n':
			seeds = number(optarg, "--seeds", 1000000);
			break;
		case 'o':
			ops = (uint32_t)number(optarg, "--ops", 1000000);
			break;
		case 'm':
			merge = true;
			break;
		default:
			device = NULL;
			optind = argc + 1;
		}
	}
	if (!device || optind != argc) {
		fprintf(stderr, "usage: verbs_trace --device DEV [--device2 DEV2] [--gid-index N] [--seed S] "
				"[--seeds N]\n"
				"                   [--ops N] [--merge-local]\n");
		return 2;
	}
	for (uint64_t i = 0; i < seeds; i++)
		run_seed(device, device2 ? device2 : device, gid_index, seed + i, ops, merge);
	return 0;
}
