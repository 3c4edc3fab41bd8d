/* SPDX-License-Identifier: MIT */
#include "lst/wire/msg_json.h"

#include <string.h>

#include "base/fields_json.h"
#include "lst/wire/fields.h"

json_t *o2_lst_msg_to_json(const struct o2_lst_msg *msg)
{
	return o2_fields_to_json(o2_lst_msg_fields, msg);
}

int o2_lst_msg_from_json(const json_t *object, struct o2_lst_msg *msg, struct o2_error *error)
{
	o2_error_clear(error);
	memset(msg, 0, sizeof(*msg));
	return o2_fields_from_json(object, o2_lst_msg_fields, msg, error);
}
