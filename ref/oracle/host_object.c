/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "oracle/child.h"
#include "oracle/host.h"
#include "oracle/object.h"

/* The host of a shared object.  Its child process shares the slots with the parent (o2ref/impl.h). */

#define SPARE O2_HOST_BATCH /* the slot in which a question is asked again */
static_assert(O2_HOST_SLOTS == SPARE + 1, "it is the last");

struct object {
	struct o2_host host;
	char path[PATH_MAX];
	struct o2_impl_slots slots;
	struct o2_object_control *control;
	struct o2_child child;
	int printed;		 /* memory file that receives the child's standard output */
	off_t printed_bytes;	 /* length of `printed` that is accounted for */
	uint64_t heap;		 /* maximum number of heap bytes in use after a batch */
	bool leaks[O2_STAGES];	 /* the stage is known to leak and is not tested for it again */
	struct o2_answer answer; /* the answer passed to the callback */
	struct o2_answer_fault fault[O2_HOST_BATCH];
	struct o2_answer_fault conduct[O2_HOST_BATCH];
};

static struct object *object_of(struct o2_host *host)
{
	return (struct object *)host;
}

static off_t printed_now(const struct object *object)
{
	return lseek(object->printed, 0, SEEK_END);
}

/* Account for what was printed.  Drop it if it is much, and what is on standard error. */
static void note_printed(struct object *object)
{
	o2_child_empty(object->child.noise);
	o2_child_empty(object->printed);
	object->printed_bytes = printed_now(object);
}

/* Fork the child and wait until it has loaded the object.  Returns 0, or -errno with *text. */
static int start(struct object *object, char *text, size_t text_bytes)
{
	char how[O2_OBJECT_TEXT_BYTES], words[128];
	int in, out, status, rc;
	char byte;

	object->control->state = O2_OBJECT_STARTING;
	object->control->text[0] = '\0';
	object->control->fault_seen = 0;
	object->control->nframes = 0;
	rc = o2_child_fork(&object->child, &in, &out);
	if (rc == 1) {
		dup2(object->printed, STDOUT_FILENO);
		o2_object_child(object->path, &object->slots, object->control, in, out);
	}
	if (rc != 0) {
		snprintf(text, text_bytes, "cannot fork: %s", strerror(-rc));
		return rc;
	}
	rc = o2_child_wait(&object->child,
			   o2_monotonic_ms() + 10 * (uint64_t)object->host.options.timeout_ms);
	if (rc == 1 && TEMP_FAILURE_RETRY(read(object->child.from, &byte, 1)) == 1 &&
	    object->control->state == O2_OBJECT_READY) {
		note_printed(object);
		object->heap = 0;
		return 0;
	}
	snprintf(text, text_bytes, "%s", object->control->text);
	o2_child_last_words(&object->child, words, sizeof(words));
	o2_child_end(&object->child, &status);
	if (object->control->state == O2_OBJECT_STARTING) {
		o2_child_how(status, how, sizeof(how));
		snprintf(text, text_bytes, "when it was loaded, %s%s", rc == 0 ? "it hung" : how, words);
	}
	return -ENOEXEC;
}

/* The slot whose question ended the child: the last one, if it ended behind it and did not say that it is done. */
static uint32_t slot_asked(const struct object *object)
{
	const struct o2_object_control *control = object->control;
	const uint32_t at = atomic_load_explicit(&control->at, memory_order_relaxed);
	const uint32_t last = control->first + control->count - 1;

	return at < last ? at : last;
}

/* Describe the end of the child, with the address of the failed access if it is known. */
static void explain_death(struct object *object, int status, const char *words, struct o2_answer_fault *fault)
{
	const struct o2_object_control *control = object->control;
	bool overrun = false, input = false;
	const char *slash = strrchr(object->path, '/');
	char how[128], where[128] = "";

	fault->site[0] = '\0';
	fault->nframes = control->nframes < O2_ANSWER_FRAMES ? control->nframes : O2_ANSWER_FRAMES;
	memcpy(fault->frame, control->frame, sizeof(fault->frame));
	if (fault->nframes > 0)
		snprintf(fault->site, sizeof(fault->site), "%.40s+0x%llx", slash + 1,
			 (unsigned long long)fault->frame[0]);
	o2_child_how(status, how, sizeof(how));
	fault->check = WIFEXITED(status) ? O2_CHECK_RUN_EXIT : O2_CHECK_RUN_CRASH;
	if (control->fault_seen &&
	    o2_impl_slots_explain(&object->slots, slot_asked(object), control->fault_addr, &overrun, &input,
				  where, sizeof(where))) {
		if (overrun)
			fault->check = O2_CHECK_RUN_OVERRUN;
		else if (input)
			fault->check = O2_CHECK_RUN_INPUT_WRITTEN;
		snprintf(fault->text, sizeof(fault->text), "%s %s",
			 input || control->fault_write == 1 ? "it wrote" : "it read", where);
		return;
	}
	if (control->fault_seen)
		snprintf(where, sizeof(where), " at address 0x%llx", (unsigned long long)control->fault_addr);
	snprintf(fault->text, sizeof(fault->text), "%.100s%.40s%.100s", how, where, words);
}

/*
 * Run one round of slots first to end - 1.  Returns the number of slots answered.  If it is less than all, the
 * next slot ended the child, and *fault describes how.
 */
static uint32_t run_round(struct object *object, uint32_t first, uint32_t end, uint32_t repeats,
			  struct o2_answer_fault *fault)
{
	struct o2_object_control *control = object->control;
	const uint32_t timeout_ms = object->host.options.timeout_ms;
	char words[128], byte = 0;
	uint32_t calls;
	int status, rc;

	control->first = first;
	control->count = end - first;
	control->repeats = repeats;
	atomic_store_explicit(&control->at, first, memory_order_relaxed);
	atomic_store_explicit(&control->calls, 0, memory_order_relaxed);
	if (TEMP_FAILURE_RETRY(write(object->child.to, &byte, 1)) == 1) {
		/* The child hangs only if it begins no other call within the time limit, which is that of one. */
		do {
			calls = atomic_load_explicit(&control->calls, memory_order_relaxed);
			rc = o2_child_wait(&object->child, o2_monotonic_ms() + timeout_ms);
		} while (rc == 0 && calls != atomic_load_explicit(&control->calls, memory_order_relaxed));
		if (rc == 0) {
			*fault = (struct o2_answer_fault){.check = O2_CHECK_RUN_HANG};
			snprintf(fault->text, sizeof(fault->text), "no answer within %u ms", timeout_ms);
			o2_child_end(&object->child, &status);
			return slot_asked(object) - first;
		}
		if (rc == 1 && TEMP_FAILURE_RETRY(read(object->child.from, &byte, 1)) == 1)
			return end - first;
	}
	o2_child_last_words(&object->child, words, sizeof(words));
	o2_child_reap(&object->child, &status);
	explain_death(object, status, words, fault);
	return slot_asked(object) - first;
}

/* Answer the questions in slots 0 to count - 1.  Restart the child as often as necessary. */
static void run_batch(struct object *object, uint32_t count)
{
	char text[O2_OBJECT_TEXT_BYTES];
	struct o2_answer_fault fault;
	uint32_t done = 0;

	while (done < count) {
		if (object->child.pid == 0) {
			object->host.restarts++;
			if (start(object, text, sizeof(text)) != 0) {
				fault = (struct o2_answer_fault){.check = O2_CHECK_RUN_CRASH};
				memcpy(fault.text, text, sizeof(text));
				while (done < count)
					object->fault[done++] = fault;
				return;
			}
		}
		done += run_round(object, done, count, 1, &fault);
		if (done < count)
			object->fault[done++] = fault;
	}
}

static void say_printed(struct o2_answer_fault *conduct, off_t bytes)
{
	conduct->check = O2_CHECK_RUN_STDOUT;
	snprintf(conduct->text, sizeof(conduct->text), "it printed %lld bytes on standard output",
		 (long long)bytes);
}

/* Are leaks of the stage looked for?  Where each call loses memory, one finding is enough. */
static bool is_searched(const struct object *object, enum o2_stage stage)
{
	return object->host.thorough || !object->leaks[stage];
}

/*
 * Ask one question again, alone and several times, and check for output and leaks.  Returns whether there was output,
 * which is no second conduct of an answer that has one: it would hide what was written beside the arrays.
 */
static bool look_closely(struct object *object, const struct o2_case *asked, uint32_t index)
{
	struct o2_answer_fault *conduct = &object->conduct[index];
	struct o2_answer_fault ended;
	off_t printed;
	uint64_t grown;

	if (object->child.pid == 0)
		return false;
	o2_impl_put_case(asked, &object->slots.slot[SPARE]);
	object->control->stage[SPARE] = asked->stage;
	if (run_round(object, SPARE, SPARE + 1, O2_OBJECT_REPEATS, &ended) != 1) {
		/* The child answered this question before, but ended at the repetition. */
		*conduct = ended;
		return false;
	}
	printed = printed_now(object) - object->printed_bytes;
	note_printed(object);
	if (conduct->check != O2_CHECKS)
		return printed > 0;
	grown = object->control->heap - object->control->heap_half;
	if (printed > 0) {
		say_printed(conduct, (printed + O2_OBJECT_REPEATS - 1) / O2_OBJECT_REPEATS);
	} else if (object->control->heap > object->control->heap_half && is_searched(object, asked->stage)) {
		conduct->check = O2_CHECK_RUN_LEAK;
		snprintf(conduct->text, sizeof(conduct->text), "the heap grows by %llu bytes with each call",
			 (unsigned long long)(grown / (O2_OBJECT_REPEATS / 2)));
		if (!object->host.thorough)
			object->leaks[asked->stage] = true;
	}
	return printed > 0;
}

/* If no repetition printed, the output of the batch is laid to its first question. */
static void blame_for_output(struct object *object, uint32_t count, off_t printed)
{
	for (uint32_t i = 0; i < count; i++)
		if (object->fault[i].check == O2_CHECKS && object->conduct[i].check == O2_CHECKS) {
			say_printed(&object->conduct[i], printed);
			return;
		}
}

/* Should the questions of the batch be asked again?  *printed: bytes that appeared on standard output. */
static bool suspicious(struct object *object, off_t *printed)
{
	const bool grown = object->control->heap > object->heap;

	*printed = printed_now(object) - object->printed_bytes;
	note_printed(object);
	/* The maximum rises in the first batches, which may allocate memory that is kept. */
	if (grown)
		object->heap = object->control->heap;
	return *printed > 0 || grown;
}

static int ask(struct o2_host *host, struct o2_case *const *asked, uint32_t count, o2_host_answered answered,
	       void *context)
{
	struct object *object = object_of(host);
	bool again = false; /* what was printed is printed when the question is asked again */
	off_t printed = 0;

	for (uint32_t i = 0; i < count; i++) {
		o2_impl_put_case(asked[i], &object->slots.slot[i]);
		object->fault[i] = (struct o2_answer_fault){.check = O2_CHECKS};
		object->conduct[i] = (struct o2_answer_fault){.check = O2_CHECKS};
	}
	for (uint32_t i = 0; i < count; i++)
		object->control->stage[i] = asked[i]->stage;
	run_batch(object, count);
	for (uint32_t i = 0; i < count; i++) {
		struct o2_answer_fault *conduct = &object->conduct[i];

		if (object->fault[i].check == O2_CHECKS &&
		    o2_impl_slot_spoilt(&object->slots.slot[i], conduct->text, sizeof(conduct->text)))
			conduct->check = O2_CHECK_RUN_OVERRUN;
	}
	if (object->child.pid != 0 && (suspicious(object, &printed) || host->thorough))
		for (uint32_t i = 0; i < count; i++)
			if (object->fault[i].check == O2_CHECKS &&
			    (printed > 0 || is_searched(object, asked[i]->stage)))
				again |= look_closely(object, asked[i], i);
	if (printed > 0 && !again)
		blame_for_output(object, count, printed);
	for (uint32_t i = 0; i < count; i++) {
		object->answer.conduct = object->conduct[i];
		if (object->fault[i].check == O2_CHECKS)
			o2_impl_get_answer(asked[i], &object->slots.slot[i], object->control->status[i],
					   &object->answer);
		else
			o2_answer_break_as(&object->answer, &object->fault[i]);
		answered(context, i, &object->answer);
	}
	return 0;
}

static void close_object(struct o2_host *host)
{
	struct object *object = object_of(host);
	int status;

	o2_child_end(&object->child, &status);
	if (object->control != NULL)
		munmap(object->control, sizeof(*object->control));
	if (object->printed >= 0)
		close(object->printed);
	o2_impl_slots_destroy(&object->slots);
	free(object);
}

static const struct o2_host_ops object_ops = {.ask = ask, .close = close_object};

static int open_parts(struct object *object)
{
	int rc = o2_impl_slots_create(O2_HOST_SLOTS, &object->slots);

	if (rc != 0)
		return rc;
	object->control = mmap(NULL, sizeof(*object->control), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (object->control == MAP_FAILED) {
		object->control = NULL;
		return -errno;
	}
	object->printed = memfd_create("o2ref-stdout", MFD_CLOEXEC);
	return object->printed < 0 ? -errno : 0;
}

int o2_host_open_object(const char *path, const struct o2_host_options *options, struct o2_host **host,
			char *text, size_t text_bytes)
{
	struct object *object = calloc(1, sizeof(*object));
	int rc = object == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		object->host = (struct o2_host){
			.ops = &object_ops, .name = path, .has_capacity = true, .options = *options};
		object->printed = -1;
		rc = open_parts(object);
	}
	if (rc != 0)
		snprintf(text, text_bytes, "%s", strerror(-rc));
	/* dlopen searches the library path for a name without a slash, so use the full path. */
	if (rc == 0 && realpath(path, object->path) == NULL) {
		rc = -errno;
		snprintf(text, text_bytes, "%s", strerror(errno));
	}
	if (rc == 0)
		rc = start(object, text, text_bytes);
	if (rc != 0) {
		if (object != NULL)
			close_object(&object->host);
		return rc;
	}
	for (uint32_t i = 0; i < O2_STAGES; i++)
		object->host.absent[i] = object->control->absent[i] != 0;
	snprintf(object->host.title, sizeof(object->host.title), "%.60s", object->control->text);
	*host = &object->host;
	return 0;
}
