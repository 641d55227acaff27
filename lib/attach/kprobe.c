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
#include "lib/sys/tracefs.h"

enum {
	MAX_KALLSYMS = 256 << 20,
};

static struct error *no_kprobes(struct error *err)
{
	if (!err || err->code != ENOENT)
		return err;
	error_free(err);
	return error_hint(error_new(EOPNOTSUPP,
				    "this kernel has no kprobes for perf events (no PMU 'kprobe')"),
			  "it was built without CONFIG_KPROBE_EVENTS: attach to a tracepoint "
			  "('perf list tracepoint'), or try fentry");
}

struct error *kprobe_event(const char *func, uint64_t offset, bool retprobe,
			   struct attach_event *event)
{
	_cleanup_attach_event_ struct attach_event got = {.attr.size = sizeof(got.attr)};
	char *end;

	if (!*func)
		return error_hint(error_new(EINVAL, "no function is named"),
				  "name it: SEC(\"kprobe/vfs_read\")");
	if (retprobe && offset)
		return error_new(EINVAL, "%s+%#llx: a return probe has no offset", func,
				 (unsigned long long)offset);
	TRY(no_kprobes(sys_pmu_type(NULL, "kprobe", &got.attr.type)));
	if (retprobe) {
		struct sys_pmu_field field;

		TRY(sys_pmu_field(NULL, "kprobe", "retprobe", &field));
		sys_pmu_field_set(&field, &got.attr, 1);
	}
	got.name = text_format("probe:%s%s", func, retprobe ? "__return" : "");
	got.where = offset ? text_format("function %s+%#llx of the kernel", func,
					 (unsigned long long)offset)
			   : text_format("function %s of the kernel", func);
	got.text = strdup(func);
	if (!got.name || !got.where || !got.text)
		return error_nomem();
	errno = 0;
	uint64_t address = strtoull(func, &end, 16);
	if (!strncmp(func, "0x", 2) && end > func + 2 && !*end && !errno) {
		got.attr.kprobe_addr = address + offset;
	} else {
		got.attr.kprobe_func = (uint64_t)(uintptr_t)got.text;
		got.attr.probe_offset = offset;
	}
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
		return error_hint(error_new(EINVAL, "'%s' is no function and offset",
					    section->target),
				  "write it as in vfs_read+0x10");
	_cleanup_free_ char *func = strndup(section->target, len);
	if (!func)
		return error_nomem();
	return kprobe_event(func, offset, section->kind == PROGRAM_KRETPROBE, event);
}

/* Functions of the kernel near to that name; the table has some 200,000 lines. */
static struct error *no_such_function(const char *func)
{
	struct error *err = error_new(ENOENT, "the kernel has no function %s", func);
	struct nearest near = nearest_make(func);
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *path = text_format("%s/kallsyms", sys_roots_default.proc);
	_cleanup_error_ struct error *unread =
		path ? sys_read_file(path, MAX_KALLSYMS, &text, NULL) : error_nomem();
	bool exists = false;

	if (unread)
		return err;
	/* ffffffff81000000 T _text\t[module] */
	for (char *line = text, *next; *line; line = next) {
		char *end = line + strcspn(line, "\n");
		char *type = line + strcspn(line, " \n");

		next = *end ? end + 1 : end;
		*end = 0;
		if (type + 3 > end || !strchr("tTwW", type[1]))
			continue;
		char *name = type + 3;
		name[strcspn(name, "\t")] = 0;
		exists |= !strcmp(name, func);
		nearest_offer(&near, name);
	}
	if (exists) {
		error_free(err);
		return error_hint(error_new(ENOENT, "the kernel's function %s cannot be probed",
					    func),
				  "the kernel keeps its own probing machinery off limits");
	}
	if (nearest_text(&near, &sb) && !strbuf_failed(&sb))
		return error_hint(err, "did you mean %s?", strbuf_str(&sb));
	return error_hint(err, "it may be inlined, or its module not loaded; /proc/kallsyms lists "
			       "the functions there are");
}

static struct error *refused(const struct attach_event *event, int err)
{
	return error_new(err, "cannot put a probe into %s", event->where);
}

struct error *kprobe_explain(const struct attach_event *event, int err)
{
	bool in_kernel = !strncmp(event->name, "probe:", 6);

	err = abs(err);
	switch (err) {
	case ENOENT:
		return in_kernel ? no_such_function(event->text) : NULL;
	case EADDRNOTAVAIL:
		return error_hint(error_new(err, "%s: several functions have that name",
					    event->where),
				  "name one by its address: 'grep -w %s /proc/kallsyms', then "
				  "SEC(\"kprobe/0xADDRESS\")",
				  event->text);
	case EILSEQ:
		return error_hint(refused(event, err), "no instruction begins at this offset");
	case EINVAL:
		return error_hint(refused(event, err),
				  in_kernel ? "the function is on the kernel's list of those not "
					      "to be probed (/sys/kernel/debug/kprobes/blacklist), "
					      "or no instruction begins there"
					    : "no instruction begins there, or it is one that "
					      "cannot be probed");
	case ENOTSUP:
	case 524: /* ENOTSUPP */
		return error_hint(refused(event, err), "the instruction there cannot be probed");
	}
	return NULL;
}

struct bpf_link *bpf_program__attach_kprobe_opts(const struct bpf_program *prog,
						 const char *func_name,
						 const struct bpf_kprobe_opts *opts)
{
	_cleanup_attach_event_ struct attach_event event = {0};
	struct bpf_link *link = NULL;
	struct error *err = OPTS_CHECK(opts, bpf_kprobe_opts);
	enum probe_attach_mode mode = OPTS_GET(opts, attach_mode, PROBE_ATTACH_MODE_DEFAULT);

	if (!err && mode == PROBE_ATTACH_MODE_LEGACY)
		err = error_new(EOPNOTSUPP, "kprobes are put in place by their PMU, not by "
					    "tracefs");
	if (!err && mode == PROBE_ATTACH_MODE_LINK && !sys_bpf_has(SYS_BPF_PERF_LINK))
		err = error_new(EOPNOTSUPP, "this kernel has no BPF links to perf events");
	if (!err)
		err = kprobe_event(func_name, OPTS_GET(opts, offset, 0),
				   OPTS_GET(opts, retprobe, false), &event);
	if (!err)
		err = event_attach(prog, &event, -1, OPTS_GET(opts, bpf_cookie, 0),
				   mode == PROBE_ATTACH_MODE_PERF, &link);
	return err ? edge_null(attach_error_at(prog, err)) : link;
}

struct bpf_link *bpf_program__attach_kprobe(const struct bpf_program *prog, bool retprobe,
					    const char *func_name)
{
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .retprobe = retprobe);

	return bpf_program__attach_kprobe_opts(prog, func_name, &opts);
}
