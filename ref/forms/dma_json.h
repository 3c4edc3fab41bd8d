/* SPDX-License-Identifier: MIT */
#ifndef O2_FORMS_DMA_JSON_H
#define O2_FORMS_DMA_JSON_H

#include <jansson.h>

#include "base/refused_json.h"
#include "forms/sg_json.h"
#include "mem/dma_map.h"

/*
 * JSON forms of dma_map (docs/architecture.md, "JSON forms").
 *
 *   {"form": "o2ref/dma_map/input", "version": 1,
 *    "device": {"kind": "virtual", "page_bytes": 4096, "npages": 64, "base": "0x7f0000000000",
 *               "unmapped": [7, 9]},
 *    "list": {"gaps": false, "nob": 512, "entries": [{"page": 3, "offset": 0, "length": 512}]}}
 *
 *   {"form": "o2ref/dma_map/output", "version": 1,
 *    "list": {"nob": 512, "segments": [{"addr": "0x7f0000003000", "length": 512}]}}
 *   or, in place of the list, "refused" (base/refused_json.h).
 *
 * A device of kind "iommu" has "iommu" as well: {"device_pages": [2, 0, 1], "merge": "0x1", "fault": "none"},
 * with a device page for every page; fault is "none", "eio", "enomem" or "nothing".
 *
 * "unmapped" lists the pages without a CPU mapping, in rising order.
 */

#define O2_DMA_INPUT_FORM  "o2ref/dma_map/input"
#define O2_DMA_OUTPUT_FORM "o2ref/dma_map/output"

/* Most pages of a device with unmapped pages: its bitmap takes 128 KiB. */
#define O2_DMA_JSON_MAX_PAGES (1u << 20)

/* An input read from JSON: device.unmapped is the bitmap below, or NULL if no page is unmapped. */
struct o2_dma_input {
	struct o2_sg_list sg;
	struct o2_dma_device device;
	uint8_t *unmapped;
	uint32_t *device_page; /* device.iommu.device_page points to it; NULL for other kinds */
};

/* NULL when memory runs out, the kind is not valid, or the list has more entries than its array. */
json_t *o2_dma_input_to_json(const struct o2_sg_list *sg, const struct o2_dma_device *device);

/* Returns 0, -EINVAL or -ENOMEM.  After success only, free the input with o2_dma_input_free. */
int o2_dma_input_from_json(const json_t *object, struct o2_dma_input *input, struct o2_error *error);
void o2_dma_input_free(struct o2_dma_input *input);

/* Like o2_sg_output_to_json and o2_sg_output_from_json. */
json_t *o2_dma_output_to_json(const struct o2_dma_list *list, const struct o2_error *refused);
int o2_dma_output_from_json(const json_t *object, struct o2_dma_list *list, struct o2_refused *refused,
			    struct o2_error *error);

/* Member "device", also part of the form of a whole transfer.  The reader is like o2_dma_input_from_json. */
json_t *o2_dma_device_to_json(const struct o2_dma_device *device);
int o2_dma_device_from_json(const json_t *form, struct o2_dma_input *input, struct o2_error *error);

#endif
