/* SPDX-License-Identifier: MIT */
/* NIDs as text, both ways (docs/wire.md, "NIDs"). */
#include "tests/judge/wire/wire_test.h"

TEST(text_both_ways)
{
	static const struct {
		uint64_t nid;
		const char *text;
	} cases[] = {
		{0x00050000c0a80a01u, "192.168.10.1@o2ib"},
		{0x00050007c0a80a01u, "192.168.10.1@o2ib7"},
		{0x0005ffffffffffffu, "255.255.255.255@o2ib65535"},
		{0x0005000000000000u, "0.0.0.0@o2ib"},
		{0x00020000010203ffu, "1.2.3.255@tcp"},
		{0x0002000a0a4d0001u, "10.77.0.1@tcp10"},
		{0x0009000000000000u, "0@lo"},
		{0x0009000100000000u, "0x0009000100000000"},
		{0x000d000000000001u, "0x000d000000000001"},
		{0x01050000c0a80a01u, "0x01050000c0a80a01"},
		{UINT64_MAX, "0xffffffffffffffff"},
		{0, "0x0000000000000000"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[O2_NID_TEXT_BYTES];
		uint64_t nid = ~cases[i].nid;
		struct o2_error error;

		assert_true(o2_nid_to_text(cases[i].nid, text, sizeof(text)) < (int)sizeof(text));
		assert_string_equal(text, cases[i].text);
		assert_int_equal(o2_nid_from_text(cases[i].text, &nid, &error), 0);
		assert_int_equal(nid, cases[i].nid);
	}
}

TEST(other_spellings)
{
	uint64_t nid;

	assert_int_equal(o2_nid_from_text("192.168.10.1@o2ib0", &nid, NULL), 0);
	assert_int_equal(nid, 0x00050000c0a80a01u);
	assert_int_equal(o2_nid_from_text("0x50000C0A80A01", &nid, NULL), 0);
	assert_int_equal(nid, 0x00050000c0a80a01u);
}

TEST(what_is_no_nid)
{
	static const struct {
		const char *text;
		int code;
		const char *rule;
	} cases[] = {
		{"", -EINVAL, "nid/address"},
		{"192.168.10@o2ib", -EINVAL, "nid/address"},
		{"192.168.10.256@o2ib", -EINVAL, "nid/address"},
		{"192.168.10.01@o2ib", -EINVAL, "nid/address"},
		{"192.168.10.-1@o2ib", -EINVAL, "nid/address"},
		{"192.168.10.1111111111@o2ib", -EINVAL, "nid/address"},
		{"192.168.10.1", -EINVAL, "nid/network"},
		{"192.168.10.1@", -EINVAL, "nid/network"},
		{"192.168.10.1@elan", -EINVAL, "nid/network"},
		{"192.168.10.1@o2ib65536", -EINVAL, "nid/network"},
		{"192.168.10.1@o2ib01", -EINVAL, "nid/network"},
		{"192.168.10.1@o2ib7x", -EINVAL, "nid/network"},
		{"192.168.10.1.5@o2ib", -EINVAL, "nid/network"},
		{"0x", -EINVAL, "nid/address"},
		{"0x00050000c0a80a011", -EINVAL, "nid/address"},
		{"fe80::1@o2ib", -EAFNOSUPPORT, "nid/ipv6"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct o2_error error;
		uint64_t nid;

		if (o2_nid_from_text(cases[i].text, &nid, &error) != cases[i].code)
			fail_msg("\"%s\" is not refused as it should be", cases[i].text);
		assert_string_equal(error.rule, cases[i].rule);
		assert_int_equal(error.code, cases[i].code);
	}
}
