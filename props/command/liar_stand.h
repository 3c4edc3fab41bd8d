/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LIAR_STAND_H
#define O2_PROPS_LIAR_STAND_H

#include "props/command/command.h"
#include "props/command/liar_talk.h"

/* A stand-in for the program o2props that conform --hostile starts.  It prints what was drawn. */

#define O2_LIAR_LIES  5u
#define O2_LIAR_SHOWN 192u
#define O2_LIAR_TABLE 512u /* most rows that conform reads; it ignores later ones */

enum o2_liar_outcome {
	O2_LIAR_MET,
	O2_LIAR_TOLERATED,
	O2_LIAR_NOT_MET,
	O2_LIAR_NOT_TRIED,
};

struct o2_liar_lie {
	char name[48], what[O2_LIAR_SHOWN], reaction[O2_LIAR_SHOWN], why[80];
	enum o2_liar_outcome outcome;
	uint32_t style; /* layout of its row in the table */
	uint32_t decoy; /* text in front of the row that looks like one; 0: none */
	struct o2_liar_talk talk;
};

/* State shared with the liar's processes, which store how they were called. */
struct o2_liar_stand {
	uint32_t nlies;
	struct o2_liar_lie lie[O2_LIAR_LIES];
	uint32_t rows;	    /* rows of its table, from the first lie on; the other lies are not in it */
	uint32_t others;    /* rows of other lies in front of them */
	int list_status;    /* exit status of the call that lists the table */
	int status;	    /* exit status of the other calls; -1: killed */
	bool odd;	    /* its output contains unrelated lines */
	uint32_t unstarted; /* the call that cannot be started: 1 the table's, 2 the second; 0: none */
	enum o2_liar_lack { O2_LIAR_NO_PIPE, O2_LIAR_NO_PROCESS, O2_LIAR_NO_PROGRAM, O2_LIAR_NO_STREAM } lack;
	char told[1024]; /* words of the second call, each followed by a blank */
	uint32_t calls;
};

void o2_liar_stand_draw(struct o2_choice *c, struct o2_liar_stand *stand);

/* Number of lies that conform reads.  It does not read all of a table that is too long. */
uint32_t o2_liar_stand_rows(const struct o2_liar_stand *stand);
/* The sentence of a report: what the lie does, and the reaction that must follow. */
void o2_liar_stand_sentence(const struct o2_liar_lie *lie, char text[O2_LIAR_SHOWN]);

/* Install the stand-in while the command runs; stand: shared with its processes.  down: remove it. */
void o2_liar_stand_in(const struct o2_command_memory *memory, struct o2_liar_stand *stand);
void o2_liar_stand_down(const struct o2_command_memory *memory);

#endif
