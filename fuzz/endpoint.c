/* SPDX-License-Identifier: MIT */
/* Two to four complete peers over the in-process connection manager: the property endpoint. */
#include "fuzz/property.h"
#include "props/lnet/endpoints.h"

O2_FUZZ_PROPERTY(endpoints, {.ground = &o2_ground_on_loop})
