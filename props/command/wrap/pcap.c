/* SPDX-License-Identifier: MIT */
#include "props/command/wrap/pcap.h"

#include <pcap/pcap.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The names that ld(1) --wrap uses. */
#define WRAPPED(type, name, parameters) \
	type __real_##name parameters;  \
	type __wrap_##name parameters

WRAPPED(pcap_t *, pcap_create, (const char *interface, char *why));
WRAPPED(int, pcap_set_snaplen, (pcap_t * pcap, int bytes));
WRAPPED(int, pcap_set_promisc, (pcap_t * pcap, int wanted));
WRAPPED(int, pcap_set_timeout, (pcap_t * pcap, int ms));
WRAPPED(int, pcap_set_buffer_size, (pcap_t * pcap, int bytes));
WRAPPED(int, pcap_set_tstamp_precision, (pcap_t * pcap, int precision));
WRAPPED(int, pcap_activate, (pcap_t * pcap));
WRAPPED(int, pcap_setnonblock, (pcap_t * pcap, int wanted, char *why));
WRAPPED(int, pcap_get_selectable_fd, (pcap_t * pcap));
WRAPPED(int, pcap_next_ex, (pcap_t * pcap, struct pcap_pkthdr **header, const u_char **bytes));
WRAPPED(int, pcap_stats, (pcap_t * pcap, struct pcap_stat *stat));

static const struct o2_pcap_live *live;
static struct {
	int snaplen, promisc, timeout_ms, buffer_bytes, precision, nonblock;
	bool ended;
	uint32_t packets;
	bool waited; /* for the next packet */
} state;

void o2_pcap_live(const struct o2_pcap_live *as)
{
	live = as;
	memset(&state, 0, sizeof(state));
}

pcap_t *__wrap_pcap_create(const char *interface, char *why)
{
	FILE *file;

	if (live == NULL)
		return __real_pcap_create(interface, why);
	snprintf(why, PCAP_ERRBUF_SIZE, "%s",
		 live->fails == O2_PCAP_CREATE ? live->why : "no such interface");
	if (live->fails == O2_PCAP_CREATE || strcmp(interface, live->interface) != 0)
		return NULL;
	/* The bytes are only read. */
	file = fmemopen((void *)(uintptr_t)live->bytes, live->length, "r");
	return pcap_fopen_offline_with_tstamp_precision(
		file, live->micro ? PCAP_TSTAMP_PRECISION_MICRO : PCAP_TSTAMP_PRECISION_NANO, why);
}

/* Store a setting; all are checked in activate.  A failure may have no text of its own. */
static int set(pcap_t *pcap, int *to, int value, enum o2_pcap_step step)
{
	*to = value;
	if (live->fails != step)
		return 0;
	snprintf(pcap_geterr(pcap), PCAP_ERRBUF_SIZE, "%s", live->why);
	return PCAP_ERROR_ACTIVATED;
}

#define SETS(name, member, step)                                             \
	int __wrap_pcap_set_##name(pcap_t *pcap, int value)                  \
	{                                                                    \
		return live == NULL ? __real_pcap_set_##name(pcap, value)    \
				    : set(pcap, &state.member, value, step); \
	}

SETS(snaplen, snaplen, O2_PCAP_SNAPLEN)
SETS(promisc, promisc, O2_PCAP_PROMISC)
SETS(timeout, timeout_ms, O2_PCAP_TIMEOUT)
SETS(buffer_size, buffer_bytes, O2_PCAP_BUFFER)

int __wrap_pcap_set_tstamp_precision(pcap_t *pcap, int precision)
{
	if (live == NULL)
		return __real_pcap_set_tstamp_precision(pcap, precision);
	state.precision = precision;
	return live->micro ? PCAP_ERROR_TSTAMP_PRECISION_NOTSUP : 0;
}

/* Were whole packets, of all hosts, with short delay and exact time stamps asked for? */
static bool is_set_up(void)
{
	return state.snaplen >= 9216 && state.promisc == 1 && state.timeout_ms > 0 &&
	       state.timeout_ms <= 1000 && state.buffer_bytes >= 1 << 20 &&
	       state.precision == PCAP_TSTAMP_PRECISION_NANO;
}

int __wrap_pcap_activate(pcap_t *pcap)
{
	if (live == NULL)
		return __real_pcap_activate(pcap);
	if (live->fails == O2_PCAP_ACTIVATE) {
		snprintf(pcap_geterr(pcap), PCAP_ERRBUF_SIZE, "%s\nand more", live->why);
		return PCAP_ERROR;
	}
	if (!is_set_up()) {
		snprintf(pcap_geterr(pcap), PCAP_ERRBUF_SIZE, "it is not set up as it must be");
		return PCAP_ERROR;
	}
	return live->warns ? PCAP_WARNING_PROMISC_NOTSUP : 0;
}

int __wrap_pcap_setnonblock(pcap_t *pcap, int wanted, char *why)
{
	if (live == NULL)
		return __real_pcap_setnonblock(pcap, wanted, why);
	state.nonblock = wanted;
	if (live->fails == O2_PCAP_NONBLOCK)
		snprintf(why, PCAP_ERRBUF_SIZE, "%s", live->why);
	return live->fails == O2_PCAP_NONBLOCK ? PCAP_ERROR : 0;
}

/* Standard input is always readable here; poll(2) with -1 only waits for its timeout. */
int __wrap_pcap_get_selectable_fd(pcap_t *pcap)
{
	if (live == NULL)
		return __real_pcap_get_selectable_fd(pcap);
	return state.ended ? -1 : 0;
}

int __wrap_pcap_next_ex(pcap_t *pcap, struct pcap_pkthdr **header, const u_char **bytes)
{
	int rc;

	if (live == NULL)
		return __real_pcap_next_ex(pcap, header, bytes);
	if (state.nonblock == 0 || (state.packets < live->empty && !state.waited)) {
		state.waited = true;
		return 0;
	}
	state.waited = false;
	rc = __real_pcap_next_ex(pcap, header, bytes);
	state.packets++;
	if (rc == 1)
		return 1;
	if (live->fails == O2_PCAP_PACKET) {
		snprintf(pcap_geterr(pcap), PCAP_ERRBUF_SIZE, "%s", live->why);
		return PCAP_ERROR;
	}
	if (!state.ended && live->signal != 0)
		raise(live->signal);
	state.ended = true;
	return 0;
}

int __wrap_pcap_stats(pcap_t *pcap, struct pcap_stat *stat)
{
	if (live == NULL)
		return __real_pcap_stats(pcap, stat);
	*stat = (struct pcap_stat){.ps_drop = live->dropped, .ps_ifdrop = live->lost};
	return 0;
}
