/* SPDX-License-Identifier: MIT */
#include "cli/pcap_walk.h"

#include <errno.h>
#include <string.h>

#include "cli/cm_layout.h"
#include "cli/flows.h"

#define SYNDROME_KIND(syndrome) ((syndrome) >> 5 & 3)
#define SYNDROME_ACK		0u

#define STRING(x) #x
#define DIGITS(x) STRING(x)
#define TOO_MANY  "more than " DIGITS(O2_FLOWS_MAX) " directions of connections"
#define CUT	  "a packet that was not captured as a whole"

/* State of one walk. */
struct walk {
	const struct o2_wire_options *options;
	o2_event_sink sink;
	void *context;
	struct o2_walk_totals *totals;
	struct o2_flows flows;
	struct o2_capture *capture;
	uint64_t time_ns;  /* of the current packet */
	struct o2_msg msg; /* large */
	struct o2_reject reject;
	struct o2_error refused;
};

static struct o2_event new_event(const struct walk *walk, enum o2_event_kind kind,
				 const struct o2_roce_packet *packet)
{
	return (struct o2_event){
		.kind = kind,
		.frame = walk->capture->packets,
		.time_ns = walk->time_ns,
		.src = packet->src,
		.dst = packet->dst,
		.dest_qp = packet->dest_qp,
		.psn = packet->psn,
		.packets = 1,
	};
}

static void report(struct walk *walk, const struct o2_event *event)
{
	if (event->refused != NULL)
		walk->totals->refused++;
	walk->sink(walk->context, event);
}

static void take_note(struct walk *walk, const struct o2_roce_packet *packet, const char *text, bool missing)
{
	struct o2_event event = new_event(walk, O2_EVENT_NOTE, packet);

	event.note = text;
	event.missing = missing;
	walk->totals->notes++;
	report(walk, &event);
}

static void note(struct walk *walk, const struct o2_roce_packet *packet, const char *text)
{
	take_note(walk, packet, text, false);
}

/* A note that something of the packet's direction was not seen. */
static void note_missing(struct walk *walk, const struct o2_roce_packet *packet, const char *text)
{
	take_note(walk, packet, text, true);
}

static void decode_message(struct walk *walk, const uint8_t *bytes, size_t length_bytes,
			   struct o2_event *event)
{
	event->raw = bytes;
	event->raw_bytes = length_bytes;
	if (o2_flow_decode(bytes, length_bytes, event->bytes, walk->options, &walk->msg, &walk->refused) == 0)
		event->msg = &walk->msg;
	else
		event->refused = &walk->refused;
}

static const char *incomplete_text(const struct o2_flow *flow)
{
	return flow->kind == O2_ROCE_SEND ? "an incomplete SEND" : "an incomplete WRITE";
}

static void report_flow(struct walk *walk, struct o2_flow *flow, const struct o2_roce_packet *packet)
{
	const bool is_send = flow->kind == O2_ROCE_SEND;
	struct o2_event event = new_event(walk, is_send ? O2_EVENT_SEND : O2_EVENT_WRITE, packet);
	static const uint8_t nothing[1];

	flow->open = false;
	if (is_send && flow->cut) {
		note_missing(walk, packet, CUT);
		return;
	}
	event.packets = flow->packets;
	event.bytes = flow->bytes;
	event.again = flow->again;
	if (is_send) {
		walk->totals->sends++;
		decode_message(walk, flow->kept_bytes == 0 ? nothing : flow->kept, flow->kept_bytes, &event);
	} else {
		event.va = flow->va;
		event.rkey = flow->rkey;
		event.dma_bytes = flow->dma_bytes;
		walk->totals->writes++;
		walk->totals->write_bytes += flow->bytes;
	}
	report(walk, &event);
}

static void report_part(struct walk *walk, const struct o2_flow *flow, const struct o2_roce_packet *packet)
{
	struct o2_event event = new_event(walk, O2_EVENT_PART, packet);

	event.va = flow->va + flow->bytes;
	event.rkey = flow->rkey;
	event.payload = packet->payload;
	event.bytes = packet->seen_bytes;
	event.again = flow->again;
	report(walk, &event);
}

/* The packet's flow; NULL: no memory.  For a new flow, the quietest one may have to be forgotten. */
static struct o2_flow *flow_of(struct walk *walk, const struct o2_roce_packet *packet)
{
	struct o2_flow lost = {.used = false};
	struct o2_flow *flow = o2_flows_of(&walk->flows, packet, &lost);
	const struct o2_roce_packet last = {
		.src = lost.src, .dst = lost.dst, .dest_qp = lost.dest_qp, .psn = lost.next_psn};

	if (lost.used && lost.open)
		note_missing(walk, &last,
			     lost.kind == O2_ROCE_SEND ? "an incomplete SEND, forgotten: " TOO_MANY
						       : "an incomplete WRITE, forgotten: " TOO_MANY);
	else if (lost.used && walk->totals->forgotten == 0)
		note(walk, &last, "the first to be forgotten: " TOO_MANY);
	walk->totals->forgotten += lost.used;
	return flow;
}

/* The sender has been retrying since its last packet that was new. */
static void count_repeated(struct walk *walk, const struct o2_flow *flow)
{
	struct o2_walk_totals *totals = walk->totals;

	totals->repeated++;
	if (flow->new_ns != 0 && walk->time_ns > flow->new_ns + totals->retry_ns)
		totals->retry_ns = walk->time_ns - flow->new_ns;
}

/* Where a request packet stands in its flow.  A repetition is counted. */
static enum o2_flow_order advance(struct walk *walk, struct o2_flow *flow,
				  const struct o2_roce_packet *packet)
{
	const enum o2_flow_order order = o2_flow_advance(flow, packet);

	if (order == O2_FLOW_REPEATED)
		count_repeated(walk, flow);
	else
		flow->new_ns = walk->time_ns;
	return order;
}

/* Report an event that has no text. */
static void mark(struct walk *walk, const struct o2_roce_packet *packet, enum o2_event_kind kind)
{
	const struct o2_event event = new_event(walk, kind, packet);

	report(walk, &event);
}

/* A packet of a SEND or of an RDMA WRITE. */
static int take_request(struct walk *walk, const struct o2_roce_packet *packet)
{
	struct o2_flow *flow = flow_of(walk, packet);
	enum o2_flow_order order;

	if (flow == NULL)
		return -ENOMEM;
	order = advance(walk, flow, packet);
	if (order == O2_FLOW_REPEATED)
		return 0;
	if (order == O2_FLOW_GAP)
		note_missing(walk, packet, "packets before this one are missing");
	if (order == O2_FLOW_BACK || order == O2_FLOW_RESUMED)
		mark(walk, packet, O2_EVENT_BACK);
	if (order == O2_FLOW_ANEW)
		mark(walk, packet, O2_EVENT_ANEW);
	if (flow->open && (packet->first || (packet->kind != flow->kind && !flow->suspended))) {
		note_missing(walk, packet, incomplete_text(flow));
		flow->open = false;
	}
	if (packet->first) {
		o2_flow_open(flow, packet);
	} else if (!flow->open) {
		if (packet->last)
			note_missing(walk, packet,
				     packet->kind == O2_ROCE_SEND ? "a SEND without its first packets"
								  : "a WRITE without its first packets");
		return 0;
	}
	/* A receiver ignores packets after a gap: it waits until the sender goes back. */
	if (flow->suspended)
		return 0;
	if (flow->kind == O2_ROCE_WRITE)
		report_part(walk, flow, packet);
	if (!o2_flow_add(flow, packet))
		return -ENOMEM;
	if (packet->last)
		report_flow(walk, flow, packet);
	return 0;
}

/* o2iblnd's reject records come with one reason; private data with other reasons is not o2iblnd's. */
static void decode_private(struct walk *walk, struct o2_event *event)
{
	const struct o2_cm_mad *cm = &event->cm;

	if ((cm->kind == O2_CM_REQ && (cm->ip_cm_bytes != 0 || cm->service_id == O2_RDMA_SERVICE_O2IBLND)) ||
	    cm->kind == O2_CM_REP) {
		decode_message(walk, cm->private_data, cm->private_bytes, event);
	} else if (cm->kind == O2_CM_REJ && cm->reason == O2_CM_REASON_CONSUMER) {
		event->raw = cm->private_data;
		event->raw_bytes = cm->private_bytes;
		if (o2_reject_decode(cm->private_data, cm->private_bytes, &walk->reject, &walk->refused) == 0)
			event->reject = &walk->reject;
		else
			event->refused = &walk->refused;
	}
}

static int take_cm(struct walk *walk, const struct o2_roce_packet *packet)
{
	struct o2_event event = new_event(walk, O2_EVENT_CM, packet);

	if (packet->seen_bytes < packet->payload_bytes) {
		note_missing(walk, packet, CUT);
		return 0;
	}
	if (!o2_cm_parse(packet->payload, packet->payload_bytes, &event.cm)) {
		note(walk, packet, "a management datagram that is not the connection manager's");
		return 0;
	}
	walk->totals->cm++;
	event.bytes = event.cm.private_bytes;
	if (event.cm.kind == O2_CM_REQ || event.cm.kind == O2_CM_REP) {
		const struct o2_flow_setup setup = {packet->src, event.cm.qp, event.cm.local_id,
						    event.cm.psn};

		if (!o2_flows_setup(&walk->flows, &setup))
			return -ENOMEM;
	}
	decode_private(walk, &event);
	report(walk, &event);
	return 0;
}

static void take_ack(struct walk *walk, const struct o2_roce_packet *packet)
{
	const bool positive = SYNDROME_KIND(packet->syndrome) == SYNDROME_ACK;
	struct o2_event event = new_event(walk, positive ? O2_EVENT_ACK : O2_EVENT_NAK, packet);

	walk->totals->acks += positive;
	walk->totals->naks += !positive;
	event.syndrome = packet->syndrome;
	report(walk, &event);
}

/* A packet that counts in its flow, but of which only a note is reported. */
static int take_other(struct walk *walk, const struct o2_roce_packet *packet)
{
	struct o2_flow *flow = flow_of(walk, packet);
	enum o2_flow_order order;

	if (flow == NULL)
		return -ENOMEM;
	order = advance(walk, flow, packet);
	if (order == O2_FLOW_REPEATED)
		return 0;
	/* Maybe nothing of o2iblnd's goes there: then no connection of those hosts has lost anything. */
	if (order != O2_FLOW_NEXT)
		mark(walk, packet, O2_EVENT_ANEW);
	note(walk, packet, packet->kind == O2_ROCE_READ ? "an RDMA READ request" : "an atomic operation");
	return 0;
}

static int take_packet(struct walk *walk, const struct o2_roce_packet *packet)
{
	if (packet->datagram && packet->kind == O2_ROCE_SEND && packet->dest_qp == O2_GSI_QP)
		return take_cm(walk, packet);
	if (packet->datagram) {
		note(walk, packet, "a datagram to another queue pair than 1");
		return 0;
	}
	switch (packet->kind) {
	case O2_ROCE_SEND:
	case O2_ROCE_WRITE:
		return take_request(walk, packet);
	case O2_ROCE_ACK:
		take_ack(walk, packet);
		return 0;
	case O2_ROCE_READ:
	case O2_ROCE_ATOMIC:
		return take_other(walk, packet);
	case O2_ROCE_READ_RESPONSE:
		return 0;
	case O2_ROCE_OTHER:
		break;
	}
	note(walk, packet, "an opcode of another transport service");
	return 0;
}

static int take_frame(struct walk *walk, const struct o2_frame *frame)
{
	struct o2_roce_packet packet;
	const enum o2_roce_verdict verdict = o2_roce_parse(frame, &packet);

	walk->totals->packets++;
	walk->totals->cut += verdict == O2_ROCE_CUT || packet.seen_bytes < packet.payload_bytes;
	switch (verdict) {
	case O2_ROCE_PACKET:
		return take_packet(walk, &packet);
	case O2_ROCE_CUT:
		note_missing(walk, &packet, CUT);
		break;
	case O2_ROCE_MALFORMED:
		note_missing(walk, &packet, "a packet whose lengths contradict each other");
		break;
	case O2_ROCE_NOT_ROCE:
		walk->totals->not_roce++;
		break;
	}
	return 0;
}

/* Note each message that is still open when the file ends. */
static void finish(struct walk *walk)
{
	for (size_t i = 0; i < walk->flows.count; i++) {
		const struct o2_flow *flow = &walk->flows.flow[i];
		const struct o2_roce_packet end = {
			.src = flow->src, .dst = flow->dst, .dest_qp = flow->dest_qp, .psn = flow->next_psn};

		if (flow->open)
			note(walk, &end, incomplete_text(flow));
	}
}

static int no_memory(char why[O2_PCAP_WHY_BYTES], const char *field, uint64_t limit)
{
	struct o2_error error;
	const int rc = o2_refuse_value(&error, -ENOMEM, "cli/pcap/memory", field, 0, limit);

	o2_error_text(&error, why, O2_PCAP_WHY_BYTES);
	return rc;
}

static int walk_frames(struct walk *walk, char why[O2_PCAP_WHY_BYTES])
{
	struct o2_frame frame;
	int rc;

	while ((rc = o2_capture_next(walk->capture, &frame, &walk->time_ns, why)) > 0) {
		rc = take_frame(walk, &frame);
		if (rc != 0)
			return no_memory(why, "flow", O2_FLOW_KEPT_BYTES);
	}
	return rc;
}

int o2_capture_walk(struct o2_capture *capture, const struct o2_wire_options *options, o2_event_sink sink,
		    void *context, struct o2_walk_totals *totals, char why[O2_PCAP_WHY_BYTES])
{
	struct walk walk = {
		.options = options, .sink = sink, .context = context, .totals = totals, .capture = capture};
	int rc;

	memset(totals, 0, sizeof(*totals));
	rc = walk_frames(&walk, why);
	finish(&walk);
	o2_flows_end(&walk.flows);
	return rc;
}

int o2_pcap_walk(FILE *file, const struct o2_wire_options *options, o2_event_sink sink, void *context,
		 struct o2_walk_totals *totals, char why[O2_PCAP_WHY_BYTES])
{
	struct o2_capture capture;
	int rc = o2_capture_open(file, &capture, why);

	memset(totals, 0, sizeof(*totals));
	if (rc == 0)
		rc = o2_capture_walk(&capture, options, sink, context, totals, why);
	o2_capture_close(&capture);
	return rc;
}

int o2_pcap_walk_bytes(const uint8_t *bytes, size_t length_bytes, const struct o2_wire_options *options,
		       o2_event_sink sink, void *context, struct o2_walk_totals *totals,
		       char why[O2_PCAP_WHY_BYTES])
{
	/* Mode "r" only reads: the cast away from const does no harm. */
	FILE *file = fmemopen((void *)(uintptr_t)bytes, length_bytes, "r");
	char buffer[BUFSIZ];

	if (file != NULL) {
		/* This buffer saves an allocation; the file is closed before this function returns. */
		setvbuf(file, buffer, _IOFBF, sizeof(buffer));
		return o2_pcap_walk(file, options, sink, context, totals, why);
	}
	memset(totals, 0, sizeof(*totals));
	return no_memory(why, "bytes", length_bytes);
}
