/* SPDX-License-Identifier: MIT */
/* Message types and services, their names, and which type belongs to which service. */
#include "lst/wire/msg.h"

struct type_info {
	enum o2_lst_service service;
	uint32_t body_bytes;
};

static const struct type_info types[O2_LST_TYPE_COUNT] = {
	[O2_LST_MKSN_REQST] = {O2_LST_SERVICE_MAKE_SESSION, 60},
	[O2_LST_MKSN_REPLY] = {O2_LST_SERVICE_MAKE_SESSION, 56},
	[O2_LST_RMSN_REQST] = {O2_LST_SERVICE_REMOVE_SESSION, 24},
	[O2_LST_RMSN_REPLY] = {O2_LST_SERVICE_REMOVE_SESSION, 20},
	[O2_LST_BATCH_REQST] = {O2_LST_SERVICE_BATCH, 44},
	[O2_LST_BATCH_REPLY] = {O2_LST_SERVICE_BATCH, 28},
	[O2_LST_STAT_REQST] = {O2_LST_SERVICE_QUERY_STAT, 28},
	[O2_LST_STAT_REPLY] = {O2_LST_SERVICE_QUERY_STAT, 136},
	[O2_LST_TEST_REQST] = {O2_LST_SERVICE_TEST, 70},
	[O2_LST_TEST_REPLY] = {O2_LST_SERVICE_TEST, 20},
	[O2_LST_DEBUG_REQST] = {O2_LST_SERVICE_DEBUG, 28},
	[O2_LST_DEBUG_REPLY] = {O2_LST_SERVICE_DEBUG, 60},
	[O2_LST_BRW_REQST] = {O2_LST_SERVICE_BRW, 28},
	[O2_LST_BRW_REPLY] = {O2_LST_SERVICE_BRW, 4},
	[O2_LST_PING_REQST] = {O2_LST_SERVICE_PING, 32},
	[O2_LST_PING_REPLY] = {O2_LST_SERVICE_PING, 12},
	[O2_LST_JOIN_REQST] = {O2_LST_SERVICE_JOIN, 56},
	[O2_LST_JOIN_REPLY] = {O2_LST_SERVICE_JOIN, 56},
};

const char *const o2_lst_type_names[O2_LST_TYPE_COUNT] = {
	[O2_LST_MKSN_REQST] = "MKSN_REQST",   [O2_LST_MKSN_REPLY] = "MKSN_REPLY",
	[O2_LST_RMSN_REQST] = "RMSN_REQST",   [O2_LST_RMSN_REPLY] = "RMSN_REPLY",
	[O2_LST_BATCH_REQST] = "BATCH_REQST", [O2_LST_BATCH_REPLY] = "BATCH_REPLY",
	[O2_LST_STAT_REQST] = "STAT_REQST",   [O2_LST_STAT_REPLY] = "STAT_REPLY",
	[O2_LST_TEST_REQST] = "TEST_REQST",   [O2_LST_TEST_REPLY] = "TEST_REPLY",
	[O2_LST_DEBUG_REQST] = "DEBUG_REQST", [O2_LST_DEBUG_REPLY] = "DEBUG_REPLY",
	[O2_LST_BRW_REQST] = "BRW_REQST",     [O2_LST_BRW_REPLY] = "BRW_REPLY",
	[O2_LST_PING_REQST] = "PING_REQST",   [O2_LST_PING_REPLY] = "PING_REPLY",
	[O2_LST_JOIN_REQST] = "JOIN_REQST",   [O2_LST_JOIN_REPLY] = "JOIN_REPLY",
};

static const char *const service_names[] = {
	[O2_LST_SERVICE_DEBUG] = "debug",
	[O2_LST_SERVICE_MAKE_SESSION] = "make session",
	[O2_LST_SERVICE_REMOVE_SESSION] = "remove session",
	[O2_LST_SERVICE_BATCH] = "batch",
	[O2_LST_SERVICE_TEST] = "test",
	[O2_LST_SERVICE_QUERY_STAT] = "query stat",
	[O2_LST_SERVICE_JOIN] = "join",
	[O2_LST_SERVICE_BRW] = "brw",
	[O2_LST_SERVICE_PING] = "ping",
};

static const char *const rw_names[] = {[O2_LST_BRW_READ] = "read", [O2_LST_BRW_WRITE] = "write"};
static const char *const check_names[] = {[O2_LST_CHECK_NONE] = "none",
					  [O2_LST_CHECK_SIMPLE] = "simple",
					  [O2_LST_CHECK_FULL] = "full",
					  [O2_LST_CHECK_DISCARD] = "discard"};
static const char *const opc_names[] = {
	[O2_LST_BATCH_RUN] = "run", [O2_LST_BATCH_STOP] = "stop", [O2_LST_BATCH_QUERY] = "query"};

#define NAME_IN(names, number) name_in(names, sizeof(names) / sizeof((names)[0]), number)

static const char *name_in(const char *const *names, size_t count, uint64_t number)
{
	return number < count ? names[number] : NULL;
}

const char *o2_lst_type_name(uint32_t msg_type)
{
	return NAME_IN(o2_lst_type_names, msg_type);
}

uint32_t o2_lst_body_bytes(uint32_t msg_type)
{
	return msg_type < O2_LST_TYPE_COUNT ? types[msg_type].body_bytes : 0;
}

enum o2_lst_service o2_lst_service_of_type(uint32_t msg_type)
{
	assert(msg_type < O2_LST_TYPE_COUNT);
	return types[msg_type].service;
}

const char *o2_lst_service_name(uint64_t service)
{
	return NAME_IN(service_names, service);
}

int o2_lst_request_type(uint64_t service)
{
	for (uint32_t type = 0; type < O2_LST_TYPE_COUNT; type++)
		if (types[type].service == service)
			return (int)type; /* the request: its reply has the next type */
	return -1;
}

const char *o2_lst_rw_name(uint32_t rw)
{
	return NAME_IN(rw_names, rw);
}

const char *o2_lst_check_name(uint32_t check)
{
	return NAME_IN(check_names, check);
}

const char *o2_lst_opc_name(uint32_t opc)
{
	return NAME_IN(opc_names, opc);
}
