/* SPDX-License-Identifier: MIT */
/*
 * An implementation that misbehaves as the environment variable O2_MISBEHAVE says: when it is loaded, when it
 * decodes a message, or for buffers of two or more pieces.  All other answers are "not implemented".
 * tests/system/test_oracle.py checks that each misbehaviour is a finding with its input, and the run goes on.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "o2ref/impl.h"

/* An unmapped address.  It is volatile, so that the compiler cannot know the value. */
static volatile uintptr_t nowhere = 8;

static void crash(void)
{
	*(volatile int *)nowhere = 1;
}

static void abort_aloud(void)
{
	fprintf(stderr, "something is wrong here\n");
	abort();
}

static void hang(void)
{
	for (;;)
		pause();
}

/* Who waits for the stop knows that this process hangs from then on. */
static void stop(void)
{
	raise(SIGSTOP);
	hang();
}

static void leave(void)
{
	exit(3);
}

static void print(void)
{
	printf("looking at it\n");
}

static void print_once(void)
{
	static uint32_t calls;

	if (calls++ == 0)
		printf("looking at it\n");
}

/* One byte with the first of 32 calls, the number that the host repeats a question. */
static void print_rarely(void)
{
	static uint32_t calls;

	if (calls++ % 32 == 0)
		putchar('x');
}

static void leak(void)
{
	/* Volatile, so that the compiler does not remove the unused allocation. */
	static void *volatile last[2];

	last[0] = malloc(100);
	last[1] = last[0];
}

static void close_descriptors(void)
{
	for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
		close(fd);
}

/* As a trace that was left on. */
static void trace(void)
{
	static char words[1 << 16];

	memset(words, '.', sizeof(words) - 1);
	fputs(words, stderr);
	fputs(words, stdout);
}

static const struct {
	const char *name;
	void (*act)(void);
} acts[] = {{"crash", crash},
	    {"abort", abort_aloud},
	    {"hang", hang},
	    {"stop", stop},
	    {"exit", leave},
	    {"stdout", print},
	    {"leak", leak},
	    {"closes", close_descriptors},
	    {"trace", trace},
	    {"stdout-once", print_once},
	    {"stdout-rarely", print_rarely}};

/* Misbehave in the answer itself. */
static int32_t answer(const char *how, const struct o2_impl_sg_in *in, struct o2_impl_sg_list *out,
		      struct o2_impl_refusal *refusal)
{
	static uint32_t calls;
	static int locked;

	out->nob = in->buffer.nob;
	if (strcmp(how, "lock") == 0) {
		if (locked)
			hang();
		locked = in->buffer.count == 3;
		return O2_IMPL_NOT_IMPLEMENTED;
	}
	if (strcmp(how, "overrun") == 0)
		out->entry[out->capacity].page = 1;
	else if (strcmp(how, "underrun") == 0)
		(out->entry - 1)->page = 1;
	else if (strcmp(how, "long-name") == 0)
		memset(refusal->name, 'x', sizeof(refusal->name) + 8);
	else if (strcmp(how, "input") == 0)
		((struct o2_impl_sg_in *)(uintptr_t)in)->max_entries = 7;
	else if (strcmp(how, "in-front") == 0)
		*((volatile uint8_t *)(uintptr_t)in - 1) = 7;
	else if (strcmp(how, "leak-and-print") == 0) {
		leak();
		if (in->buffer.count == 3)
			print();
	} else if (strcmp(how, "underrun-and-print") == 0) {
		(out->entry - 1)->page = 1;
		print();
	} else if (strcmp(how, "adds") == 0) {
		/* Right only where both hold zeros at each call. */
		refusal->error += EINVAL;
		refusal->index -= out->count++;
		strcat(refusal->name, "sg/vector-too-short");
		return O2_IMPL_REFUSED;
	} else if (strcmp(how, "count") == 0)
		out->count = out->capacity + 1;
	else if (strcmp(how, "status") == 0)
		return -EINVAL;
	else if (strcmp(how, "no-errno") == 0)
		return O2_IMPL_REFUSED;
	else if (strcmp(how, "refuse") == 0) {
		refusal->error = EINVAL;
		strcpy(refusal->name, "Mine");
		return O2_IMPL_REFUSED;
	} else if (strcmp(how, "latin-1") == 0) {
		refusal->error = EINVAL;
		strcpy(refusal->name, "trop-carr\xe9");
		return O2_IMPL_REFUSED;
	} else if (strcmp(how, "slow") == 0)
		usleep(20000);
	else if (strcmp(how, "flag") == 0)
		out->gaps = 2;
	else if (strcmp(how, "unstable") == 0 && calls++ > 0)
		return O2_IMPL_NOT_IMPLEMENTED;
	return O2_IMPL_OK;
}

static int32_t sg_build(const struct o2_impl_sg_in *in, struct o2_impl_sg_list *out,
			struct o2_impl_refusal *refusal)
{
	const char *how = getenv("O2_MISBEHAVE");

	if (how == NULL || in->buffer.count < 2)
		return O2_IMPL_NOT_IMPLEMENTED;
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(how, acts[i].name) == 0) {
			acts[i].act();
			return O2_IMPL_NOT_IMPLEMENTED;
		}
	}
	return answer(how, in, out, refusal);
}

/* Read one byte behind the received bytes. */
static int32_t msg_decode(const struct o2_impl_msg_decode_in *in, struct o2_impl_msg *out,
			  struct o2_impl_refusal *refusal)
{
	const char *how = getenv("O2_MISBEHAVE");

	(void)refusal;
	if (how == NULL || strcmp(how, "overread") != 0)
		return O2_IMPL_NOT_IMPLEMENTED;
	out->ibm_type = ((const volatile uint8_t *)in->bytes)[in->length_bytes];
	return O2_IMPL_NOT_IMPLEMENTED;
}

/* Some misbehaviours happen when the object is loaded. */
const struct o2_impl *o2_impl_v1(void)
{
	static struct o2_impl impl = {
		O2_IMPL_HEAD("misbehave"),
		.msg_decode = msg_decode,
		.sg_build = sg_build,
	};
	const char *how = getenv("O2_MISBEHAVE");

	if (how == NULL)
		return &impl;
	if (strcmp(how, "load-abort") == 0)
		abort_aloud();
	if (strcmp(how, "load-exit") == 0)
		exit(3);
	if (strcmp(how, "latin-1") == 0)
		impl.name = "mine\xe9";
	if (strcmp(how, "other-version") == 0)
		impl.abi_version += 6;
	if (strcmp(how, "other-size") == 0)
		impl.struct_bytes -= 8;
	return strcmp(how, "no-table") == 0 ? NULL : &impl;
}
