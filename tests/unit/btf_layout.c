// SPDX-License-Identifier: BSD-2-Clause
/*
 * Does the C that BTF is dumped as have the layout that the BTF describes?
 *
 *	btf_layout header BTF >x.h	the dump
 *	btf_layout vars BTF x.h N >x.c	a variable of every Nth struct and union
 *	btf_layout compare BTF x.o N	x.c, compiled by clang -g -target bpf: its
 *					BTF against the first, member by member
 *
 *	btf_layout roundtrip		BTF made here, given to the kernel, and
 *					taken back by its id
 *
 * BTF is a file, raw or ELF. Exit status 1 and a line for each difference.
 * (clang takes half a minute for all of a kernel's structs, hence N.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/btf/dump_internal.h"

static void swallow(void *ctx, const char *fmt, va_list ap)
{
}

/* A dump whose text is dropped: its names are what is wanted. */
static struct btf_dump *name_dump(const struct btf *btf)
{
	struct btf_dump *d = btf_dump__new(btf, swallow, NULL, NULL);

	for (uint32_t id = 1; d && id < btf__type_cnt(btf); id++)
		if (btf_dump__dump_type(d, id))
			return NULL;
	return d;
}

/* Everything with a name, also inside nameless members: "off bits size name". */
static void list_members(const struct btf *btf, uint32_t id, uint64_t base, struct strbuf *out)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, id, &id);

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = btf_members(t) + i;
		const char *name = btf__name_by_offset(btf, m->name_off);
		uint64_t off = base + btf_member_bit_offset(t, i);

		if (strncmp(name, "__padding_", 10) == 0)
			continue;
		if (*name)
			strbuf_addf(out, "%llu %u %lld %s\n", (unsigned long long)off,
				    btf_member_bitfield_size(t, i),
				    (long long)btf__resolve_size(btf, m->type), name);
		else
			list_members(btf, m->type, off, out);
	}
}

/* Every Nth. */
static uint32_t every = 1;

static bool is_listed(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	/* without members there is nothing to compare, nor a size in C */
	return btf_is_composite(t) && *btf_name(btf, t) && btf_vlen(t) && id % every == 0;
}

static int compare(const struct btf *btf, const struct btf_dump *names, const struct btf *made)
{
	int compared = 0, different = 0;

	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		_cleanup_strbuf_ struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (!is_listed(btf, id))
			continue;
		int made_id = btf__find_by_name_kind(made, names->names[id], btf_kind(t));
		if (made_id < 0) {
			printf("%s: missing\n", names->names[id]);
			different++;
			continue;
		}
		strbuf_addf(&want, "size %lld\n", (long long)btf__resolve_size(btf, id));
		strbuf_addf(&got, "size %lld\n", (long long)btf__resolve_size(made, made_id));
		list_members(btf, id, 0, &want);
		list_members(made, made_id, 0, &got);
		compared++;
		if (strcmp(want.str, got.str)) {
			printf("%s: wanted\n%sgot\n%s\n", names->names[id], want.str, got.str);
			different++;
		}
	}
	printf("%d compared, %d different\n", compared, different);
	return different || !compared;
}

static int print_to_stderr(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return vfprintf(stderr, fmt, ap);
}

static int roundtrip(void)
{
	struct btf *btf = btf__new_empty();
	struct bpf_btf_info info = {0};
	uint32_t len = sizeof(info), size, size2;

	btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	btf__add_struct(btf, "perf_bpf_roundtrip", 8);
	btf__add_field(btf, "a", 1, 0, 0);
	btf__add_field(btf, "b", 1, 32, 7);
	if (btf__load_into_kernel(btf) || btf__fd(btf) < 0)
		return 1;
	if (btf__load_into_kernel(btf) != -EEXIST)
		return 2;
	if (bpf_btf_get_info_by_fd(btf__fd(btf), &info, &len))
		return 3;
	struct btf *back = btf__load_from_kernel_by_id(info.id);
	if (!back)
		return 4;
	const void *raw = btf__raw_data(btf, &size), *raw2 = btf__raw_data(back, &size2);
	if (size != size2 || memcmp(raw, raw2, size))
		return 5;
	btf__free(back);
	btf__free(btf);

	/* a type that the kernel refuses: the verifier's words come with it */
	btf = btf__new_empty();
	btf__add_struct(btf, "too small", 1);
	btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int err = btf__load_into_kernel(btf);
	btf__free(btf);
	return err == -EINVAL ? 0 : 6;
}

int main(int argc, char **argv)
{
	libbpf_set_print(print_to_stderr);
	if (argc == 2 && strcmp(argv[1], "roundtrip") == 0)
		return roundtrip();
	struct btf *btf = argc > 2 ? btf__parse(argv[2], NULL) : NULL;
	int status = 2;

	if (!btf)
		return 2;
	if (strcmp(argv[1], "header") == 0) {
		struct strbuf sb = STRBUF_INIT;
		struct error *err = btf_dump_vmlinux(btf, &sb);

		if (err) {
			fprintf(stderr, "%s\n", err->msg);
			error_free(err);
		} else {
			fwrite(sb.str, 1, sb.len, stdout);
			status = 0;
		}
		strbuf_deinit(&sb);
	} else if (argc > 4) {
		every = atoi(argv[4]) > 0 ? atoi(argv[4]) : 1;
		struct btf_dump *d = name_dump(btf);

		if (strcmp(argv[1], "vars") == 0 && d) {
			printf("#include \"%s\"\n", argv[3]);
			for (uint32_t id = 1; id < btf__type_cnt(btf); id++)
				if (is_listed(btf, id))
					printf("%s %s v%u;\n",
					       btf_kind_name(btf_kind(btf__type_by_id(btf, id))),
					       d->names[id], id);
			status = 0;
		} else if (d) {
			struct btf *made = btf__parse(argv[3], NULL);

			status = made ? compare(btf, d, made) : 2;
			btf__free(made);
		}
		btf_dump__free(d);
	}
	btf__free(btf);
	return status;
}
