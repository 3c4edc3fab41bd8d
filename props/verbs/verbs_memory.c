/* SPDX-License-Identifier: MIT */
/* Access checks, byte by byte: keys, ranges, rights, lists and windows. */
#include "props/verbs/verbs_internal.h"

#define CHANGES	    ((uint32_t)(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC))
#define NUMBER(key) ((key) >> 8) /* the low byte belongs to the program */

/* The region of the domain that has this key, its local or (remote) its remote one; NULL: none. */
static struct o2_verbs_region *region_by_key(struct o2_verbs_side *side, uint32_t domain, uint32_t key,
					     bool remote)
{
	for (uint32_t i = 0; i < O2_VERBS_REGIONS; i++) {
		struct o2_verbs_region *region = &side->region[i];

		if (region->mr != NULL && (remote ? region->rkey : region->key) == key &&
		    region->domain == domain && (region->kind != O2_VERBS_FAST || region->registered))
			return region;
	}
	return NULL;
}

static struct o2_verbs_window *window_by_key(struct o2_verbs_side *side, uint32_t key)
{
	for (uint32_t i = 0; i < O2_VERBS_WINDOWS; i++)
		if (side->window[i].mw != NULL && side->window[i].key == key)
			return &side->window[i];
	return NULL;
}

static bool inside(uint64_t at, uint64_t bytes, uint64_t base, uint64_t base_bytes)
{
	const __uint128_t end = (__uint128_t)base + base_bytes;

	return end < (__uint128_t)1 << 64 && at >= base && (__uint128_t)at + bytes <= end;
}

/* The place of byte k of a region. */
static uint32_t place_of(const struct o2_verbs_region *region, uint64_t k)
{
	uint32_t i = 0;

	while (k >= region->piece[i].bytes)
		k -= region->piece[i++].bytes;
	return region->piece[i].at + (uint32_t)k;
}

static void add_places(struct o2_verbs_side *side, const struct o2_verbs_region *region, uint64_t at,
		       uint64_t bytes, struct o2_verbs_bytes *found)
{
	for (uint64_t k = 0; k < bytes; k++) {
		const uint32_t place = place_of(region, at - region->iova + k);

		found->place[found->count] = place;
		found->value[found->count++] = side->model[place];
	}
}

/* A list is checked in pieces that end with an entry or a packet: bytes before a faulty piece are used. */
void o2_verbs_list(struct o2_verbs_side *side, uint32_t domain, const struct ibv_sge *sge, uint32_t sges,
		   uint64_t bytes, uint32_t access, uint32_t mtu, struct o2_verbs_bytes *found)
{
	found->count = 0;
	found->status = IBV_WC_SUCCESS;
	for (uint32_t i = 0; i < sges && found->count < bytes; i++) {
		const uint64_t wanted =
			sge[i].length < bytes - found->count ? sge[i].length : bytes - found->count;
		const struct o2_verbs_region *region = region_by_key(side, domain, sge[i].lkey, false);

		if (wanted == 0)
			continue;
		if (region == NULL || (region->access & access) != access) {
			found->status = IBV_WC_LOC_QP_OP_ERR;
			return;
		}
		for (uint64_t done = 0; done < wanted;) {
			uint64_t piece = mtu - found->count % mtu;

			if (piece > wanted - done)
				piece = wanted - done;
			if (!inside(sge[i].addr + done, piece, region->iova, region->bytes) ||
			    sge[i].addr + done < sge[i].addr) {
				found->status = IBV_WC_LOC_PROT_ERR;
				return;
			}
			add_places(side, region, sge[i].addr + done, piece, found);
			done += piece;
		}
	}
}

static const struct o2_verbs_region *through_window(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
						    uint32_t key, uint64_t *at, uint64_t bytes,
						    uint32_t access, bool counts)
{
	struct o2_verbs_side *side = &world->side[qp->side];
	const struct o2_verbs_window *window = window_by_key(side, key);
	const struct o2_verbs_region *region;
	uint64_t base;

	if (window == NULL || !window->bound || window->domain != qp->domain ||
	    (window->type == IBV_MW_TYPE_2 && window->pair != qp->index) ||
	    (window->access & access) != access)
		return NULL;
	region = &side->region[window->region];
	base = window->access & IBV_ACCESS_ZERO_BASED ? 0 : window->at;
	if (!inside(*at, bytes, base, window->bytes)) {
		if (counts)
			o2_verbs_saw(world, O2_VERBS_SEEN_PAST_WINDOW);
		if (world->option[O2_LOOP_WINDOW_BOUNDS])
			return NULL;
	}
	*at = *at - base + window->at;
	if (counts && inside(*at, bytes, region->iova, region->bytes))
		o2_verbs_saw(world, O2_VERBS_SEEN_THROUGH_WINDOW);
	return region;
}

static bool look_up(struct o2_verbs_world *world, struct o2_verbs_qp *qp, uint32_t key, uint64_t at,
		    uint64_t bytes, uint32_t access, struct o2_verbs_bytes *found, bool counts)
{
	struct o2_verbs_side *side = &world->side[qp->side];
	const struct o2_verbs_region *region = region_by_key(side, qp->domain, key, true);

	if (region != NULL && (region->access & access) != access)
		return false;
	if (region == NULL)
		region = through_window(world, qp, key, &at, bytes, access, counts);
	if (region == NULL || !inside(at, bytes, region->iova, region->bytes))
		return false;
	if (counts && region->kind != O2_VERBS_PLAIN)
		o2_verbs_saw(world, O2_VERBS_SEEN_THROUGH_GAPS);
	found->count = 0;
	found->status = IBV_WC_SUCCESS;
	add_places(side, region, at, bytes, found);
	return true;
}

bool o2_verbs_reach(struct o2_verbs_world *world, struct o2_verbs_qp *qp, uint32_t key, uint64_t at,
		    uint64_t bytes, uint32_t access, struct o2_verbs_bytes *found)
{
	return look_up(world, qp, key, at, bytes, access, found, true);
}

/* The same, if nothing is accessed: no situation is met. */
bool o2_verbs_peek(struct o2_verbs_world *world, struct o2_verbs_qp *qp, uint32_t key, uint64_t at,
		   uint64_t bytes, uint32_t access, struct o2_verbs_bytes *found)
{
	return look_up(world, qp, key, at, bytes, access, found, false);
}

/* --- windows and registrations --- */

void o2_verbs_unbind(struct o2_verbs_side *side, struct o2_verbs_window *window)
{
	if (!window->bound)
		return;
	side->region[window->region].windows--;
	if (window->type == IBV_MW_TYPE_2)
		side->qp[window->pair].bound--;
	window->bound = false;
}

/* InfiniBand specification, C10-72 to C10-77 and o10-37.2. */
static bool may_bind(const struct o2_verbs_qp *qp, const struct o2_verbs_window *window,
		     const struct o2_verbs_region *region, const struct o2_verbs_send *send)
{
	if (window->domain != qp->domain)
		return false;
	if (window->type == IBV_MW_TYPE_2 && (window->bound || region == NULL || send->length == 0))
		return false;
	if (window->type == IBV_MW_TYPE_1 && send->access & IBV_ACCESS_ZERO_BASED)
		return false;
	if (region == NULL)
		return send->length == 0;
	if (!(region->access & IBV_ACCESS_MW_BIND))
		return false;
	if (send->access & CHANGES && !(region->access & IBV_ACCESS_LOCAL_WRITE))
		return false;
	if (send->access & IBV_ACCESS_REMOTE_ATOMIC && region->kind != O2_VERBS_PLAIN)
		return false; /* docs/loopverbs.md, "Regions with gaps" */
	return send->length == 0 || inside(send->at, send->length, region->iova, region->bytes);
}

enum ibv_wc_status o2_verbs_bind(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
				 const struct o2_verbs_send *send)
{
	struct o2_verbs_side *side = &world->side[qp->side];
	struct o2_verbs_window *window = window_by_key(side, send->old_key);
	struct o2_verbs_region *region = NULL;

	if (send->region != O2_VERBS_NONE)
		region = region_by_key(side, qp->domain, send->region_key, false);
	if (window == NULL || (send->region != O2_VERBS_NONE && region == NULL) ||
	    !may_bind(qp, window, region, send)) {
		o2_verbs_saw(world, O2_VERBS_SEEN_BIND_REFUSED);
		return IBV_WC_MW_BIND_ERR;
	}
	o2_verbs_unbind(side, window);
	window->key = NUMBER(window->key) << 8 | (send->new_key & 0xff);
	window->bound = send->length != 0;
	if (window->bound && region != NULL) {
		window->at = send->at;
		window->bytes = send->length;
		window->access = send->access;
		window->region = (uint32_t)(region - side->region);
		region->windows++;
		window->pair = qp->index;
		qp->bound += window->type == IBV_MW_TYPE_2;
	}
	world->counters.binds++;
	o2_verbs_saw(world, window->type == IBV_MW_TYPE_1 ? O2_VERBS_SEEN_BIND_1 : O2_VERBS_SEEN_BIND_2);
	return IBV_WC_SUCCESS;
}

static struct o2_verbs_region *fast_by_number(struct o2_verbs_world *world, struct o2_verbs_qp *qp,
					      uint32_t key)
{
	for (uint32_t i = 0; i < O2_VERBS_REGIONS; i++) {
		struct o2_verbs_region *region = &world->side[qp->side].region[i];

		if (region->mr != NULL && region->kind == O2_VERBS_FAST && region->domain == qp->domain &&
		    NUMBER(region->key) == NUMBER(key))
			return region;
	}
	return NULL;
}

bool o2_verbs_invalidate(struct o2_verbs_world *world, struct o2_verbs_qp *qp, uint32_t key)
{
	struct o2_verbs_side *side = &world->side[qp->side];
	struct o2_verbs_window *window = window_by_key(side, key);
	struct o2_verbs_region *region = fast_by_number(world, qp, key);

	if (region != NULL && (!region->registered || region->key == key))
		region->registered = false;
	else if (window != NULL && window->type == IBV_MW_TYPE_2 && window->bound &&
		 window->pair == qp->index)
		o2_verbs_unbind(side, window);
	else
		return false;
	world->counters.invalidates++;
	return true;
}

bool o2_verbs_register(struct o2_verbs_world *world, struct o2_verbs_qp *qp, const struct o2_verbs_send *send)
{
	struct o2_verbs_region *region = fast_by_number(world, qp, send->region_key);

	if (region == NULL || region->registered || region->mapped == 0 ||
	    NUMBER(send->new_key) != NUMBER(region->key)) {
		o2_verbs_saw(world, O2_VERBS_SEEN_FAST_REFUSED);
		return false;
	}
	region->bytes = 0;
	region->pieces = region->mapped;
	for (uint32_t i = 0; i < region->mapped; i++) {
		region->piece[i] = region->next[i];
		region->bytes += region->piece[i].bytes;
	}
	region->iova = region->mapped_iova;
	region->mapped = 0;
	region->registered = true;
	region->key = region->rkey = send->new_key;
	region->access = send->access;
	world->counters.binds++;
	o2_verbs_saw(world, O2_VERBS_SEEN_FAST);
	return true;
}
