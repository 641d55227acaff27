// SPDX-License-Identifier: BSD-2-Clause
#include "run/value_names.h"

#include <arpa/inet.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/kernel_errno.h"
#include "lib/base/arena.h"
#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/btf/value.h"
#include "lib/sys/cgroup_paths.h"
#include "lib/sys/proc.h"
#include "perf/live/live.h"
#include "perf/resolve/resolve.h"
#include "perf/resolve/result_mapping.h"
#include "run/python_maps.h"
#include "run/syscalls.h"

enum {
	MOST_IN_VAIN = 16,
};

struct run_names {
	const struct sys_roots *roots;
	struct arena arena;
	struct u64map pids, uids, gids; /* to texts of the arena; "": none */
	struct u64map fresh;		/* pids looked up since the last refresh */
	struct u64map pid_cgroups;	/* to paths of the arena */
	struct u64map fresh_cgroups;	/* likewise */
	struct u64map pid_starts;	/* sys_proc_start() + 1 of whose cgroup was read */
	struct cgroup_paths cgroups;
	struct result_mappings mappings; /* of frames */
	struct live_source *live;	 /* NULL: no address was asked for yet */
	struct resolver *resolver;
	struct held_files held;
	struct python_maps *python; /* NULL: no stack has frames of it */
	bool follows;		    /* processes, not the kernel alone */
	unsigned n_in_vain;	    /* addresses in no mapping, since the last update */
	run_maps_fn *on_maps;	    /* NULL: nobody asks */
	void *on_maps_ctx;
	struct session_tool tool;
	struct demangler *demangler;
	bool lines;
};

struct run_names *run_names_new(const struct sys_roots *roots, bool lines,
				struct demangler *demangler)
{
	struct run_names *names = calloc(1, sizeof(*names));

	if (names) {
		names->roots = roots;
		names->lines = lines;
		names->demangler = demangler;
	}
	return names;
}

void run_names_free(struct run_names *names)
{
	if (!names)
		return;
	u64map_deinit(&names->pids);
	u64map_deinit(&names->uids);
	u64map_deinit(&names->gids);
	cgroup_paths_deinit(&names->cgroups);
	result_mappings_deinit(&names->mappings);
	u64map_deinit(&names->fresh);
	u64map_deinit(&names->pid_cgroups);
	u64map_deinit(&names->fresh_cgroups);
	u64map_deinit(&names->pid_starts);
	resolver_free(names->resolver);
	live_source_free(names->live);
	held_files_deinit(&names->held);
	arena_deinit(&names->arena);
	free(names);
}

void run_names_refresh(struct run_names *names)
{
	u64map_deinit(&names->fresh);
	u64map_deinit(&names->fresh_cgroups);
	names->fresh = names->fresh_cgroups = (struct u64map){0};
}

/* Keeps a text for a number; NULL: no memory. */
static const char *keep(struct run_names *names, struct u64map *map, uint64_t key, const char *text)
{
	char *copy = arena_strdup(&names->arena, text);

	return copy && u64map_put(map, key, copy) ? copy : NULL;
}

static const char *pid_name(struct run_names *names, uint32_t pid)
{
	const char *known = u64map_get(&names->pids, pid);
	struct sys_proc_status status;

	if (u64map_get(&names->fresh, pid))
		return known;
	u64map_put(&names->fresh, pid, names);
	struct error *gone = pid ? sys_proc_status(names->roots, 0, pid, &status)
				 : error_new(ESRCH, "the idle task");
	if (gone) {
		error_free(gone);
		return pid ? known : "swapper";
	}
	return known && !strcmp(known, status.comm) ? known
						    : keep(names, &names->pids, pid, status.comm);
}

void run_names_see(struct run_names *names, uint32_t pid)
{
	run_names_refresh(names); /* it may have been another program when it was last seen */
	pid_name(names, pid);
}

const char *run_names_cgroup(struct run_names *names, uint64_t id)
{
	return cgroup_paths_get(&names->cgroups, names->roots, id);
}

/* The path in a line "HIERARCHY:CONTROLLERS:PATH"; it ends there. */
static const char *path_in(char *line)
{
	char *path = strchr(line, '/');

	if (path)
		path[strcspn(path, "\n")] = '\0';
	return path;
}

/* Whether the pid was another process's when its cgroup was read before. */
static bool is_another(struct run_names *names, uint32_t pid)
{
	const uintptr_t before = (uintptr_t)u64map_get(&names->pid_starts, pid),
			now = (uintptr_t)sys_proc_start(names->roots, (pid_t)pid) + 1;

	u64map_put(&names->pid_starts, pid, (void *)now);
	return before > 1 && now > 1 && before != now;
}

const char *run_names_cgroup_of(struct run_names *names, uint32_t pid)
{
	const char *known = u64map_get(&names->pid_cgroups, pid);
	_cleanup_free_ char *text = NULL;

	if (!pid || (known && !*known) || u64map_get(&names->fresh_cgroups, pid))
		return known;
	u64map_put(&names->fresh_cgroups, pid, names);
	error_free(sys_proc_read(names->roots, (pid_t)pid, "cgroup", &text, NULL));
	if (!text)
		return known;
	char *v2 = strncmp(text, "0::", 3) ? strstr(text, "\n0::") : text;
	const char *path = path_in(v2 ? v2 + (v2 != text) : text);
	/* what was counted by the pid is of both */
	if (path && known && is_another(names, pid))
		return keep(names, &names->pid_cgroups, pid, "");
	if (path && !known)
		is_another(names, pid);
	if (!path || (known && !strcmp(known, path)))
		return known;
	return keep(names, &names->pid_cgroups, pid, path);
}

static const char *uid_name(struct run_names *names, uint32_t uid)
{
	const char *known = u64map_get(&names->uids, uid);

	if (known)
		return known;
	const struct passwd *pw = getpwuid(uid);
	return keep(names, &names->uids, uid, pw ? pw->pw_name : "");
}

static const char *gid_name(struct run_names *names, uint32_t gid)
{
	const char *known = u64map_get(&names->gids, gid);

	if (known)
		return known;
	const struct group *gr = getgrgid(gid);
	return keep(names, &names->gids, gid, gr ? gr->gr_name : "");
}

static struct error *see_mmap(struct session_tool *tool, struct session *s,
			      const struct record *rec, const struct record_mmap *mmap)
{
	struct run_names *names = tool->ctx;

	TRY(held_files_add(&names->held, rec, mmap));
	if (!names->on_maps ||
	    (rec->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER)
		return NULL;
	return names->on_maps(names->on_maps_ctx, (uint32_t)mmap->pid, mmap);
}

static struct error *see_exit(struct session_tool *tool, struct session *s,
			      const struct record *rec, const struct record_task *task)
{
	const struct run_names *names = tool->ctx;

	return names->on_maps && task->pid == task->tid
		       ? names->on_maps(names->on_maps_ctx, (uint32_t)task->pid, NULL)
		       : NULL;
}

static struct error *begin(struct run_names *names, const struct log *log, bool processes)
{
	const struct live_source_opts live = {
		.sz = sizeof(live),
		.log = log,
		.processes = processes,
		.prompt = names->on_maps,
		.tool = &names->tool,
	};
	const struct resolver_opts resolver = {.sz = sizeof(resolver),
					       .log = log,
					       .demangler = names->demangler,
					       .demangle = true,
					       .lines = names->lines,
					       .held = &names->held};

	resolver_free(names->resolver);
	live_source_free(names->live);
	names->resolver = NULL;
	names->live = NULL;
	names->tool = (struct session_tool){.ctx = names, .mmap = see_mmap, .exit = see_exit};
	TRY(live_source_new(&live, &names->live));
	names->follows = processes;
	return resolver_new(live_source_session(names->live), &resolver, &names->resolver);
}

struct error *run_names_follow(struct run_names *names, const struct log *log)
{
	return names->follows ? NULL : begin(names, log, true);
}

struct error *run_names_follow_maps(struct run_names *names, const struct log *log, run_maps_fn *fn,
				    void *ctx)
{
	names->on_maps = fn;
	names->on_maps_ctx = ctx;
	return begin(names, log, true);
}

struct live_source *run_names_live(const struct run_names *names)
{
	return names->follows ? names->live : NULL;
}

struct resolver *run_names_resolver(const struct run_names *names)
{
	return names->resolver;
}

struct error *run_names_update(struct run_names *names)
{
	if (!names->follows)
		return NULL;
	TRY(live_source_update(names->live));
	resolver_refresh(names->resolver);
	names->n_in_vain = 0;
	return NULL;
}

static const char *module_of(const struct map *map)
{
	if (!map)
		return "[bpf]";
	switch (map->dso->kind) {
	case DSO_KERNEL:
		return "[kernel]";
	case DSO_BPF:
		return "[bpf]";
	case DSO_ANON:
		return "[JIT]";
	case DSO_MODULE:
		return map->dso->short_name;
	default:
		return map->dso->path;
	}
}

void run_names_set_python(struct run_names *names, struct python_maps *python)
{
	names->python = python;
}

/* false: no memory. */
static bool find_python(struct run_names *names, uint64_t key, struct result_frame *frame)
{
	const struct python_function *function;
	struct error *err = python_maps_find(names->python, key, &function);
	const bool no_memory = err && err->code == ENOMEM;

	*frame = (struct result_frame){.name = "[unknown]", .offset = key, .ip = key};
	if (!err && function)
		*frame = (struct result_frame){
			.name = function->name,
			.module = function->path,
			.is_function = true,
			.file = names->lines ? function->path : NULL,
			.line = names->lines ? function->line : 0,
		};
	error_free(err);
	return !no_memory;
}

/*
 * An address of a process that is in no mapping may be in one that was made after the last update:
 * the record of the mapping was written before the stack was taken, to another ring. Others are in
 * no mapping at all, so that there is a limit to what is looked for in vain.
 */
static void resolve_user_addr(struct run_names *names, int32_t pid, uint64_t time, uint64_t addr,
			      struct location *at)
{
	resolve_addr_at(names->resolver, pid, time, PERF_RECORD_MISC_USER, addr, at);
	if (at->map || at->sym || names->n_in_vain >= MOST_IN_VAIN)
		return;
	error_free(live_source_update(names->live));
	resolve_addr_at(names->resolver, pid, time, PERF_RECORD_MISC_USER, addr, at);
	names->n_in_vain = at->map ? 0 : names->n_in_vain + 1;
}

bool run_frame_find(struct run_names *names, const uint32_t *pid, uint64_t time, uint64_t addr,
		    bool is_return, struct result_frame *frame)
{
	struct location at = {0};

	if (pid && names->python && addr & PERF_BPF_PYTHON_FRAME)
		return find_python(names, addr, frame);
	*frame = (struct result_frame){
		.name = "[unknown]", .offset = addr, .is_kernel = !pid, .ip = addr};
	if (!pid) {
		/* without the right to read them addresses stay numbers */
		if (!names->resolver)
			error_free(begin(names, NULL, false));
		if (!names->resolver)
			return true;
		error_free(live_source_read_kernel(names->live));
		frame->module = "[kernel]";
	} else if (!names->follows) {
		return true;
	}
	if (pid)
		resolve_user_addr(names, (int32_t)*pid, time, addr, &at);
	else
		resolve_addr_at(names->resolver, 0, time, PERF_RECORD_MISC_KERNEL, addr, &at);
	if (at.map || at.sym)
		frame->module = module_of(at.map);
	if (at.map) {
		frame->mapping = result_mapping_of(&names->mappings, at.map);
		if (!frame->mapping)
			return false;
	}
	if (!at.sym)
		return true;
	frame->name = at.sym->name;
	frame->offset = at.offset;
	if (names->lines)
		resolve_line(names->resolver, &at, is_return, &frame->file, &frame->line);
	return true;
}

static bool add_ksym(struct run_names *names, uint64_t addr, struct strbuf *out)
{
	struct result_frame frame;

	run_frame_find(names, NULL, 0, addr, false, &frame);
	if (frame.offset == addr)
		return false;
	strbuf_addf(out, "%s+0x%" PRIx64, frame.name, frame.offset);
	return true;
}

/* "dd(3237)", or false where there is no name. */
static bool add_named(const char *name, uint64_t id, struct strbuf *out)
{
	if (!name || !*name)
		return false;
	strbuf_adds(out, name);
	strbuf_addch(out, '(');
	strbuf_add_u64(out, id);
	strbuf_addch(out, ')');
	return true;
}

static bool add_enum(const struct btf *btf, const struct record_field *field, uint64_t v,
		     struct strbuf *out)
{
	const struct btf_type *t = btf ? btf__type_by_id(btf, field->type) : NULL;

	return t && value_enum_add(btf, t, v, out);
}

/*
 * A duration as people say it: 12.3ms; three digits that count. In integers,
 * since events have millions of them.
 */
static void add_duration(uint64_t ns, struct strbuf *out)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	uint64_t scale = 1, tenths = 1;
	size_t unit = 0;

	/* up to 999.5 of a unit, beyond which it would be rounded to 1000 */
	while (unit + 1 < ARRAY_SIZE(units) && ns / scale >= 999 &&
	       ns >= scale * 999 + (scale + 1) / 2) {
		scale *= 1000;
		unit++;
	}
	if (unit && ns < scale / 1000 * 9995)
		tenths = 100;
	else if (unit && ns < scale / 100 * 9995)
		tenths = 10;
	uint64_t v = tenths > 1 ? (ns * tenths + scale / 2) / scale
				: ns / scale + (ns % scale >= (scale + 1) / 2);
	strbuf_add_u64(out, v / tenths);
	if (tenths > 1) {
		strbuf_addch(out, '.');
		if (tenths == 100)
			strbuf_addch(out, (char)('0' + v / 10 % 10));
		strbuf_addch(out, (char)('0' + v % 10));
	}
	strbuf_adds(out, units[unit]);
}

/*
 * A time since the boot as clocks have it: 12:03:07.000250, with the date where
 * it is none of the last day. The clock may have been set since: it is what it
 * would have shown.
 */
static bool add_time(uint64_t ns, struct strbuf *out)
{
	const uint64_t since = clock_ns(CLOCK_MONOTONIC);
	const uint64_t at = (uint64_t)clock_ahead(CLOCK_REALTIME, CLOCK_MONOTONIC) + ns;
	time_t seconds = at / 1000000000;
	const uint64_t day = UINT64_C(86400) * 1000000000;
	struct tm tm;
	char text[64];

	if (!ns || ns > since + day || !localtime_r(&seconds, &tm))
		return false; /* no time at all */
	strftime(text, sizeof(text), since > ns + day ? "%F %T" : "%T", &tm);
	strbuf_addf(out, "%s.%06u", text, (unsigned)(at % 1000000000 / 1000));
	return true;
}

bool run_name_add(struct run_names *names, const struct btf *btf, const struct record_field *field,
		  const void *data, struct strbuf *out)
{
	const uint8_t *p = (const uint8_t *)data + field->off;
	uint64_t v = field_number(field, data);
	char text[INET6_ADDRSTRLEN];

	if (field->kind == FIELD_ENUM)
		return add_enum(btf, field, v, out);
	switch (field->role) {
	case ROLE_PID:
		return add_named(pid_name(names, v), v, out);
	case ROLE_UID:
		return add_named(uid_name(names, v), v, out);
	case ROLE_GID:
		return add_named(gid_name(names, v), v, out);
	case ROLE_CGROUP: {
		const char *path = run_names_cgroup(names, v);

		if (!path || !*path)
			return false;
		strbuf_adds(out, path);
		return true;
	}
	case ROLE_KSYM:
		return add_ksym(names, v, out);
	case ROLE_IPV4:
		if (field->size != 4 || !inet_ntop(AF_INET, p, text, sizeof(text)))
			return false;
		strbuf_adds(out, text);
		return true;
	case ROLE_IPV6:
		if (field->size != 16)
			return false;
		/* an IPv4 address in IPv6's form (RFC 4291, 2.5.5.2) as people write it */
		if (!memcmp(p, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12)
			    ? !inet_ntop(AF_INET, p + 12, text, sizeof(text))
			    : !inet_ntop(AF_INET6, p, text, sizeof(text)))
			return false;
		strbuf_adds(out, text);
		return true;
	case ROLE_PORT:
		strbuf_add_u64(out, ntohs((uint16_t)v));
		return true;
	case ROLE_NS:
		add_duration(v, out);
		return true;
	case ROLE_TIME:
		return add_time(v, out);
	case ROLE_DEV: /* as the kernel has it inside: 12 bits and 20 */
		strbuf_addf(out, "%" PRIu64 ":%" PRIu64, v >> 20, v & 0xfffff);
		return true;
	case ROLE_SYSCALL:
		return syscall_add_name((uint32_t)v, out);
	case ROLE_ERRNO: {
		/* as errno(3) has them, or negative as the kernel returns them */
		uint64_t error = (int64_t)v < 0 ? -v : v;
		const char *name = error && error <= 4095 ? kernel_errno_name((int)error) : NULL;

		if (!name)
			return false;
		strbuf_adds(out, name);
		return true;
	}
	case ROLE_STACK_ID:
		/* below 0 it is an error */
		if ((int32_t)v < 0)
			return false;
		strbuf_adds(out, "stack id ");
		strbuf_add_u64(out, v);
		return true;
	case ROLE_BYTES:
	case ROLE_KSTACK:
	case ROLE_USTACK:
	case ROLE_USYM:
	case ROLE_NONE:
		return false;
	}
	return false;
}
