/* SPDX-License-Identifier: MIT */
#include "tests/judge/wire/vectors_run.h"

/*
 * wire_vectors_flat FILE: run every vector of corpus/vectors/vectors.txt.  It needs only the C library and the
 * codec of ref/wire, so that it can be built for other machines.  The last line is "N passed, N failed"; the exit
 * status is 0 if none failed, 1 if some did, 2 if FILE cannot be read or is empty.
 */
int main(int argc, char **argv)
{
	unsigned int passed = 0, failed = 0;
	char *line = NULL;
	size_t size = 0;
	FILE *file;

	if (argc != 2) {
		fprintf(stderr, "usage: wire_vectors_flat FILE\n");
		return 2;
	}
	file = fopen(argv[1], "r");
	if (file == NULL) {
		fprintf(stderr, "wire_vectors_flat: %s: %s\n", argv[1], strerror(errno));
		return 2;
	}
	while (getline(&line, &size, file) > 0) {
		if (vector_run(line, stdout))
			passed++;
		else
			failed++;
	}
	free(line);
	fclose(file);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0 ? 1 : passed == 0 ? 2 : 0;
}
