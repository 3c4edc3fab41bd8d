/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_LST_REPORT_H
#define O2_CLI_NET_LST_REPORT_H

#include "cli/net/report.h"
#include "lst/console.h"

/* What the command lst prints, as text and as JSON.  Source: docs/lst.md, "The command". */

/* Why a test has failed: what is known beyond the kind of the failure. */
void o2_net_lst_result_text(const struct o2_lst_test_result *result, char *text, size_t bytes);

/* A line on stderr for an RPC of the test that has failed. */
void o2_net_lst_complain(const struct o2_net_options *options, const struct o2_lst_console_result *result);

/* A line on stderr for a node that says that it is active, but has asked for nothing for that long. */
void o2_net_lst_complain_idle(const struct o2_net_options *options, uint64_t idle_ms);

/*
 * Lines on stderr if the session has failed, or may be left behind on the node.  fault: what is known about
 * the connection; its side is O2_FAULT_NONE if nothing is known.  rejects: of o2_net_rejects_text.
 */
void o2_net_lst_complain_session(const struct o2_net_options *options,
				 const struct o2_lst_console_report *session,
				 const struct o2_transfer_fault *fault, const char *rejects);

/* Until when another console's session of this timeout holds a node.  text: it may be written there. */
#define O2_NET_LST_UNTIL_BYTES 48u
const char *o2_net_lst_until(uint32_t timeout_s, char text[O2_NET_LST_UNTIL_BYTES]);

/* Print the summary, as text or as JSON.  Returns the exit status. */
int o2_net_lst_print_summary(const struct o2_net_options *options, const struct o2_net_report *report,
			     const struct o2_lst_console_report *session, int status);

#endif
