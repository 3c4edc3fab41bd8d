/* SPDX-License-Identifier: MIT */
/* Which device a network command selects, and its errors: docs/peer.md, "When it does not work". */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/net/device.h"
#include "props/command/commands.h"
#include "props/command/net_process.h"
#include "wire/nid.h"

#define PEER	"10.99.0.1@o2ib"
#define DEVICES 2u

/* Devices of this process.  Their second GID is that of an IPv4 address. */
static const struct {
	const char *name, *address;
} devices[DEVICES] = {{"loop0", "10.77.0.1"}, {"loop1", "10.77.0.2"}};

/* Stop after the device was opened; its use is not tested here. */
static bool open_network(struct o2_net_options *options, uint32_t arena_pages, struct o2_net_network *network)
{
	struct o2_net_device device;

	(void)arena_pages;
	(void)network;
	if (o2_net_device_find(options->device, o2_nid_address(options->nid), &device))
		o2_cli_complain("found %s, GID %u, %u.%u.%u.%u", device.name, device.gid_index,
				device.address >> 24, device.address >> 16 & 0xff, device.address >> 8 & 0xff,
				device.address & 0xff);
	return false;
}

void o2_commands_device(struct o2_commands_run *run)
{
	static const struct o2_net_inside inside = {.open = open_network};
	static const char *const commands[] = {"ping", "put", "get", "serve"};
	static const char *const others[] = {"loop", "loop00", "loop2", "rxe0"};
	struct o2_choice *c = run->c;
	const size_t which = o2_draw_pick(c, 4);
	const bool named = o2_draw_bool(c, 1, 3), there = o2_draw_bool(c, 1, 3);
	const size_t device = named && there ? o2_draw_pick(c, DEVICES) : 0, kind = o2_draw_pick(c, 3);
	const char *name = there ? devices[device].name : others[o2_draw_pick(c, 4)];
	char other[32];

	/* Ask for no address, for the device's own, or for one that differs in a byte. */
	snprintf(other, sizeof(other), "%s", devices[device].address);
	if (kind == 2)
		snprintf(other, sizeof(other), "%u.%u.%u.%u", (unsigned int)(10 + o2_draw(c, 240)),
			 (unsigned int)o2_draw(c, 255), (unsigned int)(200 + o2_draw(c, 55)),
			 (unsigned int)o2_draw(c, 255));
	o2_commands_words(run, commands[which]);
	if (named)
		o2_command_word(&run->command, "--device=%s", name);
	if (kind != 0 || which == 3)
		o2_command_word(&run->command, "--nid=%s@o2ib", other);
	if (which != 3)
		o2_commands_words(run, PEER);
	run->tally.seen[O2_COMMANDS_DEVICE]++;
	o2_net_process(&run->command, &inside);
	if (run->command.status != 2)
		o2_commands_wrong(run, "status");
	if (named && !there)
		o2_commands_says(run, "device", run->command.err,
				 "o2ref: there is no RDMA device %s (there are: loop0, loop1)\n", name);
	else if (kind == 2)
		o2_commands_says(run, "device", run->command.err,
				 "o2ref: device %s does not have the address %s\n", devices[device].name,
				 other);
	else
		o2_commands_says(run, "device", run->command.err, "o2ref: found %s, GID 1, %s\n",
				 devices[device].name, devices[device].address);
}
