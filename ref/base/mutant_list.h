/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_MUTANT_LIST_H
#define O2_BASE_MUTANT_LIST_H

#include "base/mutant_list_connect.h"
#include "base/mutant_list_flow.h"

/*
 * All deliberate defects: X(id, name, area, defect, text).
 *
 * area: sg, dma-map, registration, wr-build, lnet-payload, codec, keys or pool.  defect: the public id of
 * what the mutant brings back, where a public fix exists, "" for relatives of our own making.  ci/mutants
 * reads this file, so each entry keeps to this form, and no text has a quotation mark in it.
 */

/* Wrong plans, by which bytes end up in the wrong place: tests/mutants.py wants them explained. */
#define O2_MUTANTS_OF_PLANS(X)                                                                           \
	X(COLLAPSE_GAPPED, "fmr-collapse-gapped", "registration", "LU-9983",                             \
	  "fmr publishes one fragment although the list has gaps")                                       \
	X(FORGET_LAST_FRAGMENT, "forget-last-fragment", "wr-build", "",                                  \
	  "the last fragment of a sink gets no work request")                                            \
	X(SWAP_FRAGMENTS, "swap-fragments", "registration", "",                                          \
	  "the addresses of two equal sink fragments change places")                                     \
	X(OPEN_WORK_REQUEST, "open-work-request", "wr-build", "LU-5718",                                 \
	  "the work request that is open when the bytes run out is lost")                                \
	X(GLOBAL_FIRST_PAGE, "global-first-page", "registration", "",                                    \
	  "mode global publishes every fragment in the page of the first")                               \
	X(FMR_PAGE_ORDER, "fmr-page-order", "registration", "",                                          \
	  "mode fmr lists the last two pages in the wrong order")                                        \
	X(FASTREG_PAGE_TWICE, "fastreg-page-twice", "registration", "",                                  \
	  "mode fastreg lists the second page twice and drops the third")                                \
	X(LEAK_MAPPING, "leak-mapping", "dma-map", "", "what was mapped for the device is not unmapped") \
	X(UNMAP_TWICE, "unmap-twice", "dma-map", "", "what was mapped for the device is unmapped twice") \
	X(USER_PAGE_START, "user-page-start", "registration", "",                                        \
	  "mode user publishes the start of the first byte's page")                                      \
	X(PHYS_LAST_PAGE, "phys-last-page", "registration", "",                                          \
	  "mode phys lists the first page in place of the last")                                         \
	X(GAPS_ENTRY_ORDER, "gaps-entry-order", "registration", "",                                      \
	  "mode fastreg_gaps lists the last two entries the wrong way round")                            \
	X(NOT_REMAPPED, "not-remapped", "dma-map", "",                                                   \
	  "behind a remapping, entries after the first keep the addresses of the bus")

#define O2_MUTANTS_OF_MEMORY(X)                                                                          \
	X(GAP_NEVER_SEEN, "gap-never-seen", "sg", "LU-20399",                                            \
	  "the gap verdict needs two conditions that exclude each other")                                \
	X(GAP_START_IGNORED, "gap-start-ignored", "sg", "",                                              \
	  "an entry that starts inside a page makes no gap")                                             \
	X(GAP_END_IGNORED, "gap-end-ignored", "sg", "", "an entry that ends inside a page makes no gap") \
	X(ENTRY_TOO_MANY, "entry-too-many", "sg", "LU-15092",                                            \
	  "a list that exactly fills the table is refused")                                              \
	X(CUT_OFFSET_LOST, "cut-offset-lost", "sg", "",                                                  \
	  "an IOV is cut a whole page from where it starts, not at the page boundary")                   \
	X(SKIP_GREATER, "skip-greater", "lnet-payload", "bug 10778",                                     \
	  "an offset on the end of a piece stays in that piece and makes an empty entry")                \
	X(GET_SINK_FROM_PAYLOAD, "get-sink-from-payload", "lnet-payload", "LU-20326",                    \
	  "the sink of a GET is described from the payload sent, which is empty")                        \
	X(DMA_OFFSET_LOST, "dma-offset-lost", "dma-map", "",                                             \
	  "a segment of a bus device starts where its page does")                                        \
	X(COUNT_BEFORE_MERGE, "count-before-merge", "dma-map", "LU-13181",                               \
	  "the registration is given as many segments as there were before neighbours were merged")      \
	X(CPU_MAPPING_UNCHECKED, "cpu-mapping-unchecked", "dma-map", "",                                 \
	  "a page without a CPU mapping is handed to a virtual device")                                  \
	X(ONE_PAGE_PER_FRAGMENT, "fmr-one-page-per-fragment", "registration", "LU-9983",                 \
	  "fmr rebases fragment i to page i of the region, whatever page it lies in")                    \
	X(DENSE_GAPPED, "fastreg-dense-gapped", "registration", "LU-10089",                              \
	  "fastreg registers a list with gaps as if it had none")                                        \
	X(PUBLISHED_UNCHECKED, "published-unchecked", "registration", "LU-10129",                        \
	  "more fragments are published than the peer said that it takes")                               \
	X(PAGE_LIMIT_256, "page-limit-256", "registration", "LU-15092",                                  \
	  "a region has 256 pages, too few for an unaligned 1 MiB")                                      \
	X(BIND_TWICE, "bind-twice", "registration", "LU-14733",                                          \
	  "the work request that makes a key is posted twice for one transfer")                          \
	X(WINDOW_KEPT, "window-kept", "registration", "LU-9472",                                         \
	  "the release knows one kind of registration only, and windows are never given back")           \
	X(ADVANCE_BY_RESIDUE, "advance-by-residue", "wr-build", "bug 6241",                              \
	  "a fragment used in part is advanced by what the transfer still wants")                        \
	X(ONE_SGE, "one-sge", "wr-build", "LU-9425", "a work request gathers one piece only")            \
	X(BUILDER_UNLIMITED, "builder-unlimited", "wr-build", "LU-7650",                                 \
	  "the loop that builds work requests has no limit")                                             \
	X(NO_MESSAGE_SLOT, "no-message-slot", "wr-build", "LU-15092",                                    \
	  "the array of work requests has no room for the message behind the writes")

#define O2_MUTANTS_OF_CODEC(X)                                                                             \
	X(SUM_FOR_COUNT, "sum-for-count", "codec", "LU-7650",                                              \
	  "instead of the fragment count the sum of the lengths is bounded, before they are swapped")      \
	X(COUNT_IN_UNITS, "count-in-units", "codec", "LU-7650",                                            \
	  "the fragment count is written in units of 4 KiB by a node with pages of 64 KiB")                \
	X(COMPLETION_PADDED, "completion-padded", "codec", "bug 7217",                                     \
	  "a completion's body of 12 bytes takes the 16 that natural alignment gives it")                  \
	X(TYPE_ASSERTED, "type-asserted", "codec", "LU-17689",                                             \
	  "an assertion, not an error, says that a message's type is known")                               \
	X(COUNT_ONE_MORE, "count-one-more", "codec", "", "one fragment more than the limit is accepted")   \
	X(COUNT_SIGNED, "count-signed", "codec", "", "the fragment count is compared as a signed number")  \
	X(NOB_SIGNED, "nob-signed", "codec", "", "the length of a message is compared as a signed number") \
	X(LENGTH_SUM_32, "length-sum-32", "codec", "", "fragment lengths are added in 32 bits")            \
	X(WRAP_UNCHECKED, "wrap-unchecked", "codec", "", "a fragment may go on beyond the last address")   \
	X(WRAP_ONE_LESS, "wrap-one-less", "codec", "",                                                     \
	  "a fragment that ends at the last address but one is refused")                                   \
	X(STATUS_UNSIGNED, "status-unsigned", "codec", "",                                                 \
	  "a completion's status is compared as an unsigned number")                                       \
	X(ACK_COOKIES_SWAPPED, "ack-cookies-swapped", "codec", "",                                         \
	  "the two cookies of PUT_ACK change places, when encoding and when decoding")                     \
	X(PIDS_SWAPPED, "pids-swapped", "codec", "",                                                       \
	  "the two process ids change places, when encoding and when decoding")                            \
	X(COOKIE_IN_ORDER, "cookie-in-order", "codec", "",                                                 \
	  "GET_REQ's cookie follows the sender's byte order, when encoding and when decoding")             \
	X(LAST_FRAGMENT_ORDER, "last-fragment-order", "codec", "",                                         \
	  "the last of an odd number of fragments is not swapped")                                         \
	X(PAYLOAD_PAST_NOB, "payload-past-nob", "codec", "",                                               \
	  "a payload may go on behind nob, into bytes that were received")                                 \
	X(CHECKSUM_OF_RECEIVED, "checksum-of-received", "codec", "",                                       \
	  "the checksum covers all bytes received and not nob of them")                                    \
	X(CHECKSUM_ZERO, "checksum-zero", "codec", "", "a sum of 0 is sent as 0, which means no checksum") \
	X(CHECKSUM_SIGN, "checksum-sign", "codec", "", "the signed sum widens 0x80 as if it were unsigned")

#define O2_MUTANTS_OF_KEYS(X)                                                                            \
	X(CHAIN_EVERY_POST, "chain-every-post", "keys", "LU-14733",                                      \
	  "the second post of a transfer repeats the chain that makes its key")                          \
	X(KEY_COUNTED_UNUSED, "key-counted-unused", "keys", "LU-16349",                                  \
	  "the key of a mapping that was never posted counts on when it is mapped again")                \
	X(KEY_NOT_COUNTED, "key-not-counted", "keys", "", "a new mapping has the key of the one before") \
	X(PREPARED_LOST, "prepared-lost", "keys", "",                                                    \
	  "a post of which the device took nothing uses up the chain")                                   \
	X(HALF_CHAIN_BINDS, "half-chain-binds", "keys", "",                                              \
	  "a chain of which only the invalidate was accepted counts as bound")                           \
	X(UNMAP_ALIVE, "unmap-alive", "keys", "", "a mapping is given up while its key is alive")

#define O2_MUTANTS_OF_POOLS(X)                                                                               \
	X(DESCRIPTOR_NOT_PUT, "descriptor-not-put", "pool", "LU-9472",                                       \
	  "the release knows one kind of registration only, and descriptors never go back to their pool")    \
	X(EMPTY_IS_BUSY, "empty-pool-busy", "pool", "LU-9472",                                               \
	  "a registration pool that is empty answers busy, which ends the search, and the set never grows")  \
	X(SHORT_MAP_LOST, "short-map-lost", "pool", "LU-20400",                                              \
	  "a short map keeps the descriptor and the user of its pool")                                       \
	X(GAPS_BY_CAPABILITY, "gaps-by-capability", "pool", "LU-10394",                                      \
	  "lists with gaps are admitted by what the device could do, whatever kind of region was allocated") \
	X(PUT_NOT_UNMAPPED, "put-not-unmapped", "pool", "",                                                  \
	  "a descriptor goes back to its pool with its mapping")                                             \
	X(LIST_NOT_ENDED, "list-not-ended", "pool", "",                                                      \
	  "a descriptor goes back to its pool while the device has its list")                                \
	X(STRICT_KEPT, "strict-kept", "registration", "",                                                    \
	  "a mapping that has to die with its transfer is kept like the others")                             \
	X(CACHE_FIRST_PAGE, "cache-first-page", "pool", "",                                                  \
	  "the cache takes a list for another one with the same first page")                                 \
	X(FLUSH_KEEPS_KEYS, "flush-keeps-keys", "pool", "",                                                  \
	  "a flush frees the regions and leaves their keys alive")                                           \
	X(FAILED_FLUSH_FORGOTTEN, "failed-flush-forgotten", "pool", "",                                      \
	  "a flush that failed is not wanted again")                                                         \
	X(WATERMARK_LATE, "watermark-late", "pool", "",                                                      \
	  "a flush is wanted one region later than the watermark says")                                      \
	X(REAPED_IN_USE, "reaped-in-use", "pool", "",                                                        \
	  "a pool is given up for its age although it has users")                                            \
	X(HEAD_POOL_REAPED, "head-pool-reaped", "pool", "",                                                  \
	  "the first pool of a set is given up like any other")                                              \
	X(VERSION_NOT_COUNTED, "version-not-counted", "pool", "", "a set that has grown keeps its version")  \
	X(LIFE_FROM_CREATION, "life-from-creation", "pool", "",                                              \
	  "the life of a transmit pool counts from its making, not from its last use")                       \
	X(ASKED_NOT_USED, "asked-not-used", "pool", "",                                                      \
	  "a registration pool that was asked and had nothing counts as idle")                               \
	X(RETRY_AT_ONCE, "retry-at-once", "pool", "", "growth is tried again without a pause")               \
	X(FAILED_POOL_KEPT, "failed-pool-kept", "pool", "",                                                  \
	  "a failed pool stays when its last user has left")                                                 \
	X(SLOT_NOT_UNMAPPED, "slot-not-unmapped", "pool", "",                                                \
	  "message slots stay mapped when their pool is unmade")

#define O2_MUTANTS(X)           \
	O2_MUTANTS_OF_PLANS(X)  \
	O2_MUTANTS_OF_MEMORY(X) \
	O2_MUTANTS_OF_CODEC(X)  \
	O2_MUTANTS_OF_FLOW(X) O2_MUTANTS_OF_KEYS(X) O2_MUTANTS_OF_POOLS(X) O2_MUTANTS_OF_CONNECT(X)

#endif
