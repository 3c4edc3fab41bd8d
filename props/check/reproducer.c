/* SPDX-License-Identifier: MIT */
#include "props/check/reproducer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errno_name.h"
#include "props/check/check_view.h"

#define COMMENT_COLUMNS 80u

static const char text_of_say[] =
	"static unsigned int differences;\n\n"
	"/* One number of both answers.  compared: 0 where another one is right, too. */\n"
	"static void say(const char *what, uint64_t reference, uint64_t implementation, int compared)\n"
	"{\n"
	"\tconst int differs = compared && reference != implementation;\n\n"
	"\tprintf(reference > 65535 || implementation > 65535\n"
	"\t\t       ? \"  %-28s  reference 0x%-18\" PRIx64 \"  implementation 0x%-18\" PRIx64 \"  %s\\n\"\n"
	"\t\t       : \"  %-28s  reference %-20\" PRIu64 \"  implementation %-20\" PRIu64 \"  %s\\n\",\n"
	"\t       what, reference, implementation, differs ? \"DIFFERS\" : \"\");\n"
	"\tdifferences += differs;\n"
	"}\n\n";

/* The struct and the symbol of the ABI version with the stage: "struct o2_impl" and "o2_impl_v1", or version 2. */
static void put_load(const struct o2_reproducer *r)
{
	const bool two = r->asked.stage >= O2_STAGES_1;
	const char *type = two ? "struct o2_impl_2" : "struct o2_impl";
	const char *symbol = two ? "o2_impl_v2" : "o2_impl_v1";

	fprintf(r->out,
		"static const %s *load(const char *path)\n"
		"{\n"
		"#ifdef LINKED\n"
		"\t(void)path;\n"
		"\treturn %s();\n"
		"#else\n"
		"\tconst %s *(*table)(void);\n"
		"\tvoid *object = dlopen(path, RTLD_NOW);\n\n"
		"\tif (object == NULL) {\n"
		"\t\tfprintf(stderr, \"%%s\\n\", dlerror());\n"
		"\t\treturn NULL;\n"
		"\t}\n"
		"\t*(void **)&table = dlsym(object, \"%s\");\n"
		"\treturn table == NULL ? NULL : table();\n"
		"#endif\n"
		"}\n\n",
		type, symbol, type, symbol);
}

void o2_reproducer_array(struct o2_reproducer *r, const char *type, const char *name, uint32_t count)
{
	fprintf(r->out,
		"static uint8_t %s_memory[(sizeof(%s) * %" PRIu32 "u + PAGE - 1) / PAGE * PAGE + PAGE]\n"
		"\t__attribute__((aligned(PAGE)));\n"
		"#define %s ((%s *)(%s_memory + sizeof(%s_memory) - PAGE - sizeof(%s) * %" PRIu32 "u))\n",
		name, type, count, name, type, name, name, type, count);
	assert(r->arrays < O2_REPRODUCER_ARRAYS);
	snprintf(r->array[r->arrays++], sizeof(r->array[0]), "%s", name);
}

/* Write the function that makes the memory behind the arrays inaccessible, before the question is asked. */
static void put_guards(const struct o2_reproducer *r)
{
	fputs("static void guard(void)\n{\n", r->out);
	if (r->asked.stage == O2_STAGE_MSG_DECODE && r->asked.msg_decode.length_bytes > 0)
		fputs("\tmemcpy(in_bytes, received, sizeof(received));\n", r->out);
	for (uint32_t i = 0; i < r->arrays; i++)
		fprintf(r->out,
			"\tif (mprotect(%s_memory + sizeof(%s_memory) - PAGE, PAGE, PROT_NONE) != 0)\n"
			"\t\tperror(\"mprotect\");\n",
			r->array[i], r->array[i]);
	fputs("}\n\n", r->out);
}

bool o2_reproducer_is(const struct o2_reproducer *r, const char *end)
{
	const size_t length = strlen(r->check), end_length = strlen(end);

	return length >= end_length && strcmp(r->check + length - end_length, end) == 0;
}

/* --- the comment at the top --- */

/* Write any text as lines of a comment. */
static void put_comment(const char *text, FILE *out)
{
	const bool command = *text == ' '; /* a command stays on one line */
	uint32_t column = 0;

	fputs(" * ", out);
	for (; *text != '\0'; text++) {
		const bool ends = text[0] == '*' && text[1] == '/';
		const bool shown = *text >= ' ' && *text < 0x7f && *text != '\\' && *text != '?';

		if (*text == ' ' && ++column > COMMENT_COLUMNS && !command) {
			fputs("\n * ", out);
			column = 0;
			continue;
		}
		fputc(shown && !ends && !(text[0] == '/' && text[1] == '*') ? *text : '.', out);
		column++;
	}
	fputc('\n', out);
}

static void put_head(const struct o2_reproducer *r, const char *library, const char *file)
{
	const char *stage = o2_stage_name(r->asked.stage);
	char text[1024];

	fputs("/*\n", r->out);
	put_comment(r->check, r->out);
	fputs(" *\n", r->out);
	put_comment(o2_view_text(r->finding, "holds"), r->out);
	fputs(" *\n", r->out);
	snprintf(text, sizeof(text), "Stage %s, %s: reference %s, implementation %s.", stage,
		 o2_view_text(r->finding, "field"), o2_view_text(r->finding, "expected"),
		 o2_view_text(r->finding, "found"));
	put_comment(text, r->out);
	fputs(" *\n", r->out);
	snprintf(text, sizeof(text), "    cc -o again %s $(pkg-config --cflags o2ref) -ldl", file);
	put_comment(text, r->out);
	snprintf(text, sizeof(text), "    ./again %s", library);
	put_comment(text, r->out);
	fputs(" *\n * or, with the implementation's own sources:\n *\n", r->out);
	snprintf(text, sizeof(text), "    cc -DLINKED -o again %s mine.c $(pkg-config --cflags o2ref)", file);
	put_comment(text, r->out);
	fputs(" *     ./again\n"
	      " *\n"
	      " * Exit status 0: it answers like the reference; 1: it differs; 2: it cannot be asked.\n"
	      " * A write behind an array of the answer is a crash.\n"
	      " */\n"
	      "#include <inttypes.h>\n"
	      "#ifndef LINKED\n"
	      "#include <dlfcn.h>\n"
	      "#endif\n"
	      "#include <stddef.h>\n"
	      "#include <stdio.h>\n"
	      "#include <string.h>\n"
	      "#include <sys/mman.h>\n\n"
	      "#include <o2ref/impl.h>\n\n"
	      "#define PAGE 4096u\n\n",
	      r->out);
}

/* --- main --- */

/* Write a text as content of a string literal; an implementation's names may hold any character. */
static void put_literal(const char *text, FILE *out)
{
	for (; *text != '\0'; text++)
		if (*text >= ' ' && *text < 0x7f && *text != '"' && *text != '\\' && *text != '?')
			fputc(*text, out);
		else
			fprintf(out, "\\%03o", (unsigned char)*text);
}

/* Write what the reference says of a refusal; of two refusals, compare what the finding is about. */
static void put_refusals(const struct o2_reproducer *r)
{
	const struct o2_answer_refusal *right = &r->expected.refusal;
	const char *name = o2_view_text(
		json_object_get(json_object_get(r->finding, "implementation"), "refused"), "rule");
	char symbol[O2_ERRNO_TEXT_BYTES];

	if (r->expected.kind != O2_ANSWER_REFUSED) {
		fputs("\tif (status == O2_IMPL_REFUSED)\n"
		      "\t\tprintf(\"  refused with error %\" PRIu32 \" (%s); the reference admits it\\n\",\n"
		      "\t\t       refusal.error, refusal.name);\n",
		      r->out);
		return;
	}
	fprintf(r->out, "\tprintf(\"  the reference refuses: %s, %s\\n\");\n",
		o2_errno_text(right->error, symbol), right->name);
	fputs("\tif (status != O2_IMPL_REFUSED)\n"
	      "\t\treturn;\n"
	      "\tprintf(\"  refused as \\\"%s\\\"\\n\", refusal.name);\n",
	      r->out);
	fprintf(r->out, "\tsay(\"error\", %d, refusal.error, %d);\n", right->error,
		r->profile == O2_PROFILE_STRICT || o2_reproducer_is(r, "/errno"));
	if (o2_reproducer_is(r, "/index") || o2_reproducer_is(r, "/why"))
		fprintf(r->out, "\tsay(\"index\", %" PRIu32 "u, refusal.index, 1);\n", right->index);
	if (o2_reproducer_is(r, "/cost"))
		fprintf(r->out, "\tsay(\"cost\", %d, refusal.cost, 1);\n", right->cost);
	if (o2_reproducer_is(r, "/where"))
		fprintf(r->out, "\tsay(\"where\", %d, refusal.where, 1);\n", right->where);
	if (o2_reproducer_is(r, "/rule")) {
		fputs("\tsay(\"the name of another rule\", 0, strcmp(refusal.name, \"", r->out);
		put_literal(name, r->out);
		fputs("\") == 0, 1);\n", r->out);
	}
}

static void put_main(const struct o2_reproducer *r, const char *library)
{
	const char *stage = o2_stage_name(r->asked.stage);
	const char *type = r->asked.stage >= O2_STAGES_1 ? "struct o2_impl_2" : "struct o2_impl";

	fputs("static void say_refusal(int32_t status)\n{\n", r->out);
	put_refusals(r);
	fputs("}\n\nint main(int argc, char **argv)\n{\n"
	      "\tconst ",
	      r->out);
	fprintf(r->out, "%s *impl = load(argc > 1 ? argv[1] : \"", type);
	put_literal(library, r->out);
	fprintf(r->out,
		"\");\n"
		"\tint32_t status;\n\n"
		"\tif (impl == NULL || impl->struct_bytes <= offsetof(%s, %s) || impl->%s == NULL) {\n"
		"\t\tfprintf(stderr, \"no implementation of %s\\n\");\n"
		"\t\treturn 2;\n"
		"\t}\n"
		"\tguard();\n"
		"\tstatus = impl->%s(&in, &out, &refusal);\n"
		"\tif (status == O2_IMPL_NOT_IMPLEMENTED) {\n"
		"\t\tfprintf(stderr, \"not implemented\\n\");\n"
		"\t\treturn 2;\n"
		"\t}\n"
		"\tsay(\"status\", %s, (uint32_t)status, 1);\n"
		"\tsay_refusal(status);\n"
		"\tif (status == O2_IMPL_OK)\n"
		"\t\tcompare();\n"
		"\tprintf(\"%%s\\n\", differences == 0 ? \"agrees\" : \"differs\");\n"
		"\treturn differences != 0;\n"
		"}\n",
		type, stage, stage, stage, stage,
		r->expected.kind == O2_ANSWER_REFUSED ? "O2_IMPL_REFUSED" : "O2_IMPL_OK");
}

const struct o2_reproducer_stage *o2_reproducer_stage(enum o2_stage stage)
{
	static const struct o2_reproducer_stage *const stages[O2_STAGES] = {
		[O2_STAGE_DEVICE] = &o2_reproducer_device,	 [O2_STAGE_RDMA_CHAIN] = &o2_reproducer_chain,
		[O2_STAGE_CONNECT] = &o2_reproducer_connect,	 [O2_STAGE_DELIVER] = &o2_reproducer_deliver,
		[O2_STAGE_KEYS] = &o2_reproducer_keys,		 [O2_STAGE_SETUP] = &o2_reproducer_setup,
		[O2_STAGE_SEND_PLAN] = &o2_reproducer_send_plan, [O2_STAGE_FLOW] = &o2_reproducer_flow,
	};

	return stages[stage];
}

static bool prepare(struct o2_reproducer *r)
{
	static const struct o2_error_map no_map;
	struct o2_error error;

	if (o2_case_from_json(json_object_get(r->finding, "question"), &r->asked, &error) != 0 ||
	    !o2_reproducer_writes(r->asked.stage))
		return false;
	r->comparison.profile = r->profile;
	r->comparison.map = &no_map;
	r->expected.conduct.check = O2_CHECKS;
	o2_answer_of_reference(&r->asked, &r->expected);
	o2_compare_answers(&r->comparison, &r->asked, &r->expected, &r->expected);
	return true;
}

bool o2_reproducer(const json_t *finding, enum o2_profile profile, const char *library, const char *file,
		   FILE *out)
{
	struct o2_reproducer *r = calloc(1, sizeof(*r));
	bool made = false;

	if (r == NULL)
		return false;
	r->finding = finding;
	r->profile = profile;
	r->check = o2_view_text(finding, "check");
	r->out = out;
	if (prepare(r)) {
		put_head(r, library, file);
		o2_reproducer_question(r);
		fputs("\nstatic struct o2_impl_refusal refusal = {.index = UINT32_MAX};\n", out);
		fputs(text_of_say, out);
		o2_reproducer_answer(r);
		put_load(r);
		put_guards(r);
		put_main(r, library);
		made = true;
	}
	free(r);
	return made;
}
