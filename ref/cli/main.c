/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/option.h"
#include "base/standard.h"
#include "cli/cli.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *text;
} commands[] = {
	{"decode", o2_cli_decode, "show the bytes of messages, reject records or a packet capture"},
	{"judge", o2_cli_judge, "say which rules were broken in a packet capture, and by whom"},
	{"encode", o2_cli_encode, "turn a message written as JSON into bytes"},
	{"check", o2_cli_props, "compare another implementation with the reference"},
	{"explain", o2_cli_props, "show the whole way of one transfer, in words or as a picture"},
	{"ping", o2_cli_net, "ping a node and show its NIDs"},
	{"put", o2_cli_net, "PUT to a node's memory, and verify it"},
	{"get", o2_cli_net, "GET from a node's memory, and verify it"},
	{"lst", o2_cli_net, "run an LNet selftest against a node, and verify its data"},
	{"conform", o2_cli_net, "test whether a node keeps to the protocol"},
	{"serve", o2_cli_net, "run a node: answer pings, hold memory for PUTs and GETs"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *out)
{
	fputs("usage: o2ref COMMAND [OPTION]... [FILE]...\n"
	      "\n"
	      "commands:\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s  %s\n", commands[i].name, commands[i].text);
	fputs("\n"
	      "options:\n"
	      "  -h, --help     this text; `o2ref COMMAND --help` for that of a command\n"
	      "  -V, --version  the version\n"
	      "\n"
	      "exit status: 0 done, 1 what was read is refused or what was moved is not right, 2 usage, a "
	      "file\n"
	      "that cannot be read or written, or no device, 77 check or conform cannot run here\n",
	      out);
}

int main(int argc, char **argv)
{
	const char *name = argc < 2 ? "" : argv[1];

	o2_standard_hold();
	if (argc < 2) {
		o2_cli_complain("no command given (see: o2ref --help)");
		return O2_CLI_USAGE;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		print_help(stdout);
		return o2_cli_finish(stdout, O2_CLI_OK);
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		puts("o2ref " O2_VERSION);
		return o2_cli_finish(stdout, O2_CLI_OK);
	}
	if (strcmp(name, O2_OPTION_LIST) == 0) {
		for (size_t i = 0; i < COMMANDS; i++)
			puts(commands[i].name);
		puts("--help\t-\t\n--version\t-\t");
		return o2_cli_finish(stdout, O2_CLI_OK);
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(name, commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	o2_cli_complain("unknown command '%s' (see: o2ref --help)", name);
	return O2_CLI_USAGE;
}
