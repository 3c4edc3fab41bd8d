/* SPDX-License-Identifier: MIT */
/* Checks that hold whatever was asked: one part of check_list.h. */
O2_CHECK_GROUP("Conduct of the implementation")
O2_CHECK(RUN_CRASH, "run/crash", MUST, MUST, "It does not crash. Reported with the signal and the input.")
O2_CHECK(RUN_HANG, "run/hang", MUST, MUST, "It answers within the time limit.")
O2_CHECK(RUN_OVERRUN, "run/overrun", MUST, MUST, "It writes nothing behind or in front of its output arrays.")
O2_CHECK(RUN_INPUT_WRITTEN, "run/input-written", MUST, MUST, "It does not write to its input.")
O2_CHECK(RUN_STDOUT, "run/stdout", MUST, MUST,
	 "It prints nothing on standard output, which belongs to the protocol.")
O2_CHECK(RUN_LEAK, "run/leak", MUST, MUST,
	 "It gives back what it allocates: its heap does not grow with every call.")
O2_CHECK(RUN_EXIT, "run/exit", MUST, MUST, "It does not end the process.")
O2_CHECK(RUN_UNSTABLE, "run/unstable", MUST, MUST, "The same question gets the same answer.")
O2_CHECK(RUN_COUNT_OVER_CAPACITY, "run/count-over-capacity", MUST, MUST,
	 "A count in an answer is at most the capacity, a length at most the room.")
O2_CHECK(RUN_STATUS, "run/status", MUST, MUST,
	 "A function returns one of the values that o2ref/impl.h lists; a refusal carries an errno "
	 "and a name that ends.")
O2_CHECK(RUN_VALUE, "run/value", MUST, MUST,
	 "A field holds a value that it can have (a flag 0 or 1, a flavour one of four).")
O2_CHECK(PROTOCOL_FRAME, "protocol/frame", MUST, MUST,
	 "Answers are frames: four bytes of length, then as many bytes.")
O2_CHECK(PROTOCOL_JSON, "protocol/json", MUST, MUST, "A frame holds one JSON object.")
O2_CHECK(PROTOCOL_FORM, "protocol/form", MUST, MUST,
	 "The answer is the output form of the stage that was asked, version 1.")
O2_CHECK(PROTOCOL_FIELD, "protocol/field", MUST, MUST, "Each member of the answer is what the form says.")
O2_CHECK(PROTOCOL_MEMORY, "protocol/memory", MUST, MUST,
	 "The process does not grow without end: by less than 768 MiB (--growth-mib) over what it had after "
	 "its first answers.")
