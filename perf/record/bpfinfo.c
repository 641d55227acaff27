// SPDX-License-Identifier: BSD-2-Clause
/*
 * BPF_OBJ_GET_INFO_BY_FD in two steps: the first asks how long the arrays
 * are, the second for their contents. A program may change its map list in
 * between (BPF_PROG_BIND_MAP): the kernel never writes more than there is
 * room for, and says how much there is.
 *
 * A function's name in kallsyms is bpf_prog_TAG_NAME; NAME comes from BTF
 * where the program has it (kernel/bpf/core.c, bpf_prog_ksym_set_name).
 */
#include "perf/record/bpfinfo.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ARRAY_BYTES (64u << 20)

void bpf_gathered_deinit(struct bpf_gathered *prog)
{
	for (size_t i = 0; i < DATA_BPF_ARRAYS; i++)
		free(prog->arrays[i]);
	for (size_t i = 0; i < prog->n_funcs; i++)
		free(prog->funcs[i].name);
	free(prog->funcs);
	*prog = (struct bpf_gathered){0};
}

/* Room for n elements of size bytes; NULL with n = 0. */
static struct error *array_new(struct bpf_gathered *prog, enum data_bpf_array which, uint64_t n,
			       uint32_t size, uint64_t *ptr)
{
	if (!n)
		return NULL;
	if (!size || n > MAX_ARRAY_BYTES / size)
		return error_new(E2BIG, "a BPF program's info is too large");
	prog->arrays[which] = calloc(n, size);
	if (!prog->arrays[which])
		return error_nomem();
	*ptr = (uintptr_t)prog->arrays[which];
	return NULL;
}

static struct error *get_info(int fd, bool insns, struct bpf_gathered *prog)
{
	struct bpf_prog_info have = {0}, *want = &prog->info;
	uint32_t len = sizeof(have);

	if (bpf_obj_get_info_by_fd(fd, &have, &len))
		return error_errno(errno, "BPF program's info");
	if (insns) {
		TRY(array_new(prog, DATA_BPF_JITED_INSNS, have.jited_prog_len, 1,
			      (uint64_t *)&want->jited_prog_insns));
		want->jited_prog_len = have.jited_prog_len;
		TRY(array_new(prog, DATA_BPF_XLATED_INSNS, have.xlated_prog_len, 1,
			      (uint64_t *)&want->xlated_prog_insns));
		want->xlated_prog_len = have.xlated_prog_len;
		TRY(array_new(prog, DATA_BPF_MAP_IDS, have.nr_map_ids, sizeof(uint32_t),
			      (uint64_t *)&want->map_ids));
		want->nr_map_ids = have.nr_map_ids;
		TRY(array_new(prog, DATA_BPF_LINE_INFO, have.nr_line_info, have.line_info_rec_size,
			      (uint64_t *)&want->line_info));
		want->nr_line_info = have.nr_line_info;
		want->line_info_rec_size = have.line_info_rec_size;
		TRY(array_new(prog, DATA_BPF_JITED_LINE_INFO, have.nr_jited_line_info,
			      have.jited_line_info_rec_size, (uint64_t *)&want->jited_line_info));
		want->nr_jited_line_info = have.nr_jited_line_info;
		want->jited_line_info_rec_size = have.jited_line_info_rec_size;
	}
	TRY(array_new(prog, DATA_BPF_JITED_KSYMS, have.nr_jited_ksyms, sizeof(uint64_t),
		      (uint64_t *)&want->jited_ksyms));
	want->nr_jited_ksyms = have.nr_jited_ksyms;
	TRY(array_new(prog, DATA_BPF_JITED_FUNC_LENS, have.nr_jited_func_lens, sizeof(uint32_t),
		      (uint64_t *)&want->jited_func_lens));
	want->nr_jited_func_lens = have.nr_jited_func_lens;
	TRY(array_new(prog, DATA_BPF_FUNC_INFO, have.nr_func_info, have.func_info_rec_size,
		      (uint64_t *)&want->func_info));
	want->nr_func_info = have.nr_func_info;
	want->func_info_rec_size = have.func_info_rec_size;
	TRY(array_new(prog, DATA_BPF_PROG_TAGS, have.nr_prog_tags, BPF_TAG_SIZE,
		      (uint64_t *)&want->prog_tags));
	want->nr_prog_tags = have.nr_prog_tags;

	struct bpf_prog_info asked = *want;
	len = sizeof(*want);
	if (bpf_obj_get_info_by_fd(fd, want, &len))
		return error_errno(errno, "BPF program's info");
	prog->info_len = len;
	/* The counts may have grown since; there is room for what was asked. */
	want->jited_prog_len = asked.jited_prog_len;
	want->xlated_prog_len = asked.xlated_prog_len;
	want->nr_map_ids = min_of(want->nr_map_ids, asked.nr_map_ids);
	want->nr_jited_ksyms = min_of(want->nr_jited_ksyms, asked.nr_jited_ksyms);
	want->nr_jited_func_lens = min_of(want->nr_jited_func_lens, asked.nr_jited_func_lens);
	want->nr_func_info = min_of(want->nr_func_info, asked.nr_func_info);
	want->nr_line_info = min_of(want->nr_line_info, asked.nr_line_info);
	want->nr_jited_line_info = min_of(want->nr_jited_line_info, asked.nr_jited_line_info);
	want->nr_prog_tags = min_of(want->nr_prog_tags, asked.nr_prog_tags);
	return NULL;
}

/* The function's name: by BTF, else the program's own, else "F" as the kernel has it. */
static char *func_name(const struct bpf_gathered *prog, struct btf *btf, size_t index)
{
	const struct bpf_prog_info *info = &prog->info;
	const uint8_t *tag = info->tag;
	const char *name = prog->info.nr_jited_ksyms > 1 ? "F" : info->name;
	char hex[2 * BPF_TAG_SIZE + 1], *out = NULL;

	if (prog->arrays[DATA_BPF_PROG_TAGS] && index < info->nr_prog_tags)
		tag = (const uint8_t *)prog->arrays[DATA_BPF_PROG_TAGS] + index * BPF_TAG_SIZE;
	if (btf && prog->arrays[DATA_BPF_FUNC_INFO] && index < info->nr_func_info &&
	    info->func_info_rec_size >= sizeof(struct bpf_func_info)) {
		struct bpf_func_info func;

		memcpy(&func,
		       (const uint8_t *)prog->arrays[DATA_BPF_FUNC_INFO] +
			       index * info->func_info_rec_size,
		       sizeof(func));
		const struct btf_type *t = btf__type_by_id(btf, func.type_id);
		const char *s = t ? btf__name_by_offset(btf, t->name_off) : NULL;
		if (s && *s)
			name = s;
	}
	for (size_t i = 0; i < BPF_TAG_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", tag[i]);
	if (asprintf(&out, *name ? "bpf_prog_%s_%s" : "bpf_prog_%s%s", hex, name) < 0)
		return NULL;
	return out;
}

static struct error *name_funcs(struct bpf_gathered *prog)
{
	const struct bpf_prog_info *info = &prog->info;
	size_t n = min_of(info->nr_jited_ksyms, info->nr_jited_func_lens);

	if (!n || !prog->arrays[DATA_BPF_JITED_KSYMS] || !prog->arrays[DATA_BPF_JITED_FUNC_LENS])
		return NULL;
	struct btf *btf = info->btf_id ? btf__load_from_kernel_by_id(info->btf_id) : NULL;
	prog->funcs = calloc(n, sizeof(*prog->funcs));
	if (!prog->funcs) {
		btf__free(btf);
		return error_nomem();
	}
	for (size_t i = 0; i < n; i++) {
		struct bpf_func *func = &prog->funcs[prog->n_funcs];

		func->addr = ((const uint64_t *)prog->arrays[DATA_BPF_JITED_KSYMS])[i];
		func->len = ((const uint32_t *)prog->arrays[DATA_BPF_JITED_FUNC_LENS])[i];
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
	struct error *err = get_info(fd, insns, &prog);
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
