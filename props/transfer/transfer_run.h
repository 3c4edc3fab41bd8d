/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TRANSFER_RUN_H
#define O2_PROPS_TRANSFER_RUN_H

#include <jansson.h>

#include "props/engine/property.h"
#include "props/transfer/transfer.h"

/* The property transfer for the runner (props/engine/run.h), its counters, and export of its cases to files. */

/* The property that moved buffers are byte-exact (props/transfer/transfer.h); the caller keeps *run. */
struct o2_property o2_transfer_property(struct o2_transfer_run *run);

/*
 * Write random cases to files in directory, each named after its contents, e.g.
 * put-fmr-to-global-iov-kiov-4097-bytes-2-on-3.  Transfers above max_nob are left out.  Returns 0 or -errno.
 */
int o2_run_export(const struct o2_transfer_run *run, const char *directory, uint64_t seed, uint64_t cases,
		  uint64_t max_nob);

/* The counters of a run, as functions of struct o2_property_ops: their context is the struct o2_transfer_run. */

/* Add the counters of a run to the result object. */
void o2_counters_to_json(const void *transfer, const struct o2_run_options *options, json_t *result);

/*
 * Names of the situations that a run of this size must meet but did not: a new array, empty when all were
 * met.  packets_sent: from the device's own counters, UINT64_MAX when it has none.
 */
json_t *o2_counters_missing(const void *transfer, uint64_t packets_sent);

/* One line "N cases, N moved ...". */
void o2_counters_line(const void *transfer, double seconds, char *text, size_t text_bytes);

/* The name of a form of messages, as in the counters: "big_endian_sum_signed". */
const char *o2_counters_form(enum o2_byte_order order, enum o2_cksum_flavour flavour);

#endif
