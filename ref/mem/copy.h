/* SPDX-License-Identifier: MIT */
#ifndef O2_MEM_COPY_H
#define O2_MEM_COPY_H

#include <stdint.h>

#include "base/error.h"
#include "mem/arena.h"
#include "mem/buffer.h"

/*
 * Between plain bytes and a buffer in pieces, by the CPU: what an IMMEDIATE's payload takes.
 * Source: docs/mapping.md, "Buffers".
 *
 * The bytes are those that the buffer asks for: buffer->nob of them, from buffer->offset on.  nob 0 copies
 * nothing.  Both return 0, or what o2_sg_build refuses (-EINVAL, -EFAULT), and then nothing was copied; or
 * what o2_kmap does (-ENOMEM, -ENOSPC).
 * LNet: lnet_copy_flat2kiov, lnet_copy_flat2iov
 */
int o2_copy_to_buffer(const struct o2_arena *arena, const struct o2_buffer *buffer, const uint8_t *bytes,
		      struct o2_error *error);
/* LNet: lnet_copy_kiov2flat, lnet_copy_iov2flat */
int o2_copy_from_buffer(const struct o2_arena *arena, const struct o2_buffer *buffer, uint8_t *bytes,
			struct o2_error *error);

#endif
