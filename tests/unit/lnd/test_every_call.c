/* SPDX-License-Identifier: MIT */
/*
 * Every call that can fail, failing once, at each time that it is made (docs/simulation.md, "Every call").
 * The test runs a few fixed conversations of two nodes, from the first allocation to the last, once for each
 * call and each n, until the conversation makes fewer than n of these calls.
 *
 * Whichever call fails, every operation ends once, with a documented errno or with the right bytes;
 * afterwards the two nodes can communicate; and at the end every resource was released.
 *
 *   test_every_call [CONVERSATION CALL N]     only that one; CONVERSATION and CALL: as a failure prints them
 */
#include "tests/lib/faults/talk.h"

#include "lnet/endpoint.h"
#include "loopverbs/loopverbs.h"

#define PER_CALL_MAX 5000u

static const struct talk_config talks[] = {
	{.name = "copied",
	 .version = O2_MSG_VERSION_2,
	 .kind = O2_DMA_BUS,
	 .events = true,
	 .nmodes = 3,
	 .modes = {O2_REG_GLOBAL, O2_REG_FMR, O2_REG_FASTREG}},
	{.name = "gathered",
	 .version = O2_MSG_VERSION_1,
	 .kind = O2_DMA_VIRTUAL,
	 .gather = true,
	 .nmodes = 3,
	 .modes = {O2_REG_USER, O2_REG_PHYS, O2_REG_FASTREG_GAPS}},
	{.name = "remapped",
	 .version = O2_MSG_VERSION_2,
	 .kind = O2_DMA_IOMMU,
	 .small = true,
	 .events = true,
	 .nmodes = 2,
	 .modes = {O2_REG_FMR, O2_REG_FASTREG}},
};

/* The call that fails, and how. */
static const struct fault {
	const char *name; /* NULL: the name of the call */
	enum faulty_call call;
	int code; /* an errno, the status of a work request, or the fate of a message */
} faults[] = {{"mapping finds no room", CALL_MAPPING, ENOMEM},
	      {"mapping fails", CALL_MAPPING, EIO},
	      {"flushed", CALL_EXECUTE, IBV_WC_WR_FLUSH_ERR},
	      {"local protection", CALL_EXECUTE, IBV_WC_LOC_PROT_ERR},
	      {"remote access", CALL_EXECUTE, IBV_WC_REM_ACCESS_ERR},
	      {"receiver not ready", CALL_EXECUTE, IBV_WC_RNR_RETRY_EXC_ERR},
	      {"peer gone", CALL_EXECUTE, IBV_WC_RETRY_EXC_ERR},
	      {"message lost", CALL_MESSAGE, O2_CM_LOOP_LOSE},
	      {"message returned", CALL_MESSAGE, O2_CM_LOOP_UNREACHABLE},
	      {"connect refused", CALL_REQUEST, O2_CM_LOOP_REFUSE},
	      {"no such address", CALL_REQUEST, O2_CM_LOOP_UNRESOLVED},
#define FAULT(ID, name, code) {NULL, CALL_##ID, code},
	      FAULTY_CALLS(FAULT)
#undef FAULT
};

#define TALKS  (sizeof(talks) / sizeof(talks[0]))
#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static const char *name_of(const struct fault *fault)
{
	return fault->name != NULL ? fault->name : faulty_call_name(fault->call);
}

/* Runs the conversation with the nth call failing; returns whether it made that many calls. */
static bool once(const struct talk_config *talk, const struct fault *fault, uint32_t nth)
{
	bool fired = talk_run(talk, fault->call, nth, fault->code);

	if (talk_failed()[0] != '\0')
		fail_msg("%s\n  again: test_every_call '%s' '%s' %u", talk_failed(), talk->name,
			 name_of(fault), nth);
	return fired;
}

/* Returns how many calls the conversation makes: each of them has failed in one run. */
static uint32_t each(const struct talk_config *talk, const struct fault *fault)
{
	uint32_t nth = 1;

	while (once(talk, fault, nth)) {
		nth++;
		assert_true(nth < PER_CALL_MAX);
	}
	return nth - 1;
}

TEST(every_call_fails)
{
	uint32_t pairs = 0, kinds = 0;

	for (size_t i = 0; i < FAULTS; i++) {
		uint32_t of_all = 0;

		print_message("%-22s", name_of(&faults[i]));
		for (size_t k = 0; k < TALKS; k++) {
			uint32_t count = each(&talks[k], &faults[i]);

			print_message(" %s %u", talks[k].name, count);
			of_all += count;
		}
		print_message("\n");
		pairs += of_all;
		kinds += of_all > 0;
	}
	print_message("%u pairs of a call and an n, of %u kinds of %zu\n", pairs, kinds, FAULTS);
	assert_int_equal(kinds, FAULTS);
}

/* LNet's tables: when one cannot be allocated, nothing of the endpoint is left. */
TEST(endpoint_without_memory)
{
	const struct o2_ni_config config = {
		.device = "loop0",
		.port = 1,
		.reg_gaps = o2_loop_reg_gaps,
		.gid_index = O2_LOOP_GID_INDEX,
		.nid = 0x00050000c0a80a01ull,
		.incarnation = 1,
		.dma_kind = O2_DMA_VIRTUAL,
		.arena_pages = 16,
	};
	const struct o2_lnet_ops ops = {.done = NULL};
	struct o2_lnet_config lnet = O2_LNET_DEFAULTS;
	struct o2_cm_loop *loop = o2_cm_loop_create();
	struct o2_endpoint endpoint;
	struct o2_cm *cm;
	struct o2_ni ni;
	uint32_t nth;

	lnet.nid = config.nid;
	assert_int_equal(o2_ni_open(&config, &ni, NULL), 0);
	assert_int_equal(o2_cm_loop_attach(loop, &ni, 1, &cm, NULL), 0);
	for (nth = 1; nth < 100; nth++) {
		int64_t before = faulty_call_held().allocations;
		int rc;

		faulty_call_arm(CALL_CALLOC, nth, ENOMEM);
		rc = o2_endpoint_open(&ni, cm, &O2_NODE_DEFAULTS, &lnet, &ops, NULL, &endpoint, NULL);
		if (!faulty_call_fired())
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(faulty_call_held().allocations, before);
	}
	faulty_call_arm(CALLS, 0, 0);
	assert_true(nth > 4 && nth < 100);
	o2_endpoint_close(&endpoint);
	o2_cm_loop_detach(cm);
	o2_ni_close(&ni);
	o2_cm_loop_destroy(loop);
}

static int only(const char *talk, const char *call, uint32_t nth)
{
	for (size_t k = 0; k < TALKS; k++)
		for (size_t i = 0; strcmp(talk, talks[k].name) == 0 && i < FAULTS; i++)
			if (strcmp(call, name_of(&faults[i])) == 0) {
				bool fired = talk_run(&talks[k], faults[i].call, nth, faults[i].code);

				printf("%s: %s\n", fired ? "has failed" : "is not made so often",
				       talk_failed()[0] != '\0' ? talk_failed() : "all well");
				return talk_failed()[0] != '\0';
			}
	fprintf(stderr, "there is no such conversation, or no such call\n");
	return 2;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--calls") == 0) {
		for (int call = 0; call < CALL_MAPPING; call++)
			puts(faulty_call_name((enum faulty_call)call));
		return 0;
	}
	if (argc == 4)
		return only(argv[1], argv[2], (uint32_t)strtoul(argv[3], NULL, 0));
	return tests_run();
}
