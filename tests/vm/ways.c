// SPDX-License-Identifier: BSD-2-Clause
/*
 * As client.c, for the programs of ways.bpf.c: a program written for the
 * library's public API that attaches, does a workload that counts for itself,
 * and compares. Prints TAP, a line per program, without numbers.
 *
 *	ways OBJECT check NAME...	what NAME counts is what was done
 *	ways OBJECT writable NAME	changes what a test run returns
 *	ways OBJECT kprobe MODE [return] kprobe_by_hand, MODE default, legacy, perf or link
 *	ways OBJECT uprobe MODE [return]
 *	ways OBJECT kprobes		kprobes_by_hand: names, addresses, cookies, refusals
 *	ways OBJECT uprobes		uprobes_by_hand
 *	ways OBJECT many PATTERN N	attaches to the N functions, vfs_read among them
 *	ways OBJECT same NAME		to each function of that name
 *	ways OBJECT refuse NAME TEXT	loading or attaching fails with a message that holds TEXT
 *	ways OBJECT link NAME		what can be done with such a link
 *	ways OBJECT leave NAME PATH	pins the link, and ends
 *	ways - take PATH		opens it: the program counts; unpins it: no more
 *	ways OBJECT hold uprobe MODE	attaches by that mode, prints "held", sleeps;
 *					MODE forked: by legacy, and a child has a copy
 *	ways OBJECT quiet		legacy probes start no child that could be waited for
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf/perf_bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/vm/counting.h"

#define BINARY "/proc/self/exe"

struct expected {
	const char *name;
	unsigned long long calls, sum, refused;
};

static const struct expected expected[] = {
	{"on_ksyscall", STEPS, (unsigned long long)STEPS *BYTES},
	{"on_kretsyscall", STEPS, (unsigned long long)STEPS *BYTES},
	{"on_kprobe_multi", STEPS, (unsigned long long)STEPS *BYTES},
	{"on_kretprobe_multi", STEPS, (unsigned long long)STEPS *BYTES},
	{"on_kprobe_session", 2 * STEPS, 2 * STEPS},
	{"on_kprobe_session_entry", STEPS, STEPS},
	{"on_uprobe_multi", 3 * STEPS, 3 * WORKLOAD_ARGS},
	{"on_uretprobe_multi", 3 * STEPS, 3 * WORKLOAD_ARGS + 6 * STEPS},
	{"on_uprobe_session", 2 * STEPS, 2 * STEPS},
	{"on_uprobe_session_entry", STEPS, STEPS},
	{"on_fmod_ret", STEPS, STEPS, STEPS},
};

static int counted(const struct counters *c, const char *name, unsigned long long calls,
		   unsigned long long sum)
{
	if (*c->calls == calls && *c->sum == sum)
		return 1;
	printf("# %s: %llu calls, sum %llu; wanted %llu and %llu\n", name, *c->calls, *c->sum,
	       calls, sum);
	return 0;
}

/* The program does not run any more; a grace period may have to pass. */
static int silent(const struct counters *c, const char *name)
{
	for (int i = 0; i < 600; i++) {
		measure_workload(c);
		if (!*c->calls && !refused)
			return 1;
		usleep(100000);
	}
	printf("# %s still runs: %llu calls\n", name, *c->calls);
	return 0;
}

static int check(const char *path, const char *name)
{
	struct expected want = {.name = name};
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);
	struct counters c;

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (!strcmp(expected[i].name, name))
			want = expected[i];
	if (!obj || find_counters(obj, &c))
		return result(0, "loads", name);
	struct bpf_link *link = bpf_program__attach(prog);
	if (!link)
		return result(0, "attaches", name);
	measure_workload(&c);
	int ok = want.calls && counted(&c, name, want.calls, want.sum);
	if (refused != want.refused) {
		printf("# %lu calls were refused, wanted %llu\n", refused, want.refused);
		ok = 0;
	}
	ok = !bpf_link__destroy(link) && ok;
	ok = silent(&c, name) && ok;
	bpf_object__close(obj);
	return result(ok, "counts what was done, and nothing after its link", name);
}

static int writable(const char *path, const char *name)
{
	unsigned char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = packet, .data_size_in = sizeof(packet));
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, "test_run", &prog);
	struct counters c;

	if (!obj || find_counters(obj, &c))
		return result(0, "loads", name);
	int fd = bpf_program__fd(bpf_object__find_program_by_name(obj, "test_run"));
	struct bpf_link *link = bpf_program__attach(prog);
	if (!link)
		return result(0, "attaches", name);
	set_target(&c, getpid());
	int ret = bpf_prog_test_run_opts(fd, &run);
	read_counters(&c);
	int ok = ret == -77 && counted(&c, name, 1, 1);
	bpf_link__destroy(link);
	int after = bpf_prog_test_run_opts(fd, &run);
	if (ret != -77 || after || run.retval != 5) {
		printf("# returned %d, and %d (%u) afterwards\n", ret, after, run.retval);
		ok = 0;
	}
	bpf_object__close(obj);
	return result(ok, "changes what a test run returns", name);
}

static enum probe_attach_mode mode_of(const char *mode)
{
	return !strcmp(mode, "legacy") ? PROBE_ATTACH_MODE_LEGACY
	       : !strcmp(mode, "perf") ? PROBE_ATTACH_MODE_PERF
	       : !strcmp(mode, "link") ? PROBE_ATTACH_MODE_LINK
				       : PROBE_ATTACH_MODE_DEFAULT;
}

static struct bpf_link *attach_by_mode(const struct bpf_program *prog, int user, const char *mode,
				       int at_return)
{
	if (user) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .func_name = "workload_step",
			    .attach_mode = mode_of(mode), .retprobe = at_return);
		return bpf_program__attach_uprobe_opts(prog, getpid(), BINARY, 0, &opts);
	}
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .attach_mode = mode_of(mode), .retprobe = at_return);
	return bpf_program__attach_kprobe_opts(prog, "vfs_read", &opts);
}

static int by_mode(const char *path, int user, const char *mode, int at_return)
{
	const char *name = user ? "uprobe_by_hand" : "kprobe_by_hand";
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);
	struct counters c;
	char what[128];
	int ok;

	snprintf(what, sizeof(what), "by attach mode %s%s", mode,
		 at_return ? ", at the return" : "");
	if (!obj || find_counters(obj, &c))
		return result(0, "loads", name);
	if (bpf_program__attach(prog) || errno != EOPNOTSUPP)
		return result(0, "does not attach by its section", name);
	struct bpf_link *link = attach_by_mode(prog, user, mode, at_return);
	if (!link) { /* the host's tests look for the words, and for leaks */
		result(0, what, name);
		bpf_object__close(obj);
		return 1;
	}
	measure_workload(&c);
	if (at_return) /* the registers are others then */
		ok = *c.calls == STEPS;
	else
		ok = counted(&c, name, STEPS, user ? WORKLOAD_ARGS : (__u64)STEPS * BYTES);
	/* A link is an object of the kernel, an event with a program is none. */
	struct bpf_link_info info = {0};
	__u32 len = sizeof(info);
	int is_link = !bpf_link_get_info_by_fd(bpf_link__fd(link), &info, &len);
	if ((!strcmp(mode, "link") && !is_link) ||
	    ((!strcmp(mode, "legacy") || !strcmp(mode, "perf")) && is_link)) {
		printf("# %s link\n", is_link ? "a" : "no");
		ok = 0;
	}
	/* An event without a link has no name, takes no other program, and ends by close() only. */
	if (!is_link) {
		int pinned = bpf_link__pin(link, "/sys/fs/bpf/no_link");
		int updated = bpf_link__update_program(link, prog),
		    detached = bpf_link__detach(link);

		if (pinned != -EINVAL || updated != -EINVAL || detached != -EINVAL ||
		    bpf_link__pin_path(link)) {
			printf("# pin %d, update %d, detach %d\n", pinned, updated, detached);
			ok = 0;
		}
	}
	ok = !bpf_link__destroy(link) && silent(&c, name) && ok;
	bpf_object__close(obj);
	return result(ok, what, name);
}

static int says(const char *text)
{
	char message[8192];

	snprintf(message, sizeof(message), "%s hint: %s", perf_bpf_last_error(),
		 perf_bpf_last_hint() ? perf_bpf_last_hint() : "");
	if (strstr(message, text))
		return 1;
	printf("# %s\n# should say: %s\n", message, text);
	return 0;
}

static int is_refused(struct bpf_link *link, int code, const char *text)
{
	int err = errno;

	if (link) {
		printf("# attached; should say: %s\n", text);
		bpf_link__destroy(link);
		return 0;
	}
	if (err != code)
		printf("# errno %d, wanted %d\n", err, code);
	return err == code && says(text);
}

static unsigned long address_of(const char *name)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char found[512], type;
	unsigned long addr;

	while (f && fscanf(f, "%lx %c %511s%*[^\n]", &addr, &type, found) == 3)
		if (!strcmp(found, name)) {
			fclose(f);
			return addr;
		}
	abort();
}

static int kprobes(const char *path)
{
	const char *name = "kprobes_by_hand";
	const char *syms[] = {"vfs_write", "vfs_read"}, *twice[] = {"vfs_read", "vfs_read"};
	const char *missing[] = {"vfs_read", "vfs_raed"};
	const unsigned long addrs[] = {address_of("vfs_write"), address_of("vfs_read")};
	const unsigned long wrong[] = {addrs[1] + 1};
	const __u64 cookies[] = {1, 0xfedcba9876543210};
	LIBBPF_OPTS(bpf_kprobe_multi_opts, by_name, .syms = syms, .cookies = cookies, .cnt = 2);
	LIBBPF_OPTS(bpf_kprobe_multi_opts, by_addr, .addrs = addrs, .cookies = cookies, .cnt = 2);
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts);
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);
	struct counters c;
	int ok = 1;

	if (!obj || find_counters(obj, &c))
		return result(0, "loads", name);
	const struct bpf_kprobe_multi_opts *both[] = {&by_name, &by_addr};
	for (int i = 0; i < 2; i++) {
		struct bpf_link *link = bpf_program__attach_kprobe_multi_opts(prog, NULL, both[i]);
		if (!link)
			return result(0, i ? "by address" : "by name", name);
		measure_workload(&c);
		ok = counted(&c, name, STEPS, cookies[1] * STEPS) && ok;
		ok = !bpf_link__destroy(link) && silent(&c, name) && ok;
	}

	/* A name given twice is one function. */
	LIBBPF_OPTS_RESET(opts, .syms = twice, .cnt = 2);
	struct bpf_link *link = bpf_program__attach_kprobe_multi_opts(prog, NULL, &opts);
	if (!link)
		return result(0, "a name that is given twice", name);
	measure_workload(&c);
	ok = counted(&c, name, STEPS, 0) && ok;
	bpf_link__destroy(link);

	LIBBPF_OPTS_RESET(opts, .unique_match = true);
	link = bpf_program__attach_kprobe_multi_opts(prog, "vfs_rea?", &opts);
	if (!link)
		return result(0, "a unique match", name);
	bpf_link__destroy(link);
	ok = is_refused(bpf_program__attach_kprobe_multi_opts(prog, "vfs_*", &opts), EINVAL,
			"kernel functions match 'vfs_*'") &&
	     ok;
	LIBBPF_OPTS_RESET(opts, .syms = missing, .cnt = 2);
	ok = is_refused(bpf_program__attach_kprobe_multi_opts(prog, NULL, &opts), ENOENT,
			"no function vfs_raed hint: did you mean 'vfs_read'") &&
	     ok;
	LIBBPF_OPTS_RESET(opts, .addrs = wrong, .cnt = 1);
	link = bpf_program__attach_kprobe_multi_opts(prog, NULL, &opts);
	if (link) /* kernels take any address of the function's first instruction */
		bpf_link__destroy(link);
	else
		ok = says("each address must be the start of a function") && ok;
	LIBBPF_OPTS_RESET(opts, .syms = syms, .cnt = 2);
	ok = is_refused(bpf_program__attach_kprobe_multi_opts(prog, "vfs_*", &opts), EINVAL,
			"a pattern cannot be combined with") &&
	     ok;
	LIBBPF_OPTS_RESET(opts, .syms = syms);
	ok = is_refused(bpf_program__attach_kprobe_multi_opts(prog, NULL, &opts), EINVAL,
			"has 0 entries") &&
	     ok;
	ok = is_refused(bpf_program__attach_kprobe_multi_opts(prog, NULL, NULL), EINVAL,
			"the function name is missing") &&
	     ok;
	LIBBPF_OPTS_RESET(opts, .session = true);
	ok = is_refused(bpf_program__attach_kprobe_multi_opts(prog, "vfs_read", &opts), EINVAL,
			"not loaded for kprobe.session") &&
	     ok;
	bpf_object__close(obj);
	return result(ok, "takes names, addresses and cookies", name);
}

static int uprobes(const char *path)
{
	const char *name = "uprobes_by_hand";
	const char *syms[] = {"workload_many_b", "workload_step", "workload_many_c"};
	const char *missing[] = {"workload_step", "workload_stpe"};
	const __u64 cookies[] = {1, 1000, 1000000};
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .syms = syms, .cookies = cookies, .cnt = 3);
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);
	struct counters c;
	int ok = 1;

	if (!obj || find_counters(obj, &c))
		return result(0, "loads", name);
	ok = is_refused(bpf_program__attach(prog), EOPNOTSUPP, "the section name has no binary");
	const pid_t pids[] = {-1, 0, getpid()};
	for (int i = 0; i < 3; i++) {
		struct bpf_link *link =
			bpf_program__attach_uprobe_multi(prog, pids[i], BINARY, NULL, &opts);
		if (!link)
			return result(0, "by name", name);
		measure_workload(&c);
		ok = counted(&c, name, 3 * STEPS, 1001001ull * STEPS) && ok;
		ok = !bpf_link__destroy(link) && silent(&c, name) && ok;
	}
	LIBBPF_OPTS_RESET(opts, .retprobe = true);
	struct bpf_link *link =
		bpf_program__attach_uprobe_multi(prog, -1, BINARY, "workload_many_?", &opts);
	if (!link)
		return result(0, "by pattern", name);
	measure_workload(&c);
	ok = counted(&c, name, 3 * STEPS, 0) && ok;
	bpf_link__destroy(link);
	link = bpf_program__attach_uprobe_multi(prog, -1, "libc.so.6", "fopen*", NULL);
	if (!link)
		return result(0, "in a library", name);
	bpf_link__destroy(link);

	LIBBPF_OPTS_RESET(opts, .syms = missing, .cnt = 2);
	ok = is_refused(bpf_program__attach_uprobe_multi(prog, -1, BINARY, NULL, &opts), ENOENT,
			"has no function workload_stpe hint: did you mean 'workload_step'") &&
	     ok;
	ok = is_refused(bpf_program__attach_uprobe_multi(prog, -1, BINARY, "no_such_fun*", NULL),
			ENOENT, "has no function that matches 'no_such_fun*'") &&
	     ok;
	ok = is_refused(bpf_program__attach_uprobe_multi(prog, -1, BINARY, NULL, NULL), EINVAL,
			"no probe points are given") &&
	     ok;
	const unsigned long offset = 0;
	LIBBPF_OPTS_RESET(opts, .syms = syms, .offsets = &offset, .cnt = 1);
	ok = is_refused(bpf_program__attach_uprobe_multi(prog, -1, BINARY, NULL, &opts), EINVAL,
			"by syms and by offsets") &&
	     ok;
	bpf_object__close(obj);
	return result(ok, "takes names, patterns, cookies and processes", name);
}

/* struct bpf_link_info of 6.6: u32 type, id, prog_id; u64 addrs; u32 count. */
static unsigned functions_of(const struct bpf_link *link)
{
	union {
		struct bpf_link_info info;
		struct {
			__u32 type, id, prog_id, pad;
			__u64 addrs;
			__u32 count;
		} multi;
		char room[256];
	} u = {0};
	__u32 len = sizeof(u);

	if (bpf_link_get_info_by_fd(bpf_link__fd(link), &u.info, &len))
		return 0;
	return u.multi.count;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int attach_many(const char *path, const char *pattern, unsigned want)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, "many", NULL, &prog);
	struct counters c;

	if (!obj || find_counters(obj, &c))
		return result(0, "loads", "many");
	double start = now();
	struct bpf_link *link = bpf_program__attach_kprobe_multi_opts(prog, pattern, NULL);
	double attached = now();
	if (!link)
		return result(0, "attaches", "many");
	unsigned n = functions_of(link);
	__u32 zero = 0;
	set_target(&c, getpid());
	*c.cookie = address_of("vfs_read");
	if (bpf_map__update_elem(c.bss, &zero, sizeof(zero), c.value, c.size, 0))
		abort();
	workload();
	read_counters(&c);
	int ok = n == want && counted(&c, "many", STEPS, STEPS);
	double destroy = now();
	bpf_link__destroy(link);
	printf("# %u functions of '%s' attached in %.2f s, let go in %.2f s; %llu calls\n", n,
	       pattern, attached - start, now() - destroy, *c.calls);
	ok = silent(&c, "many") && ok;
	bpf_object__close(obj);
	return result(ok, "functions by one link", pattern);
}

/* Lines of tracefs' list with that name. */
static unsigned traceable(const char *name)
{
	FILE *f = fopen("/sys/kernel/tracing/available_filter_functions", "r");
	char line[1024];
	unsigned n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, " \n")] = 0;
		n += !strcmp(line, name);
	}
	if (f)
		fclose(f);
	return n;
}

static int attach_same(const char *path, const char *name)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, "many", NULL, &prog);
	unsigned want = traceable(name);

	if (!obj)
		return result(0, "loads", "many");
	struct bpf_link *link = bpf_program__attach_kprobe_multi_opts(prog, name, NULL);
	unsigned n = link ? functions_of(link) : 0;
	int ok = want > 1 && n == want;
	if (!ok)
		printf("# %u of %u functions\n", n, want);
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return result(ok, "each function of that name", name);
}

static int refuse(const char *path, const char *name, const char *text)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);

	/* What the kernel's BTF has not is refused at load. */
	struct bpf_link *link = obj ? bpf_program__attach(prog) : NULL;
	int ok = !link && says(text);
	if (link)
		printf("# it attached\n");
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return result(ok, "is refused with a clear message", name);
}

/* What no tracing link of the kernel can: another program, or to be detached. */
static int link_operations(const char *path, const char *name)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);
	struct counters c;

	if (!obj || find_counters(obj, &c))
		return result(0, "loads", name);
	struct bpf_link *link = bpf_program__attach(prog);
	if (!link)
		return result(0, "attaches", name);
	int updated = bpf_link__update_program(link, prog);
	int ok = updated == -EINVAL && says("cannot change its program");
	int detached = bpf_link__detach(link);
	ok = ok && detached == -EOPNOTSUPP && says("bpf_link__destroy()");
	if (updated != -EINVAL || detached != -EOPNOTSUPP)
		printf("# update %d, detach %d\n", updated, detached);
	/* It works as before. */
	set_target(&c, getpid());
	workload();
	read_counters(&c);
	ok = ok && *c.calls;
	/* A link that is let go of holds on until the last descriptor is closed. */
	int fd = bpf_link__fd(link);
	bpf_link__disconnect(link);
	ok = !bpf_link__destroy(link) && ok;
	measure_workload(&c);
	if (!*c.calls)
		printf("# disconnected, it is gone\n");
	ok = ok && *c.calls;
	close(fd);
	bpf_object__close(obj);
	return result(ok, "its link keeps the program, and lives as long as its descriptor", name);
}

static int leave(const char *path, const char *name, const char *pin)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);
	struct bpf_link *link = obj ? bpf_program__attach(prog) : NULL;

	int failed =
		result(link && !bpf_link__pin(link, pin) && !strcmp(bpf_link__pin_path(link), pin),
		       "is pinned, and its process ends", name);

	fflush(stdout);
	_exit(failed); /* without a word to the library */
}

/* The program's .bss by its map ids; the counters stand where the object has them. */
static int find_left(const struct bpf_link *link, int *map)
{
	struct bpf_link_info info = {0};
	struct bpf_prog_info prog = {0};
	__u32 len = sizeof(info), ids[8];

	if (bpf_link_get_info_by_fd(bpf_link__fd(link), &info, &len))
		return -1;
	int fd = bpf_prog_get_fd_by_id(info.prog_id);
	prog.map_ids = (__u64)(unsigned long)ids;
	prog.nr_map_ids = 8;
	len = sizeof(prog);
	int err = bpf_prog_get_info_by_fd(fd, &prog, &len);
	close(fd);
	for (__u32 i = 0; !err && i < prog.nr_map_ids; i++) {
		struct bpf_map_info m = {0};

		len = sizeof(m);
		*map = bpf_map_get_fd_by_id(ids[i]);
		if (*map >= 0 && !bpf_map_get_info_by_fd(*map, &m, &len) && strstr(m.name, ".bss"))
			return (int)m.value_size;
		close(*map);
	}
	return -1;
}

static int take(const char *pin)
{
	struct bpf_link *link = bpf_link__open(pin);
	char value[256] = {0};
	__u32 zero = 0;
	int map, pid = getpid();

	if (!link || strcmp(bpf_link__pin_path(link), pin))
		return result(0, "opens", pin);
	int size = find_left(link, &map);
	if (size < 0 || size > (int)sizeof(value))
		return result(0, "has its counters", pin);
	/* Whichever of these words is the process: the others are counters. */
	for (int i = 0; i + 4 <= size; i += 8)
		memcpy(value + i, &pid, sizeof(pid));
	char before[256];
	memcpy(before, value, sizeof(value));
	bpf_map_update_elem(map, &zero, value, 0);
	workload();
	bpf_map_lookup_elem(map, &zero, value);
	int changed = 0;
	for (int i = 0; i < size; i += 8)
		changed += memcmp(before + i, value + i, 8) != 0;
	int ok = changed == 2; /* calls and sum */
	if (!ok)
		printf("# %d counters changed\n", changed);
	ok = !bpf_link__unpin(link) && !bpf_link__destroy(link) && access(pin, F_OK) && ok;
	for (int i = 0; i < 600 && changed; i++) {
		bpf_map_lookup_elem(map, &zero, before);
		workload();
		bpf_map_lookup_elem(map, &zero, value);
		changed = memcmp(before, value, (size_t)size) != 0;
		if (changed)
			usleep(100000);
	}
	return result(ok && !changed, "runs after its process, until it is unpinned", pin);
}

static int hold(const char *path, int user, const char *mode)
{
	const char *name = user ? "uprobe_by_hand" : "kprobe_by_hand";
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);

	int is_forked = !strcmp(mode, "forked");
	if (!obj || !attach_by_mode(prog, user, is_forked ? "legacy" : mode, 0))
		return result(0, "attaches", mode);
	if (is_forked) {
		pid_t child = fork();

		if (!child)
			for (;;)
				pause();
		printf("child %d\n", (int)child);
	}
	printf("held\n");
	fflush(stdout);
	for (;;)
		pause();
}

static volatile sig_atomic_t signals;

static void on_child(int sig)
{
	(void)sig;
	signals = signals + 1;
}

static int quiet(const char *path)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, "uprobe_by_hand", NULL, &prog);
	int wait_all[] = {0, __WALL};

	signal(SIGCHLD, on_child);
	struct bpf_link *link = obj ? attach_by_mode(prog, 1, "legacy", 0) : NULL;
	if (!link)
		return result(0, "attaches", "quiet");
	int ok = 1;
	for (int i = 0; i < 2; i++)
		ok = ok && waitpid(-1, NULL, WNOHANG | wait_all[i]) == -1 && errno == ECHILD;
	bpf_link__destroy(link);
	bpf_object__close(obj);
	usleep(100000);
	ok = ok && waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD && !signals;
	return result(ok, "a legacy probe gives its process no child and no signal", "quiet");
}

int main(int argc, char **argv)
{
	int status = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3)
		return 2;
	const char *path = argv[1], *mode = argv[2];
	int n = argc - 3;
	char **rest = argv + 3;

	if (!strcmp(mode, "check")) {
		for (int i = 0; i < n; i++)
			status |= check(path, rest[i]);
		return status;
	}
	if (!strcmp(mode, "writable") && n == 1)
		return writable(path, rest[0]);
	if ((!strcmp(mode, "kprobe") || !strcmp(mode, "uprobe")) && n >= 1)
		return by_mode(path, *mode == 'u', rest[0], n == 2);
	if (!strcmp(mode, "kprobes"))
		return kprobes(path);
	if (!strcmp(mode, "uprobes"))
		return uprobes(path);
	if (!strcmp(mode, "many") && n == 2)
		return attach_many(path, rest[0], (unsigned)atoi(rest[1]));
	if (!strcmp(mode, "same") && n == 1)
		return attach_same(path, rest[0]);
	if (!strcmp(mode, "refuse") && n == 2)
		return refuse(path, rest[0], rest[1]);
	if (!strcmp(mode, "link") && n == 1)
		return link_operations(path, rest[0]);
	if (!strcmp(mode, "leave") && n == 2)
		return leave(path, rest[0], rest[1]);
	if (!strcmp(mode, "take") && n == 1)
		return take(rest[0]);
	if (!strcmp(mode, "hold") && n == 2)
		return hold(path, *rest[0] == 'u', rest[1]);
	if (!strcmp(mode, "quiet"))
		return quiet(path);
	return 2;
}
