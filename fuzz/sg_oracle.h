/* SPDX-License-Identifier: MIT */
#ifndef O2_FUZZ_SG_ORACLE_H
#define O2_FUZZ_SG_ORACLE_H

#include "mem/sg_build.h"

/*
 * Checks that the targets sg_iov and sg_kiov share.
 * Source: docs/fuzzing.md, "sg_iov and sg_kiov"; the rules are those of mem/sg_build.h.
 */

/* Run o2_sg_build() and compare verdict, bytes and gap flag with what the definitions say. */
void o2_fuzz_check_sg(const struct o2_buffer *buffer, const struct o2_address_space *space,
		      uint32_t max_entries);

#endif
