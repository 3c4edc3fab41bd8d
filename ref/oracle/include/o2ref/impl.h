/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_H
#define O2REF_IMPL_H

#include "impl_base.h"
#include "impl_connection.h"
#include "impl_flow.h"
#include "impl_keys.h"
#include "impl_memory.h"
#include "impl_message.h"
#include "impl_send.h"
#include "impl_setup.h"

/*
 * The C ABI, versions 1 and 2, through which `o2ref check` tests an implementation.
 *
 * A shared object defines o2_impl_v1, o2_impl_v2, or both.  Each returns a table with one function per stage.
 * Version 1 has the stages from a buffer to work requests.  Version 2 adds further stages and does not change
 * those of version 1.  A NULL entry means that the stage is not implemented.  `o2ref check ./libmine.so`
 * calls the functions in a child process and compares their answers with those of the reference.
 * docs/oracle.md is the guide, and names the specification of each stage.
 *
 * These headers need only <stdint.h>.  Their structs contain fixed-width integers and pointers only, so
 * that any language that supports C's calling convention can fill them in.
 *
 * Contract of every stage function:
 *   - The caller owns `in` and everything that `in` points to.  The function must not modify this memory,
 *     and must not use it after returning.
 *   - The caller owns `out` and everything that `out` points to.  An array is a pointer and a capacity: the
 *     function fills the array and sets the count next to it, but does not change pointer or capacity.  The
 *     function allocates nothing for the caller.  The caller ignores array entries behind the count.
 *     All other members of *out are 0 at the call, and those of *refusal too, but for its index (UINT32_MAX).
 *   - The return value is an enum o2_impl_status.  With O2_IMPL_REFUSED, *refusal gives the reason and *out
 *     is ignored.  With O2_IMPL_OK, *refusal is ignored.
 *   - If the function does not support the input (a mode, a kind, a limit, an option that is set), it returns
 *     O2_IMPL_NOT_IMPLEMENTED.  A failed assertion counts as a crash, not as a refusal (docs/oracle.md,
 *     "What one does not have").
 *   - A pointer with a nonzero count is not NULL, arrays are as long as their counts, and enums and flags
 *     have a defined value.  Other numbers may have any value, unless the profile trusts callers.  So may
 *     rd_nfrags of a message to be encoded: its array has `capacity` elements.
 *   - `in` and `out` lie between inaccessible pages.  Each output array, and the received bytes, have such
 *     pages of their own; the other inputs share one area.  For arrays of your own see o2ref/guard.h.
 *   - The answer depends on the input alone: the same question gets the same answer, in any order of calls.
 *   - The function writes nothing to standard output; any output there is reported as a finding.
 */

#ifdef __cplusplus
extern "C" {
#endif

/* --- version 1 --- */

#define O2_IMPL_ABI_VERSION 1u

struct o2_impl {
	uint32_t abi_version;  /* O2_IMPL_ABI_VERSION */
	uint32_t struct_bytes; /* sizeof(struct o2_impl) */
	const char *name;      /* for reports, e.g. "mine 1.2"; may be NULL */

	int32_t (*msg_decode)(const struct o2_impl_msg_decode_in *in, struct o2_impl_msg *out,
			      struct o2_impl_refusal *refusal);
	int32_t (*msg_encode)(const struct o2_impl_msg_encode_in *in, struct o2_impl_bytes *out,
			      struct o2_impl_refusal *refusal);
	int32_t (*sg_build)(const struct o2_impl_sg_in *in, struct o2_impl_sg_list *out,
			    struct o2_impl_refusal *refusal);
	int32_t (*dma_map)(const struct o2_impl_dma_in *in, struct o2_impl_dma_list *out,
			   struct o2_impl_refusal *refusal);
	int32_t (*reg_plan)(const struct o2_impl_reg_in *in, struct o2_impl_reg_plan *out,
			    struct o2_impl_refusal *refusal);
	int32_t (*rdma_plan)(const struct o2_impl_rdma_in *in, struct o2_impl_rdma_plan *out,
			     struct o2_impl_refusal *refusal);
	int32_t (*transfer)(const struct o2_impl_transfer_in *in, struct o2_impl_transfer_out *out,
			    struct o2_impl_refusal *refusal);
};

/* Initialisers of the first three members of a table: ABI version, struct size and name. */
#define O2_IMPL_HEAD(name_) \
	.abi_version = O2_IMPL_ABI_VERSION, .struct_bytes = sizeof(struct o2_impl), .name = name_

/* A shared object defines this function.  The table must not change while the object is loaded. */
const struct o2_impl *o2_impl_v1(void);

/* --- version 2 --- */

#define O2_IMPL_ABI_VERSION_2 2u

/*
 * The stages that version 2 adds.  New stages are appended to this table.  struct_bytes gives the size of the
 * table that the object was compiled with; stages beyond that size count as not implemented.
 */
struct o2_impl_2 {
	uint32_t abi_version;  /* O2_IMPL_ABI_VERSION_2 */
	uint32_t struct_bytes; /* sizeof(struct o2_impl_2) */
	const char *name;      /* as in struct o2_impl, whose name is used if the object has both tables */

	int32_t (*device)(const struct o2_impl_device_in *in, struct o2_impl_device_out *out,
			  struct o2_impl_refusal *refusal);
	int32_t (*rdma_chain)(const struct o2_impl_chain_in *in, struct o2_impl_chain *out,
			      struct o2_impl_refusal *refusal);
	int32_t (*connect)(const struct o2_impl_connect_in *in, struct o2_impl_connect_out *out,
			   struct o2_impl_refusal *refusal);
	int32_t (*deliver)(const struct o2_impl_deliver_in *in, struct o2_impl_deliver_out *out,
			   struct o2_impl_refusal *refusal);
	int32_t (*keys)(const struct o2_impl_keys_in *in, struct o2_impl_keys_out *out,
			struct o2_impl_refusal *refusal);
	int32_t (*send_plan)(const struct o2_impl_send_in *in, struct o2_impl_send_out *out,
			     struct o2_impl_refusal *refusal);
	int32_t (*setup)(const struct o2_impl_setup_in *in, struct o2_impl_setup_out *out,
			 struct o2_impl_refusal *refusal);
	int32_t (*flow)(const struct o2_impl_flow_in *in, struct o2_impl_flow_out *out,
			struct o2_impl_refusal *refusal);
};

#define O2_IMPL_2_HEAD(name_) \
	.abi_version = O2_IMPL_ABI_VERSION_2, .struct_bytes = sizeof(struct o2_impl_2), .name = name_

/* A shared object defines this function, either alone or in addition to o2_impl_v1. */
const struct o2_impl_2 *o2_impl_v2(void);

#ifdef __cplusplus
}
#endif

#endif
