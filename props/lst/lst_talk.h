/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LST_TALK_H
#define O2_PROPS_LST_TALK_H

#include "lst/console.h"
#include "lst/wire/msg.h"
#include "props/engine/choice.h"
#include "props/engine/report.h"
#include "props/world/lnet_pair.h"

/* The o2ref console against a node that may send anything, the liar: the second half of property lst
 * (docs/properties.md, "The lst property").  The console is at side A of a pair.  Side B has no test node, only
 * LNet, which the liar uses directly. */

#define O2_TALK_ASKED	   48u /* most requests of one case */
#define O2_TALK_LANES	   4u
#define O2_TALK_SLOTS	   40u /* most transfers that the liar has in flight */
#define O2_TALK_SLOT_PAGES 6u
#define O2_TALK_TIMEOUT_MS 64000u

/* A request of the console, and what has arrived in answer to it. */
struct o2_talk_asked {
	struct o2_lst_msg msg;
	uint64_t asked_ms;
	bool sent;    /* it was sent; it may be lost */
	bool arrived; /* it reached the liar */
	bool is_test; /* it belongs to a lane's test */
	bool ended;   /* the console was told that the lane's RPC ended */
	bool doomed;  /* it must end as failed: timed out, connection lost, or cancelled */
	int doom;     /* and the errno that it must end with */
	bool heard;   /* its answer has been taken into account */
	/* The first reply that fits the memory for it, and whether it is a valid one. */
	bool replied, valid;
	struct o2_lst_msg reply;
	/* The first bulk that fits: data of a read or write, or the list of destinations. */
	bool moving, moved;
	uint64_t handle; /* while moving: cookie of a GET by IMMEDIATE */
	uint32_t moved_bytes;
	bool wrong[2]; /* by the reply's byte order: a word that is checked is not the pattern */
	struct o2_lst_wrong found[2]; /* the first such word */
	bool unseen;		      /* a word that is not checked is wrong */
	/* What the liar has sent. */
	bool sent_bulk, sent_reply;
};

/* Memory that the liar sends from or receives into. */
struct o2_talk_slot {
	bool busy;
	struct o2_kiov kiov[O2_TALK_SLOT_PAGES];
	struct o2_transfer_memory memory;
};

struct o2_lst_talk {
	struct o2_choice *choice;
	struct o2_report *report;
	uint64_t *seen; /* counters, by situation */
	struct o2_lnet_side *a, *b;
	struct o2_lst_rpc *rpc;
	struct o2_lst_console *console;
	struct o2_lst_console_config config;
	uint64_t now_ms;
	uint32_t steps;
	bool stopped;	   /* the user has stopped the console */
	bool canceled;	   /* and does not wait for RPCs in flight */
	int refused;	   /* errno with which the transport now refuses sends; 0: none */
	uint32_t nexpired; /* RPCs that timed out before all had arrived */
	uint32_t nrefused; /* RPCs of lanes that the transport refused */
	uint64_t first_id; /* number of its first request */
	uint64_t nsent;	   /* requests that have left, as LNet reports it */
	uint64_t nerrors;  /* failures that LNet reports */
	bool unsent;	   /* the transport refused a framework request; nasked at that time */
	uint32_t unsent_at;
	/* State of the node, until the console removes its session. */
	uint32_t session_timeout_s;
	uint64_t heard_ms; /* last time at which the node's framework answered */
	uint64_t told[O2_LST_OUTCOMES], told_bytes;
	/* Lanes: those whose new request is not yet in asked[]; index in asked[] of each lane's request. */
	uint32_t nbegun, begun[O2_TALK_LANES];
	uint32_t lane[O2_TALK_LANES];
	uint64_t number[O2_TALK_LANES], nnumbers; /* of each lane's RPC, and of the next one */
	uint32_t nended;
	uint32_t nasked;
	struct o2_talk_asked asked[O2_TALK_ASKED];
	enum o2_byte_order order; /* byte order of the liar */
	enum o2_byte_order ours;  /* byte order of the console */
	struct o2_talk_slot slot[O2_TALK_SLOTS];
};

static inline uint32_t o2_talk_draw(struct o2_lst_talk *talk, uint32_t max)
{
	return (uint32_t)o2_draw(talk->choice, max);
}

/* lst_talk_network.c */
/* Refuse the console's sends in this step, or no longer. */
void o2_talk_shut(struct o2_lst_talk *talk, bool on);
#define O2_TALK_DELIVERED 0u
/* Deliver the oldest letter of a side, or let it have another fate. */
void o2_talk_deliver(struct o2_lst_talk *talk, struct o2_lnet_side *side, uint32_t fate);
/* Draw a side, and the fate of its oldest letter. */
void o2_talk_deliver_one(struct o2_lst_talk *talk);

/* lst_talk_account.c */
/* Enter the requests that the console has posted since the last call. */
void o2_talk_enter(struct o2_lst_talk *talk);
/* Account for a letter that arrives now. */
void o2_talk_arrives(struct o2_lst_talk *talk, const struct o2_letter *letter, bool fails);
/* A letter of the console is lost.  code: the errno that the console is told; 0: it is not told. */
void o2_talk_is_lost(struct o2_lst_talk *talk, const struct o2_letter *letter, int code);
/* The clock has advanced to now_ms. */
void o2_talk_clock(struct o2_lst_talk *talk);
/* The console has been cancelled: it waits for nothing that has not arrived. */
void o2_talk_cancel(struct o2_lst_talk *talk);
/* The console reports that the RPC of a lane has ended. */
void o2_talk_ended(struct o2_lst_talk *talk, const struct o2_lst_console_result *result);
/* True if the answer to a framework request is the one a console must require. */
bool o2_talk_is_well(const struct o2_lst_talk *talk, const struct o2_talk_asked *asked);
/* True while a framework request is in flight: neither complete nor failed. */
bool o2_talk_is_open(const struct o2_talk_asked *asked);

/* The connection to the node is down: nothing more arrives from it. */
void o2_talk_is_down(struct o2_lst_talk *talk, int code);
/* True if the request has bulk; the number of its bytes. */
bool o2_talk_has_bulk(const struct o2_talk_asked *asked);
uint32_t o2_talk_bulk_bytes(const struct o2_talk_asked *asked);

/* lst_talk_batch.c: what the console asks of a node that runs a test, and of one that serves it. */
void o2_talk_check_request(struct o2_lst_talk *talk, const struct o2_lst_msg *msg);
/* Check the list of destinations that the node has fetched. */
void o2_talk_check_list(struct o2_lst_talk *talk, const uint8_t *bytes, uint32_t count);
/* The clock has advanced, or the user has stopped the test: check that a running batch was queried, or stopped. */
void o2_talk_check_batch(struct o2_lst_talk *talk);
/* An RPC begins: nothing may have ended the test. */
void o2_talk_check_begin(struct o2_lst_talk *talk);

/* lst_talk_report.c */
/* After each step: note what has been heard of the node. */
void o2_talk_listen(struct o2_lst_talk *talk);
/* When the last request to the framework, of the first nasked ones, was made; 0: there is none. */
uint64_t o2_talk_framework_ms(const struct o2_lst_talk *talk, uint32_t nasked);
/* The clock has advanced: check that a session quiet for too long has been queried. */
void o2_talk_check_alive(struct o2_lst_talk *talk);
/* The console queries the session: check that it does not do so too early. */
void o2_talk_check_early(struct o2_lst_talk *talk);
/* An RPC has ended: check the details of its failure. */
void o2_talk_check_error(struct o2_lst_talk *talk, const struct o2_talk_asked *asked,
			 const struct o2_lst_console_result *result);
/* The console has ended: check its report. */
void o2_talk_check_report(struct o2_lst_talk *talk);

/* lst_talk_look.c: the bytes of a read, and details of results. */
/* Look at the bytes that have come. */
void o2_talk_look(const struct o2_lst_talk *talk, struct o2_talk_asked *asked, const uint8_t *bytes);
/* Check which failure the result names, and which wrong word. */
void o2_talk_check_details(struct o2_lst_talk *talk, const struct o2_talk_asked *asked,
			   const struct o2_lst_console_result *result);
/* Check the counters that are reported against the answer that they came with. */
void o2_talk_check_counters(struct o2_lst_talk *talk, const struct o2_talk_asked *asked,
			    const struct o2_lst_stat_reply *told);

/* lst_liar.c: one action of the liar. */
void o2_talk_lie(struct o2_lst_talk *talk);

#endif
