/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_KNOWN_H
#define O2_CLI_NET_CONFORM_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Known findings: a file with an id on each line, and after a # whatever people want to note about it.
 * Source: docs/conform.md, "Known findings".
 */

#define O2_CONFORM_ID_BYTES  64u
#define O2_CONFORM_KNOWN_MAX 1024u

struct o2_conform_known {
	uint32_t count;
	struct o2_conform_known_entry {
		char id[O2_CONFORM_ID_BYTES];
		bool tried;  /* it was tried */
		bool occurs; /* it was found, maybe tolerated */
	} * entry;	     /* owned */
};

/* is_id: can there be findings with that id?  Returns false after a line on stderr that names file and line. */
bool o2_conform_known_read(const char *path, bool (*is_id)(const char *id), struct o2_conform_known *known);
void o2_conform_known_free(struct o2_conform_known *known);

/* Something with that id was tried; occurs: and does not hold.  Returns whether it is listed and occurs. */
bool o2_conform_known_note(struct o2_conform_known *known, const char *id, bool occurs);

#endif
