// SPDX-License-Identifier: BSD-2-Clause
#include "run/run_begin.h"

#include <bpf/bpf.h>

#include "lib/object/object.h"
#include "run/choose_view.h"

#define TAG "perf-bpf-begin"

bool program_is_begin(const struct bpf_program *prog)
{
	return program_tag(bpf_object__btf(program_object(prog)), prog, TAG);
}

struct error *programs_begin(const struct bpf_object *obj)
{
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, obj) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);

		if (!program_is_begin(prog) || !bpf_program__autoload(prog))
			continue;
		const int err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
		if (err)
			return error_hint(error_errno(-err, "program %s cannot be run",
						      bpf_program__name(prog)),
					  "a program with PERF_BPF_BEGIN is in SEC(\"raw_tp\"), "
					  "and needs Linux 5.10");
	}
	return NULL;
}
