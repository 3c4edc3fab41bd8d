/* SPDX-License-Identifier: MIT */
/*
 * All checks of the oracle, in the order of docs/oracle.md, "Checks", which `o2ref check --list-checks`
 * prints.
 *
 *   O2_CHECK(symbol, id, severity, severity under profile kernel, what the check requires)
 *   O2_CHECK_GROUP(title of the checks that follow)
 *
 * A check with the id of a rule of the reference fails if an input breaks the rule and is not refused.
 * The ids are stable.  No include guard: this file is included more than once.
 *
 * Checks of several stages, kinds or types may share their text.  The macros here and at the top of each part
 * generate such checks from the name in upper case (for the symbol) and in lower case (for the id).
 */

#define STAGE_RULE(symbol, id, kernel, how) O2_CHECK(symbol, id, MUST, kernel, "To be refused with " how)
#define SAYS_ERRNO(STAGE, stage)                                                                        \
	O2_CHECK(STAGE##_ERRNO, stage "/errno", MUST, SHOULD,                                           \
		 "A refusal carries the errno of the rule that is broken (the tables of refusals). Of " \
		 "several broken rules the first in the order of the checks counts.")
#define SAYS_RULE(STAGE, stage)                                                                            \
	O2_CHECK(STAGE##_RULE, stage "/rule", MUST, SHOULD,                                                \
		 "The refusal names the rule that is broken first. Compared when the error map knows the " \
		 "name, or when the name is a rule id itself.")
#define SAYS_INDEX(STAGE, stage)                                                                         \
	O2_CHECK(STAGE##_INDEX, stage "/index", SHOULD, OFF,                                             \
		 "A refusal that is about one entry of a list names that entry. Compared when the same " \
		 "rule was named and an index was given.")

#define CONDUCT(WHAT, what, text)  O2_CHECK(RUN_##WHAT, "run/" what, MUST, MUST, text)
#define PROTOCOL(WHAT, what, text) O2_CHECK(PROTOCOL_##WHAT, "protocol/" what, MUST, MUST, text)

#include "oracle/check_list_stages.h"

O2_CHECK_GROUP("Conduct of the implementation")
CONDUCT(CRASH, "crash", "It does not crash. Reported with the signal and the input.")
CONDUCT(HANG, "hang", "It answers within the time limit.")
CONDUCT(OVERRUN, "overrun", "It writes nothing behind or in front of its output arrays.")
CONDUCT(INPUT_WRITTEN, "input-written", "It does not write to its input.")
CONDUCT(STDOUT, "stdout", "It prints nothing on standard output, which belongs to the protocol.")
CONDUCT(LEAK, "leak", "It gives back what it allocates: its heap does not grow with every call.")
CONDUCT(EXIT, "exit", "It does not end the process.")
CONDUCT(UNSTABLE, "unstable", "The same question gets the same answer.")
CONDUCT(COUNT_OVER_CAPACITY, "count-over-capacity",
	"A count in an answer is at most the capacity, a length at most the room.")
CONDUCT(STATUS, "status",
	"A function returns one of the values that o2ref/impl.h lists; a refusal carries an errno and a name "
	"that ends.")
CONDUCT(VALUE, "value", "A field holds a value that it can have (a flag 0 or 1, a flavour one of four).")
PROTOCOL(FRAME, "frame", "Answers are frames: four bytes of length, then as many bytes.")
PROTOCOL(JSON, "json", "A frame holds one JSON object.")
PROTOCOL(FORM, "form", "The answer is the output form of the stage that was asked, version 1.")
PROTOCOL(FIELD, "field", "Each member of the answer is what the form says.")
PROTOCOL(MEMORY, "memory",
	 "The process does not grow without end: by less than 768 MiB (--growth-mib) over what it had after "
	 "its first answers.")

#include "oracle/check_list_wire.h"

#include "oracle/check_list_connections.h"
#include "oracle/check_list_flow.h"
#include "oracle/check_list_keys.h"
#include "oracle/check_list_send.h"
#include "oracle/check_list_setup.h"

#undef STAGE_RULE
#undef SAYS_ERRNO
#undef SAYS_RULE
#undef SAYS_INDEX
#undef CONDUCT
#undef PROTOCOL
