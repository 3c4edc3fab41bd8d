/* SPDX-License-Identifier: MIT */
#include "lnet/ping.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/msg.h"
#include "wire/nid.h"

#define AT_MAGIC    0u
#define AT_FEATURES 4u
#define AT_PID	    8u
#define AT_NNIS	    12u
/* Each interface has its NID, its status and 4 unused bytes. */
#define AT_NID	  0u
#define AT_STATUS 8u
static_assert(AT_NNIS + 4 == O2_PING_HEADER_BYTES && AT_STATUS + 4 + 4 == O2_PING_NI_BYTES,
	      "nothing follows");
static_assert(O2_PING_SINK_BYTES ==
		      O2_MSG_BYTES - O2_MSG_HEADER_BYTES - O2_LNET_HDR_BYTES - O2_PING_HEADER_BYTES,
	      "what fits into one IMMEDIATE, less a header");
static_assert(O2_PING_HEADER_BYTES + O2_PING_MAX_NIS * O2_PING_NI_BYTES <= O2_PING_SINK_BYTES,
	      "a sink holds all interfaces that are looked at");

struct o2_ping_info o2_ping_info_make(uint64_t nid, uint32_t pid, uint32_t features, uint32_t sequence)
{
	return (struct o2_ping_info){
		.features = features,
		.pid = pid,
		.nnis = 2,
		.ni = {{o2_nid_make(O2_LND_LO, 0, 0), sequence}, {nid, O2_PING_NI_UP}},
	};
}

int o2_ping_encode(const struct o2_ping_info *info, uint8_t *bytes, size_t capacity_bytes)
{
	const size_t length_bytes = O2_PING_HEADER_BYTES + (size_t)info->nnis * O2_PING_NI_BYTES;

	if (info->nnis > O2_PING_MAX_NIS || length_bytes > capacity_bytes)
		return -ENOSPC;
	memset(bytes, 0, length_bytes);
	o2_store32(bytes + AT_MAGIC, O2_LITTLE_ENDIAN, O2_PING_MAGIC);
	o2_store32(bytes + AT_FEATURES, O2_LITTLE_ENDIAN, info->features);
	o2_store32(bytes + AT_PID, O2_LITTLE_ENDIAN, info->pid);
	o2_store32(bytes + AT_NNIS, O2_LITTLE_ENDIAN, info->nnis);
	for (uint32_t i = 0; i < info->nnis; i++) {
		uint8_t *ni = bytes + O2_PING_HEADER_BYTES + (size_t)i * O2_PING_NI_BYTES;

		o2_store64(ni + AT_NID, O2_LITTLE_ENDIAN, info->ni[i].nid);
		o2_store32(ni + AT_STATUS, O2_LITTLE_ENDIAN, info->ni[i].status);
	}
	return (int)length_bytes;
}

int o2_ping_decode(const uint8_t *bytes, size_t length_bytes, struct o2_ping_info *info,
		   struct o2_error *error)
{
	enum o2_byte_order order = O2_LITTLE_ENDIAN;
	uint32_t present;

	memset(info, 0, sizeof(*info));
	if (length_bytes < O2_PING_HEADER_BYTES)
		return o2_refuse_value(error, -EPROTO, "lnet/ping/short", "length", length_bytes,
				       O2_PING_HEADER_BYTES);
	if (o2_load32_be(bytes + AT_MAGIC) == O2_PING_MAGIC)
		order = O2_BIG_ENDIAN;
	else if (o2_load32_le(bytes + AT_MAGIC) != O2_PING_MAGIC)
		return o2_refuse_other(error, -EPROTO, "lnet/ping/magic", "pi_magic",
				       o2_load32_le(bytes + AT_MAGIC), O2_PING_MAGIC);
	info->features = o2_load32(bytes + AT_FEATURES, order);
	info->pid = o2_load32(bytes + AT_PID, order);
	info->nnis = o2_load32(bytes + AT_NNIS, order);
	if ((info->features & O2_PING_NI_STATUS) == 0)
		return o2_limit_is(o2_refuse_value(error, -EPROTO, "lnet/ping/features", "pi_features",
						   info->features, O2_PING_NI_STATUS),
				   O2_LIMIT_OTHER, error);
	present = (uint32_t)((length_bytes - O2_PING_HEADER_BYTES) / O2_PING_NI_BYTES);
	if (present > info->nnis)
		present = info->nnis;
	if (present > O2_PING_MAX_NIS)
		present = O2_PING_MAX_NIS;
	for (uint32_t i = 0; i < present; i++) {
		const uint8_t *ni = bytes + O2_PING_HEADER_BYTES + (size_t)i * O2_PING_NI_BYTES;

		info->ni[i].nid = o2_load64(ni + AT_NID, order);
		info->ni[i].status = o2_load32(ni + AT_STATUS, order);
	}
	return (int)present;
}
