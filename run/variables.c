// SPDX-License-Identifier: BSD-2-Clause
#include "run/variables.h"

#include <bpf/btf.h>
#include <ctype.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inspect/value_input.h"
#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "lib/btf/open.h"
#include "lib/object/object.h"

/* struct perf_bpf_filter of <bpf/perf_bpf_prog.h>: a contract between it and us. */
enum {
	FILTER_MAX = 16,
};

struct filter_data {
	uint32_t n_pids, n_tids, n_uids, n_cgroups, n_comms;
	uint32_t pids[FILTER_MAX];
	uint32_t tids[FILTER_MAX];
	uint32_t uids[FILTER_MAX];
	uint64_t cgroups[FILTER_MAX];
	char comms[FILTER_MAX][16];
};

/* Where a variable's initial value is. */
struct variable {
	uint8_t *data;
	uint32_t type, size;
};

/* *v's data is NULL: there is none of the name; near gets the names there are. */
static void find_variable(struct bpf_object *obj, const char *name, struct variable *v,
			  struct nearest *near)
{
	const struct btf *btf = bpf_object__btf(obj);

	v->data = NULL;
	for (uint32_t id = btf ? btf_start_id(btf) : 1; btf && id < btf__type_cnt(btf); id++) {
		const struct btf_type *sec = btf__type_by_id(btf, id);

		if (!btf_is_datasec(sec) || btf_name(btf, sec)[0] != '.')
			continue;
		struct bpf_map *map = bpf_object__find_map_by_name(obj, btf_name(btf, sec));
		size_t size = 0;
		uint8_t *data = map ? bpf_map__initial_value(map, &size) : NULL;

		for (uint32_t i = 0; data && i < btf_vlen(sec); i++) {
			const struct btf_var_secinfo *info = btf_var_secinfos(sec) + i;
			const char *its = btf_name(btf, btf__type_by_id(btf, info->type));

			if (strcmp(its, name)) {
				nearest_offer(near, its);
				continue;
			}
			if ((uint64_t)info->offset + info->size > size)
				return;
			*v = (struct variable){data + info->offset, info->type, info->size};
			return;
		}
	}
}

struct error *variable_set(struct bpf_object *obj, const char *text, bool *found)
{
	const char *value = strchr(text, '=');
	_cleanup_free_ char *name = value ? strndup(text, value - text) : NULL;
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;
	struct variable v;

	if (!value || value == text)
		return error_hint(error_new(EINVAL, "--set %s: NAME=VALUE is wanted", text),
				  "for instance --set min_us=50");
	if (!name)
		return error_nomem();
	struct nearest near = nearest_make(name);
	find_variable(obj, name, &v, &near);
	if (found)
		*found = v.data != NULL;
	if (v.data)
		return error_prefix(value_input(bpf_object__btf(obj), v.type, value + 1, v.data,
						v.size),
				    "--set %s", name);
	if (found)
		return NULL;
	struct error *err = error_new(ENOENT, "--set %s: there is no such variable", name);
	if (!bpf_object__btf(obj))
		return error_hint(err, "the object has no BTF: compile it with -g");
	return nearest_text(&near, &names) ? error_hint(err, "did you mean %s?", strbuf_str(&names))
					   : err;
}

bool run_filter_any(const struct run_filter *f)
{
	return f->pids || f->tids || f->uids || f->cgroups || f->comms;
}

static struct error *read_number(const char *word, const char *option, uint64_t max, uint64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoull(word, &end, 10);
	if (!isdigit((unsigned char)*word) || *end || errno || *v > max)
		return error_new(EINVAL, "%s: '%s' is not a number", option, word);
	return NULL;
}

static struct error *read_uid(const char *word, uint64_t *v)
{
	const struct passwd *pw = isdigit((unsigned char)*word) ? NULL : getpwnam(word);

	if (pw) {
		*v = pw->pw_uid;
		return NULL;
	}
	if (!isdigit((unsigned char)*word))
		return error_new(ENOENT, "-u: there is no user '%s'", word);
	return read_number(word, "-u", UINT32_MAX, v);
}

/* A cgroup's id is the inode number of its folder (cgroup2). */
static struct error *read_cgroup(const char *word, uint64_t *v)
{
	static const char *const mounts[] = {"", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	struct stat st;

	if (isdigit((unsigned char)*word))
		return read_number(word, "--cgroup", UINT64_MAX, v);
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		_cleanup_free_ char *path =
			text_format("%s%s%s", mounts[i], i && *word != '/' ? "/" : "", word);

		if (!path)
			return error_nomem();
		if (stat(path, &st) || !S_ISDIR(st.st_mode))
			continue;
		*v = st.st_ino;
		return NULL;
	}
	return error_hint(error_new(ENOENT, "--cgroup: there is no cgroup '%s'", word),
			  "give its folder, /sys/fs/cgroup/NAME, or NAME alone");
}

/* Takes a list apart: each word to the option's array. */
static struct error *read_list(const char *list, const char *option, struct filter_data *data)
{
	_cleanup_free_ char *copy = strdup(list);
	char *at = copy, *word;
	uint64_t v = 0;

	if (!copy)
		return error_nomem();
	while ((word = strsep(&at, ","))) {
		uint32_t *n;

		if (!strcmp(option, "-p")) {
			TRY(read_number(word, option, UINT32_MAX, &v));
			n = &data->n_pids;
			if (*n < FILTER_MAX)
				data->pids[*n] = v;
		} else if (!strcmp(option, "-t")) {
			TRY(read_number(word, option, UINT32_MAX, &v));
			n = &data->n_tids;
			if (*n < FILTER_MAX)
				data->tids[*n] = v;
		} else if (!strcmp(option, "-u")) {
			TRY(read_uid(word, &v));
			n = &data->n_uids;
			if (*n < FILTER_MAX)
				data->uids[*n] = v;
		} else if (!strcmp(option, "--cgroup")) {
			TRY(read_cgroup(word, &v));
			n = &data->n_cgroups;
			if (*n < FILTER_MAX)
				data->cgroups[*n] = v;
		} else {
			if (!*word || strlen(word) > 15)
				return error_hint(error_new(EINVAL,
							    "--comm: '%s' is no command's "
							    "name",
							    word),
						  "the kernel keeps the first 15 characters");
			n = &data->n_comms;
			if (*n < FILTER_MAX)
				strcpy(data->comms[*n], word);
		}
		if (++*n > FILTER_MAX)
			return error_new(E2BIG, "%s: more than %d are not possible", option,
					 FILTER_MAX);
	}
	return NULL;
}

struct error *run_filter_apply(struct bpf_object *obj, const struct run_filter *filter,
			       bool *honoured)
{
	const struct {
		const char *list, *option;
	} lists[] = {
		{filter->pids, "-p"},	       {filter->tids, "-t"},	  {filter->uids, "-u"},
		{filter->cgroups, "--cgroup"}, {filter->comms, "--comm"},
	};
	struct nearest near = nearest_make("perf_bpf_filter");
	struct filter_data data = {0};
	struct variable v;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (lists[i].list)
			TRY(read_list(lists[i].list, lists[i].option, &data));
	find_variable(obj, "perf_bpf_filter", &v, &near);
	*honoured = v.data != NULL;
	if (!v.data)
		return NULL;
	if (v.size != sizeof(data))
		return error_hint(error_new(EINVAL, "perf_bpf_filter has %u bytes, not %zu", v.size,
					    sizeof(data)),
				  "the object was compiled with the header of another version");
	memcpy(v.data, &data, sizeof(data));
	return NULL;
}
