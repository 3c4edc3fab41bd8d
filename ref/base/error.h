/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_ERROR_H
#define O2_BASE_ERROR_H

#include <stddef.h>
#include <stdint.h>

/*
 * The one error record of the library.
 *
 * Every stage returns 0 or a negative errno, and fills an o2_error that says which rule refused the input,
 * which field it was about, the value that was found and the limit it broke.  All strings are string
 * literals: an o2_error owns nothing and may be copied.
 */

/* The effect of a refusal on the connection (docs/wire.md, "Classes"). */
enum o2_error_class {
	O2_CLASS_NONE = 0,   /* not about a peer: a local refusal */
	O2_CLASS_MESSAGE,    /* this message fails, the connection is kept */
	O2_CLASS_CONNECTION, /* the connection closes */
};

/* The relation of a refusal's limit to its value. */
enum o2_limit_kind {
	O2_LIMIT_BOUND = 0, /* the first or last allowed value, depending on the rule */
	O2_LIMIT_EXACT,	    /* the only allowed value */
	O2_LIMIT_MULTIPLE,  /* multiples of the limit are allowed */
	O2_LIMIT_OTHER,	    /* not comparable with the value: a set, or a limit for a part of the value */
};

/* The type of a refusal's value. */
enum o2_value_kind {
	O2_VALUE_UNSIGNED = 0, /* what was found */
	O2_VALUE_SIGNED,       /* the value found, an int64_t, as is the limit */
	O2_VALUE_NONE,	       /* no value: what was found is no number, or is missing; texts omit it */
};

#define O2_NO_INDEX UINT32_MAX /* the error is not about one entry of a list */
#define O2_NO_LIMIT UINT64_MAX /* the rule has no limit to name */

struct o2_error {
	int code;		   /* negative errno; 0 = no error recorded */
	enum o2_error_class class; /* effect on the connection */
	const char *rule;	   /* stable id, e.g. "sg/kiov/entry-past-page" */
	const char *field;	   /* e.g. "kiov[].len" */
	uint32_t index;		   /* which entry of the list, or O2_NO_INDEX */
	uint32_t offset_bytes;	   /* wire: where the field starts in the message; else 0 */
	uint64_t value;		   /* what was found */
	uint64_t limit;		   /* what is allowed (limit_kind says in which sense), or O2_NO_LIMIT */
	enum o2_limit_kind limit_kind;
	enum o2_value_kind value_kind;
};

/*
 * Fill *error (which may be NULL) with a refusal and return code, so that a stage can write `return
 * o2_refuse(...)`.
 *
 * code: negative errno.  rule, field: string literals.  index: the entry of a list, or O2_NO_INDEX.
 */
int o2_refuse(struct o2_error *error, int code, const char *rule, const char *field, uint32_t index,
	      uint64_t value, uint64_t limit);

/*
 * Set the kind of the limit in *error (which may be NULL).  Returns rc, so that a stage can write `return
 * o2_limit_is(o2_refuse(...), kind, error)`.
 */
int o2_limit_is(int rc, enum o2_limit_kind kind, struct o2_error *error);

/* The same for the kind of the value. */
int o2_value_is(int rc, enum o2_value_kind kind, struct o2_error *error);

/* As o2_refuse() for a field that has to be exactly `expected`. */
int o2_refuse_other(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value,
		    uint64_t expected);

/* As o2_refuse() for a field that has to be a multiple of `unit`. */
int o2_refuse_multiple(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value,
		       uint64_t unit);

/* As o2_refuse() without an index. */
int o2_refuse_value(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value,
		    uint64_t limit);

/* As o2_refuse_value() without a limit: a call has failed, or something is missing. */
int o2_fail(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value);

/* Returns 0 for a value from low to high; else o2_refuse_value() with the bound that the value breaks. */
int o2_refuse_range(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value,
		    uint64_t low, uint64_t high);

/* As o2_refuse_value() and o2_refuse_other(), for something that a peer sent and that closes the connection. */
int o2_refuse_peer(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value,
		   uint64_t limit);
int o2_refuse_peer_other(struct o2_error *error, int code, const char *rule, const char *field,
			 uint64_t value, uint64_t expected);

/*
 * The -errno of a failed call: -code, where code is the call's result or errno; or -otherwise if code is 0 or
 * negative and so says nothing.
 */
static inline int o2_errno_or(int code, int otherwise)
{
	return code > 0 ? -code : -otherwise;
}

/* Forget an earlier error.  error may be NULL. */
void o2_error_clear(struct o2_error *error);

/*
 * Write one line of text without a newline, as snprintf does:
 *   sg/kiov/entry-past-page: kiov[3].len is 5000, limit 4096 (Invalid argument)
 *   connack/version: ibm_version is 17, expected 18 (Protocol error)
 *   reg/phys/iova-alignment: iova is 2048, expected a multiple of 4096 (Invalid argument)
 *   conn/create-cq: cqe is 40 (Cannot allocate memory)
 *   json/not-an-integer: ibm_credits (Invalid argument)
 * A value of kind O2_VALUE_NONE is omitted with its bound; so is a limit of kind O2_LIMIT_OTHER, and O2_NO_LIMIT
 * unless it is exact.  Returns the length of the whole text in bytes, even if it was cut.
 */
int o2_error_text(const struct o2_error *error, char *text, size_t text_bytes);

/* Write only the field: "kiov[3].len".  error->field is not NULL. */
#define O2_ERROR_FIELD_BYTES 96u
void o2_error_field(const struct o2_error *error, char text[O2_ERROR_FIELD_BYTES]);

/* Write only the middle part: "kiov[3].len is 5000, limit 4096".  error->field is not NULL. */
#define O2_ERROR_WHAT_BYTES 200u
int o2_error_what(const struct o2_error *error, char *text, size_t text_bytes);

#endif
