// SPDX-License-Identifier: BSD-2-Clause
/* What callers ask of objects and programs, and set between open and load. */
#include "lib/object/open_object.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/sys/sys.h"

/* ---- objects ---- */

uint32_t host_kernel_version(void)
{
	unsigned a = 0, b = 0, c = 0;
	struct utsname host;

	if (uname(&host))
		return 0;
	/* Debian's release is an ABI name; the version says which kernel it is. */
	const char *debian = strstr(host.version, "Debian ");
	if (!debian || sscanf(debian, "Debian %u.%u.%u", &a, &b, &c) < 2)
		sscanf(host.release, "%u.%u.%u", &a, &b, &c);
	return a << 16 | b << 8 | min_of(c, 255u);
}

const char *bpf_object__name(const struct bpf_object *obj)
{
	return obj ? obj->name : edge_null_errno(EINVAL);
}

const char *bpf_object__license(const struct bpf_object *obj)
{
	return obj ? obj->license : edge_null_errno(EINVAL);
}

unsigned int bpf_object__kversion(const struct bpf_object *obj)
{
	if (!obj)
		return 0;
	return obj->kversion ? obj->kversion : host_kernel_version();
}

int bpf_object__set_kversion(struct bpf_object *obj, __u32 kern_version)
{
	if (obj->state != OBJECT_OPEN && obj->state != OBJECT_PREPARED)
		return edge_errno(EINVAL);
	obj->kversion = kern_version;
	return 0;
}

struct btf *bpf_object__btf(const struct bpf_object *obj)
{
	return obj ? obj->btf : NULL;
}

int bpf_object__btf_fd(const struct bpf_object *obj)
{
	return obj->btf_fd;
}

const void *perf_bpf_object__config(const struct bpf_object *obj, size_t *size)
{
	if (!obj->config)
		return NULL;
	if (size)
		*size = obj->config->size;
	return obj->config->data;
}

struct bpf_program *bpf_object__next_program(const struct bpf_object *obj, struct bpf_program *prog)
{
	if (!obj || !obj->programs.n)
		return NULL;
	prog = prog ? prog + 1 : obj->programs.v;
	return prog < obj->programs.v + obj->programs.n ? prog : NULL;
}

struct bpf_program *bpf_object__prev_program(const struct bpf_object *obj, struct bpf_program *prog)
{
	if (!obj || !obj->programs.n || prog == obj->programs.v)
		return NULL;
	return prog ? prog - 1 : vec_last(&obj->programs);
}

struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *obj, const char *name)
{
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, obj)
		if (!strcmp(prog->fn->name, name))
			return prog;
	return edge_null_errno(ENOENT);
}

/* ---- programs ---- */

const char *object_path(const struct bpf_object *obj)
{
	return obj->path;
}

void program_set_one_place(struct bpf_program *prog)
{
	prog->one_place = true;
}

void *object_attach_data(const struct bpf_object *obj)
{
	return obj->attach_data;
}

void object_set_attach_data(struct bpf_object *obj, void *data, void (*free_data)(void *data))
{
	obj->attach_data = data;
	obj->free_attach_data = free_data;
}

struct bpf_object *program_object(const struct bpf_program *prog)
{
	return prog->obj;
}

const struct section_info *program_section(const struct bpf_program *prog)
{
	return &prog->section;
}

const char *perf_bpf_program__target(const struct bpf_program *prog)
{
	return prog->section.target;
}

/* A path below the working folder without it. */
static const char *from_here(const char *path)
{
	char here[4096];
	const size_t n = getcwd(here, sizeof(here)) ? strlen(here) : 0;

	return n > 1 && !strncmp(path, here, n) && path[n] == '/' ? path + n + 1 : path;
}

struct error *program_error_at(const struct bpf_program *prog, struct error *err)
{
	struct failure *f = err ? err->failure : NULL;

	if (!err)
		return NULL;
	error_at(err, "program %s (section %s)", prog->fn->name, prog->section_name);
	if (!f || f->program)
		return err;
	f->program = strdup(prog->fn->name);
	f->section = strdup(prog->section_name);
	/* The source line comes first, as compilers have it; then the object says little more. */
	if (f->file && f->line) {
		const char *slash = strrchr(f->file, '/');
		const char *path = object_path(prog->obj), *tail = strrchr(path, '/');

		error_at(err, "%s:%u", from_here(f->file), f->line);
		f->placed = !strcmp(slash ? slash + 1 : f->file, tail ? tail + 1 : path);
	}
	return err;
}

const char *bpf_program__name(const struct bpf_program *prog)
{
	return prog->fn->name;
}

const char *bpf_program__section_name(const struct bpf_program *prog)
{
	return prog->section_name;
}

bool bpf_program__autoload(const struct bpf_program *prog)
{
	return prog->autoload;
}

int bpf_program__set_autoload(struct bpf_program *prog, bool autoload)
{
	if (prog->obj->state != OBJECT_OPEN && prog->obj->state != OBJECT_PREPARED)
		return edge_errno(EINVAL);
	prog->autoload = autoload;
	prog->kept_out = !autoload;
	return 0;
}

bool bpf_program__autoattach(const struct bpf_program *prog)
{
	return prog->autoattach;
}

void bpf_program__set_autoattach(struct bpf_program *prog, bool autoattach)
{
	prog->autoattach = autoattach;
}

const struct bpf_insn *bpf_program__insns(const struct bpf_program *prog)
{
	return prog->insns;
}

size_t bpf_program__insn_cnt(const struct bpf_program *prog)
{
	return prog->n_insns;
}

int bpf_program__set_insns(struct bpf_program *prog, struct bpf_insn *new_insns,
			   size_t new_insn_cnt)
{
	if (prog->fd >= 0 || prog->obj->state == OBJECT_LOADED)
		return edge_errno(EBUSY);
	if (!new_insns || !new_insn_cnt || new_insn_cnt > PROGRAM_INSNS_MAX)
		return edge_errno(EINVAL);
	/* The file's relocations apply to as many instructions as the file has. */
	if (prog->obj->state == OBJECT_OPEN && new_insn_cnt != prog->fn->n)
		return edge_errno(EINVAL);
	struct bpf_insn *copy = malloc(new_insn_cnt * sizeof(*copy));
	if (!copy)
		return edge_errno(ENOMEM);
	memcpy(copy, new_insns, new_insn_cnt * sizeof(*copy));
	if (prog->obj->state == OBJECT_OPEN) {
		free(prog->set_insns);
		prog->insns = prog->set_insns = copy;
		return 0;
	}
	free(prog->owned_insns);
	prog->insns = prog->owned_insns = copy;
	prog->n_insns = new_insn_cnt;
	/* Lines and functions speak of the old ones. */
	prog->n_func_info = prog->n_line_info = 0;
	return 0;
}

struct bpf_func_info *bpf_program__func_info(const struct bpf_program *prog)
{
	return prog->n_func_info ? prog->func_info : NULL;
}

__u32 bpf_program__func_info_cnt(const struct bpf_program *prog)
{
	return prog->n_func_info;
}

struct bpf_line_info *bpf_program__line_info(const struct bpf_program *prog)
{
	return prog->n_line_info ? prog->line_info : NULL;
}

__u32 bpf_program__line_info_cnt(const struct bpf_program *prog)
{
	return prog->n_line_info;
}

void program_set_return(struct bpf_program *prog, enum program_return returns)
{
	prog->returns = returns;
}

int bpf_program__fd(const struct bpf_program *prog)
{
	if (!prog)
		return edge_errno(EINVAL);
	return prog->fd >= 0 ? prog->fd : edge_errno(ENOENT);
}

void bpf_program__unload(struct bpf_program *prog)
{
	if (!prog)
		return;
	if (prog->instances) {
		instances_unload(prog);
	} else if (prog->fd >= 0) {
		close(prog->fd);
		prog->fd = -1;
	}
}

enum bpf_prog_type bpf_program__type(const struct bpf_program *prog)
{
	return prog->type;
}

enum bpf_prog_type bpf_program__get_type(const struct bpf_program *prog)
{
	return prog->type;
}

int bpf_program__set_type(struct bpf_program *prog, enum bpf_prog_type type)
{
	if (prog->obj->state == OBJECT_LOADED || prog->fd >= 0)
		return edge_errno(EBUSY);
	if (prog->type == type)
		return 0;
	prog->type = type;
	/* The section says nothing about a program of another type. */
	prog->section.needs_btf_id = false;
	prog->section.prog_flags = 0;
	prog->section.kind = PROGRAM_OTHER;
	return 0;
}

enum bpf_attach_type bpf_program__expected_attach_type(const struct bpf_program *prog)
{
	return prog->attach_type;
}

enum bpf_attach_type bpf_program__get_expected_attach_type(const struct bpf_program *prog)
{
	return prog->attach_type;
}

int bpf_program__set_expected_attach_type(struct bpf_program *prog, enum bpf_attach_type type)
{
	if (prog->obj->state == OBJECT_LOADED || prog->fd >= 0)
		return edge_errno(EBUSY);
	prog->attach_type = type;
	return 0;
}

__u32 bpf_program__flags(const struct bpf_program *prog)
{
	return prog->flags;
}

int bpf_program__set_flags(struct bpf_program *prog, __u32 flags)
{
	if (prog->obj->state == OBJECT_LOADED || prog->fd >= 0)
		return edge_errno(EBUSY);
	prog->flags = flags;
	return 0;
}

void bpf_program__set_ifindex(struct bpf_program *prog, __u32 ifindex)
{
	prog->ifindex = ifindex;
}

__u32 bpf_program__log_level(const struct bpf_program *prog)
{
	return prog->log_level;
}

int bpf_program__set_log_level(struct bpf_program *prog, __u32 log_level)
{
	if (prog->obj->state == OBJECT_LOADED || prog->fd >= 0)
		return edge_errno(EBUSY);
	prog->log_level = log_level;
	return 0;
}

const char *bpf_program__log_buf(const struct bpf_program *prog, size_t *log_size)
{
	*log_size = prog->log_size;
	return prog->log_buf;
}

int bpf_program__set_log_buf(struct bpf_program *prog, char *log_buf, size_t log_size)
{
	if ((!log_buf && log_size) || log_size > UINT32_MAX)
		return edge_errno(EINVAL);
	if (prog->obj->state == OBJECT_LOADED || prog->fd >= 0)
		return edge_errno(EBUSY);
	prog->log_buf = log_size ? log_buf : NULL;
	prog->log_size = log_size;
	return 0;
}

/* ---- the rest ---- */

int libbpf_num_possible_cpus(void)
{
	_cleanup_cpus_ struct sys_cpus cpus = {0};
	struct error *err = sys_cpus_possible(NULL, &cpus);

	/* Per-CPU values are laid out by CPU number: the last one counts. */
	return err ? edge_int(err) : cpus.n ? (int)cpus.v[cpus.n - 1] + 1 : edge_errno(EINVAL);
}

__u32 libbpf_major_version(void)
{
	return LIBBPF_MAJOR_VERSION;
}

__u32 libbpf_minor_version(void)
{
	return LIBBPF_MINOR_VERSION;
}

#define STRINGIFY_(x) #x
#define STRINGIFY(x)  STRINGIFY_(x)

const char *libbpf_version_string(void)
{
	return "v" STRINGIFY(LIBBPF_MAJOR_VERSION) "." STRINGIFY(LIBBPF_MINOR_VERSION);
}

int libbpf_set_strict_mode(enum libbpf_strict_mode mode)
{
	return 0;
}

long libbpf_get_error(const void *ptr)
{
	return ptr ? 0 : -errno;
}
