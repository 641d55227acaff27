// SPDX-License-Identifier: BSD-2-Clause
#include "work/bpf_file.h"

#include <bpf/btf.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/value_input.h"
#include "inspect/variable.h"
#include "lib/attach/attach.h"
#include "lib/base/names.h"
#include "lib/btf/open.h"
#include "lib/object/object.h"
#include "lib/sys/sys.h"
#include "work/builtin.h"

enum {
	MAX_WHOLE = 64 << 20,
};

static struct error *open_whole(struct bpf_file *file, const char *path, const struct log *log)
{
	char *data;
	size_t size;

	TRY(sys_read_file(path, MAX_WHOLE, &data, &size));
	file->image = data;
	return object_open_mem_of(data, size, path, NULL, log, &file->obj);
}

struct error *bpf_file_open(struct bpf_file *file, const char *path,
			    const struct bpf_file_opts *opts)
{
	if (opts->builtins && builtin_is_name(path))
		TRY(builtin_open(path, opts->log, &file->obj));
	else if (opts->whole && !compile_is_source(path))
		TRY(open_whole(file, path, opts->log));
	else
		TRY(compile_open(path, opts->compile, opts->log, &file->obj, &file->image));
	if (!bpf_object__next_program(file->obj, NULL))
		return error_hint(error_at(error_new(ENOENT, "contains no BPF program"), "%s",
					   path),
				  "put a function into a section that names its target: "
				  "SEC(\"tracepoint/sched/sched_switch\")");
	return NULL;
}

void bpf_file_close(struct bpf_file *file)
{
	bpf_file_detach(file);
	vec_deinit(&file->links);
	bpf_object__close(file->obj);
	free(file->image);
}

struct error *bpf_file_attach(struct bpf_file *file, const struct bpf_program *prog,
			      struct bpf_link **out)
{
	return bpf_file_attach_pid(file, prog, -1, out);
}

struct error *bpf_file_attach_pid(struct bpf_file *file, const struct bpf_program *prog, pid_t pid,
				  struct bpf_link **out)
{
	struct bpf_link **slot = vec_push(&file->links), *link = NULL;

	if (!slot)
		return error_nomem();
	struct error *err =
		pid > 0 ? attach_program_pid(prog, pid, &link) : attach_program(prog, &link);
	if (err) {
		file->links.n--;
		return err;
	}
	*slot = link;
	if (out)
		*out = link;
	return NULL;
}

void bpf_file_detach(struct bpf_file *file)
{
	struct bpf_link **link;

	vec_for_each (link, &file->links)
		bpf_link__destroy(*link);
	file->links.n = 0;
}

/* ---- settings ---- */

void target_name_deinit(struct target_name *t)
{
	free(t->name);
	vec_deinit(&t->ranges);
}

static bool read_index(const char **p, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)**p))
		return false;
	errno = 0;
	*v = strtoull(*p, &end, 0);
	*p = end;
	return !errno;
}

struct error *target_name_parse(const char *text, struct target_name *t)
{
	size_t n = strcspn(text, "[");
	const char *p = text + n;

	t->name = strndup(text, n);
	if (!t->name)
		return error_nomem();
	if (!*p)
		return NULL;
	do {
		struct index_range *r = vec_push(&t->ranges);

		if (!r)
			return error_nomem();
		p++; /* '[' or ',' */
		if (!read_index(&p, &r->from))
			return error_new(EINVAL, "an index is missing in '%s'", text);
		r->to = r->from;
		if (*p == '-') {
			p++;
			if (!read_index(&p, &r->to))
				return error_new(EINVAL, "an index is missing in '%s'", text);
		}
		if (r->to < r->from)
			return error_new(EINVAL, "the range %llu-%llu is empty",
					 (unsigned long long)r->from, (unsigned long long)r->to);
	} while (*p == ',');
	if (p[0] != ']' || p[1])
		return error_new(EINVAL, "'%s' is not a list of indexes", text + n);
	return NULL;
}

/* An array's elements: those in brackets, or all of them to the same value. */
static struct error *set_elements(const struct btf *btf, const struct btf_array *array,
				  const struct target_name *target, const char *text,
				  const struct map_variable *v)
{
	const struct index_range all = {0, array->nelems - 1};
	const int64_t size = btf__resolve_size(btf, array->type);
	const size_t n = target->ranges.n;

	if (size <= 0 || (uint64_t)size * array->nelems > v->size)
		return error_new(EINVAL, "variable '%s' has no data to set", target->name);
	for (size_t k = 0; k < max_of(n, (size_t)1); k++) {
		const struct index_range *r = n ? &target->ranges.v[k] : &all;

		if (r->to >= array->nelems)
			return error_new(ERANGE, "index %llu is beyond the array's %u elements",
					 (unsigned long long)r->to, array->nelems);
		for (uint64_t i = r->from; i <= r->to; i++)
			TRY(value_input(btf, array->type, text, v->data + i * size, size));
	}
	return NULL;
}

/* Whether text gives an array as a whole: a string for chars, or a list. */
static bool is_whole(const struct btf *btf, const struct btf_array *array, const char *text)
{
	return *text == '[' || btf_is_char(btf, array->type);
}

struct error *object_set_variable(struct bpf_object *obj, const char *text, const char *value,
				  bool *found)
{
	_cleanup_target_name_ struct target_name target = {0};
	const struct btf *btf = bpf_object__btf(obj);
	struct map_variable v;

	TRY(target_name_parse(text, &target));
	struct error *err = object_variable_find(obj, target.name, &v);
	if (found)
		*found = !err;
	if (found && err && err->code == ENOENT) {
		error_free(err);
		return NULL;
	}
	TRY(err);
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, v.type, NULL);
	if (btf_is_array(t) && (target.ranges.n || !is_whole(btf, btf_array(t), value)))
		return set_elements(btf, btf_array(t), &target, value, &v);
	if (target.ranges.n)
		return error_new(EINVAL, "variable '%s' is not an array", target.name);
	return value_input(btf, v.type, value, v.data, v.size);
}

struct error *object_find_map(struct bpf_object *obj, const char *name, struct bpf_map **out)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, name);

	if (map) {
		*out = map;
		return NULL;
	}
	struct nearest near = nearest_make(name);
	bpf_object__for_each_map (map, obj)
		nearest_offer(&near, bpf_map__name(map));
	struct error *err = error_new(ENOENT, "unknown map '%s'", name);
	return error_suggest(err, &near);
}
