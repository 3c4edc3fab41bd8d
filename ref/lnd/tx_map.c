/* SPDX-License-Identifier: MIT */
#include "lnd/conn_internal.h"
#include "mem/virtual_range.h"

/* The mapping of a transmit's memory: made when it starts, undone once, when it ends. */

/* The stages up to the plan, in the connection's scratch. */
static int plan(struct o2_conn *conn, const struct o2_tx *tx, const struct o2_transfer_memory *memory,
		struct o2_error *error)
{
	struct o2_ni *ni = conn->ni;
	struct o2_scratch *scratch = &conn->scratch;
	struct o2_address_space space = o2_arena_space(&ni->arena);
	struct o2_reg_request request = {
		.mode = memory->mode,
		.side = tx->side,
		.page_bytes = space.page_bytes,
		.max_pages = O2_MAX_FRAGS,
		.peer_max_frags = tx->side == O2_SINK ? o2_sink_frags(conn) : conn->config.max_frags,
	};
	int rc = o2_sg_build(&memory->buffer, &space, O2_MAX_FRAGS, &scratch->sg, error);

	if (rc == 0)
		rc = o2_dma_map(&scratch->sg, &ni->domain.dma, &scratch->dma, error);
	if (rc != 0)
		return rc;
	if (memory->by_policy)
		rc = o2_reg_choose(&ni->domain.caps, &ni->config.policy, scratch->dma.count, &request.mode,
				   error);
	if (rc != 0)
		return rc;
	/* Without being asked to collapse a list, mode fmr treats each as if it had gaps. */
	request.gaps = scratch->sg.gaps || (request.mode == O2_REG_FMR && ni->domain.fmr_per_segment);
	request.iova = memory->iova;
	if (request.mode == O2_REG_USER)
		request.contiguous = o2_virtual_range(&memory->buffer, &request.iova);
	return o2_reg_plan(&request, &scratch->dma, &scratch->reg, error);
}

int o2_tx_check(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
		struct o2_error *error)
{
	return plan(conn, tx, memory, error);
}

int o2_tx_map(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
	      struct o2_error *error)
{
	struct o2_ni *ni = conn->ni;
	struct o2_scratch *scratch = &conn->scratch;
	int rc = plan(conn, tx, memory, error);

	if (rc == 0)
		rc = o2_ledger_map(&ni->ledger, scratch->sg.count, &tx->mapping, error);
	if (rc != 0)
		return rc;
	/* With nothing bound the kept ones would be waited for without end. */
	o2_reg_keep_windows(&ni->domain,
			    tx->owner == O2_TX_OURS && ni->domain.nbound > 0 ? ni->kept_windows : 0);
	rc = o2_reg_bind(&ni->domain, o2_ni_cpt(ni, conn->peer.nid), &scratch->reg, &tx->binding, error);
	if (rc != 0)
		return rc;
	o2_binding_desc(&tx->binding, &scratch->reg, &tx->desc);
	tx->nob_mapped = scratch->sg.nob;
	return 0;
}

/* The registration goes before the mapping under it; a transfer that failed to map has none. */
void o2_tx_unmap(struct o2_conn *conn, struct o2_tx *tx)
{
	struct o2_reg_domain *domain = &conn->ni->domain;
	const bool failed = tx->fault.code != 0;
	struct o2_error error;
	int rc;

	if (!failed)
		o2_reg_deliver(domain, &tx->binding, tx->nob);
	rc = o2_reg_unbind(domain, &tx->binding, failed, &error);
	if (rc != 0)
		o2_tx_fault_stage(tx, rc, &error);
	if (tx->mapping.ledger == NULL)
		return;
	o2_ledger_unmap(&conn->ni->ledger, &tx->mapping, NULL);
}
