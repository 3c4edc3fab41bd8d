/* SPDX-License-Identifier: MIT */
/* A program that is asked for long and whose memory may grow (docs/oracle.md, protocol/memory). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "props/check/hosts.h"

#define WARM   16u /* batches before the first measurement, and between it and the second */
#define KIB    1024u
#define LOOSE  256u /* KiB by which the memory of a shell varies */
#define ANSWER "{\"form\": \"o2ref/sg_build/output\", \"version\": 1, \"not_implemented\": true}"

struct growth {
	struct o2_hosts_run *run;
	uint32_t asked;
	bool told;
	char text[O2_ANSWER_TEXT_BYTES + 64];
};

static void take(void *context, uint32_t index, const struct o2_answer *answer)
{
	struct growth *growth = context;

	(void)index;
	growth->told = answer->conduct.check < O2_CHECKS;
	growth->text[0] = '\0';
	if (growth->told)
		snprintf(growth->text, sizeof(growth->text), "%s: %s", o2_check_name(answer->conduct.check),
			 answer->conduct.text);
	if (answer->kind != O2_ANSWER_NOT_IMPLEMENTED)
		o2_report_fail(growth->run->report, "hosts/grow", "answer %" PRIu32 " is %d", growth->asked,
			       answer->kind);
}

/* Resident memory of the program, whose process number is in the file. */
static uint64_t resident_kib(int fd)
{
	char name[40], text[32] = "";
	unsigned long long pages = 0;
	FILE *file;

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		return 0;
	snprintf(name, sizeof(name), "/proc/%lu/statm", strtoul(text, NULL, 10));
	file = fopen(name, "r");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%*u %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE) / KIB;
}

/* The program runs while it is measured, so a number may be one off. */
static bool is_near(unsigned long long told, uint64_t due_kib)
{
	return told + 1 >= due_kib / KIB && told <= due_kib / KIB + 1;
}

static void ask(struct o2_host *host, struct growth *growth)
{
	struct o2_case *asked[1] = {&growth->run->asked[0]};

	growth->asked++;
	if (host->ops->ask(host, asked, 1, take, growth) != 0)
		o2_report_fail(growth->run->report, "hosts/grow", "it cannot be asked");
}

/* Growth must be reported if it exceeds the limit, and not otherwise. */
static void judge(struct growth *growth, uint64_t warm, uint64_t now, uint64_t most_mib)
{
	const uint64_t grown = now > warm ? now - warm : 0;
	unsigned long long told[2];
	struct o2_report *report = growth->run->report;

	if (growth->told ? grown + LOOSE < most_mib * KIB : grown > most_mib * KIB + LOOSE)
		o2_report_fail(report, "hosts/grow",
			       "from %" PRIu64 " to %" PRIu64 " KiB, by at most %" PRIu64 " MiB: '%s'", warm,
			       now, most_mib, growth->text);
	else if (growth->told &&
		 (sscanf(growth->text,
			 "protocol/memory: it has %llu MiB in memory, %llu MiB after its first answers",
			 &told[0], &told[1]) != 2 ||
		  !is_near(told[0], now) || !is_near(told[1], warm)))
		o2_report_fail(report, "hosts/grow-words", "%" PRIu64 " and %" PRIu64 " KiB: '%s'", now, warm,
			       growth->text);
}

void o2_hosts_grow(struct o2_hosts_run *run)
{
	struct growth growth = {.run = run};
	static const uint32_t percents[] = {85, 75, 120, 150}; /* of the allowed growth */
	const uint32_t most = 4 + (uint32_t)o2_draw(run->c, 4);
	const uint32_t percent = percents[o2_draw(run->c, 3)];
	const struct o2_host_options options = {.timeout_ms = O2_HOSTS_PATIENCE_MS, .growth_mib = most};
	char shell[] = "sh", flag[] = "-c", text[160];
	char *argv[] = {shell, flag, run->script, NULL};
	const int fd = memfd_create("o2ref-hosts", 0);
	struct o2_host *host;
	uint64_t warm;
	int rc;

	if (fd < 0)
		abort();
	snprintf(run->script, sizeof(run->script),
		 "echo $$ >/dev/fd/%d; i=0; while head -c %zu >/dev/null; do i=$((i+1)); [ $i = 20 ] && "
		 "x=$(head -c %" PRIu32 " /dev/zero | tr '\\0' x); printf '\\%o\\0\\0\\0%%s' '%s'; done",
		 fd, run->said_bytes, most * KIB * KIB / 100 * percent, (unsigned int)strlen(ANSWER), ANSWER);
	rc = o2_host_open_program(argv, &options, &host, text, sizeof(text));
	if (rc != 0) {
		o2_report_fail(run->report, "hosts/open", "%d: %s", rc, text);
		close(fd);
		return;
	}
	while (growth.asked < WARM && !run->report->failed)
		ask(host, &growth);
	warm = resident_kib(fd);
	while (growth.asked < 2 * WARM && !run->report->failed && !growth.told)
		ask(host, &growth);
	if (!run->report->failed) {
		const uint64_t now = resident_kib(fd);

		ask(host, &growth);
		judge(&growth, warm, now, most);
	}
	host->ops->close(host);
	close(fd);
	run->tally.seen[O2_HOSTS_GROWN] += growth.told;
}
