/* SPDX-License-Identifier: MIT */
#include "base/mutant.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#ifdef O2_WITH_MUTANTS

enum o2_mutant_id o2_active_mutant;

int o2_mutant_select(const char *name)
{
	static const char *const names[] = {"none",
#define O2_MUTANT_NAME(id, name, text) name,
					    O2_MUTANTS(O2_MUTANT_NAME)
#undef O2_MUTANT_NAME
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0) {
			o2_active_mutant = (enum o2_mutant_id)i;
			return 0;
		}
	}
	return -EINVAL;
}

#else

int o2_mutant_select(const char *name)
{
	return strcmp(name, "none") == 0 ? 0 : -ENOTSUP;
}

#endif
