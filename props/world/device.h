/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_DEVICE_H
#define O2_PROPS_DEVICE_H

#include "reg/domain.h"

/*
 * Features of the device beyond libibverbs.  The same objects are linked with the in-process devices and with
 * libibverbs, so the features are found when the program is loaded.
 */

/* Registration of regions with gaps, for o2_ni_config; NULL on libibverbs. */
o2_reg_gaps_fn o2_device_reg_gaps(void);

/* Fast registration in the kernel's order, for o2_ni_config; NULL on libibverbs. */
const struct o2_reg_fast *o2_device_reg_fast(void);

/*
 * Skip the page-by-page check of registered memory (docs/loopverbs.md): the in-process device reads and
 * writes it directly, and a page that is not mapped ends the program.  Does nothing on libibverbs.
 */
void o2_device_trust_pages(void);

/* Call when a kernel device had no event: yields the processor for half a millisecond. */
void o2_device_pause(void);

#endif
