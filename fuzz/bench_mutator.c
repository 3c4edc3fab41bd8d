/* SPDX-License-Identifier: MIT */
/*
 * Makes libFuzzer replay files instead of mutating them, so that a target's rate on a fixed corpus can be
 * measured (docs/fuzzing.md, "The rate").  The engine asks its mutator for every input; this one hands out
 * the files that the environment variable O2_BENCH_FILES lists, one path to a line, in turn.  Reading them
 * happens once, outside the measured time.
 *
 * At exit it prints "o2bench: EXECUTIONS SECONDS" to stdout, seconds of processor time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_FILES      4096u
#define MAX_FILE_BYTES 65536u

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
int LLVMFuzzerInitialize(int *argc, char ***argv);

struct bench_file {
	uint8_t *bytes;
	size_t length;
};

static struct bench_file file[MAX_FILES];
static size_t nfiles;
static uint64_t executions;
static double started;

/* Processor time, not wall-clock time: other work on the machine must not count. */
static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void report(void)
{
	if (executions > 0)
		printf("o2bench: %llu %.6f\n", (unsigned long long)executions, processor_seconds() - started);
	fflush(stdout);
	while (nfiles > 0)
		free(file[--nfiles].bytes);
}

static void give_up(const char *what, const char *path)
{
	fprintf(stderr, "o2bench: %s: %s\n", what, path);
	exit(2);
}

static void read_one(const char *path)
{
	FILE *stream = fopen(path, "rb");
	uint8_t *bytes = malloc(MAX_FILE_BYTES);

	if (stream == NULL || bytes == NULL)
		give_up("cannot read", path);
	if (nfiles == MAX_FILES)
		give_up("more than 4096 files", path);
	file[nfiles].bytes = bytes;
	file[nfiles++].length = fread(bytes, 1, MAX_FILE_BYTES, stream);
	fclose(stream);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *paths = getenv("O2_BENCH_FILES");
	char *copy = paths == NULL ? NULL : strdup(paths);
	char *rest = NULL;

	(void)argc;
	(void)argv;
	if (copy == NULL || *copy == '\0')
		give_up("no files", "O2_BENCH_FILES");
	for (char *path = strtok_r(copy, "\n", &rest); path != NULL; path = strtok_r(NULL, "\n", &rest))
		read_one(path);
	free(copy);
	atexit(report);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	const struct bench_file *next = &file[executions % nfiles];

	(void)size;
	(void)seed;
	if (executions++ == 0)
		started = processor_seconds();
	if (next->length > max_size)
		give_up("a file is longer than max_len", "O2_BENCH_FILES");
	memcpy(data, next->bytes, next->length);
	return next->length;
}
