/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_COMMANDS_H
#define O2_CLI_NET_COMMANDS_H

#include <signal.h>

#include "cli/net/options.h"

/* Each returns an exit status of cli.h; o2_net_conform may also return O2_CONFORM_CANNOT. */
int o2_net_serve(struct o2_net_options *options);
int o2_net_ping(struct o2_net_options *options);
int o2_net_move(struct o2_net_options *options); /* put and get */
int o2_net_lst(struct o2_net_options *options);
int o2_net_conform(struct o2_net_options *options, int argc, char **argv);

/* Run the command that the options name, with the judge if they ask for it.  argv: its words, for its report. */
int o2_net_run_command(struct o2_net_options *options, int argc, char **argv);

/* SIGINT or SIGTERM has come: end soon.  This is all that the program shares with its signal handler. */
extern volatile sig_atomic_t o2_net_stop;

#endif
