/* SPDX-License-Identifier: MIT */
/* Devices whose queues have exactly the length that a connection needs, or one less: docs/transport.md, "Sizes". */
#include <errno.h>
#include <inttypes.h>

#include "lnd/conn/credits.h"
#include "lnd/conn/qp.h"
#include "props/talk/settings_internal.h"
#include "props/world/account.h"

/* Gather entries of a message with gathered payload: itself and 4 fragments (docs/transport.md, "IMMEDIATE"). */
#define GATHERED 5u
/* The fewest full transfers: docs/transport.md, "Sizes". */
#define FEWEST	  2u
#define FEWEST_V1 4u

/* A connection's configuration as adapted to a device. */
struct fitted {
	struct o2_conn_config config;
	struct o2_flow_tunables flow;
	struct o2_error error;
	int rc;
};

static struct fitted fit(const struct o2_conn_config *config, const struct o2_qp_device *device)
{
	struct fitted fitted = {.config = *config};

	fitted.rc = o2_qp_fit_device(device, &fitted.config, &fitted.flow, &fitted.error);
	return fitted;
}

static struct o2_qp_device needs(const struct fitted *fitted)
{
	const uint32_t sends = o2_qp_send_wrs(&fitted->config, &fitted->flow),
		       receives = o2_qp_recv_wrs(&fitted->config);

	return (struct o2_qp_device){.max_sge = O2_MAX_WRQ_SGE,
				     .max_wr = sends > receives ? sends : receives,
				     .max_cqe = o2_qp_cq_entries(&fitted->config, &fitted->flow)};
}

static bool has_all(const struct fitted *found, const struct fitted *all)
{
	return found->rc == 0 && found->config.queue_depth == all->config.queue_depth &&
	       found->flow.concurrent_sends == all->flow.concurrent_sends;
}

/* True if the device has no room for one full transfer more; of a refused connection: for the fewest that one has. */
static bool has_no_more(const struct fitted *found, const struct fitted *all,
			const struct o2_qp_device *device)
{
	const uint32_t fewest = all->config.version == O2_MSG_VERSION_1 ? FEWEST_V1 : FEWEST;
	const uint32_t full = found->rc == 0 ? o2_full_transfers(&found->flow) + 1 : fewest;
	struct fitted more = *all;
	struct o2_qp_device due;

	more.config.queue_depth = more.flow.queue_depth = o2_smaller(all->flow.queue_depth, full);
	more.flow.concurrent_sends = o2_smaller(all->flow.concurrent_sends, full);
	due = needs(&more);
	return due.max_wr > device->max_wr || due.max_cqe > device->max_cqe;
}

/* Payloads are gathered if this is configured and the device supports it, otherwise they are copied. */
static void check_gather(const struct o2_settings_run *run, const struct o2_conn_config *config,
			 struct o2_report *report)
{
	for (uint32_t asks = 0; asks < 2; asks++)
		for (uint32_t sge = GATHERED - 1; sge <= GATHERED; sge++) {
			const uint32_t max_sge = sge > config->wrq_sge ? sge : config->wrq_sge;
			const struct o2_qp_device device = {max_sge, UINT32_MAX, UINT32_MAX};
			struct o2_conn_config asked = *config;
			struct fitted found;

			asked.immediate_gather = asks != 0;
			found = fit(&asked, &device);
			if (found.rc != 0 ||
			    found.config.immediate_gather != (asks != 0 && max_sge >= GATHERED))
				o2_report_fail(report, "settings/device",
					       "%s: payloads %s, and %s, with a device of %" PRIu32
					       " entries",
					       run->text, asks ? "are to be gathered" : "are to be copied",
					       found.config.immediate_gather ? "are gathered" : "are copied",
					       max_sge);
		}
}

void o2_settings_device(struct o2_settings_run *run, struct o2_choice *c, const struct o2_conn_config *config,
			struct o2_report *report)
{
	const struct o2_qp_device wide = {O2_MAX_WRQ_SGE, UINT32_MAX, UINT32_MAX};
	const struct fitted all = fit(config, &wide);
	struct o2_qp_device device = needs(&all), due;
	struct fitted found = fit(config, &device);
	struct o2_account_limits limits;

	o2_account_limits(config, NULL, &limits);
	if (all.rc != 0 || !has_all(&found, &all) || all.config.queue_depth != limits.made ||
	    all.flow.concurrent_sends != limits.concurrent_sends) {
		o2_report_fail(report, "settings/device",
			       "%s: depth %" PRIu32 " of %" PRIu32 ", sends %" PRIu32 " of %" PRIu32
			       " with all that it needs",
			       run->text, found.config.queue_depth, limits.made, all.flow.concurrent_sends,
			       limits.concurrent_sends);
		return;
	}
	check_gather(run, config, report);
	if (o2_draw_bool(c, 1, 1))
		device.max_wr -= 1 + (uint32_t)o2_draw(c, o2_draw_bool(c, 1, 1) ? 0 : device.max_wr - 1);
	else
		device.max_cqe -= 1 + (uint32_t)o2_draw(c, o2_draw_bool(c, 1, 1) ? 0 : device.max_cqe - 1);
	found = fit(config, &device);
	due = needs(&found);
	run->tally.seen[found.rc == 0 ? O2_SETTINGS_SHRUNK : O2_SETTINGS_TOO_SMALL]++;
	if (has_all(&found, &all) || !has_no_more(&found, &all, &device) ||
	    (found.rc == 0 && (due.max_wr > device.max_wr || due.max_cqe > device.max_cqe)))
		o2_report_fail(report, "settings/device",
			       "%s: depth %" PRIu32 " with %" PRIu32 " requests and %" PRIu32
			       " entries, of which it needs %" PRIu32 " and %" PRIu32,
			       run->text, found.config.queue_depth, device.max_wr, device.max_cqe, due.max_wr,
			       due.max_cqe);
	else if ((found.rc != 0 && found.rc != -EINVAL) || (found.rc == 0) != (found.error.rule == NULL))
		o2_report_fail(report, "settings/device", "%s: %d by %s", run->text, found.rc,
			       found.error.rule == NULL ? "no rule" : found.error.rule);
}
