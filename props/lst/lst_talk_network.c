/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/lst/lst_internal.h"

/* The network between a console and the liar. */

#define REFUSED	    (-ENETUNREACH)
#define ANOTHER_NID UINT64_C(0x000500000a4d0003)

/* What becomes of a letter.  ANSWERED_EARLY: a request, which is answered at once.  FROM_ANOTHER: of the liar only. */
enum fate { DELIVERED = O2_TALK_DELIVERED, LOST_ON_THE_WAY, TWICE, ANSWERED_EARLY, FROM_ANOTHER };

static void arrive(struct o2_lst_talk *talk, const struct o2_letter *letter)
{
	struct o2_lnet_side *to = letter->from->peer;

	o2_talk_arrives(talk, letter, false);
	o2_lnet_receive(to->lnet, letter->from->nid, &letter->hdr, letter->payload, &to->error);
}

/* The node is faster than the notice that the request has left, which may even say that it was lost. */
static void answer_early(struct o2_lst_talk *talk)
{
	static struct o2_letter letter;

	o2_talk_lie(talk);
	if (talk->b->nletters == 0 || talk->b->letter[0].kind != O2_LETTER_IMMEDIATE)
		return;
	letter = o2_lnet_take_letter(talk->b);
	arrive(talk, &letter);
	o2_lnet_finished(talk->b->lnet, letter.tag, 0, 0, NULL);
}

/* The errno with which a sender is told of a loss; 0: it is not told.  Only a request that has left is answered. */
static int draw_loss(struct o2_lst_talk *talk, enum fate fate)
{
	static const int codes[] = {-ECONNABORTED, -EHOSTUNREACH, -ECONNREFUSED, -ENETDOWN};

	if ((fate != LOST_ON_THE_WAY && fate != ANSWERED_EARLY) || !o2_draw_bool(talk->choice, 1, 1))
		return 0;
	return fate == LOST_ON_THE_WAY ? codes[o2_talk_draw(talk, 3)] : codes[0];
}

/* Another node or process sends it, for which the console has no memory. */
static void arrive_from_another(struct o2_lst_talk *talk, const struct o2_letter *letter)
{
	struct o2_lnet_hdr hdr = letter->hdr;

	if (o2_draw_bool(talk->choice, 1, 1))
		hdr.src_nid = ANOTHER_NID;
	else
		hdr.src_pid++;
	talk->seen[CONSOLE_STRANGER]++;
	o2_lnet_receive(talk->a->lnet, hdr.src_nid, &hdr, letter->payload, &talk->a->error);
}

void o2_talk_deliver(struct o2_lst_talk *talk, struct o2_lnet_side *side, uint32_t fate)
{
	static struct o2_letter letter;
	const int loss = draw_loss(talk, (enum fate)fate);

	if (side->letter[0].kind != O2_LETTER_IMMEDIATE) {
		o2_talk_arrives(talk, &side->letter[0], fate == LOST_ON_THE_WAY);
		side->fail_transfer = fate == LOST_ON_THE_WAY ? -EIO : 0;
		o2_lnet_deliver(side);
		side->fail_transfer = 0;
		return;
	}
	letter = o2_lnet_take_letter(side);
	if (fate == LOST_ON_THE_WAY)
		o2_talk_is_lost(talk, &letter, loss);
	else if (fate == FROM_ANOTHER)
		arrive_from_another(talk, &letter);
	else
		arrive(talk, &letter);
	if (fate == TWICE)
		arrive(talk, &letter);
	if (fate == ANSWERED_EARLY) {
		talk->seen[CONSOLE_EARLY]++;
		answer_early(talk);
		o2_talk_is_lost(talk, &letter, loss);
	}
	o2_lnet_finished(side->lnet, letter.tag, loss, 0, NULL);
}

void o2_talk_shut(struct o2_lst_talk *talk, bool on)
{
	if (talk->a->refusals > talk->nrefused && !talk->unsent) {
		talk->unsent = true;
		talk->unsent_at = talk->nasked;
		talk->seen[CONSOLE_REFUSED]++;
	}
	talk->refused = talk->a->refuse = on ? REFUSED : 0;
}

void o2_talk_deliver_one(struct o2_lst_talk *talk)
{
	static const uint32_t fates[] = {40, 1, 2, 2, 2};
	struct o2_lnet_side *side = o2_draw_bool(talk->choice, 1, 1) ? talk->b : talk->a;
	enum fate fate = (enum fate)o2_draw_weighted(talk->choice, fates, 5);

	if (side->nletters == 0)
		side = side->peer;
	if (side->nletters == 0)
		return;
	if (fate == ANSWERED_EARLY && (side == talk->b || side->letter[0].hdr.type != O2_LNET_PUT))
		fate = DELIVERED;
	if (fate == FROM_ANOTHER && side == talk->a)
		fate = DELIVERED;
	/* LNet answers a GET automatically, so that is never refused; an early answer may be one. */
	o2_talk_shut(talk, fate != ANSWERED_EARLY && side->letter[0].hdr.type == O2_LNET_PUT &&
				   o2_draw_bool(talk->choice, 60, 1));
	o2_talk_deliver(talk, side, fate);
	o2_talk_shut(talk, false);
}
