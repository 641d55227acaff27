// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the kernel's structs have what the program of a probe reads of tasks: the id of a new
 * thread, and the ids in the PID namespace of the recorder if that is not the initial one.
 */
#include "perf/record/internal.h"

#include <bpf/btf.h>
#include <string.h>

#include "lib/btf/open.h"
#include "lib/sys/proc.h"

static const struct btf_type *find_struct(const struct btf *btf, const char *name)
{
	const int id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT) : -1;

	return id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
}

/* Of a member in bytes; false: there is none of this name. */
static bool find_offset(const struct btf *btf, const char *type, const char *member, uint32_t *out)
{
	const struct btf_type *t = find_struct(btf, type);

	for (unsigned i = 0; t && i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(btf, btf_members(t)[i].name_off);

		if (name && !strcmp(name, member)) {
			*out = btf_member_bit_offset(t, i) / 8;
			return true;
		}
	}
	return false;
}

static bool find_pid_ns(const struct btf *btf, struct output_pid_ns *ns)
{
	const struct btf_type *upid = find_struct(btf, "upid");
	uint32_t common;

	if (!upid || upid->size > OUTPUT_UPID_MAX ||
	    !find_offset(btf, "task_struct", "group_leader", &ns->task_group_leader) ||
	    !find_offset(btf, "task_struct", "thread_pid", &ns->task_thread_pid) ||
	    !find_offset(btf, "pid", "level", &ns->pid_level) ||
	    !find_offset(btf, "pid", "numbers", &ns->pid_numbers) ||
	    !find_offset(btf, "upid", "nr", &ns->upid_nr) ||
	    !find_offset(btf, "upid", "ns", &ns->upid_ns) ||
	    !find_offset(btf, "pid_namespace", "ns", &common) ||
	    !find_offset(btf, "ns_common", "inum", &ns->ns_inum))
		return false;
	ns->ns_inum += common;
	ns->upid_size = upid->size;
	return ns->upid_nr + 4 <= upid->size && ns->upid_ns + 8 <= upid->size;
}

struct error *task_layout_find(const struct recording *rec, struct output_opts *opts)
{
	const bool of_tasks = opts->filter == OUTPUT_PROCESSES || opts->filter == OUTPUT_THREADS;
	const uint32_t inode = sys_pid_ns(rec->roots);

	opts->follows = wanted_follows(rec, opts->filter);
	if (!of_tasks && !inode)
		return NULL;
	_cleanup_(btf__freep) struct btf *btf = btf__load_vmlinux_btf();
	if (inode && find_pid_ns(btf, &opts->pid_ns))
		opts->pid_ns.inode = inode;
	else if (inode && of_tasks)
		return error_hint(error_new(ENOTSUP, "probes cannot be recorded by process in this "
						     "PID namespace: the kernel has no BTF"),
				  "use -a, or record outside of the container");
	else if (inode)
		opts->self = 0; /* it is another process's */
	if (of_tasks)
		find_offset(btf, "task_struct", "pid", &opts->task_pid_offset);
	return NULL;
}
