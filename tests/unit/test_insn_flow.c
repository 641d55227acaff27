// SPDX-License-Identifier: BSD-2-Clause
/* Which map a call is about, and whether a store adds to a field or replaces it. */
#include <errno.h>
#include <string.h>

#include "lib/base/util.h"
#include "lib/object/insn_flow.h"
#include "lib/sys/uapi.h"

#define INSN(c, d, s, o, i)                                                                        \
	{                                                                                          \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)                \
	}
#define MOV(d, s)      INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)  INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD(d, s)      INSN(BPF_ALU64 | BPF_ADD | BPF_X, d, s, 0, 0)
#define ADD_IMM(d, i)  INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define SUB(d, s)      INSN(BPF_ALU64 | BPF_SUB | BPF_X, d, s, 0, 0)
#define LSH(d, i)      INSN(BPF_ALU64 | BPF_LSH | BPF_K, d, 0, 0, i)
#define MAP(d, fd)     INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)
#define LOAD(d, s, o)  INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, s, o) INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define XADD(d, s, o)  INSN(BPF_STX | BPF_ATOMIC | BPF_DW, d, s, o, BPF_ADD)
#define HELPER(id)     INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##id)
#define CALL(o)	       INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, o)
#define JEQ(d, i, o)   INSN(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, i)
#define JA(o)	       INSN(BPF_JMP | BPF_JA, 0, 0, o, 0)
#define EXIT	       INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define LOOKUP(fd)     MAP(1, fd), HELPER(map_lookup_elem)

/* What was visited, as text: "call 2: map 5", "store 5+8: adds". */
struct noted {
	char text[512];
};

static struct error *note_call(void *ctx, size_t insn, const struct flow_value *regs)
{
	struct noted *n = ctx;
	const size_t len = strlen(n->text);

	if (regs[1].kind == FLOW_MAP)
		snprintf(n->text + len, sizeof(n->text) - len, "call of %d; ", regs[1].map);
	else
		snprintf(n->text + len, sizeof(n->text) - len, "call; ");
	return NULL;
}

static struct error *note_store(void *ctx, const struct flow_value *to, uint32_t size, bool adds)
{
	struct noted *n = ctx;
	const size_t len = strlen(n->text);

	snprintf(n->text + len, sizeof(n->text) - len, "%d+%d%s %s; ", to->map, to->off,
		 to->varies ? "…" : "", adds ? "adds" : "sets");
	return NULL;
}

static void expect_(const struct bpf_insn *insns, size_t n, const char *wanted)
{
	struct noted noted = {0};
	const struct flow_visitor visitor = {&noted, note_call, note_store};

	assert_null(insn_flow_visit(insns, n, &visitor));
	assert_string_equal(noted.text, wanted);
}

#define EXPECT(wanted, ...)                                                                        \
	do {                                                                                       \
		const struct bpf_insn insns_[] = {__VA_ARGS__};                                    \
		expect_(insns_, ARRAY_SIZE(insns_), wanted);                                       \
	} while (0)

TEST(test_maps_of_calls)
{
	EXPECT("call of 5; ", MAP(1, 5), HELPER(ringbuf_output), EXIT);
	/* through a register, and through the frame */
	EXPECT("call of 5; ", MAP(6, 5), MOV(1, 6), HELPER(ringbuf_output), EXIT);
	EXPECT("call of 5; ", MAP(6, 5), STORE(10, 6, -8), MOV_IMM(6, 0), LOAD(1, 10, -8),
	       HELPER(ringbuf_output), EXIT);
	/* a call leaves nothing in r1 */
	EXPECT("call of 5; call; ", MAP(1, 5), HELPER(ringbuf_output), HELPER(ringbuf_output),
	       EXIT);
	/* one map on both paths; then two */
	EXPECT("call of 5; ", MAP(1, 5), JEQ(6, 0, 2), MAP(1, 5), HELPER(ringbuf_output), EXIT);
	EXPECT("call; ", MAP(1, 5), JEQ(6, 0, 2), MAP(1, 6), HELPER(ringbuf_output), EXIT);
	/* a loop */
	EXPECT("call of 5; ", MAP(6, 5), MOV(1, 6), HELPER(ringbuf_output), JEQ(7, 0, -3), EXIT);
	/* what is not reached is not visited */
	EXPECT("", JA(3), MAP(1, 5), HELPER(ringbuf_output), EXIT);
}

TEST(test_subprograms)
{
	EXPECT("call of 5; ", MAP(1, 5), CALL(1), EXIT, HELPER(ringbuf_output), EXIT);
	/* two callers with two maps */
	EXPECT("call; ", MAP(1, 5), CALL(4), MAP(1, 6), CALL(1), EXIT, HELPER(ringbuf_output),
	       EXIT);
	/* the caller's frame is not the callee's */
	EXPECT("call; ", MAP(6, 5), STORE(10, 6, -8), CALL(1), EXIT, LOAD(1, 10, -8),
	       HELPER(ringbuf_output), EXIT);
}

TEST(test_stores)
{
	EXPECT("call of 5; 5+0 adds; ", LOOKUP(5), MOV_IMM(1, 1), XADD(0, 1, 0), EXIT);
	EXPECT("call of 5; 5+8 adds; ", LOOKUP(5), LOAD(1, 0, 8), ADD_IMM(1, 1), STORE(0, 1, 8),
	       EXIT);
	EXPECT("call of 5; 5+8 adds; ", LOOKUP(5), LOAD(1, 0, 8), ADD(6, 1), STORE(0, 6, 8), EXIT);
	/* the difference of two times is added */
	EXPECT("call of 5; 5+8 adds; ", LOOKUP(5), SUB(6, 7), LOAD(1, 0, 8), ADD(1, 6),
	       STORE(0, 1, 8), EXIT);
	/* a last value; a maximum */
	EXPECT("call of 5; 5+8 sets; ", LOOKUP(5), STORE(0, 6, 8), EXIT);
	EXPECT("call of 5; 5+8 sets; ", LOOKUP(5), LOAD(1, 0, 8),
	       INSN(BPF_JMP | BPF_JGE | BPF_X, 1, 6, 1, 0), STORE(0, 6, 8), EXIT);
	/* what goes up and down */
	EXPECT("call of 5; 5+0 sets; ", LOOKUP(5), LOAD(1, 0, 0), ADD_IMM(1, -1), STORE(0, 1, 0),
	       EXIT);
	EXPECT("call of 5; 5+0 sets; ", LOOKUP(5), LOAD(1, 0, 0), SUB(1, 6), STORE(0, 1, 0), EXIT);
	EXPECT("call of 5; 5+0 sets; ", LOOKUP(5), MOV_IMM(1, -1), XADD(0, 1, 0), EXIT);
	EXPECT("call of 5; 5+0 sets; ", LOOKUP(5), MOV_IMM(2, 3), JEQ(6, 0, 1), MOV_IMM(2, -1),
	       LOAD(1, 0, 0), ADD(1, 2), STORE(0, 1, 0), EXIT);
	/* a moving average: average += (now - average) / 8 */
	EXPECT("call of 5; 5+0 sets; ", LOOKUP(5), LOAD(1, 0, 0), SUB(6, 1), LSH(6, 3), ADD(1, 6),
	       STORE(0, 1, 0), EXIT);
	/* the sum of another field is no addition */
	EXPECT("call of 5; 5+8 sets; ", LOOKUP(5), LOAD(1, 0, 0), ADD_IMM(1, 1), STORE(0, 1, 8),
	       EXIT);
	/* a slot of a histogram that begins at 16 */
	EXPECT("call of 5; 5+16… adds; ", LOOKUP(5), LSH(6, 3), ADD(0, 6), LOAD(1, 0, 16),
	       ADD_IMM(1, 1), STORE(0, 1, 16), EXIT);
	/* a global variable */
	EXPECT("7+24 adds; ", INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_VALUE, 0, 7),
	       INSN(0, 0, 0, 0, 24), MOV_IMM(2, 1), XADD(1, 2, 0), EXIT);
}

static void expect_error(const struct bpf_insn *insns, size_t n, int code)
{
	const struct flow_visitor visitor = {0};
	struct error *err = insn_flow_visit(insns, n, &visitor);

	assert_non_null(err);
	assert_int_equal(err->code, code);
	error_free(err);
}

TEST(test_refused)
{
	const struct bpf_insn far[] = {JA(5), EXIT}, back[] = {JA(-2), EXIT},
			      table[] = {INSN(BPF_JMP | BPF_JA | BPF_X, 1, 0, 0, 0), EXIT},
			      frame[] = {MOV_IMM(10, 0), EXIT}, regs[] = {MOV_IMM(11, 0), EXIT};

	expect_error(far, 2, EINVAL);
	expect_error(back, 2, EINVAL);
	expect_error(table, 2, ENOTSUP);
	expect_error(frame, 2, EINVAL);
	expect_error(regs, 2, EINVAL);
}
