/* SPDX-License-Identifier: MIT */
#include "lst/bulk.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem/kmap.h"

struct o2_lst_pages {
	const struct o2_arena *arena;
	enum o2_reg_mode mode;
	uint32_t npages;
	uint32_t nfree;
	uint32_t free[]; /* stack of page numbers */
};

int o2_lst_pages_create(const struct o2_arena *arena, uint32_t first_page, uint32_t npages,
			enum o2_reg_mode mode, struct o2_lst_pages **pages_out, struct o2_error *error)
{
	struct o2_lst_pages *pages;
	int rc = o2_refuse_range(error, -EINVAL, "lst/config/bulk-pages", "npages", npages, 1, arena->npages);

	if (rc == 0)
		rc = o2_refuse_range(error, -EINVAL, "lst/config/bulk-pages", "first_page", first_page, 0,
				     arena->npages - npages);
	if (rc != 0)
		return rc;
	pages = calloc(1, sizeof(*pages) + npages * sizeof(pages->free[0]));
	if (pages == NULL)
		return o2_fail(error, -ENOMEM, "lst/memory", "npages", npages);
	pages->arena = arena;
	pages->mode = mode;
	pages->npages = npages;
	for (; pages->nfree < npages; pages->nfree++)
		pages->free[pages->nfree] = first_page + npages - 1 - pages->nfree;
	*pages_out = pages;
	return 0;
}

void o2_lst_pages_destroy(struct o2_lst_pages *pages)
{
	assert(pages == NULL || pages->nfree == pages->npages);
	free(pages);
}

uint32_t o2_lst_pages_used(const struct o2_lst_pages *pages)
{
	return pages->npages - pages->nfree;
}

int o2_lst_bulk_get(struct o2_lst_pages *pages, uint32_t length_bytes, uint32_t offset,
		    struct o2_lst_bulk *bulk)
{
	const uint32_t page_bytes = pages->arena->page_bytes;
	const uint32_t count = (offset + length_bytes + page_bytes - 1) / page_bytes;
	uint32_t left_bytes = length_bytes;

	assert(length_bytes > 0 && length_bytes <= O2_LST_MAX_BULK_BYTES && offset < page_bytes);
	*bulk = (struct o2_lst_bulk){NULL, NULL, 0, 0};
	if (count > pages->npages)
		return -EMSGSIZE;
	if (count > pages->nfree)
		return -ENOBUFS;
	bulk->kiov = calloc(count, sizeof(*bulk->kiov));
	if (bulk->kiov == NULL)
		return -ENOMEM;
	bulk->pages = pages;
	bulk->count = count;
	bulk->length_bytes = length_bytes;
	for (uint32_t i = 0; i < count; i++, offset = 0) {
		const uint32_t room = page_bytes - offset, take = room < left_bytes ? room : left_bytes;

		bulk->kiov[i] = (struct o2_kiov){pages->free[--pages->nfree], offset, take};
		left_bytes -= take;
	}
	return 0;
}

void o2_lst_bulk_put(struct o2_lst_bulk *bulk)
{
	struct o2_lst_pages *pages = bulk->pages;

	for (uint32_t i = bulk->count; i-- > 0;)
		pages->free[pages->nfree++] = bulk->kiov[i].page;
	free(bulk->kiov);
	*bulk = (struct o2_lst_bulk){NULL, NULL, 0, 0};
}

struct o2_transfer_memory o2_lst_bulk_memory(const struct o2_lst_bulk *bulk)
{
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV,
			   .count = bulk->count,
			   .nob = bulk->length_bytes,
			   .kiov = bulk->kiov},
		.mode = bulk->pages->mode,
	};
}

/* --- bytes, page by page --- */

/* An operation on the bytes of a bulk, page by page.  at: offset of the piece in the bulk; offset: in the page. */
struct pass {
	int (*piece)(struct pass *pass, uint8_t *bytes, uint32_t at, uint32_t length_bytes, uint32_t offset);
	uint32_t at, end; /* range of the bulk's bytes */
	enum o2_lst_brw_check check;
	enum o2_byte_order order;
	struct o2_lst_wrong *wrong;
	uint8_t *to;
	const uint8_t *from;
};

static int pass_over(const struct o2_lst_bulk *bulk, struct pass *pass)
{
	uint32_t first = 0; /* offset in the bulk of the current piece */
	int rc = 0;

	for (uint32_t i = 0; i < bulk->count && rc == 0; first += bulk->kiov[i++].len) {
		const struct o2_kiov *kiov = &bulk->kiov[i];
		const uint32_t from = pass->at > first ? pass->at - first : 0;
		const uint32_t to = pass->end < first + kiov->len ? pass->end - first : kiov->len;
		struct o2_kmapping mapping;

		if (pass->end <= first || from >= to)
			continue;
		rc = o2_kmap(bulk->pages->arena, kiov->page, &mapping, NULL);
		if (rc != 0)
			break;
		rc = pass->piece(pass, mapping.addr + kiov->offset + from, first + from, to - from,
				 kiov->offset + from);
		o2_kunmap(&mapping);
	}
	return rc;
}

static int read_piece(struct pass *pass, uint8_t *bytes, uint32_t at, uint32_t length_bytes, uint32_t offset)
{
	(void)offset;
	memcpy(pass->to + (at - pass->at), bytes, length_bytes);
	return 0;
}

static int write_piece(struct pass *pass, uint8_t *bytes, uint32_t at, uint32_t length_bytes, uint32_t offset)
{
	(void)offset;
	memcpy(bytes, pass->from + (at - pass->at), length_bytes);
	return 0;
}

static int poison_piece(struct pass *pass, uint8_t *bytes, uint32_t at, uint32_t length_bytes,
			uint32_t offset)
{
	(void)pass;
	(void)at;
	(void)offset;
	o2_lst_pattern_poison(bytes, length_bytes);
	return 0;
}

static int fill_piece(struct pass *pass, uint8_t *bytes, uint32_t at, uint32_t length_bytes, uint32_t offset)
{
	(void)at;
	o2_lst_pattern_fill(bytes, length_bytes, offset, O2_LST_CHECK_FULL, pass->order);
	return 0;
}

static int check_piece(struct pass *pass, uint8_t *bytes, uint32_t at, uint32_t length_bytes, uint32_t offset)
{
	if (o2_lst_pattern_check(bytes, length_bytes, offset, pass->check, pass->order, pass->wrong))
		return 0;
	pass->wrong->at += at;
	return -EBADMSG;
}

int o2_lst_bulk_read(const struct o2_lst_bulk *bulk, uint32_t at, void *to, uint32_t length_bytes)
{
	struct pass pass = {.piece = read_piece, .at = at, .end = at + length_bytes, .to = to};

	assert(length_bytes <= bulk->length_bytes && at <= bulk->length_bytes - length_bytes);
	return pass_over(bulk, &pass);
}

int o2_lst_bulk_write(const struct o2_lst_bulk *bulk, uint32_t at, const void *from, uint32_t length_bytes)
{
	struct pass pass = {.piece = write_piece, .at = at, .end = at + length_bytes, .from = from};

	assert(length_bytes <= bulk->length_bytes && at <= bulk->length_bytes - length_bytes);
	return pass_over(bulk, &pass);
}

int o2_lst_bulk_poison(const struct o2_lst_bulk *bulk)
{
	struct pass pass = {.piece = poison_piece, .end = bulk->length_bytes};

	return pass_over(bulk, &pass);
}

int o2_lst_bulk_fill(const struct o2_lst_bulk *bulk, enum o2_byte_order order)
{
	struct pass pass = {.piece = fill_piece, .end = bulk->length_bytes, .order = order};

	return pass_over(bulk, &pass);
}

int o2_lst_bulk_check(const struct o2_lst_bulk *bulk, enum o2_lst_brw_check check, enum o2_byte_order order,
		      struct o2_lst_wrong *wrong)
{
	struct o2_lst_wrong unused;
	struct pass pass = {.piece = check_piece,
			    .end = bulk->length_bytes,
			    .check = check,
			    .order = order,
			    .wrong = wrong != NULL ? wrong : &unused};

	return pass_over(bulk, &pass);
}
