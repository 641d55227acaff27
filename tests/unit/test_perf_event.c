// SPDX-License-Identifier: BSD-2-Clause
#include <sys/mman.h>

#include "perf/event/encode.h"
#include "perf/event/event.h"
#include "tests/unit/image.h"

#define ALL_BITS                                                                                   \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |                  \
	 PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |             \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT |                     \
	 PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TRANSACTION |                 \
	 PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |                      \
	 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

static struct perf_event_attr attr_of(uint64_t type)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.sample_type = type,
		.sample_period = 4711,
		.sample_id_all = 1,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
		.sample_regs_user = 0x7,
		.sample_regs_intr = 0x3,
	};
}

/* A sample with all of `type`, in the order of the ABI, each value its own. */
static void put_sample(struct image *im, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	size_t at = image_begin(im, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);

	if (type & PERF_SAMPLE_IDENTIFIER)
		image_u64(im, 0xa001);
	if (type & PERF_SAMPLE_IP)
		image_u64(im, 0xffffffff81000123);
	if (type & PERF_SAMPLE_TID) {
		image_u32(im, 100);
		image_u32(im, 101);
	}
	if (type & PERF_SAMPLE_TIME)
		image_u64(im, 0xa003);
	if (type & PERF_SAMPLE_ADDR)
		image_u64(im, 0xa004);
	if (type & PERF_SAMPLE_ID)
		image_u64(im, 0xa001);
	if (type & PERF_SAMPLE_STREAM_ID)
		image_u64(im, 0xa005);
	if (type & PERF_SAMPLE_CPU) {
		image_u32(im, 3);
		image_u32(im, 0);
	}
	if (type & PERF_SAMPLE_PERIOD)
		image_u64(im, 0xa006);
	if (type & PERF_SAMPLE_READ) {
		image_u64(im, 2); /* of the group */
		image_u64(im, 0xb000);
		image_u64(im, 0xb001);
		image_u64(im, 0xb002);
		image_u64(im, 0xb003);
		image_u64(im, 0xb004);
	}
	if (type & PERF_SAMPLE_CALLCHAIN) {
		image_u64(im, 3);
		image_u64(im, 0xc001);
		image_u64(im, 0xc002);
		image_u64(im, 0xc003);
	}
	if (type & PERF_SAMPLE_RAW) {
		image_u32(im, 12);
		image_u32(im, 0xd001);
		image_u64(im, 0xd002);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		image_u64(im, 1);
		if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
			image_u64(im, 0xe000);
		image_u64(im, 0xe001);
		image_u64(im, 0xe002);
		image_u64(im, 0xe003);
	}
	if (type & PERF_SAMPLE_REGS_USER) {
		image_u64(im, 2);
		image_u64(im, 0xf001);
		image_u64(im, 0xf002);
		image_u64(im, 0xf003);
	}
	if (type & PERF_SAMPLE_STACK_USER) {
		image_u64(im, 8);
		strbuf_add(&im->sb, "stackbit", 8);
		image_u64(im, 8);
	}
	if (type & PERF_SAMPLE_WEIGHT)
		image_u64(im, 0xa101);
	if (type & PERF_SAMPLE_DATA_SRC)
		image_u64(im, 0xa102);
	if (type & PERF_SAMPLE_TRANSACTION)
		image_u64(im, 0xa103);
	if (type & PERF_SAMPLE_REGS_INTR) {
		image_u64(im, 2);
		image_u64(im, 0xf101);
		image_u64(im, 0xf102);
	}
	if (type & PERF_SAMPLE_PHYS_ADDR)
		image_u64(im, 0xa104);
	if (type & PERF_SAMPLE_CGROUP)
		image_u64(im, 0xa105);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		image_u64(im, 0xa106);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		image_u64(im, 0xa107);
	image_end(im, at);
}

static struct cursor cursor_of(const struct image *im)
{
	struct cursor c = cursor_make(im->sb.str, im->sb.len, "test");

	c.swap = im->swap;
	return c;
}

#define EXPECT(bit, member, value)                                                                 \
	assert_int_equal(s->member, (type) & (bit) ? (uint64_t)(value) : 0)

static void check_sample(const struct sample *s, uint64_t type)
{
	EXPECT(PERF_SAMPLE_IP, ip, 0xffffffff81000123);
	assert_int_equal(s->pid, type & PERF_SAMPLE_TID ? 100 : -1);
	assert_int_equal(s->tid, type & PERF_SAMPLE_TID ? 101 : -1);
	EXPECT(PERF_SAMPLE_TIME, time, 0xa003);
	EXPECT(PERF_SAMPLE_ADDR, addr, 0xa004);
	EXPECT(PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, id, 0xa001);
	EXPECT(PERF_SAMPLE_STREAM_ID, stream_id, 0xa005);
	assert_int_equal(s->cpu, type & PERF_SAMPLE_CPU ? 3 : -1);
	assert_int_equal(s->period, type & PERF_SAMPLE_PERIOD ? 0xa006 : 4711);
	EXPECT(PERF_SAMPLE_READ, read.n, 6);
	if (s->read.n)
		assert_int_equal(u64_array_at(&s->read, 5), 0xb004);
	EXPECT(PERF_SAMPLE_CALLCHAIN, chain.n, 3);
	if (s->chain.n)
		assert_int_equal(u64_array_at(&s->chain, 2), 0xc003);
	EXPECT(PERF_SAMPLE_RAW, raw_size, 12);
	EXPECT(PERF_SAMPLE_BRANCH_STACK, branches.n, 3);
	EXPECT(PERF_SAMPLE_BRANCH_STACK, branch_hw_idx, 0xe000);
	if (s->branches.n)
		assert_int_equal(u64_array_at(&s->branches, 1), 0xe002);
	EXPECT(PERF_SAMPLE_REGS_USER, user_regs.n, 3);
	EXPECT(PERF_SAMPLE_REGS_USER, user_regs_abi, 2);
	EXPECT(PERF_SAMPLE_STACK_USER, user_stack_size, 8);
	if (s->user_stack)
		assert_memory_equal(s->user_stack, "stackbit", 8);
	EXPECT(PERF_SAMPLE_WEIGHT, weight, 0xa101);
	EXPECT(PERF_SAMPLE_DATA_SRC, data_src, 0xa102);
	EXPECT(PERF_SAMPLE_TRANSACTION, transaction, 0xa103);
	EXPECT(PERF_SAMPLE_REGS_INTR, intr_regs.n, 2);
	if (s->intr_regs.n)
		assert_int_equal(u64_array_at(&s->intr_regs, 1), 0xf102);
	EXPECT(PERF_SAMPLE_PHYS_ADDR, phys_addr, 0xa104);
	EXPECT(PERF_SAMPLE_CGROUP, cgroup, 0xa105);
	EXPECT(PERF_SAMPLE_DATA_PAGE_SIZE, data_page_size, 0xa106);
	EXPECT(PERF_SAMPLE_CODE_PAGE_SIZE, code_page_size, 0xa107);
	assert_int_equal(s->cpumode, PERF_RECORD_MISC_KERNEL);
}

static void decode_and_check(uint64_t type, bool swap)
{
	struct perf_event_attr attr = attr_of(type);
	struct image im = {.swap = swap};
	struct sample_layout layout;
	struct sample s;

	put_sample(&im, &attr);
	struct error *err = sample_decode(&attr, cursor_of(&im), &s);
	assert_null(err);
	check_sample(&s, type);
	sample_layout_init(&layout, &attr, swap);
	assert_true(sample_layout_decode(&layout, im.sb.str, im.sb.len, &s));
	check_sample(&s, type);
	if (!swap) {
		/* What the decoder read, the encoder writes again. */
		_cleanup_strbuf_ struct strbuf again = STRBUF_INIT;
		record_encode_sample(&again, &attr, &s);
		assert_int_equal(again.len, im.sb.len);
		assert_memory_equal(again.str, im.sb.str, again.len);
	}
	strbuf_deinit(&im.sb);
}

TEST(samples_of_every_single_bit_decode)
{
	for (int bit = 0; bit < 24; bit++) {
		if (!(ALL_BITS >> bit & 1))
			continue;
		for (int swap = 0; swap < 2; swap++) {
			decode_and_check(1ull << bit, swap);
			decode_and_check(ALL_BITS & ~(1ull << bit), swap);
		}
	}
}

TEST(samples_of_random_bits_decode)
{
	uint64_t seed = 1;

	for (int i = 0; i < 3000; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		decode_and_check(seed >> 20 & ALL_BITS, i & 1);
	}
	decode_and_check(ALL_BITS, false);
	decode_and_check(ALL_BITS, true);
}

TEST(no_cut_sample_is_decoded_or_read_past_its_end)
{
	struct perf_event_attr attr = attr_of(ALL_BITS);
	uint8_t *pages =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sample_layout layout;
	struct image im = {0};

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	put_sample(&im, &attr);
	sample_layout_init(&layout, &attr, false);
	for (size_t n = 0; n < im.sb.len; n++) {
		uint8_t *edge = pages + 4096 - n;
		struct sample s = {.id = 99};

		memcpy(edge, im.sb.str, n);
		assert_false(sample_layout_decode(&layout, edge, n, &s) && n < im.sb.len);
		s.id = 99;
		struct error *err = sample_decode(&attr, cursor_make(edge, n, "edge"), &s);
		assert_non_null(err);
		assert_int_equal(err->code, EBADMSG);
		assert_int_equal(s.id, 99); /* left untouched */
		error_free(err);
	}
	munmap(pages, 8192);
	strbuf_deinit(&im.sb);
}

/* Every length field of a sample, set to what leads outside. */
TEST(lengths_that_lead_outside_are_refused)
{
	struct perf_event_attr attr = attr_of(ALL_BITS & ~PERF_SAMPLE_IDENTIFIER);
	struct image im = {0};
	struct sample s;

	put_sample(&im, &attr);
	for (size_t at = 8; at + 8 <= im.sb.len; at += 4) {
		uint64_t saved;
		memcpy(&saved, im.sb.str + at, 8);
		const uint64_t wild[] = {UINT64_MAX, UINT64_MAX / 8, 1ull << 61, 1 << 20, 0xffff};
		for (size_t i = 0; i < ARRAY_SIZE(wild); i++) {
			memcpy(im.sb.str + at, &wild[i], 8);
			error_free(sample_decode(&attr, cursor_of(&im), &s));
		}
		memcpy(im.sb.str + at, &saved, 8);
	}
	assert_null(sample_decode(&attr, cursor_of(&im), &s));
	check_sample(&s, attr.sample_type);
	strbuf_deinit(&im.sb);
}

TEST(ids_stand_where_the_attr_says)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					      PERF_SAMPLE_ID | PERF_SAMPLE_CPU);

	assert_int_equal(sample_id_pos(&attr), 3);
	assert_int_equal(sample_id_pos_back(&attr), 2);
	assert_int_equal(sample_id_size(&attr), 32);
	attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	assert_int_equal(sample_id_pos(&attr), 0);
	assert_int_equal(sample_id_pos_back(&attr), 1);
	attr.sample_type = PERF_SAMPLE_IP;
	assert_int_equal(sample_id_pos(&attr), -1);
	assert_int_equal(sample_id_pos_back(&attr), -1);
	attr.sample_id_all = 0;
	assert_int_equal(sample_id_size(&attr), 0);
}

static const struct sample some_id = {
	.pid = 7, .tid = 8, .time = 1234, .id = 55, .stream_id = 56, .cpu = 2};

static struct perf_event_attr id_attr(void)
{
	return attr_of(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		       PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
}

/* The record is whole, padded, and ends with some_id; the cursor spans its own fields. */
static struct cursor check_tail(const struct strbuf *sb, uint32_t type)
{
	struct perf_event_attr attr = id_attr();
	struct cursor c = cursor_make(sb->str, sb->len, "test");
	struct perf_event_header h;
	struct sample_layout layout;
	struct sample s;

	sample_layout_init(&layout, &attr, false);
	assert_true(record_header_peek(&c, &h));
	assert_int_equal(h.type, type);
	assert_int_equal(h.size, sb->len);
	assert_int_equal(h.size % 8, 0);
	assert_true(sample_layout_id_decode(&layout, sb->str, sb->len, &s));
	assert_int_equal(s.pid, 7);
	assert_int_equal(s.tid, 8);
	assert_int_equal(s.time, 1234);
	assert_int_equal(s.id, 55);
	assert_int_equal(s.stream_id, 56);
	assert_int_equal(s.cpu, 2);
	c.size -= sample_id_size(&attr);
	return c;
}

static void expect_mmap(const struct record_mmap *got, const struct record_mmap *want)
{
	assert_int_equal(got->pid, want->pid);
	assert_int_equal(got->tid, want->tid);
	assert_int_equal(got->addr, want->addr);
	assert_int_equal(got->len, want->len);
	assert_int_equal(got->pgoff, want->pgoff);
	assert_int_equal(got->maj, want->maj);
	assert_int_equal(got->min, want->min);
	assert_int_equal(got->ino, want->ino);
	assert_int_equal(got->ino_generation, want->ino_generation);
	assert_int_equal(got->prot, want->prot);
	assert_int_equal(got->flags, want->flags);
	assert_null(got->build_id);
	assert_string_equal(got->filename, want->filename);
}

TEST(kernel_records_come_back_as_encoded)
{
	struct perf_event_attr attr = id_attr();
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const uint8_t build_id[20] = "0123456789abcdefghi";
	struct record_mmap m = {.pid = 1,
				.tid = 2,
				.addr = 0x400000,
				.len = 0x1000,
				.pgoff = 0x2000,
				.maj = 8,
				.min = 1,
				.ino = 77,
				.prot = 5,
				.flags = 2,
				.filename = "/bin/true"},
			   mm;
	struct record_comm comm = {.pid = 1, .tid = 2, .comm = "a name", .exec = true}, cc;
	struct record_task task = {.pid = 3, .ppid = 1, .tid = 4, .ptid = 2, .time = 99}, tt;
	struct record_lost lost = {.id = 55, .lost = 1000}, ll;
	struct record_ksymbol ks = {.addr = 0xffffffffc0000000,
				    .len = 64,
				    .type = PERF_RECORD_KSYMBOL_TYPE_BPF,
				    .name = "bpf_prog_6deef7357e7b4530_x"},
			      kk;
	struct record_bpf_event be = {.type = PERF_BPF_EVENT_PROG_LOAD,
				      .id = 12,
				      .tag = (const uint8_t *)"tagtagta"},
				bb;
	const uint64_t words[] = {4, 0xeffffff9, 4, 0xeffffffe};
	struct record_cgroup cg = {.id = 7, .path = "/system.slice"}, gg;
	struct record_namespaces ns = {.pid = 1, .tid = 2, .links = {(const uint8_t *)words, 4}},
				 nn;

	struct record_text_poke tp = {.addr = 0xffffffff81000000,
				      .old_len = 2,
				      .new_len = 5,
				      .bytes = (const uint8_t *)"oldnews"},
				pp;

	record_encode_mmap2(&sb, &attr, PERF_RECORD_MISC_USER, &m, &some_id);
	assert_null(record_mmap_decode(check_tail(&sb, PERF_RECORD_MMAP2), &mm));
	expect_mmap(&mm, &m);

	strbuf_reset(&sb);
	m.build_id = build_id;
	m.build_id_size = 16;
	record_encode_mmap2(&sb, &attr, PERF_RECORD_MISC_USER, &m, &some_id);
	assert_null(record_mmap_decode(check_tail(&sb, PERF_RECORD_MMAP2), &mm));
	assert_int_equal(mm.build_id_size, 16);
	assert_memory_equal(mm.build_id, build_id, 16);
	assert_int_equal(mm.ino, 0);
	assert_int_equal(mm.prot, 5);

	/* the bit of another recording */
	strbuf_reset(&sb);
	m.build_id = NULL;
	m.build_id_size = 0;
	for (m.maj = 0; m.maj < 300; m.maj++) {
		strbuf_reset(&sb);
		record_encode_mmap2(&sb, &attr,
				    PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID, &m,
				    &some_id);
		assert_null(record_mmap_decode(check_tail(&sb, PERF_RECORD_MMAP2), &mm));
		if (m.maj < 16 || m.maj > 20)
			expect_mmap(&mm, &m);
	}

	/* perf inject --jit writes the mode of the file to prot */
	strbuf_reset(&sb);
	m.prot = 0100644;
	record_encode_mmap2(&sb, &attr, PERF_RECORD_MISC_USER, &m, &some_id);
	assert_null(record_mmap_decode(check_tail(&sb, PERF_RECORD_MMAP2), &mm));
	expect_mmap(&mm, &m);
	/* the name of a kernel that writes neither prot nor flags */
	strbuf_reset(&sb);
	memcpy(&m.prot, "/usr", 4);
	memcpy(&m.flags, "/bin", 4);
	record_encode_mmap2(&sb, &attr, PERF_RECORD_MISC_USER, &m, &some_id);
	assert_null(record_mmap_decode(check_tail(&sb, PERF_RECORD_MMAP2), &mm));
	assert_int_equal(mm.prot, PROT_EXEC);
	assert_memory_equal(mm.filename, "/usr/bin", 8);
	m.prot = 5;
	m.flags = 2;

	strbuf_reset(&sb);
	record_encode_mmap(&sb, &attr, PERF_RECORD_MISC_KERNEL, &m, &some_id);
	assert_null(record_mmap_decode(check_tail(&sb, PERF_RECORD_MMAP), &mm));
	assert_int_equal(mm.len, 0x1000);
	assert_int_equal(mm.prot, 4);

	strbuf_reset(&sb);
	record_encode_comm(&sb, &attr, 0, &comm, &some_id);
	assert_null(record_comm_decode(check_tail(&sb, PERF_RECORD_COMM), &cc));
	assert_string_equal(cc.comm, "a name");
	assert_true(cc.exec);

	strbuf_reset(&sb);
	record_encode_fork(&sb, &attr, 0, &task, &some_id);
	assert_null(record_task_decode(check_tail(&sb, PERF_RECORD_FORK), &tt));
	assert_memory_equal(&tt, &task, sizeof(task));
	strbuf_reset(&sb);
	record_encode_exit(&sb, &attr, 0, &task, &some_id);
	assert_null(record_task_decode(check_tail(&sb, PERF_RECORD_EXIT), &tt));

	strbuf_reset(&sb);
	record_encode_lost(&sb, &attr, &lost, &some_id);
	assert_null(record_lost_decode(check_tail(&sb, PERF_RECORD_LOST), &ll));
	assert_memory_equal(&ll, &lost, sizeof(lost));
	strbuf_reset(&sb);
	record_encode_lost_samples(&sb, &attr, 17, &some_id);
	assert_null(record_lost_decode(check_tail(&sb, PERF_RECORD_LOST_SAMPLES), &ll));
	assert_int_equal(ll.lost, 17);

	strbuf_reset(&sb);
	record_encode_ksymbol(&sb, &attr, 0, &ks, &some_id);
	assert_null(record_ksymbol_decode(check_tail(&sb, PERF_RECORD_KSYMBOL), &kk));
	assert_string_equal(kk.name, ks.name);
	assert_int_equal(kk.addr, ks.addr);
	assert_int_equal(kk.len, 64);

	strbuf_reset(&sb);
	record_encode_bpf_event(&sb, &attr, 0, &be, &some_id);
	assert_null(record_bpf_event_decode(check_tail(&sb, PERF_RECORD_BPF_EVENT), &bb));
	assert_int_equal(bb.id, 12);
	assert_memory_equal(bb.tag, "tagtagta", 8);

	strbuf_reset(&sb);
	record_encode_cgroup(&sb, &attr, &cg, &some_id);
	assert_null(record_cgroup_decode(check_tail(&sb, PERF_RECORD_CGROUP), &gg));
	assert_int_equal(gg.id, 7);
	assert_string_equal(gg.path, "/system.slice");

	strbuf_reset(&sb);
	record_encode_namespaces(&sb, &attr, &ns, &some_id);
	assert_null(record_namespaces_decode(check_tail(&sb, PERF_RECORD_NAMESPACES), &nn));
	assert_int_equal(nn.pid, 1);
	assert_int_equal(nn.tid, 2);
	assert_int_equal(nn.links.n, 4);
	assert_int_equal(u64_array_at(&nn.links, 3), 0xeffffffe);

	strbuf_reset(&sb);
	record_encode_text_poke(&sb, &attr, &tp, &some_id);
	assert_null(record_text_poke_decode(check_tail(&sb, PERF_RECORD_TEXT_POKE), &pp));
	assert_int_equal(pp.addr, 0xffffffff81000000);
	assert_int_equal(pp.old_len, 2);
	assert_int_equal(pp.new_len, 5);
	assert_memory_equal(pp.bytes, "oldnews", 7);
}

/* Lengths that the record has no room for. */
TEST(text_pokes_end_with_their_record)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct record_text_poke poke = {
		.old_len = 1, .new_len = 3, .bytes = (const uint8_t *)"abcd"};
	const uint16_t too_long = 65535;
	struct record_text_poke out;

	record_encode_text_poke(&sb, NULL, &poke, NULL);
	for (size_t n = 0; n < 24; n++) {
		struct error *err = record_text_poke_decode(cursor_make(sb.str, n, "x.data"), &out);
		assert_non_null(err);
		error_free(err);
	}
	memcpy(sb.str + 16, &too_long, 2);
	memcpy(sb.str + 18, &too_long, 2);
	struct error *err = record_text_poke_decode(cursor_make(sb.str, sb.len, "x.data"), &out);
	assert_non_null(err);
	error_free(err);
}

/* A count of links that the record has no room for, also one whose product wraps around. */
TEST(namespaces_end_with_their_record)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const uint64_t words[] = {4, 1, 4, 2}, counts[] = {3, 1ull << 60, UINT64_MAX};
	const struct record_namespaces ns = {.links = {(const uint8_t *)words, 4}};
	struct record_namespaces out;

	record_encode_namespaces(&sb, NULL, &ns, NULL);
	for (size_t n = 0; n < sb.len; n++) {
		struct error *err =
			record_namespaces_decode(cursor_make(sb.str, n, "x.data"), &out);
		assert_non_null(err);
		error_free(err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		memcpy(sb.str + 16, &counts[i], 8);
		struct error *err =
			record_namespaces_decode(cursor_make(sb.str, sb.len, "x.data"), &out);
		assert_non_null(err);
		error_free(err);
	}
}

TEST(cut_records_give_an_error_with_the_place)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct record_comm comm = {.pid = 1, .tid = 2, .comm = "a name"}, out = {.pid = 42};

	record_encode_comm(&sb, NULL, 0, &comm, NULL);
	for (size_t n = 0; n < sb.len - 1; n++) { /* the name's NUL is the last but one */
		struct error *err = record_comm_decode(cursor_make(sb.str, n, "x.data"), &out);
		assert_non_null(err);
		assert_non_null(strstr(err->where, "x.data: offset 0x"));
		assert_int_equal(out.pid, 42);
		error_free(err);
	}
}

TEST(long_strings_are_cut_to_what_a_record_holds)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_free_ char *longest = malloc(100001);
	struct perf_event_attr attr = id_attr();
	struct record_ksymbol k;

	memset(longest, 'x', 100000);
	longest[100000] = 0;
	record_encode_ksymbol(&sb, &attr, 0, &(struct record_ksymbol){.name = longest}, &some_id);
	assert_null(record_ksymbol_decode(check_tail(&sb, PERF_RECORD_KSYMBOL), &k));
	assert_true(strlen(k.name) > 65000);
}

TEST(ledger_lines_come_back_and_others_are_told_apart)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct record_ledger l = {LEDGER_BPF_OUTPUT_LOST, 3, 1ull << 40, "slow_writes"}, out;

	record_encode_ledger(&sb, &l);
	assert_true(record_ledger_decode(cursor_make(sb.str, sb.len, "t"), &out));
	assert_int_equal(out.kind, LEDGER_BPF_OUTPUT_LOST);
	assert_int_equal(out.id, 3);
	assert_int_equal(out.count, 1ull << 40);
	assert_string_equal(out.name, "slow_writes");
	for (size_t n = 0; n < 40; n++)
		assert_false(record_ledger_decode(cursor_make(sb.str, n, "t"), &out));
	sb.str[8] ^= 1; /* the magic */
	assert_false(record_ledger_decode(cursor_make(sb.str, sb.len, "t"), &out));
}

TEST(id_index_is_split_where_a_record_is_full)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_free_ struct record_id_index_entry *entries = calloc(5000, sizeof(*entries));
	size_t seen = 0, records = 0;

	for (size_t i = 0; i < 5000; i++)
		entries[i].id = i;
	record_encode_id_index(&sb, entries, 5000);
	struct cursor c = cursor_make(sb.str, sb.len, "t");
	while (!cursor_end(&c)) {
		struct perf_event_header h;
		struct cursor rec = {0};
		uint64_t nr = 0, id = 0;

		assert_true(record_header_peek(&c, &h));
		assert_int_equal(h.type, RECORD_ID_INDEX);
		assert_true(cursor_take(&c, h.size, &rec));
		assert_true(cursor_skip(&rec, 8) && cursor_u64(&rec, &nr));
		assert_int_equal(nr * 32 + 16, h.size);
		assert_true(cursor_u64(&rec, &id));
		assert_int_equal(id, seen);
		seen += nr;
		records++;
	}
	assert_int_equal(seen, 5000);
	assert_int_equal(records, 3);
}
