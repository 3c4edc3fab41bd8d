/* SPDX-License-Identifier: MIT */
#include "props/world/end_life.h"

#include <unistd.h>

#define END_S 30 /* time to close everything; then a signal ends the process */

static void open_all(struct o2_end_life *life, const struct o2_end_config *config,
		     o2_network_open_fn open_network)
{
	struct o2_end_answer *answer = &life->answer;

	answer->code = open_network(&life->network, &answer->error);
	if (answer->code == 0)
		answer->code = o2_end_open(config, life->network, &life->end, &answer->error);
	life->open = answer->code == 0;
	answer->nid = o2_end_nid(&life->end);
}

static void close_all(struct o2_end_life *life)
{
	if (life->open)
		o2_end_close(&life->end);
	life->open = false;
	if (life->network != NULL)
		life->network->ops->close(life->network);
	life->network = NULL;
}

void o2_end_life_begin(struct o2_end_life *life, const struct o2_end_config *config,
		       o2_network_open_fn open_network)
{
	o2_judged_all = (struct o2_judged){0};
	o2_held_now(&life->farewell.before);
	/* Open and close once first: the device's libraries keep some memory from then on. */
	open_all(life, config, open_network);
	close_all(life);
	o2_process_held_now(&life->farewell.before.process);
	open_all(life, config, open_network);
}

void o2_end_life_answer(struct o2_end_life *life)
{
	struct o2_end *end = &life->end;

	if (life->question.verb == O2_END_WAIT)
		o2_ends_wait(&end, 1, 0, life->question.until, &life->answer);
	else
		o2_end_ask(end, &life->question, &life->answer);
}

void o2_end_life_idle(struct o2_end_life *life, int fd)
{
	struct o2_end *end = &life->end;

	if (o2_ends_step(&end, 1) <= 0)
		o2_end_sleep(end, fd);
}

void o2_end_life_over(struct o2_end_life *life)
{
	if (life->open) {
		o2_held_now(&life->farewell.most);
		alarm(END_S);
	}
	close_all(life);
	life->farewell.judged = o2_judged_all;
	o2_held_now(&life->farewell.after);
	o2_process_held_again(&life->farewell.before.process, &life->farewell.after.process);
}
