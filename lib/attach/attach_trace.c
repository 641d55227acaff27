// SPDX-License-Identifier: BSD-2-Clause
/*
 * Raw tracepoints, by name (BPF_RAW_TRACEPOINT_OPEN), and the programs whose
 * target was fixed when they were loaded, by its id in the kernel's BTF:
 * tp_btf, fentry, fexit, fmod_ret, freplace, lsm. The latter take BPF_LINK_CREATE, or,
 * before 5.18 or so, BPF_RAW_TRACEPOINT_OPEN without a name; bpf_link_create()
 * tries both.
 */
#include <errno.h>
#include <string.h>

#include "lib/attach/internal.h"
#include "lib/sys/kfuncs.h"
#include "lib/sys/tracefs.h"

/* The names of raw tracepoints are those of tracefs, without the system. */
static struct error *no_such_raw_tracepoint(const char *name)
{
	struct error *err = error_new(ENOENT, "unknown raw tracepoint %s", name);
	_cleanup_names_ struct names found = {0};
	struct nearest near = nearest_make(name);

	error_free(sys_tracepoint_match(NULL, "*", "*", &found));
	for (size_t i = 0; i < found.n; i++) {
		const char *event = strchr(found.v[i], ':') + 1;

		if (!strncmp(found.v[i], "syscalls:", 9))
			continue; /* made of sys_enter and sys_exit: not tracepoints */
		nearest_offer(&near, event);
	}
	err = error_suggest(err, &near);
	if (!strncmp(name, "sys_", 4))
		return error_hint(err, "the raw tracepoints of system calls are sys_enter and "
				       "sys_exit");
	return err;
}

static struct error *raw_tracepoint_open(const struct bpf_program *prog, const char *name,
					 uint64_t cookie, struct bpf_link **link)
{
	int prog_fd;

	if (name && !*name)
		return error_hint(error_new(EINVAL, "the section does not name a raw tracepoint"),
				  "write it as in SEC(\"raw_tp/sched_switch\")");
	TRY(program_fd(prog, &prog_fd));
	LIBBPF_OPTS(bpf_raw_tp_opts, opts, .tp_name = name, .cookie = cookie);
	int fd = bpf_raw_tracepoint_open_opts(prog_fd, &opts);
	if (fd == -ENOENT && name)
		return no_such_raw_tracepoint(name);
	if (fd < 0 && !name)
		return error_hint(error_errno(-fd,
					      "cannot attach to the target that it was loaded for"),
				  "a program of SEC(\"raw_tp\") needs a tracepoint's name");
	if (fd < 0)
		return error_errno(-fd, "cannot attach to the raw tracepoint %s", name);
	return link_of(fd, link);
}

struct error *raw_tracepoint_attach(const struct bpf_program *prog, struct bpf_link **link)
{
	return raw_tracepoint_open(prog, program_section(prog)->target, 0, link);
}

struct bpf_link *bpf_program__attach_raw_tracepoint_opts(const struct bpf_program *prog,
							 const char *tp_name,
							 struct bpf_raw_tracepoint_opts *opts)
{
	struct bpf_link *link = NULL;
	struct error *err = OPTS_CHECK(opts, bpf_raw_tracepoint_opts);

	if (!err)
		err = raw_tracepoint_open(prog, tp_name, OPTS_GET(opts, cookie, 0), &link);
	return err ? edge_null(attach_error_at(prog, err)) : link;
}

struct bpf_link *bpf_program__attach_raw_tracepoint(const struct bpf_program *prog,
						    const char *tp_name)
{
	return bpf_program__attach_raw_tracepoint_opts(prog, tp_name, NULL);
}

static struct error *trace_open(const struct bpf_program *prog, uint64_t cookie,
				struct bpf_link **link)
{
	const struct section_info *section = program_section(prog);
	int prog_fd;

	TRY(program_fd(prog, &prog_fd));
	LIBBPF_OPTS(bpf_link_create_opts, opts, .tracing.cookie = cookie);
	int fd = bpf_link_create(prog_fd, 0, bpf_program__expected_attach_type(prog), &opts);
	if (fd >= 0)
		return link_of(fd, link);

	/* A function of the kernel that ftrace knows nothing of is not patched (EBUSY). */
	if ((fd == -EBUSY || fd == -EINVAL || fd == -ENOENT) && section->target[0] &&
	    (section->kind == PROGRAM_FENTRY || section->kind == PROGRAM_FEXIT ||
	     section->kind == PROGRAM_FMOD_RET)) {
		const char *colon = strchr(section->target, ':');

		TRY(sys_kfunc_refusal(NULL, colon ? colon + 1 : section->target, true));
	}
	struct error *err = error_errno(-fd, "cannot attach to %s",
					section->target[0] ? section->target : "its target");
	switch (fd) {
	case -EBUSY:
		return error_hint(
			err,
			"the function is in exclusive use (live patching, or a fmod_ret program)");
	case -EPERM:
	case -EACCES:
		return error_hint(err, "the kernel does not allow its code to be patched; "
				       "'perf-bpf features' shows what works here");
	case -E2BIG:
		return error_hint(
			err, "the function already has the maximum number of programs attached");
	case -EOPNOTSUPP:
	case -524: /* ENOTSUPP, which has no name out here: no direct calls of ftrace */
		return error_hint(err, "this architecture or kernel has no BPF trampolines: use a "
				       "kprobe");
	}
	return err;
}

struct error *trace_attach(const struct bpf_program *prog, struct bpf_link **link)
{
	return trace_open(prog, 0, link);
}

struct error *attach_trace(const struct bpf_program *prog, const struct bpf_trace_opts *opts,
			   struct bpf_link **link)
{
	TRY(OPTS_CHECK(opts, bpf_trace_opts));
	return trace_open(prog, OPTS_GET(opts, cookie, 0), link);
}

struct bpf_link *bpf_program__attach_trace_opts(const struct bpf_program *prog,
						const struct bpf_trace_opts *opts)
{
	struct bpf_link *link = NULL;
	struct error *err = attach_trace(prog, opts, &link);

	return err ? edge_null(attach_error_at(prog, err)) : link;
}

struct bpf_link *bpf_program__attach_trace(const struct bpf_program *prog)
{
	return bpf_program__attach_trace_opts(prog, NULL);
}

struct bpf_link *bpf_program__attach_lsm(const struct bpf_program *prog)
{
	return bpf_program__attach_trace_opts(prog, NULL);
}
