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
 * Plug an implementation into `o2ref check`: the C ABI, versions 1 and 2.
 *
 * A shared object defines o2_impl_v1, o2_impl_v2, or both: each returns a table of functions, one per stage.
 * Version 1 has the stages from a buffer to work requests, version 2 has further ones and leaves those of
 * version 1 as they are.  A stage that is not there is NULL.  `o2ref check ./libmine.so` calls them in a child
 * process and compares what they answer with the reference.  docs/oracle.md is the guide, and says where
 * each stage is specified.
 *
 * These headers need nothing but <stdint.h>.  Its structs hold fixed-width integers and pointers only, so
 * that any language that can speak C's calling convention can fill them in.
 *
 * What holds for every function:
 *   - `in` and all that it points to belongs to the caller and is not to be changed.  It is gone when the
 *     function returns.
 *   - `out` and all that it points to belongs to the caller.  Arrays come as a pointer and a capacity; the
 *     function fills the array, sets the count next to it, and leaves pointer and capacity alone.  Nothing is
 *     allocated for the caller.  Entries behind the count are ignored.
 *   - It returns an enum o2_impl_status.  After O2_IMPL_REFUSED the refusal says why, and *out is ignored;
 *     after O2_IMPL_OK *refusal is ignored.
 *   - What it does not have (a mode, a kind, a limit, an option that is set) it answers with
 *     O2_IMPL_NOT_IMPLEMENTED.  An assertion that fails is a crash, not a refusal (docs/oracle.md, "What one
 *     does not have").
 *   - Pointers are not NULL where there is a count, arrays are as long as their counts, enums and flags have
 *     one of their values.  Other numbers may be anything, unless the profile trusts callers.
 *   - `in` and `out` lie between pages that cannot be touched, each output array and received bytes by
 *     themselves, other inputs together.  For arrays of one's own: o2ref/guard.h.
 *   - It is a function of its input: the same question gets the same answer, in any order.
 *   - It prints nothing on standard output: anything there is a finding.
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

/* How a table begins: what it was compiled with, and its name. */
#define O2_IMPL_HEAD(name_) \
	.abi_version = O2_IMPL_ABI_VERSION, .struct_bytes = sizeof(struct o2_impl), .name = name_

/* What a shared object defines.  The table is constant for as long as the object is loaded. */
const struct o2_impl *o2_impl_v1(void);

/* --- version 2 --- */

#define O2_IMPL_ABI_VERSION_2 2u

/*
 * The stages that version 2 has and version 1 does not.  New ones are added at the end: struct_bytes says how
 * far the table goes that an object was compiled with, and what lies behind is not there.
 */
struct o2_impl_2 {
	uint32_t abi_version;  /* O2_IMPL_ABI_VERSION_2 */
	uint32_t struct_bytes; /* sizeof(struct o2_impl_2) */
	const char *name;      /* as above; that of version 1 counts where there are both */

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

/* What a shared object defines, beside o2_impl_v1 or alone. */
const struct o2_impl_2 *o2_impl_v2(void);

#ifdef __cplusplus
}
#endif

#endif
