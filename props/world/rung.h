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
 * A rung: an implementation on which a scenario can be run.  0: plans applied to arrays; 1 and 2: the
 * transport on a verbs device, loopverbs or soft-RoCE (docs/properties.md, "Rungs").
 */

/* A transfer as one end observed it. */
struct o2_observed_end {
	bool involved; /* it took part: always true of the initiator; of the other side once it was asked and
			  accepted */
	int status;
	uint64_t nob;
	struct o2_transfer_fault fault;
	bool mapped; /* its memory was still mapped when it was told the result */
};

/* What an end has done to serve a scenario, as it saw from outside of the stages. */
enum o2_way {
	O2_WAY_FORMED = 1,  /* messages in the scenario's byte order, with its kind of checksum */
	O2_WAY_BOUNCED = 2, /* its device's own memory holds the bytes */
	O2_WAY_STAGED = 4,  /* a contiguous region stood in for one with gaps */
	O2_WAY_KEPT = 8,    /* a region of mode fmr is still mapped */
	O2_WAY_KMAPPED = 16 /* the CPU mapped a page that has no mapping */
};

struct o2_observed {
	bool stuck; /* neither end made progress and no result came */
	bool local; /* refused before any message: initiator.status is what o2_conn_put or o2_conn_get
		       returned */
	struct o2_observed_end initiator;
	struct o2_observed_end responder;
	uint32_t queue_depth; /* the connection's; 0: the rung always uses the same */
	uint32_t nfrags;      /* of the sink's descriptor, 0 if there was none */
	uint32_t nwr;
	uint32_t ways[2]; /* by side: bits of enum o2_way */
	/* scenario.stale_key: the key was tried, and the sink's device admitted the write. */
	bool stale_tried;
	bool stale_admitted;
	/* A rule that the judge found broken in the conversation, and the details; NULL: none, or no judge
	 * listened. */
	const char *broken;
	struct o2_error judged;
};

struct o2_rung;
struct o2_image;
struct o2_far_config;

struct o2_rung_ops {
	const char *name;
	bool has_depths; /* its connections have different queue depths */
	bool has_keys;	 /* a sink's key can be tried after the transfer */
	bool has_ways;	 /* its ends report what they did: o2_observed.ways */
	bool reconnects; /* working connections are closed and made again, at least once in 32 transfers */
	/* The memory of a side for an address kind; O2_SCENARIO_PAGES pages. */
	struct o2_arena *(*arena)(struct o2_rung *rung, enum o2_side side, enum o2_dma_kind kind);
	/*
	 * Optional.  Images of what that memory must hold (props/scenario/image.h), by side, valid until the
	 * rung is closed.  A rung whose ends do not share this memory fills theirs in the same way.
	 */
	void (*images)(struct o2_rung *rung, struct o2_image *const image[2]);
	/*
	 * Run a scenario.  Returns 0 when *observed was filled, or -errno with *error when the rung itself
	 * failed (e.g. a device disappeared).
	 */
	int (*transfer)(struct o2_rung *rung, const struct o2_scenario *scenario,
			struct o2_observed *observed, struct o2_error *error);
	/*
	 * Optional.  Between transfers: copy here the ends' memory that transfer did not copy, to compare all
	 * of it.  0 or -errno.
	 */
	int (*fetch)(struct o2_rung *rung, struct o2_error *error);
	/* Between transfers: check that everything has been handed back, on both sides and at the device.  0,
	 * or -EBUSY with *error naming the object, its count and the expected count. */
	int (*check_idle)(struct o2_rung *rung, struct o2_error *error);
	/* The ledger of both sides' mappings, all kinds together: balanced between transfers. */
	void (*ledger)(struct o2_rung *rung, struct o2_dma_ledger *ledger);
	/*
	 * Optional.  After the last transfer: close the ends in other processes, and end these.  What they
	 * held of the device is added to *before, *most and *after.  Returns 0, or -errno with *error when
	 * one of them did not end as it should.
	 */
	int (*end_processes)(struct o2_rung *rung, struct o2_held *before, struct o2_held *most,
			     struct o2_held *after, struct o2_error *error);
	void (*close)(struct o2_rung *rung);
};

struct o2_rung {
	const struct o2_rung_ops *ops;
	uint64_t connections; /* number made so far */
	/* One end is on another machine: the run keeps one rung, because opening takes long, and packets are
	 * counted there. */
	bool elsewhere;
	bool over; /* the rung can run nothing more, and a finding says why */
};

/* Opens and closes a rung again and again. */
struct o2_rung_source {
	int (*open)(struct o2_rung_source *source, struct o2_rung **rung, struct o2_error *error);
	void (*close)(struct o2_rung_source *source, struct o2_rung *rung);
};

/* Open rung 0. */
int o2_rung_open_model(struct o2_rung **rung, struct o2_error *error);

/* Open rung 1 or 2: both ends in this process, source_device and sink_device by name (may be the same). */
int o2_rung_open_verbs(const char *source_device, const char *sink_device, uint8_t gid_index,
		       struct o2_rung **rung, struct o2_error *error);

/*
 * Rungs 1 and 2 with nodes at both ends, which find each other through the connection manager.  Connections
 * are closed and made again from time to time.
 */
struct o2_rung_nodes_config {
	const char *device[2]; /* by side; with different addresses */
	uint8_t gid_index;
	o2_network_open_fn open_network;
	bool processes; /* each end in its own process; no device may be open here */
	/* One end on another machine (props/world/far.h), the other as above; NULL: none.  Outlives the rung. */
	const struct o2_far_config *far;
};

int o2_rung_open_nodes(const struct o2_rung_nodes_config *config, struct o2_rung **rung,
		       struct o2_error *error);

#endif
