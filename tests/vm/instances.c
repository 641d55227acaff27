// SPDX-License-Identifier: BSD-2-Clause
/*
 * Instances on the running kernel: a prologue sets the arguments of the
 * program, and each instance returns what follows from its own. Prints TAP
 * without numbers.
 *
 *	instances OBJECT
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf/perf_bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOV(reg, value)                                                                            \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (reg), .imm = (value)              \
	}

static const int values[] = {7, 35, 7, 0, -4};

static int bad_instance = -1;

static int prep(struct bpf_program *prog, int n, struct bpf_insn *insns, int insns_cnt,
		struct bpf_prog_prep_result *res)
{
	const struct bpf_insn prologue[] = {MOV(BPF_REG_2, 0), MOV(BPF_REG_3, values[n])};
	const struct bpf_insn unset[] = {MOV(BPF_REG_2, 0)};
	static struct bpf_insn *out;
	int m;

	free(out);
	out = NULL;
	if (n == 3)
		return 0;
	m = n == bad_instance ? perf_bpf_prepend_insns(unset, 1, insns, (size_t)insns_cnt, &out)
			      : perf_bpf_prepend_insns(prologue, 2, insns, (size_t)insns_cnt, &out);
	if (m < 0)
		return m;
	res->new_insn_ptr = out;
	res->new_insn_cnt = m;
	return 0;
}

static int result(int ok, const char *what)
{
	printf("%s - instances: %s\n", ok ? "ok" : "not ok", what);
	if (!ok)
		printf("# errno %d; last error: %s\n# hint: %s\n", errno, perf_bpf_last_error(),
		       perf_bpf_last_hint() ? perf_bpf_last_hint() : "");
	return ok ? 0 : 1;
}

static int run(int fd)
{
	__u64 ctx[2] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = ctx, .ctx_size_in = sizeof(ctx));
	int err = bpf_prog_test_run_opts(fd, &opts);

	return err ? err : (int)opts.retval;
}

static struct bpf_program *open_it(const char *path, struct bpf_object **obj)
{
	*obj = bpf_object__open(path);
	return *obj ? bpf_object__find_program_by_name(*obj, "with_arguments") : NULL;
}

/* What the kernel keeps of functions and lines, and the program's id. */
static struct bpf_prog_info info_of(int fd)
{
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);

	bpf_obj_get_info_by_fd(fd, &info, &size);
	return info;
}

int main(int argc, char **argv)
{
	struct bpf_object *obj;
	struct bpf_program *prog = argc > 1 ? open_it(argv[1], &obj) : NULL;
	int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!prog || bpf_program__set_prep(prog, 5, prep))
		return result(0, "opened");
	if (bpf_object__load(obj))
		return result(0, "loaded");
	for (int i = 0; i < 5; i++) {
		int fd = bpf_program__nth_fd(prog, i);

		if (i == 3) {
			failed |= result(fd == -ENOENT, "a skipped one has no descriptor");
			continue;
		}
		int got = fd < 0 ? fd : run(fd);
		if (got != values[i] * 2 + 1)
			printf("# instance %d returned %d\n", i, got);
		failed |= result(got == values[i] * 2 + 1, "each has its own prologue");
	}
	failed |= result(bpf_program__nth_fd(prog, 0) == bpf_program__nth_fd(prog, 2) &&
				 bpf_program__nth_fd(prog, 0) != bpf_program__nth_fd(prog, 1),
			 "equal ones share a descriptor");
	struct bpf_prog_info info = info_of(bpf_program__nth_fd(prog, 1));
	printf("# %u functions, %u lines\n", info.nr_func_info, info.nr_line_info);
	failed |= result(info.nr_func_info == 2 && info.nr_line_info > 4 && info.btf_id,
			 "the kernel takes their functions and lines");
	bpf_object__close(obj);

	prog = open_it(argv[1], &obj);
	bad_instance = 2;
	failed |= result(!bpf_program__set_prep(prog, 5, prep) && bpf_object__load(obj) &&
				 strstr(perf_bpf_last_error(), "instance 2") &&
				 strstr(perf_bpf_last_error(), "R3 !read_ok") &&
				 strstr(perf_bpf_last_error(), "instances.bpf.c:"),
			 "a refused one is named, with the line of the program");
	bpf_object__close(obj);

	prog = open_it(argv[1], &obj);
	failed |= result(bpf_object__load(obj) && bpf_program__nth_fd(prog, 0) == -ENOENT,
			 "without a prologue the program is refused");
	bpf_object__close(obj);
	return failed;
}
