/* SPDX-License-Identifier: MIT */
/* Transmit pools: slots, cookies, the meaning of idle, and creation that fails midway (docs/pools.md). */

#include "base/limits.h"
#include "reg/pool/pool_tx.h"
#include "tests/lib/unit_test.h"

struct device {
	struct o2_clock clock;
	uint32_t areas, slots; /* that exist */
	uint32_t maps;	       /* calls of slot_map */
	uint32_t fail_at;      /* call of slot_map that fails */
	int area_error;
	bool area_says_why;
	char *area;
	size_t area_bytes;
};

static int area_create(void *context, uint64_t device, void *area, size_t bytes, void **handle,
		       struct o2_error *error)
{
	struct device *d = context;

	if (d->area_error != 0)
		return d->area_says_why ? o2_refuse_value(error, d->area_error, "device/why", "area", 1, 2)
					: d->area_error;
	d->areas++;
	d->area = area;
	d->area_bytes = bytes;
	*handle = d;
	return 0;
}

static void area_destroy(void *context, void *handle)
{
	assert_ptr_equal(context, handle);
	((struct device *)context)->areas--;
}

static int slot_map(void *context, void *handle, void *slot, uint64_t *addr)
{
	struct device *d = context;

	assert_ptr_equal(context, handle);
	if (d->maps++ == d->fail_at)
		return -EIO;
	d->slots++;
	*addr = 0x100000 + (uint64_t)((char *)slot - d->area);
	return 0;
}

static void slot_unmap(void *context, void *handle, void *slot, uint64_t addr)
{
	struct device *d = context;

	assert_ptr_equal(context, handle);
	assert_int_equal(addr, 0x100000 + (uint64_t)((char *)slot - d->area));
	d->slots--;
}

static const struct o2_tx_ops ops = {area_create, area_destroy, slot_map, slot_unmap};

static struct o2_tx_config config_of(struct device *d, uint32_t pool_size, uint32_t page_bytes)
{
	*d = (struct device){.fail_at = UINT32_MAX};
	return (struct o2_tx_config){.set = {.clock = &d->clock},
				     .ops = &ops,
				     .context = d,
				     .pool_size = pool_size,
				     .page_bytes = page_bytes,
				     .tx_bytes = sizeof(struct o2_pool_tx) + 90,
				     .storage_bytes = 100};
}

/* Slots of 4096 bytes, sixteen in a page of 64 KiB, none across the end of a page. */
TEST(test_slots)
{
	static const uint32_t pages[] = {4096, 16384, 65536};
	static const uint64_t areas[] = {18 * 4096, 5 * 16384, 2 * 65536};
	struct o2_pool_tx *tx[18];

	for (int i = 0; i < 3; i++) {
		struct device d;
		struct o2_tx_config config = config_of(&d, 18, pages[i]);
		uint32_t seen[18] = {0};
		struct o2_tx_set set;

		assert_int_equal(o2_tx_set_init(&set, &config, NULL), 0);
		assert_int_equal(d.area_bytes, areas[i]);
		assert_int_equal(d.slots, 18);
		assert_int_equal((uintptr_t)d.area % pages[i], 0);
		for (uint32_t k = 0; k < 18; k++) {
			uint64_t offset;

			assert_int_equal(o2_tx_take(&set, &tx[k], NULL), 0);
			offset = tx[k]->message_addr - 0x100000;
			assert_ptr_equal(tx[k]->message, d.area + offset);
			assert_int_equal(offset % O2_MSG_BYTES, 0);
			seen[offset / O2_MSG_BYTES]++;
			assert_int_equal(tx[k]->cookie, k);
			assert_int_equal((uintptr_t)tx[k]->storage % _Alignof(max_align_t), 0);
			memset(tx[k]->message, 0xff, O2_MSG_BYTES);
			memset(tx[k]->storage, 0xff, 100);
			memset(tx[k] + 1, 0xff, 90);
		}
		for (uint32_t k = 0; k < 18; k++) {
			assert_int_equal(seen[k], 1);
			assert_int_equal(o2_tx_put(&set, tx[k], NULL), 0);
		}
		assert_int_equal(o2_pool_set_close(&set.set, NULL), 0);
		assert_int_equal(d.slots + d.areas, 0);
	}
	assert_int_equal(o2_tx_area_bytes(256, 65536), 16 * 65536);
}

/* The last transmit released is the first one taken, with a new cookie. */
TEST(test_stack_and_cookies)
{
	struct device d;
	struct o2_tx_config config = config_of(&d, 4, 4096);
	struct o2_pool_tx *a, *b, *c;
	struct o2_tx_set set;

	assert_int_equal(o2_tx_set_init(&set, &config, NULL), 0);
	assert_int_equal(o2_tx_take(&set, &a, NULL), 0);
	assert_int_equal(o2_tx_take(&set, &b, NULL), 0);
	assert_int_equal(o2_tx_put(&set, a, NULL), 0);
	assert_int_equal(o2_tx_take(&set, &c, NULL), 0);
	assert_ptr_equal(a, c);
	assert_int_equal(c->cookie, 2);
	assert_int_equal(o2_tx_put(&set, b, NULL), 0);
	/* A second release is refused, also while other transmits of the pool are in use. */
	assert_int_equal(o2_tx_put(&set, b, NULL), -EINVAL);
	assert_int_equal(o2_tx_put(&set, c, NULL), 0);
	assert_int_equal(o2_pool_set_close(&set.set, NULL), 0);
}

/* A transmit that still holds any resource cannot be released. */
TEST(test_idle)
{
	struct device d;
	struct o2_tx_config config = config_of(&d, 1, 4096);
	struct o2_error error;
	struct o2_tx_set set;
	struct o2_pool_tx *tx;

	assert_int_equal(o2_tx_set_init(&set, &config, NULL), 0);
	assert_int_equal(o2_tx_take(&set, &tx, NULL), 0);
	for (uint32_t held = 1; held <= O2_TX_HELD_ALL; held++) {
		tx->held = held;
		assert_error(o2_tx_put(&set, tx, &error), -EINVAL, &error, "tx/idle");
		assert_string_equal(error.field, "held");
		assert_int_equal(error.value, held);
	}
	tx->held = 0;
	assert_int_equal(o2_pool_set_close(&set.set, &error), -EBUSY);
	assert_int_equal(o2_tx_put(&set, tx, NULL), 0);
	assert_error(o2_tx_put(&set, tx, &error), -EINVAL, &error, "pool/put/not-in-use");
	assert_int_equal(o2_tx_take(&set, &tx, NULL), 0);
	assert_int_equal(o2_pool_set_check(&set.set, &tx->pool->base, 0, &error), 0);
	o2_pool_set_fail(&set.set, 1);
	assert_int_equal(o2_pool_set_check(&set.set, &tx->pool->base, 0, &error), -ENETDOWN);
	assert_int_equal(o2_tx_put(&set, tx, NULL), 0);
	assert_int_equal(d.slots + d.areas, 0);
	assert_int_equal(o2_pool_set_close(&set.set, NULL), 0);
}

/* Whichever slot fails, everything made before it is destroyed. */
TEST(test_creation_fails)
{
	struct device d;
	struct o2_tx_config config = config_of(&d, 5, 4096);
	struct o2_error error;
	struct o2_tx_set set;

	for (uint32_t at = 0; at < 5; at++) {
		d.maps = 0;
		d.fail_at = at;
		assert_error(o2_tx_set_init(&set, &config, &error), -EIO, &error, "pool/tx/slot");
		assert_int_equal(error.index, at);
		assert_int_equal(d.slots + d.areas, 0);
	}
	d.area_error = -ENODEV;
	assert_error(o2_tx_set_init(&set, &config, &error), -ENODEV, &error, "pool/tx/area");
	d.area_says_why = true; /* its error is kept */
	assert_error(o2_tx_set_init(&set, &config, &error), -ENODEV, &error, "device/why");
	config.pool_size = 0;
	assert_int_equal(o2_tx_set_init(&set, &config, &error), -EINVAL);
	config.pool_size = O2_POOL_SIZE_MAX + 1;
	assert_error_field(o2_tx_set_init(&set, &config, &error), -EINVAL, &error, "pool_size");
	config.pool_size = 1;
	config.page_bytes = 8192;
	assert_error_field(o2_tx_set_init(&set, &config, &error), -EINVAL, &error, "page_bytes");
	config.page_bytes = 4096;
	config.storage_bytes = O2_TX_BYTES_MAX + 1;
	assert_error_field(o2_tx_set_init(&set, &config, &error), -EINVAL, &error, "storage_bytes");
	config.tx_bytes = O2_TX_BYTES_MAX + 1;
	assert_error_field(o2_tx_set_init(&set, &config, &error), -EINVAL, &error, "tx_bytes");
}

static int bare_map(void *context, void *handle, void *slot, uint64_t *addr)
{
	assert_null(handle);
	((struct device *)context)->slots++;
	*addr = (uintptr_t)slot;
	return 0;
}

static void bare_unmap(void *context, void *handle, void *slot, uint64_t addr)
{
	assert_null(handle);
	assert_int_equal(addr, (uintptr_t)slot);
	((struct device *)context)->slots--;
}

/* A device without an area, and a holder without storage. */
TEST(test_without_area)
{
	static const struct o2_tx_ops bare = {.slot_map = bare_map, .slot_unmap = bare_unmap};
	struct device d;
	struct o2_tx_config config = config_of(&d, 1, 4096);
	struct o2_tx_set set;
	struct o2_pool_tx *tx;

	config.ops = &bare;
	config.tx_bytes = 0;
	config.storage_bytes = 0;
	assert_int_equal(o2_tx_set_init(&set, &config, NULL), 0);
	assert_int_equal(o2_tx_take(&set, &tx, NULL), 0);
	assert_null(tx->storage);
	assert_int_equal(tx->message_addr, (uintptr_t)tx->message);
	assert_int_equal(o2_tx_put(&set, tx, NULL), 0);
	assert_int_equal(o2_pool_set_close(&set.set, NULL), 0);
	assert_int_equal(d.slots, 0);
}
