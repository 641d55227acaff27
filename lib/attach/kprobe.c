// SPDX-License-Identifier: BSD-2-Clause
/*
 * kprobes by their PMU (4.17): an event of the PMU "kprobe" is a probe of its
 * own that goes with its fd. attr.config1 points to the function's name and
 * config2 is the offset in it; or config1 is 0 and config2 an address. The
 * PMU's term "retprobe" asks for the return
 * (kernel/events/core.c, perf_kprobe_event_init).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/attach/internal.h"
#include "lib/sys/kfuncs.h"

static struct error *no_kprobes(struct error *err)
{
	if (!err || err->code != ENOENT)
		return err;
	error_free(err);
	return error_hint(error_new(EOPNOTSUPP,
				    "this kernel has no kprobes for perf events (no PMU 'kprobe')"),
			  "it was built without CONFIG_KPROBE_EVENTS; 'perf-bpf features' "
			  "shows how programs can be attached here");
}

struct error *kprobe_place(const char *func, uint64_t offset, bool retprobe,
			   struct attach_event *event)
{
	_cleanup_attach_event_ struct attach_event got = {
		.attr.size = sizeof(got.attr),
		.is_probe = true,
		.in_kernel = true,
		.at_return = retprobe,
		.offset = offset,
	};

	if (!*func)
		return error_hint(error_new(EINVAL, "the function name is missing"),
				  "write it as in SEC(\"kprobe/vfs_read\")");
	if (retprobe && offset)
		return error_new(EINVAL, "%s+%#llx: a return probe cannot have an offset", func,
				 (unsigned long long)offset);
	got.name = text_format("probe:%s%s", func, retprobe ? "__return" : "");
	got.where = offset ? text_format("function %s+%#llx of the kernel", func,
					 (unsigned long long)offset)
			   : text_format("function %s of the kernel", func);
	got.text = strdup(func);
	if (!got.name || !got.where || !got.text)
		return error_nomem();
	*event = got;
	got = (struct attach_event){0};
	return NULL;
}

struct error *kprobe_attr(struct attach_event *event)
{
	struct perf_event_attr *attr = &event->attr;
	char *end;

	TRY(no_kprobes(sys_pmu_type(NULL, "kprobe", &attr->type)));
	if (event->at_return) {
		struct sys_pmu_field field;

		TRY(sys_pmu_field(NULL, "kprobe", "retprobe", &field));
		sys_pmu_field_set(&field, attr, 1);
	}
	errno = 0;
	uint64_t address = strtoull(event->text, &end, 16);
	if (!strncmp(event->text, "0x", 2) && end > event->text + 2 && !*end && !errno) {
		attr->kprobe_addr = address + event->offset;
	} else {
		attr->kprobe_func = (uint64_t)(uintptr_t)event->text;
		attr->probe_offset = event->offset;
	}
	return NULL;
}

struct error *attach_event_kernel(const char *func, uint64_t offset, bool at_return,
				  struct attach_event *event)
{
	_cleanup_attach_event_ struct attach_event got = {0};

	TRY(kprobe_place(func, offset, at_return, &got));
	TRY(kprobe_attr(&got));
	*event = got;
	got = (struct attach_event){0};
	return NULL;
}

struct error *kprobe_section_event(const struct bpf_program *prog, struct attach_event *event)
{
	const struct section_info *section = program_section(prog);
	size_t len;
	uint64_t offset;

	if (!split_offset(section->target, &len, &offset))
		return error_hint(error_new(EINVAL, "'%s' is not FUNCTION+OFFSET", section->target),
				  "write it as in vfs_read+0x10");
	_cleanup_free_ char *func = strndup(section->target, len);
	if (!func)
		return error_nomem();
	return kprobe_place(func, offset, section->kind == PROGRAM_KRETPROBE, event);
}

static struct error *refused(const struct attach_event *event, int err)
{
	return error_new(err, "cannot put a probe into %s", event->where);
}

struct error *kprobe_explain(const struct attach_event *event, int err)
{
	const bool in_kernel = event->in_kernel;

	err = abs(err);
	if (in_kernel && (err == ENOENT || err == EINVAL))
		TRY(sys_kfunc_refusal(NULL, event->text, false));
	switch (err) {
	case ENOENT:
		return in_kernel ? error_hint(refused(event, err), "its module may not be loaded")
				 : NULL;
	case EADDRNOTAVAIL:
		return error_hint(
			error_new(err, "%s: several functions have that name", event->where),
			"select one by its address: 'grep -w %s /proc/kallsyms', then "
			"SEC(\"kprobe/0xADDRESS\"); or all of them with SEC(\"kprobe.multi/%s\")",
			event->text, event->text);
	case EILSEQ:
		return error_hint(refused(event, err), "no instruction begins at this offset");
	case EINVAL:
		return error_hint(refused(event, err),
				  in_kernel ? "the function is on the kernel's kprobe blacklist "
					      "(/sys/kernel/debug/kprobes/blacklist), or no "
					      "instruction begins there"
					    : "no instruction begins there, or the instruction "
					      "cannot be probed");
	case ENOTSUP:
	case 524: /* ENOTSUPP */
		return error_hint(refused(event, err), "the instruction there cannot be probed");
	}
	return NULL;
}

struct error *attach_kprobe(const struct bpf_program *prog, const char *func,
			    const struct bpf_kprobe_opts *opts, struct bpf_link **link)
{
	_cleanup_attach_event_ struct attach_event event = {0};

	TRY(OPTS_CHECK(opts, bpf_kprobe_opts));
	TRY(kprobe_place(func ? func : "", OPTS_GET(opts, offset, 0),
			 OPTS_GET(opts, retprobe, false), &event));
	return probe_attach(prog, &event, -1, OPTS_GET(opts, bpf_cookie, 0),
			    OPTS_GET(opts, attach_mode, PROBE_ATTACH_MODE_DEFAULT), link);
}

struct bpf_link *bpf_program__attach_kprobe_opts(const struct bpf_program *prog,
						 const char *func_name,
						 const struct bpf_kprobe_opts *opts)
{
	struct bpf_link *link = NULL;
	struct error *err = attach_kprobe(prog, func_name, opts, &link);

	return err ? edge_null(attach_error_at(prog, err)) : link;
}

struct bpf_link *bpf_program__attach_kprobe(const struct bpf_program *prog, bool retprobe,
					    const char *func_name)
{
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .retprobe = retprobe);

	return bpf_program__attach_kprobe_opts(prog, func_name, &opts);
}
