/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_DEVICE_H
#define O2_PROPS_DEVICE_H

#include "reg/domain.h"

/*
 * What the device under a program can do beyond libibverbs.  The same objects are linked to the in-process
 * devices and to libibverbs, so it is found out when the program is loaded.
 */

/* Regions with gaps, for o2_ni_config; NULL on libibverbs. */
o2_reg_gaps_fn o2_device_reg_gaps(void);

/* Fast registration in the kernel's order, for o2_ni_config; NULL on libibverbs. */
const struct o2_reg_fast *o2_device_reg_fast(void);

#endif
