/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_DMA_H
#define O2_PROPS_DMA_H

#include "mem/dma_map.h"
#include "props/engine/property.h"
#include "props/engine/tally.h"

/*
 * The property: dma_map maps every byte of its list to the address that the definition of the device gives it, and
 * splits segments where nothing was merged; or it refuses by a rule that the list breaks.  The ledger records every
 * mapping that was made, and that each is undone once (docs/properties.md, "The dma property").
 */

#define O2_DMA_STEPS 8u	  /* most calls of map and unmap in a case */
#define O2_DMA_SLOTS 3u	  /* most mappings at a time */
#define O2_DMA_PAGES 300u /* most pages of a device */
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
	uint32_t entries[O2_DMA_SLOTS]; /* entries mapped in the slot, by the model of the ledger; 0: none */
	uint32_t maps, wrong_unmaps;
	uint32_t kept; /* entries of mappings that were undone with fewer */
	struct o2_dma_step step[O2_DMA_STEPS];
	uint32_t steps;
};

/* Draw a device, and a list of entries for it. */
void o2_dma_draw_device(struct o2_dma_run *run, struct o2_choice *c);
void o2_dma_draw_list(struct o2_dma_run *run, struct o2_choice *c);

/*
 * The rules that a list breaks on a device, as bits in the order of o2_dma_rules.  entry: index of the only entry
 * to check; UINT32_MAX: all entries, and the rules about the device itself.
 */
uint32_t o2_dma_broken(const struct o2_dma_run *run, uint32_t entry);

extern const char *const o2_dma_rules[O2_DMA_RULES];
/* Check value and limit of a refusal by rule number `rule`, which is broken, by the entry that it names if any. */
void o2_dma_check_figures(const struct o2_dma_run *run, uint32_t rule, const struct o2_error *error,
			  struct o2_report *report);

/* The errno of rule number `rule` on this device. */
int o2_dma_code(const struct o2_dma_run *run, uint32_t rule);

/* Check that run->list covers run->sg; a failure fills *report. */
void o2_dma_check_list(struct o2_dma_run *run, struct o2_report *report);

/* *run: owned by the caller, zeroed before the first case. */
struct o2_property o2_dma_property(struct o2_dma_run *run);

#endif
