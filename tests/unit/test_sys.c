// SPDX-License-Identifier: BSD-2-Clause
/* lib/sys on trees made up in a temporary folder: no privileged call. */
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "lib/base/util.h"
#include "lib/sys/probe_features.h"
#include "lib/sys/kfuncs.h"
#include "lib/sys/proc.h"
#include "lib/sys/sys.h"
#include "lib/sys/tracefs.h"
#include "tree.h"

static int set_up(void **state)
{
	struct tree *tree = tree_new();

	tree_put(tree, "tracefs/events/header_page", "field: u64 timestamp;\n");
	tree_put(tree, "tracefs/events/sched/enable", "0\n");
	tree_put(tree, "tracefs/events/sched/sched_switch/id", "314\n");
	tree_put(tree, "tracefs/events/sched/sched_switch/format", "name: sched_switch\nID: 314\n");
	tree_put(tree, "tracefs/events/sched/sched_wakeup/id", "316\n");
	tree_put(tree, "tracefs/events/syscalls/sys_enter_write/id", "700\n");
	tree_put(tree, "tracefs/events/syscalls/sys_enter_pwrite64/id", "701\n");
	tree_put(tree, "tracefs/events/syscalls/sys_exit_write/id", "702\n");
	tree_put(tree, "tracefs/events/syscalls/sys_broken/id", "none\n");
	tree_put(tree, "tracefs/events/ftrace/function/format", "name: function\n");
	tree_put(tree, "proc/sys/kernel/perf_event_paranoid", "2\n");
	tree_put(tree, "proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
	tree_put(tree, "proc/sys/kernel/perf_event_max_stack", "127\n");
	tree_put(tree, "proc/self/status", "Name:\ttest\nCapEff:\t0000000000000000\n");
	tree_put(tree, "sys/devices/system/cpu/online", "0-1,3\n");
	tree_put(tree, "sys/devices/system/cpu/possible", "0-7\n");
	tree_put(tree, "sys/bus/event_source/devices/cpu/type", "4\n");
	tree_put(tree, "sys/bus/event_source/devices/cpu/format/event", "config:0-7,32-35\n");
	tree_put(tree, "sys/bus/event_source/devices/cpu/format/umask", "config:8-15\n");
	tree_put(tree, "sys/bus/event_source/devices/cpu/format/ldlat", "config1:0-15\n");
	tree_put(tree, "sys/bus/event_source/devices/cpu/events/cycles", "event=0x3c\n");
	tree_put(tree, "sys/bus/event_source/devices/uprobe/type", "9\n");
	*state = tree;
	return 0;
}

static int tear_down(void **state)
{
	tree_free(*state);
	return 0;
}

static void assert_fails(struct error *err, int code, const char *msg, const char *hint)
{
	assert_non_null(err);
	assert_int_equal(err->code, code);
	assert_string_equal(err->msg, msg);
	if (hint)
		assert_string_equal(err->hint, hint);
	else
		assert_null(err->hint);
	error_free(err);
}

TEST_WITH(files_are_read_whole_and_within_bounds, set_up, tear_down)
{
	const struct tree *tree = *state;
	char path[256];
	_cleanup_free_ char *data = NULL;
	size_t size;
	int value;

	/* A pseudo file says it has 0 bytes. */
	assert_null(sys_read_file("/proc/self/status", 1 << 20, &data, &size));
	assert_true(size > 100 && data[size] == 0 && strlen(data) == size);
	snprintf(path, sizeof(path), "%s/events/sched/sched_switch/format", tree->tracefs);
	struct error *err = sys_read_file(path, 10, &data, &size);
	assert_int_equal(err->code, EFBIG);
	error_free(err);
	assert_null(sys_sysctl(&tree->roots, "kernel/perf_event_paranoid", &value));
	assert_int_equal(value, 2);
	snprintf(path, sizeof(path), "%s/events/syscalls/sys_broken/id", tree->tracefs);
	uint64_t id = 77;
	err = sys_read_u64(path, &id);
	assert_int_equal(err->code, EBADMSG);
	assert_int_equal(id, 77);
	error_free(err);
}

struct lines {
	int n;
	int until;
	size_t longest;
	char last[32];
};

static bool count_line(void *ctx, char *line)
{
	struct lines *lines = ctx;

	lines->longest = strlen(line) > lines->longest ? strlen(line) : lines->longest;
	snprintf(lines->last, sizeof(lines->last), "%.20s", line);
	return ++lines->n != lines->until;
}

TEST_WITH(files_are_read_by_lines, set_up, tear_down)
{
	const struct tree *tree = *state;
	struct lines lines = {0};
	char path[256];

	snprintf(path, sizeof(path), "%s/lines", tree->tracefs);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	for (int i = 0; i < 5000; i++)
		fprintf(f, "%*d\n", i % 100 + 1, i);
	fprintf(f, "%065000d\nend", 7);
	fclose(f);
	assert_null(sys_read_lines(path, count_line, &lines));
	assert_int_equal(lines.n, 5002);
	assert_int_equal(lines.longest, 65000);
	assert_string_equal(lines.last, "end");

	lines = (struct lines){.until = 4302};
	assert_null(sys_read_lines(path, count_line, &lines));
	assert_int_equal(lines.n, 4302);
	assert_int_equal(atoi(lines.last), 4301);

	f = fopen(path, "w");
	fprintf(f, "a\n%065536d\n", 7);
	fclose(f);
	lines = (struct lines){0};
	struct error *err = sys_read_lines(path, count_line, &lines);
	assert_int_equal(err->code, EFBIG);
	assert_int_equal(lines.n, 1);
	error_free(err);
	unlink(path);
	err = sys_read_lines(path, count_line, &lines);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
}

TEST_WITH(cpu_lists_are_parsed, set_up, tear_down)
{
	const struct tree *tree = *state;
	static const char *const bad[] = {"a",	"1-",	      "3-1", "1,,2", "1,",
					  "-1", "0-99999999", "1 2", "1;"};
	_cleanup_cpus_ struct sys_cpus cpus = {0};

	assert_null(sys_cpus_online(&tree->roots, &cpus));
	assert_int_equal(cpus.n, 3);
	assert_int_equal(cpus.v[2], 3);
	assert_true(sys_cpus_has(&cpus, 1));
	assert_false(sys_cpus_has(&cpus, 2));
	assert_null(sys_cpus_possible(&tree->roots, &cpus));
	assert_int_equal(cpus.n, 8);
	assert_null(sys_cpus_parse("5,1-2,2", &cpus));
	assert_int_equal(cpus.n, 3);
	assert_int_equal(cpus.v[0], 1);
	assert_int_equal(cpus.v[2], 5);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error *err = sys_cpus_parse(bad[i], &cpus);
		if (!err)
			fail_msg("'%s' was taken", bad[i]);
		assert_int_equal(err->code, EINVAL);
		error_free(err);
	}
	assert_int_equal(cpus.n, 3);
}

TEST_WITH(pmus_and_their_terms, set_up, tear_down)
{
	const struct tree *tree = *state;
	struct perf_event_attr attr = {.config = 0xffff0000ull << 32};
	_cleanup_free_ char *terms = NULL;
	struct sys_pmu_field field;
	uint32_t type;

	assert_null(sys_pmu_type(&tree->roots, "uprobe", &type));
	assert_int_equal(type, 9);
	assert_fails(sys_pmu_type(&tree->roots, "uprob", &type), ENOENT,
		     "this machine has no PMU 'uprob'", "did you mean 'uprobe'?");
	assert_fails(sys_pmu_type(&tree->roots, "../devices/cpu", &type), ENOENT,
		     "this machine has no PMU '../devices/cpu'", "did you mean 'cpu'?");
	assert_null(sys_pmu_field(&tree->roots, "cpu", "event", &field));
	assert_true(field.word == 0 && field.mask == 0xf000000ffull);
	assert_true(sys_pmu_field_set(&field, &attr, 0xabc));
	assert_true(attr.config == (0xffff0000ull << 32 | 0xa000000bcull));
	assert_false(sys_pmu_field_set(&field, &attr, 0x1000));
	assert_null(sys_pmu_field(&tree->roots, "cpu", "ldlat", &field));
	assert_true(sys_pmu_field_set(&field, &attr, 30));
	assert_int_equal(attr.config1, 30);
	assert_fails(sys_pmu_field(&tree->roots, "cpu", "umsak", &field), ENOENT,
		     "PMU 'cpu' has no term 'umsak'", "did you mean 'umask'?");
	assert_null(sys_pmu_event(&tree->roots, "cpu", "cycles", &terms));
	assert_string_equal(terms, "event=0x3c");

	static const char *const bad[] = {
		"",	  "config",    "config:",      "config:64", "config:7-3",
		"conf:1", "config:1,", "config:0-63x", "config1:a"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error *err = sys_pmu_field_parse(bad[i], &field);
		if (!err)
			fail_msg("'%s' was taken", bad[i]);
		error_free(err);
	}
	assert_null(sys_pmu_field_parse("config2:0-63\n", &field));
	assert_true(field.word == 2 && field.mask == ~0ull);
}

TEST_WITH(tracepoints_are_found_by_name_and_glob, set_up, tear_down)
{
	const struct sys_roots *roots = &((struct tree *)*state)->roots;
	_cleanup_names_ struct names systems = {0}, events = {0}, found = {0};
	_cleanup_free_ char *format = NULL;
	uint64_t id = 0;

	assert_null(sys_tracepoint_id(roots, "sched", "sched_switch", &id));
	assert_int_equal(id, 314);
	assert_null(sys_tracepoint_format(roots, "sched", "sched_switch", &format, NULL));
	assert_string_equal(format, "name: sched_switch\nID: 314\n");
	assert_null(sys_tracepoint_systems(roots, &systems));
	assert_int_equal(systems.n, 3);
	assert_string_equal(systems.v[1], "sched");
	assert_null(sys_tracepoint_events(roots, "sched", &events));
	assert_int_equal(events.n, 2);
	assert_string_equal(events.v[0], "sched_switch");
	assert_null(sys_tracepoint_match(roots, "sys*", "sys_enter_*", &found));
	assert_int_equal(found.n, 2);
	assert_string_equal(found.v[0], "syscalls:sys_enter_pwrite64");
	assert_null(sys_tracepoint_match(roots, "*", "*switch", &found));
	assert_int_equal(found.n, 3);
	/* What has no id is no perf event. */
	struct error *err = sys_tracepoint_match(roots, "ftrace", "*", &found);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
	assert_true(sys_tracepoint_exists(roots, "sched", "sched_wakeup"));
	assert_false(sys_tracepoint_exists(roots, "sched", "../sched/sched_wakeup"));
}

TEST_WITH(a_missing_tracepoint_names_the_nearest, set_up, tear_down)
{
	const struct sys_roots *roots = &((struct tree *)*state)->roots;
	uint64_t id;

	assert_fails(sys_tracepoint_id(roots, "sched", "sched_swich", &id), ENOENT,
		     "unknown tracepoint sched:sched_swich", "did you mean 'sched:sched_switch'?");
	assert_fails(sys_tracepoint_id(roots, "syscall", "sys_enter_write", &id), ENOENT,
		     "unknown tracepoint syscall:sys_enter_write",
		     "did you mean 'syscalls:sys_enter_write'?");
	assert_fails(sys_tracepoint_id(roots, "mm", "sched_wakup", &id), ENOENT,
		     "unknown tracepoint mm:sched_wakup", "did you mean 'sched:sched_wakeup'?");
	assert_fails(sys_tracepoint_id(roots, "sched", "../../secret", &id), ENOENT,
		     "unknown tracepoint sched:../../secret",
		     "perf-bpf list 'sched:*' lists the tracepoints of that system");
}

TEST_WITH(maps_lines_are_taken_apart, set_up, tear_down)
{
	char text[] = "55d0c8a00000-55d0c8a02000 r-xp 00001000 fe:01 4243   /usr/bin/a b\\012c\n"
		      "rubbish\n"
		      "7f0000000000-7f0000001000 rw-s 00000000 00:00 0 \n"
		      "7ffc1000-7ffc2000 rw-p 00000000 00:00 0   [stack]\n"
		      "7ffc1000-7ffc2000 rw-p";
	char *pos = text;
	struct sys_map map;

	assert_true(sys_maps_next(&pos, &map));
	assert_true(map.start == 0x55d0c8a00000 && map.end == 0x55d0c8a02000);
	assert_true(map.pgoff == 0x1000 && map.maj == 0xfe && map.min == 1 && map.ino == 4243);
	assert_true(map.prot == (PROT_READ | PROT_EXEC) && map.flags == MAP_PRIVATE);
	assert_string_equal(map.path, "/usr/bin/a b\nc");
	assert_true(sys_maps_next(&pos, &map));
	assert_true(map.flags == MAP_SHARED && map.prot == (PROT_READ | PROT_WRITE));
	assert_string_equal(map.path, "");
	assert_true(sys_maps_next(&pos, &map));
	assert_string_equal(map.path, "[stack]");
	assert_false(sys_maps_next(&pos, &map));
	assert_false(sys_maps_next(&pos, &map));
}

TEST_WITH(processes_say_who_they_are, set_up, tear_down)
{
	struct tree *tree = *state;
	struct sys_proc_status status;
	_cleanup_pids_ struct sys_pids pids = {0}, tids = {0};

	tree_put(tree, "proc/12/status",
		 "Name:\ta\\nb\\\\c\nTgid:\t12\nPPid:\t1\nVmPeak:\t 10 kB\n");
	tree_put(tree, "proc/12/task/13/status",
		 "Name:\tkworker/u8:2-events_unbound\nTgid:\t12\nPPid:\t2\n");
	tree_put(tree, "proc/12/task/12/status", "Tgid:\t12\n");
	assert_null(sys_proc_pids(&tree->roots, &pids));
	assert_int_equal(pids.n, 1);
	assert_null(sys_proc_tids(&tree->roots, 12, &tids));
	assert_true(tids.n == 2 && tids.v[0] == 12 && tids.v[1] == 13);
	assert_null(sys_proc_status(&tree->roots, 0, 12, &status));
	assert_string_equal(status.comm, "a\nb\\c");
	assert_true(status.tgid == 12 && status.ppid == 1 && !status.kernel_thread);
	assert_null(sys_proc_status(&tree->roots, 12, 13, &status));
	assert_string_equal(status.comm, "kworker/u8:2-ev");
	assert_true(status.kernel_thread);
	struct error *err = sys_proc_status(&tree->roots, 12, 12, &status);
	assert_int_equal(err->code, EBADMSG);
	error_free(err);
	assert_fails(sys_proc_status(&tree->roots, 0, 99, &status), ESRCH,
		     "process 99 does not exist", NULL);
	assert_fails(sys_proc_tids(&tree->roots, 99, &tids), ESRCH, "process 99 does not exist",
		     NULL);
}

static struct error *explain(const struct tree *tree, struct perf_event_attr *attr,
			     const char *event, pid_t pid, int cpu, int err)
{
	struct sys_perf_attempt attempt = {.attr = attr, .event = event, .pid = pid, .cpu = cpu};

	return sys_perf_event_explain(&tree->roots, &attempt, err);
}

TEST_WITH(refusals_for_lack_of_rights, set_up, tear_down)
{
	struct tree *tree = *state;
	struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE};
	struct perf_event_attr user = {.type = PERF_TYPE_SOFTWARE, .exclude_kernel = 1};
	struct perf_event_attr tp = {.type = PERF_TYPE_TRACEPOINT, .sample_type = PERF_SAMPLE_RAW};
	struct perf_event_attr physical = user, named = user;

	physical.sample_type = PERF_SAMPLE_PHYS_ADDR;
	named.namespaces = 1;
	assert_fails(explain(tree, &clock, "cpu-clock", -1, 0, -EACCES), EACCES,
		     "not allowed to open cpu-clock: recording whole CPUs needs "
		     "kernel.perf_event_paranoid of 0 or less, but it is 2",
		     "run as root or with CAP_PERFMON, or type: sysctl "
		     "kernel.perf_event_paranoid=0");
	assert_fails(explain(tree, &clock, "cpu-clock", 0, -1, EACCES), EACCES,
		     "not allowed to open cpu-clock: recording the kernel needs "
		     "kernel.perf_event_paranoid of 1 or less, but it is 2",
		     "run as root or with CAP_PERFMON, or type: sysctl "
		     "kernel.perf_event_paranoid=1");
	assert_fails(explain(tree, &tp, "sched:sched_switch", 0, -1, -EPERM), EPERM,
		     "not allowed to open sched:sched_switch: reading a tracepoint's fields needs "
		     "kernel.perf_event_paranoid of -1 or less, but it is 2",
		     "run as root or with CAP_PERFMON, or type: sysctl "
		     "kernel.perf_event_paranoid=-1");
	assert_fails(explain(tree, &physical, "page-faults:u", 0, -1, -EACCES), EACCES,
		     "not allowed to open page-faults:u: recording physical addresses needs "
		     "kernel.perf_event_paranoid of 1 or less, but it is 2",
		     "run as root or with CAP_PERFMON, or type: sysctl "
		     "kernel.perf_event_paranoid=1");
	assert_fails(explain(tree, &named, "dummy:u", 0, -1, -EACCES), EACCES,
		     "not allowed to open dummy:u: recording namespaces needs CAP_PERFMON",
		     "run as root or with CAP_PERFMON");
	assert_fails(explain(tree, &user, "cpu-clock:u", 1, -1, -EACCES), EACCES,
		     "not allowed to open cpu-clock:u: process 1 belongs to another user",
		     "run perf-bpf as root or as that user");
	tree_put(tree, "proc/self/status",
		 "Name:\ttest\nCapEff:\t0000004000000000\n"); /* PERFMON */
	assert_fails(explain(tree, &clock, "cpu-clock", -1, 0, -EPERM), EPERM,
		     "not allowed to open cpu-clock, although this process has CAP_PERFMON or "
		     "CAP_SYS_ADMIN",
		     "a security module or a container's seccomp filter denies perf_event_open: "
		     "try outside of the container");
	tree_put(tree, "sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	assert_fails(explain(tree, &clock, "cpu-clock", -1, 0, -EPERM), EPERM,
		     "not allowed to open cpu-clock: the kernel is in lockdown (confidentiality)",
		     "boot with lockdown=integrity, or without Secure Boot");
	assert_fails(explain(tree, &clock, NULL, -1, 0, ENOSYS), ENOSYS,
		     "cannot open event: the kernel has no perf_event_open",
		     "it was built without CONFIG_PERF_EVENTS, or a container's seccomp filter "
		     "blocks the call");
}

TEST_WITH(refusals_for_lack_of_hardware, set_up, tear_down)
{
	struct tree *tree = *state;
	struct perf_event_attr cycles = {.type = PERF_TYPE_HARDWARE};
	struct perf_event_attr unknown = {.type = 4711};
	struct perf_event_attr uprobe = {.type = 9};
	struct perf_event_attr sampled = {.type = 9, .sample_period = 1};
	struct perf_event_attr tp = {.type = PERF_TYPE_TRACEPOINT, .config = 999};

	assert_fails(explain(tree, &cycles, "cycles", -1, 2, -ENODEV), ENODEV,
		     "cannot open cycles: CPU 2 is not online",
		     "'cat /sys/devices/system/cpu/online' lists the online CPUs");
	assert_fails(explain(tree, &cycles, "cycles", -1, 1, -ENOENT), ENOENT,
		     "cycles is not supported by this CPU",
		     "'perf-bpf features' shows which kinds of events this machine has");
	assert_fails(explain(tree, &unknown, "foo//", -1, 0, ENOENT), ENOENT,
		     "cannot open foo//: this machine has no PMU of type 4711", NULL);
	assert_fails(explain(tree, &uprobe, "uprobe//", -1, 0, ENOENT), ENOENT,
		     "uprobe// is not supported by PMU uprobe", NULL);
	assert_fails(explain(tree, &sampled, "power/energy/", -1, 0, EOPNOTSUPP), EOPNOTSUPP,
		     "power/energy/ cannot be sampled: its PMU cannot interrupt, only count",
		     "use cpu-clock, or count the event with 'perf stat'");
	assert_fails(explain(tree, &tp, "a:b", -1, 0, ENOENT), ENOENT,
		     "the kernel has no tracepoint a:b (id 999)",
		     "its module may have been unloaded");

	char path[256];
	snprintf(path, sizeof(path), "%s/bus/event_source/devices/cpu", tree->sysfs);
	nftw(path, tree_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	assert_fails(explain(tree, &cycles, "cycles", -1, 1, -ENOENT), ENOENT,
		     "cannot open cycles: this machine has no hardware counters (virtual "
		     "machines often have none)",
		     "use cpu-clock or another software event");
}

TEST_WITH(refusals_for_limits_and_parameters, set_up, tear_down)
{
	struct tree *tree = *state;
	struct perf_event_attr fast = {
		.type = PERF_TYPE_SOFTWARE, .freq = 1, .sample_freq = 200000};
	struct perf_event_attr deep = {.sample_type = PERF_SAMPLE_CALLCHAIN,
				       .sample_max_stack = 500};
	struct sys_perf_attempt many = {
		.attr = &fast, .event = "cpu-clock", .pid = -1, .open_fds = 1019};

	assert_fails(explain(tree, &fast, "cpu-clock", -1, 0, -EINVAL), EINVAL,
		     "cpu-clock: the frequency 200000 is above the limit of 100000",
		     "record with -F 100000, or type: sysctl "
		     "kernel.perf_event_max_sample_rate=200000");
	assert_fails(explain(tree, &deep, "cpu-clock", -1, 0, -EOVERFLOW), EOVERFLOW,
		     "cannot open cpu-clock: call chains of 500 entries are above the limit of 127",
		     "type: sysctl kernel.perf_event_max_stack=500");
	assert_fails(explain(tree, &fast, "cpu-clock", 4242, -1, -ESRCH), ESRCH,
		     "cannot open cpu-clock: process 4242 does not exist",
		     "'ps -e' lists the processes");
	struct error *err = sys_perf_event_explain(&tree->roots, &many, -EMFILE);
	assert_int_equal(err->code, EMFILE);
	assert_non_null(strstr(err->msg, "cannot open cpu-clock after 1019 events: too many open "
					 "files (the limit is "));
	assert_non_null(strstr(err->hint, "ulimit -n "));
	error_free(err);
	err = explain(tree, &fast, "cycles", -1, 0, -EBUSY);
	assert_int_equal(err->code, EBUSY);
	error_free(err);
}

static const struct sys_feature_result *feature(struct sys_features *features, const char *name,
						bool works)
{
	const struct sys_feature_result *result = sys_feature_get(features, name);

	assert_non_null(result);
	if (result->works != works)
		fail_msg("%s: %s", name, result->reason);
	return result;
}

TEST_WITH(features_of_a_host_without_rights, set_up, tear_down)
{
	struct tree *tree = *state;

	tree_put(tree, "proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T vfs_read\n");
	_cleanup_features_ struct sys_features *features = sys_features_new(&tree->roots);
	assert_string_equal(feature(features, "host.cap_bpf", false)->reason,
			    "this process lacks CAP_BPF");
	assert_string_equal(feature(features, "host.paranoid", false)->reason,
			    "perf_event_paranoid is 2, and this process lacks CAP_PERFMON");
	assert_string_equal(feature(features, "host.kallsyms", false)->reason,
			    "/proc/kallsyms hides its addresses (kptr_restrict)");
	assert_string_equal(feature(features, "host.btf", false)->reason,
			    "/sys/kernel/btf/vmlinux does not exist");
	feature(features, "host.btf_modules", false);
	feature(features, "host.tracefs", true);
	assert_string_equal(feature(features, "attach.kprobe", false)->reason,
			    "this kernel has no PMU 'kprobe'");
	assert_string_equal(feature(features, "attach.kprobe", false)->hint,
			    "boot a kernel with CONFIG_KPROBE_EVENTS");
	assert_null(sys_feature_get(features, "no.such"));
}

TEST_WITH(features_of_a_host_with_rights, set_up, tear_down)
{
	struct tree *tree = *state;
	uint64_t counted = 0;

	tree_put(tree, "proc/self/status", "Name:\ttest\nCapEff:\t000001ffffffffff\n");
	tree_put(tree, "proc/kallsyms", "0000000000000000 A fixed\nffffffff81000000 T _text\n");
	tree_put(tree, "sys/kernel/btf/vmlinux", "rubbish");
	tree_put(tree, "sys/kernel/btf/nfs", "rubbish");
	_cleanup_features_ struct sys_features *features = sys_features_new(&tree->roots);
	feature(features, "host.cap_bpf", true);
	feature(features, "host.cap_perfmon", true);
	assert_string_equal(feature(features, "host.paranoid", true)->reason,
			    "perf_event_paranoid is 2, this process is exempt");
	feature(features, "host.kallsyms", true);
	feature(features, "host.btf", true);
	assert_string_equal(feature(features, "host.btf_modules", true)->reason, "1 module");
	/* Rubbish for BTF is an error with its place, not a crash. */
	assert_non_null(strstr(feature(features, "attach.fentry", false)->reason,
			       "btf/vmlinux: offset 0x"));
	/* An answer is remembered. */
	tree_put(tree, "proc/kallsyms", "");
	feature(features, "host.kallsyms", true);
	for (size_t i = 0; sys_feature_at(i); i++)
		for (size_t j = 0; j < i; j++)
			counted += !strcmp(sys_feature_at(i)->name, sys_feature_at(j)->name);
	assert_int_equal(counted, 0);
}

static const char kallsyms_text[] =
	"ffffffff81000000 T vfs_read\n"
	"ffffffff81000100 t vfs_open\t[fs]\n"
	"ffffffff81000200 t same\n"
	"ffffffff81000300 t same\n"
	"ffffffff81000400 t partly\n"
	"ffffffff81000500 t partly\n"
	"ffffffff81000600 T quiet\n"
	"ffffffff81000700 T get_kprobe\n"
	"ffffffff81000800 D jiffies\n"
	"ffffffff81000900 t small.isra.0\n"
	"ffffffff81000a00 T __x64_sys_read\n"
	"ffffffffc0000000 t bpf_prog_6deef7357e7b4530_flush_request\t[bpf]\n"
	"rubbish\n"
	"ffffffff81000b00 T";

static void put_functions(const struct tree *tree)
{
	tree_put(tree, "proc/kallsyms", kallsyms_text);
	tree_put(tree, "tracefs/available_filter_functions",
		 "vfs_read\nvfs_open [fs]\nsame\nsame\npartly\n__ftrace_invalid_address___7\n"
		 "small.isra.0\n__x64_sys_read\nget_kprobe");
	tree_put(tree, "sys/kernel/debug/kprobes/blacklist",
		 "0xffffffff81000700-0xffffffff81000760\tget_kprobe\n");
}

/* "NAME ADDRESS [?], …" */
static char *matches(const struct tree *tree, const char *glob, bool *unsure)
{
	_cleanup_kfuncs_ struct sys_kfuncs funcs = {0};
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct sys_kfunc *func;

	assert_null(sys_kfuncs_match(&tree->roots, glob, &funcs));
	vec_for_each (func, &funcs.v)
		strbuf_addf(&sb, "%s %llx%s,", func->name,
			    (unsigned long long)(func->addr & 0xffff), func->ambiguous ? "?" : "");
	*unsure = funcs.unsure;
	return strdup(strbuf_str(&sb));
}

static void assert_matches(const struct tree *tree, const char *glob, const char *want,
			   bool want_unsure)
{
	bool unsure = !want_unsure;
	_cleanup_free_ char *got = matches(tree, glob, &unsure);

	assert_string_equal(got, want);
	assert_int_equal(unsure, want_unsure);
}

TEST_WITH(functions_of_the_kernel_that_can_be_traced, set_up, tear_down)
{
	const struct tree *tree = *state;
	char path[256];

	put_functions(tree);
	/* Names of ftrace's list, addresses of kallsyms. */
	assert_matches(tree, "vfs_*", "vfs_open 100,vfs_read 0,", false);
	assert_matches(tree, "same", "same 200,same 300,", false);
	assert_matches(tree, "partly", "partly 400?,partly 500?,", false);
	assert_matches(tree, "quiet", "", false);
	assert_matches(tree, "__ftrace*", "", false);
	/* kallsyms without addresses, and not at all. */
	tree_put(tree, "proc/kallsyms", "0000000000000000 T vfs_read\n0000000000000000 t same\n");
	assert_matches(tree, "[sv]*", "same 0,small.isra.0 0,vfs_open 0,vfs_read 0,", false);
	snprintf(path, sizeof(path), "%s/kallsyms", tree->proc);
	assert_int_equal(remove(path), 0);
	assert_matches(tree, "same", "same 0,", false);
	/* The list that has the addresses itself. */
	tree_put(
		tree, "tracefs/available_filter_functions_addrs",
		"ffffffff81000004 vfs_read\nffffffff81000104 vfs_open [fs]\nffffffff81000204 same\n"
		"ffffffff81000204 same\nvfs_rubbish\nffffffff81000304 "
		"__ftrace_invalid_address___9\n");
	assert_matches(tree, "*", "same 204,vfs_open 104,vfs_read 4,", false);
	/* Neither list. */
	put_functions(tree);
	snprintf(path, sizeof(path), "%s/available_filter_functions", tree->tracefs);
	assert_int_equal(remove(path), 0);
	snprintf(path, sizeof(path), "%s/available_filter_functions_addrs", tree->tracefs);
	assert_int_equal(remove(path), 0);
	assert_matches(tree, "*i*", "quiet 600,small.isra.0 900,", true);
	snprintf(path, sizeof(path), "%s/kallsyms", tree->proc);
	assert_int_equal(remove(path), 0);
	struct sys_kfuncs none = {.unsure = true};
	struct error *err = sys_kfuncs_match(&tree->roots, "*", &none);
	assert_non_null(err);
	assert_true(none.unsure && !none.text);
	error_free(err);
}

TEST_WITH(why_a_function_cannot_be_probed, set_up, tear_down)
{
	const struct tree *tree = *state;
	const struct sys_roots *roots = &tree->roots;
	char path[256];

	put_functions(tree);
	assert_null(sys_kfunc_refusal(roots, "vfs_read", false));
	assert_null(sys_kfunc_refusal(roots, "get_kprobe", true));
	assert_fails(sys_kfunc_refusal(roots, "vfs_raed", false), ENOENT,
		     "the kernel has no function vfs_raed",
		     "did you mean 'vfs_read' or 'vfs_open'?");
	/* A BPF program is near, but nothing to probe. */
	assert_fails(sys_kfunc_refusal(roots, "flush_request", false), ENOENT,
		     "the kernel has no function flush_request",
		     "it may be inlined, or its module may not be loaded; perf-bpf list 'probe:*' "
		     "lists the "
		     "functions");
	assert_fails(sys_kfunc_refusal(roots, "zzzzzzzz", true), ENOENT,
		     "the kernel has no function zzzzzzzz",
		     "it may be inlined, or its module may not be loaded; perf-bpf list 'probe:*' "
		     "lists the "
		     "functions");
	assert_fails(sys_kfunc_refusal(roots, "__x64_sys_raed", false), ENOENT,
		     "the kernel has no system call raed (__x64_sys_raed)", "did you mean 'read'?");
	assert_fails(sys_kfunc_refusal(roots, "small", false), ENOENT,
		     "the kernel has no function small",
		     "the compiler turned it into small.isra.0, whose arguments may differ from "
		     "the source");
	assert_fails(sys_kfunc_refusal(roots, "jiffies", false), EINVAL,
		     "jiffies is a variable of the kernel, not a function", NULL);
	assert_fails(sys_kfunc_refusal(roots, "get_kprobe", false), EINVAL,
		     "kernel function get_kprobe is on the kprobe blacklist",
		     "probe one of its callers instead; the list is "
		     "/sys/kernel/debug/kprobes/blacklist");
	assert_fails(
		sys_kfunc_refusal(roots, "quiet", false), EINVAL,
		"kernel function quiet cannot be traced: it is marked notrace",
		"probe one of its callers instead; available_filter_functions of tracefs lists "
		"the functions that can be traced");
	/* What cannot be read says nothing against it. */
	snprintf(path, sizeof(path), "%s/available_filter_functions", tree->tracefs);
	assert_int_equal(remove(path), 0);
	assert_null(sys_kfunc_refusal(roots, "quiet", true));
	snprintf(path, sizeof(path), "%s/kallsyms", tree->proc);
	assert_int_equal(remove(path), 0);
	assert_null(sys_kfunc_refusal(roots, "vfs_raed", true));
}
