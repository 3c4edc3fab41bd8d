/* SPDX-License-Identifier: MIT */
#include "tests/lib/unit_test.h"

/* main() for test programs that do not define their own. */
int main(void)
{
	return tests_run();
}
