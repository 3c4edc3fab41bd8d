/* SPDX-License-Identifier: MIT */
/* Predicts what each probe says: docs/conform.md, "What each probe says". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/command/trial_script.h"

#define PAGE	     4096u
#define DEVICE_DEPTH 63u /* 16384 work requests suffice for 63 transfers of 257 WRITEs and a message */
#define LEAVES_MOST  64u

static void each_depth(struct o2_foretelling *f)
{
	f->depth = f->n < DEVICE_DEPTH ? f->n : DEVICE_DEPTH;
	o2_foretell_play(f, "ask");
	for (uint32_t i = 0; i < 2 * f->n; i++)
		o2_foretell_play(f, "ping");
	o2_foretell_play(f, "end");
}

static void deep(struct o2_foretelling *f)
{
	f->depth = f->n < DEVICE_DEPTH ? f->n : DEVICE_DEPTH;
	o2_foretell_play(f, "ask puts=8000*64 gets=8000*64 end");
}

static void ask_depth(struct o2_foretelling *f)
{
	f->depth = f->n;
	o2_foretell_play(f, "ask");
}

static void ask_frags(struct o2_foretelling *f)
{
	f->frags = f->n;
	o2_foretell_play(f, "ask");
}

static void version_1(struct o2_foretelling *f)
{
	f->version = 0x11;
	o2_foretell_play(f, f->alone ? "ask" : "ask ping*16 end");
}

static void big_endian(struct o2_foretelling *f)
{
	f->big = true;
	o2_foretell_play(f, "ask ping*16 end");
}

static void this_life(struct o2_foretelling *f)
{
	o2_foretell_play(f, "ask");
	o2_foretell_asks(f, f->depth, " of this life");
}

static void other_life(struct o2_foretelling *f)
{
	o2_foretell_play(f, "ask");
	o2_foretell_asks(f, f->depth, " of another life");
	o2_foretell_play(f, "nothing");
}

static void put_size(struct o2_foretelling *f)
{
	o2_foretell_play(f, f->n == 0 ? "ask put=0 end" : "ask put=%u get=%u end");
}

/* One page per piece, and at most a MiB. */
static void frags(struct o2_foretelling *f)
{
	f->pieces = f->n;
	f->n = (f->n < 256 ? f->n : 256) * PAGE;
	o2_foretell_play(f, "ask put=%u get=%u end");
}

static void each_size(struct o2_foretelling *f)
{
	o2_foretell_play(f,
			 "ask put=1 get=1 put=3977 get=3977 put=65536 get=65536 put=1048576 get=1048576 end");
}

/* Unregistered memory has one piece per page. */
static void each_size_in_pages(struct o2_foretelling *f)
{
	o2_foretell_play(f, "ask put=1 get=1 put=3977 get=3977 put=65536");
	f->pieces = 16;
	o2_foretell_play(f, "get=65536 put=1048576");
	f->pieces = 256;
	o2_foretell_play(f, "get=1048576 end");
}

static void local_offset(struct o2_foretelling *f)
{
	f->first_byte = f->n;
	o2_foretell_play(f, "ask put=3000 get=3000 put=65537 get=65537 end");
}

static void remote_offset(struct o2_foretelling *f)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "ask put=3000@%%u get=3000@%%u get=1999@%" PRIu32
		 " put=65537@%%u get=65537@%%u get=64536@%" PRIu32 " end",
		 f->n + 1001, f->n + 1001);
	o2_foretell_play(f, text);
}

/* Each check at four offsets, or at one if there is only one; check simple only if both sides divide alike. */
static void each_check(struct o2_foretelling *f, char way)
{
	const uint32_t latest = (PAGE - f->n % PAGE) % PAGE;
	const uint32_t at[] = {0, 8, latest / 2 / 8 * 8, latest};

	o2_foretell_play(f, "ask M T-brw");
	for (unsigned int check = 1; check <= 4; check++)
		for (uint32_t i = 0; i < (latest == 0 ? 1 : 4); i++)
			if (check != 2 || at[i] == 0 || at[i] + f->n <= PAGE)
				o2_tried_word(f->text, 0, "brw %c %" PRIu32 " %u", way, f->n, check);
	o2_foretell_play(f, "R end");
}

static void each_read(struct o2_foretelling *f)
{
	each_check(f, '1');
}

static void each_write(struct o2_foretelling *f)
{
	each_check(f, '2');
}

static void mixed(struct o2_foretelling *f)
{
	static const char *const kinds[] = {"brw1=8@3",	    "brw2=8@3",	     "brw1=65536@3",
					    "brw2=65536@3", "brw1=262144@3", "brw2=262144@3"};

	o2_foretell_play(f, "ask M T-ping T-brw");
	for (uint32_t i = 0; i < 256; i++)
		if (i % 7 == 0)
			o2_tried_word(f->text, i / 7, "lst-ping");
		else
			o2_foretell_play(f, kinds[i % 7 - 1]);
	o2_foretell_play(f, "R end");
}

static void some_of_each(struct o2_foretelling *f, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++) {
		o2_tried_word(f->text, i, "lst-ping");
		o2_foretell_play(f, "brw1=4096@3 brw2=4096@3");
	}
}

static void both_orders(struct o2_foretelling *f)
{
	o2_foretell_play(f, "ask M T-ping T-brw");
	some_of_each(f, 2);
	o2_foretell_play(f, "R end");
}

static void counters(struct o2_foretelling *f)
{
	o2_foretell_play(f, "ask M T-ping T-brw S");
	some_of_each(f, 10);
	o2_foretell_play(f, "S R end");
}

/* --- the table --- */

static const struct {
	const char *id, *script;
	void (*by)(struct o2_foretelling *f);
	bool alone;
} probes[] = {
	{"ping/one", "ask ping end", NULL, false},
	{"ping/info", "ask ping end", NULL, false},
	{"ping/twenty", "ask ping*20 end", NULL, false},
	{"ping/many", "ask ping*64 end", NULL, false},
	{"ping/push", "ask push ping end", NULL, false},
	{"connect/two", "ask ask ping*8 end*2", NULL, false},
	{"checksum/payload", "ask ping end", NULL, false},
	{"checksum/unsigned", "ask ping end", NULL, false},
	{"checksum/signed", "ask ping end", NULL, false},
	{"flow/version-1", NULL, version_1, false},
	{"flow/big-endian", NULL, big_endian, false},
	{"flow/depth-%u", NULL, each_depth, false},
	{"connect/depth-%u", NULL, ask_depth, true},
	{"connect/frags-%u", NULL, ask_frags, true},
	{"connect/size-4096", "ask", NULL, true},
	{"connect/version-1", NULL, version_1, true},
	{"connect/this-life", NULL, this_life, true},
	{"connect/other-life", NULL, other_life, true},
	{"missing/put", "ask put-nowhere=8192 ping end", NULL, false},
	{"missing/get", "ask get-nowhere=8192 ping end", NULL, false},
	{"missing/put-small", "ask put-nowhere=2000 ping end", NULL, false},
	{"missing/get-small", "ask get-nowhere=2000 ping end", NULL, false},
	{"end/put", "ask put=8192@8384512 ping end", NULL, false},
	{"end/get", "ask put=4096@8384512 get=8192@8384512 ping end", NULL, false},
	{"end/put-small", "ask put=2000@8387608 ping end", NULL, false},
	{"end/get-small", "ask put=1000@8387608 get=2000@8387608 ping end", NULL, false},
	{"put/size-%u", NULL, put_size, false},
	{"get/size-%u", "ask read=%u*2 end", NULL, false},
	{"put/no-ack", "ask put-no-ack=9000 get=9000 end", NULL, false},
	{"put/no-ack-small", "ask put-no-ack=900 get=900 end", NULL, false},
	{"frags/%u", NULL, frags, false},
	{"mode/global", NULL, each_size_in_pages, false},
	{"mode/fmr", NULL, each_size, false},
	{"mode/fastreg", NULL, each_size, false},
	{"mode/user", NULL, each_size, false},
	{"mode/phys", NULL, each_size, false},
	{"mode/fastreg_gaps", NULL, each_size, false},
	{"offset/local-%u", NULL, local_offset, false},
	{"offset/remote-%u", NULL, remote_offset, false},
	{"flight/small", "ask puts=1000*255 gets=1000*255 end", NULL, false},
	{"flight/large", "ask puts=8000*200 gets=8000*200 end", NULL, false},
	{"flight/depth-%u", NULL, deep, false},
	{"lst/session", "ask M D R D end", NULL, false},
	{"lst/session-twice", "ask M*2 R S R end", NULL, false},
	{"lst/busy", "ask M*2 S R end", NULL, false},
	{"lst/force", "ask M T-ping M R query R end", NULL, false},
	{"lst/none", "ask M*2 R S T-ping R end", NULL, false},
	{"lst/other", "ask M S query T-ping R*2 S query T-ping R end", NULL, false},
	{"lst/features", "ask M S T-brw brw1=4096@3 brw2=8192@3 brw1=4096@3 brw2=8192@3 R end", NULL, false},
	{"lst/big-endian", NULL, both_orders, false},
	{"lst/halves", "ask M T-ping T-brw Q0 Q1 Q2 Q3 Q- R end", NULL, false},
	{"lst/batch", "ask M T-ping run run2 stop stop2 Q0 query2 R end", NULL, false},
	{"lst/stat", NULL, counters, false},
	{"lst/ping", "ask M T-ping lst-ping*256 R end", NULL, false},
	{"lst/ping-many", "ask M T-ping lst-ping*256 R end", NULL, false},
	{"lst/ping-magic", "ask M T-ping magic lst-ping*64 R end", NULL, false},
	{"lst/read-%u", NULL, each_read, false},
	{"lst/write-%u", NULL, each_write, false},
	{"lst/read-longer", "ask M T-brw brw1=8@3 brw1=2048@3 brw1=8192@3 brw1=524288@3 R end", NULL, false},
	{"lst/write-longer", "ask M T-brw brw2=8@3 brw2=2048@3 brw2=8192@3 brw2=524288@3 R end", NULL, false},
	{"lst/write-wrong", "ask M T-brw brw2=16384@3*3 brw2=16384@2*3 brw2=16384@1 brw2=16384@4 R end", NULL,
	 false},
	{"lst/read-many", "ask M T-brw brw1=65536@3*256 R end", NULL, false},
	{"lst/write-many", "ask M T-brw brw2=65536@3*256 R end", NULL, false},
	{"lst/mixed", NULL, mixed, false},
};

/* --- probes that leave --- */

/* Per step and round: what is sent before leaving (at step 0 nothing), and a ping after coming back. */
static void leaves(struct o2_foretelling *f, uint32_t rounds, uint32_t steps, uint32_t silent,
		   const char *begun)
{
	for (uint32_t step = 0; step < steps; step++)
		for (uint32_t round = 0; round < rounds; round++) {
			if (step > 0)
				o2_foretell_play(f, step < silent ? "ask end" : begun);
			o2_foretell_play(f, "ask ping end");
		}
	o2_foretell_play(f, "ask put=65536 get=65536 end");
}

/* The number of steps follows from the connections; find the first step after which the request was sent. */
static bool foretell_leaving(const struct o2_tried *tried, const char *id, struct o2_foretelling *f)
{
	static const char *const begun[][2] = {{"leave/ping", "ask ping end"},
					       {"leave/put", "ask put=65536 end"},
					       {"leave/get", "ask get=65536 end"},
					       {"leave/put-small", "ask put=1000 end"}};
	static struct o2_tried_text said; /* large */
	const struct o2_foretelling start = *f;
	const uint32_t rounds = tried->trial->rounds;
	size_t which = 0;
	uint32_t steps;

	while (which < 4 && strcmp(begun[which][0], id) != 0)
		which++;
	said = tried->said;
	steps = (tried->said.requests + rounds) / (2 * rounds);
	/* No transfer ends before anything has happened, so there are at least two steps. */
	if (which < 4 && steps < 2)
		o2_tried_word(f->text, 0, "leaves after each step");
	for (uint32_t silent = 1; which < 4 && steps > 1 && steps < LEAVES_MOST && silent < steps; silent++) {
		*f = start;
		memset(f->text, 0, sizeof(*f->text));
		leaves(f, rounds, steps, silent, begun[which][1]);
		if (strcmp(o2_tried_whole(f->text), o2_tried_whole(&said)) == 0)
			break;
	}
	return which < 4;
}

static void again(struct o2_foretelling *f, uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i++)
		o2_foretell_play(f, "ask ping end");
}

static bool foretell_returning(const struct o2_tried *tried, const char *id, struct o2_foretelling *f)
{
	if (strcmp(id, "connect/again") == 0) {
		again(f, 20);
		return true;
	}
	if (strcmp(id, "restart/stamp") != 0)
		return foretell_leaving(tried, id, f);
	for (uint32_t i = 0; i < tried->trial->rounds; i++) {
		o2_foretell_play(f, "ask ping end");
		f->another_life = true;
	}
	o2_foretell_play(f, "ask put=65536 get=65536 end");
	return true;
}

bool o2_tried_foretell(const struct o2_tried *tried, const char *id, struct o2_tried_text *text)
{
	struct o2_foretelling f = {.text = text,
				   .known = tried->known == 0 ? 0x12 : tried->known,
				   .depth = 8,
				   .frags = 257,
				   .version = 0x12,
				   .told = tried->trial->told,
				   .stale = tried->trial->stale,
				   .pieces = 1};

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		const char *place = strstr(probes[i].id, "%u");
		const size_t before = place == NULL ? 0 : (size_t)(place - probes[i].id);
		char *rest;

		if (place == NULL ? strcmp(probes[i].id, id) != 0 : strncmp(probes[i].id, id, before) != 0)
			continue;
		if (place != NULL) {
			f.n = (uint32_t)strtoul(id + before, &rest, 10);
			if (rest == id + before || *rest != '\0')
				continue;
		}
		f.alone = probes[i].alone;
		if (probes[i].by != NULL)
			probes[i].by(&f);
		else
			o2_foretell_play(&f, probes[i].script);
		return true;
	}
	return foretell_returning(tried, id, &f);
}
