/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a message of LNet selftest, compared with a model of widths (props/model/lst_model.h): refused
 * by the same rule, or decoded; then encoded again in either byte order, and restored from its JSON form.
 */
#include <string.h>

#include <jansson.h>

#include "fuzz/common.h"
#include "lst/wire/msg.h"
#include "lst/wire/msg_json.h"
#include "lst/wire/range.h"
#include "props/model/lst_model.h"
#include "props/stage/parts.h"

static void check_bytes(const struct o2_lst_msg *msg, const uint8_t *expected, const char *what)
{
	uint8_t bytes[O2_LST_MSG_BYTES];

	memset(bytes, 0xa5, sizeof(bytes));
	if (o2_lst_msg_encode(msg, bytes, NULL) != 0)
		o2_fuzz_fail("lst: what was read cannot be written");
	for (uint32_t i = 0; i < sizeof(bytes); i++)
		if (bytes[i] != expected[i])
			o2_fuzz_fail("lst: %s: byte %u is 0x%02x, the model has 0x%02x", what, i, bytes[i],
				     expected[i]);
}

static void check_json(const struct o2_lst_msg *msg, const uint8_t *expected)
{
	struct o2_lst_msg again;
	json_t *object = o2_lst_msg_to_json(msg);

	if (object == NULL || o2_lst_msg_from_json(object, &again, NULL) != 0)
		o2_fuzz_fail("lst: no JSON form, or one that cannot be read");
	json_decref(object);
	check_bytes(&again, expected, "from JSON");
}

/* The range check must refuse by a rule of its own, and no reply: only requests have ranges. */
static void check_range(const struct o2_lst_msg *msg)
{
	struct o2_error error = {0};
	const int rc = o2_lst_range_check(msg, &error);

	if (rc != 0 && (error.rule == NULL || strncmp(error.rule, "lst/send/", 9) != 0))
		o2_fuzz_fail("lst: what may not be sent is refused without a rule of it");
	if (rc != 0 && msg->msg_version == O2_LST_MSG_VERSION && o2_lst_type_is_reply(msg->msg_type))
		o2_fuzz_fail("lst: a reply may not be sent by %s", error.rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t same[O2_LSTM_BYTES];
	struct o2_report report;
	struct o2_lst_msg msg;
	bool is_read;

	o2_report_clear(&report);
	is_read = o2_parts_lst_bytes(data, size, &msg, same, &report);
	o2_fuzz_report("lst", &report);
	if (is_read) {
		check_json(&msg, same);
		check_range(&msg);
	}
	return 0;
}
