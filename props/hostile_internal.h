/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_INTERNAL_H
#define O2_PROPS_HOSTILE_INTERNAL_H

#include "lnd/conn_internal.h"
#include "props/hostile.h"

/* The world in which a liar meets its victim (props/hostile_world.c). */

#define O2_HOSTILE_PAGES 320u
#define O2_LIAR_NID	 UINT64_C(0x00050000c0a80a02)
#define O2_VICTIM_NID	 UINT64_C(0x00050000c0a80a01)
#define O2_FRIEND_NID	 UINT64_C(0x00050000c0a80a03)
#define O2_LIAR_STAMP	 UINT64_C(0x0006000033334444)
#define O2_VICTIM_STAMP	 UINT64_C(0x0006000011112222)
#define O2_FRIEND_STAMP	 UINT64_C(0x0006000055556666)

/* Where memory stands in an arena: bytes from its start. */
#define O2_SERVED_AT 99u /* what the liar is given */
#define O2_GET_AT    (100u * 4096u + 99u)
#define O2_PUT_AT    (160u * 4096u + 99u)
#define O2_HONEST_AT (240u * 4096u + 99u)

/* One end of an ordinary connection. */
struct o2_hostile_end {
	struct o2_hostile *h;
	struct o2_conn *conn;
	struct o2_transfer_memory serve; /* what match gives */
	struct o2_kiov kiov[3][O2_MAX_FRAGS];
	uint32_t started, matched, done, received, closed;
	struct o2_transfer_result last;
	uint32_t puts_well, gets_well, served_well; /* that succeeded: its own, and the peer's */
};

enum o2_hostile_ni {
	O2_NI_VICTIM,
	O2_NI_LIAR,
	O2_NI_FRIEND,
	O2_HOSTILE_NIS,
};

#define O2_LIAR_RECVS 64u
#define O2_LIAR_SENDS 64u

#define O2_LIAR_MEMORY_BYTES (1u << 20)

/* A queue pair without a protocol. */
struct o2_liar {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *slots; /* receives, then sends, O2_MSG_BYTES each; then memory to be written to */
	uint32_t next_send;
	struct o2_msg begun;
	struct o2_msg heard[8]; /* by type, from NOOP on */
	uint32_t nheard[8];
	uint32_t errors; /* completions that failed */
};

struct o2_hostile {
	struct o2_ni ni[O2_HOSTILE_NIS];
	struct o2_hostile_end victim; /* towards the liar */
	struct o2_hostile_end honest; /* the victim's other connection */
	struct o2_hostile_end friend; /* and its other end */
	struct o2_liar liar;
	uint8_t *before;	     /* the victim's arena */
	uint64_t described_bytes[2]; /* to the liar: served, and as the sink of a GET */
	uint64_t now_ms;
	bool endless; /* something did not come to rest */
};

/* The interfaces and the honest connection; 0 or -errno. */
int o2_hostile_open(struct o2_hostile *h);
/* A fresh victim, and a liar at the other end of it; until they part. */
int o2_hostile_meet(struct o2_hostile *h, const struct o2_conn_config *config);
void o2_hostile_part(struct o2_hostile *h);
/* Whatever there is of it; *h is all zero afterwards. */
void o2_hostile_close(struct o2_hostile *h);
/* What holds whatever a liar did; closes the victim.  Otherwise *why says what does not. */
bool o2_hostile_harmless(struct o2_hostile *h, char *why);

static inline uint64_t o2_liar_memory(const struct o2_liar *liar)
{
	return (uintptr_t)liar->slots + (uint64_t)(O2_LIAR_RECVS + O2_LIAR_SENDS) * O2_MSG_BYTES;
}

int o2_liar_open(struct o2_hostile *h);
int o2_liar_connect(struct o2_hostile *h);
void o2_liar_close(struct o2_hostile *h);
/* Completions of the liar that are there; how many. */
int o2_liar_progress(struct o2_hostile *h);

int o2_hostile_ni_open(struct o2_ni *ni, enum o2_hostile_ni which);
struct o2_transfer_memory o2_hostile_memory(struct o2_hostile_end *end, int which, uint32_t at, uint64_t nob,
					    enum o2_reg_mode mode);

/* props/hostile_meet.c: the groups that are about how connections are made. */
bool o2_hostile_try_meeting(const struct o2_misbehaviour *what, char *why);

#endif
