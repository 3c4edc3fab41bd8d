/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CMD_RESULT_H
#define O2_PROPS_CMD_RESULT_H

#include <jansson.h>

#include "props/cmd/options.h"

/*
 * Report the result of a run (props/engine/run.h), if it has one, as text and as JSON.
 * name: of the property. line: how the run went. result: ownership is taken; NULL when nothing was run. Returns the
 * exit status: rc, unless the result cannot be written.
 */
int o2_props_report(const struct o2_props_arguments *a, const char *name, const char *line, json_t *result,
		    int rc);

#endif
