/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_FIELDS_H
#define O2_BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Tables that describe structs, with a row for each field.  All code that handles every field of a struct
 * walks its table: the JSON forms (base/fields_json.h), the oracle's copies and comparisons, the hex dump.
 */

enum o2_field_kind {
	O2_FIELD_UINT,	 /* JSON: an integer of 0 to limit (limit 0: the largest of the width) */
	O2_FIELD_INT,	 /* JSON: an integer of 32 bits */
	O2_FIELD_LENGTH, /* JSON: an integer, or "0x..." where that is more than JSON's integers hold */
	O2_FIELD_HEX,	 /* JSON: "0x..." */
	O2_FIELD_BOOL,	 /* JSON: true or false */
	O2_FIELD_BIT,	 /* JSON: true or false; the bit `limit` (a mask) of a number */
	O2_FIELD_NAME,	 /* JSON: names[value], one of `limit` names; a NULL entry is no name */
	O2_FIELD_TEXT,	 /* JSON: a text; `text` converts the number to it and back */
	O2_FIELD_CHARS, /* JSON: a text; an array of width_bytes characters, padded with zeros, at least one */
	O2_FIELD_PART,	/* JSON: an object; a struct with the table `part` */
	O2_FIELD_LIST,	/* JSON: an array; an array of such structs, with its count in the struct */
	O2_FIELD_MORE,	/* no field: the table continues with the table that `more` returns */
};

/* A text form of a number, such as a NID's. */
struct o2_field_text {
	int (*print)(uint64_t value, char *text, size_t text_bytes);
	/* Returns 0 or a negative errno with *error filled. */
	int (*parse)(const char *text, uint64_t *value, struct o2_error *error);
};

#define O2_FIELD_TEXT_BYTES 64u

struct o2_field {
	/*
	 * The field's name in errors.  Its key in JSON is what follows the last dot: "list.entries[].page" is
	 * member "page" of its object.  A list of numbers has a table of one row whose name ends in "[]".
	 */
	const char *name;
	enum o2_field_kind kind;
	bool optional;	       /* JSON may omit it: the struct's member then keeps its value */
	bool sparse;	       /* a number: writers omit a 0, readers take 0 where it is missing */
	bool written_only;     /* JSON: written for people (a NAME only if named); ignored by readers */
	bool little;	       /* on the wire: the field and its parts are always little-endian */
	uint32_t offset_bytes; /* offset in the struct */
	uint32_t width_bytes;  /* size in the struct; for a list, of the whole array */
	uint32_t wire_at;      /* offset on the wire from the start of its struct; MORE: added to its rows */
	uint64_t limit;
	const char *const *names;
	const struct o2_field_text *text;
	const struct o2_field *part;
	const struct o2_field *(*more)(const void *holder);
	uint32_t stride_bytes; /* list: bytes from one element to the next */
	uint32_t count_bytes;  /* list: offset of its count in the struct, 32 bits */
	/*
	 * For a part or list whose table is used in several places: the names that errors use for its fields
	 * in this place, then NULL.  The name that ends in the inner field's name is used; if none does, the
	 * last.
	 */
	const char *const *inside;
};

/* The start of a row: what follows from the member of the struct. */
#define O2_FIELD(name_, kind_, type, member)                                                         \
	.name = (name_), .kind = O2_FIELD_##kind_, .offset_bytes = (uint32_t)offsetof(type, member), \
	.width_bytes = (uint32_t)sizeof(((type *)NULL)->member)

/* The field's key in JSON: "page" for "list.entries[].page". */
const char *o2_field_key(const struct o2_field *field);

/* Get and set the number in a field of the struct `holder`.  A field of kind INT is sign-extended. */
uint64_t o2_field_value(const struct o2_field *field, const void *holder);
void o2_field_set(const struct o2_field *field, void *holder, uint64_t value);

/* How many elements the array of a list has room for. */
uint32_t o2_field_room(const struct o2_field *list);

/*
 * Copy the numbers of a struct to a flat struct, whose table `flat` has no parts; and back.  A number is
 * copied to the row with its name.  Numbers without such a row are left out, and so are lists and characters.
 */
void o2_fields_flatten(const struct o2_field *fields, const void *from, const struct o2_field *flat,
		       void *to);
void o2_fields_unflatten(const struct o2_field *flat, const void *from, const struct o2_field *fields,
			 void *to);

/*
 * Call differ for each number that differs between two structs with the same table.  Where the table
 * continues by `more`, a decides with which table.  Lists are not compared; for characters the values passed
 * are 0 and 1.
 */
void o2_fields_compare(const struct o2_field *fields, const void *a, const void *b,
		       void (*differ)(const struct o2_field *field, uint64_t value_a, uint64_t value_b,
				      void *context),
		       void *context);

/* Make text from outside printable: each byte that is no printable ASCII, and the backslash, becomes \xHH. */
#define O2_FIELD_CHARS_TEXT_BYTES(width_bytes) (4u * (width_bytes) + 1)
void o2_field_chars_text(const char *chars, uint32_t width_bytes, char *text);

/* Rename the field of an error (may be NULL) by a list such as o2_field.inside. */
void o2_field_inside(const char *const *inside, struct o2_error *error);

#endif
