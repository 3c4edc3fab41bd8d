/* SPDX-License-Identifier: MIT */
#include "props/cmd/rung_open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/cmd/far_command.h"

/* Open a rung of two ends on devices, connected as the command line says. */
static int open_ends(struct o2_props_arguments *a, o2_network_open_fn open_network, const char *source,
		     const char *sink, uint8_t gid_index, struct o2_rung **rung, struct o2_error *error)
{
	const struct o2_rung_nodes_config config = {
		.device = {source, sink},
		.gid_index = gid_index,
		.open_network = open_network,
		.processes = strcmp(a->connect, "processes") == 0,
		.far = a->far == NULL ? NULL : o2_far_options(a, a->far_side == O2_SOURCE ? source : sink),
	};

	if (config.far == NULL && strcmp(a->connect, O2_RUN_CONNECT_DIRECT) == 0)
		return o2_rung_open_verbs(source, sink, gid_index, rung, error);
	return o2_rung_open_nodes(&config, rung, error);
}

/* Exit with a usage error if --connect does not fit the device. */
static void check_connect(const struct o2_props_arguments *a)
{
	const bool model = strcmp(a->device, "model") == 0, loop = strcmp(a->device, "loop") == 0;
	const bool direct = strcmp(a->connect, O2_RUN_CONNECT_DIRECT) == 0;

	if (a->far != NULL && (model || loop || !direct)) {
		fprintf(stderr, "o2props: --far cannot be had with --%s %s\n",
			model || loop ? "device" : "connect", model || loop ? a->device : a->connect);
		exit(O2_PROPS_EXIT_USAGE);
	}

	if ((model && !direct) || (loop && strcmp(a->connect, "processes") == 0)) {
		fprintf(stderr, "o2props: --connect %s cannot be had with --device %s\n", a->connect,
			a->device);
		exit(O2_PROPS_EXIT_USAGE);
	}
}

char *o2_rung_device_names(const char *devices, const char *name[2])
{
	char *copy = strdup(devices), *comma;

	if (copy == NULL) {
		fprintf(stderr, "o2props: --device: %s\n", strerror(ENOMEM));
		exit(O2_PROPS_EXIT_CANNOT);
	}
	comma = strchr(copy, ',');
	name[0] = copy;
	name[1] = comma == NULL ? NULL : comma + 1;
	if (comma != NULL)
		*comma = '\0';
	return copy;
}

void o2_rung_devices(struct o2_props_arguments *a, const char *device[2], uint8_t *gid_index)
{
	static char *names;

	free(names);
	names = o2_rung_device_names(a->device, device);
	a->run.hw_device[0] = device[0];
	a->run.hw_device[1] = device[1];
	if (device[1] == NULL)
		device[1] = device[0];
	*gid_index = a->gid_index >= 0 ? (uint8_t)a->gid_index : o2_props_gid_index();
}

static int source_open(struct o2_rung_source *base, struct o2_rung **rung, struct o2_error *error)
{
	const struct o2_rung_account *account = (struct o2_rung_account *)base;
	struct o2_props_arguments *a = account->arguments;
	const char *device[2];
	uint8_t gid_index;

	check_connect(a);
	if (strcmp(a->device, "model") == 0)
		return o2_rung_open_model(rung, error);
	a->run.connect = a->far != NULL ? "far" : a->connect;
	if (strcmp(a->device, "loop") == 0)
		return open_ends(a, account->open_network, "loop0", "loop1", 1, rung, error);
	o2_rung_devices(a, device, &gid_index);
	return open_ends(a, account->open_network, device[0], device[1], gid_index, rung, error);
}

static void source_close(struct o2_rung_source *base, struct o2_rung *rung)
{
	struct o2_rung_account *account = (struct o2_rung_account *)base;
	struct o2_error error = {0};
	int ended = 0;

	o2_held_now(&account->most);
	if (rung->ops->end_processes != NULL)
		ended = rung->ops->end_processes(rung, &account->before, &account->most, &account->theirs,
						 &error);
	rung->ops->close(rung);
	if (ended != 0 && account->ended == 0) {
		account->ended = ended;
		account->error = error;
	}
}

void o2_rung_account(struct o2_props_arguments *a, o2_network_open_fn open_network,
		     struct o2_rung_account *account)
{
	*account = (struct o2_rung_account){
		.base = {.open = source_open, .close = source_close},
		.arguments = a,
		.open_network = open_network,
	};
	o2_held_now(&account->before);
}

int o2_rung_settle(const struct o2_rung_account *account, json_t *result, int status)
{
	struct o2_held after;
	char text[200];

	if (account->ended != 0) {
		o2_error_text(&account->error, text, sizeof(text));
		fprintf(stderr, "FINDING process\n  %s\n", text);
		json_array_append_new(json_object_get(result, "findings"),
				      json_pack("{s:s, s:[s]}", "signature", "process", "lines", text));
		status = status == 0 ? 1 : status;
	}
	o2_held_now(&after);
	o2_held_add(&after, &account->theirs);
	if (result != NULL && !o2_held_to_json(&account->before, &account->most, &after, result))
		status = status == 0 ? 1 : status;
	return status;
}
