/* SPDX-License-Identifier: MIT */
/* LNet at its limits, without a peer; and the choice of a mode: docs/peer.md, docs/modes.md. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lnet/lnet.h"
#include "props/talk/settings_internal.h"
#include "reg/plan.h"

#define OTHER UINT64_C(0x0005000000000063)

struct place {
	uint32_t ended, sent;
	uint32_t told; /* reports of peers' requests */
	struct o2_lnet_event event;
	int status; /* status of the last operation that ended */
	uint64_t tag[8];
};

static void done(void *context, const struct o2_lnet_result *result)
{
	struct place *place = context;

	place->ended++;
	place->status = result->status;
}

static void tell(void *context, const struct o2_lnet_event *event)
{
	struct place *place = context;

	place->told++;
	place->event = *event;
}

static uint32_t immediate_max(void *context, uint64_t nid)
{
	(void)context;
	(void)nid;
	return 4096 - 96;
}

/* A transport that accepts every message and never answers. */
static int send_none(void *context, uint64_t nid, enum o2_lnd_form form, const struct o2_lnet_hdr *hdr,
		     const struct o2_transfer_memory *memory, struct o2_error *error)
{
	struct place *place = context;

	(void)nid;
	(void)hdr;
	(void)form;
	(void)error;
	place->tag[place->sent++ % 8] = memory->tag;
	return 0;
}

/* Start the maximum number of operations; one more must be refused by the rule and change nothing. */
static void fill_messages(struct o2_settings_run *run, struct o2_report *report, struct o2_lnet *lnet,
			  struct place *place, uint32_t most)
{
	struct o2_settings_verdict none = {.code = 0}, full = {-ENOSPC, "lnet/messages", "messages", most + 1,
							       most,	O2_LIMIT_BOUND};
	struct o2_lnet_target target = {.nid = OTHER, .portal = 60, .ack = true};
	uint64_t operation = 0, last = 0;
	struct o2_error error;

	for (uint32_t i = 0; i <= most && !report->failed; i++) {
		memset(&error, 0, sizeof(error));
		o2_settings_check(run, report, o2_lnet_put(lnet, &target, NULL, &operation, &error), &error,
				  i < most ? &none : &full);
		if (i < most &&
		    (operation == last || o2_lnet_messages(lnet) != i + 1 || place->sent != i + 1))
			o2_report_fail(report, "settings/lnet",
				       "%s: operation %" PRIu32 " has %" PRIu64 " after %" PRIu64, run->text,
				       i, operation, last);
		last = operation;
	}
	if (o2_lnet_messages(lnet) != most || place->ended != 0)
		o2_report_fail(report, "settings/lnet", "%s: %" PRIu32 " under way, %" PRIu32 " ended",
			       run->text, o2_lnet_messages(lnet), place->ended);
}

/* Attach entries until the table is full, try invalid ones, and detach some. */
static void fill_entries(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
			 struct o2_lnet *lnet, uint32_t most, bool one_more)
{
	static struct o2_kiov page = {3, 0, 4096};
	const struct o2_settings_verdict none = {.code = 0},
					 full = {-ENOSPC, "lnet/entry/table-full", "entries", most + 1,
						 most,	  O2_LIMIT_BOUND},
					 bad[] = {{-EINVAL, "lnet/entry/operation", "options", 4, 3,
						   O2_LIMIT_BOUND},
						  {-EINVAL, "lnet/entry/uses", "uses", 0, 1, O2_LIMIT_BOUND},
						  {-EINVAL, "lnet/entry/empty", "memory.buffer.nob", 0, 1,
						   O2_LIMIT_BOUND}};
	struct o2_lnet_entry entry = {
		.match_bits = 5,
		O2_LNET_FOR_ANYBODY,
		.options = O2_LNET_MD_OP_PUT,
		.memory = {.buffer = {.kind = O2_KIOV, .count = 1, .kiov = &page, .nob = 100}}};
	const uint64_t wrong = o2_draw(c, 2);
	struct o2_lnet_entry other = entry;
	uint32_t some = 0;
	struct o2_error error = {0};

	other.options = wrong == 0 ? O2_LNET_MD_TRUNCATE : other.options;
	other.uses = wrong == 1 ? 0 : other.uses;
	other.memory.buffer.nob = wrong == 2 ? 0 : 100;
	o2_settings_check(run, report, o2_lnet_attach(lnet, &other, &error), &error, &bad[wrong]);
	/* Two entries are reserved for pings. */
	for (uint32_t i = 2 + one_more; i <= most && !report->failed; i++) {
		const int rc = o2_lnet_attach(lnet, &entry, &error);

		if (rc >= 0)
			some = (uint32_t)rc;
		o2_settings_check(run, report, rc < 0 ? rc : 0, &error, i < most ? &none : &full);
	}
	if (most == 2u + one_more || report->failed)
		return;
	if (o2_lnet_detach(lnet, some) != 0 || o2_lnet_detach(lnet, some) != -ENOENT ||
	    o2_lnet_unlink(lnet, most) != -ENOENT || o2_lnet_attach(lnet, &entry, &error) != (int)some)
		o2_report_fail(report, "settings/lnet", "%s: entry %" PRIu32 " does not go and come back",
			       run->text, some);
}

/* A peer sends a request whose answer has no room, and an invalid header: docs/peer.md, "What is not believed". */
static void ask_in_vain(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
			struct o2_lnet *lnet, struct place *place, bool offers)
{
	const struct o2_settings_verdict wrong = {-EPROTO, "lnet/header/type", "type", 4 + o2_draw(c, 60),
						  3,	   O2_LIMIT_BOUND};
	struct o2_lnet_hdr hdr = {
		.dest_nid = run->ni[0].config.nid,
		.src_nid = OTHER,
		.dest_pid = 12345,
		.src_pid = 12345,
		.type = O2_LNET_GET,
		.msg.get = {.match_bits = 7, .ptl_index = 0, .sink_length = 50},
	};
	struct o2_error error = {0};

	if (offers && (o2_lnet_receive(lnet, OTHER, &hdr, NULL, NULL) != 0 || place->told != 1 ||
		       place->event.kind != O2_LNET_EVENT_DROPPED || place->event.status != -ENOSPC))
		o2_report_fail(report, "settings/lnet",
			       "%s: a GET with no room for its REPLY: %" PRIu32 " events, status %d",
			       run->text, place->told, place->event.status);
	hdr.type = (uint32_t)wrong.value;
	o2_settings_check(run, report, o2_lnet_receive(lnet, OTHER, &hdr, NULL, &error), &error, &wrong);
}

void o2_settings_lnet(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	const struct o2_lnet_transport transport_ops = {.immediate_max = immediate_max, .send = send_none};
	const struct o2_lnet_ops ops = {.done = done, .event = tell};
	const struct o2_lnet_entry offer = {.match_bits = 7,
					    O2_LNET_FOR_ANYBODY,
					    .options = O2_LNET_MD_OP_GET | O2_LNET_MD_MANAGE_REMOTE,
					    .memory = {.buffer = {.kind = O2_KIOV,
								  .count = 1,
								  .kiov = &(struct o2_kiov){3, 0, 4096},
								  .nob = 100}}};
	const struct o2_arena *arena = &run->ni[0].arena;
	struct o2_settings_verdict expected = {.code = 0};
	struct o2_lnet_transport transport = transport_ops;
	struct o2_lnet_config config = O2_LNET_DEFAULTS;
	struct place place = {.ended = 0};
	struct o2_lnet *lnet = NULL;
	struct o2_error error = {0};
	struct o2_clock clock = {0};
	uint64_t nth = 0;
	bool failed = false, offers;
	int rc;

	config.nid = run->ni[0].config.nid;
	config.max_messages = (uint32_t)o2_draw(c, 3);
	config.max_entries = (uint32_t)o2_draw(c, 6);
	config.first_page = arena->npages - 3 + (uint32_t)o2_draw(c, 2);
	transport.context = &place;
	snprintf(run->text, sizeof(run->text),
		 "LNet's place of %" PRIu32 " messages, %" PRIu32 " entries, page %" PRIu32,
		 config.max_messages, config.max_entries, config.first_page);
	if (config.max_messages == 0)
		expected = o2_settings_bound(-EINVAL, "lnet/config/max-messages", "max_messages", 0, 1);
	else if (config.max_entries < 2)
		expected = o2_settings_bound(-EINVAL, "lnet/config/max-entries", "max_entries",
					     config.max_entries, 2);
	else if (config.first_page > arena->npages - 2)
		expected = o2_settings_bound(-EINVAL, "lnet/config/first-page", "first_page",
					     config.first_page, arena->npages - 2);
	nth = o2_draw_bool(c, 1, 1) ? o2_draw_range(c, 1, 6) : 0;
	if (run->fail_allocation != NULL && nth != 0)
		run->fail_allocation((uint32_t)nth);
	rc = o2_lnet_create(&config, &transport, arena, &clock, &ops, &place, &lnet, &error);
	if (run->fail_allocation != NULL && nth != 0) {
		failed = run->allocation_failed();
		run->fail_allocation(0);
	}
	if (failed)
		expected = o2_settings_bound(-ENOMEM, "lnet/memory", "max_messages", config.max_messages,
					     O2_NO_LIMIT);
	o2_settings_check(run, report, rc, &error, &expected);
	run->tally.seen[rc == 0 ? O2_SETTINGS_PLACE : O2_SETTINGS_NO_PLACE]++;
	if (rc != 0)
		return;
	offers = config.max_entries > 2 && o2_lnet_attach(lnet, &offer, NULL) >= 0;
	fill_entries(run, c, report, lnet, config.max_entries, offers);
	if (!report->failed)
		fill_messages(run, report, lnet, &place, config.max_messages);
	if (!report->failed)
		ask_in_vain(run, c, report, lnet, &place, offers);
	for (uint32_t i = 0; i < place.sent; i++)
		o2_lnet_finished(lnet, place.tag[i], -EIO, 0, NULL);
	if (place.ended != place.sent || place.status != -EIO || o2_lnet_messages(lnet) != 0)
		o2_report_fail(report, "settings/lnet", "%s: %" PRIu32 " of %" PRIu32 " end with %d",
			       run->text, place.ended, place.sent, place.status);
	o2_lnet_destroy(lnet);
}

/* --- which mode: docs/modes.md, "Choosing a mode" --- */

void o2_settings_mode(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	const struct o2_reg_caps caps = {o2_draw_bool(c, 1, 1), o2_draw_bool(c, 1, 1), o2_draw_bool(c, 1, 1),
					 o2_draw_bool(c, 1, 1)};
	const struct o2_reg_policy policy = {
		.preference = (enum o2_reg_preference)(o2_draw_bool(c, 15, 1) ? 2 : o2_draw(c, 1)),
		.map_on_demand =
			(uint32_t)(o2_draw_bool(c, 7, 1) ? o2_draw_range(c, 255, 258) : o2_draw(c, 4)),
		.use_gaps = o2_draw_bool(c, 1, 1),
	};
	const uint32_t segments =
		(uint32_t)(o2_draw_bool(c, 7, 1) ? o2_draw_range(c, 254, 258) : o2_draw(c, 5));
	const uint32_t least = policy.map_on_demand == 1 ? 2 : policy.map_on_demand;
	const bool wants_global =
		policy.map_on_demand == 0 || (policy.preference == O2_PREFER_THRESHOLD && segments < least);
	const bool maps = caps.fmr || caps.fastreg;
	const enum o2_reg_mode mapped = caps.fmr		       ? O2_REG_FMR
					: caps.gaps && policy.use_gaps ? O2_REG_FASTREG_GAPS
								       : O2_REG_FASTREG;
	struct o2_settings_verdict expected = {.code = 0};
	enum o2_reg_mode mode = O2_REG_MODES, wanted = mapped;
	struct o2_error error = {0};
	int rc;

	snprintf(run->text, sizeof(run->text), "choose for %" PRIu32 " segments, map_on_demand %" PRIu32,
		 segments, policy.map_on_demand);
	if (caps.global && (wants_global || (!maps && policy.preference == O2_PREFER_MAPPING)))
		wanted = O2_REG_GLOBAL;
	else if (!maps)
		expected = o2_settings_exact(-ENOSYS, "choose/no-way-to-register", "caps.global", caps.global,
					     1);
	if (policy.map_on_demand > 256)
		expected = o2_settings_bound(-EINVAL, "choose/map-on-demand", "map_on_demand",
					     policy.map_on_demand, 256);
	else if (segments == 0)
		expected = o2_settings_bound(-EINVAL, "choose/segments", "segments", 0, 1);
	else if (policy.preference > O2_PREFER_MAPPING)
		expected = o2_settings_bound(-EINVAL, "choose/preference", "preference", 2, 1);
	rc = o2_reg_choose(&caps, &policy, segments, &mode, &error);
	o2_settings_check(run, report, rc, &error, &expected);
	if (rc == 0 && mode != wanted)
		o2_report_fail(report, "settings/mode", "%s: mode %d, expected %d", run->text, (int)mode,
			       (int)wanted);
	for (uint32_t i = 0; i < O2_REG_MODES; i++) {
		const bool may[] = {caps.global, caps.fmr, caps.fastreg,
				    true,	 true,	   caps.fastreg && caps.gaps};

		if (o2_reg_caps_permit(&caps, (enum o2_reg_mode)i) != may[i])
			o2_report_fail(report, "settings/mode", "mode %" PRIu32 " is not what the device can",
				       i);
	}
	run->tally.seen[rc == 0 ? O2_SETTINGS_CHOSEN : O2_SETTINGS_NOT_CHOSEN]++;
}
