// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prepare and load. Preparing lays the programs out before it makes the first
 * system call, so that a malformed object is refused without a trace. A
 * program is loaded without the verifier's log, which costs time to write, and
 * a second time with it when that failed. The log is as large as it can be from
 * the start: the verifier may take seconds each time.
 */
#include "lib/object/internal.h"

#include <string.h>
#include <unistd.h>

/* The most that every kernel takes (UINT_MAX >> 8); memory that is not written costs nothing. */
#define LOG_SIZE (16 * 1024 * 1024 - 1)

/* Everything that preparing made goes; what the file says stays. */
static void unload(struct bpf_object *obj)
{
	struct bpf_program *prog;
	struct bpf_map *map;

	vec_for_each (prog, &obj->programs)
		bpf_program__unload(prog);
	vec_for_each (map, &obj->maps) {
		if (map->fd >= 0 && !map->reused)
			close(map->fd);
		if (!map->reused)
			map->fd = -1;
	}
	obj->state = OBJECT_FAILED;
}

static struct error *prepare(struct bpf_object *obj)
{
	struct bpf_program *prog;

	TRY(programs_prepare(obj));
	sys_bpf_bump_memlock();
	TRY(kconfig_fill(obj));
	TRY(object_btf_load(obj));
	TRY(maps_create(obj));
	TRY(map_values_fill(obj, false));
	vec_for_each (prog, &obj->programs) {
		if (!prog->autoload)
			continue;
		TRY(program_error_at(prog, program_patch_maps(prog)));
		TRY(program_error_at(prog, program_find_target(prog)));
	}
	return NULL;
}

struct error *object_prepare(struct bpf_object *obj)
{
	if (obj->state != OBJECT_OPEN)
		return object_error_at(obj, error_new(EINVAL, "the object was prepared before"));
	struct error *err = object_error_at(obj, prepare(obj));
	if (err)
		unload(obj);
	else
		obj->state = OBJECT_PREPARED;
	return err;
}

/* The two kinds of options a program is loaded with. */
static void load_opts(const struct bpf_program *prog, struct bpf_prog_load_opts *opts)
{
	const struct bpf_object *obj = prog->obj;

	opts->prog_flags = prog->flags;
	opts->prog_ifindex = prog->ifindex;
	opts->kern_version = obj->kversion ? obj->kversion : host_kernel_version();
	opts->attach_btf_id = prog->attach_btf_id;
	if (prog->attach_prog_fd)
		opts->attach_prog_fd = (__u32)prog->attach_prog_fd;
	else if (prog->attach_btf_obj_fd)
		opts->attach_btf_obj_fd = (__u32)prog->attach_btf_obj_fd;
	if (prog->attach_type &&
	    (!prog->section.optional_attach_type || sys_bpf_has(SYS_BPF_EXP_ATTACH_TYPE)))
		opts->expected_attach_type = prog->attach_type;
	if (obj->module_fds.n)
		opts->fd_array = obj->module_fds.v;
	if (obj->btf_fd >= 0 && prog->n_func_info) {
		opts->prog_btf_fd = (__u32)obj->btf_fd;
		opts->func_info = prog->func_info;
		opts->func_info_cnt = prog->n_func_info;
		opts->func_info_rec_size = sizeof(*prog->func_info);
		opts->line_info = prog->line_info;
		opts->line_info_cnt = prog->n_line_info;
		opts->line_info_rec_size = prog->n_line_info ? sizeof(*prog->line_info) : 0;
	}
}

static int load_once(const struct bpf_program *prog, struct bpf_prog_load_opts *opts)
{
	return bpf_prog_load(prog->type, prog->fn->name, prog->obj->license, prog->insns,
			     prog->n_insns, opts);
}

/* With the caller's own log buffer: what it holds afterwards is the caller's to read. */
static int load_into_users_log(const struct bpf_program *prog, struct bpf_prog_load_opts *opts,
			       char **log, size_t *log_size)
{
	*log = prog->log_buf ? prog->log_buf : prog->obj->kernel_log_buf;
	*log_size = prog->log_buf ? prog->log_size : prog->obj->kernel_log_size;
	opts->log_buf = *log;
	opts->log_size = (__u32)*log_size;
	opts->log_level = prog->log_level;
	(*log)[0] = 0;
	int fd = load_once(prog, opts);
	(*log)[*log_size - 1] = 0;
	return fd;
}

/* Loads again with a log of our own; *log is the caller's. -ENOSPC: it was too small. */
static int load_with_log(const struct bpf_program *prog, struct bpf_prog_load_opts *opts,
			 char **log)
{
	*log = calloc(1, LOG_SIZE);
	if (!*log)
		return -ENOMEM;
	opts->log_buf = *log;
	opts->log_size = LOG_SIZE;
	opts->log_level = prog->log_level ? prog->log_level : 1;
	return load_once(prog, opts);
}

static void log_lines(const struct bpf_program *prog, const char *log)
{
	if (log && log[0])
		log_info(prog->obj->log, "%s: program %s: the verifier says:\n%s", prog->obj->path,
			 prog->fn->name, log);
}

static struct error *unknown_kind(const struct bpf_program *prog)
{
	_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;
	struct error *err = error_new(
		EINVAL, "section '%s' does not say what kind of program it is", prog->section_name);

	if (section_nearest(prog->section_name, &near))
		return error_hint(err, "did you mean %s?", strbuf_str(&near));
	return error_hint(err,
			  "write SEC(\"tracepoint/SYSTEM/EVENT\") or another known kind, or call "
			  "bpf_program__set_type()");
}

struct error *program_load(struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	_cleanup_free_ char *own_log = NULL;
	char *log = NULL;
	size_t log_size;
	int fd;

	if (prog->type == BPF_PROG_TYPE_UNSPEC)
		return unknown_kind(prog);
	load_opts(prog, &opts);
	if (prog->log_buf || prog->obj->kernel_log_buf) {
		fd = load_into_users_log(prog, &opts, &log, &log_size);
	} else if (prog->log_level) {
		fd = load_with_log(prog, &opts, &own_log);
		log = own_log;
		if (fd >= 0)
			log_lines(prog, log);
	} else {
		fd = load_once(prog, &opts);
		if (fd < 0) {
			int again = load_with_log(prog, &opts, &own_log);

			/* What failed for lack of something passing may go through now. */
			fd = again >= 0 || fd == -EAGAIN ? again : fd;
			log = own_log;
		}
	}
	if (fd < 0)
		return verifier_explain(prog, -fd, log ? log : "");
	prog->fd = fd;
	return NULL;
}

/* .rodata and .kconfig belong to a program that does not refer to them, too: tools show them. */
static void bind_rodata(const struct bpf_object *obj)
{
	const struct bpf_program *prog;
	const struct bpf_map *map;

	vec_for_each (map, &obj->maps) {
		if (map->origin != MAP_RODATA || map->fd < 0)
			continue;
		vec_for_each (prog, &obj->programs) {
			if (prog->fd < 0 || !sys_bpf_has(SYS_BPF_PROG_BIND_MAP))
				continue;
			if (bpf_prog_bind_map(prog->fd, map->fd, NULL))
				log_debug(obj->log, "%s: cannot bind '%s' to program %s", obj->path,
					  map->name, prog->fn->name);
		}
	}
}

struct error *object_load(struct bpf_object *obj)
{
	struct bpf_program *prog;

	if (obj->state == OBJECT_LOADED || obj->state == OBJECT_FAILED)
		return object_error_at(obj, error_new(EINVAL, "the object was loaded before"));
	if (obj->state == OBJECT_OPEN)
		TRY(object_prepare(obj));
	vec_for_each (prog, &obj->programs) {
		struct error *err = NULL;

		if (!prog->autoload || prog->fd >= 0)
			continue;
		err = program_error_at(prog, program_load(prog));
		if (err) {
			unload(obj);
			return object_error_at(obj, err);
		}
	}
	struct error *err = map_values_fill(obj, true);
	if (err) {
		unload(obj);
		return object_error_at(obj, err);
	}
	bind_rodata(obj);
	obj->state = OBJECT_LOADED;

	/* Not needed any more, and large. */
	core_free(obj->core);
	obj->core = NULL;
	btf__free(obj->vmlinux);
	obj->vmlinux = NULL;
	return NULL;
}

int bpf_object__prepare(struct bpf_object *obj)
{
	return obj ? edge_int(object_prepare(obj)) : edge_errno(EINVAL);
}

int bpf_object__load(struct bpf_object *obj)
{
	return obj ? edge_int(object_load(obj)) : edge_errno(EINVAL);
}
