// SPDX-License-Identifier: BSD-2-Clause
/*
 * What was there before the events: the kernel's text and modules, the BPF
 * programs, and the processes with what they have mapped. The kernel reports
 * changes only, so the file begins with records like those it would have
 * written. Their sample ids are zero, as perf has them: they come first
 * whatever the order of time.
 */
#include "perf/live/synth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "lib/base/util.h"
#include "lib/base/vec.h"
#include "lib/sys/cgroup_paths.h"
#include "lib/sys/proc.h"
#include "perf/event/encode.h"
#include "perf/live/bpfinfo.h"

/* Large enough to write seldom, small enough to stay in the cache. */
#define FLUSH_BYTES (256 * 1024)

enum { IMAGE_SIZE = 4096 };

struct error *synth_flush(struct synth *s, bool all)
{
	if (strbuf_failed(&s->out))
		return error_nomem();
	if (!s->out.len || (!all && s->out.len < FLUSH_BYTES))
		return NULL;
	TRY(s->write(s->ctx, s->out.str, s->out.len));
	strbuf_reset(&s->out);
	return NULL;
}

/* The kernel prints a page at a time, and stdio would ask for a quarter of it. */
static FILE *open_kallsyms(const struct synth *s, char *buffer, size_t size)
{
	const struct sys_roots *roots = s->roots ? s->roots : &sys_roots_default;
	_cleanup_free_ char *path = text_format("%s/kallsyms", roots->proc);
	FILE *f = path ? fopen(path, "re") : NULL;

	if (f)
		setvbuf(f, buffer, _IOFBF, size);
	return f;
}

/*
 * The kernel's text, by kallsyms, under the name that tells the symbol by
 * which a relocated kernel is recognised. The list is in the order of
 * addresses, so it is read up to _etext only.
 */
static void synth_text(struct synth *s, FILE *f)
{
	unsigned long long text = 0, end = 0, addr;
	char line[512], type, name[256];

	while (f && !end && fgets(line, sizeof(line), f)) {
		/* Most lines are told apart by the letter before the name. */
		const char *p = strchr(line, ' ');

		if (!p || !p[1] || p[2] != ' ' || p[3] != '_')
			continue;
		if (sscanf(line, "%llx %c %255s", &addr, &type, name) != 3)
			continue;
		if (!strcmp(name, "_text") || (!text && !strcmp(name, "_stext")))
			text = addr;
		else if (!strcmp(name, "_etext"))
			end = addr;
	}
	if (!text || end <= text) {
		log_info(s->log, "/proc/kallsyms hides the addresses: kernel symbols will be "
				 "missing (kernel.kptr_restrict)");
		return;
	}
	struct record_mmap mmap = {
		.pid = -1,
		.tid = 0,
		.addr = text,
		.len = end - text,
		.pgoff = text,
		.prot = PROT_EXEC,
		.filename = "[kernel.kallsyms]_text",
	};
	record_encode_mmap(&s->out, s->attr, PERF_RECORD_MISC_KERNEL, &mmap, NULL);
}

/* "kernel/fs/ext4/ext4.ko: …" lines to a module's path; '-' and '_' are one. */
static char *module_path(const char *release, const char *deps, const char *name)
{
	char *path = NULL;

	for (const char *line = deps; line && *line;) {
		const char *end = strchrnul(line, '\n');
		const char *colon = memchr(line, ':', end - line);
		const char *base = colon;

		while (base && base > line && base[-1] != '/')
			base--;
		size_t n = 0;
		while (base && name[n] && base + n < colon &&
		       (base[n] == name[n] || (base[n] == '-' && name[n] == '_')))
			n++;
		if (base && !name[n] && base + n < colon && base[n] == '.') {
			if (asprintf(&path, "/lib/modules/%s/%.*s", release, (int)(colon - line),
				     line) < 0)
				return NULL;
			return path;
		}
		line = *end ? end + 1 : end;
	}
	return asprintf(&path, "[%s]", name) < 0 ? NULL : path;
}

static void synth_modules(struct synth *s)
{
	const struct sys_roots *roots = s->roots ? s->roots : &sys_roots_default;
	_cleanup_free_ char *modules = NULL, *deps = NULL, *path = NULL, *deps_path = NULL;
	struct utsname uts;
	char *save = NULL;

	if (asprintf(&path, "%s/modules", roots->proc) < 0) {
		path = NULL;
		return;
	}
	error_free(sys_read_file(path, 1 << 20, &modules, NULL));
	if (!modules || !*modules || uname(&uts))
		return;
	if (asprintf(&deps_path, "/lib/modules/%s/modules.dep", uts.release) < 0) {
		deps_path = NULL;
		return;
	}
	error_free(sys_read_file(deps_path, 16 << 20, &deps, NULL));
	for (char *line = strtok_r(modules, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char name[128];
		unsigned long long size, addr;

		if (sscanf(line, "%127s %llu %*s %*s %*s %llx", name, &size, &addr) != 3 || !addr)
			continue;
		_cleanup_free_ char *file = module_path(uts.release, deps, name);
		if (!file)
			continue;
		struct record_mmap mmap = {
			.pid = -1,
			.addr = addr,
			.len = size,
			.prot = PROT_EXEC,
			.filename = file,
		};
		record_encode_mmap(&s->out, s->attr, PERF_RECORD_MISC_KERNEL, &mmap, NULL);
	}
}

/* The file that is mapped, whatever has its path by now, and in whichever mount namespace. */
static size_t find_build_id(struct synth *s, pid_t pid, const struct sys_map *map, uint8_t id[20])
{
	const struct sys_roots *roots = s->roots ? s->roots : &sys_roots_default;
	_cleanup_free_ char *path = NULL;

	if (!s->build_id || !map->ino || map->path[0] != '/')
		return 0;
	path = text_format("%s/%d/map_files/%" PRIx64 "-%" PRIx64, roots->proc, pid, map->start,
			   map->end);
	return path ? s->build_id(s->ctx, map, path, id) : 0;
}

static void synth_maps(struct synth *s, pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	struct sys_map map;

	error_free(sys_proc_read(s->roots, pid, "maps", &text, NULL));
	char *pos = text;
	while (pos && sys_maps_next(&pos, &map)) {
		const bool is_code = map.prot & PROT_EXEC;

		if (!is_code && !(s->data_maps && map.prot & PROT_READ))
			continue;
		struct record_mmap mmap = {
			.pid = pid,
			.tid = pid,
			.addr = map.start,
			.len = map.end - map.start,
			.pgoff = map.pgoff,
			.maj = map.maj,
			.min = map.min,
			.ino = map.ino,
			.prot = map.prot,
			.flags = map.flags,
			.filename = *map.path ? map.path : "//anon",
		};
		const uint16_t misc =
			PERF_RECORD_MISC_USER | (is_code ? 0 : PERF_RECORD_MISC_MMAP_DATA);
		uint8_t id[20];

		mmap.build_id_size = (uint8_t)find_build_id(s, pid, &map, id);
		mmap.build_id = mmap.build_id_size ? id : NULL;
		record_encode_mmap2(&s->out, s->attr, misc, &mmap, NULL);
	}
}

/* In the kernel's order; a namespace that cannot be seen is 0/0, as in perf. */
static void synth_namespaces(struct synth *s, pid_t pid, pid_t tid)
{
	static const char *const files[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	const struct sys_roots *roots = s->roots ? s->roots : &sys_roots_default;
	uint64_t links[ARRAY_SIZE(files) * 2] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *path = text_format("%s/%d/ns/%s", roots->proc, tid, files[i]);
		struct stat st;

		if (!path || stat(path, &st))
			continue;
		links[i * 2] = st.st_dev;
		links[i * 2 + 1] = st.st_ino;
	}
	const struct record_namespaces ns = {
		.pid = pid,
		.tid = tid,
		.links = {(const uint8_t *)links, ARRAY_SIZE(links)},
	};
	record_encode_namespaces(&s->out, s->attr, &ns, NULL);
}

void synth_thread(struct synth *s, pid_t pid, pid_t tid)
{
	struct sys_proc_status status;

	if (s->no_tasks)
		return;
	struct error *err = sys_proc_status(s->roots, pid, tid, &status);
	if (err) { /* it ended meanwhile */
		error_free(err);
		return;
	}
	/* A thread is the child of its process, a process that of its parent. */
	pid_t parent = tid == status.tgid ? status.ppid : status.tgid;
	struct record_task fork = {
		.pid = status.tgid,
		.tid = tid,
		.ppid = parent,
		.ptid = parent,
	};
	struct record_comm comm = {.pid = status.tgid, .tid = tid, .comm = status.comm};
	record_encode_fork(&s->out, s->attr, 0, &fork, NULL);
	if (s->namespaces)
		synth_namespaces(s, status.tgid, tid);
	record_encode_comm(&s->out, s->attr, 0, &comm, NULL);
	if (tid == status.tgid && !status.kernel_thread && !s->no_maps)
		synth_maps(s, status.tgid);
}

struct error *synth_process(struct synth *s, pid_t pid)
{
	_cleanup_pids_ struct sys_pids tids = {0};

	error_free(sys_proc_tids(s->roots, pid, &tids));
	/* The main thread first: the others share what it has mapped. */
	synth_thread(s, pid, pid);
	for (size_t i = 0; i < tids.n; i++)
		if (tids.v[i] != pid)
			synth_thread(s, pid, tids.v[i]);
	return synth_flush(s, false);
}

struct image {
	uint64_t addr;
	uint16_t type;
	char name[128];
};

static int compare_images(const void *a, const void *b)
{
	const struct image *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/*
 * The trampolines, dispatchers and images of struct_ops of BPF, and out-of-line code of ftrace and
 * kprobes, which kallsyms has behind the symbols of the kernel and its modules, in any order and
 * without lengths: as in perf, each is a page, up to the next one. Programs may be in the same
 * page, so their records come later. The kernel takes most of a short recording's time to print the
 * list: f is where synth_text() ended.
 */
static void synth_images(struct synth *s, FILE *f)
{
	VEC(struct image) images = {0};
	char line[512], type;
	unsigned long long addr;
	struct image image;

	while (f && fgets(line, sizeof(line), f)) {
		const char *module = strchr(line, '\t');
		const bool is_bpf = module && !strcmp(module, "\t[bpf]\n");

		if (!module || (!is_bpf && strncmp(module, "\t[__builtin__", 13)) ||
		    sscanf(line, "%llx %c %127s", &addr, &type, image.name) != 3 || !addr ||
		    !strncmp(image.name, "bpf_prog_", strlen("bpf_prog_")))
			continue;
		image.addr = addr;
		image.type = is_bpf ? PERF_RECORD_KSYMBOL_TYPE_BPF : PERF_RECORD_KSYMBOL_TYPE_OOL;
		struct image *copy = vec_push(&images);
		if (!copy)
			break;
		*copy = image;
	}
	if (images.n)
		qsort(images.v, images.n, sizeof(*images.v), compare_images);
	for (size_t i = 0; i < images.n; i++) {
		const uint64_t room =
			i + 1 < images.n ? images.v[i + 1].addr - images.v[i].addr : IMAGE_SIZE;
		struct record_ksymbol ksymbol = {
			.addr = images.v[i].addr,
			.len = (uint32_t)min_of(room, (uint64_t)IMAGE_SIZE),
			.type = images.v[i].type,
			.name = images.v[i].name,
		};
		record_encode_ksymbol(&s->out, s->attr, PERF_RECORD_MISC_KERNEL, &ksymbol, NULL);
	}
	vec_deinit(&images);
}

static void synth_program(void *ctx, const struct bpf_gathered *prog)
{
	struct synth *s = ctx;

	for (size_t i = 0; i < prog->n_funcs; i++) {
		struct record_ksymbol ksymbol = {
			.addr = prog->funcs[i].addr,
			.len = prog->funcs[i].len,
			.type = PERF_RECORD_KSYMBOL_TYPE_BPF,
			.name = prog->funcs[i].name,
		};
		record_encode_ksymbol(&s->out, s->attr, PERF_RECORD_MISC_KERNEL, &ksymbol, NULL);
	}
	struct record_bpf_event ev = {
		.type = PERF_BPF_EVENT_PROG_LOAD,
		.id = prog->all.info.id,
		.tag = prog->all.info.tag,
	};
	record_encode_bpf_event(&s->out, s->attr, PERF_RECORD_MISC_KERNEL, &ev, NULL);
}

void synth_kernel(struct synth *s)
{
	char buffer[16 * 1024];
	_cleanup_fclose_ FILE *kallsyms = open_kallsyms(s, buffer, sizeof(buffer));

	synth_text(s, kallsyms);
	synth_modules(s);
	if (s->no_programs)
		return;
	if (s->images)
		synth_images(s, kallsyms);
	bpf_gather_all(s->log, synth_program, s);
}

static bool synth_cgroup(void *ctx, uint64_t id, const char *path)
{
	struct synth *s = ctx;
	const struct record_cgroup cgroup = {.id = id, .path = path};

	record_encode_cgroup(&s->out, s->attr, &cgroup, NULL);
	return true;
}

void synth_cgroups(struct synth *s)
{
	_cleanup_free_ char *root = cgroup_root_of_perf(s->roots);

	if (root)
		cgroup_walk(root, synth_cgroup, s);
	else
		log_warn(s->log, "cannot name the cgroups that exist: no hierarchy of cgroups is "
				 "mounted below /sys/fs/cgroup");
}

struct error *synth_processes(struct synth *s)
{
	_cleanup_pids_ struct sys_pids pids = {0};

	TRY(sys_proc_pids(s->roots, &pids));
	for (size_t i = 0; i < pids.n; i++)
		TRY(synth_process(s, pids.v[i]));
	return NULL;
}
