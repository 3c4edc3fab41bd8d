/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_QUIRK_H
#define O2_PROPS_HOSTILE_QUIRK_H

#include <stdbool.h>

#include "base/option.h"
#include "lnd/conn/conn.h"
#include "lnd/ni/ni.h"

/*
 * Quirks (docs/peer.md, "Quirks") of this program's honest ends, the victim and the honest peer, so that the
 * judge can be tested on them.  Like a deliberate defect, they apply to the whole program.
 */

/* Parse the value of --quirk, "NAME[=VALUE],...".  False: the value is invalid, and *why says why. */
bool o2_hostile_quirks(const struct o2_option *option, const char *text, void *target,
		       char why[O2_OPTION_WHY_BYTES]);
/* The selected quirks as an option value for another process; NULL: none. */
const char *o2_hostile_quirk_words(void);
/* Do the quirks need real time to pass?  If all ends are in one process, nothing waits for real time. */
bool o2_hostile_quirk_takes_time(void);

/* Is there a quirk of LNet selftest, which no honest end of hostile runs? */
bool o2_hostile_quirk_is_of_lst(void);

/* Apply the quirks to the configuration of an honest end before it is created. */
void o2_hostile_bend_ni(struct o2_ni_config *config);
void o2_hostile_bend_conn(struct o2_conn_config *config);

#endif
