/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PROBES_H
#define O2_PROPS_PROBES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The probes of `o2ref conform`, and which of them find a quirk of a peer: docs/conform.md, "Probes" and "Tests".
 */

struct o2_probe {
	char id[32], sentence[120], source[64];
};

#define O2_PROBES     97u /* without --lst; they come first */
#define O2_PROBES_LST 47u /* tried with --lst only; they come next */

/* The probe at an index; false: there are no more. */
bool o2_probe_at(uint32_t index, struct o2_probe *probe);

/* Does --only (NULL: not given) ask for the probe? */
bool o2_probe_is_asked(const char *id, const char *only);

/* A quirk of the peer, and what conform reports about it. */
struct o2_probe_quirk {
	const char *quirk; /* NULL: none */
	const char *found; /* the probes that find it, as words of --only */
	/* A rule of the judge that also reports it; NULL: none. */
	const char *rule, *sentence, *source;
	bool tolerated;	   /* kernels do it, so it is tolerated */
	bool lst;	   /* only probes of --lst find it */
	bool mute;	   /* the peer does not even answer a ping */
	const char *seen;  /* text of what was seen; NULL: it varies */
	const char *heard; /* how the text of the peer's last message begins */
	const char *draw;  /* probes that find it, of which the case asks for one */
};

#define O2_PROBE_QUIRKS 9u
extern const struct o2_probe_quirk o2_probe_quirks[O2_PROBE_QUIRKS];

#endif
