/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/fields_json.h"
#include "base/json.h"
#include "forms/bytes_json.h"
#include "forms/msg_json.h"
#include "forms/plan_json.h"
#include "oracle/stage_ops.h"
#include "wire/layout.h"

/*
 * Stage send_plan: the slot and the gather entries of a SEND, for an IMMEDIATE with its payload or any other
 * message of a connection (docs/oracle.md, "A message as it is posted").
 */

/* --- forms --- */

static const struct o2_field question_fields[] = {
	{O2_FIELD("max_msg_size", UINT, struct o2_case_send, max_msg_size)},
	{O2_FIELD("max_frags", UINT, struct o2_case_send, max_frags)},
	{O2_FIELD("max_sge", UINT, struct o2_case_send, max_sge)},
	{O2_FIELD("slot_addr", HEX, struct o2_case_send, slot_addr)},
	{O2_FIELD("slot_lkey", HEX, struct o2_case_send, slot_lkey)},
	{0},
};

static const struct o2_field gather_fields[] = {
	{O2_FIELD("send.sge[].addr", HEX, struct o2_impl_gather, addr)},
	{O2_FIELD("send.sge[].length", UINT, struct o2_impl_gather, length)},
	{O2_FIELD("send.sge[].lkey", HEX, struct o2_impl_gather, lkey)},
	{0},
};

static const struct o2_field result_fields[] = {
	O2_STAGE_LIST("send.sge", struct o2_answer_send, sge, nsge, gather_fields),
	{0},
};

static json_t *case_to_json(const struct o2_case *asked)
{
	const struct o2_case_send *send = &asked->send;
	json_t *form = o2_fields_into_json(o2_json_form(o2_stage_input_form(O2_STAGE_SEND_PLAN)),
					   question_fields, send);

	form = o2_json_with(form, "message", o2_msg_to_json(&send->msg));
	return o2_json_with(form, "memory", o2_case_node_to_json(&send->memory));
}

/* Refuse types that are not posted.  Only an IMMEDIATE has a payload, in `memory`; its own must be empty. */
static int check_question(const struct o2_case_send *send, struct o2_error *error)
{
	const bool immediate = send->msg.ibm_type == O2_MSG_IMMEDIATE;

	if (send->msg.ibm_type == O2_MSG_CONNREQ || send->msg.ibm_type == O2_MSG_CONNACK)
		return o2_fail(error, -EINVAL, "case/not-posted", "ibm_type", send->msg.ibm_type);
	if (immediate && send->msg.u.immediate.hdr.payload_length != 0)
		return o2_refuse_value(error, -EINVAL, "case/payload", "hdr.payload_length",
				       send->msg.u.immediate.hdr.payload_length, 0);
	if (!immediate && send->memory.memory.buffer.nob != 0)
		return o2_refuse_value(error, -EINVAL, "case/payload", "memory.buffer.nob",
				       send->memory.memory.buffer.nob, 0);
	return 0;
}

static int case_from_json(const json_t *form, struct o2_case *asked, struct o2_error *error)
{
	struct o2_case_send *send = &asked->send;
	struct o2_msg_json read;
	int rc = o2_json_expect_form(form, o2_stage_input_form(O2_STAGE_SEND_PLAN), error);

	if (rc == 0)
		rc = o2_fields_from_json(form, question_fields, send, error);
	if (rc == 0)
		rc = o2_msg_member_from_json(form, &read, error);
	if (rc != 0)
		return rc;
	send->msg = read.msg;
	if (send->msg.ibm_type == O2_MSG_IMMEDIATE)
		send->msg.u.immediate.payload = NULL;
	rc = o2_case_node_from_json(form, "memory", &send->memory, error);
	return rc != 0 ? rc : check_question(send, error);
}

static json_t *result_to_json(const struct o2_answer *answer)
{
	const struct o2_answer_send *send = &answer->send;
	json_t *member = o2_fields_to_json(result_fields, send);

	member = o2_json_with(member, "slot", o2_bytes_to_json(send->slot.bytes, send->slot.length_bytes));
	if (send->plan.nfrags == 0)
		return member;
	return o2_json_with(member, "plan", o2_fields_to_json(o2_reg_plan_fields, &send->plan));
}

/* Initialise a plan with the members that the question determines. */
static void set_known(const struct o2_case_node *node, struct o2_reg_plan *plan)
{
	*plan = (struct o2_reg_plan){
		.mode = node->mode, .side = O2_SOURCE, .page_bytes = node->memory.space.page_bytes};
}

static int result_from_json(const struct o2_case *asked, const json_t *member, struct o2_answer *answer,
			    struct o2_error *error)
{
	struct o2_answer_send *send = &answer->send;
	size_t length_bytes = 0;
	int rc = o2_bytes_from_json(member, "slot", "send.slot", send->slot.bytes, sizeof(send->slot.bytes),
				    &length_bytes, error);

	send->slot.length_bytes = (uint32_t)length_bytes;
	set_known(&asked->send.memory, &send->plan);
	if (rc != 0 || json_object_get(member, "plan") == NULL)
		return rc;
	return o2_part_from_json(member, "plan", o2_reg_answer_fields, &send->plan, error);
}

/* --- the structs of the ABI --- */

O2_STAGE_CALL(send_plan, send)

static void put(const struct o2_case *asked, struct o2_impl_slot *slot)
{
	static const char *const names[] = {"plan.page", "plan.entry", "plan.frag"};
	const struct o2_case_send *send = &asked->send;
	struct o2_impl_send_out *out = &slot->out->send;
	struct o2_impl_send_in *in = &slot->in->send;

	*in = (struct o2_impl_send_in){.max_msg_size = send->max_msg_size,
				       .max_frags = send->max_frags,
				       .max_sge = send->max_sge,
				       .slot_lkey = send->slot_lkey,
				       .slot_addr = send->slot_addr};
	o2_impl_put_msg(&send->msg, &in->msg);
	in->msg.ibm_nob = 0;
	if (o2_msg_desc(&send->msg) != NULL)
		o2_impl_put_frags(slot, o2_msg_desc(&send->msg), &in->msg.rd);
	o2_impl_put_node(&send->memory, slot, &in->memory);
	o2_impl_plan_arrays(slot, &out->plan, O2_PART_A, names);
	out->slot.capacity_bytes = O2_MSG_BYTES;
	out->slot.bytes = o2_impl_slot_array(slot, O2_PART_D, "slot.bytes", O2_MSG_BYTES, 1);
	out->sge_capacity = O2_SEND_SGE;
	out->sge = o2_impl_slot_array(slot, O2_PART_SGE, "sge", O2_SEND_SGE, sizeof(out->sge[0]));
}

static void get(const struct o2_case *asked, struct o2_impl_slot *slot, struct o2_answer *answer)
{
	const struct o2_impl_send_out *from = &slot->out->send;
	const uint8_t *bytes = o2_impl_take(slot, O2_PART_D, from->slot.length_bytes, 1, answer);
	const struct o2_impl_gather *sge =
		bytes == NULL ? NULL : o2_impl_take(slot, O2_PART_SGE, from->nsge, sizeof(*sge), answer);

	if (sge == NULL)
		return;
	answer->send.slot.length_bytes = (uint32_t)from->slot.length_bytes;
	memcpy(answer->send.slot.bytes, bytes, from->slot.length_bytes);
	answer->send.nsge = from->nsge;
	memcpy(answer->send.sge, sge, from->nsge * sizeof(*sge));
	set_known(&asked->send.memory, &answer->send.plan);
	o2_impl_get_plan(slot, &from->plan, O2_PART_A, O2_SOURCE, &answer->send.plan, answer);
}

/* --- the reference --- */

/* Copy the payload to `bytes` with the help of a scatter list. */
static int copy(const struct o2_case_node *node, uint8_t *bytes, struct o2_error *error)
{
	struct o2_sg_list list;
	int rc = o2_sg_build(&node->memory.buffer, &node->memory.space, O2_MAX_FRAGS, &list, error);

	for (uint32_t i = 0; rc == 0 && i < list.count; i++)
		for (uint32_t k = 0; k < list.entry[i].length; k++)
			*bytes++ = o2_impl_byte_at(list.entry[i].page, list.entry[i].offset + k);
	return rc;
}

/* Gather the payload if it can be registered and max_sge allows it.  False: the payload must be copied. */
static bool gather(const struct o2_case_send *asked, uint64_t nob, struct o2_answer_send *send)
{
	struct o2_error error;

	if (nob == 0 ||
	    o2_node_register(&asked->memory, O2_SOURCE, O2_MAX_FRAGS, nob, &send->plan, &error) != 0 ||
	    send->plan.nfrags >= asked->max_sge)
		return false;
	send->slot.length_bytes = O2_AT_PAYLOAD;
	for (uint32_t i = 0; i < send->plan.nfrags; i++)
		send->sge[1 + i] = (struct o2_impl_gather){.addr = send->plan.frag[i].rf_addr,
							   .length = send->plan.frag[i].rf_nob,
							   .lkey = asked->memory.key};
	send->nsge = 1 + send->plan.nfrags;
	return true;
}

static int reference(const struct o2_case *asked, struct o2_answer *answer, struct o2_error *error)
{
	const struct o2_case_send *in = &asked->send;
	const struct o2_wire_options options = {.max_frags = in->max_frags};
	const bool immediate = in->msg.ibm_type == O2_MSG_IMMEDIATE;
	const uint64_t nob = immediate ? in->memory.memory.buffer.nob : 0;
	const uint32_t room = in->max_msg_size < O2_MSG_BYTES ? in->max_msg_size : O2_MSG_BYTES;
	const uint32_t most = room < O2_AT_PAYLOAD ? 0 : room - O2_AT_PAYLOAD;
	struct o2_answer_send *send = &answer->send;
	struct o2_msg msg = in->msg;
	int rc = 0;

	if (nob > most)
		return o2_refuse_value(error, -EMSGSIZE, "conn/payload-too-long", "memory.buffer.nob", nob,
				       most);
	if (nob > 0)
		rc = copy(&in->memory, send->slot.bytes + O2_AT_PAYLOAD, error);
	if (rc != 0)
		return rc;
	if (immediate) {
		msg.u.immediate.hdr.payload_length = (uint32_t)nob;
		msg.u.immediate.payload = send->slot.bytes + O2_AT_PAYLOAD;
	}
	rc = o2_msg_encode(&msg, &options, send->slot.bytes, room, error);
	if (rc < 0)
		return rc;
	send->slot.length_bytes = (uint32_t)rc;
	send->nsge = 1;
	if (!gather(in, nob, send))
		set_known(&in->memory, &send->plan);
	send->sge[0] = (struct o2_impl_gather){
		.addr = in->slot_addr, .length = send->slot.length_bytes, .lkey = in->slot_lkey};
	return 0;
}

static void compare(struct o2_comparison *comparison, const struct o2_case *asked,
		    const struct o2_answer *expected, const struct o2_answer *found)
{
	o2_compare_send(comparison, &asked->send, &expected->send, &found->send);
}

const struct o2_stage_ops o2_stage_send = {
	O2_STAGE_OPS(send_plan, O2_CHECK_SEND_REFUSED_LEGAL, O2_CHECK_SEND_ERRNO, O2_CHECK_SEND_RULE,
		     O2_CHECKS, O2_CHECKS),
	.request =
		"{\"form\":\"o2ref/send_plan/"
		"input\",\"version\":1,\"max_msg_size\":4096,\"max_frags\":257,\"max_sge\":2,\"slot_addr\":"
		"\"0x8000\",\"slot_lkey\":\"0x33\",\"message\":{\"byte_order\":\"little\",\"ibm_version\":18,"
		"\"ibm_type\":\"NOOP\",\"ibm_credits\":4,\"cksum_flavour\":\"none\",\"ibm_srcnid\":\"192.168."
		"10.1@o2ib\",\"ibm_srcstamp\":\"0x0\",\"ibm_dstnid\":\"192.168.10.2@o2ib\",\"ibm_dststamp\":"
		"\"0x0\",\"body\":{}},\"memory\":{\"mode\":\"global\",\"max_pages\":257,\"iova\":\"0x0\","
		"\"key\":\"0x51\",\"space\":{\"page_bytes\":4096,\"npages\":1,\"ranges\":[]},\"buffer\":{"
		"\"kind\":\"kiov\",\"offset\":0,\"nob\":0,\"pieces\":[]},\"device\":{\"kind\":\"bus\",\"page_"
		"bytes\":4096,\"npages\":1,\"base\":\"0x0\",\"unmapped\":[]}}}",
	.case_to_json = case_to_json,
	.case_from_json = case_from_json,
	O2_STAGE_RESULT(send),
	.member = "send",
	.result_to_json = result_to_json,
	.result_from_json = result_from_json,
	.compare = compare,
};
