/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SETTINGS_INTERNAL_H
#define O2_PROPS_SETTINGS_INTERNAL_H

#include "loopverbs/loopverbs.h"
#include "props/talk/settings.h"

/* Declarations shared by the files of property settings (props/talk/settings*.c). */

struct o2_conn;
struct o2_conn_config;
struct o2_conn_ops;

#define O2_SETTINGS_SITUATION_LIST(ENTRY)                                       \
	ENTRY(NI_OPENED, "interface_opened")                                    \
	ENTRY(NI_REFUSED, "interface_refused")                                  \
	ENTRY(CONN_MADE, "connection_made")                                     \
	ENTRY(CONN_REFUSED, "connection_refused")                               \
	ENTRY(PEER_TAKEN, "peer_taken")                                         \
	ENTRY(PEER_REFUSED, "peer_refused")                                     \
	ENTRY(LIMITS_SET, "limits_set")                                         \
	ENTRY(LIMITS_REFUSED, "limits_refused")                                 \
	ENTRY(CONNECTED, "connected")                                           \
	ENTRY(NOT_CONNECTED, "not_connected")                                   \
	ENTRY(TWICE, "connected_twice")                                         \
	ENTRY(O2_SETTINGS_ASKED, "asked")                                       \
	ENTRY(O2_SETTINGS_NOT_ASKED, "not_asked")                               \
	ENTRY(O2_SETTINGS_MET, "met")                                           \
	ENTRY(O2_SETTINGS_NO_MEMORY, "not_asked_for_want_of_memory")            \
	ENTRY(O2_SETTINGS_PLACE, "place_made")                                  \
	ENTRY(O2_SETTINGS_NO_PLACE, "place_refused")                            \
	ENTRY(O2_SETTINGS_CHOSEN, "mode_chosen")                                \
	ENTRY(O2_SETTINGS_NOT_CHOSEN, "no_mode")                                \
	ENTRY(O2_SETTINGS_OPENED, "opened_with_a_fault_ahead")                  \
	ENTRY(O2_SETTINGS_NOT_OPENED, "not_opened_for_a_fault")                 \
	ENTRY(O2_SETTINGS_BOUND, "bound")                                       \
	ENTRY(O2_SETTINGS_NOT_BOUND, "not_bound_for_a_fault")                   \
	ENTRY(O2_SETTINGS_PLAN_BOUND, "plan_bound")                             \
	ENTRY(O2_SETTINGS_BIND_MODE, "not_bound_mode")                          \
	ENTRY(O2_SETTINGS_BIND_SIDE, "not_bound_side")                          \
	ENTRY(O2_SETTINGS_BIND_CPT, "not_bound_partition")                      \
	ENTRY(O2_SETTINGS_BIND_PAGE_SIZE, "not_bound_page_size")                \
	ENTRY(O2_SETTINGS_BIND_NFRAGS, "not_bound_fragments")                   \
	ENTRY(O2_SETTINGS_BIND_NO_WAY, "not_bound_mode_not_opened")             \
	ENTRY(O2_SETTINGS_BIND_NPAGES, "not_bound_pages")                       \
	ENTRY(O2_SETTINGS_BIND_PAGE_OFFSET, "not_bound_page_offset")            \
	ENTRY(O2_SETTINGS_BIND_CONGRUENT, "not_bound_iova_not_congruent")       \
	ENTRY(O2_SETTINGS_BIND_LENGTH, "not_bound_length")                      \
	ENTRY(O2_SETTINGS_BIND_OUTSIDE, "not_bound_page_outside_device")        \
	ENTRY(O2_SETTINGS_BIND_ALIGNMENT, "not_bound_page_alignment")           \
	ENTRY(O2_SETTINGS_BIND_NENTRIES, "not_bound_entries")                   \
	ENTRY(O2_SETTINGS_BIND_ENTRY_OUTSIDE, "not_bound_entry_outside_device") \
	ENTRY(O2_SETTINGS_BIND_NO_MEMORY, "not_bound_no_such_memory")           \
	ENTRY(O2_SETTINGS_BIND_SINK_ACCESS, "not_bound_sink_access")            \
	ENTRY(O2_SETTINGS_BIND_NO_WINDOW, "not_bound_no_window")                \
	ENTRY(O2_SETTINGS_NO_DOMAIN, "domain_refused")                          \
	ENTRY(O2_SETTINGS_NO_PAGES, "window_refused")                           \
	ENTRY(O2_SETTINGS_UNMAPPED, "pages_without_a_mapping")                  \
	ENTRY(O2_SETTINGS_ANSWERED, "answered")                                 \
	ENTRY(O2_SETTINGS_NOT_ANSWERED, "not_answered")                         \
	ENTRY(O2_SETTINGS_PUTS, "puts_that_meet")                               \
	ENTRY(O2_SETTINGS_IN_ORDER, "posted_in_the_kernels_order")              \
	ENTRY(O2_SETTINGS_IN_PART, "posted_in_part")                            \
	ENTRY(O2_SETTINGS_QUARTER, "transmits_kept_for_peers")                  \
	ENTRY(O2_SETTINGS_PORT_DOWN, "port_not_active")                         \
	ENTRY(O2_SETTINGS_SHRUNK, "fewer_for_a_small_device")                   \
	ENTRY(O2_SETTINGS_TOO_SMALL, "device_too_small")

enum o2_settings_situation { O2_SETTINGS_SITUATION_LIST(O2_SITUATION_ID) O2_SETTINGS_SITUATIONS };

/* Expected result of a call.  rule NULL: the call succeeds. */
struct o2_settings_verdict {
	int code;
	const char *rule, *field;
	uint64_t value, limit;
	enum o2_limit_kind kind;
};

/* The expected refusal of a value that exceeds a limit (bound), or that differs from the only legal one (exact). */
struct o2_settings_verdict o2_settings_bound(int code, const char *rule, const char *field, uint64_t value,
					     uint64_t limit);
struct o2_settings_verdict o2_settings_exact(int code, const char *rule, const char *field, uint64_t value,
					     uint64_t limit);

void o2_settings_check(struct o2_settings_run *run, struct o2_report *report, int rc,
		       const struct o2_error *error, const struct o2_settings_verdict *expected);

/* As o2_settings_check, for an error record about entry `index` of a list. */
void o2_settings_check_at(struct o2_settings_run *run, struct o2_report *report, int rc,
			  const struct o2_error *error, const struct o2_settings_verdict *expected,
			  uint32_t index);

/* What a device and a domain hold, counted before and after a call to see whether it left anything behind. */
struct o2_settings_holds {
	uint32_t regions, mws, fmr_regions, descriptor_regions, bound, windows;
	uint64_t pinned_bytes;
	struct ibv_mr *local, *remote;
	struct o2_loop_counters device;
};

struct o2_settings_holds o2_settings_holds(const struct o2_ni *ni);
void o2_settings_same(struct o2_settings_run *run, struct o2_report *report, const char *what, uint64_t found,
		      uint64_t expected);
/* After a call that failed: check that the two counts are equal. */
void o2_settings_unchanged(struct o2_settings_run *run, struct o2_report *report,
			   const struct o2_settings_holds *before, const struct o2_settings_holds *after);

/* Check that nothing of this interface is in use. */
void o2_settings_check_idle(struct o2_settings_run *run, struct o2_report *report, struct o2_ni *ni);

/*
 * Connect two interfaces: conn[i] is the end at ni[i], and both have these ops.  False: it is reported why not; the
 * caller destroys the ends that there are.
 */
bool o2_settings_join(struct o2_settings_run *run, struct o2_report *report, struct o2_ni *const ni[2],
		      const struct o2_conn_config *config, const struct o2_conn_ops *ops, void *context,
		      struct o2_conn *conn[2]);

/* A valid configuration of an interface on device loop0 or loop1. */
struct o2_ni_config o2_settings_good_ni(uint32_t index);

/*
 * Cases: a connection; LNet alone; the choice of a mode; binding of good and spoiled plans; posts that a device
 * takes in part; the quarter of capped transmits that is kept for peers; calls and allocations that fail; PUTs
 * that command serve verifies.
 */
void o2_settings_connection(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);
/* Part of the connection case, for a valid config: is a device that is too small for it refused? */
void o2_settings_device(struct o2_settings_run *run, struct o2_choice *c, const struct o2_conn_config *config,
			struct o2_report *report);
void o2_settings_lnet(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);
void o2_settings_answer(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);
void o2_settings_mode(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);
void o2_settings_bind(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);
void o2_settings_order(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);
void o2_settings_quarter(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);
void o2_settings_faults(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);
void o2_settings_puts(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);

/* Connection requests between nodes: judged by their fields; judged by what the node knows of the peer. */
void o2_settings_requests(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);
void o2_settings_known(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);

/* One connection attempt over the in-process connection manager. */
void o2_settings_meet(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report);

#endif
