/* SPDX-License-Identifier: MIT */
/*
 * All checks of the oracle, in the order of docs/oracle.md, "Checks", which `o2ref check --list-checks`
 * prints.
 *
 *   O2_CHECK(symbol, id, severity, severity under profile kernel, what holds)
 *   O2_CHECK_GROUP(title of those that follow)
 *
 * A check whose id is that of a rule of the reference fails when an input that breaks the rule is not
 * refused. The ids are stable.  No include guard: this file is included more than once.
 */
#include "oracle/check_list_memory.h"
#include "oracle/check_list_plan.h"
#include "oracle/check_list_run.h"
#include "oracle/check_list_wire.h"
