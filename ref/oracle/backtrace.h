/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_BACKTRACE_H
#define O2_ORACLE_BACKTRACE_H

#include <jansson.h>
#include <stdint.h>

/*
 * The call stack of a process that has ended, one text per call, innermost first: "my_map at mine.c:42" if
 * the object has symbols and addr2line(1) is installed, otherwise "mine.so+0x11b9".  frame: addresses as
 * linked, i.e. offsets from the object's load address.  Returns a new array; NULL when memory runs out.
 */
json_t *o2_backtrace(const char *object, const uint64_t *frame, uint32_t nframes);

#endif
