/* SPDX-License-Identifier: MIT */
/* The error record, its one line of text, and the names of errno values. */

#include "base/errno_name.h"
#include "base/error.h"
#include "base/refused_json.h"
#include "tests/lib/unit_test.h"
#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/msg.h"

TEST(test_refuse_fills_everything)
{
	struct o2_error error;

	memset(&error, 0xff, sizeof(error));
	assert_int_equal(o2_refuse(&error, -EFBIG, "room/rule", "list[].len", 3, UINT64_MAX, 4096), -EFBIG);
	assert_int_equal(error.code, -EFBIG);
	assert_int_equal(error.class, O2_CLASS_NONE);
	assert_string_equal(error.rule, "room/rule");
	assert_string_equal(error.field, "list[].len");
	assert_int_equal(error.index, 3);
	assert_int_equal(error.offset_bytes, 0);
	assert_true(error.value == UINT64_MAX && error.limit == 4096);
	assert_int_equal(o2_refuse(NULL, -EINVAL, "room/rule", "x", 0, 0, 0), -EINVAL);
}

TEST(test_clear)
{
	struct o2_error error;
	char text[32];

	o2_refuse(&error, -EINVAL, "room/rule", "x", 0, 1, 2);
	o2_error_clear(&error);
	assert_int_equal(error.code, 0);
	assert_null(error.rule);
	assert_int_equal(error.index, O2_NO_INDEX);
	o2_error_text(&error, text, sizeof(text));
	assert_string_equal(text, "no error");
	o2_error_clear(NULL);
}

TEST(test_text)
{
	static const struct {
		const char *field;
		uint32_t index;
		const char *text;
	} rows[] = {
		{"nob", O2_NO_INDEX, "room/rule: nob is 5000, limit 4096 (Invalid argument)"},
		{"nob", 3, "room/rule: nob is 5000, limit 4096 (Invalid argument)"},
		{"kiov[].len", 3, "room/rule: kiov[3].len is 5000, limit 4096 (Invalid argument)"},
		{"kiov[].len", 0, "room/rule: kiov[0].len is 5000, limit 4096 (Invalid argument)"},
		{"kiov[].len", O2_NO_INDEX, "room/rule: kiov[].len is 5000, limit 4096 (Invalid argument)"},
		{"segment[]", 256, "room/rule: segment[256] is 5000, limit 4096 (Invalid argument)"},
	};

	struct o2_error plain;
	char line[128];

	/* Without a limit the text names none; a value that must be exact is described as such. */
	o2_refuse(&plain, -ENOMEM, "room/rule", "cqe", O2_NO_INDEX, 40, O2_NO_LIMIT);
	o2_error_text(&plain, line, sizeof(line));
	assert_string_equal(line, "room/rule: cqe is 40 (Cannot allocate memory)");
	assert_int_equal(o2_refuse_other(&plain, -EPROTO, "room/rule", "version", 17, 18), -EPROTO);
	o2_error_text(&plain, line, sizeof(line));
	assert_string_equal(line, "room/rule: version is 17, expected 18 (Protocol error)");
	assert_int_equal(o2_refuse_other(NULL, -EPROTO, "room/rule", "version", 17, 18), -EPROTO);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_error error;
		char text[128];
		int length;

		o2_refuse(&error, -EINVAL, "room/rule", rows[i].field, rows[i].index, 5000, 4096);
		length = o2_error_text(&error, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
		assert_int_equal(length, strlen(rows[i].text));
		/* Too little room: the whole length is returned and nothing is written past the end. */
		memset(text, 'x', sizeof(text));
		assert_int_equal(o2_error_text(&error, text, 10), length);
		assert_string_equal(text, "room/rule");
		assert_int_equal(text[10], 'x');
	}
}

/* A field name that is too long is cut, and does not overrun the text. */
TEST(test_text_of_long_field)
{
	char field[300];
	char text[512];
	struct o2_error error;

	memset(field, 'f', sizeof(field) - 1);
	memcpy(field + 150, "[]", 2);
	field[sizeof(field) - 1] = '\0';
	o2_refuse(&error, -EINVAL, "room/rule", field, 1, 0, 0);
	assert_true(o2_error_text(&error, text, sizeof(text)) < 300);
}

TEST(test_errno_names)
{
	static const int codes[] = {EINVAL, EFAULT,	  EFBIG, EPROTO,      EMSGSIZE,	 EPROTONOSUPPORT,
				    ENOMEM, ENOSPC,	  EBUSY, EIO,	      ETIMEDOUT, ENOTSUP,
				    EAGAIN, EAFNOSUPPORT, EPERM, ECONNABORTED};

	assert_string_equal(o2_errno_name(EINVAL), "EINVAL");
	assert_string_equal(o2_errno_name(-EFBIG), "EFBIG");
	assert_null(o2_errno_name(0));
	assert_null(o2_errno_name(100000));
	assert_int_equal(o2_errno_from_name("EPROTONOSUPPORT"), EPROTONOSUPPORT);
	assert_int_equal(o2_errno_from_name("einval"), 0);
	assert_int_equal(o2_errno_from_name(""), 0);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		assert_non_null(o2_errno_name(codes[i]));
		assert_int_equal(o2_errno_from_name(o2_errno_name(codes[i])), codes[i]);
		assert_int_equal(o2_errno_from_name(o2_errno_name(-codes[i])), codes[i]);
	}
}

/* Status values from a peer can be any number. */
TEST(test_errno_texts)
{
	static const struct {
		int64_t code;
		const char *text;
	} rows[] = {
		{ENODATA, "ENODATA"},
		{-ENODATA, "ENODATA"},
		{-524, "errno 524"}, /* the kernel's own ENOTSUPP, which no C library knows */
		{4096, "errno 4096"},
		{0, "errno 0"},
		{INT32_MIN, "errno 2147483648"},
		{INT32_MAX, "errno 2147483647"},
		{INT64_MIN, "errno 9223372036854775808"},
	};
	char text[O2_ERRNO_TEXT_BYTES];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(o2_errno_text(rows[i].code, text), rows[i].text);
	assert_null(o2_errno_symbol(0));
	assert_null(o2_errno_symbol(-524));
	assert_string_equal(o2_errno_symbol(-EINVAL), "EINVAL");
}

TEST(test_refused_copies_and_compares)
{
	struct o2_error error;
	struct o2_refused a;
	struct o2_refused b;

	o2_refuse(&error, -EINVAL, "room/rule", "list[].len", 3, 7, 4);
	o2_refused_from_error(&error, &a);
	b = a;
	assert_true(o2_refused_equal(&a, &b));
	b.value++;
	assert_false(o2_refused_equal(&a, &b));
	b = a;
	b.rule[0] = 'R';
	assert_false(o2_refused_equal(&a, &b));
	b = a;
	b.index = O2_NO_INDEX;
	assert_false(o2_refused_equal(&a, &b));
	o2_error_clear(&error);
	o2_refused_from_error(&error, &b);
	assert_int_equal(b.code, 0);
	assert_string_equal(b.rule, "");
	assert_false(o2_refused_equal(&a, &b));
}

/* The text for each kind of limit and value.  A limit that is a set or applies to a part of the value is not shown. */
TEST(test_kinds)
{
	static const struct {
		enum o2_value_kind kind;
		enum o2_limit_kind limit_kind;
		uint64_t value, limit;
		const char *text;
	} rows[] = {
		{O2_VALUE_UNSIGNED, O2_LIMIT_BOUND, 2048, 4096, " is 2048, limit 4096"},
		{O2_VALUE_UNSIGNED, O2_LIMIT_EXACT, 2048, 4096, " is 2048, expected 4096"},
		{O2_VALUE_UNSIGNED, O2_LIMIT_MULTIPLE, 2048, 4096, " is 2048, expected a multiple of 4096"},
		{O2_VALUE_UNSIGNED, O2_LIMIT_OTHER, 2048, 4096, " is 2048"},
		{O2_VALUE_UNSIGNED, O2_LIMIT_BOUND, 2048, O2_NO_LIMIT, " is 2048"},
		{O2_VALUE_UNSIGNED, O2_LIMIT_EXACT, 2048, UINT64_MAX,
		 " is 2048, expected 18446744073709551615"},
		{O2_VALUE_UNSIGNED, O2_LIMIT_BOUND, UINT64_MAX, 255, " is 18446744073709551615, limit 255"},
		{O2_VALUE_SIGNED, O2_LIMIT_BOUND, UINT64_MAX, 0, " is -1, limit 0"},
		{O2_VALUE_SIGNED, O2_LIMIT_BOUND, (uint64_t)INT64_MIN, (uint64_t)INT32_MIN,
		 " is -9223372036854775808, limit -2147483648"},
		{O2_VALUE_NONE, O2_LIMIT_BOUND, 0, O2_NO_LIMIT, ""},
		{O2_VALUE_NONE, O2_LIMIT_BOUND, 0, 7, ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_error error;
		char text[128], expected[128];
		const int rc = o2_refuse_value(&error, -EINVAL, "room/rule", "credits", rows[i].value,
					       rows[i].limit);

		/* The first of each kind is the one that o2_refuse_value sets. */
		if (rows[i].limit_kind != O2_LIMIT_BOUND)
			assert_int_equal(o2_limit_is(rc, rows[i].limit_kind, &error), -EINVAL);
		if (rows[i].kind != O2_VALUE_UNSIGNED)
			assert_int_equal(o2_value_is(rc, rows[i].kind, &error), -EINVAL);
		o2_error_text(&error, text, sizeof(text));
		snprintf(expected, sizeof(expected), "room/rule: credits%s (Invalid argument)", rows[i].text);
		assert_string_equal(text, expected);
	}
	assert_int_equal(o2_limit_is(-EINVAL, O2_LIMIT_OTHER, NULL), -EINVAL);
	assert_int_equal(o2_value_is(-EINVAL, O2_VALUE_NONE, NULL), -EINVAL);
}

#define BODY_NID(top, lnd, address) (UINT64_C(top) << 56 | UINT64_C(lnd) << 48 | (address))
#define NID			    BODY_NID(0, 5, 0x0a4d0001)

/* The codec's errors: no limit is shown for a field that has none, or whose limit applies to a part of it. */
TEST(test_texts_of_the_codec)
{
	static const struct {
		uint32_t magic;
		uint8_t type;
		uint64_t srcnid, dstnid;
		const char *text;
	} rows[] = {
		{0, O2_MSG_NOOP, NID, NID, "header/magic: ibm_magic is 0, expected 199826321"},
		{O2_MSG_MAGIC, 191, NID, NID, "header/type: ibm_type is 191"},
		{O2_MSG_MAGIC, O2_MSG_NOOP, UINT64_MAX, NID,
		 "header/srcnid-wildcard: ibm_srcnid is 18446744073709551615"},
		{O2_MSG_MAGIC, O2_MSG_NOOP, BODY_NID(1, 5, 1), NID,
		 "header/srcnid-top-byte: ibm_srcnid is 73464968921481217"},
		{O2_MSG_MAGIC, O2_MSG_NOOP, NID, BODY_NID(0, 2, 1),
		 "header/dstnid-lnd-foreign: ibm_dstnid is 562949953421313"},
		{O2_MSG_MAGIC, O2_MSG_NOOP, NID, BODY_NID(0, 5, 0),
		 "header/dstnid-address-zero: ibm_dstnid is 1407374883553280"},
		{O2_MSG_MAGIC, O2_MSG_NOOP, NID, BODY_NID(0, 5, 0xffffffff),
		 "header/dstnid-address-ones: ibm_dstnid is 1407379178520575"},
	};
	const struct o2_wire_options options = {.max_frags = O2_MAX_FRAGS};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t bytes[O2_MSG_HEADER_BYTES] = {0};
		struct o2_error error;
		struct o2_msg msg;
		char text[256], wanted[256];

		o2_store32(bytes + O2_AT_MAGIC, O2_LITTLE_ENDIAN, rows[i].magic);
		o2_store16(bytes + O2_AT_VERSION, O2_LITTLE_ENDIAN, O2_MSG_VERSION_2);
		bytes[O2_AT_TYPE] = rows[i].type;
		o2_store32(bytes + O2_AT_NOB, O2_LITTLE_ENDIAN, sizeof(bytes));
		o2_store64(bytes + O2_AT_SRCNID, O2_LITTLE_ENDIAN, rows[i].srcnid);
		o2_store64(bytes + O2_AT_DSTNID, O2_LITTLE_ENDIAN, rows[i].dstnid);
		assert_int_equal(o2_msg_decode(bytes, sizeof(bytes), &options, &msg, &error), -EPROTO);
		o2_error_text(&error, text, sizeof(text));
		snprintf(wanted, sizeof(wanted), "wire/%s (Protocol error)", rows[i].text);
		assert_string_equal(text, wanted);
	}
}
