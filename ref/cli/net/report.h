/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_REPORT_H
#define O2_CLI_NET_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "cli/net/options.h"
#include "lnd/conn/transfer.h"

/* Totals of a run of operations. */
struct o2_net_report {
	uint64_t started_ns;
	uint64_t ended_ns;
	uint64_t next_progress_ns;
	uint64_t done;			 /* operations that succeeded */
	uint64_t failed;		 /* operations that failed */
	uint64_t bytes;			 /* moved by operations that succeeded */
	uint64_t min_ns, max_ns, sum_ns; /* durations of operations that succeeded */
	uint64_t verified;		 /* operations whose bytes were checked */
	uint64_t wrong;			 /* of these, those with wrong bytes */
	uint64_t not_told_apart;	 /* serve: those whose bytes may be right, or another PUT's */
	uint64_t short_ones;		 /* put, get: operations that moved less than was asked for */
};

void o2_net_report_done(struct o2_net_report *report, uint64_t bytes, uint64_t took_ns);

/* Print a line on stderr once a second, if options->progress is set. */
void o2_net_report_progress(struct o2_net_report *report, const struct o2_net_options *options,
			    uint64_t now_ns);

/* Print the summary, as text or JSON.  Returns status, or O2_CLI_USAGE after a line on stderr: memory ran out. */
int o2_net_report_print(const struct o2_net_report *report, const struct o2_net_options *options, int status);

/* One line on stderr if the run ended early although nothing failed: nothing else would say so. */
void o2_net_complain_ended(const struct o2_net_report *report, const struct o2_net_options *options);

/* Members that all commands have; NULL: memory ran out, which o2_net_print_json reports. */
json_t *o2_net_report_to_json(const struct o2_net_report *report, const struct o2_net_options *options);
/* Print the object and free it.  Returns status, or O2_CLI_USAGE after a line on stderr: it is NULL, or too large. */
int o2_net_print_json(json_t *object, int status);
/* The same; with --judge o2_net_judging_end does it, and adds the findings. */
int o2_net_report_json(json_t *object, const struct o2_net_options *options, int status);

/* What an errno, of ours or of the peer's, means for an operation. */
const char *o2_net_meaning(int status);

/*
 * One line on stderr for an operation that failed.  what: "PUT" and so on; fault: what is known about the
 * failure, with side O2_FAULT_NONE if that is nothing; rejects: of o2_net_rejects_text.
 */
void o2_net_complain_failed(const char *what, uint64_t number, uint64_t nid, int status,
			    const struct o2_transfer_fault *fault, const char *rejects);

/* One line on stderr for a connection that has ended or could not be made. */
void o2_net_complain_down(uint64_t nid, const struct o2_transfer_fault *fault);

#endif
