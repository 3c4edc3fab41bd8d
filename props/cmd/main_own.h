/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_MAIN_OWN_H
#define O2_PROPS_MAIN_OWN_H

#include <stddef.h>

#include "props/cmd/options.h"
#include "props/engine/property.h"
#include "props/world/ground.h"

/*
 * The properties that bring along what they run on: all but transfer, which runs on the rung that the command
 * line names.  Which of them a program has depends on whether it has the in-process devices.
 */

/* The one of that name, which ends at `length_bytes`; its ops are NULL when there is none. */
struct o2_property o2_own_find(struct o2_props_arguments *a, const char *name, size_t length_bytes);

/* Those that the command line names; only their addresses are still to be found out. */
struct o2_ground_devices *o2_own_devices(struct o2_props_arguments *a);

/* Print the names and summaries of all properties.  Returns 0. */
int o2_own_list(struct o2_props_arguments *a);

#endif
