/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/resource.h>

#include "reg/mode.h"
#include "tests/lib/lnd_memory.h"
#include "tests/lib/lnd_pair.h"

/* Registration of plans (docs/modes.md): the calls to the device, and the release of everything. */

static struct side side;

static int open_side(void **state)
{
	side_open(&side, true, O2_DMA_BUS, 0x100000000ull);
	return 0;
}

static int close_side(void **state)
{
	side_assert_idle(&side);
	assert_objects(1, side.ni.domain.live.regions, side.ni.domain.live.mws);
	o2_ni_close(&side.ni);
	assert_objects(0, 0, 0);
	return 0;
}

static struct o2_reg_plan plan_of(const struct o2_buffer *buffer, enum o2_reg_mode mode, enum o2_side which)
{
	static struct o2_sg_list sg;
	static struct o2_dma_list dma;
	struct o2_address_space space = o2_arena_space(&side.ni.arena);
	struct o2_reg_request request = {.mode = mode,
					 .side = which,
					 .page_bytes = space.page_bytes,
					 .max_pages = O2_MAX_FRAGS,
					 .peer_max_frags = O2_MAX_FRAGS};
	struct o2_reg_plan plan;

	assert_int_equal(o2_sg_build(buffer, &space, O2_MAX_FRAGS, &sg, NULL), 0);
	assert_int_equal(o2_dma_map(&sg, &side.ni.domain.dma, &dma, NULL), 0);
	request.gaps = sg.gaps;
	assert_int_equal(o2_reg_plan(&request, &dma, &plan, NULL), 0);
	return plan;
}

static struct o2_reg_plan dense_plan(enum o2_reg_mode mode, enum o2_side which)
{
	static struct o2_kiov kiov[8];
	struct o2_buffer buffer = dense_kiov(kiov, 3, 100, 9000);

	return plan_of(&buffer, mode, which);
}

static void unbind(struct o2_binding *binding)
{
	assert_int_equal(o2_reg_unbind(&side.ni.domain, binding, false, NULL), 0);
}

static int refusal;

static struct ibv_mr *refuse_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)pd;
	(void)addr;
	(void)length;
	(void)iova;
	(void)access;
	errno = refusal;
	return NULL;
}

/* A failure caused by the limit on locked memory reports the limit and the requested size. */
TEST_WITH(says_that_locked_memory_is_short, open_side, close_side)
{
	static const struct o2_reg_verbs refusing = {refuse_mr, ibv_dereg_mr};
	static const enum o2_reg_mode modes[] = {O2_REG_FMR, O2_REG_FASTREG, O2_REG_PHYS};
	const struct o2_reg_verbs *verbs = side.ni.domain.verbs;
	struct rlimit before, limit;

	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
	limit = before;
	limit.rlim_cur = 65536;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	side.ni.domain.verbs = &refusing;
	for (uint32_t i = 0; i < 6; i++) {
		const struct o2_reg_plan plan = dense_plan(modes[i / 2], O2_SINK);
		struct o2_binding binding = {.bound = false};
		struct o2_error error;
		char text[300];

		refusal = i % 2 == 0 ? ENOMEM : EAGAIN;
		assert_int_equal(o2_reg_bind(&side.ni.domain, 0, &plan, &binding, &error), -ENOMEM);
		assert_string_equal(error.rule, "bind/memlock");
		assert_int_equal(error.value, 9000);
		assert_int_equal(error.limit, 65536);
		o2_error_text(&error, text, sizeof(text));
		assert_non_null(strstr(text, "RLIMIT_MEMLOCK"));
		refusal = EINVAL;
		assert_int_equal(o2_reg_bind(&side.ni.domain, 0, &plan, &binding, &error), -EINVAL);
		assert_string_equal(error.rule, "bind/register");
	}
	side.ni.domain.verbs = verbs;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

TEST_WITH(global_has_two_regions, open_side, close_side)
{
	struct o2_reg_plan source = dense_plan(O2_REG_GLOBAL, O2_SOURCE);
	struct o2_reg_plan sink = dense_plan(O2_REG_GLOBAL, O2_SINK);
	struct o2_binding a, b;

	assert_int_equal(o2_reg_bind(&side.ni.domain, 0, &source, &a, NULL), 0);
	assert_int_equal(o2_reg_bind(&side.ni.domain, 0, &sink, &b, NULL), 0);
	assert_int_equal(side.ni.domain.nbound, 2);
	assert_int_equal(a.key, side.ni.domain.global_local->lkey);
	assert_int_equal(b.key, side.ni.domain.global_remote->rkey);
	assert_true(side.ni.domain.global_local->lkey != side.ni.domain.global_remote->lkey);
	assert_false(o2_binding_needs_invalidate(&b));
	unbind(&a);
	unbind(&b);
	assert_false(a.bound);
	unbind(&a); /* has no effect */
}

TEST_WITH(fmr_registers_exactly_the_plan, open_side, close_side)
{
	for (int which = O2_SOURCE; which <= O2_SINK; which++) {
		struct o2_reg_plan plan = dense_plan(O2_REG_FMR, (enum o2_side)which);
		const struct o2_region *region;
		struct o2_binding binding;

		assert_int_equal(o2_reg_bind(&side.ni.domain, 0, &plan, &binding, NULL), 0);
		region = binding.fmr->handle;
		assert_ptr_equal(region->mr->addr, region->window.addr + 100);
		assert_int_equal(region->mr->length, 9000);
		assert_int_equal(binding.key, which == O2_SOURCE ? region->mr->lkey : region->mr->rkey);
		assert_int_equal(side.ni.domain.live.fmr_regions, 1);
		/* The window maps the pages of the plan. */
		for (uint32_t i = 0; i < plan.npages; i++) {
			uint8_t *page = o2_arena_page(
				&side.ni.arena,
				(uint32_t)((plan.page[i] - side.ni.domain.dma.base) / plan.page_bytes));

			page[50] = (uint8_t)(i + 1);
			assert_int_equal(region->window.addr[(uint64_t)i * plan.page_bytes + 50], i + 1);
		}
		unbind(&binding);
	}
}

TEST_WITH(fastreg_prepares_a_window, open_side, close_side)
{
	struct o2_reg_plan source = dense_plan(O2_REG_FASTREG, O2_SOURCE);
	struct o2_reg_plan sink = dense_plan(O2_REG_FASTREG, O2_SINK);
	const struct o2_descriptor *descriptor;
	const struct o2_frd *frd;
	struct o2_binding binding;
	struct ibv_send_wr chain[O2_BINDING_CHAIN], wr;
	uint32_t old;

	assert_int_equal(o2_reg_bind(&side.ni.domain, 0, &source, &binding, NULL), 0);
	descriptor = binding.frd->handle;
	assert_int_equal(o2_binding_chain(&binding, 77, chain), 0);
	assert_int_equal(binding.key, descriptor->region.mr->lkey);
	unbind(&binding);
	assert_int_equal(o2_reg_bind(&side.ni.domain, 0, &sink, &binding, NULL), 0);
	assert_false(o2_binding_needs_invalidate(&binding));
	descriptor = binding.frd->handle;
	old = descriptor->mw->rkey;
	assert_int_equal(binding.key, ibv_inc_rkey(old));
	assert_int_equal(o2_binding_chain(&binding, 77, chain), 1);
	wr = chain[0];
	assert_int_equal(wr.wr_id, 77);
	assert_int_equal(wr.opcode, IBV_WR_BIND_MW);
	assert_int_equal(wr.send_flags, 0);
	assert_int_equal(wr.bind_mw.rkey, binding.key);
	assert_true(wr.bind_mw.bind_info.addr == sink.iova);
	assert_true(wr.bind_mw.bind_info.length == sink.length);
	assert_int_equal(wr.bind_mw.bind_info.mw_access_flags, IBV_ACCESS_REMOTE_WRITE);
	/* The provider needs the old key in mw->rkey when the bind is posted. */
	assert_int_equal(descriptor->mw->rkey, old);
	/* If nothing was posted, the descriptor returns to the pool, and its next key is still unused. */
	frd = binding.frd;
	unbind(&binding);
	assert_int_equal(frd->key.state, O2_FRD_IDLE_PREPARED);
	assert_int_equal(frd->key.rkey, ibv_inc_rkey(old));
	assert_int_equal(descriptor->mw->rkey, old);
	assert_null(descriptor->region.mr);
}

static void refuses(const struct o2_reg_plan *plan, int code, const char *rule)
{
	struct o2_binding binding;
	struct o2_error error;

	o2_error_clear(&error);
	assert_error(o2_reg_bind(&side.ni.domain, 0, plan, &binding, &error), code, &error, rule);
	assert_false(binding.bound);
	assert_int_equal(side.ni.domain.nbound, 0);
}

/* A device that refuses to deregister regions while busy is set. */
static bool busy;

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, access);
}

static int dereg_mr(struct ibv_mr *mr)
{
	return busy ? EBUSY : ibv_dereg_mr(mr);
}

/* Binds and releases the plan, the given number of times. */
static void bind_times(const struct o2_reg_plan *plan, uint32_t times)
{
	struct o2_binding binding;

	while (times-- > 0) {
		assert_int_equal(o2_reg_bind(&side.ni.domain, 0, plan, &binding, NULL), 0);
		unbind(&binding);
	}
}

/* The plan has no gaps; mode fastreg_gaps takes it too. */
static void assert_kept_region_ends(enum o2_reg_mode mode, enum o2_side which, const char *rule)
{
	struct o2_reg_domain *domain = &side.ni.domain;
	const struct o2_reg_pools *pools = &domain->pools[0];
	/* The pool hands out its descriptors in turn. */
	const uint32_t turns = mode == O2_REG_FMR ? 1 : pools->frd.config.pool_size;
	const struct o2_reg_plan plan = dense_plan(mode, which);
	const uint32_t regions = domain->live.regions, windows = side.ni.arena.windows_in_use;
	const uint64_t pinned = domain->live.pinned_bytes;
	struct o2_binding binding;
	struct o2_error error;

	assert_int_equal(o2_reg_bind(domain, 0, &plan, &binding, NULL), 0);
	busy = true;
	assert_error(o2_reg_unbind(domain, &binding, false, &error), -EBUSY, &error, rule);
	assert_false(binding.bound);
	assert_int_equal(domain->live.regions, regions + 1);
	busy = false;
	bind_times(&plan, turns - 1);
	assert_int_equal(domain->live.regions, regions + 1);
	busy = true;
	if (mode != O2_REG_FMR)
		assert_error(o2_reg_bind(domain, 0, &plan, &binding, &error), -EBUSY, &error, rule);
	busy = false;
	bind_times(&plan, turns);
	assert_int_equal(domain->live.regions, regions);
	assert_int_equal(domain->live.pinned_bytes, pinned);
	assert_int_equal(side.ni.arena.windows_in_use, windows);
}

TEST_WITH(a_region_that_the_device_keeps_is_tried_again, open_side, close_side)
{
	static const struct o2_reg_verbs verbs = {reg_mr, dereg_mr};
	const struct o2_reg_verbs *own = side.ni.domain.verbs;

	side.ni.domain.verbs = &verbs;
	for (int which = O2_SOURCE; which <= O2_SINK; which++) {
		assert_kept_region_ends(O2_REG_FMR, (enum o2_side)which, "pool/fmr/key-alive");
		assert_kept_region_ends(O2_REG_FASTREG, (enum o2_side)which, "bind/deregister");
		assert_kept_region_ends(O2_REG_FASTREG_GAPS, (enum o2_side)which, "bind/deregister");
	}
	side.ni.domain.verbs = own;
}

TEST_WITH(refuses_plans_that_are_not_possible, open_side, close_side)
{
	struct o2_reg_plan good = dense_plan(O2_REG_FMR, O2_SINK);
	struct o2_reg_plan plan;

	plan = good;
	plan.page[1] = 0x1000;
	refuses(&plan, -EINVAL, "bind/page-outside-device");
	plan.page[1] = side.ni.domain.dma.base + (uint64_t)PAIR_PAGES * plan.page_bytes;
	refuses(&plan, -EINVAL, "bind/page-outside-device");
	plan.page[1] = side.ni.domain.dma.base + 8;
	refuses(&plan, -EINVAL, "bind/page-alignment");
	plan = good;
	plan.npages = O2_MAX_FRAGS + 1;
	refuses(&plan, -EINVAL, "bind/npages");
	plan = good;
	plan.length = 3 * 4096;
	refuses(&plan, -EINVAL, "bind/length");
	plan = good;
	plan.iova += 1;
	refuses(&plan, -EINVAL, "bind/iova-not-congruent");
	plan = good;
	plan.page_bytes = 65536;
	refuses(&plan, -EINVAL, "bind/page-size");
	plan = good;
	plan.nfrags = 0;
	refuses(&plan, -EINVAL, "bind/nfrags");
	plan = good;
	plan.mode = O2_REG_MODES;
	refuses(&plan, -EINVAL, "bind/mode");
	plan = good;
	plan.side = (enum o2_side)2;
	refuses(&plan, -EINVAL, "bind/side");
	plan = dense_plan(O2_REG_FASTREG_GAPS, O2_SINK);
	plan.length++;
	refuses(&plan, -EINVAL, "bind/length");
	plan = dense_plan(O2_REG_FASTREG, O2_SINK);
	plan.access = 0;
	refuses(&plan, -EINVAL, "bind/fastreg/sink-access");
	plan = dense_plan(O2_REG_FASTREG, O2_SINK);
	plan.npages = 0;
	refuses(&plan, -EINVAL, "bind/npages");
}

TEST_WITH(refuses_a_partition_that_is_not_there, open_side, close_side)
{
	const struct o2_reg_plan plan = dense_plan(O2_REG_FMR, O2_SINK);
	struct o2_binding binding;
	struct o2_error error;

	o2_error_clear(&error);
	assert_error(o2_reg_bind(&side.ni.domain, side.ni.domain.ncpts, &plan, &binding, &error), -EINVAL,
		     &error, "bind/cpt");
	assert_false(binding.bound);
}

/* A domain without CPU partitions is refused, and so are addresses that wrap around. */
TEST_WITH(refuses_domains_that_cannot_be, open_side, close_side)
{
	struct o2_reg_config config = {.pd = side.ni.domain.pd, .arena = &side.ni.arena, .ncpts = 0};
	struct o2_reg_domain domain;
	struct o2_error error;

	o2_error_clear(&error);
	assert_error(o2_reg_domain_open(&config, &domain, &error), -EINVAL, &error, "bind/ncpts");
	config.ncpts = 1;
	config.base = UINT64_MAX - side.ni.arena.page_bytes + 1;
	assert_error(o2_reg_domain_open(&config, &domain, &error), -EINVAL, &error, "bind/base-wraps");
}

/* A device that bounces has no view: a mode user registration must fit one window there. */
TEST_WITH(user_bounced_fits_a_window, open_side, close_side)
{
	struct o2_reg_plan plan = {.mode = O2_REG_USER,
				   .side = O2_SINK,
				   .page_bytes = side.ni.arena.page_bytes,
				   .nfrags = 1,
				   .access = O2_ACCESS_LOCAL_WRITE | O2_ACCESS_REMOTE_WRITE,
				   .iova = side.ni.arena.view[1].base + 100,
				   .length = (uint64_t)O2_MAX_FRAGS * side.ni.arena.page_bytes};
	struct o2_binding binding;

	assert_int_equal(o2_ni_set_bounce(&side.ni, true, NULL), 0);
	refuses(&plan, -EINVAL, "bind/npages");
	plan.length -= 100;
	assert_int_equal(o2_reg_bind(&side.ni.domain, 0, &plan, &binding, NULL), 0);
	unbind(&binding);
	plan.iova = 8;
	refuses(&plan, -EFAULT, "bind/user/no-such-memory");
	plan.length = 0;
	refuses(&plan, -EINVAL, "bind/length");
}

TEST_WITH(changes_how_addresses_look, open_side, close_side)
{
	struct o2_reg_plan plan = dense_plan(O2_REG_FMR, O2_SOURCE);
	struct o2_binding binding;
	struct o2_error error;

	assert_int_equal(o2_reg_bind(&side.ni.domain, 0, &plan, &binding, NULL), 0);
	assert_int_equal(o2_ni_set_dma(&side.ni, O2_DMA_VIRTUAL, 0, &error), -EBUSY);
	unbind(&binding);
	assert_error(o2_ni_set_dma(&side.ni, O2_DMA_BUS, 0x123, &error), -EINVAL, &error,
		     "bind/base-alignment");
	assert_int_equal(o2_ni_set_dma(&side.ni, O2_DMA_BUS, UINT64_MAX - 4095, &error), -EINVAL);
	/* The refusal has not changed the domain. */
	assert_int_equal(o2_reg_bind(&side.ni.domain, 0, &plan, &binding, NULL), 0);
	unbind(&binding);
	assert_int_equal(o2_ni_set_dma(&side.ni, O2_DMA_VIRTUAL, 0, &error), 0);
	assert_true(side.ni.domain.dma.base == (uintptr_t)side.ni.arena.memory);
	refuses(&plan, -EINVAL, "bind/page-outside-device");
}

/* A kept region, found again after a change, would show the memory of before. */
TEST_WITH(a_change_flushes_what_is_kept, open_side, close_side)
{
	struct o2_reg_domain *domain = &side.ni.domain;
	const struct o2_reg_plan plan = dense_plan(O2_REG_FMR, O2_SINK);
	const uint32_t page = (uint32_t)((plan.page[0] - domain->dma.base) / plan.page_bytes);
	struct o2_binding binding;

	domain->fmr_lazy = true;
	for (int bounce = 1; bounce >= 0; bounce--) {
		const uint32_t behind = o2_arena_bounce(&side.ni.arena, O2_DMA_FROM_DEVICE, page);

		bind_times(&plan, 1);
		assert_int_equal(domain->live.fmr_regions, 1);
		assert_int_equal(o2_ni_set_bounce(&side.ni, bounce, NULL), 0);
		assert_int_equal(domain->live.fmr_regions, 0);
		assert_int_equal(o2_reg_bind(domain, 0, &plan, &binding, NULL), 0);
		o2_arena_page(&side.ni.arena, bounce ? behind : page)[50] = (uint8_t)(bounce + 1);
		assert_int_equal(((struct o2_region *)binding.fmr->handle)->window.addr[50], bounce + 1);
		unbind(&binding);
	}
	assert_int_equal(domain->live.fmr_regions, 1);
	assert_int_equal(o2_ni_set_dma(&side.ni, O2_DMA_BUS, 0x200000000ull, NULL), 0);
	assert_int_equal(domain->live.fmr_regions, 0);
}

/* If its pages cannot be mapped behind its addresses, an IOMMU is refused, with bounce pages or without. */
TEST_WITH(pages_of_an_iommu_cannot_be_mapped, open_side, close_side)
{
	struct o2_arena *arena = &side.ni.arena;
	const int fd = arena->fd;
	struct o2_error error;

	for (int bounce = 0; bounce < 2; bounce++) {
		assert_int_equal(o2_ni_set_bounce(&side.ni, bounce, NULL), 0);
		arena->fd = -1;
		assert_error(o2_ni_set_dma(&side.ni, O2_DMA_IOMMU, 0, &error), -EBADF, &error,
			     "arena/view-map");
		arena->fd = fd;
		assert_int_equal(side.ni.domain.dma.kind, O2_DMA_BUS);
	}
	assert_int_equal(o2_ni_set_dma(&side.ni, O2_DMA_IOMMU, 0, NULL), 0);
}

TEST(says_what_an_interface_lacks)
{
	struct o2_ni_config config = {.device = "no-such-device", .port = 1, .arena_pages = 1};
	struct o2_ni ni;
	struct o2_error error;

	assert_error(o2_ni_open(&config, &ni, &error), -ENODEV, &error, "ni/no-such-device");
	config.device = env_or("O2REF_TEST_DEVICE_A", "loop0");
	config.gid_index = 200;
	assert_int_equal(o2_ni_open(&config, &ni, &error), -EADDRNOTAVAIL);
	/* The limit is the last one that there is; a device with a longer table has an empty one at 200. */
	config.gid_index = strcmp(error.rule, "ni/gid-index") == 0 ? (uint8_t)error.limit : 200;
	if (o2_ni_open(&config, &ni, &error) == 0)
		o2_ni_close(&ni);
	else
		assert_string_equal(error.rule, "ni/gid-empty");
	config.port = 9;
	assert_true(o2_ni_open(&config, &ni, &error) < 0);
	assert_string_equal(error.rule, "ni/port");
	assert_objects(0, 0, 0);
}
