/* SPDX-License-Identifier: MIT */
#include "props/hostile/hostile_random.h"

#include <inttypes.h>
#include <string.h>

#include "wire/desc_codec.h"

#define LABEL_STEP 1u
#define MORE	   15u /* weight of another step */
#define ENOUGH	   10000u

#define SITUATION_LIST(ENTRY)                                     \
	ENTRY(CLOSED_BY_MESSAGE, "closed_by_a_message")           \
	ENTRY(CLOSED_STALE, "closed_as_stale")                    \
	ENTRY(CLOSED_BY_DEVICE, "closed_by_the_device")           \
	ENTRY(CLOSED_BY_DEADLINE, "closed_by_a_deadline")         \
	ENTRY(KEPT, "kept_to_the_end")                            \
	ENTRY(PUT_DONE_WELL, "a_put_of_the_victim_succeeded")     \
	ENTRY(GET_DONE_WELL, "a_get_of_the_victim_succeeded")     \
	ENTRY(SERVED_WELL, "a_request_of_the_liar_succeeded")     \
	ENTRY(HEARD_IMMEDIATE, "an_immediate_was_heard")          \
	ENTRY(WROTE_INTO_SINK, "written_into_what_was_described") \
	ENTRY(SPOILED, "a_message_was_spoiled")                   \
	ENTRY(NOISE, "noise_was_sent")                            \
	ENTRY(DEEP, "a_connection_deeper_than_127")               \
	ENTRY(WIDE, "a_connection_of_255_to_257_fragments")       \
	ENTRY(SAID_WIDE, "a_descriptor_of_255_to_257_fragments")

enum situation {
	SITUATION_LIST(O2_SITUATION_ID) SITUATIONS,
};

static const char *const situations[SITUATIONS] = {SITUATION_LIST(O2_SITUATION_NAME)};

static const char *const kind_names[O2_HOSTILE_STEP_KINDS] = {"answer", "say",	 "settle", "put",  "get",
							      "send",	"clock", "noise",  "write"};

/* Learn cookies and requests from the victim's messages. */
static void learn(struct o2_hostile_run *run)
{
	struct o2_msg msg;

	o2_hostile_settle(&run->h);
	if (o2_liar_heard(&run->h, O2_MSG_PUT_REQ, &msg)) {
		run->cookie[0] = msg.u.putreq.ibprm_cookie;
		run->asked = O2_MSG_PUT_REQ;
		run->asked_nob = msg.u.putreq.hdr.payload_length;
	}
	if (o2_liar_heard(&run->h, O2_MSG_GET_REQ, &msg)) {
		run->cookie[0] = msg.u.get.ibgm_cookie;
		run->desc = msg.u.get.ibgm_rd;
		run->asked = O2_MSG_GET_REQ;
	}
	if (o2_liar_heard(&run->h, O2_MSG_PUT_ACK, &msg)) {
		run->cookie[1] = msg.u.putack.ibpam_dst_cookie;
		run->desc = msg.u.putack.ibpam_rd;
		run->asked = O2_MSG_PUT_ACK;
	}
}

static void fill_desc(const struct o2_hostile_step *step, uint64_t start, struct o2_rdma_desc *desc)
{
	uint32_t nob = step->nob == 0 ? 1 : step->nob;

	desc->rd_nfrags = nob >= step->nfrags ? step->nfrags : 1;
	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		desc->rd_frags[i] = (struct o2_rdma_frag){
			.rf_nob = nob / desc->rd_nfrags + (i == 0 ? nob % desc->rd_nfrags : 0),
			.rf_addr = start + (uint64_t)i * (O2_LIAR_MEMORY_BYTES / desc->rd_nfrags),
		};
}

static uint32_t msg_frags(const struct o2_msg *msg)
{
	if (msg->ibm_type == O2_MSG_GET_REQ)
		return msg->u.get.ibgm_rd.rd_nfrags;
	return msg->ibm_type == O2_MSG_PUT_ACK ? msg->u.putack.ibpam_rd.rd_nfrags : 0;
}

static void say(struct o2_hostile_run *run, const struct o2_hostile_step *step)
{
	struct o2_msg *msg = o2_liar_begin(&run->h, (enum o2_msg_type)step->type);

	msg->ibm_credits = step->credits;
	switch (step->type) {
	case O2_MSG_PUT_REQ:
		msg->u.putreq.hdr.payload_length = step->nob;
		break;
	case O2_MSG_GET_REQ:
		fill_desc(step, o2_liar_memory(&run->h.liar), &msg->u.get.ibgm_rd);
		break;
	case O2_MSG_PUT_ACK:
		msg->u.putack.ibpam_src_cookie = step->cookie;
		fill_desc(step, o2_liar_memory(&run->h.liar), &msg->u.putack.ibpam_rd);
		break;
	case O2_MSG_PUT_NAK:
	case O2_MSG_PUT_DONE:
	case O2_MSG_GET_DONE:
		msg->u.completion.ibcm_cookie = step->cookie;
		break;
	default:
		break;
	}
	/* A status that the encoder would refuse is patched in, like every other change. */
	if (step->spoil_width == 0 && (step->type == O2_MSG_PUT_NAK || step->type == O2_MSG_PUT_DONE ||
				       step->type == O2_MSG_GET_DONE)) {
		o2_liar_send_spoiled(
			&run->h, &(struct o2_liar_spoil){O2_AT_STATUS, 4, (uint32_t)step->status, 0, false});
		return;
	}
	run->tally.seen[SAID_WIDE] += msg_frags(msg) >= O2_HOSTILE_WIDE_FRAGS;
	run->tally.seen[SPOILED] += step->spoil_width > 0;
	o2_liar_send_spoiled(&run->h, &(struct o2_liar_spoil){step->spoil_offset, step->spoil_width,
							      step->spoil_value, step->length, false});
}

/* Answer honestly: write all that was described and complete, or describe memory for what is offered. */
static void answer(struct o2_hostile_run *run)
{
	enum o2_msg_type asked = run->asked;
	struct o2_msg *msg;

	run->asked = O2_MSG_NOOP;
	if (asked == O2_MSG_NOOP)
		return;
	if (asked == O2_MSG_PUT_REQ) {
		msg = o2_liar_begin(&run->h, O2_MSG_PUT_ACK);
		msg->u.putack.ibpam_src_cookie = run->cookie[0];
		msg->u.putack.ibpam_rd.rd_frags[0].rf_nob = run->asked_nob;
		o2_liar_send(&run->h);
		return;
	}
	for (uint32_t i = 0; i < run->desc.rd_nfrags; i++)
		if (run->desc.rd_frags[i].rf_nob <= O2_MSG_BYTES)
			o2_liar_write(&run->h, run->desc.rd_frags[i].rf_addr, run->desc.rd_key,
				      run->desc.rd_frags[i].rf_nob);
	msg = o2_liar_begin(&run->h, asked == O2_MSG_GET_REQ ? O2_MSG_GET_DONE : O2_MSG_PUT_DONE);
	msg->u.completion.ibcm_cookie = run->cookie[asked == O2_MSG_PUT_ACK];
	msg->u.completion.ibcm_status = (int32_t)o2_desc_bytes(&run->desc);
	o2_liar_send(&run->h);
}

static void make_noise(struct o2_hostile_run *run, const struct o2_hostile_step *step)
{
	struct o2_prng noise = o2_prng_init(step->spoil_value, 0);
	uint64_t words[O2_MSG_BYTES / sizeof(uint64_t)];

	for (uint32_t i = 0; i < (step->length + sizeof(uint64_t) - 1) / sizeof(uint64_t); i++)
		words[i] = o2_prng_next(&noise);
	run->tally.seen[NOISE]++;
	o2_liar_send_bytes(&run->h, words, step->length);
}

static void write_there(struct o2_hostile_run *run, const struct o2_hostile_step *step)
{
	if (run->desc.rd_nfrags > 0)
		o2_liar_write(&run->h, run->desc.rd_frags[0].rf_addr + (uint64_t)(int64_t)step->offset,
			      run->desc.rd_key ^ (step->key_wrong ? 0x100u : 0u), step->nob);
}

static void take_step(struct o2_hostile_run *run, const struct o2_hostile_step *step)
{
	struct o2_hostile *h = &run->h;

	switch (step->kind) {
	case O2_HOSTILE_ANSWER:
		answer(run);
		break;
	case O2_HOSTILE_SAY:
		say(run, step);
		break;
	case O2_HOSTILE_SETTLE:
		learn(run);
		break;
	case O2_HOSTILE_PUT:
		o2_victim_does(h, O2_ACT_PUT, step->nob, step->mode);
		break;
	case O2_HOSTILE_GET:
		o2_victim_does(h, O2_ACT_GET, step->nob, step->mode);
		break;
	case O2_HOSTILE_SEND:
		o2_victim_does(h, O2_ACT_SEND, 0, 0);
		break;
	case O2_HOSTILE_CLOCK:
		o2_hostile_clock(h, step->nob);
		break;
	case O2_HOSTILE_NOISE:
		make_noise(run, step);
		break;
	case O2_HOSTILE_WRITE:
		write_there(run, step);
		break;
	case O2_HOSTILE_STEP_KINDS:
		break;
	}
}

static void draw_and_take(struct o2_hostile_run *run, struct o2_choice *c)
{
	for (run->steps = 0;;) {
		bool more;

		o2_span_begin(c, LABEL_STEP);
		more = o2_draw_more(c, run->steps, 0, O2_HOSTILE_STEPS, MORE);
		if (more) {
			o2_hostile_draw_step(c, run, &run->step[run->steps]);
			take_step(run, &run->step[run->steps]);
			run->steps++;
		}
		o2_span_end(c);
		if (!more)
			return;
	}
}

static void count_end(struct o2_hostile_run *run)
{
	const struct o2_transfer_fault *fault = o2_conn_get_fault(run->h.victim.liar.conn);
	const struct o2_hostile_end *victim = &run->h.victim.liar;
	uint64_t *seen = run->tally.seen;

	seen[CLOSED_BY_MESSAGE] += fault->side == O2_FAULT_PEER_MESSAGE;
	seen[CLOSED_STALE] += fault->code == -ESTALE;
	seen[CLOSED_BY_DEVICE] += fault->side == O2_FAULT_LOCAL_COMPLETION;
	seen[CLOSED_BY_DEADLINE] += fault->side == O2_FAULT_DEADLINE;
	seen[KEPT] += o2_conn_get_state(run->h.victim.liar.conn) == O2_CONN_ESTABLISHED;
	seen[PUT_DONE_WELL] += victim->puts_well > 0;
	seen[GET_DONE_WELL] += victim->gets_well > 0;
	seen[SERVED_WELL] += victim->served_well > 0;
	seen[HEARD_IMMEDIATE] += victim->received > 0;
	seen[WROTE_INTO_SINK] +=
		memcmp(run->h.victim.shadow.bytes + O2_GET_AT, run->h.place[0].ni.arena.memory + O2_GET_AT,
		       run->h.victim.liar.described_bytes[1]) != 0;
}

/* Draw a queue depth: around the limits of a byte, or small. */
static uint32_t draw_depth(struct o2_choice *c)
{
	static const uint32_t deep[] = {O2_MAX_QUEUE_DEPTH, O2_MAX_QUEUE_DEPTH - 1, 127, 128, 129};

	if (o2_draw_bool(c, 31, 1))
		return deep[o2_draw_pick(c, 5)];
	return (uint32_t)o2_draw_range(c, 2, 8);
}

static uint32_t draw_max_frags(struct o2_choice *c)
{
	if (o2_draw_bool(c, 3, 1))
		return (uint32_t)o2_draw_range(c, O2_HOSTILE_WIDE_FRAGS, O2_MAX_FRAGS);
	return (uint32_t)o2_draw_range(c, 4, 12);
}

static bool begin(struct o2_hostile_run *run, struct o2_choice *c)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_conn_address address;
	enum o2_reg_mode mode;
	uint64_t nob;

	config.ack_timeout = O2_HOSTILE_ACK_TIMEOUT;
	config.queue_depth = draw_depth(c);
	config.max_frags = draw_max_frags(c);
	run->tally.seen[WIDE] += config.max_frags >= O2_HOSTILE_WIDE_FRAGS;
	run->max_frags = config.max_frags;
	run->desc.rd_nfrags = 0;
	run->cookie[0] = run->cookie[1] = 0;
	run->asked = O2_MSG_NOOP;
	run->temper = (uint32_t)o2_draw(c, 2);
	if (!run->open) {
		run->open = true;
		if (o2_hostile_open(&run->h) != 0)
			return false;
	}
	if (o2_hostile_meet(&run->h, &config) != 0)
		return false;
	/* The depth may be less than drawn, if that many fragments at that depth exceed a device's queues. */
	o2_conn_get_address(run->h.victim.liar.conn, &address);
	run->depth = address.queue_depth;
	run->tally.seen[DEEP] += run->depth > INT8_MAX;
	/* Draw one after the other: the order of evaluation of a call's arguments is unspecified. */
	nob = o2_draw_bool(c, 4, 1) ? 0 : o2_draw_range(c, 1, 5500);
	mode = o2_hostile_draw_mode(c);
	o2_victim_does(&run->h, O2_ACT_SERVE, nob, mode);
	return true;
}

static enum o2_status run_case(void *context, struct o2_choice *c, struct o2_report *report)
{
	struct o2_hostile_run *run = context;
	char why[200];

	o2_report_clear(report);
	if (!begin(run, c)) {
		o2_report_fail(report, "hostile/no-world", "no memory, or no device");
		return o2_choice_status(c, O2_STATUS_INTERESTING);
	}
	draw_and_take(run, c);
	o2_hostile_settle(&run->h);
	run->tally.cases++;
	count_end(run);
	if (!o2_hostile_harmless(&run->h, why))
		o2_report_fail(report, "hostile/harm", "%s", why);
	o2_hostile_part(&run->h);
	return o2_choice_status(c, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

/* After a failure no state of this world can be trusted. */
static void close_world(void *context)
{
	struct o2_hostile_run *run = context;

	o2_hostile_close(&run->h);
	run->open = false;
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_hostile_run *run = context;

	fprintf(out, "queue depth %u, %u fragments, temper %u\n", run->depth, run->max_frags, run->temper);
	for (uint32_t i = 0; i < run->steps && i < pieces; i++) {
		const struct o2_hostile_step *step = &run->step[i];

		fprintf(out, "  %s", kind_names[step->kind]);
		if (step->kind == O2_HOSTILE_SAY)
			fprintf(out, " %s credits %u cookie %" PRIu64 " status %d nob %u",
				o2_msg_type_name(step->type), step->credits, step->cookie, step->status,
				step->nob);
		else
			fprintf(out, " %u", step->nob);
		if (step->spoil_width > 0)
			fprintf(out, ", %u bytes at %u are 0x%" PRIx64, step->spoil_width, step->spoil_offset,
				step->spoil_value);
		if (step->length > 0)
			fprintf(out, ", cut to %u", step->length);
		fprintf(out, "\n");
	}
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_hostile_run *run = context;

	fprintf(out, "%u steps, and only the liar's own connection could suffer\n", run->steps);
}

struct o2_property o2_hostile_property(struct o2_hostile_run *run)
{
	static const struct o2_property_ops ops = {
		O2_TALLY_PROPERTY("hostile", "a hostile peer can only get its own connection closed"),
		.reset = close_world, .give_back = close_world};

	return o2_tally_property(&ops, run, situations, SITUATIONS, ENOUGH);
}
