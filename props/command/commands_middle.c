/* SPDX-License-Identifier: MIT */
/*
 * Captures without connection set-up: of connections that existed before, whose two directions are matched when an
 * acknowledgement shows it, and of more of them than can be followed (docs/judge.md and docs/cli.md, "Captures").
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/command/commands.h"
#include "props/command/told_internal.h"

#define CONNS	    12u
#define STEPS	    160u
#define DIRECTIONS  1100u
#define LINKS_KEPT  512u
#define FLOWS_KEPT  1024u
#define WRITE_BYTES 40u

enum label { LABEL_STEP = 1 };

static struct o2_capture_file file;

/* The totals that must be printed. */
struct sums {
	uint64_t writes, bytes, conns, one_way, lost_conns, lost_directions;
};

static void write_over(struct o2_capture_packet packet, size_t bytes, struct sums *sums)
{
	static const uint8_t payload[WRITE_BYTES];

	packet.opcode = O2_TOLD_WRITE_FIRST + O2_TOLD_SEND_ONLY;
	packet.payload = payload;
	packet.payload_bytes = bytes;
	o2_capture_store(packet.extra + 12, 4, bytes);
	packet.extra_bytes = 16;
	o2_capture_add(&file, &packet);
	sums->writes++;
	sums->bytes += bytes;
}

static void start(struct o2_commands_run *run)
{
	o2_told_carrier(run->c, &file);
	run->command.words = 0;
}

static void judge(struct o2_commands_run *run, const struct sums *sums)
{
	char forgotten[128] = "";

	o2_command_input(&run->command, file.bytes, file.length);
	o2_commands_words(run, "judge -");
	if (!o2_commands_go(run, 0))
		return;
	if (sums->lost_conns + sums->lost_directions != 0)
		snprintf(forgotten, sizeof(forgotten),
			 "forgotten, because there were more than can be followed: %" PRIu64
			 " connections, %" PRIu64 " directions\n",
			 sums->lost_conns, sums->lost_directions);
	o2_commands_says(run, "middle", run->command.out,
			 "%" PRIu32 " packets: 0 messages and %" PRIu64 " WRITE%s (%" PRIu64
			 " bytes) on %" PRIu64 " connection%s\nincomplete: %" PRIu64
			 " connection%s (start or later packets missing), %" PRIu64
			 " of them seen in one direction only\n%s0 must, 0 should, 0 notes\n",
			 file.packets, sums->writes, o2_told_plural(sums->writes), sums->bytes, sums->conns,
			 o2_told_plural(sums->conns), sums->conns, o2_told_plural(sums->conns), sums->one_way,
			 forgotten);
}

/* --- matching two directions --- */

struct conn {
	uint32_t pair, qp;
	uint32_t psn[2]; /* of each side's next packet */
	bool said[2];
	bool known; /* both directions are known to be one connection */
};

struct talk {
	struct o2_commands_run *run;
	struct sums sums;
	uint32_t nconns;
	bool shown; /* a connection was shown to be one although both sides had sent */
	struct conn conn[CONNS];
};

static struct o2_capture_packet packet_of(const struct conn *conn, int from, uint32_t psn)
{
	return (struct o2_capture_packet){
		.from = from, .pair = conn->pair, .dest_qp = conn->qp, .psn = psn & O2_TOLD_PSN_MASK};
}

/* Does the PSN of the side's last packet identify its connection? */
static bool stands_out(const struct talk *talk, const struct conn *conn, int side)
{
	for (uint32_t i = 0; i < talk->nconns; i++) {
		const struct conn *other = &talk->conn[i];

		if (other != conn && other->pair == conn->pair && other->said[side] && !other->known &&
		    other->psn[side] == conn->psn[side])
			return false;
	}
	return true;
}

/* Acknowledge the last packet of the side. */
static void acknowledge(struct talk *talk, struct conn *conn, int side)
{
	struct o2_capture_packet packet = packet_of(conn, 1 - side, conn->psn[side] - 1);

	packet.opcode = O2_TOLD_ACK;
	packet.extra[0] = 0x1f;
	packet.extra_bytes = 4;
	o2_capture_add(&file, &packet);
	if (conn->known || !stands_out(talk, conn, side))
		return;
	conn->known = true;
	talk->shown |= conn->said[1 - side];
}

static bool step(void *context)
{
	struct talk *talk = context;
	struct o2_choice *c = talk->run->c;
	struct conn *conn = &talk->conn[o2_draw_pick(c, talk->nconns)];
	const int side = (int)o2_draw(c, 1);

	if (conn->said[side] && o2_draw_bool(c, 2, 1)) {
		acknowledge(talk, conn, side);
		return true;
	}
	write_over(packet_of(conn, side, conn->psn[side]), o2_draw(c, WRITE_BYTES), &talk->sums);
	conn->psn[side] = (conn->psn[side] + 1) & O2_TOLD_PSN_MASK;
	conn->said[side] = true;
	return true;
}

static void middle(struct o2_commands_run *run)
{
	struct talk talk = {.run = run, .nconns = 1 + (uint32_t)o2_draw(run->c, CONNS - 1)};
	const bool alike = o2_draw_bool(run->c, 3, 1);
	const uint32_t psn = (uint32_t)o2_draw(run->c, O2_TOLD_PSN_MASK);

	start(run);
	for (uint32_t i = 0; i < talk.nconns; i++) {
		struct conn *conn = &talk.conn[i];

		conn->pair = (uint32_t)o2_draw(run->c, 1);
		conn->qp = 2 + i;
		for (int side = 0; side < 2; side++)
			conn->psn[side] =
				(psn + (alike ? 0 : (2 * i + (uint32_t)side) * STEPS)) & O2_TOLD_PSN_MASK;
	}
	o2_draw_steps(run->c, LABEL_STEP, STEPS, 40, step, &talk);
	for (uint32_t i = 0; i < talk.nconns; i++) {
		const struct conn *conn = &talk.conn[i];
		const uint64_t ways = (uint64_t)conn->said[0] + conn->said[1];

		talk.sums.conns += conn->known ? 1 : ways;
		talk.sums.one_way += conn->known ? 0 : ways;
	}
	if (talk.sums.conns == 0)
		return;
	run->tally.seen[O2_COMMANDS_MIDDLE] += talk.shown;
	/* Starve it: most of its allocations are for connections. */
	run->inside = run->starved = true;
	judge(run, &talk.sums);
}

/* --- more connections than are followed --- */

/* Model of the limit: the direction that was quiet for longest is dropped for a new one. */
struct followed {
	uint32_t most, present;
	uint64_t met, lost, clock, heard[DIRECTIONS]; /* heard: time of the last packet; 0: not followed */
};

/* Note a packet of direction `which`.  Returns the direction that was dropped, or -1. */
static int32_t follow(struct followed *followed, uint32_t which)
{
	uint32_t quiet = which;

	if (followed->heard[which] == 0) {
		followed->met++;
		if (followed->present < followed->most) {
			followed->present++;
		} else {
			for (uint32_t i = 0; i < DIRECTIONS; i++)
				if (followed->heard[i] != 0 &&
				    (quiet == which || followed->heard[i] < followed->heard[quiet]))
					quiet = i;
			followed->heard[quiet] = 0;
			followed->lost++;
		}
	}
	followed->heard[which] = ++followed->clock;
	return quiet == which ? -1 : (int32_t)quiet;
}

struct crowd {
	struct o2_commands_run *run;
	bool decoded;
	uint32_t ndirections, psn[DIRECTIONS];
	int32_t begun; /* direction with the WRITE that never ends; -1: dropped */
	struct sums sums;
	struct followed flows, links;
	FILE *text;
};

static void note(const struct crowd *crowd, uint32_t which, const char *text)
{
	const int from = (int)(which % 2);

	fprintf(crowd->text, "%6" PRIu32 "             ?  %s -> %s qp 0x%" PRIx32 "  (%s)\n", file.packets,
		o2_capture_address(&file, from), o2_capture_address(&file, 1 - from), 2 + which / 2, text);
}

/* Add a packet of a direction.  For decode: the middle of a WRITE, which prints nothing, or a first packet. */
static void say(struct crowd *crowd, uint32_t which)
{
	struct o2_capture_packet packet = {
		.from = (int)(which % 2), .dest_qp = 2 + which / 2, .psn = crowd->psn[which]++};
	const bool begins = crowd->begun == (int32_t)which && crowd->flows.heard[which] == 0;
	int32_t lost;

	if (crowd->decoded) {
		packet.opcode = O2_TOLD_WRITE_FIRST + (begins ? 0 : O2_TOLD_MIDDLE);
		packet.extra_bytes = begins ? 16 : 0;
		o2_capture_add(&file, &packet);
	} else {
		write_over(packet, WRITE_BYTES, &crowd->sums);
	}
	follow(&crowd->links, which);
	lost = follow(&crowd->flows, which);
	if (lost >= 0 && lost == crowd->begun) {
		note(crowd, (uint32_t)lost,
		     "an incomplete WRITE, forgotten: more than 1024 directions of connections");
		crowd->begun = -1;
	} else if (lost >= 0 && crowd->flows.lost == 1) {
		note(crowd, (uint32_t)lost,
		     "the first to be forgotten: more than 1024 directions of connections");
	}
}

static void decode(struct crowd *crowd, char **text)
{
	struct o2_commands_run *run = crowd->run;

	if (crowd->begun >= 0)
		note(crowd, (uint32_t)crowd->begun, "an incomplete WRITE");
	fprintf(crowd->text,
		"%" PRIu32
		" packets: 0 SENDs, 0 WRITEs (0 bytes), 0 connection manager, 0 ACKs, 0 NAKs, 0 repeated, "
		"0 of other protocols; 0 refused\n",
		file.packets);
	if (crowd->flows.lost != 0)
		fprintf(crowd->text,
			"more than 1024 flows (directions of connections) at a time: the quietest one was "
			"dropped %" PRIu64 " time%s\n",
			crowd->flows.lost, o2_told_plural(crowd->flows.lost));
	fflush(crowd->text);
	o2_command_input(&run->command, file.bytes, file.length);
	o2_commands_words(run, "decode --pcap -");
	if (o2_commands_go(run, 0))
		o2_commands_says(run, "many", run->command.out, "%s", *text);
}

static void many(struct o2_commands_run *run)
{
	static struct crowd crowd; /* large */
	struct o2_choice *c = run->c;
	char *text = NULL;
	size_t bytes;

	memset(&crowd, 0, sizeof(crowd));
	crowd.run = run;
	crowd.text = o2_told_open(&text, &bytes);
	crowd.decoded = o2_draw_bool(c, 1, 1);
	crowd.links.most = LINKS_KEPT;
	crowd.flows.most = FLOWS_KEPT;
	crowd.ndirections = (crowd.decoded || o2_draw_bool(c, 1, 1) ? FLOWS_KEPT : LINKS_KEPT) - 4 +
			    (uint32_t)o2_draw(c, 40);
	crowd.begun = o2_draw_bool(c, 1, 1) ? (int32_t)o2_draw(c, 4) : -1;
	start(run);
	for (uint32_t i = 0; i < crowd.ndirections; i++)
		say(&crowd, i);
	/* Mostly directions that spoke first, which are dropped next or were dropped. */
	for (uint64_t again = o2_draw(c, 6); again > 0; again--)
		say(&crowd, (uint32_t)o2_draw(c, 40));
	for (uint64_t more = o2_draw(c, 6); more > 0; more--)
		say(&crowd, crowd.ndirections++);
	run->tally.seen[O2_COMMANDS_MANY] += (crowd.decoded ? crowd.flows.lost : crowd.links.lost) != 0;
	crowd.sums.conns = crowd.sums.one_way = crowd.links.met;
	crowd.sums.lost_conns = crowd.links.lost;
	crowd.sums.lost_directions = crowd.flows.lost;
	if (crowd.decoded)
		decode(&crowd, &text);
	else
		judge(run, &crowd.sums);
	fclose(crowd.text);
	free(text);
}

void o2_commands_middle(struct o2_commands_run *run)
{
	if (o2_draw_bool(run->c, 2, 1))
		many(run);
	else
		middle(run);
}
