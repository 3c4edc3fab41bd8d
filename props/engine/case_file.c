/* SPDX-License-Identifier: MIT */
#include "props/engine/case_file.h"

#include "props/engine/choice.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read until `capacity` bytes or the end of the file.  Returns the number of bytes, or a negative errno. */
static ssize_t read_all(int fd, uint8_t *bytes, size_t capacity)
{
	size_t have = 0;

	while (have < capacity) {
		const ssize_t n = read(fd, bytes + have, capacity - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

static int write_all(int fd, const uint8_t *bytes, size_t n)
{
	while (n > 0) {
		const ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

int o2_case_read(const char *path, uint8_t *bytes, size_t *length_bytes)
{
	uint8_t one_more;
	ssize_t have, extra = 0;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	have = read_all(fd, bytes, O2_CHOICE_MAX_BYTES);
	if (have == (ssize_t)O2_CHOICE_MAX_BYTES)
		extra = read_all(fd, &one_more, 1);
	close(fd);
	if (have < 0)
		return (int)have;
	if (extra != 0)
		return extra < 0 ? (int)extra : -EFBIG;
	*length_bytes = (size_t)have;
	return 0;
}

int o2_case_write(const char *path, const uint8_t *bytes, size_t length_bytes)
{
	char temporary[PATH_MAX];
	int fd, code;

	if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	code = write_all(fd, bytes, length_bytes);
	if (code == 0 && fchmod(fd, 0644) != 0)
		code = -errno;
	if (close(fd) != 0 && code == 0)
		code = -errno;
	if (code == 0 && rename(temporary, path) != 0)
		code = -errno;
	if (code != 0)
		unlink(temporary);
	return code;
}

void o2_case_name(const uint8_t *bytes, size_t length_bytes, char name[O2_CASE_NAME_BYTES])
{
	uint64_t hash = o2_mix64(length_bytes + 1);

	for (size_t i = 0; i < length_bytes; i++)
		hash = o2_mix64(hash + bytes[i]);
	snprintf(name, O2_CASE_NAME_BYTES, "%016llx", (unsigned long long)hash);
}
