/* SPDX-License-Identifier: MIT */
/* A request from a node that is known or unknown (docs/connection.md, "Checks of a request"). */
#include <errno.h>
#include <string.h>

#include "lnd/node/negotiate.h"
#include "props/talk/settings_internal.h"

#define SELF	UINT64_C(0x0005000000000064)
#define TRIES	8u
#define RACES	20u
#define UNSAID	UINT64_MAX
#define OLD	17u
#define CURRENT 18u

struct ground {
	struct o2_connreq_self self;
	struct o2_connreq request;
	struct o2_connreq_known known;
};

static void draw(struct o2_choice *c, struct ground *ground)
{
	static const uint64_t incarnations[] = {1, 2, UNSAID};
	static const uint16_t versions[] = {0, OLD, CURRENT};

	memset(ground, 0, sizeof(*ground));
	ground->self.nid = SELF;
	ground->self.incarnation = 7;
	ground->self.version = CURRENT;
	ground->self.queue_depth = 8;
	ground->self.max_frags = 256;
	ground->self.up = true;
	ground->self.ranking = O2_RACE_BY_NID;
	ground->self.max_peers = 1 + (uint32_t)o2_draw(c, 2);
	ground->self.max_conns_per_peer = 1 + (uint32_t)o2_draw(c, 2);
	ground->request.nid = SELF - 1 + 2 * o2_draw(c, 1);
	ground->request.incarnation = 1 + o2_draw(c, 1);
	ground->request.params.version = versions[1 + o2_draw(c, 1)];
	ground->known.npeers = (uint32_t)o2_draw(c, 4);
	ground->known.known = o2_draw_bool(c, 1, 3);
	ground->known.version = versions[o2_draw(c, 2)];
	ground->known.incarnation = incarnations[o2_draw(c, 2)];
	ground->known.nconns = (uint32_t)o2_draw(c, 4);
	ground->known.connecting = o2_draw_bool(c, 1, 1);
	ground->known.nraces = (uint32_t)(o2_draw_bool(c, 1, 1) ? RACES - 2 + o2_draw(c, 3) : 0);
}

static struct o2_settings_verdict foretell(const struct ground *ground, uint8_t *why)
{
	const struct o2_connreq_known *known = &ground->known;
	const struct o2_connreq *request = &ground->request;
	const struct o2_connreq_self *self = &ground->self;

	*why = O2_REJECT_NO_RESOURCES;
	if (!known->known && known->npeers >= self->max_peers)
		return o2_settings_bound(-ENOMEM, "connreq/peers", "peers", known->npeers, self->max_peers);
	if (!known->known)
		return (struct o2_settings_verdict){0};
	*why = O2_REJECT_CONN_STALE;
	if (known->version != 0 && known->incarnation != UNSAID && known->incarnation != request->incarnation)
		return o2_settings_exact(-ESTALE, "connreq/stale-peer", "ibm_srcstamp", request->incarnation,
					 known->incarnation);
	if (known->version != 0 && known->version != request->params.version)
		return o2_settings_exact(-ESTALE, "connreq/stale-version", "ibm_version",
					 request->params.version, known->version);
	*why = O2_REJECT_CONN_RACE;
	if (known->connecting && request->nid < self->nid && known->nraces < RACES)
		return o2_settings_bound(-EALREADY, "connreq/race", "races", known->nraces, RACES);
	*why = O2_REJECT_NO_RESOURCES;
	if (known->nconns >= self->max_conns_per_peer)
		return o2_settings_bound(-EBUSY, "connreq/connections", "connections", known->nconns,
					 self->max_conns_per_peer);
	return (struct o2_settings_verdict){0};
}

void o2_settings_known(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	for (uint32_t i = 0; i < TRIES && !report->failed; i++) {
		struct o2_settings_verdict expected;
		struct o2_error error = {0};
		struct o2_reject reject;
		struct ground ground;
		uint8_t why;
		int rc;

		draw(c, &ground);
		expected = foretell(&ground, &why);
		rc = o2_connreq_judge_peer(&ground.self, &ground.request, &ground.known, &reject, &error);
		snprintf(run->text, sizeof(run->text), "a request of a node that is %sknown",
			 ground.known.known ? "" : "not ");
		o2_settings_check(run, report, rc, &error, &expected);
		if (rc == 0)
			continue;
		o2_settings_same(run, report, "reason", reject.ibr_why, why);
		o2_settings_same(run, report, "version", reject.ibr_version, ground.request.params.version);
		/* A record of version 0x11 has no field for it. */
		o2_settings_same(run, report, "incarnation", reject.ibr_incarnation,
				 reject.ibr_version == OLD ? 0 : 7);
	}
}
