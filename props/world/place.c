/* SPDX-License-Identifier: MIT */
#include "props/world/place.h"

#include <inttypes.h>

#include "base/monotonic.h"
#include "props/world/device.h"
#include "wire/nid.h"

const char *const o2_place_pool_names[O2_NI_POOL_KINDS] = {
	[O2_NI_POOL_FMR] = "fmr",
	[O2_NI_POOL_FRD] = "frd",
	[O2_NI_POOL_FRD_GAPS] = "frd_gaps",
	[O2_NI_POOL_TX] = "tx",
};

int o2_place_open(struct o2_place *place, const struct o2_ni_config *config, struct o2_network *network,
		  struct o2_error *error)
{
	struct o2_ni_config full = *config;
	int rc;

	o2_device_trust_pages();
	full.port = 1;
	full.reg_gaps = o2_device_reg_gaps();
	*place = (struct o2_place){.network = network};
	rc = o2_ni_open(&full, &place->ni, error);
	place->open = rc == 0;
	if (rc != 0 || network == NULL)
		return rc;
	return network->ops->attach(network, &place->ni, o2_nid_address(full.nid), &place->cm, error);
}

int o2_place_open_anew(struct o2_place *place, struct o2_arenas *arenas, uint32_t unmapped_every,
		       const struct o2_ni_config *config, struct o2_error *error)
{
	struct o2_ni_config full = *config;
	struct o2_arenas_pair *pair;
	int rc = o2_arenas_take(arenas, config->arena_pages, config->plain_arena, unmapped_every, &pair,
				error);

	*place = (struct o2_place){.network = NULL};
	if (rc != 0)
		return rc;
	full.arena = &pair->arena;
	rc = o2_place_open(place, &full, NULL, error);
	place->pair = pair;
	return rc;
}

int o2_place_remember(struct o2_place *place, uint32_t node)
{
	int rc = 0;

	if (place->pair != NULL) {
		o2_shadow_open_over(&place->shadow, &place->ni.arena, place->pair->copy.memory, node);
		place->shadow.touched = o2_arenas_watch(place->pair, place->ni.config.bounce);
	} else {
		rc = o2_shadow_open(&place->shadow, &place->ni.arena, node);
	}

	place->shadow.bounces = place->ni.config.bounce;
	return rc;
}

void o2_place_close(struct o2_place *place)
{
	o2_shadow_close(&place->shadow);
	if (place->cm != NULL)
		place->network->ops->detach(place->network, place->cm);
	place->cm = NULL;
	if (place->open)
		o2_ni_close(&place->ni);
	place->open = false;
	o2_arenas_give(place->pair);
	place->pair = NULL;
}

void o2_place_count(const struct o2_place *place, uint32_t *interfaces, uint64_t *regions)
{
	*interfaces += place->open;
	*regions += place->open ? place->ni.domain.live.regions : 0;
}

uint64_t o2_place_incarnation(void)
{
	return o2_wall_ns() / 1000u;
}

void o2_place_check_idle(struct o2_ni *ni, uint32_t index, struct o2_report *report, const char *outstanding,
			 const char *ledger)
{
	struct o2_error error;
	char text[200];

	o2_error_clear(&error);
	if (!report->failed && o2_ni_check_idle(ni, &error) != 0) {
		o2_error_text(&error, text, sizeof(text));
		o2_report_fail(report, outstanding, "node %" PRIu32 ": %s", index, text);
	}
	if (!report->failed && !o2_ledger_balanced(&ni->ledger))
		o2_report_fail(report, ledger, "node %" PRIu32 ": the ledger does not balance", index);
}
