/* SPDX-License-Identifier: MIT */

#include "lnd/conn/transfer.h"
#include "tests/lib/unit_test.h"

/* The table of docs/transport.md, "Small and large", row by row. */
TEST(follows_the_table)
{
	static const struct {
		struct o2_lnd_question question;
		enum o2_lnd_form form;
	} rows[] = {
		{{O2_LNET_ACK, 0, 3976, false, false}, O2_FORM_IMMEDIATE},
		{{O2_LNET_ACK, 5000, 3976, false, true}, O2_FORM_IMMEDIATE},
		{{O2_LNET_PUT, 0, 3976, false, false}, O2_FORM_IMMEDIATE},
		{{O2_LNET_PUT, 0, 3976, false, true}, O2_FORM_IMMEDIATE},
		{{O2_LNET_PUT, 3976, 3976, false, false}, O2_FORM_IMMEDIATE},
		{{O2_LNET_PUT, 3977, 3976, false, false}, O2_FORM_PUT_REQ},
		{{O2_LNET_PUT, 1, 3976, false, true}, O2_FORM_PUT_REQ},
		{{O2_LNET_PUT, 3977, 3976, true, false}, O2_FORM_PUT_REQ},
		{{O2_LNET_REPLY, 3976, 3976, false, false}, O2_FORM_IMMEDIATE},
		{{O2_LNET_REPLY, 3977, 3976, false, false}, O2_FORM_PUT_REQ},
		{{O2_LNET_REPLY, 1, 3976, false, true}, O2_FORM_PUT_REQ},
		{{O2_LNET_GET, 0, 3976, false, false}, O2_FORM_IMMEDIATE},
		{{O2_LNET_GET, 0, 3976, false, true}, O2_FORM_IMMEDIATE},
		{{O2_LNET_GET, 3976, 3976, false, false}, O2_FORM_IMMEDIATE},
		{{O2_LNET_GET, 3977, 3976, false, false}, O2_FORM_GET_REQ},
		{{O2_LNET_GET, 1, 3976, false, true}, O2_FORM_GET_REQ},
		{{O2_LNET_GET, 3977, 3976, true, false}, O2_FORM_IMMEDIATE},
		{{O2_LNET_GET, 3977, 3976, true, true}, O2_FORM_IMMEDIATE},
		/* A peer that takes shorter messages than usual. */
		{{O2_LNET_PUT, 1928, 1928, false, false}, O2_FORM_IMMEDIATE},
		{{O2_LNET_PUT, 1929, 1928, false, false}, O2_FORM_PUT_REQ},
		{{O2_LNET_GET, 1929, 1928, false, false}, O2_FORM_GET_REQ},
	};

	assert_int_equal(O2_IMMEDIATE_MAX, 3976);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(o2_lnd_choose(&rows[i].question), rows[i].form);
}
