/* SPDX-License-Identifier: MIT */
/* Untrusted text in HTML, XML, JSON and on a terminal: unsafe bytes are escaped, dropped or replaced by "?". */

#include "base/json.h"
#include "base/markup.h"
#include "base/plain.h"
#include "tests/lib/unit_test.h"

/* Assert that `length` bytes of text are written as `expected`. */
static void expect(const char *text, size_t length, const char *expected)
{
	char got[256] = "";
	FILE *out = fmemopen(got, sizeof(got), "w");

	assert_non_null(out);
	o2_markup_text(text, length, out);
	fclose(out);
	assert_string_equal(got, expected);
}

#define EXPECT(literal, expected) expect(literal, sizeof(literal) - 1, expected)

TEST(test_what_ends_text_is_escaped)
{
	EXPECT("<script>&\"", "&lt;script&gt;&amp;&quot;");
}

TEST(test_control_characters_are_left_out)
{
	EXPECT("a\0b\x07\x1b[1m\r\nc\x7f", "ab[1m\nc");
}

TEST(test_characters_of_several_bytes_stay)
{
	EXPECT("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf",
	       "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf");
}

TEST(test_bytes_that_are_no_character_are_question_marks)
{
	EXPECT("\xff\xfe", "??");
	EXPECT("a\xc3", "a?");			   /* cut short */
	EXPECT("\xe2\x82<", "??&lt;");		   /* the third byte is another character */
	EXPECT("\xc0\xbc \xe0\x80\xbc", "?? ???"); /* overlong encodings of '<' */
	EXPECT("\xed\xa0\x80", "???");		   /* a surrogate */
	EXPECT("\xf4\x90\x80\x80", "????");	   /* beyond the last character */
	EXPECT("\xef\xbf\xbf", "???");		   /* XML forbids it */
}

TEST(test_markup_escapes_what_it_is_given_and_nothing_else)
{
	char got[64] = "";
	FILE *out = fmemopen(got, sizeof(got), "w");

	assert_non_null(out);
	o2_markup(out, "<a b=\"%s\">%s</a>", "\">", "&");
	fclose(out);
	assert_string_equal(got, "<a b=\"&quot;&gt;\">&amp;</a>");
}

TEST(test_json_takes_text_that_is_no_utf8)
{
	static const char *const texts[][2] = {
		{"", ""},
		{"caf\xc3\xa9 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xf0\x9f\x98\x80"},
		{"caf\xe9 \xff", "caf? ?"},
		{"cut \xe2\x82", "cut ??"},
		{"\xed\xa0\x80\xc3\xa9", "???\xc3\xa9"},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *string = o2_json_text(texts[i][0]);

		assert_non_null(string);
		assert_string_equal(json_string_value(string), texts[i][1]);
		json_decref(string);
	}
}

TEST(test_a_terminal_is_told_nothing_that_it_obeys)
{
	static const char *const texts[][2] = {
		{"", ""},
		{"a\x1b[2Jb\n\x7f", "a?[2Jb??"},
		{"caf\xc3\xa9 \xe2\x82\xac \xc2\xa0", "caf\xc3\xa9 \xe2\x82\xac \xc2\xa0"},
		{"\xc2\x9b"
		 "2J \xc2\x80 \xc2\x9f",
		 "??2J ?? ??"}, /* from 0x80 to 0x9f, as UTF-8 */
		{"\x9b"
		 "2J caf\xe9 \x80",
		 "?2J caf\xe9 ?"},     /* as single bytes: the text is not UTF-8 */
		{"\xe2\x9b", "\xe2?"}, /* a character that is cut short */
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char made[32], printed[32] = "";
		FILE *out = fmemopen(printed, sizeof(printed), "w");

		assert_non_null(out);
		o2_print_plain(texts[i][0], out);
		fclose(out);
		assert_string_equal(printed, texts[i][1]);
		snprintf(made, sizeof(made), "%s", texts[i][0]);
		o2_make_plain(made);
		assert_string_equal(made, texts[i][1]);
	}
}
