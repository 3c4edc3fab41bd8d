/* SPDX-License-Identifier: MIT */
#ifndef O2_JUDGE_RULES_H
#define O2_JUDGE_RULES_H

/*
 * The rules of a conversation, as one table.  docs/judge.md, "Rules", has a row for each.
 *
 * o2iblnd: none, its refusals have no names
 */

enum o2_judge_rule_id {
	/* Setting up a connection. */
	O2_JUDGE_CONNECT_TYPE,
	O2_JUDGE_CONNECT_LIMITS,
	O2_JUDGE_CONNECT_VERSION,
	O2_JUDGE_CONNECT_NIDS,
	O2_JUDGE_CONNECT_STAMP,
	O2_JUDGE_CONNECT_OVER_ASKED,
	O2_JUDGE_CONNECT_REJECT_UNTRUE,
	O2_JUDGE_CONNECT_REFUSED,
	O2_JUDGE_CONNECT_REJECT_VERSION,
	O2_JUDGE_CONNECT_RETRY,
	/* Each message by itself. */
	O2_JUDGE_MESSAGE_WIRE,
	O2_JUDGE_MESSAGE_TYPE,
	O2_JUDGE_MESSAGE_VERSION,
	O2_JUDGE_MESSAGE_NIDS,
	O2_JUDGE_MESSAGE_STAMPS,
	O2_JUDGE_MESSAGE_SIZE,
	O2_JUDGE_MESSAGE_LENGTH,
	O2_JUDGE_MESSAGE_UNSUMMED,
	/* Credits. */
	O2_JUDGE_CREDITS_NONE,
	O2_JUDGE_CREDITS_OVER_OWED,
	O2_JUDGE_CREDITS_LAST,
	O2_JUDGE_CREDITS_REQUESTS,
	O2_JUDGE_CREDITS_NOOP_UNCALLED,
	O2_JUDGE_CREDITS_NOOP_STORM,
	O2_JUDGE_CREDITS_WITHHELD,
	/* Transfers. */
	O2_JUDGE_TRANSFER_COOKIE_REUSED,
	O2_JUDGE_TRANSFER_UNASKED,
	O2_JUDGE_TRANSFER_KIND,
	O2_JUDGE_TRANSFER_FRAGS,
	O2_JUDGE_TRANSFER_SINK,
	O2_JUDGE_TRANSFER_STATUS,
	O2_JUDGE_TRANSFER_ERRNO,
	O2_JUDGE_TRANSFER_BYTES,
	O2_JUDGE_TRANSFER_UNANSWERED,
	/* RDMA WRITEs. */
	O2_JUDGE_WRITE_KEY,
	O2_JUDGE_WRITE_ENDED,
	O2_JUDGE_WRITE_OUTSIDE,
	O2_JUDGE_WRITE_TWICE,
	O2_JUDGE_WRITE_ORDER,
	O2_JUDGE_WRITE_ANNOUNCED,
	/* Keys. */
	O2_JUDGE_KEY_IN_USE,
	/* LNet's ACKs and REPLYs. */
	O2_JUDGE_LNET_ACK,
	O2_JUDGE_LNET_REPLY,
	O2_JUDGE_LNET_UNASKED,
	/* The payload. */
	O2_JUDGE_PAYLOAD_PUT,
	O2_JUDGE_PAYLOAD_GET,
	/* The end of a connection. */
	O2_JUDGE_END_MESSAGE,
	O2_JUDGE_END_OPEN,
	/* The network below. */
	O2_JUDGE_TRANSPORT_LOST,
	O2_JUDGE_TRANSPORT_NAK,
	O2_JUDGE_RULES,
};

enum o2_judge_severity {
	O2_JUDGE_MUST,	 /* the protocol is broken, which endangers data or connections */
	O2_JUDGE_SHOULD, /* a peer can cope with it, or it depends on settings that cannot be seen */
	O2_JUDGE_NOTE,	 /* worth knowing, but no side is at fault */
	O2_JUDGE_SEVERITIES,
};

/* What a finding relies on: that no event of the peer, or of the culprit, was missed. */
enum o2_judge_proof {
	O2_JUDGE_PROVEN, /* only on the event itself, and on what its sender sent before */
	O2_JUDGE_OF_PEER,
	O2_JUDGE_OF_CULPRIT,
};

struct o2_judge_rule {
	const char *id; /* stable, e.g. "transfer/bytes-written" */
	enum o2_judge_severity severity;
	enum o2_judge_proof proof;
	const char *sentence; /* what must hold, as text for people */
	const char *source;   /* the page and section of the documentation that require it */
};

extern const struct o2_judge_rule o2_judge_rules[O2_JUDGE_RULES];

/* "must", "should", "note". */
extern const char *const o2_judge_severity_names[O2_JUDGE_SEVERITIES];

#endif
