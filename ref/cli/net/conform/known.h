/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_CONFORM_KNOWN_H
#define O2_CLI_NET_CONFORM_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Findings that are known: a file with an id on each line, and behind # whatever people want to remember of
 * it.  Source: docs/conform.md, "Known findings".
 */

#define O2_CONFORM_ID_BYTES  64u
#define O2_CONFORM_KNOWN_MAX 1024u

struct o2_conform_known {
	uint32_t count;
	struct o2_conform_known_entry {
		char id[O2_CONFORM_ID_BYTES];
		bool tried;  /* so that it could have occurred .. */
		bool occurs; /* .. and it did */
	} * entry;	     /* owned */
};

/* is_id: whether there can be findings with that id.  False, after a line on stderr that names file and line. */
bool o2_conform_known_read(const char *path, bool (*is_id)(const char *id), struct o2_conform_known *known);
void o2_conform_known_free(struct o2_conform_known *known);

/* Something with that id was tried, and is a finding or not.  Returns whether it is one that is known. */
bool o2_conform_known_note(struct o2_conform_known *known, const char *id, bool finding);

#endif
