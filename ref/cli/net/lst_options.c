/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/option.h"
#include "cli/cli.h"
#include "cli/net/options.h"
#include "lst/test.h"

const char *const o2_net_lst_check_names[] = {
	[O2_NET_LST_NONE] = "none",
	[O2_NET_LST_SIMPLE] = "simple",
	[O2_NET_LST_FULL] = "full",
	NULL,
};

const char *const o2_net_lst_test_names[] = {
	[O2_NET_LST_PING] = "ping",
	[O2_NET_LST_READ] = "read",
	[O2_NET_LST_WRITE] = "write",
	NULL,
};

int o2_net_lst_check_options(const struct o2_command *command, const char *test,
			     struct o2_net_options *options)
{
	unsigned int place = 0;

	while (o2_net_lst_test_names[place] != NULL && strcmp(o2_net_lst_test_names[place], test) != 0)
		place++;
	if (o2_net_lst_test_names[place] == NULL)
		return o2_command_usage(command, "'%s' is not ping, read or write", test);
	if (options->reverse && options->every_word)
		return o2_command_usage(command,
					"--every-word is for what we read; with --reverse we read nothing");
	options->test = (enum o2_net_lst_test)place;
	if (options->count == 0 && options->seconds == 0)
		options->count = 1;
	return O2_CLI_OK;
}

struct o2_lst_test o2_net_lst_test_of(const struct o2_net_options *options)
{
	const struct o2_lst_test test = {
		.service = O2_LST_SERVICE_BRW,
		.features = O2_LST_FEATS_MASK,
		.rw = options->test == O2_NET_LST_READ ? O2_LST_BRW_READ : O2_LST_BRW_WRITE,
		.check = options->check == O2_NET_LST_NONE     ? O2_LST_CHECK_NONE
			 : options->check == O2_NET_LST_SIMPLE ? O2_LST_CHECK_SIMPLE
							       : O2_LST_CHECK_FULL,
		.len = options->size_bytes,
		.offset = (uint32_t)options->offset,
		.every_word = options->every_word,
	};

	if (options->test == O2_NET_LST_PING)
		return (struct o2_lst_test){.service = O2_LST_SERVICE_PING, .features = O2_LST_FEATS_MASK};
	return test;
}
