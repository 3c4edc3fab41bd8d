/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_QUIRK_H
#define O2_PROPS_HOSTILE_QUIRK_H

#include <stdbool.h>

#include "base/option.h"
#include "lnd/conn/conn.h"
#include "lnd/ni/ni.h"

/*
 * Quirks (docs/peer.md, "Quirks") of the honest ends of this program, the victim and the honest peer, so that
 * the judge can be tested on them.  Like a deliberate defect, they are set for the whole program.
 */

/* The value of --quirk, "NAME[=VALUE],...".  False: it is none, and *why says so. */
bool o2_hostile_quirks(const struct o2_option *option, const char *text, void *target,
		       char why[O2_OPTION_WHY_BYTES]);
/* All that was asked for, in words for another process; NULL: nothing. */
const char *o2_hostile_quirk_words(void);
/* Does it need real time to pass?  Where all ends are in one process, nothing waits for that. */
bool o2_hostile_quirk_takes_time(void);

/* An honest end is about to be made. */
void o2_hostile_bend_ni(struct o2_ni_config *config);
void o2_hostile_bend_conn(struct o2_conn_config *config);

#endif
