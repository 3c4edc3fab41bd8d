/* SPDX-License-Identifier: MIT */
/* dma_map with faults, and the ledger of mappings: the property dma. */
#include "fuzz/property.h"
#include "props/stage/dma.h"

O2_FUZZ_PROPERTY(dma, {0})
