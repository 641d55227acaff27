// SPDX-License-Identifier: BSD-2-Clause
/*
 * kallsyms: a line per symbol, "ADDRESS TYPE NAME", then a tab and "[MODULE]"
 * for what is not of the kernel proper (kernel/kallsyms.c, s_show()). Kernel
 * symbols come by address, modules after them, BPF programs and trampolines
 * last, as pseudo modules ("[bpf]", "[__builtin__ftrace]").
 *
 * There are no lengths: a symbol reaches to the next one. At the border of
 * kernel and modules the gap may be gigabytes; there it ends with the page
 * after, as in perf (symbols__fixup_end). Of several symbols at one address
 * that rule gives a length to the last one alone, so perf keeps the last, and
 * so does this file; the general rules for aliases have no say here.
 *
 * Reading is bound by the kernel that prints the lines; the parser copies each
 * name once and looks at each byte twice. Text that is no kallsyms is skipped
 * line by line and never an error.
 */
#include "lib/sys/missing_caps.h"
#include "sym/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cursor.h"

/* Where a line's name stands, and what it belongs to. */
struct ksym {
	uint64_t addr;
	uint32_t name;	 /* in names */
	uint16_t module; /* in modules; 0: the kernel */
	uint8_t type;	 /* the letter */
};

struct kallsyms {
	VEC(struct ksym) syms;
	VEC(char *) modules; /* [0] is NULL */
	char *names;
	size_t names_len, names_cap;
	uint32_t last_module;
	bool hidden; /* all addresses were 0 */
};

#define NAME_MAX_LEN	  4096
#define MODULES_MAX	  65535
#define READ_CHUNK	  (256 * 1024)
#define KALLSYMS_MAX_SIZE (1u << 30)

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	char **module;

	vec_for_each (module, &k->modules)
		free(*module);
	vec_deinit(&k->modules);
	vec_deinit(&k->syms);
	free(k->names);
	free(k);
}

/* The number of a module's name without brackets; -1: no memory or too many. */
static int kallsyms_module(struct kallsyms *k, const char *name, size_t len)
{
	if (k->last_module && strlen(k->modules.v[k->last_module]) == len &&
	    !memcmp(k->modules.v[k->last_module], name, len))
		return (int)k->last_module;
	for (size_t i = 1; i < k->modules.n; i++)
		if (strlen(k->modules.v[i]) == len && !memcmp(k->modules.v[i], name, len))
			return (int)(k->last_module = (uint32_t)i);
	char **slot = k->modules.n < MODULES_MAX ? vec_push(&k->modules) : NULL;
	if (!slot)
		return -1;
	*slot = strndup(name, len);
	if (!*slot) {
		k->modules.n--;
		return -1;
	}
	return (int)(k->last_module = (uint32_t)k->modules.n - 1);
}

/* Functions, and the data that perf's filter lets through. */
static bool type_is_wanted(char type)
{
	type &= ~0x20;
	return type == 'T' || type == 'W' || type == 'D' || type == 'B';
}

static struct error *kallsyms_line(struct kallsyms *k, const char *line, size_t len)
{
	uint64_t addr = 0;
	size_t i = 0;

	for (; i < len && i < 17; i++) {
		unsigned c = (unsigned char)line[i];
		unsigned digit = c - '0';

		if (digit > 9) {
			digit = (c | 0x20) - 'a';
			if (digit > 5)
				break;
			digit += 10;
		}
		addr = addr << 4 | digit;
	}
	if (!i || i > 16 || len - i < 4 || line[i] != ' ' || line[i + 2] != ' ')
		return NULL;
	char type = line[i + 1];
	const char *name = line + i + 3;
	size_t name_len = len - i - 3;
	const char *tab = memchr(name, '\t', name_len);
	int module = 0;

	if (!type_is_wanted(type) || name[0] == '$' || memchr(name, 0, name_len))
		return NULL;
	if (tab) {
		size_t mod_len = name_len - (size_t)(tab - name) - 1;
		const char *mod = tab + 1;

		name_len = (size_t)(tab - name);
		if (mod_len < 3 || mod[0] != '[' || mod[mod_len - 1] != ']')
			return NULL;
		module = kallsyms_module(k, mod + 1, mod_len - 2);
		if (module < 0)
			return error_nomem();
	}
	if (!name_len || name_len > NAME_MAX_LEN)
		return NULL;
	if (name_len + 1 > k->names_cap - k->names_len) {
		size_t cap = max_of(k->names_cap * 2, (size_t)1 << 20);
		char *names = realloc(k->names, cap);

		if (!names)
			return error_nomem();
		k->names = names;
		k->names_cap = cap;
	}
	if (!vec_reserve(&k->syms, k->syms.n + 1))
		return error_nomem();
	k->syms.v[k->syms.n++] = (struct ksym){
		.addr = addr,
		.name = (uint32_t)k->names_len,
		.module = (uint16_t)module,
		.type = (uint8_t)type,
	};
	memcpy(k->names + k->names_len, name, name_len);
	k->names[k->names_len + name_len] = 0;
	k->names_len += name_len + 1;
	if (addr)
		k->hidden = false;
	return NULL;
}

static struct error *kallsyms_new(struct kallsyms **out)
{
	struct kallsyms *k = calloc(1, sizeof(*k));

	if (!k || !vec_push(&k->modules)) {
		kallsyms_free(k);
		return error_nomem();
	}
	k->hidden = true;
	*out = k;
	return NULL;
}

/* Whole lines; *used says how many bytes they were. */
static struct error *kallsyms_lines(struct kallsyms *k, const char *text, size_t size, size_t *used)
{
	size_t pos = 0;

	while (pos < size) {
		const char *nl = memchr(text + pos, '\n', size - pos);

		if (!nl)
			break;
		TRY(kallsyms_line(k, text + pos, (size_t)(nl - text) - pos));
		pos = (size_t)(nl - text) + 1;
	}
	*used = pos;
	return NULL;
}

/* kallsyms_show_value() of the kernel: with 0 it wants CAP_SYSLOG, or perf events allowed. */
static struct error *explain_hidden(const char *name)
{
	struct error *err = error_at(error_new(EPERM, "the kernel hides the addresses in it "
						      "(kernel.kptr_restrict)"),
				     "%s", name);
	int restricted = 0;

	error_free(sys_sysctl(NULL, "kernel/kptr_restrict", &restricted));
	if (restricted >= 2)
		return error_hint(err, "type: sysctl kernel.kptr_restrict=1");
	return sys_hint_caps(err, NULL, SYS_CAP(SYS_CAP_SYSLOG),
			     restricted ? NULL : "type: sysctl kernel.perf_event_paranoid=1");
}

static struct error *kallsyms_check(struct kallsyms *k, const char *name)
{
	if (!k->syms.n)
		return error_at(error_new(ENODATA, "it has no symbols"), "%s", name);
	if (k->hidden)
		return explain_hidden(name);
	char *fit = realloc(k->names, k->names_len);
	if (fit) {
		k->names = fit;
		k->names_cap = k->names_len;
	}
	return NULL;
}

struct error *kallsyms_parse(const char *text, size_t size, const char *name, struct kallsyms **out)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	size_t used = 0;

	TRY(kallsyms_new(&k));
	if (size > KALLSYMS_MAX_SIZE)
		return error_at(error_new(EFBIG, "too large for kallsyms"), "%s", name);
	TRY(kallsyms_lines(k, text, size, &used));
	if (used < size)
		TRY(kallsyms_line(k, text + used, size - used));
	TRY(kallsyms_check(k, name));
	*out = steal_ptr(k);
	return NULL;
}

struct error *kallsyms_load(const char *path, struct kallsyms **out)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *buf = malloc(READ_CHUNK);
	size_t have = 0, total = 0;

	if (fd < 0)
		return error_at(error_errno(errno, "cannot be opened"), "%s", path);
	if (!buf)
		return error_nomem();
	TRY(kallsyms_new(&k));
	for (;;) {
		ssize_t n = read(fd, buf + have, READ_CHUNK - have);
		size_t used;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_at(error_errno(errno, "cannot be read"), "%s", path);
		if (!n)
			break;
		have += (size_t)n;
		total += (size_t)n;
		if (total > KALLSYMS_MAX_SIZE)
			return error_at(error_new(EFBIG, "too large for kallsyms"), "%s", path);
		TRY(kallsyms_lines(k, buf, have, &used));
		if (!used && have == READ_CHUNK)
			used = have; /* no line is that long */
		memmove(buf, buf + used, have - used);
		have -= used;
	}
	if (have)
		TRY(kallsyms_line(k, buf, have));
	TRY(kallsyms_check(k, path));
	*out = steal_ptr(k);
	return NULL;
}

bool kallsyms_address(const struct kallsyms *k, const char *name, uint64_t *addr)
{
	const struct ksym *sym;

	vec_for_each (sym, &k->syms) {
		if (!sym->module && !strcmp(k->names + sym->name, name)) {
			*addr = sym->addr;
			return true;
		}
	}
	return false;
}

size_t kallsyms_size(const struct kallsyms *k)
{
	return k->syms.n;
}

struct kallsyms_symbol kallsyms_at(const struct kallsyms *k, size_t i)
{
	const struct ksym *sym = &k->syms.v[i];

	return (struct kallsyms_symbol){
		.address = sym->addr,
		.name = k->names + sym->name,
		.module = k->modules.v[sym->module],
		.type = (char)sym->type,
	};
}

/* What the symbols of both sides of a border need: the other side's addresses. */
static int ksym_compare(const void *a, const void *b)
{
	const struct ksym *ka = a, *kb = b;

	if (ka->addr != kb->addr)
		return ka->addr < kb->addr ? -1 : 1;
	return ka->name < kb->name ? -1 : ka->name > kb->name; /* the order of the file */
}

/*
 * The file has the kernel's own symbols in the order of their addresses, and behind them those of
 * modules, in no order: the first run is long, so only the rest is sorted, and merged with it.
 * to has room for all n.
 */
static void sort_symbols(const struct ksym *syms, size_t n, struct ksym *to)
{
	size_t run = 1;

	while (run < n && syms[run - 1].addr <= syms[run].addr)
		run++;
	struct ksym *const rest = to + run;
	const struct ksym *const end = to + n;

	memcpy(rest, syms + run, (n - run) * sizeof(*rest));
	qsort(rest, n - run, sizeof(*rest), ksym_compare);
	/* What is written never reaches what has not been read: run - i entries come from syms. */
	const struct ksym *next = rest;
	for (size_t i = 0; i < run; i++) {
		while (next < end && next->addr < syms[i].addr)
			*to++ = *next++;
		*to++ = syms[i];
	}
}

static uint8_t type_to_binding(uint8_t type)
{
	return type == 'W' ? STB_WEAK : type >= 'A' && type <= 'Z' ? STB_GLOBAL : STB_LOCAL;
}

static struct error *symtab_fill(struct symtab *st, const struct kallsyms *k, const char *module,
				 uint64_t delta)
{
	const struct ksym *syms = k->syms.v;
	_cleanup_free_ struct ksym *sorted = NULL;
	size_t n = k->syms.n, wanted = 0, which = 0;

	if (module) {
		for (which = 1; which < k->modules.n; which++)
			if (!strcmp(k->modules.v[which], module))
				break;
	}
	for (size_t i = 0; i < n; i++) {
		wanted += syms[i].module == which;
		if (i && syms[i - 1].addr > syms[i].addr && !sorted) {
			sorted = malloc(n * sizeof(*sorted));
			if (!sorted)
				return error_nomem();
		}
	}
	if (sorted) {
		sort_symbols(syms, n, sorted);
		syms = sorted;
	}
	if (!vec_reserve(&st->syms, wanted))
		return error_nomem();
	for (size_t i = 0; i < n; i++) {
		uint64_t start = syms[i].addr, end;
		const char *name = k->names + syms[i].name;
		uint8_t letter = syms[i].type | 0x20;

		if (i + 1 < n && syms[i + 1].addr == start)
			continue;
		if (i + 1 < n && !syms[i].module == !syms[i + 1].module)
			end = syms[i + 1].addr;
		else if (start > UINT64_MAX - 3 * 4096)
			end = UINT64_MAX;
		else
			end = round_up(start + (i + 1 < n ? 4096 : 0), 4096) +
			      (i + 1 < n ? 0 : 4096);
		if (syms[i].module != which)
			continue;
		if (!symtab_add(st, start - delta, end - start, type_to_binding(syms[i].type),
				letter == 't' || letter == 'w' ? STT_FUNC : STT_OBJECT, name))
			return error_nomem();
		vec_last(&st->syms)->lazy = 0;
	}
	return NULL;
}

struct error *kallsyms_symtab(const struct kallsyms *k, const char *module, uint64_t delta,
			      struct symtab **out)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();

	if (!st)
		return error_nomem();
	TRY(symtab_fill(st, k, module, delta));
	st->origin = 'k';
	if (!st->syms.n)
		return error_new(ENODATA, "kallsyms has no symbols of module %s",
				 module ? module : "[kernel]");
	/* delta may turn addresses around the end of the address space. */
	if (!symtab_sort(st) || !symtab_finish(st))
		return error_nomem();
	*out = steal_ptr(st);
	return NULL;
}
