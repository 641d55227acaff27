// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many functions of the kernel by one link: kprobe.multi (5.18), and
 * kprobe.session (6.10), which runs at the entry and at the return of each.
 * The kernel puts them in place by ftrace, thousands at a time, so they cost
 * one system call, and can only stand at a function's beginning
 * (kernel/trace/bpf_trace.c, bpf_kprobe_multi_link_attach).
 *
 * The kernel takes names or addresses. Names are looked up in its symbols,
 * where a name that two functions share means one of them; addresses say what
 * is meant. What a glob matches is therefore given by address, where those
 * can be read, and what the caller names by name.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/attach/internal.h"
#include "lib/base/hash.h"
#include "lib/sys/kfuncs.h"

static struct error *no_kprobe_multi(bool session)
{
	if (session)
		return attach_lacking("attach.kprobe_session",
				      "sessions at function entry and return (kprobe.session)",
				      "use SEC(\"kprobe.multi/…\") and SEC(\"kretprobe.multi/…\")");
	return attach_lacking("attach.kprobe_multi", "multi-probe links (kprobe.multi)",
			      "use SEC(\"kprobe/FUNCTION\") for each function");
}

/* Which of the names the kernel finds no traceable function for. */
static struct error *blame(const char **syms, size_t n)
{
	enum {
		MAX_ASKED = 64, /* each takes a walk over the kernel's symbols */
	};

	for (size_t i = 0; i < min_of(n, (size_t)MAX_ASKED); i++)
		TRY(sys_kfunc_refusal(NULL, syms[i], true));
	return NULL;
}

static struct error *explain(int code, bool session, const struct bpf_link_create_opts *opts,
			     const char *pattern)
{
	TRY(no_kprobe_multi(session));
	if (opts->kprobe_multi.syms && (code == ESRCH || code == EINVAL || code == ENOENT))
		TRY(blame(opts->kprobe_multi.syms, opts->kprobe_multi.cnt));
	if (pattern)
		return error_errno(code, "cannot attach to the %u functions that match '%s'",
				   opts->kprobe_multi.cnt, pattern);
	return error_hint(
		error_errno(code, "cannot attach to %u functions", opts->kprobe_multi.cnt),
		opts->kprobe_multi.addrs ? "each address must be the start of a function listed in "
					   "available_filter_functions of tracefs"
					 : "available_filter_functions of tracefs lists the "
					   "functions that can be traced");
}

static struct error *link_functions(const struct bpf_program *prog, enum bpf_attach_type type,
				    const struct bpf_link_create_opts *opts, const char *pattern,
				    struct bpf_link **link)
{
	int prog_fd;

	TRY(program_fd(prog, &prog_fd));
	int fd = bpf_link_create(prog_fd, 0, type, opts);
	if (fd < 0)
		return explain(-fd, (int)type == BPF_TRACE_KPROBE_SESSION, opts, pattern);
	return link_of(fd, link);
}

/* What a glob matched, as the kernel wants it. */
struct function_list {
	const char **syms;    /* NULL: by address */
	unsigned long *addrs; /* NULL: by name */
	size_t n;
};

static void functions_deinit(struct function_list *functions)
{
	free(functions->syms);
	free(functions->addrs);
}

static struct error *functions_of(const struct sys_kfuncs *funcs, bool no_ambiguous,
				  struct function_list *out)
{
	const struct sys_kfunc *func;
	bool by_name = false;

	vec_for_each (func, &funcs->v)
		by_name |= !func->addr;
	if (by_name)
		out->syms = calloc(funcs->v.n, sizeof(*out->syms));
	else
		out->addrs = calloc(funcs->v.n, sizeof(*out->addrs));
	if (!out->syms && !out->addrs)
		return error_nomem();
	vec_for_each (func, &funcs->v) {
		if (no_ambiguous && func->ambiguous)
			continue;
		if (!by_name)
			out->addrs[out->n++] = (unsigned long)func->addr;
		else if (!out->n || strcmp(out->syms[out->n - 1], func->name))
			out->syms[out->n++] = func->name;
	}
	return NULL;
}

static struct error *none_match(const char *pattern)
{
	return error_hint(error_new(ENOENT, "no traceable kernel function matches '%s'", pattern),
			  "available_filter_functions of tracefs lists the functions that can be "
			  "traced; * matches any text, ? one character");
}

static struct error *attach_matches(const struct bpf_program *prog, enum bpf_attach_type type,
				    const char *pattern, struct bpf_link_create_opts *opts,
				    const struct sys_kfuncs *funcs, bool no_ambiguous,
				    struct bpf_link **link)
{
	_cleanup_(functions_deinit) struct function_list functions = {0};

	TRY(functions_of(funcs, no_ambiguous, &functions));
	if (!functions.n)
		return none_match(pattern);
	opts->kprobe_multi.cnt = (__u32)functions.n;
	opts->kprobe_multi.syms = functions.syms;
	opts->kprobe_multi.addrs = functions.addrs;
	struct error *err = link_functions(prog, type, opts, pattern, link);
	opts->kprobe_multi.syms = NULL;
	opts->kprobe_multi.addrs = NULL;
	if (err && funcs->unsure)
		return error_hint(
			err, "cannot read available_filter_functions of tracefs, which lists the "
			     "functions that can be traced: run as root, or name the functions");
	return err;
}

static struct error *attach_glob(const struct bpf_program *prog, enum bpf_attach_type type,
				 const char *pattern, bool unique,
				 struct bpf_link_create_opts *opts, struct bpf_link **link)
{
	_cleanup_kfuncs_ struct sys_kfuncs funcs = {0};
	const struct sys_kfunc *func;
	bool ambiguous = false;

	TRY(sys_kfuncs_match(NULL, pattern, &funcs));
	if (!funcs.v.n) {
		TRY(no_kprobe_multi((int)type == BPF_TRACE_KPROBE_SESSION));
		if (!glob_is_pattern(pattern))
			TRY(sys_kfunc_refusal(NULL, pattern, true));
		return none_match(pattern);
	}
	if (unique && funcs.v.n != 1)
		return error_hint(error_new(EINVAL, "%zu kernel functions match '%s'", funcs.v.n,
					    pattern),
				  "unique_match allows one; the first two are %s and %s",
				  funcs.v.v[0].name, funcs.v.v[1].name);
	vec_for_each (func, &funcs.v)
		ambiguous |= func->ambiguous;
	struct error *err = attach_matches(prog, type, pattern, opts, &funcs, false, link);
	if (!err || err->code != EINVAL || !ambiguous)
		return err;
	/* One of a name that several functions have cannot be traced, and nobody says which. */
	error_free(err);
	return attach_matches(prog, type, pattern, opts, &funcs, true, link);
}

/*
 * A name that the caller has twice is the same function, which the kernel
 * would look for in vain: without cookies it is given once.
 */
static struct error *attach_names(const struct bpf_program *prog, enum bpf_attach_type type,
				  struct bpf_link_create_opts *opts, struct bpf_link **link)
{
	_cleanup_(strmap_deinit) struct strmap seen = {0};
	_cleanup_free_ const char **syms = NULL;
	const char **given = opts->kprobe_multi.syms;
	const size_t n = opts->kprobe_multi.cnt;
	size_t kept = 0;

	syms = calloc(n, sizeof(*syms));
	if (!syms)
		return error_nomem();
	for (size_t i = 0; i < n; i++) {
		if (!given[i] || !*given[i])
			return error_new(EINVAL, "name %zu of %zu is empty", i + 1, n);
		if (strmap_get(&seen, given[i])) {
			if (opts->kprobe_multi.cookies)
				return error_new(
					EINVAL,
					"function %s is listed twice, each time with a cookie",
					given[i]);
			continue;
		}
		if (!strmap_put(&seen, given[i], &seen))
			return error_nomem();
		syms[kept++] = given[i];
	}
	opts->kprobe_multi.syms = syms;
	opts->kprobe_multi.cnt = (__u32)kept;
	return link_functions(prog, type, opts, NULL, link);
}

static struct error *check_lists(const char *pattern, const struct bpf_kprobe_multi_opts *opts)
{
	const bool syms = OPTS_GET(opts, syms, NULL), addrs = OPTS_GET(opts, addrs, NULL);
	const size_t n = OPTS_GET(opts, cnt, 0);

	if (pattern && (syms || addrs || n || OPTS_GET(opts, cookies, NULL)))
		return error_new(
			EINVAL, "a pattern cannot be combined with a list of functions or cookies");
	if (!pattern && !syms && !addrs)
		return error_hint(error_new(EINVAL, "the function name is missing"),
				  "give a pattern, or syms or addrs with their number in cnt");
	if (syms && addrs)
		return error_new(EINVAL, "syms and addrs cannot be used together");
	if (!pattern && (!n || n > UINT32_MAX))
		return error_new(EINVAL, "the list of functions has %zu entries", n);
	if (pattern && !*pattern)
		return error_new(EINVAL, "the pattern is empty");
	if (OPTS_GET(opts, session, false) && OPTS_GET(opts, retprobe, false))
		return error_new(EINVAL, "session and retprobe cannot be used together: a session "
					 "runs at entry and return");
	return NULL;
}

struct error *attach_kprobe_multi(const struct bpf_program *prog, const char *pattern,
				  const struct bpf_kprobe_multi_opts *opts, struct bpf_link **link)
{
	int type;

	TRY(OPTS_CHECK(opts, bpf_kprobe_multi_opts));
	TRY(check_lists(pattern, opts));
	TRY(multi_type(prog, OPTS_GET(opts, session, false), BPF_TRACE_KPROBE_MULTI,
		       BPF_TRACE_KPROBE_SESSION, "kprobe", &type));
	LIBBPF_OPTS(bpf_link_create_opts, create,
		    .kprobe_multi.flags =
			    OPTS_GET(opts, retprobe, false) ? BPF_F_KPROBE_MULTI_RETURN : 0,
		    .kprobe_multi.cnt = (__u32)OPTS_GET(opts, cnt, 0),
		    .kprobe_multi.syms = OPTS_GET(opts, syms, NULL),
		    .kprobe_multi.addrs = OPTS_GET(opts, addrs, NULL),
		    .kprobe_multi.cookies = OPTS_GET(opts, cookies, NULL));
	const bool unique = OPTS_GET(opts, unique_match, false);
	if (pattern)
		return attach_glob(prog, (enum bpf_attach_type)type, pattern, unique, &create,
				   link);
	if (create.kprobe_multi.syms)
		return attach_names(prog, (enum bpf_attach_type)type, &create, link);
	return link_functions(prog, (enum bpf_attach_type)type, &create, NULL, link);
}

struct error *kprobe_multi_attach(const struct bpf_program *prog, struct bpf_link **link)
{
	const struct section_info *section = program_section(prog);
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts,
		    .retprobe = section->kind == PROGRAM_KRETPROBE_MULTI,
		    .session = (int)section->attach_type == BPF_TRACE_KPROBE_SESSION);

	if (!*section->target)
		return error_hint(error_new(EOPNOTSUPP, "the section name has no functions"),
				  "write SEC(\"%s/vfs_*\"), or call "
				  "bpf_program__attach_kprobe_multi_opts()",
				  section->kind_name);
	return attach_kprobe_multi(prog, section->target, &opts, link);
}

struct bpf_link *bpf_program__attach_kprobe_multi_opts(const struct bpf_program *prog,
						       const char *pattern,
						       const struct bpf_kprobe_multi_opts *opts)
{
	struct bpf_link *link = NULL;
	struct error *err = attach_kprobe_multi(prog, pattern, opts, &link);

	return err ? edge_null(attach_error_at(prog, err)) : link;
}
