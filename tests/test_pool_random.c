/* SPDX-License-Identifier: MIT */
/*
 * Transmit and descriptor pools under random sequences with time and failing devices, against a model of
 * arrays that was written from docs/pools.md.  The model foretells which element comes, or which error; after
 * every step the counts agree, and at the end nothing is left.  O2_TEST_SEED=n replays a run.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "props/prng.h"
#include "reg/pool_frd.h"
#include "reg/pool_tx.h"
#include "tests/test_pool_model.h"

#define HELD  96u /* elements in use at a time */
#define NEVER UINT32_MAX

/* --- the device: hands out numbers, and fails when told to --- */

struct device {
	uint64_t now_ms;
	uint32_t next_id;
	uint32_t alive;	  /* elements */
	uint32_t areas;	  /* of transmit pools */
	uint32_t creates; /* of elements, since fail_at was set */
	uint32_t fail_at; /* that create fails, or NEVER */
	int map_result;	  /* what the next map says: entries or -errno */
};

static uint64_t now_ms(void *context)
{
	return ((struct device *)context)->now_ms;
}

static int new_element(struct device *d, uint64_t *id)
{
	if (d->creates++ == d->fail_at)
		return -ENOSPC;
	*id = d->next_id++;
	d->alive++;
	return 0;
}

static int area_create(void *context, uint64_t device, void *area, size_t bytes, void **handle,
		       struct o2_error *error)
{
	struct device *d = context;

	(void)device;
	(void)error;
	*handle = area;
	memset(area, 0x5a, bytes);
	d->areas++;
	return 0;
}

static void area_destroy(void *context, void *handle)
{
	(void)handle;
	((struct device *)context)->areas--;
}

static int slot_map(void *context, void *handle, void *slot, uint64_t *addr)
{
	(void)handle;
	(void)slot;
	return new_element(context, addr);
}

static void slot_unmap(void *context, void *handle, void *slot, uint64_t addr)
{
	(void)handle;
	(void)slot;
	(void)addr;
	((struct device *)context)->alive--;
}

static int frd_create(void *context, uint64_t device, uint32_t max_pages, bool gaps,
		      struct o2_frd_object *object, struct o2_error *error)
{
	uint64_t id;
	int rc = new_element(context, &id);

	(void)device;
	(void)max_pages;
	(void)gaps;
	(void)error;
	if (rc == 0)
		*object = (struct o2_frd_object){malloc(1), (uint32_t)id << 8, (uint32_t)id << 8};
	return rc;
}

static void frd_destroy(void *context, void *handle)
{
	free(handle);
	((struct device *)context)->alive--;
}

static int frd_map(void *context, void *handle, const struct o2_frd_request *request, uint32_t *lkey,
		   struct o2_error *error)
{
	const struct device *d = context;

	(void)handle;
	(void)lkey;
	(void)error;
	return d->map_result == 0 ? (int)request->entries : d->map_result;
}

static const struct o2_tx_ops tx_ops = {area_create, area_destroy, slot_map, slot_unmap};
static const struct o2_frd_ops frd_ops = {frd_create, frd_destroy, frd_map, NULL};

/* --- one run --- */

struct held {
	uint32_t id;
	void *element;
};

struct run {
	struct device device;
	struct model model;
	struct o2_tx_set tx;
	struct o2_frd_set frd;
	struct o2_pool_set *set;
	struct held held[HELD];
	uint32_t nheld;
	uint32_t seen[8]; /* errors, by kind */
};

static void take_tx(struct run *r, int want, uint32_t id)
{
	struct o2_pool_tx *tx = NULL;

	assert_int_equal(o2_tx_take(&r->tx, &tx, NULL), want);
	if (want != 0)
		return;
	assert_int_equal(tx->message_addr, id);
	assert_int_equal(tx->cookie, r->model.cookie++);
	assert_true(!tx->gaps && tx->health == 0);
	tx->gaps = true;
	r->held[r->nheld++] = (struct held){id, tx};
}

static void take_frd(struct run *r, struct o2_prng *prng, int want, uint32_t id)
{
	struct model *m = &r->model;
	struct o2_frd_request request = {.side = O2_SINK, .entries = 2};
	struct o2_frd *frd = NULL;

	r->device.map_result = o2_prng_upto(prng, 5) != 0 ? 0 : o2_prng_upto(prng, 1) != 0 ? 1 : -EIO;
	if (want == 0 && !m->valid[id]) {
		m->key[id] = (m->key[id] & ~255u) | ((m->key[id] + 1) & 255u);
		m->valid[id] = true;
	}
	if (want == 0 && r->device.map_result != 0) {
		model_put(m, r->device.now_ms, id, false);
		want = r->device.map_result > 0 ? -EINVAL : r->device.map_result;
		r->seen[want == -EIO ? 0 : 1]++;
	}
	assert_int_equal(o2_frd_take(&r->frd, &request, &frd, NULL), want);
	if (want != 0)
		return;
	assert_int_equal(frd->key.rkey, m->key[id]);
	if (o2_prng_upto(prng, 2) != 0) {
		assert_int_equal(o2_frd_post_done(&frd->key, 1, 2, true, NULL), 0);
		m->valid[id] = false;
	}
	r->held[r->nheld++] = (struct held){id, frd};
}

static void step_take(struct run *r, struct o2_prng *prng)
{
	uint32_t id = 0;
	int want;

	if (r->nheld == HELD)
		return;
	want = model_take(&r->model, r->device.now_ms, r->device.fail_at, &id);
	r->device.creates = 0;
	r->seen[2] += want == -EBUSY;
	r->seen[3] += want == -EAGAIN || want == -ENOMEM;
	if (r->model.frd)
		take_frd(r, prng, want, id);
	else
		take_tx(r, want, id);
}

/* The region is replaced; when that fails the pool retires. */
static void discard(struct run *r, struct o2_frd *frd, uint32_t id)
{
	struct model *m = &r->model;
	const uint32_t pool = m->pool_of[id];
	uint32_t at = 0;

	while (at < m->nlive && m->live[at] != pool)
		at++;
	if (at < m->nlive && r->device.fail_at == 0) {
		model_fail(m, at);
		r->seen[4]++;
	} else if (at < m->nlive) {
		model_new_element(m, pool, m->next_id);
		id = m->next_id++;
	}
	model_put(m, r->device.now_ms, id, true);
	r->device.creates = 0;
	assert_int_equal(o2_frd_discard(&r->frd, frd, NULL), 0);
}

static void step_put(struct run *r, struct o2_prng *prng)
{
	struct held h;
	uint32_t at;

	if (r->nheld == 0)
		return;
	at = (uint32_t)o2_prng_upto(prng, r->nheld - 1);
	h = r->held[at];
	r->held[at] = r->held[--r->nheld];
	if (r->model.frd && o2_prng_upto(prng, 9) == 0) {
		discard(r, h.element, h.id);
		return;
	}
	model_put(&r->model, r->device.now_ms, h.id, true);
	if (r->model.frd)
		assert_int_equal(o2_frd_put(&r->frd, h.element, NULL), 0);
	else
		assert_int_equal(o2_tx_put(&r->tx, h.element, NULL), 0);
}

static void step(struct run *r, struct o2_prng *prng)
{
	static const uint32_t delays[] = {0, 1, 999, 1000, 150000, 299999, 300000, 300001};
	const uint64_t choice = o2_prng_upto(prng, 99);

	if (choice < 45) {
		step_take(r, prng);
	} else if (choice < 82) {
		step_put(r, prng);
	} else if (choice < 92) {
		r->device.now_ms += delays[o2_prng_upto(prng, 7)];
	} else if (choice < 98) {
		r->device.fail_at = o2_prng_upto(prng, 1) != 0 ? NEVER : (uint32_t)o2_prng_upto(prng, 2);
	} else {
		while (r->model.nlive > 0)
			model_fail(&r->model, 0);
		assert_int_equal(o2_pool_set_fail(r->set, choice), r->model.nfailed);
		r->seen[5]++;
	}
}

static void check(struct run *r)
{
	const struct model *m = &r->model;
	struct o2_pool_counts c;

	o2_pool_set_counts(r->set, &c);
	assert_int_equal(c.live, m->nlive);
	assert_int_equal(c.failed, m->nfailed);
	assert_int_equal(c.live_users + c.failed_users, r->nheld);
	assert_int_equal(c.version, m->version);
	assert_int_equal(c.created, m->created);
	assert_int_equal(c.destroyed, m->destroyed);
	assert_int_equal(c.create_failures, m->failures);
	assert_int_equal(r->device.next_id, m->next_id);
	/* A retired pool lacks the region that could not be replaced. */
	assert_true(r->device.alive <= (m->nlive + m->nfailed) * m->size);
	assert_true(r->device.alive >= m->nlive * m->size + (m->nfailed > 0 && !m->frd ? m->size : 0));
	if (!m->frd)
		assert_int_equal(r->device.areas, m->nlive + m->nfailed);
}

static void run_one(struct run *r, bool frd, uint64_t seed, uint32_t n)
{
	struct o2_prng prng = o2_prng_init(seed, n);
	struct o2_pool_set_config set = {.clock = {now_ms, &r->device}};

	memset(&r->device, 0, sizeof(r->device));
	memset(&r->model, 0, sizeof(r->model));
	r->device.fail_at = NEVER;
	r->model.frd = frd;
	r->model.size = 1 + (uint32_t)o2_prng_upto(&prng, MODEL_SIZE - 1);
	r->model.cap = set.max_pools = o2_prng_upto(&prng, 1) != 0 ? 0 : 1 + (uint32_t)o2_prng_upto(&prng, 5);
	model_grow(&r->model, 0, NEVER);
	if (frd) {
		struct o2_frd_config config = {set,	      &frd_ops, &r->device, O2_FRD_INVALIDATE_FIRST,
					       r->model.size, 257,	false};

		assert_int_equal(o2_frd_set_init(&r->frd, &config, NULL), 0);
		r->set = &r->frd.set;
	} else {
		struct o2_tx_config config = {set, &tx_ops, &r->device, r->model.size, 4096, 40};

		assert_int_equal(o2_tx_set_init(&r->tx, &config, NULL), 0);
		r->set = &r->tx.set;
	}
	for (int i = 0; i < 600; i++) {
		step(r, &prng);
		check(r);
	}
	while (r->nheld > 0) {
		assert_int_equal(o2_pool_set_close(r->set, NULL), -EBUSY);
		step_put(r, &prng);
		check(r);
	}
	assert_int_equal(o2_pool_set_close(r->set, NULL), 0);
	assert_int_equal(r->device.alive, 0);
	assert_int_equal(r->device.areas, 0);
}

static void test_random(void **state)
{
	const char *text = getenv("O2_TEST_SEED");
	const uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1;
	static const char *const names[] = {"map errors", "short maps", "caps",
					    "retries",	  "retired",	"failovers"};
	static struct run r;

	(void)state;
	print_message("replay: O2_TEST_SEED=%" PRIu64 " test_pool_random\n", seed);
	for (uint32_t n = 0; n < 400; n++)
		run_one(&r, n % 2 != 0, seed, n);
	for (int i = 0; i < 6; i++) {
		print_message("%s: %" PRIu32 "\n", names[i], r.seen[i]);
		assert_true(r.seen[i] > 50);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
