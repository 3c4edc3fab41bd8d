/* SPDX-License-Identifier: MIT */
/* The output of o2ref decode for a message: docs/cli.md, "The hex dump". */
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "props/command/told.h"
#include "props/model/wire_model.h"
#include "wire/nid.h"

struct dump {
	FILE *out;
	const uint8_t *bytes;
	const struct o2_told_odd *odd;
};

#define AT_SUM 12u

static void row(const struct dump *dump, size_t at, size_t width, const char *name, const char *value)
{
	const bool marked = dump->odd->refused && at == AT_SUM;
	char hex[32] = "";

	for (size_t i = 0; i < width; i++)
		snprintf(hex + strlen(hex), sizeof(hex) - strlen(hex), i == 0 ? "%02x" : " %02x",
			 dump->bytes[at + i]);
	fprintf(dump->out, "%c %04zx  %-23s  %-34s  %s\n", marked ? '>' : ' ', at, hex, name, value);
}

static void number(const struct dump *dump, size_t at, size_t width, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	row(dump, at, width, name, text);
}

static void hex(const struct dump *dump, size_t at, size_t width, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	row(dump, at, width, name, text);
}

static void nid(const struct dump *dump, size_t at, const char *name, uint64_t value)
{
	char text[O2_NID_TEXT_BYTES];

	o2_nid_to_text(value, text, sizeof(text));
	row(dump, at, 8, name, text);
}

static void handle(const struct dump *dump, const char *name, const struct o2_lnet_handle *value)
{
	const uint64_t halves[] = {value->wh_interface_cookie, value->wh_object_cookie};
	static const char *const names[] = {"wh_interface_cookie", "wh_object_cookie"};
	char text[64];

	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "hdr.%s.%s", name, names[i]);
		if (halves[i] == UINT64_MAX)
			row(dump, 0x50 + 8 * i, 8, text, "none");
		else
			hex(dump, 0x50 + 8 * i, 8, text, halves[i]);
	}
}

/* Write bytes, eight per row, at most 64 unless all are wanted; many zeros take one row. */
static void block(const struct dump *dump, size_t at, size_t end, const char *name, const char *meaning)
{
	const size_t count = end - at, shown = count > 64 && !dump->odd->all ? at + 64 : end;
	bool zero = true;
	char text[64];

	for (size_t i = at; i < end; i++)
		zero = zero && dump->bytes[i] == 0;
	if (zero && count > 8) {
		fprintf(dump->out, "  %04zx  00 00 00 00 00 00 00 ..  %-34s  %zu zero bytes%s\n", at, name,
			count, meaning);
		return;
	}
	for (size_t from = at; from < shown; from += 8) {
		const size_t width = shown - from < 8 ? shown - from : 8;

		for (size_t i = 0; i < width; i++) {
			const uint8_t byte = dump->bytes[from + i];

			text[i] = byte < 0x80 && isprint(byte) ? (char)byte : '.';
		}
		text[width] = '\0';
		row(dump, from, width, from == at ? name : "", text);
	}
	if (shown < end)
		fprintf(dump->out, "        ... and %zu more bytes (--all shows them)\n", end - shown);
	if (meaning[0] != '\0')
		fprintf(dump->out, "        %zu bytes%s\n", count, meaning);
}

static void lnet(const struct dump *dump, const struct o2_lnet_hdr *hdr)
{
	static const char *const names[] = {"0 ACK", "1 PUT", "2 GET", "3 REPLY"};
	size_t end = 0x60;

	nid(dump, 0x30, "hdr.dest_nid", hdr->dest_nid);
	nid(dump, 0x38, "hdr.src_nid", hdr->src_nid);
	number(dump, 0x40, 4, "hdr.dest_pid", hdr->dest_pid);
	number(dump, 0x44, 4, "hdr.src_pid", hdr->src_pid);
	row(dump, 0x48, 4, "hdr.type", names[hdr->type]);
	number(dump, 0x4c, 4, "hdr.payload_length", hdr->payload_length);
	if (hdr->type == O2_LNET_ACK) {
		handle(dump, "dst_wmd", &hdr->msg.ack.dst_wmd);
		hex(dump, 0x60, 8, "hdr.match_bits", hdr->msg.ack.match_bits);
		number(dump, 0x68, 4, "hdr.mlength", hdr->msg.ack.mlength);
		end = 0x6c;
	} else if (hdr->type == O2_LNET_PUT) {
		handle(dump, "ack_wmd", &hdr->msg.put.ack_wmd);
		hex(dump, 0x60, 8, "hdr.match_bits", hdr->msg.put.match_bits);
		hex(dump, 0x68, 8, "hdr.hdr_data", hdr->msg.put.hdr_data);
		number(dump, 0x70, 4, "hdr.ptl_index", hdr->msg.put.ptl_index);
		number(dump, 0x74, 4, "hdr.offset", hdr->msg.put.offset);
		end = 0x78;
	} else if (hdr->type == O2_LNET_GET) {
		handle(dump, "return_wmd", &hdr->msg.get.return_wmd);
		hex(dump, 0x60, 8, "hdr.match_bits", hdr->msg.get.match_bits);
		number(dump, 0x68, 4, "hdr.ptl_index", hdr->msg.get.ptl_index);
		number(dump, 0x6c, 4, "hdr.src_offset", hdr->msg.get.src_offset);
		number(dump, 0x70, 4, "hdr.sink_length", hdr->msg.get.sink_length);
		end = 0x74;
	} else {
		handle(dump, "dst_wmd", &hdr->msg.reply.dst_wmd);
	}
	if (end < 0x78)
		block(dump, end, 0x78, "(unused)", "");
}

static void sink(const struct dump *dump, size_t at, const char *prefix, const struct o2_rdma_desc *desc)
{
	char name[64], value[64];
	uint64_t sum = 0;

	snprintf(name, sizeof(name), "%s.rd_key", prefix);
	hex(dump, at, 4, name, desc->rd_key);
	snprintf(name, sizeof(name), "%s.rd_nfrags", prefix);
	number(dump, at + 4, 4, name, desc->rd_nfrags);
	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		at += i == 0 ? 8 : 12;
		sum += desc->rd_frags[i].rf_nob;
		snprintf(name, sizeof(name), "%s.rd_frags[%" PRIu32 "].rf_nob", prefix, i);
		snprintf(value, sizeof(value), i == 0 ? "%" PRIu32 : "%" PRIu32 " (sum %" PRIu64 ")",
			 desc->rd_frags[i].rf_nob, sum);
		row(dump, at, 4, name, value);
		snprintf(name, sizeof(name), "%s.rd_frags[%" PRIu32 "].rf_addr", prefix, i);
		hex(dump, at + 4, 8, name, desc->rd_frags[i].rf_addr);
	}
}

static void header(const struct dump *dump, const struct o2_msg *msg)
{
	const bool big = msg->order == O2_BIG_ENDIAN;
	const uint32_t sum = (uint32_t)o2_wm_load(dump->bytes + AT_SUM, 4, !big);
	char text[64];

	row(dump, 0, 4, "ibm_magic", big ? "0x0be91b91 big-endian" : "0x0be91b91 little-endian");
	hex(dump, 4, 2, "ibm_version", msg->ibm_version);
	snprintf(text, sizeof(text), "0x%02x ", msg->ibm_type);
	strncat(text, o2_told_type_name(msg->ibm_type), 20);
	row(dump, 6, 1, "ibm_type", text);
	number(dump, 7, 1, "ibm_credits", msg->ibm_credits);
	number(dump, 8, 4, "ibm_nob", msg->ibm_nob);
	if (dump->odd->wrong)
		snprintf(text, sizeof(text),
			 "0x%08" PRIx32 " wrong: unsigned 0x%08" PRIx32 ", signed 0x%08" PRIx32, sum,
			 dump->odd->unsigned_sum, dump->odd->signed_sum);
	else
		snprintf(text, sizeof(text), "0x%08" PRIx32 " right (%s)", sum,
			 msg->cksum_flavour == O2_CKSUM_SIGNED ? "signed" : "unsigned");
	row(dump, AT_SUM, 4, "ibm_cksum", sum == 0 ? "0 (no checksum)" : text);
	nid(dump, 0x10, "ibm_srcnid", msg->ibm_srcnid);
	hex(dump, 0x18, 8, "ibm_srcstamp", msg->ibm_srcstamp);
	nid(dump, 0x20, "ibm_dstnid", msg->ibm_dstnid);
	hex(dump, 0x28, 8, "ibm_dststamp", msg->ibm_dststamp);
}

static const struct o2_told_odd plain;

/* docs/cli.md, "Private data": addresses have the size of IPv6; an IPv4 address is at the end. */
static void front(FILE *out, const struct o2_told_odd *odd)
{
	static const char *const names[] = {"source_address", "destination_address"};
	const struct dump dump = {out, odd->front, &plain};
	const bool is_ipv4 = odd->front[1] >> 4 == 4;
	char text[INET6_ADDRSTRLEN];

	fprintf(out, "IP-CM header, 36 bytes\n");
	row(&dump, 0, 1, "version", "0.0");
	row(&dump, 1, 1, "ip_version", is_ipv4 ? "4" : "6");
	number(&dump, 2, 2, "source_port", (uint64_t)odd->front[2] << 8 | odd->front[3]);
	for (size_t i = 0; i < 2; i++) {
		const size_t at = 4 + 16 * i;

		inet_ntop(is_ipv4 ? AF_INET : AF_INET6, odd->front + at + (is_ipv4 ? 12 : 0), text,
			  sizeof(text));
		if (is_ipv4) {
			block(&dump, at, at + 12, "(padding)", "");
			row(&dump, at + 12, 4, names[i], text);
		} else {
			row(&dump, at, 8, names[i], text);
			row(&dump, at + 8, 8, "", "");
		}
	}
	fprintf(out, "message\n");
}

static void body(const struct dump *dump, const struct o2_msg *msg)
{
	char text[32];

	switch (msg->ibm_type) {
	case O2_MSG_IMMEDIATE:
		lnet(dump, &msg->u.immediate.hdr);
		if (msg->ibm_nob > 0x78)
			block(dump, 0x78, msg->ibm_nob, "payload", "");
		break;
	case O2_MSG_PUT_REQ:
		lnet(dump, &msg->u.putreq.hdr);
		hex(dump, 0x78, 8, "ibprm_cookie", msg->u.putreq.ibprm_cookie);
		break;
	case O2_MSG_PUT_ACK:
		hex(dump, 0x30, 8, "ibpam_src_cookie", msg->u.putack.ibpam_src_cookie);
		hex(dump, 0x38, 8, "ibpam_dst_cookie", msg->u.putack.ibpam_dst_cookie);
		sink(dump, 0x40, "ibpam_rd", &msg->u.putack.ibpam_rd);
		break;
	case O2_MSG_GET_REQ:
		lnet(dump, &msg->u.get.hdr);
		hex(dump, 0x78, 8, "ibgm_cookie", msg->u.get.ibgm_cookie);
		sink(dump, 0x80, "ibgm_rd", &msg->u.get.ibgm_rd);
		break;
	case O2_MSG_CONNREQ:
	case O2_MSG_CONNACK:
		number(dump, 0x30, 2, "ibcp_queue_depth", msg->u.connparams.ibcp_queue_depth);
		number(dump, 0x32, 2, "ibcp_max_frags", msg->u.connparams.ibcp_max_frags);
		number(dump, 0x34, 4, "ibcp_max_msg_size", msg->u.connparams.ibcp_max_msg_size);
		break;
	case O2_MSG_NOOP:
		break;
	default:
		hex(dump, 0x30, 8, "ibcm_cookie", msg->u.completion.ibcm_cookie);
		o2_told_status(msg->u.completion.ibcm_status, text, sizeof(text));
		row(dump, 0x38, 4, "ibcm_status", text);
		break;
	}
}

void o2_told_dump_odd(FILE *out, const struct o2_msg *msg, const uint8_t *bytes,
		      const struct o2_told_odd *odd)
{
	const struct dump dump = {out, bytes, odd};

	if (odd->front != NULL)
		front(out, odd);
	header(&dump, msg);
	body(&dump, msg);
	if (odd->behind > 0)
		block(&dump, msg->ibm_nob, msg->ibm_nob + odd->behind, "(after nob)", ", ignored");
}

void o2_told_dump(FILE *out, const struct o2_msg *msg, const uint8_t *bytes)
{

	o2_told_dump_odd(out, msg, bytes, &plain);
}
