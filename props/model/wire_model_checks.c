/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "props/model/wire_model.h"

/* The rules of docs/wire.md on values, for decoding and encoding. */

#define MIB		  (UINT64_C(1) << 20)
#define STATUS_AT	  56u
#define LNET_TYPE_AT	  72u
#define PAYLOAD_LENGTH_AT 76u

/*
 * docs/wire.md, "What a refusal says": the field, and whether the limit is a bound, the only value, or not
 * comparable with the value.  The first row that a rule's name begins with applies.
 */
static const struct {
	const char *what, *field;
	enum o2_limit_kind kind;
} says[] = {
	{"short-for-", "length_bytes", O2_LIMIT_BOUND},
	{"magic", "ibm_magic", O2_LIMIT_EXACT},
	{"version", "ibm_version", O2_LIMIT_BOUND},
	{"nob-", "ibm_nob", O2_LIMIT_BOUND},
	{"checksum-absent", "ibm_cksum", O2_LIMIT_BOUND},
	{"checksum", "ibm_cksum", O2_LIMIT_EXACT},
	{"srcnid-", "ibm_srcnid", O2_LIMIT_OTHER},
	{"dstnid-", "ibm_dstnid", O2_LIMIT_OTHER},
	{"type", "ibm_type", O2_LIMIT_OTHER},
	{"lnet-type", "hdr.type", O2_LIMIT_OTHER},
	{"payload-missing", "payload", O2_LIMIT_BOUND},
	{"payload-not-zero", "hdr.payload_length", O2_LIMIT_EXACT},
	{"payload-", "hdr.payload_length", O2_LIMIT_BOUND},
	{"status-", "ibcm_status", O2_LIMIT_BOUND},
	{"nfrags-", "rd_nfrags", O2_LIMIT_BOUND},
	{"frag-addr-", "rd_frags[].rf_addr", O2_LIMIT_BOUND},
	{"frag-", "rd_frags[].rf_nob", O2_LIMIT_BOUND},
	{"max-frags", "max_frags", O2_LIMIT_BOUND},
	{"order", "order", O2_LIMIT_BOUND},
	{"cksum-flavour", "cksum_flavour", O2_LIMIT_BOUND},
	{"capacity", "capacity_bytes", O2_LIMIT_BOUND},
};

static void say(struct o2_wm_verdict *verdict, const char *where, const char *what)
{
	const char *owner = "", *field;
	size_t i = 0;

	while (strncmp(what, says[i].what, strlen(says[i].what)) != 0)
		i++;
	field = says[i].field;
	if (strncmp(field, "rd_", 3) == 0 && strcmp(where, "desc") != 0)
		owner = strcmp(where, "put_ack") == 0 ? "ibpam_rd." : "ibgm_rd.";
	if (strcmp(where, "desc") == 0 && strcmp(field, "ibm_nob") == 0)
		field = "length_bytes"; /* a bare descriptor has no header */
	snprintf(verdict->field, sizeof(verdict->field), "%s%s", owner, field);
	verdict->limit_kind = says[i].kind;
}

void o2_wm_refuse(struct o2_wm_verdict *verdict, const char *where, const char *what, uint32_t offset_bytes,
		  uint64_t value, uint64_t limit)
{
	*verdict = (struct o2_wm_verdict){
		.refused = true,
		.class = O2_CLASS_CONNECTION,
		.code = -EPROTO,
		.index = O2_NO_INDEX,
		.offset_bytes = offset_bytes,
		.value_known = true,
		.limit_known = true,
		.value = value,
		.limit = limit,
	};
	snprintf(verdict->rule, sizeof(verdict->rule), "wire/%s/%s", where, what);
	say(verdict, where, what);
}

/* docs/wire.md defines the value in a refusal of a NID, but not the limit. */
static bool refuse_nid(struct o2_wm_verdict *verdict, const char *what, uint32_t at, uint64_t nid)
{
	o2_wm_refuse(verdict, "header", what, at, nid, 0);
	verdict->limit_known = false;
	return false;
}

static bool check_nid(uint64_t nid, bool any_lnd, bool source, struct o2_wm_verdict *verdict)
{
	const uint32_t at = source ? 16 : 32;
	const uint32_t lnd = (uint32_t)(nid >> 48) & 0xff;
	const uint32_t address = (uint32_t)nid;

	if (source && nid == UINT64_MAX)
		return refuse_nid(verdict, "srcnid-wildcard", at, nid);
	if (nid >> 56 != 0)
		return refuse_nid(verdict, source ? "srcnid-top-byte" : "dstnid-top-byte", at, nid);
	if (lnd == 0xff)
		return refuse_nid(verdict, source ? "srcnid-lnd-any" : "dstnid-lnd-any", at, nid);
	if (lnd != 5 && !any_lnd)
		return refuse_nid(verdict, source ? "srcnid-lnd-foreign" : "dstnid-lnd-foreign", at, nid);
	if (address == 0)
		return refuse_nid(verdict, source ? "srcnid-address-zero" : "dstnid-address-zero", at, nid);
	if (address == UINT32_MAX)
		return refuse_nid(verdict, source ? "srcnid-address-ones" : "dstnid-address-ones", at, nid);
	return true;
}

bool o2_wm_check_nids(const struct o2_msg *msg, const struct o2_wire_options *options,
		      struct o2_wm_verdict *verdict)
{
	return check_nid(msg->ibm_srcnid, options->any_lnd, true, verdict) &&
	       check_nid(msg->ibm_dstnid, options->any_lnd, false, verdict);
}

static bool refuse_frag(struct o2_wm_verdict *verdict, const char *name, const char *what, uint32_t at,
			uint32_t index, uint64_t value, uint64_t limit)
{
	o2_wm_refuse(verdict, name, what, at + 12 * index, value, limit);
	verdict->index = index;
	return false;
}

bool o2_wm_check_desc(const struct o2_rdma_desc *desc, const char *name, uint32_t at, uint32_t max_frags,
		      uint64_t nob, uint32_t nob_at, struct o2_wm_verdict *verdict)
{
	const uint32_t n = desc->rd_nfrags;
	const struct o2_rdma_frag *frag = desc->rd_frags;
	uint64_t sum = 0;
	uint32_t i;

	if (n == 0 || n > max_frags) {
		o2_wm_refuse(verdict, name, n == 0 ? "nfrags-zero" : "nfrags-over-limit", at + 4, n,
			     n == 0 ? 1 : max_frags);
		return false;
	}
	if (nob < (uint64_t)at + 8 + 12 * (uint64_t)n) {
		o2_wm_refuse(verdict, name, "nob-under-frags", nob_at, nob,
			     (uint64_t)at + 8 + 12 * (uint64_t)n);
		return false;
	}
	for (i = 0; i < n; i++)
		if (frag[i].rf_nob == 0)
			return refuse_frag(verdict, name, "frag-nob-zero", at + 8, i, 0, 1);
	for (i = 0; i < n; i++)
		if (frag[i].rf_nob > MIB)
			return refuse_frag(verdict, name, "frag-nob-over-limit", at + 8, i, frag[i].rf_nob,
					   MIB);
	for (i = 0; i < n; i++) {
		sum += frag[i].rf_nob;
		if (sum > MIB)
			return refuse_frag(verdict, name, "frag-sum-over-limit", at + 8, i, sum, MIB);
	}
	for (i = 0; i < n; i++)
		if (UINT64_MAX - frag[i].rf_addr < frag[i].rf_nob)
			return refuse_frag(verdict, name, "frag-addr-wraps", at + 12, i, frag[i].rf_addr,
					   UINT64_MAX - frag[i].rf_nob);
	return true;
}

static bool check_payload(const struct o2_lnet_hdr *hdr, const struct o2_wm_type *type, uint64_t nob,
			  struct o2_wm_verdict *verdict)
{
	const bool carries = hdr->type == 1 || hdr->type == 3;

	if (!carries && hdr->payload_length != 0) {
		o2_wm_refuse(verdict, type->name, "payload-not-zero", PAYLOAD_LENGTH_AT, hdr->payload_length,
			     0);
		return false;
	}
	if (carries && hdr->payload_length > MIB) {
		o2_wm_refuse(verdict, type->name, "payload-over-limit", PAYLOAD_LENGTH_AT,
			     hdr->payload_length, MIB);
		return false;
	}
	if (type->type == 0xd1 && 120 + (uint64_t)hdr->payload_length > nob) {
		o2_wm_refuse(verdict, type->name, "payload-past-nob", PAYLOAD_LENGTH_AT, hdr->payload_length,
			     nob - 120);
		verdict->class = O2_CLASS_MESSAGE;
		return false;
	}
	return true;
}

bool o2_wm_check_body(const struct o2_msg *msg, const struct o2_wm_type *type,
		      const struct o2_wire_options *options, uint64_t nob, struct o2_wm_verdict *verdict)
{
	const struct o2_lnet_hdr *hdr = NULL;

	if (type->lnet_hdr != O2_WM_NONE)
		hdr = (const struct o2_lnet_hdr *)(const void *)((const uint8_t *)msg + type->lnet_hdr);
	if (hdr != NULL && (hdr->type > 4 || (type->lnet_types >> hdr->type & 1) == 0)) {
		o2_wm_refuse(verdict, type->name, "lnet-type", LNET_TYPE_AT, hdr->type, type->lnet_types);
		return false;
	}
	if (type->desc != O2_WM_NONE &&
	    !o2_wm_check_desc((const struct o2_rdma_desc *)(const void *)((const uint8_t *)msg + type->desc),
			      type->name, type->desc_at, options->max_frags, nob, 8, verdict))
		return false;
	if (type->has_status && msg->u.completion.ibcm_status > (int64_t)MIB) {
		o2_wm_refuse(verdict, type->name, "status-over-limit", STATUS_AT,
			     (uint64_t)msg->u.completion.ibcm_status, MIB);
		return false;
	}
	return hdr == NULL || check_payload(hdr, type, nob, verdict);
}
