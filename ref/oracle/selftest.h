/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_SELFTEST_H
#define O2_ORACLE_SELFTEST_H

#include <stdint.h>
#include <stdio.h>

/*
 * Try the framing of a program that is to speak the process protocol (docs/oracle.md, "Process protocol"),
 * step by step, and write to `out` what holds and what is wrong, in the words of the mistake that is most
 * likely.
 *
 * argv ends with NULL.  timeout_ms: for one answer; the first gets ten times as much.
 * Returns 0 when all holds, 1 when not, 77 when no process can be made.
 */
int o2_oracle_selftest(char *const *argv, uint32_t timeout_ms, FILE *out);

#endif
