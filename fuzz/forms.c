/* SPDX-License-Identifier: MIT */
/* JSON forms of questions and answers, changed in one place: the property forms. */
#include "props/check/forms.h"
#include "fuzz/property.h"
#include "props/talk/wrap/alloc_fault.h"

O2_FUZZ_PROPERTY(forms, {.fail_allocation = o2_alloc_fault_arm,
			 .allocation_failed = o2_alloc_fault_fired,
			 .allocated = o2_alloc_live})
