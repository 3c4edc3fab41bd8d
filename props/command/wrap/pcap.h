/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_COMMAND_WRAP_PCAP_H
#define O2_PROPS_COMMAND_WRAP_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A network interface for pcap_create(3PCAP) and the calls after it: it delivers the packets of a capture. Programs
 * are linked with --wrap (CMakeLists.txt, o2_props_program). libpcap itself reads the capture.
 */

enum o2_pcap_step {
	O2_PCAP_NOTHING_FAILS,
	O2_PCAP_CREATE,
	O2_PCAP_SNAPLEN,
	O2_PCAP_PROMISC,
	O2_PCAP_TIMEOUT,
	O2_PCAP_BUFFER,
	O2_PCAP_ACTIVATE,
	O2_PCAP_NONBLOCK,
	O2_PCAP_PACKET, /* the read behind the last packet */
	O2_PCAP_STEPS,
};

struct o2_pcap_live {
	const char *interface;
	const uint8_t *bytes; /* the capture */
	size_t length;
	enum o2_pcap_step fails;
	const char *why;	/* its error text; "" for a setting: libpcap's own text */
	bool warns;		/* activating succeeds with a warning */
	bool micro;		/* nanosecond time stamps are not supported */
	uint32_t empty;		/* each of the first `empty` packets is preceded by an empty read */
	int signal;		/* raised in this process when all were read; 0: none */
	uint32_t dropped, lost; /* packets, by the kernel and by the interface */
};

/* Set the interface.  NULL: call libpcap's own functions. */
void o2_pcap_live(const struct o2_pcap_live *live);

#endif
