/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>

#include "oracle/object.h"

/* Loading a shared object, and calling its functions by stage. */

const struct o2_impl *o2_object_load(const char *path, char *text, size_t text_bytes)
{
	const struct o2_impl *(*table)(void);
	const struct o2_impl *impl;
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (object == NULL) {
		snprintf(text, text_bytes, "%s", dlerror());
		return NULL;
	}
	*(void **)&table = dlsym(object, "o2_impl_v1");
	impl = table == NULL ? NULL : table();
	if (impl == NULL) {
		snprintf(text, text_bytes, "%s",
			 table == NULL ? "it does not define o2_impl_v1 (o2ref/impl.h)"
				       : "o2_impl_v1 returned NULL");
		return NULL;
	}
	if (impl->abi_version != O2_IMPL_ABI_VERSION || impl->struct_bytes != sizeof(*impl)) {
		snprintf(text, text_bytes, "its table has version %u and %u bytes, expected %u and %zu",
			 impl->abi_version, impl->struct_bytes, O2_IMPL_ABI_VERSION, sizeof(*impl));
		return NULL;
	}
	return impl;
}

bool o2_object_has(const struct o2_impl *impl, enum o2_stage stage)
{
	switch (stage) {
	case O2_STAGE_MSG_DECODE:
		return impl->msg_decode != NULL;
	case O2_STAGE_MSG_ENCODE:
		return impl->msg_encode != NULL;
	case O2_STAGE_SG_BUILD:
		return impl->sg_build != NULL;
	case O2_STAGE_DMA_MAP:
		return impl->dma_map != NULL;
	case O2_STAGE_REG_PLAN:
		return impl->reg_plan != NULL;
	case O2_STAGE_RDMA_PLAN:
		return impl->rdma_plan != NULL;
	case O2_STAGE_TRANSFER:
	case O2_STAGES:
		break;
	}
	return impl->transfer != NULL;
}

int32_t o2_object_call(const struct o2_impl *impl, enum o2_stage stage, const struct o2_impl_slot *slot)
{
	const union o2_impl_in *in = slot->in;
	union o2_impl_out *out = slot->out;

	switch (stage) {
	case O2_STAGE_MSG_DECODE:
		return impl->msg_decode(&in->msg_decode, &out->msg_decode, slot->refusal);
	case O2_STAGE_MSG_ENCODE:
		return impl->msg_encode(&in->msg_encode, &out->msg_encode, slot->refusal);
	case O2_STAGE_SG_BUILD:
		return impl->sg_build(&in->sg, &out->sg, slot->refusal);
	case O2_STAGE_DMA_MAP:
		return impl->dma_map(&in->dma, &out->dma, slot->refusal);
	case O2_STAGE_REG_PLAN:
		return impl->reg_plan(&in->reg, &out->reg, slot->refusal);
	case O2_STAGE_RDMA_PLAN:
		return impl->rdma_plan(&in->rdma, &out->rdma, slot->refusal);
	case O2_STAGE_TRANSFER:
	case O2_STAGES:
		break;
	}
	return impl->transfer(&in->transfer, &out->transfer, slot->refusal);
}
