/* SPDX-License-Identifier: MIT */

#include "props/cmd/hostile_command.h"
#include "props/hostile/hostile.h"
#include "props/hostile/hostile_internal.h"
#include "props/hostile/hostile_process.h"
#include "props/hostile/hostile_quirk.h"
#include "tests/lib/unit_test.h"
#include "wire/nid.h"

/*
 * Every misbehaviour of docs/hostile.md gets the required reaction.
 *
 *   test_hostile [NAME]
 */

static const char *only;

TEST(meets_each)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), tried = 0, failed = 0;
	char why[200];

	for (size_t i = 0; i < count; i++) {
		if (only != NULL && strcmp(only, list[i].name) != 0)
			continue;
		tried++;
		if (!o2_hostile_try(&list[i], NULL, why)) {
			print_message("%s: %s\n  again: test_hostile %s\n", list[i].name, why, list[i].name);
			failed++;
		}
	}
	print_message("%zu misbehaviours, %zu not met\n", tried, failed);
	assert_int_equal(failed, 0);
	assert_true(tried > 0);
}

TEST(has_names_of_its_own)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list);

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(list[i].name, list[j].name);
}

/* Misbehaviours that break the same rule in different ways count as one rule. */
TEST(breaks_many_rules)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), rules = 0;

	for (size_t i = 0; i < count; i++) {
		size_t j = 0;

		while (strcmp(list[i].rule, list[j].rule) != 0)
			j++;
		rules += i == j;
	}
	print_message("%zu misbehaviours break %zu rules\n", count, rules);
	assert_true(rules >= 60);
}

TEST(stands_in_the_table)
{
	const char *text = test_page("hostile.md");
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), rows = 0;

	for (size_t i = 0; i < count; i++) {
		char row[O2_MISBEHAVIOUR_ROW_BYTES];

		o2_misbehaviour_row(&list[i], row);
		if (strstr(text, row) == NULL) {
			print_message("not in docs/hostile.md (o2props hostile --list):\n%s\n", row);
			fail();
		}
	}
	/* Other tables precede this one in the document. */
	for (const char *at = strstr(text, "\n## The table");
	     at != NULL && (at = strstr(at, "\n| `")) != NULL; at++)
		rows++;
	assert_int_equal(rows, count);
}

/* A misbehaviour's page must name its wire rule; connection.md, for requests and replies, is exempt. */
TEST(names_the_page_of_its_rule)
{
	const struct o2_misbehaviour *list;
	const size_t count = o2_misbehaviours(&list);

	for (size_t i = 0; i < count; i++)
		if (strncmp(list[i].rule, "wire/", 5) == 0 && strcmp(list[i].doc, "connection.md") != 0 &&
		    strstr(test_page(list[i].doc), list[i].rule) == NULL)
			fail_msg("%s: %s is not in docs/%s", list[i].name, list[i].rule, list[i].doc);
}

/* "Profiles" names exactly the marked misbehaviours. */
TEST(profiles_are_documented)
{
	const char *section = strstr(test_page("hostile.md"), "\n| What kernels are known to tolerate");
	const char *end = section == NULL ? NULL : strstr(section, "\n\n");
	size_t count, marked = 0, named = 0;
	const struct o2_misbehaviour *list;

	assert_non_null(end);
	count = o2_misbehaviours(&list);
	for (size_t i = 0; i < count; i++)
		marked += list[i].kernel_tolerates;
	for (const char *at = strchr(section, '`'); at != NULL && at < end; at = strchr(at, '`')) {
		const struct o2_misbehaviour *what;
		char name[40];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 1, "`"), at + 1);
		at += strlen(name) + 2;
		what = o2_misbehaviour_find(name);
		if (what == NULL || !what->kernel_tolerates)
			fail_msg("%s is not marked as what kernels tolerate", name);
		named++;
	}
	print_message("%zu that kernels are known to tolerate\n", marked);
	assert_int_equal(named, marked);
}

/* Returns the profile for --profile NAME; -2: unknown name. */
static int64_t profile_of(const char *name)
{
	char device[] = "--device=a", peer[] = "--peer=10.0.0.1@o2ib", profile[32], all[] = "--all";
	char command[] = "hostile", *argv[] = {command, device, peer, profile, all, NULL};
	struct o2_hostile_words words;

	snprintf(profile, sizeof(profile), "--profile=%s", name);
	return o2_hostile_read("test", 5, argv, &words) > 0 ? words.profile : -2;
}

TEST(profiles_have_names)
{
	assert_int_equal(profile_of("strict"), O2_HOSTILE_STRICT);
	assert_int_equal(profile_of("kernel"), O2_HOSTILE_KERNEL);
	assert_int_equal(profile_of(""), -2);
	assert_int_equal(profile_of("kernels"), -2);
}

/* Read `hostile` with these options, the last of which is NULL. */
static bool are_accepted(const char *const options[])
{
	static char text[8][32];
	char *argv[10];
	struct o2_hostile_words words;
	int n = 0;

	snprintf(text[n], sizeof(text[0]), "hostile");
	argv[n] = text[n];
	for (n = 1; options[n - 1] != NULL; n++) {
		snprintf(text[n], sizeof(text[0]), "%s", options[n - 1]);
		argv[n] = text[n];
	}
	argv[n] = NULL;
	return o2_hostile_read("test", n, argv, &words) > 0;
}

#define ACCEPTED(...) are_accepted((const char *const[]){__VA_ARGS__, NULL})

TEST(what_has_no_effect_is_refused)
{
	const char *const device = "--device=a", *const peer = "--peer=10.0.0.1@o2ib";

	assert_true(ACCEPTED(device, "--some=1"));
	assert_false(ACCEPTED(device, "--some=0"));
	assert_false(ACCEPTED(device, "--all", "--some=3"));
	assert_false(ACCEPTED(device, "--some=3", "magic"));
	assert_true(ACCEPTED(device, peer, "--all"));
	assert_true(ACCEPTED(device, "--mutant=any", "--all"));
	assert_false(ACCEPTED(device, peer, "--mutant=any", "--all"));
}

/* --- a victim --- */

static struct o2_hostile *open_world(void)
{
	struct o2_hostile *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	assert_int_equal(o2_hostile_open(h), 0);
	assert_int_equal(o2_hostile_meet(h, &O2_CONN_DEFAULTS), 0);
	return h;
}

static void close_world(struct o2_hostile *h)
{
	o2_hostile_close(h);
	free(h);
}

#define WORLD_TEST(name) TEST_ON(name, struct o2_hostile, h, open_world(), close_world)

WORLD_TEST(memory_of_an_order_has_an_end)
{
	static const enum o2_victim_act acts[] = {O2_ACT_PUT, O2_ACT_GET, O2_ACT_SERVE};
	struct o2_victim_answer answer;

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		assert_true(o2_hostile_order(h, acts[i], O2_HOSTILE_ROOM_BYTES, O2_REG_FMR, &answer));
		assert_false(o2_hostile_order(h, acts[i], O2_HOSTILE_ROOM_BYTES + 1, O2_REG_FMR, &answer));
		assert_int_equal(answer.status, -EINVAL);
		assert_false(o2_hostile_order(h, acts[i], UINT64_MAX, O2_REG_FMR, &answer));
		assert_int_equal(answer.status, -EINVAL);
	}
}

/* Let the liar send that request, if any, and change a byte of what is served.  Does the victim object? */
static bool objects(struct o2_hostile *h, enum o2_msg_type type, uint32_t offered_bytes)
{
	struct o2_hostile_end *const liar = &h->victim.liar;
	struct o2_msg request = {.ibm_type = type};
	struct o2_transfer_memory memory;
	struct o2_victim_answer answer;

	if (type == O2_MSG_PUT_REQ)
		request.u.putreq.hdr.payload_length = offered_bytes;
	o2_hostile_order(h, O2_ACT_MEET, 0, 0, &answer);
	assert_true(o2_hostile_order(h, O2_ACT_SERVE, 5000, O2_REG_FMR, &answer));
	if (type != O2_MSG_NOOP)
		assert_int_equal(o2_hostile_end_ops.match(liar, &request, offered_bytes, &memory), 0);
	h->victim.ni->arena.memory[O2_SERVED_AT] ^= 1;
	o2_hostile_order(h, O2_ACT_END, 0, 0, &answer);
	h->victim.ni->arena.memory[O2_SERVED_AT] ^= 1;
	return strstr(answer.why, "memory changed") != NULL;
}

WORLD_TEST(only_what_a_put_may_write_may_change)
{
	o2_honest_fill(h->victim.ni->arena.memory + O2_HONEST_AT, O2_CHECKED_BYTES, 0);
	assert_true(objects(h, O2_MSG_NOOP, 0));
	assert_true(objects(h, O2_MSG_GET_REQ, 5000));
	assert_true(objects(h, O2_MSG_PUT_REQ, 4999));
	assert_false(objects(h, O2_MSG_PUT_REQ, 5000));
	assert_true(objects(h, O2_MSG_NOOP, 0));
}

/* This program as the victim: it begins only if its arguments are complete, and no more. */
static int play_victim(int argc, char **argv)
{
	const bool all = argc == 13 && strcmp(argv[9], "--mutant") == 0 && strcmp(argv[10], "any") == 0 &&
			 strcmp(argv[11], "--quirk") == 0 && strcmp(argv[12], "closes-first") == 0;

	printf("victim %s\n", all ? argv[8] : "?");
	return 0;
}

TEST(every_option_reaches_the_victim)
{
	const struct o2_option option = {.name = "quirk"};
	const struct o2_victim_options options = {"loop0", 1, O2_LIAR_NID, "any"};
	struct o2_victim_child child;
	char why[O2_OPTION_WHY_BYTES], how[32];

	/* The last test: a quirk applies to the whole program. */
	assert_true(o2_hostile_quirks(&option, "closes-first", NULL, why));
	assert_int_equal(o2_victim_child_start(&options, &child), 0);
	assert_true(child.nid == O2_LIAR_NID);
	o2_victim_child_end(&child, how);
	assert_string_equal(how, "");
	assert_true(ACCEPTED("--all"));
	assert_true(o2_hostile_quirks(&option, "lst-flip-bit", NULL, why));
	assert_false(ACCEPTED("--all"));
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "hostile") == 0)
		return play_victim(argc, argv);
	only = argc > 1 ? argv[1] : NULL;
	return tests_run();
}
