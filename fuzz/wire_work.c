/* SPDX-License-Identifier: MIT */
#include "fuzz/wire_work.h"

#include "fuzz/wire_fields.h"
#include "wire/layout.h"

/* The next random number, all bits usable: the step and the finish of splitmix64. */
uint64_t o2_work_draw(struct o2_work *w)
{
	uint64_t z = w->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* A random number 0 to n - 1.  n must be small. */
size_t o2_work_below(struct o2_work *w, size_t n)
{
	return n == 0 ? 0 : (size_t)(o2_work_draw(w) % n);
}

bool o2_work_once_in(struct o2_work *w, size_t n)
{
	return o2_work_below(w, n) == 0;
}

/* --- bytes --- */

uint64_t o2_work_get(const uint8_t *at, size_t width, bool big)
{
	uint64_t value = 0;

	for (size_t i = 0; i < width; i++)
		value |= (uint64_t)at[big ? width - 1 - i : i] << (8 * i);
	return value;
}

void o2_work_put(uint8_t *at, size_t width, bool big, uint64_t value)
{
	for (size_t i = 0; i < width; i++)
		at[big ? width - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

/* Resize the input; new bytes are zeros, or occasionally noise. */
void o2_work_resize(struct o2_work *w, size_t size)
{
	const bool noise = o2_work_once_in(w, 4);

	if (size > w->max)
		size = w->max;
	for (; w->size < size; w->size++)
		w->data[w->size] = noise ? (uint8_t)o2_work_draw(w) : 0;
	w->size = size;
}

/* --- where things stand --- */

uint8_t o2_work_type(const struct o2_work *w)
{
	return w->shape == O2_WIRE_SHAPE_MESSAGE && w->size > O2_AT_TYPE ? w->data[O2_AT_TYPE] : 0;
}

/* True if the input has a descriptor with key and count; *start is its offset. */
bool o2_work_find_desc(const struct o2_work *w, size_t *start)
{
	*start = o2_desc_start(o2_work_type(w));
	if (w->shape == O2_WIRE_SHAPE_MESSAGE && *start == 0)
		return false;
	return w->size >= *start + O2_DESC_AT_FRAGS;
}

/* Number of fragments present, whatever the count says. */
size_t o2_work_frags(const struct o2_work *w, size_t start)
{
	return (w->size - start - O2_DESC_AT_FRAGS) / O2_FRAG_BYTES;
}

uint8_t *o2_work_frag(const struct o2_work *w, size_t start, size_t index)
{
	return w->data + start + O2_DESC_AT_FRAGS + index * O2_FRAG_BYTES;
}

/* The byte order: from a message's magic; for a descriptor, the order that makes its count small. */
void o2_work_find_order(struct o2_work *w)
{
	const bool is_message = w->shape == O2_WIRE_SHAPE_MESSAGE;
	const uint8_t *at = w->data + (is_message ? O2_AT_MAGIC : O2_DESC_AT_NFRAGS);

	if (w->size < O2_DESC_AT_FRAGS)
		w->big = o2_work_once_in(w, 2);
	else if (is_message)
		w->big = o2_work_get(at, 4, true) == O2_MSG_MAGIC;
	else
		w->big = o2_work_get(at, 4, true) < o2_work_get(at, 4, false);
}
