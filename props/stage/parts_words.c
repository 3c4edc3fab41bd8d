/* SPDX-License-Identifier: MIT */
/* Text for numbers on the wire, errnos, and quirks. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/errno_name.h"
#include "base/option.h"
#include "props/model/reject_model.h"
#include "props/stage/parts_internal.h"
#include "quirk/quirk.h"

/* --- numbers of the wire --- */

/* docs/wire.md: named values have exactly that name, all others have none. */
static void check_names(struct o2_report *report)
{
	for (int byte = 0; byte <= UINT8_MAX; byte++) {
		const struct o2_wm_type *type = o2_wm_type((uint8_t)byte);
		const char *of_type = o2_msg_type_name((uint8_t)byte);
		const char *of_reason = o2_reject_why_name((uint8_t)byte);
		const char *reason = byte >= 1 && byte < (int)O2_RM_REASONS ? o2_rm_reasons[byte] : NULL;

		if ((type == NULL) != (of_type == NULL) ||
		    (type != NULL && strcasecmp(type->name, of_type) != 0))
			o2_report_fail(report, "parts/name/type", "0x%x", byte);
		if ((reason == NULL) != (of_reason == NULL) ||
		    (reason != NULL && strcmp(reason, of_reason) != 0))
			o2_report_fail(report, "parts/name/reason", "%d", byte);
	}
}

/* --- errnos --- */

/* errno(3): errnos that stages return are named here; any other that the C library knows has a symbol. */
void o2_parts_errno(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const int returned[] = {EINVAL, ENOMEM, EIO,	 EPROTO, ETIMEDOUT,
				       ENOSPC, EFAULT, EMSGSIZE, ENOENT};
	/* Include numbers that would be an errno if cut to 32 bits. */
	const int64_t high = ((int64_t)o2_draw(c, 2) - 1) * ((int64_t)1 << 32);
	const int64_t wild = (int64_t)o2_draw(c, 8200) - 4100 + high;
	const int code = returned[o2_draw_pick(c, 9)] * (o2_draw_bool(c, 1, 1) ? -1 : 1);
	const char *symbol =
		wild == 0 || wild > 4095 || wild < -4095 ? NULL : strerrorname_np(abs((int)wild));
	const char *name = o2_errno_name((int)(wild - high));
	const char *found = o2_errno_symbol(wild);
	char text[O2_ERRNO_TEXT_BYTES], expected[O2_ERRNO_TEXT_BYTES];

	snprintf(run->text, sizeof(run->text), "errno %" PRId64, wild);
	snprintf(expected, sizeof(expected), "errno %" PRId64, wild < 0 ? -wild : wild);
	if (symbol != NULL)
		snprintf(expected, sizeof(expected), "%s", symbol);
	run->tally.seen[O2_PARTS_ERRNO]++;
	if (strcmp(o2_errno_name(code) == NULL ? "" : o2_errno_name(code), strerrorname_np(abs(code))) != 0 ||
	    o2_errno_from_name(strerrorname_np(abs(code))) != abs(code))
		o2_report_fail(report, "parts/errno/name", "errno %d", code);
	if (name != NULL && o2_errno_from_name(name) != abs((int)(wild - high)))
		o2_report_fail(report, "parts/errno/name", "%s is not errno %" PRId64, name, wild - high);
	if ((found == NULL) != (symbol == NULL) || (symbol != NULL && strcmp(found, symbol) != 0))
		o2_report_fail(report, "parts/errno/symbol", "errno %" PRId64, wild);
	if (strcmp(o2_errno_text(wild, text), expected) != 0)
		o2_report_fail(report, "parts/errno/text", "errno %" PRId64, wild);
	check_names(report);
	if (o2_errno_from_name("ENOTHING") != 0)
		o2_report_fail(report, "parts/errno/name", "a name of nothing");
}

/* --- quirks --- */

/* docs/peer.md, "Quirks". */
void o2_parts_quirks(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const char *const names[] = {"sums-signed",
					    "sums-other-bytes",
					    "second-page-wrong",
					    "short-get-claims",
					    "gapped-source-silent",
					    "closes-first",
					    "late",
					    "lat",
					    "sums-signed=1",
					    "",
					    "late="};
	static const uint32_t edges[] = {0, 1, 60000, 60001, 3000};
	static const struct o2_option option = {.name = "quirks"};
	struct o2_quirks quirks = {.set = (uint32_t)o2_draw(c, 127), .late_ms = 5};
	uint32_t set = quirks.set, late_ms = quirks.late_ms;
	const struct o2_quirks before = quirks;
	char text[400] = "", bad[40] = "", wrong[40] = "", why[O2_OPTION_WHY_BYTES] = "";
	uint64_t count = o2_draw_range(c, 1, 4);
	int rc;

	while (count-- > 0) {
		const size_t which = o2_draw_pick(c, o2_draw_bool(c, 5, 1) ? 11 : 7);
		const uint32_t ms =
			o2_draw_bool(c, 1, 1) ? edges[o2_draw_pick(c, 5)] : (uint32_t)o2_draw(c, 70000);
		const bool valued = which == 6 && o2_draw_bool(c, 1, 1);
		const bool fits = which < 7 && (!valued || (ms >= 1 && ms <= 60000));
		char word[40];

		snprintf(word, sizeof(word), valued ? "%s=%u" : "%s", names[which], ms);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", word,
			 count > 0 ? "," : "");
		if (!fits && set != UINT32_MAX) {
			snprintf(wrong, sizeof(wrong), "%s", word);
			set = UINT32_MAX;
		} else if (set != UINT32_MAX) {
			set |= 1u << which;
			late_ms = which == 6 ? (valued ? ms : 3000) : late_ms;
		}
	}
	snprintf(run->text, sizeof(run->text), "quirks %.60s", text);
	run->tally.seen[set == UINT32_MAX ? O2_PARTS_QUIRKS_REFUSED : O2_PARTS_QUIRKS_ADDED]++;
	rc = o2_quirks_add(&quirks, text, bad, sizeof(bad));
	if (rc != (set == UINT32_MAX ? -EINVAL : 0) || strcmp(bad, wrong) != 0)
		o2_report_fail(report, "parts/quirks/verdict", "'%s': %d by '%s', expected '%s'", text, rc,
			       bad, wrong);
	if (rc == 0 && (quirks.set != set || quirks.late_ms != late_ms))
		o2_report_fail(report, "parts/quirks/value", "'%s' is 0x%x, %u ms", text, quirks.set,
			       quirks.late_ms);
	if (rc != 0 && (quirks.set != before.set || quirks.late_ms != before.late_ms))
		o2_report_fail(report, "parts/quirks/value", "'%s' was refused and has changed something",
			       text);
	for (unsigned int i = 0; rc == 0 && i < 7; i++)
		if (o2_quirks_have(&quirks, (enum o2_quirk)i) != (set >> i & 1) ||
		    strcmp(o2_quirk_name((enum o2_quirk)i), names[i]) != 0 ||
		    strncmp(o2_quirk_form((enum o2_quirk)i), names[i], strlen(names[i])) != 0 ||
		    o2_quirk_text((enum o2_quirk)i)[0] == '\0')
			o2_report_fail(report, "parts/quirks/name", "quirk %u", i);
	if (o2_quirks_read(&quirks, &option, text, why) != (rc == 0) ||
	    (rc != 0 && (strstr(why, wrong) == NULL || strstr(why, "late[=MS]") == NULL ||
			 strstr(why, "1 to 60000") == NULL || strstr(why, "--quirks is") == NULL)))
		o2_report_fail(report, "parts/quirks/why", "%.200s", why);
}
