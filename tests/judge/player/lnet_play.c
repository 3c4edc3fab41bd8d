/* SPDX-License-Identifier: MIT */
#include "tests/judge/player/lnet_play.h"

#include "lnd/conn/transfer.h"
#include "mem/kmap.h"
#include "tests/lib/unit_test.h"
#include "wire/nid.h"

/* The mock transport, which only notes what LNet sends. */

static struct lnet_play_sent *note(void *context, enum o2_msg_type type, const struct o2_lnet_hdr *hdr,
				   uint64_t tag)
{
	struct lnet_play *play = context;
	struct lnet_play_sent *sent;

	assert_true(play->nsent < LNET_PLAY_OPEN);
	sent = &play->sent[play->nsent++];
	*sent = (struct lnet_play_sent){.type = type, .hdr = *hdr, .tag = tag};
	return sent;
}

static uint32_t immediate_max(void *context, uint64_t nid)
{
	return O2_IMMEDIATE_MAX;
}

static int send_message(void *context, uint64_t nid, enum o2_lnd_form form, const struct o2_lnet_hdr *hdr,
			const struct o2_transfer_memory *memory, struct o2_error *error)
{
	static const enum o2_msg_type types[] = {
		[O2_FORM_IMMEDIATE] = O2_MSG_IMMEDIATE,
		[O2_FORM_PUT_REQ] = O2_MSG_PUT_REQ,
		[O2_FORM_GET_REQ] = O2_MSG_GET_REQ,
	};
	struct lnet_play *play = context;
	struct lnet_play_sent *sent = note(play, types[form], hdr, memory->tag);

	if (form != O2_FORM_IMMEDIATE)
		sent->memory = *memory;
	else if (memory->buffer.nob > 0)
		assert_int_equal(o2_copy_from_buffer(&play->arena, &memory->buffer, sent->payload, error), 0);
	return 0;
}

static void note_done(void *context, const struct o2_lnet_result *result)
{
	struct lnet_play *play = context;

	if (play->hooks.done != NULL)
		play->hooks.done(play->hooks.context, result);
	play->nresults++;
	play->nfailed += result->status != 0;
	play->status = result->status;
}

static void note_event(void *context, const struct o2_lnet_event *event)
{
	struct lnet_play *play = context;

	if (play->hooks.event != NULL)
		play->hooks.event(play->hooks.context, event);
}

/* Find the open operation with this recorded name. */
static struct lnet_play_open *find(struct lnet_play_open *list, uint32_t count, uint64_t recorded)
{
	for (uint32_t i = 0; i < count; i++)
		if (list[i].recorded == recorded)
			return &list[i];
	fail_msg("the recording speaks of 0x%lx, which it has not opened", (unsigned long)recorded);
	return NULL;
}

static void add(struct lnet_play_open *list, uint32_t *count, struct lnet_play_open entry)
{
	assert_true(*count < LNET_PLAY_OPEN);
	list[(*count)++] = entry;
}

struct o2_transfer_memory lnet_play_memory(struct lnet_play *play, uint32_t page, uint32_t length_bytes)
{
	struct o2_kiov *first = &play->kiov[play->nkiov];
	uint32_t left = length_bytes, count = 0;

	for (; left > 0; count++) {
		const uint32_t take = left < play->arena.page_bytes ? left : play->arena.page_bytes;

		assert_true(play->nkiov < sizeof(play->kiov) / sizeof(play->kiov[0]));
		play->kiov[play->nkiov++] = (struct o2_kiov){page + count, 0, take};
		left -= take;
	}
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = count, .nob = length_bytes, .kiov = first}};
}

/* Start the operation that the recorded side's application started. */
static void operate(struct lnet_play *play, const struct player_step *step)
{
	uint32_t length_bytes;
	const struct o2_lnet_target target = player_target(step, &length_bytes);
	struct o2_transfer_memory memory;
	struct o2_error error;

	if (play->hooks.operate != NULL && play->hooks.operate(play->hooks.context, step))
		return;
	memory = lnet_play_memory(play, play->page, length_bytes);
	play->page += memory.buffer.count;
	if (step->msg.ibm_type == O2_MSG_IMMEDIATE && player_lnet_hdr(step)->payload_length > 0)
		assert_int_equal(o2_copy_to_buffer(&play->arena, &memory.buffer, step->payload, &error), 0);
	if (player_lnet_hdr(step)->type == O2_LNET_GET)
		assert_int_equal(o2_lnet_get(play->lnet, &target, &memory, NULL, &error), 0);
	else
		assert_int_equal(o2_lnet_put(play->lnet, &target, &memory, NULL, &error), 0);
}

static void learn_handle(struct lnet_play *play, const struct o2_lnet_hdr *ours,
			 const struct o2_lnet_hdr *recorded)
{
	if (recorded->type == O2_LNET_PUT)
		add(play->handle, &play->nhandles,
		    (struct lnet_play_open){.recorded = recorded->msg.put.ack_wmd.wh_object_cookie,
					    .handle = ours->msg.put.ack_wmd});
	if (recorded->type == O2_LNET_GET)
		add(play->handle, &play->nhandles,
		    (struct lnet_play_open){.recorded = recorded->msg.get.return_wmd.wh_object_cookie,
					    .handle = ours->msg.get.return_wmd});
}

static bool same(struct lnet_play *play, const struct lnet_play_sent *sent, const struct player_step *step)
{
	const struct o2_lnet_hdr *recorded = player_lnet_hdr(step);

	if (sent->type != step->msg.ibm_type)
		return false;
	if (play->hooks.same != NULL)
		return play->hooks.same(play->hooks.context, sent, step);
	return player_same_hdr(&sent->hdr, recorded) &&
	       (sent->type != O2_MSG_IMMEDIATE ||
		memcmp(sent->payload, step->payload, recorded->payload_length) == 0);
}

/* Find our message for this step.  With a layer above LNet, several may wait, in another order. */
static uint32_t find_sent(struct lnet_play *play, const struct player_step *step)
{
	const uint32_t last = play->hooks.same == NULL && play->nsent > 0 ? 1 : play->nsent;
	uint32_t i = 0;

	while (i < last && !same(play, &play->sent[i], step))
		i++;
	return i < last ? i : play->nsent;
}

/*
 * Expect a message with an LNet header that the recorded side sent.  If our LNet has not sent it, start the
 * operation that leads to it.
 */
static void expect_lnet(struct lnet_play *play, const struct player_step *step)
{
	static struct lnet_play_sent sent;
	uint32_t i = find_sent(play, step);

	if (i == play->nsent && player_is_operation(step)) {
		operate(play, step);
		i = find_sent(play, step);
	}
	if (i == play->nsent)
		fail_msg("%s: we say %s", player_step_text(step),
			 play->nsent == 0 ? "nothing" : "something else");
	sent = play->sent[i];
	play->nsent--;
	memmove(play->sent + i, play->sent + i + 1, (play->nsent - i) * sizeof(play->sent[0]));
	learn_handle(play, &sent.hdr, player_lnet_hdr(step));
	if (sent.type == O2_MSG_IMMEDIATE)
		o2_lnet_finished(play->lnet, sent.tag, 0, 0, NULL);
	else if (sent.type == O2_MSG_PUT_REQ)
		add(play->put, &play->nputs,
		    (struct lnet_play_open){.recorded = step->msg.u.putreq.ibprm_cookie, .tag = sent.tag});
	else
		add(play->get, &play->ngets,
		    (struct lnet_play_open){
			    .recorded = step->msg.u.get.ibgm_cookie, .tag = sent.tag, .memory = sent.memory});
}

static uint64_t bytes_of(const struct o2_rdma_desc *desc)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		total += desc->rd_frags[i].rf_nob;
	return total;
}

/* Expect our LNet to send what the recorded side sent. */
static void expect(struct lnet_play *play, const struct player_step *step)
{
	const struct o2_msg *msg = &step->msg;
	const uint64_t cookie = msg->u.completion.ibcm_cookie;
	const int32_t status = msg->u.completion.ibcm_status;
	struct lnet_play_open *open;

	switch (msg->ibm_type) {
	case O2_MSG_IMMEDIATE:
	case O2_MSG_PUT_REQ:
	case O2_MSG_GET_REQ:
		expect_lnet(play, step);
		return;
	case O2_MSG_PUT_ACK:
		open = find(play->accepted, play->naccepted, msg->u.putack.ibpam_src_cookie);
		assert_int_equal(open->rc, 0);
		assert_int_equal(open->nob, bytes_of(&msg->u.putack.ibpam_rd));
		open->recorded = msg->u.putack.ibpam_dst_cookie;
		return;
	case O2_MSG_PUT_NAK:
		assert_int_equal(find(play->accepted, play->naccepted, cookie)->rc, -ENODATA);
		assert_int_equal(status, 0);
		return;
	case O2_MSG_PUT_DONE:
		open = find(play->put, play->nputs, cookie);
		o2_lnet_finished(play->lnet, open->tag, 0, (uint64_t)status, NULL);
		return;
	case O2_MSG_GET_DONE:
		open = find(play->accepted, play->naccepted, cookie);
		assert_int_equal(open->rc == 0 ? (int64_t)open->nob : open->rc, status);
		if (open->rc == 0)
			o2_lnet_finished(play->lnet, open->tag, 0, open->nob, NULL);
		return;
	default:
		return;
	}
}

static struct o2_lnet_handle ours(struct lnet_play *play, struct o2_lnet_handle recorded)
{
	return find(play->handle, play->nhandles, recorded.wh_object_cookie)->handle;
}

static void inject_immediate(struct lnet_play *play, const struct player_step *step)
{
	struct o2_lnet_hdr hdr = step->msg.u.immediate.hdr;
	struct o2_error error;

	if (hdr.type == O2_LNET_ACK)
		hdr.msg.ack.dst_wmd = ours(play, hdr.msg.ack.dst_wmd);
	if (hdr.type == O2_LNET_REPLY)
		hdr.msg.reply.dst_wmd = ours(play, hdr.msg.reply.dst_wmd);
	if (play->hooks.heard != NULL)
		play->hooks.heard(play->hooks.context, &hdr);
	assert_int_equal(o2_lnet_receive(play->lnet, hdr.src_nid, &hdr, step->payload, &error), 0);
}

static void inject_request(struct lnet_play *play, const struct player_step *step)
{
	struct o2_lnet_hdr hdr = *player_lnet_hdr(step);
	struct o2_transfer_memory memory = {0};
	struct o2_error error;
	struct lnet_play_open open = {.recorded = step->msg.ibm_type == O2_MSG_PUT_REQ
							  ? step->msg.u.putreq.ibprm_cookie
							  : step->msg.u.get.ibgm_cookie};

	if (play->hooks.heard != NULL)
		play->hooks.heard(play->hooks.context, &hdr);
	open.rc = o2_lnet_match(play->lnet, hdr.src_nid, &hdr, &memory, &open.tag, &error);
	open.nob = memory.buffer.nob;
	open.memory = memory;
	add(play->accepted, &play->naccepted, open);
}

static void arrive(struct lnet_play *play, const struct lnet_play_open *open, int32_t nob)
{
	if (play->hooks.arrived != NULL && nob > 0)
		play->hooks.arrived(play->hooks.context, &open->memory, (uint64_t)nob);
}

/* Hand a message of the other side of the recording to our LNet. */
static void inject(struct lnet_play *play, const struct player_step *step)
{
	const struct o2_msg *msg = &step->msg;
	const uint64_t cookie = msg->u.completion.ibcm_cookie;
	const int32_t status = msg->u.completion.ibcm_status;
	const struct lnet_play_open *open;

	switch (msg->ibm_type) {
	case O2_MSG_IMMEDIATE:
		inject_immediate(play, step);
		return;
	case O2_MSG_PUT_REQ:
	case O2_MSG_GET_REQ:
		inject_request(play, step);
		return;
	case O2_MSG_PUT_ACK: /* the PUT_DONE names the transfer by the sink's cookie */
		find(play->put, play->nputs, msg->u.putack.ibpam_src_cookie)->recorded =
			msg->u.putack.ibpam_dst_cookie;
		return;
	case O2_MSG_PUT_NAK:
		o2_lnet_finished(play->lnet, find(play->put, play->nputs, cookie)->tag, 0, 0, NULL);
		return;
	case O2_MSG_PUT_DONE:
		open = find(play->accepted, play->naccepted, cookie);
		arrive(play, open, status);
		o2_lnet_finished(play->lnet, open->tag, 0, (uint64_t)status, NULL);
		return;
	case O2_MSG_GET_DONE:
		open = find(play->get, play->ngets, cookie);
		arrive(play, open, status);
		o2_lnet_finished(play->lnet, open->tag, status < 0 ? status : 0,
				 status < 0 ? 0 : (uint64_t)status, NULL);
		return;
	default:
		return;
	}
}

void lnet_play_open(struct lnet_play *play, const struct player_script *script, bool we_are_a, uint32_t pages,
		    uint32_t first_page, const struct lnet_play_hooks *hooks)
{
	const struct o2_lnet_transport transport = {play, immediate_max, send_message};
	const struct o2_lnet_ops ops = {.done = note_done, .event = note_event};
	struct o2_lnet_config config = player_lnet_config(script, we_are_a);
	struct o2_error error;

	config.max_entries = LNET_PLAY_OPEN;
	memset(play, 0, sizeof(*play));
	play->we_are_a = we_are_a;
	play->page = first_page;
	if (hooks != NULL)
		play->hooks = *hooks;
	assert_int_equal(o2_arena_create(pages, &play->arena, &error), 0);
	assert_int_equal(o2_lnet_create(&config, &transport, &play->arena, &play->clock, &ops, play,
					&play->lnet, &error),
			 0);
}

void lnet_play_close(struct lnet_play *play)
{
	o2_lnet_destroy(play->lnet);
	o2_arena_destroy(&play->arena);
}

void lnet_play_step(struct lnet_play *play, const struct player_step *step)
{
	if (step->kind != STEP_MESSAGE)
		return;
	if (step->from_a == play->we_are_a)
		expect(play, step);
	else
		inject(play, step);
}
