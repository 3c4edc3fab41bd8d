/* SPDX-License-Identifier: MIT */
#include "cli/net/lst_node.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/net/session.h"
#include "wire/nid.h"

#define ID_SHIFT 12u /* numbers of RPCs: 4096 for each microsecond */

/* A bulk is a list of pages without virtual addresses of their own, so mode user cannot register it. */
enum o2_reg_mode o2_net_lst_mode(const struct o2_net_options *options)
{
	return options->mode == O2_REG_USER ? O2_REG_FASTREG : options->mode;
}

/* Kernels begin at the seconds times 2^48, but one run of a command may follow the other in the same second. */
uint64_t o2_net_lst_first_id(void)
{
	return (o2_wall_ns() / O2_NS_PER_US << ID_SHIFT) + 1;
}

static struct o2_lst_node_config config_of(const struct o2_net_options *options)
{
	struct o2_lst_node_config config = O2_LST_NODE_DEFAULTS;

	/* Requests of one test with the largest concurrency, and those of the framework. */
	config.max_served += O2_LST_MAX_CONCURRENCY;
	/* The console's own requests go through the node. */
	if (options->reverse)
		config.timeout_ms = options->timeout_ms;
	config.mode = o2_net_lst_mode(options);
	config.first_id = o2_net_lst_first_id();
	config.flip_bit = o2_quirks_have(&options->quirks, O2_QUIRK_LST_FLIP_BIT);
	return config;
}

uint32_t o2_net_lst_pages(const struct o2_net_options *options, uint32_t page_bytes)
{
	const struct o2_lst_node_config config = config_of(options);

	return options->lst ? o2_lst_node_pages(&config, page_bytes) : 0;
}

uint32_t o2_net_lst_messages(const struct o2_net_options *options)
{
	const struct o2_lst_node_config node = config_of(options);

	return options->lst ? o2_lst_node_messages(&node) : 0;
}

void o2_net_lst_make_room(const struct o2_net_options *options, struct o2_lnet_config *config)
{
	const struct o2_lst_node_config node = config_of(options);

	if (!options->lst)
		return;
	config->max_entries += o2_lst_node_entries(&node);
	config->max_messages += o2_net_lst_messages(options);
}

static void note_wrong(void *context, const struct o2_lst_node_wrong *wrong)
{
	struct o2_net_lst_node *lst = context;
	const char *what = wrong->is_client ? "lst read" : "lst write";
	char nid[O2_NID_TEXT_BYTES];

	lst->wrong++;
	if (lst->quiet)
		return;
	o2_nid_to_text(wrong->nid, nid, sizeof(nid));
	if (wrong->bytes < wrong->len) {
		o2_cli_complain("%s %s of %" PRIu32 " bytes: only %" PRIu64 " of them came", nid, what,
				wrong->len, wrong->bytes);
		return;
	}
	o2_cli_complain("%s %s of %" PRIu32 " bytes: the word at byte %" PRIu32 " is 0x%016" PRIx64
			", not 0x%016" PRIx64,
			nid, what, wrong->len, wrong->word.at, wrong->word.got, wrong->word.want);
}

static void note_unserved(void *context, uint64_t nid, int code)
{
	const struct o2_net_lst_node *lst = context;
	char text[O2_NID_TEXT_BYTES];

	if (lst->quiet)
		return;
	o2_nid_to_text(nid, text, sizeof(text));
	o2_cli_complain("no LNet selftest reply could be sent to %s: %s", text, strerror(-code));
}

int o2_net_lst_open(const struct o2_net_options *options, const struct o2_ni *ni, struct o2_lnet *lnet,
		    uint32_t first_page, struct o2_net_lst_node *lst, struct o2_error *error)
{
	const struct o2_lst_node_ops ops = {.wrong = note_wrong, .unserved = note_unserved};
	struct o2_lst_node_config config = config_of(options);

	*lst = (struct o2_net_lst_node){.clock = &ni->clock, .quiet = options->lst_quiet};
	config.first_page = first_page;
	return options->lst ? o2_lst_node_create(&config, lnet, &ni->arena, &ni->clock, &ops, lst, &lst->node,
						 error)
			    : 0;
}

void o2_net_lst_stop(struct o2_net_lst_node *lst)
{
	if (lst->node != NULL)
		o2_lst_node_stop(lst->node, -ESHUTDOWN);
}

void o2_net_lst_close(struct o2_net_lst_node *lst)
{
	o2_lst_node_destroy(lst->node);
	lst->node = NULL;
}

bool o2_net_lst_done(struct o2_net_lst_node *lst, const struct o2_lnet_result *result)
{
	return lst->node != NULL && o2_lst_node_done(lst->node, result);
}

bool o2_net_lst_event(struct o2_net_lst_node *lst, const struct o2_lnet_event *event)
{
	return lst->node != NULL && o2_lst_node_event(lst->node, event);
}

void o2_net_lst_round(struct o2_net_lst_node *lst)
{
	if (lst->node == NULL || o2_clock_ms(lst->clock) == lst->told_ms)
		return;
	lst->told_ms = o2_clock_ms(lst->clock);
	o2_lst_node_check_time(lst->node);
}

bool o2_net_lst_is_idle(struct o2_net_lst_node *lst, uint64_t limit_ms)
{
	const struct o2_lst_node_report *report = o2_lst_node_report(lst->node);
	const uint64_t served = report->pings + report->reads + report->writes;
	const uint64_t now_ms = o2_clock_ms(lst->clock);
	const bool first = lst->served_ms == 0, idle = !first && now_ms - lst->served_ms >= limit_ms;

	if (!first && !idle && served == lst->served)
		return false;
	lst->served = served;
	lst->served_ms = now_ms;
	return idle;
}

void o2_net_lst_print(const struct o2_net_lst_node *lst)
{
	const struct o2_lst_node_report *report;

	if (lst->node == NULL)
		return;
	report = o2_lst_node_report(lst->node);
	printf("lst: %" PRIu64 " sessions, %" PRIu64 " expired; served %" PRIu64 " pings, %" PRIu64
	       " reads, %" PRIu64 " writes, %" PRIu64 " bytes; refused %" PRIu64 "; own tests %" PRIu64
	       ", %" PRIu64 " failed; wrong %" PRIu64 "\n",
	       report->sessions, report->expired, report->pings, report->reads, report->writes, report->bytes,
	       report->refused, report->tries, report->failed, lst->wrong);
}

json_t *o2_net_lst_to_json(const struct o2_net_lst_node *lst)
{
	const struct o2_lst_node_report *report = o2_lst_node_report(lst->node);
	const struct {
		const char *name;
		uint64_t value;
	} members[] = {
		{"sessions", report->sessions}, {"expired", report->expired}, {"pings", report->pings},
		{"reads", report->reads},	{"writes", report->writes},   {"bytes", report->bytes},
		{"refused", report->refused},	{"tries", report->tries},     {"failed", report->failed},
		{"wrong", lst->wrong},
	};
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		object = o2_json_with(object, members[i].name, o2_json_length(members[i].value));
	return object;
}
