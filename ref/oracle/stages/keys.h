/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGES_KEYS_H
#define O2_ORACLE_STAGES_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "oracle/case.h"

/* What an accepted invalidate does to the queue pair, if it is none that a device takes. */
enum o2_keys_fault {
	O2_KEYS_NO_FAULT,
	O2_KEYS_FOREIGN, /* of another region: the queue pair fails */
	O2_KEYS_DEAD,	 /* under invalidate last, of no key that is alive: so it does, or worse */
};

/* A device with one region: which key it admits, after the requests of an event. */
struct o2_keys_device {
	uint32_t order;	     /* enum o2_impl_key_order */
	uint32_t lkey, rkey; /* the region's; their low byte is that of the key */
	bool alive;
	uint32_t key;
	/* of the event */
	bool registered_over; /* a key was registered while another one was alive */
	bool message_early;   /* requests stand behind the message */
	uint32_t messages;
	enum o2_keys_fault fault; /* of the first invalidate that has one */
	uint32_t invalidated;	  /* its key */
};

/* The device of a question, before the first event. */
void o2_keys_device_start(const struct o2_case_keys *asked, struct o2_keys_device *device);

/* Carry out what the event's answer hands over, as far as it is accepted. */
void o2_keys_device(const struct o2_impl_key_event *event, const struct o2_impl_key_step *step,
		    struct o2_keys_device *device);

#endif
