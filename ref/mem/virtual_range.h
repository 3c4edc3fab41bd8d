/* SPDX-License-Identifier: MIT */
#ifndef O2_MEM_VIRTUAL_RANGE_H
#define O2_MEM_VIRTUAL_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/buffer.h"

/*
 * Whether the bytes of a transfer are one range of virtual addresses, which is what mode user can register
 * (docs/modes.md, "user").  Pure.  An IOV is one if every piece that carries bytes begins where the one
 * before it ended; empty pieces do not count.  A KIOV never is: it names pages, which have no virtual
 * addresses here.
 *
 * addr: address of the first byte, when true.  False as well for a vector that is too short.
 *
 * o2iblnd: none, only user space registers virtual addresses
 */
bool o2_virtual_range(const struct o2_buffer *buffer, uint64_t *addr);

#endif
