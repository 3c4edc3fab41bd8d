/* SPDX-License-Identifier: MIT */
/* Any bytes as a message of LNet selftest, compared with a model of widths (props/model/lst_model.h). */
#include <inttypes.h>
#include <string.h>

#include "lst/wire/msg.h"
#include "props/model/lst_model.h"
#include "props/model/wire_model.h"
#include "props/scenario/draw.h"
#include "props/stage/parts_internal.h"

#define MAGIC	   0xeeb0f00du
#define TYPES	   18u
#define BYTES	   O2_LSTM_BYTES
#define FEATS_AT   20u
#define SERVICE_AT 64u /* offset of the service in a TEST_REQST */

static void check_verdict(struct o2_report *report, int rc, const struct o2_error *error,
			  const struct o2_lstm_verdict *model)
{
	const char *rule = rc == 0 ? "nothing" : error->rule,
		   *wanted = model->rule == NULL ? "nothing" : model->rule;

	if (rule != NULL && strcmp(rule, wanted) == 0 &&
	    (rc == 0 || (error->code == rc && error->value == model->value && error->limit == model->limit)))
		return;
	o2_report_fail(report, "parts/lst/read", "%d by %s, %" PRIu64 ", limit %" PRIu64, rc,
		       rule == NULL ? "-" : rule, rc == 0 ? 0 : error->value, rc == 0 ? 0 : error->limit);
	o2_report_add(report, "expected %s, %" PRIu64 ", limit %" PRIu64, wanted, model->value, model->limit);
}

static void check_bytes(struct o2_report *report, const struct o2_lst_msg *msg, const uint8_t *expected,
			const char *what)
{
	uint8_t bytes[BYTES];
	int rc;

	memset(bytes, 0xa5, sizeof(bytes));
	rc = o2_lst_msg_encode(msg, bytes, NULL);
	if (rc != 0)
		o2_report_fail(report, "parts/lst/again", "what was read cannot be written: %d", rc);
	for (uint32_t i = 0; rc == 0 && i < sizeof(bytes) && !report->failed; i++)
		if (bytes[i] != expected[i])
			o2_report_fail(report, "parts/lst/again",
				       "%s: byte %" PRIu32 " is 0x%02x, expected 0x%02x", what, i, bytes[i],
				       expected[i]);
}

/* A name ends with a zero: all bytes after it must be zero in the struct as well. */
static void check_name(struct o2_report *report, struct o2_lst_msg *msg)
{
	const char *name = o2_parts_lst_name(msg);

	if (name == NULL)
		return;
	for (size_t i = strnlen(name, O2_LST_NAME_BYTES); i < O2_LST_NAME_BYTES; i++)
		if (name[i] != '\0')
			o2_report_fail(report, "parts/lst/again", "byte %zu of a name is behind its end", i);
	if (name[O2_LST_NAME_BYTES - 1] != '\0')
		o2_report_fail(report, "parts/lst/again", "a name without an end");
}

bool o2_parts_lst_bytes(const uint8_t *bytes, size_t length_bytes, struct o2_lst_msg *msg, uint8_t *same,
			struct o2_report *report)
{
	struct o2_error error = {.code = -1, .rule = "", .field = ""};
	struct o2_lstm_verdict model;
	uint8_t other[BYTES];
	const int rc = o2_lst_msg_decode(bytes, length_bytes, msg, &error);

	o2_lstm_decode(bytes, length_bytes, &model);
	check_verdict(report, rc, &error, &model);
	if (!model.is_read || report->failed)
		return false;
	if ((msg->order == O2_BIG_ENDIAN) != model.big)
		o2_report_fail(report, "parts/lst/again", "the byte order is not the magic's");
	check_name(report, msg);
	o2_lstm_again(bytes, model.big, same, other);
	check_bytes(report, msg, same, "in its order");
	msg->order = model.big ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;
	check_bytes(report, msg, other, "in the other order");
	msg->order = model.big ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	return !report->failed;
}

void o2_parts_lst_read(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	const bool big = o2_draw_bool(c, 1, 1);
	const uint32_t type = (uint32_t)o2_draw(c, o2_draw_bool(c, 15, 1) ? TYPES + 1 : TYPES - 1);
	uint8_t bytes[BYTES + 8], same[BYTES];
	size_t length_bytes = o2_draw_bool(c, 15, 1) ? BYTES - 8 + o2_draw(c, 16) : BYTES;
	struct o2_lst_msg msg;

	for (uint32_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(1 + o2_draw(c, 254));
	/* Put some zeros, where names may end. */
	for (uint64_t zeros = o2_draw(c, 8); zeros > 0; zeros--)
		bytes[o2_draw(c, BYTES - 1)] = 0;
	o2_wm_store(bytes, 4, !big, o2_draw_bool(c, 31, 1) ? (uint32_t)o2_draw_wild(c) : MAGIC);
	o2_wm_store(bytes + 4, 4, !big, o2_draw_bool(c, 15, 1) ? (uint32_t)o2_draw_wild(c) : 1);
	o2_wm_store(bytes + 8, 4, !big, type);
	o2_wm_store(bytes + FEATS_AT, 4, !big, (uint32_t)o2_draw(c, 3));
	if (type == O2_LST_TEST_REQST)
		o2_wm_store(bytes + SERVICE_AT, 4, !big, (uint32_t)o2_draw_range(c, 10, 13));
	snprintf(run->text, sizeof(run->text), "%zu bytes of a message of LNet selftest, type %" PRIu32,
		 length_bytes, type);
	run->tally
		.seen[o2_parts_lst_bytes(bytes, length_bytes, &msg, same, report) ? O2_PARTS_LST_READ
										  : O2_PARTS_LST_NOT_READ]++;
}
