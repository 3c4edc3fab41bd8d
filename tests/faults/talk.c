/* SPDX-License-Identifier: MIT */
#include "tests/faults/talk.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lnd/ni_counts.h"

#define FIRST_NID     0x00050000c0a80a01ull
#define FIRST_ADDRESS 0xc0a80a01u
#define OPS	      16u
#define PAGES	      (4 * OPS) /* two for each operation of our own, and two for each of the peer's */
#define STEP_MS	      250u
#define PATIENCE_MS   70000u /* longer than any time-out */
#define TRIES	      3u
#define TURNS	      20000u

enum kind { PUT, GET, SEND, KINDS };

struct op {
	enum kind kind;
	enum o2_reg_mode mode;
	bool gapped;
	uint32_t nob;
	bool started, matched;
	uint32_t ended, ended_there; /* how often */
	int status;
	struct o2_kiov kiov[2], kiov_there[2];
	struct o2_iov iov, iov_there;
};

struct seat {
	uint32_t index;
	struct o2_ni ni;
	struct o2_cm *cm;
	struct o2_node *node;
	struct op op[OPS];
	uint32_t nops;
};

static struct {
	const struct talk_config *config;
	enum faulty_call call;
	int code;
	struct o2_cm_loop *loop;
	struct seat seat[2];
	uint64_t now_ms;
	char failed[400];
} talk;

const char *talk_failed(void)
{
	return talk.failed;
}

/* The first thing that is wrong is kept. */
#define EXPECT(condition, ...)                                                   \
	do {                                                                     \
		if (!(condition) && talk.failed[0] == '\0')                      \
			snprintf(talk.failed, sizeof(talk.failed), __VA_ARGS__); \
	} while (0)

/* --- what may come out of it */

static bool is_one_of(int code, const int *codes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (codes[i] == code)
			return true;
	return false;
}

/* A call's own errno, and what pools say that wanted to grow. */
static bool of_the_call(int code)
{
	bool call = talk.call < CALL_EXECUTE;

	return call && (code == -talk.code || code == -ENOMEM || code == -EAGAIN);
}

/* docs/transport.md, "Errors", and lnd/node.h. */
static bool may_end_with(int code)
{
	static const int codes[] = {0,	       -EIO,	  -ECONNABORTED, -EHOSTUNREACH, -ECONNREFUSED,
				    -ENETDOWN, -ENOTCONN, -ECONNRESET,	 -ETIMEDOUT};

	return is_one_of(code, codes, sizeof(codes) / sizeof(codes[0])) || of_the_call(code);
}

static bool may_open_with(int code)
{
	return of_the_call(code) || (talk.call == CALL_QUERY_GID && code == -EADDRNOTAVAIL);
}

/* --- memory and bytes */

static uint8_t byte_at(uint32_t who, uint32_t k, uint32_t at)
{
	return (uint8_t)(at * 7 + who * 101 + k * 13 + 1);
}

/* Operation k of `who`, at the initiator's or at the other node. */
static struct o2_transfer_memory memory_of(struct seat *seat, struct op *op, uint32_t k, bool there)
{
	uint32_t page = 2 * k + (there ? 2 * OPS : 0);
	struct o2_kiov *kiov = there ? op->kiov_there : op->kiov;
	struct o2_iov *iov = there ? &op->iov_there : &op->iov;
	uint32_t first = op->nob * 3 / 5;
	struct o2_transfer_memory memory = {.mode = op->mode, .tag = k};

	kiov[0] = (struct o2_kiov){page, op->gapped ? 8 : 4096 - first, first};
	kiov[1] = (struct o2_kiov){page + 1, op->gapped ? 16 : 0, op->nob - first};
	*iov = (struct o2_iov){(uintptr_t)seat->ni.arena.memory + (uint64_t)page * 4096 + 4096 - first,
			       op->nob};
	memory.buffer = (struct o2_buffer){.kind = O2_KIOV, .count = 2, .nob = op->nob, .kiov = kiov};
	if (op->mode == O2_REG_USER)
		memory.buffer = (struct o2_buffer){.kind = O2_IOV, .count = 1, .nob = op->nob, .iov = iov};
	return memory;
}

static uint8_t *place(struct seat *seat, struct op *op, uint32_t k, bool there, uint32_t at)
{
	struct o2_transfer_memory memory = memory_of(seat, op, k, there);
	const struct o2_kiov *kiov = memory.buffer.kiov;

	if (memory.buffer.kind == O2_IOV)
		return (uint8_t *)(uintptr_t)memory.buffer.iov->base + at;
	if (at >= kiov[0].len) {
		at -= kiov[0].len;
		kiov++;
	}
	return seat->ni.arena.memory + (uint64_t)kiov->page * 4096 + kiov->offset + at;
}

static void fill(struct seat *seat, uint32_t who, uint32_t k, bool there, bool source)
{
	struct op *op = &talk.seat[who].op[k];

	for (uint32_t at = 0; at < op->nob; at++)
		*place(seat, op, k, there, at) = source ? byte_at(who, k, at) : 0;
}

static void check_bytes(struct seat *seat, uint32_t who, uint32_t k, bool there)
{
	struct op *op = &talk.seat[who].op[k];

	for (uint32_t at = 0; at < op->nob; at++)
		EXPECT(*place(seat, op, k, there, at) == byte_at(who, k, at),
		       "operation %" PRIu32 " of node %" PRIu32 " has ended well, and byte %" PRIu32
		       " is wrong",
		       k, who, at);
}

/* --- what the nodes ask and say */

static int match(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	struct seat *seat = context, *other = &talk.seat[1 - seat->index];
	bool get = request->ibm_type == O2_MSG_GET_REQ;
	uint64_t k = get ? request->u.get.hdr.msg.get.match_bits : request->u.putreq.hdr.msg.put.match_bits;

	EXPECT(nid == FIRST_NID + other->index && k < other->nops && !other->op[k].matched,
	       "node %" PRIu32 " is asked for operation %" PRIu64 ", which is none", seat->index, k);
	if (talk.failed[0] != '\0')
		return -ENODATA;
	EXPECT(!get || sink_bytes == other->op[k].nob, "a GET has another length");
	other->op[k].matched = true;
	fill(seat, other->index, (uint32_t)k, true, get);
	*memory = memory_of(seat, &other->op[k], (uint32_t)k, true);
	return 0;
}

static int receive(void *context, uint64_t nid, const struct o2_msg *msg)
{
	struct seat *seat = context, *other = &talk.seat[1 - seat->index];
	uint64_t k = msg->u.immediate.hdr.msg.put.match_bits;

	EXPECT(nid == FIRST_NID + other->index && k < other->nops && !other->op[k].matched &&
		       msg->u.immediate.hdr.payload_length == other->op[k].nob,
	       "node %" PRIu32 " is sent message %" PRIu64 ", which is none", seat->index, k);
	if (talk.failed[0] != '\0')
		return 0;
	other->op[k].matched = true;
	for (uint32_t at = 0; at < other->op[k].nob; at++)
		EXPECT(msg->u.immediate.payload[at] == byte_at(other->index, (uint32_t)k, at),
		       "a payload has a wrong byte");
	return 0;
}

static void done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	struct seat *seat = context, *other = &talk.seat[1 - seat->index];
	uint32_t who = result->initiator ? seat->index : other->index, k = (uint32_t)result->tag;
	struct op *op = &talk.seat[who].op[k % OPS];

	(void)nid;
	if (result->initiator) {
		op->ended++;
		op->status = result->status;
	} else {
		op->ended_there++;
	}
	EXPECT(k < talk.seat[who].nops && op->ended <= 1 && op->ended_there <= 1,
	       "operation %" PRIu32 " of node %" PRIu32 " ends twice", k, who);
	EXPECT(may_end_with(result->status), "operation %" PRIu32 " of node %" PRIu32 " ends with %d (%s)", k,
	       who, result->status, strerror(-result->status));
	EXPECT(result->status != 0 || op->kind == SEND || result->nob == op->nob,
	       "operation %" PRIu32 " of node %" PRIu32 " moves %" PRIu64 " bytes of %" PRIu32, k, who,
	       result->nob, op->nob);
	if (result->status == 0 && result->side == O2_SINK)
		check_bytes(seat, who, k, !result->initiator);
	else if (result->status == 0 && op->kind == PUT && op->mode != O2_REG_FASTREG_GAPS)
		check_bytes(other, who, k, true);
}

/* --- the nodes */

static enum o2_cm_loop_fate fate(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	bool due = faulty_call_due(CALL_MESSAGE);

	(void)arg;
	(void)from;
	(void)to;
	due |= message == O2_CM_LOOP_REQUEST && faulty_call_due(CALL_REQUEST);
	return due ? (enum o2_cm_loop_fate)talk.code : O2_CM_LOOP_PASS;
}

static int work_request(void *arg, enum o2_loop_call call, uint32_t qp_num)
{
	(void)arg;
	(void)qp_num;
	return call == O2_LOOP_CALL_EXECUTE && faulty_call_due(CALL_EXECUTE) ? talk.code : 0;
}

static int open_seat(struct seat *seat)
{
	static const struct o2_node_ops ops = {.match = match, .receive = receive, .done = done};
	bool first = seat->index == 0;
	struct o2_ni_config ni = {
		.device = first ? "loop0" : "loop1",
		.port = 1,
		.gid_index = O2_LOOP_GID_INDEX,
		.nid = FIRST_NID + seat->index,
		.incarnation = 0x0006000000000001ull + seat->index,
		.dma_kind = first ? talk.config->kind : O2_DMA_VIRTUAL,
		.dma_base = first ? 0x7f0000000000ull : 0,
		.arena_pages = PAGES,
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
	if (rc == 0)
		rc = o2_cm_loop_attach(talk.loop, &seat->ni, FIRST_ADDRESS + seat->index, &seat->cm, &error);
	if (rc == 0)
		rc = o2_node_create(&seat->ni, seat->cm, &config, &ops, seat, &seat->node, &error);
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

/* Until nothing happens any more at this time. */
static void settle(void)
{
	uint32_t quiet = 0, turns = 0;

	while (quiet < 3 && talk.failed[0] == '\0') {
		bool busy = false;

		for (uint32_t i = 0; i < 2; i++)
			busy |= o2_node_progress(talk.seat[i].node) > 0;
		busy |= o2_cm_loop_deliver(talk.loop, 0) || o2_loop_tick();
		quiet = busy ? 0 : quiet + 1;
		EXPECT(++turns < TURNS, "there is no rest");
	}
}

static bool all_ended(void)
{
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 0; k < talk.seat[i].nops; k++) {
			const struct op *op = &talk.seat[i].op[k];

			if (op->started &&
			    (op->ended == 0 || (op->kind != SEND && op->matched && op->ended_there == 0)))
				return false;
		}
	return true;
}

static void pass(uint64_t ms)
{
	talk.now_ms += ms;
	for (uint32_t i = 0; i < 2; i++) {
		o2_ni_clock(&talk.seat[i].ni, talk.now_ms);
		o2_node_clock(talk.seat[i].node, talk.now_ms);
	}
	settle();
}

static void run(void)
{
	uint64_t end = talk.now_ms + PATIENCE_MS;

	settle();
	while (!all_ended() && talk.now_ms < end && talk.failed[0] == '\0')
		pass(STEP_MS);
	EXPECT(all_ended(), "an operation never ends");
}

/* --- operations */

static int start_at(struct seat *seat, const struct o2_lnet_hdr *hdr, struct op *op, uint32_t k)
{
	struct o2_transfer_memory memory = memory_of(seat, op, k, false);

	switch (op->kind) {
	case PUT:
		return o2_node_put(seat->node, hdr->dest_nid, hdr, &memory, NULL);
	case GET:
		return o2_node_get(seat->node, hdr->dest_nid, hdr, &memory, NULL);
	default:
		return o2_node_send(seat->node, hdr->dest_nid, hdr, &memory, NULL);
	}
}

static struct op *start(struct seat *seat, enum kind kind, enum o2_reg_mode mode, uint32_t nob)
{
	uint32_t k = seat->nops++;
	struct op *op = &seat->op[k];
	struct o2_lnet_hdr hdr = {
		.dest_nid = FIRST_NID + 1 - seat->index,
		.src_nid = FIRST_NID + seat->index,
		.dest_pid = 12345,
		.src_pid = 12345,
		.type = kind == GET ? O2_LNET_GET : O2_LNET_PUT,
	};
	int rc;

	*op = (struct op){.kind = kind, .mode = mode, .nob = nob};
	op->gapped = mode == O2_REG_FASTREG_GAPS || mode == O2_REG_FMR;
	if (kind == GET) {
		hdr.msg.get.match_bits = k;
		hdr.msg.get.sink_length = nob;
	} else {
		hdr.msg.put.match_bits = k;
		hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	}
	fill(seat, seat->index, k, false, kind != GET);
	op->started = true;
	rc = start_at(seat, &hdr, op, k);
	if (rc == 0)
		return op;
	op->started = false;
	op->status = rc;
	EXPECT(of_the_call(rc) && op->ended == 0,
	       "operation %" PRIu32 " of node %" PRIu32 " is answered %d (%s)", k, seat->index, rc,
	       strerror(-rc));
	return op;
}

static void start_all(void)
{
	const struct talk_config *config = talk.config;

	for (uint32_t m = 0; m < config->nmodes; m++)
		for (uint32_t i = 0; i < 2; i++) {
			start(&talk.seat[i], PUT, config->modes[m], 1700);
			start(&talk.seat[i], GET, config->modes[m], 1700);
			start(&talk.seat[i], SEND, config->modes[m], 900);
		}
}

/* Nothing fails any more: they can talk, at the latest when what went before has been noticed. */
static void talk_again(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		bool well = false;

		for (uint32_t n = 0; n < TRIES && !well && talk.failed[0] == '\0'; n++) {
			const struct op *put = start(&talk.seat[i], PUT, O2_REG_GLOBAL, 1700);
			const struct op *get = start(&talk.seat[i], GET, O2_REG_GLOBAL, 1700);

			run();
			well = put->ended && get->ended && put->status == 0 && get->status == 0;
		}
		EXPECT(well, "nothing moves any more from node %" PRIu32, i);
	}
}

/* --- the end */

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

/* A device that has refused to take something back has it still. */
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
		  left.live_qps;
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
	EXPECT(all_ended(), "an operation has not ended with its node");
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

/* Whether the failure came. */
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
