/* SPDX-License-Identifier: MIT */
#ifndef SECOND_H
#define SECOND_H

#include <stdbool.h>
#include <stdint.h>

#include <o2ref/impl.h>

/*
 * A second implementation of all stages, written from docs/ alone.  It shares no code with the reference, and
 * its data structures differ: lists of addresses are rulers (see below), and tables of fields describe
 * messages.
 */

/* Fill in a refusal.  index: the offending entry; UINT32_MAX: none.  Returns O2_IMPL_REFUSED. */
static inline int32_t refuse(struct o2_impl_refusal *refusal, uint32_t error, const char *name,
			     uint32_t index)
{
	uint32_t i = 0;

	refusal->error = error;
	refusal->cost = O2_IMPL_COST_NOT_SAID;
	refusal->where = O2_IMPL_WHERE_NOT_SAID;
	refusal->index = index;
	for (; name[i] && i < O2_IMPL_ERROR_NAME_BYTES - 1; i++)
		refusal->name[i] = name[i];
	refusal->name[i] = 0;
	return O2_IMPL_REFUSED;
}

#define NO_INDEX UINT32_MAX

static inline bool page_size_known(uint32_t page_bytes)
{
	return page_bytes == 4096 || page_bytes == 16384 || page_bytes == 65536;
}

static inline bool is_limit(uint32_t limit)
{
	return limit == O2_IMPL_MAX_FRAGS || limit == O2_IMPL_MAX_FRAGS - 1;
}

/*
 * A list of addresses as a ruler: run i begins at byte tick[i] of the transfer and at address addr[i];
 * tick[count] is the sum of all lengths.  The run of a byte is found by bisection.
 */
struct ruler {
	uint32_t count;
	uint64_t tick[O2_IMPL_MAX_FRAGS + 1];
	uint64_t addr[O2_IMPL_MAX_FRAGS];
};

static inline void ruler_add(struct ruler *ruler, uint64_t addr, uint64_t length)
{
	ruler->addr[ruler->count++] = addr;
	ruler->tick[ruler->count] = ruler->tick[ruler->count - 1] + length;
}

static inline uint64_t ruler_length(const struct ruler *ruler, uint32_t i)
{
	return ruler->tick[i + 1] - ruler->tick[i];
}

/* The stages of struct o2_impl. */
int32_t second_msg_decode(const struct o2_impl_msg_decode_in *in, struct o2_impl_msg *out,
			  struct o2_impl_refusal *refusal);
int32_t second_msg_encode(const struct o2_impl_msg_encode_in *in, struct o2_impl_bytes *out,
			  struct o2_impl_refusal *refusal);
int32_t second_sg_build(const struct o2_impl_sg_in *in, struct o2_impl_sg_list *out,
			struct o2_impl_refusal *refusal);
int32_t second_dma_map(const struct o2_impl_dma_in *in, struct o2_impl_dma_list *out,
		       struct o2_impl_refusal *refusal);
int32_t second_reg_plan(const struct o2_impl_reg_in *in, struct o2_impl_reg_plan *out,
			struct o2_impl_refusal *refusal);
int32_t second_rdma_plan(const struct o2_impl_rdma_in *in, struct o2_impl_rdma_plan *out,
			 struct o2_impl_refusal *refusal);
int32_t second_transfer(const struct o2_impl_transfer_in *in, struct o2_impl_transfer_out *out,
			struct o2_impl_refusal *refusal);

/* The stages of struct o2_impl_2; setup and flow are below. */
int32_t second_rdma_chain(const struct o2_impl_chain_in *in, struct o2_impl_chain *out,
			  struct o2_impl_refusal *refusal);
int32_t second_connect(const struct o2_impl_connect_in *in, struct o2_impl_connect_out *out,
		       struct o2_impl_refusal *refusal);
int32_t second_deliver(const struct o2_impl_deliver_in *in, struct o2_impl_deliver_out *out,
		       struct o2_impl_refusal *refusal);
int32_t second_device(const struct o2_impl_device_in *in, struct o2_impl_device_out *out,
		      struct o2_impl_refusal *refusal);
int32_t second_keys(const struct o2_impl_keys_in *in, struct o2_impl_keys_out *out,
		    struct o2_impl_refusal *refusal);
int32_t second_send_plan(const struct o2_impl_send_in *in, struct o2_impl_send_out *out,
			 struct o2_impl_refusal *refusal);

/* Plan the registration of the first nob bytes of a node's buffer. */
int32_t second_prepare(const struct o2_impl_memory *memory, uint32_t side, uint64_t nob, uint32_t max_frags,
		       struct o2_impl_reg_plan *out, struct o2_impl_refusal *refusal);
int32_t second_setup(const struct o2_impl_setup_in *in, struct o2_impl_setup_out *out,
		     struct o2_impl_refusal *refusal);
int32_t second_flow(const struct o2_impl_flow_in *in, struct o2_impl_flow_out *out,
		    struct o2_impl_refusal *refusal);

#endif
