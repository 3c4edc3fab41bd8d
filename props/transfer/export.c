/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "props/engine/case_file.h"
#include "props/transfer/transfer_run.h"

static const char *vector_name(enum o2_vector_kind kind)
{
	return kind == O2_IOV ? "iov" : "kiov";
}

/* A file name that describes the case.  Returns 0 or -ENAMETOOLONG. */
static int name_case(const struct o2_scenario *scenario, const struct o2_prediction *told,
		     const char *directory, char *path, size_t path_bytes)
{
	const int length = snprintf(
		path, path_bytes, "%s/%s-%s-to-%s-%s-%s-%llu-bytes-%u-on-%u%s", directory,
		scenario->op == O2_OP_PUT ? "put" : "get", o2_reg_mode_name(scenario->source.mode),
		o2_reg_mode_name(scenario->sink.mode), vector_name(scenario->source.vector),
		vector_name(scenario->sink.vector), (unsigned long long)o2_scenario_moved(scenario),
		told->source_entries, told->sink_entries, told->verdict == O2_MOVES ? "" : "-refused");

	return length >= (int)path_bytes ? -ENAMETOOLONG : 0;
}

/* The page table that the predictor needs; it is the same in every arena. */
static const uint32_t *view_page(const struct o2_transfer_run *run, enum o2_side which,
				 const struct o2_scenario_side *side)
{
	return side->vector == O2_IOV ? run->image[which][side->kind]->arena->view[side->view].page : NULL;
}

int o2_run_export(const struct o2_transfer_run *run, const char *directory, uint64_t seed, uint64_t cases,
		  uint64_t max_nob)
{
	struct o2_choice *choice = calloc(1, sizeof(*choice));
	struct o2_scenario *scenario = calloc(1, sizeof(*scenario));
	int rc = choice == NULL || scenario == NULL ? -ENOMEM : 0;

	if (rc == 0 && mkdir(directory, 0777) != 0 && errno != EEXIST)
		rc = -errno;
	for (uint64_t i = 0; rc == 0 && i < cases; i++) {
		struct o2_prediction told;
		char path[PATH_MAX];

		o2_choice_random(choice, seed, i);
		o2_scenario_draw(choice, &run->space, scenario);
		if (!o2_choice_ok(choice) || scenario->source.nob > max_nob || scenario->sink.nob > max_nob)
			continue;
		o2_predict(scenario, view_page(run, O2_SOURCE, &scenario->source),
			   view_page(run, O2_SINK, &scenario->sink),
			   o2_arena_iommu(run->image[O2_SOURCE][O2_DMA_IOMMU]->arena), &told);
		rc = name_case(scenario, &told, directory, path, sizeof(path));
		if (rc == 0)
			rc = o2_case_write(path, choice->record, choice->record_bytes);
	}
	free(choice);
	free(scenario);
	return rc;
}
