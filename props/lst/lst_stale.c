/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "props/lst/lst_internal.h"
#include "props/lst/lst_requests.h"

/*
 * Calls and served requests whose few slots are used again and again: every handle is a new one, an answer belongs to
 * its call, and a handle whose call has ended cancels nothing, least of all the call that has its slot now.
 */

#define RPC_PAGE   560u
#define BULK_PAGE  2u
#define BULK_BYTES 64u
#define CALLS	   12u /* most calls of a case */
#define SLOTS	   3u
#define STEPS	   60u

/* A call of A, and the same as a request that B serves. */
struct stale_call {
	uint64_t id, served;
	bool open, cancelled;
	bool arrived, answered, dropped, over; /* at B */
};

struct stale {
	struct o2_lst_case *the;
	struct o2_lst_rpc *client, *server;
	uint32_t slots, ncalls, nopen;
	struct stale_call call[CALLS];
	bool stopping;
	struct o2_kiov kiov;
	struct o2_transfer_memory memory; /* of a bulk that the client does not have */
};

static void wrong(const struct stale *stale, const char *what, uint64_t number)
{
	o2_report_fail(stale->the->report, "lst/stale", "%s: call %" PRIu64, what, number);
}

/* --- the client --- */

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	struct stale *stale = context;
	const uint64_t i = answer->tag;
	struct stale_call *call;
	int expected;

	if (i >= stale->ncalls || !stale->call[i].open || answer->call != stale->call[i].id) {
		wrong(stale, "an answer to a call that is not there, or under another handle", i);
		return;
	}
	call = &stale->call[i];
	expected = call->cancelled ? -ECANCELED : call->answered ? 0 : -ESHUTDOWN;
	call->open = false;
	stale->nopen--;
	/* As the engine stops, an answer may be under way. */
	if (answer->status != expected && !(stale->stopping && answer->status == -ESHUTDOWN))
		wrong(stale, "an answer with another status than is due", i);
	if ((answer->status == 0) != (answer->reply != NULL))
		wrong(stale, "a failed call with a reply, or one without that has not failed", i);
	else if (answer->status == 0 && answer->reply->u.ping_reply.pnr_seq != i)
		wrong(stale, "an answer to another call", i);
}

static void start(struct stale *stale)
{
	const uint32_t i = stale->ncalls;
	const struct o2_lst_msg msg = o2_lst_ask_ping(i);
	const struct o2_lst_call call = {
		.nid = O2_LNET_NID_B, .request = &msg, .done = note_answer, .context = stale, .tag = i};
	int rc;

	if (i == CALLS)
		return;
	stale->call[i] = (struct stale_call){.open = true};
	stale->ncalls++;
	rc = o2_lst_call_start(stale->client, &call, &stale->call[i].id, NULL);
	if (rc != (stale->nopen == stale->slots ? -ENOSPC : 0))
		wrong(stale, "a call starts without a slot, or does not start with one", i);
	if (rc != 0) {
		stale->ncalls--;
		return;
	}
	stale->nopen++;
	for (uint32_t k = 0; k < i; k++)
		if (stale->call[k].id == stale->call[i].id)
			wrong(stale, "a handle is used again", i);
}

static void cancel(struct stale *stale)
{
	const uint32_t i = (uint32_t)o2_draw_pick(stale->the->choice, stale->ncalls);
	struct stale_call *call = &stale->call[i];
	const bool open = call->open;

	call->cancelled |= open;
	stale->the->seen[STALE_CANCELLED] += !open && stale->nopen > 0;
	if (o2_lst_call_cancel(stale->client, call->id) != (open ? 0 : -ENOENT))
		wrong(stale, open ? "a call cannot be cancelled" : "a call that has ended is cancelled", i);
	if (o2_lst_rpc_active(stale->client) != stale->nopen)
		wrong(stale, "not all or too many calls are under way after a cancel", i);
}

/* --- the server --- */

/* The request with this handle that is served now; CALLS: there is none. */
static uint32_t served_by(const struct stale *stale, uint64_t served)
{
	uint32_t i = 0;

	while (i < stale->ncalls && !(stale->call[i].arrived && stale->call[i].served == served))
		i++;
	return i < stale->ncalls ? i : CALLS;
}

static void request(void *context, const struct o2_lst_request *request)
{
	struct stale *stale = context;
	const uint32_t i = request->msg->u.ping_reqst.pnr_seq;

	if (i >= stale->ncalls || stale->call[i].arrived || served_by(stale, request->served) != CALLS) {
		wrong(stale, "a request comes twice, or under a handle that was used", i);
		return;
	}
	stale->call[i].arrived = true;
	stale->call[i].served = request->served;
}

static void moved(void *context, uint64_t served, int status, uint64_t bytes)
{
	(void)status;
	(void)bytes;
	wrong(context, "a bulk moves, and none was offered", served);
}

static void over(void *context, uint64_t served, int status)
{
	struct stale *stale = context;
	const uint32_t i = served_by(stale, served);

	if (i == CALLS || stale->call[i].over) {
		wrong(stale, "the end of a request that is not there", i);
		return;
	}
	stale->call[i].over = true;
	if (stale->call[i].dropped ? status != -EIO : stale->call[i].answered ? false : !stale->stopping)
		wrong(stale, "a request ends by itself, or with another status", i);
}

/* With bulk under way it does not end at once, and may be dropped again: it ends as it was dropped first. */
static void drop(struct stale *stale, struct stale_call *call)
{
	const bool moves = o2_draw_bool(stale->the->choice, 1, 1) &&
			   o2_lst_served_get(stale->server, call->served, &stale->memory) == 0;

	call->dropped = true;
	o2_lst_served_drop(stale->server, call->served, -EIO);
	if (moves)
		o2_lst_served_drop(stale->server, call->served, -ENXIO);
	stale->the->seen[STALE_DROPPED] += moves;
}

static void serve(struct stale *stale)
{
	const uint32_t i = (uint32_t)o2_draw_pick(stale->the->choice, stale->ncalls);
	struct stale_call *call = &stale->call[i];
	struct o2_lst_msg reply = {.msg_type = O2_LST_PING_REPLY};

	if (!call->arrived || call->answered || call->dropped)
		return;
	if (o2_draw_bool(stale->the->choice, 2, 1)) {
		drop(stale, call);
		return;
	}
	reply.u.ping_reply.pnr_magic = O2_LST_PING_MAGIC;
	reply.u.ping_reply.pnr_seq = i;
	call->answered = true;
	o2_lst_served_reply(stale->server, call->served, &reply);
}

/* --- the case --- */

static bool take_step(void *context)
{
	static const uint32_t weights[] = {4, 3, 3, 4, 4};
	struct stale *stale = context;
	struct o2_lnet_pair *lnet = &stale->the->lnet;
	const size_t what = o2_draw_weighted(stale->the->choice, weights, 5);

	if (what == 0)
		start(stale);
	else if (what == 1 && stale->ncalls > 0)
		cancel(stale);
	else if (what == 2 && stale->ncalls > 0)
		serve(stale);
	else if (what == 3 && lnet->a.nletters > 0)
		o2_lnet_deliver(&lnet->a);
	else if (what == 4 && lnet->b.nletters > 0)
		o2_lnet_deliver(&lnet->b);
	return !stale->the->report->failed;
}

static void end(struct stale *stale)
{
	stale->stopping = true;
	o2_lst_rpc_stop(stale->client, -ESHUTDOWN);
	o2_lst_rpc_stop(stale->server, -ESHUTDOWN);
	o2_lnet_deliver_all(&stale->the->lnet);
	for (uint32_t i = 0; i < stale->ncalls && !stale->the->report->failed; i++)
		if (stale->call[i].open || stale->call[i].arrived != stale->call[i].over)
			wrong(stale, "it has not ended", i);
}

static int open_rpc(const struct stale *stale, struct o2_lnet_side *side, struct o2_lst_rpc **rpc)
{
	struct o2_lst_rpc_config config = O2_LST_RPC_DEFAULTS;

	config.first_page = RPC_PAGE;
	config.max_calls = config.max_served = stale->slots;
	return o2_lst_rpc_create(&config, side->lnet, &side->arena, &side->clock, rpc, NULL);
}

bool o2_lst_stale_case(struct o2_lst_case *the)
{
	static const struct o2_lst_service_ops ops = {.request = request, .moved = moved, .over = over};
	static struct stale stale;
	struct o2_lnet_side *a = &the->lnet.a, *b = &the->lnet.b;
	int rc;

	if (o2_lnet_pair_renew(&the->lnet, NULL) != 0)
		return false;
	stale = (struct stale){
		.the = the, .slots = 1 + o2_lst_draw(the, SLOTS - 1), .kiov = {BULK_PAGE, 0, BULK_BYTES}};
	stale.memory = (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = 1, .nob = BULK_BYTES, .kiov = &stale.kiov},
		.mode = O2_REG_GLOBAL};
	rc = open_rpc(&stale, a, &stale.client);
	the->talk.rpc = stale.client; /* freed with the case, and so is the other one */
	if (rc == 0)
		rc = open_rpc(&stale, b, &stale.server);
	the->server = stale.server;
	if (rc == 0)
		rc = o2_lst_serve(stale.server, O2_LST_SERVICE_PING, &ops, &stale, NULL);
	if (rc != 0)
		return o2_lst_cannot_run(the->report, rc);
	o2_lst_rpc_listens(stale.client, a);
	o2_lst_rpc_listens(stale.server, b);
	for (uint64_t steps = o2_draw(the->choice, STEPS); steps > 0 && take_step(&stale); steps--)
		;
	end(&stale);
	return true;
}
