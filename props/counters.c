/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "props/run.h"

/* Path MTU of the largest RoCE packet payload: what the counters of packets are held against. */
#define MTU_BYTES 4096u

json_t *o2_hw_counters(const char *device)
{
	json_t *counters = json_object();
	char path[512];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters", device);
	directory = opendir(path);
	if (directory == NULL)
		return counters;
	while ((entry = readdir(directory)) != NULL) {
		char file[800];
		long long value;
		FILE *stream;

		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		stream = entry->d_name[0] != '.' ? fopen(file, "r") : NULL;
		if (stream == NULL)
			continue;
		if (fscanf(stream, "%lld", &value) == 1)
			json_object_set_new(counters, entry->d_name, json_integer(value));
		fclose(stream);
	}
	closedir(directory);
	return counters;
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *pairs_to_json(const struct o2_transfer_run *run)
{
	json_t *pairs = json_object();

	for (uint32_t i = 0; i < O2_REG_MODES; i++) {
		json_t *row = json_object();

		for (uint32_t j = 0; j < O2_REG_MODES; j++)
			json_object_set_new(row, o2_reg_mode_name((enum o2_reg_mode)j),
					    number(run->counters.pair[i][j]));
		json_object_set_new(pairs, o2_reg_mode_name((enum o2_reg_mode)i), row);
	}
	return pairs;
}

static json_t *situations_to_json(const struct o2_counters *c)
{
	const struct {
		const char *name;
		uint64_t value;
	} all[] = {
		{"put", c->put},
		{"get", c->get},
		{"short", c->short_transfers},
		{"source_iov", c->source_vector[O2_IOV]},
		{"source_kiov", c->source_vector[O2_KIOV]},
		{"sink_iov", c->sink_vector[O2_IOV]},
		{"sink_kiov", c->sink_vector[O2_KIOV]},
		{"bus_bus", c->kind_pair[O2_DMA_BUS][O2_DMA_BUS]},
		{"bus_virtual", c->kind_pair[O2_DMA_BUS][O2_DMA_VIRTUAL]},
		{"virtual_bus", c->kind_pair[O2_DMA_VIRTUAL][O2_DMA_BUS]},
		{"virtual_virtual", c->kind_pair[O2_DMA_VIRTUAL][O2_DMA_VIRTUAL]},
		{"bus_iommu", c->kind_pair[O2_DMA_BUS][O2_DMA_IOMMU]},
		{"virtual_iommu", c->kind_pair[O2_DMA_VIRTUAL][O2_DMA_IOMMU]},
		{"iommu_bus", c->kind_pair[O2_DMA_IOMMU][O2_DMA_BUS]},
		{"iommu_virtual", c->kind_pair[O2_DMA_IOMMU][O2_DMA_VIRTUAL]},
		{"iommu_iommu", c->kind_pair[O2_DMA_IOMMU][O2_DMA_IOMMU]},
		{"coalesced", c->coalesced},
		{"staged", c->staged},
		{"per_segment", c->per_segment},
		{"fragments_3", c->fragments_3},
		{"fragments_65", c->fragments_65},
		{"bytes_256k", c->bytes_256k},
		{"pages_257", c->pages_257},
		{"one_byte", c->one_byte},
		{"gaps", c->gaps},
		{"work_requests", c->work_requests},
		{"refused_gaps", c->refusal[0]},
		{"refused_efault", c->refusal[1]},
		{"refused_fragments", c->refusal[2]},
		{"refused_other", c->refusal[3]},
		{"refused_not_contiguous", c->rule[O2_PREDICT_NOT_CONTIGUOUS]},
		{"refused_phys_gaps", c->rule[O2_PREDICT_PHYS_GAPS]},
		{"refused_mapping", c->rule[O2_PREDICT_MAP_EIO] + c->rule[O2_PREDICT_MAP_ENOMEM]},
		{"sweeps", c->sweeps},
	};
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		json_object_set_new(object, all[i].name, number(all[i].value));
	return object;
}

void o2_counters_to_json(const struct o2_transfer_run *run, const struct o2_run_options *options,
			 json_t *result)
{
	const struct o2_counters *c = &run->counters;
	char seed[32];

	snprintf(seed, sizeof(seed), "0x%llx", (unsigned long long)options->seed);
	json_object_set_new(result, "form", json_string("o2ref/props_result"));
	json_object_set_new(result, "version", json_integer(1));
	json_object_set_new(result, "property", json_string("transfer"));
	json_object_set_new(result, "device", json_string(options->device));
	json_object_set_new(result, "seed", json_string(seed));
	json_object_set_new(result, "cases", number(c->cases));
	json_object_set_new(result, "moved", number(c->moved));
	json_object_set_new(result, "refused", number(c->refused));
	json_object_set_new(result, "bytes", number(c->bytes));
	json_object_set_new(result, "pairs", pairs_to_json(run));
	json_object_set_new(result, "situations", situations_to_json(c));
}

static void need(json_t *missing, bool met, const char *what)
{
	if (!met)
		json_array_append_new(missing, json_string(what));
}

/* Fewer cases than this promise nothing about what chance brings. */
#define ENOUGH_CASES	1000u
#define ENOUGH_FOR_RARE 10000u

json_t *o2_counters_missing(const struct o2_transfer_run *run, uint64_t packets_sent)
{
	const struct o2_counters *c = &run->counters;
	json_t *missing = json_array();

	if (packets_sent != UINT64_MAX)
		need(missing, packets_sent >= c->bytes / MTU_BYTES,
		     "packets on the device: fewer than bytes / MTU");
	if (c->moved < ENOUGH_CASES || run->space.max_nob < O2_MAX_TRANSFER_BYTES)
		return missing;
	need(missing, c->fragments_3 * 2 >= c->moved, "3 or more fragments in half of the transfers");
	need(missing, c->fragments_65 * 10 >= c->moved, "more than 64 fragments in a tenth of the transfers");
	need(missing, c->bytes_256k * 10 >= c->moved, "256 KiB or more in a tenth of the transfers");
	need(missing, c->pages_257 > 0, "a transfer of 257 fragments");
	need(missing, c->gaps > 0, "a list with gaps");
	need(missing, c->short_transfers > 0, "a short transfer");
	need(missing, c->put > 0 && c->get > 0, "both PUT and GET");
	for (uint32_t i = 0; i < 2; i++)
		need(missing, c->source_vector[i] > 0 && c->sink_vector[i] > 0, "IOV and KIOV on both sides");
	for (uint32_t i = 0; i < O2_DMA_KINDS * O2_DMA_KINDS; i++)
		need(missing, c->kind_pair[i / O2_DMA_KINDS][i % O2_DMA_KINDS] > 0,
		     "all pairs of address kinds");
	need(missing, c->coalesced > 0, "entries that were merged");
	for (uint32_t i = 0; i < O2_REG_MODES * O2_REG_MODES; i++)
		need(missing,
		     c->pair[i / O2_REG_MODES][i % O2_REG_MODES] > 0 ||
			     run->space.mode_weight[i / O2_REG_MODES] == 0 ||
			     run->space.mode_weight[i % O2_REG_MODES] == 0,
		     "every ordered pair of modes");
	need(missing, c->rule[O2_PREDICT_GAPS] > 0 || run->space.mode_weight[O2_REG_FASTREG] == 0,
	     "gaps refused by fastreg");
	need(missing, c->rule[O2_PREDICT_PHYS_GAPS] > 0 || run->space.mode_weight[O2_REG_PHYS] == 0,
	     "gaps refused by phys");
	need(missing, c->rule[O2_PREDICT_NOT_CONTIGUOUS] > 0 || run->space.mode_weight[O2_REG_USER] == 0,
	     "a buffer in several ranges refused by user");
	need(missing, c->per_segment > 0 || run->space.mode_weight[O2_REG_FMR] == 0,
	     "fmr with one fragment per segment of a list without gaps");
	need(missing, c->staged > 0 || run->space.mode_weight[O2_REG_FASTREG_GAPS] == 0,
	     "a contiguous region in place of one with gaps");
	need(missing, c->refusal[2] > 0, "a transfer refused for its number of fragments");
	if (c->moved >= ENOUGH_FOR_RARE) {
		need(missing, c->one_byte > 0, "a transfer of one byte");
		need(missing, c->rule[O2_PREDICT_MAP_EIO] > 0 && c->rule[O2_PREDICT_MAP_ENOMEM] > 0,
		     "a mapping that failed");
		need(missing, c->refusal[1] > 0,
		     "a page without a CPU mapping, or too many entries, refused");
	}
	return missing;
}

void o2_counters_line(const struct o2_counters *c, double seconds, char *text, size_t text_bytes)
{
	snprintf(text, text_bytes,
		 "%llu cases: %llu moved %.1f MiB byte-exact, %llu refused as foretold, %.0f s, %.0f/s",
		 (unsigned long long)c->cases, (unsigned long long)c->moved, (double)c->bytes / (1 << 20),
		 (unsigned long long)c->refused, seconds, seconds > 0 ? (double)c->cases / seconds : 0);
}
