/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_COMMAND_H
#define O2_PROPS_HOSTILE_COMMAND_H

/*
 * o2props hostile --list                 the misbehaviours, as the table of docs/hostile.md
 * o2props hostile NAME... [--mutant M]   let the liar do that
 * o2props hostile --all [--mutant M]     all of them
 *
 * Exit status: 0 each met its reaction, 1 one did not, 2 usage.
 */
int o2_hostile_command(const char *program, int argc, char **argv);

#endif
