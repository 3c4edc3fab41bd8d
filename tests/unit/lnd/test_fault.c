/* SPDX-License-Identifier: MIT */
/* The text of a fault: every kind of end has a different text. */

#include "lnd/conn/fault.h"
#include "tests/lib/unit_test.h"
#include "wire/reject.h"

static void assert_text(const struct o2_transfer_fault *fault, const char *expected)
{
	char text[400];
	int length = o2_fault_text(fault, text, sizeof(text));

	assert_string_equal(text, expected);
	assert_int_equal(length, strlen(expected));
	/* A buffer that is too short: the text is cut, and nothing is written past the end. */
	memset(text, 'x', sizeof(text));
	assert_int_equal(o2_fault_text(fault, text, 5), length);
	assert_memory_equal(text, expected, 4);
	assert_true(text[4] == '\0' && text[5] == 'x');
}

struct row {
	struct o2_transfer_fault fault;
	const char *text;
};

static struct o2_error error_of(int code, const char *rule, const char *field, uint64_t value, uint64_t limit)
{
	struct o2_error error;

	o2_refuse_value(&error, code, rule, field, value, limit);
	return error;
}

/* Checks a fault as the connection's own, and as the fault of an operation that ends with the connection. */
static void assert_words(const struct row *row)
{
	const struct o2_transfer_fault closed = o2_fault_closed(&row->fault);
	char text[400];

	if (row->fault.side != O2_FAULT_NONE)
		assert_text(&row->fault, row->text);
	assert_int_equal(closed.side, O2_FAULT_CLOSED);
	assert_int_equal(closed.code, -ECONNABORTED);
	assert_int_equal(closed.closed_by, row->fault.side);
	snprintf(text, sizeof(text), "the connection has ended: %s", row->text);
	assert_text(&closed, text);
	/* A fault derived from a derived fault still names the original side. */
	assert_int_equal(o2_fault_closed(&closed).closed_by, row->fault.side);
}

TEST(each_end_has_its_words)
{
	const struct row rows[] = {
		{{.side = O2_FAULT_NONE}, "we have ended the connection"},
		{{.side = O2_FAULT_LOCAL_STAGE,
		  .code = -ENOMEM,
		  .error = error_of(-ENOMEM, "conn/post-recv", "slot", 3, O2_NO_LIMIT)},
		 "refused here: conn/post-recv: slot is 3 (Cannot allocate memory)"},
		{{.side = O2_FAULT_LOCAL_COMPLETION, .code = -EIO, .wc_status = IBV_WC_REM_ACCESS_ERR},
		 "a work request of ours has failed: remote access error (status 10)"},
		{{.side = O2_FAULT_PEER_STATUS,
		  .code = -ENODATA,
		  .error = error_of(-ENODATA, "transfer/peer-status", "-ibcm_status", 61, O2_NO_LIMIT)},
		 "the peer reports a failure: transfer/peer-status: -ibcm_status is 61 (No data available)"},
		{{.side = O2_FAULT_PEER_MESSAGE,
		  .code = -EPROTO,
		  .error = error_of(-EPROTO, "conn/credits-over-depth", "ibm_credits", 9, 8)},
		 "the peer has broken a rule: conn/credits-over-depth: ibm_credits is 9, limit 8 (Protocol "
		 "error)"},
		{o2_fault_local_close(-ESTALE),
		 "we have closed the connection: conn/closed: errno is 116 (Stale file handle)"},
		{o2_fault_late(O2_WAIT_GET_DONE, -ETIMEDOUT, "conn/deadline", 50012, 50000),
		 "our deadline: waited 50012 ms for the peer's GET_DONE, limit 50000 ms"},
		{{.side = O2_FAULT_PEER_CLOSED}, "the peer has ended the connection (DREQ)"},
		{{.side = O2_FAULT_REJECTED,
		  .code = -ECONNREFUSED,
		  .cm_reason = 28,
		  .reject_why = O2_REJECT_NO_RESOURCES},
		 "the peer has rejected the connection: no-resources (reason 2)"},
		/* A rule that only repeats the reason is left out. */
		{{.side = O2_FAULT_REJECTED,
		  .code = -ECONNREFUSED,
		  .cm_reason = 28,
		  .reject_why = O2_REJECT_FATAL,
		  .error = error_of(-ECONNREFUSED, "reject/why", "ibr_why", 3, O2_NO_LIMIT)},
		 "the peer has rejected the connection: fatal (reason 3)"},
		{{.side = O2_FAULT_REJECTED,
		  .code = -ECONNREFUSED,
		  .cm_reason = 28,
		  .reject_why = O2_REJECT_RDMA_FRAGS,
		  .error = error_of(-ECONNREFUSED, "reject/unusable-limit", "ibr_why", 6, 0)},
		 "the peer has rejected the connection: fragment-count (reason 6): reject/unusable-limit"},
		{{.side = O2_FAULT_REJECTED,
		  .code = -ECONNREFUSED,
		  .cm_reason = 3,
		  .error = error_of(-ECONNREFUSED, "reject/cm-reason", "cm reason", 3, O2_NO_LIMIT)},
		 "the connection was rejected: no resources available (connection manager's reason 3)"},
		{{.side = O2_FAULT_REJECTED, .code = -ECONNREFUSED, .cm_reason = 4},
		 "the connection was rejected: timeout (connection manager's reason 4)"},
		{{.side = O2_FAULT_REJECTED, .code = -ECONNREFUSED, .cm_reason = 0},
		 "the connection was rejected: unknown (connection manager's reason 0)"},
		{{.side = O2_FAULT_REJECTED, .code = -ECONNREFUSED, .cm_reason = 34, .reject_why = 200},
		 "the connection was rejected: unknown (connection manager's reason 34)"},
		{{.side = O2_FAULT_CONNECT,
		  .code = -EHOSTUNREACH,
		  .error = error_of(-EHOSTUNREACH, "cm/unresolved", "errno", 113, O2_NO_LIMIT)},
		 "no connection could be made: cm/unresolved: errno is 113 (No route to host)"},
		{{.side = O2_FAULT_DEVICE,
		  .code = -EIO,
		  .error = error_of(-EIO, "conn/poll", "ibv_poll_cq", 1, O2_NO_LIMIT)},
		 "the device is lost: conn/poll: ibv_poll_cq is 1 (Input/output error)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_words(&rows[i]);
	assert_text(&(struct o2_transfer_fault){.code = 0}, "no fault");
}

TEST(each_wait_has_its_words)
{
	for (int i = 0; i < O2_WAITS; i++) {
		assert_non_null(o2_wait_text((enum o2_wait)i));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(o2_wait_text((enum o2_wait)i), o2_wait_text((enum o2_wait)k));
	}
	assert_string_equal(o2_wait_text((enum o2_wait)O2_WAITS), o2_wait_text(O2_WAIT_NONE));
	for (uint32_t reason = 1; reason <= 33; reason++)
		assert_non_null(o2_cm_reason_text(reason));
	assert_null(o2_cm_reason_text(0));
	assert_null(o2_cm_reason_text(34));
}
