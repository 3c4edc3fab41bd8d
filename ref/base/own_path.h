/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_OWN_PATH_H
#define O2_BASE_OWN_PATH_H

#include <stddef.h>

/*
 * The path of the program that runs; with a name, that of another program of the same folder, which need not be
 * there.  Returns 0, or -errno with an empty path: -ENAMETOOLONG where it does not fit.  Source: proc(5).
 */
int o2_own_path(const char *name, char *path, size_t bytes);

#endif
