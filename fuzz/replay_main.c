/* SPDX-License-Identifier: MIT */
/*
 * The plain driver of a fuzz target: runs files, and the files of directories, through the target once each.
 *
 *   fuzz_TARGET_replay [--verbose] PATH...
 *
 * Prints how many files ran.  Exit 0: all of them passed; 1: one failed, and its name is on stderr; 2: usage,
 * a path that cannot be read, or no file.  Source: docs/fuzzing.md, "Replay".
 *
 * All files run in this process.  A target fails by a signal, so a handler names the file at work; where a
 * sanitizer ends the process itself, its death callback does.
 */
#include "fuzz/common.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Far larger than any target's max_len (fuzz/targets.txt): such a file is not a case. */
#define MAX_FILE_BYTES (1u << 20)

/* A case that takes longer is reported as hanging. */
#define MAX_CASE_S 60u

#define HANDLER_BYTES (64u << 10)

static const char *program;
static const char *volatile current; /* the file being run, or NULL */
static bool verbose;

/* Registers the callback that a sanitizer calls before it ends the process; absent without a sanitizer. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/* write(2) only: this runs in signal handlers. */
static void put(const char *text)
{
	if (text != NULL && write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

/* As one word of a shell, which the user types again. */
static void put_word(const char *text)
{
	put("'");
	for (size_t n; *text != '\0'; text += n) {
		char part[256];

		n = strcspn(text, "'");
		n = n < sizeof(part) ? n : sizeof(part) - 1;
		memcpy(part, text, n);
		part[n] = '\0';
		put(part);
		if (text[n] == '\'') {
			put("'\\''");
			n++;
		}
	}
	put("'");
}

static void name_the_file(void)
{
	if (current == NULL)
		return;
	put("FAILED: ");
	put(current);
	put("\n  replay: ");
	put_word(program);
	put(" ");
	put_word(current);
	put("\n");
	current = NULL;
}

static void on_signal(int number)
{
	if (number == SIGALRM)
		put("the case did not end in 60 s\n");
	name_the_file();
	_exit(1);
}

/* On a stack of its own: a case may have used up the other one. */
static void handle_signals(void)
{
	static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGTRAP};
	static uint8_t room[HANDLER_BYTES];
	const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

static int run_file(const char *path)
{
	uint8_t *bytes = malloc(MAX_FILE_BYTES);
	FILE *stream = bytes == NULL ? NULL : fopen(path, "rb");
	size_t length;
	uint8_t *exact;

	if (stream == NULL) {
		fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
		free(bytes);
		return -1;
	}
	length = fread(bytes, 1, MAX_FILE_BYTES, stream);
	if (ferror(stream)) {
		fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
		fclose(stream);
		free(bytes);
		return -1;
	}
	fclose(stream);
	if (length == MAX_FILE_BYTES) {
		fprintf(stderr, "%s: %s: not below %u bytes\n", program, path, MAX_FILE_BYTES);
		free(bytes);
		return -1;
	}
	/* A block of the exact size, so that a sanitizer sees a read past the end. */
	exact = realloc(bytes, length == 0 ? 1 : length);
	exact = exact == NULL ? bytes : exact;
	if (verbose)
		fprintf(stderr, "%s (%zu bytes)\n", path, length);
	current = path;
	alarm(MAX_CASE_S);
	LLVMFuzzerTestOneInput(exact, length);
	alarm(0);
	current = NULL;
	free(exact);
	return 0;
}

static int run_path(const char *path, size_t *count);

/* In the order of names, so that all runs are alike. */
static int run_directory(const char *path, size_t *count)
{
	struct dirent **entry;
	const int n = scandir(path, &entry, NULL, alphasort);
	int rc = 0;

	if (n < 0) {
		fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
		return -1;
	}
	for (int i = 0; i < n; i++) {
		char inner[4096];

		/* Dot files are not cases. */
		if (entry[i]->d_name[0] != '.' && rc == 0) {
			snprintf(inner, sizeof(inner), "%s/%s", path, entry[i]->d_name);
			rc = run_path(inner, count);
		}
		free(entry[i]);
	}
	free(entry);
	return rc;
}

static int run_path(const char *path, size_t *count)
{
	struct stat status;

	if (stat(path, &status) != 0) {
		fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
		return -1;
	}
	if (S_ISDIR(status.st_mode))
		return run_directory(path, count);
	(*count)++;
	return run_file(path);
}

int main(int argc, char **argv)
{
	size_t count = 0;
	int first = 1;

	program = argv[0];
	if (argc > 1 && strcmp(argv[1], "--verbose") == 0) {
		verbose = true;
		first = 2;
	}
	if (argc <= first || argv[first][0] == '-') {
		fprintf(stderr, "usage: %s [--verbose] PATH...\n", program);
		return 2;
	}
	handle_signals();
	if (__sanitizer_set_death_callback != NULL)
		__sanitizer_set_death_callback(name_the_file);
	for (int i = first; i < argc; i++)
		if (run_path(argv[i], &count) != 0)
			return 2;
	printf("%s: %zu files, all passed\n", program, count);
	return count > 0 ? 0 : 2;
}
