/* SPDX-License-Identifier: MIT */
/* Standard error, and what a report takes from it (docs/oracle.md, "Process protocol"). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "props/check/hosts.h"

#define LAST_BYTES 511u	 /* bytes at the end that are searched for the last line */
#define LINE_BYTES 127u	 /* bytes of the line that are reported, with ": " */
#define NEAR_BYTES 7000u /* distance from the end within which a place is found */
#define FAR_BYTES  9000u /* distance from the end beyond which it is not */

static void put(struct o2_hosts_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct o2_hosts_run *run, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	run->murmur_bytes += (size_t)vsnprintf(run->murmur + run->murmur_bytes,
					       sizeof(run->murmur) - run->murmur_bytes, format, list);
	va_end(list);
}

static void draw_name(struct o2_choice *c, char name[24])
{
	static const char letters[] = "abcxyzABCXYZ019_-.";
	const uint64_t count = 1 + o2_draw(c, 20);

	for (uint64_t i = 0; i < count; i++)
		name[i] = letters[o2_draw(c, sizeof(letters) - 2)];
	name[count] = '\0';
}

/* Put a line that names a place, or nearly does. */
static void put_line(struct o2_hosts_run *run, char *python, char *first)
{
	struct o2_choice *c = run->c;
	static const uint32_t weights[] = {1, 3, 1, 1, 1, 2};
	const uint64_t kind = o2_draw_weighted(c, weights, sizeof(weights) / sizeof(weights[0]));
	const unsigned int number = (unsigned int)o2_draw(c, 99999);
	char name[24];

	draw_name(c, name);
	switch (kind) {
	case 0:
		put(run, "  File \"/home/%s.py\", line %u, in answer", name, number);
		snprintf(python, O2_ANSWER_SITE_BYTES, "%s.py:%u", name, number);
		break;
	case 1:
		put(run, "/a b/%s.c:%u: that was wrong", name, number);
		run->first_of_two = first[0] != '\0';
		if (first[0] == '\0')
			snprintf(first, O2_ANSWER_SITE_BYTES, "%s.c:%u", name, number);
		break;
	case 2:
		put(run, "panic: goroutine [running]: %s.go:: nothing", name);
		break;
	case 3:
		put(run, "at noon it was 12 :%u", number);
		break;
	case 4:
		put(run, "tabs\tand\x7f, \033[1m, \xff, %s.c:x", name);
		break;
	default:
		put(run, "looking at it");
		break;
	}
}

/* The last line at the end, with '?' for each control character and invalid UTF-8 byte. */
static void last_words(const struct o2_hosts_run *run, char *words)
{
	const size_t from = run->murmur_bytes > LAST_BYTES ? run->murmur_bytes - LAST_BYTES : 0;
	size_t end = run->murmur_bytes, begin, n = 0;

	while (end > from && (run->murmur[end - 1] == '\n' || run->murmur[end - 1] == ' '))
		end--;
	for (begin = end; begin > from && run->murmur[begin - 1] != '\n'; begin--)
		;
	if (end > from)
		n = 2;
	memcpy(words, ": ", 2);
	for (size_t i = begin; end > from && i < end && n < LINE_BYTES; i++)
		words[n++] = strchr("\t\033\x7f\xff", run->murmur[i]) != NULL ? '?' : run->murmur[i];
	words[n] = '\0';
}

void o2_hosts_draw_murmur(struct o2_hosts_run *run, char *words, char *site)
{
	struct o2_choice *c = run->c;
	char python[O2_ANSWER_SITE_BYTES] = "", first[O2_ANSWER_SITE_BYTES] = "";
	size_t early;

	site[0] = '\0';
	run->first_of_two = false;
	for (uint64_t lines = o2_draw(c, 4); lines > 0; lines--) {
		put_line(run, python, first);
		if (lines > 1)
			put(run, "\n");
	}
	early = run->murmur_bytes;
	if (o2_draw_bool(c, 3, 1)) {
		const uint64_t count =
			o2_draw_bool(c, 1, 1) ? o2_draw(c, NEAR_BYTES - 1000) : FAR_BYTES + o2_draw(c, 6000);

		put(run, "\n");
		for (uint64_t i = 0; i < count; i++)
			put(run, "%c", i % 700 == 699 ? '\n' : 'x');
		if (run->murmur_bytes - early > FAR_BYTES) {
			run->tally.seen[O2_HOSTS_FORGOTTEN] += python[0] != '\0' || first[0] != '\0';
			python[0] = first[0] = '\0';
		}
	}
	for (uint64_t ends = o2_draw(c, 3); ends > 0; ends--)
		put(run, o2_draw_bool(c, 1, 1) ? "\n" : " ");
	run->first_of_two = run->first_of_two && first[0] != '\0' && python[0] == '\0';
	snprintf(site, O2_ANSWER_SITE_BYTES, "%s", python[0] != '\0' ? python : first);
	last_words(run, words);
}
