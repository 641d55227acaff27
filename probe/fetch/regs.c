// SPDX-License-Identifier: BSD-2-Clause
/*
 * A table for each machine: register by DWARF number, with its name and its
 * byte in the struct pt_regs that a kprobe's program has for a context (on
 * arm64 its first part, struct user_pt_regs; bpf_user_pt_regs_t of the
 * kernel). Names are those of perf probe: "di", not "rdi"; "DI" is the same.
 */
#include "probe/fetch/regs.h"

#include <elf.h>
#include <string.h>
#include <strings.h>

#include "lib/base/util.h"

struct reg {
	char name[4];
	uint16_t offset;    /* in pt_regs */
	const char *others; /* further names, each with a blank before and behind */
};

struct regs {
	uint16_t machine;
	const struct reg *v;
	size_t n;
	const uint8_t *params;
	size_t n_params;
	uint8_t retval, stack, ip;
	uint8_t return_address; /* bytes that it takes on the stack */
};

/* 17 to 32 are xmm0 to xmm15, which pt_regs has not. */
static const struct reg x86_64_regs[] = {
	{"ax", 80, " rax eax "}, {"dx", 96, " rdx edx "},  {"cx", 88, " rcx ecx "},
	{"bx", 40, " rbx ebx "}, {"si", 104, " rsi esi "}, {"di", 112, " rdi edi "},
	{"bp", 32, " rbp ebp "}, {"sp", 152, " rsp esp "}, {"r8", 72, " r8d "},
	{"r9", 64, " r9d "},	 {"r10", 56, " r10d "},	   {"r11", 48, " r11d "},
	{"r12", 24, " r12d "},	 {"r13", 16, " r13d "},	   {"r14", 8, " r14d "},
	{"r15", 0, " r15d "},	 {"ip", 128, " rip eip "},
};
static const uint8_t x86_64_params[] = {5, 4, 1, 2, 8, 9};

static const struct reg arm64_regs[] = {
	{"x0", 0, " w0 "},	  {"x1", 8, " w1 "},	 {"x2", 16, " w2 "},
	{"x3", 24, " w3 "},	  {"x4", 32, " w4 "},	 {"x5", 40, " w5 "},
	{"x6", 48, " w6 "},	  {"x7", 56, " w7 "},	 {"x8", 64, " w8 "},
	{"x9", 72, " w9 "},	  {"x10", 80, " w10 "},	 {"x11", 88, " w11 "},
	{"x12", 96, " w12 "},	  {"x13", 104, " w13 "}, {"x14", 112, " w14 "},
	{"x15", 120, " w15 "},	  {"x16", 128, " w16 "}, {"x17", 136, " w17 "},
	{"x18", 144, " w18 "},	  {"x19", 152, " w19 "}, {"x20", 160, " w20 "},
	{"x21", 168, " w21 "},	  {"x22", 176, " w22 "}, {"x23", 184, " w23 "},
	{"x24", 192, " w24 "},	  {"x25", 200, " w25 "}, {"x26", 208, " w26 "},
	{"x27", 216, " w27 "},	  {"x28", 224, " w28 "}, {"x29", 232, " w29 fp "},
	{"x30", 240, " w30 lr "}, {"sp", 248, " wsp "},	 {"pc", 256, " "},
};
static const uint8_t arm64_params[] = {0, 1, 2, 3, 4, 5, 6, 7};

static const struct regs machines[] = {
	{EM_X86_64, x86_64_regs, ARRAY_SIZE(x86_64_regs), x86_64_params, ARRAY_SIZE(x86_64_params),
	 .retval = 0, .stack = 7, .ip = 16, .return_address = 8},
	{EM_AARCH64, arm64_regs, ARRAY_SIZE(arm64_regs), arm64_params, ARRAY_SIZE(arm64_params),
	 .retval = 0, .stack = 31, .ip = 32},
};

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_NONE
#endif

const struct regs *regs_of(uint16_t machine)
{
	if (machine == EM_NONE)
		machine = OWN_MACHINE;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

const char *regs_name(const struct regs *regs, uint16_t dwarf)
{
	return dwarf < regs->n ? regs->v[dwarf].name : NULL;
}

static bool is_called(const struct reg *reg, const char *name, size_t len)
{
	if (strlen(reg->name) == len && !strncasecmp(reg->name, name, len))
		return true;
	for (const char *p = reg->others + 1; *p; p += strcspn(p, " ") + 1)
		if (strcspn(p, " ") == len && !strncasecmp(p, name, len))
			return true;
	return false;
}

bool regs_by_name(const struct regs *regs, const char *name, uint16_t *dwarf)
{
	name += *name == '%';
	for (size_t i = 0; i < regs->n; i++) {
		if (*name && is_called(&regs->v[i], name, strlen(name))) {
			*dwarf = (uint16_t)i;
			return true;
		}
	}
	return false;
}

bool regs_offset(const struct regs *regs, uint16_t dwarf, uint16_t *offset)
{
	if (dwarf >= regs->n)
		return false;
	*offset = regs->v[dwarf].offset;
	return true;
}

bool regs_param(const struct regs *regs, size_t n, uint16_t *dwarf)
{
	if (n >= regs->n_params)
		return false;
	*dwarf = regs->params[n];
	return true;
}

uint32_t regs_param_on_stack(const struct regs *regs, size_t n)
{
	return (uint32_t)(regs->return_address + (n - regs->n_params) * 8);
}

uint16_t regs_retval(const struct regs *regs)
{
	return regs->retval;
}

uint16_t regs_stack(const struct regs *regs)
{
	return regs->stack;
}

uint16_t regs_ip(const struct regs *regs)
{
	return regs->ip;
}
