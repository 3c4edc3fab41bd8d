/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_FIELDS_H
#define O2_BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * What a struct holds: a table with a row for each field.  Whatever goes through all fields of a struct walks
 * its table: the JSON forms (base/fields_json.h), the oracle's copies and comparisons, the hex dump.
 *
 * The last row of a table has no name.
 */

enum o2_field_kind {
	O2_FIELD_UINT,	 /* JSON: an integer of 0 to limit (limit 0: to what the width holds) */
	O2_FIELD_INT,	 /* JSON: an integer of 32 bits */
	O2_FIELD_LENGTH, /* JSON: an integer, or "0x..." where that is more than JSON's integers hold */
	O2_FIELD_HEX,	 /* JSON: "0x..." */
	O2_FIELD_BOOL,	 /* JSON: true or false, as the next */
	O2_FIELD_BIT,	 /* the bit `limit` of a number */
	O2_FIELD_NAME,	 /* JSON: names[value], one of `limit` names; NULL in between is no name */
	O2_FIELD_TEXT,	 /* JSON: a text that `text` makes of the number and reads back */
	O2_FIELD_CHARS, /* JSON: a text; characters and a zero, in an array of width_bytes, with zeros behind */
	O2_FIELD_PART, /* JSON: an object; a struct whose fields are `part` */
	O2_FIELD_LIST, /* JSON: an array; an array of such structs, with its count beside it */
	O2_FIELD_MORE, /* no field: the table continues with the one that `more` returns for this struct */
};

/* A number's own form of text. */
struct o2_field_text {
	int (*print)(uint64_t value, char *text, size_t text_bytes);
	/* Returns 0 or a negative errno with *error filled. */
	int (*parse)(const char *text, uint64_t *value, struct o2_error *error);
};

#define O2_FIELD_TEXT_BYTES 64u

struct o2_field {
	/*
	 * How errors name it.  In JSON its key is what follows the last dot: "list.entries[].page" is member
	 * "page" of its object.  A list of numbers has a table of one row whose name ends in "[]".
	 */
	const char *name;
	enum o2_field_kind kind;
	bool optional;	       /* JSON may leave it out: the member then keeps its value */
	bool sparse;	       /* a number; JSON has it where it is not 0, and nowhere else needs to */
	bool written_only;     /* JSON: written for people, if it has a name; ignored when read */
	bool little;	       /* on the wire: little-endian in every message, and so is all that is in it */
	uint32_t offset_bytes; /* in the struct */
	uint32_t width_bytes;  /* in the struct; of a list all of it */
	uint32_t wire_at;      /* on the wire, from where its struct stands there; MORE: added to its rows */
	uint64_t limit;
	const char *const *names;
	const struct o2_field_text *text;
	const struct o2_field *part;
	const struct o2_field *(*more)(const void *holder);
	uint32_t stride_bytes; /* of a list: from one element to the next */
	uint32_t count_bytes;  /* of a list: where the struct has its count, of 32 bits */
	/*
	 * For a part or list whose table is used in several places: the names that errors give its fields
	 * here, then NULL.  Of these names the one counts that ends like the inner field's name, else the
	 * last.
	 */
	const char *const *inside;
};

/* The start of a row: what a member of a struct gives. */
#define O2_FIELD(name_, kind_, type, member)                                                         \
	.name = (name_), .kind = O2_FIELD_##kind_, .offset_bytes = (uint32_t)offsetof(type, member), \
	.width_bytes = (uint32_t)sizeof(((type *)NULL)->member)

/* "list.entries[].page": "page". */
const char *o2_field_key(const struct o2_field *field);

/* The number in a field of its struct, or of `width_bytes` at a place; an INT is extended by its sign. */
uint64_t o2_field_value(const struct o2_field *field, const void *holder);
void o2_field_set(const struct o2_field *field, void *holder, uint64_t value);

/* How many elements the array of a list has room for. */
uint32_t o2_field_room(const struct o2_field *list);

/*
 * Copy the numbers of a struct to a flat one, which has all of them side by side (flat: its table, without
 * parts), and back.  A number goes to the row of its name; one without such a row is left out, and so are
 * lists and characters.
 */
void o2_fields_flatten(const struct o2_field *fields, const void *from, const struct o2_field *flat,
		       void *to);
void o2_fields_unflatten(const struct o2_field *flat, const void *from, const struct o2_field *fields,
			 void *to);

/*
 * Call differ for each number that differs between two structs of one table.  Where the table continues by
 * `more`, a says with which rows.  Lists are not compared; for characters the values are 0 and 1.
 */
void o2_fields_compare(const struct o2_field *fields, const void *a, const void *b,
		       void (*differ)(const struct o2_field *field, uint64_t value_a, uint64_t value_b,
				      void *context),
		       void *context);

/* For text of an outsider: each byte that is no printable ASCII, and the backslash, as \xHH. */
#define O2_FIELD_CHARS_TEXT_BYTES(width_bytes) (4u * (width_bytes) + 1)
void o2_field_chars_text(const char *chars, uint32_t width_bytes, char *text);

/* Give the field of an error (may be NULL) its name from a list such as o2_field.inside. */
void o2_field_inside(const char *const *inside, struct o2_error *error);

#endif
