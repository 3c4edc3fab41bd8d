/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lst/bulk.h"
#include "lst/test.h"
#include "props/lst/lst_internal.h"

/*
 * Creates nodes, RPC engines, consoles and page pools with configurations at a limit or past it.  docs/lst.md
 * and the headers define which are accepted, and the rule, field, value and limit of each refusal.
 */

#define PAGES	  O2_LNET_SIDE_PAGES
#define PAGE	  4096u
#define MESSAGE	  160u
#define SERVICES  13u /* service numbers are below this */
#define FETCHES	  16u
#define BULK	  256u /* pages of the largest bulk */
#define MOST_RPCS (1u << 20)

/* The predicted error; rule NULL: accepted. */
struct limit {
	const char *rule, *field;
	uint64_t value, limit;
};

static void check(struct o2_lst_case *the, const char *what, int rc, const struct o2_error *error,
		  const struct limit *limit)
{
	const bool refused = limit->rule != NULL;
	bool right = rc == (refused ? -EINVAL : 0);

	if (refused && right)
		right = error->rule != NULL && strcmp(error->rule, limit->rule) == 0 &&
			strcmp(error->field, limit->field) == 0 && error->value == limit->value &&
			error->limit == limit->limit;
	if (!right)
		o2_report_fail(the->report, "lst/limit",
			       "%s: %d by %s, %s is %" PRIu64 ", limit %" PRIu64
			       "; expected %s, %s is %" PRIu64 ", limit %" PRIu64,
			       what, rc, error->rule == NULL ? "nothing" : error->rule,
			       error->field == NULL ? "-" : error->field, error->value, error->limit,
			       refused ? limit->rule : "nothing", refused ? limit->field : "-", limit->value,
			       limit->limit);
	the->seen[refused ? CONFIG_REFUSED : CONFIG_TAKEN]++;
}

static uint32_t rpc_pages(uint32_t calls, uint32_t served)
{
	return (SERVICES + 2 * calls + served + PAGE / MESSAGE - 1) / (PAGE / MESSAGE);
}

static void check_count(struct o2_lst_case *the, const char *what, uint32_t found, uint32_t expected)
{
	if (found != expected)
		o2_report_fail(the->report, "lst/limit", "%s: %" PRIu32 ", not %" PRIu32, what, found,
			       expected);
}

/* Try to create a node, and compare the result with *limit.  The case checks afterwards that nothing is left. */
static void make_node(struct o2_lst_case *the, const struct o2_lst_node_config *config,
		      const struct limit *limit)
{
	const struct o2_lst_node_ops ops = {.wrong = NULL};
	struct o2_lnet_side *a = &the->lnet.a;
	struct o2_error error = {.code = 0};
	struct o2_lst_node *node = NULL;
	const int rc = o2_lst_node_create(config, a->lnet, &a->arena, &a->clock, &ops, NULL, &node, &error);

	check(the, "a node", rc, &error, limit);
	if (node == NULL)
		return;
	o2_lst_node_stop(node, -ESHUTDOWN);
	o2_lst_node_destroy(node);
}

/* Of pages for bulk that the arena does not have: there are none or too many, or they lie too far behind. */
static struct limit pages_limit(uint32_t count, uint32_t first)
{
	if (count == 0 || count > PAGES)
		return (struct limit){"lst/config/bulk-pages", "npages", count, count == 0 ? 1 : PAGES};
	return (struct limit){"lst/config/bulk-pages", "first_page", first, PAGES - count};
}

static void limit_node(struct o2_lst_case *the)
{
	struct o2_lst_node_config config = o2_lst_side_config();
	const struct {
		const char *field;
		uint32_t *value, low;
	} fields[] = {
		{"server_pages", &config.server_pages, BULK}, {"client_pages", &config.client_pages, BULK},
		{"max_sessions", &config.max_sessions, 2},    {"max_batches", &config.max_batches, 1},
		{"max_tests", &config.max_tests, 1},	      {"max_units", &config.max_units, 1}};
	const uint32_t which = o2_lst_draw(the, 6), past = o2_lst_draw(the, 1);
	struct limit limit = {NULL, NULL, 0, 0};
	uint32_t all;

	if (which < 6) {
		*fields[which].value = fields[which].low - past;
		if (past != 0)
			limit = (struct limit){"lst/config/node", fields[which].field, fields[which].low - 1,
					       fields[which].low};
	}
	all = rpc_pages(config.max_calls, config.max_served) + FETCHES + config.server_pages +
	      config.client_pages;
	check_count(the, "pages of a node", o2_lst_node_pages(&config, PAGE), all);
	check_count(the, "entries of a node", o2_lst_node_entries(&config), SERVICES + 2 * config.max_calls);
	check_count(the, "messages of a node", o2_lst_node_messages(&config),
		    3 * config.max_calls + config.max_served);
	if (which == 6) {
		config.first_page = PAGES - all + past;
		if (past != 0)
			limit = pages_limit(config.client_pages, PAGES - config.client_pages + past);
	}
	make_node(the, &config, &limit);
}

static void limit_rpc(struct o2_lst_case *the)
{
	struct o2_lst_rpc_config config = O2_LST_RPC_DEFAULTS;
	struct o2_lnet_side *a = &the->lnet.a;
	const uint32_t past = o2_lst_draw(the, 1), which = o2_lst_draw(the, 2);
	const uint32_t value = o2_draw_bool(the->choice, 1, 1) ? 1 - past : MOST_RPCS + past;
	struct limit limit = {NULL, NULL, 0, 0};
	struct o2_error error = {.code = 0};
	struct o2_lst_rpc *rpc = NULL;
	uint32_t pages;

	config.max_calls = config.max_served = 1;
	if (which == 0)
		config.max_calls = value;
	else if (which == 1)
		config.max_served = value;
	pages = rpc_pages(config.max_calls, config.max_served);
	check_count(the, "pages of RPCs", o2_lst_rpc_pages(&config, PAGE), pages);
	if (which < 2 && past != 0)
		limit = (struct limit){which == 0 ? "lst/config/max-calls" : "lst/config/max-served",
				       which == 0 ? "max_calls" : "max_served", value,
				       value == 0 ? 1 : MOST_RPCS};
	config.first_page = pages > PAGES ? 0 : PAGES - pages + (which == 2 ? past : 0);
	if (limit.rule == NULL && pages > PAGES)
		limit = (struct limit){"lst/config/first-page", "pages of RPCs", pages, PAGES};
	else if (limit.rule == NULL && which == 2 && past != 0)
		limit = (struct limit){"lst/config/first-page", "first_page", config.first_page,
				       PAGES - pages};
	check(the, "RPCs", o2_lst_rpc_create(&config, a->lnet, &a->arena, &a->clock, &rpc, &error), &error,
	      &limit);
	o2_lst_rpc_destroy(rpc);
}

/* Page counts: some or all of the arena's, one more, none. */
static void limit_pages(struct o2_lst_case *the)
{
	static const uint32_t counts[] = {1, PAGES / 2, PAGES, PAGES + 1, 0, UINT32_MAX};
	const uint32_t count = counts[o2_lst_draw(the, 5)], past = o2_lst_draw(the, 1);
	const uint32_t first = (count <= PAGES ? PAGES - count : 0) + past;
	const bool fits = count > 0 && count <= PAGES && past == 0;
	const struct limit limit = fits ? (struct limit){NULL, NULL, 0, 0} : pages_limit(count, first);
	struct o2_error error = {.code = 0};
	struct o2_lst_pages *pages = NULL;
	struct o2_lst_bulk bulk, more;
	int rc;

	check(the, "pages",
	      o2_lst_pages_create(&the->lnet.a.arena, first, count, O2_REG_GLOBAL, &pages, &error), &error,
	      &limit);
	if (pages == NULL)
		return;
	/* A bulk of one page gets all there is; more would never fit. */
	if (count == 1) {
		rc = o2_lst_bulk_get(pages, PAGE, 0, &bulk);
		check_count(the, "whether there is a page", rc == 0, 1);
		check_count(the, "pages in use", o2_lst_pages_used(pages), 1);
		check_count(the, "whether there is none left",
			    o2_lst_bulk_get(pages, 8, 0, &more) == -ENOBUFS, 1);
		check_count(the, "whether two are too many",
			    o2_lst_bulk_get(pages, PAGE + 8, 0, &more) == -EMSGSIZE, 1);
		o2_lst_bulk_put(&bulk);
		check_count(the, "pages in use again", o2_lst_pages_used(pages), 0);
	}
	o2_lst_pages_destroy(pages);
}

/* --- consoles --- */

static struct limit spoil(struct o2_lst_case *the, struct o2_lst_console_config *config)
{
	struct o2_lst_test *test = &config->test;
	const bool brw = test->service == O2_LST_SERVICE_BRW;

	switch (o2_lst_draw(the, 6)) {
	case 0:
		memset(config->name.text, 'n', O2_LST_NAME_BYTES);
		return (struct limit){"lst/console/name", "name", O2_LST_NAME_BYTES, O2_LST_NAME_BYTES - 1};
	case 1:
		config->sid = O2_LST_NO_SID;
		return (struct limit){"lst/console/sid", "sid", config->sid.ses_stamp, O2_NO_LIMIT};
	case 2:
		config->concurrency = o2_draw_bool(the->choice, 1, 1) ? 0 : 1025;
		return (struct limit){"lst/send/concur", "tsr_concur", config->concurrency,
				      config->concurrency == 0 ? 1 : 1024};
	case 3:
		/* Bulk in whole pages belongs to other features, which a console does not run. */
		test->features = 0;
		test->len = PAGE;
		test->offset = 0;
		return (struct limit){"lst/console/features", "features", 0, 1};
	case 4:
		test->rw = 3;
		return brw ? (struct limit){"lst/send/brw-rw", "brw_rw", 3, 2}
			   : (struct limit){NULL, NULL, 0, 0};
	case 5:
		test->offset = PAGE;
		test->len = PAGE;
		return brw ? (struct limit){"lst/send/blk-offset", "blk_offset", PAGE, 0}
			   : (struct limit){NULL, NULL, 0, 0};
	default:
		memset(config->name.text, 'n', O2_LST_NAME_BYTES - 1);
		config->concurrency = 1024;
		if (brw)
			test->len = 8, test->offset = PAGE - 8;
		return (struct limit){NULL, NULL, 0, 0};
	}
}

static void limit_console(struct o2_lst_case *the)
{
	static const struct o2_lst_console_ops ops = {NULL, NULL};
	struct o2_lst_rpc_config calls = O2_LST_RPC_DEFAULTS;
	struct o2_lnet_side *a = &the->lnet.a;
	struct o2_lst_console *console = NULL;
	struct o2_error error = {.code = 0};
	struct o2_lst_console_config config;
	struct limit limit;
	bool room;
	int rc;

	o2_lst_talk_begin(the);
	config = the->talk.config;
	limit = spoil(the, &config);
	calls.first_page = PAGES - 100;
	rc = o2_lst_rpc_create(&calls, a->lnet, &a->arena, &a->clock, &the->talk.rpc, NULL);
	if (rc != 0)
		return;
	check(the, "the configuration of a console", o2_lst_console_check(&config, &error), &error, &limit);
	if (limit.rule == NULL) {
		const uint32_t end = config.test.offset + config.test.len;
		const uint32_t pages = config.reverse ? 1
				       : config.test.service != O2_LST_SERVICE_BRW
					       ? 0
					       : config.concurrency * ((end + PAGE - 1) / PAGE);

		check_count(the, "pages of a console", o2_lst_console_pages(&config, PAGE), pages);
		room = pages <= PAGES - config.first_page;
		if (!room)
			limit = pages_limit(pages, config.first_page);
	}
	rc = o2_lst_console_create(&config, the->talk.rpc, &a->arena, &a->clock, &ops, NULL, &console,
				   &error);
	check(the, "a console", rc, &error, &limit);
	check_count(the, "whether there is a console", console != NULL, limit.rule == NULL);
	o2_lst_console_destroy(console);
}

bool o2_lst_limits_case(struct o2_lst_case *the)
{
	static void (*const limits[])(struct o2_lst_case *) = {limit_node, limit_rpc, limit_pages,
							       limit_console};
	const struct o2_lst_run *run = the->run;
	const uint32_t which = o2_lst_draw(the, 3);
	int64_t before = run->allocated == NULL ? 0 : run->allocated();

	limits[which](the);
	o2_lst_talk_close(the);
	if (run->allocated != NULL && run->allocated() != before)
		o2_report_fail(the->report, "lst/short-left", "%d allocations are left",
			       (int)(run->allocated() - before));
	return true;
}
