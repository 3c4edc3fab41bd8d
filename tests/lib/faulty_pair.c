/* SPDX-License-Identifier: MIT */
#include "tests/lib/faulty_pair.h"

#include "tests/lib/lnd_memory.h"

struct faults faults;

static int fmr_map(void *context, void *handle, const struct o2_fmr_request *request, uint32_t *lkey,
		   uint32_t *rkey, struct o2_error *error)
{
	int rc = faults.fmr_map != 0 ? faults.fmr_map
				     : o2_reg_verbs_fmr.map(context, handle, request, lkey, rkey, error);

	faults.fmr_maps += rc == 0;
	return rc;
}

static int fmr_create(void *context, uint64_t device, uint32_t max_pages, uint32_t page_bytes, void **handle,
		      struct o2_error *error)
{
	return o2_reg_verbs_fmr.create(context, device, max_pages, page_bytes, handle, error);
}

static void fmr_destroy(void *context, void *handle)
{
	o2_reg_verbs_fmr.destroy(context, handle);
}

static int fmr_unmap(void *context, void *const *handles, uint32_t count)
{
	return faults.fmr_unmap != 0 ? faults.fmr_unmap : o2_reg_verbs_fmr.unmap(context, handles, count);
}

static int frd_create(void *context, uint64_t device, uint32_t max_pages, bool gaps,
		      struct o2_frd_object *object, struct o2_error *error)
{
	return faults.frd_create != 0
		       ? faults.frd_create
		       : o2_reg_verbs_frd.create(context, device, max_pages, gaps, object, error);
}

static void frd_destroy(void *context, void *handle)
{
	o2_reg_verbs_frd.destroy(context, handle);
}

static int frd_map(void *context, void *handle, const struct o2_frd_request *request, uint32_t *lkey,
		   struct o2_error *error)
{
	int rc = faults.frd_map != 0 ? faults.frd_map
				     : o2_reg_verbs_frd.map(context, handle, request, lkey, error);

	faults.frd_maps += rc > 0;
	return rc > 0 && faults.frd_short ? rc - 1 : rc;
}

static int frd_unmap(void *context, void *handle, struct o2_error *error)
{
	return o2_reg_verbs_frd.unmap(context, handle, error);
}

static const struct o2_fmr_ops fmr_ops = {fmr_create, fmr_destroy, fmr_map, fmr_unmap};
static const struct o2_frd_ops frd_ops = {frd_create, frd_destroy, frd_map, frd_unmap};
const struct o2_reg_ops faulty_ops = {&fmr_ops, &frd_ops};

struct pair *faulty_pair_open(void (*change)(struct o2_ni_config *config))
{
	struct o2_ni_config a = side_config(true, O2_DMA_BUS, 0x7f0000000000ull);
	struct o2_ni_config b = side_config(false, O2_DMA_VIRTUAL, 0);

	memset(&faults, 0, sizeof(faults));
	b.reg_ops = &faulty_ops;
	if (change != NULL)
		change(&b);
	return pair_open_ni(&a, &b, &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
}

struct o2_ni_pool_counts ni_pool_counts(struct side *side, enum o2_ni_pool_kind kind)
{
	struct o2_ni_counts counts;

	o2_ni_get_counts(&side->ni, &counts);
	return counts.pool[kind];
}

/* Run a PUT of 9000 bytes from a to b.  Returns its result at b. */
static const struct o2_transfer_result *put(struct pair *pair, enum o2_reg_mode mode)
{
	struct o2_transfer_memory from = dense(kiov_from, 0, 9000, O2_REG_GLOBAL);
	uint32_t a = pair->a.nresults, b = pair->b.nresults;

	pair->b.answer = dense(kiov_to, 300, 9000, mode);
	assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	pair_run(pair, a + 1, b + 1);
	assert_int_equal(pair->a.result[a % PAIR_RESULTS].status, pair->b.result[b % PAIR_RESULTS].status);
	return &pair->b.result[b % PAIR_RESULTS];
}

void assert_put_refused(struct pair *pair, enum o2_reg_mode mode, int code, const char *rule)
{
	const struct o2_transfer_result *result = put(pair, mode);

	assert_int_equal(result->status, code);
	assert_string_equal(result->fault.error.rule, rule);
	side_assert_idle(&pair->b);
}

void assert_put_moved(struct pair *pair, enum o2_reg_mode mode)
{
	const struct o2_transfer_result *result = put(pair, mode);

	if (result->status != 0)
		show_error("put", &result->fault.error);
	assert_int_equal(result->status, 0);
	assert_int_equal(result->nob, 9000);
}
