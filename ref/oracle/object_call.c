/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "oracle/object.h"
#include "oracle/stage_ops.h"

/* Load a shared object, and call its functions by stage. */

static bool take_1(const struct o2_impl *impl, struct o2_object *object, char *text, size_t text_bytes)
{
	if (impl == NULL) {
		snprintf(text, text_bytes, "o2_impl_v1 returned NULL");
		return false;
	}
	if (impl->abi_version != O2_IMPL_ABI_VERSION || impl->struct_bytes != sizeof(*impl)) {
		snprintf(text, text_bytes, "its table has version %u and %u bytes, expected %u and %zu",
			 impl->abi_version, impl->struct_bytes, O2_IMPL_ABI_VERSION, sizeof(*impl));
		return false;
	}
	object->v1 = *impl;
	object->name = impl->name;
	object->inside = impl;
	return true;
}

/* Accept a table that was compiled with fewer stages, or with more stages than this program knows. */
static bool take_2(const struct o2_impl_2 *impl, struct o2_object *object, char *text, size_t text_bytes)
{
	const size_t least = offsetof(struct o2_impl_2, device);

	if (impl == NULL) {
		snprintf(text, text_bytes, "o2_impl_v2 returned NULL");
		return false;
	}
	if (impl->abi_version != O2_IMPL_ABI_VERSION_2 || impl->struct_bytes < least) {
		snprintf(text, text_bytes,
			 "its table of version 2 has version %u and %u bytes, expected %u and at least %zu",
			 impl->abi_version, impl->struct_bytes, O2_IMPL_ABI_VERSION_2, least);
		return false;
	}
	memcpy(&object->v2, impl,
	       impl->struct_bytes < sizeof(object->v2) ? impl->struct_bytes : sizeof(object->v2));
	if (object->name == NULL)
		object->name = impl->name;
	object->inside = impl;
	return true;
}

bool o2_object_load(const char *path, struct o2_object *object, char *text, size_t text_bytes)
{
	const struct o2_impl *(*table_1)(void);
	const struct o2_impl_2 *(*table_2)(void);
	void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	memset(object, 0, sizeof(*object));
	if (loaded == NULL) {
		snprintf(text, text_bytes, "%s", dlerror());
		return false;
	}
	*(void **)&table_1 = dlsym(loaded, "o2_impl_v1");
	*(void **)&table_2 = dlsym(loaded, "o2_impl_v2");
	if (table_1 == NULL && table_2 == NULL) {
		snprintf(text, text_bytes, "it defines neither o2_impl_v1 nor o2_impl_v2 (o2ref/impl.h)");
		return false;
	}
	return (table_1 == NULL || take_1(table_1(), object, text, text_bytes)) &&
	       (table_2 == NULL || take_2(table_2(), object, text, text_bytes));
}

/* Whether the table has a function at this offset. */
static bool has_function(const void *table, size_t place)
{
	void (*function)(void);

	memcpy(&function, (const uint8_t *)table + place, sizeof(function));
	return function != NULL;
}

bool o2_object_has(const struct o2_object *object, enum o2_stage stage)
{
	static const size_t entry_1[O2_STAGES_1] = {
		[O2_STAGE_MSG_DECODE] = offsetof(struct o2_impl, msg_decode),
		[O2_STAGE_MSG_ENCODE] = offsetof(struct o2_impl, msg_encode),
		[O2_STAGE_SG_BUILD] = offsetof(struct o2_impl, sg_build),
		[O2_STAGE_DMA_MAP] = offsetof(struct o2_impl, dma_map),
		[O2_STAGE_REG_PLAN] = offsetof(struct o2_impl, reg_plan),
		[O2_STAGE_RDMA_PLAN] = offsetof(struct o2_impl, rdma_plan),
		[O2_STAGE_TRANSFER] = offsetof(struct o2_impl, transfer),
	};
	const struct o2_stage_ops *ops = o2_stage_ops(stage);

	return ops != NULL ? has_function(&object->v2, ops->entry)
			   : has_function(&object->v1, entry_1[stage]);
}

int32_t o2_object_call(const struct o2_object *object, enum o2_stage stage, const struct o2_impl_slot *slot)
{
	const union o2_impl_in *in = slot->in;
	union o2_impl_out *out = slot->out;
	const struct o2_impl *impl = &object->v1;

	if (o2_stage_ops(stage) != NULL)
		return o2_stage_ops(stage)->call(&object->v2, slot);
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
	default:
		break;
	}
	return impl->transfer(&in->transfer, &out->transfer, slot->refusal);
}
