/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "props/check/check_internal.h"

/* The edits of the encode vectors (corpus/vectors/README.md): members of a message that get other values. */

static const struct o2_field of_case[] = {
	{O2_FIELD("capacity_bytes", UINT, struct o2_case_msg_encode, capacity_bytes)},
	{O2_FIELD("order", UINT, struct o2_case_msg_encode, msg.order)},
	{O2_FIELD("cksum_flavour", UINT, struct o2_case_msg_encode, msg.cksum_flavour)},
	{O2_FIELD("ibm_version", UINT, struct o2_case_msg_encode, msg.ibm_version)},
	{O2_FIELD("ibm_type", UINT, struct o2_case_msg_encode, msg.ibm_type)},
	{O2_FIELD("ibm_srcnid", UINT, struct o2_case_msg_encode, msg.ibm_srcnid)},
	{O2_FIELD("ibm_dstnid", UINT, struct o2_case_msg_encode, msg.ibm_dstnid)},
	{O2_FIELD("ibcm_status", INT, struct o2_case_msg_encode, msg.u.completion.ibcm_status)},
	{0},
};
static const struct o2_field of_hdr[] = {
	{O2_FIELD("type", UINT, struct o2_lnet_hdr, type)},
	{O2_FIELD("payload_length", UINT, struct o2_lnet_hdr, payload_length)},
	{0},
};
static const struct o2_field of_desc[] = {
	{O2_FIELD("rd_nfrags", UINT, struct o2_rdma_desc, rd_nfrags)},
	{0},
};
static const struct o2_field of_frag[] = {
	{O2_FIELD("rf_nob", UINT, struct o2_rdma_frag, rf_nob)},
	{O2_FIELD("rf_addr", UINT, struct o2_rdma_frag, rf_addr)},
	{0},
};

static bool set(const struct o2_field *field, void *holder, const char *name, size_t length, uint64_t value)
{
	for (; holder != NULL && field->name != NULL; field++)
		if (strlen(field->name) == length && strncmp(field->name, name, length) == 0) {
			o2_field_set(field, holder, value);
			return true;
		}
	return false;
}

static bool edit(struct o2_case_msg_encode *encode, const char *name, const json_t *number)
{
	const uint64_t value = json_is_string(number) ? strtoull(json_string_value(number), NULL, 16)
						      : (uint64_t)json_integer_value(number);
	const size_t length = strcspn(name, ".");
	const unsigned long index = name[length] == '.' ? strtoul(name + length + 1, NULL, 10) : 0;
	struct o2_lnet_hdr *hdr = (struct o2_lnet_hdr *)(uintptr_t)o2_msg_lnet_hdr(&encode->msg);
	struct o2_rdma_desc *desc = (struct o2_rdma_desc *)(uintptr_t)o2_msg_desc(&encode->msg);

	return set(of_case, encode, name, length, value) || set(of_hdr, hdr, name, length, value) ||
	       set(of_desc, desc, name, length, value) ||
	       (desc != NULL && index < O2_MAX_FRAGS &&
		set(of_frag, &desc->rd_frags[index], name, length, value));
}

bool o2_check_edit(struct o2_case_msg_encode *encode, const json_t *edits)
{
	const json_t *number;
	const char *name;

	json_object_foreach((json_t *)(uintptr_t)edits, name, number)
		if (!edit(encode, name, number))
			return false;
	return encode->msg.order <= O2_BIG_ENDIAN && encode->msg.cksum_flavour <= O2_CKSUM_UNVERIFIED;
}
