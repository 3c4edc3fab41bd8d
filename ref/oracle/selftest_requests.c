/* SPDX-License-Identifier: MIT */
#include "oracle/selftest_requests.h"

#include "oracle/stage_ops.h"

#define SPACE "{\"page_bytes\":4096,\"npages\":64,\"ranges\":[]}"
#define BUFFER                                                                                           \
	"{\"kind\":\"kiov\",\"offset\":0,\"nob\":5120,\"pieces\":[{\"page\":16,\"offset\":3072,\"len\":" \
	"1024},"                                                                                         \
	"{\"page\":42,\"offset\":0,\"len\":4096}]}"
#define DEVICE "{\"kind\":\"bus\",\"page_bytes\":4096,\"npages\":64,\"base\":\"0x10000000\",\"unmapped\":[]}"
#define NODE                                                                                        \
	"{\"mode\":\"global\",\"max_pages\":257,\"iova\":\"0x0\",\"key\":\"0x51\",\"space\":" SPACE \
	",\"buffer\":" BUFFER ",\"device\":" DEVICE "}"
#define NOOP \
	"911be90b1200d0043000000000000000010aa8c000000500f6e5d4c3b2a10500020aa8c000000500ffeeddccbbaa0500"
#define DESC(key) "{\"rd_key\":\"" key "\",\"rd_frags\":[{\"rf_nob\":512,\"rf_addr\":\"0x1000\"}]}"

static const char *const requests[O2_STAGES_1] = {
	[O2_STAGE_MSG_DECODE] =
		"{\"form\":\"o2ref/msg_decode/input\",\"version\":1,\"options\":{},\"bytes\":\"" NOOP "\"}",
	[O2_STAGE_MSG_ENCODE] =
		"{\"form\":\"o2ref/msg_encode/"
		"input\",\"version\":1,\"options\":{},\"message\":{\"byte_order\":"
		"\"little\",\"ibm_version\":18,\"ibm_type\":\"NOOP\",\"ibm_credits\":4,\"cksum_flavour\":"
		"\"none\","
		"\"ibm_srcnid\":\"192.168.10.1@o2ib\",\"ibm_srcstamp\":\"0x5a1b2c3d4e5f6\",\"ibm_dstnid\":"
		"\"192.168.10.2@o2ib\",\"ibm_dststamp\":\"0x5aabbccddeeff\",\"body\":{}}}",
	[O2_STAGE_SG_BUILD] =
		"{\"form\":\"o2ref/sg_build/input\",\"version\":1,\"max_entries\":257,\"space\":" SPACE
		",\"buffer\":" BUFFER "}",
	[O2_STAGE_DMA_MAP] = "{\"form\":\"o2ref/dma_map/input\",\"version\":1,\"device\":" DEVICE
			     ",\"list\":{\"gaps\":false,"
			     "\"nob\":512,\"entries\":[{\"page\":3,\"offset\":0,\"length\":512}]}}",
	[O2_STAGE_REG_PLAN] = "{\"form\":\"o2ref/reg_plan/"
			      "input\",\"version\":1,\"request\":{\"mode\":\"global\",\"side\":\"sink\","
			      "\"page_bytes\":4096,\"max_pages\":257,\"peer_max_frags\":257,\"gaps\":false},"
			      "\"list\":{\"nob\":512,"
			      "\"segments\":[{\"addr\":\"0x10000e00\",\"length\":512}]}}",
	[O2_STAGE_RDMA_PLAN] =
		"{\"form\":\"o2ref/rdma_plan/input\",\"version\":1,\"nob\":512,\"limits\":{\"max_wrs\":257,"
		"\"wrq_sge\":2},\"source\":" DESC("0x11") ",\"sink\":" DESC("0x22") "}",
	[O2_STAGE_TRANSFER] = "{\"form\":\"o2ref/transfer/"
			      "input\",\"version\":1,\"op\":\"put\",\"max_frags\":257,\"wrq_sge\":2,"
			      "\"source\":" NODE ",\"sink\":" NODE "}",
};

const char *o2_selftest_request(enum o2_stage stage)
{
	const struct o2_stage_ops *ops = o2_stage_ops(stage);

	return ops != NULL ? ops->request : requests[stage];
}
