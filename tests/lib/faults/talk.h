/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_FAULTS_TALK_H
#define O2_TEST_FAULTS_TALK_H

#include "lnd/cm/loop.h"
#include "lnd/node/node.h"
#include "loopverbs/loopverbs.h"
#include "tests/lib/faults/calls.h"
#include "tests/lib/unit_test.h"

#define TALK_MODES 3u

/* A conversation of two nodes over loop0 and loop1, from nothing to nothing. */
struct talk_config {
	const char *name;
	uint16_t version;
	enum o2_dma_kind kind; /* of the first node's device; the other's is virtual */
	bool gather;	       /* IMMEDIATEs */
	bool events;	       /* the loop arms completion queues */
	bool small;	       /* pools that have to grow */
	uint32_t nmodes;
	enum o2_reg_mode modes[TALK_MODES];
};

/*
 * Hold it, while the call fails at its nth time with the code.  False: it is not made so often.  Afterwards
 * talk_failed says what was wrong; "": nothing.
 */
bool talk_run(const struct talk_config *config, enum faulty_call call, uint32_t nth, int code);
const char *talk_failed(void);

#endif
