/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "props/check/reproducer.h"

/* Chains of work requests: the writes, as those of rdma_plan, and the message behind them. */

static void put_chain(struct o2_reproducer *r)
{
	const struct o2_impl_gather *message = &r->asked.chain.message;
	char more[128];

	snprintf(more, sizeof(more),
		 "\t.message = {.addr = 0x%" PRIx64 "u, .length = %" PRIu32 "u, .lkey = 0x%" PRIx32 "u},\n",
		 message->addr, message->length, message->lkey);
	o2_reproducer_rdma(r, "o2_impl_chain_in", "rdma.", more, &r->asked.chain.rdma);
}

static const char text_of_message[] =
	"/* The last request sends, and it alone; it gathers the message. */\n"
	"static void say_message(void)\n"
	"{\n"
	"\tconst struct o2_impl_chain_wr *wr = &out_wr[out.nwr - 1];\n"
	"\tuint32_t i;\n\n"
	"\tfor (i = 0; i < out.nwr; i++) {\n"
	"\t\tconst int last = i + 1 == out.nwr;\n\n"
	"\t\tprintf(\"  request %\" PRIu32 \"\\n\", i);\n"
	"\t\tsay(\"    operation\", last ? O2_IMPL_SEND : O2_IMPL_WRITE, out_wr[i].opcode, 1);\n"
	"\t\tsay(\"    signaled\", last, out_wr[i].signaled, 1);\n"
	"\t}\n"
	"\tsay(\"entries of the message\", 1, wr->num_sge, 1);\n"
	"\tif (wr->first_sge >= out.nsge)\n"
	"\t\treturn;\n"
	"\tsay(\"    addr\", in.message.addr, out_sge[wr->first_sge].addr, 1);\n"
	"\tsay(\"    length\", in.message.length, out_sge[wr->first_sge].length, 1);\n"
	"\tsay(\"    lkey\", in.message.lkey, out_sge[wr->first_sge].lkey, 1);\n"
	"}\n\n";

static const char text_of_writes[] =
	"/* What is in front of the message, as rdma_plan answers it; here keys are looked at. */\n"
	"static void take_writes(struct o2_impl_rdma_plan *plan)\n"
	"{\n"
	"\tstatic struct o2_impl_wr write[WRS];\n"
	"\tstatic struct o2_impl_segment piece[SGE];\n"
	"\tuint32_t i, k;\n\n"
	"\tplan->wr = write;\n"
	"\tplan->sge = piece;\n"
	"\tplan->nwr = out.nwr - 1;\n"
	"\tplan->nsge = out.nsge > 0 ? out.nsge - 1 : 0;\n"
	"\tfor (i = 0; i < plan->nsge; i++) {\n"
	"\t\tpiece[i].addr = out_sge[i].addr;\n"
	"\t\tpiece[i].length = out_sge[i].length;\n"
	"\t\tif (out_sge[i].lkey != in.rdma.source.rd_key)\n"
	"\t\t\tsay(\"lkey of a gather entry\", in.rdma.source.rd_key, out_sge[i].lkey, 1);\n"
	"\t}\n"
	"\tfor (i = 0; i < plan->nwr; i++) {\n"
	"\t\twrite[i].remote_addr = out_wr[i].remote_addr;\n"
	"\t\twrite[i].first_sge = out_wr[i].first_sge;\n"
	"\t\twrite[i].num_sge = out_wr[i].num_sge;\n"
	"\t\tfor (k = write[i].first_sge; k < plan->nsge && k - write[i].first_sge < write[i].num_sge; k++)\n"
	"\t\t\twrite[i].length += piece[k].length;\n"
	"\t\tif (out_wr[i].rkey != in.rdma.sink.rd_key)\n"
	"\t\t\tsay(\"rkey of a write\", in.rdma.sink.rd_key, out_wr[i].rkey, 1);\n"
	"\t}\n"
	"}\n\n";

static void put_functions(struct o2_reproducer *r)
{
	fputs(o2_reproducer_runs, r->out);
	fputs(o2_reproducer_shape, r->out);
	fputs(o2_reproducer_fragments, r->out);
	fputs(text_of_message, r->out);
	fputs(text_of_writes, r->out);
	o2_reproducer_put_runs(r, "from", &r->comparison.expected_from);
	o2_reproducer_put_runs(r, "to", &r->comparison.expected_to);
}

static const char text_of_compare[] =
	"\tif (out.nwr == 0)\n"
	"\t\treturn;\n"
	"\tsay_message();\n"
	"\ttake_writes(&writes);\n"
	"\tsay_shape(&writes, in.rdma.limits.max_wrs, in.rdma.limits.wrq_sge);\n"
	"\tsay_fragments(&in.rdma.sink, &writes);\n"
	"\tfor (i = 0; i < writes.nsge; i++)\n"
	"\t\tadd(&local, writes.sge[i].addr, writes.sge[i].length);\n"
	"\tfor (i = 0; i < writes.nwr; i++)\n"
	"\t\tadd(&remote, writes.wr[i].remote_addr, writes.wr[i].length);\n";

static void compare_chain(struct o2_reproducer *r)
{
	const bool result = r->expected.kind == O2_ANSWER_RESULT;

	fputs("#define WRS (O2_IMPL_MAX_FRAGS + 1)\n"
	      "#define SGE (O2_IMPL_MAX_FRAGS * O2_IMPL_MAX_WRQ_SGE + 1)\n",
	      r->out);
	o2_reproducer_array(r, "struct o2_impl_chain_wr", "out_wr", O2_CHAIN_WRS);
	o2_reproducer_array(r, "struct o2_impl_gather", "out_sge", O2_CHAIN_SGE);
	fputs("static struct o2_impl_chain out = {\n"
	      "\t.wr_capacity = WRS, .wr = out_wr, .sge_capacity = SGE, .sge = out_sge,\n};\n\n",
	      r->out);
	if (result)
		put_functions(r);
	o2_reproducer_begin_compare(r);
	if (result) {
		fprintf(r->out,
			"\tstatic struct runs local, remote;\n"
			"\tstatic struct o2_impl_rdma_plan writes;\n"
			"\tuint32_t i;\n\n"
			"\tsay(\"nwr\", %" PRIu32 "u, out.nwr, out.nwr == 0 || %d);\n",
			r->expected.chain.nwr, o2_reproducer_is(r, "/work-requests"));
		fputs(text_of_compare, r->out);
		fputs(o2_reproducer_both, r->out);
	}
	o2_reproducer_end_compare(r);
}

const struct o2_reproducer_stage o2_reproducer_chain = {.question = put_chain, .answer = compare_chain};
