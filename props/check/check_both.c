/* SPDX-License-Identifier: MIT */
#include "props/check/check_both.h"

bool o2_check_both_read(const json_t *question, const json_t *found, struct o2_check_both *both)
{
	struct o2_error error;

	if (o2_case_from_json(question, &both->asked, &error) != 0 || !json_is_object(found))
		return false;
	both->found.conduct.check = O2_CHECKS;
	o2_answer_from_json(&both->asked, found, &both->found);
	o2_answer_of_reference(&both->asked, &both->expected);
	return true;
}
