/* SPDX-License-Identifier: MIT */
#include "cli/capture.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>

static_assert(O2_PCAP_WHY_BYTES >= PCAP_ERRBUF_SIZE, "libpcap writes there too");

#define NS_PER_S 1000000000u

/* Returns 0 or -ENOTSUP and *why. */
static int check_link_type(const struct o2_capture *capture, char why[O2_PCAP_WHY_BYTES])
{
	const int number = pcap_datalink(capture->pcap);
	const char *name = pcap_datalink_val_to_description(number);

	if (o2_frame_link_type_name(number) != NULL)
		return 0;
	snprintf(
		why, O2_PCAP_WHY_BYTES,
		"cli/pcap/link-type: link_type is %d (%s), expected 1 (Ethernet), 113 or 276 (Linux cooked), "
		"197 (ERF) or 247 (InfiniBand)",
		number, name == NULL ? "unknown" : name);
	return -ENOTSUP;
}

int o2_capture_open(FILE *file, struct o2_capture *capture, char why[O2_PCAP_WHY_BYTES])
{
	int rc;

	capture->packets = 0;
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

int o2_capture_next(struct o2_capture *capture, struct o2_frame *frame, uint64_t *time_ns,
		    char why[O2_PCAP_WHY_BYTES])
{
	struct pcap_pkthdr *header;
	const int rc = pcap_next_ex(capture->pcap, &header, &frame->bytes);

	if (rc == PCAP_ERROR_BREAK)
		return 0;
	capture->packets++;
	if (rc != 1) {
		snprintf(why, O2_PCAP_WHY_BYTES, "packet %" PRIu64 ": %s", capture->packets,
			 pcap_geterr(capture->pcap));
		return ferror(pcap_file(capture->pcap)) ? -EIO : -EPROTO;
	}
	/* Nanoseconds: o2_capture_open.  The seconds of a pcap file have 32 bits, and libpcap takes the
	 * highest for a sign. */
	*time_ns = (uint64_t)(uint32_t)header->ts.tv_sec * NS_PER_S + (uint64_t)header->ts.tv_usec;
	frame->link_type = pcap_datalink(capture->pcap);
	frame->seen_bytes = header->caplen;
	frame->length_bytes = header->len;
	return 1;
}
