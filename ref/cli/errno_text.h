/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_ERRNO_TEXT_H
#define O2_CLI_ERRNO_TEXT_H

#include <stdint.h>

#define O2_STATUS_TEXT_BYTES 48u

/* The status of a completion message as text: "65536", or "-61 ENODATA".  The errno values are Linux's. */
void o2_status_text(int32_t status, char text[O2_STATUS_TEXT_BYTES]);

#endif
