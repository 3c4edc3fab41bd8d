/* SPDX-License-Identifier: MIT */
#include "props/scenario/scenario_io.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"

#define SCENARIO_FORM "o2ref/scenario"

/* The bytes of a view, which is what the bases of an IOV are offsets into. */
#define VIEW_BYTES ((uint64_t)O2_SCENARIO_PAGES * O2_SCENARIO_PAGE_BYTES)

static const char *const op_name[] = {[O2_OP_PUT] = "put", [O2_OP_GET] = "get"};
static const char *const mode_name[] = {
	[O2_REG_GLOBAL] = "global", [O2_REG_FMR] = "fmr",   [O2_REG_FASTREG] = "fastreg",
	[O2_REG_USER] = "user",	    [O2_REG_PHYS] = "phys", [O2_REG_FASTREG_GAPS] = "fastreg_gaps"};
static const char *const kind_name[] = {
	[O2_DMA_BUS] = "bus", [O2_DMA_VIRTUAL] = "virtual", [O2_DMA_IOMMU] = "iommu"};
static const char *const fault_name[] = {[O2_DMA_NO_FAULT] = "none",
					 [O2_DMA_FAULT_EIO] = "eio",
					 [O2_DMA_FAULT_ENOMEM] = "enomem",
					 [O2_DMA_FAULT_NOTHING] = "nothing"};
static const char *const vector_name[] = {[O2_IOV] = "iov", [O2_KIOV] = "kiov"};
static const char *const order_name[] = {
	[O2_LITTLE_ENDIAN] = "little-endian", [O2_BIG_ENDIAN] = "big-endian"};
static const char *const cksum_name[] = {
	[O2_CKSUM_NONE] = "none", [O2_CKSUM_UNSIGNED] = "unsigned", [O2_CKSUM_SIGNED] = "signed"};

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/*
 * Error records hold string literals only, so that the full name of a side's field is looked up by its name
 * inside the side, which is what the JSON helpers know.
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
	return o2_refuse(error, -EINVAL, rule, field, O2_NO_INDEX, value, limit);
}

/* Put the side's name in front of the field of an error. */
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

/* --- writing -----------------------------------------------------------------------------------------------
 */

/* All return 0 or -1, jansson's way, and take over what is added, also when they fail. */

static int add_integer(json_t *object, const char *field, uint64_t value)
{
	return json_object_set_new(object, field, json_integer((json_int_t)value));
}

static int add_name(json_t *object, const char *field, const char *name)
{
	return json_object_set_new(object, field, json_string(name));
}

static json_t *piece_to_json(const struct o2_scenario_side *side, uint32_t i)
{
	json_t *piece = json_object();
	int failed = piece == NULL;

	if (side->vector == O2_KIOV) {
		failed |= add_integer(piece, "page", side->kiov[i].page);
		failed |= add_integer(piece, "offset", side->kiov[i].offset);
		failed |= add_integer(piece, "len", side->kiov[i].len);
	} else {
		failed |= add_integer(piece, "base", side->iov[i].base);
		failed |= add_integer(piece, "len", side->iov[i].len);
	}
	if (failed) {
		json_decref(piece);
		return NULL;
	}
	return piece;
}

static json_t *side_to_json(const struct o2_scenario_side *side)
{
	json_t *object = json_object();
	json_t *pieces = json_array();
	int failed = 0;

	failed |= add_name(object, "mode", mode_name[side->mode]);
	if (side->per_segment)
		failed |= json_object_set_new(object, "per_segment", json_true());
	if (side->lazy)
		failed |= json_object_set_new(object, "lazy", json_true());
	if (side->mode == O2_REG_PHYS)
		failed |= json_object_set_new(object, "iova", o2_json_hex(side->iova));
	if (side->mode == O2_REG_FASTREG_GAPS)
		failed |= json_object_set_new(object, "staging", json_boolean(side->staging));
	failed |= add_name(object, "kind", kind_name[side->kind]);
	failed |= add_name(object, "vector", vector_name[side->vector]);
	if (side->vector == O2_IOV)
		failed |= add_integer(object, "view", side->view);
	if (side->kind == O2_DMA_IOMMU) {
		failed |= json_object_set_new(object, "merge", o2_json_hex(side->merge));
		failed |= add_name(object, "fault", fault_name[side->fault]);
	}
	failed |= add_integer(object, "offset_bytes", side->offset_bytes);
	failed |= add_integer(object, "nob", side->nob);
	if (side->has_unmapped)
		failed |= add_integer(object, "unmapped_page", side->unmapped_page);
	for (uint32_t i = 0; i < side->count; i++)
		failed |= json_array_append_new(pieces, piece_to_json(side, i));
	failed |= json_object_set_new(object, "pieces", pieces);
	if (failed) {
		json_decref(object);
		return NULL;
	}
	return object;
}

json_t *o2_scenario_to_json(const struct o2_scenario *scenario)
{
	json_t *object = o2_json_form(SCENARIO_FORM);
	int failed = 0;

	failed |= add_name(object, "op", op_name[scenario->op]);
	failed |= add_integer(object, "max_frags", scenario->max_frags);
	failed |= add_integer(object, "wrq_sge", scenario->wrq_sge);
	failed |= add_name(object, "order", order_name[scenario->order]);
	failed |= add_name(object, "cksum_flavour", cksum_name[scenario->cksum_flavour]);
	failed |= json_object_set_new(object, "pattern_seed", o2_json_hex(scenario->pattern_seed));
	if (scenario->stale_key)
		failed |= json_object_set_new(object, "stale_key", json_true());
	failed |= json_object_set_new(object, "source", side_to_json(&scenario->source));
	failed |= json_object_set_new(object, "sink", side_to_json(&scenario->sink));
	if (failed) {
		json_decref(object);
		return NULL;
	}
	return object;
}

/* --- reading -----------------------------------------------------------------------------------------------
 */

/* An integer of 1 to max. */
static int get_positive(const json_t *object, const char *field, uint64_t max, uint64_t *value,
			struct o2_error *error)
{
	int rc = o2_json_get_uint(object, field, max, value, error);

	if (rc == 0 && *value == 0)
		return refuse(error, "scenario/zero", field, 0, 1);
	return rc;
}

/* All members that we know were read; more than those is an error. */
static int expect_members(const json_t *object, const char *field, size_t known, struct o2_error *error)
{
	size_t members = json_object_size(object);

	return members > known ? refuse(error, "scenario/unknown-member", field, members, known) : 0;
}

static int read_kiov(const json_t *piece, struct o2_kiov *kiov, struct o2_error *error)
{
	int rc = o2_json_get_u32(piece, "page", O2_SCENARIO_PAGES - 1, &kiov->page, error);

	if (rc == 0)
		rc = o2_json_get_u32(piece, "offset", O2_SCENARIO_PAGE_BYTES, &kiov->offset, error);
	if (rc == 0)
		rc = o2_json_get_u32(piece, "len", O2_SCENARIO_PAGE_BYTES - kiov->offset, &kiov->len, error);
	return rc != 0 ? rc : expect_members(piece, "piece members", 3, error);
}

static int read_iov(const json_t *piece, struct o2_iov *iov, struct o2_error *error)
{
	int rc = o2_json_get_uint(piece, "base", VIEW_BYTES, &iov->base, error);

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

/* Where a piece lies: by page for a KIOV, in its view for an IOV.  No two places are the same memory. */
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
	uint64_t total = 0;

	for (uint32_t i = 0; i < side->count; i++) {
		uint64_t begin;
		uint64_t length;

		piece_place(side, i, &begin, &length);
		total += length;
	}
	if (total < side->offset_bytes + side->nob)
		return refuse(error, "scenario/vector-too-short", "pieces", total,
			      side->offset_bytes + side->nob);
	return 0;
}

/* Bytes that arrive in two places at once would have no right value. */
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

static int read_kind(const json_t *object, struct o2_scenario_side *side, size_t *known,
		     struct o2_error *error)
{
	uint32_t name;
	int rc = o2_json_get_name(object, "kind", kind_name, COUNT_OF(kind_name), &name, error);

	if (rc != 0)
		return rc;
	side->kind = (enum o2_dma_kind)name;
	if (side->kind != O2_DMA_IOMMU)
		return 0;
	*known += 2;
	rc = o2_json_get_hex(object, "merge", &side->merge, error);
	if (rc == 0)
		rc = o2_json_get_name(object, "fault", fault_name, COUNT_OF(fault_name), &name, error);
	if (rc == 0)
		side->fault = (enum o2_dma_fault)name;
	return rc;
}

static int read_vector(const json_t *object, struct o2_scenario_side *side, size_t *known,
		       struct o2_error *error)
{
	uint32_t name;
	int rc = o2_json_get_name(object, "vector", vector_name, COUNT_OF(vector_name), &name, error);

	if (rc != 0)
		return rc;
	side->vector = (enum o2_vector_kind)name;
	if (side->vector != O2_IOV)
		return 0;
	(*known)++;
	return o2_json_get_u32(object, "view", O2_ARENA_VIEWS - 1, &side->view, error);
}

/* What need not be there, and is false then. */
static int read_option(const json_t *object, const char *field, bool *value, size_t *known,
		       struct o2_error *error)
{
	if (json_object_get(object, field) == NULL)
		return 0;
	(*known)++;
	return o2_json_get_bool(object, field, value, error);
}

static int read_mode(const json_t *object, struct o2_scenario_side *side, size_t *known,
		     struct o2_error *error)
{
	uint32_t name;
	int rc = o2_json_get_name(object, "mode", mode_name, COUNT_OF(mode_name), &name, error);

	if (rc != 0)
		return rc;
	side->mode = (enum o2_reg_mode)name;
	if (side->mode == O2_REG_FMR) {
		rc = read_option(object, "per_segment", &side->per_segment, known, error);
		return rc != 0 ? rc : read_option(object, "lazy", &side->lazy, known, error);
	}
	*known += side->mode == O2_REG_PHYS || side->mode == O2_REG_FASTREG_GAPS;
	if (side->mode == O2_REG_PHYS)
		return o2_json_get_hex(object, "iova", &side->iova, error);
	if (side->mode == O2_REG_FASTREG_GAPS)
		return o2_json_get_bool(object, "staging", &side->staging, error);
	return 0;
}

static int read_unmapped(const json_t *object, struct o2_scenario_side *side, size_t *known,
			 struct o2_error *error)
{
	side->has_unmapped = json_object_get(object, "unmapped_page") != NULL;
	if (!side->has_unmapped)
		return 0;
	(*known)++;
	return o2_json_get_u32(object, "unmapped_page", O2_SCENARIO_PAGES - 1, &side->unmapped_page, error);
}

static int read_side_members(const json_t *object, struct o2_scenario_side *side, struct o2_error *error)
{
	const uint64_t max_offset = VIEW_BYTES * O2_SCENARIO_PIECES;
	size_t known = 6;
	int rc = read_mode(object, side, &known, error);

	if (rc == 0)
		rc = read_kind(object, side, &known, error);
	if (rc == 0)
		rc = read_vector(object, side, &known, error);
	if (rc == 0)
		rc = o2_json_get_uint(object, "offset_bytes", max_offset, &side->offset_bytes, error);
	if (rc == 0)
		rc = get_positive(object, "nob", O2_MAX_TRANSFER_BYTES, &side->nob, error);
	if (rc == 0)
		rc = read_unmapped(object, side, &known, error);
	if (rc == 0)
		rc = read_pieces(object, side, error);
	return rc != 0 ? rc : expect_members(object, "members", known, error);
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
	size_t known = 10;
	uint64_t number;
	uint32_t name;
	int rc;

	memset(scenario, 0, sizeof(*scenario));
	if ((rc = o2_json_expect_form(object, SCENARIO_FORM, error)) != 0)
		return rc;
	if ((rc = o2_json_get_name(object, "op", op_name, COUNT_OF(op_name), &name, error)) != 0)
		return rc;
	scenario->op = (enum o2_transfer_op)name;
	if ((rc = get_positive(object, "max_frags", O2_MAX_FRAGS, &number, error)) != 0)
		return rc;
	scenario->max_frags = (uint32_t)number;
	if ((rc = get_positive(object, "wrq_sge", O2_MAX_WRQ_SGE, &number, error)) != 0)
		return rc;
	scenario->wrq_sge = (uint32_t)number;
	if ((rc = o2_json_get_name(object, "order", order_name, COUNT_OF(order_name), &name, error)) != 0)
		return rc;
	scenario->order = (enum o2_byte_order)name;
	rc = o2_json_get_name(object, "cksum_flavour", cksum_name, COUNT_OF(cksum_name), &name, error);
	if (rc != 0)
		return rc;
	scenario->cksum_flavour = (enum o2_cksum_flavour)name;
	if ((rc = o2_json_get_hex(object, "pattern_seed", &scenario->pattern_seed, error)) != 0)
		return rc;
	if (json_object_get(object, "stale_key") != NULL) {
		known++;
		if ((rc = o2_json_get_bool(object, "stale_key", &scenario->stale_key, error)) != 0)
			return rc;
	}
	if ((rc = read_side(object, false, &scenario->source, error)) != 0)
		return rc;
	if ((rc = read_side(object, true, &scenario->sink, error)) != 0)
		return rc;
	return expect_members(object, "members of the scenario", known, error);
}
