/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LST_TALK_H
#define O2_PROPS_LST_TALK_H

#include "lst/console.h"
#include "lst/wire/msg.h"
#include "props/engine/choice.h"
#include "props/engine/report.h"
#include "props/world/lnet_pair.h"

/*
 * A console of ours and a node that says what it likes: the other half of property lst (docs/properties.md, "The lst
 * property").  The console is at side A of a pair; side B has no test node, but LNet alone, and the liar uses that.
 */

#define O2_TALK_ASKED	   48u /* requests of one case */
#define O2_TALK_LANES	   4u
#define O2_TALK_SLOTS	   40u /* what the liar has under way */
#define O2_TALK_SLOT_PAGES 6u
#define O2_TALK_TIMEOUT_MS 64000u

/* A request of the console's, and the account of what has come for it. */
struct o2_talk_asked {
	struct o2_lst_msg msg;
	uint64_t asked_ms;
	bool sent;    /* it has left, and may be lost */
	bool arrived; /* the liar has it */
	bool is_test; /* of a lane */
	bool ended;   /* and that lane's console was told */
	bool doomed;  /* it ends as failed: its time is over, its connection, or it was cancelled */
	int doom;     /* with that; 0: not known */
	bool heard;   /* what it was answered with has been taken */
	/* The first reply that could be taken, and whether it is one. */
	bool replied, valid;
	struct o2_lst_msg reply;
	/* The first bulk that could be taken: of a read or write, or the list of destinations. */
	bool moving, moved;
	uint64_t handle; /* moving: a GET by IMMEDIATE, of that cookie */
	uint32_t moved_bytes;
	bool wrong[2]; /* by byte order of the reply: a word that is looked at is not the pattern */
	bool unseen;   /* one that is not looked at is not */
	/* The liar's notes. */
	bool sent_bulk, sent_reply;
};

/* What the liar sends from, or fetches to. */
struct o2_talk_slot {
	bool busy;
	struct o2_kiov kiov[O2_TALK_SLOT_PAGES];
	struct o2_transfer_memory memory;
};

struct o2_lst_talk {
	struct o2_choice *choice;
	struct o2_report *report;
	uint64_t *seen; /* by situation */
	struct o2_lnet_side *a, *b;
	struct o2_lst_rpc *rpc;
	struct o2_lst_console *console;
	struct o2_lst_console_config config;
	uint64_t now_ms;
	uint32_t steps;
	bool stopped;	   /* the user has had enough; */
	bool canceled;	   /* and does not wait for what is under way */
	int refused;	   /* what the transport says to what leaves now; 0: nothing */
	uint32_t nexpired; /* RPCs whose time was over before all had come */
	uint32_t nrefused; /* RPCs of lanes to which it has said so */
	bool unsent;	   /* and a request of the framework, when so many had been asked */
	uint32_t unsent_at;
	/* Of the node, until the console removes it. */
	uint32_t session_timeout_s;
	uint64_t heard_ms; /* when the node's framework was last heard */
	uint64_t told[O2_LST_OUTCOMES], told_bytes;
	/* Lanes: tests that began and whose requests are not in the account yet; what each waits for. */
	uint32_t nbegun, begun[O2_TALK_LANES];
	uint32_t lane[O2_TALK_LANES];
	uint32_t nended;
	uint32_t nasked;
	struct o2_talk_asked asked[O2_TALK_ASKED];
	enum o2_byte_order order; /* of the liar */
	enum o2_byte_order ours;  /* of the console */
	struct o2_talk_slot slot[O2_TALK_SLOTS];
};

static inline uint32_t o2_talk_draw(struct o2_lst_talk *talk, uint32_t max)
{
	return (uint32_t)o2_draw(talk->choice, max);
}

/* lst_talk_account.c */
/* Requests that the console has posted since are entered. */
void o2_talk_enter(struct o2_lst_talk *talk);
/* The letter arrives now: what it is to the account. */
void o2_talk_arrives(struct o2_lst_talk *talk, const struct o2_letter *letter, bool fails);
/* The letter of the console's is lost, and it is told so or not. */
void o2_talk_is_lost(struct o2_lst_talk *talk, const struct o2_letter *letter, bool known);
/* It is now_ms. */
void o2_talk_clock(struct o2_lst_talk *talk);
/* Nothing that has not come yet is waited for. */
void o2_talk_cancel(struct o2_lst_talk *talk);
/* The console tells that the RPC of a lane has ended. */
void o2_talk_ended(struct o2_lst_talk *talk, const struct o2_lst_console_result *result);
/* A request of the framework was answered as a console must want it. */
bool o2_talk_is_well(const struct o2_lst_talk *talk, const struct o2_talk_asked *asked);
/* Of a request of the framework all has come; neither: it is under way. */
bool o2_talk_is_open(const struct o2_talk_asked *asked);

/* Nothing more comes from the node: that is what its connection says. */
void o2_talk_is_down(struct o2_lst_talk *talk, int code);
/* Whether it has bulk, and how many bytes. */
bool o2_talk_has_bulk(const struct o2_talk_asked *asked);
uint32_t o2_talk_bulk_bytes(const struct o2_talk_asked *asked);

/* lst_talk_batch.c: what is asked of a node that is to run a test, and of one that is to serve it. */
void o2_talk_check_request(struct o2_lst_talk *talk, const struct o2_lst_msg *msg);
/* The node has the list of destinations. */
void o2_talk_check_list(struct o2_lst_talk *talk, const uint8_t *bytes, uint32_t count);
/* The clock has gone on: a batch that runs must have been asked for. */
void o2_talk_check_batch(struct o2_lst_talk *talk);

/* lst_talk_report.c */
/* After each step: what has been heard of the node. */
void o2_talk_listen(struct o2_lst_talk *talk);
/* The clock has gone on: a session that is quiet for too long must have been asked for. */
void o2_talk_check_alive(struct o2_lst_talk *talk);
/* The console asks whether the session is there: not before it is time. */
void o2_talk_check_early(struct o2_lst_talk *talk);
/* The console is over. */
void o2_talk_check_report(struct o2_lst_talk *talk);

/* lst_liar.c: one thing that the node does. */
void o2_talk_lie(struct o2_lst_talk *talk);

#endif
