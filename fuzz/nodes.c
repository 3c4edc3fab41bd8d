/* SPDX-License-Identifier: MIT */
/* Two or three nodes that connect through the in-process connection manager: the property nodes. */
#include "props/talk/nodes.h"
#include "fuzz/property.h"

O2_FUZZ_PROPERTY(nodes, {.ground = &o2_ground_on_loop})
