/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_FAULTS_TALK_H
#define O2_TEST_FAULTS_TALK_H

#include "lnd/cm/loop.h"
#include "lnd/node/node.h"
#include "loopverbs/loopverbs.h"
#include "tests/lib/faults/calls.h"
#include "tests/lib/unit_test.h"

#define TALK_MODES 3u

/* A complete run of two nodes over loop0 and loop1: open, transfer, close. */
struct talk_config {
	const char *name;
	uint16_t version;
	enum o2_dma_kind kind; /* of the first node's device; the second node's is virtual */
	bool gather;	       /* IMMEDIATEs are gathered (immediate_gather) */
	bool events;	       /* completion queues are armed before each sleep */
	bool small;	       /* pools start so small that they must grow */
	uint32_t nmodes;
	enum o2_reg_mode modes[TALK_MODES];
};

/*
 * Run the conversation while the nth `call` fails with `code`.  Returns false if fewer than n such calls are
 * made.  Afterwards talk_failed describes the first defect found, "" if there was none.
 */
bool talk_run(const struct talk_config *config, enum faulty_call call, uint32_t nth, int code);
const char *talk_failed(void);

#endif
