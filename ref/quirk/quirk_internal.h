/* SPDX-License-Identifier: MIT */
#ifndef O2_QUIRK_QUIRK_INTERNAL_H
#define O2_QUIRK_QUIRK_INTERNAL_H

#include "quirk/quirk.h"

/* A message that is about to be posted.  Its RDMA WRITEs come before it in the list. */
struct o2_quirk_post {
	struct ibv_send_wr *list;
	struct ibv_send_wr *send;
	uint8_t *bytes;			 /* bytes of the message, without a gathered payload */
	const struct o2_rdma_desc *sink; /* as in struct o2_work_ops */
	struct ibv_sge sge[3];		 /* space for a new gather list */
};

/* quirk_post.c: each may change *post; the last one may change *wc. */
void o2_quirk_other_bytes(struct o2_quirk_post *post);
void o2_quirk_second_page(struct o2_quirk_post *post);
void o2_quirk_claim_short_get(struct o2_quirk_post *post);
void o2_quirk_swallow_refusal(struct o2_quirk_post *post);
void o2_quirk_fail_receive(struct ibv_wc *wc);

/* quirk_late.c: functions for struct o2_work_ops; context is a struct o2_quirks. */
int o2_quirk_poll_late(void *context, struct ibv_cq *cq, int count, struct ibv_wc *wc, uint64_t now_ms);
void o2_quirk_forget(void *context, struct ibv_cq *cq);

#endif
