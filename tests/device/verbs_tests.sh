#!/bin/sh
# SPDX-License-Identifier: MIT
# Run the transport's unit tests on the machine's RDMA devices, such as those of a guest of ci/vm/run:
#
#   ci/vm/run -- tests/device/verbs_tests.sh [BUILD]
#
# The last line is "N passed, N failed"; it counts test programs, not cases.
build=${1:-build/gcc}
export O2REF_TEST_DEVICE_A="$O2REF_RXE_A" O2REF_TEST_DEVICE_B="$O2REF_RXE_B"
passed=0 failed=0
for program in "$build"/test_*_verbs; do
	if "$program" 2>&1; then
		passed=$((passed + 1))
	else
		echo "$program failed; replay: ci/vm/run -- $0 $build"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
