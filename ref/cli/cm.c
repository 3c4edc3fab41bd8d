/* SPDX-License-Identifier: MIT */
#include "cli/cm.h"

#include <string.h>

#include "cli/cm_layout.h"
#include "wire/bytes.h"

static void set_private(struct o2_cm_mad *cm, const uint8_t *data, size_t at)
{
	cm->private_data = data + at;
	cm->private_bytes = O2_MAD_DATA_BYTES - at;
}

static void read_request(struct o2_cm_mad *cm, const uint8_t *data)
{
	cm->service_id = o2_load64(data + O2_CM_REQ_AT_SERVICE_ID, O2_BIG_ENDIAN);
	cm->qp = o2_load32_be(data + O2_CM_REQ_AT_QP) >> 8;
	cm->psn = o2_load32_be(data + O2_CM_REQ_AT_PSN) >> 8;
	set_private(cm, data, O2_CM_REQ_AT_PRIVATE);
	if ((cm->service_id & O2_RDMA_SERVICE_MASK) == O2_RDMA_SERVICE && cm->private_data[0] == 0) {
		cm->private_data += O2_IP_CM_BYTES;
		cm->private_bytes -= O2_IP_CM_BYTES;
		cm->ip_cm_bytes = O2_IP_CM_BYTES;
	}
}

bool o2_cm_parse(const uint8_t *mad, size_t length_bytes, struct o2_cm_mad *cm)
{
	const uint8_t *data;

	memset(cm, 0, sizeof(*cm));
	if (length_bytes < O2_MAD_BYTES || mad[O2_MAD_AT_CLASS] != O2_MAD_CLASS_CM)
		return false;
	data = mad + O2_MAD_AT_DATA;
	cm->kind = o2_load16(mad + O2_MAD_AT_ATTRIBUTE, O2_BIG_ENDIAN);
	cm->local_id = o2_load32_be(data + O2_CM_AT_LOCAL_ID);
	if (cm->kind != O2_CM_REQ)
		cm->remote_id = o2_load32_be(data + O2_CM_AT_REMOTE_ID);
	switch (cm->kind) {
	case O2_CM_REQ:
		read_request(cm, data);
		break;
	case O2_CM_REP:
		cm->qp = o2_load32_be(data + O2_CM_REP_AT_QP) >> 8;
		cm->psn = o2_load32_be(data + O2_CM_REP_AT_PSN) >> 8;
		set_private(cm, data, O2_CM_REP_AT_PRIVATE);
		break;
	case O2_CM_REJ:
		cm->reason = o2_load16(data + O2_CM_REJ_AT_REASON, O2_BIG_ENDIAN);
		set_private(cm, data, O2_CM_REJ_AT_PRIVATE);
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
