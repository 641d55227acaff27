// SPDX-License-Identifier: BSD-2-Clause
/*
 * Strings of a process that are not paged in. A uprobe's program must not wait, so it cannot read
 * memory that was never touched (the constants of a program that has just started, for
 * example) or that was paged out, though the process itself would read it the next moment.
 *
 * A sleepable program may wait (Linux 5.10; of uprobes 6.0). It cannot be the user's: sleepable
 * programs may not use perf event arrays. So a second program is attached to the same points, which
 * fetches the same values by bpf_copy_from_user() and does nothing with them. The kernel runs
 * the program that was attached last first, so it is attached behind the user's: when that
 * reads the string, the pages are there.
 *
 * Only for definitions with strings, and where uprobe.multi takes the points; where the kernel
 * refuses, strings that are not paged in are reported as not readable, as before.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/uapi.h"
#include "probe/attach/internal.h"

static bool is_comm(const struct fetch_value *value)
{
	return value->n_pieces == 1 && value->pieces[0].n_insns == 1 &&
	       value->pieces[0].insns[0].op == FETCH_COMM;
}

static bool has_strings(const struct fetch_value *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (values[i].kind == FETCH_STRING && !values[i].obstacle && !is_comm(&values[i]))
			return true;
	return false;
}

/* The prologue, and as the user's program one that does nothing. */
static struct error *load_program(const struct set_prog *prog, const struct form *form,
				  const struct fetch_value *values, int *fd)
{
	struct prologue_way way = form_way(prog, form);
	struct prologue_shape shape = prog->shape.prologue;
	_cleanup_prologue_ struct prologue prologue = {0};
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE,
		    .expected_attach_type = (enum bpf_attach_type)BPF_TRACE_UPROBE_MULTI);

	way.sleepable = true;
	way.keeps_return = false;
	way.counter = (struct prologue_counter){0};
	shape.err_offset = shape.err_mask_offset = shape.ip_offset = -1;
	TRY(prologue_build(values, prog->shape.n, &way, &shape, &prologue));
	struct bpf_insn *code = calloc(prologue.n + ARRAY_SIZE(nothing), sizeof(*code));
	if (!code)
		return error_nomem();
	memcpy(code, prologue.insns, prologue.n * sizeof(*code));
	memcpy(code + prologue.n, nothing, sizeof(nothing));
	*fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "probe_fault_in", "GPL", code,
			    prologue.n + ARRAY_SIZE(nothing), &opts);
	free(code);
	return *fd < 0 ? error_errno(-*fd, "cannot load a sleepable program") : NULL;
}

static struct error *attach_behind(struct set_prog *prog, size_t form, int fd)
{
	_cleanup_free_ unsigned long *offsets = calloc(prog->points.n + 1, sizeof(*offsets));
	const pid_t pid = prog->set->opts.pid;
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	uint32_t n = 0;

	if (!offsets)
		return error_nomem();
	for (size_t i = 0; i < prog->points.n; i++)
		if (prog->places[i].link && prog->places[i].form == form)
			offsets[n++] = prog->points.v[i].file_offset;
	if (!n)
		return NULL;
	opts.uprobe_multi.path = prog->points.path;
	opts.uprobe_multi.offsets = offsets;
	opts.uprobe_multi.cnt = n;
	opts.uprobe_multi.pid = pid > 0 ? (__u32)pid : 0;
	opts.uprobe_multi.flags = prog->forms.v[form].at_return ? BPF_F_UPROBE_MULTI_RETURN : 0;
	const int link =
		bpf_link_create(fd, 0, (enum bpf_attach_type)BPF_TRACE_UPROBE_MULTI, &opts);
	if (link < 0)
		return error_errno(-link, "cannot attach a sleepable program");
	int *slot = vec_push(&prog->fault_links);
	if (slot)
		*slot = link;
	else
		close(link);
	return slot ? NULL : error_nomem();
}

static struct error *fault_in(struct set_prog *prog, size_t f, const struct fetch_value *values)
{
	int fd = -1;
	struct error *err = load_program(prog, &prog->forms.v[f], values, &fd);

	if (!err)
		err = attach_behind(prog, f, fd);
	if (fd >= 0)
		close(fd);
	return err;
}

void fault_in_detach(struct set_prog *prog)
{
	const int *link;

	vec_for_each (link, &prog->fault_links)
		close(*link);
	vec_deinit(&prog->fault_links);
}

struct error *fault_in_attach(struct set_prog *prog, size_t f)
{
	_cleanup_free_ struct fetch_value *values = calloc(prog->shape.n + 1, sizeof(*values));

	if (!values)
		return error_nomem();
	place_values(prog, prog->forms.v[f].point, values);
	if (!prog->points.path || !has_strings(values, prog->shape.n))
		return NULL;
	struct error *err = fault_in(prog, f, values);
	if (!err || err->code == ENOMEM)
		return err;
	log_debug(prog->set->opts.log,
		  "program %s: strings that are not paged in cannot be read: %s",
		  bpf_program__name(prog->prog), err->msg);
	error_free(err);
	return NULL;
}
