// SPDX-License-Identifier: BSD-2-Clause
/*
 * A function's name in kallsyms is bpf_prog_TAG_NAME; NAME comes from BTF
 * where the program has it (kernel/bpf/core.c, bpf_prog_ksym_set_name).
 */
#include "perf/live/bpfinfo.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void bpf_gathered_deinit(struct bpf_gathered *prog)
{
	for (size_t i = 0; i < prog->n_funcs; i++)
		free(prog->funcs[i].name);
	free(prog->funcs);
	sys_prog_info_deinit(&prog->all);
	*prog = (struct bpf_gathered){0};
}

/* The function's name: by BTF, else the program's own, else "F" as the kernel has it. */
static char *func_name(const struct bpf_gathered *prog, struct btf *btf, size_t index)
{
	const struct bpf_prog_info *info = &prog->all.info;
	const uint8_t *tag = info->tag;
	const char *name = prog->all.info.nr_jited_ksyms > 1 ? "F" : info->name;
	char hex[2 * BPF_TAG_SIZE + 1], *out = NULL;

	if (prog->all.arrays[SYS_PROG_TAGS] && index < info->nr_prog_tags)
		tag = (const uint8_t *)prog->all.arrays[SYS_PROG_TAGS] + index * BPF_TAG_SIZE;
	if (btf && prog->all.arrays[SYS_PROG_FUNC_INFO] && index < info->nr_func_info &&
	    info->func_info_rec_size >= sizeof(struct bpf_func_info)) {
		struct bpf_func_info func;

		memcpy(&func,
		       (const uint8_t *)prog->all.arrays[SYS_PROG_FUNC_INFO] +
			       index * info->func_info_rec_size,
		       sizeof(func));
		const struct btf_type *t = btf__type_by_id(btf, func.type_id);
		const char *s = t ? btf__name_by_offset(btf, t->name_off) : NULL;
		if (s && *s)
			name = s;
	}
	text_bytes(hex, tag, BPF_TAG_SIZE);
	if (asprintf(&out, *name ? "bpf_prog_%s_%s" : "bpf_prog_%s%s", hex, name) < 0)
		return NULL;
	return out;
}

static struct error *name_funcs(struct bpf_gathered *prog)
{
	const struct bpf_prog_info *info = &prog->all.info;
	size_t n = min_of(info->nr_jited_ksyms, info->nr_jited_func_lens);

	if (!n || !prog->all.arrays[SYS_PROG_JITED_KSYMS] ||
	    !prog->all.arrays[SYS_PROG_JITED_FUNC_LENS])
		return NULL;
	struct btf *btf = info->btf_id ? btf__load_from_kernel_by_id(info->btf_id) : NULL;
	prog->funcs = calloc(n, sizeof(*prog->funcs));
	if (!prog->funcs) {
		btf__free(btf);
		return error_nomem();
	}
	for (size_t i = 0; i < n; i++) {
		struct bpf_func *func = &prog->funcs[prog->n_funcs];

		func->addr = ((const uint64_t *)prog->all.arrays[SYS_PROG_JITED_KSYMS])[i];
		func->len = ((const uint32_t *)prog->all.arrays[SYS_PROG_JITED_FUNC_LENS])[i];
		if (!func->addr || !func->len)
			continue;
		func->name = func_name(prog, btf, i);
		if (!func->name) {
			btf__free(btf);
			return error_nomem();
		}
		prog->n_funcs++;
	}
	btf__free(btf);
	return NULL;
}

struct error *bpf_gather(uint32_t id, bool insns, struct bpf_gathered *out)
{
	struct bpf_gathered prog = {0};

	int fd = bpf_prog_get_fd_by_id(id);
	if (fd < 0)
		return error_errno(-fd, "BPF program %u", id);
	struct error *err = sys_prog_info_read(
		fd, insns ? SYS_PROG_ALL : SYS_PROG_ALL & ~(SYS_PROG_CODE | 1u << SYS_PROG_MAP_IDS),
		&prog.all);
	close(fd);
	if (!err)
		err = name_funcs(&prog);
	if (err) {
		bpf_gathered_deinit(&prog);
		return err;
	}
	*out = prog;
	return NULL;
}

void bpf_gather_all(const struct log *log, void (*fn)(void *ctx, const struct bpf_gathered *prog),
		    void *ctx)
{
	uint32_t id = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_gathered prog = {0};
		struct error *err = bpf_gather(id, false, &prog);

		if (err) {
			if (err->code != ENOENT)
				log_info(log, "BPF program %u: %s", id, err->msg);
			error_free(err);
			continue;
		}
		fn(ctx, &prog);
		bpf_gathered_deinit(&prog);
	}
}
