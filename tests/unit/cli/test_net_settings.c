/* SPDX-License-Identifier: MIT */

/* Each option of a network command changes the setting of the node or connection that it names (docs/peer.md). */

#include <string.h>

#include "cli/net/options.h"
#include "cli/net/session.h"
#include "tests/lib/unit_test.h"

/* The configuration that the command put with these options gives its own node. */
static struct o2_node_config node_of(const char *line)
{
	struct o2_net_options options;
	char copy[500], *argv[20], *save = NULL;
	int argc = 0;

	snprintf(copy, sizeof(copy), "put %s 10.77.0.2@o2ib", line);
	for (char *word = strtok_r(copy, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	assert_true(o2_net_options_read(argc, argv, &options) > 0);
	return o2_net_node_config(&options);
}

TEST(each_option_is_the_setting_that_it_names)
{
	const struct o2_node_config node =
		node_of("--queue-depth 77 --max-frags 256 --timeout 3 --ack-timeout 11 "
			"--retries 2 --rnr-retries 4 --checksum signed --port 1234 "
			"--tolerate-immediate-checksum");

	assert_int_equal(node.conn.queue_depth, 77);
	assert_int_equal(node.conn.max_frags, 256);
	assert_int_equal(node.conn.wire.max_frags, 256);
	assert_int_equal(node.conn.timeout_ms, 3000);
	assert_int_equal(node.resolve_timeout_ms, 3000);
	assert_int_equal(node.conn.ack_timeout, 11);
	assert_int_equal(node.conn.retry_count, 2);
	assert_int_equal(node.conn.rnr_retry_count, 4);
	assert_int_equal(node.conn.cksum_flavour, O2_CKSUM_SIGNED);
	assert_false(node.conn.cksum_auto);
	assert_true(node.conn.wire.tolerate_immediate_checksum);
	assert_int_equal(node.port, 1234);
	assert_true(node.listen);
}

/* The defaults of --help: 8 credits, 257 fragments, no checksums, 50 s, and 2.1 s for an acknowledgement. */
TEST(without_options_it_is_what_the_page_says)
{
	const struct o2_node_config node = node_of("");

	assert_int_equal(node.conn.queue_depth, 8);
	assert_int_equal(node.conn.max_frags, 257);
	assert_int_equal(node.conn.wire.max_frags, 257);
	assert_int_equal(node.conn.timeout_ms, 50000);
	assert_true(node.resolve_timeout_ms < 50000);
	assert_int_equal(node.conn.ack_timeout, 19);
	assert_int_equal(node.conn.retry_count, 5);
	assert_int_equal(node.conn.rnr_retry_count, 6);
	assert_int_equal(node.conn.cksum_flavour, O2_CKSUM_NONE);
	assert_false(node.conn.cksum_auto);
	assert_false(node.conn.wire.tolerate_immediate_checksum);
	assert_int_equal(node.port, 987);
}

/* The limits allow for our operations in flight plus those of the peer, both under way and waiting. */
TEST(what_is_in_flight_may_wait)
{
	const struct o2_node_config node = node_of("--in-flight 255");

	assert_true(node.conn.max_transfers >= 255 + 2 * 255);
	assert_int_equal(node.max_waiting, node.conn.max_transfers);
}

TEST(sums_may_be_learnt)
{
	assert_true(node_of("--checksum auto").conn.cksum_auto);
}
