/* SPDX-License-Identifier: MIT */
#include "cli/pcap_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/flows.h"
#include "cli/pcap_json.h"
#include "cli/pcap_walk.h"
#include "cli/summary.h"

struct print {
	bool json;
	bool color;
	bool failed; /* memory ran out */
	uint64_t
		start_ns; /* time of the first event that has one, to which times are relative; 0: none yet */
};

static const char *paint(const struct print *print, const char *code)
{
	return print->color ? code : "";
}

/* Seconds since the first time; packets of a capture need not be in the order of their times. */
static void print_time(struct print *print, uint64_t time_ns)
{
	bool earlier;
	uint64_t apart_ns;

	if (time_ns == 0) {
		printf("%13s", "?");
		return;
	}
	if (print->start_ns == 0)
		print->start_ns = time_ns;
	earlier = time_ns < print->start_ns;
	apart_ns = earlier ? print->start_ns - time_ns : time_ns - print->start_ns;
	printf("%s%5" PRIu64 ".%06" PRIu64, earlier ? "-" : " ", apart_ns / O2_NS_PER_S,
	       apart_ns % O2_NS_PER_S / O2_NS_PER_US);
}

static void print_where(struct print *print, const struct o2_event *event)
{
	char src[O2_ROCE_ADDRESS_TEXT_BYTES], dst[O2_ROCE_ADDRESS_TEXT_BYTES];

	o2_roce_address_text(&event->src, src);
	o2_roce_address_text(&event->dst, dst);
	printf("%s%6" PRIu64 " ", paint(print, "\033[2m"), event->frame);
	print_time(print, event->time_ns);
	printf("  %s -> %s qp 0x%" PRIx32 "%s  ", src, dst, event->dest_qp, paint(print, "\033[0m"));
}

static void print_refused(const struct print *print, const struct o2_event *event)
{
	char text[256];

	o2_error_text(event->refused, text, sizeof(text));
	printf("%srefused%s %s", paint(print, "\033[1;31m"), paint(print, "\033[0m"), text);
}

static void print_result(const struct print *print, const struct o2_event *event)
{
	char text[O2_SUMMARY_TEXT_BYTES];

	if (event->msg != NULL) {
		o2_msg_summary(event->msg, text);
		printf(" %s%s", text,
		       event->msg->cksum_flavour == O2_CKSUM_UNVERIFIED ? " (wrong checksum, tolerated)"
									: "");
	} else if (event->reject != NULL) {
		o2_reject_summary(event->reject, text);
		printf(" %s", text);
	} else if (event->refused != NULL) {
		putchar(' ');
		print_refused(print, event);
	}
}

static void print_cm(const struct print *print, const struct o2_event *event)
{
	const struct o2_cm_mad *cm = &event->cm;
	const char *name = o2_cm_kind_name(cm->kind);
	const char *reason = o2_cm_reason_name(cm->reason);

	if (name == NULL)
		printf("CM attribute 0x%x", cm->kind);
	else
		printf("CM %s", name);
	if (cm->kind == O2_CM_REQ)
		printf(" service 0x%" PRIx64, cm->service_id);
	if (cm->kind == O2_CM_REQ || cm->kind == O2_CM_REP)
		printf(" from qp 0x%" PRIx32, cm->qp);
	if (cm->kind == O2_CM_REJ)
		printf(" reason %u%s%s%s", cm->reason, reason == NULL ? "" : " (",
		       reason == NULL ? "" : reason, reason == NULL ? "" : ")");
	print_result(print, event);
}

static void print_write(const struct o2_event *event)
{
	printf("WRITE %" PRIu64 " bytes rkey 0x%" PRIx32 " va 0x%" PRIx64 " (%" PRIu32 " packet%s)",
	       event->bytes, event->rkey, event->va, event->packets, event->packets == 1 ? "" : "s");
	if (event->bytes != event->dma_bytes)
		printf(" but %" PRIu32 " bytes were announced", event->dma_bytes);
}

/* Source: the InfiniBand architecture specification, volume 1, "Acknowledge extended transport header". */
static void print_nak(const struct o2_event *event)
{
	static const char *const codes[] = {"sequence error", "invalid request", "remote access error",
					    "remote operational error", "invalid RD request"};
	const unsigned int code = event->syndrome & 0x1f;

	if ((event->syndrome >> 5 & 3) == 1)
		printf("RNR NAK psn 0x%" PRIx32, event->psn);
	else
		printf("NAK %u (%s) psn 0x%" PRIx32, code,
		       code < sizeof(codes) / sizeof(codes[0]) ? codes[code] : "unknown", event->psn);
}

static void print_text(struct print *print, const struct o2_event *event)
{
	print_where(print, event);
	switch (event->kind) {
	case O2_EVENT_SEND:
		printf("SEND %" PRIu64, event->bytes);
		print_result(print, event);
		break;
	case O2_EVENT_WRITE:
		print_write(event);
		break;
	case O2_EVENT_CM:
		print_cm(print, event);
		break;
	case O2_EVENT_NAK:
		print_nak(event);
		break;
	case O2_EVENT_NOTE:
		printf("(%s)", event->note);
		break;
	case O2_EVENT_ACK:
	case O2_EVENT_BACK:
	case O2_EVENT_ANEW:
	case O2_EVENT_PART:
		break;
	}
	putchar('\n');
}

static void print_event(void *context, const struct o2_event *event)
{
	struct print *print = context;
	json_t *object;

	if (event->kind > O2_EVENT_NOTE)
		return; /* counted, not shown */
	if (!print->json) {
		print_text(print, event);
		return;
	}
	object = o2_event_to_json(event);
	if (object == NULL || json_dumpf(object, stdout, JSON_COMPACT) != 0)
		print->failed = true;
	else
		putchar('\n');
	json_decref(object);
}

static void print_totals(const struct o2_walk_totals *totals)
{
	printf("%" PRIu64 " packets: %" PRIu64 " SENDs, %" PRIu64 " WRITEs (%" PRIu64 " bytes), %" PRIu64
	       " connection manager, %" PRIu64 " ACKs, %" PRIu64 " NAKs, %" PRIu64 " repeated, %" PRIu64
	       " of other protocols; %" PRIu64 " refused\n",
	       totals->packets, totals->sends, totals->writes, totals->write_bytes, totals->cm, totals->acks,
	       totals->naks, totals->repeated, totals->not_roce, totals->refused);
	if (totals->cut != 0)
		printf("%" PRIu64 " packet%s not captured as a whole\n", totals->cut,
		       totals->cut == 1 ? " was" : "s were");
	if (totals->forgotten != 0)
		printf("more than %u flows (directions of connections) at a time: the quietest one was "
		       "dropped %" PRIu64 " time%s\n",
		       O2_FLOWS_MAX, totals->forgotten, totals->forgotten == 1 ? "" : "s");
}

int o2_pcap_print(struct o2_stream *stream, const struct o2_wire_options *options, bool json, bool color)
{
	struct print print = {.json = json, .color = color};
	struct o2_walk_totals totals;
	char why[O2_PCAP_WHY_BYTES];
	const int rc = o2_pcap_walk(stream->file, options, print_event, &print, &totals, why);

	if (!json && (rc == 0 || totals.packets != 0))
		print_totals(&totals);
	if (print.failed) {
		o2_cli_complain_json(stream->name);
		return O2_CLI_USAGE;
	}
	if (rc != 0) {
		o2_cli_complain("%s: %s", stream->name, why);
		return o2_cli_read_status(rc);
	}
	if (totals.refused == 0)
		return O2_CLI_OK;
	o2_cli_complain("%s: %" PRIu64 " message%s refused", stream->name, totals.refused,
			totals.refused == 1 ? "" : "s");
	return O2_CLI_REFUSED;
}
