/* SPDX-License-Identifier: MIT */
#include "cli/ladder_bytes.h"

#include <inttypes.h>
#include <string.h>

#include "base/markup.h"
#include "cli/dump.h"
#include "cli/flows.h"

#define LINES_MAX 160u /* of a table: a descriptor can have 257 fragments, with two lines each */

bool o2_ladder_say(const struct o2_ladder *ladder, const struct o2_ladder_event *event,
		   struct o2_ladder_said *said)
{
	static struct o2_msg msg; /* large */
	static struct o2_reject reject;
	int rc;

	*said = (struct o2_ladder_said){.msg = NULL};
	if (event->raw == NULL)
		return false;
	if (event->kind == O2_JUDGE_REJECT) {
		rc = o2_reject_decode(event->raw, event->raw_bytes, &reject, &said->refused);
		said->reject = rc == 0 ? &reject : NULL;
	} else {
		rc = o2_flow_decode(event->raw, event->raw_bytes, event->bytes, &ladder->wire, &msg,
				    &said->refused);
		said->msg = rc == 0 ? &msg : NULL;
	}
	return true;
}

struct table {
	const struct o2_ladder *ladder;
	const struct o2_ladder_event *event;
	FILE *out;
	uint32_t lines;
};

/* Fields of findings that have another name in a dump. */
static const struct {
	const char *field, *name;
} dumped_as[] = {
	/* The number of bytes written is judged against the status, a sink by the sum of its fragments. */
	{"bytes written", "ibcm_status"},
	{"rd_frags[].rf_nob", "rf_nob"},
	/* A request's cookie, or that of the request that is answered. */
	{"cookie", "ibprm_cookie"},
	{"cookie", "ibgm_cookie"},
	{"cookie", "ibpam_src_cookie"},
	{"cookie", "ibcm_cookie"},
	{"va", "virtual address"},
	{"rkey", "R_Key"},
	{"bytes", "bytes that came"},
	{"payload[]", "payload"},
	{"place in its stream of payload[]", "payload"},
	{"hdr.msg.ack.mlength", "hdr.mlength"},
	{"hdr.msg.ack.dst_wmd", "hdr.dst_wmd.wh_interface_cookie"},
	{"hdr.msg.ack.dst_wmd", "hdr.dst_wmd.wh_object_cookie"},
};

/* Is it the name, or its last parts? */
static bool names(const char *end, const char *name)
{
	const size_t length = strlen(name), end_length = strlen(end);

	return length >= end_length && strcmp(name + length - end_length, end) == 0 &&
	       (length == end_length || name[length - end_length - 1] == '.');
}

static bool is_dumped_as(const char *field, const char *name)
{
	for (size_t i = 0; i < sizeof(dumped_as) / sizeof(dumped_as[0]); i++)
		if (strcmp(field, dumped_as[i].field) == 0 && names(dumped_as[i].name, name))
			return true;
	return names(field, name);
}

/* Is a finding at the event about this field? */
static bool is_accused(const struct table *table, const char *name)
{
	for (uint32_t i = 0; name[0] != '\0' && i < table->ladder->findings; i++) {
		const struct o2_ladder_finding *finding = &table->ladder->finding[i];
		const char *field = finding->row.error.field;

		if (finding->event == table->event && field != NULL && is_dumped_as(field, name))
			return true;
	}
	return false;
}

static void put_line(void *context, const struct o2_row_parts *parts)
{
	struct table *table = context;
	const bool bad = parts->refused || is_accused(table, parts->name);

	if (table->lines++ >= LINES_MAX && !bad)
		return;
	fprintf(table->out, "<tr%s><td>%04zx</td>", bad ? " class=\"bad\"" : "", parts->at);
	o2_markup(table->out, "<td>%s</td><td>%s</td><td>%s</td></tr>", parts->frame, parts->name,
		  parts->value);
}

static void put_number(const struct table *table, const char *name, const char *format, uint64_t value)
{
	fprintf(table->out, "<tr%s><td></td><td></td><td>%s</td><td>",
		is_accused(table, name) ? " class=\"bad\"" : "", name);
	fprintf(table->out, strcmp(format, "hex") == 0 ? "0x%" PRIx64 : "%" PRIu64, value);
	fputs("</td></tr>", table->out);
}

static void put_write(const struct table *table)
{
	const struct o2_ladder_event *event = table->event;

	put_number(table, "virtual address", "hex", event->addr);
	put_number(table, "R_Key", "hex", event->rkey);
	put_number(table, "DMA length", "dec", event->announced_bytes);
	put_number(table, "bytes that came", "dec", event->bytes);
}

void o2_ladder_bytes_html(const struct o2_ladder *ladder, const struct o2_ladder_event *event, FILE *out)
{
	struct table table = {.ladder = ladder, .event = event, .out = out};
	struct o2_ladder_said said;
	struct o2_rows rows = {.take = put_line, .context = &table, .refused = &said.refused};

	if (!o2_ladder_say(ladder, event, &said) && event->kind != O2_JUDGE_WRITE) {
		fputs("<p class=\"bytes\">No o2iblnd data was captured for this event.</p>", out);
		return;
	}
	fputs("<table class=\"bytes\">", out);
	rows.bytes = event->raw;
	rows.length_bytes = event->raw_bytes;
	rows.received_bytes = event->bytes;
	if (event->kind == O2_JUDGE_WRITE)
		put_write(&table);
	else if (event->kind == O2_JUDGE_REJECT)
		o2_dump_reject(&rows);
	else
		o2_dump_message(&rows);
	if (table.lines > LINES_MAX)
		fprintf(out, "<tr><td></td><td></td><td></td><td>%" PRIu32 " lines in all</td></tr>",
			table.lines);
	fputs("</table>", out);
}
