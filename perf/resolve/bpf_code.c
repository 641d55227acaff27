// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program's functions are one behind the other in its machine code, in the order of their
 * addresses (jited_ksyms) and lengths (jited_func_lens). The i-th entry of its line table
 * (line_info) has its machine code at the i-th address of jited_line_info. All of it comes from the
 * file, so each index is checked.
 */
#include "perf/resolve/bpf_code.h"

#include <bpf/btf.h>
#include <elf.h>
#include <errno.h>
#include <linux/bpf.h>

/* An integer of n bytes; 0: it is not there. */
static uint64_t number_at(const struct bpf_code *code, enum sys_prog_array which, uint64_t offset,
			  unsigned n)
{
	const struct data_bytes *from = &code->prog->arrays[which];
	struct cursor c = cursor_make(from->p, from->size, "BPF_PROG_INFO"), at;
	uint64_t v64 = 0;
	uint32_t v32 = 0;

	c.swap = code->swap;
	if (!cursor_sub(&c, offset, n, &at))
		return 0;
	if (n == sizeof(v64))
		return cursor_u64(&at, &v64) ? v64 : 0;
	return cursor_u32(&at, &v32) ? v32 : 0;
}

static size_t count_of(const struct bpf_code *code, enum sys_prog_array which)
{
	const uint32_t size = code->prog->rec_size[which];

	return size ? code->prog->arrays[which].size / size : 0;
}

uint64_t bpf_code_function(const struct bpf_code *code, size_t i)
{
	return number_at(code, SYS_PROG_JITED_KSYMS, 8 * (uint64_t)i, 8);
}

/* Whether the address is in a function of the program, whose code is then set. */
static bool find_function(struct bpf_code *code, uint64_t address)
{
	const struct data_bytes *image = &code->prog->arrays[SYS_PROG_JITED_INSNS];
	const size_t n = count_of(code, SYS_PROG_JITED_KSYMS);
	uint64_t offset = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t start = bpf_code_function(code, i);
		const uint64_t len = number_at(code, SYS_PROG_JITED_FUNC_LENS, 4 * (uint64_t)i, 4);

		if (len > image->size - offset)
			return false;
		if (start && address >= start && address - start < len) {
			code->address = start;
			code->bytes = image->p + offset;
			code->size = (size_t)len;
			return true;
		}
		offset += len;
	}
	return false;
}

uint16_t bpf_code_machine(const char *arch)
{
	static const struct {
		const char *arch;
		uint16_t machine;
	} machines[] = {{"x86_64", EM_X86_64}, {"aarch64", EM_AARCH64}, {"i686", EM_386}};

	if (!arch)
		return EM_NONE; /* it was most likely recorded here */
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (!strcmp(arch, machines[i].arch))
			return machines[i].machine;
	return UINT16_MAX; /* one that is not disassembled */
}

struct error *bpf_code_find(const struct data_header *header, uint64_t address,
			    struct bpf_code *out)
{
	struct bpf_code code = {.swap = header->swap, .machine = bpf_code_machine(header->arch)};
	bool found = false;

	for (size_t i = 0; i < header->n_bpf_progs && !found; i++) {
		code.prog = &header->bpf_progs[i];
		found = find_function(&code, address);
	}
	if (!found)
		return error_hint(error_new(ENODATA,
					    "the recording does not have the program's code"),
				  "record as root, and with kernel.kptr_restrict below 2");
	/* BTF of the other byte order is not read here. */
	for (size_t i = 0; i < header->n_btfs && code.prog->btf_id && !code.swap && !code.btf; i++)
		if (header->btfs[i].id == code.prog->btf_id)
			code.btf = btf__new(header->btfs[i].data.p,
					    (uint32_t)header->btfs[i].data.size);
	code.n_lines = min_of(count_of(&code, SYS_PROG_LINE_INFO),
			      count_of(&code, SYS_PROG_JITED_LINE_INFO));
	*out = code;
	return NULL;
}

void bpf_code_deinit(struct bpf_code *code)
{
	btf__free(code->btf);
	*code = (struct bpf_code){0};
}

static const char *name_at(const struct bpf_code *code, uint64_t offset)
{
	const char *name = code->btf ? btf__name_by_offset(code->btf, (uint32_t)offset) : NULL;

	return name ? name : "";
}

bool bpf_code_line(const struct bpf_code *code, size_t i, struct bpf_code_line *out)
{
	const uint64_t at = (uint64_t)i * code->prog->rec_size[SYS_PROG_LINE_INFO];

#define MEMBER(name)                                                                               \
	number_at(code, SYS_PROG_LINE_INFO, at + offsetof(struct bpf_line_info, name), 4)
	if (i >= code->n_lines)
		return false;
	*out = (struct bpf_code_line){
		.address = number_at(code, SYS_PROG_JITED_LINE_INFO, 8 * (uint64_t)i, 8),
		.insn = (uint32_t)MEMBER(insn_off),
		.number = BPF_LINE_INFO_LINE_NUM((uint32_t)MEMBER(line_col)),
		.file = name_at(code, MEMBER(file_name_off)),
		.text = name_at(code, MEMBER(line_off)),
	};
#undef MEMBER
	return true;
}
