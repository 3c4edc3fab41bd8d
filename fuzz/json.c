/* SPDX-License-Identifier: MIT */
/*
 * Every reader and writer of JSON.  The first byte selects the form (readers[], then frames), the second
 * the allocation that fails during reading, the third the one that fails during writing (0: none).  The
 * rest is the text, or the bytes of frames.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_read.h"
#include "forms/dma_json.h"
#include "forms/msg_json.h"
#include "forms/plan_json.h"
#include "forms/rdma_json.h"
#include "forms/reject_json.h"
#include "forms/sg_json.h"
#include "fuzz/common.h"
#include "oracle/answer.h"
#include "oracle/case.h"
#include "oracle/frame.h"
#include "props/scenario/scenario_io.h"
#include "props/talk/wrap/alloc_fault.h"

#define HEAD_BYTES 3u

/* The output of a reader. */
struct stored {
	struct o2_wire_refused wire; /* the refusal of any output form */
	struct o2_reg_request request;
	struct o2_answer answer;
	union {
		struct o2_case asked;
		struct o2_wire_bytes bytes;
		struct o2_msg_json msg;
		struct o2_reject reject;
		struct o2_sg_input sg_input;
		struct o2_sg_list sg_list;
		struct o2_dma_input dma_input;
		struct o2_dma_list dma_list;
		struct o2_reg_plan plan;
		struct o2_rdma_input rdma_input;
		struct o2_rdma_plan rdma_plan;
		struct o2_scenario scenario;
	};
};

struct reader {
	const char *form;
	int (*read)(const json_t *object, struct stored *s, struct o2_error *error);
	json_t *(*write)(const struct stored *s);
	void (*release)(struct stored *s); /* NULL: nothing to release */
	bool points;			   /* contains pointers into itself, so bytes are not compared */
};

/* --- the readers --- */

/* Restore a refusal to its form before writing; its texts stay in s. */
static struct o2_error error_of(const struct stored *s)
{
	const struct o2_refused *refused = &s->wire.refused;

	return (struct o2_error){
		.code = refused->code,
		.class = s->wire.class,
		.rule = refused->rule,
		.field = refused->field,
		.index = refused->index,
		.offset_bytes = s->wire.offset_bytes,
		.value = refused->value,
		.limit = refused->limit,
	};
}

/* {"asked": an input form, "answer": an output form}: the reader needs to know the question. */
static int answer_from_json(const json_t *object, struct stored *s, struct o2_error *error)
{
	const int rc = o2_case_from_json(json_object_get(object, "asked"), &s->asked, error);

	if (rc != 0)
		return rc;
	o2_answer_from_json(&s->asked, json_object_get(object, "answer"), &s->answer);
	if (s->answer.kind != O2_ANSWER_BROKEN)
		return 0;
	if (s->answer.fault.text[0] == '\0')
		o2_fuzz_fail("json: a broken answer without a word");
	return o2_refuse_value(error, -EINVAL, "fuzz/broken", "answer", 0, O2_NO_LIMIT);
}

static json_t *answer_to_json(const struct stored *s)
{
	json_t *both = o2_json_with(json_object(), "asked", o2_case_to_json(&s->asked));

	return o2_json_with(both, "answer", o2_answer_to_json(&s->asked, &s->answer));
}

/* A reader and its writer.  Usable in them: `object`, `s`, `error`, and in the writer also `refused`. */
#define FORM(name, reading, writing)                                                           \
	static int read_##name(const json_t *object, struct stored *s, struct o2_error *error) \
	{                                                                                      \
		return reading;                                                                \
	}                                                                                      \
	static json_t *write_##name(const struct stored *s)                                    \
	{                                                                                      \
		const struct o2_error refused = error_of(s);                                   \
                                                                                               \
		(void)refused;                                                                 \
		return writing;                                                                \
	}

FORM(case, o2_case_from_json(object, &s->asked, error), o2_case_to_json(&s->asked))
FORM(answer, answer_from_json(object, s, error), answer_to_json(s))
FORM(decoded, o2_msg_decode_output_from_json(object, &s->msg, &s->wire, error),
     o2_msg_decode_output_to_json(&s->msg.msg, &refused))
FORM(encoded, o2_msg_encode_output_from_json(object, &s->bytes, &s->wire, error),
     o2_msg_encode_output_to_json(s->bytes.bytes, s->bytes.length_bytes, &refused))
FORM(reject, o2_reject_encode_input_from_json(object, &s->reject, error),
     o2_reject_encode_input_to_json(&s->reject))
FORM(rejected, o2_reject_decode_output_from_json(object, &s->reject, &s->wire, error),
     o2_reject_decode_output_to_json(&s->reject, &refused))
FORM(sg_input, o2_sg_input_from_json(object, &s->sg_input, error),
     o2_sg_input_to_json(&s->sg_input.buffer, &s->sg_input.space, s->sg_input.max_entries))
FORM(sg_output, o2_sg_output_from_json(object, &s->sg_list, &s->wire.refused, error),
     o2_sg_output_to_json(&s->sg_list, &refused))
FORM(dma_input, o2_dma_input_from_json(object, &s->dma_input, error),
     o2_dma_input_to_json(&s->dma_input.sg, &s->dma_input.device))
FORM(dma_output, o2_dma_output_from_json(object, &s->dma_list, &s->wire.refused, error),
     o2_dma_output_to_json(&s->dma_list, &refused))
FORM(reg_input, o2_reg_input_from_json(object, &s->request, &s->dma_list, error),
     o2_reg_input_to_json(&s->request, &s->dma_list))
FORM(reg_output, o2_reg_output_from_json(object, &s->plan, &s->wire.refused, error),
     o2_reg_output_to_json(&s->plan, &refused))
FORM(rdma_input, o2_rdma_input_from_json(object, &s->rdma_input, error),
     o2_rdma_input_to_json(&s->rdma_input))
FORM(rdma_output, o2_rdma_output_from_json(object, &s->rdma_plan, &s->wire.refused, error),
     o2_rdma_output_to_json(&s->rdma_plan, &refused))
FORM(scenario, o2_scenario_from_json(object, &s->scenario, error), o2_scenario_to_json(&s->scenario))

static void release_sg_input(struct stored *s)
{
	o2_sg_input_free(&s->sg_input);
}

static void release_dma_input(struct stored *s)
{
	o2_dma_input_free(&s->dma_input);
}

/* In the order used by fuzz/seeds.py, which writes the seeds. */
static const struct reader readers[] = {
	{"case", read_case, write_case, NULL, true},
	{"answer", read_answer, write_answer, NULL, true},
	{"msg_decode/output", read_decoded, write_decoded, NULL, true},
	{"msg_encode/output", read_encoded, write_encoded, NULL, false},
	{"reject_encode/input", read_reject, write_reject, NULL, false},
	{"reject_decode/output", read_rejected, write_rejected, NULL, false},
	{"sg_build/input", read_sg_input, write_sg_input, release_sg_input, true},
	{"sg_build/output", read_sg_output, write_sg_output, NULL, false},
	{"dma_map/input", read_dma_input, write_dma_input, release_dma_input, true},
	{"dma_map/output", read_dma_output, write_dma_output, NULL, false},
	{"reg_plan/input", read_reg_input, write_reg_input, NULL, false},
	{"reg_plan/output", read_reg_output, write_reg_output, NULL, false},
	{"rdma_plan/input", read_rdma_input, write_rdma_input, NULL, false},
	{"rdma_plan/output", read_rdma_output, write_rdma_output, NULL, false},
	{"scenario", read_scenario, write_scenario, NULL, false},
};

#define READERS (sizeof(readers) / sizeof(readers[0]))

/* --- what must hold --- */

/* Read the text; a refusal must say what is wrong. */
static int read_form(const struct reader *reader, const json_t *object, struct stored *s)
{
	struct o2_error error = {0};
	int rc;

	memset(s, 0, sizeof(*s));
	rc = reader->read(object, s, &error);
	if (rc == 0)
		return 0;
	if (rc != -EINVAL && rc != -ENOMEM && rc != -EAFNOSUPPORT)
		o2_fuzz_fail("json: %s: reading returned %d", reader->form, rc);
	if (error.code != rc || error.rule == NULL || error.field == NULL)
		o2_fuzz_fail("json: %s: refused with %d, the error says %d, rule %s, field %s", reader->form,
			     rc, error.code, error.rule == NULL ? "none" : error.rule,
			     error.field == NULL ? "none" : error.field);
	return rc;
}

static void release(const struct reader *reader, struct stored *s)
{
	if (reader->release != NULL)
		reader->release(s);
}

/* Compare two results.  Both were zeroed before reading, so members that no reader writes are equal too. */
static bool same_bytes(const void *a, const void *b, size_t length_bytes)
{
	return memcmp(a, b, length_bytes) == 0;
}

/* What was read must be writable, and read back as the same. */
static json_t *check_round_trip(const struct reader *reader, const struct stored *first)
{
	static struct stored second;
	json_t *written = reader->write(first), *again;

	if (written == NULL)
		o2_fuzz_fail("json: %s: what was read cannot be written", reader->form);
	if (read_form(reader, written, &second) != 0)
		o2_fuzz_fail("json: %s: what was written cannot be read", reader->form);
	if (!reader->points && !same_bytes(first, &second, sizeof(second)))
		o2_fuzz_fail("json: %s: what was written is read as something else", reader->form);
	again = reader->write(&second);
	if (again == NULL || !json_equal(written, again))
		o2_fuzz_fail("json: %s: written again it is another text", reader->form);
	release(reader, &second);
	json_decref(again);
	return written;
}

/* Write while an allocation fails: the result must be nothing, or complete. */
static void check_write_fault(const struct reader *reader, const struct stored *s, const json_t *whole,
			      uint32_t nth)
{
	json_t *written;
	bool fired;

	o2_alloc_fault_arm(nth);
	written = reader->write(s);
	fired = o2_alloc_fault_fired();
	o2_alloc_fault_arm(0);
	if (written == NULL && !fired)
		o2_fuzz_fail("json: %s: it can be written once and not twice", reader->form);
	/* If an answer's result could not be allocated, a report that says so is written instead. */
	if (json_object_get(json_object_get(written, "answer"), "fault") != NULL && fired) {
		json_decref(written);
		return;
	}
	if (written != NULL && !json_equal(written, whole))
		o2_fuzz_fail("json: %s: without memory it writes something else", reader->form);
	json_decref(written);
}

static void check_read_fault(const struct reader *reader, const json_t *object, int expected, uint32_t nth)
{
	static struct stored s;
	int rc;

	o2_alloc_fault_arm(nth);
	rc = read_form(reader, object, &s);
	if (o2_alloc_fault_fired())
		expected = -ENOMEM;
	o2_alloc_fault_arm(0);
	if (rc != expected)
		o2_fuzz_fail("json: %s: reading returned %d, expected %d", reader->form, rc, expected);
	if (rc == 0)
		release(reader, &s);
}

static void check_reader(const struct reader *reader, const uint8_t *head, const json_t *object)
{
	static struct stored s;
	json_t *written;
	const int rc = read_form(reader, object, &s);

	if (rc == -ENOMEM)
		o2_fuzz_fail("json: %s: no memory, which there is", reader->form);
	check_read_fault(reader, object, rc, head[1]);
	if (rc != 0)
		return;
	written = check_round_trip(reader, &s);
	check_write_fault(reader, &s, written, head[2]);
	json_decref(written);
	release(reader, &s);
}

/* The frames of a process: an object that one holds must be written to a frame that reads as the same. */
static void check_frames(const uint8_t *data, size_t size)
{
	struct o2_frame_buffer in = {0}, out = {0};
	uint32_t length, again;
	json_error_t where;
	char excerpt[60];

	if (o2_frame_reserve(&in, size) != 0)
		return;
	memcpy(in.bytes, data, size);
	in.used = size;
	while (o2_frame_look(&in, &length) == O2_FRAME_WHOLE) {
		json_t *object = o2_json_read((const char *)in.bytes + O2_FRAME_HEAD_BYTES, length,
					      JSON_REJECT_DUPLICATES, &where);
		json_t *read;

		o2_frame_excerpt(in.bytes, in.used, excerpt, sizeof(excerpt));
		o2_frame_consume(&in, O2_FRAME_HEAD_BYTES + length);
		if (!json_is_object(object)) {
			json_decref(object);
			continue;
		}
		if (o2_frame_append(&out, object) != 0)
			o2_fuzz_fail("json: an object cannot be written to a frame");
		if (o2_frame_look(&out, &again) != O2_FRAME_WHOLE || out.used != O2_FRAME_HEAD_BYTES + again)
			o2_fuzz_fail("json: a frame that was written is none");
		read = o2_json_read((const char *)out.bytes + O2_FRAME_HEAD_BYTES, again, 0, &where);
		if (!json_equal(read, object))
			o2_fuzz_fail("json: a frame that was written is another object");
		o2_frame_consume(&out, out.used);
		json_decref(read);
		json_decref(object);
	}
	o2_frame_buffer_free(&in);
	o2_frame_buffer_free(&out);
}

/* Use this program's allocator, so that allocations are counted and can fail. */
static void *json_malloc(size_t bytes)
{
	return malloc(bytes);
}

static void json_free(void *piece)
{
	free(piece);
}

/* Read twice, the second time with a failing allocation: if it was reached, there must be no object. */
static json_t *read_text(const char *text, size_t length, uint32_t nth)
{
	json_error_t where, fault;
	json_t *object = o2_json_read(text, length, JSON_REJECT_DUPLICATES, &where), *again;
	bool fired;

	o2_alloc_fault_arm(nth);
	again = o2_json_read(text, length, JSON_REJECT_DUPLICATES, &fault);
	fired = o2_alloc_fault_fired();
	o2_alloc_fault_arm(0);
	if (fired ? again != NULL || strcmp(fault.text, "not enough memory") != 0
		  : (object == NULL ? again != NULL : !json_equal(again, object)) ||
			    strcmp(fault.text, where.text) != 0)
		o2_fuzz_fail("json: without memory a text is another one: %s, expected %s", fault.text,
			     where.text);
	json_decref(again);
	return object;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint32_t form = size > 0 ? data[0] % (READERS + 1) : 0;
	json_t *object;
	int64_t live;

	json_set_alloc_funcs(json_malloc, json_free);
	if (size < HEAD_BYTES)
		return 0;
	if (form == READERS) {
		check_frames(data + HEAD_BYTES, size - HEAD_BYTES);
		return 0;
	}
	live = o2_alloc_live();
	object = read_text((const char *)data + HEAD_BYTES, size - HEAD_BYTES, data[1]);
	if (object != NULL)
		check_reader(&readers[form], data, object);
	json_decref(object);
	if (o2_alloc_live() != live)
		o2_fuzz_fail("json: %s: %lld allocations are left", readers[form].form,
			     (long long)(o2_alloc_live() - live));
	return 0;
}
