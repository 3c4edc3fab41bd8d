/* SPDX-License-Identifier: MIT */
#ifndef O2_QUIRK_QUIRK_H
#define O2_QUIRK_QUIRK_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/option.h"
#include "lnd/conn/conn.h"
#include "lnd/ni/ni.h"
#include "rdma/post.h"

/*
 * Quirks: behaviour that a peer may show, and that we must live with, or must be able to name.  One end is
 * given some, so that the other one can be tried on them.  ref/lnd does not know them: they change its
 * configuration, or what it posts and polls (rdma/post.h).  Source: docs/peer.md, "Quirks".
 */

enum o2_quirk {
	O2_QUIRK_SUMS_SIGNED,
	O2_QUIRK_SUMS_OTHER_BYTES,
	O2_QUIRK_SECOND_PAGE_WRONG,
	O2_QUIRK_SHORT_GET_CLAIMS,
	O2_QUIRK_GAPPED_SOURCE_SILENT,
	O2_QUIRK_CLOSES_FIRST,
	O2_QUIRK_LATE,
	O2_QUIRK_LST_FLIP_BIT, /* of who serves LNet selftest: lst/node.h */
	O2_QUIRKS,
};

#define O2_QUIRK_LATE_MS     3000u /* unless said otherwise */
#define O2_QUIRK_LATE_MAX_MS 60000u
static_assert(O2_QUIRK_LATE_MS <= O2_QUIRK_LATE_MAX_MS, "the default is legal");

/* What the bytes past the first page become: O2_QUIRK_SECOND_PAGE_WRONG. */
#define O2_QUIRK_WRONG_BYTE 0xeeu

/* Those of one end.  All zero: none.  May be copied until o2_quirks_bend_ni. */
struct o2_quirks {
	uint32_t set;	  /* bit q for quirk q */
	uint32_t late_ms; /* O2_QUIRK_LATE: 1 to O2_QUIRK_LATE_MAX_MS */
	bool own_clock;	  /* O2_QUIRK_LATE goes by the monotonic clock, whatever time the end is told */
	struct o2_work_ops ops;
	struct o2_quirk_held *held; /* completions that wait, the oldest first; owned */
};

/* For people: "NAME" or "NAME=MS", and what such an end does. */
const char *o2_quirk_name(enum o2_quirk quirk);
const char *o2_quirk_form(enum o2_quirk quirk);
const char *o2_quirk_text(enum o2_quirk quirk);

/*
 * Add "NAME[=VALUE],...".  Returns 0, or -EINVAL: bad (may be NULL) holds the first word that is none of
 * them, or whose value is missing or out of its range, cut if need be; *quirks is as it was.
 */
int o2_quirks_add(struct o2_quirks *quirks, const char *text, char *bad, size_t bad_bytes);

/* The same for the value of an option; false: *why says which word is wrong, and what it could be. */
bool o2_quirks_read(struct o2_quirks *quirks, const struct o2_option *option, const char *text,
		    char why[O2_OPTION_WHY_BYTES]);

static inline bool o2_quirks_have(const struct o2_quirks *quirks, enum o2_quirk quirk)
{
	return (quirks->set >> quirk & 1) != 0;
}

/*
 * Put the quirks into the configuration of an interface, and into that of its connections, before these are
 * made.  *quirks outlives the interface and must not be moved.  Without any quirk nothing is changed.
 */
void o2_quirks_bend_ni(struct o2_quirks *quirks, struct o2_ni_config *config);
void o2_quirks_bend_conn(const struct o2_quirks *quirks, struct o2_conn_config *config);

/* After the interface was closed: free the completions that are still held. */
void o2_quirks_end(struct o2_quirks *quirks);

#endif
