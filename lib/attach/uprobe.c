// SPDX-License-Identifier: BSD-2-Clause
/*
 * uprobes by their PMU (4.17): attr.config1 points to the file's path and
 * config2 is the offset in the file. The PMU's terms "retprobe" and
 * "ref_ctr_offset" (a USDT semaphore's place in the file, 4.20) fill config
 * (kernel/events/core.c, perf_uprobe_event_init).
 *
 * A section names the probe point as BINARY:FUNCTION, BINARY:FUNCTION+OFFSET or
 * BINARY:OFFSET. Names of functions can contain all of these signs (Go's
 * "type:.eq.main.Order"): the binary is the longest one that exists, and a
 * function whose name is all of the rest comes before an offset.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/attach/internal.h"

static struct error *no_uprobes(struct error *err)
{
	if (!err || err->code != ENOENT)
		return err;
	error_free(err);
	return error_hint(error_new(EOPNOTSUPP,
				    "this kernel has no uprobes for perf events (no PMU 'uprobe')"),
			  "it was built without CONFIG_UPROBE_EVENTS");
}

static struct error *set_term(struct perf_event_attr *attr, const char *term, uint64_t value)
{
	struct sys_pmu_field field;

	TRY(sys_pmu_field(NULL, "uprobe", term, &field));
	if (!sys_pmu_field_set(&field, attr, value))
		return error_new(EINVAL, "%s: %#llx is too large", term, (unsigned long long)value);
	return NULL;
}

/* "libc" of /lib/x86_64-linux-gnu/libc.so.6, as perf names its uprobe events. */
static size_t stem_of(const char *path, const char **stem)
{
	const char *slash = strrchr(path, '/');

	*stem = slash ? slash + 1 : path;
	return strcspn(*stem, ".-");
}

/* Its function's offset in the file; 0: there is none. */
static struct error *find_function(const char *path, const struct uprobe_target *target,
				   uint64_t *offset)
{
	_cleanup_elf_ struct elf_file *file = NULL;
	struct error *err = NULL;

	*offset = 0;
	if (target->func || target->retprobe)
		err = binary_open(path, &file);
	if (err && !target->func) { /* the kernel's affair */
		error_free(err);
		return NULL;
	}
	TRY(err);
	if (target->func)
		TRY(binary_symbol_offset(file, target->func, offset));
	return target->retprobe && file ? binary_check_returns(file) : NULL;
}

static struct error *uprobe_place(const struct uprobe_target *target, struct attach_event *event)
{
	_cleanup_attach_event_ struct attach_event got = {
		.attr.size = sizeof(got.attr),
		.is_probe = true,
		.at_return = target->retprobe,
		.ref_ctr_offset = target->ref_ctr_offset,
	};
	const char *stem;

	TRY(binary_find(target->binary, &got.text));
	TRY(find_function(got.text, target, &got.offset));
	got.offset += target->offset;

	size_t stem_len = stem_of(got.text, &stem);
	const char *ret = target->retprobe ? "__return" : "";
	if (target->func) {
		got.name = text_format("probe_%.*s:%s%s", (int)stem_len, stem, target->func, ret);
		got.where = text_format("function %s of %s (at %#llx in the file)", target->func,
					got.text, (unsigned long long)got.offset);
	} else {
		got.name = text_format("probe_%.*s:abs_%llx%s", (int)stem_len, stem,
				       (unsigned long long)got.offset, ret);
		got.where =
			text_format("offset %#llx of %s", (unsigned long long)got.offset, got.text);
	}
	if (!got.name || !got.where)
		return error_nomem();
	_cleanup_uprobe_code_ struct uprobe_code code = {0};
	uprobe_code_open(got.text, &code);
	TRY(uprobe_code_check(&code, got.where, got.offset));
	*event = got;
	got = (struct attach_event){0};
	return NULL;
}

struct error *uprobe_attr(struct attach_event *event)
{
	struct perf_event_attr *attr = &event->attr;

	TRY(no_uprobes(sys_pmu_type(NULL, "uprobe", &attr->type)));
	if (event->at_return)
		TRY(set_term(attr, "retprobe", 1));
	if (event->ref_ctr_offset)
		TRY(set_term(attr, "ref_ctr_offset", event->ref_ctr_offset));
	attr->uprobe_path = (uint64_t)(uintptr_t)event->text;
	attr->probe_offset = event->offset;
	return NULL;
}

struct error *uprobe_event(const struct uprobe_target *target, struct attach_event *event)
{
	_cleanup_attach_event_ struct attach_event got = {0};

	TRY(uprobe_place(target, &got));
	TRY(uprobe_attr(&got));
	*event = got;
	got = (struct attach_event){0};
	return NULL;
}

struct error *attach_event_file(const char *path, uint64_t offset, bool at_return,
				struct attach_event *event)
{
	const struct uprobe_target target = {
		.binary = path, .offset = offset, .retprobe = at_return};

	return uprobe_event(&target, event);
}

struct error *binary_split(const char *text, char **binary, const char **function)
{
	const char *last = strrchr(text, ':');

	for (const char *colon = last; colon; colon = memrchr(text, ':', (size_t)(colon - text))) {
		_cleanup_free_ char *name = strndup(text, (size_t)(colon - text)), *path = NULL;
		struct error *err = name ? NULL : error_nomem();

		if (!err && *name && colon[1])
			err = binary_find(name, &path);
		/* The error is that of the whole. */
		if (path || (err && err->code == ENOMEM)) {
			*binary = steal_ptr(name);
			*function = colon + 1;
			return err;
		}
		error_free(err);
	}
	if (!last || last == text || !last[1])
		return error_new(EINVAL, "'%s' is not BINARY:FUNCTION", text);
	*function = last + 1;
	*binary = strndup(text, (size_t)(last - text));
	return *binary ? NULL : error_nomem();
}

static bool has_function(const char *binary, const char *name)
{
	const struct uprobe_target target = {.func = name};
	_cleanup_free_ char *path = NULL;
	uint64_t offset;
	struct error *err = binary_find(binary, &path);

	if (!err)
		err = find_function(path, &target, &offset);
	error_free(err);
	return !err;
}

struct error *uprobe_section_event(const struct bpf_program *prog, struct attach_event *event)
{
	const struct section_info *section = program_section(prog);
	struct uprobe_target target = {.retprobe = section->kind == PROGRAM_URETPROBE};
	_cleanup_free_ char *binary = NULL, *func = NULL;
	const char *name;
	size_t len;
	char *end;

	TRY(error_hint(binary_split(section->target, &binary, &name),
		       "write it as in SEC(\"uprobe/libc.so.6:malloc\") or "
		       "SEC(\"uprobe//usr/bin/bash:readline+0x10\")"));
	target.binary = binary;
	if (*name >= '0' && *name <= '9') {
		errno = 0;
		target.offset = strtoull(name, &end, 0);
		if (errno || *end)
			return error_new(EINVAL, "'%s' is not an offset", name);
		return uprobe_place(&target, event);
	}
	if (strchr(name, '+') && has_function(binary, name)) {
		target.func = name;
		return uprobe_place(&target, event);
	}
	if (!split_offset(name, &len, &target.offset))
		return error_new(EINVAL, "'%s' is not FUNCTION+OFFSET", name);
	func = strndup(name, len);
	if (!func)
		return error_nomem();
	target.func = func;
	return uprobe_place(&target, event);
}

struct error *uprobe_attach_pid(const struct bpf_program *prog, pid_t pid, struct bpf_link **link)
{
	_cleanup_attach_event_ struct attach_event event = {0};

	TRY(uprobe_section_event(prog, &event));
	return probe_attach(prog, &event, pid, 0, PROBE_ATTACH_MODE_DEFAULT, link);
}

struct error *attach_uprobe(const struct bpf_program *prog, pid_t pid, const char *binary,
			    size_t offset, const struct bpf_uprobe_opts *opts,
			    struct bpf_link **link)
{
	_cleanup_attach_event_ struct attach_event event = {0};

	TRY(OPTS_CHECK(opts, bpf_uprobe_opts));
	const struct uprobe_target target = {
		.binary = binary,
		.func = OPTS_GET(opts, func_name, NULL),
		.offset = offset,
		.ref_ctr_offset = OPTS_GET(opts, ref_ctr_offset, 0),
		.retprobe = OPTS_GET(opts, retprobe, false),
	};
	if (!binary)
		return error_new(EINVAL, "the binary is missing");
	TRY(uprobe_place(&target, &event));
	return probe_attach(prog, &event, pid, OPTS_GET(opts, bpf_cookie, 0),
			    OPTS_GET(opts, attach_mode, PROBE_ATTACH_MODE_DEFAULT), link);
}

struct bpf_link *bpf_program__attach_uprobe_opts(const struct bpf_program *prog, pid_t pid,
						 const char *binary_path, size_t func_offset,
						 const struct bpf_uprobe_opts *opts)
{
	struct bpf_link *link = NULL;
	struct error *err = attach_uprobe(prog, pid, binary_path, func_offset, opts, &link);

	return err ? edge_null(attach_error_at(prog, err)) : link;
}

struct bpf_link *bpf_program__attach_uprobe(const struct bpf_program *prog, bool retprobe,
					    pid_t pid, const char *binary_path, size_t func_offset)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = retprobe);

	return bpf_program__attach_uprobe_opts(prog, pid, binary_path, func_offset, &opts);
}
