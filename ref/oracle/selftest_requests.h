/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_SELFTEST_REQUESTS_H
#define O2_ORACLE_SELFTEST_REQUESTS_H

#include "oracle/stage.h"

/* One small legal request for each stage, as the text of a frame. */
const char *o2_selftest_request(enum o2_stage stage);

#endif
