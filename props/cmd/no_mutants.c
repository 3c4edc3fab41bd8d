/* SPDX-License-Identifier: MIT */
/* For programs whose library has no deliberate defects. */
#include "props/engine/mutant.h"

#include <errno.h>
#include <string.h>

int o2_mutant_select(const char *name)
{
	return strcmp(name, "none") == 0 ? 0 : -ENOTSUP;
}

void o2_mutant_aside(bool aside)
{
	(void)aside;
}

int o2_mutant_count_in_file(const char *path)
{
	(void)path;
	return -ENOTSUP;
}
