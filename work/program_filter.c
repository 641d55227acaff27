// SPDX-License-Identifier: BSD-2-Clause
#include "work/program_filter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/variable.h"
#include "lib/object/object.h"
#include "lib/sys/cgroup_paths.h"
#include "lib/sys/proc.h"
#include "work/user_ids.h"

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
	uint32_t self;
	uint32_t reserved; /* to a multiple of 8 */
};

/* struct perf_bpf_owner, in the same way. */
struct owner_data {
	uint32_t is_set, uid, gid;
};

bool program_filter_any(const struct program_filter *f)
{
	return f->pids || f->tids || f->uids || cgroup_choice_any(&f->cgroups) || f->comms;
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

static struct error *take_cgroups(const struct cgroup_choice *choice, struct filter_data *data)
{
	_cleanup_free_ char *root = cgroup_root(NULL);
	struct chosen_cgroups chosen = {0};

	if (!cgroup_choice_any(choice))
		return NULL;
	TRY(cgroups_choose(choice, root, &chosen));
	data->n_cgroups = min_of(chosen.n, (size_t)FILTER_MAX);
	for (size_t i = 0; i < data->n_cgroups; i++)
		data->cgroups[i] = chosen.v[i].id;
	const size_t n = chosen.n;
	chosen_cgroups_deinit(&chosen);
	return n > FILTER_MAX ? error_new(E2BIG, "%zu cgroups are named; at most %d are supported",
					  n, FILTER_MAX)
			      : NULL;
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
			uint32_t uid;

			TRY(user_id_parse(word, &uid));
			v = uid;
			n = &data->n_uids;
			if (*n < FILTER_MAX)
				data->uids[*n] = v;
		} else {
			if (!*word || strlen(word) > 15)
				return error_hint(
					error_new(EINVAL,
						  "--comm: '%s' is not a valid command name", word),
					"the kernel keeps only the first 15 characters");
			n = &data->n_comms;
			if (*n < FILTER_MAX)
				strcpy(data->comms[*n], word);
		}
		if (++*n > FILTER_MAX)
			return error_new(E2BIG, "%s: at most %d are supported", option, FILTER_MAX);
	}
	return NULL;
}

bool program_filter_one_pid(const struct program_filter *filter, pid_t *pid)
{
	char *end;

	if (!filter->pids || filter->tids)
		return false;
	const unsigned long v = strtoul(filter->pids, &end, 10);
	if (end == filter->pids || *end || !v || v > INT32_MAX)
		return false;
	*pid = (pid_t)v;
	return true;
}

/* perf_bpf_pid_ns of <bpf/perf_bpf_prog.h>, if the programs ask for process ids. */
static struct error *set_pid_ns(struct bpf_object *obj)
{
	const uint32_t pid_ns = sys_pid_ns(NULL);
	size_t n;

	return object_variables_set(obj, "perf_bpf_pid_ns", &pid_ns, sizeof(pid_ns), &n);
}

static struct error *has_filter(struct bpf_object *obj, bool *has)
{
	struct map_variable v;
	struct error *err = object_variable_find(obj, "perf_bpf_filter", &v);

	*has = !err;
	if (!err || err->code != ENOENT)
		return err;
	error_free(err);
	return NULL;
}

static struct error *set_filter(struct bpf_object *obj, const struct filter_data *data)
{
	size_t n;
	struct error *err = object_variables_set(obj, "perf_bpf_filter", data, sizeof(*data), &n);

	return err ? error_hint(err,
				"the object was compiled with <bpf/perf_bpf_prog.h> of another "
				"version")
		   : NULL;
}

/* A program that calls perf_bpf_wanted() has it, unless it was compiled before. */
static struct error *set_owner(struct bpf_object *obj, const struct program_owner *owner)
{
	const struct owner_data data = {.is_set = 1, .uid = owner->uid, .gid = owner->gid};
	size_t n = 0;
	struct error *err = object_variables_set(obj, "perf_bpf_owner", &data, sizeof(data), &n);

	if (!err && n)
		return NULL;
	error_free(err);
	return error_hint(error_new(ENOTSUP, "the program does not check which processes a user "
					     "may see"),
			  "compile it with this version's <bpf/perf_bpf_prog.h>, and approve it "
			  "again");
}

struct error *program_filter_apply(struct bpf_object *obj, const struct program_filter *filter,
				   bool *honoured)
{
	const struct {
		const char *list, *option;
	} lists[] = {
		{filter->pids, "-p"},
		{filter->tids, "-t"},
		{filter->uids, "-u"},
		{filter->comms, "--comm"},
	};
	struct filter_data data = {.self = (uint32_t)(filter->self ? filter->self : getpid())};

	TRY(set_pid_ns(obj));
	TRY(has_filter(obj, honoured));
	if (!*honoured)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (lists[i].list)
			TRY(read_list(lists[i].list, lists[i].option, &data));
	TRY(take_cgroups(&filter->cgroups, &data));
	if (filter->owner)
		TRY(set_owner(obj, filter->owner));
	return set_filter(obj, &data);
}
