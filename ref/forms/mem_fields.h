/* SPDX-License-Identifier: MIT */
#ifndef O2_FORMS_MEM_FIELDS_H
#define O2_FORMS_MEM_FIELDS_H

#include "base/fields.h"
#include "mem/dma_map.h"
#include "mem/sg_build.h"

/* Tables (base/fields.h) of the structs that sg_build and dma_map pass on. */

/* struct o2_sg_list and struct o2_dma_list: member "list" of the forms. */
extern const struct o2_field o2_sg_list_fields[];
extern const struct o2_field o2_dma_list_fields[];

/* struct o2_dma_segment, also used in plans. */
extern const struct o2_field o2_dma_segment_fields[];

/* Names, indexed by kind of vector, kind of device, and fault of a remapping. */
extern const char *const o2_vector_kind_names[O2_KIOV + 1];
extern const char *const o2_dma_kind_names[O2_DMA_KINDS];
extern const char *const o2_dma_fault_names[O2_DMA_FAULTS];

#endif
