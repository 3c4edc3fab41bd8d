/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FAR_COMMAND_H
#define O2_PROPS_FAR_COMMAND_H

#include "props/cmd/options.h"
#include "props/world/far.h"

/* The two commands of a transfer between two machines: run --far, and far, which it starts there. */

/*
 * What --far and its like on the command line say, for an end on that device there.  Lasts as long as *a;
 * exits with a usage error.
 */
const struct o2_far_config *o2_far_options(struct o2_props_arguments *a, const char *device);

/* o2props far: be the far end.  Returns the exit status: 0, 2 usage, 77 not what was asked for. */
int o2_far_command(struct o2_props_arguments *a, o2_network_open_fn open_network);

#endif
