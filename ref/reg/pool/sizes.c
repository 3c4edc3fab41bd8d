/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "reg/pool/poolset.h"

/* How large pools are: docs/pools.md, "Sizes". */

static uint32_t share(uint32_t total, uint32_t ncpts, uint32_t floor)
{
	return total / ncpts > floor ? total / ncpts : floor;
}

int o2_pool_sizes(const struct o2_pool_tunables *tunables, struct o2_pool_sizes *sizes,
		  struct o2_error *error)
{
	if (tunables->ncpts == 0)
		return o2_refuse(error, -EINVAL, "pool/sizes/ncpts", "ncpts", O2_NO_INDEX, 0, 1);
	if (tunables->fmr_pool_size < tunables->ntx / 4)
		return o2_refuse(error, -EINVAL, "pool/sizes/fmr-pool-size", "fmr_pool_size", O2_NO_INDEX,
				 tunables->fmr_pool_size, tunables->ntx / 4);
	sizes->tx_size = share(tunables->ntx, tunables->ncpts, O2_POOL_TX_FLOOR);
	sizes->reg_size = share(tunables->fmr_pool_size, tunables->ncpts, O2_POOL_REG_FLOOR);
	sizes->flush_trigger = share(tunables->fmr_flush_trigger, tunables->ncpts, O2_POOL_FLUSH_FLOOR);
	return 0;
}
