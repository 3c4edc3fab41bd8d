/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_MAIN_OWN_H
#define O2_PROPS_MAIN_OWN_H

#include <stddef.h>

#include "props/cmd/options.h"
#include "props/engine/property.h"
#include "props/world/ground.h"

/*
 * The properties that provide their own devices: all but transfer, which runs on the rung that the command line
 * names. A program without the in-process devices has fewer of them.
 */

/* Find the property by the first length_bytes bytes of name.  Its ops are NULL if there is none. */
struct o2_property o2_own_find(struct o2_props_arguments *a, const char *name, size_t length_bytes);

/* The devices that the command line names.  Their addresses are not looked up yet. */
struct o2_ground_devices *o2_own_devices(struct o2_props_arguments *a);

/* Print the names and summaries of all properties.  Returns 0. */
int o2_own_list(struct o2_props_arguments *a);

#endif
