/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FORMS_TABLES_H
#define O2_PROPS_FORMS_TABLES_H

#include <stdio.h>

#include "base/fields.h"
#include "props/engine/choice.h"
#include "props/engine/property.h"

/*
 * A drawn struct with its table (base/fields.h), and the JSON of its members, written by other code. Members have
 * slots of one size. A part begins at its slot; a list has its count behind its elements.
 */

#define O2_TABLE_MEMBERS      7u /* members behind the first ones are in a second table */
#define O2_TABLE_INNER	      3u
#define O2_TABLE_ROOM	      4u /* most elements of a list */
#define O2_TABLE_STRIDE_BYTES 32u
#define O2_TABLE_COUNT_AT     (O2_TABLE_ROOM * O2_TABLE_STRIDE_BYTES)
#define O2_TABLE_SLOT_BYTES   160u
#define O2_TABLE_MORE_AT      (O2_TABLE_MEMBERS * O2_TABLE_SLOT_BYTES) /* of the second table's pointer */
#define O2_TABLE_HOLDER_BYTES (O2_TABLE_MORE_AT + sizeof(const struct o2_field *))

struct o2_table {
	struct o2_field first[O2_TABLE_MEMBERS + 2], more[O2_TABLE_MEMBERS + 1];
	const struct o2_field *member[O2_TABLE_MEMBERS]; /* of both tables, in their order */
	char name[O2_TABLE_MEMBERS][12];
	struct o2_field inner[O2_TABLE_INNER + 1], number[2]; /* members of parts and of list elements */
	uint8_t holder[O2_TABLE_HOLDER_BYTES];
};

void o2_table_draw(struct o2_choice *c, struct o2_table *table);

/* Read and write a number of 1, 2, 4 or 8 bytes.  A number of kind INT is sign-extended. */
uint64_t o2_table_number(const struct o2_field *field, const uint8_t *struct_bytes);
void o2_table_set(const struct o2_field *field, uint8_t *struct_bytes, uint64_t value);
bool o2_table_is_number(const struct o2_field *field);

/* The number of elements in a list; the number of rows in the table of a part or of an element. */
uint32_t o2_table_count(const struct o2_field *list, const uint8_t *struct_bytes);
uint32_t o2_table_rows(const struct o2_field *part);

/* The greatest value that a member may have, by docs/architecture.md, "JSON forms". */
uint64_t o2_table_largest(const struct o2_field *field);

/* Whether the JSON of a struct has this member (is_said), and the member's JSON (say). */
FILE *o2_table_open(char *text, size_t text_bytes); /* stream into text, 0-terminated */
bool o2_table_is_said(const struct o2_field *field, const uint8_t *struct_bytes);
void o2_table_say(FILE *out, const struct o2_field *field, const uint8_t *struct_bytes);

/* The name of a member of a part or of an element in error messages. */
const char *o2_table_inside(const struct o2_field *row, const struct o2_field *inner);

/* A member's JSON with one thing wrong, and the refusal that must follow.  rule NULL: it is not refused. */
struct o2_table_wrong {
	bool missing; /* true: the member is missing; false: text stands in its place */
	char text[600];
	const char *rule, *field;
	uint32_t index;
	uint64_t value, limit;
	char said[64]; /* value and limit in words; "": the value is no number */
};

void o2_table_wrong(struct o2_choice *c, const struct o2_field *row, const uint8_t *struct_bytes,
		    struct o2_table_wrong *wrong);

/* Check one drawn table. */
struct o2_forms_run;
void o2_forms_check_table(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report);

#endif
