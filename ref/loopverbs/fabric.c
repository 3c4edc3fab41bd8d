/* SPDX-License-Identifier: MIT */
/* The fabric of the process: its lock, numbers, options, counters and reset. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/single_threaded.h>

#include "loopverbs/internal.h"

struct o2l_fabric o2l_fabric;

/*
 * A process of one thread only notes that the lock is held: every call takes it, and the mutex would be a tenth of the
 * time of most.  An error-checking mutex: locking it twice, or unlocking it without holding it, returns an error.
 */
static bool held, by_mutex;
static pthread_mutex_t fabric_lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static void *mr_slots[O2L_MR_SLOTS];
static void *mw_slots[O2L_MW_SLOTS];
static void *qp_slots[O2L_QP_SLOTS];

#define KEY_SALT_START 0x5eed1u

/* Reset the numbers to those of a new process.  No object may exist. */
static void restart_numbers(void)
{
	struct o2l_fabric *f = &o2l_fabric;

	f->mrs = (struct o2l_index){mr_slots, O2L_FIRST_MR_INDEX, O2L_MR_SLOTS, 0};
	f->mws = (struct o2l_index){mw_slots, O2L_FIRST_MW_INDEX, O2L_MW_SLOTS, 0};
	f->qps = (struct o2l_index){qp_slots, O2L_FIRST_QPN, O2L_QP_SLOTS, 0};
	f->next_handle = 0;
	f->key_salt = KEY_SALT_START;
	f->counters = (struct o2_loop_counters){0};
}

static void option_from_environment(enum o2_loop_option option, const char *name)
{
	const char *value = getenv(name);

	o2l_fabric.option[option] = 1;
	if (value && value[0] == '0' && value[1] == '\0')
		o2l_fabric.option[option] = 0;
}

static void set_up(void)
{
	struct o2l_fabric *f = &o2l_fabric;

	LIST_INIT(&f->contexts);
	TAILQ_INIT(&f->runnable);
	TAILQ_INIT(&f->waiting);
	restart_numbers();
	option_from_environment(O2_LOOP_CHECK_PAGES, "LOOPVERBS_CHECK_PAGES");
	option_from_environment(O2_LOOP_WINDOW_BOUNDS, "LOOPVERBS_WINDOW_BOUNDS");
	option_from_environment(O2_LOOP_FINITE_RETRY, "LOOPVERBS_FINITE_RETRY");
	f->option[O2_LOOP_PORT_ACTIVE] = 1;
	f->ready = true;
}

void o2l_lock(void)
{
	const bool alone = __libc_single_threaded;
	const int error = alone ? held : pthread_mutex_lock(&fabric_lock);

	assert(error == 0);
	(void)error;
	held = true;
	by_mutex = !alone;
	if (!o2l_fabric.ready)
		set_up();
}

void o2l_unlock(void)
{
	int error;

	assert(held);
	held = false;
	error = by_mutex ? pthread_mutex_unlock(&fabric_lock) : 0;
	assert(error == 0);
	(void)error;
}

int o2l_index_add(struct o2l_index *index, void *object, uint32_t *number)
{
	for (uint32_t tried = 0; tried < index->count; tried++) {
		uint32_t i = index->next;

		index->next = i + 1 == index->count ? 0 : i + 1;
		if (!index->slot[i]) {
			index->slot[i] = object;
			*number = index->first + i;
			return 0;
		}
	}
	return -ENOMEM;
}

void *o2l_index_get(const struct o2l_index *index, uint32_t number)
{
	if (number < index->first || number - index->first >= index->count)
		return NULL;
	return index->slot[number - index->first];
}

void o2l_index_remove(struct o2l_index *index, uint32_t number)
{
	index->slot[number - index->first] = NULL;
}

uint32_t o2l_next_handle(void)
{
	return ++o2l_fabric.next_handle;
}

/* A program may change the low byte (ibv_inc_rkey).  Its first value varies, so that no program relies on it. */
uint32_t o2l_key(uint32_t index)
{
	o2l_fabric.key_salt = o2l_fabric.key_salt * 1664525u + 1013904223u;
	return index << 8 | o2l_fabric.key_salt >> 24;
}

/* ibv_modify_qp(3): 4.096 us * 2^timeout; 0 means no timer. */
uint64_t o2l_ack_timeout_ns(uint8_t timeout)
{
	return timeout ? UINT64_C(4096) << (timeout & 31) : O2L_NEVER;
}

/* RNR NAK timer encoding of the InfiniBand specification, in units of 10 us; 0 encodes the longest time. */
uint64_t o2l_rnr_timer_ns(uint8_t min_rnr_timer)
{
	static const uint32_t units[32] = {
		65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
		48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return units[min_rnr_timer & 31] * UINT64_C(10000);
}

int o2_loop_set_option(enum o2_loop_option option, unsigned int value)
{
	if ((unsigned int)option >= O2_LOOP_OPTIONS || value > 1)
		return -EINVAL;
	o2l_lock();
	o2l_fabric.option[option] = value;
	o2l_unlock();
	return 0;
}

void o2_loop_reset(void)
{
	struct o2l_context *context;

	o2l_lock();
	while ((context = LIST_FIRST(&o2l_fabric.contexts)) != NULL)
		o2l_context_free(context);
	restart_numbers();
	o2l_unlock();
}

void o2_loop_get_counters(struct o2_loop_counters *counters)
{
	o2l_lock();
	*counters = o2l_fabric.counters;
	o2l_unlock();
}

void o2_loop_set_pick(o2_loop_pick_fn pick, void *arg)
{
	o2l_lock();
	o2l_fabric.pick = pick;
	o2l_fabric.pick_arg = arg;
	o2l_unlock();
}

bool o2_loop_progress(void)
{
	bool worked;

	o2l_lock();
	worked = o2l_run();
	o2l_unlock();
	return worked;
}
