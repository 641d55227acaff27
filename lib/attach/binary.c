// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which file a uprobe's binary means, and where in that file a function
 * stands: a uprobe belongs to a file and an offset in it, not to an address
 * (Documentation/trace/uprobetracer.rst).
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/attach/internal.h"

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
		if (find_in(getenv("LD_LIBRARY_PATH"), name, path) ||
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

struct symbol_search {
	const char *want;
	bool found;
	struct elf_symbol best;
	struct nearest near;
};

/* "malloc" is "malloc@@GLIBC_2.2.5" too, as .symtab writes versions. */
static bool same_symbol(const char *name, const char *want)
{
	size_t len = strlen(want);

	return !strncmp(name, want, len) && (!name[len] || name[len] == '@');
}

static struct error *search_table(const struct elf_file *file, const struct elf_section *table,
				  struct symbol_search *search)
{
	size_t n = elf_symbol_count(file, table);

	for (size_t i = 1; i < n; i++) {
		struct elf_symbol sym;

		TRY(elf_symbol_at(file, table, i, &sym));
		if ((sym.type != STT_FUNC && sym.type != STT_GNU_IFUNC) ||
		    sym.section == SHN_UNDEF || !*sym.name)
			continue;
		if (!same_symbol(sym.name, search->want)) {
			if (!search->found)
				nearest_offer(&search->near, sym.name);
			continue;
		}
		if (!search->found || (search->best.bind == STB_LOCAL && sym.bind != STB_LOCAL))
			search->best = sym;
		search->found = true;
	}
	return NULL;
}

struct error *binary_symbol_offset(const struct elf_file *file, const char *symbol,
				   uint64_t *offset)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	struct symbol_search search = {.want = symbol, .near = nearest_make(symbol)};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t tables = 0;

	if (elf_file_type(file) != ET_EXEC && elf_file_type(file) != ET_DYN)
		return error_new(ENOEXEC, "%s is neither a program nor a library",
				 elf_file_name(file));
	for (size_t i = 0; i < ARRAY_SIZE(types) && !search.found; i++) {
		const struct elf_section *table = elf_section_by_type(file, types[i]);

		if (!table)
			continue;
		tables++;
		TRY(search_table(file, table, &search));
	}
	if (!search.found) {
		struct error *err =
			error_new(ENOENT, "%s has no function %s", elf_file_name(file), symbol);
		if (!tables)
			return error_hint(err, "it is stripped of all symbols: name an offset in "
					       "the file instead");
		if (nearest_text(&search.near, &sb) && !strbuf_failed(&sb))
			return error_hint(err, "did you mean %s?", strbuf_str(&sb));
		return error_hint(err, "it may be inlined, or stripped: 'nm -D' and 'nm' list the "
				       "symbols");
	}
	if (!elf_file_offset(file, search.best.value, offset))
		return error_new(EBADMSG, "%s: function %s stands at %#llx, which no segment holds",
				 elf_file_name(file), symbol,
				 (unsigned long long)search.best.value);
	return NULL;
}
