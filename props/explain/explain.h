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
 * The whole way of one transfer, for people: what every stage made of both sides' memory, the work requests,
 * and what the memory model found in the sink afterwards (docs/cli.md, "Explaining a transfer").
 *
 * Addresses are those of o2_explain_base, so that the same case reads the same on every machine and day.
 */

/* How far a side's memory got: the stage that refuses is the one named. */
enum o2_explain_stage {
	O2_EXPLAIN_NOT_ASKED, /* the other side refused before */
	O2_EXPLAIN_SG,
	O2_EXPLAIN_DMA,
	O2_EXPLAIN_REG,
	O2_EXPLAIN_READY, /* all stages passed */
};

/*
 * A stretch of addresses that fragments may be in, and the memory behind it: one page of a registered page
 * list; or, when there is no page list, one page under its device address.
 */
struct o2_explain_slot {
	uint64_t addr;	 /* in the terms of the key */
	uint32_t length; /* bytes */
	uint32_t
		page; /* the arena's page behind it, from its first byte on; O2_NO_INDEX when it is no page */
};

/*
 * What stands in place of a stage's own result: what another implementation answered, and the terms of its
 * question.  What is NULL is worked out as usual; what is given lives as long as it is looked at.
 */
struct o2_explain_given {
	const struct o2_dma_device *device; /* it has all pages that the memory names */
	const uint64_t *page_addr;	    /* device address of each page, where no device says it */
	const struct o2_sg_list *list;
	const struct o2_dma_list *segments;
	const struct o2_reg_plan *plan;
	enum o2_explain_stage refused; /* the stage that refuses; O2_EXPLAIN_NOT_ASKED: none */
	struct o2_error refusal;       /* in which words; field NULL: in those of `rule` alone */
};

struct o2_explain_end {
	const struct o2_scenario_side *memory;
	const char *name;	     /* "source" or "sink" */
	enum o2_explain_stage stage; /* valid: everything of the stages before it */
	struct o2_error error;	     /* of the stage that refuses */
	uint64_t nob;		     /* bytes that this side maps */
	uint32_t page_bytes;
	uint32_t max_pages;
	uint64_t page_addr[O2_SCENARIO_PAGES];	     /* device address of each page */
	struct o2_extent piece[O2_SCENARIO_EXTENTS]; /* these bytes, by page, without any stage's help */
	uint32_t npieces;
	struct o2_sg_list sg;
	struct o2_dma_list segments;
	struct o2_reg_plan plan;
	struct o2_rdma_desc desc;
	struct o2_explain_slot slot[O2_MAX_FRAGS];
	uint32_t nslots;
};

/* A run of bytes in the sink's memory that is not what it must be. */
struct o2_explain_wrong {
	uint32_t page;
	uint32_t offset;
	uint32_t length;
	bool in_buffer;		/* else it lies beside the buffer, and had to stay what it was */
	uint64_t transfer_byte; /* in_buffer: which byte of the transfer should be here */
	struct o2_origin expected;
	enum o2_found found;
	struct o2_origin origin; /* found is O2_FOUND_ORIGIN */
	bool origin_in_buffer;	 /* ... of a source page: the source's buffer holds these bytes */
	uint64_t origin_byte;	 /* ... and as which byte of the transfer */
	uint8_t got, want;	 /* first byte: found, expected (found is O2_FOUND_BIT) */
};

/* Enough for a full list in which every fragment went to a wrong place. */
#define O2_EXPLAIN_WRONGS 1024u

struct o2_explain {
	struct o2_transfer_run run; /* scenario, what was foretold, what was seen */
	struct o2_report report;
	bool held;
	bool of_reference; /* beside the answer of something else: what held here says nothing of that */
	/* By enum o2_side: of another implementation.  All zeros: nothing is. */
	struct o2_explain_given given[2];
	const struct o2_rdma_plan *given_work;
	struct o2_error work_refusal; /* code not 0: it refuses to plan */
	const char *outcome;	      /* what came of its answer, in words; NULL: nothing was given */
	struct o2_explain_end end[2]; /* by enum o2_side */
	bool planned;		      /* work is valid */
	struct o2_rdma_plan work;
	struct o2_error work_error;			  /* both sides were ready, and there is no plan */
	struct o2_explain_wrong wrong[O2_EXPLAIN_WRONGS]; /* moved bytes first */
	struct o2_diff_run found[O2_EXPLAIN_WRONGS];	  /* scratch */
	uint32_t nwrong;
	size_t nwrong_all; /* more than nwrong when the array is too small */
};

/* What the memory begins at in explanations: device address of page 0. */
uint64_t o2_explain_base(enum o2_dma_kind kind);

/* The name of a kind of address: "bus". */
const char *o2_explain_kind_name(enum o2_dma_kind kind);

/* A new, empty explanation on the memory model.  0 or -errno with *error; end with o2_explain_close. */
int o2_explain_open(struct o2_explain **explain, struct o2_error *error);
void o2_explain_close(struct o2_explain *explain);

/*
 * Work out explain->run.scenario, which the caller has filled in.  0, -ENOMEM, or -EINVAL: it cannot be run.
 */
int o2_explain_scenario(struct o2_explain *explain);

/*
 * Work out the stages alone, with what is given in place of what they would be; nothing is moved, and nothing
 * found wrong.  0, or -EINVAL: the memory cannot be had.
 */
int o2_explain_stages(struct o2_explain *explain);

/* The memory of a side. */
struct o2_arena *o2_explain_arena(const struct o2_explain *explain, enum o2_side side);

/* The page behind a device address, or O2_NO_INDEX. */
uint32_t o2_explain_page(const struct o2_explain_end *end, uint64_t device_addr);

/*
 * Keep a run of wrong bytes of the sink: what is known of it is filled in, which bytes of the transfer these
 * are is found out.
 */
void o2_explain_keep_wrong(struct o2_explain *explain, const struct o2_explain_wrong *wrong);

/* In words.  all: no list is shortened. */
void o2_explain_text(const struct o2_explain *explain, bool all, FILE *out);

/* One wrong run in words, as snprintf does. */
int o2_explain_wrong_text(const struct o2_explain_wrong *wrong, char *text, size_t text_bytes);

/* As a picture: an SVG document that needs nothing but itself.  defect: name of the mutant, or NULL. */
void o2_explain_svg(const struct o2_explain *explain, const char *defect, FILE *out);

/*
 * The command `explain`; argv[0] is "explain".  program: how errors begin.
 * Returns 0 when the property held, 1 when not, 2 for usage or a file that is no case.
 */
int o2_explain_command(const char *program, int argc, char **argv);

#endif
