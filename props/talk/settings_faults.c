/* SPDX-License-Identifier: MIT */
/*
 * While an interface is opened, its memory bound, or its addresses changed, one device call or one
 * allocation fails.  The operation must return that errno and leave everything as it was.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "loopverbs/loopverbs.h"
#include "props/talk/settings_internal.h"
#include "props/world/device.h"

#define BINDINGS 4u /* as many as a pool has elements, so that no pool grows */
#define PAGES	 16u
#define WINDOWS	 16u /* of two pools of four elements in each of two partitions */

/* What fails, and whether it has failed. */
struct fault {
	struct o2_settings_run *run;
	enum { NOTHING, ALLOCATION, CALL } what;
	enum o2_loop_call call;
	uint32_t left;
	int error;
	bool fired;
};

/* Makes ibv_dereg_mr fail once: the device has no fault hook for that call. */
static int dereg_error;

static int dereg(struct ibv_mr *mr)
{
	const int error = dereg_error;

	dereg_error = 0;
	return error != 0 ? error : ibv_dereg_mr(mr);
}

static const struct o2_reg_verbs failing_verbs = {ibv_reg_mr_iova2, dereg};

static int on_call(void *context, enum o2_loop_call call, uint32_t qp)
{
	struct fault *fault = context;

	(void)qp;
	if (call != fault->call || fault->left == 0 || --fault->left > 0)
		return 0;
	fault->fired = true;
	return fault->error;
}

/* Make one of the next `most` calls fail. */
static void arm(struct fault *fault, struct o2_settings_run *run, struct o2_choice *c, uint32_t most)
{
	static const int errors[] = {EIO, EPERM, ENOMEM, EBUSY};
	const uint64_t what = o2_draw(c, 3);

	*fault = (struct fault){.run = run, .what = what == 0 ? NOTHING : what == 1 ? ALLOCATION : CALL};
	fault->call = o2_draw_bool(c, 1, 1) ? O2_LOOP_CALL_REGISTER : O2_LOOP_CALL_MAKE;
	fault->left = (uint32_t)o2_draw_range(c, 1, most);
	fault->error = errors[o2_draw_pick(c, 4)];
	if (fault->what == ALLOCATION && run->fail_allocation != NULL)
		run->fail_allocation(fault->left);
	if (fault->what == CALL)
		o2_loop_set_fault(on_call, fault);
}

/* Remove the fault.  Returns the errno that the call must have failed with; 0: it must have succeeded. */
static int disarm(struct fault *fault)
{
	o2_loop_set_fault(NULL, NULL);
	if (fault->what == ALLOCATION && fault->run->fail_allocation != NULL) {
		fault->fired = fault->run->allocation_failed();
		fault->run->fail_allocation(0);
		fault->error = ENOMEM;
	}
	if (!fault->fired)
		return 0;
	/* Creating objects has only one kind of failure: docs/loopverbs.md, "Faults". */
	return fault->what == CALL && fault->call == O2_LOOP_CALL_MAKE ? -ENOMEM : -fault->error;
}

static void refused_so(struct o2_settings_run *run, struct o2_report *report, int rc, int expected,
		       const struct o2_error *error)
{
	if (rc != expected)
		o2_report_fail(report, "settings/fault", "%s: %d by %s, expected %d", run->text, rc,
			       rc == 0 || error->rule == NULL ? "nothing" : error->rule, expected);
	else if (rc != 0 && (error->code != rc || error->rule == NULL || error->field == NULL))
		o2_report_fail(report, "settings/fault", "%s: %d, and the record has %d by %s", run->text, rc,
			       error->code, error->rule == NULL ? "nothing" : error->rule);
}

/* An object was not created: its record has no limit, except for memory locking; value 0 if it is unique. */
static void made_nothing(struct o2_settings_run *run, struct o2_report *report, const struct o2_error *error)
{
	static const char *const single[] = {"ni/alloc-pd", "ni/device-list"};

	for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++)
		if (strcmp(error->rule, single[i]) == 0 && error->value != 0)
			o2_report_fail(report, "settings/fault", "%s: %s has value %" PRIu64, run->text,
				       error->rule, error->value);
	if (strcmp(error->rule, "bind/fastreg/alloc-window") == 0 && error->value - 1 >= WINDOWS)
		o2_report_fail(report, "settings/fault",
			       "%s: the window that was not made is number %" PRIu64, run->text,
			       error->value);
	if (error->limit != O2_NO_LIMIT && strcmp(error->rule, "bind/memlock") != 0)
		o2_report_fail(report, "settings/fault", "%s: %s has limit %" PRIu64 ", and there is none",
			       run->text, error->rule, error->limit);
}

/* --- memory --- */

/* Draw a plan: one range of bus addresses, or with gaps.  Modes that need neither accept any plan. */
static bool draw_plan(struct o2_choice *c, const struct o2_ni *ni, struct o2_reg_plan *plan)
{
	static struct o2_dma_list list; /* large */
	const uint32_t page_bytes = ni->arena.page_bytes;
	struct o2_reg_request request = {
		.mode = (enum o2_reg_mode)o2_draw_pick(c, O2_REG_MODES),
		.side = o2_draw_bool(c, 1, 1) ? O2_SINK : O2_SOURCE,
		.page_bytes = page_bytes,
		.max_pages = O2_MAX_FRAGS,
		.peer_max_frags = O2_MAX_FRAGS,
	};
	const uint32_t offset = (uint32_t)o2_draw(c, page_bytes - 1);
	const uint32_t page = (uint32_t)o2_draw(c, PAGES - 5);

	list.count = 1;
	list.segment[0] = (struct o2_dma_segment){
		.addr = ni->domain.dma.base + (uint64_t)page * page_bytes + offset,
		.length = 1 + (uint32_t)o2_draw(c, 2 * page_bytes),
	};
	request.gaps =
		(request.mode == O2_REG_FMR || request.mode == O2_REG_FASTREG_GAPS) && o2_draw_bool(c, 1, 1);
	if (request.gaps) {
		list.count = 2;
		list.segment[1] = (struct o2_dma_segment){
			.addr = ni->domain.dma.base + (uint64_t)(page + 4) * page_bytes + 8, .length = 100};
	}
	request.contiguous = true;
	request.iova = request.mode == O2_REG_USER ? (uintptr_t)o2_arena_page(&ni->arena, page) + offset
						   : (uint64_t)o2_draw(c, 1000) * page_bytes +
							     (o2_draw_bool(c, 1, 1) ? offset : 0);
	return o2_reg_plan(&request, &list, plan, NULL) == 0;
}

/* Regions that binding the plan takes in addition to those of its pool. */
static uint32_t regions_of(const struct o2_ni *ni, enum o2_reg_mode mode)
{
	if (mode == O2_REG_FASTREG)
		return ni->domain.fast == NULL;
	return mode != O2_REG_GLOBAL;
}

/* Regions freed with its release.  pending: those of mode fmr that the device did not take back earlier. */
static uint32_t regions_that_go(const struct o2_ni *ni, enum o2_reg_mode mode, bool fails, uint32_t pending)
{
	if (mode != O2_REG_FMR)
		return fails ? 0 : regions_of(ni, mode);
	return pending > 0 || !fails ? pending + 1 : 0;
}

static void try_bind(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		     struct o2_ni *ni, struct o2_binding *binding)
{
	static struct o2_reg_plan plan; /* large */
	const struct o2_settings_holds before = o2_settings_holds(ni);
	struct o2_error error = {0};
	struct o2_settings_holds after;
	struct fault fault;
	int rc, expected;

	if (!draw_plan(c, ni, &plan))
		return;
	/* Regions the device did not take back use up elements of the pool: with all used, the pool would grow. */
	if (plan.mode == O2_REG_FMR && before.fmr_regions >= BINDINGS)
		return;
	snprintf(run->text, sizeof(run->text), "bind %" PRIu64 " bytes in mode %s, %s", plan.length,
		 o2_reg_mode_name(plan.mode), o2_side_names[plan.side]);
	arm(&fault, run, c, 3);
	rc = o2_reg_bind(&ni->domain, 0, &plan, binding, &error);
	expected = disarm(&fault);
	refused_so(run, report, rc, expected, &error);
	after = o2_settings_holds(ni);
	if (rc == 0) {
		o2_settings_same(run, report, "regions", after.regions,
				 before.regions + regions_of(ni, plan.mode));
		o2_settings_same(run, report, "the device's regions", after.device.live_mrs,
				 before.device.live_mrs + regions_of(ni, plan.mode));
		o2_settings_same(run, report, "bindings", after.bound, before.bound + 1);
		o2_settings_same(run, report, "the binding", binding->bound && binding->mode == plan.mode,
				 true);
		run->tally.seen[O2_SETTINGS_BOUND]++;
		return;
	}
	o2_settings_unchanged(run, report, &before, &after);
	o2_settings_same(run, report, "a binding that is none",
			 !binding->bound && binding->region.mr == NULL && binding->fmr == NULL &&
				 binding->frd == NULL,
			 true);
	run->tally.seen[O2_SETTINGS_NOT_BOUND]++;
}

/*
 * The device refuses to take a region back: the call must report that, and the region stays in the account.
 * fmr_bound: bindings of mode fmr.
 */
static void try_unbind(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		       uint32_t fmr_bound, struct o2_ni *ni, struct o2_binding *binding)
{
	const bool own = binding->mode == O2_REG_USER || binding->mode == O2_REG_PHYS;
	const bool fails = (own || binding->mode == O2_REG_FMR) && o2_draw_bool(c, 2, 1);
	struct ibv_mr *mr = binding->region.mr;
	const struct o2_settings_holds before = o2_settings_holds(ni);
	const uint32_t going = regions_that_go(ni, binding->mode, fails, before.fmr_regions - fmr_bound);
	struct o2_error error = {0};
	struct o2_settings_holds after;
	int rc;

	snprintf(run->text, sizeof(run->text), "release %" PRIu64 " bytes in mode %s%s", binding->length,
		 o2_reg_mode_name(binding->mode), fails ? ", and the device does not" : "");
	ni->domain.verbs = &failing_verbs;
	dereg_error = fails ? EBUSY : 0;
	rc = o2_reg_unbind(&ni->domain, binding, false, &error);
	dereg_error = 0;
	refused_so(run, report, rc, fails ? -EBUSY : 0, &error);
	if (fails && rc != 0 && strcmp(error.rule, own ? "bind/deregister" : "pool/fmr/key-alive") != 0)
		o2_report_fail(report, "settings/fault", "%s: by %s", run->text, error.rule);
	after = o2_settings_holds(ni);
	o2_settings_same(run, report, "bindings", after.bound, before.bound - 1);
	o2_settings_same(run, report, "regions", after.regions, before.regions - going);
	if (going == 0)
		o2_settings_same(run, report, "pinned bytes", after.pinned_bytes, before.pinned_bytes);
	if (fails && going == 0)
		o2_settings_same(run, report, "windows of the arena", after.windows, before.windows);
	/* The region has no owner any more: free it here. */
	if (fails && own)
		(void)ibv_dereg_mr(mr);
	else
		o2_settings_same(run, report, "windows of the arena", after.windows >= before.windows, true);
	o2_settings_same(run, report, "a binding that is none", !binding->bound && binding->region.mr == NULL,
			 true);
}

/* Change whether memory bounces, or the addresses that the device sees. */
static void try_change(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		       struct o2_ni *ni)
{
	const struct o2_settings_holds before = o2_settings_holds(ni);
	const bool bounces = o2_draw_bool(c, 1, 1), bounced = ni->domain.bounce;
	const struct o2_dma_device dma = ni->domain.dma;
	const enum o2_dma_kind kind = (enum o2_dma_kind)o2_draw(c, O2_DMA_KINDS);
	const uint64_t base = o2_draw(c, 1000) * 65536 + (o2_draw_bool(c, 7, 1) ? 512 : 0);
	struct o2_error error = {0};
	struct o2_settings_holds after;
	struct fault fault;
	int rc, expected;

	snprintf(run->text, sizeof(run->text),
		 "change %s, kind %d from 0x%" PRIx64 ", with %" PRIu32 " bindings",
		 bounces ? "what bounces" : "addresses", (int)kind, base, before.bound);
	arm(&fault, run, c, 2);
	rc = bounces ? o2_reg_domain_set_bounce(&ni->domain, !bounced, &error)
		     : o2_reg_domain_set_dma(&ni->domain, kind, base, &error);
	expected = disarm(&fault);
	if (before.bound > 0)
		expected = -EBUSY;
	else if (!bounces && ((uint32_t)kind == O2_DMA_KINDS ||
			      (kind == O2_DMA_IOMMU && o2_arena_iommu(&ni->arena) == NULL) ||
			      (kind != O2_DMA_VIRTUAL && base % ni->arena.page_bytes != 0)))
		expected = -EINVAL;
	refused_so(run, report, rc, expected, &error);
	after = o2_settings_holds(ni);
	if (rc == 0) {
		/* Regions that mode fmr could not return go now; those without an owner stay in the account. */
		o2_settings_same(run, report, "regions", after.regions, before.regions - before.fmr_regions);
		o2_settings_same(run, report, "regions of mode fmr", after.fmr_regions, 0);
		if (before.fmr_regions == 0)
			o2_settings_same(run, report, "pinned bytes", after.pinned_bytes,
					 before.pinned_bytes);
		o2_settings_same(run, report, "what bounces", ni->domain.bounce,
				 bounces ? !bounced : bounced);
		o2_settings_same(run, report, "kind", ni->domain.dma.kind, bounces ? dma.kind : kind);
		return;
	}
	o2_settings_unchanged(run, report, &before, &after);
	o2_settings_same(run, report, "what bounces", ni->domain.bounce, bounced);
	o2_settings_same(run, report, "kind", ni->domain.dma.kind, dma.kind);
	o2_settings_same(run, report, "base", ni->domain.dma.base, dma.base);
}

static void use_memory(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		       struct o2_ni *ni)
{
	struct o2_binding binding[BINDINGS] = {{.bound = false}};

	for (uint64_t steps = o2_draw(c, 16); steps > 0 && !report->failed; steps--) {
		struct o2_binding *one = &binding[o2_draw_pick(c, BINDINGS)];
		uint32_t fmr_bound = 0;

		for (uint32_t i = 0; i < BINDINGS; i++)
			fmr_bound += binding[i].bound && binding[i].mode == O2_REG_FMR;

		if (o2_draw_bool(c, 5, 1))
			try_change(run, c, report, ni);
		else if (one->bound)
			try_unbind(run, c, report, fmr_bound, ni, one);
		else
			try_bind(run, c, report, ni, one);
	}
	for (uint32_t i = 0; i < BINDINGS; i++)
		(void)o2_reg_unbind(&ni->domain, &binding[i], false, NULL);
}

/* --- the interface --- */

void o2_settings_faults(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	struct o2_ni_config config = o2_settings_good_ni((uint32_t)o2_draw(c, 1));
	const int64_t allocated = run->allocated == NULL ? 0 : run->allocated();
	struct o2_loop_counters before, after;
	struct o2_error error = {0};
	struct fault fault;
	struct o2_ni ni;
	int rc, expected;

	config.arena_pages = PAGES;
	config.plain_arena = o2_draw_bool(c, 1, 1);
	config.events = o2_draw_bool(c, 1, 1);
	config.bounce = o2_draw_bool(c, 2, 1);
	config.tunables.ncpts = (uint32_t)o2_draw_range(c, 1, 2);
	config.reg_gaps = o2_draw_bool(c, 1, 1) ? o2_loop_reg_gaps : NULL;
	config.reg_fast = o2_draw_bool(c, 1, 1) ? o2_device_reg_fast() : NULL;
	o2_loop_get_counters(&before);
	snprintf(run->text, sizeof(run->text), "open an interface, %" PRIu32 " partitions",
		 config.tunables.ncpts);
	arm(&fault, run, c, 60);
	rc = o2_ni_open(&config, &ni, &error);
	expected = disarm(&fault);
	refused_so(run, report, rc, expected, &error);
	if (rc == expected && rc != 0)
		made_nothing(run, report, &error);
	run->tally.seen[rc == 0 ? O2_SETTINGS_OPENED : O2_SETTINGS_NOT_OPENED]++;
	if (rc == 0) {
		use_memory(run, c, report, &ni);
		o2_ni_close(&ni);
	}
	o2_loop_get_counters(&after);
	o2_settings_same(run, report, "contexts that are left", after.live_contexts, before.live_contexts);
	o2_settings_same(run, report, "domains that are left", after.live_pds, before.live_pds);
	o2_settings_same(run, report, "regions that are left", after.live_mrs, before.live_mrs);
	o2_settings_same(run, report, "windows that are left", after.live_mws, before.live_mws);
	o2_settings_same(run, report, "channels that are left", after.live_channels, before.live_channels);
	/* Closing a context frees its objects, so that they are not counted above. */
	o2_settings_same(run, report, "objects that are left to the device", after.left, before.left);
	if (run->allocated != NULL)
		o2_settings_same(run, report, "allocations that are left",
				 (uint64_t)(run->allocated() - allocated), 0);
}
