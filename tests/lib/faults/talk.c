/* SPDX-License-Identifier: MIT */
#include <dirent.h>

#include "lnd/ni/counts.h"
#include "loopverbs/loopverbs.h"
#include "tests/lib/faults/talk_internal.h"

#define FIRST_ADDRESS 0xc0a80a01u
#define PAGES	      (4 * OPS) /* two for each operation of this node, and two for each of the peer */
#define STEP_MS	      250u
#define PATIENCE_MS   70000u /* longer than any timeout */
#define TRIES	      3u
#define TURNS	      20000u

struct talk talk;

const char *talk_failed(void)
{
	return talk.failed;
}

static bool may_open_with(int code)
{
	return talk_of_the_call(code) || (talk.call == CALL_QUERY_GID && code == -EADDRNOTAVAIL);
}

/* --- the nodes --- */

static enum o2_cm_loop_fate fate(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	bool due = faulty_call_due(CALL_MESSAGE);

	due |= message == O2_CM_LOOP_REQUEST && faulty_call_due(CALL_REQUEST);
	return due ? (enum o2_cm_loop_fate)talk.code : O2_CM_LOOP_PASS;
}

static int work_request(void *arg, enum o2_loop_call call, uint32_t qp_num)
{
	return call == O2_LOOP_CALL_EXECUTE && faulty_call_due(CALL_EXECUTE) ? talk.code : 0;
}

static int open_seat(struct seat *seat)
{
	bool first = seat->index == 0;
	struct o2_ni_config ni = {
		.device = first ? "loop0" : "loop1",
		.port = 1,
		.reg_gaps = o2_loop_reg_gaps,
		.gid_index = O2_LOOP_GID_INDEX,
		.nid = FIRST_NID + seat->index,
		.incarnation = 0x0006000000000001ull + seat->index,
		.dma_kind = first ? talk.config->kind : O2_DMA_VIRTUAL,
		.dma_base = first ? 0x7f0000000000ull : 0,
		.bounce = !first,
		.arena_pages = PAGES,
		.events = talk.config->events,
		.sizes = {.tx_size = talk.config->small ? 2 : 32, .reg_size = talk.config->small ? 1 : 16},
	};
	struct o2_node_config config = O2_NODE_DEFAULTS;
	struct o2_error error;
	int rc;

	config.conn.version = talk.config->version;
	config.conn.immediate_gather = talk.config->gather;
	config.conn.max_frags = 8;
	config.conn.queue_depth = 4;
	rc = o2_ni_open(&ni, &seat->ni, &error);
	o2_clock_tell(&seat->ni.clock, talk.now_ms);
	if (rc == 0)
		rc = o2_cm_loop_attach(talk.loop, &seat->ni, FIRST_ADDRESS + seat->index, &seat->cm, &error);
	if (rc == 0)
		rc = o2_node_create(&seat->ni, seat->cm, &config, &talk_ops, seat, &seat->node, &error);
	return rc;
}

static int open_both(void)
{
	int rc = 0;

	talk.now_ms = 1000;
	talk.loop = o2_cm_loop_create();
	if (talk.loop == NULL)
		return -ENOMEM;
	o2_cm_loop_set_fate(talk.loop, fate, NULL);
	o2_loop_set_fault(work_request, NULL);
	for (uint32_t i = 0; i < 2 && rc == 0; i++) {
		memset(&talk.seat[i], 0, sizeof(talk.seat[i]));
		talk.seat[i].index = i;
		rc = open_seat(&talk.seat[i]);
	}
	return rc;
}

/* Arm the completion queues, as an event loop does before it sleeps.  True: there is work, so it must not sleep. */
static bool arm(void)
{
	bool busy = false;

	for (uint32_t i = 0; i < 2 && talk.config->events; i++) {
		int rc = o2_node_arm(talk.seat[i].node);

		EXPECT(rc >= 0 || (talk.call == CALL_GET_CQ_EVENT && rc == -talk.code),
		       "arming ends with %d (%s)", rc, strerror(-rc));
		busy |= rc > 0;
	}
	return busy;
}

/* Drive both nodes until nothing more happens at the current time. */
static void settle(void)
{
	uint32_t quiet = 0, turns = 0;

	while (quiet < 3 && talk.failed[0] == '\0') {
		bool busy = false;

		for (uint32_t i = 0; i < 2; i++)
			busy |= o2_node_progress(talk.seat[i].node) > 0;
		busy |= o2_cm_loop_deliver(talk.loop, 0) || o2_loop_tick();
		busy = busy || arm();
		quiet = busy ? 0 : quiet + 1;
		EXPECT(++turns < TURNS, "there is no rest");
	}
}

static void pass(uint64_t ms)
{
	talk.now_ms += ms;
	for (uint32_t i = 0; i < 2; i++)
		o2_node_clock(talk.seat[i].node, talk.now_ms);
	settle();
}

static void run(void)
{
	uint64_t end = talk.now_ms + PATIENCE_MS;

	settle();
	while (!talk_all_ended() && talk.now_ms < end && talk.failed[0] == '\0')
		pass(STEP_MS);
	EXPECT(talk_all_ended(), "an operation never ends");
}

static void start_all(void)
{
	const struct talk_config *config = talk.config;

	for (uint32_t m = 0; m < config->nmodes; m++)
		for (uint32_t i = 0; i < 2; i++) {
			talk_start(&talk.seat[i], PUT, config->modes[m], 1700);
			talk_start(&talk.seat[i], GET, config->modes[m], 1700);
			talk_start(&talk.seat[i], SEND, config->modes[m], 900);
		}
}

/* The injected failure is over: transfers must succeed again, after at most TRIES attempts. */
static void talk_again(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		bool well = false;

		for (uint32_t n = 0; n < TRIES && !well && talk.failed[0] == '\0'; n++) {
			const struct op *put = talk_start(&talk.seat[i], PUT, O2_REG_GLOBAL, 1700);
			const struct op *get = talk_start(&talk.seat[i], GET, O2_REG_GLOBAL, 1700);

			run();
			well = put->ended && get->ended && put->status == 0 && get->status == 0;
		}
		EXPECT(well, "nothing moves any more from node %" PRIu32, i);
	}
}

/* --- the end --- */

static bool gives_back(enum faulty_call call)
{
	return call >= CALL_DEREG_MR && call <= CALL_CLOSE_DEVICE;
}

static void check_idle(struct seat *seat)
{
	struct o2_error error;
	char text[200] = "";

	o2_error_clear(&error);
	if (o2_ni_check_idle(&seat->ni, &error) != 0)
		o2_error_text(&error, text, sizeof(text));
	EXPECT(text[0] == '\0', "node %" PRIu32 " has not got everything back: %s", seat->index, text);
	EXPECT(o2_ledger_balanced(&seat->ni.ledger), "the ledger does not balance");
}

/* Does the device still hold an object because the injected failure made it refuse the release? */
static bool has_kept(void)
{
	return gives_back(talk.call) && faulty_call_fired();
}

static void check_devices(void)
{
	struct o2_loop_counters left;
	uint32_t objects;

	o2_loop_get_counters(&left);
	objects = left.live_contexts + left.live_pds + left.live_mrs + left.live_mws + left.live_cqs +
		  left.live_qps + left.live_channels;
	EXPECT(has_kept() || objects == 0,
	       "the devices still have %" PRIu32 " regions, %" PRIu32 " windows, %" PRIu32
	       " completion queues and %" PRIu32 " queue pairs",
	       left.live_mrs, left.live_mws, left.live_cqs, left.live_qps);
}

static void close_both(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		o2_node_destroy(talk.seat[i].node);
		talk.seat[i].node = NULL;
	}
	while (talk.loop != NULL && o2_cm_loop_deliver(talk.loop, 0))
		;
	EXPECT(talk_all_ended(), "an operation has not ended with its node");
	for (uint32_t i = 0; i < 2; i++) {
		if (talk.seat[i].ni.context != NULL && !has_kept())
			check_idle(&talk.seat[i]);
		if (talk.seat[i].cm != NULL)
			o2_cm_loop_detach(talk.seat[i].cm);
		o2_ni_close(&talk.seat[i].ni);
	}
	if (talk.loop != NULL)
		o2_cm_loop_destroy(talk.loop);
	o2_loop_set_fault(NULL, NULL);
	check_devices();
}

static uint32_t open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	uint32_t count = 0;

	if (folder == NULL)
		return 0;
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

/* Run the whole conversation.  Returns true if the injected failure occurred. */
static bool hold(void)
{
	bool all_well = true;
	int rc = open_both();

	if (rc != 0) {
		EXPECT(faulty_call_fired() && may_open_with(rc), "opening ends with %d (%s)", rc,
		       strerror(-rc));
		close_both();
		memset(talk.seat, 0, sizeof(talk.seat));
		rc = open_both();
		EXPECT(rc == 0, "a second attempt to open ends with %d", rc);
	}
	if (rc == 0) {
		start_all();
		run();
		if (!gives_back(talk.call))
			talk_again();
	}
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 0; k < talk.seat[i].nops; k++)
			all_well &= talk.seat[i].op[k].status == 0;
	EXPECT(all_well || faulty_call_fired(), "nothing was made to fail, and something has failed");
	close_both();
	return faulty_call_fired();
}

bool talk_run(const struct talk_config *config, enum faulty_call call, uint32_t nth, int code)
{
	struct faulty_call_held before, after;
	uint32_t files;
	bool fired;

	memset(&talk, 0, sizeof(talk));
	talk.config = config;
	talk.call = call;
	talk.code = code;
	o2_loop_reset();
	before = faulty_call_held();
	files = open_files();
	faulty_call_arm(call, nth, code);
	fired = hold();
	faulty_call_arm(CALLS, 0, 0);
	o2_loop_reset();
	after = faulty_call_held();
	EXPECT(after.allocations == before.allocations, "%" PRId64 " allocations are not freed",
	       after.allocations - before.allocations);
	EXPECT(after.mapped_bytes == before.mapped_bytes, "%" PRId64 " bytes are still mapped",
	       after.mapped_bytes - before.mapped_bytes);
	EXPECT(open_files() == files, "%" PRIu32 " files are open, %" PRIu32 " before", open_files(), files);
	return fired;
}
