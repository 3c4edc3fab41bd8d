/* SPDX-License-Identifier: MIT */
#include "test_lnd_talks_end.h"
#include "test_lnd_talks_flow.h"

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(talks_of_everything),
		cmocka_unit_test(talks_one_way),
		cmocka_unit_test(talks_at_once),
		cmocka_unit_test(talks_below_its_tunables),
		cmocka_unit_test(talks_with_few_sends),
		cmocka_unit_test(leaves_room_for_noops),
		cmocka_unit_test(hears_of_too_many_credits),
		cmocka_unit_test(hears_without_credit),
		cmocka_unit_test(hears_too_many_requests),
		cmocka_unit_test(hears_empty_noops),
		cmocka_unit_test(keeps_alive),
		cmocka_unit_test(fills_its_queues),
		cmocka_unit_test(flushes_full_queues),
		cmocka_unit_test(hears_a_nak_of_success),
		cmocka_unit_test(hears_of_more_than_the_sink),
		cmocka_unit_test(hears_another_answer),
		cmocka_unit_test(hears_another_length),
		cmocka_unit_test(hears_an_answer_twice),
		cmocka_unit_test(hears_of_what_was_not_sent),
		cmocka_unit_test(cannot_plan_its_writes),
		cmocka_unit_test(hears_of_another_life),
		cmocka_unit_test(misses_a_deadline),
		cmocka_unit_test(renews_a_deadline),
		cmocka_unit_test(starts_in_every_state),
		cmocka_unit_test(ends_what_is_open),
		cmocka_unit_test(hears_early),
		cmocka_unit_test(reads_before_it_reposts),
		cmocka_unit_test(gathers_a_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
