/* SPDX-License-Identifier: MIT */
#include "tests/mutants/mutant.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/breaks.h"
#include "props/engine/mutant.h"

enum o2_mutant_id o2_active_mutant;

static struct o2_mutant_counts counts_here;
struct o2_mutant_counts *o2_mutant_counts = &counts_here;

/* The rule whose check is disabled; empty: none. */
static char without[64];
static const char prefix[] = "without/";

bool o2_rule_breaks(const char *rule, bool condition)
{
	if (without[0] == '\0' || strcmp(rule, without) != 0)
		return condition;
	o2_mutant_counts->reached++;
	o2_mutant_trigger(condition);
	return false;
}

int o2_mutant_select(const char *name)
{
	static const char *const names[] = {"none",
#define O2_MUTANT_NAME(id, name, group) name,
					    O2_MUTANTS(O2_MUTANT_NAME)
#undef O2_MUTANT_NAME
	};

	without[0] = '\0';
	o2_active_mutant = O2_MUTANT_NONE;
	if (strncmp(name, prefix, sizeof(prefix) - 1) == 0) {
		if (strlen(name + sizeof(prefix) - 1) >= sizeof(without))
			return -EINVAL;
		strcpy(without, name + sizeof(prefix) - 1);
		return 0;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0) {
			o2_active_mutant = (enum o2_mutant_id)i;
			return 0;
		}
	}
	return -EINVAL;
}

void o2_mutant_aside(bool aside)
{
	static enum o2_mutant_id kept;

	if (aside)
		kept = o2_active_mutant;
	o2_active_mutant = aside ? O2_MUTANT_NONE : kept;
}

int o2_mutant_count_in_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	void *memory = MAP_FAILED;
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, sizeof(*o2_mutant_counts)) == 0)
		memory = mmap(NULL, sizeof(*o2_mutant_counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		rc = -errno;
	else
		o2_mutant_counts = memory;
	close(fd);
	return rc;
}
