/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_STAGES_KEYS_H
#define O2_ORACLE_STAGES_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "o2ref/impl.h"

/* A device with one region: which key it admits, after the requests of an event. */
struct o2_keys_device {
	bool alive;
	uint32_t key;
	/* of the event */
	bool registered_over; /* a key was registered while another one was alive */
	bool message_early;   /* requests stand behind the message */
	uint32_t messages;
};

/* Carry out what the event's answer hands over, as far as it is accepted. */
void o2_keys_device(const struct o2_impl_key_event *event, const struct o2_impl_key_step *step,
		    struct o2_keys_device *device);

#endif
