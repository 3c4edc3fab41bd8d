/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RUNG_SIDE_H
#define O2_PROPS_RUNG_SIDE_H

#include "lnd/conn/conn.h"
#include "lnd/ni/ni.h"
#include "props/world/judged.h"
#include "props/world/rung.h"

/* Converts one side of a scenario to parameters of the transport, for every rung that runs the transport. */

/* Small, so that the same elements are reused often. */
#define O2_RUNG_POOL_SIZE 4u

/* Enough for one transfer at a time. */
#define O2_RUNG_QUEUE_DEPTH 2u

/* A transfer that takes longer is stuck; soft-RoCE's own retries end long before. */
#define O2_RUNG_GIVE_UP_S 20

/* Device address of an arena's first page, for address kinds that have one. */
#define O2_RUNG_BUS_BASE UINT64_C(0x240000000)

const struct o2_scenario_side *o2_rung_side(const struct o2_scenario *scenario, enum o2_side side);

/* The side that starts the operation. */
enum o2_side o2_rung_initiator(const struct o2_scenario *scenario);

/* A side's memory in `arena`, of nob bytes; iov has room for O2_SCENARIO_PIECES and outlives *memory. */
void o2_rung_memory(const struct o2_scenario_side *side, const struct o2_arena *arena, uint64_t nob,
		    struct o2_iov *iov, struct o2_transfer_memory *memory);

/*
 * Configure the device's mapping calls, the modes that have variants, and the arena's views for the
 * scenario.  0, or -errno of o2_ni_set_bounce or o2_arena_map_view.
 */
int o2_rung_tell_device(const struct o2_scenario_side *side, struct o2_ni *ni, struct o2_error *error);

/* The scenario's limits for the connection, for o2_conn_set_limits. */
struct o2_conn_config o2_rung_limits(const struct o2_scenario *scenario);

/* The scenario's form of messages, for the watch of an end. */
struct o2_judged_form o2_rung_form(const struct o2_scenario *scenario);

/*
 * What this end has done since o2_rung_tell_device, for a transfer that moved its bytes; all of enum o2_way but
 * O2_WAY_FORMED.
 */
uint32_t o2_rung_ways(const struct o2_scenario *scenario, enum o2_side side, const struct o2_ni *ni);

/* Convert an operation's result to what the end that got it observed; ni: that end's interface. */
struct o2_observed_end o2_rung_saw(const struct o2_transfer_result *result, const struct o2_ni *ni);

/* Add one interface's ledger of mappings to the sum. */
void o2_rung_add_ledger(struct o2_dma_ledger *sum, const struct o2_dma_ledger *one);

/* Should the key that the sink of this GET publishes be tried after the GET has moved its bytes?  False where
 * keys stay alive (docs/modes.md). */
bool o2_rung_tries_key(const struct o2_scenario *scenario);

#endif
