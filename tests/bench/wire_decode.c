/* SPDX-License-Identifier: MIT */
/*
 * How fast the codec decodes: a GET_REQ of 257 fragments in both byte orders, without a checksum beside
 * memcpy of the same bytes, and with one beside the bare checksum loop.
 *
 *   bench_wire_decode [MILLISECONDS]     of each measurement, default 100
 *
 * Prints figures, one line per byte order, and no verdict.  The two sides of a ratio are measured in turn,
 * five rounds of each, and the ratio is that of the medians: what else the machine does then hits both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wire/checksum.h"
#include "wire/msg.h"

#define ROUNDS	     5
#define BATCH	     50 /* calls between two looks at the clock */
#define DEFAULT_MS   100
#define NS_PER_MS    1000000u
#define NS_PER_S     1000000000u
#define PERCENT_OF_1 100.0

static uint8_t message[O2_MSG_BYTES];
static size_t length_bytes;

static struct o2_msg decoded;
static uint8_t copy[O2_MSG_BYTES];

/* Results go here, so that no compiler may leave a call out. */
static volatile uint32_t sink;

/* Memory may have changed: nothing that was computed from it before is known any more. */
static inline void forget(void *memory)
{
	__asm__ volatile("" : : "r"(memory) : "memory");
}

static void run_decode(void)
{
	struct o2_error error;

	if (o2_msg_decode(message, length_bytes, NULL, &decoded, &error) != 0) {
		fprintf(stderr, "bench_wire_decode: the message is refused by %s\n", error.rule);
		exit(1);
	}
	forget(&decoded);
}

static void run_copy(void)
{
	memcpy(copy, message, length_bytes);
	forget(copy);
}

/* The loop of the flavour that the message has, and nothing else. */
static void run_checksum(void)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length_bytes; i++)
		sum = (sum << 1 | sum >> 31) + message[i];
	sink = sum;
	forget(message);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Nanoseconds of BATCH calls. */
static uint64_t time_batch(void (*run)(void))
{
	const uint64_t start = now_ns();

	for (unsigned int i = 0; i < BATCH; i++)
		run();
	return now_ns() - start;
}

struct figures {
	double decode_ns, yardstick_ns, ratio; /* of one call; decode_ns / yardstick_ns */
};

static int compare(const void *a, const void *b)
{
	const double x = ((const struct figures *)a)->ratio, y = ((const struct figures *)b)->ratio;

	return (x > y) - (x < y);
}

static double fastest(double batch_ns, double fastest_ns)
{
	return fastest_ns == 0 || batch_ns < fastest_ns ? batch_ns : fastest_ns;
}

/* Batches of decoding and of its yardstick in turn for at least min_ns, and the fastest of each: the machine
 * has other work, which only ever slows one down. */
static struct figures one_round(void (*yardstick)(void), uint64_t min_ns)
{
	const uint64_t end_ns = now_ns() + min_ns;
	struct figures figures = {0, 0, 0};

	while (now_ns() < end_ns) {
		figures.decode_ns = fastest((double)time_batch(run_decode) / BATCH, figures.decode_ns);
		figures.yardstick_ns = fastest((double)time_batch(yardstick) / BATCH, figures.yardstick_ns);
	}
	figures.ratio = figures.decode_ns / figures.yardstick_ns;
	return figures;
}

/* The round with the median ratio; one more goes before and warms up. */
static struct figures side_by_side(void (*yardstick)(void), uint64_t min_ns)
{
	struct figures rounds[ROUNDS];

	one_round(yardstick, min_ns / ROUNDS);
	for (unsigned int i = 0; i < ROUNDS; i++)
		rounds[i] = one_round(yardstick, min_ns);
	qsort(rounds, ROUNDS, sizeof(rounds[0]), compare);
	return rounds[ROUNDS / 2];
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
	struct figures plain, summed;

	build(order, O2_CKSUM_NONE);
	plain = side_by_side(run_copy, min_ns);
	build(order, O2_CKSUM_UNSIGNED);
	summed = side_by_side(run_checksum, min_ns);
	printf("%s: %zu bytes; without checksum %.1f ns, memcpy %.1f ns, 1/%.2f of its speed; "
	       "with checksum %.1f ns, bare loop %.1f ns, %.1f %% of its speed\n",
	       name, length_bytes, plain.decode_ns, plain.yardstick_ns, plain.ratio, summed.decode_ns,
	       summed.yardstick_ns, PERCENT_OF_1 / summed.ratio);
}

int main(int argc, char **argv)
{
	char *end = NULL;
	const unsigned long ms = argc > 1 ? strtoul(argv[1], &end, 10) : DEFAULT_MS;

	if (argc > 2 || (argc == 2 && (*argv[1] == '\0' || *end != '\0' || ms == 0 || ms > 10000))) {
		fprintf(stderr, "usage: bench_wire_decode [MILLISECONDS, 1 to 10000]\n");
		return 2;
	}
#if defined(__clang__)
	printf("clang %s\n", __clang_version__);
#else
	printf("gcc %s\n", __VERSION__);
#endif
	print_order(O2_LITTLE_ENDIAN, ms * NS_PER_MS);
	print_order(O2_BIG_ENDIAN, ms * NS_PER_MS);
	return 0;
}
