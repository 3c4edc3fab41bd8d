/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUNG_H
#define O2_PROPS_RUNG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "lnd/conn/transfer.h"
#include "mem/dma_map.h"
#include "props/scenario/scenario.h"
#include "props/world/held.h"
#include "props/world/network.h"

/*
 * A rung: something that a scenario can be run on.  0: plans applied to arrays; 1 and 2: the transport on a
 * verbs device, loopverbs or soft-RoCE (docs/properties.md, "Rungs").
 */

/* What one end saw of a transfer. */
struct o2_observed_end {
	bool involved; /* it took part: the initiator always; the other side once it was asked and accepted */
	int status;
	uint64_t nob;
	struct o2_transfer_fault fault;
	bool mapped; /* when it was told so its memory was still the device's */
};

struct o2_observed {
	bool stuck; /* neither end made progress and no result came */
	bool local; /* refused before any message: initiator.status is what o2_conn_put or o2_conn_get
		       returned */
	struct o2_observed_end initiator;
	struct o2_observed_end responder;
	uint32_t queue_depth; /* of the connection; 0: the rung has always the same */
	uint32_t nfrags;      /* of the sink's descriptor, 0 when there was none */
	uint32_t nwr;
	/* scenario.stale_key: it was tried, and the sink's device admitted the write. */
	bool stale_tried;
	bool stale_admitted;
	/* A rule of the judge that the conversation has broken, and how; NULL: none, or it was not heard. */
	const char *broken;
	struct o2_error judged;
};

struct o2_rung;
struct o2_image;
struct o2_far_config;

struct o2_rung_ops {
	const char *name;
	bool has_depths; /* its connections have different queue depths */
	bool has_keys;	 /* a sink's key can be tried when the transfer is over */
	bool reconnects; /* connections that work are closed and made again, once in 32 transfers or oftener
			  */
	/* The memory of a side for an address kind; O2_SCENARIO_PAGES pages. */
	struct o2_arena *(*arena)(struct o2_rung *rung, enum o2_side side, enum o2_dma_kind kind);
	/*
	 * Optional.  What that memory must hold (props/scenario/image.h), by side; until the rung is closed.  A
	 * rung whose ends do not see this memory has them fill theirs alike.
	 */
	void (*images)(struct o2_rung *rung, struct o2_image *const image[2]);
	/*
	 * Run it.  Returns 0 when *observed was filled, or -errno when the rung itself failed (a device that
	 * went away); *error then says how.
	 */
	int (*transfer)(struct o2_rung *rung, const struct o2_scenario *scenario,
			struct o2_observed *observed, struct o2_error *error);
	/*
	 * Optional.  Between transfers: bring what the ends hold here that transfer did not, to compare all of it.
	 * 0 or -errno.
	 */
	int (*fetch)(struct o2_rung *rung, struct o2_error *error);
	/* Between transfers: has everything been handed back, on both sides and at the device?  0, or -EBUSY
	 * with *error naming what was not, what there is and what there should be. */
	int (*check_idle)(struct o2_rung *rung, struct o2_error *error);
	/* The account of both sides' mappings, all kinds together: balanced between transfers. */
	void (*ledger)(struct o2_rung *rung, struct o2_dma_ledger *ledger);
	/*
	 * Optional.  After the last transfer: what the rung has in other processes is closed, and they end.
	 * What they held of the device is added to the three.  Returns 0, or -errno with *error when one of
	 * them ended as it should not.
	 */
	int (*end_processes)(struct o2_rung *rung, struct o2_held *before, struct o2_held *most,
			     struct o2_held *after, struct o2_error *error);
	void (*close)(struct o2_rung *rung);
};

struct o2_rung {
	const struct o2_rung_ops *ops;
	uint64_t connections; /* made so far */
	/* An end is on another machine: one rung for a whole run, because it takes long to open; its device counts
	 * packets there. */
	bool elsewhere;
	bool over; /* nothing can be run on it any more, and a finding has said why */
};

/* Whoever can open a rung again after it was closed. */
struct o2_rung_source {
	int (*open)(struct o2_rung_source *source, struct o2_rung **rung, struct o2_error *error);
	void (*close)(struct o2_rung_source *source, struct o2_rung *rung);
};

/* Rung 0. */
int o2_rung_open_model(struct o2_rung **rung, struct o2_error *error);

/*
 * Rungs 1 and 2: both ends in this process, source_device and sink_device by name (they may be the same).
 */
int o2_rung_open_verbs(const char *source_device, const char *sink_device, uint8_t gid_index,
		       struct o2_rung **rung, struct o2_error *error);

/*
 * The same rungs with nodes at both ends, which find each other through the connection manager.  Connections
 * are closed and made again now and then.
 */
struct o2_rung_nodes_config {
	const char *device[2]; /* by side; of two addresses */
	uint8_t gid_index;
	o2_network_open_fn open_network;
	bool processes; /* each end in a process of its own; no device may be open here */
	/* One of the ends on another machine (props/world/far.h), the other as above; NULL: none.  Outlives the rung. */
	const struct o2_far_config *far;
};

int o2_rung_open_nodes(const struct o2_rung_nodes_config *config, struct o2_rung **rung,
		       struct o2_error *error);

#endif
