// SPDX-License-Identifier: BSD-2-Clause
/*
 * Address → map → DSO → symbol. The session finds the map; this file finds
 * the DSO's symbols, once each, when the first address falls into it.
 *
 * Addresses of a DSO: of a user's file they are offsets in the file (address -
 * map start + pgoff), of everything in the kernel and of memory without a file
 * they are the addresses as recorded.
 *
 * Chains: PERF_CONTEXT_* markers change the mode of what follows. Until the
 * first marker the mode is that of user space, as in perf.
 */
#include "perf/resolve/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/base/strbuf.h"
#include "lib/sys/open_file.h"
#include "lib/sys/proc.h"
#include "perf/resolve/bpf_line_table.h"

struct error *resolver_new(struct session *s, const struct resolver_opts *opts,
			   struct resolver **out)
{
	struct resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return error_nomem();
	r->session = s;
	r->round = 1;
	memcpy(&r->opts, opts, min_of(opts->sz, sizeof(r->opts)));
	if (r->opts.buildid_dir) {
		r->buildid_dir = strdup(r->opts.buildid_dir);
		r->opts.buildid_dir = r->buildid_dir;
		if (!r->buildid_dir) {
			free(r);
			return error_nomem();
		}
	}
	/* Below "/", files and the kernel's symbols are where they are without it, as in perf. */
	_cleanup_free_ char *symfs = r->opts.symfs ? realpath(r->opts.symfs, NULL) : NULL;
	if (symfs && !strcmp(symfs, "/"))
		r->opts.symfs = NULL;
	*out = r;
	return NULL;
}

static void free_bpf(struct resolver *r)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&r->bpf, &pos)))
		symtab_free(slot->value);
	u64map_deinit(&r->bpf);
	for (pos = 0; (slot = u64map_next(&r->bpf_lines, &pos));)
		bpf_line_table_free(slot->value);
	u64map_deinit(&r->bpf_lines);
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	struct dso_syms **it;

	vec_for_each (it, &r->loaded) {
		(*it)->dso->priv = NULL;
		(*it)->dso->priv_free = NULL;
		symtab_free((*it)->st);
		source_lines_free((*it)->lines);
		jitdump_free((*it)->jitdump);
		free(*it);
	}
	vec_deinit(&r->loaded);
	free_bpf(r);
	resolver_free_replaced(r);
	vec_deinit(&r->replaced);
	symtab_free(r->trampolines);
	kallsyms_free(r->kallsyms);
	free(r->buildid_dir);
	free(r);
}

/* A live session has forgotten the DSO. */
static void dso_syms_free(void *priv)
{
	struct dso_syms *ds = priv, **last = vec_last(&ds->r->loaded);

	(*last)->index = ds->index;
	ds->r->loaded.v[ds->index] = *last;
	ds->r->loaded.n--;
	if (is_perf_map(ds->dso->path))
		resolver_free_perf_map(ds->r, ds->st);
	else
		symtab_free(ds->st);
	source_lines_free(ds->lines);
	jitdump_free(ds->jitdump);
	free(ds);
}

void resolver_build_id_text(const struct dso *dso, char hex[41])
{
	text_bytes(hex, dso->build_id, min_of(dso->build_id_size, (size_t)20));
}

bool resolver_is_whole(struct resolver *r, const struct strbuf *path)
{
	r->no_memory |= strbuf_failed(path);
	return !strbuf_failed(path);
}

void resolver_note(struct resolver *r, struct error *err)
{
	r->no_memory |= err && err->code == ENOMEM;
	error_free(err);
}

struct error *resolver_error(const struct resolver *r)
{
	struct dso_syms *const *ds;

	vec_for_each (ds, &r->loaded)
		if (((*ds)->st && symtab_had_no_memory((*ds)->st)) ||
		    ((*ds)->lines && source_lines_had_no_memory((*ds)->lines)))
			return error_nomem();
	return r->no_memory ? error_nomem() : NULL;
}

static bool is_of_kernel(const struct dso *dso)
{
	return dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE;
}

void resolver_open_lines(struct resolver *r, const struct dso *dso, const char *path,
			 const char *symfs, struct dso_syms *ds)
{
	const struct source_lines_opts opts = {
		.path = path,
		.symbols = ds->st ? symtab_file(ds->st) : NULL,
		.symbols_are_copy = ds->st && strchr("BD", symtab_origin(ds->st)),
		.symfs = symfs,
		.demangle = is_of_kernel(dso) ? r->opts.demangle_kernel : r->opts.demangle,
		.demangler = r->opts.demangler,
		.parameters = r->opts.parameters,
		.log = r->opts.log,
	};

	if (!r->opts.lines && !r->opts.inlines)
		return;
	ds->lines = source_lines_new(dso, &opts);
	r->no_memory |= !ds->lines;
}

/*
 * Where a process has the file: below its own root directory, which may be that of a container. The
 * caller's; NULL: it is not there.
 */
static char *path_inside(int32_t pid, const char *path)
{
	_cleanup_free_ char *inside = pid ? text_format("/proc/%d/root%s", pid, path) : NULL;
	_cleanup_close_ int fd = -1;

	if (!inside)
		return NULL;
	struct error *err = open_regular(inside, NULL, &fd);
	const bool is_there = !err;

	error_free(err);
	return is_there ? steal_ptr(inside) : NULL;
}

void resolver_log(struct resolver *r, const char *path, struct error *err)
{
	r->no_memory |= err && err->code == ENOMEM;
	if (err && err->code == ESTALE && !r->changed_warned) {
		r->changed_warned = true;
		log_warn(r->opts.log,
			 "%s has changed since it was recorded, or the process had another root "
			 "directory: its symbols are not used (-v shows further files)",
			 path);
	} else if (err && err->code == EFBIG && !r->too_large_warned) {
		r->too_large_warned = true;
		log_warn(r->opts.log, "%s: not used: %s (-v shows further files)",
			 err->where ? err->where : path, err->msg);
	} else if (err && err->code == EPERM)
		log_warn(r->opts.log, "%s: not used: %s", err->where ? err->where : path, err->msg);
	else if (err && err->code != ENOENT && err->code != ENODATA)
		log_info(r->opts.log, "%s: %s", err->where ? err->where : path, err->msg);
	error_free(err);
}

/* The file that was mapped, and not another one that has or had its path. */
static bool is_mapped_file(const struct dso *dso, const char *path)
{
	struct stat file;

	return dso->ino && !stat(path, &file) && file.st_ino == dso->ino &&
	       file.st_dev == makedev(dso->maj, dso->min);
}

/*
 * Debug information and the build-id of the file that the symbols are of. Without a build-id in the
 * records, a file that has taken the place of the one that was mapped would give wrong lines.
 */
static void load_lines(struct resolver *r, struct dso *dso, const char *inside, struct dso_syms *ds)
{
	const bool has_id = dso->build_id_size;

	if (!(r->opts.lines || r->opts.inlines) || !ds->st || dso->kind != DSO_USER)
		return;
	if (!has_id && dso->ino && !is_mapped_file(dso, inside ? inside : dso->path))
		return;
	resolver_open_lines(r, dso, inside ? inside : dso->path, inside ? NULL : r->opts.symfs, ds);
	size_t size = 0;
	if (!r->opts.lines)
		return;
	if (!has_id && dso->ino)
		error_free(file_build_id(inside ? inside : dso->path, dso->build_id, &size));
	dso->build_id_size = has_id ? dso->build_id_size : (uint8_t)size;
}

static struct sym_opts user_opts(const struct resolver *r, const struct dso *dso)
{
	return (struct sym_opts){
		.sz = sizeof(struct sym_opts),
		.build_id = dso->build_id_size ? dso->build_id : NULL,
		.build_id_size = dso->build_id_size,
		.symfs = r->opts.symfs,
		.buildid_dir = r->opts.buildid_dir,
		.demangle = r->opts.demangle,
		.demangler = r->opts.demangler,
		.parameters = r->opts.parameters,
	};
}

/*
 * Where the process at work has a file, or the one that mapped it last. That may have ended, and
 * its id be another's: the file must be the one that was mapped.
 */
static char *path_in_process(const struct resolver *r, const struct dso *dso)
{
	char *held = r->opts.held ? held_files_path(r->opts.held, dso) : NULL;

	if (held)
		return held;
	if (r->pid)
		return path_inside(r->pid, dso->path);
	if (r->opts.symfs && *r->opts.symfs)
		return NULL;
	_cleanup_free_ char *inside = path_inside(dso->pid, dso->path);
	if (inside && !dso->build_id_size && !is_mapped_file(dso, inside))
		return NULL;
	return steal_ptr(inside);
}

/* Whether nothing says if the file at the DSO's path is the one that was mapped. */
static bool is_unsure(const struct resolver *r, const struct dso *dso)
{
	return dso->build_id_unsure &&
	       ((r->opts.symfs && *r->opts.symfs) || !is_mapped_file(dso, dso->path));
}

/* Nothing says that the recorded processes had the vdso of this host. */
static bool is_other_vdso(struct resolver *r, const struct dso *dso)
{
	return dso->kind == DSO_VDSO && !dso->build_id_size && !resolver_is_of_this_host(r);
}

static struct symtab *load_user(struct resolver *r, struct dso *dso, struct dso_syms *ds)
{
	const struct sym_opts opts = user_opts(r, dso);
	_cleanup_free_ char *inside = NULL;
	struct symtab *st = NULL;
	struct error *err;

	if (is_perf_map(dso->path))
		return resolver_load_jit(r, dso->path, ds);
	if (is_unsure(r, dso)) {
		log_info(
			r->opts.log,
			"%s: the recording has several build-ids for this path; not using the file",
			dso->path);
		return NULL;
	}
	if (is_other_vdso(r, dso)) {
		resolver_warn_of_other_host(r);
		return NULL;
	}
	if (dso->kind == DSO_VDSO) {
		err = symtab_load_vdso(&opts, &st);
	} else if (dso->path[0] == '/') {
		inside = path_in_process(r, dso);
		if (inside)
			resolver_note(r, symtab_load_elf(inside, &opts, &st));
		err = st ? NULL : symtab_load_elf(dso->path, &opts, &st);
	} else {
		return NULL;
	}
	resolver_log(r, dso->path, err);
	if (st && symtab_is_cut(st))
		log_warn(r->opts.log, "%s: many of its symbols share long names: some are not used",
			 dso->path);
	ds->st = st;
	load_lines(r, dso, inside, ds);
	return st;
}

struct error *resolver_open_image(struct resolver *r, const struct dso *dso, pb_elf_wants *wants,
				  struct elf_file **out)
{
	const struct sym_opts opts = user_opts(r, dso);
	struct error *err = NULL;

	if (is_other_vdso(r, dso))
		return error_at(error_new(ESTALE, "is of another host than this one"), "[vdso]");
	if (dso->kind == DSO_VDSO)
		return image_open_vdso(&opts, out);
	if (dso->kind != DSO_USER || dso->path[0] != '/')
		return error_new(ENOENT, "'%s' is not a file", dso->path);
	if (is_unsure(r, dso))
		return error_at(error_new(ESTALE, "the recording has several build-ids for it"),
				"%s", dso->path);
	_cleanup_free_ char *inside = path_in_process(r, dso);
	if (inside)
		err = image_open(inside, &opts, wants, out);
	if (inside && !err)
		return NULL;
	error_free(err);
	return image_open(dso->path, &opts, wants, out);
}

struct error *resolver_open_code(struct resolver *r, const struct map *map, pb_elf_wants *wants,
				 struct elf_file **out)
{
	const struct dso_syms *ds = map->dso->priv;
	const char *vmlinux = ds && ds->st ? symtab_file(ds->st) : NULL;
	char hex[41] = "";

	if (map->dso->kind != DSO_KERNEL)
		return resolver_open_image(r, map->dso, wants, out);
	if (vmlinux)
		return pb_elf_file_open_parts(vmlinux, wants, out);
	resolver_build_id_text(map->dso, hex);
	return error_hint(
		error_new(ENOENT, "found no vmlinux%s%s with the kernel's code",
			  *hex ? " of build-id " : "", hex),
		"give the uncompressed image of the recorded kernel with -k; distributions "
		"have it in the package of its debug information");
}

struct error *resolver_running_code(struct resolver *r, const struct location *at,
				    struct strbuf *out)
{
	const struct dso_syms *ds = at->map->dso->priv;

	if (!r->opts.kernel_code || !ds || !ds->runs)
		return error_new(ENOENT, "the code of the running kernel cannot be used");
	return r->opts.kernel_code(r->opts.kernel_code_ctx, at->sym->start + ds->moved,
				   at->sym->end - at->sym->start, out);
}

bool resolver_jit_function(const struct location *at, struct jit_function *out)
{
	const struct dso_syms *ds = at->map->dso->priv;

	return ds && ds->jitdump && jitdump_function(ds->jitdump, at->dso_addr, out);
}

struct error *resolver_open_module(struct resolver *r, const struct map *map, pb_elf_wants *wants,
				   struct module_image *out)
{
	const struct sym_opts opts = user_opts(r, map->dso);

	if (!map->dso->build_id_size && !(opts.symfs && *opts.symfs) &&
	    !resolver_is_of_this_host(r))
		return error_at(error_new(ESTALE, "the recording is of another host"), "%s",
				map->dso->path);
	if (map->dso->path[0] == '/')
		return image_open_module(map->dso->path, &opts, wants, out);
	return error_hint(error_new(ENOENT, "the recording does not have the path of the module %s",
				    map->dso->short_name),
			  "the file of a module is recorded if it is in modules.dep");
}

static struct symtab *load_dso(struct resolver *r, struct dso *dso, const struct map *map)
{
	struct dso_syms *ds = calloc(1, sizeof(*ds));
	struct dso_syms **slot = ds ? vec_push(&r->loaded) : NULL;

	if (!slot) {
		r->no_memory = true;
		free(ds);
		return NULL;
	}
	*slot = ds;
	ds->dso = dso;
	ds->r = r;
	ds->index = r->loaded.n - 1;
	dso->priv = ds;
	dso->priv_free = dso_syms_free;
	switch (dso->kind) {
	case DSO_KERNEL:
		ds->st = map ? resolver_load_kernel(r, map, ds) : NULL;
		break;
	case DSO_MODULE:
		ds->st = map ? resolver_load_module(r, map, ds) : NULL;
		break;
	case DSO_USER:
	case DSO_VDSO:
	case DSO_ANON:
		ds->st = load_user(r, dso, ds);
		break;
	case DSO_BPF:
		break;
	}
	if (ds->st && r->opts.demangle_kernel && is_of_kernel(dso))
		symtab_demangle(ds->st, r->opts.demangler, r->opts.parameters);
	return ds->st;
}

/* Two programs of one name are one DSO, but each map has its own image. */
static struct symtab *bpf_symtab(struct resolver *r, const struct map *map)
{
	struct symtab *st = u64map_get(&r->bpf, (uintptr_t)map);

	if (st)
		return st;
	struct error *err =
		symtab_new_one(map->start, map->end - map->start, map->dso->short_name, &st);
	if (err) {
		resolver_note(r, err);
		return NULL;
	}
	if (!u64map_put(&r->bpf, (uintptr_t)map, st)) {
		r->no_memory = true;
		symtab_free(st);
		return NULL;
	}
	return st;
}

static struct symtab *map_symtab(struct resolver *r, const struct map *map)
{
	if (r->opts.no_symbols)
		return NULL;
	if (map->dso->kind == DSO_BPF)
		return bpf_symtab(r, map);
	if (map->dso->priv)
		return ((struct dso_syms *)map->dso->priv)->st;
	return load_dso(r, map->dso, map);
}

struct symtab *resolver_symtab(struct resolver *r, struct dso *dso)
{
	if (dso->priv)
		return ((struct dso_syms *)dso->priv)->st;
	bool needs_map = dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE || dso->kind == DSO_BPF;
	return needs_map || r->opts.no_symbols ? NULL : load_dso(r, dso, NULL);
}

/* A module without symbols has offsets, as in perf: where it was loaded says nothing. */
static bool has_plain_addresses(const struct map *map)
{
	const struct dso_syms *ds = map->dso->priv;

	switch (map->dso->kind) {
	case DSO_MODULE:
		return !ds || ds->st;
	case DSO_KERNEL:
	case DSO_BPF:
	case DSO_ANON: /* a JIT's symbols have addresses too */
		return true;
	default:
		return false;
	}
}

/* Of a function of a BPF program; NULL: the recording does not have its code. */
static const struct bpf_line_table *find_bpf_lines(struct resolver *r, const struct map *map)
{
	const struct data_header *header = session_header(r->session);
	struct bpf_line_table *lines = u64map_get(&r->bpf_lines, (uintptr_t)map);

	if (lines || !header->n_bpf_progs)
		return lines;
	resolver_note(r, bpf_line_table_new(header, map->start, &lines));
	if (lines && !u64map_put(&r->bpf_lines, (uintptr_t)map, lines)) {
		r->no_memory = true;
		bpf_line_table_free(lines);
		return NULL;
	}
	return lines;
}

bool resolve_line(struct resolver *r, const struct location *at, bool is_return, const char **file,
		  uint32_t *line)
{
	const struct dso_syms *ds = at->map ? at->map->dso->priv : NULL;

	if (at->map && at->map->dso->kind == DSO_BPF)
		return r->opts.lines && bpf_line_table_find(find_bpf_lines(r, at->map),
							    at->dso_addr - is_return, file, line);
	if (ds && ds->jitdump)
		return r->opts.lines &&
		       jitdump_line(ds->jitdump, at->dso_addr - is_return, file, line);
	if (!ds || !ds->lines)
		return false;
	return source_lines_find(ds->lines, location_elf_address(at) - is_return, file, line);
}

uid_t resolve_line_author(const struct location *at)
{
	const struct dso_syms *ds = at->map->dso->priv;

	if (at->map->dso->kind == DSO_BPF) /* who loaded it is not known */
		return (uid_t)-1;
	return ds->jitdump ? jitdump_author(ds->jitdump) : source_lines_author(ds->lines);
}

bool resolver_has_lines(struct resolver *r, const struct location *at)
{
	const struct dso_syms *ds = at->map ? at->map->dso->priv : NULL;

	return ds && (ds->jitdump || (ds->lines && source_lines_exist(ds->lines)));
}

void resolver_want_lines(struct resolver *r)
{
	r->opts.lines = true;
}

bool resolver_wants_lines(const struct resolver *r)
{
	return r->opts.lines;
}

const struct inline_frames *resolve_inlines(struct resolver *r, const struct location *at)
{
	const struct dso_syms *ds =
		r->opts.inlines && at->map && at->sym ? at->map->dso->priv : NULL;

	if (!ds || !ds->lines)
		return NULL;
	return source_lines_inlines(ds->lines, location_elf_address(at), at->sym);
}

uint64_t location_elf_address(const struct location *at)
{
	const struct dso_syms *ds = at->map->dso->priv;

	if (!ds || !ds->st)
		return at->dso_addr;
	return at->map->dso->kind == DSO_KERNEL ? at->dso_addr - ds->image_base
						: symtab_offset_to_addr(ds->st, at->dso_addr);
}

uint64_t location_unmap(const struct map *map, uint64_t dso_addr)
{
	return has_plain_addresses(map) ? dso_addr : dso_addr - map->pgoff + map->start;
}

/*
 * The kernel's record covers its text; .init.text and data lie behind it. As
 * in perf the map reaches to the last symbol, once symbols were asked for.
 */
static const struct map *kernel_map_beyond(struct resolver *r, uint64_t addr)
{
	const struct map *map = r->kernel_map;
	struct symtab *st = map && addr >= map->end ? map_symtab(r, map) : NULL;
	size_t n = st ? symtab_size(st) : 0;

	return n && addr < symtab_at(st, n - 1)->end ? map : NULL;
}

struct session *resolver_session(struct resolver *r)
{
	return r->session;
}

const struct map *resolver_find_map(struct resolver *r, const struct thread *thread,
				    uint8_t cpumode, uint64_t addr)
{
	const struct map *map = session_find_map(r->session, thread, cpumode, addr);

	if (cpumode != PERF_RECORD_MISC_KERNEL)
		return map;
	if (map && map->dso->kind == DSO_KERNEL)
		r->kernel_map = map;
	return map ? map : kernel_map_beyond(r, addr);
}

void resolve_addr(struct resolver *r, const struct thread *thread, uint8_t cpumode, uint64_t addr,
		  struct location *out)
{
	resolve_addr_in(r, resolver_find_map(r, thread, cpumode, addr), cpumode, addr, out);
}

void resolve_addr_in(struct resolver *r, const struct map *map, uint8_t cpumode, uint64_t addr,
		     struct location *out)
{
	*out = (struct location){.addr = addr, .dso_addr = addr, .cpumode = cpumode};
	if (!map)
		return;
	if (map->dso->kind == DSO_KERNEL)
		r->kernel_map = map;
	out->map = map;
	if (map->dso->kind == DSO_MODULE)
		map_symtab(r, map);
	if (!has_plain_addresses(map))
		out->dso_addr = addr - map->start + map->pgoff;
	/* Processes that map a file at different addresses share its symbols. */
	const void *key = has_plain_addresses(map) ? (const void *)map : map->dso;
	struct cached_symbol *c = &r->cache[hash_u64(out->dso_addr ^ (uintptr_t)key) % CACHE_SIZE];
	if (c->key != key || c->addr != out->dso_addr) {
		struct symtab *st = map_symtab(r, map);

		*c = (struct cached_symbol){key, out->dso_addr,
					    st ? symtab_find(st, out->dso_addr) : NULL};
	}
	out->sym = c->sym;
	if (out->sym)
		out->offset = out->dso_addr - out->sym->start;
}

void resolve_map_in(const struct map *map, uint8_t cpumode, uint64_t addr, struct location *out)
{
	const bool is_offset = map && (map->dso->kind == DSO_USER || map->dso->kind == DSO_VDSO);

	*out = (struct location){
		.map = map,
		.addr = addr,
		.dso_addr = is_offset ? addr - map->start + map->pgoff : addr,
		.cpumode = cpumode,
	};
}

bool resolver_has_symbol(struct resolver *r, const struct map *map, uint64_t dso_addr)
{
	struct symtab *st = map_symtab(r, map);

	return st && symtab_find(st, dso_addr);
}

void resolver_refresh(struct resolver *r)
{
	uint64_t generation = session_generation(r->session);

	resolver_free_replaced(r);
	r->round++;
	if (generation == r->generation)
		return;
	/* A map in it may be another by now. */
	memset(r->cache, 0, sizeof(r->cache));
	r->generation = generation;
	r->kernel_map = NULL;
	free_bpf(r);
}

void resolve_addr_at(struct resolver *r, int32_t pid, uint64_t time, uint8_t cpumode, uint64_t addr,
		     struct location *out)
{
	const bool kernel = cpumode == PERF_RECORD_MISC_KERNEL;
	const struct map *map = session_find_map_at(r->session, pid, time, cpumode, addr);

	if (!map && kernel) {
		if (!r->kernel_map)
			r->kernel_map = session_kernel_map(r->session);
		map = kernel_map_beyond(r, addr);
	}
	r->pid = kernel ? 0 : pid;
	resolve_addr_in(r, map, cpumode, addr, out);
	if (!out->sym && map && map->dso->kind == DSO_ANON)
		out->sym = resolver_find_in_grown(r, map, addr);
	else if (!out->sym && !map && kernel)
		out->sym = resolver_find_trampoline(r, addr);
	if (out->sym)
		out->offset = out->dso_addr - out->sym->start;
	r->pid = 0;
}

void resolve_addr_any(struct resolver *r, const struct thread *thread, uint64_t addr,
		      struct location *out)
{
	resolve_addr(r, thread, PERF_RECORD_MISC_USER, addr, out);
	if (!out->map)
		resolve_addr(r, thread, PERF_RECORD_MISC_KERNEL, addr, out);
}

static void find_place(struct resolver *r, const struct thread *thread, uint8_t cpumode,
		       uint64_t addr, struct location *out)
{
	out->addr = addr;
	out->map = resolver_find_map(r, thread, cpumode, addr);
	out->cpumode = cpumode;
}

size_t resolver_find_chain(struct resolver *r, const struct thread *thread,
			   const struct sample *sample, struct location *out, size_t max)
{
	uint8_t cpumode = PERF_RECORD_MISC_USER;
	size_t n = 0;

	if (max && sample_has_only_stack(sample)) {
		find_place(r, thread, sample->cpumode, sample->ip, &out[0]);
		return 1;
	}
	for (uint64_t i = 0; i < sample->chain.n && n < max; i++) {
		uint64_t ip = u64_array_at(&sample->chain, i);

		if (ip >= PERF_CONTEXT_MAX) {
			switch (ip) {
			case PERF_CONTEXT_HV:
				cpumode = PERF_RECORD_MISC_HYPERVISOR;
				break;
			case PERF_CONTEXT_KERNEL:
				cpumode = PERF_RECORD_MISC_KERNEL;
				break;
			case PERF_CONTEXT_USER:
				cpumode = PERF_RECORD_MISC_USER;
				break;
			default:
				return 0;
			}
			continue;
		}
		find_place(r, thread, cpumode, ip, &out[n++]);
	}
	return n;
}

size_t resolve_chain(struct resolver *r, const struct thread *thread, const struct sample *sample,
		     struct location *out, size_t max)
{
	const size_t n = resolver_find_chain(r, thread, sample, out, max);

	for (size_t i = 0; i < n; i++)
		resolve_addr_in(r, out[i].map, out[i].cpumode, out[i].addr, &out[i]);
	return n;
}
