/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/errno_name.h"
#include "props/transfer/transfer_run.h"

static const char *const side_names[] = {[O2_SOURCE] = "source", [O2_SINK] = "sink"};

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

const char *o2_counters_form(enum o2_byte_order order, enum o2_cksum_flavour flavour)
{
	static const char *const names[2][O2_CKSUM_SIGNED + 1] = {
		{"little_endian_no_sum", "little_endian_sum_unsigned", "little_endian_sum_signed"},
		{"big_endian_no_sum", "big_endian_sum_unsigned", "big_endian_sum_signed"}};

	return names[order][flavour];
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
		{"roomy", c->roomy_transfers},
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
		{"source_coalesced", c->coalesced[O2_SOURCE]},
		{"sink_coalesced", c->coalesced[O2_SINK]},
		{"staged", c->staged},
		{"source_kmapped", c->kmapped[O2_SOURCE]},
		{"sink_kmapped", c->kmapped[O2_SINK]},
		{"source_bounced", c->bounced[O2_SOURCE]},
		{"sink_bounced", c->bounced[O2_SINK]},
		{"both_bounced", c->bounced_both},
		{"per_segment", c->per_segment},
		{"kept", c->kept},
		{"fragments_3", c->fragments_3},
		{"fragments_65", c->fragments_65},
		{"bytes_256k", c->bytes_256k},
		{"one_byte", c->one_byte},
		{"gaps", c->gaps},
		{"work_requests", c->work_requests},
		{"deep_connection", c->deep},
		{"deepest_connection", c->deepest},
		{"sweeps", c->sweeps},
	};
	json_t *object = json_object();
	char name[64];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		json_object_set_new(object, all[i].name, number(all[i].value));
	for (uint32_t i = 0; i < 2 * (O2_CKSUM_SIGNED + 1); i++)
		json_object_set_new(
			object, o2_counters_form((enum o2_byte_order)(i % 2), (enum o2_cksum_flavour)(i / 2)),
			number(c->formed[i % 2][i / 2]));
	for (uint32_t i = 0; i < O2_REG_MODES; i++) {
		snprintf(name, sizeof(name), "stale_key_%s", o2_reg_mode_name((enum o2_reg_mode)i));
		if (i != O2_REG_GLOBAL)
			json_object_set_new(object, name, number(c->stale_key[i]));
	}
	for (uint32_t i = 0; i < 2 * O2_SITUATIONS; i++) {
		enum o2_side side = (enum o2_side)(i / O2_SITUATIONS);
		enum o2_situation situation = (enum o2_situation)(i % O2_SITUATIONS);

		snprintf(name, sizeof(name), "%s_%s", side_names[side], o2_situation_name(situation));
		json_object_set_new(object, name, number(c->situation[side][situation]));
	}
	return object;
}

/* The number of refusals by refusing side and rule, e.g. "reg/phys/gaps EINVAL". */
static json_t *refusals_to_json(const struct o2_counters *c)
{
	json_t *object = json_object();
	char name[96];

	for (uint32_t side = 0; side < 2; side++) {
		json_t *rules = json_object();

		for (uint32_t i = O2_PREDICT_NONE + 1; i < O2_PREDICT_RULES; i++) {
			enum o2_predict_rule rule = (enum o2_predict_rule)i;

			snprintf(name, sizeof(name), "%s %s", o2_predict_rule_name(rule),
				 o2_errno_name(o2_predict_rule_code(rule)));
			json_object_set_new(rules, name, number(c->rule[side][rule]));
		}
		json_object_set_new(object, side_names[side], rules);
	}
	return object;
}

static json_t *drawn_to_json(const struct o2_counters *c)
{
	return json_pack("{s:o, s:{s:o, s:o}}", "bytes", o2_drawn_to_json(&c->drawn_bytes), "fragments",
			 side_names[O2_SOURCE], o2_drawn_to_json(&c->drawn_fragments[O2_SOURCE]),
			 side_names[O2_SINK], o2_drawn_to_json(&c->drawn_fragments[O2_SINK]));
}

void o2_counters_to_json(const void *transfer, const struct o2_run_options *options, json_t *result)
{
	const struct o2_transfer_run *run = transfer;
	const struct o2_counters *c = &run->counters;

	if (options->connect != NULL)
		json_object_set_new(result, "connections", number(run->rung->connections));
	json_object_set_new(result, "cases", number(c->cases));
	json_object_set_new(result, "moved", number(c->moved));
	json_object_set_new(result, "refused", number(c->refused));
	json_object_set_new(result, "bytes", number(c->bytes));
	json_object_set_new(result, "pairs", pairs_to_json(run));
	json_object_set_new(result, "cross", o2_cross_to_json(&c->cross));
	json_object_set_new(result, "drawn", drawn_to_json(c));
	json_object_set_new(result, "situations", situations_to_json(c));
	json_object_set_new(result, "refusals", refusals_to_json(c));
}

void o2_counters_line(const void *transfer, double seconds, char *text, size_t text_bytes)
{
	const struct o2_counters *c = &((const struct o2_transfer_run *)transfer)->counters;
	char moved[128] = "";
	size_t length = 0;

	for (uint32_t i = 0; i < O2_POLARITY_PAIRS; i++) {
		const struct o2_cross_polarity found = o2_cross_of_polarity(&c->cross, i);

		length += (size_t)snprintf(moved + length, sizeof(moved) - length, "%s%s %llu",
					   i == 0 ? "" : ", ", found.name, (unsigned long long)found.moved);
	}
	snprintf(text, text_bytes,
		 "%llu cases: %llu moved (%s) %.1f MiB byte-exact, %llu refused as foretold, %.0f s, %.0f/s",
		 (unsigned long long)c->cases, (unsigned long long)c->moved, moved,
		 (double)c->bytes / (1 << 20), (unsigned long long)c->refused, seconds,
		 seconds > 0 ? (double)c->cases / seconds : 0);
}
