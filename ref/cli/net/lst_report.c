/* SPDX-License-Identifier: MIT */
#include "cli/net/lst_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/errno_name.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/monotonic.h"
#include "cli/cli.h"
#include "wire/nid.h"

#define TEXT_BYTES 512

void o2_net_lst_result_text(const struct o2_lst_test_result *result, char *text, size_t bytes)
{
	char name[O2_ERRNO_TEXT_BYTES];

	if (result->error != NULL)
		o2_error_text(result->error, text, bytes);
	else if (result->failure == O2_LST_FAILURE_STATUS)
		snprintf(text, bytes, "the node replied with status %s", o2_errno_text(result->status, name));
	else if (result->failure == O2_LST_FAILURE_DATA)
		snprintf(text, bytes,
			 "bytes %" PRIu32 " to %" PRIu32 " are 0x%016" PRIx64 ", not 0x%016" PRIx64,
			 result->wrong.at, result->wrong.at + 7, result->wrong.got, result->wrong.want);
	else if (result->failure == O2_LST_FAILURE_LENGTH)
		snprintf(text, bytes, "%" PRIu64 " bytes were moved", result->bytes);
	else if (result->failure == O2_LST_FAILURE_ANSWER)
		snprintf(text, bytes, "the reply does not match the request");
	else
		snprintf(text, bytes, "%s (%s)", o2_net_meaning(result->status),
			 o2_errno_text(result->status, name));
}

void o2_net_lst_complain(const struct o2_net_options *options, const struct o2_lst_console_result *result)
{
	const struct o2_lst_test_result failed = {.failure = result->failure,
						  .status = result->status,
						  .bytes = result->bytes,
						  .wrong = result->wrong,
						  .error = result->error};
	char nid[O2_NID_TEXT_BYTES], text[TEXT_BYTES];

	o2_nid_to_text(options->peer, nid, sizeof(nid));
	o2_net_lst_result_text(&failed, text, sizeof(text));
	o2_cli_complain("%s %" PRIu64 " at %s: %s: %s", o2_net_lst_test_names[options->test], result->number,
			nid, o2_lst_outcome_name(result->outcome), text);
}

void o2_net_lst_complain_idle(const struct o2_net_options *options, uint64_t idle_ms)
{
	char nid[O2_NID_TEXT_BYTES];

	o2_nid_to_text(options->peer, nid, sizeof(nid));
	o2_cli_complain("%s: %s: the node says that its test goes on, but has asked for nothing for %" PRIu64
			" s",
			nid, o2_lst_console_step_name(O2_LST_STEP_RUN), idle_ms / O2_MS_PER_S);
}

/* --- the session --- */

const char *o2_net_lst_until(uint32_t timeout_s, char text[O2_NET_LST_UNTIL_BYTES])
{
	if (timeout_s == 0)
		return "which has no timeout";
	snprintf(text, O2_NET_LST_UNTIL_BYTES, "until %" PRIu32 " s after its last request", timeout_s);
	return text;
}

/* Is the node in another session?  A connection may end with ESTALE as well. */
static bool is_owned(const struct o2_lst_console_report *session)
{
	return session->taken ||
	       (session->refused && session->status == -EBUSY && session->step == O2_LST_STEP_MAKE);
}

static void complain_owned(const char *nid, const struct o2_lst_console_report *session)
{
	char owner[O2_NID_TEXT_BYTES], until[O2_NET_LST_UNTIL_BYTES];

	o2_nid_to_text(session->owner.ses_nid, owner, sizeof(owner));
	if (session->status == -EBUSY)
		o2_cli_complain("%s is busy: it is in session '%.31s' of %s, %s (--force takes it)", nid,
				session->owner_name.text, owner,
				o2_net_lst_until(session->owner_timeout_s, until));
	else if (o2_lst_sid_is_none(session->owner))
		o2_cli_complain("%s: %s: our session no longer exists", nid,
				o2_lst_console_step_name(session->step));
	else
		o2_cli_complain("%s: %s: a session of %s has taken it from us", nid,
				o2_lst_console_step_name(session->step), owner);
}

/* A failure that nothing else explains. */
static void complain_failed(const char *nid, const struct o2_lst_console_report *session,
			    const struct o2_transfer_fault *fault, const char *rejects)
{
	char why[TEXT_BYTES] = "", name[O2_ERRNO_TEXT_BYTES];

	if (session->refused) {
		o2_cli_complain("%s: %s: the node replied with status %s", nid,
				o2_lst_console_step_name(session->step),
				o2_errno_text(session->status, name));
		return;
	}
	if (session->has_error)
		o2_error_text(&session->error, why, sizeof(why));
	else if (fault->side != O2_FAULT_NONE)
		o2_fault_text(fault, why, sizeof(why));
	o2_cli_complain("%s: %s: %s (%s)%s%s%s", nid, o2_lst_console_step_name(session->step),
			o2_net_meaning(session->status), o2_errno_text(session->status, name),
			why[0] == '\0' ? "" : ": ", why,
			rejects[0] != '\0' ? rejects
			: session->status == -ETIMEDOUT && session->step == O2_LST_STEP_MAKE
				? "; is lnet_selftest loaded there?"
				: "");
}

void o2_net_lst_complain_session(const struct o2_net_options *options,
				 const struct o2_lst_console_report *session,
				 const struct o2_transfer_fault *fault, const char *rejects)
{
	char nid[O2_NID_TEXT_BYTES];

	o2_nid_to_text(options->peer, nid, sizeof(nid));
	if (is_owned(session))
		complain_owned(nid, session);
	else if (session->status != 0 && (session->refused || session->status != -ECANCELED))
		complain_failed(nid, session, fault, rejects);
	if (session->left && session->made && session->session_timeout_s != 0)
		o2_cli_complain("%s: our session may remain on the node for %" PRIu32 " s", nid,
				session->session_timeout_s);
	else if (session->left)
		o2_cli_complain("%s: our session may remain on the node%s", nid,
				session->made ? ", without a timeout" : " until its own timeout");
}

/* --- the summary --- */

/* Counters of the node that show what it did for us. */
static const struct row {
	struct o2_field counter;
	const char *text;
} rows[] = {
	{{O2_FIELD("rpcs_rcvd", UINT, struct o2_lst_rpc_counters, rpcs_rcvd)}, "requests"},
	{{O2_FIELD("rpcs_dropped", UINT, struct o2_lst_rpc_counters, rpcs_dropped)}, "dropped"},
	{{O2_FIELD("errors", UINT, struct o2_lst_rpc_counters, errors)}, "errors"},
	{{O2_FIELD("bulk_put", LENGTH, struct o2_lst_rpc_counters, bulk_put)}, "bytes read from it"},
	{{O2_FIELD("bulk_get", LENGTH, struct o2_lst_rpc_counters, bulk_get)}, "bytes written to it"},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* The counters never restart at 0, and those of 32 bits wrap around. */
static uint64_t difference(const struct o2_lst_console_report *session, const struct row *row)
{
	const uint64_t more = o2_field_value(&row->counter, &session->after.str_rpc) -
			      o2_field_value(&row->counter, &session->before.str_rpc);

	return row->counter.width_bytes == sizeof(more) ? more : (uint32_t)more;
}

static void print_words(const struct o2_lst_console_report *session)
{
	const char *head = "failed: ";

	for (unsigned int i = O2_LST_FAIL_LOCAL; i < O2_LST_OUTCOMES; i++) {
		if (session->outcome[i] == 0)
			continue;
		printf("%s%" PRIu64 " %s", head, session->outcome[i], o2_lst_outcome_name(i));
		head = ", ";
	}
	if (*head == ',')
		putchar('\n');
	if (!session->has_before || !session->has_after)
		return;
	for (size_t i = 0; i < ROWS; i++)
		printf("%s%" PRIu64 " %s", i == 0 ? "the node counts: " : ", ", difference(session, &rows[i]),
		       rows[i].text);
	putchar('\n');
}

static json_t *session_to_json(const struct o2_lst_console_report *session)
{
	json_t *object = json_object();
	char text[O2_NID_TEXT_BYTES], name[O2_ERRNO_TEXT_BYTES];

	object = o2_json_with(object, "made", json_boolean(session->made));
	object = o2_json_with(object, "left", json_boolean(session->left));
	if (session->made)
		object = o2_json_with(object, "timeout_s", json_integer(session->session_timeout_s));
	if (session->status == 0)
		return object;
	object = o2_json_with(object, "failed_at", json_string(o2_lst_console_step_name(session->step)));
	object = o2_json_with(object, "status", json_string(o2_errno_text(session->status, name)));
	if (is_owned(session) && !o2_lst_sid_is_none(session->owner)) {
		o2_nid_to_text(session->owner.ses_nid, text, sizeof(text));
		object = o2_json_with(object, "owner", json_string(text));
	}
	return object;
}

static json_t *add_test(json_t *object, const struct o2_net_options *options)
{
	object = o2_json_with(object, "test", json_string(o2_net_lst_test_names[options->test]));
	if (options->reverse)
		object = o2_json_with(object, "reverse", json_true());
	object = o2_json_with(object, "concurrency", json_integer(options->concurrency));
	if (options->test == O2_NET_LST_PING)
		return object;
	object = o2_json_with(object, "size", json_integer(options->size_bytes));
	object = o2_json_with(object, "offset", json_integer((json_int_t)options->offset));
	return o2_json_with(object, "check", json_string(o2_net_lst_check_names[options->check]));
}

static json_t *failures_to_json(const struct o2_lst_console_report *session)
{
	json_t *object = json_object();

	for (unsigned int i = O2_LST_FAIL_LOCAL; i < O2_LST_OUTCOMES; i++)
		object = o2_json_with(object, o2_lst_outcome_name(i),
				      json_integer((json_int_t)session->outcome[i]));
	return object;
}

static json_t *counters_to_json(const struct o2_lst_console_report *session)
{
	json_t *object = json_object();

	for (size_t i = 0; i < ROWS; i++)
		object = o2_json_with(object, rows[i].counter.name,
				      json_integer((json_int_t)difference(session, &rows[i])));
	return object;
}

int o2_net_lst_print_summary(const struct o2_net_options *options, const struct o2_net_report *report,
			     const struct o2_lst_console_report *session, int status)
{
	json_t *object;

	if (!options->json) {
		status = o2_net_report_print(report, options, status);
		print_words(session);
		return status;
	}
	object = o2_net_report_to_json(report, options);
	object = add_test(object, options);
	object =
		o2_json_with(object, "canceled", json_integer((json_int_t)session->outcome[O2_LST_CANCELED]));
	object = o2_json_with(object, "failures", failures_to_json(session));
	object = o2_json_with(object, "session", session_to_json(session));
	if (session->has_before && session->has_after)
		object = o2_json_with(object, "node", counters_to_json(session));
	return o2_net_report_json(object, options, status);
}
