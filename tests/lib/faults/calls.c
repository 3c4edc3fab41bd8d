/* SPDX-License-Identifier: MIT */
#include "tests/lib/faults/calls.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mem/dma_map.h"

static enum faulty_call armed;
static uint32_t left;
static int fails_with;
static bool fired;
static struct faulty_call_held held;

const char *faulty_call_name(enum faulty_call call)
{
#define NAME(ID, name, code) [CALL_##ID] = name,
	static const char *const names[CALLS] = {[CALL_MAPPING] = "mapping",
						 [CALL_EXECUTE] = "work request",
						 [CALL_MESSAGE] = "message",
						 [CALL_REQUEST] = "request",
						 FAULTY_CALLS(NAME)};
#undef NAME

	return names[call];
}

void faulty_call_arm(enum faulty_call call, uint32_t nth, int code)
{
	armed = call;
	left = nth;
	fails_with = code;
	fired = false;
}

bool faulty_call_due(enum faulty_call call)
{
	if (call != armed || left == 0 || --left > 0)
		return false;
	fired = true;
	errno = fails_with;
	return true;
}

bool faulty_call_fired(void)
{
	return fired;
}

struct faulty_call_held faulty_call_held(void)
{
	return held;
}

/*
 * Each wrapper fails if faulty_call_due() says so, and otherwise calls the real function.  The linker requires
 * the names __wrap_X and __real_X (ld(1), --wrap).
 */
#define WRAP(call, type, failure, name, parameters, arguments)                      \
	type __real_##name parameters;                                              \
	type __wrap_##name parameters;                                              \
	type __wrap_##name parameters                                               \
	{                                                                           \
		return faulty_call_due(call) ? (failure) : __real_##name arguments; \
	}

/* --- memory --- */

static void *allocated(void *memory)
{
	held.allocations += memory != NULL;
	return memory;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return faulty_call_due(CALL_MALLOC) ? NULL : allocated(__real_malloc(size));
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return faulty_call_due(CALL_CALLOC) ? NULL : allocated(__real_calloc(count, size));
}

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size)
{
	void *grown = faulty_call_due(CALL_REALLOC) ? NULL : __real_realloc(memory, size);

	return memory == NULL ? allocated(grown) : grown;
}

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return faulty_call_due(CALL_ALIGNED_ALLOC) ? NULL : allocated(__real_aligned_alloc(alignment, size));
}

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
	held.allocations -= memory != NULL;
	__real_free(memory);
}

void *__real_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	void *memory = faulty_call_due(CALL_MMAP) ? MAP_FAILED
						  : __real_mmap(at, length, protection, flags, fd, offset);

	/* MAP_FIXED replaces an existing mapping, and so maps no additional bytes. */
	if (memory != MAP_FAILED && (flags & MAP_FIXED) == 0)
		held.mapped_bytes += (int64_t)length;
	return memory;
}

int __real_munmap(void *memory, size_t length);
int __wrap_munmap(void *memory, size_t length);
int __wrap_munmap(void *memory, size_t length)
{
	held.mapped_bytes -= (int64_t)length;
	return __real_munmap(memory, length);
}

WRAP(CALL_MEMFD_CREATE, int, -1, memfd_create, (const char *name, unsigned int flags), (name, flags))
WRAP(CALL_FTRUNCATE, int, -1, ftruncate, (int fd, off_t length), (fd, length))

/* --- verbs that the linker can wrap; some of these names are macros --- */

#undef ibv_get_device_list
#undef ibv_reg_mr

WRAP(CALL_GET_DEVICE_LIST, struct ibv_device **, NULL, ibv_get_device_list, (int *count), (count))
WRAP(CALL_QUERY_DEVICE, int, fails_with, ibv_query_device,
     (struct ibv_context * context, struct ibv_device_attr *attr), (context, attr))
WRAP(CALL_QUERY_GID, int, -1, ibv_query_gid,
     (struct ibv_context * context, uint8_t port, int index, union ibv_gid *gid), (context, port, index, gid))
WRAP(CALL_ALLOC_PD, struct ibv_pd *, NULL, ibv_alloc_pd, (struct ibv_context * context), (context))
WRAP(CALL_REG_MR, struct ibv_mr *, NULL, ibv_reg_mr,
     (struct ibv_pd * pd, void *addr, size_t length, int access), (pd, addr, length, access))
WRAP(CALL_REG_MR, struct ibv_mr *, NULL, ibv_reg_mr_iova2,
     (struct ibv_pd * pd, void *addr, size_t length, uint64_t iova, unsigned int access),
     (pd, addr, length, iova, access))
WRAP(CALL_CREATE_CQ, struct ibv_cq *, NULL, ibv_create_cq,
     (struct ibv_context * context, int entries, void *cq_context, struct ibv_comp_channel *channel,
      int vector),
     (context, entries, cq_context, channel, vector))
WRAP(CALL_CREATE_QP, struct ibv_qp *, NULL, ibv_create_qp,
     (struct ibv_pd * pd, struct ibv_qp_init_attr *attr), (pd, attr))
WRAP(CALL_MODIFY_QP, int, fails_with, ibv_modify_qp, (struct ibv_qp * qp, struct ibv_qp_attr *attr, int mask),
     (qp, attr, mask))
WRAP(CALL_DEREG_MR, int, fails_with, ibv_dereg_mr, (struct ibv_mr * mr), (mr))
WRAP(CALL_DESTROY_QP, int, fails_with, ibv_destroy_qp, (struct ibv_qp * qp), (qp))
WRAP(CALL_DESTROY_CQ, int, fails_with, ibv_destroy_cq, (struct ibv_cq * cq), (cq))
WRAP(CALL_CREATE_COMP_CHANNEL, struct ibv_comp_channel *, NULL, ibv_create_comp_channel,
     (struct ibv_context * context), (context))
WRAP(CALL_GET_CQ_EVENT, int, -1, ibv_get_cq_event,
     (struct ibv_comp_channel * channel, struct ibv_cq **cq, void **context), (channel, cq, context))
WRAP(CALL_DESTROY_COMP_CHANNEL, int, fails_with, ibv_destroy_comp_channel,
     (struct ibv_comp_channel * channel), (channel))
WRAP(CALL_DEALLOC_PD, int, fails_with, ibv_dealloc_pd, (struct ibv_pd * pd), (pd))
WRAP(CALL_CLOSE_DEVICE, int, -1, ibv_close_device, (struct ibv_context * context), (context))

/* --- verbs that are called through the device's table of operations --- */

static struct ibv_context_ops real;
static int (*real_query_port)(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
			      size_t attr_bytes);

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	if (!faulty_call_due(CALL_POST_SEND))
		return real.post_send(qp, wr, bad);
	*bad = wr;
	return fails_with;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	if (!faulty_call_due(CALL_POST_RECV))
		return real.post_recv(qp, wr, bad);
	*bad = wr;
	return fails_with;
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	return faulty_call_due(CALL_POLL_CQ) ? -1 : real.poll_cq(cq, count, wc);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return faulty_call_due(CALL_REQ_NOTIFY_CQ) ? fails_with : real.req_notify_cq(cq, solicited_only);
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	return faulty_call_due(CALL_ALLOC_MW) ? NULL : real.alloc_mw(pd, type);
}

static int dealloc_mw(struct ibv_mw *mw)
{
	return faulty_call_due(CALL_DEALLOC_MW) ? fails_with : real.dealloc_mw(mw);
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		      size_t attr_bytes)
{
	return faulty_call_due(CALL_QUERY_PORT) ? fails_with
						: real_query_port(context, port, attr, attr_bytes);
}

struct ibv_context *__real_ibv_open_device(struct ibv_device *device);
struct ibv_context *__wrap_ibv_open_device(struct ibv_device *device);
struct ibv_context *__wrap_ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context =
		faulty_call_due(CALL_OPEN_DEVICE) ? NULL : __real_ibv_open_device(device);

	if (context == NULL)
		return NULL;
	real = context->ops;
	real_query_port = verbs_get_ctx(context)->query_port;
	verbs_get_ctx(context)->query_port = query_port;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	context->ops.poll_cq = poll_cq;
	context->ops.req_notify_cq = req_notify_cq;
	context->ops.alloc_mw = alloc_mw;
	context->ops.dealloc_mw = dealloc_mw;
	return context;
}

/* --- calls of this library --- */

int __real_o2_dma_map(const struct o2_sg_list *sg, const struct o2_dma_device *device,
		      struct o2_dma_list *list, struct o2_error *error);
int __wrap_o2_dma_map(const struct o2_sg_list *sg, const struct o2_dma_device *device,
		      struct o2_dma_list *list, struct o2_error *error);
int __wrap_o2_dma_map(const struct o2_sg_list *sg, const struct o2_dma_device *device,
		      struct o2_dma_list *list, struct o2_error *error)
{
	struct o2_dma_device failing = *device;

	if (device->kind == O2_DMA_IOMMU && faulty_call_due(CALL_MAPPING))
		failing.iommu.fault = fails_with == ENOMEM ? O2_DMA_FAULT_ENOMEM : O2_DMA_FAULT_EIO;
	return __real_o2_dma_map(sg, &failing, list, error);
}
