// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the header says of the machine and the recording. What is known at the
 * start is given before data_writer_start(), so that it is in the file
 * whatever ends the recorder; the rest (times, programs) at the end.
 */
#include "perf/record/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "perf/data/features.h"

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

/* The clock of -k, and what time of day it was at one of its times. */
static struct error *put_clock(struct recording *rec)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct timespec resolution, wall, now;

	if (!rec->opts.has_clock)
		return NULL;
	if (clock_getres(rec->opts.clock, &resolution) || clock_gettime(rec->opts.clock, &now) ||
	    clock_gettime(CLOCK_REALTIME, &wall))
		return error_errno(errno, "cannot read the clock %d of --clockid", rec->opts.clock);
	feature_build_clockid(&sb, timespec_ns(resolution));
	TRY(put(rec, DATA_CLOCKID, &sb));
	feature_build_clock_data(&sb, (uint32_t)rec->opts.clock, timespec_ns(wall),
				 timespec_ns(now));
	return put(rec, DATA_CLOCK_DATA, &sb);
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
	TRY(topology_begin(rec));
	TRY(put_pmus(rec));
	TRY(put_clock(rec));
	TRY(put_groups(rec));
	/* It has no bytes: perf report counts branches if it is there. */
	if (rec->opts.branches)
		TRY(data_writer_feature(rec->writer, DATA_BRANCH_STACK, "", 0));
	bool tracepoints = false;
	for (size_t i = 0; i < rec->events.n; i++)
		tracepoints |= rec->events.v[i].tracepoint || rec->events.v[i].format;
	if (tracepoints) {
		TRY(tracing_build(rec, &sb));
		TRY(put(rec, DATA_TRACING_DATA, &sb));
	}
	return NULL;
}

static void warn_of_programs(const struct recording *rec)
{
	const struct program_store_counts n = program_store_counts(rec->programs);

	/* Other processes load and unload programs all the time, and rarely are samples in them. */
	if (n.gone)
		log_info(rec->log,
			 "%" PRIu64 " BPF program%s unloaded before %s could be read: the "
			 "recording has %s, but not %s code",
			 n.gone, n.gone > 1 ? "s were" : " was", n.gone > 1 ? "they" : "it",
			 n.gone > 1 ? "their names" : "its name", n.gone > 1 ? "their" : "its");
	if (n.left_out)
		log_warn(rec->log, "the code of %" PRIu64 " BPF programs is not in the recording",
			 n.left_out);
	if (n.lost)
		log_warn(rec->log,
			 "%" PRIu64 " records of loads and unloads of BPF programs were lost: the "
			 "code of some may be missing",
			 n.lost);
}

/* The BPF programs that were loaded, and the types they refer to, for annotating their code. */
static struct error *put_programs(struct recording *rec)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	size_t n_progs, n_btfs;
	const struct sys_prog_info *const *progs = program_store_programs(rec->programs, &n_progs);
	const struct feature_btf *btfs = program_store_btfs(rec->programs, &n_btfs);

	if (n_progs) {
		feature_build_bpf_prog_info(&sb, progs, n_progs);
		TRY(put(rec, DATA_BPF_PROG_INFO, &sb));
	}
	if (!n_btfs)
		return NULL;
	feature_build_bpf_btf(&sb, btfs, n_btfs);
	return put(rec, DATA_BPF_BTF, &sb);
}

struct error *features_put_times(struct recording *rec)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	feature_build_sample_time(&sb, rec->first_time, rec->last_time);
	return put(rec, DATA_SAMPLE_TIME, &sb);
}

static void programs_stop(struct recording *rec)
{
	struct error *err = program_store_stop(rec->programs);

	if (err)
		log_warn(rec->log, "BPF programs that were loaded later have no code: %s",
			 err->msg);
	error_free(err);
}

struct error *features_end(struct recording *rec)
{
	TRY(features_put_times(rec));
	if (!rec->programs)
		return NULL;
	programs_stop(rec);
	warn_of_programs(rec);
	return put_programs(rec);
}

struct error *features_switch(struct recording *rec)
{
	if (!rec->programs)
		return NULL;
	programs_stop(rec);
	TRY(put_programs(rec));
	program_store_forget(rec->programs);
	return program_store_start(rec->programs);
}
