// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's symbols are those of the kernel that was recorded, or none.
 * Where the recording has its build-id, /proc/kallsyms is used when
 * /sys/kernel/notes has the same, and else what perf keeps under ~/.debug.
 * Without a build-id, what this host has of the kernel (kallsyms, modules, the
 * vdso) is used if the header of the recording has the release and the architecture
 * of this host. A recording without a header, from a pipe, counts as one of this
 * host, as in perf. An
 * older recording of the same kernel may come from another boot with the
 * kernel elsewhere (KASLR): the recorded address of _text (the pgoff of the
 * kernel's map) against the one in kallsyms says by how much.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "perf/resolve/internal.h"

static bool host_has_build_id(const struct dso *dso)
{
	uint8_t id[20];
	size_t size = 0;

	error_free(notes_build_id("/sys/kernel/notes", id, &size));
	return size && size == dso->build_id_size && !memcmp(id, dso->build_id, size);
}

/* Says once why kernel addresses get no names. */
static void warn_kernel(struct resolver *r, const struct error *err)
{
	r->no_memory |= err->code == ENOMEM;
	if (r->kallsyms_warned)
		return;
	r->kallsyms_warned = true;
	log_warn(r->opts.log, "kernel addresses are shown without symbols: %s%s%s%s%s%s",
		 err->where ? err->where : "", err->where ? ": " : "", err->msg,
		 err->hint ? " (" : "", err->hint ? err->hint : "", err->hint ? ")" : "");
}

static bool is_other(const char *recorded, const char *here)
{
	return recorded && *recorded && strcmp(recorded, here) != 0;
}

/* Whether the header names another kernel than the one that runs here. */
static bool header_is_of_other_host(const struct resolver *r, struct utsname *host)
{
	const struct data_header *header = session_header(r->session);

	return !uname(host) && header &&
	       (is_other(header->osrelease, host->release) ||
		is_other(header->arch, host->machine));
}

bool resolver_is_of_this_host(struct resolver *r)
{
	const struct map *kernel = session_kernel_map(r->session);
	struct utsname host;

	if (r->opts.kernel_runs)
		return true;
	if (kernel && kernel->dso->build_id_size)
		return host_has_build_id(kernel->dso);
	return !header_is_of_other_host(r, &host);
}

void resolver_warn_of_other_host(struct resolver *r)
{
	const struct data_header *header = session_header(r->session);
	struct utsname host;

	if (r->kallsyms_warned || (r->opts.symfs && *r->opts.symfs))
		return;
	struct error *err =
		header_is_of_other_host(r, &host)
			? error_new(ENOENT,
				    "the recording is of Linux %s (%s), this host runs %s (%s)",
				    header->osrelease ? header->osrelease : "",
				    header->arch ? header->arch : "unknown architecture",
				    host.release, host.machine)
			: error_new(ENOENT, "the build-id of the recorded kernel is not that of "
					    "this host");
	err = error_hint(err, "give the files of that host with --kallsyms, --vmlinux or --symfs");
	warn_kernel(r, err);
	error_free(err);
}

/* The kallsyms of the recording's kernel; NULL: none. */
static const struct kallsyms *load_kallsyms(struct resolver *r, const struct dso *kernel)
{
	if (r->kallsyms_tried)
		return r->kallsyms;
	r->kallsyms_tried = true;

	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	_cleanup_error_ struct error *err = NULL;

	if (r->opts.kallsyms) {
		strbuf_adds(&path, r->opts.kallsyms);
	} else if (r->opts.symfs && *r->opts.symfs) {
		return NULL;
	} else if (kernel->build_id_size ? host_has_build_id(kernel)
					 : resolver_is_of_this_host(r)) {
		strbuf_adds(&path, "/proc/kallsyms");
	} else if (!kernel->build_id_size) {
		resolver_warn_of_other_host(r);
		return NULL;
	} else {
		_cleanup_free_ char *cache = buildid_cache_dir(r->opts.buildid_dir);
		char hex[41];

		resolver_build_id_text(kernel, hex);
		strbuf_addf(&path, "%s/.build-id/%.2s/%s/kallsyms", cache ? cache : "", hex,
			    hex + 2);
		if (resolver_is_whole(r, &path) && access(strbuf_str(&path), R_OK)) {
			err = error_hint(error_new(ENOENT,
						   "found no kallsyms or vmlinux with build-id %s",
						   hex),
					 "give the file of the recorded kernel with --kallsyms or "
					 "--vmlinux");
			warn_kernel(r, err);
			return NULL;
		}
	}
	if (!resolver_is_whole(r, &path))
		return NULL;
	err = kallsyms_load(strbuf_str(&path), &r->kallsyms);
	if (err)
		warn_kernel(r, err);
	else
		log_debug(r->opts.log, "using %s for kernel symbols", strbuf_str(&path));
	return r->kallsyms;
}

/*
 * How far kallsyms is moved against the recording. The pgoff of the kernel's
 * map is the address of _text (or _stext) as recorded.
 */
static uint64_t kernel_delta(const struct kallsyms *k, const struct map *map)
{
	uint64_t text, stext;

	if (!map->pgoff || !kallsyms_address(k, "_text", &text) ||
	    !kallsyms_address(k, "_stext", &stext) || stext == map->pgoff)
		return 0;
	return text - map->pgoff;
}

static struct error *load_vmlinux(struct resolver *r, const struct map *map, const char *path,
				  struct dso_syms *ds, struct symtab **out)
{
	const struct dso *dso = map->dso;
	struct sym_opts opts = {
		.sz = sizeof(opts),
		.build_id = dso->build_id_size ? dso->build_id : NULL,
		.build_id_size = dso->build_id_size,
		.symfs = path[0] == '/' ? NULL : r->opts.symfs,
		.space = SYM_ADDRESS,
	};
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	const char *bracket = strrchr(dso->path, ']');

	TRY(symtab_load_elf(path, &opts, &st));
	const struct symbol *ref =
		symtab_find_name(st, bracket && bracket[1] ? bracket + 1 : "_text");
	if (!ref)
		ref = symtab_find_name(st, "_stext");
	if (ref && map->pgoff && ref->start != map->pgoff) {
		opts.base = map->pgoff - ref->start;
		symtab_free(steal_ptr(st));
		TRY(symtab_load_elf(path, &opts, &st));
	}
	log_debug(r->opts.log, "using %s for kernel symbols", path);
	ds->image_base = opts.base;
	resolver_open_lines(r, dso, path, opts.symfs, ds);
	*out = steal_ptr(st);
	return NULL;
}

/* The places where a vmlinux is kept; only one with the recording's build-id will do. */
static struct symtab *find_vmlinux(struct resolver *r, const struct map *map, struct dso_syms *ds)
{
	static const char *const places[] = {
		"vmlinux",
		"/boot/vmlinux",
		"/boot/vmlinux-%s",
		"/usr/lib/debug/boot/vmlinux-%s",
		"/lib/modules/%s/build/vmlinux",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/usr/lib/debug/boot/vmlinux-%s.debug",
	};
	struct symtab *st = NULL;
	struct utsname host;

	if (!map->dso->build_id_size || uname(&host))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(places) && !st; i++) {
		const char *percent = strchr(places[i], '%');
		_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

		strbuf_adds(&path, places[i]);
		if (percent) {
			path.len = (size_t)(percent - places[i]);
			strbuf_adds(&path, host.release);
			strbuf_adds(&path, percent + 2);
		}
		if (resolver_is_whole(r, &path) && !access(strbuf_str(&path), R_OK))
			resolver_note(r, load_vmlinux(r, map, strbuf_str(&path), ds, &st));
	}
	return st;
}

struct symtab *resolver_load_kernel(struct resolver *r, const struct map *map, struct dso_syms *ds)
{
	struct symtab *st = NULL;
	struct error *err = NULL;

	if (r->opts.vmlinux && !r->opts.kallsyms) {
		err = load_vmlinux(r, map, r->opts.vmlinux, ds, &st);
	} else {
		if (!r->opts.kallsyms && !r->opts.ignore_vmlinux)
			st = find_vmlinux(r, map, ds);
		const struct kallsyms *k = st ? NULL : load_kallsyms(r, map->dso);
		if (k) {
			ds->moved = kernel_delta(k, map);
			err = kallsyms_symtab(k, NULL, ds->moved, &st);
			ds->runs = r->opts.code_is_recorded ||
				   (!r->opts.kallsyms &&
				    (r->opts.kernel_runs || host_has_build_id(map->dso)));
		}
	}
	if (err)
		warn_kernel(r, err);
	error_free(err);
	return st;
}

/* "[ext4]" or "/lib/modules/…/ext4.ko.xz" → "ext4", with - as _ as the kernel has it. */
static char *module_name(const struct dso *dso)
{
	const char *name = dso->short_name;
	char *copy;

	if (name[0] == '[') {
		copy = strndup(name + 1, strcspn(name + 1, "]"));
	} else {
		const char *slash = strrchr(name, '/');

		name = slash ? slash + 1 : name;
		copy = strndup(name, strcspn(name, "."));
	}
	for (char *p = copy; p && *p; p++)
		if (*p == '-')
			*p = '_';
	return copy;
}

struct symtab *resolver_load_module(struct resolver *r, const struct map *map, struct dso_syms *ds)
{
	_cleanup_free_ char *name = module_name(map->dso);
	struct symtab *st = NULL;
	struct dso host = {0};
	uint8_t id[20];
	size_t size = 0;

	r->no_memory |= !name;
	if (!name)
		return NULL;
	/* A module's kernel is the running one when sysfs knows the same build-id. */
	if (map->dso->build_id_size) {
		_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

		strbuf_addf(&path, "/sys/module/%s/notes/.note.gnu.build-id", name);
		if (resolver_is_whole(r, &path))
			resolver_note(r, notes_build_id(strbuf_str(&path), id, &size));
	}
	memcpy(host.build_id, map->dso->build_id, sizeof(host.build_id));
	const bool has_id = map->dso->build_id_size, here = has_id || resolver_is_of_this_host(r);
	bool running =
		has_id ? size == map->dso->build_id_size && !memcmp(id, map->dso->build_id, size)
		       : here;
	if (running || r->opts.kallsyms) {
		const struct kallsyms *k = load_kallsyms(r, &host);

		if (k)
			resolver_note(r, kallsyms_symtab(k, name, 0, &st));
		ds->runs = st && (r->opts.code_is_recorded ||
				  (running && (size || r->opts.kernel_runs) && !r->opts.kallsyms));
	}
	if (!here)
		resolver_warn_of_other_host(r);
	/* Without a build-id, a path is that of the recorded host. */
	if (!st && map->dso->path[0] == '/' && (here || (r->opts.symfs && *r->opts.symfs))) {
		struct sym_opts opts = {
			.sz = sizeof(opts),
			.build_id = map->dso->build_id_size ? map->dso->build_id : NULL,
			.build_id_size = map->dso->build_id_size,
			.symfs = r->opts.symfs,
			.demangle = false,
			.space = SYM_TEXT_RELATIVE,
			.base = map->start,
		};
		resolver_note(r, symtab_load_elf(map->dso->path, &opts, &st));
		_cleanup_free_ char *cache = buildid_cache_dir(r->opts.buildid_dir);
		if (!st && cache && opts.build_id && !opts.symfs) {
			_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
			char hex[41];

			resolver_build_id_text(map->dso, hex);
			strbuf_addf(&path, "%s/.build-id/%.2s/%s/elf", cache, hex, hex + 2);
			if (resolver_is_whole(r, &path))
				resolver_note(r, symtab_load_elf(strbuf_str(&path), &opts, &st));
		}
	}
	return st;
}

const struct symbol *resolver_find_trampoline(struct resolver *r, uint64_t addr)
{
	const struct map *kernel = r->trampolines_tried ? NULL : session_kernel_map(r->session);
	const struct dso none = {.kind = DSO_KERNEL}, *dso = kernel ? kernel->dso : &none;

	/* What other kernels had there, kallsyms of this one does not know. */
	if (!r->trampolines_tried &&
	    (dso->build_id_size && !r->opts.kernel_runs ? host_has_build_id(dso)
							: resolver_is_of_this_host(r))) {
		const struct kallsyms *k = load_kallsyms(r, dso);

		if (k)
			error_free(kallsyms_symtab(k, "bpf", 0, &r->trampolines));
	}
	r->trampolines_tried = true;
	return r->trampolines ? symtab_find(r->trampolines, addr) : NULL;
}
