// SPDX-License-Identifier: BSD-2-Clause
/*
 * The instructions that count failed calls: where they are put, which counter they are of, and
 * that jumps, calls and records still lead where they did. tests/cmd/test_losses.sh runs them.
 */
#include <errno.h>
#include <string.h>

#include "lib/core/core.h"
#include "lib/object/loss_counters.h"
#include "lib/object/prepare.h"

#define INSN(c, d, s, o, i)                                                                        \
	{                                                                                          \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)                \
	}
#define MAP(d, fd) INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)
#define HELPER(id) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##id)
#define CALL(o)	   INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, o)
#define JEQ(d, o)  INSN(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, 0)
#define EXIT	   INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

enum {
	COUNTERS = 77, /* the descriptor of the map of counters */
	RING = 5,
	HASH = 6,
};

/* An object with the maps RING and HASH, and a program. */
struct fixture {
	struct bpf_object obj;
	struct bpf_map maps[2];
	struct function fn;
	struct loss_counters losses;
	bool incomplete[3];
	struct bpf_program prog;
	struct counted_insns counted;
};

static void fixture_init(struct fixture *f, const struct bpf_insn *insns, size_t n)
{
	*f = (struct fixture){0};
	f->maps[0].fd = RING;
	f->maps[1].fd = HASH;
	f->obj.maps.v = f->maps;
	f->obj.maps.n = 2;
	f->obj.path = (char *)(uintptr_t) "test.o";
	f->losses.fd = COUNTERS;
	f->losses.n_maps = 2;
	f->losses.incomplete = f->incomplete;
	f->obj.losses = &f->losses;
	f->fn.name = "prog";
	f->prog = (struct bpf_program){.obj = &f->obj, .fn = &f->fn, .insns = insns, .n_insns = n};
}

static void fixture_deinit(struct fixture *f)
{
	counted_insns_deinit(&f->counted);
	vec_deinit(&f->losses.stores);
}

static void expect_insn(const struct bpf_insn *insn, uint8_t code, int16_t off, int32_t imm)
{
	assert_int_equal(insn->code, code);
	assert_int_equal(insn->off, off);
	assert_int_equal(insn->imm, imm);
}

/* "r1 = counter; r2 = 1; lock *(u64 *)r1 += r2" */
static void expect_counter(const struct bpf_insn *insn, unsigned counter)
{
	expect_insn(&insn[0], BPF_LD | BPF_IMM | BPF_DW, 0, COUNTERS);
	assert_int_equal(insn[0].src_reg, BPF_PSEUDO_MAP_VALUE);
	assert_int_equal(insn[1].imm, counter * 8);
	expect_insn(&insn[2], BPF_ALU64 | BPF_MOV | BPF_K, 0, 1);
	expect_insn(&insn[3], BPF_STX | BPF_ATOMIC | BPF_DW, 0, BPF_ADD);
}

TEST(test_each_helper)
{
	const uint8_t equal = BPF_JMP32 | BPF_JEQ | BPF_K, unequal = BPF_JMP32 | BPF_JNE | BPF_K;
	const struct bpf_insn insns[] = {MAP(1, RING), HELPER(ringbuf_output),
					 MAP(1, RING), HELPER(ringbuf_reserve),
					 MAP(1, HASH), HELPER(map_update_elem),
					 MAP(2, HASH), HELPER(get_stackid),
					 EXIT};
	struct fixture f;

	fixture_init(&f, insns, ARRAY_SIZE(insns));
	assert_null(loss_counters_add(&f.prog, false, &f.counted));
	const struct bpf_insn *i = f.counted.insns;
	assert_int_equal(f.counted.n, ARRAY_SIZE(insns) + 1 + 1 + 3 + 2 + 4 * 4);
	assert_true(f.counted.has_plain);
	expect_insn(&i[3], equal, 4, 0);
	expect_counter(&i[4], 0);
	expect_insn(&i[11], BPF_JMP | BPF_JNE | BPF_K, 4, 0);
	expect_counter(&i[12], 0);
	expect_insn(&i[19], equal, 6, 0);
	expect_insn(&i[20], equal, 5, -EEXIST);
	expect_insn(&i[21], equal, 4, -ENOENT);
	expect_counter(&i[22], 1);
	expect_insn(&i[29], equal, 1, -EEXIST);
	expect_insn(&i[30], unequal, 4, -ENOMEM);
	expect_counter(&i[31], 1);
	expect_insn(&i[35], BPF_JMP | BPF_EXIT, 0, 0);
	fixture_deinit(&f);

	/* the plainer code compares the lower half of the pointer */
	fixture_init(&f, insns, ARRAY_SIZE(insns));
	assert_null(loss_counters_add(&f.prog, true, &f.counted));
	assert_false(f.counted.has_plain);
	expect_insn(&f.counted.insns[11], unequal, 4, 0);
	assert_false(f.incomplete[0] || f.incomplete[1] || f.incomplete[2]);
	fixture_deinit(&f);
}

/* Five instructions come between both ends of each jump. */
TEST(test_jumps_and_calls)
{
	const struct bpf_insn insns[] = {
		JEQ(6, 4),    /* 0: over the call, to 5 */
		MAP(1, RING), /* 1 */
		HELPER(ringbuf_output),
		JEQ(7, -4),   /* 4: back to 1 */
		CALL(1),      /* 5: to 7 */
		EXIT,	      /* 6 */
		MAP(1, RING), /* 7 */
		HELPER(ringbuf_output),
		EXIT,
	};
	struct bpf_func_info funcs[] = {{.insn_off = 0, .type_id = 1},
					{.insn_off = 7, .type_id = 2}};
	struct bpf_line_info lines[] = {{.insn_off = 0}, {.insn_off = 4}, {.insn_off = 7}};
	struct fixture f;

	fixture_init(&f, insns, ARRAY_SIZE(insns));
	f.prog.func_info = funcs;
	f.prog.n_func_info = 2;
	f.prog.line_info = lines;
	f.prog.n_line_info = 3;
	assert_null(loss_counters_add(&f.prog, false, &f.counted));
	const struct bpf_insn *i = f.counted.insns;
	assert_int_equal(f.counted.n, ARRAY_SIZE(insns) + 2 * 5);
	expect_insn(&i[0], BPF_JMP | BPF_JEQ | BPF_K, 9, 0);
	expect_insn(&i[9], BPF_JMP | BPF_JEQ | BPF_K, -9, 0);
	expect_insn(&i[10], BPF_JMP | BPF_CALL, 0, 1);
	assert_int_equal(f.counted.info.n_funcs, 2);
	assert_int_equal(f.counted.info.funcs[1].insn_off, 12);
	assert_int_equal(f.counted.info.n_lines, 3);
	assert_int_equal(f.counted.info.lines[1].insn_off, 9);
	assert_int_equal(f.counted.info.lines[2].insn_off, 12);
	fixture_deinit(&f);
}

TEST(test_unknown_maps)
{
	/* r6 may be any map: counted, but no map's losses are complete then */
	const struct bpf_insn insns[] = {INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0),
					 HELPER(ringbuf_output), EXIT};
	struct fixture f;

	fixture_init(&f, insns, ARRAY_SIZE(insns));
	assert_null(loss_counters_add(&f.prog, false, &f.counted));
	expect_counter(&f.counted.insns[3], 2);
	assert_true(f.incomplete[2]);
	fixture_deinit(&f);
}

/* A helper of a later kernel may add to the map that it gets. */
TEST(test_unknown_helpers)
{
	const struct bpf_insn unknown = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, __BPF_FUNC_MAX_ID);
	const struct bpf_insn with_map[] = {MAP(1, RING), HELPER(ringbuf_output), MAP(3, HASH),
					    unknown, EXIT},
			      without[] = {MAP(1, RING), HELPER(ringbuf_output), unknown, EXIT};
	struct fixture f;

	fixture_init(&f, with_map, ARRAY_SIZE(with_map));
	assert_null(loss_counters_add(&f.prog, false, &f.counted));
	assert_false(f.incomplete[0]);
	assert_true(f.incomplete[1]);
	assert_false(f.incomplete[2]);
	fixture_deinit(&f);

	/* it may get any of them */
	fixture_init(&f, without, ARRAY_SIZE(without));
	assert_null(loss_counters_add(&f.prog, false, &f.counted));
	assert_true(f.incomplete[2]);
	fixture_deinit(&f);
}

/* What this kernel does not have is a call of nothing, in code that is not reached. */
TEST(test_poisoned_instructions)
{
	static const int32_t imms[] = {MAP_POISON_BASE, NO_SUCH_HELPER, CORE_POISON_BASE + 5};

	for (size_t i = 0; i < ARRAY_SIZE(imms); i++) {
		const struct bpf_insn insns[] = {MAP(1, RING), HELPER(ringbuf_output),
						 INSN(BPF_JMP | BPF_JA, 0, 0, 1, 0),
						 INSN(BPF_JMP | BPF_CALL, 0, 0, 0, imms[i]), EXIT};
		struct fixture f;

		fixture_init(&f, insns, ARRAY_SIZE(insns));
		assert_null(loss_counters_add(&f.prog, false, &f.counted));
		assert_false(f.incomplete[0]);
		assert_false(f.incomplete[1]);
		assert_false(f.incomplete[2]);
		fixture_deinit(&f);
	}
}

TEST(test_what_is_left_alone)
{
	const struct bpf_insn none[] = {MAP(1, HASH), HELPER(map_lookup_elem), EXIT},
			      table[] = {MAP(1, HASH), HELPER(map_update_elem),
					 INSN(BPF_JMP | BPF_JA | BPF_X, 1, 0, 0, 0), EXIT};
	struct fixture f;

	fixture_init(&f, none, ARRAY_SIZE(none));
	assert_null(loss_counters_add(&f.prog, false, &f.counted));
	assert_null(f.counted.insns);
	assert_false(f.incomplete[1]);
	fixture_deinit(&f);

	/* what cannot be analyzed is not counted, and that is known */
	fixture_init(&f, table, ARRAY_SIZE(table));
	assert_null(loss_counters_add(&f.prog, false, &f.counted));
	assert_null(f.counted.insns);
	assert_true(f.incomplete[0] && f.incomplete[1] && f.losses.stores_incomplete);
	fixture_deinit(&f);

	/* an exclusive map is made for the instructions as they are */
	const struct bpf_insn update[] = {MAP(1, HASH), HELPER(map_update_elem), EXIT};
	fixture_init(&f, update, ARRAY_SIZE(update));
	f.maps[1].exclusive = &f.prog;
	assert_null(loss_counters_add(&f.prog, false, &f.counted));
	assert_null(f.counted.insns);
	assert_true(f.incomplete[1]);
	fixture_deinit(&f);
}

/* A jump whose distance does not fit any more. */
TEST(test_long_jumps)
{
	enum { N = INT16_MAX + 1 };
	struct bpf_insn *insns = calloc(N + 1, sizeof(*insns));
	const struct bpf_insn head[] = {JEQ(6, INT16_MAX), MAP(1, RING), HELPER(ringbuf_output)},
			      pass = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 6, 0, 0, 0), end = EXIT;
	struct fixture f;

	assert_non_null(insns);
	memcpy(insns, head, sizeof(head));
	for (size_t i = ARRAY_SIZE(head); i < N; i++)
		insns[i] = pass;
	insns[N] = end;
	fixture_init(&f, insns, N + 1);
	assert_null(loss_counters_add(&f.prog, false, &f.counted));
	assert_null(f.counted.insns);
	assert_true(f.incomplete[0]);
	fixture_deinit(&f);
	free(insns);
}
