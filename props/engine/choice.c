/* SPDX-License-Identifier: MIT */
#include "props/engine/choice.h"

#include <assert.h>
#include <string.h>

#include "props/engine/exhaustive.h"

/* Offsets in the record are 16 bits wide; SPAN_OPEN is not a valid offset. */
#define SPAN_OPEN      UINT16_MAX
#define SPAN_UNTRACKED UINT16_MAX
static_assert(O2_CHOICE_MAX_BYTES < SPAN_OPEN, "record offsets must fit 16 bits");
static_assert(O2_CHOICE_MAX_SPANS < SPAN_UNTRACKED, "span numbers must fit 16 bits");

/* Of LENGTHS random cases with steps, LONG are long, MIDDLE of medium length, the rest short. */
#define LENGTHS 16u
#define LONG	1u
#define MIDDLE	3u
#define LEAST	3u /* no weight of another step is lowered below this */

/* Reset everything except the big arrays, which are valid only up to their counts. */
static void choice_clear(struct o2_choice *c)
{
	c->input = NULL;
	c->input_bytes = 0;
	c->input_next = 0;
	c->random = false;
	c->prng = (struct o2_prng){0};
	c->exhaustive = NULL;
	c->record_bytes = 0;
	c->draws = 0;
	c->spans = 0;
	c->depth = 0;
	c->past_end = false;
	c->overrun = false;
	c->rejected = false;
}

void o2_choice_random(struct o2_choice *c, uint64_t seed, uint64_t index)
{
	choice_clear(c);
	c->random = true;
	c->prng = o2_prng_init(seed, index);
}

void o2_choice_replay(struct o2_choice *c, const uint8_t *bytes, size_t length_bytes)
{
	choice_clear(c);
	c->input = bytes;
	c->input_bytes = length_bytes;
}

void o2_choice_exhaustive(struct o2_choice *c, struct o2_exhaustive *e)
{
	choice_clear(c);
	c->exhaustive = e;
}

unsigned int o2_choice_width_bytes(uint64_t max)
{
	return max == 0 ? 0 : (unsigned int)(71 - __builtin_clzll(max)) / 8;
}

static uint64_t load_big_endian(const uint8_t *bytes, unsigned int width)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < width; i++)
		value = value << 8 | bytes[i];
	return value;
}

uint64_t o2_choice_value(const struct o2_choice *c, uint32_t i)
{
	assert(i < c->draws);
	return load_big_endian(c->record + c->draw_begin[i], o2_choice_width_bytes(c->draw_max[i]));
}

/* Is there room to record one more draw?  If not, mark the case as overrun. */
static bool have_room(struct o2_choice *c, uint64_t max)
{
	if (!o2_choice_ok(c))
		return false;
	if (c->record_bytes + o2_choice_width_bytes(max) > O2_CHOICE_MAX_BYTES)
		c->overrun = true;
	return !c->overrun;
}

static void record_draw(struct o2_choice *c, uint64_t value, uint64_t max)
{
	const unsigned int width = o2_choice_width_bytes(max);

	c->draw_begin[c->draws] = (uint16_t)c->record_bytes;
	c->draw_max[c->draws] = max;
	c->draws++;
	for (unsigned int i = width; i-- > 0; value >>= 8)
		c->record[c->record_bytes + i] = (uint8_t)value;
	c->record_bytes += width;
}

static uint64_t take_input(struct o2_choice *c, uint64_t max)
{
	const unsigned int width = o2_choice_width_bytes(max);
	const size_t left = c->input_bytes - c->input_next;
	uint64_t value;

	/* A number cut off by the end of the input is 0 as well: no draw depends on part of a number. */
	if (left < width) {
		c->input_next = c->input_bytes;
		c->past_end = true;
		return 0;
	}
	value = load_big_endian(c->input + c->input_next, width);
	c->input_next += width;
	return value > max ? value % (max + 1) : value;
}

static uint64_t take_exhaustive(struct o2_choice *c, uint64_t max)
{
	uint64_t value = 0;

	if (!o2_exhaustive_draw(c->exhaustive, max, &value))
		c->overrun = true;
	return value;
}

/* Draw 0..max; the random driver draws 0..likely, and the record holds no trace of that. */
static uint64_t draw(struct o2_choice *c, uint64_t max, uint64_t likely)
{
	uint64_t value;

	if (max == 0 || !have_room(c, max))
		return 0;
	if (c->exhaustive != NULL)
		value = take_exhaustive(c, max);
	else if (c->random)
		value = o2_prng_upto(&c->prng, likely);
	else
		value = take_input(c, max);
	if (c->overrun)
		return 0;
	record_draw(c, value, max);
	return value;
}

uint64_t o2_draw(struct o2_choice *c, uint64_t max)
{
	return draw(c, max, max);
}

uint64_t o2_draw_few(struct o2_choice *c, uint64_t max)
{
	const bool few = c->random && o2_prng_upto(&c->prng, 3) != 0;

	return draw(c, max, few ? max / 8 : max);
}

uint64_t o2_draw_range(struct o2_choice *c, uint64_t lo, uint64_t hi)
{
	return hi <= lo ? lo : lo + o2_draw(c, hi - lo);
}

size_t o2_draw_pick(struct o2_choice *c, size_t n)
{
	return n < 2 ? 0 : (size_t)o2_draw(c, n - 1);
}

/* The index of option number `rank` among those with a nonzero weight. */
static size_t nth_option(const uint32_t *weights, size_t n, uint64_t rank)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (weights[i] != 0 && rank-- == 0)
			break;
	}
	assert(i < n);
	return i;
}

static uint64_t weight_before(const uint32_t *weights, size_t option)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < option; i++)
		sum += weights[i];
	return sum;
}

/* The option whose share of 0..sum-1 holds value. */
static size_t option_at(const uint32_t *weights, uint64_t value)
{
	size_t i = 0;

	for (; value >= weights[i]; i++)
		value -= weights[i];
	return i;
}

size_t o2_draw_weighted(struct o2_choice *c, const uint32_t *weights, size_t n)
{
	const uint64_t sum = weight_before(weights, n);
	uint64_t options = 0;
	size_t option;

	for (size_t i = 0; i < n; i++)
		options += weights[i] != 0;
	if (options == 0)
		return 0;
	if (options == 1 || !have_room(c, sum - 1))
		return nth_option(weights, n, 0);
	if (c->exhaustive != NULL) {
		option = nth_option(weights, n, take_exhaustive(c, options - 1));
	} else {
		option = option_at(weights,
				   c->random ? o2_prng_upto(&c->prng, sum - 1) : take_input(c, sum - 1));
	}
	if (!c->overrun)
		record_draw(c, weight_before(weights, option), sum - 1);
	return option;
}

bool o2_draw_bool(struct o2_choice *c, uint32_t weight_false, uint32_t weight_true)
{
	const uint32_t weights[2] = {weight_false, weight_true};

	return o2_draw_weighted(c, weights, 2) == 1;
}

bool o2_draw_more(struct o2_choice *c, size_t have, size_t min, size_t max, uint32_t weight_more)
{
	/* Stop even below min if the case is broken: the caller may loop on min alone. */
	if (have >= max || !o2_choice_ok(c))
		return false;
	if (have < min)
		return true;
	return o2_draw_bool(c, 1, weight_more);
}

void o2_span_begin(struct o2_choice *c, uint16_t label)
{
	const uint32_t depth = c->depth++;

	if (depth >= O2_CHOICE_MAX_DEPTH)
		return;
	if (c->spans == O2_CHOICE_MAX_SPANS) {
		c->open_span[depth] = SPAN_UNTRACKED;
		return;
	}
	c->open_span[depth] = (uint16_t)c->spans;
	c->span[c->spans++] = (struct o2_choice_span){
		.begin_bytes = (uint16_t)c->record_bytes,
		.end_bytes = SPAN_OPEN,
		.label = label,
		.depth = (uint16_t)depth,
	};
}

void o2_span_end(struct o2_choice *c)
{
	assert(c->depth > 0);
	if (--c->depth < O2_CHOICE_MAX_DEPTH && c->open_span[c->depth] != SPAN_UNTRACKED)
		c->span[c->open_span[c->depth]].end_bytes = (uint16_t)c->record_bytes;
}

/*
 * The weight of another step for a random case, drawn once per case: a long case gets the generator's weight, most
 * cases get less and are short.  The record does not contain this choice: a replay reads the decisions made.
 */
static uint32_t draw_length(struct o2_choice *c, uint32_t weight_more)
{
	const uint64_t length = o2_prng_upto(&c->prng, LENGTHS - 1);

	if (length < LONG || weight_more < LEAST)
		return weight_more;
	weight_more /= length < LONG + MIDDLE ? 4 : 32;
	return weight_more < LEAST ? LEAST : weight_more;
}

static bool draw_step(struct o2_choice *c, size_t steps, size_t most, uint32_t weight_more, uint32_t likely)
{
	bool more;

	if (!c->random || steps >= most || !have_room(c, weight_more))
		return o2_draw_more(c, steps, 0, most, weight_more);
	more = o2_prng_upto(&c->prng, likely) != 0;
	record_draw(c, more, weight_more);
	return more;
}

void o2_draw_steps(struct o2_choice *c, uint16_t label, size_t most, uint32_t weight_more,
		   bool (*step)(void *context), void *context)
{
	const uint32_t likely = c->random ? draw_length(c, weight_more) : weight_more;
	bool more = true;

	for (size_t steps = 0; more; steps++) {
		o2_span_begin(c, label);
		more = draw_step(c, steps, most, weight_more, likely) && step(context);
		o2_span_end(c);
	}
}

void o2_choice_reject(struct o2_choice *c)
{
	c->rejected = true;
}

bool o2_choice_ok(const struct o2_choice *c)
{
	return !c->overrun && !c->rejected;
}

enum o2_status o2_choice_status(const struct o2_choice *c, enum o2_status verdict)
{
	if (c->overrun)
		return O2_STATUS_OVERRUN;
	return c->rejected ? O2_STATUS_INVALID : verdict;
}

void o2_choice_opaque(struct o2_choice *c)
{
	const uint8_t *input = c->input;
	const size_t input_bytes = c->input_bytes;

	assert(!c->random && c->exhaustive == NULL);
	o2_choice_replay(c, input, input_bytes);
	for (size_t i = 0; i < input_bytes; i++)
		o2_draw(c, UINT8_MAX);
}

int o2_shortlex(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes)
{
	if (a_bytes != b_bytes)
		return a_bytes < b_bytes ? -1 : 1;
	return a_bytes == 0 ? 0 : memcmp(a, b, a_bytes);
}
