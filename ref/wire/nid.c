/* SPDX-License-Identifier: MIT */
#include "wire/nid.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/rules.h"

enum o2_nid_fault o2_nid_check(uint64_t nid, bool any_lnd)
{
	if (nid >> 56 != 0)
		return O2_NID_TOP_BYTE;
	if (o2_nid_lnd(nid) == O2_LND_ANY)
		return O2_NID_LND_ANY;
	if (o2_nid_lnd(nid) != O2_LND_O2IB && !any_lnd)
		return O2_NID_LND_FOREIGN;
	if (o2_nid_address(nid) == 0)
		return O2_NID_ADDRESS_ZERO;
	if (o2_nid_address(nid) == UINT32_MAX)
		return O2_NID_ADDRESS_ONES;
	return O2_NID_GOOD;
}

static int check_nid(uint64_t nid, bool any_lnd, unsigned int first_rule, struct o2_error *error)
{
	/* For each fault the value that this part of the NID should have, or the last one allowed. */
	static const uint64_t limits[] = {
		[O2_NID_TOP_BYTE] = 0,
		[O2_NID_LND_ANY] = O2_LND_O2IB,
		[O2_NID_LND_FOREIGN] = O2_LND_O2IB,
		[O2_NID_ADDRESS_ZERO] = 1,
		[O2_NID_ADDRESS_ONES] = UINT32_MAX - 1,
	};
	const enum o2_nid_fault fault = o2_nid_check(nid, any_lnd);

	if (!o2_wire_breaks(first_rule + fault, fault != O2_NID_GOOD))
		return 0;
	return o2_wire_refuse(error, first_rule + fault, nid, limits[fault]);
}

int o2_check_nids(uint64_t srcnid, uint64_t dstnid, bool any_lnd, struct o2_error *error)
{
	int rc;

	if (o2_wire_breaks(O2_RULE_SRCNID_WILDCARD, srcnid == O2_NID_ANY))
		return o2_wire_refuse(error, O2_RULE_SRCNID_WILDCARD, srcnid, O2_NID_ANY - 1);
	rc = check_nid(srcnid, any_lnd, O2_RULE_SRCNID, error);
	if (rc == 0)
		rc = check_nid(dstnid, any_lnd, O2_RULE_DSTNID, error);
	return rc;
}

/* Network names in the text form, indexed by LND type; NULL: no text form. */
static const char *const network_names[] = {[O2_LND_TCP] = "tcp", [O2_LND_O2IB] = "o2ib"};
#define NETWORK_NAMES (sizeof(network_names) / sizeof(network_names[0]))

int o2_nid_to_text(uint64_t nid, char *text, size_t text_bytes)
{
	const uint32_t address = o2_nid_address(nid);
	const uint8_t lnd = o2_nid_lnd(nid);
	const char *network = lnd < NETWORK_NAMES ? network_names[lnd] : NULL;
	char number[8] = "";

	if (nid == o2_nid_make(O2_LND_LO, 0, 0))
		return snprintf(text, text_bytes, "0@lo");
	if (nid >> 56 != 0 || network == NULL)
		return snprintf(text, text_bytes, "0x%016" PRIx64, nid);
	if (o2_nid_network(nid) != 0)
		snprintf(number, sizeof(number), "%u", (unsigned int)o2_nid_network(nid));
	return snprintf(text, text_bytes, "%" PRIu32 ".%" PRIu32 ".%" PRIu32 ".%" PRIu32 "@%s%s",
			address >> 24, address >> 16 & 0xff, address >> 8 & 0xff, address & 0xff, network,
			number);
}

/* Read a decimal of 0 to max without leading zeros (some readers take these for octal); moves *text past it. */
static bool read_decimal(const char **text, uint32_t max, uint32_t *value)
{
	const size_t digits = strspn(*text, "0123456789");

	if (digits == 0 || digits > 5 || (digits > 1 && **text == '0'))
		return false;
	*value = (uint32_t)strtoul(*text, NULL, 10);
	*text += digits;
	return *value <= max;
}

static bool read_ipv4(const char **text, uint32_t *address)
{
	uint32_t octet;

	*address = 0;
	for (unsigned int i = 0; i < 4; i++) {
		if (i > 0 && *(*text)++ != '.')
			return false;
		if (!read_decimal(text, UINT8_MAX, &octet))
			return false;
		*address = *address << 8 | octet;
	}
	return true;
}

static bool read_network(const char *text, uint8_t *lnd, uint32_t *number)
{
	for (unsigned int known = 0; known < NETWORK_NAMES; known++) {
		const char *name = network_names[known];

		if (name == NULL || strncmp(text, name, strlen(name)) != 0)
			continue;
		text += strlen(name);
		*lnd = (uint8_t)known;
		*number = 0;
		return *text == '\0' || (read_decimal(&text, UINT16_MAX, number) && *text == '\0');
	}
	return false;
}

static bool read_hex(const char *text, uint64_t *nid)
{
	const size_t digits = strspn(text, "0123456789abcdefABCDEF");

	if (digits == 0 || digits > 16 || text[digits] != '\0')
		return false;
	*nid = strtoull(text, NULL, 16);
	return true;
}

int o2_nid_from_text(const char *text, uint64_t *nid, struct o2_error *error)
{
	const char *rest = text;
	uint32_t address, number;
	uint8_t lnd;

	if (strncmp(text, "0x", 2) == 0 && read_hex(text + 2, nid))
		return 0;
	if (strcmp(text, "0@lo") == 0) {
		*nid = o2_nid_make(O2_LND_LO, 0, 0);
		return 0;
	}
	if (strchr(text, ':') != NULL)
		return o2_fail(error, -EAFNOSUPPORT, "nid/ipv6", "nid", 0);
	if (!read_ipv4(&rest, &address))
		return o2_fail(error, -EINVAL, "nid/address", "nid", (uint64_t)(rest - text));
	if (*rest != '@' || !read_network(rest + 1, &lnd, &number))
		return o2_fail(error, -EINVAL, "nid/network", "nid", (uint64_t)(rest - text));
	*nid = o2_nid_make(lnd, (uint16_t)number, address);
	return 0;
}
