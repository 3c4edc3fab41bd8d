/* SPDX-License-Identifier: MIT */
#include "tests/judge/player/stage.h"

#include "loopverbs/loopverbs.h"
#include "tests/judge/player/play.h"
#include "wire/nid.h"

#define ARENA_PAGES 400u
#define FIRST_PAGE  40u /* first page of our operations' memory */
#define QUIET	    3	/* after so many rounds without an event, none will come */
#define NOW_MS	    1000u

static void note_done(void *context, const struct o2_lnet_result *result)
{
	struct stage *stage = context;

	stage->nresults++;
	stage->nfailed += result->status != 0;
	stage->status = result->status;
}

void stage_settle(struct stage *stage)
{
	for (int quiet = 0; quiet < QUIET;) {
		bool busy = o2_cm_loop_deliver(stage->wire, 0);

		busy |= o2_node_progress(stage->endpoint.node) > 0;
		busy |= player_peer_poll(&stage->peer) > 0;
		quiet = busy ? 0 : quiet + 1;
	}
	assert_int_equal(stage->peer.failure, 0);
}

void stage_add_name(struct stage *stage, struct name name)
{
	assert_true(stage->nnames < STAGE_NAMES);
	stage->name[stage->nnames++] = name;
}

const struct name *stage_find_name(struct stage *stage, const struct player_step *step, uint64_t recorded)
{
	for (uint32_t i = stage->nnames; i > 0; i--)
		if (stage->name[i - 1].recorded == recorded)
			return &stage->name[i - 1];
	STEP_FAIL(step, "it speaks of 0x%lx, which we have not said", (unsigned long)recorded);
	return NULL;
}

struct o2_transfer_memory stage_memory(struct stage *stage, uint32_t page, uint32_t length_bytes)
{
	struct o2_iov *iov = &stage->iov[stage->niov++];

	assert_true(stage->niov <= STAGE_NAMES);
	*iov = (struct o2_iov){stage->ni.arena.view[0].base + (uint64_t)page * stage->ni.arena.page_bytes,
			       length_bytes};
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_IOV, .count = 1, .nob = length_bytes, .iov = iov},
		/*
		 * FMR gives one fragment, as the kernels' registrations do, and a key that is invalid as soon as
		 * PUT_DONE has been handled.  So our ACK is sent before the credit that PUT_DONE releases, as in the
		 * recordings.  (With fastreg, a LOCAL_INV would come between the two.)
		 */
		.mode = O2_REG_FMR,
	};
}

struct player_heard_cm stage_take_cm(struct stage *stage, const struct player_step *step,
				     enum o2_cm_event_type type)
{
	struct player_heard_cm heard;

	if (!player_peer_take_cm(&stage->peer, type, &heard))
		STEP_FAIL(step, "the connection manager brings nothing from us");
	return heard;
}

void stage_assert_moved(const struct stage *stage, const struct player_step *step)
{
	const uint32_t page = stage->noperations > 0 ? stage->operation_page : ENTRY_PAGE;

	assert_memory_equal(stage->peer.data, o2_arena_page(&stage->ni.arena, page), step->bytes);
}

int stage_encode(const struct o2_msg *msg, uint8_t bytes[O2_MSG_BYTES])
{
	struct o2_error error;
	const int n = o2_msg_encode(msg, NULL, bytes, O2_MSG_BYTES, &error);

	assert_true(n > 0);
	return n;
}

/* The incarnation stamp of a side of the recording; 0: it has none. */
static uint64_t stamp_of(const struct player_script *script, bool from_a)
{
	for (uint32_t i = 0; i < script->count; i++) {
		const struct o2_msg *msg = &script->step[i].msg;

		if (script->step[i].from_a == from_a && msg->ibm_srcstamp != 0)
			return msg->ibm_srcstamp;
	}
	return 0;
}

static struct o2_ni_config ni_config(const struct stage *stage, bool a)
{
	return (struct o2_ni_config){
		.device = a == stage->we_are_a ? "loop0" : "loop1",
		.port = 1,
		.reg_gaps = o2_loop_reg_gaps,
		.gid_index = 1,
		.nid = a ? PLAYER_NID_A : PLAYER_NID_B,
		.incarnation = stamp_of(stage->script, a),
		.dma_kind = O2_DMA_BUS,
		.arena_pages = a == stage->we_are_a ? ARENA_PAGES : 1,
	};
}

static void open_endpoint(struct stage *stage)
{
	const struct o2_lnet_ops ops = {.done = note_done};
	struct o2_node_config node_config = O2_NODE_DEFAULTS;
	const struct o2_lnet_config lnet_config = player_lnet_config(stage->script, stage->we_are_a);
	struct o2_error error;

	if (stage->we_are_a && stage->recording->a_queue_depth != 0)
		node_config.conn.queue_depth = stage->recording->a_queue_depth;
	if (stage->script->step[0].kind == STEP_MESSAGE)
		node_config.conn.cksum_flavour = stage->script->step[0].msg.cksum_flavour;
	assert_int_equal(o2_endpoint_open(&stage->ni, stage->cm, &node_config, &lnet_config, &ops, stage,
					  &stage->endpoint, &error),
			 0);
	o2_endpoint_clock(&stage->endpoint, NOW_MS);
}

void stage_open(struct stage *stage, const struct player_recording *recording, bool we_are_a)
{
	struct o2_ni_config config;
	struct o2_error error;

	memset(stage, 0, sizeof(*stage));
	o2_loop_reset();
	stage->recording = recording;
	stage->we_are_a = we_are_a;
	stage->page = FIRST_PAGE;
	stage->script = player_script_read(recording, we_are_a);
	stage->wire = o2_cm_loop_create();
	assert_non_null(stage->script);
	assert_non_null(stage->wire);
	config = ni_config(stage, we_are_a);
	assert_int_equal(o2_ni_open(&config, &stage->ni, &error), 0);
	assert_int_equal(o2_cm_loop_attach(stage->wire, &stage->ni, (uint32_t)config.nid, &stage->cm, &error),
			 0);
	open_endpoint(stage);
	player_offer(stage->endpoint.lnet, stage->script, we_are_a,
		     stage_memory(stage, ENTRY_PAGE, recording->entry_bytes),
		     o2_arena_page(&stage->ni.arena, ENTRY_PAGE));
	config = ni_config(stage, !we_are_a);
	assert_int_equal(
		player_peer_open(&stage->peer, stage->wire, &config, (uint32_t)stage->ni.config.nid, &error),
		0);
	/* Make all pages, ours and the puppet's, different from each other. */
	for (uint32_t i = 0; i < PEER_DATA_BYTES; i++)
		stage->peer.data[i] = (uint8_t)(i * 7 + i / 4096);
	for (uint32_t i = FIRST_PAGE * 4096; i < ARENA_PAGES * 4096; i++)
		stage->ni.arena.memory[i] = (uint8_t)(i * 5 + i / 4096 * 3);
}

void stage_close(struct stage *stage)
{
	o2_endpoint_close(&stage->endpoint);
	player_peer_close(&stage->peer);
	o2_cm_loop_detach(stage->cm);
	o2_ni_close(&stage->ni);
	o2_cm_loop_destroy(stage->wire);
	free(stage->script);
}
