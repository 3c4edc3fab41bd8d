/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "props/lnet/endpoints_internal.h"
#include "wire/reject.h"

/*
 * What a case brings about between two endpoints, and how operations between them, and their connections, may
 * end because of it (docs/peer.md, "When it does not work"; docs/connection.md; docs/transport.md, "Errors").
 */

void o2_endpoints_blame(struct o2_endpoints *endpoints, uint32_t i, uint32_t j, enum o2_endpoints_cause cause)
{
	endpoints->cause[i][j] |= cause;
	endpoints->cause[j][i] |= cause;
	for (uint32_t n = 0; n < 2; n++) {
		struct o2_endpoints_seat *seat = &endpoints->seat[n == 0 ? i : j];

		for (uint32_t k = 0; k < seat->nops; k++)
			if (seat->op[k].to == (n == 0 ? j : i) && !o2_endpoints_over(&seat->op[k]))
				seat->op[k].causes |= cause;
	}
}

void o2_endpoints_blame_all(struct o2_endpoints *endpoints, uint32_t i, enum o2_endpoints_cause cause)
{
	for (uint32_t j = 0; j < endpoints->nseats; j++)
		if (j != i)
			o2_endpoints_blame(endpoints, i, j, cause);
}

void o2_endpoints_forgive(struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		for (uint32_t j = 0; j < endpoints->nseats; j++)
			endpoints->cause[i][j] = 0;
}

/* --- what that foretells --- */

#define STATUSES 4u

/*
 * An operation may end with one of these, and say that this side is to blame: for itself, or for the end of
 * its connection.  A connection may end with the same; in good order its code is 0.
 */
static const struct row {
	uint32_t causes; /* any of them */
	enum o2_fault_side side;
	int status[STATUSES];
} rows[] = {
	/* Who leaves, and who is told to close a peer, ends its own connections in good order, or with the
	 * code that it is given. */
	{O2_ENDPOINTS_BY_LEAVE | O2_ENDPOINTS_BY_CLOSE, O2_FAULT_NONE, {-ECONNABORTED, -ECONNRESET}},
	{O2_ENDPOINTS_BY_CLOSE, O2_FAULT_CLOSED, {-ECONNABORTED, -ECONNRESET}},
	/* The other end is told so ... */
	{O2_ENDPOINTS_ANY, O2_FAULT_PEER_CLOSED, {-ECONNABORTED, -ECONNRESET}},
	/* ... and before it was up it is told that its request, or its answer, was given up. */
	{O2_ENDPOINTS_ANY, O2_FAULT_REJECTED, {-ECONNRESET, -ECONNREFUSED, -ECONNABORTED}},
	{O2_ENDPOINTS_ANY, O2_FAULT_CONNECT, {-ECONNRESET, -ENOTCONN, -ECONNABORTED}},
	/* librdmacm finds that out as it takes the queue pair to RTS. */
	{O2_ENDPOINTS_ANY, O2_FAULT_LOCAL_STAGE, {-ECONNRESET, -ENOTCONN, -ECONNABORTED}},
	/* It may find a queue pair gone before that. */
	{O2_ENDPOINTS_ANY, O2_FAULT_LOCAL_COMPLETION, {-EIO, -ECONNABORTED}},
	/* Nobody listens where an endpoint is away, and where the network says so. */
	{O2_ENDPOINTS_BY_LEAVE | O2_ENDPOINTS_BY_NETWORK, O2_FAULT_REJECTED, {-EHOSTUNREACH}},
	{O2_ENDPOINTS_BY_NETWORK, O2_FAULT_CONNECT, {-EHOSTUNREACH, -ENETDOWN}},
	/* What nobody answers is late, as is what had no chance to be answered. */
	{O2_ENDPOINTS_ANY, O2_FAULT_DEADLINE, {-ETIMEDOUT, -ENETDOWN, -ECONNABORTED}},
	/* Another life of the peer is another peer. */
	{O2_ENDPOINTS_BY_LEAVE, O2_FAULT_PEER_MESSAGE, {-ESTALE, -ECONNABORTED}},
};

static bool is_one_of(const struct row *row, int status)
{
	for (uint32_t i = 0; i < STATUSES; i++)
		if (row->status[i] != 0 && row->status[i] == status)
			return true;
	return false;
}

static bool foretold(uint32_t causes, int status, const enum o2_fault_side *side)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((rows[i].causes & causes) != 0 && (side == NULL || rows[i].side == *side) &&
		    is_one_of(&rows[i], status))
			return true;
	return false;
}

bool o2_endpoints_foretold(uint32_t causes, int status, const struct o2_transfer_fault *fault)
{
	const bool ended_with_connection = fault != NULL && fault->side == O2_FAULT_CLOSED &&
					   (fault->closed_by != O2_FAULT_NONE || fault->error.code == 0);

	if (fault == NULL)
		return foretold(causes, status, NULL);
	/* What goes down with its connection is not to blame, whatever the connection ended with. */
	if (ended_with_connection && status != -ECONNABORTED)
		return false;
	return fault->code == status &&
	       foretold(causes, status, ended_with_connection ? &fault->closed_by : &fault->side);
}

/* Of two requests that meet one is refused, and so is what asks for more than the other end can do. */
static bool negotiates(const struct o2_transfer_fault *fault)
{
	return fault->side == O2_FAULT_REJECTED &&
	       (fault->reject_why == O2_REJECT_CONN_RACE || fault->reject_why == O2_REJECT_MSG_QUEUE_SIZE);
}

bool o2_endpoints_may_go_down(uint32_t causes, const struct o2_transfer_fault *fault)
{
	if (negotiates(fault))
		return true;
	if (fault->code != 0)
		return o2_endpoints_foretold(causes, fault->code, fault);
	/* In good order: by us, by the peer, and by a peer that gave up before it heard that we are up. */
	return causes != 0 && (fault->side == O2_FAULT_NONE || fault->side == O2_FAULT_PEER_CLOSED ||
			       fault->side == O2_FAULT_REJECTED);
}
