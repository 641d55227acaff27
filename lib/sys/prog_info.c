// SPDX-License-Identifier: BSD-2-Clause
/*
 * BPF_OBJ_GET_INFO_BY_FD in two steps: the first asks how long the arrays
 * are, the second for their contents. A program may change its map list in
 * between (BPF_PROG_BIND_MAP): the kernel never writes more than there is
 * room for, and says how much there is. What it hides it leaves as it is, and
 * sets the pointer to 0.
 */
#include "lib/sys/prog_info.h"

#include <bpf/bpf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARRAY_BYTES (64u << 20)

#define INFO(member) ((int)offsetof(struct bpf_prog_info, member))
#define FIXED(bytes) (-(int)(bytes))
const struct sys_prog_array_desc sys_prog_arrays[SYS_PROG_ARRAYS] = {
	[SYS_PROG_JITED_INSNS] = {INFO(jited_prog_insns), INFO(jited_prog_len), FIXED(1)},
	[SYS_PROG_XLATED_INSNS] = {INFO(xlated_prog_insns), INFO(xlated_prog_len), FIXED(1)},
	[SYS_PROG_MAP_IDS] = {INFO(map_ids), INFO(nr_map_ids), FIXED(4)},
	[SYS_PROG_JITED_KSYMS] = {INFO(jited_ksyms), INFO(nr_jited_ksyms), FIXED(8)},
	[SYS_PROG_JITED_FUNC_LENS] = {INFO(jited_func_lens), INFO(nr_jited_func_lens), FIXED(4)},
	[SYS_PROG_FUNC_INFO] = {INFO(func_info), INFO(nr_func_info), INFO(func_info_rec_size)},
	[SYS_PROG_LINE_INFO] = {INFO(line_info), INFO(nr_line_info), INFO(line_info_rec_size)},
	[SYS_PROG_JITED_LINE_INFO] = {INFO(jited_line_info), INFO(nr_jited_line_info),
				      INFO(jited_line_info_rec_size)},
	[SYS_PROG_TAGS] = {INFO(prog_tags), INFO(nr_prog_tags), FIXED(BPF_TAG_SIZE)},
};

static uint32_t get_u32(const struct bpf_prog_info *info, int at)
{
	uint32_t v;

	memcpy(&v, (const char *)info + at, sizeof(v));
	return v;
}

static void set_u32(struct bpf_prog_info *info, int at, uint32_t v)
{
	memcpy((char *)info + at, &v, sizeof(v));
}

static uint32_t element_size(const struct bpf_prog_info *info, const struct sys_prog_array_desc *a)
{
	return a->size < 0 ? (uint32_t)-a->size : get_u32(info, a->size);
}

/* Room for what the kernel has of it; want's members ask for it. */
static struct error *make_room(const struct bpf_prog_info *have,
			       const struct sys_prog_array_desc *a, void **room,
			       struct bpf_prog_info *want)
{
	const uint32_t n = get_u32(have, a->count), size = element_size(have, a);

	if (!n)
		return NULL;
	if (!size || n > MAX_ARRAY_BYTES / size)
		return error_new(E2BIG, "a BPF program's info is too large");
	*room = calloc(n, size);
	if (!*room)
		return error_nomem();
	const uint64_t pointer = (uintptr_t)*room;
	memcpy((char *)want + a->pointer, &pointer, sizeof(pointer));
	set_u32(want, a->count, n);
	if (a->size >= 0)
		set_u32(want, a->size, size);
	return NULL;
}

struct error *sys_prog_info_read(int fd, unsigned which, struct sys_prog_info *out)
{
	_cleanup_prog_info_ struct sys_prog_info prog = {0};
	struct bpf_prog_info have = {0};
	uint32_t len = sizeof(have);

	if (bpf_obj_get_info_by_fd(fd, &have, &len))
		return error_errno(errno, "BPF program's info");
	for (size_t i = 0; i < SYS_PROG_ARRAYS; i++)
		if (which & 1u << i)
			TRY(make_room(&have, &sys_prog_arrays[i], &prog.arrays[i], &prog.info));
	const struct bpf_prog_info asked = prog.info;
	prog.len = sizeof(prog.info);
	if (bpf_obj_get_info_by_fd(fd, &prog.info, &prog.len))
		return error_errno(errno, "BPF program's info");
	/* The counts may have grown since; there is room for what was asked. */
	for (size_t i = 0; i < SYS_PROG_ARRAYS; i++) {
		const uint32_t n = get_u32(&asked, sys_prog_arrays[i].count);

		if (prog.arrays[i] && get_u32(&prog.info, sys_prog_arrays[i].count) > n)
			set_u32(&prog.info, sys_prog_arrays[i].count, n);
	}
	*out = prog;
	prog = (struct sys_prog_info){0};
	return NULL;
}

void sys_prog_info_deinit(struct sys_prog_info *prog)
{
	for (size_t i = 0; i < SYS_PROG_ARRAYS; i++)
		free(prog->arrays[i]);
	*prog = (struct sys_prog_info){0};
}

uint32_t sys_prog_info_count(const struct sys_prog_info *prog, enum sys_prog_array which)
{
	return prog->arrays[which] ? get_u32(&prog->info, sys_prog_arrays[which].count) : 0;
}

bool sys_prog_info_hides(const struct sys_prog_info *prog, enum sys_prog_array which)
{
	uint64_t pointer;

	memcpy(&pointer, (const char *)&prog->info + sys_prog_arrays[which].pointer,
	       sizeof(pointer));
	return prog->arrays[which] && !pointer;
}
