/* SPDX-License-Identifier: MIT */
#include "cli/net/conform/known.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define LINE_BYTES 1024u

static bool has(const struct o2_conform_known *known, const char *id)
{
	for (uint32_t i = 0; i < known->count; i++)
		if (strcmp(known->entry[i].id, id) == 0)
			return true;
	return false;
}

/* Add an id.  Returns what is wrong with it; NULL: it was added. */
static const char *add(struct o2_conform_known *known, bool (*is_id)(const char *id), const char *id)
{
	struct o2_conform_known_entry *entry;

	if (strlen(id) >= O2_CONFORM_ID_BYTES || !is_id(id))
		return "is no id of a finding (see: o2ref conform --list)";
	if (has(known, id))
		return "is listed twice";
	static_assert(O2_CONFORM_KNOWN_MAX == 1024, "the message names it");
	if (known->count == O2_CONFORM_KNOWN_MAX)
		return "exceeds the limit of 1024 ids";
	entry = realloc(known->entry, (known->count + 1) * sizeof(*entry));
	if (entry == NULL)
		return "could not be stored: not enough memory";
	known->entry = entry;
	memset(&entry[known->count], 0, sizeof(*entry));
	memcpy(entry[known->count++].id, id, strlen(id) + 1);
	return NULL;
}

static bool read_lines(FILE *file, const char *path, bool (*is_id)(const char *id),
		       struct o2_conform_known *known)
{
	static const char blank[] = " \t\r\n";
	char line[LINE_BYTES];

	for (unsigned int number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
		char *id = line + strspn(line, blank), *rest;
		const char *wrong = strlen(line) == LINE_BYTES - 1 && line[LINE_BYTES - 2] != '\n'
					    ? "begins a line of more than 1022 characters"
					    : NULL;

		line[strcspn(line, "#")] = '\0';
		rest = id + strcspn(id, blank);
		if (wrong == NULL && rest[strspn(rest, blank)] != '\0')
			wrong = "is followed by text that is no comment";
		*rest = '\0';
		if (wrong == NULL && id[0] != '\0')
			wrong = add(known, is_id, id);
		if (wrong != NULL) {
			o2_cli_complain("%s: line %u: '%.60s' %s", path, number, id, wrong);
			return false;
		}
	}
	if (ferror(file) == 0)
		return true;
	o2_cli_complain("%s: %s", path, strerror(errno));
	return false;
}

bool o2_conform_known_read(const char *path, bool (*is_id)(const char *id), struct o2_conform_known *known)
{
	FILE *file = fopen(path, "r");
	bool ok;

	*known = (struct o2_conform_known){0};
	if (file == NULL) {
		o2_cli_complain("%s: %s", path, strerror(errno));
		return false;
	}
	ok = read_lines(file, path, is_id, known);
	fclose(file);
	if (!ok)
		o2_conform_known_free(known);
	return ok;
}

void o2_conform_known_free(struct o2_conform_known *known)
{
	free(known->entry);
	*known = (struct o2_conform_known){0};
}

bool o2_conform_known_note(struct o2_conform_known *known, const char *id, bool occurs)
{
	for (uint32_t i = 0; i < known->count; i++) {
		if (strcmp(known->entry[i].id, id) != 0)
			continue;
		known->entry[i].tried = true;
		known->entry[i].occurs |= occurs;
		return occurs;
	}
	return false;
}
