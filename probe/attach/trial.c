// SPDX-License-Identifier: BSD-2-Clause
/*
 * Trials with programs that do nothing. Which functions fentry takes depends on
 * their prototypes, on lists in the kernel, and on what the machine's
 * trampolines can: a program that is loaded for the function tells, and a
 * refusal then costs nothing, while that of the user's program would be the end.
 */
#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/bpf_syscall.h"
#include "lib/sys/probe_features.h"
#include "lib/sys/uapi.h"
#include "probe/attach/internal.h"

void trials_deinit(struct trials *trials)
{
	free(trials->no_kprobe_multi);
	*trials = (struct trials){0};
}

static int try_tracing(bool with_func_arg, uint32_t btf_id, bool at_return, char *log, size_t size)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_3, .imm = -8},
		{.code = BPF_JMP | BPF_CALL, .imm = 183}, /* bpf_get_func_arg() */
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	const size_t skip = with_func_arg ? 0 : 5;
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = at_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY,
		    .attach_btf_id = btf_id, .log_buf = log, .log_size = (__u32)size,
		    .log_level = log ? 1 : 0);
	const int fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", insns + skip,
				     ARRAY_SIZE(insns) - skip, &opts);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

char *trial_fentry(struct trials *trials, uint32_t btf_id, bool at_return)
{
	char log[1024] = "";

	if (!btf_id)
		return strdup("the function is not in BTF");
	const int code = try_tracing(false, btf_id, at_return, NULL, 0);
	if (code < 0) {
		if (code != -EPERM)
			try_tracing(false, btf_id, at_return, log, sizeof(log));
		log[strcspn(log, "\n")] = 0;
		return *log ? text_format("the kernel rejects it: %s", log)
			    : text_format("the kernel rejects it: %s", strerror(-code));
	}
	if (trials->func_arg == TRIAL_UNKNOWN)
		trials->func_arg =
			try_tracing(true, btf_id, at_return, NULL, 0) < 0 ? TRIAL_NO : TRIAL_YES;
	return NULL;
}

bool trial_prologue(uint32_t btf_id, bool at_return, const struct prologue *prologue)
{
	static const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = at_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY,
		    .attach_btf_id = btf_id);
	_cleanup_free_ struct bpf_insn *insns =
		calloc(prologue->n + ARRAY_SIZE(program), sizeof(*insns));

	if (!insns)
		return false;
	memcpy(insns, prologue->insns, prologue->n * sizeof(*insns));
	memcpy(insns + prologue->n, program, sizeof(program));
	const int fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", insns,
				     prologue->n + ARRAY_SIZE(program), &opts);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool trial_kprobe_multi(struct trials *trials)
{
	if (trials->kprobe_multi == TRIAL_UNKNOWN) {
		_cleanup_features_ struct sys_features *features = sys_features_new(NULL);
		const struct sys_feature_result *result =
			features ? sys_feature_get(features, "attach.kprobe_multi") : NULL;

		trials->kprobe_multi = result && result->works ? TRIAL_YES : TRIAL_NO;
		if (result && !result->works)
			trials->no_kprobe_multi = strdup(result->reason);
	}
	return trials->kprobe_multi == TRIAL_YES;
}

bool trial_func_ip(struct trials *trials)
{
	if (trials->func_ip == TRIAL_UNKNOWN)
		trials->func_ip = sys_bpf_has(SYS_BPF_FUNC_IP) ? TRIAL_YES : TRIAL_NO;
	return trials->func_ip == TRIAL_YES;
}
