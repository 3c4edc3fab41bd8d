/* SPDX-License-Identifier: MIT */
/*
 * Another implementation against the reference, in one process: `o2ref check --fuzz LIBRARY.so`
 * (docs/oracle.md, "Fuzzing").  Environment variables: O2REF_IMPL names the library, O2REF_KNOWN a list of
 * known differences, O2REF_MAP an error map, O2REF_PROFILE the profile; all but the first may be unset or
 * empty.  Draws: stage; the case as o2ref check draws it.
 *
 * An engine sees the library's branches if the library was built with -fsanitize=fuzzer-no-link.  In any
 * case it sees the counters below: which rules were applied, and the size of answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/common.h"
#include "oracle/flavour.h"
#include "oracle/object.h"
#include "props/engine/shell_word.h"
#include "props/scenario/draw.h"

#define SIZES 34u /* no result, an empty one, and powers of two */

/* The section in which libFuzzer looks for counters other than the compiler's. */
static uint8_t met[O2_CHECKS] __attribute__((used, section("__libfuzzer_extra_counters")));
static uint8_t sizes[O2_STAGES * SIZES] __attribute__((used, section("__libfuzzer_extra_counters")));

static struct {
	struct o2_object impl;
	bool loaded;
	const char *path;
	uint32_t stages;
	enum o2_stage stage[O2_STAGES];
	struct o2_impl_slots slots;
	struct o2_error_map map;
	struct o2_known known;
	struct o2_comparison comparison;
} fuzz;

static _Noreturn void cannot(const char *what, const char *why)
{
	fprintf(stderr, "o2ref fuzz: %s: %s\n", what, why);
	exit(77);
}

/* The value of an environment variable; NULL: unset or empty. */
static const char *said(const char *variable)
{
	const char *value = getenv(variable);

	return value == NULL || value[0] == '\0' ? NULL : value;
}

static void ask(const struct o2_case *asked, struct o2_answer *found)
{
	struct o2_impl_slot *slot = fuzz.slots.slot;
	char text[160];

	o2_impl_put_case(asked, slot);
	found->conduct.check = O2_CHECKS;
	o2_impl_get_answer(asked, slot, o2_object_call(&fuzz.impl, asked->stage, slot), found);
	if (o2_impl_slot_spoilt(slot, text, sizeof(text)))
		o2_answer_break(found, O2_CHECK_RUN_OVERRUN, "%s", text);
}

static bool takes(enum o2_cksum_flavour flavour)
{
	static struct o2_case asked;
	static struct o2_answer found;

	for (uint32_t i = 0; i < O2_FLAVOUR_STAGES; i++) {
		if (!o2_object_has(&fuzz.impl, o2_flavour_stages[i]))
			continue;
		o2_flavour_question(o2_flavour_stages[i], flavour, &asked);
		ask(&asked, &found);
		if (found.kind != O2_ANSWER_NOT_IMPLEMENTED)
			return found.kind == O2_ANSWER_RESULT;
	}
	return false;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *known = said("O2REF_KNOWN"), *map = said("O2REF_MAP"), *profile = said("O2REF_PROFILE");
	char text[512];

	(void)argc;
	(void)argv;
	fuzz.path = getenv("O2REF_IMPL");
	if (fuzz.path == NULL)
		cannot("O2REF_IMPL", "is not set (see: o2ref check --help)");
	fuzz.loaded = o2_object_load(fuzz.path, &fuzz.impl, text, sizeof(text));
	if (!fuzz.loaded)
		cannot(fuzz.path, text);
	if (known != NULL && o2_known_read(known, &fuzz.known, text, sizeof(text)) != 0)
		cannot(known, text);
	if (map != NULL && o2_error_map_read(map, &fuzz.map, text, sizeof(text)) != 0)
		cannot(map, text);
	while (profile != NULL && strcmp(profile, o2_profile_name(fuzz.comparison.profile)) != 0)
		if (++fuzz.comparison.profile == O2_PROFILES)
			cannot("O2REF_PROFILE", "names no profile (see: o2ref check --help)");
	for (uint32_t i = 0; i < O2_STAGES; i++)
		if (o2_object_has(&fuzz.impl, (enum o2_stage)i))
			fuzz.stage[fuzz.stages++] = (enum o2_stage)i;
	if (fuzz.stages == 0)
		cannot(fuzz.path, "it implements no stage");
	if (o2_impl_slots_create(1, &fuzz.slots) != 0)
		cannot("memory", "cannot be had");
	fuzz.comparison.map = &fuzz.map;
	fuzz.comparison.known = &fuzz.known;
	fuzz.comparison.flavour = o2_flavour_of(takes(O2_CKSUM_UNSIGNED), takes(O2_CKSUM_SIGNED));
	return 0;
}

/* The size class of a result. */
static uint32_t size_of(const struct o2_case *asked, const struct o2_answer *answer)
{
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		return answer->msg_decode.msg.ibm_nob;
	case O2_STAGE_MSG_ENCODE:
		return answer->msg_encode.length_bytes;
	case O2_STAGE_SG_BUILD:
		return answer->sg.count * 2 + answer->sg.gaps;
	case O2_STAGE_DMA_MAP:
		return answer->dma.count;
	case O2_STAGE_REG_PLAN:
		return answer->reg.nfrags;
	case O2_STAGE_RDMA_PLAN:
		return answer->rdma.nsge;
	case O2_STAGE_TRANSFER:
		return answer->transfer.plan.nsge;
	case O2_STAGE_SEND_PLAN:
		return answer->send.nsge;
	default: /* their results have only one size */
		return 1;
	}
}

static void count(const struct o2_case *asked, const struct o2_answer *expected)
{
	enum o2_check_id rule;
	uint32_t size, class = 1;

	if (expected->kind == O2_ANSWER_REFUSED) {
		rule = o2_check_find(expected->refusal.name);
		if (rule != O2_CHECKS)
			met[rule] = 1;
		sizes[asked->stage * SIZES] = 1;
		return;
	}
	for (size = size_of(asked, expected); size > 0; size >>= 1)
		class ++;
	sizes[asked->stage * SIZES + class] = 1;
}

static _Noreturn void report(const struct o2_case *asked, const struct o2_choice *choice,
			     const struct o2_difference *difference)
{
	char *question = json_dumps(o2_case_to_json(asked), JSON_COMPACT);

	fprintf(stderr,
		"%s\n  %s: reference %s, implementation %s\n  question %s\n  replay: o2ref check --choices "
		"%s:",
		o2_check_name(difference->check), difference->field, difference->expected, difference->found,
		question == NULL ? "-" : question, o2_stage_name(asked->stage));
	for (uint32_t i = 0; i < choice->record_bytes; i++)
		fprintf(stderr, "%02x", choice->record[i]);
	if (fuzz.comparison.profile != O2_PROFILE_STRICT)
		fprintf(stderr, " --profile %s", o2_profile_name(fuzz.comparison.profile));
	if (said("O2REF_MAP") != NULL) {
		fputs(" --map ", stderr);
		o2_shell_word(said("O2REF_MAP"), stderr);
	}
	fputc(' ', stderr);
	o2_shell_word(fuzz.path, stderr);
	fputc('\n', stderr);
	o2_fuzz_fail("implementation: %s", o2_check_name(difference->check));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_case asked;
	static struct o2_scenario scenario;
	static struct o2_answer expected, found;
	struct o2_choice *choice;

	if (!fuzz.loaded)
		LLVMFuzzerInitialize(NULL, NULL); /* for an engine that does not call it */
	if (size == 0)
		return 0;
	choice = o2_fuzz_choice(data + 1, size - 1);
	o2_draw_case(choice, fuzz.stage[data[0] % fuzz.stages], &asked, &scenario);
	if (!o2_choice_ok(choice) || !o2_profile_asks(fuzz.comparison.profile, &asked, &expected))
		return 0;
	o2_answer_of_reference(&asked, &expected);
	count(&asked, &expected);
	ask(&asked, &found);
	o2_compare(&fuzz.comparison, &asked, &expected, &found);
	for (uint32_t i = 0; i < fuzz.comparison.count; i++) {
		const struct o2_difference *difference = &fuzz.comparison.item[i];

		if (o2_check_severity(difference->check, fuzz.comparison.profile) == O2_CHECK_MUST &&
		    difference->known == 0)
			report(&asked, choice, difference);
	}
	return 0;
}
