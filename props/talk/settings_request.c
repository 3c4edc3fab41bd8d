/* SPDX-License-Identifier: MIT */
/* Connection requests with each field around its limits (docs/connection.md, "Checks of a request", 1 to 10). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnd/node/negotiate.h"
#include "props/talk/settings_internal.h"
#include "wire/bytes.h"
#include "wire/layout.h"

#define SELF	  UINT64_C(0x000500000a4d0064)
#define FROM	  0x0a4d0007u
#define NETWORK	  (UINT64_C(5) << 48)
#define LIFE	  7u
#define OLD	  0x11u
#define CURRENT	  0x12u
#define UNSAID	  UINT64_MAX
#define GENERIC	  0x45726963u
#define OURS	  0x0be91b91u
#define LEAST_GET 148u
#define MSG_BYTES 4096u
#define BYTES	  56u
#define TRIES	  8u

struct asked {
	struct o2_connreq_self self;
	struct o2_cm_origin origin;
	struct o2_msg msg;
	uint32_t magic; /* 0: unchanged */
	size_t bytes;
};

/* Draw a limit, or one of its neighbours. */
static uint32_t about(struct o2_choice *c, uint32_t limit)
{
	return limit - 1 + (uint32_t)o2_draw(c, 2);
}

static void draw_self(struct o2_choice *c, struct o2_connreq_self *self)
{
	*self = (struct o2_connreq_self){
		.nid = SELF,
		.incarnation = LIFE,
		.order = o2_draw_bool(c, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN,
		.version = o2_draw_bool(c, 3, 1) ? OLD : CURRENT,
		.queue_depth = (uint16_t)o2_draw_range(c, 2, 255),
		.max_frags = o2_draw_bool(c, 1, 1) ? 256 : 257,
		.registers = o2_draw_bool(c, 1, 1),
		.up = !o2_draw_bool(c, 9, 1),
		.require_privileged_port = o2_draw_bool(c, 1, 1),
		.bind_nid_to_address = o2_draw_bool(c, 1, 2),
		.max_peers = 1,
		.max_conns_per_peer = 1,
	};
}

/* Draw a request that is accepted. */
static void draw_good(struct o2_choice *c, struct asked *asked)
{
	const struct o2_connreq_self *self = &asked->self;
	const bool old = self->version == OLD || o2_draw_bool(c, 1, 1);

	asked->origin = (struct o2_cm_origin){.ipv4 = o2_draw_bool(c, 1, 2), .address = FROM, .port = 1023};
	asked->magic = 0;
	asked->bytes = BYTES;
	asked->msg = (struct o2_msg){
		.order = o2_draw_bool(c, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN,
		.ibm_version = old ? OLD : CURRENT,
		.ibm_type = O2_MSG_CONNREQ,
		.ibm_srcnid = NETWORK | FROM,
		.ibm_srcstamp = 1 + o2_draw(c, 9),
		.ibm_dstnid = SELF,
		.ibm_dststamp = o2_draw_bool(c, 1, 1) ? LIFE : 0,
		.u.connparams = {.ibcp_queue_depth = old ? 8 : self->queue_depth,
				 .ibcp_max_frags = self->max_frags,
				 .ibcp_max_msg_size = MSG_BYTES},
	};
}

/* Move one member past its limit, to either side. */
static void spoil(struct o2_choice *c, struct asked *asked)
{
	struct o2_msg *msg = &asked->msg;

	switch (o2_draw(c, 11)) {
	case 0:
		asked->origin.port = (uint16_t)about(c, 1024);
		break;
	case 1:
		asked->bytes = o2_draw(c, 6);
		break;
	case 2:
		asked->magic = GENERIC;
		break;
	case 3:
		msg->ibm_version = (uint16_t)(o2_draw_bool(c, 1, 1) ? about(c, OLD) : about(c, CURRENT));
		break;
	case 4:
		msg->ibm_dstnid += o2_draw(c, 1);
		break;
	case 5:
		msg->ibm_dststamp = o2_draw_bool(c, 1, 1) ? UNSAID : about(c, LIFE);
		break;
	case 6:
		msg->ibm_type = o2_draw_bool(c, 1, 1) ? O2_MSG_CONNREQ : O2_MSG_CONNACK;
		break;
	case 7:
		msg->u.connparams.ibcp_queue_depth =
			(uint16_t)about(c, o2_draw_bool(c, 1, 1) ? 2u : msg->u.connparams.ibcp_queue_depth);
		break;
	case 8:
		msg->u.connparams.ibcp_max_frags =
			(uint16_t)(o2_draw_bool(c, 1, 1) ? o2_draw(c, 1) : about(c, asked->self.max_frags));
		break;
	case 9:
		msg->u.connparams.ibcp_max_msg_size = about(c, o2_draw_bool(c, 1, 1) ? LEAST_GET : MSG_BYTES);
		break;
	case 10:
		msg->ibm_srcnid ^= 1;
		break;
	default:
		asked->origin.ipv4 = false;
		break;
	}
}

static struct o2_settings_verdict over(const char *rule, const char *field, uint64_t value, uint64_t limit)
{
	return o2_settings_bound(-EPROTO, rule, field, value, limit);
}

static struct o2_settings_verdict foretell_params(const struct asked *asked, uint8_t *why)
{
	const struct o2_connreq_self *self = &asked->self;
	const bool old = asked->msg.ibm_version == OLD;
	const uint32_t depth = asked->msg.u.connparams.ibcp_queue_depth,
		       frags = asked->msg.u.connparams.ibcp_max_frags,
		       size = asked->msg.u.connparams.ibcp_max_msg_size,
		       deepest = old ? 8u : self->queue_depth, least = old ? 8u : 2u;

	*why = old ? O2_REJECT_FATAL : O2_REJECT_MSG_QUEUE_SIZE;
	if (depth > deepest)
		return over("connreq/queue-depth-over", "ibcp_queue_depth", depth, deepest);
	if (depth < least)
		return over("connreq/queue-depth-under", "ibcp_queue_depth", depth, least);
	*why = old ? O2_REJECT_FATAL : O2_REJECT_RDMA_FRAGS;
	if (frags > self->max_frags)
		return over("connreq/max-frags-over", "ibcp_max_frags", frags, self->max_frags);
	if (frags == 0)
		return over("connreq/max-frags-zero", "ibcp_max_frags", 0, 1);
	if (frags < self->max_frags && !self->registers)
		return over("connreq/max-frags-few", "ibcp_max_frags", frags, self->max_frags);
	*why = O2_REJECT_FATAL;
	if (size > MSG_BYTES)
		return over("connreq/max-msg-size-over", "ibcp_max_msg_size", size, MSG_BYTES);
	if (size < LEAST_GET)
		return over("connreq/max-msg-size-under", "ibcp_max_msg_size", size, LEAST_GET);
	if (self->bind_nid_to_address && asked->origin.ipv4 && (uint32_t)asked->msg.ibm_srcnid != FROM)
		return (struct o2_settings_verdict){-EACCES,	  "connreq/srcnid-address",
						    "ibm_srcnid", asked->msg.ibm_srcnid,
						    FROM,	  O2_LIMIT_OTHER};
	return (struct o2_settings_verdict){0};
}

static struct o2_settings_verdict foretell(const struct asked *asked, uint8_t *why)
{
	const struct o2_connreq_self *self = &asked->self;
	const struct o2_msg *msg = &asked->msg;
	const bool unsaid =
		msg->ibm_dststamp == 0 || (msg->ibm_version == OLD && msg->ibm_dststamp == UNSAID);

	*why = O2_REJECT_FATAL;
	if (self->require_privileged_port && asked->origin.port >= 1024)
		return o2_settings_bound(-EACCES, "connreq/privileged-port", "source port",
					 asked->origin.port, 1023);
	if (asked->bytes < 6)
		return over("connreq/short", "length_bytes", asked->bytes, 6);
	if (asked->magic != 0)
		/* The value as it reads in a message of a little-endian node. */
		return o2_settings_exact(
			-EPROTO, "connreq/generic-magic", "ibm_magic",
			msg->order == O2_LITTLE_ENDIAN ? GENERIC : __builtin_bswap32(GENERIC), OURS);
	if (msg->ibm_version < OLD)
		return over("connreq/version", "ibm_version", msg->ibm_version, OLD);
	if (msg->ibm_version > self->version)
		return over("connreq/version", "ibm_version", msg->ibm_version, self->version);
	if (asked->bytes == 6)
		return over("wire/header/short-for-header", "length_bytes", 6, 48);
	if (!self->up) {
		*why = O2_REJECT_EARLY;
		return o2_settings_exact(-EAGAIN, "connreq/early", "interface up", 0, 1);
	}
	if (msg->ibm_dstnid != SELF)
		return o2_settings_exact(-EPROTO, "connreq/dstnid", "ibm_dstnid", msg->ibm_dstnid, SELF);
	if (!unsaid && msg->ibm_dststamp != LIFE) {
		*why = O2_REJECT_CONN_STALE;
		return o2_settings_exact(-ESTALE, "connreq/dststamp", "ibm_dststamp", msg->ibm_dststamp,
					 LIFE);
	}
	if (msg->ibm_type != O2_MSG_CONNREQ)
		return o2_settings_exact(-EPROTO, "connreq/type", "ibm_type", msg->ibm_type, O2_MSG_CONNREQ);
	return foretell_params(asked, why);
}

/* Refusals by checks 1 to 6 use this node's version, and reveal nothing of it before its NID has been verified. */
static struct o2_reject foretell_record(const struct asked *asked, const struct o2_settings_verdict *verdict,
					uint8_t why)
{
	static const char *const before[] = {
		"connreq/privileged-port", "connreq/short",  "connreq/generic-magic",	    "connreq/version",
		"connreq/early",	   "connreq/dstnid", "wire/header/short-for-header"};
	const struct o2_connreq_self *self = &asked->self;
	struct o2_reject reject = {.order = self->order,
				   .ibr_version = asked->msg.ibm_version,
				   .ibr_why = why,
				   .ibr_incarnation = LIFE,
				   .ibr_cp = {self->queue_depth, self->max_frags, MSG_BYTES}};

	if (strcmp(verdict->rule, "connreq/dststamp") == 0)
		reject.ibr_version = self->version;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		if (strcmp(verdict->rule, before[i]) == 0) {
			reject.ibr_version = self->version;
			reject.ibr_incarnation = 0;
			reject.ibr_cp.ibcp_queue_depth = reject.ibr_cp.ibcp_max_frags = 0;
		}
	/* A record of that version has no fields for them. */
	if (reject.ibr_version == OLD) {
		reject.ibr_incarnation = 0;
		memset(&reject.ibr_cp, 0, sizeof(reject.ibr_cp));
	}
	return reject;
}

static void check_record(struct o2_settings_run *run, struct o2_report *report, const struct o2_reject *found,
			 const struct o2_reject *expected)
{
	o2_settings_same(run, report, "the record's order", found->order, expected->order);
	o2_settings_same(run, report, "the record's version", found->ibr_version, expected->ibr_version);
	o2_settings_same(run, report, "its reason", found->ibr_why, expected->ibr_why);
	o2_settings_same(run, report, "its incarnation", found->ibr_incarnation, expected->ibr_incarnation);
	o2_settings_same(run, report, "its depth", found->ibr_cp.ibcp_queue_depth,
			 expected->ibr_cp.ibcp_queue_depth);
	o2_settings_same(run, report, "its fragments", found->ibr_cp.ibcp_max_frags,
			 expected->ibr_cp.ibcp_max_frags);
	o2_settings_same(run, report, "its size of messages", found->ibr_cp.ibcp_max_msg_size,
			 expected->ibr_cp.ibcp_max_msg_size);
}

static void check_taken(struct o2_settings_run *run, struct o2_report *report, const struct o2_msg *msg,
			const struct o2_connreq *request)
{
	o2_settings_same(run, report, "the request's NID", request->nid, msg->ibm_srcnid);
	o2_settings_same(run, report, "its incarnation", request->incarnation, msg->ibm_srcstamp);
	o2_settings_same(run, report, "its version", request->params.version, msg->ibm_version);
	o2_settings_same(run, report, "its depth", request->params.queue_depth,
			 msg->u.connparams.ibcp_queue_depth);
	o2_settings_same(run, report, "its fragments", request->params.max_frags,
			 msg->u.connparams.ibcp_max_frags);
	o2_settings_same(run, report, "its size of messages", request->params.max_msg_size,
			 msg->u.connparams.ibcp_max_msg_size);
}

/* The codec, which other properties check, encodes no unknown version. */
static void write_request(const struct asked *asked, uint8_t bytes[BYTES])
{
	const struct o2_wire_options options = {.max_frags = O2_MAX_FRAGS};
	struct o2_msg msg = asked->msg;

	msg.ibm_version = CURRENT;
	if (o2_msg_encode(&msg, &options, bytes, BYTES, NULL) != (int)BYTES)
		abort();
	o2_store16(bytes + O2_AT_VERSION, msg.order, asked->msg.ibm_version);
	if (asked->magic != 0)
		o2_store32(bytes, msg.order, asked->magic);
}

static void try_request(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	struct o2_settings_verdict expected;
	struct o2_connreq request;
	struct o2_error error = {0};
	struct o2_reject reject, record;
	struct asked asked;
	uint8_t bytes[BYTES], why;
	int rc;

	draw_self(c, &asked.self);
	draw_good(c, &asked);
	for (uint64_t left = o2_draw(c, 3) % 3; left > 0; left--)
		spoil(c, &asked);
	write_request(&asked, bytes);
	expected = foretell(&asked, &why);
	snprintf(run->text, sizeof(run->text), "a request of %zu bytes, version 0x%x", asked.bytes,
		 asked.msg.ibm_version);
	rc = o2_connreq_judge(&asked.self, &asked.origin, bytes, asked.bytes, &request, &reject, &error);
	o2_settings_check(run, report, rc, &error, &expected);
	if (report->failed)
		return;
	if (rc == 0) {
		check_taken(run, report, &asked.msg, &request);
		return;
	}
	record = foretell_record(&asked, &expected, why);
	check_record(run, report, &reject, &record);
}

void o2_settings_requests(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	for (uint32_t i = 0; i < TRIES && !report->failed; i++)
		try_request(run, c, report);
}
