/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_FAULT_H
#define O2_LND_FAULT_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Why an operation failed, or why a connection ended: which side is to blame, and the details.
 * Source: docs/transport.md, "Errors".
 */

enum o2_fault_side {
	O2_FAULT_NONE,		   /* no fault; of a connection: this side ended it in good order */
	O2_FAULT_LOCAL_STAGE,	   /* one of our own stages refused: see .error */
	O2_FAULT_LOCAL_COMPLETION, /* one of our work requests ended with .wc_status */
	O2_FAULT_PEER_STATUS,	   /* the peer reported a negative status */
	O2_FAULT_PEER_MESSAGE,	   /* a message of the peer broke a rule: see .error */
	/*
	 * Of an operation: its connection ended first; .closed_by is the side of the connection's fault, the rest
	 * of the record its details.  Of a connection: this side closed it with .code.
	 */
	O2_FAULT_CLOSED,
	O2_FAULT_DEADLINE,    /* our deadline: .wait says what was awaited; .error has age and limit, in ms */
	O2_FAULT_PEER_CLOSED, /* the peer ended the connection (DREQ); .code is 0 if that was in order */
	O2_FAULT_REJECTED,    /* our request to connect was rejected: .cm_reason, .reject_why */
	O2_FAULT_CONNECT,     /* the connection manager could not connect: see .error */
	O2_FAULT_DEVICE,      /* the device is lost, or refused a basic call: see .error */
};

/* What an operation or attempt that missed its deadline was waiting for. */
enum o2_wait {
	O2_WAIT_NONE,
	O2_WAIT_CONNECTION,  /* a connection to the peer */
	O2_WAIT_RESERVATION, /* a receive for the peer's answer: too many of our requests are unanswered */
	O2_WAIT_CREDIT,	     /* a credit from the peer */
	O2_WAIT_SEND_ROOM,   /* the completion of earlier sends: concurrent_sends are in flight */
	O2_WAIT_WINDOW,	     /* a window of the interface's arena for its scattered memory */
	O2_WAIT_SEND,	     /* the device's acknowledgement of its own send */
	O2_WAIT_INVALIDATE,  /* the device's invalidation of its key */
	O2_WAIT_PUT_ACK,
	O2_WAIT_PUT_DONE,
	O2_WAIT_GET_DONE,
	O2_WAIT_LNET_ACK,
	O2_WAIT_LNET_REPLY,
	O2_WAITS,
};

/* o2iblnd: ibc_comms_error */
struct o2_transfer_fault {
	enum o2_fault_side side;
	int code;		      /* negative errno; 0 = no fault */
	enum o2_fault_side closed_by; /* O2_FAULT_CLOSED: the side of the connection's own fault */
	enum o2_wait wait;	      /* O2_FAULT_DEADLINE */
	enum ibv_wc_status wc_status; /* O2_FAULT_LOCAL_COMPLETION: what ibv_wc_status_str(3) explains */
	enum ibv_wc_opcode wc_opcode; /* as reported by the device; meaningful only with status success */
	uint32_t cm_reason;	      /* O2_FAULT_REJECTED: the connection manager's reason */
	uint8_t reject_why;	      /* enum o2_reject_why; 0: the connection manager itself rejected */
	struct o2_error error;
	/* PEER_MESSAGE: wire.tolerate_immediate_checksum would have accepted the message. */
	bool tolerable;
};

/* Make a fault.  error may be NULL: only the code is known. */
struct o2_transfer_fault o2_fault_of(enum o2_fault_side side, int code, const struct o2_error *error);

/* The fault of a connection that this side closes.  code 0: in good order. */
struct o2_transfer_fault o2_fault_local_close(int code);

/* The fault of something late: it waited for age_ms, where limit_ms are allowed.  code: mostly -ETIMEDOUT. */
struct o2_transfer_fault o2_fault_late(enum o2_wait wait, int code, const char *rule, uint64_t age_ms,
				       uint64_t limit_ms);

/* The fault of an operation whose connection ended with *why: -ECONNABORTED, with .closed_by set from *why. */
struct o2_transfer_fault o2_fault_closed(const struct o2_transfer_fault *why);

/* "the peer's PUT_ACK" and so on; never NULL. */
const char *o2_wait_text(enum o2_wait wait);

/* The connection manager's reason as text, "invalid service id: nobody listens there"; NULL: unknown. */
const char *o2_cm_reason_text(uint32_t cm_reason);

/*
 * Write one line without a newline, in the manner of snprintf: who is to blame, how, and the figures.
 *   our deadline: waited 50012 ms for the peer's GET_DONE, limit 50000 ms
 *   the connection has ended: the peer has ended the connection (DREQ)
 * Returns the length of the whole text.
 */
int o2_fault_text(const struct o2_transfer_fault *fault, char *text, size_t text_bytes);

#endif
