/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTS_TRIAL_H
#define O2_PROPS_HOSTS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oracle/stage.h"
#include "props/check/hosts.h"

/*
 * A program that `check --selftest` is to try, as a shell's script: what it does in each of its lives, and the lines
 * that have to be said of it.
 */

/* How an answer is not one. */
enum o2_hosts_way {
	O2_HOSTS_RIGHT,
	O2_HOSTS_SHORT_HEAD, /* fewer bytes than a length has */
	O2_HOSTS_BARE,	     /* JSON without a length */
	O2_HOSTS_TEXT,
	O2_HOSTS_BIG_ENDIAN,
	O2_HOSTS_OWN_LENGTH, /* counts itself */
	O2_HOSTS_OVERLONG,
	O2_HOSTS_WRONG_JSON,
	O2_HOSTS_WITHOUT_FORM,
	O2_HOSTS_FORM_OF_ANOTHER,
	O2_HOSTS_OTHER_VERSION,
	O2_HOSTS_LEAVES, /* the process does, without an answer */
	O2_HOSTS_WAYS,
};

struct o2_hosts_trial {
	struct o2_hosts_run *run;
	enum o2_stage stage;   /* that is asked for */
	bool told[O2_STAGES];  /* of version 2: it has said that it has them */
	uint32_t lives, lines; /* so far */
	uint32_t scarce_after; /* lines, behind which there are no descriptors */
	uint32_t timeout_ms;
	bool wrong, cannot;
	char words[256]; /* what is said of what it does wrong */
	int counter, ears, file;
	char script[16384], due[4096], said[8192], asked[16384];
	size_t script_bytes, due_bytes, said_bytes, asked_bytes;
	uint32_t said_lines;
};

void o2_hosts_trial_begin(struct o2_hosts_trial *trial, struct o2_hosts_run *run, uint32_t scarce_after);
/* What o2_oracle_selftest returns; program: NULL for the shell with the script. */
int o2_hosts_trial_run(struct o2_hosts_trial *trial, const char *program);
void o2_hosts_trial_end(struct o2_hosts_trial *trial);

/* A line that has to be said, without its end; commands of the life at hand. */
void o2_hosts_due_line(struct o2_hosts_trial *trial, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void o2_hosts_script(struct o2_hosts_trial *trial, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* It reads one request; were they what they have to be? */
void o2_hosts_hear(struct o2_hosts_trial *trial);
bool o2_hosts_heard(const struct o2_hosts_trial *trial);

/* An answer of the stage, perhaps one that says which stages of version 2 there are; more in the same breath. */
void o2_hosts_print_right(struct o2_hosts_trial *trial, bool tells);
void o2_hosts_print_more(struct o2_hosts_trial *trial, const char *more, size_t bytes);

/* None; with words of it. */
enum o2_hosts_way o2_hosts_draw_way(struct o2_hosts_trial *trial);
void o2_hosts_print_wrong(struct o2_hosts_trial *trial, enum o2_hosts_way way);
/* The end of the life, by a status or a signal, with words of it; aloud: words of its own on standard error. */
void o2_hosts_go(struct o2_hosts_trial *trial, bool aloud);

#endif
