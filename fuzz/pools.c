/* SPDX-License-Identifier: MIT */
/* Pool sets of every kind, with time, failing devices and failover: the property pools. */
#include "props/stage/pools.h"
#include "fuzz/property.h"

O2_FUZZ_PROPERTY(pools, {0})
