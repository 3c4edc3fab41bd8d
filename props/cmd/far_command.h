/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FAR_COMMAND_H
#define O2_PROPS_FAR_COMMAND_H

#include "props/cmd/options.h"
#include "props/world/far.h"

/* The commands of a transfer between two machines: run --far, and far, which run --far starts on the other one. */

/*
 * The options --far* of the command line, for a far end on the other machine's device `device`. Valid as long as
 * *a; exits on a usage error.
 */
const struct o2_far_config *o2_far_options(struct o2_props_arguments *a, const char *device);

/* o2props far: be the far end.  Returns the exit status: 0; 2 for usage; 77 if a request cannot be met. */
int o2_far_command(struct o2_props_arguments *a, o2_network_open_fn open_network);

#endif
