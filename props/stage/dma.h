/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_DMA_H
#define O2_PROPS_DMA_H

#include "mem/dma_map.h"
#include "props/engine/property.h"
#include "props/engine/tally.h"

/*
 * The property: dma_map covers the bytes of its list, each at the address that the definition of the device
 * gives it, cut where nothing was merged; or refuses by a rule that is broken.  The ledger has every mapping
 * that was made, and sees each undone once (docs/properties.md, "The dma property").
 */

#define O2_DMA_STEPS 8u	  /* mappings and their ends in a case, at most */
#define O2_DMA_SLOTS 3u	  /* mappings at a time */
#define O2_DMA_PAGES 300u /* of a device, at most */
#define O2_DMA_RULES 12u

struct o2_dma_step {
	bool unmap;
	uint32_t slot;
	uint32_t entries, segments;
	int code;
	const char *rule;
};

struct o2_dma_run {
	struct o2_tally tally; /* first: props/engine/tally.h */
	struct o2_dma_device device;
	uint32_t device_page[O2_DMA_PAGES];
	uint8_t unmapped[(O2_DMA_PAGES + 7) / 8];
	struct o2_sg_list sg;
	struct o2_dma_list list;
	struct o2_dma_ledger ledger;
	struct o2_dma_mapping mapping[O2_DMA_SLOTS];
	enum o2_dma_direction direction[O2_DMA_SLOTS];
	uint32_t entries[O2_DMA_SLOTS]; /* mapped there, as the model of the ledger has it; 0: nothing */
	uint32_t maps, wrong_unmaps;
	struct o2_dma_step step[O2_DMA_STEPS];
	uint32_t steps;
};

/* Draw a device, and a list of entries for it. */
void o2_dma_draw_device(struct o2_dma_run *run, struct o2_choice *c);
void o2_dma_draw_list(struct o2_dma_run *run, struct o2_choice *c);

/*
 * The rules that a list breaks on a device, as bits in the order of o2_dma_rules; entry: the entries that
 * count, or UINT32_MAX for all of them and the rules about the device.
 */
uint32_t o2_dma_broken(const struct o2_dma_run *run, uint32_t entry);

extern const char *const o2_dma_rules[O2_DMA_RULES];
/* The value and the limit of a refusal that names an entry which breaks its rule. */
void o2_dma_check_figures(const struct o2_dma_run *run, const struct o2_error *error,
			  struct o2_report *report);

/* The errno of rule number `rule` on this device. */
int o2_dma_code(const struct o2_dma_run *run, uint32_t rule);

/* Does run->list cover run->sg?  A failure fills *report. */
void o2_dma_check_list(struct o2_dma_run *run, struct o2_report *report);

/* *run: zeros at first, the caller's. */
struct o2_property o2_dma_property(struct o2_dma_run *run);

#endif
