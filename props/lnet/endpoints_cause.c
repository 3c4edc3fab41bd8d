/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "props/lnet/endpoints_internal.h"
#include "wire/reject.h"

/*
 * What a case does between two endpoints, and how operations and connections between them may end because of it
 * (docs/peer.md, "When it does not work"; docs/connection.md; docs/transport.md, "Errors").
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
 * An operation may end with one of these codes, and blame this side for its own failure or for the end of its
 * connection.  A connection may end with the same; if it closes without an error, its code is 0.
 */
static const struct row {
	uint32_t causes; /* any of these causes */
	enum o2_fault_side side;
	int status[STATUSES];
} rows[] = {
	/* An endpoint that leaves, or is told to close a peer, ends its own connections without an error,
	 * or with the code that it is given. */
	{O2_ENDPOINTS_BY_LEAVE | O2_ENDPOINTS_BY_CLOSE, O2_FAULT_NONE, {-ECONNABORTED, -ECONNRESET}},
	{O2_ENDPOINTS_BY_CLOSE, O2_FAULT_CLOSED, {-ECONNABORTED, -ECONNRESET}},
	/* The other end is told of the close ... */
	{O2_ENDPOINTS_ANY, O2_FAULT_PEER_CLOSED, {-ECONNABORTED, -ECONNRESET}},
	/* ... or, before the connection is up, that its request or its answer was given up. */
	{O2_ENDPOINTS_ANY, O2_FAULT_REJECTED, {-ECONNRESET, -ECONNREFUSED, -ECONNABORTED}},
	{O2_ENDPOINTS_ANY, O2_FAULT_CONNECT, {-ECONNRESET, -ENOTCONN, -ECONNABORTED}},
	/* librdmacm may discover this when it moves the queue pair to RTS. */
	{O2_ENDPOINTS_ANY, O2_FAULT_LOCAL_STAGE, {-ECONNRESET, -ENOTCONN, -ECONNABORTED}},
	/* The other end may first find that its queue pair no longer works. */
	{O2_ENDPOINTS_ANY, O2_FAULT_LOCAL_COMPLETION, {-EIO, -ECONNABORTED}},
	/* A device that does not arm a completion queue is lost to its connection. */
	{O2_ENDPOINTS_BY_DEVICE, O2_FAULT_DEVICE, {-EIO, -ECONNABORTED}},
	/* Nobody listens at an endpoint that has left, or the network reports that. */
	{O2_ENDPOINTS_BY_LEAVE | O2_ENDPOINTS_BY_NETWORK, O2_FAULT_REJECTED, {-EHOSTUNREACH}},
	{O2_ENDPOINTS_BY_NETWORK, O2_FAULT_CONNECT, {-EHOSTUNREACH, -ENETDOWN}},
	/* Operations and attempts that get no answer time out, even if there was no chance to answer. */
	{O2_ENDPOINTS_ANY, O2_FAULT_DEADLINE, {-ETIMEDOUT, -ENETDOWN, -ECONNABORTED}},
	/* Another life of the peer counts as another peer. */
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
	/* An operation that ends due to its connection has -ECONNABORTED, whatever the connection ended with. */
	if (ended_with_connection && status != -ECONNABORTED)
		return false;
	return fault->code == status &&
	       foretold(causes, status, ended_with_connection ? &fault->closed_by : &fault->side);
}

/* Two requests may race, and one may ask for more than the other end can do: such rejects are normal. */
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
	/* Closed without an error: by this end, by the peer, or by a peer that gave up before it was told. */
	return causes != 0 && (fault->side == O2_FAULT_NONE || fault->side == O2_FAULT_PEER_CLOSED ||
			       fault->side == O2_FAULT_REJECTED);
}
