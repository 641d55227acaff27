// SPDX-License-Identifier: BSD-2-Clause
/*
 * A skeleton's programs attached by their sections, its links in the struct of
 * the program that uses it. A link that the program has set itself stays: that
 * is how it attaches by hand what the section does not tell. Programs whose
 * section names nothing to attach to are let alone. Then its struct_ops maps.
 * lib/object/skeleton.c opens and loads.
 */
#include "lib/attach/internal.h"

#define HAS_MEMBER(size, type, member)                                                             \
	((size_t)(size) >= offsetof(struct type, member) + sizeof(((struct type *)0)->member))

static struct bpf_link **program_link(const struct bpf_object_skeleton *s, int i)
{
	struct bpf_prog_skeleton *slot =
		(void *)((char *)s->progs + (size_t)s->prog_skel_sz * (size_t)i);

	return HAS_MEMBER(s->prog_skel_sz, bpf_prog_skeleton, link) ? slot->link : NULL;
}

static struct bpf_link **map_link(const struct bpf_object_skeleton *s, int i)
{
	struct bpf_map_skeleton *slot =
		(void *)((char *)s->maps + (size_t)s->map_skel_sz * (size_t)i);

	return HAS_MEMBER(s->map_skel_sz, bpf_map_skeleton, link) ? slot->link : NULL;
}

int bpf_object__attach_skeleton(struct bpf_object_skeleton *s)
{
	if (!s || !s->obj || !*s->obj)
		return edge_errno(EINVAL);
	for (int i = 0; i < s->prog_cnt; i++) {
		struct bpf_prog_skeleton *slot =
			(void *)((char *)s->progs + (size_t)s->prog_skel_sz * (size_t)i);
		const struct bpf_program *prog = *slot->prog;
		struct bpf_link **link = program_link(s, i);

		if (!link || *link || !bpf_program__autoload(prog) ||
		    !bpf_program__autoattach(prog))
			continue;
		struct error *err = NULL;
		if (program_has_handler(prog))
			err = attach_error_at(prog, program_handler_attach(prog, link));
		else if (attaches_by_section(prog))
			err = attach_program(prog, link);
		if (err)
			return edge_int(err);
	}
	for (int i = 0; i < s->map_cnt; i++) {
		struct bpf_map_skeleton *slot =
			(void *)((char *)s->maps + (size_t)s->map_skel_sz * (size_t)i);
		const struct bpf_map *map = *slot->map;
		struct bpf_link **link = map_link(s, i);

		if (!link || *link || bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS ||
		    !bpf_map__autocreate(map) || !bpf_map__autoattach(map))
			continue;
		*link = bpf_map__attach_struct_ops(map);
		if (!*link)
			return -errno;
	}
	return 0;
}

static void link_end(struct bpf_link **link)
{
	if (!link)
		return;
	bpf_link__destroy(*link);
	*link = NULL;
}

void bpf_object__detach_skeleton(struct bpf_object_skeleton *s)
{
	if (!s)
		return;
	for (int i = 0; s->progs && i < s->prog_cnt; i++)
		link_end(program_link(s, i));
	for (int i = 0; s->maps && i < s->map_cnt; i++)
		link_end(map_link(s, i));
}

void bpf_object__destroy_skeleton(struct bpf_object_skeleton *s)
{
	if (!s)
		return;
	bpf_object__detach_skeleton(s);
	if (s->obj) {
		bpf_object__close(*s->obj);
		*s->obj = NULL;
	}
	free(s->maps);
	free(s->progs);
	free(s);
}
