/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGES_KEYS_H
#define O2_ORACLE_STAGES_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "oracle/case.h"

/* Why a device fails at an accepted invalidate. */
enum o2_keys_fault {
	O2_KEYS_NO_FAULT,
	O2_KEYS_FOREIGN, /* the key belongs to another region: the queue pair fails */
	O2_KEYS_DEAD,	 /* INVALIDATE_LAST, no key is valid: the queue pair fails, or the device panics */
};

/* A model of a device with one region: which key is valid after the requests of an event. */
struct o2_keys_device {
	uint32_t order;	     /* enum o2_impl_key_order */
	uint32_t lkey, rkey; /* keys of the region; only the low byte of a registered key may differ */
	bool alive;	     /* whether `key` is valid */
	uint32_t key;
	/* about the last event */
	bool registered_over; /* a key was registered while another one was valid */
	bool message_early;   /* further requests follow the message */
	uint32_t messages;
	enum o2_keys_fault fault; /* of the first faulty invalidate */
	uint32_t invalidated;	  /* key of that invalidate */
};

/* Initialise the model to its state before the first event of a question. */
void o2_keys_device_start(const struct o2_case_keys *asked, struct o2_keys_device *device);

/* Execute the requests that a step posts for the event, as far as the device accepts them. */
void o2_keys_device(const struct o2_impl_key_event *event, const struct o2_impl_key_step *step,
		    struct o2_keys_device *device);

#endif
