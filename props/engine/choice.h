/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHOICE_H
#define O2_PROPS_CHOICE_H

#include "props/engine/prng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The choice sequence: a test case is a string of bytes from which a generator draws bounded numbers
 * (docs/properties.md, "Choice sequences").
 *
 * One generator has four drivers: random (from a seed), replay (bytes of a file or of a fuzzer), exhaustive
 * (every case near the simplest, props/engine/exhaustive.h) and the shrinker (props/engine/shrink.h).  With
 * every driver, the bytes drawn are recorded in their canonical form, and a replay of the record gives the
 * same draws.
 *
 * Encoding of a draw of 0..max: the fewest whole bytes that hold max, big-endian, so that a smaller string in
 * shortlex order is a smaller number.  A draw with max 0 takes no byte.  An encoded number above max is
 * reduced modulo max + 1: a mutated byte then reaches every value about equally often (clamping would pile
 * the mass on max).  The reduced number is recorded; it is never larger than the number that was read.
 *
 * Past the end of the input every draw gives 0, the simplest choice, and past_end is set.  Any byte string is
 * therefore a case, and the empty one is the simplest.  A generator must end when every draw gives 0: in
 * "another element?" 0 means no.
 */

/* The outcome of a case; a greater value is more useful to the shrinker. */
enum o2_status {
	O2_STATUS_OVERRUN = 0, /* the case exceeded a limit below: discard it */
	O2_STATUS_INVALID,     /* the generator rejected it: not a case */
	O2_STATUS_VALID,       /* the property was tried and held */
	O2_STATUS_INTERESTING, /* the property failed */
};

/* Limits of one case: enough for a 257-page transfer between finely cut lists, with room to spare. */
#define O2_CHOICE_MAX_BYTES 8192u
#define O2_CHOICE_MAX_SPANS 2048u /* later spans are not recorded; the shrinker only loses a hint */
#define O2_CHOICE_MAX_DEPTH 32u	  /* depth of nested spans; deeper spans are not recorded */

/* A stretch of the record that belongs together, e.g. one element of a list. */
struct o2_choice_span {
	uint16_t begin_bytes; /* first byte of the record */
	uint16_t end_bytes;   /* byte after the last */
	uint16_t label;	      /* set by the generator; siblings with equal labels may be swapped */
	uint16_t depth;	      /* 0 = outermost */
};

struct o2_exhaustive;

/*
 * One case being drawn.  About 100 KiB of plain data without ownership: put it in a static, on the heap or in
 * memory shared with a forked child, and copy it freely.  Only the part in use is ever touched.  Read-only
 * outside props/engine/choice.c.
 */
struct o2_choice {
	/* driver */
	const uint8_t *input; /* replay: borrowed, must outlive the case; else NULL */
	size_t input_bytes;
	size_t input_next;
	bool random;
	struct o2_prng prng;
	struct o2_exhaustive *exhaustive;

	/* record: canonical bytes, and where each draw of them begins */
	uint32_t record_bytes;
	uint32_t draws;
	uint32_t spans;
	uint32_t depth;
	bool past_end; /* a draw was answered with 0 because the input was at its end */
	bool overrun;  /* a limit was hit; every later draw gives 0 and is not recorded */
	bool rejected; /* o2_choice_reject() was called; every later draw gives 0, as above */
	uint8_t record[O2_CHOICE_MAX_BYTES];
	uint16_t draw_begin[O2_CHOICE_MAX_BYTES];
	uint64_t draw_max[O2_CHOICE_MAX_BYTES];
	struct o2_choice_span span[O2_CHOICE_MAX_SPANS];
	uint16_t open_span[O2_CHOICE_MAX_DEPTH];
};

/* Draw at random: case number index of the run with this seed. */
void o2_choice_random(struct o2_choice *c, uint64_t seed, uint64_t index);

/* Replay bytes (a file, a fuzzer's input, a record).  bytes may be NULL if length_bytes is 0. */
void o2_choice_replay(struct o2_choice *c, const uint8_t *bytes, size_t length_bytes);

/* Take the numbers from the exhaustive driver, which calls this: o2_exhaustive_next. */
void o2_choice_exhaustive(struct o2_choice *c, struct o2_exhaustive *e);

/* Draw a number, uniform in 0..max, both included. */
uint64_t o2_draw(struct o2_choice *c, uint64_t max);

/* Draw a count, 0..max; at random, three in four are at most max / 8 (docs/properties.md, "Length"). */
uint64_t o2_draw_few(struct o2_choice *c, uint64_t max);

/* Draw a number, uniform in lo..hi, both included; lo is the simplest.  hi < lo gives lo and draws nothing. */
uint64_t o2_draw_range(struct o2_choice *c, uint64_t lo, uint64_t hi);

/* Draw true with chance weight_true / (weight_true + weight_false); false is the simplest.  An outcome with
 * weight 0 is never drawn. */
bool o2_draw_bool(struct o2_choice *c, uint32_t weight_false, uint32_t weight_true);

/*
 * Draw an index 0..n-1 with chance weights[i] / sum.  Order options from simple to complicated.  Weight 0 is
 * never drawn (swarm testing disables variants that way).  No option or weight: 0, and nothing is drawn.  The
 * record holds the smallest number that means the option; exhaustive mode visits each option once.
 */
size_t o2_draw_weighted(struct o2_choice *c, const uint32_t *weights, size_t n);

/* Draw an index 0..n-1, uniform; 0 if n is 0. */
size_t o2_draw_pick(struct o2_choice *c, size_t n);

/*
 * "Is there another element?" for lists: false at once when have >= max; true without a draw while have <
 * min; else true with chance weight_more / (1 + weight_more).  Inside a span this lets the shrinker delete a
 * whole element:
 *
 *   for (n = 0; ; n++) {
 *           o2_span_begin(c, LABEL_FRAGMENT);
 *           more = o2_draw_more(c, n, 0, 64, 3);
 *           if (more) { ...draw element n... }
 *           o2_span_end(c);
 *           if (!more) break;
 *   }
 *
 * A count that is drawn before the spans of its elements shrinks as well, with a few more calls.  Once the
 * case is overrun or rejected the answer is false, even below min, so that no list loops on a broken case.
 */
bool o2_draw_more(struct o2_choice *c, size_t have, size_t min, size_t max, uint32_t weight_more);

/* Mark a stretch of draws that belong together.  Nest spans properly; a span left open ends with the record. */
void o2_span_begin(struct o2_choice *c, uint16_t label);
void o2_span_end(struct o2_choice *c);

/*
 * Call step up to `most` times, each call in its own span.  The number of calls is drawn; a step that returns
 * false ends the sequence.  weight_more is as for o2_draw_more; the random driver lowers it for most cases,
 * so that they are short (docs/properties.md, "Length").
 */
void o2_draw_steps(struct o2_choice *c, uint16_t label, size_t most, uint32_t weight_more,
		   bool (*step)(void *context), void *context);

/* Reject the case: a precondition is not met.  Later draws give 0; the generator should return soon. */
void o2_choice_reject(struct o2_choice *c);

/* False once the case is overrun or rejected: use it as a generator's loop condition. */
bool o2_choice_ok(const struct o2_choice *c);

/* O2_STATUS_OVERRUN or O2_STATUS_INVALID if drawing failed, else `verdict`. */
enum o2_status o2_choice_status(const struct o2_choice *c, enum o2_status verdict);

/*
 * The case was run elsewhere (in a child that died, over a wire), so its draws are unknown: take the input as
 * the record, with every byte a draw of 0..255.  For a replay only.
 */
void o2_choice_opaque(struct o2_choice *c);

/* The value of draw number i of the record (i < draws), and the width in bytes of a draw of 0..max. */
uint64_t o2_choice_value(const struct o2_choice *c, uint32_t i);
unsigned int o2_choice_width_bytes(uint64_t max);

/* Shortlex order: shorter first, then bytewise.  Negative, 0 or positive as a is before, equal to or after b. */
int o2_shortlex(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes);

#endif
