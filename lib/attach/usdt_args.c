// SPDX-License-Identifier: BSD-2-Clause
/*
 * The arguments of a USDT probe, as the compiler wrote them into the note: for
 * each the size in bytes (negative: signed; with an f: floating point), an @,
 * and an operand in the assembler's language:
 *
 *			x86		arm64		arm		s390x		riscv
 *	constant	4@$-9		4@-9		4@#-9		4@-9		4@-9
 *	register	8@%rax		8@x1		4@r2		8@%r2		8@a0
 *	memory		8@-24(%rbp)	8@[sp, 16]	4@[r7, #4]	8@164(%r15)	8@16(sp)
 *	with an index	8@(%rdi,%rsi,8)					8@0(%r1,%r2)
 *	variable	4@count(%rip)
 *
 * The size counts, not the register's name: "-4@%rax" is the lower half of it.
 * All numbers may be decimal or hexadecimal, and sums of them.
 *
 * A register becomes its place in the struct pt_regs that the kernel gives to a
 * program at a uprobe (arch/…/include/uapi/asm/ptrace.h and, on x86,
 * include/asm/ptrace.h: the ABI of ptrace, so it does not change). All
 * machines' tables are here whatever this one is: parsing makes no difference
 * between them, and tests run them all.
 *
 * A variable is written relative to the instruction that follows, which the
 * assembler would have filled in; here it is the distance between the
 * variable and the probe, added to the instruction pointer, which stands at
 * the probe when the program runs. So it works wherever the file is loaded.
 *
 * What must never be: a value that is read from the wrong place. What is not
 * understood in full is an error.
 */
#include "lib/attach/usdt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reg_name {
	const char *name;
	uint16_t offset;
};

/* arch/x86/include/asm/ptrace.h, 64 bits: r15 … ss, 8 bytes each. */
#define X86_NAMES(a, b, c, d, at)                                                                  \
	{a, at}, {b, at}, {c, at},                                                                 \
	{                                                                                          \
		d, at                                                                              \
	}
static const struct reg_name x86_regs[] = {
	X86_NAMES("r15", "r15d", "r15w", "r15b", 0),
	X86_NAMES("r14", "r14d", "r14w", "r14b", 8),
	X86_NAMES("r13", "r13d", "r13w", "r13b", 16),
	X86_NAMES("r12", "r12d", "r12w", "r12b", 24),
	X86_NAMES("rbp", "ebp", "bp", "bpl", 32),
	X86_NAMES("rbx", "ebx", "bx", "bl", 40),
	X86_NAMES("r11", "r11d", "r11w", "r11b", 48),
	X86_NAMES("r10", "r10d", "r10w", "r10b", 56),
	X86_NAMES("r9", "r9d", "r9w", "r9b", 64),
	X86_NAMES("r8", "r8d", "r8w", "r8b", 72),
	X86_NAMES("rax", "eax", "ax", "al", 80),
	X86_NAMES("rcx", "ecx", "cx", "cl", 88),
	X86_NAMES("rdx", "edx", "dx", "dl", 96),
	X86_NAMES("rsi", "esi", "si", "sil", 104),
	X86_NAMES("rdi", "edi", "di", "dil", 112),
	X86_NAMES("rip", "eip", "ip", "ip", 128),
	X86_NAMES("rsp", "esp", "sp", "spl", 152),
	/* The second byte of a register. */
	X86_NAMES("ah", "ah", "ah", "ah", 81),
	X86_NAMES("bh", "bh", "bh", "bh", 41),
	X86_NAMES("ch", "ch", "ch", "ch", 89),
	X86_NAMES("dh", "dh", "dh", "dh", 97),
};
#define X86_RIP 128

/* x0 … x30, sp, pc of 8 bytes. */
static const struct reg_name arm64_regs[] = {{"sp", 248}, {"fp", 232}, {"lr", 240}, {"pc", 256}};
/* r0 … r15 of 4 bytes. */
static const struct reg_name arm_regs[] = {
	{"fp", 44}, {"ip", 48}, {"sp", 52}, {"lr", 56}, {"pc", 60},
};
/* pc, x1 … x31 of 8 bytes (struct user_regs_struct). */
static const struct reg_name riscv_regs[] = {
	{"pc", 0},    {"ra", 8},   {"sp", 16},	{"gp", 24},  {"tp", 32},  {"t0", 40},  {"t1", 48},
	{"t2", 56},   {"s0", 64},  {"fp", 64},	{"s1", 72},  {"a0", 80},  {"a1", 88},  {"a2", 96},
	{"a3", 104},  {"a4", 112}, {"a5", 120}, {"a6", 128}, {"a7", 136}, {"s2", 144}, {"s3", 152},
	{"s4", 160},  {"s5", 168}, {"s6", 176}, {"s7", 184}, {"s8", 192}, {"s9", 200}, {"s10", 208},
	{"s11", 216}, {"t3", 224}, {"t4", 232}, {"t5", 240}, {"t6", 248},
};

/* How a machine's assembler writes operands. */
struct syntax {
	uint16_t machine;
	bool percent;	    /* registers begin with % */
	char constant;	    /* what a constant begins with, or may; 0: nothing */
	bool bare_constant; /* a number alone is a constant; else memory at that address */
	bool brackets;	    /* memory in [], else in () with the offset before */
	const struct reg_name *regs;
	size_t n_regs;
	/* Registers of a letter and a number: "x12" */
	char letters[3];
	uint16_t numbers; /* 0 … numbers - 1 */
	uint16_t first;	  /* the place of number 0 */
	uint16_t step;
};

static const struct syntax syntaxes[] = {
	{EM_X86_64, true, '$', false, false, x86_regs, ARRAY_SIZE(x86_regs), "", 0, 0, 0},
	{EM_AARCH64, false, '#', true, true, arm64_regs, ARRAY_SIZE(arm64_regs), "xw", 31, 0, 8},
	{EM_ARM, false, '#', true, true, arm_regs, ARRAY_SIZE(arm_regs), "r", 16, 0, 4},
	/* args[1], then the psw of 16 bytes, then gprs[16]: user_pt_regs */
	{EM_S390, true, 0, true, false, NULL, 0, "r", 16, 24, 8},
	{EM_RISCV, false, 0, true, false, riscv_regs, ARRAY_SIZE(riscv_regs), "", 0, 0, 0},
};

/* A position in the text of one argument. */
struct usdt_parser {
	const char *p;
	const char *why; /* what is wrong; NULL: nothing that was seen */
	const struct syntax *syntax;
	const struct usdt_frame *frame;
};

static bool wrong(struct usdt_parser *ps, const char *why)
{
	if (!ps->why)
		ps->why = why;
	return false;
}

static void skip_blanks(struct usdt_parser *ps)
{
	while (*ps->p == ' ' || *ps->p == '\t')
		ps->p++;
}

static bool at_end(const struct usdt_parser *ps)
{
	return !*ps->p || isspace((unsigned char)*ps->p);
}

static bool take(struct usdt_parser *ps, char c)
{
	if (*ps->p != c)
		return false;
	ps->p++;
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '@';
}

static size_t word_len(const char *p)
{
	size_t n = 0;

	while (is_word(p[n]))
		n++;
	return n;
}

/* A letter and a number below the machine's: "x12". */
static bool numbered_reg(const struct syntax *syntax, const char *name, size_t len, uint16_t *reg)
{
	unsigned number = 0;

	if (len < 2 || len > 3 || !strchr(syntax->letters, name[0]))
		return false;
	for (size_t i = 1; i < len; i++) {
		if (!isdigit((unsigned char)name[i]))
			return false;
		number = number * 10 + (unsigned)(name[i] - '0');
	}
	if (number >= syntax->numbers || (len == 3 && name[1] == '0'))
		return false;
	*reg = (uint16_t)(syntax->first + number * syntax->step);
	return true;
}

/* The register at the position, which moves past it; false: none is there. */
static bool take_reg(struct usdt_parser *ps, uint16_t *reg)
{
	const struct syntax *syntax = ps->syntax;
	const char *name = ps->p + syntax->percent;

	if (syntax->percent && *ps->p != '%')
		return false;
	const size_t len = word_len(name);
	bool found = numbered_reg(syntax, name, len, reg);
	for (size_t i = 0; i < syntax->n_regs && !found; i++) {
		if (strlen(syntax->regs[i].name) != len || memcmp(syntax->regs[i].name, name, len))
			continue;
		*reg = syntax->regs[i].offset;
		found = true;
	}
	if (!found) {
		if (syntax->percent)
			return wrong(ps,
				     !strncmp(name, "xmm", 3) || !strncmp(name, "st", 2) ||
						     (name[0] == 'f' &&
						      isdigit((unsigned char)name[1]))
					     ? "a floating-point register, which BPF cannot read"
					     : "unknown register");
		return false;
	}
	ps->p = name + len;
	return true;
}

/* The number at the position; false: none, or more than 64 bits. */
static bool take_number(struct usdt_parser *ps, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*ps->p))
		return false;
	errno = 0;
	const unsigned long long got =
		strtoull(ps->p, &end, ps->p[0] == '0' && (ps->p[1] | 0x20) == 'x' ? 16 : 10);
	if (errno)
		return wrong(ps, "a number of more than 64 bits");
	ps->p = end;
	*value = got;
	return true;
}

static bool take_symbol(struct usdt_parser *ps, uint64_t *value)
{
	const size_t len = word_len(ps->p);
	const char *name = ps->p;

	if (!len)
		return wrong(ps, "neither a number nor a name");
	ps->p += len;
	if (!ps->frame->symbol || !ps->frame->symbol(ps->frame->ctx, name, len, value))
		return wrong(ps, "the file's symbol tables do not contain this variable");
	return true;
}

/* "-8", "count", "table+16"; *symbols counts the names. */
static bool take_sum(struct usdt_parser *ps, uint64_t *sum, unsigned *symbols)
{
	bool minus = take(ps, '-');

	if (!minus)
		take(ps, '+');
	*sum = 0;
	for (;;) {
		uint64_t term;

		if (!take_number(ps, &term)) {
			if (ps->why || !take_symbol(ps, &term))
				return false;
			if (minus)
				return wrong(ps, "a symbol is subtracted");
			++*symbols;
		}
		*sum += minus ? -term : term;
		if (take(ps, '-'))
			minus = true;
		else if (take(ps, '+'))
			minus = false;
		else
			return true;
	}
}

static bool constant(struct usdt_parser *ps, struct usdt_arg *arg)
{
	unsigned symbols = 0;

	if (!take_sum(ps, &arg->value, &symbols))
		return false;
	if (symbols && !ps->frame->fixed)
		return wrong(ps, "the address differs from process to process");
	arg->place = USDT_CONST;
	return true;
}

/* "[sp]", "[x1, 16]", "[r7, #4]", after the [ */
static bool bracket_memory(struct usdt_parser *ps, struct usdt_arg *arg)
{
	unsigned symbols = 0;

	skip_blanks(ps);
	if (!take_reg(ps, &arg->reg))
		return wrong(ps, "expected a register between the brackets");
	skip_blanks(ps);
	if (take(ps, ',')) {
		skip_blanks(ps);
		take(ps, '#');
		if (isalpha((unsigned char)*ps->p) || !take_sum(ps, &arg->value, &symbols) ||
		    symbols)
			return wrong(ps, "the offset is not a number");
		skip_blanks(ps);
	}
	if (!take(ps, ']'))
		return wrong(ps, "the closing bracket is missing");
	arg->place = USDT_DEREF;
	return true;
}

/* "(%rbp)", "(%rdi,%rsi,8)", "(,%rsi,2)", after the (; arg->value is the offset before it. */
static bool paren_memory(struct usdt_parser *ps, struct usdt_arg *arg, unsigned symbols)
{
	uint64_t scale = 1;
	bool has_base;

	skip_blanks(ps);
	has_base = *ps->p != ',';
	if (has_base && !take_reg(ps, &arg->reg))
		return wrong(ps, "expected a register between the parentheses");
	skip_blanks(ps);
	arg->place = USDT_DEREF;
	if (take(ps, ',')) {
		skip_blanks(ps);
		if (!take_reg(ps, &arg->index))
			return wrong(ps, "expected an index register between the parentheses");
		skip_blanks(ps);
		if (take(ps, ',')) {
			skip_blanks(ps);
			if (!take_number(ps, &scale) || scale > 8 || !scale ||
			    (scale & (scale - 1)))
				return wrong(ps, "the scale is not 1, 2, 4 or 8");
			skip_blanks(ps);
		}
		arg->scale = (uint8_t)__builtin_ctzll(scale);
		arg->place = USDT_SIB;
	}
	if (!take(ps, ')'))
		return wrong(ps, "the closing parenthesis is missing");
	if (!has_base) {
		/* Once the register, or twice. */
		if (scale > 2)
			return wrong(ps,
				     "an index register without a base register is not supported");
		arg->reg = arg->index;
		arg->place = scale == 1 ? USDT_DEREF : USDT_SIB;
		arg->scale = 0;
	}
	if (!symbols)
		return true;
	if (ps->syntax->machine == EM_X86_64 && arg->reg == X86_RIP && arg->place == USDT_DEREF)
		arg->value -= ps->frame->location;
	else if (!ps->frame->fixed)
		return wrong(ps, "the address differs from process to process");
	return true;
}

static bool operand(struct usdt_parser *ps, struct usdt_arg *arg)
{
	const struct syntax *syntax = ps->syntax;
	unsigned symbols = 0;

	if (syntax->constant && take(ps, syntax->constant))
		return constant(ps, arg);
	if (syntax->brackets && take(ps, '['))
		return bracket_memory(ps, arg);
	if (take_reg(ps, &arg->reg)) {
		if (*ps->p == ':')
			return wrong(ps, "segment-relative (thread-local) memory is not supported");
		arg->place = USDT_REG;
		return true;
	}
	if (ps->why) {
		if (*ps->p == '%' && (!strncmp(ps->p, "%fs:", 4) || !strncmp(ps->p, "%gs:", 4)))
			ps->why = "segment-relative (thread-local) memory is not supported";
		return false;
	}
	if (!syntax->percent && isalpha((unsigned char)*ps->p))
		return wrong(ps, "unknown register");
	if (*ps->p != '(' && !take_sum(ps, &arg->value, &symbols))
		return false;
	if (!syntax->brackets && take(ps, '('))
		return paren_memory(ps, arg, symbols);
	if (syntax->bare_constant) {
		if (symbols)
			return wrong(ps, "neither a register nor a number");
		arg->place = USDT_CONST;
		return true;
	}
	/* Memory at an address: as far from the probe as it is from there. */
	if (!symbols && !ps->frame->fixed)
		return wrong(ps, "the address differs from process to process");
	arg->place = USDT_DEREF;
	arg->reg = X86_RIP;
	arg->value -= ps->frame->location;
	return true;
}

static bool argument(struct usdt_parser *ps, struct usdt_arg *arg)
{
	uint64_t size;

	arg->is_signed = take(ps, '-');
	if (!take_number(ps, &size))
		return wrong(ps, "an argument must begin with its size");
	const bool is_float = take(ps, 'f');
	if (!take(ps, '@'))
		return wrong(ps, "'@' is missing after the size");
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return wrong(ps, "only 1, 2, 4 and 8 bytes can be read");
	arg->size = (uint8_t)size;
	if (!operand(ps, arg))
		return false;
	if (!at_end(ps))
		return wrong(ps, "unexpected text at the end");
	if (is_float)
		arg->is_signed = false; /* its bits as they are */
	return true;
}

struct error *usdt_args_parse(const char *text, const struct usdt_frame *frame,
			      struct usdt_arg args[USDT_ARGS_MAX], size_t *n)
{
	struct usdt_parser ps = {.p = text, .frame = frame};
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(syntaxes); i++)
		if (syntaxes[i].machine == frame->machine)
			ps.syntax = &syntaxes[i];
	if (!ps.syntax)
		return error_new(EOPNOTSUPP, "USDT arguments of machine %u are not supported",
				 frame->machine);
	for (;;) {
		while (isspace((unsigned char)*ps.p))
			ps.p++;
		if (!*ps.p)
			break;
		if (found == USDT_ARGS_MAX)
			return error_new(E2BIG, "the probe has more than %d arguments",
					 USDT_ARGS_MAX);
		const char *start = ps.p;
		args[found] = (struct usdt_arg){0};
		if (!argument(&ps, &args[found]))
			return error_new(EOPNOTSUPP, "argument %zu, '%.*s': %s", found + 1,
					 (int)min_of(strcspn(start, " \t"), (size_t)64), start,
					 ps.why ? ps.why : "invalid argument description");
		found++;
	}
	*n = found;
	return NULL;
}
