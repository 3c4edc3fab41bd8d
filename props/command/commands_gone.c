/* SPDX-License-Identifier: MIT */
/* No peer, a silent peer, or a port that is in use: docs/peer.md, "When it does not work". */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "props/command/commands.h"
#include "props/command/wrong.h"

#define PEER	   "10.99.0.1@o2ib"
#define IMMEDIATE  3976u
#define IN_FLIGHT  8u /* the number of credits */
#define UNRESOLVED "no connection could be made: cm/unresolved: errno is 113 (No route to host)"

/* A client still works if its own port is in use or not permitted: docs/peer.md, "When it does not work". */
static void taken(struct o2_commands_run *run, struct o2_wrong *wrong)
{
	static const char *const commands[] = {"ping", "put", "get", "lst"};
	struct o2_choice *c = run->c;
	const size_t which = o2_draw_pick(c, 4);
	const uint32_t port = 1 + (uint32_t)o2_draw(c, UINT16_MAX - 1);
	const bool verbose = o2_draw_bool(c, 1, 2);

	wrong->listen_errno = o2_draw_bool(c, 1, 1) ? EADDRINUSE : EACCES;
	o2_commands_words(run, commands[which]);
	o2_commands_words(run, "--device=loop --nid=10.77.3.4@o2ib --count=1");
	o2_command_word(&run->command, "--port=%" PRIu32, port);
	o2_command_word_if(&run->command, verbose, "--verbose");
	o2_commands_words(run, which == 3 ? PEER " ping" : PEER);
	o2_wrong_execute(&run->command, wrong);
	if (run->command.status != 0 ||
	    strstr(run->command.out, which == 0 ? " us, pid " : ": 1 done, 0 failed, ") == NULL)
		o2_commands_wrong(run, "status");
	if (verbose)
		o2_commands_complains(run, "o2ref: %s%" PRIu32 "%s, so the peer cannot connect to us\n",
				      wrong->listen_errno == EACCES ? "no permission to listen on port "
								    : "port ",
				      port, wrong->listen_errno == EACCES ? "" : " is taken");
	else
		o2_commands_complains(run, "%s", "");
}

/* Several operations are in flight; the failure reported is of one that waits for the peer's answer. */
static void move_in_vain(struct o2_commands_run *run, struct o2_wrong *wrong)
{
	static const char *const commands[] = {"ping", "put", "get"};
	struct o2_choice *c = run->c;
	const size_t which = o2_draw_pick(c, 3);
	const uint32_t count = 1 + (uint32_t)o2_draw(c, 19),
		       in_flight = 1 + (uint32_t)o2_draw(c, IN_FLIGHT - 2);
	const bool small = which == 0 || o2_draw_bool(c, 1, 1), read = which != 1;
	const uint32_t size = small ? 1 + (uint32_t)o2_draw(c, IMMEDIATE - 1)
				    : IMMEDIATE + 1 + (uint32_t)o2_draw(c, 100000);
	const uint32_t failed = which == 0 ? 1 : count < in_flight ? count : in_flight;
	char why[160];

	o2_commands_words(run, commands[which]);
	o2_commands_words(run, "--device=loop --nid=10.77.3.4@o2ib --timeout=1");
	o2_command_word(&run->command, "--count=%" PRIu32, count);
	if (which != 0) {
		o2_command_word(&run->command, "--size=%" PRIu32, size);
		o2_command_word(&run->command, "--in-flight=%" PRIu32, in_flight);
	}
	/* With few credits an operation waits for a credit only behind one that waits for the peer. */
	if (!small)
		o2_command_word(&run->command, "--queue-depth=%" PRIu64, 2 + o2_draw(c, 20));
	o2_commands_words(run, PEER);
	if (wrong->absent)
		snprintf(why, sizeof(why),
			 "no route, or nothing listens on that port (EHOSTUNREACH): " UNRESOLVED);
	else
		snprintf(why, sizeof(why),
			 "no answer in time (ETIMEDOUT): our deadline: waited # ms for %s, limit 1000 ms",
			 small && read ? "LNet's REPLY"
			 : small       ? "LNet's ACK"
			 : read	       ? "the peer's GET_DONE"
				       : "the peer's PUT_ACK");
	o2_wrong_execute(&run->command, wrong);
	if (run->command.status != 1)
		o2_commands_wrong(run, "status");
	o2_commands_complains(run, "o2ref: %s 0 at " PEER ": %s\n",
			      which == 0   ? "ping"
			      : which == 1 ? "PUT"
					   : "GET",
			      why);
	/* A single ping has no summary. */
	if (which == 0 && count == 1)
		o2_commands_says(run, "output", run->command.out, "%s", "");
	else
		o2_commands_says(run, "output", run->command.out,
				 "%s: 0 done, %" PRIu32 " failed, 0 bytes in # s: 0.0 MB/s, 0/s\n",
				 commands[which], failed);
}

/* The console of a test node, with which no session was made. */
static void ask_in_vain(struct o2_commands_run *run, struct o2_wrong *wrong)
{
	o2_commands_words(run, "lst --device=loop --nid=10.77.3.4@o2ib --timeout=1 " PEER " ping");
	o2_wrong_execute(&run->command, wrong);
	if (run->command.status != 1)
		o2_commands_wrong(run, "status");
	o2_commands_complains(
		run, "o2ref: " PEER ": make session: %s\n",
		wrong->absent ? "no route, or nothing listens on that port (EHOSTUNREACH): " UNRESOLVED
			      : "no answer in time (ETIMEDOUT): lst/rpc-timeout: timeout_ms is #, limit 1000 "
				"(Connection timed out); is lnet_selftest loaded there?\n"
				"o2ref: " PEER ": our session may remain on the node until its own timeout");
	o2_commands_says(run, "output", run->command.out,
			 "lst: 0 done, 0 failed, 0 bytes in # s: 0.0 MB/s, 0/s\n");
}

/* This failure says nothing about the protocol, so the status is 77. */
static void try_in_vain(struct o2_commands_run *run, struct o2_wrong *wrong)
{
	o2_commands_words(run, "conform --device=loop --nid=10.77.3.4@o2ib " PEER);
	o2_wrong_execute(&run->command, wrong);
	if (run->command.status != 77)
		o2_commands_wrong(run, "status");
	o2_commands_complains(run, "o2ref: GET of 3960 bytes at offset 0 ends with EHOSTUNREACH: " UNRESOLVED
				   "\n");
	o2_commands_says(run, "output", run->command.out, "%s", "");
}

static void check_lost(struct o2_commands_run *run, size_t which)
{
	static const char *const steps[] = {"make session", "add test", "counters", "run"};
	static const char lost[] = "o2ref: the device is lost: No such device\n";
	static const char interrupted[] = "o2ref: interrupted during step ";
	const size_t length = strlen(interrupted);
	const char *said = run->command.err, *rest = said + strlen(lost);
	static const char *const remains[] = {
		"\no2ref: " PEER ": our session may remain on the node until its own timeout\n",
		"\no2ref: " PEER ": our session may remain on the node for 100 s\n"};
	const bool began = which == 3 && strncmp(run->command.out, "lst: 0 ", 7) != 0;
	bool right = false;

	if (run->command.status != 1 || strncmp(said, lost, strlen(lost)) != 0) {
		o2_commands_wrong(run, "lost");
		return;
	}
	/* The device is lost before the test ends, so a step must be named; only its first may have no session. */
	for (size_t i = began ? 3 : 0; i < 4 && which == 3; i++)
		right |= strncmp(rest, interrupted, length) == 0 &&
			 strncmp(rest + length, steps[i], strlen(steps[i])) == 0 &&
			 strcmp(rest + length + strlen(steps[i]), remains[i > 0]) == 0;
	if (which < 3)
		right = *rest == '\0';
	else if (which == 4)
		right = strstr(rest, "o2ref: the device is lost\n") != NULL || strstr(rest, lost) != NULL;
	if (!right)
		o2_commands_wrong(run, "lost-where");
}

/* The device is lost at any time; the command must end without waiting for the rest. */
static void lose(struct o2_commands_run *run, struct o2_wrong *wrong)
{
	static const char *const lines[] = {
		"ping --count=1000000 --interval=0",
		"put --count=1000000 --size=5000",
		"get --count=1000000 --size=3000 --json",
		"lst --count=1000000 10.99.0.1@o2ib write",
		"conform --rounds=1000",
	};
	const size_t which = o2_draw_pick(run->c, 5);

	wrong->lost_after = 1 + (uint32_t)o2_draw(run->c, o2_draw_bool(run->c, 1, 1) ? 500 : 20);
	o2_commands_words(run, lines[which]);
	o2_commands_words(run, "--device=loop --nid=10.77.3.4@o2ib");
	if (which != 3)
		o2_commands_words(run, PEER);
	o2_wrong_execute(&run->command, wrong);
	check_lost(run, which);
}

void o2_commands_gone(struct o2_commands_run *run)
{
	static void (*const kinds[])(struct o2_commands_run * run, struct o2_wrong * wrong) = {
		taken, move_in_vain, ask_in_vain, try_in_vain, lose};
	static const uint32_t weights[] = {4, 4, 2, 2, 4};
	const size_t kind = o2_draw_weighted(run->c, weights, 5);
	struct o2_wrong wrong = {.in = O2_WRONG_NOWHERE};

	/* With a mute peer the command waits for its timeout, one second. */
	wrong.mute = (kind == 1 || kind == 2) && o2_draw_bool(run->c, 1, 1);
	wrong.absent = kind != 0 && kind != 4 && !wrong.mute;
	run->tally.seen[wrong.mute     ? O2_COMMANDS_MUTE
			: wrong.absent ? O2_COMMANDS_ABSENT
			: kind == 4    ? O2_COMMANDS_DEVICE_LOST
				       : O2_COMMANDS_PORT_TAKEN]++;
	kinds[kind](run, &wrong);
}
