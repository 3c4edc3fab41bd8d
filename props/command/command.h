/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_COMMAND_H
#define O2_PROPS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "props/command/wrap/pcap.h"

/* One run of o2ref, the program in the same folder as this one: its input, and its output. */

#define O2_COMMAND_WORDS 48u
#define O2_COMMAND_BYTES (1u << 20) /* of an output; the rest is cut off */
#define O2_COMMAND_WORD	 200u
/* Files that the command can write to, and their names. */
#define O2_COMMAND_FILES 3u
#define O2_COMMAND_FILE	 "/proc/self/fd/%u"
#define O2_COMMAND_FD(i) (3u + (i))

/* Hooks for a command in a forked child: make allocations fail, count them (props/talk/wrap/alloc_fault.h). */
struct o2_command_memory {
	void (*fail)(uint32_t nth);
	bool (*failed)(void);
	uint32_t (*hold)(void);
	void (*go_on)(uint32_t held);
	int64_t (*live)(void);
	void (*pcap_live)(const struct o2_pcap_live *live);
	/* props/talk/wrap/exec.h */
	void (*exec_as)(int (*function)(const char *path, char *const argv[]));
	void (*lacks_pipe)(unsigned int nth, int code);
	void (*lacks_process)(unsigned int nth, int code);
	void (*lacks_stream)(unsigned int nth, int code);
};

struct o2_command_run {
	uint32_t words;
	char word[O2_COMMAND_WORDS][O2_COMMAND_WORD];
	/* Standard input; NULL: empty. */
	const uint8_t *input;
	size_t input_bytes;
	/* The command's own function, called in a forked child; NULL: the program is executed. */
	int (*command)(int argc, char **argv);
	bool full;     /* no write to its standard output succeeds */
	bool terminal; /* standard output is a terminal; its text is not kept */
	bool alone;    /* the command finds no other program beside it */
	bool broken;   /* its standard input fails behind the given bytes: ECONNRESET */
	int signal;    /* sent to it after its first output; 0: none */
	const struct o2_command_memory *memory; /* NULL: no hooks */
	uint32_t fail_nth;			/* the command's allocation that fails; 0: none */
	bool failed;				/* that allocation was made and failed */
	uint32_t made;				/* number of allocations; known if none was to fail */
	int64_t left;				/* allocations that it has not freed */
	int open;				/* files that it opened and did not close */
	uint64_t began_ns;			/* wall clock */
	/* The outcome.  status: exit status; -1: it was killed, or could not be run. */
	int status;
	char out[O2_COMMAND_BYTES + 1], err[O2_COMMAND_BYTES + 1];
	char file[O2_COMMAND_FILES][O2_COMMAND_BYTES + 1];
};

/* Set standard input.  The bytes must outlive the run.  NULL and 0: empty. */
void o2_command_input(struct o2_command_run *run, const void *bytes, size_t count);
/* Append a formatted word to the command line. */
void o2_command_word(struct o2_command_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Append a word as it is, if `has`. */
void o2_command_word_if(struct o2_command_run *run, bool has, const char *word);

/* Run the command.  False: the program does not exist. */
bool o2_command_execute(struct o2_command_run *run);

/* Read a file from its beginning, at most O2_COMMAND_BYTES, into text, and append a NUL. */
void o2_command_take(int fd, char *text);

#endif
