// SPDX-License-Identifier: BSD-2-Clause
/*
 * The build ids of what was hit, so that a report made later finds the right
 * files, or knows that they have changed. To know what was hit, the file is
 * read back, but only when that can tell more than drain.c saw: samples of
 * the kernel alone, without call chains, hit the kernel and its modules.
 * With copies of stacks, and if it is asked for, all code that was mapped counts as hit.
 */
#include "perf/record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/sys/copied_file.h"
#include "lib/sys/open_file.h"
#include "perf/data/features.h"
#include "perf/record/buildid_process.h"
#include "perf/session/session.h"
#include "perf/unwind/frame_pointers.h"
#include "sym/sym.h"
#include "work/patience.h"

enum {
	LOOK_EACH = 64, /* samples: each may be in a file that takes long */
};

struct hits {
	struct recording *rec;
	struct u64map seen; /* struct dso * */
	struct frame_pointers *frame_pointers;
	struct strbuf out;
	uint64_t n_seen; /* samples and mappings */
};

/* A recording without copies is as good until a file changes. */
static void tell_cache(const struct recording *rec, struct error *err)
{
	if (err)
		log_info(rec->log, "not in the build-id cache: %s%s%s",
			 err->where ? err->where : "", err->where ? ": " : "", err->msg);
	error_free(err);
}

static void add_kernel(struct hits *h)
{
	uint8_t id[20];
	size_t size;
	_cleanup_error_ struct error *err = notes_build_id("/sys/kernel/notes", id, &size);

	if (err)
		return;
	feature_build_build_id(&h->out, PERF_RECORD_MISC_KERNEL, -1, id, size, "[kernel.kallsyms]");
	tell_cache(h->rec, buildid_process_add_kallsyms(h->rec->copier, id, size));
}

/*
 * The file that was mapped has its inode number. Devices differ: overlayfs and btrfs map files with
 * other ones than stat(2) has, and overlayfs puts the layer into the high bits of the inode.
 */
static bool is_mapped(const struct dso *dso, const struct stat *st)
{
	if (!dso->ino || st->st_ino == dso->ino)
		return true;
	return st->st_dev != makedev(dso->maj, dso->min) &&
	       (uint32_t)st->st_ino == (uint32_t)dso->ino;
}

/*
 * Opens what was mapped: where its process sees it, if that still runs, else at its path, unless
 * another file is there: that of another container, or a newer one. What only its process could
 * reach was opened before. -1: it is not there. author: as in lib/sys/copied_file.h.
 */
static int open_mapped(const struct recording *rec, const struct dso *dso,
		       const struct thread *thread, uid_t *author)
{
	const int held = rec->mapped ? held_files_fd(mapped_files_held(rec), dso) : -1;

	_cleanup_free_ char *inside =
		thread ? text_format("/proc/%d/root%s", thread->pid, dso->path) : NULL;
	const char *const paths[] = {inside, dso->path};

	*author = AUTHOR_UNKNOWN;
	if (held >= 0)
		return fcntl(held, F_DUPFD_CLOEXEC, 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_close_ int fd = -1;
		struct stat st;

		if (!paths[i])
			continue;
		error_free(open_regular(paths[i], NULL, &fd));
		if (fd < 0 || fstat(fd, &st))
			continue;
		if (!is_mapped(dso, &st))
			continue;
		*author = path_is_in_other_root(paths[i]) ? AUTHOR_UNKNOWN : st.st_uid;
		return steal_fd(&fd);
	}
	return -1;
}

static struct error *fd_build_id(int fd, uint8_t id[20], size_t *size)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return file_build_id(path, id, size);
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
	if (err)
		return;
	feature_build_build_id(&h->out, PERF_RECORD_MISC_KERNEL, -1, id, size, dso->path);
	/* The file may be that of a newer kernel package. */
	uid_t author = AUTHOR_UNKNOWN;
	_cleanup_close_ int fd = dso->path[0] == '/' ? open_mapped(h->rec, dso, NULL, &author) : -1;
	uint8_t its_id[20];
	size_t its_size = 0;
	if (fd >= 0)
		error_free(fd_build_id(fd, its_id, &its_size));
	if (its_size == size && !memcmp(id, its_id, size))
		tell_cache(h->rec,
			   buildid_process_add(h->rec->copier, dso->path, fd, author, id, size));
}

static bool is_build(const struct dso *dso, const uint8_t id[20], size_t size)
{
	return size == dso->build_id_size && !memcmp(id, dso->build_id, size);
}

static void add_file(struct hits *h, const struct dso *dso, const struct thread *thread)
{
	uid_t author = AUTHOR_UNKNOWN;
	_cleanup_close_ int fd =
		dso->path[0] == '/' ? open_mapped(h->rec, dso, thread, &author) : -1;
	uint8_t id[20];
	size_t size;

	/* What the mapping says is right, whatever has the path now. */
	if (dso->build_id_size)
		feature_build_build_id(&h->out, PERF_RECORD_MISC_USER, -1, dso->build_id,
				       dso->build_id_size, dso->path);
	if (fd < 0)
		return;
	_cleanup_error_ struct error *err = fd_build_id(fd, id, &size);
	if (err || !size)
		return;
	if (dso->build_id_size && !is_build(dso, id, size)) {
		log_info(h->rec->log, "%s has changed since it was mapped", dso->path);
		return;
	}
	if (!dso->build_id_size)
		feature_build_build_id(&h->out, PERF_RECORD_MISC_USER, -1, id, size, dso->path);
	tell_cache(h->rec, buildid_process_add(h->rec->copier, dso->path, fd, author, id, size));
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
		add_file(h, map->dso, thread);
		break;
	default:
		break;
	}
}

/* The signal that has ended the recording was read: another one ends this as well. */
static struct error *check_signals(struct hits *h)
{
	if (h->n_seen++ % LOOK_EACH || !signal_waits())
		return NULL;
	return error_new(EINTR, "a signal ended the search for them");
}

static struct error *see_sample(struct session_tool *tool, struct session *s,
				const struct record *rec, const struct sample *sample,
				const struct session_event *event, struct thread *thread)
{
	struct hits *h = tool->ctx;
	uint8_t mode = sample->cpumode;

	TRY(check_signals(h));
	hit(h, s, thread, mode, sample->ip);
	if (frame_pointers_matter(event, sample))
		frame_pointers_see(h->frame_pointers, sample, thread);
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

/* Which files the copies of stacks lead through is not known before they are unwound. */
static struct error *see_mmap(struct session_tool *tool, struct session *s,
			      const struct record *rec, const struct record_mmap *mmap)
{
	TRY(check_signals(tool->ctx));
	if ((rec->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER &&
	    mmap->prot & PROT_EXEC)
		hit(tool->ctx, s, session_thread(s, mmap->pid, mmap->tid), PERF_RECORD_MISC_USER,
		    mmap->addr);
	return NULL;
}

/* Beside the build ids: whether the stacks that were recorded are whole. */
static struct error *process(struct hits *h, struct session *s, struct session_tool *tool)
{
	const struct resolver_opts opts = {.sz = sizeof(opts), .demangle = true};
	_cleanup_(resolver_freep) struct resolver *resolver = NULL;
	_cleanup_(frame_pointers_freep) struct frame_pointers *fp = NULL;
	struct frame_pointers_counts counts;

	TRY(resolver_new(s, &opts, &resolver));
	TRY(frame_pointers_new(resolver, &fp));
	h->frame_pointers = fp;
	TRY(session_process(s, tool));
	if (frame_pointers_missing(fp, &counts)) {
		h->rec->result.stacks_examined = counts.n;
		h->rec->result.stacks_broken = counts.broken;
	}
	return NULL;
}

static struct error *read_back(struct hits *h)
{
	struct session_opts opts = {.sz = sizeof(opts), .force = true};
	struct session_tool tool = {.ctx = h, .sample = see_sample};
	struct session *s;

	if (h->rec->stacks || h->rec->opts.all_build_ids)
		tool.mmap = see_mmap;
	TRY(session_open(h->rec->opts.output, &opts, &s));
	struct error *err = process(h, s, &tool);
	session_free(s);
	return err;
}

static struct error *confine_copier(void *ctx)
{
	const struct recording *rec = ctx;

	return rec->opts.enter(rec->opts.enter_ctx, RECORD_COPYING);
}

void build_ids_begin(struct recording *rec)
{
	if (rec->opts.buildid_dir && !rec->opts.no_build_ids && !data_writer_is_pipe(rec->writer))
		tell_cache(rec, buildid_process_new(rec->opts.buildid_dir,
						    rec->opts.enter ? confine_copier : NULL, rec,
						    &rec->copier));
}

struct error *build_ids_write(struct recording *rec)
{
	struct hits h = {.rec = rec};
	struct error *err = NULL;

	if (data_writer_is_pipe(rec->writer))
		return NULL;
	bool modules = !access("/proc/modules", R_OK);
	if (rec->user_hit || rec->chains || rec->opts.all_build_ids || (rec->kernel_hit && modules))
		err = read_back(&h);
	else if (rec->kernel_hit)
		add_kernel(&h);
	if (err) {
		log_at(rec->log, err->code == EINTR ? LOG_WARN : LOG_INFO,
		       "build ids are not recorded%s: %s", h.out.len ? " of all files" : "",
		       err->msg);
		error_free(err);
		err = NULL;
	}
	if (h.out.len && !strbuf_failed(&h.out))
		err = data_writer_feature(rec->writer, DATA_BUILD_ID, h.out.str, h.out.len);
	strbuf_deinit(&h.out);
	u64map_deinit(&h.seen);
	return err;
}
