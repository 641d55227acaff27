// SPDX-License-Identifier: BSD-2-Clause
/*
 * freplace: a program of type ext takes the place of a global function of
 * another program (5.6). Which one the verifier has to know at load; the same
 * program may be attached to another target then, whose function has the same
 * prototype (5.10), named by the type id in that program's BTF.
 */
#include "lib/attach/internal.h"

static struct error *freplace_attach(const struct bpf_program *prog, int target_fd,
				     const char *func, struct bpf_link **link)
{
	_cleanup_strbuf_ struct strbuf where = STRBUF_INIT;
	uint32_t id;

	if (bpf_program__type(prog) != BPF_PROG_TYPE_EXT)
		return error_hint(error_new(EINVAL, "it is not a freplace program"),
				  "write SEC(\"freplace/FUNCTION\")");
	if (!target_fd && !func)
		return trace_attach(prog, link);
	if (!target_fd || !func)
		return error_new(
			EINVAL,
			"give both the target program and the function to replace, or neither");
	TRY(program_function_id(target_fd, func, &id));
	LIBBPF_OPTS(bpf_link_create_opts, opts, .target_btf_id = id);
	strbuf_addf(&where, "function %s of another program", func);
	if (strbuf_failed(&where))
		return error_nomem();
	struct error *err = link_attach(prog, target_fd, where.str, &opts, link);
	if (err && err->code == EINVAL)
		return error_hint(err,
				  "it must have the prototype of the function that the program "
				  "was loaded for, and must not be static");
	if (err && err->code == EBUSY)
		return error_hint(
			err, "another program replaces it already, or it is in a tail-call map");
	return err;
}

struct bpf_link *bpf_program__attach_freplace(const struct bpf_program *prog, int target_fd,
					      const char *attach_func_name)
{
	struct bpf_link *link = NULL;
	struct error *err =
		attach_error_at(prog, freplace_attach(prog, target_fd, attach_func_name, &link));

	return err ? edge_null(err) : link;
}
