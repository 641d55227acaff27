// SPDX-License-Identifier: BSD-2-Clause
/*
 * System calls as functions of the kernel: a kprobe at the function that the
 * entry code calls. Its name depends on the architecture: where the kernel
 * wraps its system calls (CONFIG_ARCH_HAS_SYSCALL_WRAPPER) it has the
 * architecture's prefix and takes a struct pt_regs, elsewhere it takes the
 * arguments themselves (include/linux/syscalls.h, arch/…/syscall_wrapper.h).
 * BPF_KSYSCALL() in the program reads either.
 */
#include <errno.h>
#include <string.h>

#include "lib/attach/internal.h"

#if defined(__x86_64__)
#define SYSCALL_PREFIX "__x64_sys_"
#elif defined(__i386__)
#define SYSCALL_PREFIX "__ia32_sys_"
#elif defined(__aarch64__)
#define SYSCALL_PREFIX "__arm64_sys_"
#elif defined(__s390x__)
#define SYSCALL_PREFIX "__s390x_sys_"
#elif defined(__riscv)
#define SYSCALL_PREFIX "__riscv_sys_"
#else
#define SYSCALL_PREFIX "__se_sys_"
#endif

static struct error *syscall_place(const char *name, bool retprobe, struct attach_event *event)
{
	_cleanup_free_ char *func = NULL;

	if (!*name)
		return error_hint(error_new(EINVAL, "the system call is missing"),
				  "write it as in SEC(\"ksyscall/openat\")");
	func = text_format(SYSCALL_PREFIX "%s", name);
	return func ? kprobe_place(func, 0, retprobe, event) : error_nomem();
}

struct error *ksyscall_section_event(const struct bpf_program *prog, struct attach_event *event)
{
	const struct section_info *section = program_section(prog);

	return syscall_place(section->target, section->kind == PROGRAM_KRETSYSCALL, event);
}

struct bpf_link *bpf_program__attach_ksyscall(const struct bpf_program *prog,
					      const char *syscall_name,
					      const struct bpf_ksyscall_opts *opts)
{
	_cleanup_attach_event_ struct attach_event event = {0};
	struct bpf_link *link = NULL;
	struct error *err = OPTS_CHECK(opts, bpf_ksyscall_opts);

	if (!err)
		err = syscall_place(syscall_name ? syscall_name : "",
				    OPTS_GET(opts, retprobe, false), &event);
	if (!err)
		err = probe_attach(prog, &event, -1, OPTS_GET(opts, bpf_cookie, 0),
				   PROBE_ATTACH_MODE_DEFAULT, &link);
	return err ? edge_null(attach_error_at(prog, err)) : link;
}
