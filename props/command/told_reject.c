/* SPDX-License-Identifier: MIT */
/* The text for a reject record: docs/cli.md, "Private data". */
#include <inttypes.h>
#include <string.h>

#include "props/command/told.h"
#include "props/model/reject_model.h"

void o2_told_summary_reject(FILE *out, const struct o2_reject *record)
{
	fprintf(out, "%u %s version 0x%x", record->ibr_why, o2_rm_reasons[record->ibr_why],
		record->ibr_version);
	if (record->ibr_version == 0x12)
		fprintf(out, " depth %u frags %u size %" PRIu32 " stamp 0x%" PRIx64,
			record->ibr_cp.ibcp_queue_depth, record->ibr_cp.ibcp_max_frags,
			record->ibr_cp.ibcp_max_msg_size, record->ibr_incarnation);
	if (record->order == O2_BIG_ENDIAN)
		fputs(" big-endian", out);
}

static void row(FILE *out, const uint8_t *bytes, size_t at, size_t width, const char *name,
		const char *format, uint64_t value, const char *more)
{
	char hex[32] = "", text[64];

	for (size_t i = 0; i < width; i++)
		snprintf(hex + strlen(hex), sizeof(hex) - strlen(hex), i == 0 ? "%02x" : " %02x",
			 bytes[at + i]);
	snprintf(text, sizeof(text), strcmp(format, "dec") == 0 ? "%" PRIu64 : "0x%" PRIx64, value);
	if (strcmp(format, "magic") == 0)
		snprintf(text, sizeof(text), "0x%08" PRIx64, value);
	fprintf(out, "  %04zx  %-23s  %-34s  %s%s\n", at, hex, name, text, more);
}

void o2_told_dump_reject(FILE *out, const struct o2_reject *record, const uint8_t *bytes, size_t behind)
{
	char why[48];

	snprintf(why, sizeof(why), " %s", o2_rm_reasons[record->ibr_why]);
	row(out, bytes, 0, 4, "ibr_magic", "magic", record->generic_magic ? 0x45726963 : 0x0be91b91,
	    record->order == O2_BIG_ENDIAN ? " big-endian" : " little-endian");
	row(out, bytes, 4, 2, "ibr_version", "hex", record->ibr_version, "");
	row(out, bytes, 6, 1, "ibr_why", "dec", record->ibr_why, why);
	if (record->ibr_version == 0x11) {
		fprintf(out,
			"  0007  00 00 00 00 00 00 00 ..  %-34s  %zu zero bytes, not part of version 0x11\n",
			"(unread)", O2_RM_BYTES - 7 + behind);
		return;
	}
	row(out, bytes, 7, 1, "ibr_padding", "dec", 0, "");
	row(out, bytes, 8, 8, "ibr_incarnation", "hex", record->ibr_incarnation, "");
	row(out, bytes, 16, 2, "ibr_cp.ibcp_queue_depth", "dec", record->ibr_cp.ibcp_queue_depth, "");
	row(out, bytes, 18, 2, "ibr_cp.ibcp_max_frags", "dec", record->ibr_cp.ibcp_max_frags, "");
	row(out, bytes, 20, 4, "ibr_cp.ibcp_max_msg_size", "dec", record->ibr_cp.ibcp_max_msg_size, "");
	if (behind > 0)
		fprintf(out, "  0018  00 00 00 00 00 00 00 ..  %-34s  %zu zero bytes, ignored\n", "(padding)",
			behind);
}
