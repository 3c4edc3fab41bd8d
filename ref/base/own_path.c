/* SPDX-License-Identifier: MIT */
#include "base/own_path.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int o2_own_path(const char *name, char *path, size_t bytes)
{
	const ssize_t length = readlink("/proc/self/exe", path, bytes);
	const int rc = length < 0 ? -errno : (size_t)length >= bytes ? -ENAMETOOLONG : 0;
	char *slash;

	if (rc != 0) {
		path[0] = '\0';
		return rc;
	}
	path[length] = '\0';
	if (name == NULL)
		return 0;
	slash = strrchr(path, '/');
	if ((size_t)(slash + 1 - path) + strlen(name) >= bytes) {
		path[0] = '\0';
		return -ENAMETOOLONG;
	}
	strcpy(slash + 1, name);
	return 0;
}
