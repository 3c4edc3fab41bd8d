/* SPDX-License-Identifier: MIT */
/* cmocka.h wants the others before it. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <string.h>

#include "base/monotonic.h"
#include "lnet/endpoint.h"
#include "props/hostile_net.h"
#include "props/mutant.h"
#include "wire/nid.h"

/*
 * The judge of peers that take no orders, tried on peers of this process: a strict one, some that tolerate
 * what they should not, and some that answer short.  They sit on the network that the judge opens, and are
 * driven when it drives that.
 */

#define PORTAL	   60u
#define MATCH_BITS 0x1234u
#define PEER_PAGES 16u
#define SERVED_AT  (2u * 4096u + 99u) /* behind LNet's own pages, with bytes before and after it */
#define TIMEOUT_MS 1000u	      /* after which the peer gives up one that is silent */
#define CLOSING_MS 1000u

/* --- the peer ----------------------------------------------------------------------------------------------
 */

struct stranger {
	struct o2_network network; /* first: what the judge sees */
	struct o2_network *below;
	struct o2_ni ni;
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
	struct o2_kiov kiov[PEER_PAGES];
};

/* How the next one is, and what it was asked for. */
static uint32_t serves_bytes, pings, ping_sink_bytes;
static bool garbles_pings;

static void note_done(void *context, const struct o2_lnet_result *result)
{
	(void)context;
	(void)result;
}

static void note_event(void *context, const struct o2_lnet_event *event)
{
	(void)context;
	if (event->kind != O2_LNET_EVENT_GET || event->hdr->msg.get.ptl_index != O2_PING_PORTAL)
		return;
	pings++;
	ping_sink_bytes = event->hdr->msg.get.sink_length;
}

static int offer(struct stranger *peer)
{
	struct o2_lnet_entry entry = {
		.portal = PORTAL,
		.match_bits = MATCH_BITS,
		.nid = O2_NID_ANY,
		.pid = O2_LNET_PID_ANY,
		.options = O2_LNET_MD_OP_GET | O2_LNET_MD_OP_PUT | O2_LNET_MD_MANAGE_REMOTE |
			   O2_LNET_MD_TRUNCATE,
		.uses = O2_LNET_USES_ENDLESS,
	};
	uint32_t count = 0;
	int rc;

	for (uint32_t at = SERVED_AT, left = serves_bytes; left > 0; count++) {
		uint32_t room = 4096 - at % 4096, length = left < room ? left : room;

		peer->kiov[count] = (struct o2_kiov){at / 4096, at % 4096, length};
		at += length;
		left -= length;
	}
	entry.memory = (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = count, .nob = serves_bytes, .kiov = peer->kiov},
		.mode = O2_REG_FMR};
	rc = o2_lnet_attach(peer->endpoint.lnet, &entry, NULL);
	if (rc >= 0 && garbles_pings)
		memset(peer->ni.arena.memory, 0x55, 48);
	return rc < 0 ? rc : 0;
}

static int open_peer(struct stranger *peer, struct o2_error *error)
{
	static const struct o2_lnet_ops ops = {.done = note_done, .event = note_event};
	struct o2_node_config node = O2_NODE_DEFAULTS;
	struct o2_lnet_config lnet = O2_LNET_DEFAULTS;
	uint32_t address = 0;
	struct o2_ni_config config = {.device = "loop0",
				      .port = 1,
				      .gid_index = 1,
				      .incarnation = o2_monotonic_ns(),
				      .dma_kind = O2_DMA_BUS,
				      .arena_pages = PEER_PAGES};
	int rc = o2_network_address("loop0", 1, &address, error);

	config.nid = o2_nid_make(O2_LND_O2IB, 0, address);
	if (rc == 0)
		rc = o2_ni_open(&config, &peer->ni, error);
	if (rc == 0)
		rc = peer->below->ops->attach(peer->below, &peer->ni, address, &peer->cm, error);
	node.conn.timeout_ms = TIMEOUT_MS;
	lnet.nid = config.nid;
	lnet.interface_cookie = 77;
	if (rc == 0)
		rc = o2_endpoint_open(&peer->ni, peer->cm, &node, &lnet, &ops, peer, &peer->endpoint, error);
	if (rc == 0)
		o2_endpoint_clock(&peer->endpoint, o2_monotonic_ms());
	return rc == 0 ? offer(peer) : rc;
}

static int attach(struct o2_network *network, const struct o2_ni *ni, uint32_t address, struct o2_cm **cm,
		  struct o2_error *error)
{
	struct stranger *peer = (struct stranger *)network;

	return peer->below->ops->attach(peer->below, ni, address, cm, error);
}

static void detach(struct o2_network *network, struct o2_cm *cm)
{
	struct stranger *peer = (struct stranger *)network;

	peer->below->ops->detach(peer->below, cm);
}

static int progress(struct o2_network *network)
{
	struct stranger *peer = (struct stranger *)network;
	int busy = peer->below->ops->progress(peer->below);

	o2_endpoint_clock(&peer->endpoint, o2_monotonic_ms());
	return busy + o2_endpoint_progress(&peer->endpoint);
}

static void close_network(struct o2_network *network)
{
	struct stranger *peer = (struct stranger *)network;

	o2_endpoint_close(&peer->endpoint);
	if (peer->cm != NULL)
		peer->below->ops->detach(peer->below, peer->cm);
	o2_ni_close(&peer->ni);
	peer->below->ops->close(peer->below);
	test_free(peer);
}

static int open_network(struct o2_network **network, struct o2_error *error)
{
	static const struct o2_network_ops ops = {
		.attach = attach, .detach = detach, .progress = progress, .close = close_network};
	struct stranger *peer = test_calloc(1, sizeof(*peer));
	int rc = o2_network_open_loop(&peer->below, error);

	peer->network.ops = &ops;
	if (rc == 0)
		rc = open_peer(peer, error);
	assert_int_equal(rc, 0);
	*network = &peer->network;
	return 0;
}

/* --- the judge ---------------------------------------------------------------------------------------------
 */

static struct o2_net_liar net;

static bool begin(enum o2_hostile_profile profile, char *why)
{
	uint32_t peer = 0, liar = 0;

	assert_int_equal(o2_network_address("loop0", 1, &peer, NULL), 0);
	assert_int_equal(o2_network_address("loop1", 1, &liar, NULL), 0);
	memset(&net, 0, sizeof(net));
	net.options = (struct o2_net_liar_options){
		.device = "loop1",
		.gid_index = 1,
		.peer = o2_nid_make(O2_LND_O2IB, 0, peer),
		.port = O2_SERVICE_PORT,
		.served = true,
		.portal = PORTAL,
		.match_bits = MATCH_BITS,
		.patience_ms = 3 * TIMEOUT_MS,
		.closing_ms = CLOSING_MS,
		.profile = profile,
		.open_network = open_network,
		.honest_address = liar + 100,
	};
	pings = ping_sink_bytes = 0;
	return o2_stranger_open(&net, why);
}

/* One misbehaviour at a fresh peer with that mutant ("none"). */
static enum o2_net_outcome try_at(enum o2_hostile_profile profile, const char *mutant, const char *name,
				  char *why)
{
	enum o2_net_outcome outcome;

	assert_int_equal(o2_mutant_select(mutant), 0);
	if (!begin(profile, why))
		fail_msg("%s, %s: %s", name, mutant, why);
	outcome = o2_stranger_try(&net, o2_misbehaviour_find(name), why);
	o2_stranger_close(&net);
	assert_int_equal(o2_mutant_select("none"), 0);
	return outcome;
}

static int reset(void **state)
{
	(void)state;
	serves_bytes = 12000;
	garbles_pings = false;
	return 0;
}

/* Nobody makes a peer start a GET, ask for a connection, or do what only a victim of ours is told to. */
static const char *const not_tried[] = {
	"no-checksum",	   "ack-for-get",     "nak-for-get",	    "answers-unsent",	  "get-done-twice",
	"gives-more",	   "huge-get-done",   "no-credit",	    "put-flood",	  "request-flood",
	"silent-to-get",   "into-slots",      "into-source",	    "replies-magic",	  "replies-request",
	"replies-version", "replies-depth-9", "replies-depth-1",    "replies-frags-258",  "replies-frags-0",
	"replies-large",   "replies-small",   "replies-to-another", "replies-other-life", NULL,
};

static bool is_not_tried(const char *name)
{
	for (const char *const *one = not_tried; *one != NULL; one++)
		if (strcmp(*one, name) == 0)
			return true;
	return false;
}

static void meets_all(enum o2_hostile_profile profile)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), wrong = 0, tried = 0;
	char why[O2_VICTIM_WHY_BYTES] = "";

	assert_true(begin(profile, why));
	for (size_t i = 0; i < count; i++) {
		enum o2_net_outcome outcome = o2_stranger_try(&net, &list[i], why);
		enum o2_net_outcome expected = is_not_tried(list[i].name) ? O2_NET_NOT_TRIED : O2_NET_MET;

		tried += outcome != O2_NET_NOT_TRIED;
		if (outcome == expected && (outcome == O2_NET_MET || strncmp(why, "needs ", 6) == 0))
			continue;
		print_message("%s: %d, %s\n", list[i].name, outcome, why);
		wrong++;
	}
	o2_stranger_close(&net);
	print_message("%zu of %zu tried, %zu not as expected\n", tried, count, wrong);
	assert_int_equal(wrong, 0);
	assert_int_equal(tried, count - (sizeof(not_tried) / sizeof(not_tried[0]) - 1));
}

static void a_strict_peer_meets_everything(void **state)
{
	(void)state;
	meets_all(O2_HOSTILE_STRICT);
}

/* What may be tolerated need not be. */
static void also_under_the_other_profile(void **state)
{
	(void)state;
	meets_all(O2_HOSTILE_KERNEL);
}

/* --- peers without a check ---------------------------------------------------------------------------------
 */

static void check_tolerant(const char *name, bool known)
{
	const struct o2_misbehaviour *what = o2_misbehaviour_find(name);
	char text[96], why[O2_VICTIM_WHY_BYTES] = "";
	const char *mutant = o2_misbehaviour_mutant(what, text);
	enum o2_net_outcome strict = try_at(O2_HOSTILE_STRICT, mutant, name, why);
	enum o2_net_outcome kernel;

	assert_int_equal(what->kernel_tolerates, known);
	print_message("%s, %s: %s\n", name, mutant, why);
	assert_int_equal(strict, O2_NET_NOT_MET);
	assert_true(why[0] != '\0' && strstr(why, "Success") == NULL);
	kernel = try_at(O2_HOSTILE_KERNEL, mutant, name, why);
	assert_int_equal(kernel, known ? O2_NET_TOLERATED : O2_NET_NOT_MET);
}

static void what_kernels_tolerate_is_told_apart(void **state)
{
	static const char *const names[] = {"get-in-put", "ack-empty-fragment", "puts-less",
					    "noop-storm", "after-done",		"asks-as-another"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_tolerant(names[i], true);
}

static void what_they_do_not_is_a_failure(void **state)
{
	static const char *const names[] = {"stale-sender", "before", "beyond", "asks-for-crumbs",
					    "asks-for-another"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_tolerant(names[i], false);
}

/* It is not enough that a kernel would: who has tolerated it must still work. */
static void a_peer_that_breaks_has_tolerated_nothing(void **state)
{
	char why[O2_VICTIM_WHY_BYTES] = "";

	(void)state;
	assert_int_equal(try_at(O2_HOSTILE_KERNEL, "deadline-ignored", "silent-after-ack", why),
			 O2_NET_NOT_MET);
}

/* --- the honest node ---------------------------------------------------------------------------------------
 */

static void pings_with_the_sink_of_lnet(void **state)
{
	char why[O2_VICTIM_WHY_BYTES] = "";

	(void)state;
	assert_true(begin(O2_HOSTILE_STRICT, why));
	o2_stranger_close(&net);
	assert_int_equal(pings, 1);
	assert_int_equal(ping_sink_bytes, 3960);
}

static void names_a_peer_that_answers_short(void **state)
{
	char why[O2_VICTIM_WHY_BYTES] = "";

	(void)state;
	serves_bytes = 5000;
	assert_false(begin(O2_HOSTILE_STRICT, why));
	o2_stranger_close(&net);
	print_message("%s\n", why);
	assert_non_null(strstr(why, "PUT of 9000 bytes"));
	assert_non_null(strstr(why, "5000 bytes"));
	assert_null(strstr(why, "Success"));
}

static void names_a_ping_that_says_nothing(void **state)
{
	char why[O2_VICTIM_WHY_BYTES] = "";

	(void)state;
	garbles_pings = true;
	assert_false(begin(O2_HOSTILE_STRICT, why));
	o2_stranger_close(&net);
	print_message("%s\n", why);
	assert_non_null(strstr(why, "3960 bytes"));
	assert_non_null(strstr(why, "48"));
	assert_non_null(strstr(why, "lnet/ping/magic"));
	assert_null(strstr(why, "Success"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_strict_peer_meets_everything, reset),
		cmocka_unit_test_setup(also_under_the_other_profile, reset),
		cmocka_unit_test_setup(what_kernels_tolerate_is_told_apart, reset),
		cmocka_unit_test_setup(what_they_do_not_is_a_failure, reset),
		cmocka_unit_test_setup(a_peer_that_breaks_has_tolerated_nothing, reset),
		cmocka_unit_test_setup(pings_with_the_sink_of_lnet, reset),
		cmocka_unit_test_setup(names_a_peer_that_answers_short, reset),
		cmocka_unit_test_setup(names_a_ping_that_says_nothing, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
