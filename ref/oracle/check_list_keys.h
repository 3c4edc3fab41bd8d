/* SPDX-License-Identifier: MIT */
/* Checks of keys: one part of check_list.h. */

#define OF_KEYS(WHAT, what, severity, text) O2_CHECK(KEYS_##WHAT, "keys/" what, severity, severity, text)

O2_CHECK_GROUP("Rules of keys")
STAGE_RULE(FRD_MAP_STATE, "frd/map/state", OFF, "EINVAL: map: the descriptor is in use.")
STAGE_RULE(FRD_POST_STATE, "frd/post/state", OFF,
	   "EINVAL: post: it is not mapped, or posting has failed behind the beginning of the chain.")
STAGE_RULE(FRD_INVALIDATE_STATE, "frd/invalidate/state", OFF,
	   "EINVAL: complete, invalidate last: no key is registered, or it was invalidated.")
STAGE_RULE(FRD_UNMAP_STATE, "frd/unmap/state", OFF, "EINVAL: unmap: it is not in use.")
STAGE_RULE(FRD_UNMAP_KEY_ALIVE, "frd/unmap/key-alive", OFF,
	   "EBUSY: unmap, invalidate last: its key is alive.")
STAGE_RULE(FRD_REPLACED_STATE, "frd/replaced/state", OFF, "EINVAL: flush: it is not in use.")
O2_CHECK_GROUP("Keys")
OF_KEYS(REFUSED_LEGAL, "refused-legal", MUST, "A legal sequence of events is not refused.")
SAYS_ERRNO(KEYS, "keys")
SAYS_RULE(KEYS, "keys")
SAYS_INDEX(KEYS, "keys")
OF_KEYS(PUBLISHED, "published", MUST,
	"The key that a descriptor carries: its low byte counts with each mapping, modulo 256, the other "
	"bits stay; a mapping that was given up without a post is taken up again under the same key.")
OF_KEYS(LIVE, "live", MUST,
	"Carried out on a device, the requests that were accepted leave the same key alive after each event, "
	"and none is registered while another is alive.")
OF_KEYS(INVALIDATE, "invalidate", MUST,
	"An invalidate that is accepted names a key of the region; under invalidate last, where a window is "
	"invalidated, one that is alive. Any other one fails the queue pair.")
OF_KEYS(MESSAGE, "message", MUST,
	"Each post hands over its message, once, and behind the requests that make its key valid.")
OF_KEYS(REQUESTS, "requests", SHOULD,
	"What is handed over, request by request: the chain in front of the first message of a transfer and "
	"nowhere else, the invalidate of a key that was never registered included.")
#undef OF_KEYS
