// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prologues: thousands of random ones against what their fetch programs say,
 * and the cases that people write.
 */
#include "prologue_case.h"

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

TEST(any)
{
	enum {
		CASES = 20000,
	};
	uint64_t seed = 0x9e3779b97f4a7c15ull;
	size_t n_built = 0;

	for (int i = 0; i < CASES; i++) {
		struct prologue_case *c = calloc(1, sizeof(*c));
		uint8_t bytes[2048];
		bool built;

		assert_non_null(c);
		for (size_t k = 0; k < sizeof(bytes); k += 8) {
			const uint64_t v = next(&seed);

			memcpy(&bytes[k], &v, 8);
		}
		c->at = bytes;
		c->end = bytes + sizeof(bytes);
		c->only_valid = i % 4;
		if (!case_run(c, &built))
			fail_msg("case %d: %s", i, c->why);
		/* A struct may come out too large; nothing else is wrong with a valid one. */
		if (c->only_valid && !built && !strstr(c->why, "bytes of stack") &&
		    !strstr(c->why, "not enough stack space") && !strstr(c->why, "within a byte"))
			fail_msg("case %d was refused: %s", i, c->why);
		n_built += built;
		prologue_deinit(&c->built);
		free(c);
	}
	if (n_built < CASES / 2)
		fail_msg("%zu of %d were built", n_built, CASES);
}

static void assert_refused(const struct fetch_value *values, size_t n,
			   const struct prologue_way *way, const struct prologue_shape *shape,
			   int code, const char *text)
{
	struct prologue p = {0};
	struct error *err = prologue_build(values, n, way, shape, &p);

	assert_non_null(err);
	assert_int_equal(err->code, code);
	if (!strstr(err->msg, text) && !(err->hint && strstr(err->hint, text)))
		fail_msg("'%s' is not in '%s'", text, err->msg);
	assert_null(p.insns);
	error_free(err);
}

/* One argument of one piece, in a register. */
static void refused_insns(struct fetch_insn *insns, size_t n, int code, const char *text)
{
	struct fetch_piece piece = {.insns = insns, .n_insns = n, .bit_size = 64};
	const struct fetch_value value = {
		.name = "count", .size = 8, .pieces = &piece, .n_pieces = 1};
	const struct prologue_member member = {0, 8};
	const struct prologue_shape shape = {.members = &member};
	const struct prologue_way way = {.regs = regs_of(EM_X86_64)};

	assert_refused(&value, 1, &way, &shape, code, text);
	assert_refused(&value, 1, &way, &shape, code, "argument count: ");
}

TEST(refused)
{
	struct fetch_insn deep[FETCH_MAX_DEPTH + 1] = {0};
	struct fetch_insn many[FETCH_MAX_INSNS + 1] = {0};
#define INSNS(...) (struct fetch_insn[]){__VA_ARGS__}
	refused_insns(NULL, 0, EINVAL, "more than it pushed");
	refused_insns(INSNS({.op = FETCH_PLUS}), 1, EINVAL, "more than it pushed");
	refused_insns(INSNS({.op = FETCH_REG, .reg = 99}), 1, EOPNOTSUPP, "register 99");
	refused_insns(INSNS({.op = FETCH_TLS}), 1, EOPNOTSUPP, "thread-local");
	refused_insns(INSNS({.op = FETCH_CONST}, {.op = FETCH_DEREF, .size = 3}), 2, EINVAL,
		      "reads 3 bytes");
	refused_insns(INSNS({.op = FETCH_CONST}, {.op = FETCH_PICK, .imm = 1}), 2, EINVAL, "picks");
	refused_insns(INSNS({.op = FETCH_ENTRY}), 1, EINVAL, "pops more");
	refused_insns(INSNS({.op = FETCH_CONST}, {.op = FETCH_ENTRY, .reg = FETCH_ENTRY_REGS}), 2,
		      EINVAL, "needs parameter 9");
	refused_insns(INSNS({.op = 4711}), 1, EINVAL, "operator 4711");
	refused_insns(deep, ARRAY_SIZE(deep), E2BIG, "more than 12 entries");
	refused_insns(many, ARRAY_SIZE(many), E2BIG, "257 steps");
}

TEST(shapes)
{
	struct fetch_insn param = {.op = FETCH_PARAM};
	struct fetch_piece piece = {
		.insns = &param, .n_insns = 1, .gives = FETCH_ADDRESS, .bit_size = 128};
	struct fetch_value v[4] = {{.name = "name", .size = 16, .pieces = &piece, .n_pieces = 1}};
	struct prologue_member m[4] = {{0, 8}, {0, 8}, {0, 8}, {0, 8}};
	struct prologue_shape shape = {
		.members = m, .err_offset = -1, .err_mask_offset = -1, .ip_offset = -1};
	const struct prologue_way way = {.regs = regs_of(EM_X86_64)};

	v[1] = v[2] = v[3] = v[0];
	assert_refused(v, 1, &way, &shape, E2BIG, "struct NAME *args");
	v[0].kind = FETCH_STRING;
	assert_refused(v, 1, &way, &shape, E2BIG, "does not fit into a register");
	assert_refused(v, 4, &way, &shape, E2BIG, "4 arguments do not fit into three registers");
	shape.in_struct = true;
	shape.size = 7;
	assert_refused(v, 1, &way, &shape, EINVAL, "not enough stack space");
	shape.size = 512;
	assert_refused(v, 1, &way, &shape, E2BIG, "512 bytes");
	shape.size = 16;
	shape.err_offset = 14;
	assert_refused(v, 1, &way, &shape, EINVAL, "err");
	shape.err_offset = 8;
	shape.err_mask_offset = 16;
	assert_refused(v, 1, &way, &shape, EINVAL, "err_mask");
	shape.err_mask_offset = -1;
	shape.ip_offset = 4;
	assert_refused(v, 1, &way, &shape, EINVAL, "__probe_ip");
}

/* What a way cannot give. */
TEST(obstacles)
{
	struct fetch_insn insn = {.op = FETCH_PARAM, .reg = 2};
	struct fetch_piece piece = {.insns = &insn, .n_insns = 1, .bit_size = 64};
	const struct fetch_value v = {.name = "a", .size = 8, .pieces = &piece, .n_pieces = 1};
	struct prologue_way way = {.regs = regs_of(EM_X86_64)};

	assert_null(prologue_obstacle(&v, 1, &way));
	way.at_return = true;
	assert_non_null(prologue_obstacle(&v, 1, &way));
	way.context = PROLOGUE_TYPED;
	way.n_params = 2;
	assert_non_null(prologue_obstacle(&v, 1, &way));
	way.n_params = 3;
	assert_null(prologue_obstacle(&v, 1, &way));
	insn = (struct fetch_insn){.op = FETCH_REG, .reg = 3}; /* bx */
	assert_non_null(prologue_obstacle(&v, 1, &way));
	way = (struct prologue_way){.regs = way.regs};
	assert_null(prologue_obstacle(&v, 1, &way));
	way.ftrace_regs = true;
	assert_non_null(prologue_obstacle(&v, 1, &way));
	insn.reg = 5; /* di */
	assert_null(prologue_obstacle(&v, 1, &way));
	insn.reg = 7; /* sp */
	assert_null(prologue_obstacle(&v, 1, &way));
	insn.op = FETCH_RETVAL;
	assert_non_null(prologue_obstacle(&v, 1, &way));
	way.at_return = true;
	assert_null(prologue_obstacle(&v, 1, &way));
}
