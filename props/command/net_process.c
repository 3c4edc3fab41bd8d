/* SPDX-License-Identifier: MIT */
#include "props/command/net_process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/net/commands.h"
#include "cli/net/session.h"

#define MOST_CPU_S 20 /* whoever hangs is killed */

volatile sig_atomic_t o2_net_stop;

static const struct o2_net_inside *inside;

bool o2_net_network_open(struct o2_net_options *options, uint32_t arena_pages, struct o2_net_network *network)
{
	return inside->open(options, arena_pages, network);
}

void o2_net_network_close(struct o2_net_network *network)
{
	inside->close(network);
}

int o2_net_network_progress(struct o2_net_network *network, uint64_t now_ms)
{
	return inside->progress(network, now_ms);
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

/* As ref/cli/net/main.c has it. */
static int execute(struct o2_command_run *run)
{
	const struct itimerval most = {.it_value = {.tv_sec = MOST_CPU_S}};
	char *words[O2_COMMAND_WORDS + 1];
	struct o2_net_options options;
	int status;

	setitimer(ITIMER_PROF, &most, NULL);
	for (uint32_t i = 0; i < run->words; i++)
		words[i] = run->word[i];
	words[run->words] = NULL;
	status = o2_net_options_read((int)run->words, words, &options);
	if (status <= 0)
		return O2_CLI_USAGE;
	return o2_net_run_command(&options, (int)run->words, words);
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

void o2_net_process(struct o2_command_run *run, const struct o2_net_inside *network)
{
	const int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = out < 0 || err < 0 ? -1 : fork();
	if (pid == 0) {
		if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
			_exit(O2_CLI_USAGE);
		inside = network;
		exit(execute(run)); /* whatever looks at what a process leaves does */
	}
	run->status = pid > 0 && TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) == pid && WIFEXITED(status)
			      ? WEXITSTATUS(status)
			      : -1;
	o2_command_take(out, run->out);
	o2_command_take(err, run->err);
	close(out);
	close(err);
}
