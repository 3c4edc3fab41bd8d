/* SPDX-License-Identifier: MIT */
/* The path of the program, and of files beside it: proc(5). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own_path.h"
#include "props/stage/parts_internal.h"

#define MOST_BYTES 4096u

void o2_parts_path(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const char *const names[] = {NULL, "a", "o2ref", "beside/it"};
	const char *name = names[o2_draw_pick(c, 4)];
	char *own = realpath("/proc/self/exe", NULL);
	char expected[MOST_BYTES] = "", found[MOST_BYTES];
	size_t length, needed, bytes;
	int rc;

	if (own == NULL)
		return;
	length = name == NULL ? strlen(own) : (size_t)(strrchr(own, '/') + 1 - own) + strlen(name);
	snprintf(expected, sizeof(expected), "%s", own);
	if (name != NULL)
		strcpy(strrchr(expected, '/') + 1, name);
	/* The buffer must also hold the whole path that the link contains. */
	needed = 1 + (length > strlen(own) ? length : strlen(own));
	bytes = o2_draw_bool(c, 1, 1) ? MOST_BYTES : needed - 1 + o2_draw(c, 1);
	free(own);
	rc = o2_own_path(name, found, bytes);
	run->tally.seen[O2_PARTS_PATH]++;
	if (bytes < needed)
		expected[0] = '\0';
	snprintf(run->text, sizeof(run->text), "%s in %zu bytes", name == NULL ? "itself" : name, bytes);
	if (rc != (bytes < needed ? -ENAMETOOLONG : 0) || strcmp(found, expected) != 0)
		o2_report_fail(report, "parts/path", "%d, %s, expected %s", rc, found, expected);
}
