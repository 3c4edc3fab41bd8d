/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/net/commands.h"
#include "cli/net/event.h"
#include "cli/net/lst_node.h"
#include "cli/net/lst_report.h"
#include "cli/net/session.h"

/* lst: a console of LNet selftest at one node.  Source: docs/lst.md, "The command". */

#define CHECK_EVERY_NS (100u * O2_NS_PER_MS)
#define SESSION_NAME   "o2ref"

struct lst {
	struct o2_net_options *options;
	struct o2_net_session session;
	struct o2_lst_rpc_config rpc_config;
	struct o2_lst_console_config config;
	struct o2_lst_rpc *rpc;
	struct o2_net_lst_node node; /* --reverse: the server, whose RPCs the console uses too */
	struct o2_lst_console *console;
	struct o2_net_report report;
	uint64_t *began_ns; /* by lane */
	bool told[O2_LST_OUTCOMES];
	bool down; /* a connection has ended */
	bool cut;  /* a signal came before the test was over */
	bool idle; /* --reverse: so did the end of our patience */
	struct o2_transfer_fault fault;
	uint64_t next_check_ns;
};

/* --- callbacks --- */

static void note_began(void *context, uint32_t lane)
{
	struct lst *lst = context;

	lst->began_ns[lane] = o2_monotonic_ns();
	if (lst->report.started_ns == 0)
		lst->report.started_ns = lst->began_ns[lane];
}

static bool is_looked_at(const struct lst *lst, const struct o2_lst_console_result *result)
{
	return (result->outcome == O2_LST_WELL || result->outcome == O2_LST_FAIL_DATA) &&
	       lst->options->verify;
}

/* The first failure of each kind is reported; with --verbose all are. */
static void note_ended(void *context, const struct o2_lst_console_result *result)
{
	struct lst *lst = context;

	lst->report.ended_ns = o2_monotonic_ns();
	lst->report.verified += is_looked_at(lst, result);
	lst->report.wrong += result->outcome == O2_LST_FAIL_DATA;
	if (result->outcome == O2_LST_WELL)
		o2_net_report_done(&lst->report, result->bytes,
				   lst->report.ended_ns - lst->began_ns[result->lane]);
	if (result->outcome < O2_LST_FAIL_LOCAL)
		return;
	lst->report.failed++;
	if (!lst->told[result->outcome] || lst->options->verbose)
		o2_net_lst_complain(lst->options, result);
	lst->told[result->outcome] = true;
}

static void note_done(void *context, const struct o2_lnet_result *result)
{
	struct lst *lst = context;

	if (!o2_net_lst_done(&lst->node, result))
		o2_lst_rpc_done(lst->rpc, result);
}

/* The peer may request something meanwhile. */
static void note_event(void *context, const struct o2_lnet_event *event)
{
	struct lst *lst = context;
	const bool meant = lst->options->reverse ? o2_net_lst_event(&lst->node, event)
						 : o2_lst_rpc_event(lst->rpc, event);

	if (!meant)
		o2_net_tell_event(lst->options, event);
}

static void note_down(void *context, uint64_t nid, const struct o2_transfer_fault *fault)
{
	struct lst *lst = context;

	if (nid != lst->options->peer)
		return;
	lst->down = true;
	lst->fault = *fault;
}

/* --- its parts --- */

/* The session's stamp must differ from those of any earlier run. */
static void configure(struct lst *lst)
{
	const struct o2_net_options *options = lst->options;

	lst->config = (struct o2_lst_console_config){
		.nid = options->peer,
		.sid = {options->nid, o2_wall_ns() / O2_NS_PER_US},
		.name = {SESSION_NAME},
		.force = options->force,
		.batch = 1,
		.before = true,
		.test = o2_net_lst_test_of(options),
		.reverse = options->reverse,
		.concurrency = options->concurrency,
		.count = options->count,
		.duration_ms = (uint64_t)options->seconds * O2_MS_PER_S,
		.mode = o2_net_lst_mode(options),
	};
}

static void configure_rpc(struct lst *lst)
{
	const struct o2_net_options *options = lst->options;

	lst->rpc_config = O2_LST_RPC_DEFAULTS;
	lst->rpc_config.max_calls = o2_lst_console_calls(&lst->config);
	lst->rpc_config.max_served = 1;
	lst->rpc_config.timeout_ms = options->timeout_ms;
	lst->rpc_config.mode = lst->config.mode;
	lst->rpc_config.first_id = o2_net_lst_first_id();
}

static uint32_t lay(struct lst *lst)
{
	const uint32_t page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	const uint32_t rpc_pages = lst->options->reverse ? o2_net_lst_pages(lst->options, page_bytes)
							 : o2_lst_rpc_pages(&lst->rpc_config, page_bytes);

	lst->rpc_config.first_page = O2_NET_LNET_PAGES;
	lst->config.first_page = O2_NET_LNET_PAGES + rpc_pages;
	return rpc_pages + o2_lst_console_pages(&lst->config, page_bytes);
}

static int start_session(struct lst *lst, struct o2_error *error)
{
	const struct o2_lnet_ops ops = {.done = note_done, .event = note_event};
	struct o2_node_config node = o2_net_node_config(lst->options);
	struct o2_lnet_config lnet = o2_net_lnet_config(lst->options);

	/* o2_net_lnet_config has made room for a node. */
	if (lst->options->reverse)
		return o2_net_session_start(&lst->session, lst->options, &node, &lnet, &ops, lst, error);
	lnet.max_entries += o2_lst_rpc_entries(&lst->rpc_config);
	lnet.max_messages += o2_lst_rpc_messages(&lst->rpc_config);
	node.conn.max_transfers += o2_lst_rpc_messages(&lst->rpc_config);
	node.max_waiting += o2_lst_rpc_messages(&lst->rpc_config);
	return o2_net_session_start(&lst->session, lst->options, &node, &lnet, &ops, lst, error);
}

static int open_rpc(struct lst *lst, struct o2_error *error)
{
	const struct o2_ni *ni = &lst->session.network.ni;
	struct o2_lnet *lnet = lst->session.endpoint.lnet;
	int rc;

	if (!lst->options->reverse)
		return o2_lst_rpc_create(&lst->rpc_config, lnet, &ni->arena, &ni->clock, &lst->rpc, error);
	rc = o2_net_lst_open(lst->options, ni, lnet, O2_NET_LNET_PAGES, &lst->node, error);
	if (rc == 0)
		lst->rpc = o2_lst_node_rpc(lst->node.node);
	return rc;
}

static void stop_rpc(struct lst *lst)
{
	if (lst->options->reverse)
		o2_net_lst_stop(&lst->node);
	else
		o2_lst_rpc_stop(lst->rpc, -ECANCELED);
}

static void close_rpc(struct lst *lst)
{
	if (lst->options->reverse)
		o2_net_lst_close(&lst->node);
	else
		o2_lst_rpc_destroy(lst->rpc);
}

/* The network is open.  Unless this returns 0, the endpoint is closed afterwards and must not be stopped. */
static int start_parts(struct lst *lst, struct o2_error *error)
{
	const struct o2_lst_console_ops ops = {note_began, note_ended};
	const struct o2_ni *ni = &lst->session.network.ni;
	int rc;

	/* Our NID is known only since the network is open. */
	lst->config.sid.ses_nid = lst->options->nid;
	rc = start_session(lst, error);
	if (rc != 0)
		return rc;
	lst->session.endpoint.down = note_down;
	rc = open_rpc(lst, error);
	if (rc == 0)
		rc = o2_lst_console_create(&lst->config, lst->rpc, &ni->arena, &ni->clock, &ops, lst,
					   &lst->console, error);
	if (rc == 0)
		return 0;
	if (lst->rpc != NULL)
		stop_rpc(lst);
	o2_net_session_stop(&lst->session);
	return rc;
}

/* --- running --- */

/* A first signal ends the test and the session in order; a second one ends both at once. */
static bool heed_signal(struct lst *lst, bool *stopped)
{
	if (o2_net_stop == 0)
		return true;
	o2_net_stop = 0;
	if (*stopped)
		return false;
	*stopped = true;
	lst->cut = o2_lst_console_report(lst->console)->step <= O2_LST_STEP_RUN;
	o2_lst_console_stop(lst->console, true);
	return true;
}

/* --reverse: count what we have served and found; what failed at the client it says at the end. */
static void count_served(struct lst *lst)
{
	const struct o2_lst_node_report *served = o2_lst_node_report(lst->node.node);
	struct o2_net_report *report = &lst->report;

	report->done = served->pings + served->reads + served->writes;
	report->bytes = served->bytes;
	report->verified = served->checked_writes;
	report->failed = report->wrong = served->wrong_writes;
	report->started_ns = o2_lst_console_report(lst->console)->started_ms * O2_NS_PER_MS;
}

/* A node that says that it is active, but asks for nothing, would be queried for ever. */
static void lose_patience(struct lst *lst)
{
	const uint64_t limit_ms = 2 * (uint64_t)lst->options->timeout_ms;

	if (o2_lst_console_report(lst->console)->step != O2_LST_STEP_RUN ||
	    !o2_net_lst_is_idle(&lst->node, limit_ms))
		return;
	if (!lst->idle)
		o2_net_lst_complain_idle(lst->options, limit_ms);
	lst->idle = true;
	o2_net_stop = 1;
}

static void look_at_time(struct lst *lst)
{
	const uint64_t now_ns = o2_monotonic_ns();

	/* The console's times are of the interface's clock. */
	if (lst->options->reverse)
		count_served(lst);
	o2_net_report_progress(
		&lst->report, lst->options,
		lst->options->reverse ? o2_clock_ms(&lst->session.network.ni.clock) * O2_NS_PER_MS : now_ns);
	if (now_ns < lst->next_check_ns)
		return;
	lst->next_check_ns = now_ns + CHECK_EVERY_NS;
	if (lst->options->reverse)
		lose_patience(lst);
	else
		o2_lst_rpc_check_time(lst->rpc);
	o2_lst_console_check_time(lst->console);
}

/* A peer without any connection to us will not answer any more. */
static void look_at_peer(struct lst *lst)
{
	const int code = lst->fault.code;

	if (!lst->down)
		return;
	lst->down = false;
	if (o2_node_conn(lst->session.endpoint.node, lst->options->peer, 0) == NULL)
		o2_lst_rpc_peer_down(lst->rpc, lst->options->peer, code != 0 ? code : -ECONNRESET);
}

static bool run(struct lst *lst)
{
	bool stopped = false, alive = true;

	o2_lst_console_start(lst->console);
	while (alive && !o2_lst_console_is_over(lst->console) && heed_signal(lst, &stopped)) {
		alive = o2_net_session_step(&lst->session, lst->next_check_ns);
		look_at_peer(lst);
		o2_net_lst_round(&lst->node);
		look_at_time(lst);
	}
	return alive && o2_lst_console_is_over(lst->console);
}

/* --reverse: the last count, with what the client counts as wrong. */
static void take_stock(struct lst *lst)
{
	const struct o2_lst_console_report *session = o2_lst_console_report(lst->console);
	struct o2_net_report *report = &lst->report;

	count_served(lst);
	if (session->has_after)
		report->failed =
			(uint64_t)session->after.str_fw.brw_errors + session->after.str_fw.ping_errors;
	/* A test that was cut short has no end of its own. */
	report->ended_ns = (session->step == O2_LST_STEP_RUN && session->ended_ms == 0
				    ? o2_clock_ms(&lst->session.network.ni.clock)
				    : session->ended_ms) *
			   O2_NS_PER_MS;
}

/* The run ended early although nothing failed. */
static void complain_ended(const struct lst *lst)
{
	if (lst->options->count == 0 && lst->cut && lst->report.failed == 0)
		o2_cli_complain("ended after %" PRIu64 " operations, before its %" PRIu32 " s were over",
				lst->report.done, lst->options->seconds);
	else
		o2_net_complain_ended(&lst->report, lst->options);
}

static int conclude(struct lst *lst, bool in_order)
{
	struct o2_lst_console_report session = *o2_lst_console_report(lst->console);
	char rejects[O2_NET_REJECTS_BYTES];
	bool well;

	/* Nobody has removed the session; or its request was under way.  Without a connection there is none. */
	session.left |= !in_order && !session.taken;
	session.left &= lst->session.seen.connected;
	if (lst->options->reverse)
		take_stock(lst);
	else if (lst->report.started_ns == 0)
		lst->report.started_ns = lst->report.ended_ns = o2_monotonic_ns();
	else if (lst->report.ended_ns == 0)
		lst->report.ended_ns = o2_monotonic_ns();
	well = (lst->options->count == 0 ? !lst->cut : lst->report.done >= lst->options->count) &&
	       lst->report.failed == 0 && lst->report.wrong == 0;
	if (!in_order)
		o2_cli_complain("%s during step %s", lst->idle ? "given up" : "interrupted",
				o2_lst_console_step_name(session.step));
	o2_net_lst_complain_session(lst->options, &session, &lst->fault,
				    o2_net_rejects_text(&lst->session, &lst->fault, rejects));
	/* Before there is a session, a signal cancels the request for it. */
	if (in_order && !lst->idle &&
	    (session.status == 0 || (session.status == -ECANCELED && !session.refused)))
		complain_ended(lst);
	return o2_net_lst_print_summary(lst->options, &lst->report, &session,
					in_order && well && session.status == 0 ? O2_CLI_OK : O2_CLI_REFUSED);
}

static int serve_itself(struct lst *lst)
{
	struct o2_error error = {.code = 0};
	int status;

	lst->began_ns = calloc(lst->config.concurrency, sizeof(*lst->began_ns));
	if (lst->began_ns == NULL || start_parts(lst, &error) != 0) {
		if (error.code != 0)
			o2_cli_complain_error("cannot start", &error);
		else
			o2_cli_complain("not enough memory");
		return O2_CLI_USAGE;
	}
	status = conclude(lst, run(lst));
	/* What is still under way ends now, and must not be reported. */
	lst->options->verbose = false;
	memset(lst->told, true, sizeof(lst->told));
	stop_rpc(lst);
	o2_net_session_stop(&lst->session);
	return status;
}

int o2_net_lst(struct o2_net_options *options)
{
	struct lst lst = {.options = options};
	struct o2_error error;
	int status;

	configure(&lst);
	if (o2_lst_console_check(&lst.config, &error) != 0) {
		o2_cli_complain_error("this test must not be requested from a node", &error);
		return O2_CLI_USAGE;
	}
	if (options->count != 0 && options->concurrency > options->count)
		lst.config.concurrency = (uint32_t)options->count;
	configure_rpc(&lst);
	/* We check the bytes that come to us: of writes with --reverse, else of reads. */
	options->lst = options->reverse;
	options->verify = options->test == (options->reverse ? O2_NET_LST_WRITE : O2_NET_LST_READ) &&
			  (options->every_word || options->check != O2_NET_LST_NONE);
	status = o2_net_session_open_network(options, lay(&lst), &lst.session);
	if (status != O2_CLI_OK)
		return status;
	status = serve_itself(&lst);
	o2_lst_console_destroy(lst.console);
	close_rpc(&lst);
	free(lst.began_ns);
	o2_net_network_close(&lst.session.network);
	return status;
}
