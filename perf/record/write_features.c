// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the header says of the machine and the recording. What is known at the
 * start is given before data_writer_start(), so that it is in the file
 * whatever ends the recorder; the rest (times, programs) at the end.
 */
#include "perf/record/internal.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "perf/data/features.h"
#include "perf/live/bpfinfo.h"

static struct error *put(struct recording *rec, enum data_feature feature, struct strbuf *sb)
{
	if (strbuf_failed(sb))
		return error_nomem();
	struct error *err =
		sb->len ? data_writer_feature(rec->writer, feature, sb->str, sb->len) : NULL;
	strbuf_reset(sb);
	return err;
}

static struct error *put_string(struct recording *rec, enum data_feature feature, const char *s)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	feature_build_string(&sb, s);
	return put(rec, feature, &sb);
}

/* What perf knows the model by, or "" where it has no such name. */
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* "GenuineIntel,6,143,8" */
static void cpuid_text(char *out, size_t size)
{
	unsigned a, b, c, d;
	char vendor[13] = "";

	snprintf(out, size, "unknown");
	if (!__get_cpuid(0, &a, &b, &c, &d))
		return;
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return;
	unsigned family = a >> 8 & 0xf, model = a >> 4 & 0xf, step = a & 0xf;
	if (family == 0xf)
		family += a >> 20 & 0xff;
	if (family >= 0x6)
		model += (a >> 16 & 0xf) << 4;
	snprintf(out, size, "%s,%u,%u,%u", vendor, family, model, step);
}
#elif defined(__aarch64__)
/* "0x00000000410fd0b1": the register MIDR_EL1 of the first CPU */
static void cpuid_text(char *out, size_t size)
{
	_cleanup_free_ char *midr = NULL;

	*out = 0;
	error_free(sys_read_file("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", 64,
				 &midr, NULL));
	if (midr)
		snprintf(out, size, "%.*s", (int)strcspn(midr, "\n"), midr);
}
#else
static void cpuid_text(char *out, size_t size)
{
	*out = 0;
}
#endif

/* The value of the first line "KEY<blanks>: VALUE" of a procfs text. */
static bool proc_value(const char *text, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n))
			continue;
		const char *p = strchr(line, ':');
		if (!p)
			return false;
		p += 1 + strspn(p + 1, " \t");
		snprintf(out, size, "%.*s", (int)strcspn(p, "\n"), p);
		return true;
	}
	return false;
}

static struct error *put_cpu(struct recording *rec)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_cpus_ struct sys_cpus online = {0}, possible = {0};
	_cleanup_free_ char *cpuinfo = NULL, *meminfo = NULL;
	char value[256];

	TRY(sys_cpus_online(rec->roots, &online));
	TRY(sys_cpus_possible(rec->roots, &possible));
	feature_build_nrcpus(&sb, possible.n, online.n);
	TRY(put(rec, DATA_NRCPUS, &sb));
	error_free(sys_read_file("/proc/cpuinfo", 4096, &cpuinfo, NULL));
	if (!cpuinfo) {
		/* The first lines of it are enough, and it is long on large machines. */
		_cleanup_fclose_ FILE *f = fopen("/proc/cpuinfo", "re");
		cpuinfo = calloc(1, 4097);
		if (f && cpuinfo && fread(cpuinfo, 1, 4096, f) == 0)
			cpuinfo[0] = 0;
	}
	if (cpuinfo && proc_value(cpuinfo, "model name", value, sizeof(value)))
		TRY(put_string(rec, DATA_CPUDESC, value));
	cpuid_text(value, sizeof(value));
	if (*value)
		TRY(put_string(rec, DATA_CPUID, value));
	error_free(sys_read_file("/proc/meminfo", 1 << 16, &meminfo, NULL));
	if (meminfo && proc_value(meminfo, "MemTotal", value, sizeof(value))) {
		feature_build_total_mem(&sb, strtoull(value, NULL, 10));
		TRY(put(rec, DATA_TOTAL_MEM, &sb));
	}
	return NULL;
}

static struct error *put_pmus(struct recording *rec)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_names_ struct names pmus = {0};
	_cleanup_free_ uint32_t *types = NULL;
	size_t n = 0;

	error_free(sys_pmu_list(rec->roots, &pmus));
	types = calloc(pmus.n + 1, sizeof(*types));
	if (!types)
		return error_nomem();
	for (size_t i = 0; i < pmus.n; i++) {
		struct error *err = sys_pmu_type(rec->roots, pmus.v[i], &types[n]);

		if (!err) {
			char *name = pmus.v[n];

			pmus.v[n++] = pmus.v[i];
			pmus.v[i] = i == n - 1 ? pmus.v[i] : name;
		}
		error_free(err);
	}
	feature_build_pmu_mappings(&sb, types, (const char *const *)pmus.v, n);
	return put(rec, DATA_PMU_MAPPINGS, &sb);
}

/* Of the events that the file has in their order; a group's stand one behind the other. */
static bool is_group_leader(const struct recording *rec, size_t i)
{
	const struct event *leader = &rec->events.v[i];

	if (leader->leader != i || leader->n_members < 2 || leader->n_members > rec->events.n - i)
		return false;
	for (size_t m = 1; m < leader->n_members; m++)
		if (leader[m].leader != i)
			return false;
	return true;
}

static struct error *put_groups(struct recording *rec)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_free_ struct data_group *groups = calloc(rec->events.n + 1, sizeof(*groups));
	size_t n = 0;

	if (!groups)
		return error_nomem();
	for (size_t i = 0; i < rec->events.n; i++) {
		if (!is_group_leader(rec, i))
			continue;
		groups[n++] = (struct data_group){
			.name = "",
			.leader = (uint32_t)i,
			.n_members = (uint32_t)rec->events.v[i].n_members,
		};
	}
	if (!n)
		return NULL;
	feature_build_group_desc(&sb, groups, n);
	return put(rec, DATA_GROUP_DESC, &sb);
}

struct error *features_begin(struct recording *rec)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct utsname uts;

	if (uname(&uts))
		return error_errno(errno, "uname");
	TRY(put_string(rec, DATA_HOSTNAME, uts.nodename));
	TRY(put_string(rec, DATA_OSRELEASE, uts.release));
	TRY(put_string(rec, DATA_ARCH, uts.machine));
	TRY(put_string(rec, DATA_VERSION, PERF_BPF_VERSION));
	if (rec->opts.argc) {
		feature_build_cmdline(&sb, rec->opts.argc, rec->opts.argv);
		TRY(put(rec, DATA_CMDLINE, &sb));
	}
	TRY(put_cpu(rec));
	TRY(put_pmus(rec));
	TRY(put_groups(rec));
	bool tracepoints = false;
	for (size_t i = 0; i < rec->events.n; i++)
		tracepoints |= rec->events.v[i].tracepoint || rec->events.v[i].format;
	if (tracepoints) {
		TRY(tracing_build(rec, &sb));
		TRY(put(rec, DATA_TRACING_DATA, &sb));
	}
	return NULL;
}

/* The programs of the kernel, and the BTF they refer to, for annotating their code. */
struct programs {
	VEC(struct bpf_gathered) progs;
	VEC(struct feature_btf) btfs;
	VEC(uint32_t) btf_ids;
};

static void programs_deinit(struct programs *p)
{
	struct bpf_gathered *prog;
	struct feature_btf *btf;

	vec_for_each (prog, &p->progs)
		bpf_gathered_deinit(prog);
	vec_for_each (btf, &p->btfs)
		free((void *)btf->data);
	vec_deinit(&p->progs);
	vec_deinit(&p->btfs);
	vec_deinit(&p->btf_ids);
}

static struct error *add_btf(struct programs *p, uint32_t id)
{
	struct bpf_btf_info info = {0};
	uint32_t len = sizeof(info), *known;

	vec_for_each (known, &p->btf_ids)
		if (*known == id)
			return NULL;
	known = vec_push(&p->btf_ids);
	if (!known)
		return error_nomem();
	*known = id;
	_cleanup_close_ int fd = bpf_btf_get_fd_by_id(id);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len) || !info.btf_size ||
	    info.btf_size > 64 << 20)
		return NULL;
	_cleanup_free_ void *data = calloc(1, info.btf_size);
	if (!data)
		return error_nomem();
	uint32_t size = info.btf_size;
	info = (struct bpf_btf_info){.btf = (uintptr_t)data, .btf_size = size};
	len = sizeof(info);
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return NULL;
	struct feature_btf *btf = vec_push(&p->btfs);
	if (!btf)
		return error_nomem();
	*btf = (struct feature_btf){.id = id, .data = steal_ptr(data), .size = size};
	return NULL;
}

static struct error *add_program(struct programs *p, uint32_t id)
{
	struct bpf_gathered gathered;

	for (size_t i = 0; i < p->progs.n; i++)
		if (p->progs.v[i].all.info.id == id)
			return NULL;
	struct error *err = bpf_gather(id, true, &gathered);
	if (err) { /* gone, or not for us to see */
		error_free(err);
		return NULL;
	}
	struct bpf_gathered *prog = vec_push(&p->progs);
	if (!prog) {
		bpf_gathered_deinit(&gathered);
		return error_nomem();
	}
	*prog = gathered;
	return prog->all.info.btf_id ? add_btf(p, prog->all.info.btf_id) : NULL;
}

static struct error *build_programs(struct recording *rec, struct programs *p)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	uint32_t id = 0;

	while (!bpf_prog_get_next_id(id, &id))
		TRY(add_program(p, id));
	if (!p->progs.n)
		return NULL;
	_cleanup_free_ const struct sys_prog_info **progs = calloc(p->progs.n, sizeof(*progs));
	if (!progs)
		return error_nomem();
	for (size_t i = 0; i < p->progs.n; i++)
		progs[i] = &p->progs.v[i].all;
	feature_build_bpf_prog_info(&sb, progs, p->progs.n);
	TRY(put(rec, DATA_BPF_PROG_INFO, &sb));
	feature_build_bpf_btf(&sb, p->btfs.v, p->btfs.n);
	return p->btfs.n ? put(rec, DATA_BPF_BTF, &sb) : NULL;
}

struct error *features_end(struct recording *rec)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct programs programs = {0};

	feature_build_sample_time(&sb, rec->first_time, rec->last_time);
	TRY(put(rec, DATA_SAMPLE_TIME, &sb));
	struct error *err = build_programs(rec, &programs);
	programs_deinit(&programs);
	return err;
}
