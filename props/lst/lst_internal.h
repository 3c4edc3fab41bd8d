/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LST_INTERNAL_H
#define O2_PROPS_LST_INTERNAL_H

#include "props/lst/lst.h"
#include "props/lst/lst_side.h"
#include "props/lst/lst_talk.h"

/* Internals of property lst, shared by props/lst/lst*.c.  "Letter": an LNet message on the simulated network. */

#define O2_LST_REPLY_PORTAL 52u /* of replies and bulks: docs/lst.md, "An RPC" */

#define O2_LST_SITUATIONS(ENTRY)                                     \
	ENTRY(READ_RIGHT, "read_right")                              \
	ENTRY(WRITE_RIGHT, "write_right")                            \
	ENTRY(WRITE_WRONG, "write_wrong")                            \
	ENTRY(WRITE_WRONG_UNSEEN, "write_wrong_unseen")              \
	ENTRY(OUT_OF_RANGE, "out_of_range")                          \
	ENTRY(MADE, "made")                                          \
	ENTRY(MADE_AGAIN, "made_again")                              \
	ENTRY(LEFT_ONCE, "left_once")                                \
	ENTRY(BUSY, "busy")                                          \
	ENTRY(STOLEN, "stolen")                                      \
	ENTRY(REMOVED, "removed")                                    \
	ENTRY(EXPIRED, "expired")                                    \
	ENTRY(KEPT_ALIVE, "kept_alive")                              \
	ENTRY(NO_SESSION, "no_session")                              \
	ENTRY(TEST_ADDED, "test_added")                              \
	ENTRY(TEST_RAN, "test_ran")                                  \
	ENTRY(UNITS_ALL, "units_all")                                \
	ENTRY(LOST, "lost")                                          \
	ENTRY(DOUBLED, "doubled")                                    \
	ENTRY(CHANGED, "changed")                                    \
	ENTRY(TRANSFER_FAILED, "transfer_failed")                    \
	ENTRY(CONSOLE_PING, "console_ping")                          \
	ENTRY(CONSOLE_READ, "console_read")                          \
	ENTRY(CONSOLE_WRITE, "console_write")                        \
	ENTRY(CONSOLE_BIG, "console_big_endian")                     \
	ENTRY(CONSOLE_UNSEEN, "console_wrong_unseen")                \
	ENTRY(CONSOLE_CANCELED, "console_canceled")                  \
	ENTRY(CONSOLE_TRANSPORT, "console_transport")                \
	ENTRY(CONSOLE_TIMEOUT, "console_timeout")                    \
	ENTRY(CONSOLE_MALFORMED, "console_malformed")                \
	ENTRY(CONSOLE_STATUS, "console_status")                      \
	ENTRY(CONSOLE_ANSWER, "console_answer")                      \
	ENTRY(CONSOLE_LENGTH, "console_length")                      \
	ENTRY(CONSOLE_DATA, "console_data")                          \
	ENTRY(CONSOLE_LATE, "console_late")                          \
	ENTRY(CONSOLE_EARLY, "console_answered_early")               \
	ENTRY(CONSOLE_ALIVE, "console_alive")                        \
	ENTRY(CONSOLE_ALL_WELL, "console_all_well")                  \
	ENTRY(CONSOLE_BUSY, "console_busy")                          \
	ENTRY(CONSOLE_STALE, "console_stale")                        \
	ENTRY(CONSOLE_LEFT, "console_left")                          \
	ENTRY(CONSOLE_NEVER_ASKED, "console_without_connection")     \
	ENTRY(CONSOLE_STRANGER, "console_sent_to_by_another")        \
	ENTRY(CONSOLE_REPLY_FAILED, "console_reply_failed")          \
	ENTRY(CONSOLE_DOWN, "console_peer_down")                     \
	ENTRY(CONSOLE_REFUSED, "console_not_sent")                   \
	ENTRY(CONSOLE_HALF_ANSWERED, "console_replied_without_bulk") \
	ENTRY(CONSOLE_MAKE_CANCELED, "console_make_cancelled")       \
	ENTRY(CONSOLE_NOT_RUN, "console_stopped_before_it_runs")     \
	ENTRY(REVERSE_LIST, "reverse_list")                          \
	ENTRY(REVERSE_ENDLESS, "reverse_endless")                    \
	ENTRY(REVERSE_ACTIVE, "reverse_active")                      \
	ENTRY(REVERSE_STOPPED, "reverse_stopped")                    \
	ENTRY(REVERSE_RAN, "reverse_ran")                            \
	ENTRY(LIST_SHORT, "list_of_destinations_short")              \
	ENTRY(TEST_ILLEGAL, "test_out_of_range")                     \
	ENTRY(BATCH_ILLEGAL, "batch_index_negative")                 \
	ENTRY(BATCH_ABSENT, "batch_or_test_not_there")               \
	ENTRY(BATCH_ANSWERED, "batch_answered")                      \
	ENTRY(OTHER_VERSION, "other_version")                        \
	ENTRY(NOT_ANSWERED, "not_answered")                          \
	ENTRY(NO_OPERATION, "operation_unknown")                     \
	ENTRY(JOINED, "join")                                        \
	ENTRY(PINGED, "ping")                                        \
	ENTRY(PING_REFUSED, "ping_refused")                          \
	ENTRY(NODE_SHUT, "node_cannot_answer")                       \
	ENTRY(NODE_BUSY, "too_many_requests")                        \
	ENTRY(UNSERVED, "not_served")                                \
	ENTRY(OTHER_PID, "of_another_process")                       \
	ENTRY(WAITED_IN_VAIN, "waited_as_the_session_ended")         \
	ENTRY(OTHER_FEATURES, "bulk_of_other_features")              \
	ENTRY(SHORT_OF_MEMORY, "short_of_memory")                    \
	ENTRY(SHORT_OF_ENTRIES, "short_of_entries")                  \
	ENTRY(CALL_IN_VAIN, "call_in_vain")                          \
	ENTRY(CALL_NO_ENTRY_FOR_BULK, "call_without_entry_for_bulk") \
	ENTRY(STALE_CANCELLED, "stale_call_cancelled")               \
	ENTRY(STALE_DROPPED, "request_dropped_twice")                \
	ENTRY(CONFIG_REFUSED, "configuration_refused")               \
	ENTRY(CONFIG_TAKEN, "configuration_taken")                   \
	ENTRY(STOPPED_AT_ONCE, "stopped_at_once")                    \
	ENTRY(RAN_OUT, "time_ran_out")                               \
	ENTRY(WORK_RAN, "work_ran")                                  \
	ENTRY(WORK_NO_ROOM, "work_no_room")                          \
	ENTRY(WORK_ACTIVE, "work_active")                            \
	ENTRY(WORK_NO_MEMORY, "work_without_memory")                 \
	ENTRY(WORK_WAITED, "work_waited_for_pages")                  \
	ENTRY(WORK_STOPPED, "work_stopped")                          \
	ENTRY(WORK_WRONG, "work_wrong_word")                         \
	ENTRY(WORK_NO_SESSION, "work_no_room_for_a_session")         \
	ENTRY(WORK_IN_LINE, "work_waited_in_line")                   \
	ENTRY(WORK_WRITE_WRONG, "work_write_wrong")                  \
	ENTRY(WORK_WRITE_SHORT, "work_write_short")                  \
	ENTRY(WORK_SHORT, "work_read_short")                         \
	ENTRY(WORK_LOST, "work_request_lost")                        \
	ENTRY(WORK_ZOMBIE, "work_session_waits")                     \
	ENTRY(WORK_BUSY, "work_test_while_it_runs")

enum o2_lst_situation { O2_LST_SITUATIONS(O2_SITUATION_ID) O2_LST_SITUATION_COUNT };

#define O2_LST_OPERATIONS      6u
#define O2_LST_CASE_TIMEOUT_MS 100000u /* timeout of a session: docs/lst.md, "Constants" */
#define O2_LST_SLOT_PAGES      6u /* pages of an operation's memory: a page before and one after stay unused */

/* A bulk read or write that the console requests. */
struct o2_lst_operation {
	bool busy;
	uint32_t rw, check, len, offset;
	int expected; /* predicted status of a write */
	bool in_range;
	struct o2_kiov kiov[O2_LST_SLOT_PAGES];
	struct o2_transfer_memory memory;
	struct o2_lst_case *of;
};

#define O2_LST_BATCHES 16u

/*
 * A batch of the session: how many tests were requested, and how many certainly exist.  A client half whose
 * list of destinations arrives late may be added to a later session with the same name.
 */
struct o2_lst_batch_account {
	uint64_t id;
	uint32_t asked, clients, there;
};

/* The model of B's session, computed from the messages that arrive at B and from the clock. */
struct o2_lst_account {
	struct o2_lst_sid sid;
	struct o2_lst_name name;
	uint64_t since_ms;
	struct o2_lst_batch_account batch[O2_LST_BATCHES];
	uint32_t nbatches;
	uint32_t features;
	uint64_t made, heard_ms;
	bool heard_late; /* a request arrived after more than half of the timeout had passed */
};

#define O2_LST_SERVED 64u

/* A read or write that B serves, or has served. */
struct o2_lst_served {
	struct o2_lst_msg msg;
	uint32_t pid;  /* of the client */
	bool over;     /* the session has ended: it is not answered any more */
	uint32_t most; /* answers in flight after the last step; then no more than that */
};

struct o2_lst_case {
	struct o2_choice *choice;
	struct o2_report *report;
	uint64_t *seen; /* counters, by situation */
	struct o2_lnet_pair lnet;
	struct o2_lst_side a, b;
	uint64_t now_ms;
	uint32_t steps;
	struct o2_lst_operation operation[O2_LST_OPERATIONS];
	struct o2_kiov list_kiov;
	struct o2_transfer_memory list; /* list of destinations */
	bool offers_one;		/* a list with the first of them only is offered, too */
	struct o2_lst_account account;
	struct o2_lst_bulk
		held; /* pages of B that a third party occupies: what B serves may wait for others */
	/* The newest reads and writes that have arrived at B, by their number modulo O2_LST_SERVED. */
	uint32_t nserved;
	struct o2_lst_served served[O2_LST_SERVED];
	bool waits;		   /* something that B serves waited for pages after the last step */
	uint64_t replied;	   /* replies of B that LNet has sent */
	uint64_t replies_unsent;   /* those that LNet has refused to send */
	struct o2_lst_rpc *server; /* of a case that needs more than one engine; freed with the case */
	struct o2_lst_talk talk;   /* the other half of the property: lst_talk.h */
	const struct o2_lst_run *run;
};

static inline uint32_t o2_lst_draw(struct o2_lst_case *the, uint32_t max)
{
	return (uint32_t)o2_draw(the->choice, max);
}

/* Report that a case could not begin: such a run must not seem to hold.  Returns true: nothing of it is left. */
bool o2_lst_cannot_run(struct o2_report *report, int code);

/* Advance the clock of both sides and their nodes to now_ms. */
void o2_lst_clock_to(struct o2_lst_case *the, uint64_t now_ms);

/*
 * lst_short.c: creating things without enough memory, or with too few LNet entries, is refused and leaves nothing
 * behind.  False: the two LNets have been closed.
 */
bool o2_lst_short_case(struct o2_lst_case *the);
/* lst_vain.c: calls that cannot be started.  Returns as above. */
bool o2_lst_vain_case(struct o2_lst_case *the);
/* The engine, without a node or console around it, hears of all that LNet reports to this side. */
void o2_lst_rpc_listens(struct o2_lst_rpc *rpc, struct o2_lnet_side *side);
/* lst_stale.c: handles of calls and requests that have ended.  Returns as above. */
bool o2_lst_stale_case(struct o2_lst_case *the);
/* lst_limits.c: configurations at their limits and past them.  Returns as above. */
bool o2_lst_limits_case(struct o2_lst_case *the);
/* Draw the configuration of a talk's console; create the console. */
void o2_lst_talk_begin(struct o2_lst_case *the);
int o2_lst_talk_open(struct o2_lst_talk *talk);

/*
 * lst_talk.c: a case of a console and a node that may send anything ("liar"), in place of two nodes.  Returns true
 * if nothing is left; then the caller closes the pair, and o2_lst_talk_close frees the rest.
 */
bool o2_lst_talk_case(struct o2_lst_case *the);
void o2_lst_talk_close(struct o2_lst_case *the);

/* lst_bulk.c: bulk reads and writes that the console starts. */
void o2_lst_start_bulk(struct o2_lst_case *the);

/* lst_framework.c: requests of the framework service. */
void o2_lst_start_request(struct o2_lst_case *the);

/* lst_account.c */
#define O2_LST_UNKNOWN (-1)
#define O2_LST_SILENCE (-2)
/* Predicted status of the answer to an arriving request.  UNKNOWN: not predicted; SILENCE: it is not answered. */
int o2_lst_account_of(struct o2_lst_case *the, const struct o2_lst_msg *msg);
/* For a TEST without a prediction: its status if it is answered at once. */
void o2_lst_account_test(struct o2_lst_case *the, const struct o2_lst_msg *request);
/* B's newest answer to the request; false: there is none. */
bool o2_lst_find_answer(const struct o2_lst_case *the, const struct o2_lst_msg *request,
			struct o2_lst_msg *reply);
/* Check B's newest answer to this request. */
void o2_lst_check_answer(struct o2_lst_case *the, const struct o2_lst_msg *request, int expected);
/* Number of answers in flight to the request with this number. */
uint32_t o2_lst_answers(const struct o2_lst_case *the, uint64_t rpyid);
/* Check the answer to a request of another version; check that no further answer to this number was sent. */
void o2_lst_check_version(struct o2_lst_case *the, const struct o2_lst_msg *request);
void o2_lst_check_silence(struct o2_lst_case *the, uint64_t rpyid, uint32_t before);
/* The clock has advanced to now_ms: the session may have expired. */
void o2_lst_account_clock(struct o2_lst_case *the);
/* Check what must hold after every step. */
void o2_lst_check_state(struct o2_lst_case *the);

/* lst_served.c: what becomes of the requests that B receives. */
struct o2_lst_before { /* the number of answers, bulks and letters in flight, and of requests told as not served */
	uint32_t answers, bulks, letters, unserved;
};
struct o2_lst_before o2_lst_served_before(const struct o2_lst_case *the, const struct o2_lst_msg *msg);
/* A request has arrived, and there was room for it.  shut: B could not send.  expected: see o2_lst_account_of. */
void o2_lst_served_arrives(struct o2_lst_case *the, const struct o2_lst_msg *msg, uint32_t pid, int expected,
			   bool shut, const struct o2_lst_before *before);
/* A letter goes, well or not. */
void o2_lst_served_goes(struct o2_lst_case *the, const struct o2_letter *letter, bool well);
/* Call after that, while steps are drawn: B answers a read whose bulk has gone well. */
void o2_lst_served_gone(struct o2_lst_case *the, const struct o2_letter *letter);
/* B's session ends in this step.  After each step: check that what a session served is not answered after it. */
void o2_lst_served_abort(struct o2_lst_case *the);
void o2_lst_served_check(struct o2_lst_case *the);
/* Check what B has counted until now. */
void o2_lst_served_check_counters(struct o2_lst_case *the, const struct o2_lst_rpc_counters *rpc,
				  const struct o2_lst_lnet_counters *lnet);

/* lst_network.c */
/*
 * Check a letter's portal: a request goes to the portal of its service; any other PUT is a reply or bulk.  None asks
 * for an ACK, or has an offset.
 */
void o2_lst_check_put(struct o2_report *report, const struct o2_letter *letter);
/* Deliver the oldest letter of one side, or treat it as a faulty network would. */
void o2_lst_deliver(struct o2_lst_case *the);
/* Deliver all letters in flight and those that they cause. */
void o2_lst_deliver_all(struct o2_lst_case *the);

#endif
