/* SPDX-License-Identifier: MIT */
/* Checks of setup: one part of check_list.h. */

#define OF_SETUP(WHAT, what, kernel, text) O2_CHECK(SETUP_##WHAT, "setup/" what, MUST, kernel, text)

O2_CHECK_GROUP("Setting up")
OF_SETUP(REFUSED_LEGAL, "refused-legal", MUST, "A legal configuration is not refused.")
OF_SETUP(STATUS, "status", MUST,
	 "A set-up of which an acquisition has failed returns an error, any other one returns 0; so does one "
	 "that has tried a QP again, with a smaller queue.")
OF_SETUP(ERRNO, "errno", SHOULD, "The error is the one that the acquisition has failed with.")
OF_SETUP(LEAK, "leak", MUST,
	 "Nothing is left: of a set-up that has failed when it returns, of any other one when it has been "
	 "taken down.")
OF_SETUP(RELEASE_ONCE, "release-once", MUST,
	 "What is released is alive: it was acquired in this round, and was not released before; and no "
	 "handle is given twice while it is alive.")
OF_SETUP(ORDER, "order", MUST,
	 "Nothing is released that something else is built on: a QP goes before its CQ and PD, a mapping "
	 "before its memory, regions and pools before their PD.")
OF_SETUP(BUILT_ON, "built-on", MUST,
	 "What something is built on is alive and of the right kind: a mapping is one of memory, a region or "
	 "a pool needs a PD, a QP needs a PD and a CQ.")
OF_SETUP(COMPLETE, "complete", MUST,
	 "A set-up that returns 0 has a PD, a CQ, a QP, mapped memory, and what its mode registers with: a "
	 "pool (fmr), pool_size regions (fastreg).")
OF_SETUP(SEQUENCE, "sequence", MUST,
	 "The n-th acquisition fails and no other one, none follows it, and but for that all rounds acquire "
	 "the same kinds in the same order. Behind a QP that was tried again the others may be fewer.")
#undef OF_SETUP
