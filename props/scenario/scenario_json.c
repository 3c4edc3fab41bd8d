/* SPDX-License-Identifier: MIT */
#include "props/scenario/scenario_io.h"

#include <errno.h>
#include <string.h>

#include "base/fields_json.h"
#include "base/json.h"
#include "forms/mem_fields.h"

#define SCENARIO_FORM "o2ref/scenario"

/* Bytes of a view; an IOV's bases are offsets into a view. */
#define VIEW_BYTES ((uint64_t)O2_SCENARIO_PAGES * O2_SCENARIO_PAGE_BYTES)

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/*
 * Error records hold string literals only.  The full name of a side's field is therefore looked up by its
 * name inside the side, which the JSON helpers use.
 */
#define SIDE_FIELD(name)                           \
	{                                          \
		name, "source." name, "sink." name \
	}
#define PIECE_FIELD(name)                                            \
	{                                                            \
		name, "source.pieces[]." name, "sink.pieces[]." name \
	}
static const struct {
	const char *field;
	const char *of_source;
	const char *of_sink;
} field_name[] = {
	SIDE_FIELD("mode"),
	SIDE_FIELD("kind"),
	SIDE_FIELD("vector"),
	SIDE_FIELD("view"),
	SIDE_FIELD("iova"),
	SIDE_FIELD("staging"),
	SIDE_FIELD("per_segment"),
	SIDE_FIELD("lazy"),
	SIDE_FIELD("merge"),
	SIDE_FIELD("fault"),
	SIDE_FIELD("offset_bytes"),
	SIDE_FIELD("nob"),
	SIDE_FIELD("bounce"),
	SIDE_FIELD("unmapped_page"),
	SIDE_FIELD("pieces"),
	PIECE_FIELD("page"),
	PIECE_FIELD("offset"),
	PIECE_FIELD("len"),
	PIECE_FIELD("base"),
	{"members", "members of source", "members of sink"},
	{"piece", "source.pieces[]", "sink.pieces[]"},
	{"piece members", "members of source.pieces[]", "members of sink.pieces[]"},
};

static int refuse(struct o2_error *error, const char *rule, const char *field, uint64_t value, uint64_t limit)
{
	return o2_refuse_value(error, -EINVAL, rule, field, value, limit);
}

/* Add the side's name to the field of an error. */
static void name_side(struct o2_error *error, bool sink)
{
	if (error == NULL || error->field == NULL)
		return;
	for (uint32_t i = 0; i < COUNT_OF(field_name); i++) {
		if (strcmp(error->field, field_name[i].field) == 0) {
			error->field = sink ? field_name[i].of_sink : field_name[i].of_source;
			return;
		}
	}
}

/* --- tables --- */

static const char *const op_names[] = {[O2_OP_PUT] = "put", [O2_OP_GET] = "get"};
static const char *const order_names[] = {
	[O2_LITTLE_ENDIAN] = "little-endian", [O2_BIG_ENDIAN] = "big-endian"};
static const char *const cksum_names[] = {
	[O2_CKSUM_NONE] = "none", [O2_CKSUM_UNSIGNED] = "unsigned", [O2_CKSUM_SIGNED] = "signed"};

static const struct o2_field no_fields[] = {{0}};

/* Pieces without "len", whose limit depends on the piece's start. */
static const struct o2_field kiov_fields[] = {
	{O2_FIELD("page", UINT, struct o2_kiov, page), .limit = O2_SCENARIO_PAGES - 1},
	{O2_FIELD("offset", UINT, struct o2_kiov, offset), .limit = O2_SCENARIO_PAGE_BYTES},
	{0},
};
static const struct o2_field iov_fields[] = {
	{O2_FIELD("base", UINT, struct o2_iov, base), .limit = VIEW_BYTES},
	{0},
};

static const struct o2_field fmr_fields[] = {
	{O2_FIELD("per_segment", BOOL, struct o2_scenario_side, per_segment), .sparse = true},
	{O2_FIELD("lazy", BOOL, struct o2_scenario_side, lazy), .sparse = true},
	{0},
};
static const struct o2_field phys_fields[] = {
	{O2_FIELD("iova", HEX, struct o2_scenario_side, iova)},
	{0},
};
static const struct o2_field gaps_fields[] = {
	{O2_FIELD("staging", BOOL, struct o2_scenario_side, staging)},
	{0},
};

static const struct o2_field *mode_fields(const void *holder)
{
	static const struct o2_field *const of_mode[O2_REG_MODES] = {
		[O2_REG_FMR] = fmr_fields, [O2_REG_PHYS] = phys_fields, [O2_REG_FASTREG_GAPS] = gaps_fields};
	const struct o2_field *fields = of_mode[((const struct o2_scenario_side *)holder)->mode];

	return fields == NULL ? no_fields : fields;
}

static const struct o2_field view_fields[] = {
	{O2_FIELD("view", UINT, struct o2_scenario_side, view), .limit = O2_ARENA_VIEWS - 1},
	{0},
};

static const struct o2_field *iov_view_fields(const void *holder)
{
	return ((const struct o2_scenario_side *)holder)->vector == O2_IOV ? view_fields : no_fields;
}

static const struct o2_field iommu_fields[] = {
	{O2_FIELD("merge", HEX, struct o2_scenario_side, merge)},
	{O2_FIELD("fault", NAME, struct o2_scenario_side, fault), .names = o2_dma_fault_names,
	 .limit = O2_DMA_FAULTS},
	{0},
};

static const struct o2_field *kind_fields(const void *holder)
{
	return ((const struct o2_scenario_side *)holder)->kind == O2_DMA_IOMMU ? iommu_fields : no_fields;
}

static const struct o2_field unmapped_fields[] = {
	{O2_FIELD("unmapped_page", UINT, struct o2_scenario_side, unmapped_page),
	 .limit = O2_SCENARIO_PAGES - 1},
	{0},
};

static const struct o2_field *page_fields(const void *holder)
{
	return ((const struct o2_scenario_side *)holder)->has_unmapped ? unmapped_fields : no_fields;
}

/* A side without "pieces". */
static const struct o2_field side_fields[] = {
	{O2_FIELD("mode", NAME, struct o2_scenario_side, mode), .names = o2_reg_mode_names,
	 .limit = O2_REG_MODES},
	{.name = "of its mode", .kind = O2_FIELD_MORE, .more = mode_fields},
	{O2_FIELD("kind", NAME, struct o2_scenario_side, kind), .names = o2_dma_kind_names,
	 .limit = O2_DMA_KINDS},
	{O2_FIELD("vector", NAME, struct o2_scenario_side, vector), .names = o2_vector_kind_names,
	 .limit = O2_KIOV + 1},
	{.name = "of an IOV", .kind = O2_FIELD_MORE, .more = iov_view_fields},
	{.name = "of its kind", .kind = O2_FIELD_MORE, .more = kind_fields},
	{O2_FIELD("bounce", BOOL, struct o2_scenario_side, bounce), .sparse = true},
	{O2_FIELD("offset_bytes", UINT, struct o2_scenario_side, offset_bytes),
	 .limit = VIEW_BYTES * O2_SCENARIO_PIECES},
	{O2_FIELD("nob", UINT, struct o2_scenario_side, nob), .limit = O2_MAX_TRANSFER_BYTES},
	{.name = "of a page without a mapping", .kind = O2_FIELD_MORE, .more = page_fields},
	{0},
};

/* A scenario without its two sides. */
static const struct o2_field scenario_fields[] = {
	{O2_FIELD("op", NAME, struct o2_scenario, op), .names = op_names, .limit = COUNT_OF(op_names)},
	{O2_FIELD("max_frags", UINT, struct o2_scenario, max_frags), .limit = O2_MAX_FRAGS},
	{O2_FIELD("wrq_sge", UINT, struct o2_scenario, wrq_sge), .limit = O2_MAX_WRQ_SGE},
	{O2_FIELD("order", NAME, struct o2_scenario, order), .names = order_names,
	 .limit = COUNT_OF(order_names)},
	{O2_FIELD("cksum_flavour", NAME, struct o2_scenario, cksum_flavour), .names = cksum_names,
	 .limit = COUNT_OF(cksum_names)},
	{O2_FIELD("pattern_seed", HEX, struct o2_scenario, pattern_seed)},
	{O2_FIELD("stale_key", BOOL, struct o2_scenario, stale_key), .sparse = true},
	{0},
};

/* --- writing --- */

static json_t *pieces_to_json(const struct o2_scenario_side *side)
{
	json_t *array = json_array();

	for (uint32_t i = 0; array != NULL && i < side->count; i++) {
		json_t *piece;

		if (side->vector == O2_KIOV)
			piece = o2_json_with(o2_fields_to_json(kiov_fields, &side->kiov[i]), "len",
					     json_integer(side->kiov[i].len));
		else
			piece = o2_json_with(o2_fields_to_json(iov_fields, &side->iov[i]), "len",
					     json_integer((json_int_t)side->iov[i].len));
		if (json_array_append_new(array, piece) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *side_to_json(const struct o2_scenario_side *side)
{
	return o2_json_with(o2_fields_to_json(side_fields, side), "pieces", pieces_to_json(side));
}

json_t *o2_scenario_to_json(const struct o2_scenario *scenario)
{
	json_t *form = o2_fields_into_json(o2_json_form(SCENARIO_FORM), scenario_fields, scenario);

	form = o2_json_with(form, "source", side_to_json(&scenario->source));
	return o2_json_with(form, "sink", side_to_json(&scenario->sink));
}

/* --- reading --- */

static int check_positive(const char *field, uint64_t value, struct o2_error *error)
{
	return value == 0 ? refuse(error, "scenario/zero", field, 0, 1) : 0;
}

/* Check that an object has no more than the `known` members that were read. */
static int expect_members(const json_t *object, const char *field, size_t known, struct o2_error *error)
{
	size_t members = json_object_size(object);

	return members > known ? refuse(error, "scenario/unknown-member", field, members, known) : 0;
}

static int read_kiov(const json_t *piece, struct o2_kiov *kiov, struct o2_error *error)
{
	int rc = o2_fields_from_json(piece, kiov_fields, kiov, error);

	if (rc == 0)
		rc = o2_json_get_u32(piece, "len", O2_SCENARIO_PAGE_BYTES - kiov->offset, &kiov->len, error);
	return rc != 0 ? rc : expect_members(piece, "piece members", 3, error);
}

static int read_iov(const json_t *piece, struct o2_iov *iov, struct o2_error *error)
{
	int rc = o2_fields_from_json(piece, iov_fields, iov, error);

	if (rc == 0)
		rc = o2_json_get_uint(piece, "len", VIEW_BYTES - iov->base, &iov->len, error);
	return rc != 0 ? rc : expect_members(piece, "piece members", 2, error);
}

static int read_pieces(const json_t *object, struct o2_scenario_side *side, struct o2_error *error)
{
	const json_t *pieces;
	int rc = o2_json_get_array(object, "pieces", O2_SCENARIO_PIECES, &pieces, error);

	if (rc != 0)
		return rc;
	side->count = (uint32_t)json_array_size(pieces);
	for (uint32_t i = 0; i < side->count; i++) {
		const json_t *piece = json_array_get(pieces, i);

		if (!json_is_object(piece))
			return o2_refuse(error, -EINVAL, "scenario/not-an-object", "piece", i, 0,
					 O2_NO_LIMIT);
		if (side->vector == O2_KIOV)
			rc = read_kiov(piece, &side->kiov[i], error);
		else
			rc = read_iov(piece, &side->iov[i], error);
		if (rc != 0) {
			if (error != NULL)
				error->index = i;
			return rc;
		}
	}
	return 0;
}

/* The place of a piece: by page for a KIOV, in its view for an IOV.  Different places are different memory. */
static void piece_place(const struct o2_scenario_side *side, uint32_t i, uint64_t *begin, uint64_t *length)
{
	if (side->vector == O2_KIOV) {
		*begin = (uint64_t)side->kiov[i].page * O2_SCENARIO_PAGE_BYTES + side->kiov[i].offset;
		*length = side->kiov[i].len;
	} else {
		*begin = side->iov[i].base;
		*length = side->iov[i].len;
	}
}

static int check_length(const struct o2_scenario_side *side, struct o2_error *error)
{
	uint64_t total = 0, extents = 0;

	for (uint32_t i = 0; i < side->count; i++) {
		uint64_t begin;
		uint64_t length;

		piece_place(side, i, &begin, &length);
		total += length;
		if (length > 0) /* the pages that it touches */
			extents += (begin + length - 1) / O2_SCENARIO_PAGE_BYTES -
				   begin / O2_SCENARIO_PAGE_BYTES + 1;
	}
	if (extents > O2_SCENARIO_EXTENTS)
		return refuse(error, "scenario/too-many-extents", "pieces", extents, O2_SCENARIO_EXTENTS);
	if (total < side->offset_bytes + side->nob)
		return refuse(error, "scenario/vector-too-short", "pieces", total,
			      side->offset_bytes + side->nob);
	return 0;
}

/* Check that sink pieces are disjoint: bytes of memory that is used twice would have no defined value. */
static int check_disjoint(const struct o2_scenario_side *side, struct o2_error *error)
{
	for (uint32_t i = 1; i < side->count; i++) {
		uint64_t begin;
		uint64_t length;

		piece_place(side, i, &begin, &length);
		for (uint32_t j = 0; j < i; j++) {
			uint64_t other;
			uint64_t other_length;

			piece_place(side, j, &other, &other_length);
			if (length > 0 && other_length > 0 && begin < other + other_length &&
			    other < begin + length)
				return o2_refuse(error, -EINVAL, "scenario/sink-overlap", "piece", i, begin,
						 other);
		}
	}
	return 0;
}

static int read_side_members(const json_t *object, struct o2_scenario_side *side, struct o2_error *error)
{
	int rc;

	side->has_unmapped = json_object_get(object, "unmapped_page") != NULL;
	rc = o2_fields_from_json(object, side_fields, side, error);
	if (rc == 0)
		rc = check_positive("nob", side->nob, error);
	if (rc == 0)
		rc = read_pieces(object, side, error);
	if (rc != 0)
		return rc;
	return expect_members(object, "members", o2_fields_known(object, side_fields, side) + 1, error);
}

static int read_side(const json_t *scenario, bool sink, struct o2_scenario_side *side, struct o2_error *error)
{
	const char *field = sink ? "sink" : "source";
	const json_t *object = json_object_get(scenario, field);
	int rc;

	if (!json_is_object(object))
		return refuse(error, "scenario/not-an-object", field, 0, O2_NO_LIMIT);
	rc = read_side_members(object, side, error);
	if (rc == 0)
		rc = check_length(side, error);
	if (rc == 0 && sink)
		rc = check_disjoint(side, error);
	if (rc != 0)
		name_side(error, sink);
	return rc;
}

int o2_scenario_from_json(const json_t *object, struct o2_scenario *scenario, struct o2_error *error)
{
	size_t known;
	int rc = o2_json_expect_form(object, SCENARIO_FORM, error);

	memset(scenario, 0, sizeof(*scenario));
	if (rc == 0)
		rc = o2_fields_from_json(object, scenario_fields, scenario, error);
	if (rc == 0)
		rc = check_positive("max_frags", scenario->max_frags, error);
	if (rc == 0)
		rc = check_positive("wrq_sge", scenario->wrq_sge, error);
	if (rc == 0)
		rc = read_side(object, false, &scenario->source, error);
	if (rc == 0)
		rc = read_side(object, true, &scenario->sink, error);
	if (rc != 0)
		return rc;
	/* Plus "form", "version", "source", "sink". */
	known = o2_fields_known(object, scenario_fields, scenario) + 4;
	return expect_members(object, "members of the scenario", known, error);
}
