/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "props/engine/case_file.h"
#include "props/engine/left_behind.h"
#include "props/engine/property.h"

/* Runs one case again, from its bytes or from its JSON file. */

/* The exit status; a case that was not tried has not held. */
static int status_of(enum o2_status status, const char *path)
{
	if (status == O2_STATUS_VALID || status == O2_STATUS_INTERESTING)
		return status == O2_STATUS_INTERESTING;
	fprintf(stderr, "o2props: %s: not tried: %s\n", path,
		status == O2_STATUS_OVERRUN ? "it is longer than a case may be"
					    : "it is not a case of the property");
	return 2;
}

static int replay_scenario(const struct o2_property *property, const char *path, struct o2_report *report)
{
	enum o2_status status = O2_STATUS_INVALID;
	struct o2_error error = {0};
	json_error_t where;
	char text[200];
	json_t *object;
	int rc;

	if (property->ops->run_json == NULL) {
		fprintf(stderr, "o2props: %s: property %s has no .json cases, only those of bytes\n", path,
			property->ops->name);
		return 2;
	}
	object = o2_json_read_file(path, JSON_REJECT_DUPLICATES, &where);
	if (object == NULL) {
		fprintf(stderr, "o2props: %s: %s\n", path, o2_json_where(&where, text, sizeof(text)));
		return 2;
	}
	rc = property->ops->run_json(property->context, object, &status, report, &error);
	json_decref(object);
	if (rc != 0) {
		o2_error_text(&error, text, sizeof(text));
		fprintf(stderr, "o2props: %s: %s\n", path, text);
		return 2;
	}
	return status_of(status, path);
}

static int replay_bytes(const struct o2_property *property, const char *path, struct o2_report *report)
{
	struct o2_choice *choice = calloc(1, sizeof(*choice));
	uint8_t *bytes = malloc(O2_CHOICE_MAX_BYTES);
	size_t length;
	int rc = choice == NULL || bytes == NULL ? -ENOMEM : o2_case_read(path, bytes, &length);

	if (rc != 0) {
		fprintf(stderr, "o2props: %s: %s\n", path, strerror(-rc));
		rc = 2;
	} else {
		o2_choice_replay(choice, bytes, length);
		rc = status_of(property->keeps ? property->ops->run_case(property->context, choice, report)
					       : o2_left_weigh(property, choice, report),
			       path);
	}
	free(choice);
	free(bytes);
	return rc;
}

static void print_held(const struct o2_property *property)
{
	const struct o2_property_ops *ops = property->ops;

	if (ops->print_held != NULL) {
		ops->print_held(property->context, stdout);
	} else if (ops->held != NULL) {
		printf("held%s\n", ops->held);
	} else {
		printf("held: ");
		ops->print(property->context, 0, stdout);
	}
}

int o2_run_replay(const struct o2_property *property, const char *path)
{
	size_t length = strlen(path);
	bool json = length > 5 && strcmp(path + length - 5, ".json") == 0;
	struct o2_report report = {0};
	int rc;

	if (property->ops->sweep_always != NULL)
		property->ops->sweep_always(property->context);
	rc = json ? replay_scenario(property, path, &report) : replay_bytes(property, path, &report);
	if (rc == 2)
		return rc;
	property->ops->print(property->context, UINT32_MAX, stdout);
	for (uint32_t i = 0; i < report.lines; i++)
		printf("  %s\n", report.line[i]);
	if (rc == 0)
		print_held(property);
	else
		printf("failed: %s\n", report.signature);
	if (property->ops->reset != NULL)
		property->ops->reset(property->context);
	return rc;
}
