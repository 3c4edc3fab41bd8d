/* SPDX-License-Identifier: MIT */
#include "quirk/quirk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quirk/quirk_internal.h"

/* The table of quirks: the name and description of each, and what it changes. */

struct row {
	const char *name;
	const char *form; /* NULL: the same as name */
	const char *text;
	void (*conn)(struct o2_conn_config *config); /* changes the settings of the connections */
	void (*post)(struct o2_quirk_post *post);    /* changes messages, just before they are posted */
	void (*complete)(struct ibv_wc *wc); /* changes completions, just before the connection gets them */
};

static void sum_signed(struct o2_conn_config *config)
{
	config->cksum_flavour = O2_CKSUM_SIGNED;
	config->wire.only_flavour = O2_CKSUM_SIGNED;
}

static void gather(struct o2_conn_config *config)
{
	config->immediate_gather = true;
}

static void gather_and_sum(struct o2_conn_config *config)
{
	gather(config);
	if (config->cksum_flavour == O2_CKSUM_NONE)
		config->cksum_flavour = O2_CKSUM_UNSIGNED;
}

static const struct row rows[O2_QUIRKS] = {
	[O2_QUIRK_SUMS_SIGNED] =
		{.name = "sums-signed",
		 .text = "checksums are of signed chars, and one of unsigned chars is refused",
		 .conn = sum_signed},
	[O2_QUIRK_SUMS_OTHER_BYTES] =
		{.name = "sums-other-bytes",
		 .text = "the checksum of an IMMEDIATE with a payload is of other bytes",
		 .conn = gather_and_sum,
		 .post = o2_quirk_other_bytes},
	[O2_QUIRK_SECOND_PAGE_WRONG] =
		{.name = "second-page-wrong",
		 .text = "what an IMMEDIATE's payload has past its first page arrives as 0xee",
		 .conn = gather,
		 .post = o2_quirk_second_page},
	[O2_QUIRK_SHORT_GET_CLAIMS] =
		{.name = "short-get-claims",
		 .text = "a GET_REQ for more than there is is reported as moved, and nothing is "
			 "written",
		 .post = o2_quirk_claim_short_get},
	[O2_QUIRK_GAPPED_SOURCE_SILENT] =
		{.name = "gapped-source-silent",
		 .text = "a GET whose source has gaps that cannot be described is never answered",
		 .post = o2_quirk_swallow_refusal},
	[O2_QUIRK_CLOSES_FIRST] = {.name = "closes-first",
				   .text = "each connection closes instead of looking at its first message",
				   .complete = o2_quirk_fail_receive},
	[O2_QUIRK_LATE] = {.name = "late",
			   .form = "late[=MS]",
			   .text = "each message is looked at MS milliseconds after it came (3000; at most "
				   "60000)"},
	[O2_QUIRK_LST_FLIP_BIT] = {.name = "lst-flip-bit",
				   .text = "one bit of each bulk that LNet selftest reads from it is wrong"},
};

const char *o2_quirk_name(enum o2_quirk quirk)
{
	return rows[quirk].name;
}

const char *o2_quirk_form(enum o2_quirk quirk)
{
	return rows[quirk].form != NULL ? rows[quirk].form : rows[quirk].name;
}

const char *o2_quirk_text(enum o2_quirk quirk)
{
	return rows[quirk].text;
}

/* Parse "=MS"; an empty text means the default. */
static bool read_late(const char *value, size_t length, uint32_t *late_ms)
{
	uint32_t ms = 0;

	if (length == 0) {
		*late_ms = O2_QUIRK_LATE_MS;
		return true;
	}
	for (size_t i = 1; i < length; i++) {
		if (value[i] < '0' || value[i] > '9')
			return false;
		ms = ms * 10 + (uint32_t)(value[i] - '0');
		if (ms > O2_QUIRK_LATE_MAX_MS)
			return false;
	}
	*late_ms = ms;
	return ms > 0;
}

static bool add_word(struct o2_quirks *quirks, const char *word, size_t length)
{
	for (unsigned int i = 0; i < O2_QUIRKS; i++) {
		size_t name = strlen(rows[i].name);

		if (length < name || strncmp(word, rows[i].name, name) != 0 ||
		    (length > name && word[name] != '='))
			continue;
		quirks->set |= 1u << i;
		return i == O2_QUIRK_LATE ? read_late(word + name, length - name, &quirks->late_ms)
					  : length == name;
	}
	return false;
}

int o2_quirks_add(struct o2_quirks *quirks, const char *text, char *bad, size_t bad_bytes)
{
	struct o2_quirks more = *quirks;
	size_t length;

	for (;; text += length + 1) {
		length = strcspn(text, ",");
		if (!add_word(&more, text, length)) {
			if (bad != NULL)
				snprintf(bad, bad_bytes, "%.*s", (int)(length < 200 ? length : 200), text);
			return -EINVAL;
		}
		if (text[length] == '\0')
			break;
	}
	*quirks = more;
	return 0;
}

bool o2_quirks_read(struct o2_quirks *quirks, const struct o2_option *option, const char *text,
		    char why[O2_OPTION_WHY_BYTES])
{
	char bad[100];
	size_t used;

	if (o2_quirks_add(quirks, text, bad, sizeof(bad)) == 0)
		return true;
	used = (size_t)snprintf(why, O2_OPTION_WHY_BYTES, "--%s is '%s', not one of: ", option->name, bad);
	for (unsigned int i = 0; i < O2_QUIRKS; i++)
		used += (size_t)snprintf(why + used, O2_OPTION_WHY_BYTES - used, "%s, ", o2_quirk_form(i));
	snprintf(why + used, O2_OPTION_WHY_BYTES - used, "MS 1 to %u", O2_QUIRK_LATE_MAX_MS);
	return false;
}

/* All posted work requests pass through here.  Quirks change only lists that end with a message. */
static int post_send(void *context, struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
		     const struct o2_rdma_desc *sink)
{
	const struct o2_quirks *quirks = context;
	struct o2_quirk_post post = {.list = list, .send = list, .sink = sink};

	while (post.send->next != NULL)
		post.send = post.send->next;
	if (post.send->opcode == IBV_WR_SEND)
		post.bytes = (uint8_t *)(uintptr_t)post.send->sg_list[0].addr;
	for (unsigned int i = 0; post.bytes != NULL && i < O2_QUIRKS; i++)
		if (o2_quirks_have(quirks, i) && rows[i].post != NULL)
			rows[i].post(&post);
	return ibv_post_send(qp, post.list, bad);
}

/* All completions pass through here. */
static int poll_cq(void *context, struct ibv_cq *cq, int count, struct ibv_wc *wc, uint64_t now_ms)
{
	struct o2_quirks *quirks = context;
	int found = o2_quirks_have(quirks, O2_QUIRK_LATE) ? o2_quirk_poll_late(context, cq, count, wc, now_ms)
							  : ibv_poll_cq(cq, count, wc);

	for (unsigned int i = 0; i < O2_QUIRKS; i++)
		for (int at = 0; at < found && o2_quirks_have(quirks, i) && rows[i].complete != NULL; at++)
			rows[i].complete(&wc[at]);
	return found;
}

void o2_quirks_bend_ni(struct o2_quirks *quirks, struct o2_ni_config *config)
{
	if (quirks->set == 0)
		return;
	quirks->ops = (struct o2_work_ops){
		.context = quirks, .post_send = post_send, .poll_cq = poll_cq, .forget_cq = o2_quirk_forget};
	config->work_ops = &quirks->ops;
}

void o2_quirks_bend_conn(const struct o2_quirks *quirks, struct o2_conn_config *config)
{
	for (unsigned int i = 0; i < O2_QUIRKS; i++)
		if (o2_quirks_have(quirks, i) && rows[i].conn != NULL)
			rows[i].conn(config);
}
