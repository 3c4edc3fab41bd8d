/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own_path.h"
#include "props/cmd/check_options.h"

/* `o2ref check --fuzz` replaces this process by the fuzzer, a separate program (fuzz/impl.c). */

#define MAX_WORDS 64u

int o2_check_fuzz(const struct o2_check_arguments *a)
{
	char path[PATH_MAX], library[PATH_MAX];
	char *words[MAX_WORDS];
	uint32_t n = 0;

	if (realpath(a->file[0], library) == NULL)
		return o2_complain(a->name, "check: %s: %s", a->file[0], strerror(errno));
	if (o2_own_path("o2ref-fuzz-impl", path, sizeof(path)) != 0 || access(path, X_OK) != 0) {
		o2_complain(a->name, "check: the fuzzer (o2ref-fuzz-impl) is not beside this program: it is "
				     "built where clang brings libFuzzer along");
		return O2_CHECK_EXIT_CANNOT;
	}
	setenv("O2REF_IMPL", library, 1);
	setenv("O2REF_KNOWN", a->known == NULL ? "" : a->known, 1);
	setenv("O2REF_MAP", a->map == NULL ? "" : a->map, 1);
	setenv("O2REF_PROFILE", o2_profile_name(a->options.profile), 1);
	words[n++] = path;
	for (char *const *word = a->program; word != NULL && *word != NULL && n + 1 < MAX_WORDS; word++)
		words[n++] = *word;
	words[n] = NULL;
	execv(path, words);
	o2_complain(a->name, "check: %s: %s", path, strerror(errno));
	return O2_CHECK_EXIT_CANNOT;
}
