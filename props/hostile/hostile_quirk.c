/* SPDX-License-Identifier: MIT */
#include "props/hostile/hostile_quirk.h"

#include <stdio.h>

#include "quirk/quirk.h"

/* The victim's interface gets a made-up time, so delays of quirks use the machine's clock. */
static struct o2_quirks quirks = {.own_clock = true};

bool o2_hostile_quirks(const struct o2_option *option, const char *text, void *target,
		       char why[O2_OPTION_WHY_BYTES])
{
	(void)target;
	return o2_quirks_read(&quirks, option, text, why);
}

const char *o2_hostile_quirk_words(void)
{
	static char words[400];
	size_t used = 0;

	for (unsigned int i = 0; i < O2_QUIRKS; i++) {
		if (!o2_quirks_have(&quirks, i))
			continue;
		used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s", used == 0 ? "" : ",",
					 o2_quirk_name(i));
		if (i == O2_QUIRK_LATE)
			used += (size_t)snprintf(words + used, sizeof(words) - used, "=%u", quirks.late_ms);
	}
	return used == 0 ? NULL : words;
}

bool o2_hostile_quirk_takes_time(void)
{
	return o2_quirks_have(&quirks, O2_QUIRK_LATE);
}

bool o2_hostile_quirk_is_of_lst(void)
{
	return o2_quirks_have(&quirks, O2_QUIRK_LST_FLIP_BIT);
}

void o2_hostile_bend_ni(struct o2_ni_config *config)
{
	o2_quirks_bend_ni(&quirks, config);
}

void o2_hostile_bend_conn(struct o2_conn_config *config)
{
	o2_quirks_bend_conn(&quirks, config);
}
