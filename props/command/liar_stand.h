/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LIAR_STAND_H
#define O2_PROPS_LIAR_STAND_H

#include "props/command/command.h"
#include "props/command/liar_talk.h"

/* What is in place of o2props while conform --hostile runs: it says what was drawn. */

#define O2_LIAR_LIES  5u
#define O2_LIAR_SHOWN 192u
#define O2_LIAR_TABLE 512u /* rows that conform reads: what is behind them it does not know */

enum o2_liar_outcome {
	O2_LIAR_MET,
	O2_LIAR_TOLERATED,
	O2_LIAR_NOT_MET,
	O2_LIAR_NOT_TRIED,
};

struct o2_liar_lie {
	char name[48], what[O2_LIAR_SHOWN], reaction[O2_LIAR_SHOWN], why[80];
	enum o2_liar_outcome outcome;
	uint32_t style; /* of its row in the table */
	uint32_t decoy; /* what is in front of the row, and is none; 0: nothing */
	struct o2_liar_talk talk;
};

/* Of the liar's processes; what it was told comes back. */
struct o2_liar_stand {
	uint32_t nlies;
	struct o2_liar_lie lie[O2_LIAR_LIES];
	uint32_t rows;	    /* of its table, from the first lie on; the others it does not have */
	uint32_t others;    /* rows in front of them */
	int list_status;    /* of the table */
	int status;	    /* of all others; -1: it is killed */
	bool odd;	    /* what it says has other lines in it */
	uint32_t unstarted; /* 1: its table cannot be asked for, 2: nor can it be started; 0: it can */
	enum o2_liar_lack { O2_LIAR_NO_PIPE, O2_LIAR_NO_PROCESS, O2_LIAR_NO_PROGRAM, O2_LIAR_NO_STREAM } lack;
	char told[1024]; /* the words of the second call, with a blank behind each */
	uint32_t calls;
};

void o2_liar_stand_draw(struct o2_choice *c, struct o2_liar_stand *stand);

/* Rows of lies that are read: of a table that is too long not all. */
uint32_t o2_liar_stand_rows(const struct o2_liar_stand *stand);
/* What a report says that it does, and has to come of it. */
void o2_liar_stand_sentence(const struct o2_liar_lie *lie, char text[O2_LIAR_SHOWN]);

/* While the command runs; stand: shared with its processes. */
void o2_liar_stand_in(const struct o2_command_memory *memory, struct o2_liar_stand *stand);
void o2_liar_stand_down(const struct o2_command_memory *memory);

#endif
