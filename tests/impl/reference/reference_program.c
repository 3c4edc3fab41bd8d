/* SPDX-License-Identifier: MIT */
/* The reference as a program that speaks the process protocol (docs/oracle.md): it reads requests from standard
 * input and writes answers to standard output. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json_read.h"
#include "oracle/answer.h"
#include "oracle/frame.h"

/* The member "stages" of each answer: all stages of version 2. */
static json_t *stages(void)
{
	json_t *names = json_array();

	for (uint32_t i = O2_STAGES_1; i < O2_STAGES; i++)
		json_array_append_new(names, json_string(o2_stage_name((enum o2_stage)i)));
	return names;
}

static int answer_frame(const char *text, uint32_t length_bytes)
{
	static struct o2_case asked;
	static struct o2_answer answer;
	static struct o2_frame_buffer out;
	struct o2_error error = {0};
	char words[200];
	json_t *object;
	int rc;

	o2_json_arena_begin();
	object = json_loadb(text, length_bytes, 0, NULL);
	rc = o2_case_from_json(object, &asked, &error);
	o2_json_arena_end(object);
	if (rc != 0) {
		o2_error_text(&error, words, sizeof(words));
		fprintf(stderr, "cannot read the request: %s\n", words);
		return 1;
	}
	o2_answer_of_reference(&asked, &answer);
	o2_json_arena_begin();
	object = o2_answer_to_json(&asked, &answer);
	json_object_set_new(object, "stages", stages());
	out.used = 0;
	rc = o2_frame_append(&out, object);
	o2_json_arena_end(object);
	return rc != 0 || fwrite(out.bytes, 1, out.used, stdout) != out.used || fflush(stdout) != 0;
}

int main(void)
{
	uint8_t head[O2_FRAME_HEAD_BYTES];
	char *text = malloc(O2_FRAME_MAX_BYTES);
	int rc = text == NULL;

	while (rc == 0 && fread(head, 1, sizeof(head), stdin) == sizeof(head)) {
		const uint32_t length =
			head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;

		if (length > O2_FRAME_MAX_BYTES || fread(text, 1, length, stdin) != length)
			rc = 1;
		else
			rc = answer_frame(text, length);
	}
	free(text);
	return rc;
}
