/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_COMMAND_WRAP_PCAP_H
#define O2_PROPS_COMMAND_WRAP_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An interface for pcap_create(3PCAP) and what follows it, in programs that are linked with --wrap of those
 * functions (CMakeLists.txt, o2_props_program): what is in a capture passes it.  libpcap itself reads the capture.
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
	O2_PCAP_PACKET, /* the one behind the last */
	O2_PCAP_STEPS,
};

struct o2_pcap_live {
	const char *interface;
	const uint8_t *bytes; /* the capture */
	size_t length;
	enum o2_pcap_step fails;
	const char *why;	/* what it says then; "" of a setting: libpcap's own words */
	bool warns;		/* activating it does, with success */
	bool micro;		/* nanoseconds are not to be had */
	uint32_t empty;		/* before each of so many packets there is none once; 0: never */
	int signal;		/* of this process when all have been read; 0: none */
	uint32_t dropped, lost; /* by the kernel, by the interface */
};

/* NULL: the functions are libpcap's own. */
void o2_pcap_live(const struct o2_pcap_live *live);

#endif
