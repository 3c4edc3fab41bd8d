/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_SELFTEST_H
#define O2_ORACLE_SELFTEST_H

#include <stdint.h>
#include <stdio.h>

/*
 * Test step by step whether a program frames its answers as the process protocol requires (docs/oracle.md,
 * "Process protocol").  Write the result of each step to `out`; for a failed step, name the most likely
 * mistake.
 *
 * argv ends with NULL.  timeout_ms: limit for one answer; the first answer gets ten times as much.
 * Returns 0 if all steps pass, 1 if not, 77 if no process can be started.
 */
int o2_oracle_selftest(char *const *argv, uint32_t timeout_ms, FILE *out);

#endif
