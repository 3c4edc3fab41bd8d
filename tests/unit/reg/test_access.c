/* SPDX-License-Identifier: MIT */
#include "mem/sg_build.h"
#include "props/world/device.h"
#include "reg/mode.h"
#include "tests/lib/lnd_memory.h"
#include "tests/lib/lnd_pair.h"

/*
 * The memory that a peer can reach with the key of a sink, mode by mode (docs/modes.md, "What a peer can
 * reach").  The peer is side a, which posts WRITEs itself, without the transport; the memory is side b's.
 */

#define FIRST  3u /* index in scattered_page() of the buffer's first page */
#define OFFSET 100u

enum reach {
	STALE_KEY,
	FOREIGN_KEY,
	BYTE_BEFORE,
	BYTE_AFTER,
	GAP_BYTE,
	UNDER_WINDOW,	    /* uses the rkey of the region that the sink's MW is bound to */
	NO_PERMISSION,	    /* uses the lkey of a source, with which its own node gathers */
	NO_PERMISSION_RKEY, /* uses the rkey of the same region */
	REACHES,
};

static const char *const reach_names[REACHES] = {
	"stale key", "foreign key",  "byte before",   "byte after",
	"gap byte",  "under the MW", "no permission", "no permission, by rkey"};

/* A row of the table. */
struct row {
	enum o2_reg_mode mode;
	enum { PLAIN, STAGED, LAZY, KERNEL_ORDER } how;
	bool admitted[REACHES];
	int gapped; /* result of registering a gapped list; 0: registered */
};

static const char *const how_names[] = {
	[PLAIN] = "", [STAGED] = " by staging", [LAZY] = ", lazy", [KERNEL_ORDER] = ", kernel's order"};

static const struct row rows[] = {
	{O2_REG_GLOBAL,
	 PLAIN,
	 {[STALE_KEY] = true, [BYTE_BEFORE] = true, [BYTE_AFTER] = true, [GAP_BYTE] = true},
	 0},
	{O2_REG_FMR, PLAIN, {[GAP_BYTE] = true}, 0},
	{O2_REG_FMR, LAZY, {[STALE_KEY] = true, [GAP_BYTE] = true}, 0},
	{O2_REG_FASTREG, PLAIN, {false}, -EPROTONOSUPPORT},
	{O2_REG_FASTREG, KERNEL_ORDER, {[STALE_KEY] = true}, -EPROTONOSUPPORT},
	{O2_REG_USER, PLAIN, {false}, -EPROTONOSUPPORT},
	{O2_REG_PHYS, PLAIN, {false}, -EINVAL},
	{O2_REG_FASTREG_GAPS, PLAIN, {false}, 0},
	{O2_REG_FASTREG_GAPS, STAGED, {false}, 0},
};

static struct o2_kiov kiov[16];
static struct o2_iov iov[4];

/* Soft-RoCE cannot register memory by work requests. */
static bool can_be_had(const struct row *row)
{
	return row->how != KERNEL_ORDER || o2_device_reg_fast() != NULL;
}

static struct pair *open_row(const struct row *row)
{
	struct o2_ni_config a = side_config(true, O2_DMA_VIRTUAL, 0);
	struct o2_ni_config b = side_config(false, O2_DMA_BUS, 0x10000000);
	struct pair *pair;

	if (row->how == KERNEL_ORDER)
		b.reg_fast = o2_device_reg_fast();
	pair = pair_open_ni(&a, &b, &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
	pair->b.ni.domain.gaps_by_staging = row->how == STAGED;
	pair->b.ni.domain.fmr_lazy = row->how == LAZY;
	return pair;
}

static void close_row(struct pair *pair)
{
	o2_reg_flush(&pair->b.ni.domain);
	pair_close(pair);
}

/* Plans a registration of side b's memory; returns 0 or the errno of o2_reg_plan. */
static int make_plan(struct side *side, const struct row *row, enum o2_side which, bool gapped_list,
		     struct o2_reg_plan *plan)
{
	static struct o2_sg_list sg;
	static struct o2_dma_list dma;
	struct o2_address_space space = o2_arena_space(&side->ni.arena);
	struct o2_reg_request request = {.mode = row->mode,
					 .side = which,
					 .page_bytes = space.page_bytes,
					 .max_pages = O2_MAX_FRAGS,
					 .peer_max_frags = O2_MAX_FRAGS,
					 .iova = 0x10000};
	struct o2_buffer buffer =
		gapped_list ? gapped_kiov(kiov, FIRST, 5, 500) : dense_kiov(kiov, FIRST, OFFSET, 9000);

	if (row->mode == O2_REG_USER) {
		buffer = view_iov(side, iov, 1, 4096 * FIRST + OFFSET, 9000);
		iov[2].base += gapped_list;
	}
	assert_int_equal(o2_sg_build(&buffer, &space, O2_MAX_FRAGS, &sg, NULL), 0);
	assert_int_equal(o2_dma_map(&sg, &side->ni.domain.dma, &dma, NULL), 0);
	request.gaps = sg.gaps && row->mode != O2_REG_USER;
	if (row->mode == O2_REG_USER)
		request.contiguous = o2_virtual_range(&buffer, &request.iova);
	return o2_reg_plan(&request, &dma, plan, NULL);
}

static struct ibv_wc poll_one(struct o2_conn *conn)
{
	time_t start = pair_now();
	struct ibv_wc wc;

	while (ibv_poll_cq(conn->cq, 1, &wc) == 0)
		if (pair_now() - start > PAIR_SECONDS)
			fail_msg("no completion");
	return wc;
}

/* Writes one byte of a's message slots to an address of b; returns the status of the WRITE. */
static enum ibv_wc_status write_byte(struct pair *pair, uint64_t addr, uint32_t rkey)
{
	struct ibv_sge sge = {(uintptr_t)pair->a.conn->rx_area, 1, pair->a.conn->rx_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {.remote_addr = addr, .rkey = rkey}};
	struct ibv_send_wr *bad;

	assert_int_equal(ibv_post_send(pair->a.conn->qp, &wr, &bad), 0);
	return poll_one(pair->a.conn).status;
}

/* Registers the plan, and makes the key valid as a message would. */
static void bind_sink(struct side *side, const struct o2_reg_plan *plan, struct o2_binding *binding)
{
	struct ibv_send_wr wr[O2_BINDING_CHAIN], *bad;
	uint32_t requests;

	assert_int_equal(o2_reg_bind(&side->ni.domain, 0, plan, binding, NULL), 0);
	requests = o2_binding_chain(binding, 1, wr);
	if (requests == 0)
		return;
	for (uint32_t i = 1; i < requests; i++)
		wr[i - 1].next = &wr[i];
	wr[requests - 1].send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(ibv_post_send(side->conn->qp, wr, &bad), 0);
	o2_binding_posted(binding, side->conn->qp->qp_num, requests, true);
	assert_int_equal(poll_one(side->conn).status, IBV_WC_SUCCESS);
}

static void release(struct side *side, struct o2_binding *binding, bool alive)
{
	struct ibv_send_wr wr, *bad;

	if (o2_binding_needs_invalidate(binding) && alive) {
		o2_binding_invalidate_wr(binding, 2, &wr);
		assert_int_equal(ibv_post_send(side->conn->qp, &wr, &bad), 0);
		o2_binding_invalidate_posted(binding, true);
		assert_int_equal(poll_one(side->conn).status, IBV_WC_SUCCESS);
		o2_binding_invalidated(binding);
	}
	assert_int_equal(o2_reg_unbind(&side->ni.domain, binding, false, NULL), 0);
}

/* Returns the end of the first fragment; in a gapped list the hole starts there. */
static uint64_t end_of_first(const struct o2_reg_plan *plan)
{
	return plan->frag[0].rf_addr + plan->frag[0].rf_nob;
}

/* Returns the memory region of a binding. */
static const struct ibv_mr *region_of(const struct o2_reg_domain *domain, const struct o2_binding *binding)
{
	const struct o2_descriptor *descriptor = binding->frd != NULL ? binding->frd->handle : NULL;

	if (binding->mode == O2_REG_GLOBAL)
		return binding->side == O2_SOURCE ? domain->global_local : domain->global_remote;
	if (binding->fmr != NULL)
		return ((const struct o2_region *)binding->fmr->handle)->mr;
	if (descriptor == NULL)
		return binding->region.mr;
	return descriptor->fast != NULL ? descriptor->fast : descriptor->region.mr;
}

/* Tries one cell of the table, on a new connection; returns the status of the WRITE. */
static enum ibv_wc_status try_cell(struct pair *pair, const struct row *row, enum reach reach)
{
	bool gapped_list = reach == GAP_BYTE;
	enum o2_side which = reach >= NO_PERMISSION ? O2_SOURCE : O2_SINK;
	enum ibv_wc_status status;
	struct o2_reg_plan plan;
	struct o2_binding binding;
	struct ibv_pd *pd = NULL;
	struct ibv_mr *mr = NULL;
	uint64_t first;
	uint32_t key;

	assert_int_equal(make_plan(&pair->b, row, which, gapped_list, &plan), 0);
	bind_sink(&pair->b, &plan, &binding);
	first = plan.frag[0].rf_addr;
	key = binding.key;
	switch (reach) {
	case STALE_KEY:
		release(&pair->b, &binding, true);
		break;
	case FOREIGN_KEY: /* valid, with every right, but in another protection domain */
		pd = ibv_alloc_pd(pair->b.ni.context);
		assert_non_null(pd);
		mr = ibv_reg_mr_iova(pd, pair->b.ni.arena.memory + first % 4096, 4096, first,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		assert_non_null(mr);
		key = mr->rkey;
		break;
	case BYTE_BEFORE:
		first--;
		break;
	case BYTE_AFTER:
		first = plan.frag[plan.nfrags - 1].rf_addr + plan.frag[plan.nfrags - 1].rf_nob;
		break;
	case GAP_BYTE:
		first = end_of_first(&plan);
		break;
	case UNDER_WINDOW:
	case NO_PERMISSION_RKEY:
		key = region_of(&pair->b.ni.domain, &binding)->rkey;
		break;
	default:
		break;
	}
	status = write_byte(pair, first, key);
	release(&pair->b, &binding, status == IBV_WC_SUCCESS);
	if (mr != NULL)
		ibv_dereg_mr(mr);
	if (pd != NULL)
		ibv_dealloc_pd(pd);
	return status;
}

/* Not every row has the cell. */
static bool has_cell(const struct row *row, enum reach reach)
{
	/* In a region of byte ranges no address refers to a hole; see gaps_are_not_addressable. */
	if (reach == GAP_BYTE)
		return row->gapped == 0 && row->mode != O2_REG_FASTREG_GAPS;
	if (reach == UNDER_WINDOW)
		return row->how != KERNEL_ORDER &&
		       (row->mode == O2_REG_FASTREG || row->mode == O2_REG_FASTREG_GAPS);
	return true;
}

/* Asserts that the memory itself is writable; otherwise the refusals would prove nothing. */
static void assert_reachable(const struct row *row)
{
	struct pair *pair = open_row(row);
	struct o2_reg_plan plan;
	struct o2_binding binding;

	assert_int_equal(make_plan(&pair->b, row, O2_SINK, false, &plan), 0);
	bind_sink(&pair->b, &plan, &binding);
	assert_int_equal(write_byte(pair, plan.frag[0].rf_addr, binding.key), IBV_WC_SUCCESS);
	assert_int_equal(write_byte(pair, end_of_first(&plan) - 1, binding.key), IBV_WC_SUCCESS);
	release(&pair->b, &binding, true);
	close_row(pair);
}

TEST(every_cell)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];

		if (!can_be_had(row))
			continue;
		assert_reachable(row);
		for (enum reach reach = 0; reach < REACHES; reach++) {
			struct pair *pair;
			enum ibv_wc_status status, want;

			if (!has_cell(row, reach))
				continue;
			pair = open_row(row);
			status = try_cell(pair, row, reach);
			want = row->admitted[reach] ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR;
			if (status != want)
				fail_msg("%s%s, %s: %s, expected %s", o2_reg_mode_name(row->mode),
					 how_names[row->how], reach_names[reach], ibv_wc_status_str(status),
					 ibv_wc_status_str(want));
			close_row(pair);
		}
	}
}

/* Modes that cannot express gaps refuse a gapped list before a key exists. */
PAIR_TEST(gapped_lists_get_no_key)
{
	struct o2_reg_plan plan;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(make_plan(&pair->b, &rows[i], O2_SINK, true, &plan), rows[i].gapped);
}

/* A region of byte ranges: every address is a byte of the transfer, and the holes stay unchanged. */
TEST(gaps_are_not_addressable)
{
	for (int staging = 0; staging < 2; staging++) {
		struct pair *pair = pair_default();
		struct row row = {.mode = O2_REG_FASTREG_GAPS};
		struct o2_reg_plan plan;
		struct o2_binding binding;

		pair->b.ni.domain.gaps_by_staging = staging;
		/* Both implementations are tested where the device has both. */
		assert_int_equal(o2_reg_has_gaps(&pair->b.ni.domain),
				 o2_device_reg_gaps() != NULL && !staging);
		memset(pair->b.ni.arena.memory, 0x55, (size_t)PAIR_PAGES * 4096);
		memset(pair->a.conn->rx_area, 0xaa, 1);
		assert_int_equal(make_plan(&pair->b, &row, O2_SINK, true, &plan), 0);
		bind_sink(&pair->b, &plan, &binding);
		for (uint64_t k = 0; k < plan.length; k++)
			assert_int_equal(write_byte(pair, plan.iova + k, binding.key), IBV_WC_SUCCESS);
		assert_int_equal(o2_reg_deliver(&pair->b.ni.domain, &binding, plan.length, NULL), 0);
		release(&pair->b, &binding, true);
		for (uint32_t page = 0; page < PAIR_PAGES; page++) {
			for (uint32_t at = 0; at < 4096; at++) {
				uint8_t want = 0x55;

				for (uint32_t i = 0; i < 5; i++)
					if (kiov[i].page == page && at >= kiov[i].offset &&
					    at < kiov[i].offset + kiov[i].len)
						want = 0xaa;
				if (o2_arena_page(&pair->b.ni.arena, page)[at] != want)
					fail_msg("staging %d: page %u byte %u", staging, page, at);
			}
		}
		pair_close(pair);
	}
}

/* Mode fmr, lazy: the key stays valid after the transfer, until the flush. */
TEST(lazy_keys_live_until_the_flush)
{
	struct row row = {.mode = O2_REG_FMR};

	for (int flushed = 0; flushed < 2; flushed++) {
		struct pair *pair = pair_default();
		struct o2_reg_plan plan;
		struct o2_binding binding;
		uint32_t key;

		pair->b.ni.domain.fmr_lazy = true;
		assert_int_equal(make_plan(&pair->b, &row, O2_SINK, false, &plan), 0);
		bind_sink(&pair->b, &plan, &binding);
		key = binding.key;
		release(&pair->b, &binding, true);
		assert_int_equal(pair->b.ni.domain.nbound, 0);
		assert_int_equal(pair->b.ni.domain.live.fmr_regions, 1);
		if (flushed)
			o2_reg_flush(&pair->b.ni.domain);
		assert_int_equal(write_byte(pair, plan.frag[0].rf_addr, key),
				 flushed ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS);
		o2_reg_flush(&pair->b.ni.domain);
		pair_close(pair);
	}
}

/*
 * Only the same list finds a kept region; when the arena has no window left for a new list, kept regions are
 * released to make room.
 */
TEST(lazy_regions_are_shared_and_make_room)
{
	const struct o2_ni_config a = side_config(true, O2_DMA_BUS, 0);
	struct o2_ni_config b = side_config(false, O2_DMA_BUS, 0);
	struct pair *pair;
	struct o2_reg_domain *domain;
	struct row row = {.mode = O2_REG_FMR};
	struct o2_binding binding, again;
	struct o2_reg_plan plan;
	bool flushed = false;

	b.sizes.reg_size = 2 * O2_ARENA_WINDOWS; /* so windows run out before regions do */
	pair = pair_open_ni(&a, &b, &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
	domain = &pair->b.ni.domain;
	domain->fmr_lazy = true;
	assert_int_equal(make_plan(&pair->b, &row, O2_SINK, false, &plan), 0);
	bind_sink(&pair->b, &plan, &binding);
	bind_sink(&pair->b, &plan, &again);
	assert_int_equal(binding.key, again.key);
	assert_int_equal(domain->live.fmr_regions, 1);
	release(&pair->b, &again, true);
	release(&pair->b, &binding, true);
	plan.length -= 1;
	plan.frag[0].rf_nob -= 1;
	bind_sink(&pair->b, &plan, &binding);
	assert_int_not_equal(binding.key, again.key);
	release(&pair->b, &binding, true);
	assert_int_equal(domain->live.fmr_regions, 2);
	for (uint32_t i = 0; i < 3 * O2_ARENA_WINDOWS; i++) {
		uint32_t before = domain->live.fmr_regions;

		plan.page[0] = domain->dma.base + (uint64_t)scattered_page(i + 20) * plan.page_bytes;
		bind_sink(&pair->b, &plan, &binding);
		flushed = flushed || domain->live.fmr_regions < before;
		release(&pair->b, &binding, true);
	}
	assert_true(flushed);
	o2_reg_flush(domain);
	assert_int_equal(domain->live.fmr_regions, 0);
	pair_close(pair);
}

/* Where pools are capped, no region waits for a flush: as many can be bound as there are, however often each was. */
TEST(capped_pools_flush_at_once)
{
	const struct row row = {.mode = O2_REG_FMR};
	struct o2_ni_config config = side_config(true, O2_DMA_BUS, 0);
	struct o2_binding binding[4];
	struct o2_reg_plan plan;
	struct side side;

	config.sizes.reg_size = config.sizes.flush_trigger = 4;
	config.max_pools = 1;
	config.fmr_cache_off = true;
	side_open_config(&side, &config);
	side.ni.domain.fmr_lazy = true;
	assert_int_equal(make_plan(&side, &row, O2_SINK, false, &plan), 0);
	/* Until all of them but one have been mapped as often as they may be. */
	for (uint32_t i = 0; i < 4 * O2_FMR_MAX_REMAPS - 1; i++) {
		bind_sink(&side, &plan, &binding[0]);
		release(&side, &binding[0], true);
	}
	for (uint32_t i = 0; i < 4; i++)
		bind_sink(&side, &plan, &binding[i]);
	for (uint32_t i = 0; i < 4; i++)
		release(&side, &binding[i], true);
	o2_ni_close(&side.ni);
}
