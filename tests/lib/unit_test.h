/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_UNIT_TEST_H
#define O2_TESTS_UNIT_TEST_H

/* cmocka.h, behind what it needs.  A test does not have to use its state (tests/lib/CMakeLists.txt). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
