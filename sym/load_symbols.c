// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which files have the symbols of a binary. A stripped binary's .symtab may
 * stand in a separate debug file; these places are tried, in perf's order
 * (tools/perf/util/symbol.c of Linux 6.1, binary_type_symtab):
 *
 *	what .gnu_debuglink names: beside the binary, in .debug/ beside it,
 *		under /usr/lib/debug
 *	/usr/lib/debug/PATH.debug (Fedora), /usr/lib/debug/PATH (Ubuntu)
 *	/usr/lib/debug/.build-id/xx/yyyy.debug
 *	the binary itself
 *	/usr/lib/debug/usr/PATH (Ubuntu), .debug/NAME beside it (OpenEmbedded)
 *	perf's cache: ~/.debug/.build-id/xx/yyyy/{elf,debug}, ~/.debug/PATH/xxyyyy/elf
 *
 * and at last the image in .gnu_debugdata of the binary itself.
 *
 * The first with a .symtab gives the symbols, the first with a .dynsym the
 * PLT and the segments. A file with another build-id than the recording has
 * is never used: wrong names are worse than none.
 *
 * Other than in perf, its cache is looked at last: whoever builds a file chooses
 * its build-id, so what the cache has of an id may be a file of somebody else.
 */
#include "sym/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/strbuf.h"

#define DEBUG_ROOT "/usr/lib/debug"

struct symbols_search {
	const struct sym_opts *opts;
	const char *path; /* as the recording has it */
	uint8_t id[20];
	size_t id_size;
	struct elf_source *syms, *runtime;
	char origin_syms, origin_runtime;
	struct error *stale; /* why a file that exists was refused */
	bool no_memory;	     /* a file may have been left out for that */
};

static void search_deinit(struct symbols_search *s)
{
	if (s->runtime != s->syms)
		pb_elf_source_free(s->runtime);
	pb_elf_source_free(s->syms);
	error_free(s->stale);
}

bool build_id_equal(const uint8_t *file, size_t n, const uint8_t *want, size_t n_want)
{
	static const uint8_t zeros[20];

	return n && n <= n_want && !memcmp(file, want, n) && !memcmp(want + n, zeros, n_want - n);
}

static void search_refuse(struct symbols_search *s, struct error *err)
{
	s->no_memory |= err->code == ENOMEM;
	if (s->stale)
		error_free(err);
	else
		s->stale = err;
}

/* Looks at one file; whether more are to be tried is seen by s->syms and s->runtime. */
static void search_try(struct symbols_search *s, char origin, const char *path)
{
	_cleanup_(pb_elf_source_freep) struct elf_source *es = NULL;
	struct error *err = pb_elf_source_open(path, &es);
	uint8_t id[20];

	if (err) {
		if (err->code == ENOENT || err->code == ENOTDIR)
			error_free(err);
		else
			search_refuse(s, err);
		return;
	}
	if (s->id_size) {
		errno = 0;
		size_t size = pb_elf_source_build_id(es, id);

		s->no_memory |= !size && errno == ENOMEM;
		if (!build_id_equal(id, size, s->id, s->id_size)) {
			search_refuse(
				s,
				error_at(error_new(ESTALE,
						   "has a different build-id than the recording"),
					 "%s", path));
			return;
		}
	}
	bool runs = pb_elf_source_has_dynsym(es);
	if (!s->syms && pb_elf_source_has_symtab(es)) {
		s->syms = es;
		s->origin_syms = origin;
		if (!s->runtime && runs)
			s->runtime = es;
		es = NULL;
	} else if (!s->runtime && runs) {
		s->runtime = steal_ptr(es);
		s->origin_runtime = origin;
	}
}

static bool search_done(const struct symbols_search *s)
{
	return s->syms && s->runtime;
}

static void search_tryf(struct symbols_search *s, char origin, const char *fmt, ...) _printf_(3, 4);
static void search_tryf(struct symbols_search *s, char origin, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	va_list ap;

	if (search_done(s))
		return;
	strbuf_adds(&path, s->opts->symfs ? s->opts->symfs : "");
	va_start(ap, fmt);
	strbuf_vaddf(&path, fmt, ap);
	va_end(ap);
	s->no_memory |= strbuf_failed(&path);
	if (!strbuf_failed(&path) && path.len < PATH_MAX)
		search_try(s, origin, strbuf_str(&path));
}

static void search_debuglink(struct symbols_search *s)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	_cleanup_(pb_elf_source_freep) struct elf_source *es = NULL;
	const char *slash = strrchr(s->path, '/');
	int dir = slash ? (int)(slash - s->path) : 0;

	strbuf_addf(&path, "%s%s", s->opts->symfs ? s->opts->symfs : "", s->path);
	struct error *err =
		strbuf_failed(&path) ? error_nomem() : pb_elf_source_open(strbuf_str(&path), &es);
	s->no_memory |= err && err->code == ENOMEM;
	error_free(err);
	errno = 0;
	const char *link = es ? pb_elf_source_debuglink(es) : NULL;
	s->no_memory |= !link && errno == ENOMEM;
	if (!link)
		return;
	search_tryf(s, 'l', "%.*s/%s", dir, s->path, link);
	search_tryf(s, 'l', "%.*s/.debug/%s", dir, s->path, link);
	search_tryf(s, 'l', DEBUG_ROOT "%.*s/%s", dir, s->path, link);
}

char *buildid_cache_dir(const char *configured)
{
	const char *given = secure_getenv("PERF_BUILDID_DIR");
	const char *home = secure_getenv("HOME");

	if (given && *given)
		return strdup(given);
	if (configured && strncmp(configured, "~/", 2))
		return strdup(configured);
	if (!home || !*home)
		return NULL;
	return text_format("%s/%s", home, configured ? configured + 2 : ".debug");
}

static void search_all(struct symbols_search *s)
{
	const char *slash = strrchr(s->path, '/'), *base = slash ? slash + 1 : s->path;
	errno = 0;
	_cleanup_free_ char *cache = buildid_cache_dir(s->opts->buildid_dir);
	char hex[41] = "";

	s->no_memory |= !cache && errno == ENOMEM;
	text_bytes(hex, s->id, s->id_size);
	search_debuglink(s);
	search_tryf(s, 'f', DEBUG_ROOT "%s.debug", s->path);
	search_tryf(s, 'u', DEBUG_ROOT "%s", s->path);
	if (s->id_size)
		search_tryf(s, 'b', DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2);
	search_tryf(s, 'd', "%s", s->path);
	search_tryf(s, 'x', DEBUG_ROOT "/usr%s", s->path);
	if (slash)
		search_tryf(s, 'o', "%.*s/.debug/%s", (int)(slash - s->path), s->path, base);
	if (s->id_size && cache && !s->opts->symfs) {
		search_tryf(s, 'B', "%s/.build-id/%.2s/%s/elf", cache, hex, hex + 2);
		search_tryf(s, 'D', "%s/.build-id/%.2s/%s/debug", cache, hex, hex + 2);
		search_tryf(s, 'B', "%s%s/%s/elf", cache, slash ? s->path : "/", hex);
	}
}

/* The names that a stripped binary has in itself. */
static void search_debugdata(struct symbols_search *s)
{
	struct elf_source *es = NULL;

	if (s->syms || !s->runtime)
		return;
	struct error *err = pb_elf_source_open_debugdata(s->runtime, &es);
	if (err) {
		s->no_memory |= err->code == ENOMEM;
		error_free(err);
		return;
	}
	s->syms = es;
	s->origin_syms = 'n';
}

static struct error *symtab_from(struct elf_source *syms, struct elf_source *runtime,
				 const struct sym_opts *opts, struct symtab **out)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();

	if (!st)
		return error_nomem();
	st->demangle = opts->demangle;
	st->demangler = opts->demangler;
	st->parameters = opts->parameters;
	TRY(pb_elf_source_read(syms, runtime, opts, st));
	if (!st->syms.n)
		return error_new(ENODATA, "it has no symbols");
	if (!symtab_finish(st))
		return error_nomem();
	*out = steal_ptr(st);
	return NULL;
}

struct error *symtab_load_elf(const char *path, const struct sym_opts *opts, struct symtab **out)
{
	_cleanup_(search_deinit) struct symbols_search s = {.opts = opts, .path = path};

	if (opts->build_id && opts->build_id_size) {
		s.id_size = min_of(opts->build_id_size, sizeof(s.id));
		memcpy(s.id, opts->build_id, s.id_size);
	} else {
		_cleanup_strbuf_ struct strbuf file = STRBUF_INIT;

		strbuf_addf(&file, "%s%s", opts->symfs ? opts->symfs : "", path);
		struct error *err = strbuf_failed(&file)
					    ? error_nomem()
					    : file_build_id(strbuf_str(&file), s.id, &s.id_size);
		s.no_memory = err && err->code == ENOMEM;
		error_free(err);
	}
	if (opts->space == SYM_FILE_OFFSET)
		search_all(&s);
	else
		search_tryf(&s, opts->space == SYM_ADDRESS ? 'v' : 'd', "%s", path);
	search_debugdata(&s);
	if (s.no_memory)
		return error_nomem();
	if (!s.syms && !s.runtime) {
		if (s.stale)
			return steal_ptr(s.stale);
		return error_at(error_new(ENOENT, "no file with its symbols was found"), "%s",
				path);
	}
	struct symtab *st;
	TRY(error_at(symtab_from(s.syms ? s.syms : s.runtime, s.runtime ? s.runtime : s.syms, opts,
				 &st),
		     "%s", path));
	st->origin = s.syms ? s.origin_syms : s.origin_runtime;
	const char *file = pb_elf_source_path(s.syms ? s.syms : s.runtime);
	st->file = symtab_strdup(st, file, strlen(file));
	if (!st->file) {
		symtab_free(st);
		return error_nomem();
	}
	*out = st;
	return NULL;
}

struct error *symtab_load_elf_mem(const void *image, size_t size, const struct sym_opts *opts,
				  struct symtab **out)
{
	_cleanup_(pb_elf_source_freep) struct elf_source *es = NULL, *excerpt = NULL;
	uint8_t id[20];

	TRY(pb_elf_source_open_mem(image, size, &es));
	if (opts->build_id && opts->build_id_size &&
	    !build_id_equal(id, pb_elf_source_build_id(es, id), opts->build_id,
			    min_of(opts->build_id_size, sizeof(id))))
		return error_new(ESTALE, "has a different build-id than the recording");
	if (!pb_elf_source_has_symtab(es))
		error_free(pb_elf_source_open_debugdata(es, &excerpt));
	return symtab_from(excerpt ? excerpt : es, es, opts, out);
}

struct error *symtab_load_vdso(const struct sym_opts *opts, struct symtab **out)
{
	const void *image;
	size_t size;

	if (!vdso_find(&image, &size))
		return error_new(ENOENT, "no vdso is mapped into this process");
	return error_at(symtab_load_elf_mem(image, size, opts, out), "[vdso]");
}
