/* SPDX-License-Identifier: MIT */
#include "cli/capture.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <string.h>

#include "base/monotonic.h"

static_assert(O2_PCAP_WHY_BYTES >= PCAP_ERRBUF_SIZE, "libpcap writes there too");

/* Milliseconds that a frame lies in the kernel, and that a signal waits, at most. */
#define TURN_MS	       50
#define SNAPSHOT_BYTES 65535

/* Returns 0 or -ENOTSUP and *why. */
static int check_link_type(const struct o2_capture *capture, char why[O2_PCAP_WHY_BYTES])
{
	const int number = pcap_datalink(capture->pcap);
	const char *name = pcap_datalink_val_to_description(number);

	if (o2_frame_link_type_name(number) != NULL)
		return 0;
	snprintf(why, O2_PCAP_WHY_BYTES,
		 "cli/pcap/link-type: link_type is %d (%s), expected 1 (Ethernet), 113 or 276 (Linux "
		 "cooked), 197 (ERF) or 247 (InfiniBand)",
		 number, name == NULL ? "unknown" : name);
	return -ENOTSUP;
}

int o2_capture_open(FILE *file, struct o2_capture *capture, char why[O2_PCAP_WHY_BYTES])
{
	int rc;

	*capture = (struct o2_capture){.ns_per_tick = 1};
	capture->pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, why);
	if (capture->pcap == NULL) {
		rc = ferror(file) ? -EIO : -EPROTO;
		if (file != stdin)
			fclose(file);
		return rc;
	}
	rc = check_link_type(capture, why);
	if (rc != 0)
		o2_capture_close(capture);
	return rc;
}

void o2_capture_close(struct o2_capture *capture)
{
	if (capture->pcap != NULL)
		pcap_close(capture->pcap);
	capture->pcap = NULL;
}

/* Set what must be set before libpcap's activation.  Returns 0 or libpcap's status. */
static int set_up(pcap_t *pcap, int buffer_bytes)
{
	int rc = pcap_set_snaplen(pcap, SNAPSHOT_BYTES);

	if (rc == 0)
		rc = pcap_set_promisc(pcap, 1);
	if (rc == 0)
		rc = pcap_set_timeout(pcap, TURN_MS);
	if (rc == 0)
		rc = pcap_set_buffer_size(pcap, buffer_bytes);
	if (rc == 0)
		rc = pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO);
	/* If nanoseconds are not supported, microseconds will do. */
	return rc == PCAP_ERROR_TSTAMP_PRECISION_NOTSUP ? 0 : rc;
}

/* Returns false with *why, which is one line. */
static bool activate(struct o2_capture *capture, int buffer_bytes, char why[O2_PCAP_WHY_BYTES])
{
	pcap_t *pcap = capture->pcap;
	int rc = set_up(pcap, buffer_bytes);

	if (rc == 0)
		rc = pcap_activate(pcap);
	if (rc < 0) {
		const char *words = pcap_geterr(pcap);

		snprintf(why, O2_PCAP_WHY_BYTES, "%s", words[0] != '\0' ? words : pcap_statustostr(rc));
		why[strcspn(why, "\n")] = '\0';
		return false;
	}
	/* next() waits instead of libpcap, so that the waiting has an end. */
	if (pcap_setnonblock(pcap, 1, why) != 0)
		return false;
	capture->ns_per_tick = pcap_get_tstamp_precision(pcap) == PCAP_TSTAMP_PRECISION_NANO ? 1 : 1000;
	return check_link_type(capture, why) == 0;
}

int o2_capture_open_live(const char *interface, int buffer_bytes, const struct o2_capture_end *end,
			 struct o2_capture *capture, char why[O2_PCAP_WHY_BYTES])
{
	*capture = (struct o2_capture){.live = true, .end = *end};
	if (end->seconds != 0)
		capture->end_ns = o2_monotonic_ns() + end->seconds * O2_NS_PER_S;
	capture->pcap = pcap_create(interface, why);
	if (capture->pcap == NULL)
		return -EIO;
	if (activate(capture, buffer_bytes, why))
		return 0;
	o2_capture_close(capture);
	return -EIO;
}

uint64_t o2_capture_dropped(const struct o2_capture *capture)
{
	struct pcap_stat stat;

	if (!capture->live || pcap_stats(capture->pcap, &stat) != 0)
		return 0;
	return (uint64_t)stat.ps_drop + stat.ps_ifdrop;
}

static bool has_ended(const struct o2_capture *capture)
{
	return *capture->end.stop != 0 ||
	       (capture->end.packets != 0 && capture->packets >= capture->end.packets) ||
	       (capture->end_ns != 0 && o2_monotonic_ns() >= capture->end_ns);
}

/* Like pcap_next_ex, but on an interface it waits for a frame until the capture is to end. */
static int next(struct o2_capture *capture, struct pcap_pkthdr **header, const uint8_t **bytes)
{
	struct pollfd poll_fd = {.events = POLLIN};
	int rc;

	if (!capture->live)
		return pcap_next_ex(capture->pcap, header, bytes);
	poll_fd.fd = pcap_get_selectable_fd(capture->pcap);
	while (!has_ended(capture)) {
		rc = pcap_next_ex(capture->pcap, header, bytes);
		if (rc != 0)
			return rc;
		poll(&poll_fd, 1, TURN_MS);
	}
	return PCAP_ERROR_BREAK;
}

int o2_capture_next(struct o2_capture *capture, struct o2_frame *frame, uint64_t *time_ns,
		    char why[O2_PCAP_WHY_BYTES])
{
	struct pcap_pkthdr *header;
	const int rc = next(capture, &header, &frame->bytes);

	if (rc == PCAP_ERROR_BREAK)
		return 0;
	capture->packets++;
	if (rc != 1) {
		snprintf(why, O2_PCAP_WHY_BYTES, "packet %" PRIu64 ": %s", capture->packets,
			 pcap_geterr(capture->pcap));
		return capture->live || ferror(pcap_file(capture->pcap)) ? -EIO : -EPROTO;
	}
	/*
	 * A pcap file has 32 unsigned bits for seconds; libpcap treats the highest one as a sign.  It does so with
	 * the fraction of a second as well, where a negative one is no time.
	 */
	*time_ns = (uint64_t)(uint32_t)header->ts.tv_sec * O2_NS_PER_S;
	if (header->ts.tv_usec > 0)
		*time_ns += (uint64_t)header->ts.tv_usec * capture->ns_per_tick;
	frame->link_type = pcap_datalink(capture->pcap);
	frame->seen_bytes = header->caplen;
	frame->length_bytes = header->len;
	return 1;
}
