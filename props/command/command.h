/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_COMMAND_H
#define O2_PROPS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "props/command/wrap/pcap.h"

/* One run of o2ref, which is beside this program: what it is told, and what it says. */

#define O2_COMMAND_WORDS 48u
#define O2_COMMAND_BYTES (1u << 20) /* of an output; what is more is cut */
#define O2_COMMAND_WORD	 200u
/* Files that it can be told to write to, by these names. */
#define O2_COMMAND_FILES 3u
#define O2_COMMAND_FILE	 "/proc/self/fd/%u"
#define O2_COMMAND_FD(i) (3u + (i))

/* Where allocations of a command in a process of ours can fail, and are counted (props/talk/wrap/alloc_fault.h). */
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
	/* Standard input; NULL: nothing. */
	const uint8_t *input;
	size_t input_bytes;
	/* The program's own function for it, called in a process of ours; NULL: the program is run. */
	int (*command)(int argc, char **argv);
	bool full;				/* nothing can be written to its standard output */
	bool terminal;				/* which is a terminal, whose text is not kept */
	bool alone;				/* no other program is beside it */
	bool broken;				/* its standard input fails behind those bytes: ECONNRESET */
	int signal;				/* that it gets when it has said something; 0: none */
	const struct o2_command_memory *memory; /* NULL: nowhere */
	uint32_t fail_nth;			/* allocation of the command's own; 0: none */
	bool failed;				/* it has */
	uint32_t made;				/* allocations up to its end; known if none was to fail */
	int64_t left;				/* pieces that it has not freed */
	int open;				/* files that it has opened and not closed */
	uint64_t began_ns;			/* on the clock of the wall */
	/* What came of it.  status: of the exit; -1: it was killed, or could not be run. */
	int status;
	char out[O2_COMMAND_BYTES + 1], err[O2_COMMAND_BYTES + 1];
	char file[O2_COMMAND_FILES][O2_COMMAND_BYTES + 1];
};

/* What standard input says; it outlives the run.  NULL and 0: nothing. */
void o2_command_input(struct o2_command_run *run, const void *bytes, size_t count);
/* Another word of the command line, printed. */
void o2_command_word(struct o2_command_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A word, as it is, where the line has it. */
void o2_command_word_if(struct o2_command_run *run, bool has, const char *word);

/* False: the program is not there. */
bool o2_command_execute(struct o2_command_run *run);

/* What a file has, from its beginning, of at most O2_COMMAND_BYTES, and a NUL. */
void o2_command_take(int fd, char *text);

#endif
