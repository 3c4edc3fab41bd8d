/* SPDX-License-Identifier: MIT */
#include "props/command/liar_stand.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "props/hostile/hostile.h"

#define STYLES	   5u
#define DECOYS	   7u
#define LIST_BYTES 65536u /* a pipe holds this much, so the reader may stop early */
#define LONG_LINE  9000u  /* longer than the line of a message */

static struct o2_liar_stand *stand;

/* Five cells by docs/hostile.md, "The table".  Blanks around them, and text before and behind, are ignored. */
static size_t put_row(const struct o2_liar_lie *lie, char *text, size_t bytes)
{
	static const char *const styles[STYLES] = {
		"| `%s` | wire | %s | message/wire | %s | `known` |\n",
		"|`%s`||%s||%s|\n",
		"|   `%s`  |  |    %s|   |%s      |\n",
		"row: | `%s` | a | %s | b | %s | c | d | e |\n",
		"| `%s`: x || %s || %s ||\n",
	};

	return (size_t)snprintf(text, bytes, styles[lie->style], lie->name, lie->what, lie->reaction);
}

/* Write the name of a lie in something that is no row. */
static size_t put_decoy(const struct o2_liar_lie *lie, char *text, size_t bytes)
{
	static const char *const decoys[DECOYS + 1] = {
		"",
		"\n",
		"| `%s` | a | b | c |\n",
		"| %s | a | b | c | d |\n",
		"| | `%s` | a | b | c | d |\n",
		"`%s`\n",
		"| ``%s | a | b | c | d |\n",
		"| `a-name-that-is-longer-than-any-name-of-a-row-may-be-%s` | a | b | c | d |\n",
	};

	/* The first decoys contain no name. */
	return lie->decoy < 2 ? (size_t)snprintf(text, bytes, "%s", decoys[lie->decoy])
			      : (size_t)snprintf(text, bytes, decoys[lie->decoy], lie->name);
}

/* Write all at once, so that the whole table is in the pipe even if the reader stops early. */
static void list_lies(void)
{
	static char text[LIST_BYTES];
	size_t used = (size_t)snprintf(
		text, sizeof(text),
		"| Name | Group | What the peer does | Rule | Reaction | Tolerated by |\n|---|---|---|\n");

	for (uint32_t i = 0; i < stand->others; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "|`another-%u`|||||\n", i);
	for (uint32_t i = 0; i < stand->rows; i++) {
		used += put_decoy(&stand->lie[i], text + used, sizeof(text) - used);
		used += put_row(&stand->lie[i], text + used, sizeof(text) - used);
	}
	used += (size_t)snprintf(text + used, sizeof(text) - used, "\n%u rows\n", stand->rows);
	if (write(STDOUT_FILENO, text, used) != (ssize_t)used)
		_exit(98);
}

/* Write lines that begin like results but are none. */
static void tell_nothing(const char *name)
{
	char line[LONG_LINE + 1];

	memset(line, 'x', LONG_LINE);
	line[LONG_LINE] = '\0';
	dprintf(STDOUT_FILENO, "%s\n%s: met\n%s\n%s  Met\n%s not tried yet\nliar wire\nhonest %s met\n", name,
		name, line, name, name, name);
	dprintf(STDOUT_FILENO, " %s met\nmet\n\nNOT MET: %s\n%s TOLERATED: known\n", name, name, name);
	/* Lines of an unknown connection, and lines that break off. */
	dprintf(STDOUT_FILENO, "liar wire 7 message ours 1 0 0 ff\nliar wire 8 request ours 2 0 0 fff\n"
			       "liar wire 8 nothing ours 1 0 0 ff\nliar wire 8 request his 1 0 0 ff\n");
}

static void tell_lies(char *const argv[])
{
	static const char *const words[] = {"met", "TOLERATED (known): ", "NOT MET: ", "not tried: "};
	const size_t most = sizeof(stand->told);
	size_t used = 0;

	for (size_t i = 0; argv[i] != NULL; i++)
		used += (size_t)snprintf(stand->told + used, used < most ? most - used : 0, "%s ", argv[i]);
	dprintf(STDOUT_FILENO, "seed 0x1\n");
	for (uint32_t i = 0; i < o2_liar_stand_rows(stand); i++) {
		const struct o2_liar_lie *lie = &stand->lie[i];

		dprintf(STDOUT_FILENO, "try %s\n", lie->name);
		if (stand->odd)
			tell_nothing(lie->name);
		o2_liar_talk_tell(&lie->talk, STDOUT_FILENO);
		dprintf(STDOUT_FILENO, "%-*s %s%s\n", stand->odd ? 0 : 24, lie->name, words[lie->outcome],
			lie->outcome == O2_LIAR_MET ? "" : lie->why);
	}
	dprintf(STDOUT_FILENO, "%u passed, 0 failed\n", stand->rows);
}

/* Replaces execv(3) during this case. */
static int be_liar(const char *path, char *const argv[])
{
	const bool lists =
		argv[0] != NULL && argv[1] != NULL && argv[2] != NULL && strcmp(argv[2], "--list") == 0;

	if (strrchr(path, '/') == NULL || strcmp(strrchr(path, '/'), "/o2props") != 0)
		_exit(99);
	if (stand->lack == O2_LIAR_NO_PROGRAM && stand->unstarted == (lists ? 1 : 2)) {
		errno = ENOENT;
		return -1;
	}
	stand->calls++;
	if (lists)
		list_lies();
	else
		tell_lies(argv);
	if (!lists && stand->status < 0)
		raise(SIGKILL);
	_exit(lists ? stand->list_status : stand->status);
}

void o2_liar_stand_in(const struct o2_command_memory *memory, struct o2_liar_stand *shared)
{
	stand = shared;
	memory->exec_as(be_liar);
	if (stand->unstarted == 0)
		return;
	if (stand->lack == O2_LIAR_NO_PIPE)
		memory->lacks_pipe(stand->unstarted, EMFILE);
	if (stand->lack == O2_LIAR_NO_STREAM)
		memory->lacks_stream(stand->unstarted, ENOMEM);
	/* The first process is the command itself. */
	if (stand->lack == O2_LIAR_NO_PROCESS)
		memory->lacks_process(stand->unstarted + 1, EAGAIN);
}

void o2_liar_stand_down(const struct o2_command_memory *memory)
{
	memory->lacks_pipe(0, 0);
	memory->lacks_process(0, 0);
	memory->lacks_stream(0, 0);
	memory->exec_as(NULL);
}

/* --- drawing --- */

static void draw_lie(struct o2_choice *c, const struct o2_misbehaviour *misbehaviour, uint32_t first_conn,
		     struct o2_liar_lie *lie)
{
	static const char *const whys[] = {"it said nothing for 3 s", "not met", "a|b met: ", "x"};
	char reaction[80];

	o2_misbehaviour_reaction(misbehaviour, reaction, sizeof(reaction));
	snprintf(lie->name, sizeof(lie->name), "%s", misbehaviour->name);
	snprintf(lie->what, sizeof(lie->what), "%s", o2_draw_bool(c, 3, 1) ? "" : misbehaviour->text);
	snprintf(lie->reaction, sizeof(lie->reaction), "%s", o2_draw_bool(c, 3, 1) ? "x y" : reaction);
	snprintf(lie->why, sizeof(lie->why), "%s", whys[o2_draw_pick(c, 4)]);
	lie->outcome = (enum o2_liar_outcome)o2_draw(c, O2_LIAR_NOT_TRIED);
	lie->style = (uint32_t)o2_draw_pick(c, STYLES);
	lie->decoy = o2_draw_bool(c, 1, 1) ? 0 : 1 + (uint32_t)o2_draw(c, DECOYS - 1);
	/* A lie that is not tried says nothing. */
	if (lie->outcome != O2_LIAR_NOT_TRIED)
		o2_liar_talk_draw(c, first_conn, &lie->talk);
}

void o2_liar_stand_draw(struct o2_choice *c, struct o2_liar_stand *drawn)
{
	const struct o2_misbehaviour *list;
	const size_t most = o2_misbehaviours(&list);
	size_t at = o2_draw_pick(c, most);
	uint32_t conns = 0x1000;

	drawn->nlies = 1 + (uint32_t)o2_draw(c, O2_LIAR_LIES - 1);
	for (uint32_t i = 0; i < drawn->nlies; i++) {
		draw_lie(c, &list[at], conns, &drawn->lie[i]);
		conns += O2_LIAR_SAYS;
		/* Take the lies in the order of the table. */
		at += 1 + o2_draw(c, 3);
		if (at >= most)
			drawn->nlies = i + 1;
	}
	drawn->rows = drawn->nlies - (uint32_t)o2_draw_bool(c, 5, 1);
	if (o2_draw_bool(c, 9, 1))
		drawn->others = O2_LIAR_TABLE - drawn->rows + (uint32_t)o2_draw(c, 1);
	drawn->list_status = o2_draw_bool(c, 9, 1) ? 2 : 0;
	drawn->status = o2_draw_bool(c, 2, 1) ? (int)o2_draw(c, 5) - 1 : (int)o2_draw(c, 1);
	drawn->odd = o2_draw_bool(c, 1, 1);
	if (!o2_draw_bool(c, 4, 1))
		return;
	drawn->unstarted = 1 + (uint32_t)o2_draw(c, 1);
	drawn->lack = (enum o2_liar_lack)o2_draw(c, O2_LIAR_NO_STREAM);
}

uint32_t o2_liar_stand_rows(const struct o2_liar_stand *drawn)
{
	const uint32_t room = O2_LIAR_TABLE - drawn->others;

	return drawn->rows < room ? drawn->rows : room;
}

void o2_liar_stand_sentence(const struct o2_liar_lie *lie, char text[O2_LIAR_SHOWN])
{
	char whole[2 * O2_LIAR_SHOWN + 4];

	snprintf(whole, sizeof(whole), "%s: %s", lie->what, lie->reaction);
	snprintf(text, O2_LIAR_SHOWN, "%.*s", (int)O2_LIAR_SHOWN - 1, whole);
}
