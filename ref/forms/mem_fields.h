/* SPDX-License-Identifier: MIT */
#ifndef O2_FORMS_MEM_FIELDS_H
#define O2_FORMS_MEM_FIELDS_H

#include "base/fields.h"
#include "mem/dma_map.h"
#include "mem/sg_build.h"

/*
 * The fields of what these stages hand on (base/fields.h).
 */

/* struct o2_sg_list, struct o2_dma_list: member "list" of the forms. */
extern const struct o2_field o2_sg_list_fields[];
extern const struct o2_field o2_dma_list_fields[];

/* struct o2_dma_segment, which plans have too. */
extern const struct o2_field o2_dma_segment_fields[];

/* By kind of vector, kind of device and fault of a remapping. */
extern const char *const o2_vector_kind_names[O2_KIOV + 1];
extern const char *const o2_dma_kind_names[O2_DMA_KINDS];
extern const char *const o2_dma_fault_names[O2_DMA_FAULTS];

#endif
