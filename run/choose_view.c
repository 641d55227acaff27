// SPDX-License-Identifier: BSD-2-Clause
/*
 * A place is looked for without loading anything. A tracepoint that has an id is
 * there; a probe is opened and closed again, since only the kernel knows whether
 * it takes one at that function (of a tracepoint that would cost two grace
 * periods, some 30 ms). The programs that go by a name in the kernel's BTF are looked up
 * there; whether the kernel takes fentry programs at all is a feature's probe.
 */
#include "run/choose_view.h"

#include <bpf/btf.h>
#include <string.h>
#include <unistd.h>

#include "lib/attach/attach.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/btf/open.h"
#include "lib/object/object.h"
#include "lib/sys/probe_features.h"
#include "lib/sys/sys.h"

#define TAG "perf-bpf-one-of:"

/* Of a tag "GROUP=SET", the set: its programs are attached together. Of "GROUP": empty. */
static const char *set_of(const char *tag)
{
	return tag + strcspn(tag, "=");
}

struct group {
	const char *name; /* the tag of its first program, in the object's BTF */
	const char *taken;
	const char *taken_set;
	struct strbuf why; /* of those that cannot be */
};

struct choice {
	const struct log *log;
	struct sys_features *features; /* NULL until asked */
	VEC(struct group) groups;
};

static void choice_deinit(struct choice *c)
{
	struct group *group;

	vec_for_each (group, &c->groups)
		strbuf_deinit(&group->why);
	vec_deinit(&c->groups);
	sys_features_free(c->features);
}

static struct error *need_feature(struct choice *c, const char *name)
{
	if (!c->features)
		c->features = sys_features_new(NULL);
	if (!c->features)
		return error_nomem();
	const struct sys_feature_result *result = sys_feature_get(c->features, name);

	if (!result || result->works)
		return NULL;
	return error_new(ENOTSUP, "%s", *result->reason ? result->reason : "the kernel rejects it");
}

static struct error *check_btf(const struct bpf_program *prog, enum bpf_attach_type type,
			       const char *what)
{
	const char *target = program_section(prog)->target;
	int id = libbpf_find_vmlinux_btf_id(target, type);

	return id > 0 ? NULL : error_new(ENOENT, "the kernel has no %s %s", what, target);
}

static struct error *check_event(const struct bpf_program *prog)
{
	_cleanup_attach_event_ struct attach_event event = {0};

	TRY(attach_event_of(prog, &event));
	if (!event.is_probe)
		return NULL;
	event.attr.disabled = true;
	_cleanup_close_ int fd = sys_perf_event_open(&event.attr, -1, 0, -1, 0);
	return fd < 0 ? attach_event_explain(&event, -1, 0, fd) : NULL;
}

/* NULL: as far as can be seen the program can be attached. */
static struct error *check_place(struct choice *c, const struct bpf_program *prog)
{
	switch (program_section(prog)->kind) {
	case PROGRAM_TRACEPOINT:
	case PROGRAM_UPROBE:
	case PROGRAM_URETPROBE:
	case PROGRAM_KPROBE:
	case PROGRAM_KRETPROBE:
		return check_event(prog);
	case PROGRAM_RAW_TRACEPOINT:
	case PROGRAM_TP_BTF:
		return check_btf(prog, BPF_TRACE_RAW_TP, "tracepoint");
	case PROGRAM_FENTRY:
	case PROGRAM_FEXIT:
		TRY(check_btf(prog, BPF_TRACE_FENTRY, "function"));
		return need_feature(c, "attach.fentry");
	case PROGRAM_KPROBE_MULTI:
	case PROGRAM_KRETPROBE_MULTI:
		return need_feature(c, "attach.kprobe_multi");
	case PROGRAM_PERF_EVENT:
		return NULL; /* which event it is may be the command line's to say */
	default:
		return attaches_by_section(prog)
			       ? NULL
			       : error_new(EINVAL, "the section name has no attach target");
	}
}

const char *program_tag(const struct btf *btf, const struct bpf_program *prog, const char *prefix)
{
	int func = btf ? btf__find_by_name_kind(btf, bpf_program__name(prog), BTF_KIND_FUNC) : 0;

	for (uint32_t id = 1; func > 0 && id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *name = btf__name_by_offset(btf, t->name_off);

		if (btf_is_decl_tag(t) && t->type == (uint32_t)func &&
		    !strncmp(name, prefix, strlen(prefix)))
			return name + strlen(prefix);
	}
	return NULL;
}

/* The program's group; NULL: it is in none. */
static struct error *find_group(struct choice *c, const struct btf *btf,
				const struct bpf_program *prog, struct group **out,
				const char **set)
{
	const char *name = program_tag(btf, prog, TAG);
	struct group *group;

	*out = NULL;
	if (!name)
		return NULL;
	const size_t len = (size_t)(set_of(name) - name);
	*set = set_of(name);
	vec_for_each (group, &c->groups) {
		if (!strncmp(group->name, name, len) && set_of(group->name) == group->name + len) {
			*out = group;
			return NULL;
		}
	}
	group = vec_push(&c->groups);
	if (!group)
		return error_nomem();
	*group = (struct group){.name = name, .why = STRBUF_INIT};
	*out = group;
	return NULL;
}

static struct error *choose(struct choice *c, const struct btf *btf, struct bpf_program *prog)
{
	struct group *group;
	const char *set = NULL;

	TRY(find_group(c, btf, prog, &group, &set));
	if (group && group->taken && !(*set && !strcmp(set, group->taken_set))) {
		log_info(c->log, "program %s is skipped: %s is available", bpf_program__name(prog),
			 group->taken);
		return NULL;
	}
	_cleanup_error_ struct error *why = check_place(c, prog);
	if (why && why->code == ENOMEM)
		return steal_ptr(why);
	if (why) {
		log_info(c->log, "program %s is skipped: %s", bpf_program__name(prog), why->msg);
		if (group)
			strbuf_addf(&group->why, "%s%s: %s", group->why.len ? "; " : "",
				    bpf_program__section_name(prog), why->msg);
		return NULL;
	}
	if (group) {
		group->taken = bpf_program__name(prog);
		group->taken_set = set;
	}
	if (bpf_program__set_autoload(prog, true))
		return error_new(EINVAL, "cannot load program %s", bpf_program__name(prog));
	return NULL;
}

struct error *programs_choose(struct bpf_object *obj, const struct log *log)
{
	_cleanup_(choice_deinit) struct choice c = {.log = log};
	struct bpf_program *prog;
	struct group *group;

	bpf_object__for_each_program (prog, obj)
		if (!program_section(prog)->autoload)
			TRY(choose(&c, bpf_object__btf(obj), prog));
	vec_for_each (group, &c.groups) {
		if (group->taken)
			continue;
		if (strbuf_failed(&group->why))
			return error_nomem();
		return error_at(
			error_new(ENOTSUP,
				  "none of its %.*s programs can be attached on this kernel: %s",
				  (int)(set_of(group->name) - group->name), group->name,
				  strbuf_str(&group->why)),
			"%s", object_path(obj));
	}
	return NULL;
}
