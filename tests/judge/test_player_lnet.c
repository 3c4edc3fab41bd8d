/* SPDX-License-Identifier: MIT */

/*
 * Recordings of two kernels' o2iblnd, played to LNet's place: one side of each recording speaks as it did, we
 * are the other, and must say what that one said, but for handles and stamps.  The transport below is the
 * recording itself.  Each is played twice, once for either side.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnd/conn/immediate.h"
#include "mem/copy.h"
#include "tests/judge/player/play.h"
#include "tests/lib/unit_test.h"
#include "wire/nid.h"

#define ARENA_PAGES 200u
#define ENTRY_PAGE  2u
#define FIRST_PAGE  40u /* of the memory of our operations */
#define MAX_OPEN    16u

/* One of our messages that the transport was given. */
struct sent {
	enum o2_msg_type type;
	struct o2_lnet_hdr hdr;
	uint8_t payload[O2_MSG_BYTES];
	uint64_t tag;
};

/* What is open, by the cookie or handle that the recording calls it by. */
struct open {
	uint64_t recorded;
	uint64_t tag; /* of ours */
	struct o2_lnet_handle handle;
	int rc; /* of matching */
	uint64_t nob;
};

struct stage {
	bool we_are_a;
	struct o2_arena arena;
	struct o2_clock clock;
	struct o2_lnet *lnet;
	uint32_t nsent;
	struct sent sent[MAX_OPEN];
	uint32_t nputs, ngets, naccepted, nhandles; /* of the lists below */
	struct open put[MAX_OPEN], get[MAX_OPEN], accepted[MAX_OPEN], handle[MAX_OPEN];
	uint32_t page; /* for the next operation */
	uint32_t nresults, nfailed;
	int status; /* of the last */
	struct o2_kiov kiov[MAX_OPEN * 20];
	uint32_t nkiov;
};

/* The transport: it only remembers. */

static struct sent *note(void *context, enum o2_msg_type type, const struct o2_lnet_hdr *hdr, uint64_t tag)
{
	struct stage *stage = context;
	struct sent *sent;

	assert_true(stage->nsent < MAX_OPEN);
	sent = &stage->sent[stage->nsent++];
	*sent = (struct sent){.type = type, .hdr = *hdr, .tag = tag};
	return sent;
}

static uint32_t immediate_max(void *context, uint64_t nid)
{
	return O2_IMMEDIATE_MAX;
}

static int send_immediate(void *context, uint64_t nid, const struct o2_lnet_hdr *hdr,
			  const struct o2_transfer_memory *payload, uint64_t tag, struct o2_error *error)
{
	struct stage *stage = context;
	struct sent *sent = note(stage, O2_MSG_IMMEDIATE, hdr, tag);

	if (payload != NULL)
		assert_int_equal(o2_copy_from_buffer(&stage->arena, &payload->buffer, sent->payload, error),
				 0);
	return 0;
}

static int put(void *context, uint64_t nid, const struct o2_lnet_hdr *hdr,
	       const struct o2_transfer_memory *source, uint64_t tag, struct o2_error *error)
{
	note(context, O2_MSG_PUT_REQ, hdr, tag);
	return 0;
}

static int get(void *context, uint64_t nid, const struct o2_lnet_hdr *hdr,
	       const struct o2_transfer_memory *sink, uint64_t tag, struct o2_error *error)
{
	note(context, O2_MSG_GET_REQ, hdr, tag);
	return 0;
}

static void note_done(void *context, const struct o2_lnet_result *result)
{
	struct stage *stage = context;

	stage->nresults++;
	stage->nfailed += result->status != 0;
	stage->status = result->status;
}

/* What is open under a name of the recording. */
static struct open *find(struct open *list, uint32_t count, uint64_t recorded)
{
	for (uint32_t i = 0; i < count; i++)
		if (list[i].recorded == recorded)
			return &list[i];
	fail_msg("the recording speaks of 0x%lx, which it has not opened", (unsigned long)recorded);
	return NULL;
}

static void add(struct open *list, uint32_t *count, struct open entry)
{
	assert_true(*count < MAX_OPEN);
	list[(*count)++] = entry;
}

/* length bytes in pages of their own. */
static struct o2_transfer_memory memory_of(struct stage *stage, uint32_t page, uint32_t length_bytes)
{
	struct o2_kiov *first = &stage->kiov[stage->nkiov];
	uint32_t left = length_bytes, count = 0;

	for (; left > 0; count++) {
		const uint32_t take = left < stage->arena.page_bytes ? left : stage->arena.page_bytes;

		assert_true(stage->nkiov < sizeof(stage->kiov) / sizeof(stage->kiov[0]));
		stage->kiov[stage->nkiov++] = (struct o2_kiov){page + count, 0, take};
		left -= take;
	}
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = count, .nob = length_bytes, .kiov = first}};
}

/* The application of the recorded side wanted something: so does ours. */
static void operate(struct stage *stage, const struct player_step *step)
{
	uint32_t length_bytes;
	const struct o2_lnet_target target = player_target(step, &length_bytes);
	struct o2_transfer_memory memory = memory_of(stage, stage->page, length_bytes);
	struct o2_error error;

	stage->page += memory.buffer.count;
	if (step->msg.ibm_type == O2_MSG_IMMEDIATE && player_lnet_hdr(step)->payload_length > 0)
		assert_int_equal(o2_copy_to_buffer(&stage->arena, &memory.buffer, step->payload, &error), 0);
	if (player_lnet_hdr(step)->type == O2_LNET_GET)
		assert_int_equal(o2_lnet_get(stage->lnet, &target, &memory, NULL, &error), 0);
	else
		assert_int_equal(o2_lnet_put(stage->lnet, &target, &memory, NULL, &error), 0);
}

static void learn_handle(struct stage *stage, const struct o2_lnet_hdr *ours,
			 const struct o2_lnet_hdr *recorded)
{
	if (recorded->type == O2_LNET_PUT)
		add(stage->handle, &stage->nhandles,
		    (struct open){.recorded = recorded->msg.put.ack_wmd.wh_object_cookie,
				  .handle = ours->msg.put.ack_wmd});
	if (recorded->type == O2_LNET_GET)
		add(stage->handle, &stage->nhandles,
		    (struct open){.recorded = recorded->msg.get.return_wmd.wh_object_cookie,
				  .handle = ours->msg.get.return_wmd});
}

/*
 * A message with an LNet header that the recorded side sent: ours is there, or its application is to want
 * it.
 */
static void expect_lnet(struct stage *stage, const struct player_step *step)
{
	const struct o2_lnet_hdr *recorded = player_lnet_hdr(step);
	struct sent sent;

	if (stage->nsent == 0 && player_is_operation(step))
		operate(stage, step);
	if (stage->nsent == 0)
		fail_msg("%s: we say nothing", player_step_text(step));
	sent = stage->sent[0];
	stage->nsent--;
	memmove(stage->sent, stage->sent + 1, stage->nsent * sizeof(stage->sent[0]));
	if (sent.type != step->msg.ibm_type || !player_same_hdr(&sent.hdr, recorded) ||
	    (sent.type == O2_MSG_IMMEDIATE &&
	     memcmp(sent.payload, step->payload, recorded->payload_length) != 0))
		fail_msg("%s: we say something else", player_step_text(step));
	learn_handle(stage, &sent.hdr, recorded);
	if (sent.type == O2_MSG_IMMEDIATE)
		o2_lnet_finished(stage->lnet, sent.tag, 0, 0, NULL);
	else if (sent.type == O2_MSG_PUT_REQ)
		add(stage->put, &stage->nputs,
		    (struct open){.recorded = step->msg.u.putreq.ibprm_cookie, .tag = sent.tag});
	else
		add(stage->get, &stage->ngets,
		    (struct open){.recorded = step->msg.u.get.ibgm_cookie, .tag = sent.tag});
}

static uint64_t bytes_of(const struct o2_rdma_desc *desc)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		total += desc->rd_frags[i].rf_nob;
	return total;
}

/* What the recorded side sent. */
static void expect(struct stage *stage, const struct player_step *step)
{
	const struct o2_msg *msg = &step->msg;
	const uint64_t cookie = msg->u.completion.ibcm_cookie;
	const int32_t status = msg->u.completion.ibcm_status;
	struct open *open;

	switch (msg->ibm_type) {
	case O2_MSG_IMMEDIATE:
	case O2_MSG_PUT_REQ:
	case O2_MSG_GET_REQ:
		expect_lnet(stage, step);
		return;
	case O2_MSG_PUT_ACK:
		open = find(stage->accepted, stage->naccepted, msg->u.putack.ibpam_src_cookie);
		assert_int_equal(open->rc, 0);
		assert_int_equal(open->nob, bytes_of(&msg->u.putack.ibpam_rd));
		open->recorded = msg->u.putack.ibpam_dst_cookie;
		return;
	case O2_MSG_PUT_NAK:
		assert_int_equal(find(stage->accepted, stage->naccepted, cookie)->rc, -ENODATA);
		assert_int_equal(status, 0);
		return;
	case O2_MSG_PUT_DONE:
		open = find(stage->put, stage->nputs, cookie);
		o2_lnet_finished(stage->lnet, open->tag, 0, (uint64_t)status, NULL);
		return;
	case O2_MSG_GET_DONE:
		open = find(stage->accepted, stage->naccepted, cookie);
		assert_int_equal(open->rc == 0 ? (int64_t)open->nob : open->rc, status);
		if (open->rc == 0)
			o2_lnet_finished(stage->lnet, open->tag, 0, open->nob, NULL);
		return;
	default:
		return;
	}
}

static struct o2_lnet_handle ours(struct stage *stage, struct o2_lnet_handle recorded)
{
	return find(stage->handle, stage->nhandles, recorded.wh_object_cookie)->handle;
}

static void inject_immediate(struct stage *stage, const struct player_step *step)
{
	struct o2_lnet_hdr hdr = step->msg.u.immediate.hdr;
	struct o2_error error;

	if (hdr.type == O2_LNET_ACK)
		hdr.msg.ack.dst_wmd = ours(stage, hdr.msg.ack.dst_wmd);
	if (hdr.type == O2_LNET_REPLY)
		hdr.msg.reply.dst_wmd = ours(stage, hdr.msg.reply.dst_wmd);
	assert_int_equal(o2_lnet_receive(stage->lnet, hdr.src_nid, &hdr, step->payload, &error), 0);
}

static void inject_request(struct stage *stage, const struct player_step *step)
{
	const struct o2_lnet_hdr *hdr = player_lnet_hdr(step);
	struct o2_transfer_memory memory = {0};
	struct o2_error error;
	struct open open = {.recorded = step->msg.ibm_type == O2_MSG_PUT_REQ ? step->msg.u.putreq.ibprm_cookie
									     : step->msg.u.get.ibgm_cookie};

	open.rc = o2_lnet_match(stage->lnet, hdr->src_nid, hdr, &memory, &open.tag, &error);
	open.nob = memory.buffer.nob;
	add(stage->accepted, &stage->naccepted, open);
}

/* What the other side of the recording sent: we hear it. */
static void inject(struct stage *stage, const struct player_step *step)
{
	const struct o2_msg *msg = &step->msg;
	const uint64_t cookie = msg->u.completion.ibcm_cookie;
	const int32_t status = msg->u.completion.ibcm_status;

	switch (msg->ibm_type) {
	case O2_MSG_IMMEDIATE:
		inject_immediate(stage, step);
		return;
	case O2_MSG_PUT_REQ:
	case O2_MSG_GET_REQ:
		inject_request(stage, step);
		return;
	case O2_MSG_PUT_ACK: /* the PUT_DONE that answers it names it by the other cookie */
		find(stage->put, stage->nputs, msg->u.putack.ibpam_src_cookie)->recorded =
			msg->u.putack.ibpam_dst_cookie;
		return;
	case O2_MSG_PUT_NAK:
		o2_lnet_finished(stage->lnet, find(stage->put, stage->nputs, cookie)->tag, 0, 0, NULL);
		return;
	case O2_MSG_PUT_DONE:
		o2_lnet_finished(stage->lnet, find(stage->accepted, stage->naccepted, cookie)->tag, 0,
				 (uint64_t)status, NULL);
		return;
	case O2_MSG_GET_DONE:
		o2_lnet_finished(stage->lnet, find(stage->get, stage->ngets, cookie)->tag,
				 status < 0 ? status : 0, status < 0 ? 0 : (uint64_t)status, NULL);
		return;
	default:
		return;
	}
}

static void stage_open(struct stage *stage, const struct player_recording *recording,
		       const struct player_script *script, bool we_are_a)
{
	const struct o2_lnet_transport transport = {stage, immediate_max, send_immediate, put, get};
	const struct o2_lnet_ops ops = {.done = note_done};
	const struct o2_lnet_config config = player_lnet_config(script, we_are_a);
	struct o2_error error;

	memset(stage, 0, sizeof(*stage));
	stage->we_are_a = we_are_a;
	stage->page = FIRST_PAGE;
	assert_int_equal(o2_arena_create(ARENA_PAGES, &stage->arena, &error), 0);
	assert_int_equal(o2_lnet_create(&config, &transport, &stage->arena, &stage->clock, &ops, stage,
					&stage->lnet, &error),
			 0);
	player_offer(stage->lnet, script, we_are_a, memory_of(stage, ENTRY_PAGE, recording->entry_bytes),
		     o2_arena_page(&stage->arena, ENTRY_PAGE));
}

static void play(const struct player_recording *recording, bool we_are_a)
{
	struct player_script *script = player_script_read(recording, we_are_a);
	static struct stage stage;
	uint32_t operations = 0;

	assert_non_null(script);
	stage_open(&stage, recording, script, we_are_a);
	for (uint32_t i = 0; i < script->count; i++) {
		const struct player_step *step = &script->step[i];

		if (step->kind != STEP_MESSAGE)
			continue;
		operations += step->from_a == we_are_a && player_is_operation(step);
		if (step->from_a == we_are_a)
			expect(&stage, step);
		else
			inject(&stage, step);
	}
	/* Nothing left unsaid, nothing said too much, every operation ended, and as it did. */
	assert_int_equal(stage.nsent, 0);
	assert_int_equal(o2_lnet_messages(stage.lnet), 0);
	assert_int_equal(stage.nresults, operations);
	assert_int_equal(stage.nfailed, recording->nomatch ? operations : 0);
	if (recording->nomatch && operations > 0)
		assert_int_equal(stage.status, -ENODATA);
	o2_lnet_destroy(stage.lnet);
	o2_arena_destroy(&stage.arena);
	free(script);
}

int main(void)
{
	return player_run(play);
}
