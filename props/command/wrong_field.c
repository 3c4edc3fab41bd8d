/* SPDX-License-Identifier: MIT */
/* A peer with one wrong field in what it says. */
#include <assert.h>
#include <string.h>

#include "props/command/wrong.h"
#include "props/model/wire_model.h"
#include "props/world/receives.h"
#include "wire/layout.h"

#define LST_TYPE_AT 8u /* docs/lst.md, "The message" */

static struct o2_wrong *said;
static const struct o2_cm_ops *true_ops;

static void spoil(uint8_t *bytes)
{
	struct o2_wrong *wrong = said;
	uint8_t *at = bytes + wrong->at;

	if (wrong->answered <= wrong->from || wrong->answered - wrong->from > wrong->answers)
		return;
	if (wrong->spares > 0) {
		wrong->spares--;
		return;
	}
	if (wrong->told == wrong->most)
		return;
	wrong->told++;
	o2_wm_store(at, wrong->width, true,
		    wrong->value + (wrong->adds ? o2_wm_load(at, wrong->width, true) : 0));
	for (uint32_t i = 0; i < wrong->nmore; i++)
		o2_wm_store(bytes + wrong->more[i].at, wrong->more[i].width, true, wrong->more[i].value);
}

static int accept_wrongly(struct o2_cm_id *id, const struct o2_cm_param *param, struct o2_error *error)
{
	uint8_t bytes[O2_CM_REPLY_BYTES];
	struct o2_cm_param other = *param;

	assert(param->private_bytes <= sizeof(bytes));
	memcpy(bytes, param->private_data, param->private_bytes);
	other.private_data = bytes;
	said->answered++;
	if (said->in == O2_WRONG_REPLY)
		spoil(bytes);
	return true_ops->accept(id, &other, error);
}

static void reject_wrongly(struct o2_cm_id *id, const uint8_t *private_data, size_t private_bytes)
{
	uint8_t bytes[O2_CM_REJECT_BYTES];

	assert(private_bytes <= sizeof(bytes));
	memcpy(bytes, private_data, private_bytes);
	said->answered++;
	if (said->in == O2_WRONG_REJECT)
		spoil(bytes);
	true_ops->reject(id, bytes, private_bytes);
}

static bool is_meant(const uint8_t *bytes)
{
	if (said->in != O2_WRONG_MESSAGE || bytes[O2_AT_TYPE] != said->type)
		return false;
	if (said->type != O2_MSG_IMMEDIATE)
		return true;
	return o2_wm_load(bytes + O2_AT_LNET_HDR + O2_LNET_AT_TYPE, 4, true) == said->lnet_type &&
	       (said->lst_type == O2_WRONG_ANY ||
		o2_wm_load(bytes + O2_AT_PAYLOAD + LST_TYPE_AT, 4, true) == said->lst_type);
}

static int post_wrongly(void *context, struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
			const struct o2_rdma_desc *sink)
{
	uint8_t *bytes = o2_seen_posted(list);

	(void)context;
	(void)sink;
	if (bytes != NULL && is_meant(bytes))
		spoil(bytes);
	return ibv_post_send(qp, list, bad);
}

void o2_wrong_say(struct o2_wrong *wrong, struct o2_ni *ni, struct o2_cm *cm)
{
	static const struct o2_work_ops work_ops = {.post_send = post_wrongly};
	static struct o2_cm_ops ops;

	said = wrong;
	true_ops = cm->ops;
	ops = *true_ops;
	ops.accept = accept_wrongly;
	ops.reject = reject_wrongly;
	cm->ops = &ops;
	ni->config.work_ops = &work_ops;
}
