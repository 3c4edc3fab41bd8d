/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_OWN_PATH_H
#define O2_BASE_OWN_PATH_H

#include <stddef.h>

/*
 * The path of the running program; or, with a name, of another program in the same folder, which need not exist.
 * Returns 0, or -errno with an empty path: -ENAMETOOLONG if the path does not fit.  Source: proc(5).
 */
int o2_own_path(const char *name, char *path, size_t bytes);

#endif
