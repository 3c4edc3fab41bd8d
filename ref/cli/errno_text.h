/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_ERRNO_TEXT_H
#define O2_CLI_ERRNO_TEXT_H

#include <stdint.h>

#define O2_STATUS_TEXT_BYTES 48u

/* A completion's status for people: "65536", or "-61 ENODATA".  The numbers are Linux's. */
void o2_status_text(int32_t status, char text[O2_STATUS_TEXT_BYTES]);

#endif
