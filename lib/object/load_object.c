// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prepare and load. Preparing lays the programs out before it makes the first
 * system call, so that a malformed object is refused without a trace. A
 * program is loaded without the verifier's log, which costs time to write, and
 * a second time with it when that failed. The log is as large as it can be from
 * the start: the verifier may take seconds each time.
 */
#include "lib/object/load_object.h"

#include <string.h>
#include <unistd.h>

#include "lib/object/loss_counters.h"
#include "lib/object/refusal.h"
#include "lib/sys/uapi.h"

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
		if (map->pinned_by_load && map->pinned)
			bpf_map__unpin(map, NULL);
		if (map->fd >= 0 && !map->reused)
			close(map->fd);
		if (!map->reused)
			map->fd = -1;
	}
	jump_tables_close(obj);
	obj->state = OBJECT_FAILED;
}

/*
 * For another machine: what needs no kernel is done, when there is a BTF of
 * that machine's kernel to do it with.
 */
static struct error *refuse_other_order(struct bpf_object *obj)
{
	const bool big_host = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	if (obj->btf_custom_path)
		TRY(programs_prepare(obj));
	return error_hint(
		error_new(LIBBPF_ERRNO__ENDIAN,
			  "the object is %s-endian and cannot be loaded on this "
			  "%s-endian machine",
			  big_host ? "little" : "big", big_host ? "big" : "little"),
		"compile it with clang --target=bpf, which selects this machine's byte order");
}

/* What is left to do for programs once maps exist. */
static struct error *programs_finish(struct bpf_object *obj)
{
	struct bpf_program *prog;

	vec_for_each (prog, &obj->programs) {
		if (!prog->autoload || prog->patched)
			continue;
		TRY(program_error_at(prog, program_patch(prog, prog->owned_insns, false)));
		TRY(program_error_at(prog, program_find_target(prog)));
		prog->patched = true;
	}
	return NULL;
}

/* Prepares the programs whose autoload was set after the object was prepared. */
static struct error *prepare_late(struct bpf_object *obj)
{
	TRY(programs_prepare(obj));
	TRY(object_btf_load(obj));
	return programs_finish(obj);
}

static struct error *prepare(struct bpf_object *obj)
{
	if (pb_elf_file_swapped(obj->elf))
		return refuse_other_order(obj);
	TRY(struct_ops_prepare(obj));
	TRY(programs_prepare(obj));
	sys_bpf_bump_memlock();
	TRY(token_create(obj));
	TRY(kconfig_fill(obj));
	TRY(object_btf_load(obj));
	TRY(maps_create(obj));
	TRY(map_values_fill(obj, false));
	return programs_finish(obj);
}

struct error *object_prepare(struct bpf_object *obj)
{
	if (obj->state != OBJECT_OPEN)
		return object_error_at(obj, error_new(EINVAL, "the object is already prepared"));
	struct error *err = object_error_at(obj, prepare(obj));
	if (err)
		unload(obj);
	else
		obj->state = OBJECT_PREPARED;
	return err;
}

/*
 * A USDT program is attached to many places at once where the kernel can do
 * that, and must be loaded for it: bpf_get_attach_cookie() is another helper
 * then (bpf_tracing_func_proto of kernel/trace/bpf_trace.c, 6.6).
 */
static void choose_attach_type(struct bpf_program *prog)
{
	if (prog->section.kind == PROGRAM_USDT && !prog->one_place && !prog->attach_type &&
	    sys_bpf_has(SYS_BPF_UPROBE_MULTI))
		prog->attach_type = BPF_TRACE_UPROBE_MULTI;
}

/* The two kinds of options a program is loaded with. */
static void load_opts(const struct bpf_program *prog, struct bpf_prog_load_opts *opts)
{
	const struct bpf_object *obj = prog->obj;

	opts->prog_flags =
		prog->flags | prog->section.prog_flags | (obj->token_fd ? BPF_F_TOKEN_FD : 0);
	opts->token_fd = (__u32)obj->token_fd;
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
			 uint32_t level, char **log)
{
	*log = calloc(1, LOG_SIZE);
	if (!*log)
		return -ENOMEM;
	opts->log_buf = *log;
	opts->log_size = LOG_SIZE;
	opts->log_level = level;
	return load_once(prog, opts);
}

static void log_lines(const struct bpf_program *prog, const char *log)
{
	if (log && log[0])
		log_info(prog->obj->log, "%s: program %s: the verifier says:\n%s", prog->obj->path,
			 prog->fn->name, log);
}

/* enum bpf_log_level of the kernel: all registers behind each instruction; the words only. */
#define LOG_LEVEL_ALL	2
#define LOG_LEVEL_WORDS 4
/* A walk that makes more log than this takes too long to be repeated. */
#define LOG_SMALL (256 * 1024)

/* Kernels before 6.4 keep the beginning of a log that is too long, and so not the complaint. */
static struct error *explain_cut_log(const struct bpf_program *prog,
				     struct bpf_prog_load_opts *opts, int code, const char *log)
{
	_cleanup_free_ char *words = NULL;
	_cleanup_strbuf_ struct strbuf both = STRBUF_INIT;
	const char *end = strrchr(log, '\n');
	const int fd = load_with_log(prog, opts, LOG_LEVEL_WORDS, &words);

	if (fd >= 0)
		close(fd);
	strbuf_add(&both, log, end ? (size_t)(end - log) + 1 : 0);
	strbuf_adds(&both, words ? words : "");
	return strbuf_failed(&both) ? error_nomem()
				    : program_refused(prog, code, strbuf_str(&both));
}

/* With what the registers held, which older kernels write at level 2 only; NULL: no better. */
static struct error *explain_registers(const struct bpf_program *prog,
				       struct bpf_prog_load_opts *opts, int code,
				       const struct error *first)
{
	_cleanup_free_ char *log = NULL;
	const int fd = load_with_log(prog, opts, LOG_LEVEL_ALL, &log);

	if (fd >= 0)
		close(fd);
	if (fd >= 0 || !log)
		return NULL;
	struct error *err = program_refused(prog, code, log);
	if (err->failure && err->failure->state &&
	    !strcmp(err->failure->kind, first->failure->kind))
		return err;
	error_free(err);
	return NULL;
}

static struct error *explain_refusal(const struct bpf_program *prog,
				     struct bpf_prog_load_opts *opts, int code, const char *log)
{
	_cleanup_error_ struct error *err = program_refused(prog, code, log);
	const struct failure *f = err->failure;
	const size_t len = strlen(log);
	struct error *better = NULL;

	if (f && len + LOG_SMALL > LOG_SIZE && !strcmp(f->kind, "other"))
		better = explain_cut_log(prog, opts, code, log);
	else if (f && f->reg && !f->state && len < LOG_SMALL)
		better = explain_registers(prog, opts, code, err);
	return better ? better : steal_ptr(err);
}

static struct error *unknown_kind(const struct bpf_program *prog)
{
	_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;
	struct error *err =
		error_new(EINVAL, "section '%s' does not give a program type", prog->section_name);

	if (section_nearest(prog->section_name, &near))
		return error_hint(err, "did you mean %s?", strbuf_str(&near));
	return error_hint(err, "write SEC(\"tracepoint/SYSTEM/EVENT\") or another section name of "
			       "libbpf, or call bpf_program__set_type()");
}

/* With -vv, what the verifier has against the code that counts. */
static void log_counted(const struct bpf_program *prog, const struct counted_insns *counted,
			struct bpf_prog_load_opts *opts)
{
	const struct log *log = prog->obj->log;
	_cleanup_free_ char *text = log && log->level >= LOG_DEBUG ? calloc(1, LOG_SIZE) : NULL;

	if (!text)
		return;
	opts->log_buf = text;
	opts->log_size = LOG_SIZE;
	opts->log_level = 1;
	const int fd = bpf_prog_load(prog->type, prog->fn->name, prog->obj->license, counted->insns,
				     counted->n, opts);
	if (fd >= 0)
		close(fd);
	log_lines(prog, text);
}

/* In one of the two ways; *again: the other one may work. */
static struct error *try_counted(const struct bpf_program *prog, bool plain,
				 struct bpf_prog_load_opts opts, int *fd, bool *again)
{
	_cleanup_(counted_insns_deinit) struct counted_insns counted = {0};

	*again = false;
	TRY(loss_counters_add(prog, plain, &counted));
	if (!counted.insns)
		return NULL;
	opts.func_info = counted.info.funcs;
	opts.func_info_cnt = counted.info.n_funcs;
	opts.line_info = counted.info.lines;
	opts.line_info_cnt = counted.info.n_lines;
	*fd = bpf_prog_load(prog->type, prog->fn->name, prog->obj->license, counted.insns,
			    counted.n, &opts);
	if (*fd >= 0)
		return NULL;
	*again = counted.has_plain;
	if (!*again) {
		log_counted(prog, &counted, &opts);
		loss_counters_refused(prog);
	}
	return NULL;
}

/*
 * The program with code that counts its losses; -1 in *fd: there is nothing to
 * count, or the kernel does not take it.
 */
static struct error *load_counted(const struct bpf_program *prog,
				  const struct bpf_prog_load_opts *opts, int *fd)
{
	bool again;

	*fd = -1;
	if (!prog->obj->losses)
		return NULL;
	TRY(try_counted(prog, false, *opts, fd, &again));
	return again ? try_counted(prog, true, *opts, fd, &again) : NULL;
}

struct error *program_load_insns(struct bpf_program *prog, int *fd_out)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	_cleanup_free_ char *own_log = NULL;
	char *log = NULL;
	size_t log_size;
	int fd;

	if (prog->type == BPF_PROG_TYPE_UNSPEC)
		return unknown_kind(prog);
	choose_attach_type(prog);
	load_opts(prog, &opts);
	if (prog->handler.prepare_load) {
		fd = prog->handler.prepare_load(prog, &opts, prog->handler.cookie);
		if (fd < 0)
			return error_errno(
				-fd, "the prog_prepare_load_fn of its section handler failed");
		/* It may have set other instructions, which these speak not of. */
		if (!prog->n_func_info)
			opts.func_info_cnt = opts.line_info_cnt = 0;
	}
	TRY(load_counted(prog, &opts, &fd));
	if (fd >= 0) {
		*fd_out = fd;
		return NULL;
	}
	if (prog->log_buf || prog->obj->kernel_log_buf) {
		fd = load_into_users_log(prog, &opts, &log, &log_size);
	} else if (prog->log_level) {
		fd = load_with_log(prog, &opts, prog->log_level, &own_log);
		log = own_log;
		if (fd >= 0)
			log_lines(prog, log);
	} else {
		fd = load_once(prog, &opts);
	}
	if (fd < 0 && !own_log && !(log && verifier_log_has_words(log))) {
		int again = load_with_log(prog, &opts, 1, &own_log);

		/* What failed for lack of something passing may go through now. */
		fd = again >= 0 || fd == -EAGAIN ? again : fd;
		log = own_log;
	}
	if (fd < 0) {
		log_lines(prog, log);
		return explain_refusal(prog, &opts, -fd, log ? log : "");
	}
	*fd_out = fd;
	return NULL;
}

struct error *program_load(struct bpf_program *prog)
{
	return prog->prep || prog->form ? instances_load(prog)
					: program_load_insns(prog, &prog->fd);
}

static void bind_map(const struct bpf_program *prog, int fd, const struct bpf_map *map)
{
	/* A kernel before 5.10 refuses, and programs run without it. */
	if (fd >= 0 && bpf_prog_bind_map(fd, map->fd, NULL))
		log_debug(prog->obj->log, "%s: cannot bind '%s' to program %s", prog->obj->path,
			  map->name, prog->fn->name);
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
			if (!prog->instances)
				bind_map(prog, prog->fd, map);
			for (int i = 0; prog->instances && i < prog->n_instances; i++)
				if (prog->instances[i].owner)
					bind_map(prog, prog->instances[i].fd, map);
		}
	}
}

struct error *object_load(struct bpf_object *obj)
{
	struct bpf_program *prog;

	if (obj->state == OBJECT_LOADED || obj->state == OBJECT_FAILED)
		return object_error_at(obj, error_new(EINVAL, "the object is already loaded"));
	if (obj->state == OBJECT_OPEN) {
		TRY(object_prepare(obj));
	} else {
		struct error *err = prepare_late(obj);

		if (err) {
			unload(obj);
			return object_error_at(obj, err);
		}
	}
	TRY(loss_counters_create(obj));
	vec_for_each (prog, &obj->programs) {
		struct error *err = NULL;

		if (!prog->autoload || prog->fd >= 0 || prog->instances)
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
	struct_ops_finish(obj);
	bind_rodata(obj);
	obj->state = OBJECT_LOADED;

	/* Not needed any more, and large. */
	core_free(obj->core);
	obj->core = NULL;
	modules_deinit(&obj->modules);
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
