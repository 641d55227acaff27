// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf btf: types that are loaded or stand in files, and how they lie in memory. */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/actions.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "lib/base/names.h"
#include "lib/base/plain_text.h"
#include "lib/btf/open.h"
#include "show/btf_types.h"
#include "show/struct_layout.h"

enum {
	OUT_CHUNK = 1 << 16,
	OPTION_SIZES = 256,
	OPTION_FORMAT,
};

struct btf_options {
	struct action_args args; /* the first */
	const char *type;
	bool sizes;
	bool c;
};

static const struct argp_option argp_options[] = {
	ACTION_OPTIONS,
	{"format", OPTION_FORMAT, "FORMAT", 0, "dump: output format, raw (one line per type) or c"},
	{"type", 'C', "NAME", 0, "show: the struct, union, enum or typedef to show"},
	{"sizes", OPTION_SIZES, NULL, 0,
	 "show: print offsets, sizes, holes, padding and cache lines of a struct"},
	{NULL},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct btf_options *options = state->input;

	switch (key) {
	case OPTION_FORMAT:
		if (strcmp(arg, "c") != 0 && strcmp(arg, "raw") != 0)
			argp_error(state, "--format: unknown format '%s' (c or raw)", arg);
		options->c = *arg == 'c';
		return 0;
	case 'C':
		options->type = arg;
		return 0;
	case OPTION_SIZES:
		options->sizes = true;
		return 0;
	}
	return action_args_parse(key, arg, state);
}

static const struct argp argp = {
	argp_options,
	parse_option,
	"list [id ID]\n"
	"dump BTF [--format=c]\n"
	"show BTF -C NAME [--sizes]",
	"Show BTF types, of the kernel and of files.\vBTF is 'id ID', 'file FILE' or 'vmlinux'; or "
	"only ID or FILE.\nFILE is an object with BTF, or raw BTF as in /sys/kernel/btf.",
};

static const struct btf_options *options_of(const struct action_args *args)
{
	return (const struct btf_options *)args;
}

/* ---- list ---- */

/* Which BTF programs and maps have. */
struct btf_use {
	uint32_t btf_id;
	enum kobj_kind kind;
	uint32_t id;
};

struct uses {
	struct btf_use *v;
	size_t n;
	size_t cap;
};

static struct error *find_uses(enum kobj_kind kind, struct uses *uses)
{
	_cleanup_kobj_ids_ struct kobj_ids ids = {0};

	TRY(kobj_ids_all(kind, &ids));
	for (size_t i = 0; i < ids.n; i++) {
		_cleanup_close_ int fd = kobj_open(kind, ids.v[i]);
		struct bpf_map_info map = {0};
		struct bpf_prog_info prog = {0};
		__u32 len = kind == KOBJ_MAP ? sizeof(map) : sizeof(prog);

		if (fd < 0 || (kind == KOBJ_MAP ? bpf_map_get_info_by_fd(fd, &map, &len)
						: bpf_prog_get_info_by_fd(fd, &prog, &len)))
			continue; /* gone meanwhile */
		struct btf_use *use = vec_push(uses);
		if (!use)
			return error_nomem();
		*use = (struct btf_use){kind == KOBJ_MAP ? map.btf_id : prog.btf_id, kind,
					ids.v[i]};
	}
	return NULL;
}

static void add_uses(const struct listed *object, enum kobj_kind kind, const char *name,
		     struct strbuf *out)
{
	const struct uses *uses = object->ctx;
	const struct btf_use *use;
	size_t n = 0;

	if (object->json)
		jw_array(object->json, name);
	vec_for_each (use, uses) {
		if (use->btf_id != object->id || use->kind != kind)
			continue;
		if (object->json) {
			jw_u64(object->json, NULL, use->id);
			continue;
		}
		if (n++)
			strbuf_addf(out, ",%u", use->id);
		else
			strbuf_addf(out, "  %s %u", name, use->id);
	}
	if (object->json)
		jw_end(object->json);
}

static void list_one(const struct listed *object, struct strbuf *out)
{
	char name[64] = "";
	struct bpf_btf_info info = {.name = (uintptr_t)name, .name_len = sizeof(name)};
	__u32 len = sizeof(info);

	if (bpf_btf_get_info_by_fd(object->fd, &info, &len))
		return;
	if (object->json) {
		jw_object(object->json, NULL);
		jw_u64(object->json, "id", info.id);
		jw_u64(object->json, "size", info.btf_size);
	} else if (info.kernel_btf) {
		strbuf_addf(out, "%u: name [%s]  size %uB", info.id, name, info.btf_size);
	} else {
		strbuf_addf(out, "%u: name %s  size %uB", info.id, *name ? name : "<anon>",
			    info.btf_size);
	}
	add_uses(object, KOBJ_PROG, "prog_ids", out);
	add_uses(object, KOBJ_MAP, "map_ids", out);
	if (object->json) {
		jw_bool(object->json, "kernel", info.kernel_btf);
		if (*name)
			jw_text(object->json, "name", name);
	} else {
		strbuf_addch(out, '\n');
	}
	add_pids(object, out);
	if (object->json)
		jw_end(object->json);
}

static struct error *btf_list(const struct action_args *args, size_t at)
{
	struct uses uses = {0};
	struct error *err = find_uses(KOBJ_PROG, &uses);

	if (!err)
		err = find_uses(KOBJ_MAP, &uses);
	if (!err)
		err = list_objects(KOBJ_BTF, args, at, list_one, &uses);
	vec_deinit(&uses);
	return err;
}

/* ---- one BTF ---- */

struct source {
	struct btf *base; /* vmlinux under a module's; NULL: there is none */
	struct btf *btf;
};

static void source_deinit(struct source *source)
{
	btf__free(source->btf);
	btf__free(source->base);
}
#define _cleanup_source_ __attribute__((cleanup(source_deinit)))

static struct error *open_base(struct source *source)
{
	source->base = btf__load_vmlinux_btf();
	if (!source->base)
		return error_errno(errno, "cannot read the kernel's BTF");
	return NULL;
}

static struct error *open_loaded(const struct action_args *args, size_t *at, struct source *source)
{
	_cleanup_close_ int fd = -1;
	char name[64] = "";
	struct bpf_btf_info info = {.name = (uintptr_t)name, .name_len = sizeof(name)};
	__u32 len = sizeof(info);

	TRY(open_object(KOBJ_BTF, args, at, &fd));
	if (bpf_btf_get_info_by_fd(fd, &info, &len))
		return error_errno(errno, "cannot read the info of the BTF");
	if (info.kernel_btf && strcmp(name, "vmlinux") != 0)
		TRY(open_base(source));
	source->btf = btf__load_from_kernel_by_id_split(info.id, source->base);
	if (!source->btf)
		return error_errno(errno, "cannot read BTF %u", info.id);
	return NULL;
}

static struct error *open_file(const char *path, struct source *source)
{
	static const char kernels[] = "/sys/kernel/btf/";

	if (!strncmp(path, kernels, strlen(kernels)) &&
	    strcmp(path + strlen(kernels), "vmlinux") != 0)
		TRY(open_base(source));
	source->btf = btf__parse_split(path, source->base);
	if (source->btf)
		return NULL;
	int code = errno;
	struct error *err = error_errno(code, "cannot read BTF from this file");
	if (code == ENODATA)
		err = error_hint(err, "the file has no section .BTF: compile for BPF with -g, or "
				      "add BTF with 'pahole -J'");
	return error_at(err, "%s", path);
}

static struct error *open_source(const struct action_args *args, size_t *at, struct source *source)
{
	char *const *words = args->words.v;
	size_t n = args->words.n;

	if (*at >= n)
		return error_hint(error_usage("the BTF is missing"),
				  "use 'id ID', 'file FILE' or 'vmlinux'");
	const bool is_loaded =
		!strcmp(words[*at], "id") || (words[*at][strspn(words[*at], "0123456789")] == 0 &&
					      access(words[*at], F_OK) != 0);
	TRY(action_drop_privileges(args, is_loaded ? 0 : INSPECT_FILE, NULL));
	if (!strcmp(words[*at], "vmlinux")) {
		TRY(open_base(source));
		source->btf = source->base;
		source->base = NULL;
		++*at;
	} else if (is_loaded) {
		TRY(open_loaded(args, at, source));
	} else {
		*at += !strcmp(words[*at], "file");
		if (*at >= n)
			return error_usage("the file name is missing");
		TRY(open_file(words[*at], source));
		++*at;
	}
	return no_more_words(args, *at);
}

/* ---- dump ---- */

/* Large ones are written piece by piece; main() reports what could not be written. */
static void write_chunk(struct strbuf *out, size_t at_least)
{
	if (out->len < at_least || strbuf_failed(out))
		return;
	plain_since(out, 0, true); /* the names of a file may be anybody's; JSON stays as it is */
	fwrite(strbuf_str(out), 1, out->len, stdout);
	strbuf_reset(out);
}

static void add_text(void *ctx, const char *fmt, va_list args)
{
	strbuf_vaddf(ctx, fmt, args);
}

static struct error *dump_as_c(const struct btf *btf, struct strbuf *out)
{
	struct btf_dump *dump = btf_dump__new(btf, add_text, out, NULL);
	int code = 0;

	if (!dump)
		return error_errno(errno, "cannot write the types as C");
	strbuf_adds(out, "#ifndef __VMLINUX_H__\n"
			 "#define __VMLINUX_H__\n\n"
			 "#ifndef BPF_NO_PRESERVE_ACCESS_INDEX\n"
			 "#pragma clang attribute push (__attribute__((preserve_access_index)), "
			 "apply_to = record)\n"
			 "#endif\n\n");
	for (uint32_t id = btf_start_id(btf); !code && id < btf__type_cnt(btf); id++) {
		code = btf_dump__dump_type(dump, id);
		write_chunk(out, OUT_CHUNK);
	}
	btf_dump__free(dump);
	strbuf_adds(out, "#ifndef BPF_NO_PRESERVE_ACCESS_INDEX\n"
			 "#pragma clang attribute pop\n"
			 "#endif\n\n"
			 "#endif /* __VMLINUX_H__ */\n");
	return code ? error_errno(-code, "cannot write the types as C") : NULL;
}

static struct error *btf_dump_types(const struct action_args *args, size_t at)
{
	_cleanup_source_ struct source source = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	if (options_of(args)->c && args->json)
		return error_usage("--format=c cannot be combined with --json");
	TRY(open_source(args, &at, &source));
	if (options_of(args)->c) {
		TRY(dump_as_c(source.btf, &out));
	} else {
		struct json_writer w = json_writer_make(&out);

		if (args->json) {
			jw_object(&w, NULL);
			jw_array(&w, "types");
		}
		for (uint32_t id = btf_start_id(source.btf); id < btf__type_cnt(source.btf); id++) {
			btf_type_show(source.btf, id, args->json ? &w : NULL, &out);
			write_chunk(&out, OUT_CHUNK);
		}
		if (args->json) {
			jw_end(&w);
			jw_end(&w);
			strbuf_addch(&out, '\n');
		}
		json_writer_finish(&w);
	}
	if (strbuf_failed(&out))
		return error_nomem();
	write_chunk(&out, 0);
	return NULL;
}

/* ---- show ---- */

static bool can_be_shown(const struct btf_type *t)
{
	return btf_is_composite(t) || btf_is_any_enum(t) || btf_is_typedef(t);
}

/* A definition goes before a typedef of the same name. */
static struct error *find_type(const struct btf *btf, const char *name, uint32_t *found)
{
	struct nearest near = nearest_make(name);
	uint32_t id = 0;

	for (uint32_t i = 1; i < btf__type_cnt(btf); i++) {
		const struct btf_type *t = btf__type_by_id(btf, i);

		if (!can_be_shown(t) || strcmp(btf_name(btf, t), name) != 0)
			continue;
		if (!id || btf_is_typedef(btf__type_by_id(btf, id)))
			id = i;
	}
	*found = id;
	if (id)
		return NULL;
	for (uint32_t i = 1; i < btf__type_cnt(btf); i++) {
		const struct btf_type *t = btf__type_by_id(btf, i);

		if (can_be_shown(t) && *btf_name(btf, t))
			nearest_offer(&near, btf_name(btf, t));
	}
	struct error *err = error_new(ENOENT, "unknown type '%s'", name);
	return error_suggest(err, &near);
}

/* The type's definition alone, without those that it needs. */
static struct error *define(const struct btf *btf, uint32_t id, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	struct btf_dump *dump = btf_dump__new(btf, add_text, &all, NULL);
	if (!dump)
		return error_errno(errno, "cannot write the type as C");
	int code = btf_dump__dump_type(dump, id);
	btf_dump__free(dump);
	if (code)
		return error_errno(-code, "cannot write the type as C");
	if (strbuf_failed(&all))
		return error_nomem();
	/* definitions are apart by an empty line; the type's own is the last */
	size_t end = all.len;
	while (end && strbuf_str(&all)[end - 1] == '\n')
		end--;
	size_t from = end;
	while (from > 1 && !(all.str[from - 1] == '\n' && all.str[from - 2] == '\n'))
		from--;
	strbuf_add(out, all.str + (from > 1 ? from : 0), end - (from > 1 ? from : 0));
	strbuf_addch(out, '\n');
	return NULL;
}

static struct error *btf_show(const struct action_args *args, size_t at)
{
	const struct btf_options *options = options_of(args);
	_cleanup_source_ struct source source = {0};
	_cleanup_(struct_layout_freep) struct struct_layout *layout = NULL;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	uint32_t id;

	if (!options->type)
		return error_hint(error_usage("the type is missing"), "use -C NAME");
	TRY(open_source(args, &at, &source));
	TRY(find_type(source.btf, options->type, &id));
	if (options->sizes) {
		long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);

		TRY(error_at(struct_layout_new(source.btf, id, &layout), "%s", options->type));
		(args->json ? struct_layout_json : struct_layout_text)(layout, line > 0 ? line : 64,
								       &out);
	} else if (args->json) {
		struct json_writer w = json_writer_make(&out);

		btf_type_show(source.btf, id, &w, &out);
		json_writer_finish(&w);
		strbuf_addch(&out, '\n');
	} else {
		TRY(define(source.btf, id, &out));
	}
	if (strbuf_failed(&out))
		return error_nomem();
	write_chunk(&out, 0);
	return NULL;
}

int cmd_btf(int argc, char **argv)
{
	static const struct action actions[] = {
		{"list", btf_list, INSPECT_LIST},
		{"dump", btf_dump_types, ACTION_LATER},
		{"show", btf_show, ACTION_LATER},
	};
	struct btf_options options = {0};

	if (cmd_parse(&argp, argc, argv, 0, NULL, &options))
		return 2;
	return run_action("btf", actions, ARRAY_SIZE(actions), &options.args);
}
