/* SPDX-License-Identifier: MIT */
#include "cli/net/commands.h"

#include "cli/cli.h"
#include "cli/net/judging.h"

static int run(struct o2_net_options *options, int argc, char **argv)
{
	switch (options->command) {
	case O2_NET_SERVE:
		return o2_net_serve(options);
	case O2_NET_PING:
		return o2_net_ping(options);
	case O2_NET_PUT:
	case O2_NET_GET:
		return o2_net_move(options);
	case O2_NET_LST:
		return o2_net_lst(options);
	case O2_NET_CONFORM:
		return o2_net_conform(options, argc, argv);
	}
	return O2_CLI_USAGE;
}

int o2_net_run_command(struct o2_net_options *options, int argc, char **argv)
{
	if (options->judge && (options->judging = o2_net_judging_new(options)) == NULL)
		return O2_CLI_USAGE;
	return o2_cli_finish(stdout, o2_net_judging_end(options->judging, run(options, argc, argv)));
}
