// SPDX-License-Identifier: BSD-2-Clause
/*
 * Instances of programs: where instructions go and what becomes of their
 * records, and loading, with a bpf_prog_load() that only takes notes (the
 * linker sends the library's calls here). tests/cmd/test_instances.sh loads
 * real ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/object/prepare.h"
#include "lib/sys/sys.h"
#include "tests/unit/nomem.h"

#define MOV(reg, value)                                                                            \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (reg), .imm = (value)              \
	}
#define JUMP(distance)                                                                             \
	{                                                                                          \
		.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 1, .off = (distance)                 \
	}
#define CALL(distance)                                                                             \
	{                                                                                          \
		.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = (distance)          \
	}
#define FUNC(distance) WIDE(BPF_PSEUDO_FUNC, distance)
#define WIDE(src, value)                                                                           \
	{.code = BPF_LD | BPF_IMM | BPF_DW, .src_reg = (src), .imm = (value)},                     \
	{                                                                                          \
		0                                                                                  \
	}
#define EXIT                                                                                       \
	{                                                                                          \
		.code = BPF_JMP | BPF_EXIT                                                         \
	}

/* ---- the kernel's part ---- */

int __wrap_bpf_prog_load(enum bpf_prog_type type, const char *name, const char *license,
			 const struct bpf_insn *insns, size_t n, struct bpf_prog_load_opts *opts);

static struct {
	int calls;
	size_t refuse_n; /* programs of so many instructions are refused */
	int refuse;	 /* the number of the call that fails, and all behind it; 0: none */
	int fds[64];
	size_t n[64]; /* instructions */
	uint32_t types[64], attach_types[64], btf_ids[64];
	uint32_t funcs[8], n_funcs;
	uint32_t lines, first_lines[2]; /* of the last call */
} kernel;

int __wrap_bpf_prog_load(enum bpf_prog_type type, const char *name, const char *license,
			 const struct bpf_insn *insns, size_t n, struct bpf_prog_load_opts *opts)
{
	if ((kernel.refuse && kernel.calls + 1 >= kernel.refuse) || n == kernel.refuse_n) {
		if (opts->log_size)
			snprintf(opts->log_buf, opts->log_size, "1: (bf) r2 = r9\nR9 !read_ok\n");
		return -EACCES;
	}
	if (kernel.calls == 64)
		abort();
	kernel.n[kernel.calls] = n;
	kernel.types[kernel.calls] = type;
	kernel.attach_types[kernel.calls] = opts->expected_attach_type;
	kernel.btf_ids[kernel.calls] = opts->attach_btf_id;
	kernel.n_funcs = opts->func_info_cnt;
	for (uint32_t i = 0; i < opts->func_info_cnt && i < 8; i++)
		kernel.funcs[i] = ((const struct bpf_func_info *)opts->func_info)[i].insn_off;
	kernel.lines = opts->line_info_cnt;
	for (uint32_t i = 0; i < opts->line_info_cnt && i < 2; i++)
		kernel.first_lines[i] = ((const struct bpf_line_info *)opts->line_info)[i].insn_off;
	return kernel.fds[kernel.calls++] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* ---- where instructions go ---- */

static void compared(const struct bpf_insn *old, size_t n, const struct bpf_insn *new, size_t m,
		     const int32_t *want)
{
	int32_t map[16];

	insns_compare(old, n, new, m, map);
	for (size_t i = 0; i < n; i++)
		if (map[i] != want[i])
			fail_msg("instruction %zu: %d, not %d", i, map[i], want[i]);
	assert_null(insns_check_map(map, n, m));
}

#define COMPARED(old, new, ...)                                                                    \
	compared(old, ARRAY_SIZE(old), new, ARRAY_SIZE(new), (int32_t[]){__VA_ARGS__})

static void a_change_is_found_from_both_ends(void **state)
{
	const struct bpf_insn old[] = {MOV(0, 1), JUMP(1), MOV(0, 2), CALL(1), EXIT, EXIT};

	COMPARED(old, old, 0, 1, 2, 3, 4, 5);
	/* In front. The first of them is one that was there. */
	const struct bpf_insn front[] = {MOV(0, 1), MOV(2, 9), MOV(0, 1), JUMP(1),
					 MOV(0, 2), CALL(1),   EXIT,	  EXIT};
	COMPARED(old, front, 2, 3, 4, 5, 6, 7);
	/* In the middle: the jump over it is longer now. */
	const struct bpf_insn middle[] = {MOV(0, 1), JUMP(2), MOV(3, 3), MOV(0, 2),
					  CALL(1),   EXIT,    EXIT};
	COMPARED(old, middle, 0, 1, 3, 4, 5, 6);
	/* Behind. */
	const struct bpf_insn behind[] = {MOV(0, 1), JUMP(1), MOV(0, 2), CALL(1),
					  EXIT,	     EXIT,    MOV(0, 0), EXIT};
	COMPARED(old, behind, 0, 1, 2, 3, 4, 5);
	/* Taken out, replaced by as many, replaced by more. */
	const struct bpf_insn without[] = {MOV(0, 1), MOV(0, 2), CALL(1), EXIT, EXIT};
	COMPARED(old, without, 0, -1, 1, 2, 3, 4);
	const struct bpf_insn other[] = {MOV(0, 1), JUMP(1), MOV(0, 3), CALL(1), EXIT, EXIT};
	COMPARED(old, other, 0, 1, 2, 3, 4, 5);
	const struct bpf_insn more[] = {MOV(0, 1), JUMP(1), MOV(0, 3), MOV(0, 4),
					CALL(1),   EXIT,    EXIT};
	COMPARED(old, more, 0, 1, -1, 4, 5, 6);
	/* Nothing of it. */
	const struct bpf_insn nothing[] = {MOV(5, 5), MOV(6, 6)};
	COMPARED(old, nothing, -1, -1, -1, -1, -1, -1);
}

static void a_map_ascends_within_the_program(void **state)
{
	static const struct {
		int32_t map[3];
		bool good;
	} maps[] = {
		{{0, 1, 2}, true},  {{2, 3, 4}, true},	 {{-1, -1, -1}, true},
		{{0, -1, 4}, true}, {{0, 0, 1}, false},	 {{1, 0, 2}, false},
		{{0, 1, 5}, false}, {{-2, 0, 1}, false}, {{3, -1, 3}, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		struct error *err = insns_check_map(maps[i].map, 3, 5);

		if (!err != maps[i].good)
			fail_msg("map %zu", i);
		assert_true(!err || err->code == EINVAL);
		error_free(err);
	}
}

static struct bpf_func_info old_funcs[] = {{0, 10}, {5, 20}};
static struct bpf_line_info old_lines[] = {
	{.insn_off = 0, .line_col = 1 << 10},
	{.insn_off = 2, .line_col = 2 << 10},
	{.insn_off = 5, .line_col = 3 << 10},
	{.insn_off = 6, .line_col = 4 << 10},
};
static const struct insn_info old_info = {old_funcs, 2, old_lines, 4};

static void records_go_with_their_instructions(void **state)
{
	const struct bpf_insn old[] = {MOV(0, 1), JUMP(1),   MOV(0, 2), CALL(1),
				       EXIT,	  MOV(0, 7), EXIT};
	const struct bpf_insn new[] = {MOV(2, 2), WIDE(0, 5), MOV(0, 1), JUMP(1), MOV(0, 2),
				       CALL(1),	  EXIT,	      MOV(0, 7), EXIT};
	struct insn_info info;
	int32_t map[7];

	insns_compare(old, 7, new, 10, map);
	assert_null(insn_info_move(&old_info, map, new, 10, &info));
	assert_int_equal(info.n_funcs, 2);
	assert_int_equal(info.funcs[0].insn_off, 0);
	assert_int_equal(info.funcs[0].type_id, 10);
	assert_int_equal(info.funcs[1].insn_off, 8);
	assert_int_equal(info.funcs[1].type_id, 20);
	/* What was put in front is of the first line. */
	static const struct {
		uint32_t at, line;
	} want[] = {{0, 1}, {3, 1}, {5, 2}, {8, 3}, {9, 4}};
	assert_int_equal(info.n_lines, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(info.lines[i].insn_off, want[i].at);
		assert_int_equal(info.lines[i].line_col >> 10, want[i].line);
	}
	insn_info_deinit(&info);
}

static void functions_in_front_are_of_the_programs_type(void **state)
{
	const struct bpf_insn new[] = {CALL(1), EXIT,	   MOV(2, 2), CALL(1), EXIT,	  MOV(0, 1),
				       JUMP(1), MOV(0, 2), CALL(1),   EXIT,    MOV(0, 7), EXIT};
	const int32_t map[] = {5, 6, 7, 8, 9, 10, 11};
	const uint32_t starts[] = {0, 2, 5, 10}, types[] = {10, 10, 10, 20};
	static const struct {
		uint32_t at, line;
	} want[] = {{0, 1}, {2, 1}, {5, 1}, {7, 2}, {10, 3}, {11, 4}};
	struct insn_info info;

	assert_null(insn_info_move(&old_info, map, new, ARRAY_SIZE(new), &info));
	assert_int_equal(info.n_funcs, ARRAY_SIZE(starts));
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		assert_int_equal(info.funcs[i].insn_off, starts[i]);
		assert_int_equal(info.funcs[i].type_id, types[i]);
	}
	assert_int_equal(info.n_lines, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(info.lines[i].insn_off, want[i].at);
		assert_int_equal(info.lines[i].line_col >> 10, want[i].line);
	}
	insn_info_deinit(&info);
}

static void records_that_would_not_fit_are_dropped(void **state)
{
	struct insn_info info;

	/* Nobody calls the second function any more: the kernel knows of one. */
	const struct bpf_insn uncalled[] = {MOV(0, 1), JUMP(1),	  MOV(0, 2), MOV(0, 3),
					    EXIT,      MOV(0, 7), EXIT};
	const int32_t same[] = {0, 1, 2, 3, 4, 5, 6};
	assert_null(insn_info_move(&old_info, same, uncalled, 7, &info));
	assert_int_equal(info.n_funcs, 1);
	assert_int_equal(info.n_lines, 4); /* lines say nothing about functions */
	insn_info_deinit(&info);

	/* A call to what was no function before, or out of the program. */
	const struct bpf_insn strange[] = {MOV(0, 1), JUMP(1),	 MOV(0, 2), CALL(2),
					   EXIT,      MOV(0, 7), EXIT};
	assert_null(insn_info_move(&old_info, same, strange, 7, &info));
	assert_int_equal(info.n_funcs + info.n_lines, 0);
	const struct bpf_insn beyond[] = {MOV(0, 1), JUMP(1),	MOV(0, 2), CALL(INT32_MAX),
					  EXIT,	     MOV(0, 7), EXIT};
	assert_null(insn_info_move(&old_info, same, beyond, 7, &info));
	assert_int_equal(info.n_funcs + info.n_lines, 0);

	/* A function without a line. */
	const struct insn_info few = {old_funcs, 2, old_lines, 2};
	const struct bpf_insn whole[] = {MOV(0, 1), JUMP(1),   MOV(0, 2), CALL(1),
					 EXIT,	    MOV(0, 7), EXIT};
	assert_null(insn_info_move(&few, same, whole, 7, &info));
	assert_int_equal(info.n_funcs, 2);
	assert_int_equal(info.n_lines, 0);
	insn_info_deinit(&info);

	/* A pointer to a function at the very end, and a line in its second half. */
	const struct bpf_insn pointer[] = {MOV(0, 1), CALL(0), MOV(0, 2), FUNC(-3)};
	const int32_t to[] = {0, 1, 4, -1, -1, 2, 3};
	assert_null(insn_info_move(&old_info, to, pointer, 5, &info));
	assert_int_equal(info.n_funcs, 0); /* the pointer leads to instruction 1 */
	insn_info_deinit(&info);
}

/* ---- loading ---- */

static struct {
	char *data;
	size_t size;
	struct btf *types;
} file;

/* An object that is prepared but for what takes a kernel. */
static struct error *prepare(struct bpf_object **out)
{
	_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;
	const long left = countdown;
	uint32_t size;
	const void *raw = btf__raw_data(file.types, &size);

	countdown = -1;
	TRY(object_open_mem(file.data, file.size, NULL, NULL, &obj));
	obj->btf_custom_path = strdup("types");
	obj->custom_btf = btf__new(raw, size);
	TRY(programs_prepare(obj));
	obj->btf_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	obj->state = OBJECT_PREPARED;
	countdown = left;
	*out = steal_ptr(obj);
	return NULL;
}

static struct bpf_program *start(struct bpf_object **obj)
{
	memset(&kernel, 0, sizeof(kernel));
	assert_null(prepare(obj));
	struct bpf_program *prog = bpf_object__find_program_by_name(*obj, "count");
	assert_non_null(prog);
	return prog;
}

static int third_fd;

/* 0: a prologue; 1: none; 2: the same as 0, in the same buffer; 3: another; 4: in place */
static int prep(struct bpf_program *prog, int n, struct bpf_insn *insns, int insns_cnt,
		struct bpf_prog_prep_result *res)
{
	static struct bpf_insn buffer[4096];
	const struct bpf_insn prologue[] = {MOV(2, 0), MOV(3, n == 3)};

	if (n == 1)
		return 0;
	if (n == 4) {
		insns[0] = (struct bpf_insn)MOV(9, 4);
		res->new_insn_ptr = insns;
		res->new_insn_cnt = insns_cnt;
		return 0;
	}
	memcpy(buffer, prologue, sizeof(prologue));
	memcpy(buffer + 2, insns, (size_t)insns_cnt * sizeof(*insns));
	res->new_insn_ptr = buffer;
	res->new_insn_cnt = insns_cnt + 2;
	if (n == 3)
		res->pfd = &third_fd;
	return 0;
}

static void equal_instances_are_loaded_once(void **state)
{
	struct bpf_object *obj;
	struct bpf_program *prog = start(&obj);
	const size_t n = bpf_program__insn_cnt(prog);
	const struct bpf_insn first = bpf_program__insns(prog)[0];
	const uint32_t second_function = prog->placed.v[1].at, lines = prog->n_line_info;

	assert_int_equal(bpf_program__nth_fd(prog, 0), -ENOENT);
	assert_int_equal(bpf_program__nth_fd(prog, 1), -EINVAL);
	assert_int_equal(bpf_program__set_prep(prog, 0, prep), -EINVAL);
	assert_int_equal(bpf_program__set_prep(prog, 1, NULL), -EINVAL);
	assert_int_equal(bpf_program__set_prep(prog, 1, prep), 0);
	assert_int_equal(bpf_program__set_prep(prog, 5, prep), 0);
	assert_int_equal(bpf_program__nth_fd(prog, 4), -ENOENT);
	assert_null(object_load(obj));
	assert_int_equal(kernel.calls, 3);
	assert_int_equal(kernel.n[0], n + 2);
	assert_int_equal(kernel.n[1], n + 2);
	assert_int_equal(kernel.n[2], n);
	assert_int_equal(bpf_program__nth_fd(prog, 0), kernel.fds[0]);
	assert_int_equal(bpf_program__fd(prog), kernel.fds[0]);
	assert_int_equal(bpf_program__nth_fd(prog, 1), -ENOENT);
	assert_int_equal(bpf_program__nth_fd(prog, 2), kernel.fds[0]);
	assert_int_equal(bpf_program__nth_fd(prog, 3), kernel.fds[1]);
	assert_int_equal(third_fd, kernel.fds[1]);
	assert_int_equal(bpf_program__nth_fd(prog, 4), kernel.fds[2]);
	assert_int_equal(bpf_program__nth_fd(prog, 5), -EINVAL);
	assert_int_equal(bpf_program__nth_fd(prog, -1), -EINVAL);
	assert_int_equal(bpf_program__set_prep(prog, 1, prep), -EBUSY);
	/* The last was as long as the program: its records stand where they stood. */
	assert_int_equal(kernel.n_funcs, 3);
	assert_int_equal(kernel.funcs[1], second_function);
	assert_int_equal(kernel.lines, lines);
	/* And the program itself is what it was. */
	assert_int_equal(bpf_program__insn_cnt(prog), n);
	assert_memory_equal(bpf_program__insns(prog), &first, sizeof(first));

	bpf_program__unload(prog);
	for (int i = 0; i < 3; i++)
		assert_false(is_open(kernel.fds[i]));
	assert_int_equal(bpf_program__nth_fd(prog, 0), -ENOENT);
	assert_int_equal(bpf_program__fd(prog), -ENOENT);
	bpf_object__close(obj);
}

static int with_prologue(struct bpf_program *prog, int n, struct bpf_insn *insns, int insns_cnt,
			 struct bpf_prog_prep_result *res)
{
	static struct bpf_insn *out;
	const struct bpf_insn prologue[] = {MOV(2, n), WIDE(0, 7), MOV(4, 0)};

	free(out);
	out = NULL;
	if (n == 2)
		return 0;
	int m = perf_bpf_prepend_insns(prologue, ARRAY_SIZE(prologue), insns, (size_t)insns_cnt,
				       &out);
	if (m < 0)
		return m;
	res->new_insn_ptr = out;
	res->new_insn_cnt = m;
	return 0;
}

static void a_prologue_moves_the_records(void **state)
{
	struct bpf_object *obj;
	struct bpf_program *prog = start(&obj);
	const uint32_t lines = prog->n_line_info;

	assert_true(prog->placed.n == 3 && lines > 3);
	assert_int_equal(bpf_program__set_prep(prog, 3, with_prologue), 0);
	assert_null(object_load(obj));
	assert_int_equal(kernel.calls, 2);
	assert_int_equal(kernel.n_funcs, 3);
	assert_int_equal(kernel.funcs[0], 0);
	assert_int_equal(kernel.funcs[1], prog->placed.v[1].at + 4);
	assert_int_equal(kernel.funcs[2], prog->placed.v[2].at + 4);
	assert_int_equal(kernel.lines, lines + 1);
	assert_int_equal(kernel.first_lines[0], 0);
	assert_int_equal(kernel.first_lines[1], 4);
	bpf_object__close(obj);
	assert_false(is_open(kernel.fds[0]) || is_open(kernel.fds[1]));
}

/* 0 and 1 are equal; the others differ in one thing each. */
static struct error *form(void *ctx, size_t i, struct program_form *out)
{
	static const struct bpf_insn front[] = {MOV(2, 0), CALL(1), EXIT};
	static const char *const targets[] = {NULL, NULL, NULL, "first", "second", "second"};

	assert_string_equal(ctx, "ours");
	out->type = i < 3 ? BPF_PROG_TYPE_KPROBE : BPF_PROG_TYPE_TRACING;
	out->attach_type = i == 2 ? BPF_LSM_MAC : 0;
	out->target = targets[i];
	out->btf_id = i == 5 ? 12 : i >= 3 ? 11 : 0;
	out->front = front;
	out->n_front = ARRAY_SIZE(front);
	return i < 6 ? NULL : error_new(EINVAL, "no more");
}

static void forms_have_targets_of_their_own(void **state)
{
	static char ours[] = "ours";
	struct bpf_object *obj;
	struct bpf_program *prog = start(&obj);
	const size_t n = bpf_program__insn_cnt(prog);
	const uint32_t lines = prog->n_line_info;

	obj->state = OBJECT_OPEN;
	assert_null(program_set_forms(prog, 6, form, ours));
	assert_int_equal(bpf_program__set_prep(prog, 1, prep), -EBUSY);
	obj->state = OBJECT_PREPARED;
	/* It is called: the verifier takes it for a function with the caller's arguments. */
	const int id = btf__find_by_name_kind(obj->btf, "count", BTF_KIND_FUNC);
	assert_true(id > 0);
	assert_int_equal(btf_vlen(btf__type_by_id(obj->btf, (uint32_t)id)), BTF_FUNC_STATIC);
	assert_null(object_load(obj));
	assert_int_equal(kernel.calls, 5);
	assert_int_equal(kernel.n[0], n + 3);
	const uint32_t types[] = {BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_TRACING,
				  BPF_PROG_TYPE_TRACING, BPF_PROG_TYPE_TRACING};
	const uint32_t attach_types[] = {0, BPF_LSM_MAC, 0, 0, 0}, ids[] = {0, 0, 11, 11, 12};
	assert_memory_equal(kernel.types, types, sizeof(types));
	assert_memory_equal(kernel.attach_types, attach_types, sizeof(attach_types));
	assert_memory_equal(kernel.btf_ids, ids, sizeof(ids));
	assert_int_equal(bpf_program__nth_fd(prog, 1), kernel.fds[0]);
	assert_int_equal(bpf_program__nth_fd(prog, 2), kernel.fds[1]);
	assert_int_equal(bpf_program__nth_fd(prog, 5), kernel.fds[4]);

	/* The code in front is a function of its own, of the program's type and its line. */
	assert_int_equal(kernel.n_funcs, 4);
	assert_int_equal(kernel.funcs[0], 0);
	assert_int_equal(kernel.funcs[1], 3);
	assert_int_equal(kernel.funcs[2], prog->placed.v[1].at + 3);
	assert_int_equal(kernel.lines, lines + 1);
	assert_int_equal(kernel.first_lines[1], 3);

	program_use_form(prog, 2);
	assert_int_equal(bpf_program__fd(prog), kernel.fds[1]);
	assert_int_equal(bpf_program__type(prog), BPF_PROG_TYPE_KPROBE);
	assert_int_equal(bpf_program__expected_attach_type(prog), BPF_LSM_MAC);
	program_use_form(prog, 4);
	assert_int_equal(bpf_program__fd(prog), kernel.fds[3]);
	assert_int_equal(bpf_program__type(prog), BPF_PROG_TYPE_TRACING);
	bpf_object__close(obj);
	for (int i = 0; i < 5; i++)
		assert_false(is_open(kernel.fds[i]));
}

/* Four instructions, or three. */
static struct error *form_with_plain(void *ctx, size_t i, struct program_form *out)
{
	static const struct bpf_insn front[] = {MOV(2, 0), MOV(2, 1), CALL(1), EXIT};

	++*(int *)ctx;
	out->type = BPF_PROG_TYPE_KPROBE;
	out->front = front + out->plain;
	out->n_front = ARRAY_SIZE(front) - out->plain;
	out->has_plain = !out->plain;
	return NULL;
}

static void plainer_code_is_asked_for(void **state)
{
	for (int refused = 0; refused < 3; refused++) {
		struct bpf_object *obj;
		struct bpf_program *prog = start(&obj);
		const size_t n = bpf_program__insn_cnt(prog);
		int asked = 0;

		obj->state = OBJECT_OPEN;
		assert_null(program_set_forms(prog, 1, form_with_plain, &asked));
		obj->state = OBJECT_PREPARED;
		kernel.refuse_n = refused == 1 ? n + 4 : 0;
		kernel.refuse = refused == 2;
		struct error *err = object_load(obj);
		assert_int_equal(asked, refused ? 2 : 1);
		if (refused == 2)
			assert_string_equal(err->failure->kernel, "R9 !read_ok");
		else
			assert_int_equal(kernel.n[0], refused ? n + 3 : n + 4);
		assert_int_equal(err != NULL, refused == 2);
		error_free(err);
		bpf_object__close(obj);
	}
}

static void only_whole_prologues_are_prepended(void **state)
{
	const struct bpf_insn program[] = {MOV(0, 0), EXIT};
	const struct {
		struct bpf_insn insns[3];
		size_t n;
		bool good;
	} prologues[] = {
		{{MOV(2, 1)}, 0, true},
		{{MOV(2, 1), JUMP(1), EXIT}, 3, true},	/* to its end */
		{{MOV(2, 1), JUMP(-2), EXIT}, 3, true}, /* to its start */
		{{MOV(2, 1), JUMP(2), EXIT}, 3, false},
		{{JUMP(-2), EXIT}, 2, false},
		{{WIDE(0, 1)}, 2, true},
		{{WIDE(0, 1)}, 1, false},
		{{FUNC(1)}, 2, false},
		{{CALL(0), EXIT}, 2, false},
		{{{.code = BPF_JMP | BPF_CALL, .imm = 14}}, 1, true},
		{{{.code = BPF_JMP32 | BPF_JA, .imm = 1}, EXIT}, 2, true},
		{{{.code = BPF_JMP32 | BPF_JA, .imm = 2}, EXIT}, 2, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(prologues); i++) {
		struct bpf_insn *out = NULL;
		int n = perf_bpf_prepend_insns(prologues[i].insns, prologues[i].n, program, 2,
					       &out);

		if (n != (prologues[i].good ? (int)prologues[i].n + 2 : -EINVAL))
			fail_msg("prologue %zu: %d", i, n);
		if (n > 0)
			assert_memory_equal(out + prologues[i].n, program, sizeof(program));
		free(out);
	}
}

static void a_refusal_names_the_instance(void **state)
{
	struct bpf_object *obj;
	struct bpf_program *prog = start(&obj);

	kernel.refuse = 2;
	assert_int_equal(bpf_program__set_prep(prog, 5, prep), 0);
	struct error *err = object_load(obj);
	assert_non_null(err);
	assert_int_equal(err->code, EACCES);
	assert_non_null(strstr(err->where, "program count (section raw_tp/sys_enter): instance 3"));
	assert_string_equal(err->failure->kernel, "R9 !read_ok");
	assert_string_equal(err->msg, "R9 is used before it is set");
	error_free(err);
	assert_false(is_open(kernel.fds[0]));
	assert_int_equal(bpf_program__nth_fd(prog, 0), -ENOENT);
	bpf_object__close(obj);
}

static int failing(struct bpf_program *prog, int n, struct bpf_insn *insns, int insns_cnt,
		   struct bpf_prog_prep_result *res)
{
	res->new_insn_ptr = insns;
	res->new_insn_cnt = insns_cnt;
	return n == 1 ? -EDOM : 0;
}

static int misplacing(struct bpf_program *prog, int n, struct bpf_insn *insns, int insns_cnt,
		      struct bpf_prog_prep_result *res)
{
	static __s32 at[4096];

	for (int i = 0; i < insns_cnt; i++)
		at[i] = n ? insns_cnt - i : i;
	res->new_insn_ptr = insns;
	res->new_insn_cnt = insns_cnt;
	res->new_insn_at = at;
	insns[0].imm ^= n;
	return 0;
}

static void a_preprocessor_that_fails_fails_the_load(void **state)
{
	struct bpf_object *obj;
	struct bpf_program *prog = start(&obj);

	assert_int_equal(bpf_program__set_prep(prog, 3, failing), 0);
	struct error *err = object_load(obj);
	assert_int_equal(err->code, EDOM);
	assert_non_null(strstr(err->where, "instance 1"));
	assert_non_null(strstr(err->msg, "its preprocessor failed"));
	error_free(err);
	assert_int_equal(kernel.calls, 1);
	assert_false(is_open(kernel.fds[0]));
	bpf_object__close(obj);

	prog = start(&obj);
	assert_int_equal(bpf_program__set_prep(prog, 2, misplacing), 0);
	err = object_load(obj);
	assert_int_equal(err->code, EINVAL);
	assert_non_null(strstr(err->where, "instance 1"));
	assert_non_null(strstr(err->msg, "is recorded at"));
	error_free(err);
	bpf_object__close(obj);
}

static void lack_of_memory_is_said(void **state)
{
	long n = 0;

	do {
		struct bpf_object *obj;
		struct bpf_program *prog = start(&obj);

		assert_int_equal(bpf_program__set_prep(prog, 5, prep), 0);
		failed = false;
		countdown = n++;
		struct error *err = object_load(obj);
		countdown = -1;
		if (failed) {
			assert_non_null(err);
			assert_int_equal(err->code, ENOMEM);
		} else if (err) {
			fail_msg("%s: %s", err->where, err->msg);
		}
		error_free(err);
		bpf_object__close(obj);
		for (int i = 0; i < kernel.calls; i++)
			assert_false(is_open(kernel.fds[i]));
	} while (failed);
	assert_true(n > 20);
}

static int read_file(void **state)
{
	const char *src = getenv("SRC");
	char path[512];

	snprintf(path, sizeof(path), "%s/fuzz/corpus/object/maps-19.o", src ? src : ".");
	error_free(sys_read_file(path, 1 << 20, &file.data, &file.size));
	file.types = btf__parse_elf(path, NULL);
	return file.data && file.types ? 0 : -1;
}

static int free_file(void **state)
{
	btf__free(file.types);
	free(file.data);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_is_found_from_both_ends),
		cmocka_unit_test(a_map_ascends_within_the_program),
		cmocka_unit_test(records_go_with_their_instructions),
		cmocka_unit_test(functions_in_front_are_of_the_programs_type),
		cmocka_unit_test(records_that_would_not_fit_are_dropped),
		cmocka_unit_test(equal_instances_are_loaded_once),
		cmocka_unit_test(a_prologue_moves_the_records),
		cmocka_unit_test(forms_have_targets_of_their_own),
		cmocka_unit_test(plainer_code_is_asked_for),
		cmocka_unit_test(only_whole_prologues_are_prepended),
		cmocka_unit_test(a_refusal_names_the_instance),
		cmocka_unit_test(a_preprocessor_that_fails_fails_the_load),
		cmocka_unit_test(lack_of_memory_is_said),
	};

	return cmocka_run_group_tests(tests, read_file, free_file);
}
