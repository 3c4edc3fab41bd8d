/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_SELFTEST_REQUESTS_H
#define O2_ORACLE_SELFTEST_REQUESTS_H

#include "oracle/stage.h"

/* One small legal request for each stage, as the text of a frame. */
extern const char *const o2_selftest_requests[O2_STAGES];

#endif
