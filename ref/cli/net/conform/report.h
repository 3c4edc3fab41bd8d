/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_REPORT_H
#define O2_CLI_NET_CONFORM_REPORT_H

#include "cli/net/conform/conform.h"

/* What conform prints: a row for each probe as it ends, and then how many of each kind; or one JSON object. */

struct o2_conform_row {
	const struct o2_conform_probe *probe;
	struct o2_conform_result result;
};

struct o2_conform_report {
	const struct o2_net_options *options;
	int argc; /* of the command line, for the commands that try something again */
	char **argv;
	struct o2_conform_row *rows; /* owned */
	uint32_t nrows;
	uint32_t count[O2_CONFORM_OUTCOMES];
	/* What the peer has to do before anything else can be tried, and does not; NULL: it does. */
	const struct o2_conform_probe *mute;
	bool whole; /* all that was wanted was tried */
};

void o2_conform_report_add(struct o2_conform_report *report, const struct o2_conform_probe *probe,
			   const struct o2_conform_result *result);
void o2_conform_report_end(struct o2_conform_report *report);
void o2_conform_report_free(struct o2_conform_report *report);

#endif
