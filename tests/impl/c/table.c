/* SPDX-License-Identifier: MIT */
#include "second.h"

/* `o2ref check` looks up this symbol for the stages of version 1. */
const struct o2_impl *o2_impl_v1(void)
{
	static const struct o2_impl table = {
		O2_IMPL_HEAD("second"),		 .msg_decode = second_msg_decode,
		.msg_encode = second_msg_encode, .sg_build = second_sg_build,
		.dma_map = second_dma_map,	 .reg_plan = second_reg_plan,
		.rdma_plan = second_rdma_plan,	 .transfer = second_transfer,
	};

	return &table;
}

/* `o2ref check` looks up this symbol for the stages of version 2. */
const struct o2_impl_2 *o2_impl_v2(void)
{
	static const struct o2_impl_2 table = {
		O2_IMPL_2_HEAD("second"),      .device = second_device,	  .rdma_chain = second_rdma_chain,
		.connect = second_connect,     .deliver = second_deliver, .keys = second_keys,
		.send_plan = second_send_plan, .setup = second_setup,	  .flow = second_flow,
	};

	return &table;
}
