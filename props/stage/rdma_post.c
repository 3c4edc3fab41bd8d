/* SPDX-License-Identifier: MIT */
/* A plan as a chain of work requests, posted at once; the queue accepts all of them or a part. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/stage/rdma.h"
#include "rdma/post.h"

#define LEADS	   3u /* most requests before the plan's */
#define WRITES_ID  UINT64_C(0x7000000000000001)
#define MESSAGE_ID UINT64_C(0x7000000000000002)
#define WRS	   (LEADS + O2_MAX_FRAGS + 1)

/* Takes the place of a queue pair. */
struct taker {
	struct o2_report *report;
	const struct o2_rdma_plan *plan;
	const struct o2_rdma_desc *sink;
	struct o2_post_message message, piece;
	uint32_t leads, pieces, count; /* count: of all requests */
	uint32_t taken;
	int result, error; /* result of the call, and errno */
	bool names_bad;
};

static void wrong(const struct taker *taker, const char *what, uint64_t found, uint64_t expected)
{
	if (found != expected)
		o2_report_fail(taker->report, "rdma/post", "%s is 0x%" PRIx64 ", expected 0x%" PRIx64, what,
			       found, expected);
}

static void check_piece(const struct taker *taker, const struct ibv_sge *found, uint64_t addr,
			uint32_t length, uint32_t lkey)
{
	wrong(taker, "the address of a gather entry", found->addr, addr);
	wrong(taker, "its length", found->length, length);
	wrong(taker, "its key", found->lkey, lkey);
}

static void check_write(const struct taker *taker, const struct ibv_send_wr *found,
			const struct o2_rdma_wr *planned)
{
	wrong(taker, "opcode", found->opcode, IBV_WR_RDMA_WRITE);
	wrong(taker, "wr_id", found->wr_id, WRITES_ID);
	wrong(taker, "flags", found->send_flags, 0);
	wrong(taker, "remote address", found->wr.rdma.remote_addr, planned->remote_addr);
	wrong(taker, "remote key", found->wr.rdma.rkey, taker->plan->rkey);
	wrong(taker, "gather entries", (uint64_t)found->num_sge, planned->num_sge);
	for (uint32_t i = 0; i < planned->num_sge && !taker->report->failed; i++) {
		const struct o2_rdma_sge *sge = &taker->plan->sge[planned->first_sge + i];

		check_piece(taker, &found->sg_list[i], sge->addr, sge->length, taker->plan->lkey);
	}
}

static void check_message(const struct taker *taker, const struct ibv_send_wr *found)
{
	wrong(taker, "opcode", found->opcode, IBV_WR_SEND);
	wrong(taker, "wr_id", found->wr_id, MESSAGE_ID);
	wrong(taker, "flags", found->send_flags, IBV_SEND_SIGNALED);
	wrong(taker, "gather entries", (uint64_t)found->num_sge, 1 + taker->pieces);
	for (uint32_t i = 0; i <= taker->pieces && !taker->report->failed; i++) {
		const struct o2_post_message *from = i == 0 ? &taker->message : &taker->piece;

		check_piece(taker, &found->sg_list[i], from->addr, from->length, from->lkey);
	}
}

static int take(void *context, struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
		const struct o2_rdma_desc *sink)
{
	struct taker *taker = context;
	uint32_t n = 0;

	(void)qp;
	wrong(taker, "the sink", sink == taker->sink, true);
	for (struct ibv_send_wr *wr = list; wr != NULL && !taker->report->failed; wr = wr->next, n++) {
		if (n == taker->taken && taker->result != 0 && taker->names_bad)
			*bad = wr;
		if (n < taker->leads)
			wrong(taker, "wr_id of a request ahead", wr->wr_id, n + 1);
		else if (n < taker->leads + taker->plan->nwr)
			check_write(taker, wr, &taker->plan->wr[n - taker->leads]);
		else if (n + 1 == taker->count)
			check_message(taker, wr);
	}
	if (!taker->report->failed)
		wrong(taker, "requests", n, taker->count);
	errno = taker->error;
	return taker->result;
}

static void check_result(struct taker *taker, int rc, uint32_t posted, const struct o2_error *error)
{
	const int expected = taker->result >= 0 ? taker->result : taker->error != 0 ? taker->error : EIO;
	const uint32_t taken = taker->result == 0 ? taker->count : taker->names_bad ? taker->taken : 0;

	wrong(taker, "the result", (uint64_t)rc, (uint64_t)-expected);
	wrong(taker, "requests that were taken", posted, taken);
	if (rc == 0 || taker->report->failed)
		return;
	wrong(taker, "the rule is post/send", error->rule != NULL && strcmp(error->rule, "post/send") == 0,
	      true);
	wrong(taker, "the error's code", (uint64_t)error->code, (uint64_t)-expected);
	wrong(taker, "the error's value", error->value, taken);
	wrong(taker, "the error's limit", error->limit, taker->count);
}

static void draw(struct o2_choice *c, struct taker *taker)
{
	static const int errors[] = {ENOMEM, EINVAL, 0};

	taker->leads = (uint32_t)o2_draw(c, LEADS);
	taker->pieces = (uint32_t)o2_draw(c, 2);
	taker->message = (struct o2_post_message){o2_draw(c, UINT32_MAX), (uint32_t)o2_draw(c, 4096), 7};
	taker->piece = (struct o2_post_message){o2_draw(c, UINT32_MAX), (uint32_t)o2_draw(c, 4096), 8};
	taker->count = taker->leads + taker->plan->nwr + 1;
	taker->taken = (uint32_t)o2_draw(c, taker->count - 1);
	taker->names_bad = o2_draw_bool(c, 1, 3);
	taker->error = errors[o2_draw(c, 2)];
	if (o2_draw_bool(c, 1, 1))
		taker->result = o2_draw_bool(c, 1, 1) ? -1 : EAGAIN;
}

bool o2_rdma_post(struct o2_rdma_run *run, struct o2_choice *c, struct o2_report *report)
{
	static struct ibv_send_wr wr[WRS], lead[LEADS];
	static struct ibv_sge sge[O2_MAX_FRAGS * O2_MAX_WRQ_SGE + 1 + 2];
	struct taker taker = {.report = report, .plan = &run->outcome.plan, .sink = &run->asked.sink};
	const struct o2_work_ops ops = {.context = &taker, .post_send = take};
	struct o2_post_chain chain = {
		.wr = wr, .sge = sge, .wr_capacity = WRS, .sge_capacity = sizeof(sge) / sizeof(sge[0])};
	struct o2_error error = {0};
	uint32_t posted = UINT32_MAX;
	int rc;

	draw(c, &taker);
	chain.ops = &ops;
	rc = o2_chain_post(&chain, NULL, &posted, &error);
	wrong(&taker, "the result of no requests", (uint64_t)rc | posted, 0);
	for (uint32_t i = 0; i < LEADS; i++)
		lead[i] = (struct ibv_send_wr){.wr_id = i + 1, .next = &lead[0]};
	o2_chain_add_requests(&chain, lead, taker.leads);
	o2_chain_add_plan(&chain, taker.plan, WRITES_ID);
	o2_chain_add_message(&chain, &taker.message, MESSAGE_ID);
	for (uint32_t i = 0; i < taker.pieces; i++)
		o2_chain_gather(&chain, &taker.piece);
	chain.sink = taker.sink;
	rc = o2_chain_post(&chain, NULL, &posted, &error);
	wrong(&taker, "what is left in the chain", (uint64_t)chain.nwr + chain.nsge + (chain.sink != NULL),
	      0);
	if (!report->failed)
		check_result(&taker, rc, posted, &error);
	return taker.result == 0;
}
