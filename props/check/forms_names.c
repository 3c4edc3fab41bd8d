/* SPDX-License-Identifier: MIT */
/* Which check a difference belongs to, by the field that it names (docs/oracle.md, "Checks"). */
#include <stdio.h>
#include <string.h>

#include "oracle/stage.h"
#include "props/check/forms.h"

struct row {
	enum o2_stage stage;
	const char *field;  /* prefix of the field; "[]" stands for any index */
	const char *checks; /* last words of ids, or whole ids, joined by "|" */
};

static const struct row rows[] = {
	{O2_STAGE_MSG_DECODE, "ibm_version", "wire/decode/version"},
	{O2_STAGE_MSG_DECODE, "ibm_type", "wire/decode/type"},
	{O2_STAGE_MSG_DECODE, "ibm_nob", "wire/decode/nob"},
	{O2_STAGE_MSG_DECODE, "ibm_credits", "wire/decode/credits"},
	{O2_STAGE_MSG_DECODE, "ibm_srcnid", "wire/decode/srcnid"},
	{O2_STAGE_MSG_DECODE, "ibm_dstnid", "wire/decode/dstnid"},
	{O2_STAGE_MSG_DECODE, "ibm_srcstamp", "wire/decode/srcstamp"},
	{O2_STAGE_MSG_DECODE, "ibm_dststamp", "wire/decode/dststamp"},
	{O2_STAGE_MSG_DECODE, "order", "wire/decode/byte-order"},
	{O2_STAGE_MSG_DECODE, "cksum_flavour", "wire/decode/cksum-flavour"},
	{O2_STAGE_MSG_DECODE, "ibcp_", "wire/decode/connparams"},
	{O2_STAGE_MSG_DECODE, "hdr", "wire/decode/lnet-hdr"},
	{O2_STAGE_MSG_DECODE, "ibprm_cookie", "wire/decode/cookie"},
	{O2_STAGE_MSG_DECODE, "ibgm_cookie", "wire/decode/cookie"},
	{O2_STAGE_MSG_DECODE, "ibcm_cookie", "wire/decode/cookie"},
	{O2_STAGE_MSG_DECODE, "ibpam_", "wire/decode/cookie"},
	{O2_STAGE_MSG_DECODE, "ibcm_status", "wire/decode/status"},
	{O2_STAGE_MSG_DECODE, "rd_key", "wire/decode/rd_key"},
	{O2_STAGE_MSG_DECODE, "rd_nfrags", "wire/decode/rd_nfrags"},
	{O2_STAGE_MSG_DECODE, "rd_frags[].rf_addr", "wire/decode/rf_addr"},
	{O2_STAGE_MSG_DECODE, "rd_frags[].rf_nob", "wire/decode/rf_nob"},
	{O2_STAGE_MSG_DECODE, "payload", "wire/decode/payload"},
	{O2_STAGE_SG_BUILD, "list byte ", "bytes"},
	{O2_STAGE_SG_BUILD, "nob", "nob"},
	{O2_STAGE_SG_BUILD, "entry[].length", "entry-in-page"},
	{O2_STAGE_SG_BUILD, "count", "entries|too-many"},
	{O2_STAGE_SG_BUILD, "gaps", "gap-flag|gap-exact"},
	{O2_STAGE_DMA_MAP, "list byte ", "bytes"},
	{O2_STAGE_DMA_MAP, "nob", "nob"},
	{O2_STAGE_DMA_MAP, "segment[].length", "empty-segment"},
	{O2_STAGE_DMA_MAP, "count", "segments"},
	{O2_STAGE_REG_PLAN, "fragments byte ", "bytes"},
	{O2_STAGE_REG_PLAN, "frag[].", "reg/sink-fragments"},
	{O2_STAGE_REG_PLAN, "frag[]", "bytes"},
	{O2_STAGE_REG_PLAN, "frags", "reg/sink-fragments"},
	{O2_STAGE_REG_PLAN, "nfrags", "peer-limit|fragments"},
	{O2_STAGE_REG_PLAN, "remote_write", "access|reg/source-access"},
	{O2_STAGE_REG_PLAN, "local_write", "access"},
	{O2_STAGE_REG_PLAN, "length", "range|reg/fmr/range-in-pages"},
	{O2_STAGE_REG_PLAN, "iova", "iova|pages"},
	{O2_STAGE_REG_PLAN, "npages", "pages|page-list"},
	{O2_STAGE_REG_PLAN, "page_offset", "pages"},
	{O2_STAGE_REG_PLAN, "page[]", "pages|page-list"},
	{O2_STAGE_REG_PLAN, "nentries", "entries"},
	{O2_STAGE_REG_PLAN, "entry[].", "entries"},
	{O2_STAGE_RDMA_CHAIN, "wr[].opcode", "message-last"},
	{O2_STAGE_RDMA_CHAIN, "wr[].signaled", "signaled"},
	{O2_STAGE_RDMA_CHAIN, "wr[].rkey", "writes"},
	{O2_STAGE_RDMA_CHAIN, "wr[].num_sge", "message-bytes|rdma/sge-over-limit|rdma/sge-index"},
	{O2_STAGE_RDMA_CHAIN, "wr[].first_sge", "message-bytes|rdma/sge-index"},
	{O2_STAGE_RDMA_CHAIN, "nsge", "message-bytes|rdma/sge-index"},
	{O2_STAGE_RDMA_CHAIN, "sge[].addr", "message-bytes"},
	{O2_STAGE_RDMA_CHAIN, "sge[].length", "message-bytes|rdma/empty-sge"},
	{O2_STAGE_RDMA_CHAIN, "sge[].lkey", "message-bytes|writes"},
	{O2_STAGE_RDMA_CHAIN, "nwr", "message-last|rdma/wr-over-limit|rdma/work-requests"},
	{O2_STAGE_RDMA_PLAN, "lkey", "rdma/lkey"},
	{O2_STAGE_RDMA_PLAN, "rkey", "rdma/rkey"},
	{O2_STAGE_RDMA_PLAN, "nob", "rdma/bytes-moved"},
	{O2_STAGE_RDMA_PLAN, "wr[].first_sge", "rdma/sge-index"},
	{O2_STAGE_RDMA_PLAN, "nsge", "rdma/sge-index"},
	{O2_STAGE_RDMA_PLAN, "wr[].num_sge", "rdma/sge-over-limit|rdma/sge-index"},
	{O2_STAGE_RDMA_PLAN, "sge[].length", "rdma/empty-sge"},
	{O2_STAGE_RDMA_PLAN, "wr[].length", "rdma/wr-length|rdma/wr-leaves-fragment"},
	{O2_STAGE_RDMA_PLAN, "nwr", "rdma/wr-over-limit|rdma/work-requests"},
	{O2_STAGE_RDMA_PLAN, "source byte ", "rdma/source-bytes"},
	{O2_STAGE_RDMA_PLAN, "sink byte ", "rdma/sink-bytes"},
	{O2_STAGE_TRANSFER, "source byte ", "bytes"},
	{O2_STAGE_TRANSFER, "sink byte ", "bytes"},
	{O2_STAGE_TRANSFER, "source.length", "range|range-in-pages"},
	{O2_STAGE_TRANSFER, "sink.length", "range|range-in-pages"},
	{O2_STAGE_TRANSFER, "source.remote_write", "source-access"},
	{O2_STAGE_TRANSFER, "sink.remote_write", "access"},
	{O2_STAGE_TRANSFER, "source.frags", "published"},
	{O2_STAGE_TRANSFER, "sink.frags", "published|sink-fragments"},
	{O2_STAGE_TRANSFER, "sink.nfrags", "peer-limit"},
	{O2_STAGE_TRANSFER, "source.iova", "iova|pages"},
	{O2_STAGE_TRANSFER, "sink.iova", "iova|pages"},
	{O2_STAGE_TRANSFER, "source.npages", "pages"},
	{O2_STAGE_TRANSFER, "sink.npages", "pages"},
	{O2_STAGE_TRANSFER, "source.page_offset", "pages"},
	{O2_STAGE_TRANSFER, "sink.page_offset", "pages"},
	{O2_STAGE_TRANSFER, "source.page[]", "pages"},
	{O2_STAGE_TRANSFER, "sink.page[]", "pages"},
	{O2_STAGE_TRANSFER, "source.nentries", "entries"},
	{O2_STAGE_TRANSFER, "sink.nentries", "entries"},
	{O2_STAGE_TRANSFER, "source.entry[].length", "entries"},
	{O2_STAGE_TRANSFER, "sink.entry[].length", "entries"},
	{O2_STAGE_TRANSFER, "sink.local_write", "access"},
	{O2_STAGE_TRANSFER, "sink.frag[]", "sink-fragments"},
	{O2_STAGE_TRANSFER, "plan.lkey", "keys"},
	{O2_STAGE_TRANSFER, "plan.rkey", "keys"},
	{O2_STAGE_TRANSFER, "plan.nob", "nob"},
	{O2_STAGE_TRANSFER, "plan.wr[]", "outside-region"},
	{O2_STAGE_TRANSFER, "plan.sge[]", "outside-region"},
	{O2_STAGE_TRANSFER, "wr[].", "work-requests"},
	{O2_STAGE_TRANSFER, "sge[].", "work-requests"},
	{O2_STAGE_TRANSFER, "nwr", "work-requests"},
	{O2_STAGE_TRANSFER, "nsge", "work-requests"},
	{O2_STAGE_DEVICE, "mode", "mode"},
	{O2_STAGE_DEVICE, "queue_depth", "queue-depth"},
	{O2_STAGE_DEVICE, "concurrent_sends", "concurrent-sends"},
	{O2_STAGE_DEVICE, "send_wrs", "send-wrs"},
	{O2_STAGE_DEVICE, "recv_wrs", "recv-wrs"},
	{O2_STAGE_DEVICE, "cq_entries", "cq-entries"},
	{O2_STAGE_DEVICE, "", "usable"}, /* the name of a mode */
	{O2_STAGE_CONNECT, "params.ibm_version", "version"},
	{O2_STAGE_CONNECT, "params.queue_depth", "queue-depth"},
	{O2_STAGE_CONNECT, "params.max_frags", "max-frags"},
	{O2_STAGE_CONNECT, "params.max_msg_size", "max-msg-size"},
	{O2_STAGE_CONNECT, "peer_nid", "peer"},
	{O2_STAGE_CONNECT, "peer_incarnation", "peer"},
	{O2_STAGE_DELIVER, "status", "status"},
	{O2_STAGE_DELIVER, "length", "length"},
	{O2_STAGE_SEND_PLAN, "bytes[]", NULL}, /* as for an encoded message */
	{O2_STAGE_SEND_PLAN, "hdr.", "wire/lnet-nid-folded"},
	{O2_STAGE_SEND_PLAN, "nsge", "entries"},
	{O2_STAGE_SEND_PLAN, "sge[].length", "entries|slot"},
	{O2_STAGE_SEND_PLAN, "sge[]", "key|mapping-failed|no-cpu-mapping"},
	{O2_STAGE_SEND_PLAN, "plan.", "plan"},
	{O2_STAGE_SEND_PLAN, "length", "length"},
	{O2_STAGE_SEND_PLAN, "payload byte ", "payload"},
	{O2_STAGE_SEND_PLAN, "ibm_cksum", "checksum|wire/checksum-one-flavour"},
};

static bool begins(const char *text, const char *field)
{
	while (*field != '\0') {
		if (strncmp(field, "[]", 2) == 0) {
			const size_t digits = strspn(text + 1, "0123456789");

			if (text[0] != '[' || digits == 0 || text[1 + digits] != ']')
				return false;
			text += digits + 2;
			field += 2;
		} else if (*field++ != *text++) {
			return false;
		}
	}
	return true;
}

static bool has_rows(enum o2_stage stage)
{
	return stage != O2_STAGE_MSG_ENCODE && stage != O2_STAGE_KEYS && stage != O2_STAGE_SETUP &&
	       stage != O2_STAGE_FLOW;
}

static const struct row *find(enum o2_stage stage, const char *field)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].stage == stage && begins(field, rows[i].field))
			return &rows[i];
	/* A chain contains the work requests of a plan. */
	return stage == O2_STAGE_RDMA_CHAIN ? find(O2_STAGE_RDMA_PLAN, field) : NULL;
}

/* The beginning of the ids of a stage's checks: its name, and the kind of question. */
static void first_words(const struct o2_case *asked, char *text, size_t room)
{
	static const char *const devices[] = {"bus", "virtual", "iommu"};
	static const char *const modes[] = {"global", "fmr", "fastreg", "user", "phys", "fastreg_gaps"};
	const char *name = o2_stage_name(asked->stage);

	if (asked->stage == O2_STAGE_SG_BUILD)
		snprintf(text, room, "sg/%s", asked->sg.memory.buffer.kind == O2_IOV ? "iov" : "kiov");
	else if (asked->stage == O2_STAGE_DMA_MAP)
		snprintf(text, room, "dma/%s", devices[asked->dma.device.device.kind]);
	else if (asked->stage == O2_STAGE_REG_PLAN)
		snprintf(text, room, "reg/%s", modes[asked->reg.request.mode]);
	else if (asked->stage == O2_STAGE_RDMA_CHAIN)
		snprintf(text, room, "chain");
	else
		snprintf(text, room, "%.*s", (int)strcspn(name, "_"), name);
}

/* Is the id one of the row's checks? */
static bool is_of(const struct row *row, const char *first, const char *id)
{
	char due[80];

	if (strcmp(id, "wire/lnet-nid-folded") == 0)
		return true;
	for (const char *at = row->checks; at != NULL; at = strchr(at, '|')) {
		at += *at == '|';
		const int length = (int)strcspn(at, "|");

		if (memchr(at, '/', (size_t)length) != NULL)
			snprintf(due, sizeof(due), "%.*s", length, at);
		else
			snprintf(due, sizeof(due), "%s/%.*s", first, length, at);
		if (strcmp(due, id) == 0)
			return true;
	}
	return false;
}

/* What a source's region allows the peer has its own check. */
static bool is_of_side(const struct o2_case *asked, const char *field, const char *id)
{
	return asked->stage != O2_STAGE_REG_PLAN || strcmp(field, "remote_write") != 0 ||
	       (strcmp(id, "reg/source-access") == 0) == (asked->reg.request.side == O2_SOURCE);
}

static bool is_of_byte(const struct o2_msg *msg, const char *field, const char *id)
{
	uint32_t at = 0;

	return sscanf(field, "bytes[%u]", &at) == 1 &&
	       (strcmp(o2_forms_check_at(msg, at), id) == 0 || strcmp(id, "wire/lnet-nid-folded") == 0);
}

const char *o2_forms_other_check(const struct o2_forms_run *run)
{
	static char text[200];
	char first[24], id[80];

	first_words(&run->asked, first, sizeof(first));
	for (uint32_t i = 0; i < run->comparison.count; i++) {
		const struct o2_difference *item = &run->comparison.item[i];
		const struct row *row = find(run->asked.stage, item->field);

		snprintf(id, sizeof(id), "%s", o2_check_name(item->check));
		if (strcmp(id, "rdma/impossible") == 0)
			snprintf(id, sizeof(id), "%.*s", (int)strcspn(item->cause, ":"), item->cause);
		if (row == NULL		  ? !has_rows(run->asked.stage)
		    : row->checks == NULL ? is_of_byte(&run->asked.send.msg, item->field, id)
					  : is_of(row, first, id) && is_of_side(&run->asked, item->field, id))
			continue;
		snprintf(text, sizeof(text), "%s of %s", item->field, id);
		return text;
	}
	return NULL;
}
