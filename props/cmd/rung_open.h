/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUNG_OPEN_H
#define O2_PROPS_RUNG_OPEN_H

#include "props/cmd/options.h"
#include "props/world/held.h"
#include "props/world/rung.h"

/*
 * Split DEV or DEV,DEV2 of a command line into names; the second is NULL if there is none. The names lie in the
 * returned copy, which the caller frees. Exits when memory runs out.
 */
char *o2_rung_device_names(const char *devices, const char *name[2]);

/*
 * The devices that the command line names, DEV (returned twice) or DEV,DEV2, and their GID index. Also stored in
 * a->run for reports. Valid until the next call.
 */
void o2_rung_devices(struct o2_props_arguments *a, const char *device[2], uint8_t *gid_index);

/*
 * Opens rungs of the command line, one at a time: --device model, loop, DEV or DEV,DEV2, with --connect. Accounts for
 * the device resources that are held, and stores what reports need in arguments->run. Exits with a usage error if
 * --device and --connect do not fit. open_network: the program's function for ends that a connection manager connects.
 */
struct o2_rung_account {
	struct o2_rung_source base;
	struct o2_props_arguments *arguments; /* borrowed */
	o2_network_open_fn open_network;
	struct o2_held before, most, theirs; /* theirs: held by processes that have ended */
	int ended;			     /* status of the first process that ended wrongly */
	struct o2_error error;
};

/* Begin an account; the process must not hold anything of a device yet. */
void o2_rung_account(struct o2_props_arguments *a, o2_network_open_fn open_network,
		     struct o2_rung_account *account);

/*
 * After everything is closed, check that no more is held of the device than before. A difference becomes a finding
 * of result (NULL: no result). Returns status, or 1 if there is a finding and status is 0.
 */
int o2_rung_settle(const struct o2_rung_account *account, json_t *result, int status);

#endif
