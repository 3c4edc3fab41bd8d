/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PROBES_H
#define O2_PROPS_PROBES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What `o2ref conform` tries, and which quirk of a peer which probe finds: docs/conform.md, "Probes" and "Tests".
 */

struct o2_probe {
	char id[32], sentence[120], source[64];
};

#define O2_PROBES     97u /* the first of them; */
#define O2_PROBES_LST 47u /* those behind them are tried with --lst */

/* In their order; false: there are no more. */
bool o2_probe_at(uint32_t index, struct o2_probe *probe);

/* Does --only, or its absence (NULL), ask for it? */
bool o2_probe_is_asked(const char *id, const char *only);

/* A quirk of the peer. */
struct o2_probe_quirk {
	const char *quirk; /* NULL: none */
	const char *found; /* the probes that find it, as words of --only */
	/* A rule of the judge that names it as well; NULL: none. */
	const char *rule, *sentence, *source;
	bool tolerated;	   /* of kernels */
	bool lst;	   /* it is met by --lst alone */
	bool mute;	   /* it does not even answer a ping */
	const char *seen;  /* how what was found reads; NULL: in several ways */
	const char *heard; /* how what the peer said last begins */
	const char *draw;  /* probes that meet it, one of which is asked for */
};

#define O2_PROBE_QUIRKS 9u
extern const struct o2_probe_quirk o2_probe_quirks[O2_PROBE_QUIRKS];

#endif
