/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_KIND_H
#define O2_PROPS_CHECK_KIND_H

#include "oracle/case.h"

/*
 * Kinds of questions that names of checks contain: "sg/kiov", "dma/iommu", "reg/phys". If no question of a kind was
 * answered, nothing is known about its checks.
 */

#define O2_CHECK_KINDS ((uint32_t)O2_KIOV + 1 + O2_DMA_KINDS + O2_REG_MODES)

/* The kind of a question; O2_CHECK_KINDS when its stage has none. */
uint32_t o2_check_kind(const struct o2_case *asked);

/* How the names of the kind's checks begin, written to text, which has room for O2_CHECK_KIND_BYTES. */
#define O2_CHECK_KIND_BYTES 32u
const char *o2_check_kind_name(uint32_t kind, char *text);

#endif
