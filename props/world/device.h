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

/*
 * What is registered need not be looked at page by page (docs/loopverbs.md): the device in this process
 * reads and writes it itself, and a page that is not there ends the program.  Does nothing on libibverbs.
 */
void o2_device_trust_pages(void);

/* Nothing has come from a kernel's device: it goes on, and others have the processor, for half a millisecond. */
void o2_device_pause(void);

#endif
