/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_REPORT_H
#define O2_CLI_NET_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "cli/net/options.h"
#include "lnd/conn/transfer.h"

/* What a run of operations came to. */
struct o2_net_report {
	uint64_t started_ns;
	uint64_t ended_ns;
	uint64_t next_progress_ns;
	uint64_t done;			 /* operations that went well */
	uint64_t failed;		 /* that did not */
	uint64_t bytes;			 /* of those that went well */
	uint64_t min_ns, max_ns, sum_ns; /* how long they took */
	uint64_t verified;		 /* whose bytes were looked at */
	uint64_t wrong;			 /* and were not right */
	uint64_t not_told_apart;	 /* serve: that may be right, or another PUT's */
	uint64_t short_ones;		 /* put, get: that moved less than was asked for */
};

void o2_net_report_done(struct o2_net_report *report, uint64_t bytes, uint64_t took_ns);

/* Once a second, if options say so: a line on stderr. */
void o2_net_report_progress(struct o2_net_report *report, const struct o2_net_options *options,
			    uint64_t now_ns);

/* The summary, in words or as JSON.  Returns status, or O2_CLI_USAGE after a line on stderr: memory ran out. */
int o2_net_report_print(const struct o2_net_report *report, const struct o2_net_options *options, int status);

/* One line on stderr if it ended before its time and nothing failed, so that nothing else says why. */
void o2_net_complain_ended(const struct o2_net_report *report, const struct o2_net_options *options);

/* What of it all commands have; NULL when memory runs out, and print says so.  print frees it. */
json_t *o2_net_report_to_json(const struct o2_net_report *report, const struct o2_net_options *options);
int o2_net_print_json(json_t *object, int status);

/* What an errno, of ours or the peer's, means here. */
const char *o2_net_meaning(int status);

/*
 * One line on stderr for an operation that failed.  what: "PUT" and so on; fault: what is known of
 * it, side O2_FAULT_NONE if that is nothing.
 */
void o2_net_complain_failed(const char *what, uint64_t number, uint64_t nid, int status,
			    const struct o2_transfer_fault *fault);

/* One line on stderr for a connection that has ended or could not be made. */
void o2_net_complain_down(uint64_t nid, const struct o2_transfer_fault *fault);

#endif
