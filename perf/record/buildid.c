// SPDX-License-Identifier: BSD-2-Clause
/*
 * The build ids of what was hit, so that a report made later finds the right
 * files, or knows that they have changed. To know what was hit, the file is
 * read back, but only when that can tell more than drain.c saw: samples of
 * the kernel alone, without call chains, hit the kernel and its modules.
 */
#include "perf/record/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "perf/data/features.h"
#include "perf/session/session.h"
#include "sym/sym.h"

struct hits {
	struct recording *rec;
	struct u64map seen; /* struct dso * */
	struct strbuf out;
};

static void add_kernel(struct hits *h)
{
	uint8_t id[20];
	size_t size;
	_cleanup_error_ struct error *err = notes_build_id("/sys/kernel/notes", id, &size);

	if (!err)
		feature_build_build_id(&h->out, PERF_RECORD_MISC_KERNEL, -1, id, size,
				       "[kernel.kallsyms]");
}

static void add_module(struct hits *h, const struct dso *dso)
{
	_cleanup_free_ char *path = NULL;
	uint8_t id[20];
	size_t size;
	const char *base = strrchr(dso->path, '/');

	base = base ? base + 1 : dso->path;
	/* "nf_tables.ko", "nf-tables.ko.xz" or "[nf_tables]" → nf_tables */
	char name[128];
	size_t n = strcspn(base + (*base == '['), ".]");
	snprintf(name, sizeof(name), "%.*s", (int)n, base + (*base == '['));
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	if (asprintf(&path, "/sys/module/%s/notes/.note.gnu.build-id", name) < 0) {
		path = NULL;
		return;
	}
	_cleanup_error_ struct error *err = notes_build_id(path, id, &size);
	if (!err)
		feature_build_build_id(&h->out, PERF_RECORD_MISC_KERNEL, -1, id, size, dso->path);
}

static void add_file(struct hits *h, const struct dso *dso)
{
	uint8_t id[20];
	size_t size;
	struct stat st;

	/* A device or FIFO of that name must not be opened. */
	if (dso->path[0] != '/' || stat(dso->path, &st) || !S_ISREG(st.st_mode))
		return;
	_cleanup_error_ struct error *err = file_build_id(dso->path, id, &size);
	if (!err)
		feature_build_build_id(&h->out, PERF_RECORD_MISC_USER, -1, id, size, dso->path);
}

static void hit(struct hits *h, struct session *s, const struct thread *thread, uint8_t mode,
		uint64_t addr)
{
	const struct map *map = session_find_map(s, thread, mode, addr);

	if (!map || u64map_get(&h->seen, (uintptr_t)map->dso))
		return;
	u64map_put(&h->seen, (uintptr_t)map->dso, map->dso);
	switch (map->dso->kind) {
	case DSO_KERNEL:
		add_kernel(h);
		break;
	case DSO_MODULE:
		add_module(h, map->dso);
		break;
	case DSO_USER:
		add_file(h, map->dso);
		break;
	default:
		break;
	}
}

static struct error *see_sample(struct session_tool *tool, struct session *s,
				const struct record *rec, const struct sample *sample,
				const struct session_event *event, struct thread *thread)
{
	struct hits *h = tool->ctx;
	uint8_t mode = sample->cpumode;

	hit(h, s, thread, mode, sample->ip);
	for (uint64_t i = 0; i < sample->chain.n; i++) {
		uint64_t ip = u64_array_at(&sample->chain, i);

		if (ip >= PERF_CONTEXT_MAX) {
			mode = ip == PERF_CONTEXT_USER ? PERF_RECORD_MISC_USER
						       : PERF_RECORD_MISC_KERNEL;
			continue;
		}
		hit(h, s, thread, mode, ip);
	}
	return NULL;
}

static struct error *read_back(struct hits *h)
{
	struct session_opts opts = {.sz = sizeof(opts), .force = true};
	struct session_tool tool = {.ctx = h, .sample = see_sample};
	struct session *s;

	TRY(session_open(h->rec->opts.output, &opts, &s));
	struct error *err = session_process(s, &tool);
	session_free(s);
	return err;
}

struct error *build_ids_write(struct recording *rec)
{
	struct hits h = {.rec = rec};
	struct error *err = NULL;

	if (data_writer_is_pipe(rec->writer))
		return NULL;
	bool modules = !access("/proc/modules", R_OK);
	if (rec->user_hit || rec->chains || (rec->kernel_hit && modules))
		err = read_back(&h);
	else if (rec->kernel_hit)
		add_kernel(&h);
	if (err) {
		log_info(rec->log, "build ids are not recorded: %s", err->msg);
		error_free(err);
		err = NULL;
	}
	if (h.out.len && !strbuf_failed(&h.out))
		err = data_writer_feature(rec->writer, DATA_BUILD_ID, h.out.str, h.out.len);
	strbuf_deinit(&h.out);
	u64map_deinit(&h.seen);
	return err;
}
