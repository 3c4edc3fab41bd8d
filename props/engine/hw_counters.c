/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "props/engine/run.h"

json_t *o2_hw_counters(const char *device)
{
	json_t *counters = json_object();
	char path[512];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters", device);
	directory = opendir(path);
	if (directory == NULL)
		return counters;
	while ((entry = readdir(directory)) != NULL) {
		char file[800];
		long long value;
		FILE *stream;

		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		stream = entry->d_name[0] != '.' ? fopen(file, "r") : NULL;
		if (stream == NULL)
			continue;
		if (fscanf(stream, "%lld", &value) == 1)
			json_object_set_new(counters, entry->d_name, json_integer(value));
		fclose(stream);
	}
	closedir(directory);
	return counters;
}

void o2_hw_counters_moved(const char *device, const json_t *before, char *text, size_t bytes)
{
	json_t *now = o2_hw_counters(device);
	json_t *value;
	const char *name;
	size_t used = 0;

	text[0] = '\0';
	json_object_foreach(now, name, value) {
		const json_int_t moved =
			json_integer_value(value) - json_integer_value(json_object_get(before, name));

		if (moved != 0 && used < bytes)
			used += (size_t)snprintf(text + used, bytes - used, "%s%s %lld", used > 0 ? ", " : "",
						 name, (long long)moved);
	}
	json_decref(now);
}
