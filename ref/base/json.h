/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_JSON_H
#define O2_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"

/*
 * Helpers for the versioned JSON forms of the stages (docs/architecture.md, "JSON forms").
 *
 * A form is an object with "form": "o2ref/<stage>/<input|output>" and "version": 1.  Counts and lengths are
 * JSON integers; 64-bit addresses, keys, cookies, stamps and NIDs are strings "0x..." because JSON integers
 * are signed. All readers return 0 or -EINVAL and fill *error (may be NULL) with the field's name, its value
 * and the limit.
 */

#define O2_JSON_VERSION 1u

/* A new form object that holds "form" and "version"; NULL when memory runs out.  The caller owns it. */
json_t *o2_json_form(const char *form);

/* Refuse an object that is not this form in a version that we read. */
int o2_json_expect_form(const json_t *object, const char *form, struct o2_error *error);

/* An integer member of 0 to max. */
int o2_json_get_uint(const json_t *object, const char *field, uint64_t max, uint64_t *value,
		     struct o2_error *error);
int o2_json_get_u32(const json_t *object, const char *field, uint32_t max, uint32_t *value,
		    struct o2_error *error);

/* A member "0x..." of at most 64 bits. */
int o2_json_get_hex(const json_t *object, const char *field, uint64_t *value, struct o2_error *error);

/* The same for a value that is no member but an element of a list; errors call it "value". */
int o2_json_parse_hex(const json_t *string, uint64_t *value, struct o2_error *error);

int o2_json_get_bool(const json_t *object, const char *field, bool *value, struct o2_error *error);

/* A string member that is one of names[0..count-1]: its index. */
int o2_json_get_name(const json_t *object, const char *field, const char *const *names, uint32_t count,
		     uint32_t *index, struct o2_error *error);

/* An array member of at most max elements; *array is borrowed. */
int o2_json_get_array(const json_t *object, const char *field, uint32_t max, const json_t **array,
		      struct o2_error *error);

/* The string "0x..." for a member. */
json_t *o2_json_hex(uint64_t value);

/*
 * A length of up to 64 bits: an integer where JSON's signed integers hold it, else a string "0x...".
 * The reader takes either.  For lengths that are not limited before a stage has seen them.
 */
json_t *o2_json_length(uint64_t value);
int o2_json_get_length(const json_t *object, const char *field, uint64_t *value, struct o2_error *error);

/* A member that is an object; *child is borrowed. */
int o2_json_get_object(const json_t *object, const char *field, const json_t **child, struct o2_error *error);

/* Say where a refusal happened: when rc is not 0, put field (a literal) and index into *error.  Returns rc.
 */
int o2_json_at(int rc, const char *field, uint32_t index, struct o2_error *error);

/* One member of an object, for o2_json_get_members. */
enum o2_json_kind {
	O2_JSON_U32,	/* uint32_t, an integer */
	O2_JSON_LENGTH, /* uint64_t, as o2_json_get_length */
	O2_JSON_HEX64,	/* uint64_t, "0x..." */
	O2_JSON_HEX32,	/* uint32_t, "0x..." */
	O2_JSON_BOOL,	/* bool */
};

struct o2_json_member {
	const char *key;
	const char *field; /* how errors name it, e.g. "list.entries[].page" */
	enum o2_json_kind kind;
	void *value; /* where to, of the type that kind says */
};

/*
 * Read count members of one object, which is entry `index` of a list (O2_NO_INDEX: of none).
 * Returns 0, or -EINVAL at the first that is missing or not what it should be.
 */
int o2_json_get_members(const json_t *object, const struct o2_json_member *member, uint32_t count,
			uint32_t index, struct o2_error *error);

#endif
