// SPDX-License-Identifier: BSD-2-Clause
#include "work/cgroup_choice.h"

#include <ctype.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "lib/base/arena.h"
#include "lib/base/cleanup.h"
#include "lib/base/names.h"
#include "lib/sys/cgroup_names.h"
#include "lib/sys/cgroup_paths.h"

struct known_cgroup {
	uint64_t id;
	const char *path;      /* in the tree */
	const char *container; /* if it is the container's own; NULL */
	const char *pod;       /* likewise */
};

struct known_cgroups {
	const char *root;
	struct arena arena;
	VEC(struct known_cgroup) list;
	bool failed; /* no memory */
};

static void known_cgroups_deinit(struct known_cgroups *known)
{
	vec_deinit(&known->list);
	arena_deinit(&known->arena);
}

void chosen_cgroups_deinit(struct chosen_cgroups *chosen)
{
	for (size_t i = 0; i < chosen->n; i++)
		free(chosen->v[i].path);
	free(chosen->v);
	*chosen = (struct chosen_cgroups){0};
}

bool cgroup_choice_any(const struct cgroup_choice *choice)
{
	return choice->cgroups || choice->containers || choice->pods;
}

static bool add_known(void *ctx, uint64_t id, const char *path)
{
	struct known_cgroups *known = ctx;
	struct known_cgroup *cgroup = vec_push(&known->list);
	struct cgroup_names names;

	cgroup_names_of(path, &names);
	if (cgroup)
		*cgroup = (struct known_cgroup){
			.id = id,
			.path = arena_strdup(&known->arena, path),
			.container = names.ends_container
					     ? arena_strdup(&known->arena, names.container)
					     : NULL,
			.pod = names.ends_pod ? arena_strdup(&known->arena, names.pod) : NULL,
		};
	known->failed = !cgroup || !cgroup->path || !cgroup->container != !names.ends_container ||
			!cgroup->pod != !names.ends_pod;
	return !known->failed;
}

/* Folders are compared as they are written: those of the tree have no links. */
static struct error *add_chosen(struct chosen_cgroups *chosen, uint64_t id, const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	struct chosen_cgroup *slot;
	size_t n = 0;

	if (!copy)
		return error_nomem();
	for (size_t i = 0; i < chosen->n; i++)
		if (cgroup_is_below(path, chosen->v[i].path))
			return NULL;
	for (size_t i = 0; i < chosen->n; i++) {
		if (cgroup_is_below(chosen->v[i].path, path))
			free(chosen->v[i].path);
		else
			chosen->v[n++] = chosen->v[i];
	}
	chosen->n = n;
	slot = vec_push(chosen);
	if (!slot)
		return error_nomem();
	*slot = (struct chosen_cgroup){id, steal_ptr(copy)};
	return NULL;
}

static struct error *add_known_chosen(const struct known_cgroups *known,
				      const struct known_cgroup *cgroup,
				      struct chosen_cgroups *chosen)
{
	_cleanup_free_ char *path = text_format("%s%s", known->root, cgroup->path);

	return path ? add_chosen(chosen, cgroup->id, path) : error_nomem();
}

/* A folder, but not one of the hierarchy. */
static struct error *not_of_tree(const char *path, const char *root)
{
	struct statfs fs, of_root;

	if (statfs(path, &fs) || statfs(root, &of_root))
		return error_errno(errno, "--cgroup: %s", path);
	if (fs.f_type == CGROUP_SUPER_MAGIC && of_root.f_type == CGROUP2_SUPER_MAGIC)
		return error_hint(
			error_new(EINVAL, "--cgroup: '%s' is a directory of cgroup v1", path),
			"only the cgroups of v2 can be selected here; they are in %s", root);
	if (fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC)
		return error_hint(error_new(EINVAL,
					    "--cgroup: '%s' is not in the hierarchy of perf_event",
					    path),
				  "this hierarchy is in %s", root);
	return error_hint(error_new(EINVAL, "--cgroup: '%s' is not a cgroup", path),
			  "give a directory in %s, or only NAME", root);
}

static struct error *unknown_cgroup(const struct known_cgroups *known, const char *word)
{
	struct nearest near = nearest_make(word);
	const struct known_cgroup *cgroup;

	vec_for_each (cgroup, &known->list) {
		const char *base = strrchr(cgroup->path, '/') + 1;

		nearest_offer_as(&near, strchr(word, '/') ? cgroup->path : base, cgroup->path);
	}
	return error_suggest_and(error_new(ENOENT, "--cgroup: unknown cgroup '%s'", word), &near,
				 "give its directory, %s/NAME, or only NAME", known->root);
}

static struct error *choose_cgroup(const struct known_cgroups *known, const char *word,
				   struct chosen_cgroups *chosen)
{
	_cleanup_error_ struct error *other = NULL;
	const struct known_cgroup *cgroup;
	struct stat st, of_root;
	char *end;

	errno = 0;
	const uint64_t id = strtoull(word, &end, 10);
	const bool is_id = isdigit((unsigned char)*word) && !*end && !errno;
	vec_for_each (cgroup, &known->list)
		if (is_id && cgroup->id == id)
			return add_known_chosen(known, cgroup, chosen);
	if (stat(known->root, &of_root))
		return error_errno(errno, "%s", known->root);
	for (int below = 0; below < 2; below++) {
		_cleanup_free_ char *path = text_format("%s%s%s", below ? known->root : "",
							below && *word != '/' ? "/" : "", word);
		_cleanup_free_ char *real = path ? realpath(path, NULL) : NULL;

		if (!path || (!real && errno == ENOMEM))
			return error_nomem();
		if (!real || stat(real, &st) || !S_ISDIR(st.st_mode))
			continue;
		if (st.st_dev == of_root.st_dev)
			return add_chosen(chosen, st.st_ino, real);
		if (!other)
			other = not_of_tree(real, known->root);
	}
	return other ? steal_ptr(other) : unknown_cgroup(known, word);
}

/* What there is, shortened as Docker shows it. */
static struct error *unknown_id(const struct known_cgroups *known, const char *option,
				const char *what, const char *word, bool is_pod)
{
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	struct nearest near = nearest_make(word);
	const struct known_cgroup *cgroup;
	struct error *err;
	size_t n = 0;

	vec_for_each (cgroup, &known->list) {
		const char *id = is_pod ? cgroup->pod : cgroup->container;

		if (!id)
			continue;
		_cleanup_free_ char *start = strndup(id, strlen(word));
		if (start && name_distance(word, start, 2) <= 2 && strlen(word) > 3)
			nearest_offer_as(&near, word, id);
		if (n++ < 8)
			strbuf_addf(&all, "%s%.*s", all.len ? ", " : "", is_pod ? 36 : 12, id);
	}
	err = error_new(ENOENT, "%s: there is no %s '%s'", option, what, word);
	if (!n)
		return error_hint(err, "no cgroup below %s has a name that runtimes give to a %s",
				  known->root, what);
	return error_suggest_and(err, &near, "there are: %s%s", strbuf_str(&all),
				 n > 8 ? ", …" : "");
}

static bool is_start(const char *word, const char *id)
{
	return id && !strncmp(id, word, strlen(word));
}

static struct error *choose_container(const struct known_cgroups *known, const char *word,
				      struct chosen_cgroups *chosen)
{
	const struct known_cgroup *cgroup;
	const char *id = NULL;

	vec_for_each (cgroup, &known->list)
		if (cgroup->container && !strcmp(cgroup->container, word))
			id = cgroup->container;
	for (size_t i = 0; !id && *word && i < known->list.n; i++)
		if (is_start(word, known->list.v[i].container))
			id = known->list.v[i].container;
	if (!id)
		return unknown_id(known, "--container", "container", word, false);
	vec_for_each (cgroup, &known->list) {
		if (cgroup->container && !strcmp(cgroup->container, id))
			TRY(add_known_chosen(known, cgroup, chosen));
		else if (strcmp(word, id) && is_start(word, cgroup->container))
			return error_hint(error_new(EINVAL,
						    "--container: '%s' is the start of several ids",
						    word),
					  "two of them are %s and %s", id, cgroup->container);
	}
	return NULL;
}

static struct error *choose_pod(const struct known_cgroups *known, const char *word,
				struct chosen_cgroups *chosen)
{
	const struct known_cgroup *cgroup;
	bool found = false;

	vec_for_each (cgroup, &known->list) {
		if (!cgroup->pod || strcmp(cgroup->pod, word))
			continue;
		TRY(add_known_chosen(known, cgroup, chosen));
		found = true;
	}
	return found ? NULL : unknown_id(known, "--pod", "pod", word, true);
}

struct error *cgroups_choose(const struct cgroup_choice *choice, const char *root,
			     struct chosen_cgroups *chosen)
{
	static const struct {
		size_t offset;
		struct error *(*choose)(const struct known_cgroups *known, const char *word,
					struct chosen_cgroups *chosen);
	} kinds[] = {
		{offsetof(struct cgroup_choice, cgroups), choose_cgroup},
		{offsetof(struct cgroup_choice, containers), choose_container},
		{offsetof(struct cgroup_choice, pods), choose_pod},
	};
	__attribute__((cleanup(known_cgroups_deinit))) struct known_cgroups known = {.root = root};
	__attribute__((cleanup(chosen_cgroups_deinit))) struct chosen_cgroups found = {0};

	if (!root)
		return error_hint(error_new(ENOENT, "cgroups are not mounted"),
				  "mount -t cgroup2 none /sys/fs/cgroup");
	cgroup_walk(root, add_known, &known);
	if (known.failed)
		return error_nomem();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *list = *(const char *const *)((const char *)choice + kinds[i].offset);
		_cleanup_free_ char *copy = list ? strdup(list) : NULL;
		char *at = copy, *word;

		if (list && !copy)
			return error_nomem();
		while ((word = strsep(&at, ",")))
			TRY(kinds[i].choose(&known, word, &found));
	}
	*chosen = found;
	found = (struct chosen_cgroups){0};
	return NULL;
}

static bool list_has(const char *list, const char *path,
		     bool (*is_in)(const char *path, const char *want))
{
	_cleanup_free_ char *copy = list ? strdup(list) : NULL;
	char *at = copy, *word;

	while ((word = strsep(&at, ",")))
		if (*word && is_in(path, word))
			return true;
	return false;
}

bool cgroup_choice_has(const struct cgroup_choice *choice, const char *path)
{
	return list_has(choice->containers, path, cgroup_is_in_container) ||
	       list_has(choice->pods, path, cgroup_is_in_pod);
}
