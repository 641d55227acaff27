// SPDX-License-Identifier: BSD-2-Clause
/*
 * The programs of --filter for events that are not tracepoints: sample_filter.bpf.c, once for each
 * of these events, with its tests as constants. The kernel runs it for each sample, and drops the
 * sample if it returns 0.
 */
#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/btf/open.h"
#include "lib/object/object.h"
#include "perf/record/internal.h"

extern const char sample_filter_object[];
extern const size_t sample_filter_object_size;

static bool kernel_has_cast(void)
{
	_cleanup_(btf__freep) struct btf *btf = btf__load_vmlinux_btf();

	return btf && btf__find_by_name_kind(btf, "bpf_cast_to_kern_ctx", BTF_KIND_FUNC) > 0;
}

static struct error *set_tests(struct bpf_object *obj, const struct sample_tests *tests)
{
	struct sample_filter_config config = {.n = (uint32_t)tests->n};

	memcpy(config.tests, tests->v, tests->n * sizeof(*tests->v));
	if (bpf_map__set_initial_value(bpf_object__find_map_by_name(obj, ".rodata.config"), &config,
				       sizeof(config)))
		return error_new(EINVAL, "the program of --filter has another map than expected");
	return NULL;
}

static struct error *open_filter(struct recording *rec, struct event *event)
{
	if (event->pending.n || event->prog.kind != SELECT_PROG_NONE)
		return error_hint(error_usage("'%s' is already filtered by a program", event->name),
				  "the kernel allows one perf_event program per event");
	struct record_object *object = vec_push(&rec->objects);
	if (!object)
		return error_nomem();
	object->path = strdup("--filter");
	if (!object->path)
		return error_nomem();
	TRY(object_open_mem_of(sample_filter_object, sample_filter_object_size, object->path, NULL,
			       rec->log, &object->file.obj));
	TRY(set_tests(object->file.obj, &event->tests));
	struct bpf_program **prog = vec_push(&event->pending);
	if (!prog)
		return error_nomem();
	*prog = bpf_object__find_program_by_name(object->file.obj, "sample_filter");
	return NULL;
}

struct error *sample_filters_open(struct recording *rec)
{
	bool is_checked = false;

	for (size_t i = 0; i < rec->events.n; i++) {
		struct event *event = &rec->events.v[i];

		if (!event->tests.n)
			continue;
		if (!sample_filter_object_size)
			return error_hint(error_new(ENOTSUP,
						    "this perf-bpf was built without clang, and "
						    "has no program for --filter of '%s'",
						    event->name),
					  "build it with clang");
		if (!is_checked && !kernel_has_cast())
			return error_hint(error_new(ENOTSUP,
						    "--filter: this kernel does not let programs "
						    "read the samples of '%s'",
						    event->name),
					  "it needs Linux 6.2 with BTF; a program that you write "
					  "(-e FILE.c) can filter on older kernels");
		is_checked = true;
		TRY(open_filter(rec, event));
	}
	return NULL;
}
