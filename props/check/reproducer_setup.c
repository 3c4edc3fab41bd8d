/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "props/check/reproducer.h"

/* Set-ups: the rounds of the question, and the rules for an answer's events, whatever it acquires. */

static void put_setup(struct o2_reproducer *r)
{
	static const char *const modes[] = {"O2_IMPL_GLOBAL", "O2_IMPL_FMR", "O2_IMPL_FASTREG"};
	const struct o2_case_setup *asked = &r->asked.setup;

	fputs("static const struct o2_impl_setup_round rounds[] = {\n", r->out);
	for (uint32_t i = 0; i < asked->count; i++)
		fprintf(r->out, "\t{.fails_at = %" PRIu32 "u},\n", asked->round[i].fails_at);
	fprintf(r->out,
		"};\nstatic const struct o2_impl_setup_in in = {\n\t.mode = %s, .queue_depth = %" PRIu32
		", .tx_count = %" PRIu32 ", .pool_size = %" PRIu32 ",\n\t.error = %" PRIu32
		", .count = %" PRIu32 ", .round = rounds,\n};\n",
		modes[asked->mode], asked->queue_depth, asked->tx_count, asked->pool_size, asked->error,
		asked->count);
}

static const char text_of_state[] =
	"static unsigned char alive[O2_IMPL_SETUP_EVENTS]; /* what this event has acquired */\n"
	"static uint32_t seen[O2_IMPL_SETUP_EVENTS], kinds; /* in rounds so far */\n"
	"static uint32_t acquired;\n"
	"static int failed, lowered, whole;\n"
	"static uint32_t failed_kind;\n\n";

static const char text_of_find[] =
	"/* The event that acquired what is alive under this handle; out.count: none did. */\n"
	"static uint32_t find(uint32_t handle, uint32_t before)\n"
	"{\n"
	"\tuint32_t i;\n"
	"\n"
	"\tfor (i = before; handle != 0 && i-- > 0 && out_event[i].round == out_event[before].round;)\n"
	"\t\tif (alive[i] && out_event[i].handle == handle)\n"
	"\t\t\treturn i;\n"
	"\treturn out.count;\n"
	"}\n"
	"\n";

static const char text_of_count[] =
	"/* So many of the kind are alive in the round of an event; of O2_IMPL_SETUP_OTHER + 1, of all. */\n"
	"static uint32_t count(uint32_t kind, uint32_t round)\n"
	"{\n"
	"\tuint32_t i, n = 0;\n"
	"\n"
	"\tfor (i = 0; i < out.count; i++)\n"
	"\t\tn += alive[i] && out_event[i].round == round &&\n"
	"\t\t     (kind > O2_IMPL_SETUP_OTHER || out_event[i].kind == kind);\n"
	"\treturn n;\n"
	"}\n"
	"\n";

static const char text_of_is_on[] =
	"static int is_on(uint32_t i, uint32_t kind)\n"
	"{\n"
	"\tconst uint32_t a = find(out_event[i].on, i), b = find(out_event[i].also_on, i);\n"
	"\n"
	"\treturn (a < out.count && out_event[a].kind == kind) || (b < out.count && out_event[b].kind == "
	"kind);\n"
	"}\n"
	"\n"
	"static void say_wrong(const char *what, uint32_t event)\n"
	"{\n"
	"\tprintf(\"  event %\" PRIu32 \"\\n\", event);\n"
	"\tsay(what, 0, 1, 1);\n"
	"}\n"
	"\n";

static const char text_of_acquire[] =
	"static void acquire(uint32_t i)\n"
	"{\n"
	"\tconst struct o2_impl_setup_event *event = &out_event[i];\n"
	"\tconst uint32_t kind = event->kind, place = acquired++;\n"
	"\tconst int fails = event->op == O2_IMPL_SETUP_FAIL;\n"
	"\n"
	"\t/* A QP may be tried again, with a smaller queue. */\n"
	"\tif (failed && failed_kind == O2_IMPL_SETUP_QP && kind == O2_IMPL_SETUP_QP) {\n"
	"\t\tfailed = 0;\n"
	"\t\tlowered = 1;\n"
	"\t}\n"
	"\tif (failed)\n"
	"\t\tsay_wrong(\"acquired behind the failure\", i);\n"
	"\tif (fails != (acquired == in.round[event->round].fails_at))\n"
	"\t\tsay_wrong(\"another one fails\", i);\n"
	"\tif ((event->on != 0 && find(event->on, i) == out.count) ||\n"
	"\t    (event->also_on != 0 && find(event->also_on, i) == out.count) ||\n"
	"\t    (kind == O2_IMPL_SETUP_MAPPING && !is_on(i, O2_IMPL_SETUP_MEMORY)) ||\n"
	"\t    ((kind == O2_IMPL_SETUP_REGION || kind == O2_IMPL_SETUP_POOL || kind == O2_IMPL_SETUP_QP) &&\n"
	"\t     !is_on(i, O2_IMPL_SETUP_PD)) ||\n"
	"\t    (kind == O2_IMPL_SETUP_QP && !is_on(i, O2_IMPL_SETUP_CQ)))\n"
	"\t\tsay_wrong(\"what it is built on is not there\", i);\n"
	"\tif (!fails && find(event->handle, i) < out.count)\n"
	"\t\tsay_wrong(\"its handle is alive\", i);\n"
	"\tif (lowered)\n"
	"\t\t;\n"
	"\telse if (place < kinds ? seen[place] != kind : whole)\n"
	"\t\tsay_wrong(\"other kinds than in other rounds\", i);\n"
	"\telse if (place >= kinds)\n"
	"\t\tseen[kinds++] = kind;\n"
	"\tfailed |= fails;\n"
	"\tfailed_kind = fails ? kind : failed_kind;\n"
	"\talive[i] = !fails;\n"
	"}\n"
	"\n"
	"static void release(uint32_t i)\n"
	"{\n"
	"\tconst uint32_t born = find(out_event[i].handle, i);\n"
	"\tuint32_t k;\n"
	"\n"
	"\tif (born == out.count) {\n"
	"\t\tsay_wrong(\"released, and is not alive\", i);\n"
	"\t\treturn;\n"
	"\t}\n"
	"\tfor (k = 0; k < i; k++)\n"
	"\t\tif (alive[k] && out_event[k].round == out_event[i].round &&\n"
	"\t\t    (out_event[k].on == out_event[i].handle || out_event[k].also_on == out_event[i].handle)) {\n"
	"\t\t\tsay_wrong(\"released before what is built on it\", i);\n"
	"\t\t\tbreak;\n"
	"\t\t}\n"
	"\talive[born] = 0;\n"
	"}\n"
	"\n";

static const char text_of_returns[] =
	"static void returns(const struct o2_impl_setup_event *event)\n"
	"{\n"
	"\tstatic const uint32_t once[] = {O2_IMPL_SETUP_PD, O2_IMPL_SETUP_CQ, O2_IMPL_SETUP_QP,\n"
	"\t\t\t\t\tO2_IMPL_SETUP_MAPPING};\n"
	"\tuint32_t i;\n"
	"\n"
	"\tsay(\"status\", failed ? in.error : 0, event->status, 1);\n"
	"\tif (event->status != 0)\n"
	"\t\tsay(\"left of what failed\", 0, count(UINT32_MAX, event->round), 1);\n"
	"\tif (failed || event->status != 0)\n"
	"\t\treturn;\n"
	"\tfor (i = 0; i < 4; i++)\n"
	"\t\tif (count(once[i], event->round) == 0)\n"
	"\t\t\tsay(\"alive, of a kind there has to be\", 1, 0, 1);\n"
	"\ti = count(O2_IMPL_SETUP_REGION, event->round);\n"
	"\tif (in.mode == O2_IMPL_FASTREG)\n"
	"\t\tsay(\"regions, at least\", in.pool_size, i, i < in.pool_size);\n"
	"\tif (in.mode == O2_IMPL_FMR && count(O2_IMPL_SETUP_POOL, event->round) == 0)\n"
	"\t\tsay(\"pools, at least\", 1, 0, 1);\n"
	"\tif (lowered)\n"
	"\t\treturn;\n"
	"\tif (acquired < kinds)\n"
	"\t\tsay(\"acquisitions of other rounds\", kinds, acquired, 1);\n"
	"\twhole = 1;\n"
	"}\n"
	"\n";

static const char text_of_compare[] =
	"static void compare(void)\n"
	"{\n"
	"\tuint32_t i;\n"
	"\n"
	"\tfor (i = 0; i < out.count && i < O2_IMPL_SETUP_EVENTS; i++) {\n"
	"\t\tconst struct o2_impl_setup_event *event = &out_event[i];\n"
	"\n"
	"\t\tif (i == 0 || event->round != event[-1].round) {\n"
	"\t\t\tprintf(\"  round %\" PRIu32 \"\\n\", event->round);\n"
	"\t\t\tacquired = failed = lowered = 0;\n"
	"\t\t}\n"
	"\t\tif (event->op == O2_IMPL_SETUP_RELEASE)\n"
	"\t\t\trelease(i);\n"
	"\t\telse if (event->op == O2_IMPL_SETUP_RETURN)\n"
	"\t\t\treturns(event);\n"
	"\t\telse\n"
	"\t\t\tacquire(i);\n"
	"\t\tif (i + 1 == out.count || event->round != event[1].round)\n"
	"\t\t\tsay(\"left at the end\", 0, count(UINT32_MAX, event->round), 1);\n"
	"\t}\n"
	"}\n"
	"\n";

static void compare_setup(struct o2_reproducer *r)
{
	static const char *const texts[] = {
		text_of_state,	 text_of_find,	  text_of_count,   text_of_is_on,
		text_of_acquire, text_of_returns, text_of_compare,
	};

	o2_reproducer_array(r, "struct o2_impl_setup_event", "out_event", O2_IMPL_SETUP_EVENTS);
	fputs("static struct o2_impl_setup_out out = {.capacity = O2_IMPL_SETUP_EVENTS, .event = "
	      "out_event};\n\n",
	      r->out);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		fputs(texts[i], r->out);
}

const struct o2_reproducer_stage o2_reproducer_setup = {.question = put_setup, .answer = compare_setup};
