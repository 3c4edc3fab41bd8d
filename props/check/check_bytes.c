/* SPDX-License-Identifier: MIT */
#include "props/check/check_bytes.h"

#include <stdint.h>
#include <string.h>

#include "base/markup.h"
#include "forms/bytes_json.h"
#include "forms/wire_fields.h"
#include "oracle/case.h"
#include "wire/layout.h"

#define FIELDS 64u

struct place {
	uint32_t at;
	const char *name;
};

struct places {
	uint32_t count;
	struct place item[FIELDS];
};

/* Add a place; they are added in the order of the message. */
static void add(struct places *places, uint32_t at, const char *name)
{
	uint32_t i = places->count;

	if (i == FIELDS)
		return;
	for (uint32_t k = 0; k < places->count; k++)
		if (places->item[k].at == at)
			return;
	for (; i > 0 && places->item[i - 1].at > at; i--)
		places->item[i] = places->item[i - 1];
	places->item[i] = (struct place){at, name};
	places->count++;
}

static void add_all(struct places *places, uint32_t from, const struct o2_field *fields)
{
	for (; fields->name != NULL; fields++)
		add(places, from + fields->wire_at, fields->name);
}

static void find_places(const uint8_t *bytes, size_t length_bytes, struct places *places)
{
	const uint8_t type = length_bytes > O2_AT_TYPE ? bytes[O2_AT_TYPE] : 0;
	const bool lnet = type == O2_MSG_IMMEDIATE || type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ;
	const uint32_t variant = length_bytes > O2_AT_LNET_HDR + O2_LNET_AT_TYPE
					 ? bytes[O2_AT_LNET_HDR + O2_LNET_AT_TYPE]
					 : O2_LNET_HELLO;

	add(places, O2_AT_MAGIC, "ibm_magic");
	add(places, O2_AT_CKSUM, "ibm_cksum");
	add_all(places, 0, o2_msg_header_fields);
	if (lnet) {
		add_all(places, O2_AT_LNET_HDR, o2_lnet_hdr_fields);
		add(places, O2_AT_LNET_HDR + O2_LNET_AT_UNION, "hdr.msg");
		if (variant < O2_LNET_HELLO)
			add_all(places, O2_AT_LNET_HDR + O2_LNET_AT_UNION, o2_lnet_variant_fields[variant]);
	}
	if (type == O2_MSG_IMMEDIATE)
		add(places, O2_AT_PAYLOAD, "payload");
	add_all(places, 0, o2_msg_body_fields(type));
}

/* Write the digits of [from, end); mark those that differ from the other message's. */
static void put_cell(const uint8_t *bytes, size_t length, const uint8_t *other, size_t other_length,
		     size_t from, size_t end, FILE *out)
{
	fputs("<td><code>", out);
	for (size_t i = from; i < end && i < length; i++) {
		const bool differs = other != NULL && (i >= other_length || other[i] != bytes[i]);

		fprintf(out, differs ? "<span class=\"mark\">%02x</span> " : "%02x ", bytes[i]);
	}
	fputs("</code></td>", out);
}

static size_t read_bytes(const json_t *form, uint8_t *bytes, size_t capacity)
{
	size_t length = 0;
	struct o2_error error;

	return o2_bytes_from_json(form, "bytes", "bytes", bytes, capacity, &length, &error) == 0 ? length : 0;
}

void o2_check_put_bytes(const json_t *form, const json_t *other_form, FILE *out)
{
	static uint8_t bytes[O2_CASE_MSG_BYTES], other[O2_CASE_MSG_BYTES];
	const size_t length = read_bytes(form, bytes, sizeof(bytes));
	const size_t other_length = read_bytes(other_form, other, sizeof(other));
	const uint8_t *beside = other_length > 0 ? other : NULL;
	struct places places = {0};

	if (length == 0)
		return;
	find_places(bytes, length, &places);
	fprintf(out, "<table class=\"bytes\"><tr><th>at</th><th>field</th>%s</tr>\n",
		beside == NULL ? "<th>bytes</th>" : "<th>reference</th><th>implementation</th>");
	for (uint32_t i = 0; i < places.count; i++) {
		const size_t from = places.item[i].at;
		size_t end = i + 1 < places.count ? places.item[i + 1].at : sizeof(bytes);

		if (from >= length && from >= other_length)
			break;
		o2_markup(out, "<tr><td>%s", "");
		fprintf(out, "%zu</td>", from);
		o2_markup(out, "<td>%s</td>", places.item[i].name);
		put_cell(bytes, length, beside, other_length, from, end, out);
		if (beside != NULL)
			put_cell(other, other_length, bytes, length, from, end, out);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
}
