/* SPDX-License-Identifier: MIT */
#include "props/scenario/predict.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"

/*
 * Computes the stages of each side from the extents of the bytes that it maps (docs/mapping.md,
 * docs/modes.md), then the number of work requests from the ends of both sides' fragments.
 *
 * An extent is at most one page and no device kind splits one, so a page list never has more pages than there
 * are entries: a list within the limit of entries is within the limit of pages.
 */

static const struct {
	int code;
	const char *name;
	const char *reason[2]; /* by side */
} rules[O2_PREDICT_RULES] = {
#define RULE(code, name, what)                         \
	{                                              \
		code, name,                            \
		{                                      \
			"source: " what, "sink: " what \
		}                                      \
	}
	[O2_PREDICT_NONE] = {0, "", {"", ""}},
	[O2_PREDICT_SIZE] = RULE(-EINVAL, "sg/nob", "no bytes, or more than a transfer moves"),
	[O2_PREDICT_VECTOR_SHORT] = RULE(-EINVAL, "sg/vector-too-short", "vector shorter than the transfer"),
	[O2_PREDICT_ENTRIES] = RULE(-EFAULT, "sg/too-many-entries", "too many scatter entries"),
	[O2_PREDICT_UNMAPPED] = RULE(-EFAULT, "dma/virtual/no-cpu-mapping", "page without a CPU mapping"),
	[O2_PREDICT_MAP_EIO] = RULE(-EIO, "dma/iommu/failed", "the mapping fails"),
	[O2_PREDICT_MAP_NOTHING] = RULE(-EIO, "dma/iommu/mapped-nothing", "nothing is mapped"),
	[O2_PREDICT_MAP_ENOMEM] = RULE(-ENOMEM, "dma/iommu/failed", "no room for the mapping"),
	[O2_PREDICT_GAPS] = RULE(-EPROTONOSUPPORT, "reg/fastreg/gaps", "gaps under fastreg"),
	[O2_PREDICT_NOT_CONTIGUOUS] =
		RULE(-EPROTONOSUPPORT, "reg/user/not-contiguous", "not one range of virtual addresses"),
	[O2_PREDICT_PHYS_GAPS] = RULE(-EINVAL, "reg/phys/gaps", "gaps under phys"),
	[O2_PREDICT_PHYS_IOVA] = RULE(-EINVAL, "reg/phys/iova-alignment",
				      "neither a page nor the first byte can be at that iova"),
	[O2_PREDICT_PHYS_WRAPS] =
		RULE(-EINVAL, "reg/phys/iova-wraps", "behind that iova is no room for the region"),
	[O2_PREDICT_FRAGMENTS] =
		RULE(-EFBIG, "reg/more-fragments-than-peer-accepts", "more fragments than the peer accepts"),
	[O2_PREDICT_WORK_REQUESTS] = RULE(-EMSGSIZE, "rdma/too-many-work-requests",
					  "more work requests than the connection allows"),
#undef RULE
};

const char *o2_predict_rule_name(enum o2_predict_rule rule)
{
	return rules[rule].name;
}

int o2_predict_rule_code(enum o2_predict_rule rule)
{
	return rules[rule].code;
}

/* The result for the memory of one side. */
struct outcome {
	enum o2_predict_rule rule; /* the first rule that refuses */
	uint32_t entries;
	uint32_t segments;
	bool gaps;
	uint32_t fragments;	    /* fragments of the side's descriptor */
	uint32_t end[O2_MAX_FRAGS]; /* bytes of the transfer up to the end of each fragment */
};

/*
 * Rule G3: there is a gap if an entry after the first starts inside a page, or one before the last ends inside a
 * page.  This includes two entries that touch inside one page, although there is no hole between them.
 */
static bool has_gaps(const struct o2_extent *extent, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t end = extent[i].offset + extent[i].length;

		if (i > 0 && extent[i].offset % O2_SCENARIO_PAGE_BYTES != 0)
			return true;
		if (i + 1 < count && end % O2_SCENARIO_PAGE_BYTES != 0)
			return true;
	}
	return false;
}

static bool touches_unmapped(const struct o2_scenario_side *side, const struct o2_extent *extent,
			     uint32_t count)
{
	if (side->kind != O2_DMA_VIRTUAL || !side->has_unmapped)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (extent[i].page == side->unmapped_page)
			return true;
	}
	return false;
}

/* The address of an extent for a device that remaps. */
static uint64_t remapped(const uint32_t *device_page, const struct o2_extent *extent)
{
	return (uint64_t)device_page[extent->page] * O2_SCENARIO_PAGE_BYTES + extent->offset;
}

/* Does entry i continue the segment of entry i - 1? */
static bool is_merged(const struct o2_scenario_side *side, const uint32_t *device_page,
		      const struct o2_extent *extent, uint32_t i)
{
	if (i == 0 || side->kind != O2_DMA_IOMMU || device_page == NULL || (side->merge >> i % 64 & 1) == 0)
		return false;
	return remapped(device_page, &extent[i - 1]) + extent[i - 1].length ==
	       remapped(device_page, &extent[i]);
}

/* Make one fragment per segment, or one for all. */
static void make_fragments(const struct o2_scenario_side *side, const uint32_t *device_page,
			   const struct o2_extent *extent, struct outcome *outcome)
{
	uint32_t end[O2_MAX_FRAGS];
	uint32_t total = 0;

	for (uint32_t i = 0; i < outcome->entries; i++) {
		total += extent[i].length;
		if (!is_merged(side, device_page, extent, i))
			outcome->segments++;
		end[outcome->segments - 1] = total;
	}
	if (side->mode != O2_REG_GLOBAL &&
	    (side->mode != O2_REG_FMR || !(outcome->gaps || side->per_segment))) {
		outcome->fragments = 1;
		outcome->end[0] = total;
		return;
	}
	outcome->fragments = outcome->segments;
	memcpy(outcome->end, end, outcome->segments * sizeof(end[0]));
}

/*
 * Mode user: true if all pieces that carry the bytes are contiguous in virtual memory.  Each piece must then
 * place byte 0 of the vector at the same address.
 */
static bool is_one_range(const struct o2_scenario_side *side, uint64_t nob)
{
	uint64_t at = 0;     /* offset in the vector */
	uint64_t origin = 0; /* address of byte 0 of the vector, by the first piece that carries bytes */
	bool known = false;

	if (side->vector != O2_IOV)
		return false;
	for (uint32_t i = 0; i < side->count; at += side->iov[i++].len) {
		if (side->iov[i].len == 0 || at + side->iov[i].len <= side->offset_bytes ||
		    at >= side->offset_bytes + nob)
			continue;
		if (known && side->iov[i].base - at != origin)
			return false;
		origin = side->iov[i].base - at;
		known = true;
	}
	return known;
}

/* The rule by which a mapping fails that is made to fail. */
static enum o2_predict_rule fault_rule(enum o2_dma_fault fault)
{
	switch (fault) {
	case O2_DMA_FAULT_ENOMEM:
		return O2_PREDICT_MAP_ENOMEM;
	case O2_DMA_FAULT_NOTHING:
		return O2_PREDICT_MAP_NOTHING;
	default:
		return O2_PREDICT_MAP_EIO;
	}
}

/*
 * Mode phys: the list has no gaps, its iova is that of the first page or of the first byte, and no address
 * lies beyond the address space.
 */
static enum o2_predict_rule phys_rule(const struct o2_scenario_side *side, const struct o2_extent *first,
				      bool gaps, uint64_t nob)
{
	uint64_t before = first->offset; /* from the iova to the first byte */

	if (gaps)
		return O2_PREDICT_PHYS_GAPS;
	if (side->iova % O2_SCENARIO_PAGE_BYTES != 0)
		before = 0;
	if (before == 0 && side->iova % O2_SCENARIO_PAGE_BYTES != first->offset)
		return O2_PREDICT_PHYS_IOVA;
	return before + nob > UINT64_MAX - side->iova ? O2_PREDICT_PHYS_WRAPS : O2_PREDICT_NONE;
}

/* Map nob bytes of a side.  max_frags: limit of published fragments; a source publishes none. */
static void map_side(const struct o2_scenario_side *side, const uint32_t *view_page,
		     const uint32_t *device_page, uint64_t nob, uint32_t max_frags, struct outcome *outcome)
{
	struct o2_extent extent[O2_SCENARIO_EXTENTS];
	int entries;

	*outcome = (struct outcome){.rule = O2_PREDICT_NONE};
	if (nob == 0 || nob > O2_MAX_TRANSFER_BYTES) {
		outcome->rule = O2_PREDICT_SIZE;
		return;
	}
	entries = o2_scenario_extents(side, view_page, side->offset_bytes, nob, extent, O2_SCENARIO_EXTENTS);
	if (entries < 0) {
		outcome->rule = O2_PREDICT_VECTOR_SHORT;
		return;
	}
	outcome->entries = (uint32_t)entries;
	outcome->gaps = has_gaps(extent, outcome->entries);
	if (outcome->entries > O2_MAX_FRAGS) {
		outcome->rule = O2_PREDICT_ENTRIES;
	} else if (touches_unmapped(side, extent, outcome->entries)) {
		outcome->rule = O2_PREDICT_UNMAPPED;
	} else if (side->kind == O2_DMA_IOMMU && side->fault != O2_DMA_NO_FAULT) {
		outcome->rule = fault_rule(side->fault);
	} else if (side->mode == O2_REG_FASTREG && outcome->gaps) {
		outcome->rule = O2_PREDICT_GAPS;
	} else if (side->mode == O2_REG_USER && !is_one_range(side, nob)) {
		outcome->rule = O2_PREDICT_NOT_CONTIGUOUS;
	} else if (side->mode == O2_REG_PHYS) {
		outcome->rule = phys_rule(side, extent, outcome->gaps, nob);
	}
	if (outcome->rule == O2_PREDICT_NONE) {
		make_fragments(side, device_page, extent, outcome);
		if (outcome->fragments > max_frags)
			outcome->rule = O2_PREDICT_FRAGMENTS;
	}
}

/*
 * Each sink fragment is filled by the pieces into which the source's fragments cut it, wrq_sge pieces per
 * work request.  No work request fills two fragments.  Fragments after the last byte moved get none.
 */
static uint64_t count_work_requests(const struct outcome *source, const struct outcome *sink, uint64_t moved,
				    uint32_t wrq_sge)
{
	uint64_t requests = 0;
	uint64_t begin = 0;
	uint32_t cut = 0;

	for (uint32_t i = 0; i < sink->fragments && begin < moved; i++) {
		uint64_t end = sink->end[i] < moved ? sink->end[i] : moved;
		uint64_t pieces = 1;

		while (cut < source->fragments && source->end[cut] <= begin)
			cut++;
		for (; cut < source->fragments && source->end[cut] < end; cut++)
			pieces++;
		requests += (pieces + wrq_sge - 1) / wrq_sge;
		begin = end;
	}
	return requests;
}

static void refuse(struct o2_prediction *prediction, enum o2_verdict verdict, enum o2_predict_rule rule,
		   enum o2_side side)
{
	prediction->rule = rule;
	prediction->side = side;
	prediction->verdict = verdict;
	prediction->code = rules[rule].code;
	prediction->reason = rules[rule].reason[side];
}

void o2_predict(const struct o2_scenario *scenario, const uint32_t *source_view_page,
		const uint32_t *sink_view_page, const uint32_t *device_page, struct o2_prediction *prediction)
{
	const bool put = scenario->op == O2_OP_PUT;
	const uint64_t moved = o2_scenario_moved(scenario);
	const enum o2_verdict source_verdict = put ? O2_REFUSED_LOCAL : O2_REFUSED_PEER;
	const enum o2_verdict sink_verdict = put ? O2_REFUSED_PEER : O2_REFUSED_LOCAL;
	struct outcome source;
	struct outcome sink;
	bool source_first;

	/* The initiator maps all that it offers; the responder already knows how much will move. */
	map_side(&scenario->source, source_view_page, device_page, put ? scenario->source.nob : moved,
		 UINT32_MAX, &source);
	map_side(&scenario->sink, sink_view_page, device_page, put ? moved : scenario->sink.nob,
		 scenario->max_frags, &sink);
	*prediction = (struct o2_prediction){
		.verdict = O2_MOVES,
		.reason = "",
		.source_entries = source.entries,
		.sink_entries = sink.entries,
		.source_segments = source.segments,
		.sink_segments = sink.segments,
		.source_gaps = source.gaps,
		.sink_gaps = sink.gaps,
	};

	source_first = source.rule != O2_PREDICT_NONE && (put || sink.rule == O2_PREDICT_NONE);
	if (source_first) {
		refuse(prediction, source_verdict, source.rule, O2_SOURCE);
	} else if (sink.rule != O2_PREDICT_NONE) {
		refuse(prediction, sink_verdict, sink.rule, O2_SINK);
	} else if (count_work_requests(&source, &sink, moved, scenario->wrq_sge) > scenario->max_frags) {
		/* The answer to a GET carries the errno; for a PUT the source is the initiator itself. */
		refuse(prediction, put ? O2_REFUSED_WRITER : O2_REFUSED_PEER, O2_PREDICT_WORK_REQUESTS,
		       O2_SOURCE);
	}
}
