// SPDX-License-Identifier: BSD-2-Clause
/* What the host itself allows: rights, lockdown, limits, the kernel's BTF. */
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lib/base/cursor.h"
#include "lib/sys/bpf_syscall.h"
#include "lib/sys/confine.h"
#include "lib/sys/features_internal.h"
#include "lib/sys/tracefs.h"

/* ---- the kernel's BTF ---- */

enum {
	MAX_BTF = 256 << 20,
};

/*
 * Bytes after the 12 of a struct btf_type of this kind and length
 * (Documentation/bpf/btf.rst, "Type Encoding"); -1: a kind not known.
 */
static int64_t btf_kind_extra(unsigned kind, uint32_t vlen)
{
	switch (kind) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (int64_t)vlen * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return (int64_t)vlen * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return (int64_t)vlen * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return (int64_t)vlen * 12;
	default:
		return -1;
	}
}

/*
 * A walk over the types for one name: lib/btf stands above this room, and
 * does much more. Kind has 5 bits and vlen 16, or 7 and 24 since 7.2, with
 * zeros between before.
 */
static struct error *search_btf(struct cursor all, const char *want, unsigned want_kind,
				uint32_t *id)
{
	struct cursor types, strings;
	uint32_t hdr_len, type_off, type_len, str_off, str_len;
	uint16_t magic;

	if (!cursor_u16(&all, &magic) || magic != BTF_MAGIC || !cursor_skip(&all, 2) ||
	    !cursor_u32(&all, &hdr_len) || !cursor_u32(&all, &type_off) ||
	    !cursor_u32(&all, &type_len) || !cursor_u32(&all, &str_off) ||
	    !cursor_u32(&all, &str_len) ||
	    !cursor_sub(&all, (uint64_t)hdr_len + type_off, type_len, &types) ||
	    !cursor_sub(&all, (uint64_t)hdr_len + str_off, str_len, &strings))
		return cursor_error(&all, "it is not BTF");
	for (uint32_t n = 1; !cursor_end(&types); n++) {
		uint32_t name_off, info, size;

		if (!cursor_u32(&types, &name_off) || !cursor_u32(&types, &info) ||
		    !cursor_u32(&types, &size))
			return cursor_error(&types, "type %u is truncated", n);
		unsigned kind = info >> 24 & 0x7f;
		int64_t extra = btf_kind_extra(kind, info & 0xffffff);
		if (extra < 0 || !cursor_skip(&types, (size_t)extra))
			return cursor_error(&types, "type %u has the unknown kind %u", n, kind);
		if (kind != want_kind || !cursor_seek(&strings, name_off))
			continue;
		const char *name = cursor_cstr(&strings);
		if (name && !strcmp(name, want)) {
			*id = n;
			return NULL;
		}
	}
	return error_new(ENOENT, "the kernel's BTF has no %s", want);
}

struct error *kernel_btf_id(const struct sys_roots *roots, const char *name, unsigned kind,
			    uint32_t *id)
{
	_cleanup_free_ char *path = text_format("%s/kernel/btf/vmlinux", roots->sysfs);
	_cleanup_free_ char *data = NULL;
	size_t size;

	if (!path)
		return error_nomem();
	TRY(sys_read_file(path, MAX_BTF, &data, &size));
	return search_btf(cursor_make(data, size, path), name, kind, id);
}

static void probe_kernel_btf(struct sys_features *features, const void *arg,
			     struct sys_feature_result *result)
{
	_cleanup_free_ char *path = text_format("%s/kernel/btf/vmlinux", features->roots->sysfs);
	struct stat st;

	if (!path || access(path, R_OK) || stat(path, &st)) {
		feature_no(result, errno, "/sys/kernel/btf/vmlinux does not exist");
		feature_hint(result, "boot a kernel with CONFIG_DEBUG_INFO_BTF");
		return;
	}
	feature_yes(result, "%.1f MB", (double)st.st_size / 1e6);
}

static void probe_module_btf(struct sys_features *features, const void *arg,
			     struct sys_feature_result *result)
{
	_cleanup_free_ char *path = text_format("%s/kernel/btf", features->roots->sysfs);
	_cleanup_names_ struct names files = {0};
	_cleanup_error_ struct error *err = path ? sys_list_dir(path, DT_REG, &files) : NULL;

	if (err || files.n < 2) {
		feature_no(result, ENOENT, "no loaded module has BTF");
		feature_hint(result, "BTF of modules needs CONFIG_DEBUG_INFO_BTF_MODULES");
		return;
	}
	feature_yes(result, "%zu module%s", files.n - 1, files.n == 2 ? "" : "s");
}

/* ---- rights ---- */

static const struct {
	unsigned cap;
	const char *name;
} needed_caps[] = {
	{CAP_BPF, "CAP_BPF"},
	{CAP_PERFMON, "CAP_PERFMON"},
	{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
};

static void probe_capability(struct sys_features *features, const void *arg,
			     struct sys_feature_result *result)
{
	unsigned cap = needed_caps[(uintptr_t)arg].cap;

	if (sys_in_user_namespace(features->roots)) {
		feature_no(result, EPERM, "capabilities of a user namespace do not count");
		feature_hint_caps(features, result, SYS_CAP(cap), NULL);
	} else if (features->caps >> cap & 1) {
		feature_yes(result, "%s", "");
	} else if (cap != CAP_SYS_ADMIN && features->caps >> CAP_SYS_ADMIN & 1) {
		feature_yes(result, "by CAP_SYS_ADMIN");
	} else {
		feature_no(result, EPERM, "this process lacks %s",
			   needed_caps[(uintptr_t)arg].name);
		feature_hint_caps(features, result, SYS_CAP(cap), NULL);
	}
}

/* "none [integrity] confidentiality": the bracketed one holds. */
static void probe_read_kernel(struct sys_features *features, const void *arg,
			      struct sys_feature_result *result)
{
	_cleanup_free_ char *path =
		text_format("%s/kernel/security/lockdown", features->roots->sysfs);
	_cleanup_free_ char *text = NULL;
	_cleanup_error_ struct error *err =
		path ? sys_read_file(path, 4096, &text, NULL) : error_nomem();

	if (!err && strstr(text, "[confidentiality]")) {
		feature_no(result, EPERM, "the kernel is in lockdown (confidentiality)");
		feature_hint(result, "boot with lockdown=integrity, or without Secure Boot");
	} else if (!sys_bpf_has(SYS_BPF_PROBE_READ_KERN)) {
		feature_no_bpf(features, result, EPERM,
			       "programs with bpf_probe_read_kernel() do "
			       "not load");
	} else {
		bool integrity = !err && strstr(text, "[integrity]");

		feature_yes(result, "%s", integrity ? "lockdown is at integrity" : "");
	}
}

static void probe_paranoid(struct sys_features *features, const void *arg,
			   struct sys_feature_result *result)
{
	int paranoid;
	struct error *err = sys_sysctl(features->roots, "kernel/perf_event_paranoid", &paranoid);

	if (err) {
		error_free(err);
		feature_no(result, ENOENT, "the kernel has no perf events");
		feature_hint(result, "boot a kernel with CONFIG_PERF_EVENTS");
	} else if (paranoid <= -1 || feature_has_cap(features, CAP_PERFMON)) {
		feature_yes(result, "perf_event_paranoid is %d%s", paranoid,
			    paranoid <= -1 ? "" : ", this process is exempt");
	} else {
		feature_no(result, EPERM,
			   "perf_event_paranoid is %d, and this process lacks "
			   "CAP_PERFMON",
			   paranoid);
		feature_hint_caps(features, result, SYS_CAP(CAP_PERFMON),
				  "type: sysctl kernel.perf_event_paranoid=-1");
	}
}

static void probe_kallsyms(struct sys_features *features, const void *arg,
			   struct sys_feature_result *result)
{
	_cleanup_free_ char *path = text_format("%s/kallsyms", features->roots->proc);
	_cleanup_fclose_ FILE *file = path ? fopen(path, "re") : NULL;
	unsigned long long address;

	if (!file) {
		feature_no(result, errno, "/proc/kallsyms does not exist");
		feature_hint(result, "boot a kernel with CONFIG_KALLSYMS");
		return;
	}
	/* Without the right to see them, all are 0; the first may really be. */
	for (int i = 0; i < 100; i++) {
		if (fscanf(file, "%llx %*[^\n]", &address) != 1)
			break;
		if (address) {
			feature_yes(result, "%s", "");
			return;
		}
	}
	feature_no(result, EPERM, "/proc/kallsyms hides its addresses (kptr_restrict)");
	feature_hint_caps(features, result, SYS_CAP(SYS_CAP_SYSLOG),
			  "type: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
}

static void probe_tracefs(struct sys_features *features, const void *arg,
			  struct sys_feature_result *result)
{
	_cleanup_free_ char *dir = NULL;
	_cleanup_names_ struct names systems = {0};
	struct error *err = sys_tracefs_dir(features->roots, &dir);

	if (!err)
		err = sys_tracepoint_systems(features->roots, &systems);
	if (err)
		feature_from_error(result, err);
	else
		feature_yes(result, "at %s", dir);
}

static void probe_open_files(struct sys_features *features, const void *arg,
			     struct sys_feature_result *result)
{
	struct rlimit limit = {0};
	_cleanup_cpus_ struct sys_cpus online = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	error_free(sys_cpus_online(features->roots, &online));
	unsigned long long events = limit.rlim_max / (online.n ? online.n : 1);
	if (events >= 64) {
		feature_yes(result, "some %llu on %zu CPUs (ulimit -Hn %llu)", events, online.n,
			    (unsigned long long)limit.rlim_max);
		return;
	}
	feature_no(result, EMFILE, "only %llu files can be open, for %zu CPUs",
		   (unsigned long long)limit.rlim_max, online.n);
	feature_hint(result, "raise it: ulimit -Hn 65536");
}

/* ---- what a process can give up ---- */

static void probe_seccomp(struct sys_features *features, const void *arg,
			  struct sys_feature_result *result)
{
	if (seccomp_works()) {
		feature_yes(result, "%s", "");
		return;
	}
	feature_no(result, errno, "the kernel cannot filter system calls");
	feature_hint(result, "boot a kernel with CONFIG_SECCOMP_FILTER");
}

static void probe_landlock(struct sys_features *features, const void *arg,
			   struct sys_feature_result *result)
{
	const int abi = landlock_abi();

	if (abi) {
		feature_yes(result, "ABI %d", abi);
		return;
	}
	feature_no(result, errno, "the kernel has no Landlock, or it is not enabled");
	feature_hint(result, "boot a kernel with CONFIG_SECURITY_LANDLOCK (5.13) and landlock in "
			     "the list lsm=");
}

static const struct sys_feature table[] = {
	{"host.cap_bpf", "Host", "may load BPF programs", probe_capability, (void *)0},
	{"host.cap_perfmon", "Host", "may record the kernel and all processes", probe_capability,
	 (void *)1},
	{"host.cap_sys_admin", "Host", "may list the kernel's BPF objects", probe_capability,
	 (void *)2},
	{"host.paranoid", "Host", "perf events of the kernel and all CPUs", probe_paranoid},
	{"host.read_kernel", "Host", "programs may read kernel memory", probe_read_kernel},
	{"host.tracefs", "Host", "tracepoints by name", probe_tracefs},
	{"host.kallsyms", "Host", "kernel symbols in reports", probe_kallsyms},
	{"host.open_files", "Host", "events open at the same time", probe_open_files},
	{"host.seccomp", "Host", "commands drop the system calls that they do not need",
	 probe_seccomp},
	{"host.landlock", "Host", "readers of recordings can write to their output files only",
	 probe_landlock},
	{"host.btf", "Host", "the kernel's types: vmlinux.h, CO-RE", probe_kernel_btf},
	{"host.btf_modules", "Host", "the types of modules", probe_module_btf},
};

const struct feature_part features_host = {table, ARRAY_SIZE(table)};
