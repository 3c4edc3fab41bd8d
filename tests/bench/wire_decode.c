/* SPDX-License-Identifier: MIT */
/*
 * The speed of decoding: a GET_REQ of 257 fragments in both byte orders, without a checksum beside memcpy of
 * the same bytes, and with a checksum beside the bare checksum loop.
 *
 *   bench_wire_decode [MILLISECONDS]     of each measurement, default 100
 *
 * Prints figures, one line per byte order, and no verdict (tests/bench/beside.h says how they are measured).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/beside.h"
#include "wire/checksum.h"
#include "wire/msg.h"

#define BATCH	     50 /* calls between two clock reads */
#define PERCENT_OF_1 100.0

static uint8_t message[O2_MSG_BYTES];
static size_t length_bytes;

static struct o2_msg decoded;
static uint8_t copy[O2_MSG_BYTES];

/* Results are stored here, so that no compiler may omit a call. */
static volatile uint32_t sink;

static void run_decode(void)
{
	struct o2_error error;

	if (o2_msg_decode(message, length_bytes, NULL, &decoded, &error) != 0) {
		fprintf(stderr, "bench_wire_decode: the message is refused by %s\n", error.rule);
		exit(1);
	}
	o2_bench_forget(&decoded);
}

static void run_copy(void)
{
	memcpy(copy, message, length_bytes);
	o2_bench_forget(copy);
}

/* Runs only the checksum loop of the message's flavour. */
static void run_checksum(void)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length_bytes; i++)
		sum = (sum << 1 | sum >> 31) + message[i];
	sink = sum;
	o2_bench_forget(message);
}

static void build(enum o2_byte_order order, enum o2_cksum_flavour flavour)
{
	static struct o2_msg msg;
	struct o2_error error;
	int length;

	memset(&msg, 0, sizeof(msg));
	msg.order = order;
	msg.ibm_version = O2_MSG_VERSION_2;
	msg.ibm_type = O2_MSG_GET_REQ;
	msg.cksum_flavour = flavour;
	msg.ibm_srcnid = 0x00050000c0a80a01u;
	msg.ibm_dstnid = 0x00050000c0a80a02u;
	msg.u.get.hdr.type = O2_LNET_GET;
	msg.u.get.ibgm_rd.rd_key = 0xabcd01;
	msg.u.get.ibgm_rd.rd_nfrags = O2_MAX_FRAGS;
	for (uint32_t i = 0; i < O2_MAX_FRAGS; i++)
		msg.u.get.ibgm_rd.rd_frags[i] = (struct o2_rdma_frag){4080, 0xffff888123450000u + 8192u * i};
	length = o2_msg_encode(&msg, NULL, message, sizeof(message), &error);
	if (length < 0) {
		fprintf(stderr, "bench_wire_decode: %s\n", error.rule);
		exit(1);
	}
	length_bytes = (size_t)length;
}

static void print_order(enum o2_byte_order order, uint64_t min_ns)
{
	const char *name = order == O2_LITTLE_ENDIAN ? "little-endian" : "big-endian";
	struct o2_beside plain, summed;

	build(order, O2_CKSUM_NONE);
	plain = o2_measure_beside(run_decode, run_copy, BATCH, min_ns);
	build(order, O2_CKSUM_UNSIGNED);
	summed = o2_measure_beside(run_decode, run_checksum, BATCH, min_ns);
	printf("%s: %zu bytes; without checksum %.1f ns, memcpy %.1f ns, 1/%.2f of its speed; "
	       "with checksum %.1f ns, bare loop %.1f ns, %.1f %% of its speed\n",
	       name, length_bytes, plain.ours_ns, plain.yardstick_ns, plain.ratio, summed.ours_ns,
	       summed.yardstick_ns, PERCENT_OF_1 / summed.ratio);
}

int main(int argc, char **argv)
{
	const uint64_t min_ns = o2_bench_ns(argc, argv);

#if defined(__clang__)
	printf("clang %s\n", __clang_version__);
#else
	printf("gcc %s\n", __VERSION__);
#endif
	print_order(O2_LITTLE_ENDIAN, min_ns);
	print_order(O2_BIG_ENDIAN, min_ns);
	return 0;
}
