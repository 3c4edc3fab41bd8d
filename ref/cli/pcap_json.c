/* SPDX-License-Identifier: MIT */
#include "cli/pcap_json.h"

#include <assert.h>

#include "base/json.h"
#include "cli/lst_text.h"
#include "forms/msg_json.h"
#include "forms/reject_json.h"
#include "lst/wire/msg_json.h"

static const char *const kind_names[] = {
	[O2_EVENT_SEND] = "SEND", [O2_EVENT_WRITE] = "WRITE", [O2_EVENT_CM] = "CM",
	[O2_EVENT_NAK] = "NAK",	  [O2_EVENT_NOTE] = "note",
};

/* Set a member whose value may have failed to be made; false if memory ran out. */
static bool set(json_t *object, const char *key, json_t *child)
{
	return json_object_set_new(object, key, child) == 0;
}

static bool set_integer(json_t *object, const char *key, uint64_t value)
{
	return set(object, key, o2_json_length(value));
}

/* Copy "message", "reject" or "refused" out of an output form, which is consumed. */
static bool take_result(json_t *object, json_t *form)
{
	static const char *const keys[] = {"message", "reject", "refused"};
	bool good = form != NULL;

	for (size_t i = 0; good && i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *child = json_object_get(form, keys[i]);

		if (child != NULL)
			good = json_object_set(object, keys[i], child) == 0;
	}
	json_decref(form);
	return good;
}

static bool set_result(json_t *object, const struct o2_event *event)
{
	if (event->msg != NULL || event->refused != NULL)
		return take_result(object, o2_msg_decode_output_to_json(event->msg, event->refused));
	if (event->reject != NULL)
		return take_result(object, o2_reject_decode_output_to_json(event->reject, NULL));
	return true;
}

/* Beside "message", the member "lst": the message of LNet selftest in it. */
static bool set_lst(json_t *object, const struct o2_event *event)
{
	struct o2_lst_msg lst;

	return event->msg == NULL || !o2_lst_inside(event->msg, &lst) ||
	       set(object, "lst", o2_lst_msg_to_json(&lst));
}

static bool set_cm(json_t *object, const struct o2_cm_mad *cm)
{
	const char *name = o2_cm_kind_name(cm->kind);
	bool good = set(object, "cm", name != NULL ? json_string(name) : o2_json_hex(cm->kind)) &&
		    set(object, "local_id", o2_json_hex(cm->local_id)) &&
		    set(object, "remote_id", o2_json_hex(cm->remote_id));

	if (cm->kind == O2_CM_REQ)
		good = good && set(object, "service_id", o2_json_hex(cm->service_id));
	if (cm->kind == O2_CM_REQ || cm->kind == O2_CM_REP)
		good = good && set_integer(object, "qp", cm->qp) &&
		       set_integer(object, "starting_psn", cm->psn);
	if (cm->kind == O2_CM_REJ)
		good = good && set_integer(object, "reason", cm->reason);
	return good;
}

static bool set_kind(json_t *object, const struct o2_event *event)
{
	switch (event->kind) {
	case O2_EVENT_SEND:
		return set_integer(object, "bytes", event->bytes) &&
		       set_integer(object, "packets", event->packets) && set_result(object, event) &&
		       set_lst(object, event);
	case O2_EVENT_WRITE:
		return set_integer(object, "bytes", event->bytes) &&
		       set_integer(object, "packets", event->packets) &&
		       set_integer(object, "announced_bytes", event->dma_bytes) &&
		       set(object, "rkey", o2_json_hex(event->rkey)) &&
		       set(object, "va", o2_json_hex(event->va));
	case O2_EVENT_CM:
		return set_cm(object, &event->cm) && set_result(object, event);
	case O2_EVENT_NAK:
		return set_integer(object, "syndrome", event->syndrome);
	case O2_EVENT_ACK:
	case O2_EVENT_BACK:
	case O2_EVENT_ANEW:
	case O2_EVENT_PART:
		break;
	case O2_EVENT_NOTE:
		return set(object, "note", json_string(event->note));
	}
	return false;
}

json_t *o2_event_to_json(const struct o2_event *event)
{
	char src[O2_ROCE_ADDRESS_TEXT_BYTES], dst[O2_ROCE_ADDRESS_TEXT_BYTES];
	json_t *object = o2_json_form(O2_PCAP_EVENT_FORM);
	bool good;

	assert(event->kind <= O2_EVENT_NOTE);
	o2_roce_address_text(&event->src, src);
	o2_roce_address_text(&event->dst, dst);
	good = object != NULL && set(object, "what", json_string(kind_names[event->kind])) &&
	       set_integer(object, "frame", event->frame) && set_integer(object, "time_ns", event->time_ns) &&
	       set(object, "src", json_string(src)) && set(object, "dst", json_string(dst)) &&
	       set_integer(object, "dest_qp", event->dest_qp) && set_integer(object, "psn", event->psn) &&
	       set_kind(object, event);
	if (good)
		return object;
	json_decref(object);
	return NULL;
}
