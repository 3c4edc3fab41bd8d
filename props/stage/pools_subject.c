/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "props/stage/pools_internal.h"

/* One set of the pools property: opened, compared and closed. */

const char *const o2_pool_kind_names[O2_POOLS_KINDS] = {"transmit", "descriptor", "region"};

bool o2_pools_expect_figures(const struct o2_pool_subject *s, const char *what, const struct o2_error *error,
			     uint64_t value, uint64_t limit, struct o2_report *report)
{
	if (error->value == value && error->limit == limit)
		return true;
	o2_report_fail(report, "pools/figures",
		       "%s of a %s: rule %s says %" PRIu64 ", limit %" PRIu64 "; expected %" PRIu64
		       ", limit %" PRIu64,
		       what, o2_pool_kind_names[s->kind], error->rule, error->value, error->limit, value,
		       limit);
	return false;
}

/* The same, where the rule and the state of the set give the figures. */
static bool check_figures(const struct o2_pool_subject *s, const char *what, const struct o2_error *error,
			  struct o2_report *report)
{
	const struct {
		const char *rule;
		uint64_t value, limit;
	} rows[] = {
		{"pool/put/not-in-use", 0, 1},
		{"pool/close/in-use", s->nheld, 0},
		{"pool/exhausted", s->pools.faults->now_ms, s->pools.next_retry_ms},
		{"pool/fmr/key-alive", 1, 0},
		{"pool/frd/unmap", 1, 0},
		{"pool/frd/short-map", 1, 2}, /* of the two entries that each request has */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(error->rule, rows[i].rule) == 0)
			return o2_pools_expect_figures(s, what, error, rows[i].value, rows[i].limit, report);
	return true;
}

bool o2_pools_expect(const struct o2_pool_subject *s, const char *what, int rc, int want, const char *rule,
		     const struct o2_error *error, struct o2_report *report)
{
	char signature[96];
	const char *found = error->rule != NULL ? error->rule : "none";

	/* A call that succeeds leaves the error record unchanged. */
	if (rc == want && ((rc == 0 && error->rule == NULL) || (rc != 0 && rule == NULL) ||
			   (rc != 0 && strcmp(found, rule) == 0 && error->code == rc)))
		return rc == 0 || rule == NULL || check_figures(s, what, error, report);
	snprintf(signature, sizeof(signature), "pools/%s/%s/%d", o2_pool_kind_names[s->kind], what, -want);
	o2_report_fail(report, signature, "%s of a %s answers %d, rule %s; expected %d, rule %s", what,
		       o2_pool_kind_names[s->kind], rc, found, want,
		       want == 0 || rule == NULL ? "none" : rule);
	return false;
}

void o2_pools_hold(struct o2_pool_subject *s, uint32_t element, void *object)
{
	s->device.element[element].held++;
	s->held[s->nheld++] = (struct o2_pool_held){element, object};
}

void o2_pools_let_go(struct o2_pool_subject *s, uint32_t at)
{
	s->device.element[s->held[at].element].held--;
	s->held[at] = s->held[--s->nheld];
}

enum o2_pool_fate o2_pools_fate(const struct o2_pool_subject *s, uint32_t element)
{
	return s->pools.pool[s->pools.pool_of[element]].fate;
}

/* --- the sets of a case --- */

static int open_tx(struct o2_pool_subject *s, struct o2_choice *c, const struct o2_pool_set_config *set)
{
	static const uint32_t page_bytes[] = {4096, 16384, 65536};
	static const uint32_t weights[] = {6, 1, 1};
	const struct o2_tx_config config = {
		.set = *set,
		.ops = &o2_pool_tx_ops,
		.context = &s->device,
		.pool_size = s->pools.size,
		.page_bytes = page_bytes[o2_draw_weighted(c, weights, 3)],
		.tx_bytes = sizeof(struct o2_pool_tx) + (o2_draw_bool(c, 1, 1) ? 40 : 0),
	};

	s->model.descriptors = false;
	s->device.page_bytes = config.page_bytes;
	o2_pool_model_init(&s->model);
	s->set = &s->tx.set;
	return o2_tx_set_init(&s->tx, &config, NULL);
}

static int open_frd(struct o2_pool_subject *s, struct o2_choice *c, const struct o2_pool_set_config *set)
{
	const struct o2_frd_config config = {
		.set = *set,
		.ops = &o2_pool_frd_ops,
		.context = &s->device,
		.order = o2_draw_bool(c, 1, 1) ? O2_FRD_INVALIDATE_LAST : O2_FRD_INVALIDATE_FIRST,
		.pool_size = s->pools.size,
		.max_pages = O2_MAX_FRAGS,
		.gaps = o2_draw_bool(c, 1, 1),
	};

	s->model.descriptors = true;
	s->model.invalidate_last = s->device.invalidate_last = config.order == O2_FRD_INVALIDATE_LAST;
	o2_pool_model_init(&s->model);
	s->set = &s->frd.set;
	return o2_frd_set_init(&s->frd, &config, NULL);
}

static int open_fmr(struct o2_pool_subject *s, struct o2_choice *c, const struct o2_pool_set_config *set)
{
	struct o2_fmr_model *m = &s->fmr_model;
	const struct o2_fmr_config config = {
		.set = *set,
		.ops = &o2_pool_fmr_ops,
		.context = &s->device,
		.pool_size = s->pools.size,
		.max_pages = O2_MAX_FRAGS,
		.page_bytes = 4096,
		.max_remaps = (uint32_t)o2_draw_range(c, 1, 4),
		.watermark = (uint32_t)o2_draw_range(c, 1, s->pools.size),
		.cache = o2_draw_bool(c, 1, 3),
		.flush_on_demand = o2_draw_bool(c, 1, 1),
	};

	m->max_remaps = config.max_remaps;
	m->watermark = config.watermark;
	m->cache = config.cache;
	m->flush_on_demand = config.flush_on_demand;
	o2_fmr_model_init(m);
	s->set = &s->fmr.set;
	return o2_fmr_set_init(&s->fmr, &config, NULL);
}

void o2_pools_open(struct o2_pools_run *run, struct o2_choice *c, uint32_t index, struct o2_report *report)
{
	struct o2_pool_subject *s = &run->subject[index];
	struct o2_pool_set_config set = {.clock = &run->clock};
	const uint32_t size = (uint32_t)o2_draw_range(c, 1, O2_POOL_SIZE);
	int rc;

	s->kind = (enum o2_pool_set_kind)o2_draw_pick(c, O2_POOLS_KINDS);
	set.max_pools = o2_draw_bool(c, 1, 1) ? (uint32_t)o2_draw_range(c, 1, 4) : 0;
	s->nheld = 0;
	s->device.faults = s->pools.faults = &run->faults;
	s->device.created = s->device.creates = s->device.alive = s->device.areas = 0;
	s->device.next_key = 0;
	s->device.leaves_for = s->pools.leaves_for = 0;
	s->device.violation = NULL;
	s->pools.size = size;
	s->pools.cap = set.max_pools;
	s->pools.device = set.device;
	s->model.set = s->fmr_model.set = &s->pools;
	if (s->kind == O2_POOLS_TX)
		rc = open_tx(s, c, &set);
	else
		rc = s->kind == O2_POOLS_FRD ? open_frd(s, c, &set) : open_fmr(s, c, &set);
	o2_pools_expect(s, "open", rc, 0, NULL, &(struct o2_error){0}, report);
}

/* --- what must hold after each step --- */

static void compare_counts(const struct o2_pool_subject *s, struct o2_report *report)
{
	const struct o2_set_model *m = &s->pools;
	struct o2_pool_counts counts;
	char signature[64];

	o2_pool_set_counts(s->set, &counts);
	const struct {
		const char *name;
		uint64_t found, expected;
	} rows[] = {
		{"live", counts.live, m->nlive},
		{"failed", counts.failed, m->nfailed},
		{"users", counts.live_users + counts.failed_users, s->nheld},
		{"version", counts.version, m->version},
		{"created", counts.created, m->created},
		{"destroyed", counts.destroyed, m->destroyed},
		{"create_failures", counts.create_failures, m->failures},
		{"elements", s->device.created, m->next_element},
		{"idle", o2_pool_set_idle(s->set),
		 s->kind == O2_POOLS_FMR ? o2_fmr_model_idle(&s->fmr_model) : o2_pool_model_idle(&s->model)},
		{"areas", s->device.areas, s->kind == O2_POOLS_TX ? m->nlive + m->nfailed : 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].found == rows[i].expected)
			continue;
		snprintf(signature, sizeof(signature), "pools/%s/%s", o2_pool_kind_names[s->kind],
			 rows[i].name);
		o2_report_fail(report, signature, "%s of the %s set: %" PRIu64 ", expected %" PRIu64,
			       rows[i].name, o2_pool_kind_names[s->kind], rows[i].found, rows[i].expected);
	}
}

void o2_pools_compare(struct o2_pool_subject *s, struct o2_report *report)
{
	if (s->device.violation != NULL) {
		o2_report_fail(report, "pools/violation", "the device of a %s set saw that %s",
			       o2_pool_kind_names[s->kind], s->device.violation);
		return;
	}
	compare_counts(s, report);
	if (s->kind == O2_POOLS_FMR && !report->failed)
		o2_pools_compare_fmr(s, report);
}

void o2_pools_close(struct o2_pool_subject *s, struct o2_report *report)
{
	struct o2_error error = {0};
	int rc;

	if (s->kind == O2_POOLS_TX)
		rc = o2_pool_set_close(&s->tx.set, &error);
	else if (s->kind == O2_POOLS_FRD)
		rc = o2_pool_set_close(&s->frd.set, &error);
	else
		rc = o2_pool_set_close(&s->fmr.set, &error);
	if (!o2_pools_expect(s, "close", rc, s->nheld > 0 ? -EBUSY : 0, "pool/close/in-use", &error,
			     report) ||
	    rc != 0)
		return;
	if (s->device.alive != 0 || s->device.areas != 0)
		o2_report_fail(report, "pools/left-behind",
			       "%" PRIu32 " elements and %" PRIu32
			       " areas of the %s set are left after close",
			       s->device.alive, s->device.areas, o2_pool_kind_names[s->kind]);
}
