// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which file a uprobe's binary means, and where in that file a function
 * stands: a uprobe belongs to a file and an offset in it, not to an address
 * (Documentation/trace/uprobetracer.rst).
 */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/attach/internal.h"
#include "lib/base/hash.h"
#include "lib/base/vec.h"

/* Debian's folder for libraries of this architecture; "" where it is not known. */
#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#elif defined(__riscv) && __riscv_xlen == 64
#define MULTIARCH "riscv64-linux-gnu"
#elif defined(__s390x__)
#define MULTIARCH "s390x-linux-gnu"
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MULTIARCH "powerpc64le-linux-gnu"
#else
#define MULTIARCH "."
#endif

#define LIBRARY_DIRS                                                                               \
	"/lib/" MULTIARCH ":/usr/lib/" MULTIARCH ":/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib"
#define PROGRAM_DIRS "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* The first regular file of that name in a colon-separated list of folders. */
static bool find_in(const char *dirs, const char *name, char **path)
{
	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");
		struct stat st;

		if (len) {
			char *candidate = text_format("%.*s/%s", (int)len, dirs, name);

			if (candidate && !stat(candidate, &st) && S_ISREG(st.st_mode)) {
				*path = candidate;
				return true;
			}
			free(candidate);
		}
		dirs += len + (dirs[len] == ':');
	}
	return false;
}

/* Folders that ld.so.conf's snippets add: lines with a path and nothing else. */
static bool find_in_ld_conf(const char *name, char **path)
{
	glob_t files = {0};
	bool found = false;

	if (glob("/etc/ld.so.conf.d/*.conf", 0, NULL, &files))
		return false;
	for (size_t i = 0; i < files.gl_pathc && !found; i++) {
		_cleanup_free_ char *text = NULL;
		_cleanup_error_ struct error *err =
			sys_read_file(files.gl_pathv[i], 65536, &text, NULL);

		if (err)
			continue;
		for (char *line = text; *line && !found; line += strspn(line, "\n")) {
			char *end = line + strcspn(line, "\n");
			bool more = *end;

			*end = 0;
			if (*line == '/' && !strchr(line, ':'))
				found = find_in(line, name, path);
			line = end + more;
		}
	}
	globfree(&files);
	return found;
}

struct error *binary_find(const char *name, char **path)
{
	bool library = strstr(name, ".so") != NULL;

	if (!*name)
		return error_hint(error_new(EINVAL, "no binary is named"),
				  "name it and the function: SEC(\"uprobe/libc.so.6:malloc\")");
	if (strchr(name, '/')) {
		struct stat st;

		if (stat(name, &st))
			return error_errno(errno, "cannot open %s", name);
		if (!S_ISREG(st.st_mode))
			return error_new(EINVAL, "%s is no file", name);
		*path = strdup(name);
		return *path ? NULL : error_nomem();
	}
	if (library) {
		if (find_in(secure_getenv("LD_LIBRARY_PATH"), name, path) ||
		    find_in(LIBRARY_DIRS, name, path) || find_in_ld_conf(name, path))
			return NULL;
		return error_hint(error_new(ENOENT, "no library %s in %s", name, LIBRARY_DIRS),
				  "write its path: 'ldd PROGRAM' shows which libraries a program "
				  "uses");
	}
	if (find_in(getenv("PATH"), name, path) || find_in(PROGRAM_DIRS, name, path))
		return NULL;
	return error_hint(error_new(ENOENT, "no program %s in PATH", name), "write its path");
}

/* What symbols, their versions and USDT probes stand in. */
static bool is_wanted(const struct elf_file *file, const struct elf_section *sec)
{
	(void)file;
	switch (sec->type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_STRTAB:
	case SHT_NOTE:
	case SHT_GNU_versym:
	case SHT_GNU_verdef:
	case SHT_GNU_verneed:
		return true;
	default:
		return false;
	}
}

struct error *binary_open(const char *path, struct elf_file **file)
{
	return pb_elf_file_open_parts(path, is_wanted, file);
}

/* "malloc" is "malloc@@GLIBC_2.2.5" too, as .symtab writes versions. */
static size_t base_length(const char *name)
{
	return strcspn(name, "@");
}

static const char *version_of(const char *name)
{
	const char *at = name + base_length(name);

	return *at ? at + strspn(at, "@") : NULL;
}

/* A function of either table, or NULL at the end of them. */
struct function_iter {
	const struct elf_file *files[2];
	const struct elf_section *tables[2]; /* NULL: there is none */
	size_t table, i;
	struct elf_symbol sym;
};

/* separate: of a stripped binary; NULL: it was not looked for. */
static struct error *functions_init(const struct elf_file *file,
				    const struct separate_symbols *separate,
				    struct function_iter *it)
{
	const struct elf_file *symbols = separate && separate->file ? separate->file : file;

	if (pb_elf_file_type(file) != ET_EXEC && pb_elf_file_type(file) != ET_DYN)
		return error_new(ENOEXEC, "%s is neither a program nor a library",
				 pb_elf_file_name(file));
	*it = (struct function_iter){
		.files = {symbols, file},
		.tables = {pb_elf_section_by_type(symbols, SHT_SYMTAB),
			   pb_elf_section_by_type(file, SHT_DYNSYM)},
	};
	return NULL;
}

/* Steps to the next function; *end: there is none. */
static struct error *functions_next(struct function_iter *it, bool *end)
{
	for (; it->table < ARRAY_SIZE(it->tables); it->table++, it->i = 0) {
		const struct elf_section *table = it->tables[it->table];
		const struct elf_file *file = it->files[it->table];
		const size_t n = table ? pb_elf_symbol_count(file, table) : 0;

		while (++it->i < n) {
			TRY(pb_elf_symbol_at(file, table, it->i, &it->sym));
			if ((it->sym.type == STT_FUNC || it->sym.type == STT_GNU_IFUNC) &&
			    it->sym.section != SHN_UNDEF && *it->sym.name) {
				*end = false;
				return NULL;
			}
		}
	}
	*end = true;
	return NULL;
}

static struct error *stripped(const struct function_iter *it, struct error *err)
{
	if (it->tables[0] || it->tables[1])
		return err;
	return error_hint(err, "all its symbols were stripped: use an offset in the file instead");
}

/* The version of the symbol that the iterator is at; NULL: none. */
static const char *iter_version(const struct function_iter *it)
{
	const char *version = version_of(it->sym.name);

	return version ? version
		       : pb_elf_symbol_version(it->files[it->table], it->tables[it->table], it->i);
}

static struct error *no_such_symbol(const struct elf_file *file,
				    const struct separate_symbols *separate, const char *symbol)
{
	struct error *err =
		error_new(ENOENT, "%s has no function %s", pb_elf_file_name(file), symbol);
	struct nearest near = nearest_make(symbol);
	_cleanup_strbuf_ struct strbuf versions = STRBUF_INIT;
	const size_t base = base_length(symbol);
	struct function_iter it;
	bool end = false;

	_cleanup_error_ struct error *unread = functions_init(file, separate, &it);
	if (!unread)
		err = stripped(&it, err);
	while (!unread && !(unread = functions_next(&it, &end)) && !end) {
		const char *version = iter_version(&it);

		if (version_of(symbol) && version && base_length(it.sym.name) == base &&
		    !strncmp(it.sym.name, symbol, base))
			strbuf_addf(&versions, "%s%s", versions.len ? ", " : "", version);
		nearest_offer(&near, it.sym.name);
	}
	if (versions.len && !strbuf_failed(&versions))
		return error_hint(err, "it calls that function of %s", strbuf_str(&versions));
	return error_hint(error_suggest(err, &near),
			  "it may be inlined or stripped: 'nm -D' and 'nm' list the symbols");
}

/*
 * The address of what this process calls by the name, if it is of this file: the resolver has
 * chosen it, by this CPU. 0: not known.
 */
static uint64_t resolved_here(const struct elf_file *file, const char *name)
{
	_cleanup_free_ char *base = strndup(name, base_length(name));
	void *address = base ? dlsym(RTLD_DEFAULT, base) : NULL;
	struct stat own, other;
	Dl_info info;

	if (!address || !dladdr(address, &info) || stat(info.dli_fname, &own) ||
	    stat(pb_elf_file_name(file), &other) || own.st_dev != other.st_dev ||
	    own.st_ino != other.st_ino)
		return 0;
	return (uint64_t)(uintptr_t)address - (uint64_t)(uintptr_t)info.dli_fbase;
}

/* "__memcpy_avx_unaligned" of "memcpy", as libraries and compilers name implementations. */
static bool is_implementation(const char *symbol, const char *name, size_t base)
{
	symbol += strspn(symbol, "_");
	return !strncmp(symbol, name, base) && (symbol[base] == '_' || symbol[base] == '.');
}

struct error *binary_implementations(const struct elf_file *file, const char *name,
				     struct strbuf *out)
{
	enum { MOST = 16 };
	_cleanup_separate_ struct separate_symbols separate = {0};
	const char *plain = name + strspn(name, "_");
	const uint64_t here = resolved_here(file, name);
	const size_t base = base_length(plain);
	_cleanup_names_ struct names seen = {0};
	struct function_iter it;
	bool end = false;

	TRY(separate_symbols_open(file, &separate));
	TRY(functions_init(file, &separate, &it));
	while (seen.n < MOST) {
		TRY(functions_next(&it, &end));
		if (end)
			break;
		const bool used = here && it.sym.value == here && it.sym.type == STT_FUNC;
		bool known = it.sym.type != STT_FUNC;

		if (!used && !is_implementation(it.sym.name, plain, base))
			continue;
		for (size_t i = 0; i < seen.n; i++)
			known |= !strcmp(seen.v[i], it.sym.name);
		if (known)
			continue;
		if (!names_add(&seen, it.sym.name))
			return error_nomem();
		strbuf_addf(out, "%s%s%s", out->len ? ", " : "", it.sym.name,
			    used ? " (which perf-bpf itself uses)" : "");
	}
	return strbuf_failed(out) ? error_nomem() : NULL;
}

/*
 * The symbol of an indirect function is that of its resolver, which returns the address of one of
 * the implementations when the program starts. Those who call the function never run it. Which one
 * it is, the CPU and the environment of each process (GLIBC_TUNABLES) decide: the user has to
 * choose.
 */
static struct error *indirect(const struct elf_file *file, const char *name)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;
	struct error *err =
		error_new(EOPNOTSUPP,
			  "%s of %s is an indirect function (IFUNC): its symbol is that of the "
			  "resolver, which runs only when the program starts",
			  name, pb_elf_file_name(file));
	_cleanup_error_ struct error *unread = binary_implementations(file, name, &names);

	if (!unread && names.len)
		return error_hint(err, "attach to an implementation: %s", strbuf_str(&names));
	return error_hint(err,
			  "attach to the implementation that this CPU uses; 'perf-bpf probe -x %s "
			  "-F \"*%.*s*\"' lists them",
			  pb_elf_file_name(file), (int)base_length(name), name);
}

struct error *binary_check_returns(const struct elf_file *file)
{
	static const char *const sections[] = {".go.buildinfo", ".note.go.buildid", ".gopclntab",
					       ".data.rel.ro.gopclntab"};

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (pb_elf_section_find(file, sections[i]))
			return error_hint(
				error_new(EOPNOTSUPP,
					  "%s is a Go program: a probe at the return of a function "
					  "would end it (\"unexpected return pc\")",
					  pb_elf_file_name(file)),
				"probe its return instructions: FUNCTION+OFFSET; 'objdump -d' "
				"shows the offsets");
	return NULL;
}

static struct error *offset_of(const struct elf_file *file, const struct elf_symbol *sym,
			       const char *name, uint64_t *offset)
{
	if (pb_elf_file_offset(file, sym->value, offset))
		return NULL;
	return error_new(EBADMSG, "%s: function %s: address %#llx is not in any loadable segment",
			 pb_elf_file_name(file), name, (unsigned long long)sym->value);
}

/*
 * A name that is looked for, and the best symbol of it so far. A version may
 * be part of it, after one @ or two: "memcpy@GLIBC_2.2.5".
 */
struct wanted_symbol {
	const char *name;
	const char *version;		 /* NULL: any */
	struct wanted_symbol *same_base; /* another version of the same name; NULL: no more */
	bool found, is_indirect;
	size_t table;
	struct elf_symbol best;
};

/* Of several, the first global one; .symtab's go before .dynsym's. */
static void offer(struct wanted_symbol *wanted, const struct function_iter *it)
{
	/* Also if an older version of it is a function: that is not what programs call. */
	wanted->is_indirect |= it->sym.type == STT_GNU_IFUNC;
	if (wanted->found && (wanted->table != it->table || wanted->best.bind != STB_LOCAL ||
			      it->sym.bind == STB_LOCAL))
		return;
	wanted->found = true;
	wanted->table = it->table;
	wanted->best = it->sym;
}

static bool is_of_version(const struct function_iter *it, const char *version)
{
	const char *got = iter_version(it);

	return got && !strcmp(got, version);
}

/* Offers a symbol to those that look for its name. */
static struct error *offer_to_all(const struct strmap *index, const struct function_iter *it)
{
	const char *name = it->sym.name;
	_cleanup_free_ char *base = NULL;

	if (name[base_length(name)]) {
		base = strndup(name, base_length(name));
		if (!base)
			return error_nomem();
		name = base;
	}
	for (struct wanted_symbol *one = strmap_get(index, name); one; one = one->same_base)
		if (!one->version || is_of_version(it, one->version))
			offer(one, it);
	return NULL;
}

static struct error *add_wanted(struct strmap *index, struct names *bases, const char *name,
				struct wanted_symbol *wanted)
{
	if (!names_add_n(bases, name, base_length(name)))
		return error_nomem();
	const char *base = bases->v[bases->n - 1];
	wanted->name = name;
	wanted->version = version_of(name);
	wanted->same_base = strmap_get(index, base);
	return strmap_put(index, base, wanted) ? NULL : error_nomem();
}

/* Offers all functions to those that are looked for; false in *all: some were not found. */
static struct error *search_functions(const struct elf_file *file,
				      const struct separate_symbols *separate,
				      const struct strmap *index,
				      const struct wanted_symbol *wanted, size_t n, bool *all)
{
	struct function_iter it;
	bool end = false;

	TRY(functions_init(file, separate, &it));
	for (;;) {
		TRY(functions_next(&it, &end));
		if (end)
			break;
		TRY(offer_to_all(index, &it));
	}
	*all = true;
	for (size_t i = 0; i < n; i++)
		*all = *all && wanted[i].found;
	return NULL;
}

struct error *binary_symbols_offsets(const struct elf_file *file, const char *const *names,
				     size_t n, uint64_t *offsets)
{
	_cleanup_(strmap_deinit) struct strmap index = {0};
	_cleanup_names_ struct names bases = {0}; /* what the index's keys are */
	_cleanup_free_ struct wanted_symbol *wanted = calloc(n + 1, sizeof(*wanted));
	_cleanup_separate_ struct separate_symbols separate = {0};
	bool all;

	if (!wanted)
		return error_nomem();
	for (size_t i = 0; i < n; i++) {
		if (!names[i] || !*names[i])
			return error_new(EINVAL, "name %zu of %zu is empty", i + 1, n);
		TRY(add_wanted(&index, &bases, names[i], &wanted[i]));
	}
	TRY(search_functions(file, NULL, &index, wanted, n, &all));
	if (!all) {
		TRY(separate_symbols_open(file, &separate));
		TRY(search_functions(file, &separate, &index, wanted, n, &all));
	}
	for (size_t i = 0; i < n; i++) {
		if (!wanted[i].found)
			return no_such_symbol(file, &separate, names[i]);
		if (wanted[i].is_indirect)
			return indirect(file, names[i]);
		TRY(offset_of(file, &wanted[i].best, names[i], &offsets[i]));
	}
	return NULL;
}

struct error *binary_symbol_offset(const struct elf_file *file, const char *symbol,
				   uint64_t *offset)
{
	uint64_t got;

	TRY(binary_symbols_offsets(file, &symbol, 1, &got));
	*offset = got;
	return NULL;
}

static int compare_offsets(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* As libbpf has it: '*' and '?' alone are special. NULL: no memory. */
static char *libbpf_pattern(const char *text)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	for (const char *s = text; *s; s++)
		strbuf_addf(&sb, "%s%c", strchr("[\\", *s) ? "\\" : "", *s);
	return strbuf_steal(&sb);
}

/* A name that may have '*' or '?' in it: Go's "main.(*Cart).Add". */
static struct error *match_name(const struct elf_file *file, const char *name, uint64_t **offsets,
				size_t *n)
{
	uint64_t *one = malloc(sizeof(*one));
	struct error *err = one ? binary_symbol_offset(file, name, one) : error_nomem();

	if (err) {
		free(one);
		return err;
	}
	*offsets = one;
	*n = 1;
	return NULL;
}

struct error *binary_symbols_match(const struct elf_file *file, const char *text,
				   uint64_t **offsets, size_t *n)
{
	_cleanup_free_ char *pattern = libbpf_pattern(text);
	VEC(uint64_t) found = {0};
	struct function_iter it;
	bool end = false;
	size_t kept = 1;

	if (!pattern)
		return error_nomem();
	struct error *none = match_name(file, text, offsets, n);
	if (!none || none->code != ENOENT || !strpbrk(text, "*?"))
		return none;
	error_free(none);
	_cleanup_separate_ struct separate_symbols separate = {0};
	TRY(separate_symbols_open(file, &separate));
	struct error *err = functions_init(file, &separate, &it);

	while (!err && !(err = functions_next(&it, &end)) && !end) {
		_cleanup_free_ char *name = strndup(it.sym.name, base_length(it.sym.name));
		uint64_t offset;

		if (!name) {
			err = error_nomem();
		} else if (it.sym.type == STT_FUNC && glob_match(pattern, name) &&
			   pb_elf_file_offset(file, it.sym.value, &offset)) {
			uint64_t *slot = vec_push(&found);

			if (slot)
				*slot = offset;
			else
				err = error_nomem();
		}
	}
	if (!err && !found.n)
		err = stripped(&it, error_new(ENOENT, "%s has no function that matches '%s'",
					      pb_elf_file_name(file), text));
	if (err) {
		vec_deinit(&found);
		return err;
	}
	/* A function of several names is one place. */
	qsort(found.v, found.n, sizeof(*found.v), compare_offsets);
	for (size_t i = 1; i < found.n; i++)
		if (found.v[i] != found.v[kept - 1])
			found.v[kept++] = found.v[i];
	*offsets = found.v;
	*n = kept;
	return NULL;
}
