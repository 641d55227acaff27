// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lists of the kernel's functions. Sources: kernel/trace/ftrace.c (t_show),
 * kernel/kallsyms.c (s_show), kernel/kprobes.c (blacklist in debugfs).
 *
 *	available_filter_functions_addrs	ffffffff81234560 vfs_read [module]
 *	available_filter_functions		vfs_read [module]
 *	kallsyms				ffffffff81234560 T vfs_read<TAB>[module]
 *	kprobes/blacklist			0xffffffff81234560-0xffffffff81234600<TAB>name
 *
 * Static functions of different files share names. ftrace's plain list then
 * has the name once for each that can be traced, and kallsyms once for each
 * that exists: when these numbers are the same, all are meant.
 */
#include "lib/sys/kfuncs.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/sys/internal.h"
#include "lib/sys/tracefs.h"

enum {
	MAX_LIST = 64 << 20,
	MAX_KALLSYMS = 256 << 20,
};

void sys_kfuncs_deinit(struct sys_kfuncs *funcs)
{
	vec_deinit(&funcs->v);
	free(funcs->text);
	*funcs = (struct sys_kfuncs){0};
}

/* The next line of text, without its newline; NULL: none. */
static char *next_line(char **pos)
{
	char *line = *pos, *end = line + strcspn(line, "\n");

	if (!*line)
		return NULL;
	*pos = *end ? end + 1 : end;
	*end = 0;
	return line;
}

/* Ends the word at text and returns what follows it and its blanks. */
static char *cut_word(char *text)
{
	char *end = text + strcspn(text, " \t");

	if (*end) {
		*end++ = 0;
		end += strspn(end, " \t");
	}
	return end;
}

static bool parse_address(const char *text, uint64_t *addr)
{
	char *end;

	errno = 0;
	*addr = strtoull(text, &end, 16);
	return !errno && end != text && !*end;
}

/* What stands in ftrace's list for a function that the linker threw out. */
static bool is_placeholder(const char *name)
{
	return !strncmp(name, "__ftrace_invalid_address__", 26);
}

static struct error *push(struct sys_kfuncs *funcs, const char *name, uint64_t addr)
{
	struct sys_kfunc *func = vec_push(&funcs->v);

	if (!func)
		return error_nomem();
	func->name = name;
	func->addr = addr;
	return NULL;
}

struct kernel_symbol {
	char *name;
	uint64_t addr;
	char type; /* as nm(1) writes it */
	bool bpf;  /* a BPF program, which no probe goes into */
};

static bool next_symbol(char **pos, struct kernel_symbol *sym)
{
	for (char *line; (line = next_line(pos));) {
		char *type = cut_word(line), *name = cut_word(type);

		const char *module = cut_word(name);
		if (!*name || !parse_address(line, &sym->addr))
			continue;
		sym->type = *type;
		sym->bpf = !strncmp(module, "[bpf]", 5);
		sym->name = name;
		return true;
	}
	return false;
}

static bool is_function(const struct kernel_symbol *sym)
{
	return strchr("tTwW", sym->type) != NULL;
}

static struct error *read_kallsyms(const struct sys_roots *roots, char **text)
{
	_cleanup_free_ char *path = text_format("%s/kallsyms", roots_or_default(roots)->proc);

	return path ? sys_read_file(path, MAX_KALLSYMS, text, NULL) : error_nomem();
}

static struct error *match_addrs(struct sys_kfuncs *funcs, const char *glob)
{
	char *pos = funcs->text, *line;

	while ((line = next_line(&pos))) {
		char *name = cut_word(line);
		uint64_t addr;

		cut_word(name);
		if (parse_address(line, &addr) && !is_placeholder(name) && glob_match(glob, name))
			TRY(push(funcs, name, addr));
	}
	return NULL;
}

/* How often a name stands in ftrace's list and in kallsyms. */
struct count {
	const char *name;
	size_t traced, exist;
};

static void counts_free(struct strmap *counts)
{
	for (size_t i = 0; counts->slots && i <= counts->mask; i++)
		if (counts->slots[i].key)
			free(counts->slots[i].value);
	strmap_deinit(counts);
}

static struct error *count_traced(struct strmap *counts, char *text, const char *glob)
{
	char *line;

	while ((line = next_line(&text))) {
		cut_word(line);
		if (is_placeholder(line) || !glob_match(glob, line))
			continue;
		struct count *count = strmap_get(counts, line);
		if (!count) {
			count = calloc(1, sizeof(*count));
			if (!count)
				return error_nomem();
			count->name = line;
			if (!strmap_put(counts, line, count)) {
				free(count);
				return error_nomem();
			}
		}
		count->traced++;
	}
	return NULL;
}

/* Names from ftrace's list in text, which stays the names' place; addresses from kallsyms. */
static struct error *match_names(const struct sys_roots *roots, struct sys_kfuncs *funcs,
				 const char *glob)
{
	_cleanup_(counts_free) struct strmap counts = {0};
	_cleanup_free_ char *kallsyms = NULL;
	_cleanup_error_ struct error *unread = read_kallsyms(roots, &kallsyms);
	struct kernel_symbol sym;

	TRY(count_traced(&counts, funcs->text, glob));
	for (char *pos = kallsyms; !unread && next_symbol(&pos, &sym);) {
		struct count *count = is_function(&sym) ? strmap_get(&counts, sym.name) : NULL;

		if (!count || !sym.addr)
			continue;
		count->exist++;
		TRY(push(funcs, count->name, sym.addr));
	}
	for (size_t i = 0; i < funcs->v.n; i++) {
		const struct count *count = strmap_get(&counts, funcs->v.v[i].name);

		funcs->v.v[i].ambiguous = count->exist > count->traced;
	}
	for (size_t i = 0; counts.slots && i <= counts.mask; i++) {
		const struct count *count = counts.slots[i].key ? counts.slots[i].value : NULL;

		if (count && !count->exist)
			TRY(push(funcs, count->name, 0));
	}
	return NULL;
}

static struct error *match_kallsyms(struct sys_kfuncs *funcs, const char *glob)
{
	struct kernel_symbol sym;

	for (char *pos = funcs->text; next_symbol(&pos, &sym);)
		if (is_function(&sym) && glob_match(glob, sym.name))
			TRY(push(funcs, sym.name, sym.addr));
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const struct sys_kfunc *x = a, *y = b;
	const int names = strcmp(x->name, y->name);

	return names ? names : (x->addr > y->addr) - (x->addr < y->addr);
}

struct error *sys_kfuncs_match(const struct sys_roots *roots, const char *glob,
			       struct sys_kfuncs *funcs)
{
	_cleanup_kfuncs_ struct sys_kfuncs got = {0};
	_cleanup_error_ struct error *no_addrs = sys_tracefs_read(
		roots, "available_filter_functions_addrs", MAX_LIST, &got.text, NULL);
	_cleanup_error_ struct error *no_names = NULL;

	if (!no_addrs) {
		TRY(match_addrs(&got, glob));
	} else if (!(no_names = sys_tracefs_read(roots, "available_filter_functions", MAX_LIST,
						 &got.text, NULL))) {
		TRY(match_names(roots, &got, glob));
	} else {
		TRY(read_kallsyms(roots, &got.text));
		got.unsure = true;
		TRY(match_kallsyms(&got, glob));
	}
	if (got.v.n) {
		size_t n = 1;

		qsort(got.v.v, got.v.n, sizeof(*got.v.v), compare);
		for (size_t i = 1; i < got.v.n; i++)
			if (compare(&got.v.v[i], &got.v.v[n - 1]))
				got.v.v[n++] = got.v.v[i];
		got.v.n = n;
	}
	*funcs = got;
	got = (struct sys_kfuncs){0};
	return NULL;
}

/* Whether ftrace's list has the name; sure is false when it cannot be read. */
static bool is_traceable(const struct sys_roots *roots, const char *name, bool *sure)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_error_ struct error *unread =
		sys_tracefs_read(roots, "available_filter_functions", MAX_LIST, &text, NULL);
	char *line;

	*sure = !unread;
	for (char *pos = text; !unread && (line = next_line(&pos));) {
		cut_word(line);
		if (!strcmp(line, name))
			return true;
	}
	return false;
}

static bool is_blacklisted(const struct sys_roots *roots, const char *name)
{
	_cleanup_free_ char *path =
		text_format("%s/kernel/debug/kprobes/blacklist", roots_or_default(roots)->sysfs);
	_cleanup_free_ char *text = NULL;
	_cleanup_error_ struct error *unread =
		path ? sys_read_file(path, MAX_LIST, &text, NULL) : error_nomem();
	char *line;

	for (char *pos = text; !unread && (line = next_line(&pos));) {
		char *found = cut_word(line);

		cut_word(found);
		if (!strcmp(found, name))
			return true;
	}
	return false;
}

/*
 * What compilers make of a function: "name.isra.0" with other arguments,
 * "name.part.0" and "name.cold" of a piece of it.
 */
static bool is_variant(const char *symbol, const char *name)
{
	const size_t len = strlen(name);

	return !strncmp(symbol, name, len) && symbol[len] == '.' &&
	       (!strncmp(symbol + len, ".isra.", 6) || !strncmp(symbol + len, ".constprop.", 11) ||
		!strncmp(symbol + len, ".part.", 6) || !strncmp(symbol + len, ".llvm.", 6));
}

/* "__x64_sys_": what the functions of system calls begin with, if name is like one. */
static size_t syscall_prefix(const char *name)
{
	const char *sys = strstr(name, "_sys_");

	return !strncmp(name, "__", 2) && sys && sys < name + 12 ? (size_t)(sys + 5 - name) : 0;
}

struct lookup {
	bool function, data;
	char variant[128]; /* "": none */
	struct nearest near;
};

static struct error *not_there(const char *name, const struct lookup *found)
{
	const size_t prefix = syscall_prefix(name);
	struct error *err = prefix ? error_new(ENOENT, "the kernel has no system call %s (%s)",
					       name + prefix, name)
				   : error_new(ENOENT, "the kernel has no function %s", name);

	if (found->variant[0])
		return error_hint(err,
				  "the compiler turned it into %s, whose arguments may differ from "
				  "the source",
				  found->variant);
	return error_hint(
		error_suggest(err, &found->near),
		"it may be inlined, or its module may not be loaded; perf-bpf list 'probe:*' "
		"lists the functions");
}

struct error *sys_kfunc_refusal(const struct sys_roots *roots, const char *name, bool by_ftrace)
{
	const size_t prefix = syscall_prefix(name);
	struct lookup found = {.near = nearest_make(name + prefix)};
	_cleanup_free_ char *text = NULL;
	_cleanup_error_ struct error *unread = read_kallsyms(roots, &text);
	struct kernel_symbol sym;
	bool sure;

	if (unread)
		return NULL;
	for (char *pos = text; next_symbol(&pos, &sym);) {
		const bool same = !strcmp(sym.name, name);

		found.data |= same && !is_function(&sym);
		if (!is_function(&sym) || sym.bpf)
			continue;
		found.function |= same;
		if (!found.variant[0] && is_variant(sym.name, name) &&
		    strlen(sym.name) < sizeof(found.variant))
			strcpy(found.variant, sym.name);
		if (!prefix)
			nearest_offer(&found.near, sym.name);
		else if (!strncmp(sym.name, name, prefix))
			nearest_offer(&found.near, sym.name + prefix);
	}
	if (!found.function && found.data)
		return error_new(EINVAL, "%s is a variable of the kernel, not a function", name);
	if (!found.function)
		return not_there(name, &found);
	if (!by_ftrace && is_blacklisted(roots, name))
		return error_hint(error_new(EINVAL, "kernel function %s is on the kprobe blacklist",
					    name),
				  "probe one of its callers instead; the list is "
				  "/sys/kernel/debug/kprobes/blacklist");
	if (!is_traceable(roots, name, &sure) && sure)
		return error_hint(
			error_new(EINVAL,
				  "kernel function %s cannot be traced: it is marked notrace",
				  name),
			"probe one of its callers instead; %s",
			by_ftrace ? "available_filter_functions of tracefs lists the functions "
				    "that can be traced; some others accept a kprobe"
				  : "available_filter_functions of tracefs lists the functions "
				    "that can be traced");
	return NULL;
}
