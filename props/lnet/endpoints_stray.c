/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/lnet/endpoints_internal.h"
#include "wire/nid.h"

/*
 * Headers addressed to another endpoint, or not from the connection's peer (docs/peer.md).  Those that no
 * correct peer sends end the connection; all others are dropped without any other effect.
 */

/* *expected: the rule that the header breaks, with its figures.  Returns the code that it is answered with. */
static int foretell(const struct o2_endpoints_seat *seat, const struct o2_lnet_hdr *hdr, uint64_t nid,
		    bool optimised, struct o2_error *expected)
{
	const uint64_t own = seat->lnet_config.nid;
	const uint64_t network = hdr->dest_nid >> 32;

	*expected = (struct o2_error){.field = "dest_nid", .value = hdr->dest_nid, .limit = own};
	if (hdr->dest_nid != own && (optimised || network >> 16 == O2_LND_LO || network == own >> 32)) {
		expected->rule = "lnet/header/dest-nid";
		return -EPROTO;
	}
	if (hdr->dest_nid != own) {
		expected->rule = "lnet/header/not-routed";
		return -ENODATA;
	}
	*expected = (struct o2_error){.field = "src_nid", .value = hdr->src_nid, .limit = nid};
	if (hdr->src_nid != nid) {
		expected->rule = "lnet/header/src-nid";
		return -ENODATA;
	}
	*expected = (struct o2_error){
		.rule = "lnet/header/type", .field = "type", .value = hdr->type, .limit = O2_LNET_REPLY};
	return -EPROTO;
}

void o2_endpoints_stray_differs(const struct o2_endpoints *endpoints, const char *what,
				const struct o2_error *error, const struct o2_error *expected)
{
	o2_report_fail(endpoints->report, "endpoint/stray",
		       "%s: %s, %s %" PRIu64 " and %" PRIu64 ", expected %s, %s %" PRIu64 " and %" PRIu64,
		       what, error->rule == NULL ? "nothing" : error->rule,
		       error->field == NULL ? "" : error->field, error->value, error->limit, expected->rule,
		       expected->field, expected->value, expected->limit);
}

bool o2_endpoints_stray_is(const struct o2_error *error, const struct o2_error *expected)
{
	return error->rule != NULL && strcmp(error->rule, expected->rule) == 0 &&
	       strcmp(error->field, expected->field) == 0 && error->value == expected->value &&
	       error->limit == expected->limit;
}

struct o2_error o2_endpoints_unknown_handle(uint64_t number)
{
	return (struct o2_error){
		.rule = "lnet/unknown-handle", .field = "dst_wmd", .value = number, .limit = O2_NO_LIMIT};
}

int o2_endpoints_deliver_stray(struct o2_endpoints_seat *seat, uint64_t nid, const struct o2_lnet_hdr *hdr,
			       bool by_rdma, struct o2_error *error)
{
	static const uint8_t payload[2 * O2_MSG_BYTES];
	struct o2_lnet *lnet = seat->endpoint.lnet;
	int rc;

	seat->stray = (struct o2_endpoints_stray){.expected = true};
	if (by_rdma)
		rc = o2_lnet_match(lnet, nid, hdr, &seat->stray.memory, &seat->stray.tag, error);
	else
		rc = o2_lnet_receive(lnet, nid, hdr, payload, error);
	seat->stray.expected = false;
	return rc;
}

void o2_endpoints_stray(struct o2_endpoints *endpoints)
{
	struct o2_choice *c = endpoints->choice;
	struct o2_endpoints_seat *seat = &endpoints->seat[o2_draw_pick(c, endpoints->nseats)];
	const uint64_t own = seat->lnet_config.nid;
	const uint64_t nid = o2_endpoints_nid(endpoints, (seat->index + 1) % endpoints->nseats);
	const uint64_t nids[] = {own,
				 nid,
				 own + 7,
				 own + (UINT64_C(1) << 32),
				 o2_nid_make(O2_LND_LO, 0, 0),
				 o2_nid_make(O2_LND_TCP, 0, 1)};
	struct o2_lnet_hdr hdr = {.dest_nid = nids[o2_draw(c, 5)],
				  .src_nid = o2_draw_bool(c, 1, 1) ? nid : nids[o2_draw(c, 5)],
				  .type = (uint32_t)o2_draw(c, O2_LNET_HELLO + 1)};
	const bool matched = o2_draw_bool(c, 1, 1) && hdr.type != O2_LNET_ACK;
	struct o2_error expected, error = {0};
	int due, rc;

	if (hdr.dest_nid == own && hdr.src_nid == nid && hdr.type <= O2_LNET_REPLY)
		return;
	if (!seat->open)
		return;
	due = foretell(seat, &hdr, nid, matched && hdr.type == O2_LNET_GET, &expected);
	rc = o2_endpoints_deliver_stray(seat, nid, &hdr, matched, &error);
	o2_endpoints_seen(endpoints,
			  due == -EPROTO ? O2_ENDPOINTS_SEEN_STRAY_REFUSED : O2_ENDPOINTS_SEEN_STRAY_DROPPED);
	/* A dropped header does not end the connection, but a request for memory is answered. */
	if (rc != (due == -EPROTO || matched ? due : 0))
		o2_report_fail(endpoints->report, "endpoint/stray", "it is answered %d, expected %d by %s",
			       rc, due, expected.rule);
	else if (seat->stray.dropped != (due != -EPROTO))
		o2_report_fail(endpoints->report, "endpoint/stray", "it is %sdropped, rule %s",
			       seat->stray.dropped ? "" : "not ", expected.rule);
	else if (seat->stray.dropped && !o2_endpoints_stray_is(&seat->stray.error, &expected))
		o2_endpoints_stray_differs(endpoints, "dropped", &seat->stray.error, &expected);
	else if (rc != 0 && !o2_endpoints_stray_is(&error, &expected))
		o2_endpoints_stray_differs(endpoints, "refused", &error, &expected);
}
