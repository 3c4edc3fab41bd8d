/* SPDX-License-Identifier: MIT */
#include "props/stage/codec.h"

#include <inttypes.h>
#include <string.h>

#include "wire/rules.h"

/* Fill byte: memory after the encoded bytes must not change. */
#define UNTOUCHED 0xa5

static void fail(struct o2_report *report, const char *what, const char *more)
{
	if (!report->failed)
		o2_report_kind(report, "codec/%s%s%s", what, more[0] != '\0' ? "/" : "", more);
}

/* True if codec and model both accept, or both refuse for the same reason. */
static bool agree(const char *what, int rc, const struct o2_error *error, const struct o2_wm_verdict *model,
		  struct o2_report *report)
{
	const char *rule = rc < 0 && error->rule != NULL ? error->rule : "none";
	const char *field = rc < 0 && error->field != NULL ? error->field : "none";

	if ((rc < 0) == model->refused &&
	    (rc >= 0 || (strcmp(rule, model->rule) == 0 && rc == model->code && error->code == model->code &&
			 error->class == model->class && error->index == model->index &&
			 strcmp(field, model->field) == 0 && error->limit_kind == model->limit_kind &&
			 error->offset_bytes == model->offset_bytes &&
			 (!model->value_known || error->value == model->value) &&
			 (!model->limit_known || error->limit == model->limit))))
		return true;
	fail(report, what, model->refused ? model->rule : "accepted");
	o2_report_add(report,
		      "%s: the codec says %d, rule %s of %s, index %d, offset %u, value %" PRIu64
		      ", limit %" PRIu64 " of kind %d",
		      what, rc < 0 ? rc : 0, rule, field, (int)error->index, error->offset_bytes,
		      error->value, error->limit, (int)error->limit_kind);
	if (!model->refused)
		o2_report_add(report, "%s: the model accepts it", what);
	else
		o2_report_add(report,
			      "%s: the model says %d, rule %s of %s, index %d, offset %u, value %" PRIu64
			      ", limit %" PRIu64 " of kind %d",
			      what, model->code, model->rule, model->field, (int)model->index,
			      model->offset_bytes, model->value, model->limit, (int)model->limit_kind);
	return false;
}

static bool same_message(const struct o2_msg *seen, const struct o2_msg *model, struct o2_report *report)
{
	const char *field = o2_wm_difference(model, seen);

	if (field == NULL && seen->ibm_nob != model->ibm_nob)
		field = "ibm_nob";
	if (field == NULL && seen->cksum_flavour != model->cksum_flavour)
		field = "cksum_flavour";
	if (field == NULL)
		return true;
	fail(report, "decode", field);
	o2_report_add(report, "decode: %s differs between the codec and the model", field);
	return false;
}

/*
 * Encode msg with codec and model: check for the same verdict, the same bytes, and nothing written after them.
 * Returns the length, or 0.
 */
static uint32_t encode_both(struct o2_codec_run *run, const char *what, const struct o2_msg *msg,
			    size_t capacity_bytes, struct o2_report *report)
{
	struct o2_wm_verdict verdict;
	struct o2_error error = {0};
	uint32_t nob;
	int rc;

	memset(run->wire, UNTOUCHED, 160);
	rc = o2_msg_encode(msg, &run->now.options, run->wire, capacity_bytes, &error);
	o2_wm_encode(msg, &run->now.options, run->wire_by_model, capacity_bytes, &nob, &verdict);
	if (!agree(what, rc, &error, &verdict, report) || rc < 0)
		return 0;
	if ((uint32_t)rc != nob || memcmp(run->wire, run->wire_by_model, nob) != 0) {
		uint32_t at = 0;

		while (at < nob && run->wire[at] == run->wire_by_model[at])
			at++;
		fail(report, what, "bytes");
		o2_report_add(report, "%s: %d bytes, the model has %u; the first that differs is at %u", what,
			      rc, nob, at);
		return 0;
	}
	for (uint32_t i = nob; i < 160; i++) {
		if (run->wire[i] == UNTOUCHED)
			continue;
		fail(report, what, "past-the-end");
		o2_report_add(report, "%s: byte %u, behind the %u of the message, was written", what, i, nob);
		return 0;
	}
	return nob;
}

/* An encoded message must decode to the same message, if either checksum is correct. */
static void check_round_trip(struct o2_codec_run *run, const struct o2_msg *msg, uint32_t nob,
			     struct o2_report *report)
{
	struct o2_wire_options options = run->now.options;
	struct o2_error error = {0};
	const char *field;
	int rc;

	options.only_flavour = O2_CKSUM_NONE;
	rc = o2_msg_decode(run->wire, nob, &options, &run->decoded, &error);
	if (rc != 0) {
		fail(report, "round-trip", error.rule);
		o2_report_add(report, "round trip: what was encoded is refused by rule %s", error.rule);
		return;
	}
	field = o2_wm_difference(msg, &run->decoded);
	if (field != NULL) {
		fail(report, "round-trip", field);
		o2_report_add(report, "round trip: %s came back different", field);
	}
}

static void count_refusal(struct o2_codec_run *run, const struct o2_error *error)
{
	const struct o2_wire_rule *rule = error->rule == NULL ? NULL : o2_wire_rule_find(error->rule);

	if (rule != NULL)
		run->counters.rules[rule - o2_wire_rules]++;
}

static void count_decoded(struct o2_codec_run *run)
{
	const struct o2_msg *msg = &run->decoded;
	const struct o2_wm_type *type = o2_wm_type(msg->ibm_type);
	struct o2_codec_counters *c = &run->counters;
	uint32_t nfrags = 0;

	c->decoded++;
	c->type[type - o2_wm_types]++;
	c->big_endian += msg->order == O2_BIG_ENDIAN;
	c->unverified += msg->cksum_flavour == O2_CKSUM_UNVERIFIED;
	c->payload += type->type == O2_MSG_IMMEDIATE && msg->u.immediate.hdr.payload_length != 0;
	c->longest += msg->ibm_nob == O2_MSG_BYTES;
	if (type->type == O2_MSG_PUT_ACK)
		nfrags = msg->u.putack.ibpam_rd.rd_nfrags;
	else if (type->type == O2_MSG_GET_REQ)
		nfrags = msg->u.get.ibgm_rd.rd_nfrags;
	if (nfrags >= 254 && nfrags <= O2_MAX_FRAGS)
		c->fragments[nfrags - 254]++;
}

/* Decode the bytes with both.  If accepted, the canonical form must be the same for both. */
static void check_decode(struct o2_codec_run *run, struct o2_report *report)
{
	struct o2_codec_case *now = &run->now;
	struct o2_error error = {0};
	struct o2_msg *model = &run->by_model;
	uint32_t nob;
	int rc;

	memcpy(run->unchanged, now->bytes, now->length_bytes);
	rc = o2_msg_decode(now->bytes, now->length_bytes, &now->options, &run->decoded, &error);
	o2_wm_decode(now->bytes, now->length_bytes, &now->options, model, &run->verdict);
	if (memcmp(run->unchanged, now->bytes, now->length_bytes) != 0) {
		fail(report, "decode", "input-changed");
		o2_report_add(report, "decode: the input was written to");
		return;
	}
	if (!agree("decode", rc, &error, &run->verdict, report))
		return;
	if (rc != 0) {
		run->counters.decode_refused++;
		count_refusal(run, &error);
		return;
	}
	if (!same_message(&run->decoded, model, report))
		return;
	count_decoded(run);
	nob = encode_both(run, "canonical", &run->decoded, O2_MSG_BYTES, report);
	if (nob != 0)
		check_round_trip(run, model, nob, report);
	else if (!report->failed) {
		fail(report, "canonical", "refused");
		o2_report_add(report, "canonical: what was decoded cannot be encoded");
	}
}

static void check_desc(struct o2_codec_run *run, struct o2_report *report)
{
	struct o2_codec_case *now = &run->now;
	const uint8_t *bytes = now->bytes + now->desc_at;
	const size_t length = now->length_bytes - now->desc_at;
	const bool little = now->msg.order == O2_LITTLE_ENDIAN;
	struct o2_rdma_desc *seen = &run->decoded.u.putack.ibpam_rd;
	struct o2_rdma_desc *model = &run->by_model.u.putack.ibpam_rd;
	struct o2_wm_verdict verdict;
	struct o2_error error = {0};
	int rc;

	run->counters.desc_decoded++;
	rc = o2_desc_decode(bytes, length, little ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN, &now->options, seen,
			    &error);
	o2_wm_desc_decode(bytes, length, little, &now->options, model, &verdict);
	if (!agree("descriptor", rc, &error, &verdict, report))
		return;
	if (rc != 0) {
		count_refusal(run, &error);
		return;
	}
	for (uint32_t i = 0; i < model->rd_nfrags; i++) {
		if (seen->rd_key == model->rd_key && seen->rd_nfrags == model->rd_nfrags &&
		    seen->rd_frags[i].rf_nob == model->rd_frags[i].rf_nob &&
		    seen->rd_frags[i].rf_addr == model->rd_frags[i].rf_addr)
			continue;
		fail(report, "descriptor", "fields");
		o2_report_add(report, "descriptor: fragment %u, the key or the count differs", i);
		return;
	}
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_codec_run *run = context;
	uint32_t nob;

	o2_report_clear(report);
	o2_codec_draw(choice, &run->now);
	/* Questions to other implementations do not have this option. */
	if (o2_draw_bool(choice, 3, 1))
		run->now.options.only_flavour = (enum o2_cksum_flavour)o2_draw(choice, 4);
	if (!o2_choice_ok(choice))
		return o2_choice_status(choice, O2_STATUS_VALID);
	run->counters.cases++;
	nob = encode_both(run, "encode", &run->now.msg, run->now.capacity_bytes, report);
	if (nob != 0)
		check_round_trip(run, &run->now.msg, nob, report);
	run->counters.encoded += nob != 0;
	run->counters.encode_refused += nob == 0;
	run->counters.shortened += run->now.length_bytes < 48;
	if (!report->failed)
		check_decode(run, report);
	if (!report->failed && run->now.desc_at < run->now.length_bytes)
		check_desc(run, report);
	return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_codec_case *now = &((const struct o2_codec_run *)context)->now;
	const size_t shown =
		now->length_bytes < 16 * (uint64_t)pieces ? now->length_bytes : 16 * (uint64_t)pieces;
	const struct o2_wire_options *o = &now->options;

	fprintf(out, "encode: type 0x%02x, order %u, flavour %u, capacity %zu\n", now->msg.ibm_type,
		now->msg.order, now->msg.cksum_flavour, now->capacity_bytes);
	fprintf(out, "options: max_frags %u%s%s%s, only_flavour %u\n", o->max_frags,
		o->require_checksum ? ", require_checksum" : "", o->any_lnd ? ", any_lnd" : "",
		o->tolerate_immediate_checksum ? ", tolerate_immediate_checksum" : "", o->only_flavour);
	fprintf(out, "decode: %zu bytes\n", now->length_bytes);
	for (size_t i = 0; i < shown; i++)
		fprintf(out, "%s%02x%s", i % 16 == 0 ? "  " : " ", now->bytes[i],
			i % 16 == 15 || i + 1 == shown ? "\n" : "");
	if (shown < now->length_bytes)
		fprintf(out, "  ... %zu more\n", now->length_bytes - shown);
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_codec_run *run = context;

	if (run->verdict.refused)
		fprintf(out, "held: both refuse the bytes by rule %s\n", run->verdict.rule);
	else
		fprintf(out, "held: both decode the same message\n");
}

static void result(const void *context, const struct o2_run_options *options, json_t *object)
{
	const struct o2_codec_counters *c = &((const struct o2_codec_run *)context)->counters;
	json_t *types = json_object(), *rules = json_object();

	(void)options;
	json_object_set_new(object, "cases", json_integer((json_int_t)c->cases));
	json_object_set_new(object, "situations",
			    json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "encoded", c->encoded,
				      "encode_refused", c->encode_refused, "decoded", c->decoded,
				      "decode_refused", c->decode_refused, "big_endian", c->big_endian,
				      "fragments_257", c->fragments[3], "unverified", c->unverified,
				      "payload", c->payload, "shortened", c->shortened, "desc_decoded",
				      c->desc_decoded));
	for (uint32_t i = 0; i < O2_WM_TYPES; i++)
		json_object_set_new(types, o2_wm_types[i].name, json_integer((json_int_t)c->type[i]));
	for (uint32_t i = 0; i < O2_RULE_COUNT; i++)
		if (c->rules[i] != 0)
			json_object_set_new(rules, o2_wire_rules[i].id,
					    json_integer((json_int_t)c->rules[i]));
	json_object_set_new(object, "types", types);
	json_object_set_new(object, "rules", rules);
}

/* With fewer cases, random situations may not occur. */
#define ENOUGH_CASES 100000u

static json_t *missing(const void *context, uint64_t packets_sent)
{
	const struct o2_codec_counters *c = &((const struct o2_codec_run *)context)->counters;
	json_t *names = json_array();

	(void)packets_sent;
	if (c->cases < ENOUGH_CASES)
		return names;
	for (uint32_t i = 0; i < O2_WM_TYPES; i++)
		if (c->type[i] == 0)
			json_array_append_new(names, json_sprintf("a decoded %s", o2_wm_types[i].name));
	/* Rules of class O2_CLASS_NONE can be broken only by a caller of the encoder. */
	for (uint32_t i = 0; i < O2_RULE_COUNT; i++)
		if (c->rules[i] == 0 && o2_wire_rules[i].class != O2_CLASS_NONE)
			json_array_append_new(names, json_sprintf("a refusal by %s", o2_wire_rules[i].id));
	for (uint32_t i = 0; i < 4; i++)
		if (c->fragments[i] == 0)
			json_array_append_new(
				names, json_sprintf("a decoded message of %" PRIu32 " fragments", 254 + i));
	if (c->longest == 0)
		json_array_append_new(names, json_string("a decoded message of 4096 bytes"));
	if (c->unverified == 0)
		json_array_append_new(names, json_string("a tolerated checksum"));
	return names;
}

static void line(const void *context, double seconds, char *text, size_t text_bytes)
{
	const struct o2_codec_counters *c = &((const struct o2_codec_run *)context)->counters;

	snprintf(text, text_bytes,
		 "%" PRIu64 " cases: %" PRIu64 " encoded, %" PRIu64 " decoded, %" PRIu64
		 " refused, %.0f s, %.0f/s",
		 c->cases, c->encoded, c->decoded, c->decode_refused, seconds,
		 seconds > 0 ? (double)c->cases / seconds : 0);
}

struct o2_property o2_codec_property(struct o2_codec_run *run)
{
	static const struct o2_property_ops ops = {
		O2_PROPERTY_OPS("codec", "messages and changed bytes are encoded, decoded and refused as an "
					 "independent model does"),
		.result = result, .missing = missing, .line = line};

	return (struct o2_property){
		.ops = &ops,
		.context = run,
		.counters = run == NULL ? NULL : &run->counters,
		.counters_bytes = sizeof(run->counters),
	};
}
