/* SPDX-License-Identifier: MIT */
#include "cli/cm.h"

#include <assert.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/reject.h"

#define MAD_BYTES	  256u
#define MAD_CLASS_CM	  7u
#define MAD_AT_CLASS	  1u
#define MAD_AT_ATTRIBUTE  16u
#define MAD_AT_DATA	  24u
#define AT_LOCAL_ID	  0u
#define AT_REMOTE_ID	  4u /* all but REQ */
#define REQ_AT_SERVICE_ID 8u
#define REQ_AT_QP	  32u
#define REQ_AT_PSN	  44u
#define REQ_AT_PRIVATE	  140u
#define REP_AT_QP	  12u
#define REP_AT_PSN	  20u
#define REP_AT_PRIVATE	  36u
#define REJ_AT_REASON	  10u
#define REJ_AT_PRIVATE	  84u
#define DATA_BYTES	  (MAD_BYTES - MAD_AT_DATA)

/* The RDMA CM puts a header with the addresses before the private data of services in its own id space. */
#define RDMA_SERVICE_MASK 0xffffffffff000000u
#define RDMA_SERVICE	  0x0000000001000000u
#define IP_CM_BYTES	  36u

/* Behind that header there is just room for a CONNREQ, and in a REJ for a padded reject record. */
static_assert(DATA_BYTES - REQ_AT_PRIVATE - IP_CM_BYTES == O2_AT_MAX_MSG_SIZE + 4, "a CONNREQ");
static_assert(DATA_BYTES - REJ_AT_PRIVATE == O2_REJECT_PRIVATE_BYTES, "a reject record");

static void set_private(struct o2_cm_mad *cm, const uint8_t *data, size_t at)
{
	cm->private_data = data + at;
	cm->private_bytes = DATA_BYTES - at;
}

static void read_request(struct o2_cm_mad *cm, const uint8_t *data)
{
	cm->service_id = o2_load64_be(data + REQ_AT_SERVICE_ID);
	cm->qp = o2_load32_be(data + REQ_AT_QP) >> 8;
	cm->psn = o2_load32_be(data + REQ_AT_PSN) >> 8;
	set_private(cm, data, REQ_AT_PRIVATE);
	if ((cm->service_id & RDMA_SERVICE_MASK) == RDMA_SERVICE && cm->private_data[0] == 0) {
		cm->private_data += IP_CM_BYTES;
		cm->private_bytes -= IP_CM_BYTES;
		cm->ip_cm_bytes = IP_CM_BYTES;
	}
}

bool o2_cm_parse(const uint8_t *mad, size_t length_bytes, struct o2_cm_mad *cm)
{
	const uint8_t *data;

	memset(cm, 0, sizeof(*cm));
	if (length_bytes < MAD_BYTES || mad[MAD_AT_CLASS] != MAD_CLASS_CM)
		return false;
	data = mad + MAD_AT_DATA;
	cm->kind = o2_load16_be(mad + MAD_AT_ATTRIBUTE);
	cm->local_id = o2_load32_be(data + AT_LOCAL_ID);
	if (cm->kind != O2_CM_REQ)
		cm->remote_id = o2_load32_be(data + AT_REMOTE_ID);
	switch (cm->kind) {
	case O2_CM_REQ:
		read_request(cm, data);
		break;
	case O2_CM_REP:
		cm->qp = o2_load32_be(data + REP_AT_QP) >> 8;
		cm->psn = o2_load32_be(data + REP_AT_PSN) >> 8;
		set_private(cm, data, REP_AT_PRIVATE);
		break;
	case O2_CM_REJ:
		cm->reason = o2_load16_be(data + REJ_AT_REASON);
		set_private(cm, data, REJ_AT_PRIVATE);
		break;
	default:
		break;
	}
	return true;
}

const char *o2_cm_kind_name(uint16_t kind)
{
	static const char *const names[] = {"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP"};

	return kind >= O2_CM_REQ && kind <= O2_CM_DREP ? names[kind - O2_CM_REQ] : NULL;
}

const char *o2_cm_reason_name(uint16_t reason)
{
	switch (reason) {
	case 4:
		return "timeout";
	case 8:
		return "invalid service id";
	case 10:
		return "stale connection";
	case O2_CM_REASON_CONSUMER:
		return "consumer";
	default:
		return NULL;
	}
}
