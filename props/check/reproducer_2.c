/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "props/check/reproducer.h"

/* Questions and answers of version 2's stages, as initialisers and comparisons. */

/* --- lists of numbers --- */

struct member {
	const char *name; /* its C name */
	uint64_t value;
};

#define ASKED(member)                           \
	{                                       \
#member, r->asked.device.member \
	}
#define RIGHT(member)                              \
	{                                          \
#member, r->expected.device.member \
	}

static void put_members(struct o2_reproducer *r, const struct member *member, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(r->out, "\t.%s = 0x%" PRIx64 "u,\n", member[i].name, member[i].value);
}

/* Write `in` of this type, with private data or a message as an array of its own. */
static void put_with_bytes(struct o2_reproducer *r, const char *type, const struct member *member,
			   size_t count, const uint8_t *bytes, uint64_t length_bytes)
{
	/* C has no arrays of no elements. */
	fputs("static const uint8_t in_bytes[] = {", r->out);
	o2_reproducer_bytes(r, bytes, length_bytes);
	fputs(length_bytes == 0 ? "0};\n" : "\n};\n", r->out);
	fprintf(r->out, "static const struct %s in = {\n", type);
	put_members(r, member, count);
	fprintf(r->out, "\t.bytes = in_bytes, .length_bytes = %" PRIu64 ",\n};\n", length_bytes);
}

/* Compare each number of the answer; each has one right value. */
static void compare_members(struct o2_reproducer *r, const char *type, const struct member *member,
			    size_t count)
{
	fprintf(r->out, "static struct %s out;\n\n", type);
	o2_reproducer_begin_compare(r);
	for (size_t i = 0; i < count && r->expected.kind == O2_ANSWER_RESULT; i++)
		fprintf(r->out, "\tsay(\"%s\", 0x%" PRIx64 "u, out.%s, 1);\n", member[i].name,
			member[i].value, member[i].name);
	o2_reproducer_end_compare(r);
}

/* --- device --- */

static void put_device(struct o2_reproducer *r)
{
	const struct member members[] = {
		ASKED(global),		 ASKED(fmr),	   ASKED(fastreg),  ASKED(gaps),
		ASKED(max_sge),		 ASKED(max_qp_wr), ASKED(max_cqe),  ASKED(preference),
		ASKED(map_on_demand),	 ASKED(use_gaps),  ASKED(segments), ASKED(ibm_version),
		ASKED(queue_depth),	 ASKED(max_frags), ASKED(wrq_sge),  ASKED(peer_tx_credits),
		ASKED(concurrent_sends),
	};

	fputs("static const struct o2_impl_device_in in = {\n", r->out);
	put_members(r, members, sizeof(members) / sizeof(members[0]));
	fputs("};\n", r->out);
}

static void compare_device(struct o2_reproducer *r)
{
	const struct member members[] = {
		RIGHT(usable),	 RIGHT(mode),	  RIGHT(queue_depth), RIGHT(concurrent_sends),
		RIGHT(send_wrs), RIGHT(recv_wrs), RIGHT(cq_entries),
	};

	compare_members(r, "o2_impl_device_out", members, sizeof(members) / sizeof(members[0]));
}

/* --- connect --- */

static void put_connect(struct o2_reproducer *r)
{
	const struct o2_impl_connect_in *in = &r->asked.connect.in;
	const struct member members[] = {
		{"event", in->event},
		{"cm_reason", in->cm_reason},
		{"nid", in->nid},
		{"incarnation", in->incarnation},
		{"registers", in->registers},
		{"own.ibm_version", in->own.ibm_version},
		{"own.queue_depth", in->own.queue_depth},
		{"own.max_frags", in->own.max_frags},
		{"own.max_msg_size", in->own.max_msg_size},
		{"asked.ibm_version", in->asked.ibm_version},
		{"asked.queue_depth", in->asked.queue_depth},
		{"asked.max_frags", in->asked.max_frags},
		{"asked.max_msg_size", in->asked.max_msg_size},
	};

	put_with_bytes(r, "o2_impl_connect_in", members, sizeof(members) / sizeof(members[0]),
		       r->asked.connect.bytes, in->length_bytes);
}

static void compare_connect(struct o2_reproducer *r)
{
	const struct o2_impl_connect_out *right = &r->expected.connect;
	const struct member members[] = {
		{"params.ibm_version", right->params.ibm_version},
		{"params.queue_depth", right->params.queue_depth},
		{"params.max_frags", right->params.max_frags},
		{"params.max_msg_size", right->params.max_msg_size},
		{"peer_nid", right->peer_nid},
		{"peer_incarnation", right->peer_incarnation},
	};

	compare_members(r, "o2_impl_connect_out", members, sizeof(members) / sizeof(members[0]));
}

/* --- deliver --- */

static void put_deliver(struct o2_reproducer *r)
{
	const struct o2_impl_deliver_in *in = &r->asked.deliver.in;
	const struct member members[] = {{"awaits", in->awaits},
					 {"max_frags", in->max_frags},
					 {"cookie", in->cookie},
					 {"nob", in->nob}};

	put_with_bytes(r, "o2_impl_deliver_in", members, sizeof(members) / sizeof(members[0]),
		       r->asked.deliver.bytes, in->length_bytes);
}

static void compare_deliver(struct o2_reproducer *r)
{
	const struct o2_impl_deliver_out *right = &r->expected.deliver;
	/* A number that may be negative is passed as say() expects it. */
	const struct member members[] = {{"length", right->length},
					 {"status", (uint64_t)(int64_t)right->status}};

	compare_members(r, "o2_impl_deliver_out", members, sizeof(members) / sizeof(members[0]));
}

/* --- keys: the events, and the requests of each --- */

static void put_keys(struct o2_reproducer *r)
{
	static const char *const kinds[] = {"MAP", "POST", "COMPLETE", "UNMAP", "FLUSH"};
	const struct o2_case_keys *asked = &r->asked.keys;

	fputs("static const struct o2_impl_key_event events[] = {\n", r->out);
	for (uint32_t i = 0; i < asked->count; i++)
		fprintf(r->out,
			"\t{.kind = O2_IMPL_KEY_%s, .side = %s, .fails_at = %" PRIu32 "u, .lkey = 0x%" PRIx32
			"u, .rkey = 0x%" PRIx32 "u},\n",
			kinds[asked->event[i].kind],
			asked->event[i].side == O2_IMPL_SINK ? "O2_IMPL_SINK" : "O2_IMPL_SOURCE",
			asked->event[i].fails_at, asked->event[i].lkey, asked->event[i].rkey);
	fprintf(r->out,
		"};\nstatic const struct o2_impl_keys_in in = {\n\t.order = %s,\n\t.lkey = 0x%" PRIx32
		"u, .rkey = 0x%" PRIx32 "u, .count = %" PRIu32 ", .event = events,\n};\n",
		asked->order == O2_IMPL_INVALIDATE_LAST ? "O2_IMPL_INVALIDATE_LAST"
							: "O2_IMPL_INVALIDATE_FIRST",
		asked->lkey, asked->rkey, asked->count);
}

/* Compare the key that is alive, not the requests: leaving out a request without effect is no difference. */
static const char text_of_alive[] =
	"/* The key that a device admits after the accepted requests of an event; 0: none. */\n"
	"static uint32_t carry_out(const struct o2_impl_key_event *event, const struct o2_impl_key_step "
	"*step,\n"
	"\t\t\t  uint32_t lkey, uint32_t rkey, uint32_t alive)\n"
	"{\n"
	"\tuint32_t i;\n\n"
	"\tif (event->kind == O2_IMPL_KEY_FLUSH)\n"
	"\t\talive = 0;\n"
	"\tfor (i = 0; i < step->count && i < O2_IMPL_KEY_REQUESTS && i + 1 != event->fails_at; i++) {\n"
	"\t\tconst struct o2_impl_key_request *request = &step->request[i];\n\n"
	"\t\tif (request->op == O2_IMPL_KEY_INVALIDATE && (request->key ^ lkey) >> 8 && (request->key ^ "
	"rkey) >> 8)\n"
	"\t\t\tsay(\"    invalidated, of another region than\", rkey, request->key, 1);\n"
	"\t\telse if (request->op == O2_IMPL_KEY_INVALIDATE && in.order == O2_IMPL_INVALIDATE_LAST && alive "
	"== 0)\n"
	"\t\t\tsay(\"    invalidated, and not alive\", 0, request->key, 1);\n"
	"\t\tif (request->op == O2_IMPL_KEY_INVALIDATE && (alive & 0xff) == (request->key & 0xff))\n"
	"\t\t\talive = 0;\n"
	"\t\tif (request->op == O2_IMPL_KEY_REGISTER && alive != 0)\n"
	"\t\t\tsay(\"    over a key that is alive\", 0, request->key, 1);\n"
	"\t\tif (request->op == O2_IMPL_KEY_REGISTER)\n"
	"\t\t\talive = request->key;\n"
	"\t}\n"
	"\treturn alive;\n"
	"}\n\n"
	"static uint32_t messages(const struct o2_impl_key_step *step)\n"
	"{\n"
	"\tuint32_t i, n = 0;\n\n"
	"\tfor (i = 0; i < step->count && i < O2_IMPL_KEY_REQUESTS; i++)\n"
	"\t\tn += step->request[i].op == O2_IMPL_KEY_MESSAGE;\n"
	"\treturn n;\n"
	"}\n\n";

static void put_right(struct o2_reproducer *r)
{
	const struct o2_answer_keys *right = &r->expected.keys;

	fputs("static const struct o2_impl_key_step right[] = {\n", r->out);
	for (uint32_t i = 0; i < right->count; i++) {
		fprintf(r->out, "\t{.published = 0x%" PRIx32 "u, .count = %" PRIu32, right->step[i].published,
			right->step[i].count);
		for (uint32_t k = 0; k < right->step[i].count; k++)
			fprintf(r->out, ", .request[%" PRIu32 "] = {%" PRIu32 ", 0x%" PRIx32 "u}", k,
				right->step[i].request[k].op, right->step[i].request[k].key);
		fputs("},\n", r->out);
	}
	fputs("};\n\n", r->out);
}

static void compare_keys(struct o2_reproducer *r)
{
	const bool requests = o2_reproducer_is(r, "/requests");

	o2_reproducer_array(r, "struct o2_impl_key_step", "out_step", O2_IMPL_MAX_EVENTS);
	fputs("static struct o2_impl_keys_out out = {.capacity = O2_IMPL_MAX_EVENTS, .step = out_step};\n\n",
	      r->out);
	if (r->expected.kind != O2_ANSWER_RESULT) {
		fputs("static void compare(void)\n{\n}\n\n", r->out);
		return;
	}
	put_right(r);
	fputs(text_of_alive, r->out);
	fprintf(r->out,
		"static void compare(void)\n"
		"{\n"
		"\tuint32_t lkey = in.lkey, rkey = in.rkey, alive = 0, found = 0, i, k;\n\n"
		"\tsay(\"steps\", in.count, out.count, 1);\n"
		"\tfor (i = 0; i < in.count && i < out.count; i++) {\n"
		"\t\tprintf(\"  event %%\" PRIu32 \"\\n\", i);\n"
		"\t\tif (events[i].kind == O2_IMPL_KEY_FLUSH) {\n"
		"\t\t\tlkey = events[i].lkey;\n"
		"\t\t\trkey = events[i].rkey;\n"
		"\t\t}\n"
		"\t\talive = carry_out(&events[i], &right[i], lkey, rkey, alive);\n"
		"\t\tfound = carry_out(&events[i], &out_step[i], lkey, rkey, found);\n"
		"\t\tsay(\"    published\", right[i].published, out_step[i].published, 1);\n"
		"\t\tsay(\"    alive\", alive, found, 1);\n"
		"\t\tsay(\"    messages\", messages(&right[i]), messages(&out_step[i]), 1);\n"
		"\t\tsay(\"    requests\", right[i].count, out_step[i].count, %d);\n"
		"\t\tfor (k = 0; k < right[i].count && k < out_step[i].count; k++) {\n"
		"\t\t\tsay(\"    operation\", right[i].request[k].op, out_step[i].request[k].op, %d);\n"
		"\t\t\tsay(\"    of key\", right[i].request[k].key, out_step[i].request[k].key, %d);\n"
		"\t\t}\n"
		"\t}\n"
		"}\n\n",
		requests, requests, requests);
}

const struct o2_reproducer_stage o2_reproducer_connect = {.question = put_connect, .answer = compare_connect};
const struct o2_reproducer_stage o2_reproducer_deliver = {.question = put_deliver, .answer = compare_deliver};
const struct o2_reproducer_stage o2_reproducer_device = {.question = put_device, .answer = compare_device};
const struct o2_reproducer_stage o2_reproducer_keys = {.question = put_keys, .answer = compare_keys};
