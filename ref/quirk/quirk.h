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
 * Quirks: behaviour of peers that an end must cope with, or must be able to report.  They are enabled at one
 * end, to try the other end.  ref/lnd does not know them: they change its configuration, or the work that it
 * posts and polls (rdma/post.h).  Source: docs/peer.md, "Quirks".
 */

enum o2_quirk {
	O2_QUIRK_SUMS_SIGNED,
	O2_QUIRK_SUMS_OTHER_BYTES,
	O2_QUIRK_SECOND_PAGE_WRONG,
	O2_QUIRK_SHORT_GET_CLAIMS,
	O2_QUIRK_GAPPED_SOURCE_SILENT,
	O2_QUIRK_CLOSES_FIRST,
	O2_QUIRK_LATE,
	O2_QUIRK_LST_FLIP_BIT, /* for a server of LNet selftest: lst/node.h */
	O2_QUIRKS,
};

#define O2_QUIRK_LATE_MS     3000u /* the default */
#define O2_QUIRK_LATE_MAX_MS 60000u
static_assert(O2_QUIRK_LATE_MS <= O2_QUIRK_LATE_MAX_MS, "the default is legal");

/* O2_QUIRK_SECOND_PAGE_WRONG replaces the bytes past the first page by this. */
#define O2_QUIRK_WRONG_BYTE 0xeeu

/* The quirks of one end.  All zero: none.  May be copied until o2_quirks_bend_ni is called. */
struct o2_quirks {
	uint32_t set;	  /* bit q is set: quirk q is enabled */
	uint32_t late_ms; /* O2_QUIRK_LATE: 1 to O2_QUIRK_LATE_MAX_MS */
	bool own_clock;	  /* O2_QUIRK_LATE uses the monotonic clock instead of the end's time */
	struct o2_work_ops ops;
	struct o2_quirk_held *held; /* delayed completions, the oldest first; owned */
};

/* Texts for people: the name; its form, "NAME" or "late[=MS]"; and what an end with the quirk does. */
const char *o2_quirk_name(enum o2_quirk quirk);
const char *o2_quirk_form(enum o2_quirk quirk);
const char *o2_quirk_text(enum o2_quirk quirk);

/*
 * Add the quirks of a list "NAME[=VALUE],...".  Returns 0, or -EINVAL: bad (may be NULL) is set to the first
 * word that names no quirk or has a missing or illegal value, truncated if need be; *quirks does not change.
 */
int o2_quirks_add(struct o2_quirks *quirks, const char *text, char *bad, size_t bad_bytes);

/* The same for the value of an option.  Returns false if a word is wrong: why then names it, and the legal ones. */
bool o2_quirks_read(struct o2_quirks *quirks, const struct o2_option *option, const char *text,
		    char why[O2_OPTION_WHY_BYTES]);

static inline bool o2_quirks_have(const struct o2_quirks *quirks, enum o2_quirk quirk)
{
	return (quirks->set >> quirk & 1) != 0;
}

/*
 * Put the quirks into the configuration of an interface, and into that of its connections, before they are
 * made.  *quirks must outlive the interface and must not be moved.  Without any quirk nothing changes.
 */
void o2_quirks_bend_ni(struct o2_quirks *quirks, struct o2_ni_config *config);
void o2_quirks_bend_conn(const struct o2_quirks *quirks, struct o2_conn_config *config);

/* To be called after the interface was closed: frees the completions that are still delayed. */
void o2_quirks_end(struct o2_quirks *quirks);

#endif
