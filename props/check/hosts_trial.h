/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTS_TRIAL_H
#define O2_PROPS_HOSTS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oracle/stage.h"
#include "props/check/hosts.h"

/*
 * A shell script that `check --selftest` is to try: what it does in each of its lives, and the lines that the
 * selftest must print about it.
 */

/* What is wrong with an answer. */
enum o2_hosts_way {
	O2_HOSTS_RIGHT,
	O2_HOSTS_SHORT_HEAD, /* fewer bytes than a length field has */
	O2_HOSTS_BARE,	     /* JSON without a length in front */
	O2_HOSTS_TEXT,
	O2_HOSTS_BIG_ENDIAN,
	O2_HOSTS_OWN_LENGTH, /* the length counts itself */
	O2_HOSTS_OVERLONG,
	O2_HOSTS_WRONG_JSON,
	O2_HOSTS_WITHOUT_FORM,
	O2_HOSTS_FORM_OF_ANOTHER,
	O2_HOSTS_OTHER_VERSION,
	O2_HOSTS_LEAVES, /* the process exits without an answer */
	O2_HOSTS_WAYS,
};

struct o2_hosts_trial {
	struct o2_hosts_run *run;
	enum o2_stage stage;   /* the stage that is asked */
	bool told[O2_STAGES];  /* stages of version 2 that the program has announced */
	uint32_t lives, lines; /* number so far */
	uint32_t scarce_after; /* lines after which no descriptor can be opened */
	uint32_t timeout_ms;
	bool wrong, cannot, gone;
	char words[256]; /* how the selftest must describe what is wrong */
	int counter, ears, file;
	char script[16384], due[4096], said[8192], asked[16384];
	size_t script_bytes, due_bytes, said_bytes, asked_bytes;
	uint32_t said_lines;
};

void o2_hosts_trial_begin(struct o2_hosts_trial *trial, struct o2_hosts_run *run, uint32_t scarce_after);
/* Returns what o2_oracle_selftest returns.  program: NULL for the shell with the script. */
int o2_hosts_trial_run(struct o2_hosts_trial *trial, const char *program);
void o2_hosts_trial_end(struct o2_hosts_trial *trial);

/* Append a line that must be printed, without its newline; append commands to the script of the current life. */
void o2_hosts_due_line(struct o2_hosts_trial *trial, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void o2_hosts_script(struct o2_hosts_trial *trial, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* hear: the script reads one request.  heard: were the requests the right ones? */
void o2_hosts_hear(struct o2_hosts_trial *trial);
bool o2_hosts_heard(const struct o2_hosts_trial *trial);

/* right: print an answer of the stage; tells: with its stages of version 2.  more: print one, and bytes behind it. */
void o2_hosts_print_right(struct o2_hosts_trial *trial, bool tells);
void o2_hosts_print_more(struct o2_hosts_trial *trial, const char *more, size_t bytes);

/* Draw what is wrong with an answer; print such an answer, and set words to its description. */
enum o2_hosts_way o2_hosts_draw_way(struct o2_hosts_trial *trial);
void o2_hosts_print_wrong(struct o2_hosts_trial *trial, enum o2_hosts_way way);
/* End the life by a status or a signal, and set words.  aloud: print a line on standard error first. */
void o2_hosts_go(struct o2_hosts_trial *trial, bool aloud);

#endif
