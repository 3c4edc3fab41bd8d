/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTS_SCARCE_H
#define O2_PROPS_HOSTS_SCARCE_H

#include <stdint.h>

/* Allow `left` more descriptors to be opened; 0: none, even after others are closed.  plenty: restore the limit. */
void o2_hosts_scarce(uint32_t left);
void o2_hosts_plenty(void);

/* How many descriptors are open. */
uint32_t o2_hosts_open(void);

#endif
