/* SPDX-License-Identifier: MIT */
#include "props/command/net_process.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/net/commands.h"
#include "cli/net/session.h"

#define MOST_CPU_S 20 /* CPU time after which a hanging process is killed */
#define MOST_FILES 128

volatile sig_atomic_t o2_net_stop;

static const struct o2_net_inside *inside;
static const struct o2_command_memory *memory;

uint32_t o2_net_hold(void)
{
	return memory == NULL ? 0 : memory->hold();
}

void o2_net_go_on(uint32_t held)
{
	if (memory != NULL)
		memory->go_on(held);
}

bool o2_net_network_open(struct o2_net_options *options, uint32_t arena_pages, struct o2_net_network *network)
{
	const uint32_t held = o2_net_hold();
	const bool open = inside->open(options, arena_pages, network);

	o2_net_go_on(held);
	return open;
}

void o2_net_network_close(struct o2_net_network *network)
{
	const uint32_t held = o2_net_hold();

	inside->close(network);
	o2_net_go_on(held);
}

int o2_net_network_progress(struct o2_net_network *network, uint64_t now_ms)
{
	const uint32_t held = o2_net_hold();
	const int events = inside->progress(network, now_ms);

	o2_net_go_on(held);
	return events;
}

int o2_net_network_sleep(struct o2_net_network *network, struct o2_endpoint *endpoint, uint64_t sleep_ns)
{
	const struct timespec sleep = o2_net_timespec(sleep_ns);

	(void)network;
	(void)endpoint;
	if (inside->sleeps)
		nanosleep(&sleep, NULL);
	return 0;
}

/* As in ref/cli/net/main.c. */
static int execute_net(int argc, char **argv)
{
	struct o2_net_options options;

	if (o2_net_options_read(argc, argv, &options) <= 0)
		return O2_CLI_USAGE;
	return o2_net_run_command(&options, argc, argv);
}

static int execute(struct o2_command_run *run, int (*command)(int argc, char **argv))
{
	const struct itimerval most = {.it_value = {.tv_sec = MOST_CPU_S}};
	char *words[O2_COMMAND_WORDS + 1];

	setitimer(ITIMER_PROF, &most, NULL);
	for (uint32_t i = 0; i < run->words; i++)
		words[i] = run->word[i];
	words[run->words] = NULL;
	return command((int)run->words, words);
}

void *o2_net_share(const void *told, size_t bytes)
{
	void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return shared == MAP_FAILED ? NULL : memcpy(shared, told, bytes);
}

void o2_net_unshare(void *shared, void *told, size_t bytes)
{
	memcpy(told, shared, bytes);
	munmap(shared, bytes);
}

/* Shared with the child, which fills it in. */
struct account {
	bool failed;
	uint32_t made;
	int64_t left;
	int open;
};

/* Count open files, up to the numbers that commands reach. */
static int open_files(void)
{
	int count = 0;

	for (int fd = 0; fd < MOST_FILES; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static int execute_counted(struct o2_command_run *run, int (*command)(int argc, char **argv),
			   struct account *account)
{
	int64_t before;
	int status, files;

	memory = run->memory;
	if (memory == NULL || account == NULL)
		return execute(run, command);
	/* JSON of the command counts as its own memory, too. */
	json_set_alloc_funcs(malloc, free);
	before = memory->live();
	files = open_files();
	memory->fail(run->fail_nth == 0 ? UINT32_MAX : run->fail_nth);
	status = execute(run, command);
	account->failed = memory->failed();
	account->made = UINT32_MAX - memory->hold();
	account->left = memory->live() - before;
	account->open = open_files() - files;
	return status;
}

int o2_own_process(struct o2_command_run *run, int (*command)(int argc, char **argv), const int *fd, int fds)
{
	struct account account = {.failed = false}, *shared = o2_net_share(&account, sizeof(account));
	int status = -1;
	pid_t pid;

	run->began_ns = o2_wall_ns();
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < fds; i++)
			if (dup2(fd[i], i) < 0)
				_exit(O2_CLI_USAGE);
		/* Use exit(3): it runs checks for leaks. */
		exit(execute_counted(run, command, shared));
	}
	if (pid < 0 || TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) != pid || !WIFEXITED(status))
		status = -1;
	if (shared != NULL)
		o2_net_unshare(shared, &account, sizeof(account));
	run->failed = account.failed;
	run->made = account.made;
	run->left += account.left;
	run->open += account.open;
	return status < 0 ? -1 : WEXITSTATUS(status);
}

void o2_net_process(struct o2_command_run *run, const struct o2_net_inside *network)
{
	const int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	const int fd[] = {STDIN_FILENO, out, err};

	inside = network;
	run->status = out < 0 || err < 0 ? -1 : o2_own_process(run, execute_net, fd, 3);
	o2_command_take(out, run->out);
	o2_command_take(err, run->err);
	close(out);
	close(err);
}
