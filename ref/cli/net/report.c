/* SPDX-License-Identifier: MIT */
#include "cli/net/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_name.h"
#include "base/json.h"
#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/net/judging.h"
#include "cli/net/lst_node.h"
#include "wire/nid.h"

void o2_net_report_done(struct o2_net_report *report, uint64_t bytes, uint64_t took_ns)
{
	if (report->done == 0 || took_ns < report->min_ns)
		report->min_ns = took_ns;
	if (took_ns > report->max_ns)
		report->max_ns = took_ns;
	report->sum_ns += took_ns;
	report->bytes += bytes;
	report->done++;
}

static double seconds(const struct o2_net_report *report, uint64_t now_ns)
{
	/* Never 0, because rates are divided by this. */
	return (double)(now_ns - report->started_ns + 1) / O2_NS_PER_S;
}

void o2_net_report_progress(struct o2_net_report *report, const struct o2_net_options *options,
			    uint64_t now_ns)
{
	const double took = seconds(report, now_ns);

	if (!options->progress || now_ns < report->next_progress_ns)
		return;
	if (report->next_progress_ns != 0)
		fprintf(stderr, "%s: %" PRIu64 " done, %" PRIu64 " failed, %.1f MB/s, %.0f/s\n",
			o2_net_command_name(options->command), report->done, report->failed,
			(double)report->bytes / took / 1e6, (double)report->done / took);
	report->next_progress_ns = now_ns + O2_NS_PER_S;
}

static void print_words(const struct o2_net_report *report, const struct o2_net_options *options)
{
	const double took = seconds(report, report->ended_ns);

	printf("%s: %" PRIu64 " done, %" PRIu64 " failed, %" PRIu64 " bytes in %.3f s: %.1f MB/s, %.0f/s",
	       o2_net_command_name(options->command), report->done, report->failed, report->bytes, took,
	       (double)report->bytes / took / 1e6, (double)report->done / took);
	if (report->sum_ns > 0)
		printf("; %" PRIu64 "/%" PRIu64 "/%" PRIu64 " us (min/mean/max)",
		       report->min_ns / O2_NS_PER_US, report->sum_ns / report->done / O2_NS_PER_US,
		       report->max_ns / O2_NS_PER_US);
	putchar('\n');
	if (options->verify && options->command == O2_NET_SERVE)
		printf("verify: %" PRIu64 " checked, %" PRIu64 " wrong, %" PRIu64
		       " ambiguous (may be another PUT's)\n",
		       report->verified, report->wrong, report->not_told_apart);
	else if (options->verify)
		printf("verify: %" PRIu64 " checked, %" PRIu64 " wrong\n", report->verified, report->wrong);
	if (report->short_ones > 0)
		printf("short: %" PRIu64 "\n", report->short_ones);
}

json_t *o2_net_report_to_json(const struct o2_net_report *report, const struct o2_net_options *options)
{
	const double took = seconds(report, report->ended_ns);
	char form[32], nid[O2_NID_TEXT_BYTES];
	json_t *object;

	snprintf(form, sizeof(form), "o2ref/%s/output", o2_net_command_name(options->command));
	object = o2_json_form(form);
	o2_nid_to_text(options->nid, nid, sizeof(nid));
	object = o2_json_with(object, "nid", json_string(nid));
	if (options->command != O2_NET_SERVE) {
		o2_nid_to_text(options->peer, nid, sizeof(nid));
		object = o2_json_with(object, "peer", json_string(nid));
	}
	object = o2_json_with(object, "done", o2_json_length(report->done));
	object = o2_json_with(object, "failed", o2_json_length(report->failed));
	object = o2_json_with(object, "bytes", o2_json_length(report->bytes));
	object = o2_json_with(object, "seconds", json_real(took));
	object = o2_json_with(object, "bytes_per_second", json_real((double)report->bytes / took));
	object = o2_json_with(object, "operations_per_second", json_real((double)report->done / took));
	if (report->sum_ns > 0) {
		object = o2_json_with(object, "min_us", o2_json_length(report->min_ns / O2_NS_PER_US));
		object = o2_json_with(object, "mean_us",
				      o2_json_length(report->sum_ns / report->done / O2_NS_PER_US));
		object = o2_json_with(object, "max_us", o2_json_length(report->max_ns / O2_NS_PER_US));
	}
	object = o2_json_with(object, "verified", o2_json_length(report->verified));
	object = o2_json_with(object, "wrong", o2_json_length(report->wrong));
	if (options->command == O2_NET_SERVE)
		object = o2_json_with(object, "not_told_apart", o2_json_length(report->not_told_apart));
	else if (options->command != O2_NET_PING && options->command != O2_NET_LST)
		object = o2_json_with(object, "short", o2_json_length(report->short_ones));
	if (options->lst_node != NULL)
		object = o2_json_with(object, "lst", o2_net_lst_to_json(options->lst_node));
	return object;
}

int o2_net_print_json(json_t *object, int status)
{
	const bool good =
		object != NULL && json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0;

	json_decref(object);
	if (good) {
		putchar('\n');
		return status;
	}
	o2_cli_complain_json("");
	return O2_CLI_USAGE;
}

int o2_net_report_json(json_t *object, const struct o2_net_options *options, int status)
{
	if (options->judging == NULL)
		return o2_net_print_json(object, status);
	o2_net_judging_keep(options->judging, object);
	return status;
}

int o2_net_report_print(const struct o2_net_report *report, const struct o2_net_options *options, int status)
{
	if (options->json)
		return o2_net_report_json(o2_net_report_to_json(report, options), options, status);
	print_words(report, options);
	return status;
}

void o2_net_complain_ended(const struct o2_net_report *report, const struct o2_net_options *options)
{
	if (report->done < options->count && report->failed == 0)
		o2_cli_complain("ended after %" PRIu64 " of %" PRIu64 " operations", report->done,
				options->count);
}

const char *o2_net_meaning(int status)
{
	switch (-(int64_t)status) { /* status may be the peer's, and any number */
	case EHOSTUNREACH:
		return "no route, or nothing listens on that port";
	case ECONNREFUSED:
		return "the peer rejected the connection";
	case ETIMEDOUT:
		return "no answer in time";
	case ENODATA:
		return "no matching memory at that portal and match bits, or it is too small";
	case ECONNABORTED:
	case ECONNRESET:
	case ENOTCONN:
		return "the connection is gone";
	case ENETDOWN:
		return "it cannot be reached";
	case ENODEV:
		return "the device is lost";
	default:
		return strerror((int)-(int64_t)status);
	}
}

static const char *hint(const struct o2_transfer_fault *fault)
{
	return fault->tolerable ? "; --tolerate-immediate-checksum accepts it" : "";
}

void o2_net_complain_failed(const char *what, uint64_t number, uint64_t nid, int status,
			    const struct o2_transfer_fault *fault, const char *rejects)
{
	char text[O2_NID_TEXT_BYTES], name[O2_ERRNO_TEXT_BYTES], why[512] = "";

	o2_nid_to_text(nid, text, sizeof(text));
	if (fault->side != O2_FAULT_NONE)
		o2_fault_text(fault, why, sizeof(why));
	o2_cli_complain("%s %" PRIu64 " at %s: %s (%s)%s%s%s%s", what, number, text, o2_net_meaning(status),
			o2_errno_text(status, name), why[0] == '\0' ? "" : ": ", why, hint(fault), rejects);
}

void o2_net_complain_down(uint64_t nid, const struct o2_transfer_fault *fault)
{
	char text[O2_NID_TEXT_BYTES], why[512];

	o2_nid_to_text(nid, text, sizeof(text));
	o2_fault_text(fault, why, sizeof(why));
	o2_cli_complain("the connection with %s: %s%s", text, why, hint(fault));
}
