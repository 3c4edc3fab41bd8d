/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/standard.h"
#include "cli/cli.h"
#include "cli/net/commands.h"

/*
 * Runs serve, ping, put, get, lst and conform for the o2ref command.  There are two such programs, with the
 * machine's RDMA devices and with a network inside the process; so `o2ref decode` needs neither.
 */

volatile sig_atomic_t o2_net_stop;

static void stop(int signal)
{
	(void)signal;
	o2_net_stop = 1;
}

int main(int argc, char **argv)
{
	/* A line that is being written then is not lost: writing goes on.  ppoll(2), by which we wait, does not. */
	const struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESTART};
	struct o2_net_options options;
	int status;

	o2_standard_hold();
	if (argc < 2) {
		o2_cli_complain("no command given (see: o2ref --help)");
		return O2_CLI_USAGE;
	}
	status = o2_net_options_read(argc - 1, argv + 1, &options);
	if (status <= 0)
		return status < 0 ? O2_CLI_USAGE : o2_cli_finish(stdout, O2_CLI_OK);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return o2_net_run_command(&options, argc - 1, argv + 1);
}
