/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#include "oracle/object.h"

/* The child process in which a shared object runs.  It calls the functions; the parent judges the answers. */

#define HANDLER_STACK_BYTES (64u << 10)
#define FRAMES		    32 /* includes the frames of libraries */

/* Defined in builds with AddressSanitizer, which replaces the heap. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/* Global, because the signal handler has no other access to it. */
static struct o2_object_control *handler_control;

/* Record the object's frames on the call stack.  A return address minus 1 lies inside the call instruction. */
static void note_frames(struct o2_object_control *control, uint64_t at)
{
	void *call[FRAMES];
	const int count = backtrace(call, FRAMES);

	for (int i = 0; i < count && control->nframes < O2_ANSWER_FRAMES; i++) {
		const uint64_t addr = (uint64_t)(uintptr_t)call[i];

		if (addr >= control->base && addr < control->end)
			control->frame[control->nframes++] = addr - (addr == at ? 0 : 1) - control->base;
	}
}

static void note_end(int signal, siginfo_t *info, void *context)
{
	uint64_t at = 0;

	(void)info;
#ifdef __x86_64__
	at = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
	(void)context;
#endif
	note_frames(handler_control, at);
	/* SA_RESETHAND has reset the handler, so this ends the process by the signal. */
	raise(signal);
}

static void note_fault(int signal, siginfo_t *info, void *context)
{
	struct o2_object_control *control = handler_control;

	control->fault_addr = (uint64_t)(uintptr_t)info->si_addr;
	control->fault_write = 2;
#ifdef __x86_64__
	/* Bit 1 of the page fault's error code is set for a write. */
	control->fault_write = ((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] >> 1 & 1;
#else
	(void)context;
#endif
	control->fault_seen = 1;
	note_end(signal, info, context);
}

static void watch_faults(struct o2_object_control *control)
{
	const stack_t stack = {
		.ss_sp = mmap(NULL, HANDLER_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0),
		.ss_size = HANDLER_STACK_BYTES,
	};
	static const int others[] = {SIGABRT, SIGFPE, SIGILL, SIGTRAP};
	struct sigaction action = {
		.sa_sigaction = note_fault,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND,
	};
	void *call[1];

	/* The first call of backtrace() may allocate memory, which a signal handler must not do. */
	(void)backtrace(call, 1);

	handler_control = control;
	if (stack.ss_sp != MAP_FAILED)
		sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	action.sa_sigaction = note_end;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		sigaction(others[i], &action, NULL);
}

struct object_place {
	uint64_t inside; /* an address inside the object */
	uint64_t base, end;
};

static int find_place(struct dl_phdr_info *info, size_t size, void *context)
{
	struct object_place *place = context;
	uint64_t low = UINT64_MAX, high = 0;

	(void)size;
	for (uint16_t i = 0; i < info->dlpi_phnum; i++) {
		const uint64_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		low = from < low ? from : low;
		high = from + info->dlpi_phdr[i].p_memsz > high ? from + info->dlpi_phdr[i].p_memsz : high;
	}
	if (place->inside < low || place->inside >= high)
		return 0;
	place->base = info->dlpi_addr;
	place->end = high;
	return 1;
}

static uint64_t heap_bytes(void)
{
	struct mallinfo2 info;

	if (__sanitizer_get_current_allocated_bytes != NULL)
		return __sanitizer_get_current_allocated_bytes();
	info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

/* Load the object.  Returns false with the reason in control->text. */
static bool load(const char *path, struct o2_object *object, struct o2_object_control *control)
{
	struct object_place place;

	if (!o2_object_load(path, object, control->text, sizeof(control->text)))
		return false;
	place = (struct object_place){.inside = (uint64_t)(uintptr_t)object->inside};
	for (uint32_t i = 0; i < O2_STAGES; i++)
		control->absent[i] = !o2_object_has(object, (enum o2_stage)i);
	dl_iterate_phdr(find_place, &place);
	control->base = place.base;
	control->end = place.end;
	snprintf(control->text, sizeof(control->text), "%s", object->name == NULL ? "" : object->name);
	return true;
}

static void serve_round(const struct o2_object *object, const struct o2_impl_slots *slots,
			struct o2_object_control *control)
{
	const uint32_t end = control->first + control->count;

	for (uint32_t i = control->first; i < end; i++) {
		const struct o2_impl_refusal refusal = *slots->slot[i].refusal;
		const union o2_impl_out out = *slots->slot[i].out;

		atomic_store_explicit(&control->at, i, memory_order_relaxed);
		for (uint32_t repeat = 0; repeat < control->repeats; repeat++) {
			if (control->repeats > 1 && repeat == control->repeats / 2)
				control->heap_half = heap_bytes();
			/* A repetition finds them as the first call did: it may add to counts and names that are 0. */
			if (repeat > 0) {
				*slots->slot[i].refusal = refusal;
				*slots->slot[i].out = out;
			}
			atomic_fetch_add_explicit(&control->calls, 1, memory_order_relaxed);
			control->status[i] =
				o2_object_call(object, (enum o2_stage)control->stage[i], &slots->slot[i]);
		}
	}
	/* Flush, so that the parent sees in the file behind standard output what was printed. */
	fflush(stdout);
	control->heap = heap_bytes();
	atomic_store_explicit(&control->at, end, memory_order_relaxed);
}

_Noreturn void o2_object_child(const char *path, const struct o2_impl_slots *slots,
			       struct o2_object_control *control, int in, int out)
{
	struct o2_object object;
	bool usable;
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	watch_faults(control);
	usable = load(path, &object, control);
	if (usable && o2_impl_slots_protect(slots) != 0) {
		snprintf(control->text, sizeof(control->text), "mprotect failed");
		usable = false;
	}
	fflush(stdout);
	control->state = !usable ? O2_OBJECT_UNUSABLE : O2_OBJECT_READY;
	while (TEMP_FAILURE_RETRY(write(out, &byte, 1)) == 1 && TEMP_FAILURE_RETRY(read(in, &byte, 1)) == 1)
		serve_round(&object, slots, control);
	_exit(0);
}
