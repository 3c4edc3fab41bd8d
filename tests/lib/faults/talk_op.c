/* SPDX-License-Identifier: MIT */
#include "tests/lib/faults/talk_internal.h"

/* --- permitted results --- */

static bool is_one_of(int code, const int *codes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (codes[i] == code)
			return true;
	return false;
}

/* Pools that cannot grow return -ENOMEM or -EAGAIN. */
bool talk_of_the_call(int code)
{
	bool call = talk.call < CALL_EXECUTE;

	return call && (code == -talk.code || code == -ENOMEM || code == -EAGAIN);
}

/* The permitted codes are those of docs/transport.md, "Errors", and lnd/node/node.h. */
static bool may_end_with(int code)
{
	static const int codes[] = {0,	       -EIO,	  -ECONNABORTED, -EHOSTUNREACH, -ECONNREFUSED,
				    -ENETDOWN, -ENOTCONN, -ECONNRESET,	 -ETIMEDOUT};

	return is_one_of(code, codes, sizeof(codes) / sizeof(codes[0])) || talk_of_the_call(code);
}

/* --- memory and bytes --- */

static uint8_t byte_at(uint32_t who, uint32_t k, uint32_t at)
{
	return (uint8_t)(at * 7 + who * 101 + k * 13 + 1);
}

/* The memory of operation k: at its initiator, or (there) at the other node. */
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

static uint8_t *place(const struct seat *seat, const struct o2_transfer_memory *memory, uint32_t at)
{
	const struct o2_kiov *kiov = memory->buffer.kiov;

	if (memory->buffer.kind == O2_IOV)
		return (uint8_t *)(uintptr_t)memory->buffer.iov->base + at;
	if (at >= kiov[0].len) {
		at -= kiov[0].len;
		kiov++;
	}
	return seat->ni.arena.memory + (uint64_t)kiov->page * 4096 + kiov->offset + at;
}

static void fill(struct seat *seat, uint32_t who, uint32_t k, bool there, bool source)
{
	struct op *op = &talk.seat[who].op[k];
	const struct o2_transfer_memory memory = memory_of(seat, op, k, there);

	for (uint32_t at = 0; at < op->nob; at++)
		*place(seat, &memory, at) = source ? byte_at(who, k, at) : 0;
}

static void check_bytes(struct seat *seat, uint32_t who, uint32_t k, bool there)
{
	struct op *op = &talk.seat[who].op[k];
	const struct o2_transfer_memory memory = memory_of(seat, op, k, there);

	for (uint32_t at = 0; at < op->nob; at++)
		EXPECT(*place(seat, &memory, at) == byte_at(who, k, at),
		       "operation %" PRIu32 " of node %" PRIu32 " has ended well, and byte %" PRIu32
		       " is wrong",
		       k, who, at);
}

/* --- callbacks of the nodes --- */

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
	else if (result->status == 0 && op->kind == PUT && op->mode != O2_REG_FASTREG_GAPS &&
		 !other->ni.config.bounce)
		check_bytes(other, who, k, true);
}

const struct o2_node_ops talk_ops = {.match = match, .receive = receive, .done = done};

/* --- operations --- */

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

struct op *talk_start(struct seat *seat, enum kind kind, enum o2_reg_mode mode, uint32_t nob)
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
	EXPECT(talk_of_the_call(rc) && op->ended == 0,
	       "operation %" PRIu32 " of node %" PRIu32 " is answered %d (%s)", k, seat->index, rc,
	       strerror(-rc));
	return op;
}

bool talk_all_ended(void)
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
