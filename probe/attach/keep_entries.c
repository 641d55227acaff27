// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parameters that a point needs as they were at the function's entry (FETCH_ENTRY): a program at
 * each such entry keeps the registers in a map; see probe/prologue/entry_values.c. These programs
 * are attached before the points, as a function that was entered before has no values.
 *
 * By uprobe.multi where the kernel has it, else by a perf event each, which may be attached for all
 * processes on one CPU: the kernel runs its program on all of them.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include "lib/attach/attach.h"
#include "lib/sys/bpf_syscall.h"
#include "lib/sys/missing_caps.h"
#include "lib/sys/sys.h"
#include "lib/sys/uapi.h"
#include "probe/attach/internal.h"

enum {
	MOST_FRAMES = 16384, /* that are kept at a time; the least recently used go first */
	MOST_FUNCTIONS = 256,
};

struct entry_point {
	const struct set_prog *prog;
	uint64_t address, file_offset;
};

typedef VEC(struct entry_point) entry_points;

static struct error *add_entry(entry_points *entries, const struct set_prog *prog,
			       const struct probe_point *point, uint64_t address)
{
	const struct entry_point *known;

	vec_for_each (known, entries)
		if (known->address == address &&
		    str_equal(known->prog->points.path, prog->points.path))
			return NULL;
	if (entries->n == MOST_FUNCTIONS)
		return error_hint(
			error_new(E2BIG, "it needs values at the entries of more than %d functions",
				  MOST_FUNCTIONS),
			"match fewer functions, or name the arguments");
	struct entry_point *entry = vec_push(entries);
	if (!entry)
		return error_nomem();
	/* The finder made sure that both are in one segment. */
	*entry = (struct entry_point){
		.prog = prog,
		.address = address,
		.file_offset = point->file_offset - (point->address - address),
	};
	return NULL;
}

static struct error *add_point(entry_points *entries, const struct set_prog *prog, size_t i)
{
	const struct probe_point *point = &prog->points.v[i];

	for (size_t a = 0; a < prog->shape.n; a++) {
		const struct fetch_value *value = &point->args[prog->shape.args[a]];

		for (size_t p = 0; p < value->n_pieces; p++)
			for (size_t k = 0; k < value->pieces[p].n_insns; k++) {
				const struct fetch_insn *insn = &value->pieces[p].insns[k];

				if (insn->op == FETCH_ENTRY)
					TRY(add_entry(entries, prog, point, (uint64_t)insn->imm));
			}
	}
	return NULL;
}

static struct error *find_entries(const struct probe_set *set, entry_points *entries)
{
	struct set_prog *const *prog;

	vec_for_each (prog, &set->progs)
		for (size_t i = 0; (*prog)->points.path && i < (*prog)->points.n; i++)
			if ((*prog)->places[i].way)
				TRY(program_error_at((*prog)->prog, add_point(entries, *prog, i)));
	return NULL;
}

static struct error *make_map(struct probe_set *set)
{
	const int fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "probe_entries",
				      sizeof(struct prologue_entry_key),
				      sizeof(struct prologue_entry), MOST_FRAMES, NULL);

	if (fd < 0) {
		struct error *err = error_errno(-fd, "cannot create a map for values at the entry "
						     "of functions");
		return fd == -EPERM ? sys_hint_caps(err, NULL, SYS_CAP(SYS_CAP_BPF), NULL) : err;
	}
	set->entries = fd;
	return NULL;
}

static struct error *load_program(const struct probe_set *set, const struct entry_point *entry,
				  bool multi, int *fd)
{
	_cleanup_prologue_ struct prologue code = {0};
	LIBBPF_OPTS(bpf_prog_load_opts, opts);

	if (multi)
		opts.expected_attach_type = (enum bpf_attach_type)BPF_TRACE_UPROBE_MULTI;
	TRY(prologue_entry_program(regs_of(entry->prog->points.machine), entry->address,
				   set->entries, &code));
	*fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "probe_entry", "GPL", code.insns, code.n, &opts);
	return *fd < 0 ? error_errno(-*fd, "cannot load the program for values at function entry")
		       : NULL;
}

static struct error *link_entry(const struct probe_set *set, const struct entry_point *entry,
				const struct attach_event *event, bool multi, int prog, int *link)
{
	const pid_t pid = set->opts.pid;

	if (multi) {
		const unsigned long offset = entry->file_offset;
		LIBBPF_OPTS(bpf_link_create_opts, opts, .uprobe_multi.path = event->text,
			    .uprobe_multi.offsets = &offset, .uprobe_multi.cnt = 1,
			    .uprobe_multi.pid = pid > 0 ? (__u32)pid : 0);

		*link = bpf_link_create(prog, 0, (enum bpf_attach_type)BPF_TRACE_UPROBE_MULTI,
					&opts);
	} else {
		*link = sys_perf_event_open(&event->attr, pid > 0 ? pid : -1, pid > 0 ? -1 : 0, -1,
					    PERF_FLAG_FD_CLOEXEC);
	}
	if (*link < 0)
		return error_errno(-*link, "cannot attach to the function's entry");
	struct error *err = multi ? NULL : sys_perf_set_bpf(*link, prog);
	if (!err && !multi)
		err = sys_perf_enable(*link);
	if (err) {
		close(*link);
		*link = -1;
	}
	return err;
}

static struct error *keep_entry(struct probe_set *set, const struct entry_point *entry)
{
	_cleanup_attach_event_ struct attach_event event = {0};
	const bool multi = sys_bpf_has(SYS_BPF_UPROBE_MULTI);
	_cleanup_close_ int prog = -1;
	int link = -1;

	/* It also checks that the kernel places a uprobe there. */
	TRY(attach_event_file(entry->prog->points.path, entry->file_offset, false, &event));
	TRY(load_program(set, entry, multi, &prog));
	TRY(link_entry(set, entry, &event, multi, prog, &link));
	int *slot = vec_push(&set->entry_links);
	if (slot)
		*slot = link;
	else
		close(link);
	return slot ? NULL : error_nomem();
}

struct error *entries_keep(struct probe_set *set)
{
	entry_points entries = {0};
	const struct entry_point *entry;
	struct error *err = find_entries(set, &entries);

	if (!err && entries.n)
		err = make_map(set);
	vec_for_each (entry, &entries) {
		if (err)
			break;
		err = program_error_at(entry->prog->prog,
				       error_prefix(keep_entry(set, entry),
						    "values at the entry of a function (%#llx)",
						    (unsigned long long)entry->address));
	}
	vec_deinit(&entries);
	return err;
}

void entries_detach(struct probe_set *set)
{
	const int *link;

	vec_for_each (link, &set->entry_links)
		close(*link);
	vec_deinit(&set->entry_links);
}
