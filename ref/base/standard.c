/* SPDX-License-Identifier: MIT */
#include "base/standard.h"

#include <fcntl.h>
#include <unistd.h>

/* open(2) returns the lowest free number. */
void o2_standard_hold(void)
{
	for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
		if (fcntl(number, F_GETFD) < 0 &&
		    open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
}
