// SPDX-License-Identifier: BSD-2-Clause
/*
 * The functions of a user's binary, by its symbol tables: .symtab, or what a
 * separate debug file has in its place, .dynsym, and the PLT's stubs
 * ("malloc@plt"). A name of the definition is compared with the symbol's name,
 * with the name without its version ("memcpy@GLIBC_2.14" is both), and with
 * what a C++ or Rust name is demangled to, without parameters.
 *
 * Demangling is dear, so only those names are that hold the last word of the
 * wanted one: a mangled name spells each part of the path.
 */
#include "probe/point/internal.h"

#include <elf.h>

#include "lib/attach/attach.h"

struct found_function {
	const char *name;
	const char *version; /* NULL: none */
	uint64_t address, size;
	uint8_t bind, type;
};

struct user {
	char *path;
	struct elf_file *file;
	struct elf_file *debug;	 /* the file with debug information; NULL: it was not needed */
	struct symtab *separate; /* of a debug file; NULL: none was needed */
	VEC(struct found_function) entries; /* functions, then all else, as the tables have them */
	VEC(char *) owned;
	bool has_symtab;
};

void user_free(struct user *user)
{
	char **text;

	if (!user)
		return;
	free(user->path);
	pb_elf_file_free(user->file);
	pb_elf_file_free(user->debug);
	symtab_free(user->separate);
	vec_deinit(&user->entries);
	vec_for_each (text, &user->owned)
		free(*text);
	vec_deinit(&user->owned);
	free(user);
}

const char *user_path(const struct user *user)
{
	return user->path;
}

uint16_t user_machine(const struct user *user)
{
	return pb_elf_file_machine(user->file);
}

bool user_has_symtab(const struct user *user)
{
	return user->has_symtab;
}

static const char *own(struct user *user, char *text)
{
	char **slot = text ? vec_push(&user->owned) : NULL;

	if (!slot) {
		free(text);
		return NULL;
	}
	return *slot = text;
}

static struct error *read_table(struct user *user, const struct elf_file *file,
				const struct elf_section *table)
{
	const size_t n = table ? pb_elf_symbol_count(file, table) : 0;

	for (size_t i = 1; i < n; i++) {
		struct elf_symbol sym;

		TRY(pb_elf_symbol_at(file, table, i, &sym));
		if (sym.section == SHN_UNDEF || !*sym.name || sym.type == STT_SECTION ||
		    sym.type == STT_FILE || sym.type == STT_TLS)
			continue;
		struct found_function *entry = vec_push(&user->entries);
		if (!entry)
			return error_nomem();
		*entry = (struct found_function){
			.name = sym.name,
			.version = pb_elf_symbol_version(file, table, i),
			.address = sym.value,
			.size = sym.size,
			.bind = sym.bind,
			.type = sym.type,
		};
		/* .symtab has the version in the name. */
		const char *at = strchr(sym.name, '@');
		if (at && at > sym.name) {
			entry->version = at + strspn(at, "@");
			entry->name = own(user, strndup(sym.name, (size_t)(at - sym.name)));
			if (!entry->name)
				return error_nomem();
		}
	}
	return NULL;
}

/* The symbols of a separate debug file, and those that no table has: the PLT's. */
static struct error *read_separate(struct user *user, const struct finder_opts *opts)
{
	const struct sym_opts sym_opts = {
		.sz = sizeof(sym_opts), .symfs = opts->symfs, .space = SYM_FILE_OFFSET};
	const size_t before = user->entries.n;
	struct error *err = symtab_load_elf(user->path, &sym_opts, &user->separate);

	if (err) {
		log_debug(opts->log, "%s", err->msg);
		error_free(err);
		return NULL;
	}
	const size_t n = symtab_size(user->separate);
	size_t locals = 0;
	for (size_t i = 0; i < n; i++) {
		const struct symbol *sym = symtab_at(user->separate, i);
		const size_t len = strlen(sym->name);
		const bool plt = len > 4 && str_equal(sym->name + len - 4, "@plt");

		if (user->has_symtab && !plt)
			continue;
		struct found_function *entry = vec_push(&user->entries);
		if (!entry)
			return error_nomem();
		*entry = (struct found_function){
			.name = sym->name,
			.address = symtab_offset_to_addr(user->separate, sym->start),
			.size = sym->guessed ? 0 : sym->end - sym->start,
			.bind = sym->binding,
			.type = plt ? STT_FUNC : sym->type,
		};
		locals += sym->binding == STB_LOCAL && sym->type == STT_FUNC && !plt;
	}
	user->has_symtab |= user->entries.n > before && locals;
	return NULL;
}

static bool is_symbols(const struct elf_file *file, const struct elf_section *sec)
{
	(void)file;
	return sec->type == SHT_SYMTAB || sec->type == SHT_STRTAB;
}

struct error *user_read_debug(struct user *user, const char *path)
{
	if (user->debug || pb_elf_section_by_type(user->file, SHT_SYMTAB))
		return NULL;
	TRY(pb_elf_file_open_parts(path, is_symbols, &user->debug));
	const struct elf_section *table = pb_elf_section_by_type(user->debug, SHT_SYMTAB);
	user->has_symtab |= table != NULL;
	return read_table(user, user->debug, table);
}

struct error *user_open(const char *name, const struct finder_opts *opts, struct user **out)
{
	_cleanup_(user_freep) struct user *user = calloc(1, sizeof(*user));
	_cleanup_free_ char *full = NULL;

	if (!user)
		return error_nomem();
	TRY(binary_find(name, &user->path));
	full = text_format("%s%s", opts->symfs ? opts->symfs : "", user->path);
	if (!full)
		return error_nomem();
	TRY(binary_open(full, &user->file));
	if (pb_elf_file_type(user->file) != ET_EXEC && pb_elf_file_type(user->file) != ET_DYN)
		return error_new(ENOEXEC, "%s is neither a program nor a library", user->path);
	if (!regs_of(pb_elf_file_machine(user->file)))
		return error_new(EOPNOTSUPP,
				 "%s is for an unsupported architecture (ELF machine %u)",
				 user->path, pb_elf_file_machine(user->file));
	const struct elf_section *symtab = pb_elf_section_by_type(user->file, SHT_SYMTAB);
	user->has_symtab = symtab;
	TRY(read_table(user, user->file, symtab));
	TRY(read_table(user, user->file, pb_elf_section_by_type(user->file, SHT_DYNSYM)));
	TRY(read_separate(user, opts));
	*out = steal_ptr(user);
	return NULL;
}

bool user_file_offset(const struct user *user, uint64_t address, uint64_t *offset)
{
	return pb_elf_file_offset(user->file, address, offset);
}

const char *user_no_code(const struct user *user, uint64_t address)
{
	struct elf_segment segment;

	if (!pb_elf_segment_at(user->file, address, &segment))
		return NULL;
	if (address - segment.addr >= segment.in_file)
		return "the file does not contain the code, only debug information for it: probe "
		       "the program or library itself";
	/* valid_vma(), kernel/events/uprobes.c. */
	if (segment.flags & PF_W)
		return "the code is in a writable segment, where the kernel places no uprobes";
	return NULL;
}

bool user_symbol(struct user *user, const char *name, uint64_t *address)
{
	const struct found_function *entry, *best = NULL;

	vec_for_each (entry, &user->entries)
		if (str_equal(entry->name, name) &&
		    (!best || (best->bind == STB_LOCAL && entry->bind != STB_LOCAL)))
			best = entry;
	if (best)
		*address = best->address;
	return best;
}

struct error *user_check_returns(const struct user *user)
{
	return binary_check_returns(user->file);
}

static bool is_function(const struct found_function *entry)
{
	return entry->type == STT_FUNC;
}

bool user_is_indirect(const struct user *user, const char *name)
{
	const struct found_function *entry;

	vec_for_each (entry, &user->entries)
		if (entry->type == STT_GNU_IFUNC && str_equal(entry->name, name))
			return true;
	return false;
}

struct error *user_implementations(const struct user *user, const char *name, struct strbuf *out)
{
	return binary_implementations(user->file, name, out);
}

/*
 * The longest run of letters in the last part of a path or pattern: "order" of
 * "Shop::ord*der". None of an operator, which is spelled otherwise; a template's arguments may be
 * mangled as references to what came before.
 */
static void key_of(const char *name, char *key, size_t size)
{
	const char *last = name;
	size_t best = 0, depth = 0;

	for (const char *s = name; *s; s++) {
		depth += *s == '<' || *s == '(';
		depth -= depth && (*s == '>' || *s == ')');
		if (!depth && s[0] == ':' && s[1] == ':')
			last = s + 2;
	}
	key[0] = 0;
	if (strstr(name, "operator"))
		return;
	for (const char *s = last; *s && *s != '<' && *s != '('; s++) {
		size_t n = 0;

		while (s[n] && (strchr("_$", s[n]) || (s[n] >= '0' && s[n] <= '9') ||
				((s[n] | 32) >= 'a' && (s[n] | 32) <= 'z')))
			n++;
		if (n > best && n < size) {
			best = n;
			memcpy(key, s, n);
			key[n] = 0;
		}
		if (n)
			s += n - 1;
	}
}

static bool may_be_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/*
 * A demangled name without its scopes' outer parts fits too: "Cart::add" is
 * "shop::Cart::add"; "add" alone is not, unless it is a pattern.
 */
static bool fits_path(const char *wanted, const char *demangled, bool is_glob)
{
	for (const char *s = demangled; s;) {
		if (is_glob ? glob_match(wanted, s) : str_equal(wanted, s))
			return s == demangled || strstr(wanted, "::");
		s = strstr(s, "::"); /* at s itself, where a name begins with it */
		if (s)
			s += 2;
	}
	return false;
}

/* Whether a name ends with a list of parameters: "Shop::order(int)", not "operator()". */
static bool has_parameters(const char *name)
{
	static const char call[] = "operator()";
	const char *open = strrchr(name, '(');

	if (!open || open == name || !strchr(open, ')'))
		return false;
	const size_t head = (size_t)(open - name), len = sizeof(call) - 3;
	return strcmp(open, "()") || head < len || strncmp(open - len, call, len);
}

/* "Shop::order(int)" is "Shop::order(int) const", too. */
static bool fits_overload(const char *wanted, const char *name)
{
	_cleanup_free_ char *full = symbol_demangle(NULL, name, true);
	char *end = full ? strrchr(full, ')') : NULL;

	if (end && !str_equal(wanted, full))
		end[1] = 0;
	for (const char *s = full; s;) {
		if (str_equal(wanted, s))
			return true;
		s = strstr(s, "::");
		s = s ? s + 2 : NULL;
	}
	return false;
}

struct wanted_function {
	char *name; /* without its version */
	const char *version;
	bool is_glob;
	bool overload; /* a list of parameters says which one */
	char key[128];
};

static bool fits(struct user *user, const struct wanted_function *w,
		 const struct found_function *entry, const char **shown)
{
	*shown = NULL;
	if (w->version && (!entry->version || !str_equal(w->version, entry->version)))
		return false;
	const bool mangled = may_be_mangled(entry->name);
	const bool plain =
		w->is_glob ? glob_match(w->name, entry->name) : str_equal(w->name, entry->name);
	if (!plain && (!mangled || !strstr(entry->name, w->key)))
		return false;
	if (!mangled)
		return plain;
	char *demangled = symbol_demangle(NULL, entry->name, false);
	if (!demangled)
		return plain;
	if (!plain && !fits_path(w->name, demangled, w->is_glob) &&
	    !(w->overload && fits_overload(w->name, entry->name))) {
		free(demangled);
		return false;
	}
	*shown = own(user, demangled);
	return true;
}

static int compare_funcs(const void *a, const void *b)
{
	const struct user_func *x = a, *y = b;

	return function_order(x->address, x->name, y->address, y->name);
}

struct error *user_functions(struct user *user, const char *name, bool is_glob,
			     struct user_funcs *funcs)
{
	struct wanted_function w = {.is_glob = is_glob};
	const struct found_function *entry;
	/* "malloc@plt" is no version. */
	const char *at = strchr(name, '@');

	if (at && at > name && !str_equal(at, "@plt"))
		w.version = at + strspn(at, "@");
	_cleanup_free_ char *base = strndup(name, w.version ? (size_t)(at - name) : strlen(name));
	if (!base)
		return error_nomem();
	/* One that is chosen at run time: an older version is not what programs call. */
	if (!is_glob && !w.version && user_is_indirect(user, base))
		return NULL;
	w.name = base;
	w.overload = has_parameters(base);
	key_of(base, w.key, sizeof(w.key));
	vec_for_each (entry, &user->entries) {
		const char *shown;
		uint64_t offset;

		if (!is_function(entry) || !fits(user, &w, entry, &shown))
			continue;
		/* A pattern is not meant for pieces, nor for stubs. */
		if (is_glob && (strstr(entry->name, ".cold") || strstr(entry->name, ".part.") ||
				(strstr(entry->name, "@plt") && !strstr(name, "@plt"))))
			continue;
		if (!pb_elf_file_offset(user->file, entry->address, &offset))
			continue;
		struct user_func *func = vec_push(&funcs->v);
		if (!func)
			return error_nomem();
		*func = (struct user_func){
			.name = entry->name,
			.shown = shown,
			.address = entry->address,
			.size = entry->size,
			.file_offset = offset,
		};
	}
	if (!funcs->v.n)
		return NULL;
	qsort(funcs->v.v, funcs->v.n, sizeof(*funcs->v.v), compare_funcs);
	size_t kept = 1;
	for (size_t i = 1; i < funcs->v.n; i++)
		if (funcs->v.v[i].address != funcs->v.v[kept - 1].address)
			funcs->v.v[kept++] = funcs->v.v[i];
	funcs->v.n = kept;
	return NULL;
}

bool user_function_at(const struct user *user, uint64_t address, struct user_func *func)
{
	const struct found_function *entry, *best = NULL;
	uint64_t offset;

	vec_for_each (entry, &user->entries)
		if (is_function(entry) &&
		    address - entry->address < max_of(entry->size, (uint64_t)1) &&
		    (!best || (best->bind == STB_LOCAL && entry->bind != STB_LOCAL)))
			best = entry;
	if (!best || !pb_elf_file_offset(user->file, best->address, &offset))
		return false;
	*func = (struct user_func){
		.name = best->name,
		.address = best->address,
		.size = best->size,
		.file_offset = offset,
	};
	return true;
}

const char *user_name_at(const struct user *user, uint64_t address, size_t i)
{
	const struct found_function *entry;

	vec_for_each (entry, &user->entries)
		if (entry->address == address && is_function(entry) && !i--)
			return entry->name;
	return NULL;
}

static size_t count_scopes(const char *name)
{
	size_t n = 0;

	for (; (name = strstr(name, "::")); name += 2)
		n++;
	return n;
}

/* As many of the last parts of a path as the wanted one has. */
static const char *last_parts(const char *name, size_t scopes)
{
	for (size_t n = count_scopes(name); n > scopes; n--)
		name = strstr(name, "::") + 2;
	return name;
}

bool user_near(struct user *user, const char *name, struct strbuf *out)
{
	struct nearest near = nearest_make(name);
	const size_t scopes = count_scopes(name);
	const bool overload = has_parameters(name);
	const struct found_function *entry;

	vec_for_each (entry, &user->entries) {
		char *demangled;

		if (!is_function(entry))
			continue;
		if (!scopes)
			nearest_offer(&near, entry->name);
		if ((!scopes && !overload) || !may_be_mangled(entry->name))
			continue;
		demangled = overload ? symbol_demangle(NULL, entry->name, true)
				     : symbol_demangle(NULL, entry->name, false);
		if (!demangled)
			continue;
		const char *kept = own(user, demangled);
		if (kept)
			nearest_offer_as(&near, last_parts(kept, scopes), kept);
	}
	return nearest_text(&near, out);
}
