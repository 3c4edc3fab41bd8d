/* SPDX-License-Identifier: MIT */
/* A process that can open no more descriptors. */
#include "props/check/hosts_scarce.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>

#define STANDARD 3u    /* descriptors that stay usable */
#define MOST	 1024u /* descriptors that are examined */

static struct rlimit before;
static bool scarce;

static bool is_open(uint32_t fd)
{
	return fcntl((int)fd, F_GETFD) >= 0;
}

void o2_hosts_scarce(uint32_t left)
{
	struct rlimit now;
	uint32_t limit = STANDARD;

	if (scarce || getrlimit(RLIMIT_NOFILE, &before) != 0)
		abort();
	for (; left > 0 && limit < MOST; limit++)
		left -= !is_open(limit);
	now = (struct rlimit){.rlim_cur = limit, .rlim_max = before.rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &now) != 0)
		abort();
	scarce = true;
}

void o2_hosts_plenty(void)
{
	if (scarce && setrlimit(RLIMIT_NOFILE, &before) != 0)
		abort();
	scarce = false;
}

uint32_t o2_hosts_open(void)
{
	uint32_t count = 0;

	for (uint32_t fd = 0; fd < MOST; fd++)
		count += is_open(fd);
	return count;
}
