/* SPDX-License-Identifier: MIT */
/* A signal that interrupts a call that waits for another process has no effect on the result. */
#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/net/commands.h"
#include "cli/net/conform/hostile.h"
#include "judge/end/watch_line.h"
#include "oracle/host.h"
#include "props/hostile/hostile_process.h"
#include "tests/lib/net_world.h"
#include "tests/lib/unit_test.h"

#define NID_TEXT "10.0.0.1@o2ib"

/* Every second call is interrupted, starting with the first (CMakeLists.txt: --wrap). */
static struct {
	bool on;
	unsigned int reads, polls, waits;
} interrupt;

static bool is_interrupted(unsigned int *calls)
{
	if (!interrupt.on || (*calls)++ % 2 != 0)
		return false;
	errno = EINTR;
	return true;
}

/* These names are required by the linker's option --wrap. */
ssize_t __real_read(int fd, void *bytes, size_t length);
ssize_t __wrap_read(int fd, void *bytes, size_t length);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);

ssize_t __wrap_read(int fd, void *bytes, size_t length)
{
	return is_interrupted(&interrupt.reads) ? -1 : __real_read(fd, bytes, length);
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	return is_interrupted(&interrupt.polls) ? -1 : __real_poll(fds, count, timeout_ms);
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	return is_interrupted(&interrupt.waits) ? -1 : __real_waitpid(pid, status, options);
}

static int begin(void **state)
{
	memset(&interrupt, 0, sizeof(interrupt));
	interrupt.on = true;
	return 0;
}

/* No child process is left, not even a zombie. */
static int end(void **state)
{
	interrupt.on = false;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return 0;
}

/* The child reports the reason through a pipe, which a successful exec closes. */
TEST_WITH(a_program_that_is_not_there, begin, end)
{
	const struct o2_host_options options = {.timeout_ms = 1000, .growth_mib = 64};
	char *const argv[] = {"/nonexistent/implementation", NULL};
	struct o2_host *host = NULL;
	char text[128] = "";

	assert_int_equal(o2_host_open_program(argv, &options, &host, text, sizeof(text)), -ENOENT);
	assert_string_equal(text, strerror(ENOENT));
	assert_true(interrupt.reads > 1);
}

/* The victim is this program, run again with the arguments that main() handles below. */
TEST_WITH(a_victim_in_a_process, begin, end)
{
	const struct o2_victim_options options = {.device = "loop0"};
	struct o2_victim_child child;
	char how[32];

	assert_int_equal(o2_victim_child_start(&options, &child), 0);
	assert_true(child.nid != 0);
	o2_victim_child_end(&child, how);
	assert_string_equal(how, "");
	assert_true(interrupt.reads > 1 && interrupt.polls > 1 && interrupt.waits > 1);
}

/* The program beside ours is this one as well. */
bool __wrap_o2_cli_sibling(const char *program, char *path, size_t bytes);

bool __wrap_o2_cli_sibling(const char *program, char *path, size_t bytes)
{
	snprintf(path, bytes, "/proc/self/exe");
	return true;
}

static void stop(int signal)
{
	o2_net_stop = 1;
}

/* A liar that waits for ever, for a peer that does not react.  It is ended, and the run is not whole. */
TEST_WITH(a_liar_that_waits, NULL, end)
{
	const struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESTART};
	const struct o2_net_options options = {.peer = WORLD_PEER, .nid = WORLD_US, .timeout_ms = 50000};
	const struct o2_conform_hostile hostile = {.device = "loop0"};
	struct o2_conform_report report = {.options = &options};
	struct o2_conform_listener *listener = o2_conform_listen(&options);
	struct sigaction after;

	interrupt.on = false;
	sigaction(SIGTERM, &action, NULL);
	assert_false(o2_conform_hostile_try(&hostile, listener, &report));
	assert_int_equal(o2_net_stop, 1);
	assert_int_equal(report.nrows, 0);
	/* What is written afterwards is not cut off. */
	sigaction(SIGTERM, NULL, &after);
	assert_true((after.sa_flags & (int)SA_RESTART) != 0);
	signal(SIGTERM, SIG_DFL);
	o2_conform_listener_free(listener);
}

static void end_well(int signal)
{
	_exit(0);
}

/* Act as the liar: list one misbehaviour; or begin it, stop our parent, and wait until it ends us, or for 5 s. */
static void lie(const char *option)
{
	if (strcmp(option, "--list") == 0) {
		puts("| `magic` | header | another magic | rule | closes | - | - |");
		return;
	}
	puts(O2_HOSTILE_SAID_TRY " magic");
	fflush(stdout);
	signal(SIGALRM, end_well);
	alarm(5);
	kill(getppid(), SIGTERM);
	while (true)
		pause();
}

int main(int argc, char **argv)
{
	char byte;

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--list") == 0 || strcmp(argv[i], "--tell") == 0) {
			lie(argv[i]);
			return 0;
		}
	/* Act as a victim: print its NID, and exit at the end of the input. */
	if (argc > 1 && strcmp(argv[1], "hostile") == 0) {
		puts("victim " NID_TEXT);
		fflush(stdout);
		return read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1;
	}
	return tests_run();
}
