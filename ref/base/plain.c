/* SPDX-License-Identifier: MIT */
#include "base/plain.h"

#include <ctype.h>

void o2_make_plain(char *text)
{
	for (char *c = text; *c != '\0'; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
}
