/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "lst/rpc_internal.h"
#include "props/lst/lst_internal.h"

/* A network that loses, doubles and changes what it carries. */

static struct o2_letter taken(struct o2_lnet_side *side)
{
	const struct o2_letter letter = side->letter[0];

	side->nletters--;
	memmove(side->letter, side->letter + 1, side->nletters * sizeof(letter));
	return letter;
}

static bool is_framework_request(const struct o2_letter *letter, struct o2_lst_msg *msg)
{
	return letter->kind == O2_LETTER_IMMEDIATE && letter->hdr.type == O2_LNET_PUT &&
	       letter->hdr.msg.put.ptl_index == O2_LST_PORTAL_FRAMEWORK &&
	       o2_lst_msg_decode(letter->payload, letter->hdr.payload_length, msg, NULL) == 0 &&
	       o2_lst_request_type(letter->hdr.msg.put.match_bits) == (int)msg->msg_type;
}

/* An IMMEDIATE comes to its receiver; what the account says of it holds. */
static void receive(struct o2_lst_case *the, const struct o2_letter *letter)
{
	struct o2_lnet_side *to = letter->from->peer;
	struct o2_lst_msg msg;
	/* One more than may be served at a time is dropped. */
	const bool judged = to == &the->lnet.b && the->b.node->rpc->nfree_served > 0 &&
			    is_framework_request(letter, &msg);
	const int expected = judged ? o2_lst_account_of(the, &msg) : -1;

	to->nevents = 0;
	o2_lnet_receive(to->lnet, letter->from->nid, &letter->hdr, letter->payload, &to->error);
	if (expected >= 0)
		o2_lst_check_answer(the, &msg, expected);
	else if (judged && msg.msg_type == O2_LST_TEST_REQST)
		o2_lst_account_test(the, &msg);
}

/* A request that its console did not send so: fields behind the ids, so that answers still find their way. */
static void change(struct o2_lst_case *the, struct o2_letter *letter)
{
	struct o2_lst_msg msg;
	uint32_t at;

	if (!is_framework_request(letter, &msg))
		return;
	at = 20 + o2_lst_draw(the, 3);
	letter->payload[at] ^= (uint8_t)(1u << o2_lst_draw(the, 7));
	if (o2_draw_bool(the->choice, 1, 1)) {
		at = 40 + o2_lst_draw(the, 53);
		letter->payload[at] ^= (uint8_t)(1u << o2_lst_draw(the, 7));
	}
	the->seen[CHANGED]++;
}

static void deliver_transfer(struct o2_lst_case *the, struct o2_lnet_side *side, bool fails)
{
	side->fail_transfer = fails ? -EIO : 0;
	o2_lnet_deliver(side);
	side->fail_transfer = 0;
	the->seen[TRANSFER_FAILED] += fails;
}

static void forget_told(struct o2_lst_case *the)
{
	the->lnet.a.nevents = the->lnet.b.nevents = 0;
	the->lnet.a.nresults = the->lnet.b.nresults = 0;
}

void o2_lst_deliver(struct o2_lst_case *the)
{
	static const uint32_t fates[] = {17, 1, 1, 1}; /* it arrives; is lost, changed, doubled */
	struct o2_lnet_side *side = o2_draw_bool(the->choice, 1, 1) ? &the->lnet.b : &the->lnet.a;
	const size_t fate = o2_draw_weighted(the->choice, fates, 4);
	static struct o2_letter letter;

	if (side->nletters == 0)
		side = side->peer;
	if (side->nletters == 0)
		return;
	forget_told(the);
	if (side->letter[0].kind != O2_LETTER_IMMEDIATE) {
		deliver_transfer(the, side, fate == 1);
		return;
	}
	letter = taken(side);
	if (fate == 1) {
		const bool known = o2_draw_bool(the->choice, 1, 1);

		the->seen[LOST]++;
		o2_lnet_finished(side->lnet, letter.tag, known ? -ECONNABORTED : 0, 0, NULL);
		return;
	}
	if (fate == 2)
		change(the, &letter);
	receive(the, &letter);
	if (fate == 3) {
		the->seen[DOUBLED]++;
		receive(the, &letter);
	}
	o2_lnet_finished(side->lnet, letter.tag, 0, 0, NULL);
}

void o2_lst_deliver_all(struct o2_lst_case *the)
{
	while (the->lnet.a.nletters + the->lnet.b.nletters > 0) {
		forget_told(the);
		o2_lnet_deliver(the->lnet.a.nletters > 0 ? &the->lnet.a : &the->lnet.b);
	}
}
