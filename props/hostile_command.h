/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_COMMAND_H
#define O2_PROPS_HOSTILE_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

/*
 * o2props hostile (docs/hostile.md, "Commands"): against a victim on loop devices in this process, and on
 * devices of the machine, against one in another process or against any peer.
 *
 * Exit status: 0 each met its reaction, 1 one did not, 2 usage, 77 no device.
 */
int o2_hostile_command(const char *program, int argc, char **argv);
int o2_hostile_net_command(int argc, char **argv);

/* Which of the two the arguments ask for. */
bool o2_hostile_asks_for_device(int argc, char **argv);

void o2_hostile_usage(const char *program, FILE *out);

#endif
