/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/net/conform/lst.h"

/* --only, and probes that need an option of their own. */

/* Is the id one of the words, or does it begin with a word that ends with a slash? */
bool o2_conform_is_in(const char *id, const char *words)
{
	while (true) {
		const size_t length = strcspn(words, ",");
		const bool begins = length > 0 && words[length - 1] == '/';

		if (strncmp(id, words, length) == 0 && (begins || id[length] == '\0'))
			return true;
		if (words[length] == '\0')
			return false;
		words += length + 1;
	}
}

bool o2_conform_is_lst(const char *id)
{
	return strncmp(id, O2_CONFORM_LST, strlen(O2_CONFORM_LST)) == 0;
}

bool o2_conform_wanted(const struct o2_net_options *options, const char *id)
{
	const bool offered = options->try_lst || !o2_conform_is_lst(id);

	return offered && (options->only == NULL || o2_conform_is_in(id, options->only));
}
