/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUNG_OPEN_H
#define O2_PROPS_RUNG_OPEN_H

#include "props/cmd/options.h"
#include "props/world/held.h"
#include "props/world/rung.h"

/*
 * DEV or DEV,DEV2 of a command line: the names, the second one NULL where there is none, in a copy that this
 * returns and the caller frees.  Exits when there is no memory for it.
 */
char *o2_rung_device_names(const char *devices, const char *name[2]);

/*
 * The devices that the command line names, DEV (twice) or DEV,DEV2, and their GID; reports get to know them
 * (a->run).  They are valid until the next call.
 */
void o2_rung_devices(struct o2_props_arguments *a, const char *device[2], uint8_t *gid_index);

/*
 * The rung that the command line wants: --device model, loop, DEV or DEV,DEV2, and --connect.  Fills in what
 * reports need to know of it (a->run); exits with a usage error when the two do not go together.
 * open_network: of this program, for ends that are connected by a connection manager.
 * Returns 0, or -errno of o2_rung_open_model and its like.
 */
int o2_rung_open(struct o2_props_arguments *a, o2_network_open_fn open_network, struct o2_rung **rung,
		 struct o2_error *error);

/* Opens such rungs, one at a time, and keeps account of what was held of the device. */
struct o2_rung_account {
	struct o2_rung_source base;
	struct o2_props_arguments *arguments; /* borrowed */
	o2_network_open_fn open_network;
	struct o2_held before, most, theirs; /* theirs: of processes that have ended */
	int ended;			     /* how the first of them did that ended as it should not */
	struct o2_error error;
};

/* An account of a process that holds nothing of a device yet. */
void o2_rung_account(struct o2_props_arguments *a, o2_network_open_fn open_network,
		     struct o2_rung_account *account);

/*
 * All is closed: is what is held of the device what was held before?  What is wrong becomes a finding of
 * result (NULL: there is none).  Returns status; 1 with a finding where that is 0.
 */
int o2_rung_settle(const struct o2_rung_account *account, json_t *result, int status);

#endif
