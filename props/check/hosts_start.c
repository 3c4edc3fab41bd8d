/* SPDX-License-Identifier: MIT */
/* Programs and shared objects that cannot be started or asked: the reason is reported, and nothing is leaked. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own_path.h"
#include "props/check/hosts.h"
#include "props/check/hosts_scarce.h"
#include "props/scenario/draw.h"

#define OF_PROGRAM   7u /* descriptors that starting a program, or an object, needs at once */
#define OF_OBJECT    6u
#define ALLOCATIONS  2u		  /* of opening either */
#define LONGEST_WORD (128u << 10) /* execve(2): MAX_ARG_STRLEN */
#define LONGEST_PATH 5000u

static char word[LONGEST_WORD + 8];

static const struct o2_host_options options = {.timeout_ms = O2_HOSTS_PATIENCE_MS, .growth_mib = 1000};

static int open_one(struct o2_hosts_run *run, bool object, char *const *argv, struct o2_host **host,
		    char text[160])
{
	return object ? o2_host_open_object(run->object, &options, host, text, 160)
		      : o2_host_open_program(argv, &options, host, text, 160);
}

/* Check the result.  due: 0 or -errno; why: its text, if not that of the errno. */
static void check(struct o2_hosts_run *run, int rc, int due, const char *why, const char *text,
		  struct o2_host *host)
{
	if (rc == 0)
		host->ops->close(host);
	if (rc != due || (rc != 0 && strcmp(text, why != NULL ? why : strerror(-due)) != 0)) {
		o2_report_fail(run->report, "hosts/start", "%s", run->script);
		o2_report_add(run->report, "found %d: %s", rc, rc == 0 ? "" : text);
		o2_report_add(run->report, "expected %d: %s", due,
			      why != NULL ? why
			      : due == 0  ? ""
					  : strerror(-due));
	}
}

/* --- files that are no program --- */

static void no_program(struct o2_hosts_run *run)
{
	struct o2_choice *c = run->c;
	static const struct {
		const char *name;
		int error;
	} names[] = {{"./no-such-program", ENOENT},
		     {"no-such-program-in-any-folder", ENOENT},
		     {"/", EACCES},
		     {"/dev/null", EACCES},
		     {"/dev/null/program", ENOTDIR},
		     {"", ENOENT}};
	const uint64_t kind = o2_draw(c, 7);
	char shell[] = "sh", name[64], text[160] = "";
	char *argv[] = {name, NULL, NULL};
	struct o2_host *host = NULL;
	int due = kind == 6 ? -ENAMETOOLONG : kind == 7 ? -E2BIG : -names[kind].error, rc;

	snprintf(name, sizeof(name), "%s", kind < 6 ? names[kind].name : "");
	snprintf(run->script, sizeof(run->script), "program '%s', kind %" PRIu64, name, kind);
	memset(word, 'x', sizeof(word));
	word[0] = '/';
	if (kind == 6) {
		word[LONGEST_PATH] = '\0';
		argv[0] = word;
	} else if (kind == 7) {
		/* As long as a word may be, with its NUL, or one byte longer. */
		const bool fits = o2_draw_bool(c, 1, 1);

		argv[0] = shell;
		argv[1] = word;
		word[LONGEST_WORD - fits] = '\0';
		due = fits ? 0 : due;
	}
	rc = open_one(run, false, argv, &host, text);
	check(run, rc, due, NULL, text, host);
}

/* --- lack of descriptors, memory, or processes --- */

enum lack { DESCRIPTORS, MEMORY, PROCESS };

/* n: how many descriptors are left; or which allocation, or process, fails from now on. */
static void take_away(const struct o2_hosts_run *run, enum lack what, uint32_t n)
{
	if (what == DESCRIPTORS)
		o2_hosts_scarce(n);
	else if (what == MEMORY)
		run->fail_allocation(n);
	else
		run->lacks_process(n, EAGAIN);
}

static void give_back(const struct o2_hosts_run *run, enum lack what)
{
	if (what == DESCRIPTORS)
		o2_hosts_plenty();
	else if (what == MEMORY)
		run->fail_allocation(0);
	else
		run->lacks_process(0, 0);
}

/* Open a shell or the object while something is lacking. */
static int open_without(struct o2_hosts_run *run, enum lack what, uint32_t n, bool object,
			struct o2_host **host, char text[160])
{
	char shell[] = "sh";
	char *argv[] = {shell, NULL};
	int rc;

	take_away(run, what, n);
	rc = open_one(run, object, argv, host, text);
	give_back(run, what);
	return rc;
}

static void without_descriptors(struct o2_hosts_run *run, bool object)
{
	const uint32_t left = (uint32_t)o2_draw(run->c, 8), needed = object ? OF_OBJECT : OF_PROGRAM;
	char text[160] = "";
	struct o2_host *host = NULL;
	int rc;

	snprintf(run->script, sizeof(run->script), "%" PRIu32 " descriptors for %s", left,
		 object ? "an object" : "a program");
	rc = open_without(run, DESCRIPTORS, left, object, &host, text);
	/* The first descriptor of an object is the file for its output. */
	check(run, rc, left >= needed ? 0 : -EMFILE,
	      object && left > 0 ? "cannot fork: Too many open files" : NULL, text, host);
}

static void without_memory(struct o2_hosts_run *run, bool object)
{
	const uint32_t nth = 1 + (uint32_t)o2_draw(run->c, ALLOCATIONS - 1);
	char text[160] = "";
	struct o2_host *host = NULL;
	int64_t before;
	int rc;

	if (run->fail_allocation == NULL)
		return;
	snprintf(run->script, sizeof(run->script), "allocation %" PRIu32 " of %s is refused", nth,
		 object ? "an object" : "a program");
	before = run->allocated();
	rc = open_without(run, MEMORY, nth, object, &host, text);
	check(run, rc, -ENOMEM, NULL, text, host);
	if (run->allocated() != before)
		o2_report_fail(run->report, "hosts/left", "%" PRId64 " allocations are left",
			       run->allocated() - before);
	run->tally.seen[O2_HOSTS_NO_MEMORY]++;
}

static void without_a_process(struct o2_hosts_run *run, bool object)
{
	char text[160] = "";
	struct o2_host *host = NULL;
	int rc;

	if (run->lacks_process == NULL)
		return;
	snprintf(run->script, sizeof(run->script), "no process for %s", object ? "an object" : "a program");
	rc = open_without(run, PROCESS, 1, object, &host, text);
	check(run, rc, -EAGAIN, object ? "cannot fork: Resource temporarily unavailable" : NULL, text, host);
}

/* --- a program that cannot be started again --- */

static void take(void *context, uint32_t index, const struct o2_answer *answer)
{
	struct o2_hosts_run *run = context;

	if (index != run->answered || answer->kind != O2_ANSWER_BROKEN ||
	    answer->fault.check != O2_CHECK_RUN_EXIT)
		o2_report_fail(run->report, "hosts/start-again", "answer %" PRIu32 " is %d", index,
			       answer->kind);
	run->answered++;
}

/* The shell exits with each question.  Questions that are not asked any more are not answered. */
static void not_again(struct o2_hosts_run *run)
{
	static const struct {
		const char *name;
		uint32_t n;
		int code;
		uint32_t due; /* answers before the lack shows */
	} lacks[] = {[DESCRIPTORS] = {"descriptors", 0, -EMFILE, 1},
		     [MEMORY] = {"memory", 1, -ENOMEM, 0},
		     [PROCESS] = {"a process", 1, -EAGAIN, 1}};
	const enum lack what =
		run->fail_allocation == NULL ? DESCRIPTORS : (enum lack)o2_draw(run->c, PROCESS);
	const uint32_t due = lacks[what].due;
	struct o2_case *asked[O2_HOSTS_ASKED];
	char shell[] = "sh", flag[] = "-c", command[] = "exit 3", text[160];
	char *argv[] = {shell, flag, command, NULL};
	struct o2_host *host;
	int rc = o2_host_open_program(argv, &options, &host, text, sizeof(text));

	snprintf(run->script, sizeof(run->script), "a shell that leaves, without %s", lacks[what].name);
	if (rc != 0) {
		o2_report_fail(run->report, "hosts/open", "%d: %s", rc, text);
		return;
	}
	for (uint32_t i = 0; i < run->nasked; i++)
		asked[i] = &run->asked[i];
	run->answered = 0;
	take_away(run, what, lacks[what].n);
	rc = host->ops->ask(host, asked, run->nasked, take, run);
	give_back(run, what);
	if (rc != (due == run->nasked ? 0 : lacks[what].code))
		o2_report_fail(run->report, "hosts/start-again", "%d without %s", rc, lacks[what].name);
	else if (run->answered != due)
		o2_report_fail(run->report, "hosts/start-again", "%" PRIu32 " answers, expected %" PRIu32,
			       run->answered, due);
	host->ops->close(host);
}

void o2_hosts_start(struct o2_hosts_run *run)
{
	struct o2_choice *c = run->c;
	const uint32_t before = o2_hosts_open();
	bool object = o2_draw_bool(c, 1, 1);

	run->nasked = 1 + (uint32_t)o2_draw(c, O2_HOSTS_ASKED - 1);
	for (uint32_t i = 0; i < run->nasked; i++)
		o2_draw_case(c, O2_STAGE_SG_BUILD, &run->asked[i], &run->scenario);
	object = object && o2_own_path("impl_misbehave.so", run->object, sizeof(run->object)) == 0 &&
		 access(run->object, R_OK) == 0;
	if (!o2_choice_ok(c))
		return;
	switch (o2_draw(c, 4)) {
	case 0:
		no_program(run);
		break;
	case 1:
		without_descriptors(run, object);
		break;
	case 2:
		without_memory(run, object);
		break;
	case 3:
		without_a_process(run, object);
		break;
	default:
		not_again(run);
	}
	if (o2_hosts_open() != before)
		o2_report_fail(run->report, "hosts/left",
			       "%" PRIu32 " descriptors are open, %" PRIu32 " were: %s", o2_hosts_open(),
			       before, run->script);
	run->tally.seen[O2_HOSTS_NOT_BEGUN]++;
}
