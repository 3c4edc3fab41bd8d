/* SPDX-License-Identifier: MIT */
#include "props/world/receives.h"

#include "wire/layout.h"

void o2_seen_message(const uint8_t *bytes, struct o2_seen_message *message)
{
	const uint8_t type = bytes[O2_AT_TYPE];
	const uint32_t at = type == O2_MSG_PUT_REQ ? O2_AT_PUT_REQ_COOKIE : O2_AT_SRC_COOKIE;

	*message = (struct o2_seen_message){.type = type, .credits = bytes[O2_AT_CREDITS]};
	for (uint32_t i = 0; (type == O2_MSG_PUT_REQ || type == O2_MSG_PUT_ACK) && i < 8; i++)
		message->cookie |= (uint64_t)bytes[at + i] << 8 * i;
}

uint8_t *o2_seen_posted(const struct ibv_send_wr *list)
{
	while (list->next != NULL)
		list = list->next;
	return list->opcode == IBV_WR_SEND ? (uint8_t *)(uintptr_t)list->sg_list[0].addr : NULL;
}

bool o2_seen_costs(uint16_t version, uint8_t type)
{
	return type == O2_MSG_IMMEDIATE || type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ ||
	       (type == O2_MSG_NOOP && version == O2_MSG_VERSION_1);
}

static bool is_request(uint8_t type)
{
	return type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ;
}

static bool is_answer(uint8_t type)
{
	return type == O2_MSG_PUT_ACK || type == O2_MSG_PUT_NAK || type == O2_MSG_GET_DONE;
}

/* Does the message in this receive count against a credit? */
static bool takes_place(const struct o2_receive *receive)
{
	return !receive->promised && !is_answer(receive->type);
}

bool o2_receives_post(struct o2_receives *receives, uint32_t number)
{
	struct o2_receive *receive = &receives->receive[number % O2_RECEIVES];

	if (number >= O2_RECEIVES || receive->waits)
		return false;
	if (receive->holds) {
		receives->holding--;
		receives->taken -= takes_place(receive);
		receives->answers -= is_answer(receive->type);
	}
	*receive = (struct o2_receive){.waits = true};
	receives->order[(receives->first + receives->waiting++) % O2_RECEIVES] = (uint16_t)number;
	return true;
}

void o2_receives_arrive(struct o2_receives *receives, uint16_t version, const struct o2_seen_message *message)
{
	struct o2_receive *receive;

	if (receives->waiting == 0)
		return;
	receive = &receives->receive[receives->order[receives->first]];
	receives->first = (receives->first + 1) % O2_RECEIVES;
	receives->waiting--;
	receives->holding++;
	*receive = (struct o2_receive){.holds = true, .type = message->type, .cookie = message->cookie};
	/* A NOOP of version 2 has an additional receive; the credit of a NOOP of version 1 is returned at
	 * once if the NOOP brings credits (docs/transport.md, "Flow control"). */
	receive->promised =
		message->type == O2_MSG_NOOP && (version != O2_MSG_VERSION_1 || message->credits != 0);
	receives->taken += takes_place(receive);
	receives->answers += is_answer(message->type);
	receives->answered += is_answer(message->type);
	receives->costly += o2_seen_costs(version, message->type);
	receives->written += message->type == O2_MSG_PUT_DONE;
}

/*
 * The PUT_DONE that a PUT_ACK asks for uses the receive of the PUT_REQ, which is posted right after: the
 * answer is sent while the request is handled.
 */
static void promise(struct o2_receives *receives, uint64_t cookie)
{
	for (uint32_t i = 0; i < O2_RECEIVES; i++) {
		struct o2_receive *receive = &receives->receive[i];

		if (!receive->holds || receive->type != O2_MSG_PUT_REQ || receive->cookie != cookie ||
		    receive->promised)
			continue;
		receive->promised = true;
		receives->taken--;
		return;
	}
}

bool o2_receives_leave(struct o2_receives *receives, uint32_t depth, const struct o2_seen_message *message,
		       struct o2_account *account)
{
	receives->told += message->credits;
	receives->asked += is_request(message->type);
	if (message->type == O2_MSG_PUT_ACK) {
		receives->accepted++;
		promise(receives, message->cookie);
	}
	*account = (struct o2_account){.what = NULL};
	/* One receive per credit of the depth: some hold a message, the rest are for what the peer may send. */
	return o2_account_at_most(account, "granted-unposted",
				  depth + receives->told - receives->costly + receives->accepted -
					  receives->written + receives->taken,
				  depth) &&
	       o2_account_at_most(account, "asked-unposted",
				  receives->asked - receives->answered + receives->answers, depth);
}
