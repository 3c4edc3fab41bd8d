/* SPDX-License-Identifier: MIT */
/* JSON forms of questions and answers, changed in one place: the property forms. */
#include "props/check/forms.h"
#include "fuzz/property.h"
#include "props/talk/wrap/alloc_fault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_forms_run run = {.fail_allocation = o2_alloc_fault_arm,
					  .allocation_failed = o2_alloc_fault_fired,
					  .allocated = o2_alloc_live};
	const struct o2_property property = o2_forms_property(&run);

	o2_fuzz_property(&property, data, size);
	return 0;
}
