/* SPDX-License-Identifier: MIT */
#include "tests/lib/unit_test.h"

/* Of a program that has none of its own. */
int main(void)
{
	return tests_run();
}
