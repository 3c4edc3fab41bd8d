/* SPDX-License-Identifier: MIT */
#include "props/model/pool_device.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "props/model/keys_model.h"

static void violation(struct o2_pool_device *d, const char *what)
{
	if (d->violation == NULL)
		d->violation = what;
}

static struct o2_pool_element *create_element(struct o2_pool_device *d)
{
	struct o2_pool_element *element = &d->element[d->created];
	const uint64_t device = d->leaves_for;

	d->leaves_for = 0;
	if (device != 0)
		o2_pool_set_fail(d->set, device);
	if (d->creates++ == d->faults->create_at)
		return NULL;
	if (d->created == O2_POOL_ELEMENTS) {
		violation(d, "more elements are made than the steps of a case can want");
		return NULL;
	}
	*element = (struct o2_pool_element){.exists = true};
	d->created++;
	d->alive++;
	return element;
}

static void destroy_element(void *context, void *handle)
{
	struct o2_pool_device *d = context;
	struct o2_pool_element *element = handle;

	if (!element->exists)
		violation(d, "an element is unmade that is not there");
	else if (element->held > 0)
		violation(d, "an element is unmade that is in use");
	element->exists = false;
	d->alive--;
}

/* --- transmits --- */

static int area_create(void *context, uint64_t device, void *area, size_t bytes, void **handle,
		       struct o2_error *error)
{
	struct o2_pool_device *d = context;

	(void)device;
	(void)error;
	if ((uintptr_t)area % d->page_bytes != 0 || bytes % d->page_bytes != 0)
		violation(d, "message slots are not in whole pages");
	*handle = area;
	d->areas++;
	return 0;
}

static void area_destroy(void *context, void *handle)
{
	(void)handle;
	((struct o2_pool_device *)context)->areas--;
}

static int slot_map(void *context, void *handle, void *slot, uint64_t *addr)
{
	struct o2_pool_device *d = context;
	struct o2_pool_element *element = create_element(d);

	if (element == NULL)
		return -ENOSPC;
	if (((uintptr_t)slot - (uintptr_t)handle) % O2_MSG_BYTES != 0)
		violation(d, "a message slot does not start where one may");
	element->place = slot;
	*addr = (uint64_t)(element - d->element);
	memset(slot, 0x5a, O2_MSG_BYTES); /* the whole slot must be writable */
	return 0;
}

static void slot_unmap(void *context, void *handle, void *slot, uint64_t addr)
{
	struct o2_pool_device *d = context;

	(void)handle;
	if (addr >= d->created || d->element[addr].place != slot)
		violation(d, "a message slot is unmapped under an address that is not its own");
	else
		destroy_element(d, &d->element[addr]);
}

const struct o2_tx_ops o2_pool_tx_ops = {area_create, area_destroy, slot_map, slot_unmap};

/* --- FMR --- */

static int fmr_create(void *context, uint64_t device, uint32_t max_pages, uint32_t page_bytes, void **handle,
		      struct o2_error *error)
{
	struct o2_pool_element *element = create_element(context);

	(void)device;
	(void)error;
	(void)max_pages;
	(void)page_bytes;
	*handle = element;
	return element == NULL ? -ENOSPC : 0;
}

static int fmr_map(void *context, void *handle, const struct o2_fmr_request *request, uint32_t *lkey,
		   uint32_t *rkey, struct o2_error *error)
{
	struct o2_pool_device *d = context;
	struct o2_pool_element *element = handle;

	(void)request;
	(void)error;
	if (element->held > 0)
		violation(d, "a region is mapped anew while a transfer uses it");
	if (d->faults->map_error != 0)
		return d->faults->map_error;
	element->key = ++d->next_key;
	*lkey = element->key;
	*rkey = element->key;
	return 0;
}

static int fmr_unmap(void *context, void *const *handles, uint32_t count)
{
	struct o2_pool_device *d = context;

	if (d->faults->unmap_error != 0)
		return d->faults->unmap_error;
	for (uint32_t i = 0; i < count; i++) {
		struct o2_pool_element *element = handles[i];

		if (element->held > 0)
			violation(d, "a region is unmapped while a transfer uses it");
		element->key = 0;
	}
	return 0;
}

const struct o2_fmr_ops o2_pool_fmr_ops = {fmr_create, destroy_element, fmr_map, fmr_unmap};

/* --- descriptors --- */

static int frd_create(void *context, uint64_t device, uint32_t max_pages, bool gaps,
		      struct o2_frd_object *object, struct o2_error *error)
{
	struct o2_pool_device *d = context;
	struct o2_pool_element *element = create_element(d);
	const uint32_t number = d->created - 1;

	(void)device;
	(void)max_pages;
	(void)error;
	if (element == NULL)
		return -ENOSPC;
	element->gaps = gaps;
	object->handle = element;
	object->lkey = o2_key_first_lkey(number, 0);
	object->rkey = o2_key_first_rkey(number, 0);
	return 0;
}

uint32_t o2_pool_gathered_lkey(uint32_t element)
{
	return 0x30000000u + element * 0x100u;
}

/* A region without support for gaps accepts the list up to the first gap. */
static int frd_map(void *context, void *handle, const struct o2_frd_request *request, uint32_t *lkey,
		   struct o2_error *error)
{
	struct o2_pool_device *d = context;
	struct o2_pool_element *element = handle;

	(void)error;
	if (element->mapped && !element->kept)
		violation(d, "a descriptor is mapped while it is mapped");
	if (element->kept && d->faults->unmap_error != 0)
		return d->faults->unmap_error;
	element->mapped = element->kept = false;
	if (d->faults->entries < 0)
		return d->faults->entries;
	element->mapped = true;
	if (d->invalidate_last && request->side == O2_SOURCE)
		*lkey = o2_pool_gathered_lkey((uint32_t)(element - d->element));
	if (request->gaps && !element->gaps)
		return 1;
	return d->faults->entries == 0 ? (int)request->entries : d->faults->entries;
}

static int frd_unmap(void *context, void *handle, struct o2_error *error)
{
	struct o2_pool_device *d = context;
	struct o2_pool_element *element = handle;

	(void)error;
	if (!element->mapped)
		violation(d, "a descriptor is unmapped that is not mapped");
	element->mapped = element->kept = d->faults->unmap_error != 0;
	return d->faults->unmap_error;
}

const struct o2_frd_ops o2_pool_frd_ops = {frd_create, destroy_element, frd_map, frd_unmap};
