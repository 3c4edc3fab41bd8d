/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "quirk/quirk_internal.h"
#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/desc_codec.h"
#include "wire/layout.h"

/* Quirks that change a message just before it is posted, or a completion. */

static enum o2_byte_order order_of(const uint8_t *bytes)
{
	return o2_load32_le(bytes + O2_AT_MAGIC) == O2_MSG_MAGIC ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;
}

static uint32_t field_of(const uint8_t *bytes, uint32_t at)
{
	return o2_load32(bytes + at, order_of(bytes));
}

static void set_field(uint8_t *bytes, uint32_t at, uint32_t value)
{
	o2_store32(bytes + at, order_of(bytes), value);
}

/* The flavour of the message's checksum.  To be called before the message is changed. */
static enum o2_cksum_flavour flavour_of(const uint8_t *bytes)
{
	uint32_t found = field_of(bytes, O2_AT_CKSUM);

	if (found == 0)
		return O2_CKSUM_NONE;
	return found == o2_msg_checksum_both(bytes, field_of(bytes, O2_AT_NOB)).of_signed ? O2_CKSUM_SIGNED
											  : O2_CKSUM_UNSIGNED;
}

static void sum_anew(uint8_t *bytes, enum o2_cksum_flavour flavour)
{
	set_field(bytes, O2_AT_CKSUM,
		  o2_checksum_of(o2_msg_checksum_both(bytes, field_of(bytes, O2_AT_NOB)), flavour));
}

/* Is the payload of an IMMEDIATE gathered from the caller's memory, rather than copied behind the header? */
static bool gathers(const struct o2_quirk_post *post)
{
	return post->bytes[O2_AT_TYPE] == O2_MSG_IMMEDIATE && post->send->num_sge > 1;
}

/* The slot has a copy of the payload only for the checksum; the payload is sent from elsewhere. */
void o2_quirk_other_bytes(struct o2_quirk_post *post)
{
	uint32_t nob = field_of(post->bytes, O2_AT_NOB);
	enum o2_cksum_flavour flavour = flavour_of(post->bytes);

	if (!gathers(post) || flavour == O2_CKSUM_NONE)
		return;
	for (uint32_t i = O2_AT_PAYLOAD; i < nob; i++)
		post->bytes[i] ^= 0xff;
	sum_anew(post->bytes, flavour);
}

/* Bytes of the payload up to the end of its first page, or of its first gather entry. */
static uint32_t first_page_bytes(const struct ibv_sge *first)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t left_bytes = page_bytes - first->addr % page_bytes;

	return left_bytes < first->length ? (uint32_t)left_bytes : first->length;
}

/* Put wrong bytes behind the header in the slot, and send the payload past its first page from there. */
void o2_quirk_second_page(struct o2_quirk_post *post)
{
	const struct ibv_sge *list = post->send->sg_list;
	uint32_t payload_bytes, first_bytes;

	if (!gathers(post))
		return;
	payload_bytes = field_of(post->bytes, O2_AT_NOB) - O2_AT_PAYLOAD;
	first_bytes = first_page_bytes(&list[1]);
	if (first_bytes == payload_bytes)
		return;
	memset(post->bytes + O2_AT_PAYLOAD, O2_QUIRK_WRONG_BYTE, payload_bytes);
	post->sge[0] = list[0];
	post->sge[1] = (struct ibv_sge){list[1].addr, first_bytes, list[1].lkey};
	post->sge[2] =
		(struct ibv_sge){list[0].addr + O2_AT_PAYLOAD, payload_bytes - first_bytes, list[0].lkey};
	post->send->sg_list = post->sge;
	post->send->num_sge = 3;
}

static int32_t status_of(const struct o2_quirk_post *post)
{
	return (int32_t)field_of(post->bytes, O2_AT_STATUS);
}

void o2_quirk_claim_short_get(struct o2_quirk_post *post)
{
	enum o2_cksum_flavour flavour = flavour_of(post->bytes);
	uint64_t asked_bytes;

	if (post->bytes[O2_AT_TYPE] != O2_MSG_GET_DONE || post->sink == NULL || status_of(post) < 0)
		return;
	asked_bytes = o2_desc_bytes(post->sink);
	if ((uint64_t)status_of(post) >= asked_bytes)
		return;
	post->list = post->send;
	set_field(post->bytes, O2_AT_STATUS, (uint32_t)asked_bytes);
	sum_anew(post->bytes, flavour);
}

/* Turn the message into a NOOP that carries the same credits: the peer needs them for other messages. */
static void become_noop(struct o2_quirk_post *post)
{
	enum o2_cksum_flavour flavour = flavour_of(post->bytes);

	post->bytes[O2_AT_TYPE] = O2_MSG_NOOP;
	set_field(post->bytes, O2_AT_NOB, O2_MSG_HEADER_BYTES);
	sum_anew(post->bytes, flavour);
	post->send->sg_list[0].length = O2_MSG_HEADER_BYTES;
}

/*
 * Turn the message into a WRITE of 0 bytes: it completes as the message would, but the peer receives nothing.  The
 * address and key are 0, as in every SEND of the transport.
 */
static void become_nothing(struct o2_quirk_post *post)
{
	post->send->opcode = IBV_WR_RDMA_WRITE;
	post->send->num_sge = 0;
	post->bytes = NULL;
}

void o2_quirk_swallow_refusal(struct o2_quirk_post *post)
{
	if (post->bytes[O2_AT_TYPE] != O2_MSG_GET_DONE || status_of(post) != -EPROTONOSUPPORT)
		return;
	if (post->bytes[O2_AT_CREDITS] != 0)
		become_noop(post);
	else
		become_nothing(post);
}

/* Turn a received message into a failed completion: the connection closes before it looks at the message. */
void o2_quirk_fail_receive(struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS && wc->opcode == IBV_WC_RECV)
		wc->status = IBV_WC_GENERAL_ERR;
}
