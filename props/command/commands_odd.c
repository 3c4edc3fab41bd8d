/* SPDX-License-Identifier: MIT */
/* An odd message, dumped: docs/cli.md, "The hex dump" and "Private data". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/command/commands.h"
#include "props/command/told.h"
#include "props/model/wire_model.h"

#define FRONT	36u
#define BEHIND	100u
#define AT_SUM	12u
#define PAYLOAD 0x78u /* offset of the payload */

struct odd_message {
	const struct o2_msg *msg;
	struct o2_told_odd odd;
	uint8_t front[FRONT];
	uint8_t bytes[FRONT + O2_MSG_BYTES + BEHIND]; /* the input */
	uint8_t *at;				      /* the message in it */
	size_t length;
	uint32_t sum;
	bool tolerated, colours;
};

/* The checksum by docs/wire.md, "Checksum". */
static uint32_t sum_of(const uint8_t *bytes, size_t count, bool is_signed)
{
	const uint32_t sum = o2_wm_sum(bytes, count, is_signed);

	return sum == 0 ? 1 : sum;
}

/* docs/wire.md, "Checksum": some kernels compute the sum before the payload is in place. */
static bool may_pass(const struct o2_msg *msg)
{
	const struct o2_lnet_hdr *hdr = &msg->u.immediate.hdr;

	return msg->ibm_type == O2_MSG_IMMEDIATE &&
	       (hdr->type == O2_LNET_PUT || hdr->type == O2_LNET_REPLY) && hdr->payload_length > 0 &&
	       hdr->payload_length <= msg->ibm_nob - PAYLOAD;
}

static void draw_front(struct o2_choice *c, struct odd_message *m)
{
	const bool is_ipv4 = o2_draw_bool(c, 1, 1);

	m->front[1] = is_ipv4 ? 0x40 : 0x60;
	for (size_t i = 2; i < FRONT; i++)
		m->front[i] = (uint8_t)o2_draw(c, 255);
	if (is_ipv4) {
		memset(m->front + 4, 0, 12);
		memset(m->front + 20, 0, 12);
	}
	m->odd.front = m->front;
}

/* Draw a nonzero checksum that is neither of the two right ones. */
static void draw_sum(struct o2_choice *c, struct odd_message *m)
{
	m->odd.unsigned_sum = sum_of(m->at, m->msg->ibm_nob, false);
	m->odd.signed_sum = sum_of(m->at, m->msg->ibm_nob, true);
	m->sum = 1 + (uint32_t)o2_draw(c, UINT32_MAX - 1);
	m->odd.wrong = m->sum != m->odd.unsigned_sum && m->sum != m->odd.signed_sum;
	if (!m->odd.wrong)
		return;
	o2_wm_store(m->at + AT_SUM, 4, m->msg->order == O2_LITTLE_ENDIAN, m->sum);
	m->tolerated = o2_draw_bool(c, 1, 1);
	m->odd.refused = !m->tolerated || !may_pass(m->msg);
}

static void draw(struct o2_choice *c, const uint8_t *bytes, struct odd_message *m)
{
	static const uint8_t edges[] = {1, 7, 8, 9, 63, 64, 65, 72};
	const size_t count = m->msg->ibm_nob;
	bool zeros;

	if (o2_draw_bool(c, 1, 1))
		draw_front(c, m);
	m->at = m->bytes + (m->odd.front != NULL ? FRONT : 0);
	memcpy(m->bytes, m->front, FRONT);
	memcpy(m->at, bytes, count);
	if (o2_draw_bool(c, 1, 1))
		draw_sum(c, m);
	if (o2_draw_bool(c, 1, 1)) {
		m->odd.behind =
			o2_draw_bool(c, 1, 1) ? edges[o2_draw(c, 7)] : 1 + (size_t)o2_draw(c, BEHIND - 1);
		zeros = o2_draw_bool(c, 1, 1);
		for (size_t i = 0; i < m->odd.behind; i++)
			m->at[count + i] = zeros ? 0 : (uint8_t)o2_draw(c, 255);
	}
	m->odd.all = o2_draw_bool(c, 1, 1);
	m->colours = o2_draw_bool(c, 1, 1);
	m->length = (size_t)(m->at - m->bytes) + count + m->odd.behind;
}

/* Remove the escape sequences for colours. */
static bool strip_colours(char *text)
{
	char *to = text;
	bool some = false;

	for (const char *from = text; *from != '\0';) {
		const char *end = from[0] == '\033' && from[1] == '[' ? strchr(from, 'm') : NULL;

		some |= end != NULL;
		if (end != NULL)
			from = end + 1;
		else
			*to++ = *from++;
	}
	*to = '\0';
	return some;
}

static char *expected_dump(const struct odd_message *m)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (out == NULL)
		return NULL;
	o2_told_dump_odd(out, m->msg, m->at, &m->odd);
	if (m->odd.refused)
		fprintf(out,
			"refused: wire/header/checksum (the connection closes)\n  ibm_cksum at offset 12: "
			"value %" PRIu32 " (0x%" PRIx32 "), expected %" PRIu32 " (0x%" PRIx32
			") (the unsigned sum)\n",
			m->sum, m->sum, m->odd.unsigned_sum, m->odd.unsigned_sum);
	else if (m->odd.wrong)
		fprintf(out, "tolerated: the checksum is wrong (--tolerate-immediate-checksum)\n");
	fclose(out);
	return text;
}

static void check(struct o2_commands_run *run, const struct odd_message *m, const char *expected)
{
	if (m->colours != strip_colours(run->command.out))
		o2_commands_wrong(run, "colours");
	o2_commands_decodes(run, "odd", expected);
	if (m->odd.refused)
		o2_commands_complains(run,
				      "o2ref: standard input: wire/header/checksum: ibm_cksum is %" PRIu32
				      ", expected %" PRIu32 " (Protocol error)%s\n",
				      m->sum, m->odd.unsigned_sum,
				      may_pass(m->msg) ? "; --tolerate-immediate-checksum accepts it" : "");
}

void o2_commands_odd(struct o2_commands_run *run, const struct o2_msg *msg, const uint8_t *bytes)
{
	static struct odd_message m; /* large */
	char *expected;

	memset(&m, 0, sizeof(m));
	m.msg = msg;
	draw(run->c, bytes, &m);
	run->command.words = 0;
	o2_command_input(&run->command, m.bytes, m.length);
	o2_commands_words(run, "decode --raw-input");
	o2_command_word_if(&run->command, m.odd.all, "--all");
	o2_command_word_if(&run->command, m.colours, "--color=always");
	o2_command_word_if(&run->command, m.tolerated, "--tolerate-immediate-checksum");
	o2_commands_words(run, "-");
	expected = expected_dump(&m);
	if (expected != NULL && o2_commands_go(run, m.odd.refused))
		check(run, &m, expected);
	free(expected);
	o2_command_input(&run->command, NULL, 0);
}
