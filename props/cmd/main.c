/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/own_path.h"
#include "base/standard.h"
#include "props/check/check.h"
#include "props/engine/mutant.h"
#include "props/explain/explain.h"
#ifdef O2_PROPS_IN_PROCESS
#include "props/talk/explore.h"
#endif
#include "props/cmd/far_command.h"
#include "props/cmd/hostile_command.h"
#include "props/cmd/main_own.h"
#include "props/cmd/options.h"
#include "props/cmd/result.h"
#include "props/cmd/rung_open.h"
#include "props/engine/property.h"
#include "props/engine/run.h"
#include "props/engine/tally.h"
#include "props/transfer/transfer_run.h"
#include "props/world/ground.h"
#include "props/world/judged.h"
#include "props/world/network.h"

/*
 * o2props: the property runner. Two programs are built from this file: o2props contains the in-process devices
 * (model and loop), o2props-verbs uses the machine's libibverbs. o2props runs o2props-verbs for other devices.
 */

/* Most calls for shrinking a finding; real devices are a hundred times slower. */
#define SHRINK_CALLS_IN_PROCESS 4000u
#define SHRINK_CALLS_DEVICE	400u

/*
 * Memory that malloc keeps: pieces up to this size, and this much in total. Receive buffers of the deepest
 * connections are larger, but few of their pages are touched.
 */
#define KEPT_PIECE_BYTES (2 << 20)
#define KEPT_BYTES	 (64 << 20)

/* Draw from the modes on the command line; if there are none, from all modes of the space. */
static void choose_modes(const bool *named, struct o2_scenario_space *space)
{
	if (memchr(named, true, O2_REG_MODES) == NULL)
		return;
	for (uint32_t mode = 0; mode < O2_REG_MODES; mode++)
		space->mode_weight[mode] = named[mode];
}

/* Run o2props-verbs, which lies beside this program. */
static int run_sibling(char **argv)
{
	char path[PATH_MAX];

	if (o2_own_path(NULL, path, sizeof(path) - strlen("-verbs")) == 0) {
		strcat(path, "-verbs");
		execv(path, argv);
	}
	fprintf(stderr, "o2props: cannot run %s for a real device: %s\n", path, strerror(errno));
	return O2_PROPS_EXIT_CANNOT;
}

#define LINE_BYTES 200u

/* Run the cases.  line: LINE_BYTES for a text about the run.  *result is NULL if no case was run. */
static int run_cases(struct o2_props_arguments *a, const struct o2_property *property, char *line,
		     json_t **result)
{
	int rc;

	a->run.program = a->mutant == NULL ? "o2props" : "o2props-mutants";
	a->run.again = o2_props_again(a);
	a->run.mutant = a->mutant;
	if (a->run.exhaustive > 0)
		fprintf(stderr, "o2props: %s on %s, exhaustive %" PRIu32 "\n", property->ops->name, a->device,
			a->run.exhaustive);
	else
		fprintf(stderr, "o2props: %s on %s, seed 0x%" PRIx64 "\n", property->ops->name, a->device,
			a->run.seed);
	rc = o2_run(property, &a->run, result);
	if (*result == NULL)
		return rc;
	property->ops->line(property->context, json_real_value(json_object_get(*result, "seconds")), line,
			    LINE_BYTES);
	return rc;
}

/* The function that opens a network of this program's devices. */
#ifdef O2_PROPS_IN_PROCESS
#define OPEN_NETWORK o2_network_open_loop
#else
#define OPEN_NETWORK o2_network_open_rdma
#endif

static bool takes_one_argument(const char *command)
{
	return strcmp(command, "replay") == 0 || strcmp(command, "export") == 0;
}

static int exported(int rc, const char *directory)
{
	if (rc < 0)
		fprintf(stderr, "o2props: cannot write to %s: %s\n", directory, strerror(-rc));
	return rc < 0 ? O2_PROPS_EXIT_USAGE : rc;
}

static bool takes_devices(const struct o2_property *property)
{
	return property->ops == NULL || strcmp(property->ops->name, "nodes") == 0 ||
	       strcmp(property->ops->name, "endpoint") == 0;
}

/* Find two devices with addresses.  Returns 0 or an exit status. */
static int find_devices(const struct o2_props_arguments *a, const char *property,
			struct o2_ground_devices *devices)
{
	struct o2_error error = {0};
	char text[200];

	if (a->run.hw_device[1] == NULL) {
		fprintf(stderr, "o2props: property %s needs two devices, --device DEV,DEV2\n", property);
		return O2_PROPS_EXIT_USAGE;
	}
	for (int i = 0; i < 2; i++)
		if (o2_network_address(devices->device[i], devices->gid_index, &devices->address[i],
				       &error) != 0) {
			o2_error_text(&error, text, sizeof(text));
			fprintf(stderr, "o2props: cannot use %s: %s\n", devices->device[i], text);
			return O2_PROPS_EXIT_CANNOT;
		}
	return 0;
}

/* Run on devices, which must not hold anything more at the end. */
static int run_on_devices(struct o2_props_arguments *a, const struct o2_property *property,
			  const char *command, const char *argument)
{
	struct o2_ground_devices *devices = o2_own_devices(a);
	struct o2_held before, after;
	char line[LINE_BYTES];
	json_t *result;
	int rc = find_devices(a, property->ops->name, devices);

	if (rc != 0)
		return rc;
	a->run.device = a->device;
	a->run.shrink_calls = a->shrink_calls >= 0 ? (uint32_t)a->shrink_calls : SHRINK_CALLS_DEVICE;
	if (strcmp(command, "replay") == 0)
		return o2_run_replay(property, argument);
	o2_held_now(&before);
	rc = run_cases(a, property, line, &result);
	o2_held_now(&after);
	if (result != NULL && !o2_held_to_json(&before, &devices->most, &after, result) && rc == 0)
		rc = 1;
	return o2_props_report(a, property->ops->name, line, result, rc);
}

static int run_own(struct o2_props_arguments *a, const struct o2_property *property, const char *command,
		   const char *argument)
{
	a->run.shrink_calls = a->shrink_calls >= 0 ? (uint32_t)a->shrink_calls : SHRINK_CALLS_IN_PROCESS;
	a->device = "model";
	a->run.device = a->device;
	if (strcmp(command, "replay") == 0)
		return o2_run_replay(property, argument);
	if (strcmp(command, "run") == 0) {
		json_t *result;
		char line[LINE_BYTES];
		int rc = run_cases(a, property, line, &result);

		return o2_props_report(a, property->ops->name, line, result, rc);
	}
	if (strcmp(command, "export") == 0 && property->ops->missing == o2_tally_missing)
		return exported(o2_export_situations(property, argument, a->run.seed), argument);
	fprintf(stderr, "o2props: property %s has no command %s\n", property->ops->name, command);
	return O2_PROPS_EXIT_USAGE;
}

/* Open the device, and prepare a run on it.  Returns 0 or an exit status. */
static int open_transfer(struct o2_props_arguments *a, struct o2_rung_account *account,
			 struct o2_transfer_run *run)
{
	struct o2_error error = {0};
	struct o2_rung *rung;
	char text[200];
	int rc;

	o2_rung_account(a, OPEN_NETWORK, account);
	rc = account->base.open(&account->base, &rung, &error);

	if (rc != 0) {
		o2_error_text(&error, text, sizeof(text));
		if (a->far != NULL)
			o2_complain("o2props", "cannot open %s and the far end '%s': %s", a->device, a->far,
				    text);
		else
			fprintf(stderr, "o2props: cannot open %s: %s (%s)\n", a->device, strerror(-rc), text);
		return O2_PROPS_EXIT_CANNOT;
	}
	if (a->shrink_calls >= 0)
		a->run.shrink_calls = (uint32_t)a->shrink_calls;
	else
		a->run.shrink_calls =
			a->run.hw_device[0] == NULL ? SHRINK_CALLS_IN_PROCESS : SHRINK_CALLS_DEVICE;
	rc = o2_transfer_run_open(rung, run);
	if (rc != 0) {
		fprintf(stderr, "o2props: %s\n", strerror(-rc));
		account->base.close(&account->base, rung);
		return O2_PROPS_EXIT_CANNOT;
	}
	run->source = &account->base;
	choose_modes(a->mode, &run->space);
	return 0;
}

static int run_transfer(struct o2_props_arguments *a, const char *command, const char *argument)
{
	/* Both are static because the run points to its account. */
	static struct o2_transfer_run run;
	static struct o2_rung_account account;
	struct o2_property property;
	json_t *result = NULL;
	char line[LINE_BYTES];
	int rc = open_transfer(a, &account, &run);

	if (rc != 0)
		return rc;
	property = o2_transfer_property(&run);
	/* Readers of an export draw from all sizes, so the space is not limited; larger cases are left out. */
	if (strcmp(command, "export") != 0)
		run.space.max_nob = a->max_bytes;
	if (strcmp(command, "replay") == 0) {
		rc = o2_run_replay(&property, argument);
	} else if (strcmp(command, "export") == 0) {
		rc = exported(o2_run_export(&run, argument, a->run.seed, a->run.cases, a->max_bytes),
			      argument);
	} else {
		rc = run_cases(a, &property, line, &result);
	}
	o2_transfer_give_back(&run);
	o2_transfer_run_close(&run);
	rc = o2_rung_settle(&account, result, rc);
	return o2_props_report(a, property.ops->name, line, result, rc);
}

/* The property that the command line names.  A case file has it in its name, before the last dash. */
static const char *property_of(struct o2_props_arguments *a, const char *command, const char *argument,
			       size_t *length)
{
	const char *name = a->property;
	const char *end;

	if (name == NULL && (argument == NULL || strcmp(command, "export") == 0))
		name = "transfer";
	else if (name == NULL && strcmp(command, "run") == 0)
		name = argument;
	if (name != NULL) {
		*length = strlen(name);
		return name;
	}
	name = strrchr(argument, '/');
	name = name == NULL ? argument : name + 1;
	end = strrchr(name, '-');
	*length = end == NULL ? 0 : (size_t)(end - name);
	if (o2_own_find(a, name, *length).ops != NULL)
		return name;
	*length = strlen("transfer");
	return "transfer";
}

static int start_mutant(const struct o2_props_arguments *a)
{
	int rc = o2_props_mutant("o2props", a->mutant);

	if (rc == 0 && a->mutant_counts != NULL) {
		rc = o2_mutant_count_in_file(a->mutant_counts);
		if (rc != 0)
			rc = o2_complain("o2props", "cannot count in %s: %s", a->mutant_counts,
					 strerror(-rc));
	}
	return rc;
}

/* Run a command that has its own command line; -1: it is none of these. */
static int other_command(int argc, char **argv)
{
	const char *program = basename(argv[0]), *name = argc > 1 ? argv[1] : "";

	if (strcmp(name, "explain") == 0)
		return o2_explain_command(program, argc - 1, argv + 1);
	if (strcmp(name, "check") == 0)
		return o2_check_command(program, argc - 1, argv + 1);
#ifdef O2_PROPS_IN_PROCESS
	if (strcmp(name, "explore") == 0)
		return o2_explore_command(argv[0], argc - 1, argv + 1);
#endif
	if (strcmp(name, "hostile") == 0) {
		struct o2_hostile_words words;
		const int first = o2_hostile_read(program, argc - 1, argv + 1, &words);

		if (first <= 0)
			return first < 0 ? O2_PROPS_EXIT_USAGE : 0;
#ifdef O2_PROPS_IN_PROCESS
		return words.devices != NULL ? run_sibling(argv) : o2_hostile_command(&words);
#else
		return o2_hostile_net_command(&words);
#endif
	}
	return -1;
}

/* Check that the words besides options are a command and its arguments. */
static int check_arguments(int count, char **arguments)
{
	if (count == 0)
		return o2_command_usage(&o2_props_command, "no command given");
	if (strcmp(arguments[0], "list") == 0)
		return count == 1 ? 0
				  : o2_command_usage(&o2_props_command, "unexpected argument '%s'",
						     arguments[1]);
	if (strcmp(arguments[0], "far") == 0 && count == 1)
		return 0;
	if (takes_one_argument(arguments[0]) && count != 2)
		return o2_command_usage(&o2_props_command, "%s takes one argument", arguments[0]);
	if (!takes_one_argument(arguments[0]) && strcmp(arguments[0], "run") != 0)
		return o2_command_usage(&o2_props_command, "unknown command '%s'", arguments[0]);
	if (count > 2)
		return o2_command_usage(&o2_props_command, "unexpected argument '%s'", arguments[2]);
	return 0;
}

/* Keep freed memory for the next case: getting new pages from the kernel takes longer than most cases. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, KEPT_PIECE_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

static int run(int argc, char **argv)
{
	struct o2_props_arguments a;
	const char *command, *argument, *name;
	struct o2_property property;
	size_t length;
	const int other = other_command(argc, argv);
	int first;

	if (other >= 0)
		return other;
	first = o2_props_parse(argc, argv, &a);
	if (first <= 0)
		return first < 0 ? O2_PROPS_EXIT_USAGE : 0;
	if (a.version)
		return puts("o2props " O2_VERSION) < 0;
	if (check_arguments(argc - first, argv + first) != 0)
		return O2_PROPS_EXIT_USAGE;
	command = argv[first];
	argument = argv[first + 1];
	if (strcmp(command, "list") == 0)
		return o2_props_check(&a, command, command, true) != 0 ? O2_PROPS_EXIT_USAGE
								       : o2_own_list(&a);
	name = property_of(&a, command, argument, &length);
	property = o2_own_find(&a, name, length);
	if (property.ops == NULL && strcmp(name, "transfer") != 0) {
		fprintf(stderr, "o2props: there is no property '%s'; see o2props list\n", name);
		return O2_PROPS_EXIT_USAGE;
	}
	if (o2_props_check(&a, command, property.ops == NULL ? name : property.ops->name,
			   takes_devices(&property)) != 0)
		return O2_PROPS_EXIT_USAGE;
#ifdef O2_PROPS_IN_PROCESS
	if (takes_devices(&property) && !o2_props_in_process(&a))
		return run_sibling(argv);
#else
	(void)run_sibling;
#endif
	o2_judged_aside = o2_mutant_aside;
	o2_judged_deaf = a.no_judge;
	o2_report_only(a.only);
	if (start_mutant(&a) != 0)
		return O2_PROPS_EXIT_USAGE;
	if (strcmp(command, "export") == 0 && !a.seed_said)
		fprintf(stderr, "o2props: export, seed 0x%" PRIx64 "\n", a.run.seed);
	if (strcmp(command, "far") == 0)
		return o2_far_command(&a, OPEN_NETWORK);
	if (property.ops == NULL)
		return run_transfer(&a, command, argument);
	if (takes_devices(&property) && !o2_props_in_process(&a) && strcmp(command, "export") != 0)
		return run_on_devices(&a, &property, command, argument);
	return run_own(&a, &property, command, argument);
}

/* Output that could not be written must become an error. */
int main(int argc, char **argv)
{
	int status;

	o2_standard_hold();
	keep_memory();
	status = run(argc, argv);
	if (status == O2_PROPS_EXIT_USAGE || (fflush(stdout) == 0 && !ferror(stdout)))
		return status;
	o2_complain(basename(argv[0]), "standard output: %s", strerror(-o2_errno_or(errno, EIO)));
	return O2_PROPS_EXIT_USAGE;
}
