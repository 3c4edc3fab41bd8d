/* SPDX-License-Identifier: MIT */
#include "cli/errno_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ERRNO_AT_MOST 4095 /* the kernel's own limit: what is further below zero is no errno */

void o2_status_text(int32_t status, char text[O2_STATUS_TEXT_BYTES])
{
	const char *name = NULL;

	if (status < 0 && status >= -ERRNO_AT_MOST)
		name = strerrorname_np(-status);
	snprintf(text, O2_STATUS_TEXT_BYTES, "%" PRId32 "%s%s", status, name == NULL ? "" : " ",
		 name == NULL ? "" : name);
}
