/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a prologue's BPF instructions as the kernel would, over a fake context
 * and fake memory, up to the call of the user's program and from there to its
 * exit. It checks what the verifier would: registers and stack bytes are
 * written before they are read, accesses lie where they may and are aligned;
 * memory is loaded only through what was loaded from the context.
 */
#ifndef BPF_MACHINE_H
#define BPF_MACHINE_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct machine {
	const struct bpf_insn *insns; /* the prologue; the program stands behind */
	size_t n;
	void *ctx; /* aligned to 8 */
	size_t ctx_size;
	uint64_t base; /* where the memory seems to be */
	const uint8_t *mem;
	size_t mem_size;
	bool mem_is_user; /* the kernel's own reads of it fail */
	uint64_t func_ip, cookie;
	uint64_t *counters; /* of map descriptor 77 */
	size_t n_counters;
	uint64_t entry[8];    /* of map descriptor 78: what machine_entry() has kept */
	const uint64_t *args; /* of a typed context, for the helpers */
	size_t n_args;
	uint64_t retval;

	/* what the program was called with */
	uint64_t r[6];
	uint8_t frame[512];
	bool called, wrapped;
	uint64_t program_returns, returned;

	uint64_t regs[11];
	bool known[11];
	bool typed[11]; /* the verifier may know it as a pointer to a struct */
	_Alignas(8) uint8_t stack[512];
	bool written[512];
	char why[200];
};

#define MACHINE_TGID 4321

/* What a register held at the entry of the function, in the frame; of odd frames nothing is known.
 */
static inline uint64_t machine_entry(uint32_t function, uint64_t cfa, uint64_t reg)
{
	return (cfa * 31 + function) * 0x9e3779b97f4a7c15ull + reg;
}

#define MACHINE_FAIL(m, ...)                                                                       \
	do {                                                                                       \
		snprintf((m)->why, sizeof((m)->why), __VA_ARGS__);                                 \
		return false;                                                                      \
	} while (0)

static inline bool machine_in_stack(const struct machine *m, uint64_t at, uint64_t n)
{
	const uint64_t start = (uint64_t)(uintptr_t)m->stack;

	return at >= start && at <= start + 512 && n <= start + 512 - at;
}

static inline bool machine_is_user(int32_t helper)
{
	return helper == BPF_FUNC_probe_read_user || helper == BPF_FUNC_copy_from_user ||
	       helper == BPF_FUNC_probe_read_user_str;
}

/* What a helper reads: 0, or -EFAULT. */
static inline int64_t machine_peek(const struct machine *m, int32_t helper, uint64_t at, uint64_t n,
				   void *to)
{
	const uint64_t ctx = (uint64_t)(uintptr_t)m->ctx;

	if ((!m->mem_is_user || machine_is_user(helper)) && at >= m->base &&
	    at - m->base <= m->mem_size && n <= m->mem_size - (at - m->base)) {
		memcpy(to, m->mem + (at - m->base), n);
		return 0;
	}
	if (at >= ctx && at - ctx <= m->ctx_size && n <= m->ctx_size - (at - ctx)) {
		memcpy(to, (const uint8_t *)m->ctx + (at - ctx), n);
		return 0;
	}
	memset(to, 0, n);
	return -14;
}

/* Room of a helper's in the stack: n bytes at at, written from now on. */
static inline bool machine_room(struct machine *m, uint64_t at, uint64_t n)
{
	if (!n || !machine_in_stack(m, at, n))
		MACHINE_FAIL(m, "a helper writes %llu bytes outside of the stack",
			     (unsigned long long)n);
	memset(m->written + (at - (uint64_t)(uintptr_t)m->stack), 1, n);
	return true;
}

static inline bool machine_entry_lookup(struct machine *m, uint64_t key, uint64_t *result)
{
	uint32_t words[2];
	uint64_t cfa;

	if (!machine_in_stack(m, key, 16) || key % 8)
		MACHINE_FAIL(m, "a strange lookup of an entry");
	for (int i = 0; i < 16; i++)
		if (!m->written[key - (uint64_t)(uintptr_t)m->stack + (uint64_t)i])
			MACHINE_FAIL(m, "byte %d of the key of an entry is not set", i);
	memcpy(words, (void *)(uintptr_t)key, 8);
	memcpy(&cfa, (void *)(uintptr_t)(key + 8), 8);
	if (words[0] != MACHINE_TGID)
		MACHINE_FAIL(m, "an entry of process %u", words[0]);
	for (uint64_t i = 0; i < 8; i++)
		m->entry[i] = machine_entry(words[1], cfa, i);
	*result = cfa & 1 ? 0 : (uint64_t)(uintptr_t)m->entry;
	return true;
}

static inline bool machine_helper(struct machine *m, int32_t id)
{
	static const uint8_t n_params[] = {
		[1] = 2,   [16] = 2,  [112] = 3, [113] = 3, [114] = 3, [115] = 3,
		[148] = 3, [173] = 1, [174] = 1, [183] = 3, [184] = 2,
	};
	uint64_t *r = m->regs, result = 0;
	const uint8_t want = id < 185 ? n_params[id] : 0;
	uint32_t key;

	if (!want && id != BPF_FUNC_get_current_pid_tgid)
		MACHINE_FAIL(m, "helper %d", id);
	for (int i = 1; i <= want; i++)
		if (!m->known[i])
			MACHINE_FAIL(m, "helper %d: r%d is not set", id, i);
	switch (id) {
	case BPF_FUNC_get_current_pid_tgid:
		result = (uint64_t)MACHINE_TGID << 32 | 5;
		break;
	case BPF_FUNC_map_lookup_elem:
		if (r[1] == 78) {
			if (!machine_entry_lookup(m, r[2], &result))
				return false;
			break;
		}
		if (!machine_in_stack(m, r[2], 4) || r[1] != 77)
			MACHINE_FAIL(m, "a strange lookup");
		memcpy(&key, (void *)(uintptr_t)r[2], 4);
		result = key < m->n_counters ? (uint64_t)(uintptr_t)&m->counters[key] : 0;
		break;
	case BPF_FUNC_get_current_comm:
		if (!machine_room(m, r[1], r[2]))
			return false;
		snprintf((char *)(uintptr_t)r[1], r[2], "%s", "fifteen-letters");
		break;
	case BPF_FUNC_probe_read_user:
	case BPF_FUNC_probe_read_kernel:
	case BPF_FUNC_copy_from_user:
		if (!machine_room(m, r[1], r[2]))
			return false;
		result = (uint64_t)machine_peek(m, id, r[3], r[2], (void *)(uintptr_t)r[1]);
		break;
	case BPF_FUNC_probe_read_user_str:
	case BPF_FUNC_probe_read_kernel_str: {
		char *to = (char *)(uintptr_t)r[1];
		uint64_t i = 0;

		if (!machine_room(m, r[1], r[2]))
			return false;
		do {
			if (machine_peek(m, id, r[3] + i, 1, &to[i])) {
				memset(to, 0, r[2]);
				result = (uint64_t)-14;
				break;
			}
		} while (to[i] && ++i < r[2] - 1);
		if (!result) {
			i = i < r[2] ? i : r[2] - 1;
			to[i] = 0;
			result = i + 1;
		}
		break;
	}
	case 173:
		result = m->func_ip;
		break;
	case 174:
		result = m->cookie;
		break;
	default: { /* 183, 184 */
		const uint64_t to = r[id == 183 ? 3 : 2];
		const uint64_t value = id == 184 ? m->retval : r[2] < m->n_args ? m->args[r[2]] : 0;

		if (!machine_in_stack(m, to, 8) || to % 8)
			MACHINE_FAIL(m, "helper %d writes to a strange place", id);
		memcpy((void *)(uintptr_t)to, &value, 8);
		memset(m->written + (to - (uint64_t)(uintptr_t)m->stack), 1, 8);
	}
	}
	for (int i = 1; i <= 5; i++)
		m->known[i] = false;
	r[0] = result;
	m->known[0] = true;
	m->typed[0] = false;
	return true;
}

static inline uint64_t machine_alu(uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_MOD:
		return b ? a % b : a;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 63);
	case BPF_RSH:
		return a >> (b & 63);
	case BPF_ARSH:
		return (uint64_t)((int64_t)a >> (b & 63));
	case BPF_NEG:
		return -a;
	default:
		return b; /* BPF_MOV */
	}
}

static inline bool machine_jumps(uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case BPF_JA:
		return true;
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSGE:
		return (int64_t)a >= (int64_t)b;
	case BPF_JSGT:
		return (int64_t)a > (int64_t)b;
	case BPF_JSLE:
		return (int64_t)a <= (int64_t)b;
	default:
		return (int64_t)a < (int64_t)b; /* BPF_JSLT */
	}
}

/* A load through a typed pointer: 0 where there is nothing. */
static inline void machine_typed_load(struct machine *m, const struct bpf_insn *insn, uint64_t at,
				      uint32_t size)
{
	uint64_t value = 0;

	machine_peek(m, BPF_FUNC_probe_read_kernel, at, size, &value);
	m->regs[insn->dst_reg] = value;
	m->known[insn->dst_reg] = true;
	m->typed[insn->dst_reg] = size == 8;
}

static inline bool machine_memory(struct machine *m, const struct bpf_insn *insn, bool is_load)
{
	static const uint8_t sizes[] = {4, 2, 1, 8};
	const uint32_t size = sizes[BPF_SIZE(insn->code) >> 3];
	const uint8_t base = is_load ? insn->src_reg : insn->dst_reg;
	const uint64_t at = m->regs[base] + (uint64_t)(int64_t)insn->off;
	const uint64_t ctx = (uint64_t)(uintptr_t)m->ctx;
	uint64_t value = 0;

	if (is_load && m->known[base] && m->typed[base]) {
		if (!m->wrapped)
			MACHINE_FAIL(m, "a load that may fault is in the main program");
		machine_typed_load(m, insn, at, size);
		return true;
	}
	if (!m->known[base] || at % size)
		MACHINE_FAIL(m, "r%u%+d is unset or not aligned to %u", base, insn->off, size);
	if (machine_in_stack(m, at, size)) {
		bool *written = m->written + (at - (uint64_t)(uintptr_t)m->stack);

		for (uint32_t i = 0; is_load && i < size; i++)
			if (!written[i])
				MACHINE_FAIL(m, "the stack is read at %d before it is written",
					     insn->off);
		if (!is_load)
			memset(written, 1, size);
	} else if (is_load && base == 6) {
		if (at < ctx || at + size > ctx + m->ctx_size)
			MACHINE_FAIL(m, "the context is read at %d", insn->off);
	} else if (is_load && at >= (uint64_t)(uintptr_t)m->entry &&
		   at + size <= (uint64_t)(uintptr_t)(m->entry + 8)) {
		/* what the look-up of an entry has found */
	} else {
		MACHINE_FAIL(m, "r%u%+d lies nowhere", base, insn->off);
	}
	if (is_load) {
		memcpy(&value, (void *)(uintptr_t)at, size);
		m->regs[insn->dst_reg] = value;
		m->known[insn->dst_reg] = true;
		m->typed[insn->dst_reg] = base == 6 && size == 8;
		return true;
	}
	if (BPF_CLASS(insn->code) == BPF_STX && !m->known[insn->src_reg])
		MACHINE_FAIL(m, "r%u is stored, and not set", insn->src_reg);
	value = BPF_CLASS(insn->code) == BPF_STX ? m->regs[insn->src_reg]
						 : (uint64_t)(int64_t)insn->imm;
	memcpy((void *)(uintptr_t)at, &value, size);
	return true;
}

/* The context is in r1; true: it came to its end. */
static inline bool machine_run(struct machine *m)
{
	m->regs[1] = (uint64_t)(uintptr_t)m->ctx;
	m->regs[10] = (uint64_t)(uintptr_t)m->stack + 512;
	m->known[1] = m->known[10] = true;
	for (size_t pc = 0; pc < m->n; pc++) {
		const struct bpf_insn *insn = &m->insns[pc];
		const uint8_t op = BPF_OP(insn->code);
		const bool by_reg = BPF_SRC(insn->code) == BPF_X;
		const uint64_t imm = (uint64_t)(int64_t)insn->imm;

		switch (BPF_CLASS(insn->code)) {
		case BPF_ALU64:
			if ((op != BPF_MOV && !m->known[insn->dst_reg]) ||
			    (op != BPF_NEG && by_reg && !m->known[insn->src_reg]))
				MACHINE_FAIL(m, "%zu: an operand is not set", pc);
			if (!by_reg && imm > 63 &&
			    (op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH))
				MACHINE_FAIL(m, "%zu: a shift by %d", pc, insn->imm);
			m->regs[insn->dst_reg] = machine_alu(op, m->regs[insn->dst_reg],
							     by_reg ? m->regs[insn->src_reg] : imm);
			m->known[insn->dst_reg] = true;
			m->typed[insn->dst_reg] =
				op == BPF_MOV && by_reg && m->typed[insn->src_reg];
			break;
		case BPF_LD:
			m->regs[insn->dst_reg] =
				(uint32_t)insn->imm | (uint64_t)(uint32_t)insn[1].imm << 32;
			m->known[insn->dst_reg] = true;
			m->typed[insn->dst_reg] = false;
			pc++;
			break;
		case BPF_LDX:
			if (!machine_memory(m, insn, true))
				return false;
			break;
		case BPF_STX:
			if (BPF_MODE(insn->code) == BPF_ATOMIC) {
				*(uint64_t *)(uintptr_t)m->regs[insn->dst_reg] +=
					m->regs[insn->src_reg];
				break;
			}
			/* fall through */
		case BPF_ST:
			if (!machine_memory(m, insn, false))
				return false;
			break;
		case BPF_JMP:
			if (op == BPF_EXIT) {
				if (!m->known[0])
					MACHINE_FAIL(m, "it returns nothing");
				m->returned = m->regs[0];
				return true;
			}
			if (op != BPF_CALL) {
				if (op != BPF_JA && (!m->known[insn->dst_reg] ||
						     (by_reg && !m->known[insn->src_reg])))
					MACHINE_FAIL(m, "%zu: an operand is not set", pc);
				if (machine_jumps(op, m->regs[insn->dst_reg],
						  by_reg ? m->regs[insn->src_reg] : imm))
					pc += (size_t)insn->off;
				break;
			}
			if (insn->src_reg != BPF_PSEUDO_CALL) {
				if (!machine_helper(m, insn->imm))
					return false;
				break;
			}
			/* The main program may call the rest: their ends come to the same. */
			if (!pc) {
				m->wrapped = true;
				pc += (size_t)insn->imm;
				break;
			}
			if (pc + 1 + (size_t)insn->imm != m->n || m->called)
				MACHINE_FAIL(m, "it calls what is not the program");
			for (int i = 1; i <= 5; i++) {
				m->r[i] = m->known[i] ? m->regs[i] : 0;
				m->known[i] = false;
			}
			memcpy(m->frame, m->stack, 512);
			m->called = true;
			m->regs[0] = m->program_returns;
			m->known[0] = true;
			break;
		default:
			MACHINE_FAIL(m, "%zu: code %#x", pc, insn->code);
		}
	}
	MACHINE_FAIL(m, "it runs off its end");
}

#endif
