// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines of a loaded program, from what BPF_OBJ_GET_INFO_BY_FD gives: one
 * record per source line with the instruction it begins at (line_info), and
 * for the same records the addresses of the machine code (jited_line_info).
 * Both ascend, the second within each function; jited_ksyms and
 * jited_func_lens say where the functions are.
 *
 * The info comes from the kernel, but its arrays are the caller's memory: what
 * does not fit together is refused rather than searched.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/object/open_object.h"

struct bpf_prog_linfo {
	uint8_t *records; /* n of size bytes, each begins with a struct bpf_line_info */
	uint32_t n, size;
	uint64_t *addrs; /* n; NULL: the program is not JITed, or we may not see where */
	struct {
		uint32_t first, n;
	} * funcs; /* which of the records are of which function */
	uint32_t n_funcs;
};

void bpf_prog_linfo__free(struct bpf_prog_linfo *linfo)
{
	if (!linfo)
		return;
	free(linfo->records);
	free(linfo->addrs);
	free(linfo->funcs);
	free(linfo);
}

/* A copy of n elements; NULL: no memory. */
static void *copy_array(uint64_t from, size_t n, size_t size)
{
	void *copy = calloc(n, size);

	return copy ? memcpy(copy, (const void *)(uintptr_t)from, n * size) : NULL;
}

/* Which records lie in which function: each one's first is at its start. EINVAL: they do not. */
static int split_by_function(struct bpf_prog_linfo *linfo, const uint64_t *starts,
			     const uint32_t *lens)
{
	uint32_t at = 0;

	for (uint32_t f = 0; f < linfo->n_funcs; f++) {
		const uint32_t first = at;

		while (at < linfo->n && linfo->addrs[at] >= starts[f] &&
		       linfo->addrs[at] - starts[f] < lens[f]) {
			if (at > first && linfo->addrs[at] <= linfo->addrs[at - 1])
				return -EINVAL;
			at++;
		}
		if (at == first)
			return -EINVAL;
		linfo->funcs[f].first = first;
		linfo->funcs[f].n = at - first;
	}
	return at == linfo->n ? 0 : -EINVAL;
}

static int add_addresses(struct bpf_prog_linfo *linfo, const struct bpf_prog_info *info)
{
	if (!info->nr_jited_line_info || !info->jited_line_info)
		return 0;
	if (info->nr_jited_line_info != info->nr_line_info || !info->nr_jited_ksyms ||
	    info->nr_jited_ksyms != info->nr_jited_func_lens || !info->jited_ksyms ||
	    !info->jited_func_lens || info->jited_line_info_rec_size < sizeof(uint64_t))
		return -EINVAL;
	/* without the right to see kernel addresses they are all 0 */
	const uint8_t *raw = (const uint8_t *)(uintptr_t)info->jited_line_info;
	uint64_t addr;
	memcpy(&addr, raw, sizeof(addr));
	if (!addr)
		return 0;
	linfo->addrs = calloc(linfo->n, sizeof(*linfo->addrs));
	linfo->n_funcs = info->nr_jited_ksyms;
	linfo->funcs = calloc(linfo->n_funcs, sizeof(*linfo->funcs));
	if (!linfo->addrs || !linfo->funcs)
		return -ENOMEM;
	for (uint32_t i = 0; i < linfo->n; i++)
		memcpy(&linfo->addrs[i], raw + (size_t)i * info->jited_line_info_rec_size,
		       sizeof(addr));
	return split_by_function(linfo, (const uint64_t *)(uintptr_t)info->jited_ksyms,
				 (const uint32_t *)(uintptr_t)info->jited_func_lens);
}

struct bpf_prog_linfo *bpf_prog_linfo__new(const struct bpf_prog_info *info)
{
	if (!info || !info->nr_line_info || !info->line_info ||
	    info->line_info_rec_size < sizeof(struct bpf_line_info))
		return edge_null_errno(EINVAL);
	struct bpf_prog_linfo *linfo = calloc(1, sizeof(*linfo));
	if (!linfo)
		return edge_null_errno(ENOMEM);
	linfo->n = info->nr_line_info;
	linfo->size = info->line_info_rec_size;
	linfo->records = copy_array(info->line_info, linfo->n, linfo->size);
	const int code = linfo->records ? add_addresses(linfo, info) : -ENOMEM;
	if (!code)
		return linfo;
	bpf_prog_linfo__free(linfo);
	return edge_null_errno(-code);
}

static const struct bpf_line_info *record_at(const struct bpf_prog_linfo *linfo, uint32_t i)
{
	return (const struct bpf_line_info *)(linfo->records + (size_t)i * linfo->size);
}

const struct bpf_line_info *bpf_prog_linfo__lfind_addr_func(const struct bpf_prog_linfo *linfo,
							    __u64 addr, __u32 func_idx,
							    __u32 nr_skip)
{
	if (!linfo || func_idx >= linfo->n_funcs || nr_skip >= linfo->funcs[func_idx].n)
		return edge_null_errno(ENOENT);
	uint32_t i = linfo->funcs[func_idx].first + nr_skip;
	const uint32_t end = linfo->funcs[func_idx].first + linfo->funcs[func_idx].n;
	if (addr < linfo->addrs[i])
		return edge_null_errno(ENOENT);
	while (i + 1 < end && linfo->addrs[i + 1] <= addr)
		i++;
	return record_at(linfo, i);
}

const struct bpf_line_info *bpf_prog_linfo__lfind(const struct bpf_prog_linfo *linfo,
						  __u32 insn_off, __u32 nr_skip)
{
	if (!linfo || nr_skip >= linfo->n || insn_off < record_at(linfo, nr_skip)->insn_off)
		return edge_null_errno(ENOENT);
	uint32_t i = nr_skip;
	while (i + 1 < linfo->n && record_at(linfo, i + 1)->insn_off <= insn_off)
		i++;
	return record_at(linfo, i);
}
