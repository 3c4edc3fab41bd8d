/* SPDX-License-Identifier: MIT */
#include "cli/net/event.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/errno_name.h"
#include "lnet/ping.h"
#include "wire/nid.h"

bool o2_net_is_ping(const struct o2_lnet_hdr *hdr)
{
	if (hdr->type == O2_LNET_GET)
		return hdr->msg.get.ptl_index == O2_PING_PORTAL &&
		       hdr->msg.get.match_bits == O2_PING_MATCH_BITS;
	return hdr->type == O2_LNET_PUT && hdr->msg.put.ptl_index == O2_PING_PORTAL &&
	       hdr->msg.put.match_bits == O2_PING_MATCH_BITS;
}

static void what_text(const struct o2_lnet_event *event, char *text, size_t text_bytes)
{
	const bool put = event->kind == O2_LNET_EVENT_PUT;

	if (!o2_net_is_ping(event->hdr))
		snprintf(text, text_bytes, "%s %" PRIu64 " bytes at offset %" PRIu64 " of buffer %" PRIu64,
			 put ? "PUT" : "GET", event->length_bytes, event->offset, event->entry_tag);
	else if (put)
		snprintf(text, text_bytes, "push of %" PRIu64 " bytes", event->length_bytes);
	else
		snprintf(text, text_bytes, "ping");
}

void o2_net_event_text(const struct o2_lnet_event *event, char *text, size_t text_bytes)
{
	char nid[O2_NID_TEXT_BYTES], what[256], name[O2_ERRNO_TEXT_BYTES];

	o2_nid_to_text(event->nid, nid, sizeof(nid));
	if (event->kind == O2_LNET_EVENT_DROPPED) {
		o2_error_text(event->error, what, sizeof(what));
		snprintf(text, text_bytes, "%s: dropped: %s", nid, what);
		return;
	}
	what_text(event, what, sizeof(what));
	if (event->status == 0)
		snprintf(text, text_bytes, "%s: %s", nid, what);
	else
		snprintf(text, text_bytes, "%s: %s: %s", nid, what, o2_errno_text(event->status, name));
}

void o2_net_tell_event(const struct o2_net_options *options, const struct o2_lnet_event *event)
{
	char text[512];

	if (!options->verbose || options->json)
		return;
	o2_net_event_text(event, text, sizeof(text));
	puts(text);
	fflush(stdout);
}
