/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/conn_internal.h"

/* The arrays were sized for what the connection was created with; that stays the ceiling. */
static uint32_t most_frags(const struct o2_conn *conn)
{
	return conn->chain.wr_capacity - O2_TX_EXTRA_WRS;
}

static uint32_t most_sge(const struct o2_conn *conn)
{
	return (conn->chain.sge_capacity - O2_IMMEDIATE_SGE) / most_frags(conn);
}

int o2_conn_set_limits(struct o2_conn *conn, const struct o2_conn_config *config, struct o2_error *error)
{
	if (conn->nopen > 0)
		return o2_refuse(error, -EBUSY, "conn/transfer-open", "operations open", O2_NO_INDEX,
				 conn->nopen, 0);
	if (config->max_frags == 0 || config->max_frags > most_frags(conn))
		return o2_refuse(error, -EINVAL, "conn/max-frags", "max_frags", O2_NO_INDEX,
				 config->max_frags, most_frags(conn));
	if (config->wrq_sge == 0 || config->wrq_sge > most_sge(conn))
		return o2_refuse(error, -EINVAL, "conn/wrq-sge", "wrq_sge", O2_NO_INDEX, config->wrq_sge,
				 most_sge(conn));
	if (config->order != O2_LITTLE_ENDIAN && config->order != O2_BIG_ENDIAN)
		return o2_refuse(error, -EINVAL, "conn/order", "order", O2_NO_INDEX, config->order,
				 O2_BIG_ENDIAN);
	if ((uint32_t)config->cksum_flavour > O2_CKSUM_SIGNED)
		return o2_refuse(error, -EINVAL, "conn/cksum-flavour", "cksum_flavour", O2_NO_INDEX,
				 config->cksum_flavour, O2_CKSUM_SIGNED);
	conn->config.max_frags = config->max_frags;
	conn->config.wrq_sge = config->wrq_sge;
	conn->config.order = config->order;
	conn->config.cksum_flavour = config->cksum_flavour;
	return 0;
}
