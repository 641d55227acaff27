// SPDX-License-Identifier: BSD-2-Clause
/*
 * The object's own BTF. It is read over the file's bytes; clang leaves the
 * sizes and offsets of data sections to the loader, which are filled in from
 * the symbols. What the kernel does not know is taken out of the copy that the
 * kernel gets. A kernel that refuses the BTF still runs the programs: they only
 * lose their names, lines and the types of their maps.
 */
#include "lib/object/load_object.h"

#include <string.h>
#include <unistd.h>

#include "lib/btf/sanitize.h"
#include "lib/object/btf_load.h"
#include "lib/sys/uapi.h"

struct layout_ctx {
	struct bpf_object *obj;
	struct strmap symbols; /* of data sections, by name */
};

static bool section_size(void *ctx_, const char *section, uint32_t *size)
{
	struct layout_ctx *ctx = ctx_;
	const struct elf_section *sec = pb_elf_section_find(ctx->obj->elf, section);

	if (!sec || sec->size > UINT32_MAX)
		return false;
	*size = (uint32_t)sec->size;
	return true;
}

static bool symbol_offset(void *ctx_, const char *section, const char *symbol, uint32_t *offset)
{
	struct layout_ctx *ctx = ctx_;
	const struct elf_symbol *sym = strmap_get(&ctx->symbols, symbol);
	const struct elf_section *sec = sym ? pb_elf_section_at(ctx->obj->elf, sym->section) : NULL;

	if (!sec || !str_equal(sec->name, section) || sym->value > UINT32_MAX)
		return false;
	*offset = (uint32_t)sym->value;
	return true;
}

static struct error *fix_datasecs(struct bpf_object *obj)
{
	struct layout_ctx ctx = {.obj = obj};
	const struct btf_layout layout = {section_size, symbol_offset, &ctx};
	struct elf_symbol *sym;
	struct error *err = NULL;

	vec_for_each (sym, &obj->symbols) {
		const struct elf_section *sec = pb_elf_section_at(obj->elf, sym->section);

		/* Labels of code may be many. */
		if (!sec || !sec->index || sec->flags & SHF_EXECINSTR || !sym->name[0] ||
		    sym->type == STT_FUNC || sym->type == STT_SECTION || sym->type == STT_FILE)
			continue;
		if (!strmap_put(&ctx.symbols, sym->name, sym)) {
			err = error_nomem();
			break;
		}
	}
	if (!err)
		err = btf_fix_datasecs(obj->btf, &layout);
	strmap_deinit(&ctx.symbols);
	return err;
}

static bool is_hidden(void *names, const char *name)
{
	return strmap_get(names, name) != NULL;
}

/*
 * Subprograms that are hidden (__hidden): global only for the linker, and what
 * their callers know of the arguments holds.
 */
static struct error *hide_functions(struct bpf_object *obj)
{
	struct strmap _cleanup_(strmap_deinit) names = {0};
	struct elf_symbol *sym;
	bool any = false;

	vec_for_each (sym, &obj->symbols) {
		const struct elf_section *sec = pb_elf_section_at(obj->elf, sym->section);

		if (sym->type != STT_FUNC || sym->bind == STB_LOCAL || !sec ||
		    !str_equal(sec->name, ".text") ||
		    (sym->visibility != STV_HIDDEN && sym->visibility != STV_INTERNAL))
			continue;
		any = true;
		if (!strmap_put(&names, sym->name, sym))
			return error_nomem();
	}
	return any ? btf_hide_funcs(obj->btf, is_hidden, &names) : NULL;
}

struct error *object_btf_open(struct bpf_object *obj)
{
	const struct elf_section *btf = pb_elf_section_find(obj->elf, ".BTF");
	const struct elf_section *ext = pb_elf_section_find(obj->elf, ".BTF.ext");

	if (!btf || !btf->data || !btf->size)
		return NULL;
	/* What was read from the file is the object's, and may be changed where it is. */
	const struct btf_backing backing = {.may_write = pb_elf_section_may_write(obj->elf, btf)};
	TRY(btf_open(btf->data, btf->size, "section .BTF", NULL, backing, &obj->btf));
	btf__set_pointer_size(obj->btf, 8);
	TRY(error_at(fix_datasecs(obj), "section .BTF"));
	TRY(hide_functions(obj));
	if (ext && ext->data && ext->size)
		TRY(btf_ext_open_borrowed(ext->data, ext->size, "section .BTF.ext", &obj->btf_ext));
	return NULL;
}

struct error *object_vmlinux(struct bpf_object *obj, const struct btf **btf)
{
	if (!obj->vmlinux)
		TRY(btf_load_vmlinux(NULL, &obj->vmlinux));
	*btf = obj->vmlinux;
	return NULL;
}

/* What the kernel takes, as far as the object may need it: each is one system call, once. */
static uint32_t kernel_features(void)
{
	static const struct {
		enum sys_bpf_feature probe;
		uint32_t feature;
	} table[] = {
		{SYS_BPF_BTF_FUNC, BTF_FEAT_FUNC},
		{SYS_BPF_BTF_FUNC_GLOBAL, BTF_FEAT_FUNC_GLOBAL},
		{SYS_BPF_BTF_DATASEC, BTF_FEAT_DATASEC},
		{SYS_BPF_BTF_FLOAT, BTF_FEAT_FLOAT},
		{SYS_BPF_BTF_DECL_TAG, BTF_FEAT_DECL_TAG},
		{SYS_BPF_BTF_TYPE_TAG, BTF_FEAT_TYPE_TAG},
		{SYS_BPF_BTF_ENUM64, BTF_FEAT_ENUM64},
		{SYS_BPF_BTF_QMARK, BTF_FEAT_QMARK_DATASEC},
	};
	uint32_t features = 0;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (sys_bpf_has(table[i].probe))
			features |= table[i].feature;
	return features;
}

static bool is_wanted(const struct bpf_object *obj)
{
	const struct bpf_program *prog;
	const struct bpf_map *map;

	vec_for_each (prog, &obj->programs)
		if (prog->autoload && prog->n_func_info)
			return true;
	vec_for_each (map, &obj->maps)
		if (map->autocreate && map->btf_value_type_id)
			return true;
	return false;
}

static int load_raw(const struct bpf_object *obj, const struct btf *btf)
{
	LIBBPF_OPTS(bpf_btf_load_opts, opts, .token_fd = (__u32)obj->token_fd,
		    .btf_flags = obj->token_fd ? BPF_F_TOKEN_FD : 0);
	uint32_t size;
	const void *raw = btf__raw_data(btf, &size);
	int fd = -ENOSPC;

	if (!raw)
		return -ENOMEM;
	/* A caller who wants logs into a buffer wants this one too; it must not need to fit. */
	if (obj->kernel_log_buf && obj->kernel_log_level) {
		opts.log_buf = obj->kernel_log_buf;
		opts.log_size = (uint32_t)obj->kernel_log_size;
		opts.log_level = 1;
		fd = bpf_btf_load(raw, size, &opts);
		opts.log_buf[opts.log_size - 1] = 0;
		opts.log_buf = NULL;
		opts.log_size = opts.log_level = 0;
	}
	return fd == -ENOSPC ? bpf_btf_load(raw, size, &opts) : fd;
}

/* The kernel's words on BTF that it refuses: the last line of its log. */
static void warn_refused(const struct bpf_object *obj, const struct btf *btf, int code)
{
	const size_t log_size = 256 * 1024;
	_cleanup_free_ char *log = calloc(1, log_size);
	LIBBPF_OPTS(bpf_btf_load_opts, opts, .log_buf = log, .log_size = (uint32_t)log_size,
		    .log_level = 1, .token_fd = (__u32)obj->token_fd,
		    .btf_flags = obj->token_fd ? BPF_F_TOKEN_FD : 0);
	const char *last = "";
	uint32_t size;
	const void *raw = btf__raw_data(btf, &size);

	if (log && raw) {
		const int fd = bpf_btf_load(raw, size, &opts);

		if (fd >= 0)
			close(fd);
		for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
			last = line;
	}
	log_warn(obj->log,
		 "%s: the kernel rejects its BTF (%s)%s%s: loading programs without function and "
		 "line information, maps without types",
		 obj->path, strerror(code), last[0] ? ": " : "", last);
}

struct error *object_btf_load(struct bpf_object *obj)
{
	_cleanup_(btf__freep) struct btf *copy = NULL;
	const struct btf *btf = obj->btf;

	if (!btf || obj->btf_fd >= 0 || !is_wanted(obj))
		return NULL;
	/* The kernel at hand usually takes it as it is: only its refusal is worth the probes. */
	obj->btf_fd = load_raw(obj, btf);
	if (obj->btf_fd == -EINVAL) {
		TRY(btf_sanitize(btf, kernel_features(), &copy));
		if (copy) {
			btf = copy;
			obj->btf_fd = load_raw(obj, btf);
		}
	}
	if (obj->btf_fd >= 0)
		return NULL;
	if (obj->btf_fd != -EPERM)
		warn_refused(obj, btf, -obj->btf_fd);
	obj->btf_fd = -1;
	return NULL;
}
