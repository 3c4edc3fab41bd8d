/* SPDX-License-Identifier: MIT */
/*
 * The JSON forms of the stages: a written form reads back unchanged, that of a refusal too.  O2_TEST_SEED=n
 * replays the random part.
 */
#include <inttypes.h>

#include "base/json.h"
#include "oracle/frame.h"
#include "props/engine/prng.h"
#include "tests/unit/oracle/stage_outputs.h"

/*
 * Converts to text and back, as another program would see the form; consumes *written.  The text is that of a
 * frame, which holds the bytes that jansson would write.
 */
static json_t *through_text(json_t *written)
{
	struct o2_frame_buffer frame = {0};
	const char *at;
	char *text;
	json_t *read;

	assert_non_null(written);
	text = json_dumps(written, JSON_COMPACT);
	assert_non_null(text);
	assert_int_equal(o2_frame_append(&frame, written), 0);
	at = (const char *)frame.bytes + O2_FRAME_HEAD_BYTES;
	assert_int_equal(frame.used, O2_FRAME_HEAD_BYTES + strlen(text));
	assert_memory_equal(at, text, strlen(text));
	read = json_loadb(at, strlen(text), 0, NULL);
	assert_non_null(read);
	assert_true(json_equal(written, read));
	o2_frame_buffer_free(&frame);
	free(text);
	json_decref(written);
	return read;
}

TEST(test_frames_of_what_no_form_has)
{
	static const char text[] =
		"{\"\":{},\"a\":[],\"\\\"\\\\\":[\"\\u0001\\n/"
		"\",\"\x7f\xc3\xa9\\u001f\"],\"n\":[null,true,false,0,"
		"-1,10,-9223372036854775808,9223372036854775807,0.5,-1e300,\"\",[[],[1]]],\"o\":{\"p\":{}}}";

	json_decref(through_text(json_loads(text, 0, NULL)));
}

/* --- reader(writer(x)) == x --- */

static void round_trip_sg_input(const struct o2_buffer *buffer, const struct o2_address_space *space,
				uint32_t max_entries)
{
	struct o2_sg_input input;
	struct o2_error error = {0};
	json_t *form = through_text(o2_sg_input_to_json(buffer, space, max_entries));

	if (o2_sg_input_from_json(form, &input, &error) != 0)
		fail_msg("refused by %s: %s", error.rule, error.field);
	json_decref(form);
	assert_int_equal(input.max_entries, max_entries);
	assert_int_equal(input.buffer.kind, buffer->kind);
	assert_int_equal(input.buffer.count, buffer->count);
	assert_true(input.buffer.offset == buffer->offset && input.buffer.nob == buffer->nob);
	for (uint32_t i = 0; i < buffer->count; i++) {
		if (buffer->kind == O2_IOV)
			assert_memory_equal(&input.buffer.iov[i], &buffer->iov[i], sizeof(*buffer->iov));
		else
			assert_memory_equal(&input.buffer.kiov[i], &buffer->kiov[i], sizeof(*buffer->kiov));
	}
	assert_int_equal(input.space.page_bytes, space->page_bytes);
	assert_int_equal(input.space.npages, space->npages);
	assert_int_equal(input.space.nranges, space->nranges);
	for (uint32_t i = 0; i < space->nranges; i++) {
		assert_true(input.space.range[i].base == space->range[i].base);
		assert_int_equal(input.space.range[i].npages, space->range[i].npages);
		assert_memory_equal(input.space.range[i].page, space->range[i].page,
				    space->range[i].npages * sizeof(uint32_t));
	}
	o2_sg_input_free(&input);
}

TEST(test_sg_input)
{
	static const uint32_t page_a[] = {3, 1, 2};
	static const uint32_t page_b[] = {UINT32_MAX};
	const struct o2_vrange range[] = {{0x10000, 3, page_a}, {0xfffffffffffff000, 1, page_b}};
	const struct o2_address_space space = {4096, 64, 2, range};
	const struct o2_address_space none = {0, 0, 0, NULL};
	const struct o2_iov iov[] = {{0x10000, 512}, {UINT64_MAX, UINT64_MAX}, {0, 0}};
	const struct o2_kiov kiov[] = {{3, 0, 512}, {UINT32_MAX, UINT32_MAX, UINT32_MAX}, {0, 0, 0}};
	struct o2_buffer buffer = {.kind = O2_IOV, .count = 3, .offset = 7, .nob = 512, .iov = iov};

	round_trip_sg_input(&buffer, &space, 257);
	/* The writer also accepts input that sg_build refuses. */
	buffer.nob = UINT64_MAX;
	buffer.offset = (uint64_t)INT64_MAX + 1;
	round_trip_sg_input(&buffer, &space, UINT32_MAX);
	buffer = (struct o2_buffer){.kind = O2_KIOV, .count = 3, .offset = INT64_MAX, .nob = 0, .kiov = kiov};
	round_trip_sg_input(&buffer, &none, 0);
	buffer.count = 0;
	round_trip_sg_input(&buffer, &space, 256);
	buffer.kind = (enum o2_vector_kind)2;
	assert_null(o2_sg_input_to_json(&buffer, &space, 256));
}

/* Fills a list of the given count, with random and with very large numbers. */
static void fill_sg(struct o2_prng *prng, struct o2_sg_list *list, uint32_t count)
{
	memset(list, 0, sizeof(*list));
	list->count = count;
	list->gaps = o2_prng_upto(prng, 1) != 0;
	list->nob = o2_prng_next(prng);
	for (uint32_t i = 0; i < count; i++)
		list->entry[i] = (struct o2_sg_entry){(uint32_t)o2_prng_next(prng),
						      (uint32_t)o2_prng_next(prng), UINT32_MAX - i};
}

static void fill_dma(struct o2_prng *prng, struct o2_dma_list *list, uint32_t count)
{
	memset(list, 0, sizeof(*list));
	list->count = count;
	list->nob = o2_prng_next(prng);
	for (uint32_t i = 0; i < count; i++) {
		list->segment[i].addr = o2_prng_next(prng) | (uint64_t)(i & 1) << 63;
		list->segment[i].length = (uint32_t)o2_prng_next(prng);
	}
}

static void fill_frags(struct o2_prng *prng, struct o2_rdma_frag *frag, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		frag[i].rf_addr = o2_prng_next(prng);
		frag[i].rf_nob = (uint32_t)o2_prng_next(prng);
	}
}

/* Converts an output to text and back. */
#define ROUND_TRIP_OUTPUT(stage, output, back)                                                       \
	do {                                                                                         \
		json_t *text_form = through_text(o2_##stage##_output_to_json(output, NULL));         \
		struct o2_refused refused;                                                           \
                                                                                                     \
		memset(back, 0, sizeof(*(back)));                                                    \
		assert_int_equal(o2_##stage##_output_from_json(text_form, back, &refused, NULL), 0); \
		assert_int_equal(refused.code, 0);                                                   \
		assert_memory_equal(output, back, sizeof(*(back)));                                  \
		json_decref(text_form);                                                              \
	} while (0)

static void round_trip_sg_output(struct o2_prng *prng, uint32_t count)
{
	static struct o2_sg_list list;
	static struct o2_sg_list back;

	fill_sg(prng, &list, count);
	ROUND_TRIP_OUTPUT(sg, &list, &back);
}

static void round_trip_dma(struct o2_prng *prng, uint32_t count)
{
	static struct o2_sg_list sg;
	static struct o2_dma_list list;
	static struct o2_dma_list back;
	struct o2_dma_input input;
	uint8_t unmapped[8];
	uint32_t device_page[61];
	struct o2_dma_device device = {(enum o2_dma_kind)(count % 3),
				       4096,
				       61,
				       o2_prng_next(prng),
				       unmapped,
				       {device_page, o2_prng_next(prng), count % O2_DMA_FAULTS}};
	json_t *form;

	for (uint32_t i = 0; i < 61; i++)
		device_page[i] = (uint32_t)o2_prng_upto(prng, UINT32_MAX);
	memset(unmapped, 0, sizeof(unmapped));
	for (uint32_t i = 0; i < count % 9; i++)
		unmapped[o2_prng_upto(prng, 6)] |= (uint8_t)(1u << o2_prng_upto(prng, 7));
	fill_sg(prng, &sg, count);
	form = through_text(o2_dma_input_to_json(&sg, &device));
	assert_int_equal(o2_dma_input_from_json(form, &input, NULL), 0);
	assert_memory_equal(&input.sg, &sg, sizeof(sg));
	assert_int_equal(input.device.kind, device.kind);
	assert_int_equal(input.device.npages, 61);
	assert_true(input.device.base == device.base && input.device.page_bytes == 4096);
	if (count % 9 == 0)
		assert_null(input.device.unmapped);
	else
		assert_memory_equal(input.device.unmapped, unmapped, sizeof(unmapped));
	if (device.kind == O2_DMA_IOMMU) {
		assert_memory_equal(input.device.iommu.device_page, device_page, sizeof(device_page));
		assert_true(input.device.iommu.merge == device.iommu.merge);
		assert_int_equal(input.device.iommu.fault, device.iommu.fault);
	} else {
		assert_null(input.device.iommu.device_page);
	}
	o2_dma_input_free(&input);
	json_decref(form);

	fill_dma(prng, &list, count);
	ROUND_TRIP_OUTPUT(dma, &list, &back);
}

static void round_trip_reg(struct o2_prng *prng, uint32_t count)
{
	static struct o2_dma_list list;
	static struct o2_dma_list list_back;
	static struct o2_reg_plan plan;
	static struct o2_reg_plan plan_back;
	struct o2_reg_request request = {(enum o2_reg_mode)(count % O2_REG_MODES),
					 (enum o2_side)(count % 2),
					 count,
					 257,
					 UINT32_MAX,
					 count % 4 < 2,
					 o2_prng_next(prng),
					 count % 3 == 0};
	struct o2_reg_request request_back;
	json_t *form;

	fill_dma(prng, &list, count);
	memset(&list_back, 0, sizeof(list_back));
	form = through_text(o2_reg_input_to_json(&request, &list));
	assert_int_equal(o2_reg_input_from_json(form, &request_back, &list_back, NULL), 0);
	assert_memory_equal(&list, &list_back, sizeof(list));
	assert_int_equal(request_back.mode, request.mode);
	assert_int_equal(request_back.side, request.side);
	assert_int_equal(request_back.page_bytes, count);
	assert_int_equal(request_back.max_pages, 257);
	assert_true(request_back.peer_max_frags == UINT32_MAX && request_back.gaps == request.gaps);
	if (request.mode == O2_REG_USER || request.mode == O2_REG_PHYS)
		assert_true(request_back.iova == request.iova &&
			    request_back.contiguous == request.contiguous);
	json_decref(form);

	memset(&plan, 0, sizeof(plan));
	plan.mode = request.mode;
	plan.side = request.side;
	plan.page_bytes = 65536;
	plan.access = count % 4;
	if (plan.mode == O2_REG_FASTREG_GAPS) {
		plan.nentries = count;
		memcpy(plan.entry, list.segment, count * sizeof(plan.entry[0]));
	}
	plan.iova = o2_prng_next(prng);
	plan.length = o2_prng_next(prng);
	plan.page_offset = (uint32_t)o2_prng_next(prng);
	plan.npages = O2_MAX_FRAGS - count;
	for (uint32_t i = 0; i < plan.npages; i++)
		plan.page[i] = o2_prng_next(prng);
	plan.nfrags = count;
	fill_frags(prng, plan.frag, count);
	ROUND_TRIP_OUTPUT(reg, &plan, &plan_back);
}

static void round_trip_rdma(struct o2_prng *prng, uint32_t count)
{
	static struct o2_rdma_input input;
	static struct o2_rdma_input input_back;
	static struct o2_rdma_plan plan;
	static struct o2_rdma_plan plan_back;
	json_t *form;

	memset(&input, 0, sizeof(input));
	memset(&input_back, 0, sizeof(input_back));
	input.source.rd_key = UINT32_MAX;
	input.source.rd_nfrags = count;
	fill_frags(prng, input.source.rd_frags, count);
	input.sink.rd_key = count;
	input.sink.rd_nfrags = O2_MAX_FRAGS - count;
	fill_frags(prng, input.sink.rd_frags, input.sink.rd_nfrags);
	input.nob = o2_prng_next(prng);
	input.limits = (struct o2_rdma_limits){count, UINT32_MAX};
	form = through_text(o2_rdma_input_to_json(&input));
	assert_int_equal(o2_rdma_input_from_json(form, &input_back, NULL), 0);
	assert_memory_equal(&input, &input_back, sizeof(input));
	json_decref(form);

	memset(&plan, 0, sizeof(plan));
	plan.lkey = (uint32_t)o2_prng_next(prng);
	plan.rkey = (uint32_t)o2_prng_next(prng);
	plan.nob = o2_prng_next(prng);
	plan.nwr = count;
	plan.nsge = count * (count % (O2_MAX_WRQ_SGE + 1));
	for (uint32_t i = 0; i < plan.nsge; i++) {
		plan.sge[i].addr = o2_prng_next(prng);
		plan.sge[i].length = (uint32_t)o2_prng_next(prng);
	}
	for (uint32_t i = 0; i < count; i++) {
		plan.wr[i].remote_addr = o2_prng_next(prng);
		plan.wr[i].length = (uint32_t)o2_prng_next(prng);
		plan.wr[i].first_sge = (uint32_t)o2_prng_upto(prng, plan.nsge);
		plan.wr[i].num_sge = plan.nsge - plan.wr[i].first_sge;
	}
	ROUND_TRIP_OUTPUT(rdma, &plan, &plan_back);
}

TEST(test_round_trips)
{
	static const uint32_t counts[] = {0, 1, 2, 3, 8, 31, 32, 254, 255, 256, 257};
	const uint64_t seed = tests_seed(1);

	print_message("replay: O2_TEST_SEED=%" PRIu64 " test_stage_json\n", seed);
	for (uint32_t n = 0; n < 66; n++) {
		struct o2_prng prng = o2_prng_init(seed, n);
		uint32_t count = counts[n % 11];

		round_trip_sg_output(&prng, count);
		round_trip_dma(&prng, count);
		round_trip_reg(&prng, count);
		round_trip_rdma(&prng, count);
	}
}

/* --- refusals as results --- */

static void check_refused(json_t *written, read_form read, const struct o2_error *error)
{
	json_t *form = through_text(written);
	struct o2_refused want;
	struct o2_refused got;

	assert_null(json_object_get(form, "list"));
	assert_null(json_object_get(form, "plan"));
	assert_int_equal(read(form, &got, NULL), 0);
	o2_refused_from_error(error, &want);
	assert_true(o2_refused_equal(&want, &got));
	json_decref(form);
}

TEST(test_refused_outputs)
{
	static const int codes[] = {-EINVAL, -EFAULT, -EFBIG, -EPROTO, -EMSGSIZE, -EPROTONOSUPPORT};
	struct o2_error error;

	for (uint32_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		o2_refuse(&error, codes[i], "room/rule", "list[].field", i % 2 == 0 ? i : O2_NO_INDEX,
			  i < 3 ? UINT64_MAX : 0, i < 3 ? 0 : UINT64_MAX);
		check_refused(o2_sg_output_to_json(NULL, &error), read_sg_output, &error);
		check_refused(o2_dma_output_to_json(NULL, &error), read_dma_output, &error);
		check_refused(o2_reg_output_to_json(NULL, &error), read_reg_output, &error);
		check_refused(o2_rdma_output_to_json(NULL, &error), read_rdma_output, &error);
	}
	/* An errno without a name has no form. */
	o2_refuse(&error, -100000, "room/rule", "field", 0, 0, 0);
	assert_null(o2_sg_output_to_json(NULL, &error));
}

/* A real refusal; the text equals the published bytes of the form. */
TEST(test_published_text)
{
	const struct o2_kiov kiov = {3, 0, 5000};
	const struct o2_buffer buffer = {.kind = O2_KIOV, .count = 1, .nob = 10, .kiov = &kiov};
	const struct o2_address_space space = {.page_bytes = 4096, .npages = 8};
	struct o2_sg_list list;
	struct o2_error error;
	json_t *form;
	char *text;

	assert_int_equal(o2_sg_build(&buffer, &space, 257, &list, &error), -EINVAL);
	form = o2_sg_output_to_json(&list, &error);
	text = json_dumps(form, JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(text, "{\"form\":\"o2ref/sg_build/output\",\"refused\":{\"errno\":\"EINVAL\","
				  "\"field\":\"kiov[].len\",\"index\":0,\"limit\":4096,"
				  "\"rule\":\"sg/kiov/entry-past-page\",\"value\":5000},\"version\":1}");
	free(text);
	json_decref(form);
}
