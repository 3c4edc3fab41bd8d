/* SPDX-License-Identifier: MIT */
/* Turns the words of a script into what is said: docs/conform.md, "What each probe says". */
#include "props/command/trial_script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMMEDIATE  3976u
#define PLACE	   60u
#define READ_PLACE 61u
#define NO_PLACE   65535u
#define PING_SINK  3960u /* docs/peer.md, "Ping" */
#define PUSH_BYTES 48u
#define PEER_DEPTH 8u /* queue depth of the peer in the process */
#define WORDS	   600u

void o2_foretell_asks(struct o2_foretelling *f, uint32_t depth, const char *of_life)
{
	o2_tried_word(f->text, 0, "asks %" PRIu32 "/%" PRIu32 "/4096 version 0x%" PRIx32 "%s%s%s", depth,
		      f->frags, f->version, f->big ? " big-endian" : "",
		      f->another_life ? " in another life" : "", of_life);
	f->another_life = false;
}

/*
 * Model: the peer rejects a request if it knows us by another version or life, or has less than we ask for. We ask
 * again. If the depth was too large, or more follows, that names the peer's life, which version 0x11 does not tell.
 */
static void asks(struct o2_foretelling *f)
{
	const bool deep = f->depth > PEER_DEPTH;
	const bool again = deep || f->known != f->version || f->another_life;

	o2_foretell_asks(f, f->depth, "");
	if (f->stale && deep) {
		o2_tried_word(f->text, 0, "rejected");
		o2_foretell_asks(f, f->depth, "");
	}
	if (again) {
		o2_tried_word(f->text, 0, "rejected");
		o2_foretell_asks(f,
				 !deep		? f->depth
				 : f->told != 0 ? f->told
						: PEER_DEPTH,
				 f->alone && !deep    ? ""
				 : f->version == 0x11 ? " of another life"
						      : " of this life");
	}
	f->known = f->version;
}

static void moves(struct o2_foretelling *f, const char *what, uint64_t bytes, uint32_t portal,
		  uint64_t offset, const char *how)
{
	char by[64] = "";

	if (what[0] == 'G' && bytes > IMMEDIATE)
		snprintf(by, sizeof(by), " in %" PRIu32 " from byte %" PRIu32, f->pieces, f->first_byte);
	o2_tried_word(f->text, offset, "%s %" PRIu64 " portal %" PRIu32 "%s%s%s", what, bytes, portal, by,
		      how, bytes > IMMEDIATE ? "" : " in a message");
}

/* --- scripts: one word per thing said, =BYTES@OFFSET, *TIMES; %u is the number in the probe's id --- */

struct word {
	char name[16];
	uint64_t bytes, offset, times;
};

static struct word read_word(const char *text)
{
	const char *bytes = strchr(text, '='), *offset = strchr(text, '@'), *times = strchr(text, '*');
	struct word word = {.times = times == NULL ? 1 : strtoull(times + 1, NULL, 10),
			    .bytes = bytes == NULL ? 0 : strtoull(bytes + 1, NULL, 10),
			    .offset = offset == NULL ? 0 : strtoull(offset + 1, NULL, 10)};

	snprintf(word.name, sizeof(word.name), "%.*s", (int)strcspn(text, "=@*"), text);
	return word;
}

/* Words without numbers: those of LNet selftest, and the end. */
static void says_plain(struct o2_foretelling *f, const char *name)
{
	static const char *const words[][2] = {{"M", "MKSN"},
					       {"R", "RMSN"},
					       {"S", "STAT"},
					       {"D", "DEBUG"},
					       {"T-ping", "TEST 12"},
					       {"T-brw", "TEST 11"},
					       {"Q0", "BATCH 3 1 0"},
					       {"Q1", "BATCH 3 1 1"},
					       {"Q2", "BATCH 3 1 2"},
					       {"Q3", "BATCH 3 1 3"},
					       {"Q-", "BATCH 3 1 4294967295"},
					       {"run", "BATCH 1 1 0"},
					       {"run2", "BATCH 1 2 0"},
					       {"stop", "BATCH 2 1 0"},
					       {"stop2", "BATCH 2 2 0"},
					       {"query", "BATCH 3 1 0"},
					       {"query2", "BATCH 3 2 0"},
					       {"end", "leaves"},
					       {"magic", "lst-ping of another magic"},
					       {"nothing", "rejected"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i][0], name) == 0)
			o2_tried_word(f->text, 0, "%s", words[i][1]);
}

static void says(struct o2_foretelling *f, const struct word *word, uint64_t time)
{
	if (strcmp(word->name, "ask") == 0)
		asks(f);
	else if (strcmp(word->name, "ping") == 0)
		o2_tried_word(f->text, 0, "ping %u", PING_SINK);
	else if (strcmp(word->name, "push") == 0)
		o2_tried_word(f->text, 0, "push %u", PUSH_BYTES);
	else if (strcmp(word->name, "put") == 0)
		moves(f, "PUT", word->bytes, PLACE, word->offset, "");
	else if (strcmp(word->name, "puts") == 0)
		moves(f, "PUT", word->bytes, PLACE, time * word->bytes, "");
	else if (strcmp(word->name, "put-no-ack") == 0)
		moves(f, "PUT", word->bytes, PLACE, word->offset, " without ACK");
	else if (strcmp(word->name, "get") == 0)
		moves(f, "GET", word->bytes, PLACE, word->offset, "");
	else if (strcmp(word->name, "gets") == 0)
		moves(f, "GET", word->bytes, PLACE, time * word->bytes, "");
	else if (strcmp(word->name, "read") == 0)
		moves(f, "GET", word->bytes, READ_PLACE, 0, "");
	else if (strcmp(word->name, "put-nowhere") == 0)
		moves(f, "PUT", word->bytes, NO_PLACE, 0, "");
	else if (strcmp(word->name, "get-nowhere") == 0)
		moves(f, "GET", word->bytes, NO_PLACE, 0, "");
	else if (strcmp(word->name, "lst-ping") == 0)
		o2_tried_word(f->text, time, "lst-ping");
	else if (strncmp(word->name, "brw", 3) == 0)
		o2_tried_word(f->text, 0, "brw %c %" PRIu64 " %" PRIu64, word->name[3], word->bytes,
			      word->offset);
	else
		says_plain(f, word->name);
}

void o2_foretell_play(struct o2_foretelling *f, const char *script)
{
	char text[WORDS], *rest = text;
	const char *word, *part;
	size_t used = 0;

	for (; *script != '\0'; script = part == NULL ? script + 1 : part) {
		part = script[0] == '%' && script[1] == 'u' ? script + 2 : NULL;
		used += (size_t)(part != NULL ? snprintf(text + used, sizeof(text) - used, "%" PRIu32, f->n)
					      : snprintf(text + used, sizeof(text) - used, "%c", *script));
	}
	while ((word = strsep(&rest, " ")) != NULL) {
		const struct word one = read_word(word);

		for (uint64_t i = 0; i < one.times; i++)
			says(f, &one, i);
	}
}
