/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_LADDER_HTML_H
#define O2_CLI_LADDER_HTML_H

#include <stdio.h>

#include "cli/ladder.h"

/*
 * Ladders as HTML: each connection has two life lines, and a row for each event.  file: number of the capture
 * on the page, from 1.  Source: docs/judge.md, "The page".
 */
void o2_ladder_html(struct o2_ladder *ladder, unsigned int file, FILE *out);

/* The HTML id of an event, for links to it: "f1-e12". */
#define O2_LADDER_NAME_BYTES 40u
void o2_ladder_name(unsigned int file, const struct o2_ladder_event *event, char name[O2_LADDER_NAME_BYTES]);

#endif
