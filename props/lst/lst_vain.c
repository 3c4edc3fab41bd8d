/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/lst/lst_internal.h"
#include "props/lst/lst_requests.h"

/*
 * Calls that cannot be started: LNet has no entry or message left, or the transport accepts nothing; the
 * message is not a request, has bulk that its type may not have, or cannot be encoded; too many calls are open,
 * or the RPC engine was stopped.  The call must return the reason, call no callback, and leave nothing behind.
 */

#define RPC_PAGE      560u
#define BULK_PAGE     2u
#define OWN_ENTRIES   2u /* LNet's own entries: for pings and for pushes */
#define CALLS	      3u
#define MANY	      1024u
#define REPLY_TYPE    1u /* reply types are odd */
#define NO_TYPE	      18u
#define ENTRY_OF_CALL 1u /* one entry for the reply; bulk needs another */

/* What is wrong apart from a lack of room. */
enum oddity { NOTHING, SHUT, STOPPED, IS_REPLY, IS_NO_TYPE, NO_BULK, NO_NAME, ODDITIES };

struct vain {
	struct o2_lst_case *the;
	struct o2_lst_rpc *rpc;
	enum oddity oddity;
	uint32_t entries, messages; /* of LNet, available for calls */
	uint32_t calls, started, used, ended;
	struct o2_kiov kiov;
	struct o2_transfer_memory memory;
};

/* The expected result of a call; code 0: it starts. */
struct verdict {
	int code;
	const char *rule;
	uint64_t value, limit;
};

static bool listen_done(void *rpc, const struct o2_lnet_result *result)
{
	return o2_lst_rpc_done(rpc, result);
}

static bool listen_event(void *rpc, const struct o2_lnet_event *event)
{
	return o2_lst_rpc_event(rpc, event);
}

void o2_lst_rpc_listens(struct o2_lst_rpc *rpc, struct o2_lnet_side *side)
{
	side->listener = rpc;
	side->listen_done = listen_done;
	side->listen_event = listen_event;
}

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	struct vain *vain = context;

	vain->ended++;
	if (answer->status != -ESHUTDOWN && answer->status != -ECANCELED)
		o2_report_fail(vain->the->report, "lst/vain", "a call that nobody answers ends with %d",
			       answer->status);
}

/* Predict the result, in the order of the checks. */
static struct verdict foretell(const struct vain *vain, bool bulk, uint32_t type)
{
	const uint32_t entries = ENTRY_OF_CALL + bulk, all = OWN_ENTRIES + vain->entries;

	if (vain->oddity == STOPPED)
		return (struct verdict){-ESHUTDOWN, "lst/stopped", 0, O2_NO_LIMIT};
	if (vain->oddity == IS_REPLY || vain->oddity == IS_NO_TYPE)
		return (struct verdict){-EINVAL, "lst/request-type", type, O2_NO_LIMIT};
	if (vain->oddity == NO_BULK)
		return (struct verdict){-EINVAL, "lst/no-bulk", type, O2_NO_LIMIT};
	if (vain->started == vain->calls)
		return (struct verdict){-ENOSPC, "lst/calls", vain->calls + 1, vain->calls};
	if (vain->used + entries > vain->entries)
		return (struct verdict){-ENOSPC, "lnet/entry/table-full", all + 1, all};
	if (vain->oddity == NO_NAME)
		return (struct verdict){-EINVAL, "lst/encode/name", O2_LST_NAME_BYTES, O2_LST_NAME_BYTES - 1};
	if (vain->started == vain->messages)
		return (struct verdict){-ENOSPC, "lnet/messages", vain->messages + 1, vain->messages};
	if (vain->oddity == SHUT)
		return (struct verdict){-ENETUNREACH, "test/refused", 0, 0};
	return (struct verdict){0, NULL, 0, 0};
}

static struct o2_lst_msg request_of(struct vain *vain, bool bulk)
{
	struct o2_choice *c = vain->the->choice;
	struct o2_lst_msg msg = bulk ? o2_lst_ask_brw(O2_LST_BRW_WRITE, O2_LST_CHECK_NONE, 64)
				     : o2_lst_ask_mksn(o2_lst_sid_of(1), 0, "vain");

	if (vain->oddity == IS_REPLY)
		msg.msg_type = REPLY_TYPE + 2 * (uint32_t)o2_draw(c, NO_TYPE / 2 - 1);
	else if (vain->oddity == IS_NO_TYPE)
		msg.msg_type = NO_TYPE + (uint32_t)o2_draw(c, UINT32_MAX - NO_TYPE);
	else if (vain->oddity == NO_NAME)
		memset(msg.u.mksn_reqst.mksn_name.text, 'n', O2_LST_NAME_BYTES);
	return msg;
}

/* Draw whether the call has bulk; not for oddities that determine it. */
static bool draw_bulk(struct vain *vain)
{
	return vain->oddity != NO_NAME && vain->oddity != NO_BULK && o2_draw_bool(vain->the->choice, 1, 1);
}

static void check(struct vain *vain, int rc, const struct o2_error *error, const struct verdict *verdict)
{
	const bool same =
		verdict->code == 0 || (error->rule != NULL && strcmp(error->rule, verdict->rule) == 0 &&
				       error->value == verdict->value && error->limit == verdict->limit);

	if (rc != verdict->code || !same)
		o2_report_fail(vain->the->report, "lst/vain",
			       "a call returns %d by %s, %" PRIu64 " of %" PRIu64 "; expected %d by %s", rc,
			       error->rule == NULL ? "nothing" : error->rule, error->value, error->limit,
			       verdict->code, verdict->rule == NULL ? "nothing" : verdict->rule);
	if (o2_lst_rpc_active(vain->rpc) != vain->started || vain->ended > 0)
		o2_report_fail(vain->the->report, "lst/vain",
			       "%" PRIu32 " are under way and %" PRIu32 " have ended; %" PRIu32
			       " were started",
			       o2_lst_rpc_active(vain->rpc), vain->ended, vain->started);
}

static void start(struct vain *vain)
{
	const bool bulk = draw_bulk(vain);
	const struct o2_lst_msg msg = request_of(vain, bulk);
	const struct o2_lst_call call = {.nid = O2_LNET_NID_B,
					 .request = &msg,
					 .bulk = bulk || vain->oddity == NO_BULK ? &vain->memory : NULL,
					 .bulk_is_source = true,
					 .done = note_answer,
					 .context = vain};
	const struct verdict verdict = foretell(vain, bulk, msg.msg_type);
	struct o2_error error = {.code = 0};
	uint64_t id = UINT64_MAX;
	int rc;

	vain->the->lnet.a.refuse = vain->oddity == SHUT ? -ENETUNREACH : 0;
	rc = o2_lst_call_start(vain->rpc, &call, &id, &error);
	vain->the->lnet.a.refuse = 0;
	if (verdict.code == 0) {
		vain->started++;
		vain->used += ENTRY_OF_CALL + bulk;
	}
	check(vain, rc, &error, &verdict);
	vain->the->seen[CALL_IN_VAIN] += verdict.code != 0;
	vain->the->seen[CALL_NO_ENTRY_FOR_BULK] +=
		verdict.code == -ENOSPC && bulk && vain->used + ENTRY_OF_CALL == vain->entries;
	/* A call that was not started cannot be cancelled, nor one with another number. */
	if (o2_lst_call_cancel(vain->rpc, verdict.code == 0 ? id + (UINT64_C(1) << 32) : id) != -ENOENT ||
	    o2_lst_call_cancel(vain->rpc, vain->calls) != -ENOENT)
		o2_report_fail(vain->the->report, "lst/vain", "a call that is not there is cancelled");
}

/* Check that all entries not used by calls can be attached, and no more. */
static void check_room(struct vain *vain)
{
	const struct o2_lnet_entry entry = {
		.portal = 7, O2_LNET_FOR_ANYBODY, .options = O2_LNET_MD_OP_PUT, .memory = vain->memory};
	uint32_t count = 0;

	while (o2_lnet_attach(vain->the->lnet.a.lnet, &entry, NULL) >= 0)
		count++;
	if (count != vain->entries - vain->used)
		o2_report_fail(vain->the->report, "lst/vain-left",
			       "%" PRIu32 " entries are free, of %" PRIu32 " of which calls have %" PRIu32,
			       count, vain->entries, vain->used);
}

/* Every started call ends exactly once, when LNet has released it. */
static void end(struct vain *vain)
{
	o2_lst_rpc_stop(vain->rpc, -ESHUTDOWN);
	while (vain->the->lnet.a.nletters > 0)
		o2_lnet_deliver(&vain->the->lnet.a);
	if (vain->ended != vain->started || o2_lst_rpc_active(vain->rpc) != 0 ||
	    o2_lnet_messages(vain->the->lnet.a.lnet) != 0)
		o2_report_fail(vain->the->report, "lst/vain-left",
			       "%" PRIu32 " of %" PRIu32 " calls have ended", vain->ended, vain->started);
}

bool o2_lst_vain_case(struct o2_lst_case *the)
{
	static struct vain vain;
	struct o2_lst_rpc_config config = O2_LST_RPC_DEFAULTS;
	struct o2_lnet_config base = O2_LNET_DEFAULTS;
	struct o2_lnet_side *a = &the->lnet.a;

	vain = (struct vain){.the = the,
			     .entries = o2_lst_draw(the, 2 * CALLS + 1),
			     .messages = o2_draw_bool(the->choice, 1, 1) ? MANY : 1 + o2_lst_draw(the, CALLS),
			     .calls = 1 + o2_lst_draw(the, CALLS - 1),
			     .kiov = {BULK_PAGE, 0, 64}};
	vain.memory = (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = 1, .nob = 64, .kiov = &vain.kiov},
		.mode = O2_REG_GLOBAL};
	base.max_entries = OWN_ENTRIES + vain.entries;
	base.max_messages = vain.messages;
	config.first_page = RPC_PAGE;
	config.max_calls = vain.calls;
	config.max_served = 1;
	if (o2_lnet_pair_renew(&the->lnet, &base) != 0)
		return false;
	if (o2_lst_rpc_create(&config, a->lnet, &a->arena, &a->clock, &vain.rpc, NULL) != 0)
		return true;
	the->talk.rpc = vain.rpc; /* freed with the case */
	o2_lst_rpc_listens(vain.rpc, a);
	for (uint32_t i = 0; i <= CALLS && !the->report->failed; i++) {
		vain.oddity = o2_draw_bool(the->choice, 1, 1) ? o2_lst_draw(the, ODDITIES - 1) : NOTHING;
		if (vain.oddity == STOPPED)
			vain.oddity = NOTHING;
		start(&vain);
	}
	check_room(&vain);
	end(&vain);
	vain.oddity = STOPPED;
	vain.started = vain.ended = vain.used = 0;
	start(&vain);
	return true;
}
