/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTS_SCARCE_H
#define O2_PROPS_HOSTS_SCARCE_H

#include <stdint.h>

/* From now on no more than so many descriptors can be opened, whatever is closed if it is 0; and as before. */
void o2_hosts_scarce(uint32_t left);
void o2_hosts_plenty(void);

/* Those that are open. */
uint32_t o2_hosts_open(void);

#endif
