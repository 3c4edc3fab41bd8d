/* SPDX-License-Identifier: MIT */
#include "props/talk/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/talk/settings_internal.h"

static const char *const situations[O2_SETTINGS_SITUATIONS] = {O2_SETTINGS_SITUATION_LIST(O2_SITUATION_NAME)};

struct o2_settings_verdict o2_settings_bound(int code, const char *rule, const char *field, uint64_t value,
					     uint64_t limit)
{
	return (struct o2_settings_verdict){code, rule, field, value, limit, O2_LIMIT_BOUND};
}

struct o2_settings_verdict o2_settings_exact(int code, const char *rule, const char *field, uint64_t value,
					     uint64_t limit)
{
	return (struct o2_settings_verdict){code, rule, field, value, limit, O2_LIMIT_EXACT};
}

void o2_settings_check(struct o2_settings_run *run, struct o2_report *report, int rc,
		       const struct o2_error *error, const struct o2_settings_verdict *expected)
{
	o2_settings_check_at(run, report, rc, error, expected, O2_NO_INDEX);
}

void o2_settings_check_at(struct o2_settings_run *run, struct o2_report *report, int rc,
			  const struct o2_error *error, const struct o2_settings_verdict *expected,
			  uint32_t index)
{
	if (rc == expected->code &&
	    (rc == 0 ||
	     (error->code == rc && error->rule != NULL && strcmp(error->rule, expected->rule) == 0 &&
	      error->field != NULL && strcmp(error->field, expected->field) == 0 &&
	      error->value == expected->value && error->limit == expected->limit &&
	      error->limit_kind == expected->kind && error->index == index)))
		return;
	o2_report_fail(report, "settings/verdict",
		       "%s: %d by %s of %s: %" PRIu64 ", limit %" PRIu64 ", index %" PRIu32, run->text, rc,
		       rc == 0 || error->rule == NULL ? "nothing" : error->rule,
		       rc == 0 || error->field == NULL ? "-" : error->field, error->value, error->limit,
		       error->index);
	o2_report_add(report, "expected %d by %s of %s: %" PRIu64 ", limit %" PRIu64 ", index %" PRIu32,
		      expected->code, expected->rule == NULL ? "nothing" : expected->rule,
		      expected->field == NULL ? "-" : expected->field, expected->value, expected->limit,
		      index);
}

/* --- interfaces --- */

struct o2_ni_config o2_settings_good_ni(uint32_t index)
{
	return (struct o2_ni_config){
		.device = index == 0 ? "loop0" : "loop1",
		.port = 1,
		.gid_index = 1,
		.nid = UINT64_C(0x000500000a4d0001) + index,
		.incarnation = 5,
		.arena_pages = 16,
		.plain_arena = true,
		.sizes = {.tx_size = 4, .reg_size = 4},
	};
}

/* A pool must have at least one region for every four transmits: docs/pools.md, "Sizes". */
static void draw_tunables(struct o2_choice *c, struct o2_pool_tunables *tunables,
			  struct o2_settings_verdict *expected)
{
	const uint32_t least = (uint32_t)o2_draw_range(c, 2, 500);

	tunables->ntx = 4 * least + (uint32_t)o2_draw(c, 3);
	tunables->fmr_pool_size = least - (uint32_t)o2_draw(c, least > 3 ? 2 : 1);
	if (tunables->fmr_pool_size < least)
		*expected = o2_settings_bound(-EINVAL, "pool/sizes/fmr-pool-size", "fmr_pool_size",
					      tunables->fmr_pool_size, least);
}

static void try_interface(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	struct o2_ni_config config = o2_settings_good_ni((uint32_t)o2_draw(c, 1));
	struct o2_settings_verdict expected = {.limit = O2_NO_LIMIT, .kind = O2_LIMIT_BOUND};
	struct o2_error error = {0};
	uint32_t windows;
	struct o2_ni ni;
	int rc;

	config.events = o2_draw_bool(c, 1, 1);
	config.windows = o2_draw_bool(c, 1, 1) ? 0 : (uint32_t)o2_draw_range(c, 2, O2_ARENA_WINDOWS);
	switch (o2_draw(c, 6)) {
	case 0:
		config.device = o2_draw_bool(c, 1, 1) ? "loop" : "loop01";
		expected = o2_settings_bound(-ENODEV, "ni/no-such-device", "device (number of devices there)",
					     2, O2_NO_LIMIT);
		break;
	case 1:
		config.port = (uint8_t)(2 * o2_draw(c, 1));
		expected = o2_settings_bound(-EINVAL, "ni/port", "port", config.port, O2_NO_LIMIT);
		break;
	case 2:
		config.gid_index = (uint8_t)o2_draw_range(c, 2, 3);
		expected =
			o2_settings_bound(-EADDRNOTAVAIL, "ni/gid-index", "gid_index", config.gid_index, 1);
		break;
	case 3:
		config.windows = o2_draw_bool(c, 1, 1) ? 1 : O2_ARENA_WINDOWS + 1;
		expected = o2_settings_bound(-EINVAL, "ni/windows", "windows", config.windows,
					     config.windows == 1 ? 2 : O2_ARENA_WINDOWS);
		break;
	case 4:
		if (o2_draw_bool(c, 1, 1)) {
			config.arena_pages = 0;
			expected = o2_settings_bound(-EINVAL, "arena/no-pages", "npages", 0, 1);
		} else {
			draw_tunables(c, &config.tunables, &expected);
		}
		break;
	case 5:
		o2_loop_set_option(O2_LOOP_PORT_ACTIVE, 0);
		expected = o2_settings_bound(-ENETDOWN, "ni/port-not-active", "port state", IBV_PORT_DOWN,
					     IBV_PORT_ACTIVE);
		expected.kind = O2_LIMIT_EXACT;
		run->tally.seen[O2_SETTINGS_PORT_DOWN]++;
		break;
	default:
		config.gid_index = (uint8_t)o2_draw(c, 1);
	}
	snprintf(run->text, sizeof(run->text), "an interface of %s, port %u, GID %u, %" PRIu32 " windows",
		 config.device, config.port, config.gid_index, config.windows);
	rc = o2_ni_open(&config, &ni, &error);
	o2_loop_set_option(O2_LOOP_PORT_ACTIVE, 1);
	o2_settings_check(run, report, rc, &error, &expected);
	run->tally.seen[rc == 0 ? NI_OPENED : NI_REFUSED]++;
	if (rc != 0)
		return;
	windows = config.windows == 0 ? O2_ARENA_WINDOWS : config.windows;
	/* A quarter of the windows, rounded up, is reserved for requests of peers: docs/transport.md, "Windows". */
	if (ni.arena.nwindows != windows || ni.kept_windows != windows / 4 + (windows % 4 != 0))
		o2_report_fail(report, "settings/windows", "%s: %" PRIu32 ", of which %" PRIu32 " are kept",
			       run->text, ni.arena.nwindows, ni.kept_windows);
	if ((o2_ni_fd(&ni) >= 0) != config.events)
		o2_report_fail(report, "settings/events", "%s: descriptor %d", run->text, o2_ni_fd(&ni));
	o2_settings_check_idle(run, report, &ni);
	o2_ni_close(&ni);
}

/* --- the case --- */

static bool open_both(struct o2_settings_run *run)
{
	struct o2_error error;

	for (uint32_t i = 0; i < 2 && !run->open; i++) {
		const struct o2_ni_config config = o2_settings_good_ni(i);

		if (o2_ni_open(&config, &run->ni[i], &error) != 0)
			return false;
	}
	run->open = true;
	return true;
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_settings_run *run = context;

	o2_report_clear(report);
	if (!open_both(run)) {
		o2_report_fail(report, "settings/open", "the devices cannot be opened");
		return O2_STATUS_INTERESTING;
	}
	if (o2_draw_bool(choice, 15, 1)) {
		try_interface(run, choice, report);
		if (!report->failed)
			o2_settings_known(run, choice, report);
		if (!report->failed)
			o2_settings_requests(run, choice, report);
	} else if (o2_draw_bool(choice, 7, 1))
		o2_settings_mode(run, choice, report);
	else if (o2_draw_bool(choice, 7, 1))
		o2_settings_lnet(run, choice, report);
	else if (o2_draw_bool(choice, 7, 1))
		o2_settings_answer(run, choice, report);
	else if (o2_draw_bool(choice, 7, 1))
		o2_settings_faults(run, choice, report);
	else if (o2_draw_bool(choice, 5, 1))
		o2_settings_bind(run, choice, report);
	else if (o2_draw_bool(choice, 7, 1))
		o2_settings_puts(run, choice, report);
	else if (o2_draw_bool(choice, 15, 1))
		o2_settings_order(run, choice, report);
	else if (o2_draw_bool(choice, 15, 1))
		o2_settings_quarter(run, choice, report);
	else if (o2_draw_bool(choice, 2, 1))
		o2_settings_meet(run, choice, report);
	else
		o2_settings_connection(run, choice, report);
	run->tally.cases++;
	return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

static void give_back(void *context)
{
	struct o2_settings_run *run = context;

	for (uint32_t i = 0; i < 2 && run->open; i++)
		o2_ni_close(&run->ni[i]);
	run->open = false;
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	(void)pieces;
	fprintf(out, "%s\n", ((const struct o2_settings_run *)context)->text);
}

struct o2_property o2_settings_property(struct o2_settings_run *run)
{
	static const struct o2_property_ops ops = {
		.give_back = give_back,
		O2_TALLY_HELD("settings",
			      "interfaces and connections take each setting up to its limit, and "
			      "refuse one further",
			      NULL),
	};

	return o2_tally_property(&ops, run, situations, O2_SETTINGS_SITUATIONS, 3000);
}
