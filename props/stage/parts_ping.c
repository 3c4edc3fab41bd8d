/* SPDX-License-Identifier: MIT */
/* The answer to a ping, encoded and decoded: docs/peer.md, "Ping". */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lnet/ping.h"
#include "props/model/wire_model.h"
#include "props/scenario/draw.h"
#include "props/stage/parts_internal.h"

#define MOST_NIS   16u
#define MOST_BYTES (16u + (MOST_NIS + 2) * 16u)

/* The layout of an answer; interfaces that do not fit are left out. */
static void lay_out(const struct o2_ping_info *info, uint32_t magic, bool big, uint8_t bytes[MOST_BYTES])
{
	memset(bytes, 0, MOST_BYTES);
	o2_wm_store(bytes, 4, !big, magic);
	o2_wm_store(bytes + 4, 4, !big, info->features);
	o2_wm_store(bytes + 8, 4, !big, info->pid);
	o2_wm_store(bytes + 12, 4, !big, info->nnis);
	for (uint32_t i = 0; i < info->nnis && i < MOST_NIS; i++) {
		o2_wm_store(bytes + 16 + 16 * i, 8, !big, info->ni[i].nid);
		o2_wm_store(bytes + 24 + 16 * i, 4, !big, info->ni[i].status);
	}
}

static void draw_info(struct o2_choice *c, struct o2_ping_info *info)
{
	memset(info, 0, sizeof(*info));
	info->features = o2_draw_bool(c, 3, 1) ? (uint32_t)o2_draw(c, 31) : (uint32_t)o2_draw_wild(c);
	info->pid = (uint32_t)o2_draw_wild(c);
	info->nnis = o2_draw_bool(c, 1, 1) ? (uint32_t)o2_draw(c, 4) : (uint32_t)o2_draw_range(c, 14, 18);
	for (uint32_t i = 0; i < info->nnis && i < MOST_NIS; i++) {
		info->ni[i].nid = o2_draw_wild(c);
		info->ni[i].status = (uint32_t)o2_draw_wild(c);
	}
}

static void write_info(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	uint8_t expected[MOST_BYTES], found[MOST_BYTES];
	struct o2_ping_info info;
	size_t room, bytes;
	int rc;

	draw_info(c, &info);
	lay_out(&info, 0x70696e67, false, expected);
	bytes = 16 + 16 * (size_t)info.nnis;
	room = o2_draw_bool(c, 1, 1) ? bytes : bytes - 1 + o2_draw(c, 2);
	room = room < MOST_BYTES ? room : MOST_BYTES;
	memset(found, 0xa5, sizeof(found));
	rc = o2_ping_encode(&info, found, room);
	run->tally.seen[O2_PARTS_PING_WRITTEN]++;
	if (rc != (info.nnis > MOST_NIS || room < bytes ? -ENOSPC : (int)bytes))
		o2_report_fail(report, "parts/ping/length", "%" PRIu32 " interfaces in %zu bytes: %d",
			       info.nnis, room, rc);
	else if (rc > 0 && memcmp(found, expected, bytes) != 0)
		o2_report_fail(report, "parts/ping/bytes", "the bytes are not those of the layout");
	for (size_t i = rc > 0 ? bytes : 0; i < MOST_BYTES && !report->failed; i++)
		if (found[i] != 0xa5)
			o2_report_fail(report, "parts/ping/behind", "byte %zu was written", i);
}

static void read_info(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	const bool big = o2_draw_bool(c, 1, 1);
	const uint32_t magic = o2_draw_bool(c, 7, 1) ? 0x70696e66 + 2 * (uint32_t)o2_draw(c, 1) : 0x70696e67;
	struct o2_ping_info info, found;
	struct o2_error error = {0};
	uint8_t bytes[MOST_BYTES];
	const char *rule = NULL;
	uint32_t present;
	size_t length;
	int rc;

	draw_info(c, &info);
	lay_out(&info, magic, big, bytes);
	length = o2_draw_bool(c, 1, 1) ? 16 + 16 * (size_t)info.nnis : o2_draw(c, MOST_BYTES);
	length = length < MOST_BYTES ? length : MOST_BYTES;
	present = length < 16 ? 0 : (uint32_t)((length - 16) / 16);
	present = present < info.nnis ? present : info.nnis;
	present = present < MOST_NIS ? present : MOST_NIS;
	if (length < 16)
		rule = "lnet/ping/short";
	else if (magic != 0x70696e67)
		rule = "lnet/ping/magic";
	else if ((info.features & 2) == 0)
		rule = "lnet/ping/features";
	memset(&found, 0xa5, sizeof(found));
	rc = o2_ping_decode(bytes, length, &found, &error);
	run->tally.seen[rule == NULL ? O2_PARTS_PING_READ : O2_PARTS_PING_REFUSED]++;
	if (rc != (rule == NULL ? (int)present : -EPROTO) ||
	    (rule != NULL &&
	     (error.rule == NULL || strcmp(error.rule, rule) != 0 || error.code != -EPROTO))) {
		o2_report_fail(report, "parts/ping/verdict", "%zu bytes, %" PRIu32 " interfaces: %d by %s",
			       length, info.nnis, rc, error.rule == NULL ? "nothing" : error.rule);
		return;
	}
	if (rule != NULL && strcmp(rule, "lnet/ping/short") == 0 &&
	    (error.value != length || error.limit != 16))
		o2_report_fail(report, "parts/ping/record", "%" PRIu64 ", limit %" PRIu64, error.value,
			       error.limit);
	if (rule != NULL && strcmp(rule, "lnet/ping/features") == 0 &&
	    (error.value != info.features || error.limit != 2))
		o2_report_fail(report, "parts/ping/record", "%" PRIu64 ", limit %" PRIu64, error.value,
			       error.limit);
	if (rule != NULL)
		return;
	if (found.features != info.features || found.pid != info.pid || found.nnis != info.nnis)
		o2_report_fail(report, "parts/ping/head", "features, pid or number are others");
	for (uint32_t i = 0; i < MOST_NIS && !report->failed; i++)
		if (found.ni[i].nid != (i < present ? info.ni[i].nid : 0) ||
		    found.ni[i].status != (i < present ? info.ni[i].status : 0))
			o2_report_fail(report, "parts/ping/interface", "interface %" PRIu32 " is another", i);
}

void o2_parts_ping(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	if (o2_draw_bool(c, 1, 1))
		write_info(run, c, report);
	else
		read_info(run, c, report);
}
