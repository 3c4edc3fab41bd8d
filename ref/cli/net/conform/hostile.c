/* SPDX-License-Identifier: MIT */
#include "cli/net/conform/hostile.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/net/commands.h"
#include "judge/end/watch_line.h"
#include "wire/nid.h"

#define MAX_ROWS      512u
#define MAX_ARGUMENTS (MAX_ROWS + 32u)
#define LINE_BYTES    (O2_WATCH_LINE_BYTES + 16u)
#define NAME_BYTES    (O2_CONFORM_ID_BYTES - sizeof(O2_CONFORM_HOSTILE))
#define SOURCE	      "hostile.md#the-table"
/* A peer gives up on a silent one after its own time-out, and checks only four times in that time. */
#define MORE_PATIENCE_MS 25000u

/* The misbehaviours that there are: names and what they mean. */
struct table {
	uint32_t count;
	struct {
		char name[O2_CONFORM_ID_BYTES];
		char sentence[192];
	} row[MAX_ROWS];
};

struct words {
	char *argument[MAX_ARGUMENTS + 1];
	char text[12][O2_NID_TEXT_BYTES + 24];
	uint32_t count, texts;
};

/* Take a name from the beginning of the line.  Returns the rest of the line; NULL: there is no name. */
static const char *take_name(const char *line, char name[O2_CONFORM_ID_BYTES])
{
	const size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789-");

	if (length == 0 || length >= NAME_BYTES)
		return NULL;
	snprintf(name, O2_CONFORM_ID_BYTES, "%.*s", (int)length, line);
	return line + length;
}

bool o2_conform_hostile_line(const char *line, char name[O2_CONFORM_ID_BYTES],
			     struct o2_conform_result *result)
{
	static const struct {
		const char *begins;
		enum o2_conform_outcome outcome;
	} words[] = {
		{"met", O2_CONFORM_HOLDS},
		{"TOLERATED (known): ", O2_CONFORM_TOLERATED},
		{"NOT MET: ", O2_CONFORM_FINDING},
		{"not tried: ", O2_CONFORM_NOT_TRIED},
	};
	const char *rest = take_name(line, name);

	if (rest == NULL || *rest != ' ')
		return false;
	rest += strspn(rest, " ");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const size_t length = strlen(words[i].begins);

		if (strncmp(rest, words[i].begins, length) != 0)
			continue;
		*result = (struct o2_conform_result){.outcome = words[i].outcome};
		snprintf(result->text, sizeof(result->text), "%.*s", (int)strcspn(rest + length, "\n"),
			 rest + length);
		return true;
	}
	return false;
}

/* The cell after the next bar, without blanks around it.  Returns the bar that ends it, or NULL. */
static const char *next_cell(const char *at, const char **cell, size_t *length)
{
	const char *end;

	at = at == NULL ? NULL : strchr(at, '|');
	end = at == NULL ? NULL : strchr(at + 1, '|');
	if (end == NULL)
		return NULL;
	*cell = at + 1 + strspn(at + 1, " ");
	*length = (size_t)(end - *cell);
	while (*length > 0 && (*cell)[*length - 1] == ' ')
		--*length;
	return end;
}

bool o2_conform_hostile_row(const char *line, char name[O2_CONFORM_ID_BYTES], char *sentence, size_t bytes)
{
	const char *cell[5] = {NULL}, *at = line;
	size_t length[5] = {0};

	for (size_t i = 0; i < 5; i++)
		at = next_cell(at, &cell[i], &length[i]);
	if (at == NULL || cell[0][0] != '`' || take_name(cell[0] + 1, name) == NULL)
		return false;
	snprintf(sentence, bytes, "%.*s: %.*s", (int)length[2], cell[2], (int)length[4], cell[4]);
	return true;
}

static void add(struct words *words, const char *text)
{
	/* execv(3) does not change the arguments. */
	if (words->count < MAX_ARGUMENTS)
		words->argument[words->count++] = (char *)(uintptr_t)text;
}

static void add_number(struct words *words, const char *option, uint64_t value)
{
	char *text = words->text[words->texts++];

	snprintf(text, sizeof(words->text[0]), "%" PRIu64, value);
	add(words, option);
	add(words, text);
}

/* Start o2props with its output in a pipe.  Returns NULL, after a line on stderr, if that fails. */
static FILE *start(struct words *words, pid_t *pid)
{
	static char path[PATH_MAX];
	int fds[2];
	FILE *out;

	words->argument[words->count] = NULL;
	if (!o2_cli_sibling("o2props", path, sizeof(path)))
		return NULL;
	fflush(stdout);
	/* Our parent may have let SIGCHLD be ignored, and then waitpid(2) would find no child. */
	signal(SIGCHLD, SIG_DFL);
	if (pipe(fds) != 0) {
		o2_cli_complain("%s: %s", path, strerror(errno));
		return NULL;
	}
	out = fdopen(fds[0], "r");
	*pid = out == NULL ? -1 : fork();
	if (*pid < 0) {
		o2_cli_complain("%s: %s", path, strerror(errno));
		if (out != NULL)
			fclose(out);
		else
			close(fds[0]);
		close(fds[1]);
		return NULL;
	}
	if (*pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execv(path, words->argument);
		o2_cli_complain("%s: %s", path, strerror(errno));
		_exit(O2_CONFORM_CANNOT);
	}
	close(fds[1]);
	return out;
}

/* Returns the child's exit status; -1: it did not exit by itself. */
static int finish(FILE *out, pid_t pid)
{
	int status = 0;

	fclose(out);
	while (waitpid(pid, &status, 0) < 0)
		assert(errno == EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool read_table(struct table *table)
{
	struct words words = {.count = 0};
	char line[LINE_BYTES];
	pid_t pid = 0;
	FILE *out;

	add(&words, "o2props");
	add(&words, "hostile");
	add(&words, "--list");
	out = start(&words, &pid);
	if (out == NULL)
		return false;
	while (fgets(line, sizeof(line), out) != NULL && table->count < MAX_ROWS)
		table->count += o2_conform_hostile_row(line, table->row[table->count].name,
						       table->row[table->count].sentence,
						       sizeof(table->row[0].sentence));
	return finish(out, pid) == 0 && table->count > 0;
}

/* The table, which is read once.  NULL, after lines on stderr the first time: there is none. */
static const struct table *misbehaviours(void)
{
	static struct table table;
	static bool read, there;

	if (!read) {
		read = true;
		there = read_table(&table);
		if (!there)
			o2_cli_complain("o2props hostile --list gave no table");
	}
	return there ? &table : NULL;
}

bool o2_conform_hostile_has(const char *word)
{
	const struct table *table = misbehaviours();
	char id[2 * O2_CONFORM_ID_BYTES];

	for (uint32_t i = 0; table != NULL && i < table->count; i++) {
		snprintf(id, sizeof(id), O2_CONFORM_HOSTILE "%s", table->row[i].name);
		if (o2_conform_is_in(id, word))
			return true;
	}
	return table == NULL;
}

static const char *sentence_of(const struct table *table, const char *name)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (strcmp(table->row[i].name, name) == 0)
			return table->row[i].sentence;
	return "";
}

/* Add the names that --only asks for; without it, all names.  False: there are none. */
static bool add_names(struct words *words, const struct table *table, const struct o2_net_options *options)
{
	char id[2 * O2_CONFORM_ID_BYTES];
	bool any = false;

	for (uint32_t i = 0; i < table->count; i++) {
		snprintf(id, sizeof(id), O2_CONFORM_HOSTILE "%s", table->row[i].name);
		if (!o2_conform_wanted(options, id))
			continue;
		add(words, table->row[i].name);
		any = true;
	}
	return any;
}

/* Some misbehaviours end by the peer's own timeout, of which --timeout says nothing. */
uint32_t o2_conform_hostile_patience_s(const struct o2_net_options *options)
{
	const uint32_t peers_ms = O2_CONN_DEFAULTS.timeout_ms;

	return ((options->timeout_ms > peers_ms ? options->timeout_ms : peers_ms) + MORE_PATIENCE_MS) / 1000;
}

static void compose(const struct o2_conform_hostile *hostile, const struct o2_net_options *options,
		    struct words *words)
{
	char *nid = words->text[words->texts++];

	o2_nid_to_text(options->peer, nid, sizeof(words->text[0]));
	add(words, "o2props");
	add(words, "hostile");
	add(words, "--device");
	add(words, hostile->device);
	add(words, "--peer");
	add(words, nid);
	add_number(words, "--gid-index", hostile->gid_index);
	add_number(words, "--port", options->port);
	add_number(words, "--patience", o2_conform_hostile_patience_s(options));
	add(words, "--tell");
	add(words, "--profile");
	add(words, options->profile == O2_NET_KERNEL ? "kernel" : "strict");
	if (!hostile->place)
		return;
	add_number(words, "--portal", options->portal);
	add_number(words, "--match-bits", options->match_bits);
}

static void add_row(struct o2_conform_report *report, const struct table *table, const char *name,
		    const struct o2_conform_result *result)
{
	char id[2 * O2_CONFORM_ID_BYTES];

	snprintf(id, sizeof(id), O2_CONFORM_HOSTILE "%s", name);
	o2_conform_report_add(report, id, sentence_of(table, name), SOURCE, id, result);
}

/* Returns what follows the word and a blank; NULL: the line does not begin with them. */
static const char *after(const char *line, const char *word)
{
	const size_t length = strlen(word);

	return strncmp(line, word, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

bool o2_conform_hostile_said(const char *line, struct o2_conform_listener *listener)
{
	const char *by_liar = after(line, O2_HOSTILE_SAID_LIAR),
		   *by_honest = after(line, O2_HOSTILE_SAID_HONEST);
	uint8_t bytes[O2_MSG_BYTES];
	struct o2_watched watched;

	if ((by_liar == NULL && by_honest == NULL) ||
	    !o2_watch_line_read(by_liar != NULL ? by_liar : by_honest, bytes, &watched))
		return false;
	o2_conform_listener_lies(listener, by_liar != NULL);
	o2_watch_tell(o2_conform_listener_watch(listener), &watched);
	o2_conform_listener_lies(listener, false);
	return true;
}

/* The current misbehaviour. */
struct lie {
	char id[2 * O2_CONFORM_ID_BYTES];
	uint64_t began_ns, packets;
};

static void begin_lie(struct lie *lie, const char *name, struct o2_conform_listener *listener)
{
	snprintf(lie->id, sizeof(lie->id), O2_CONFORM_HOSTILE "%.*s", (int)strcspn(name, "\n"), name);
	lie->began_ns = o2_monotonic_ns();
	lie->packets = o2_conform_listener_packets(listener);
	o2_conform_listener_at(listener, lie->id);
}

static void end_lie(const struct lie *lie, const struct o2_conform_listener *listener,
		    struct o2_conform_result *result)
{
	result->took_ns = o2_monotonic_ns() - lie->began_ns;
	o2_conform_listener_span(listener, lie->packets, result);
	result->lie = result->outcome != O2_CONFORM_NOT_TRIED;
	o2_conform_listener_named(listener, result->named);
	if (result->outcome == O2_CONFORM_FINDING)
		o2_conform_listener_heard(listener, result->heard);
}

/* Does a signal of main.c's let a call go on, so that nothing that is written is cut off; or does it end the call? */
static void let_signals_end_calls(bool end)
{
	static const int signals[] = {SIGINT, SIGTERM};
	struct sigaction action;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaction(signals[i], NULL, &action);
		action.sa_flags =
			end ? action.sa_flags & ~(int)SA_RESTART : action.sa_flags | (int)SA_RESTART;
		sigaction(signals[i], &action, NULL);
	}
}

/* The liar may have nothing to say for as long as the peer's own timeout. */
static bool next_line(FILE *out, char line[LINE_BYTES])
{
	bool read;

	let_signals_end_calls(true);
	read = o2_net_stop == 0 && fgets(line, LINE_BYTES, out) != NULL;
	let_signals_end_calls(false);
	return read && o2_net_stop == 0;
}

static void hear_liar(FILE *out, const struct table *table, struct o2_conform_listener *listener,
		      struct o2_conform_report *report)
{
	static struct lie lie;
	struct o2_conform_result result;
	char line[LINE_BYTES], name[O2_CONFORM_ID_BYTES];

	while (next_line(out, line)) {
		if (after(line, O2_HOSTILE_SAID_TRY) != NULL) {
			begin_lie(&lie, after(line, O2_HOSTILE_SAID_TRY), listener);
		} else if (!o2_conform_hostile_said(line, listener) &&
			   o2_conform_hostile_line(line, name, &result)) {
			end_lie(&lie, listener, &result);
			add_row(report, table, name, &result);
		}
	}
}

static bool run_liar(struct words *words, const struct table *table, struct o2_conform_listener *listener,
		     struct o2_conform_report *report)
{
	pid_t pid = 0;
	FILE *out = start(words, &pid);
	int status;

	if (out == NULL)
		return false;
	hear_liar(out, table, listener, report);
	if (o2_net_stop != 0)
		kill(pid, SIGTERM);
	status = finish(out, pid);
	if (o2_net_stop != 0 || status == 0 || status == O2_CLI_REFUSED)
		return o2_net_stop == 0;
	o2_cli_complain("--hostile: the run was not completed (status %d)", status);
	return false;
}

bool o2_conform_hostile_try(const struct o2_conform_hostile *hostile, struct o2_conform_listener *listener,
			    struct o2_conform_report *report)
{
	const struct table *table = misbehaviours();
	struct words words = {.count = 0};
	const struct o2_conform_result lacks = {.outcome = O2_CONFORM_NOT_TRIED,
						.text = "--hostile needs an RDMA device"};

	if (table == NULL)
		return false;
	if (hostile->device != NULL)
		compose(hostile, report->options, &words);
	if (!add_names(&words, table, report->options))
		return true;
	if (hostile->device != NULL)
		return run_liar(&words, table, listener, report);
	for (uint32_t i = 0; i < words.count; i++)
		add_row(report, table, words.argument[i], &lacks);
	return true;
}
