/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FORMS_TABLES_H
#define O2_PROPS_FORMS_TABLES_H

#include <stdio.h>

#include "base/fields.h"
#include "props/engine/choice.h"
#include "props/engine/property.h"

/*
 * A struct that is drawn with its table (base/fields.h), and what its members are in JSON, written by hand.
 * Members stand in slots of one size; a part begins at its slot, a list has its count behind its elements.
 */

#define O2_TABLE_MEMBERS      7u /* those behind some of them are in the table that continues the first */
#define O2_TABLE_INNER	      3u
#define O2_TABLE_ROOM	      4u /* elements of a list */
#define O2_TABLE_STRIDE_BYTES 32u
#define O2_TABLE_COUNT_AT     (O2_TABLE_ROOM * O2_TABLE_STRIDE_BYTES)
#define O2_TABLE_SLOT_BYTES   160u
#define O2_TABLE_MORE_AT      (O2_TABLE_MEMBERS * O2_TABLE_SLOT_BYTES) /* where the second table is */
#define O2_TABLE_HOLDER_BYTES (O2_TABLE_MORE_AT + sizeof(const struct o2_field *))

struct o2_table {
	struct o2_field first[O2_TABLE_MEMBERS + 2], more[O2_TABLE_MEMBERS + 1];
	const struct o2_field *member[O2_TABLE_MEMBERS]; /* of both, in their order */
	char name[O2_TABLE_MEMBERS][12];
	struct o2_field inner[O2_TABLE_INNER + 1], number[2]; /* what parts and lists have */
	uint8_t holder[O2_TABLE_HOLDER_BYTES];
};

void o2_table_draw(struct o2_choice *c, struct o2_table *table);

/* Numbers of 1, 2, 4 or 8 bytes in memory; one of an INT is extended by its sign. */
uint64_t o2_table_number(const struct o2_field *field, const uint8_t *struct_bytes);
void o2_table_set(const struct o2_field *field, uint8_t *struct_bytes, uint64_t value);
bool o2_table_is_number(const struct o2_field *field);

/* How many elements a list holds; how many rows the table of a part, or of an element, has. */
uint32_t o2_table_count(const struct o2_field *list, const uint8_t *struct_bytes);
uint32_t o2_table_rows(const struct o2_field *part);

/* The greatest that a member may have, as docs/architecture.md, "JSON forms", has it. */
uint64_t o2_table_largest(const struct o2_field *field);

/* Whether the member is in the JSON of what its struct holds, and as what. */
FILE *o2_table_open(char *text, size_t text_bytes); /* what is said goes there; ended by a zero */
bool o2_table_is_said(const struct o2_field *field, const uint8_t *struct_bytes);
void o2_table_say(FILE *out, const struct o2_field *field, const uint8_t *struct_bytes);

/* How errors name a member of a part or of an element. */
const char *o2_table_inside(const struct o2_field *row, const struct o2_field *inner);

/* What is wrong with a member's JSON, and how it is refused; rule NULL: it is not. */
struct o2_table_wrong {
	bool missing; /* there is no such member; else: what text says is in its place */
	char text[600];
	const char *rule, *field;
	uint32_t index;
	uint64_t value, limit;
	char said[64]; /* of both in words; "": neither, because the value is no number */
};

void o2_table_wrong(struct o2_choice *c, const struct o2_field *row, const uint8_t *struct_bytes,
		    struct o2_table_wrong *wrong);

/* The case. */
struct o2_forms_run;
void o2_forms_check_table(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report);

#endif
