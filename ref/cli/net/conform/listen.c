/* SPDX-License-Identifier: MIT */
#include "cli/net/conform/listen.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "cli/cli.h"
#include "cli/judge_report.h"
#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/nid.h"

#define SHOWN_BYTES 64u

/* What the peer sent last. */
struct heard {
	bool any;
	enum o2_watched_kind kind;
	size_t length_bytes, shown_bytes;
	uint8_t bytes[SHOWN_BYTES];
};

/* The first time that one side broke a rule, and how often it did. */
struct broken {
	uint64_t times;
	char probe[O2_CONFORM_ID_BYTES];
	char text[O2_CONFORM_TEXT_BYTES];
};

/* A connection that another node than the peer has asked for. */
struct stranger {
	LIST_ENTRY(stranger) entry;
	const void *conn;
};

struct o2_conform_listener {
	struct o2_watch watch;
	const struct o2_net_options *options;
	struct o2_net_options judged; /* a copy of options, as the judge is to have them */
	struct o2_net_judging *judging;
	struct o2_conform_capture *capture; /* NULL: none is wanted */
	LIST_HEAD(, stranger) strangers;
	const char *probe;
	const struct o2_watched *now;		 /* what is being heard */
	struct heard last;			 /* from the peer, in this probe */
	struct broken broken[O2_JUDGE_RULES][2]; /* [true]: by us */
	bool lies;				 /* what is heard is of the liar's connection */
	bool named[O2_JUDGE_RULES];		 /* rules that the liar has broken in this probe */
	bool summed; /* the peer has sent an IMMEDIATE with a checksum in this probe */
};

/* The first SHOWN_BYTES bytes in hexadecimal, with a blank before every four. */
static void bytes_text(const uint8_t *bytes, size_t length_bytes, char *text, size_t text_bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < length_bytes && i < SHOWN_BYTES && used + 4 < text_bytes; i++)
		used += (size_t)snprintf(text + used, text_bytes - used, "%s%02x", i % 4 == 0 ? " " : "",
					 bytes[i]);
	if (length_bytes > SHOWN_BYTES)
		snprintf(text + used, text_bytes - used, " ..");
}

/* The bytes of the message that shows a finding. */
static void shows_text(const struct o2_watched *watched, char *text, size_t text_bytes)
{
	text[0] = '\0';
	if (watched == NULL || watched->bytes == NULL)
		return;
	snprintf(text, text_bytes, "; bytes");
	bytes_text(watched->bytes, watched->length_bytes, text + strlen(text), text_bytes - strlen(text));
}

static void find(void *context, const struct o2_judge_finding *finding)
{
	struct o2_conform_listener *listener = context;
	const struct o2_judge_row row = o2_judge_row_of(finding);
	const bool ours = o2_end_judge_is_ours(o2_net_judging_end_judge(listener->judging), finding);
	struct broken *broken = &listener->broken[row.rule][ours];
	char what[O2_JUDGE_ROW_TEXT_BYTES], bytes[200], packet[48] = "";

	if (ours && listener->lies) {
		listener->named[row.rule] = true;
		return;
	}
	if (o2_judge_row_severity(&row) == O2_JUDGE_NOTE || broken->times++ > 0)
		return;
	o2_judge_what(row.wire_rule, &row.error, what);
	shows_text(listener->now, bytes, sizeof(bytes));
	if (listener->capture != NULL)
		snprintf(packet, sizeof(packet), " (packet %" PRIu64 ")",
			 o2_conform_capture_packets(listener->capture));
	snprintf(broken->probe, sizeof(broken->probe), "%s", listener->probe);
	snprintf(broken->text, sizeof(broken->text), "%s, in %s%s: %s%s", ours ? "this end" : "the peer",
		 listener->probe, packet, what[0] != '\0' ? what : "it does not hold", bytes);
}

static void note(struct heard *last, const struct o2_watched *watched)
{
	if (watched->ours || watched->kind == O2_WATCHED_GONE)
		return;
	*last = (struct heard){.any = true, .kind = watched->kind};
	if (watched->bytes == NULL)
		return;
	last->length_bytes = watched->length_bytes;
	last->shown_bytes = watched->length_bytes < SHOWN_BYTES ? watched->length_bytes : SHOWN_BYTES;
	memcpy(last->bytes, watched->bytes, last->shown_bytes);
}

static bool is_summed(const struct o2_watched *watched)
{
	return !watched->ours && watched->kind == O2_WATCHED_MESSAGE &&
	       watched->length_bytes > O2_AT_PAYLOAD && watched->bytes[O2_AT_TYPE] == O2_MSG_IMMEDIATE &&
	       o2_load32_le(watched->bytes + O2_AT_CKSUM) != 0;
}

static void forget(struct stranger *stranger)
{
	LIST_REMOVE(stranger, entry);
	free(stranger);
}

/* Does another node ask for a connection?  A NID that breaks a rule may be the peer's. */
static bool is_by_another(const struct o2_conform_listener *listener, const struct o2_watched *watched)
{
	uint64_t nid;

	if (watched->kind != O2_WATCHED_REQUEST || watched->ours ||
	    watched->length_bytes < O2_AT_SRCNID + sizeof(nid))
		return false;
	nid = o2_load64(watched->bytes + O2_AT_SRCNID,
			o2_load32_le(watched->bytes) == O2_MSG_MAGIC ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN);
	return nid != listener->options->peer && o2_nid_check(nid, false) == O2_NID_GOOD;
}

/* What is said on such a connection is not the peer's.  Whoever has not heard its request ignores the rest. */
static bool is_strange(struct o2_conform_listener *listener, const struct o2_watched *watched)
{
	struct stranger *stranger;

	LIST_FOREACH(stranger, &listener->strangers, entry) {
		if (stranger->conn != watched->conn)
			continue;
		if (watched->kind == O2_WATCHED_GONE)
			forget(stranger);
		return true;
	}
	if (!is_by_another(listener, watched))
		return false;
	stranger = calloc(1, sizeof(*stranger));
	if (stranger != NULL) {
		stranger->conn = watched->conn;
		LIST_INSERT_HEAD(&listener->strangers, stranger, entry);
	}
	return true;
}

static void hear(void *context, const struct o2_watched *watched)
{
	struct o2_conform_listener *listener = context;
	const struct o2_watch *judge = o2_net_judging_watch(listener->judging);

	if (is_strange(listener, watched))
		return;
	if (listener->capture != NULL)
		o2_conform_capture_hear(listener->capture, watched);
	note(&listener->last, watched);
	listener->summed |= is_summed(watched);
	listener->now = watched;
	o2_watch_tell(judge, watched);
	listener->now = NULL;
}

static bool open_capture(struct o2_conform_listener *listener)
{
	const struct o2_net_options *options = listener->options;
	static char path[PATH_MAX];

	if (options->out == NULL)
		return true;
	snprintf(path, sizeof(path), "%s/" O2_CONFORM_SAID, options->out);
	listener->capture = o2_conform_capture_open(path, options->nid, options->peer, options->port);
	return listener->capture != NULL;
}

struct o2_conform_listener *o2_conform_listen(const struct o2_net_options *options)
{
	struct o2_conform_listener *listener = calloc(1, sizeof(*listener));

	if (listener == NULL) {
		o2_cli_complain("not enough memory for the judge");
		return NULL;
	}
	listener->options = options;
	listener->probe = "";
	LIST_INIT(&listener->strangers);
	listener->watch = (struct o2_watch){listener, hear};
	listener->judged = *options;
	/* A probe of its own, checksum/payload, looks at IMMEDIATEs with wrong checksums. */
	listener->judged.tolerate_immediate_checksum = true;
	listener->judging = o2_net_judging_tell(&listener->judged, find, listener);
	if (listener->judging != NULL && open_capture(listener))
		return listener;
	o2_net_judging_free(listener->judging);
	free(listener);
	return NULL;
}

const struct o2_watch *o2_conform_listener_watch(struct o2_conform_listener *listener)
{
	return &listener->watch;
}

void o2_conform_listener_at(struct o2_conform_listener *listener, const char *probe)
{
	listener->probe = probe;
	listener->last.any = false;
	listener->summed = false;
	memset(listener->named, 0, sizeof(listener->named));
}

void o2_conform_listener_heard(const struct o2_conform_listener *listener, char text[O2_CONFORM_HEARD_BYTES])
{
	static const char *const kinds[] = {
		[O2_WATCHED_REQUEST] = "a request for a connection",
		[O2_WATCHED_REPLY] = "a reply",
		[O2_WATCHED_REJECT] = "a reject",
		[O2_WATCHED_MESSAGE] = "a message",
		[O2_WATCHED_WRITE] = "an RDMA WRITE",
		[O2_WATCHED_DISCONNECT] = "the end of the connection",
	};
	const struct heard *last = &listener->last;

	if (!last->any || last->length_bytes == 0) {
		snprintf(text, O2_CONFORM_HEARD_BYTES, "%s", last->any ? kinds[last->kind] : "nothing");
		return;
	}
	snprintf(text, O2_CONFORM_HEARD_BYTES, "%s of %zu bytes:", kinds[last->kind], last->length_bytes);
	bytes_text(last->bytes, last->length_bytes, text + strlen(text),
		   O2_CONFORM_HEARD_BYTES - strlen(text));
}

bool o2_conform_listener_summed(const struct o2_conform_listener *listener)
{
	return listener->summed;
}

void o2_conform_listener_lies(struct o2_conform_listener *listener, bool lies)
{
	listener->lies = lies;
}

void o2_conform_listener_named(const struct o2_conform_listener *listener, char text[O2_CONFORM_NAMED_BYTES])
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int rule = 0; rule < O2_JUDGE_RULES && used < O2_CONFORM_NAMED_BYTES; rule++)
		if (listener->named[rule])
			used += (size_t)snprintf(text + used, O2_CONFORM_NAMED_BYTES - used, "%s%s",
						 used > 0 ? ", " : "", o2_judge_rules[rule].id);
}

uint64_t o2_conform_listener_packets(const struct o2_conform_listener *listener)
{
	return listener->capture == NULL ? 0 : o2_conform_capture_packets(listener->capture);
}

void o2_conform_listener_span(const struct o2_conform_listener *listener, uint64_t before,
			      struct o2_conform_result *result)
{
	const uint64_t packets = o2_conform_listener_packets(listener);

	result->first_packet = packets > before ? before + 1 : 0;
	result->last_packet = packets > before ? packets : 0;
}

static void add_row(const struct o2_conform_listener *listener, enum o2_judge_rule_id rule, bool ours,
		    struct o2_conform_report *report)
{
	const struct broken *broken = &listener->broken[rule][ours];
	struct o2_conform_result result = {.outcome = O2_CONFORM_FINDING};
	const char *source = o2_judge_rules[rule].source;
	char id[O2_CONFORM_ID_BYTES];

	if (o2_judge_rules[rule].severity == O2_JUDGE_SHOULD && report->options->profile == O2_NET_KERNEL)
		result.outcome = O2_CONFORM_TOLERATED;
	snprintf(id, sizeof(id), O2_CONFORM_JUDGE "%s", o2_judge_rules[rule].id);
	memcpy(result.text, broken->text, sizeof(result.text));
	if (broken->times > 1)
		snprintf(result.text + strlen(result.text), sizeof(result.text) - strlen(result.text),
			 " (%" PRIu64 " times)", broken->times);
	/* Sources in a report are relative to docs/. */
	if (strncmp(source, "docs/", strlen("docs/")) == 0)
		source += strlen("docs/");
	o2_conform_report_add(report, id, o2_judge_rules[rule].sentence, source, broken->probe, &result);
}

/* A rule is judged in all probes, so what is known of it can be gone only if all were tried and reported. */
static void note_known_rules(struct o2_conform_report *report)
{
	if (!report->whole || report->mute != NULL || report->options->only != NULL ||
	    report->judged.failed || report->starved)
		return;
	for (uint32_t i = 0; i < report->known.count; i++) {
		const char *id = report->known.entry[i].id;

		if (strncmp(id, O2_CONFORM_JUDGE, strlen(O2_CONFORM_JUDGE)) == 0)
			o2_conform_known_note(&report->known, id, false);
	}
}

void o2_conform_listener_report(struct o2_conform_listener *listener, struct o2_conform_report *report)
{
	for (unsigned int rule = 0; rule < O2_JUDGE_RULES; rule++)
		for (unsigned int ours = 0; ours < 2; ours++)
			if (listener->broken[rule][ours].times > 0)
				add_row(listener, (enum o2_judge_rule_id)rule, ours == 1, report);
	report->judged = o2_end_judge_heard(o2_net_judging_end_judge(listener->judging));
	note_known_rules(report);
}

bool o2_conform_listener_free(struct o2_conform_listener *listener)
{
	bool ok;

	if (listener == NULL)
		return true;
	while (!LIST_EMPTY(&listener->strangers))
		forget(LIST_FIRST(&listener->strangers));
	o2_net_judging_free(listener->judging);
	ok = o2_conform_capture_close(listener->capture);
	free(listener);
	return ok;
}
