/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_BACKTRACE_H
#define O2_ORACLE_BACKTRACE_H

#include <jansson.h>
#include <stdint.h>

/*
 * The calls that led to the end of a process, one text for each, the innermost first: "my_map at mine.c:42"
 * where the object has symbols and addr2line(1) is installed, else "mine.so+0x11b9".  frame: offsets in the
 * object, as its link addresses have them.  A new array; NULL when memory runs out.
 */
json_t *o2_backtrace(const char *object, const uint64_t *frame, uint32_t nframes);

#endif
