/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_EXPLAIN_H
#define O2_PROPS_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "props/transfer/transfer.h"
#include "rdma/rdma_plan.h"

/*
 * The whole way of one transfer, for people: what each stage made of both sides' memory, the work requests, and
 * what the memory model found in the sink afterwards (docs/cli.md, "Explaining a transfer").
 * Addresses start at o2_explain_base, so that a case reads the same on every machine and in every run.
 */

/* How far a side's memory got.  If a stage refuses, its value is used. */
enum o2_explain_stage {
	O2_EXPLAIN_NOT_ASKED, /* the other side refused first */
	O2_EXPLAIN_SG,
	O2_EXPLAIN_DMA,
	O2_EXPLAIN_REG,
	O2_EXPLAIN_READY, /* all stages passed */
};

/*
 * A range of addresses that fragments may lie in, and its memory: one page of a registered page list; or, without a
 * page list, one page at its device address.
 */
struct o2_explain_slot {
	uint64_t addr;	 /* address under the key */
	uint32_t length; /* bytes */
	uint32_t page;	 /* the arena's page behind it, from its first byte; O2_NO_INDEX: no page */
};

/*
 * Results that replace those of the stages: another implementation's answer, and the terms of its question. A
 * member that is NULL is computed as usual. The pointers must stay valid while the explanation is used.
 */
struct o2_explain_given {
	const struct o2_dma_device *device; /* must have all pages that the memory names */
	const uint64_t *page_addr;	    /* device address of each page, if no device gives it */
	const struct o2_sg_list *list;
	const struct o2_dma_list *segments;
	const struct o2_reg_plan *plan;
	enum o2_explain_stage refused; /* stage that refuses; O2_EXPLAIN_NOT_ASKED: none */
	struct o2_error refusal;       /* its words; field NULL: only `rule` is set */
};

struct o2_explain_end {
	const struct o2_scenario_side *memory;
	const char *name;	     /* "source" or "sink" */
	enum o2_explain_stage stage; /* the results of all earlier stages are valid */
	struct o2_error error;	     /* of the stage that refused */
	uint64_t nob;		     /* bytes that this side maps */
	uint32_t page_bytes;
	uint32_t max_pages;
	uint64_t page_addr[O2_SCENARIO_PAGES];	     /* device address of each page */
	struct o2_extent piece[O2_SCENARIO_EXTENTS]; /* these bytes by page, computed without the stages */
	uint32_t npieces;
	struct o2_sg_list sg;
	struct o2_dma_list segments;
	struct o2_reg_plan plan;
	struct o2_rdma_desc desc;
	struct o2_explain_slot slot[O2_MAX_FRAGS];
	uint32_t nslots;
};

/* A run of bytes in the sink's memory that has a wrong value. */
struct o2_explain_wrong {
	uint32_t page;
	uint32_t offset;
	uint32_t length;
	bool in_buffer;		/* false: beside the buffer, where no byte may change */
	uint64_t transfer_byte; /* in_buffer: the byte of the transfer that belongs here */
	struct o2_origin expected;
	enum o2_found found;
	struct o2_origin origin; /* set if found is O2_FOUND_ORIGIN */
	bool origin_in_buffer;	 /* ... the origin is in the source's buffer */
	uint64_t origin_byte;	 /* ... the byte of the transfer there */
	uint8_t got, want;	 /* value of the first byte, and the right one (found is O2_FOUND_BIT) */
};

/* Enough for a full list whose fragments all went to wrong places. */
#define O2_EXPLAIN_WRONGS 1024u

struct o2_explain {
	struct o2_transfer_run run; /* scenario, prediction, outcome */
	struct o2_report report;
	bool held;
	bool of_reference; /* shown beside another implementation's answer, of which `held` says nothing */
	/* By enum o2_side: of another implementation.  All zeros: nothing is given. */
	struct o2_explain_given given[2];
	const struct o2_rdma_plan *given_work;
	struct o2_error work_refusal; /* code not 0: the other implementation refuses to plan */
	const char *outcome;	      /* what its answer led to, in words; NULL: nothing was given */
	struct o2_explain_end end[2]; /* by enum o2_side */
	bool planned;		      /* work is valid */
	struct o2_rdma_plan work;
	struct o2_error work_error; /* set if both sides were ready, but there is no plan */
	struct o2_explain_wrong wrong[O2_EXPLAIN_WRONGS]; /* moved bytes come first */
	struct o2_diff_run found[O2_EXPLAIN_WRONGS];	  /* scratch */
	uint32_t nwrong;
	size_t nwrong_all; /* greater than nwrong if the array was too small */
};

/* The device address of page 0 in explanations. */
uint64_t o2_explain_base(enum o2_dma_kind kind);

/* The name of a kind of address: "bus". */
const char *o2_explain_kind_name(enum o2_dma_kind kind);

/* Make a new, empty explanation on the memory model.  Returns 0, or -errno with *error.  Free: o2_explain_close. */
int o2_explain_open(struct o2_explain **explain, struct o2_error *error);
void o2_explain_close(struct o2_explain *explain);

/* Explain explain->run.scenario, which the caller has set.  Returns 0, -ENOMEM, or -EINVAL: it cannot be run. */
int o2_explain_scenario(struct o2_explain *explain);

/*
 * Compute the stages only, with the given results in place of the computed ones. Nothing is moved or checked.
 * Returns 0, or -EINVAL: the memory cannot be set up.
 */
int o2_explain_stages(struct o2_explain *explain);

/* The memory of a side. */
struct o2_arena *o2_explain_arena(const struct o2_explain *explain, enum o2_side side);

/* The page behind a device address, or O2_NO_INDEX. */
uint32_t o2_explain_page(const struct o2_explain_end *end, uint64_t device_addr);

/* Keep a run of wrong bytes of the sink.  The caller sets what it knows; the transfer bytes are looked up. */
void o2_explain_keep_wrong(struct o2_explain *explain, const struct o2_explain_wrong *wrong);

/* Write the explanation as text.  all: do not shorten lists. */
void o2_explain_text(const struct o2_explain *explain, bool all, FILE *out);

/* Describe one wrong run; arguments and result are as for snprintf. */
int o2_explain_wrong_text(const struct o2_explain_wrong *wrong, char *text, size_t text_bytes);

/* Write a self-contained SVG document.  defect: name of the mutant, or NULL. */
void o2_explain_svg(const struct o2_explain *explain, const char *defect, FILE *out);

/* Write the <defs> that each such document has: the hatching and the tip of arrows, which it names by their ids. */
void o2_explain_svg_defs(FILE *out);

/*
 * The command `explain`; argv[0] is "explain".  program: prefix of error messages. Returns 0 if the property held,
 * 1 if not, 2 for a usage error or a file that is no case.
 */
int o2_explain_command(const char *program, int argc, char **argv);

#endif
