/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system: perf_event_open(2) and the ioctls on its fds, and the small
 * files of sysfs and procfs. (tracefs.h, proc.h, probe_features.h and bpf_syscall.h are its
 * other doors.) No other room makes these calls.
 *
 * The trees read are named by a struct sys_roots, so that tests can use
 * copies; NULL stands for the running system everywhere.
 */
#ifndef PB_SYS_SYS_H
#define PB_SYS_SYS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/names.h"
#include "lib/sys/uapi.h"

struct sys_roots {
	const char *tracefs; /* NULL: wherever it is mounted */
	const char *proc;    /* "/proc" */
	const char *sysfs;   /* "/sys" */
};

/* The running system: what NULL stands for. */
extern const struct sys_roots sys_roots_default;

/* ---- files ---- */

/*
 * Reads a whole file, of a pseudo file system too (where st_size is 0). *data
 * is NUL-terminated beyond *size bytes and the caller's; size may be NULL. A
 * file of more than max bytes fails with EFBIG.
 */
struct error *sys_read_file(const char *path, size_t max, char **data, size_t *size);

/*
 * Calls on_line for each line of a file, without its '\n', until it says false.
 * Lines of more than 64 KB fail with EFBIG. Only what stands in one buffer is
 * held: /proc/kallsyms has megabytes.
 */
struct error *sys_read_lines(const char *path, bool (*on_line)(void *ctx, char *line), void *ctx);

/* Adds the folder's entries (d_type DT_DIR or DT_REG, or both by DT_UNKNOWN), sorted. */
struct error *sys_list_dir(const char *path, unsigned char type, struct names *names);

/* The number (decimal, or hexadecimal with 0x) that a small file holds. */
struct error *sys_read_u64(const char *path, uint64_t *value);
struct error *sys_read_int(const char *path, int *value);

/* /proc/sys/NAME as a number: "kernel/perf_event_paranoid". */
struct error *sys_sysctl(const struct sys_roots *roots, const char *name, int *value);

/* The running kernel's configuration as text, the caller's; ENOENT: it is not shown. */
struct error *sys_kernel_config(const struct sys_roots *roots, char **text);

size_t sys_page_size(void);

/*
 * Room for n more descriptors, beside some for other things: many threads and CPUs take one each.
 * Raises the limit, above the hard one with CAP_SYS_RESOURCE. EMFILE: it cannot; `what` needs them.
 */
struct error *sys_want_fds(const struct sys_roots *roots, size_t n, const char *what);

/* This process's effective capabilities: bit CAP_PERFMON and so on. */
struct error *sys_capabilities(const struct sys_roots *roots, uint64_t *effective);

/* ---- CPUs ---- */

struct sys_cpus {
	unsigned *v; /* ascending, no duplicates */
	size_t n;
	size_t cap;
};

void sys_cpus_deinit(struct sys_cpus *cpus);
#define _cleanup_cpus_ __attribute__((cleanup(sys_cpus_deinit)))

/* "0-3,8": the kernel's list format, which -C takes too. EINVAL: it is not. */
struct error *sys_cpus_parse(const char *list, struct sys_cpus *cpus);
bool sys_cpus_has(const struct sys_cpus *cpus, unsigned cpu);

/* sysfs devices/system/cpu/online and …/possible. */
struct error *sys_cpus_online(const struct sys_roots *roots, struct sys_cpus *cpus);
struct error *sys_cpus_possible(const struct sys_roots *roots, struct sys_cpus *cpus);
/* ENODEV: one of the CPUs, which -C names by this list, is not online. */
struct error *sys_cpus_check(const struct sys_roots *roots, const struct sys_cpus *cpus,
			     const char *list);

/* ---- PMUs: sysfs bus/event_source/devices ---- */

/* Where a PMU's term goes in the attr: mask's bits of config, config1, … */
struct sys_pmu_field {
	unsigned word; /* 0 config, 1 config1, 2 config2, 3 config3 */
	uint64_t mask; /* the value's low bit goes to the mask's lowest, and so on */
};

/* The PMU's number for attr.type. ENOENT, with near names: no such PMU. */
struct error *sys_pmu_type(const struct sys_roots *roots, const char *pmu, uint32_t *type);
struct error *sys_pmu_list(const struct sys_roots *roots, struct names *pmus);

/*
 * The names of the PMU's folder ("events", "format"), added sorted, without those that describe one
 * of them (events/NAME.unit). None if there is no folder.
 */
struct error *sys_pmu_entries(const struct sys_roots *roots, const char *pmu, const char *folder,
			      struct names *entries);
/* The text of the PMU's format/TERM: "config:0-7"; the caller's. */
struct error *sys_pmu_format(const struct sys_roots *roots, const char *pmu, const char *term,
			     char **text);
/* The PMU's format/TERM. ENOENT, with near names: no such term. */
struct error *sys_pmu_field(const struct sys_roots *roots, const char *pmu, const char *term,
			    struct sys_pmu_field *field);
/* The text of the PMU's events/EVENT ("event=0x3c,umask=0x1"); the caller's. */
struct error *sys_pmu_event(const struct sys_roots *roots, const char *pmu, const char *event,
			    char **terms);

/* "config1:0-7,32-35" as a format file has it. */
struct error *sys_pmu_field_parse(const char *text, struct sys_pmu_field *field);
/* Puts value into attr; false: it has more bits than the field. */
bool sys_pmu_field_set(const struct sys_pmu_field *field, struct perf_event_attr *attr,
		       uint64_t value);

/* ---- perf_event_open(2) ---- */

/*
 * Opens the event; the fd is close-on-exec. Negative errno on failure: what
 * to try next is the caller's choice; sys_perf_event_explain() puts the final
 * failure in words.
 */
int sys_perf_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
			unsigned long flags);

/* What was asked of perf_event_open, for its failure in words. */
struct sys_perf_attempt {
	const struct perf_event_attr *attr;
	const char *event;   /* as the user named it; NULL: "event" */
	pid_t pid;	     /* as passed to sys_perf_event_open() */
	int cpu;	     /* as passed */
	const char *pmu;     /* the PMU's name; NULL: derived from attr->type */
	size_t open_fds;     /* how many events are open already; 0: unknown */
	const char *program; /* "perf-bpf" by default */
};

/* Why it failed with err (positive or negative errno), and what mends it. */
struct error *sys_perf_event_explain(const struct sys_roots *roots,
				     const struct sys_perf_attempt *attempt, int err);

/* ---- ioctls on its fds ---- */

struct error *sys_perf_enable(int fd);
struct error *sys_perf_disable(int fd);
/* The fd's events go to the ring of the event `to`; -1: to its own again. */
struct error *sys_perf_set_output(int fd, int to);
/* Of the ring that was mapped by fd: what comes meanwhile is lost, and counted as lost. */
struct error *sys_perf_pause_output(int fd, bool pause);
/* An event filter of tracepoint fields, or an address filter. */
struct error *sys_perf_set_filter(int fd, const char *filter);
struct error *sys_perf_set_bpf(int fd, int prog_fd);
struct error *sys_perf_id(int fd, uint64_t *id);
/* The ids of the programs attached to this tracepoint's event, at most max; *n all there are. */
struct error *sys_perf_query_bpf(int fd, uint32_t *ids, size_t max, size_t *n);

#endif
