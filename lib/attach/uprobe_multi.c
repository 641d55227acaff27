// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many places of one file by one link: uprobe.multi (6.6), and uprobe.session
 * (6.13), which runs at the entry and at the return. The kernel takes the
 * file's path and offsets in it (kernel/trace/bpf_trace.c,
 * bpf_uprobe_multi_link_attach); names are ours to look up.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/attach/internal.h"
#include "lib/sys/missing_caps.h"

static struct error *no_uprobe_multi(bool session)
{
	if (session)
		return attach_lacking("attach.uprobe_session",
				      "sessions at function entry and return (uprobe.session)",
				      "use SEC(\"uprobe.multi/…\") and SEC(\"uretprobe.multi/…\")");
	return attach_lacking("attach.uprobe_multi", "multi-probe links (uprobe.multi)",
			      "use SEC(\"uprobe/FILE:FUNCTION\") for each function");
}

static struct error *explain(int code, bool session, const char *path, size_t n, pid_t pid)
{
	struct error *err;

	TRY(no_uprobe_multi(session));
	err = error_errno(code, "cannot attach to %zu probe points of %s", n, path);
	if (code == ESRCH && pid > 0)
		return error_hint(err, "process %d does not exist", (int)pid);
	if (code == EINVAL || code == EOPNOTSUPP || code == 524)
		return error_hint(err, "one of them is not the start of an instruction, or the "
				       "instruction cannot be probed");
	return err;
}

static struct error *check_lists(const char *binary, const char *pattern,
				 const struct bpf_uprobe_multi_opts *opts)
{
	const bool syms = OPTS_GET(opts, syms, NULL), offsets = OPTS_GET(opts, offsets, NULL);
	const size_t n = OPTS_GET(opts, cnt, 0);

	if (!binary)
		return error_new(EINVAL, "the binary is missing");
	if (pattern && (syms || offsets || n || OPTS_GET(opts, cookies, NULL) ||
			OPTS_GET(opts, ref_ctr_offsets, NULL)))
		return error_new(EINVAL, "a pattern cannot be combined with lists");
	if (pattern && !*pattern)
		return error_new(EINVAL, "the pattern is empty");
	if (!pattern && !syms == !offsets)
		return error_hint(
			error_new(EINVAL, "%s",
				  syms ? "the probe points are given twice, by syms and by offsets"
				       : "no probe points are given"),
			"give a pattern, or syms or offsets with their number in cnt");
	if (!pattern && (!n || n > UINT32_MAX))
		return error_new(EINVAL, "the list of probe points has %zu entries", n);
	if (OPTS_GET(opts, session, false) && OPTS_GET(opts, retprobe, false))
		return error_new(EINVAL, "session and retprobe cannot be used together: a session "
					 "runs at entry and return");
	return NULL;
}

/* The places that the pattern or the names mean; the caller's. */
static struct error *find_places(const struct elf_file *file, const char *pattern,
				 const char **syms, size_t n, unsigned long **offsets,
				 size_t *n_offsets)
{
	_cleanup_free_ uint64_t *found = NULL;
	size_t n_found = n;

	if (pattern) {
		TRY(binary_symbols_match(file, pattern, &found, &n_found));
	} else {
		found = calloc(n, sizeof(*found));
		if (!found)
			return error_nomem();
		TRY(binary_symbols_offsets(file, syms, n, found));
	}
	unsigned long *got = calloc(n_found, sizeof(*got));
	if (!got)
		return error_nomem();
	for (size_t i = 0; i < n_found; i++)
		got[i] = (unsigned long)found[i];
	*offsets = got;
	*n_offsets = n_found;
	return NULL;
}

/*
 * Of a pattern, those that the kernel would not place are left out, as functions are that the
 * pattern does not match; the caller wants the others.
 */
static struct error *check_places(const char *path, bool is_pattern, unsigned long *offsets,
				  const unsigned long *given, size_t *n)
{
	_cleanup_uprobe_code_ struct uprobe_code code = {0};
	_cleanup_error_ struct error *why = NULL;
	size_t kept = 0;

	uprobe_code_open(path, &code);
	for (size_t i = 0; i < *n; i++) {
		char where[32];

		snprintf(where, sizeof(where), "%#lx", given[i]);
		struct error *err = uprobe_code_check(&code, where, given[i]);
		if (err && !is_pattern)
			return error_prefix(err, "%s", path);
		if (!err && is_pattern)
			offsets[kept++] = given[i];
		if (why)
			error_free(err);
		else
			why = err;
	}
	if (!is_pattern)
		return NULL;
	*n = kept;
	return kept ? NULL : error_prefix(steal_ptr(why), "%s", path);
}

struct error *attach_uprobe_multi(const struct bpf_program *prog, pid_t pid, const char *binary,
				  const char *pattern, const struct bpf_uprobe_multi_opts *opts,
				  struct bpf_link **link)
{
	_cleanup_elf_ struct elf_file *file = NULL;
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ unsigned long *offsets = NULL;
	int prog_fd, type;

	TRY(OPTS_CHECK(opts, bpf_uprobe_multi_opts));
	TRY(check_lists(binary, pattern, opts));
	TRY(multi_type(prog, OPTS_GET(opts, session, false), BPF_TRACE_UPROBE_MULTI,
		       BPF_TRACE_UPROBE_SESSION, "uprobe", &type));
	TRY(program_fd(prog, &prog_fd));
	TRY(binary_find(binary, &path));

	size_t n = OPTS_GET(opts, cnt, 0);
	const char **syms = OPTS_GET(opts, syms, NULL);
	const bool by_name = pattern || syms;
	const bool at_return = OPTS_GET(opts, retprobe, false) || type == BPF_TRACE_UPROBE_SESSION;
	struct error *err = by_name || at_return ? binary_open(path, &file) : NULL;
	if (err && by_name)
		return err;
	error_free(err); /* what the file is, the kernel knows */
	if (at_return && file)
		TRY(binary_check_returns(file));
	if (by_name)
		TRY(find_places(file, pattern, syms, n, &offsets, &n));
	TRY(check_places(path, pattern, offsets, offsets ? offsets : OPTS_GET(opts, offsets, NULL),
			 &n));
	LIBBPF_OPTS(bpf_link_create_opts, create,
		    .uprobe_multi.flags =
			    OPTS_GET(opts, retprobe, false) ? BPF_F_UPROBE_MULTI_RETURN : 0,
		    .uprobe_multi.cnt = (__u32)n, .uprobe_multi.path = path,
		    .uprobe_multi.offsets = offsets ? offsets : OPTS_GET(opts, offsets, NULL),
		    .uprobe_multi.ref_ctr_offsets = OPTS_GET(opts, ref_ctr_offsets, NULL),
		    .uprobe_multi.cookies = OPTS_GET(opts, cookies, NULL),
		    .uprobe_multi.pid = (__u32)(pid > 0	   ? pid
						: pid == 0 ? getpid()
							   : 0));
	int fd = bpf_link_create(prog_fd, 0, (enum bpf_attach_type)type, &create);
	if (fd < 0)
		return explain(-fd, type == BPF_TRACE_UPROBE_SESSION, path, n, pid);
	return link_of(fd, link);
}

/*
 * A perf event of a probe needs CAP_SYS_ADMIN in some kernels (6.18), a link does not. The program
 * must be loaded for it.
 */
void object_prefer_multi(struct bpf_object *obj)
{
	struct bpf_program *prog;

	if (!sys_caps_missing(NULL, SYS_CAP(SYS_CAP_SYS_ADMIN)) ||
	    !sys_bpf_has(SYS_BPF_UPROBE_MULTI))
		return;
	bpf_object__for_each_program (prog, obj) {
		const enum program_kind kind = program_section(prog)->kind;

		if (kind == PROGRAM_UPROBE || kind == PROGRAM_URETPROBE)
			bpf_program__set_expected_attach_type(prog, BPF_TRACE_UPROBE_MULTI);
	}
}

struct error *uprobe_by_link(const struct bpf_program *prog, const struct attach_event *event,
			     pid_t pid, uint64_t cookie, struct bpf_link **link)
{
	const unsigned long offset = event->offset, semaphore = event->ref_ctr_offset;
	const __u64 cookie64 = cookie;
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .retprobe = event->at_return, .offsets = &offset,
		    .cnt = 1, .ref_ctr_offsets = semaphore ? &semaphore : NULL,
		    .cookies = cookie ? &cookie64 : NULL);

	return attach_uprobe_multi(prog, pid, event->text, NULL, &opts, link);
}

struct error *uprobe_multi_attach(const struct bpf_program *prog, struct bpf_link **link)
{
	return uprobe_multi_attach_pid(prog, -1, link);
}

struct error *uprobe_multi_attach_pid(const struct bpf_program *prog, pid_t pid,
				      struct bpf_link **link)
{
	const struct section_info *section = program_section(prog);
	_cleanup_free_ char *binary = NULL;
	const char *pattern;
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts,
		    .retprobe = section->kind == PROGRAM_URETPROBE_MULTI,
		    .session = (int)section->attach_type == BPF_TRACE_UPROBE_SESSION);

	if (!*section->target)
		return error_hint(error_new(EOPNOTSUPP, "the section name has no binary"),
				  "write SEC(\"%s/libc.so.6:mem*\"), or call "
				  "bpf_program__attach_uprobe_multi()",
				  section->kind_name);
	TRY(error_hint(binary_split(section->target, &binary, &pattern),
		       "write it as in SEC(\"%s/libc.so.6:mem*\")", section->kind_name));
	return attach_uprobe_multi(prog, pid, binary, pattern, &opts, link);
}

struct bpf_link *bpf_program__attach_uprobe_multi(const struct bpf_program *prog, pid_t pid,
						  const char *binary_path, const char *func_pattern,
						  const struct bpf_uprobe_multi_opts *opts)
{
	struct bpf_link *link = NULL;
	struct error *err = attach_uprobe_multi(prog, pid, binary_path, func_pattern, opts, &link);

	return err ? edge_null(attach_error_at(prog, err)) : link;
}
