/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_ROCE_LAYOUT_H
#define O2_CLI_ROCE_LAYOUT_H

/*
 * RoCEv2 over Ethernet: lengths of its headers, and offsets of those fields that are read or written here.
 * Source: the InfiniBand architecture specification, volume 1, "Base transport header" and "Extended
 * transport headers"; annex A17 (RoCEv2); RFC 791, RFC 768.
 */

#define O2_ETHERNET_BYTES   14u
#define O2_ETHERNET_AT_DST  0u
#define O2_ETHERNET_AT_SRC  6u
#define O2_ETHERNET_AT_TYPE 12u
#define O2_ETHERTYPE_IPV4   0x0800u

#define O2_IPV4_BYTES	    20u /* without options */
#define O2_IPV4_AT_TOTAL    2u
#define O2_IPV4_AT_FRAGMENT 6u
#define O2_IPV4_AT_TTL	    8u
#define O2_IPV4_AT_PROTOCOL 9u
#define O2_IPV4_AT_SUM	    10u
#define O2_IPV4_AT_SRC	    12u
#define O2_IPV4_AT_DST	    16u
#define O2_PROTOCOL_UDP	    17u

#define O2_UDP_BYTES	 8u
#define O2_UDP_AT_SRC	 0u
#define O2_UDP_AT_DST	 2u
#define O2_UDP_AT_LENGTH 4u /* the UDP header included */
#define O2_ROCE_UDP_PORT 4791u

#define O2_BTH_BYTES	 12u
#define O2_BTH_AT_OPCODE 0u
#define O2_BTH_AT_FLAGS	 1u
#define O2_BTH_AT_PKEY	 2u
#define O2_BTH_AT_QP	 4u /* 8 other bits, then 24 bits; so is the PSN */
#define O2_BTH_AT_PSN	 8u
#define O2_BTH_PAD_SHIFT 4u /* position of the pad count, two bits of the flags */
#define O2_BTH_PAD_MAX	 3u
#define O2_24_BITS	 0xffffffu

#define O2_RETH_BYTES	  16u
#define O2_RETH_AT_VA	  0u
#define O2_RETH_AT_RKEY	  8u
#define O2_RETH_AT_LENGTH 12u

#define O2_DETH_BYTES	8u
#define O2_DETH_AT_QKEY 0u
#define O2_DETH_AT_QP	4u
#define O2_ICRC_BYTES	4u

/* The high 3 bits of an opcode are its service, the low 5 the operation, coded as for reliable connections. */
#define O2_SERVICE_SHIFT 5u
#define O2_SERVICE_RC	 0u
#define O2_SERVICE_UD	 3u
#define O2_OPERATION	 0x1fu

enum {
	O2_OPERATION_SEND_FIRST = 0x00,
	O2_OPERATION_SEND_MIDDLE = 0x01,
	O2_OPERATION_SEND_LAST = 0x02,
	O2_OPERATION_SEND_ONLY = 0x04,
	O2_OPERATION_WRITE_FIRST = 0x06,
	O2_OPERATION_WRITE_MIDDLE = 0x07,
	O2_OPERATION_WRITE_LAST = 0x08,
	O2_OPERATION_WRITE_ONLY = 0x0a,
};

#endif
