/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_NID_H
#define O2_WIRE_NID_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * NID4: a node's name in 64 bits.
 *   63..56 zero   55..48 LND type   47..32 network number   31..0 address (an IPv4 address as a number)
 * Source: docs/wire.md, "NIDs".
 */

/* LNet: LNET_NID_ANY */
#define O2_NID_ANY	  UINT64_MAX /* the wildcard */
#define O2_LND_TCP	  2u
#define O2_LND_O2IB	  5u
#define O2_LND_LO	  9u
#define O2_LND_ANY	  0xffu /* reserved: some receivers treat any NID of this type as the wildcard */
#define O2_NID_TEXT_BYTES 32u	/* always enough for o2_nid_to_text */
static_assert(sizeof("255.255.255.255@o2ib65535") <= O2_NID_TEXT_BYTES, "the longest text");

/* LNet: LNET_MKNID */
static inline uint64_t o2_nid_make(uint8_t lnd, uint16_t network, uint32_t address)
{
	return (uint64_t)lnd << 48 | (uint64_t)network << 32 | address;
}

static inline uint8_t o2_nid_lnd(uint64_t nid)
{
	return (uint8_t)(nid >> 48);
}

/* LNet: LNET_NIDNET */
static inline uint16_t o2_nid_network(uint64_t nid)
{
	return (uint16_t)(nid >> 32);
}

/* LNet: LNET_NIDADDR */
static inline uint32_t o2_nid_address(uint64_t nid)
{
	return (uint32_t)nid;
}

/* Why a NID does not name exactly one o2ib node, in the order of the checks. */
enum o2_nid_fault {
	O2_NID_TOP_BYTE,     /* bits 63..56 are not zero */
	O2_NID_LND_ANY,	     /* LND type 0xff */
	O2_NID_LND_FOREIGN,  /* another LND type than o2ib (admitted by any_lnd) */
	O2_NID_ADDRESS_ZERO, /* address 0.0.0.0 */
	O2_NID_ADDRESS_ONES, /* address 255.255.255.255 */
	O2_NID_GOOD,
};

enum o2_nid_fault o2_nid_check(uint64_t nid, bool any_lnd);

/* Check both NIDs of a header, source first: 0, or -EPROTO with the codec's rule. */
int o2_check_nids(uint64_t srcnid, uint64_t dstnid, bool any_lnd, struct o2_error *error);

/*
 * Write a NID as "192.168.10.1@o2ib7"; without a number for network 0 ("192.168.10.1@o2ib"); or as "0@lo".  A
 * NID without such a form is written as "0x" and 16 digits.  Returns the length of the text.
 * LNet: libcfs_nid2str
 */
int o2_nid_to_text(uint64_t nid, char *text, size_t text_bytes);

/*
 * Read any of these forms; "@o2ib0" is the same as "@o2ib".  IPv4 only.
 * Returns 0, -EINVAL, or -EAFNOSUPPORT for an IPv6 address, which 64 bits cannot hold.
 */
int o2_nid_from_text(const char *text, uint64_t *nid, struct o2_error *error);

#endif
