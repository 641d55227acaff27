// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sections that the caller has named: libbpf_register_prog_handler(). They come
 * before the library's own table, and the one without a name after it. The
 * table is the process's, as libbpf has it; a program keeps a copy of the entry
 * it was opened with, so that a handler can go while its programs live.
 */
#include "lib/object/open_object.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	VEC(struct program_handler) entries;
	int last_id;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/*
 * "xyz": that; "xyz/": with something behind it; "xyz+": itself, or with '/' and
 * something behind it.
 */
static bool matches(const char *pattern, const char *section)
{
	const size_t n = strlen(pattern);

	if (n && pattern[n - 1] == '/')
		return !strncmp(section, pattern, n);
	if (n && pattern[n - 1] == '+')
		return !strncmp(section, pattern, n - 1) &&
		       (!section[n - 1] || section[n - 1] == '/');
	return !strcmp(section, pattern);
}

static bool find(const char *section, struct program_handler *found)
{
	const struct program_handler *handler;
	bool any = false;

	pthread_mutex_lock(&table.lock);
	vec_for_each (handler, &table.entries) {
		if (section ? !handler->section || !matches(handler->section, section)
			    : handler->section != NULL)
			continue;
		*found = *handler;
		found->section = NULL;
		any = true;
		break;
	}
	pthread_mutex_unlock(&table.lock);
	return any;
}

bool handler_find(const char *section, struct program_handler *found)
{
	return find(section, found);
}

bool handler_fallback(struct program_handler *found)
{
	return find(NULL, found);
}

struct error *handlers_setup(struct bpf_object *obj)
{
	struct bpf_program *prog;

	vec_for_each (prog, &obj->programs) {
		const struct program_handler *handler = &prog->handler;
		const int failed =
			handler->id && handler->setup ? handler->setup(prog, handler->cookie) : 0;

		if (failed < 0)
			return program_error_at(
				prog,
				error_errno(-failed,
					    "the prog_setup_fn of its section handler failed"));
	}
	return NULL;
}

bool program_has_handler(const struct bpf_program *prog)
{
	return prog->handler.id;
}

struct error *program_handler_attach(const struct bpf_program *prog, struct bpf_link **link)
{
	if (!prog->handler.attach)
		return NULL;
	const int failed = prog->handler.attach(prog, prog->handler.cookie, link);
	return failed < 0 ? error_errno(-failed, "the prog_attach_fn of its section handler failed")
			  : NULL;
}

int libbpf_register_prog_handler(const char *sec, enum bpf_prog_type prog_type,
				 enum bpf_attach_type exp_attach_type,
				 const struct libbpf_prog_handler_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, libbpf_prog_handler_opts);
	struct program_handler *handler = NULL;
	char *copy = sec ? strdup(sec) : NULL;
	int result = -ENOMEM;

	if (err) {
		free(copy);
		return edge_int(err);
	}
	if (sec && !copy)
		return edge_errno(ENOMEM);
	pthread_mutex_lock(&table.lock);
	vec_for_each (handler, &table.entries) {
		if (sec || handler->section)
			continue;
		result = -EBUSY; /* a second one for all other sections */
		goto out;
	}
	handler = vec_push(&table.entries);
	if (handler) {
		*handler = (struct program_handler){
			.id = ++table.last_id,
			.section = copy,
			.type = prog_type,
			.attach_type = exp_attach_type,
			.cookie = OPTS_GET(opts, cookie, 0),
			.setup = OPTS_GET(opts, prog_setup_fn, NULL),
			.prepare_load = OPTS_GET(opts, prog_prepare_load_fn, NULL),
			.attach = OPTS_GET(opts, prog_attach_fn, NULL),
		};
		copy = NULL;
		result = handler->id;
	}
out:
	pthread_mutex_unlock(&table.lock);
	free(copy);
	return result < 0 ? edge_errno(-result) : result;
}

int libbpf_unregister_prog_handler(int handler_id)
{
	int result = -ENOENT;

	pthread_mutex_lock(&table.lock);
	for (size_t i = 0; i < table.entries.n; i++) {
		if (table.entries.v[i].id != handler_id)
			continue;
		free(table.entries.v[i].section);
		memmove(&table.entries.v[i], &table.entries.v[i + 1],
			(table.entries.n - i - 1) * sizeof(*table.entries.v));
		table.entries.n--;
		result = 0;
		break;
	}
	if (!table.entries.n)
		vec_deinit(&table.entries);
	pthread_mutex_unlock(&table.lock);
	return result ? edge_errno(-result) : 0;
}
