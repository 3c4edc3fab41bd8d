/* SPDX-License-Identifier: MIT */
#include "cli/errno_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/errno_name.h"

void o2_status_text(int32_t status, char text[O2_STATUS_TEXT_BYTES])
{
	const char *name = status < 0 ? o2_errno_symbol(status) : NULL;

	snprintf(text, O2_STATUS_TEXT_BYTES, "%" PRId32 "%s%s", status, name == NULL ? "" : " ",
		 name == NULL ? "" : name);
}
