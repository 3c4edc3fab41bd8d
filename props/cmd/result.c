/* SPDX-License-Identifier: MIT */
#include "props/cmd/result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/complain.h"
#include "props/world/judged.h"

/* Print how much the judge has checked. */
static void print_judged(FILE *out)
{
	const struct o2_judged *judged = &o2_judged_all;

	if (judged->messages > 0)
		fprintf(out,
			"  judged: %" PRIu64 " messages and %" PRIu64 " WRITEs on %" PRIu64 " connections\n",
			judged->messages, judged->writes, judged->connections);
}

/* Print the summary as text; to standard error if standard output carries JSON. */
static void print_summary(const struct o2_props_arguments *a, const char *name, const char *line,
			  const json_t *result)
{
	const json_t *missing = json_object_get(result, "missing");
	FILE *out = a->json ? stderr : stdout;

	fprintf(out, "%s on %s: %s; %zu findings, ", name, a->device, line,
		json_array_size(json_object_get(result, "findings")));
	if (a->run.exhaustive == 0)
		fprintf(out, "%zu situations missing\n", json_array_size(missing));
	else
		fprintf(out, "%s\n",
			json_is_true(json_object_get(result, "complete")) ? "every case" : "not every case");
	print_judged(out);
	for (size_t i = 0; i < json_array_size(missing); i++)
		fprintf(out, "  missing: %s\n", json_string_value(json_array_get(missing, i)));
}

int o2_props_report(const struct o2_props_arguments *a, const char *name, const char *line, json_t *result,
		    int rc)
{
	if (result == NULL)
		return rc;
	print_summary(a, name, line, result);
	if (a->json) {
		if (json_dumpf(result, stdout, JSON_INDENT(1)) != 0)
			rc = o2_complain("o2props", "standard output: %s", strerror(errno));
		printf("\n");
	}
	if (a->json_path != NULL && json_dump_file(result, a->json_path, JSON_INDENT(1)) != 0)
		rc = o2_complain("o2props", "cannot write %s: %s", a->json_path, strerror(errno));
	json_decref(result);
	return rc;
}
