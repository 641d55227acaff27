// SPDX-License-Identifier: BSD-2-Clause
/*
 * A small program written for the library's public API: attaches one program
 * of attach.bpf.o at a time, does a workload that counts for itself, and
 * compares. Prints TAP, a line per program, without numbers.
 *
 *	client OBJECT check NAME...	what NAME counts is what was done
 *	client OBJECT cookie NAME VALUE	and it sees its cookie
 *	client OBJECT nocookie NAME	no cookie here: EOPNOTSUPP or a refused load
 *	client OBJECT refuse NAME TEXT	attaching fails with a message that holds TEXT
 *	client OBJECT pin NAME PATH	pins the link; it counts on when it is destroyed
 *	client OBJECT update NAME NAME	puts another program into a link
 *	client OBJECT hold NAME...	attaches all, prints "prog ID" lines, sleeps
 *	client - gone ID...		0 when no program of these ids is left, within 10 s
 *	client - left			prints the numbers of programs, links and maps
 *	client - work			only the workload
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <bpf/perf_bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/vm/counting.h"

struct expected {
	unsigned long long calls, sum;
};

static struct expected expected_of(const char *name)
{
	if (!strcmp(name, "on_raw_tp"))
		return (struct expected){STEPS, STEPS};
	if (!strncmp(name, "on_uprobe", 6))
		return (struct expected){STEPS, WORKLOAD_ARGS};
	if (!strcmp(name, "on_uretprobe"))
		return (struct expected){STEPS, WORKLOAD_ARGS * 3};
	return (struct expected){STEPS, (unsigned long long)STEPS * BYTES};
}

static int counted(const struct counters *c, const char *name)
{
	struct expected want = expected_of(name);

	if (*c->calls == want.calls && *c->sum == want.sum)
		return 1;
	printf("# %s: %llu calls, sum %llu; wanted %llu and %llu\n", name, *c->calls, *c->sum,
	       want.calls, want.sum);
	return 0;
}

static int check(const char *path, const char *name)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);
	struct counters c;

	if (!obj || find_counters(obj, &c))
		return result(0, "loads", name);
	struct bpf_link *link = bpf_program__attach(prog);
	if (!link)
		return result(0, "attaches", name);
	measure_workload(&c);
	int ok = counted(&c, name);
	ok = !bpf_link__destroy(link) && ok;
	measure_workload(&c);
	if (*c.calls) {
		printf("# %s still runs when its link is destroyed\n", name);
		ok = 0;
	}
	bpf_object__close(obj);
	return result(ok, "counts what was done, and nothing after its link", name);
}

static struct bpf_link *attach_cookie(const struct bpf_program *prog, const char *name,
				      unsigned long long cookie)
{
	if (!strcmp(name, "on_tracepoint_cookie")) {
		LIBBPF_OPTS(bpf_tracepoint_opts, opts, .bpf_cookie = cookie);
		return bpf_program__attach_tracepoint_opts(prog, "syscalls", "sys_enter_read",
							   &opts);
	}
	if (!strcmp(name, "on_kprobe_cookie")) {
		LIBBPF_OPTS(bpf_kprobe_opts, opts, .bpf_cookie = cookie);
		return bpf_program__attach_kprobe_opts(prog, "vfs_read", &opts);
	}
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = cookie, .func_name = "workload_step");
	return bpf_program__attach_uprobe_opts(prog, getpid(), "/proc/self/exe", 0, &opts);
}

static int check_cookie(const char *path, const char *name, unsigned long long cookie)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);
	struct counters c;

	if (!obj || find_counters(obj, &c))
		return result(0, "loads", name);
	struct bpf_link *link = attach_cookie(prog, name, cookie);
	if (!link)
		return result(0, "attaches", name);
	measure_workload(&c);
	int ok = counted(&c, name) && *c.cookie == cookie;
	if (*c.cookie != cookie)
		printf("# cookie %llx, wanted %llx\n", *c.cookie, cookie);
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return result(ok, "sees its cookie", name);
}

static int check_no_cookie(const char *path, const char *name)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);

	if (obj) /* the helper is not known: the verifier refuses it */
		return result(0, "is refused", name);
	/* A program without the helper loads, but gets no cookie. */
	obj = load_program(path, "on_tracepoint", NULL, &prog);
	if (!obj)
		return result(0, "loads", name);
	struct bpf_link *link = attach_cookie(prog, "on_tracepoint_cookie", 1);
	int ok = !link && errno == EOPNOTSUPP;
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return result(ok, "is refused: this kernel has no cookies", name);
}

static int check_refused(const char *path, const char *name, const char *text)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);
	char message[8192];

	if (!obj)
		return result(0, "loads", name);
	struct bpf_link *link = bpf_program__attach(prog);
	snprintf(message, sizeof(message), "%s hint: %s", perf_bpf_last_error(),
		 perf_bpf_last_hint() ? perf_bpf_last_hint() : "");
	int ok = !link && strstr(message, text);
	if (!ok)
		printf("# %s: %s\n", link ? "attached" : "message", message);
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return result(ok, "is refused with a clear message", name);
}

static int check_pin(const char *path, const char *name, const char *pin)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, name, NULL, &prog);
	struct counters c;

	if (!obj || find_counters(obj, &c))
		return result(0, "loads", name);
	struct bpf_link *link = bpf_program__attach(prog);
	if (!link || bpf_link__pin(link, pin)) {
		int status = result(0, "attaches and is pinned", name);

		bpf_link__destroy(link);
		bpf_object__close(obj);
		return status;
	}
	int ok = !strcmp(bpf_link__pin_path(link), pin) && bpf_link__fd(link) >= 0;
	bpf_link__destroy(link);
	measure_workload(&c);
	ok = ok && counted(&c, name);
	link = bpf_link__open(pin);
	ok = ok && link && !bpf_link__unpin(link) && !bpf_link__destroy(link) && access(pin, F_OK);
	for (int i = 0; i < 600 && ok; i++) { /* the last reference goes after a grace period */
		measure_workload(&c);
		if (!*c.calls)
			break;
		usleep(100000);
	}
	ok = ok && !*c.calls;
	bpf_object__close(obj);
	return result(ok, "outlives its link while pinned", name);
}

static unsigned long long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (unsigned long long)usage.ru_nvcsw + (unsigned long long)usage.ru_nivcsw;
}

/* A perf event opened by the caller, as recorders do. */
static int check_perf_event(const char *path)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.size = sizeof(attr),
		.sample_period = 1,
		.disabled = 1,
	};
	struct bpf_program *prog;
	struct bpf_object *obj = load_program(path, "on_perf_event", NULL, &prog);
	struct counters c;

	if (!obj || find_counters(obj, &c))
		return result(0, "loads", "on_perf_event");
	if (bpf_program__attach(prog) || errno != EOPNOTSUPP)
		return result(0, "does not attach by itself", "on_perf_event");
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link = fd < 0 ? NULL : bpf_program__attach_perf_event(prog, fd);
	if (!link)
		return result(0, "attaches", "on_perf_event");
	/* The kernel counts the same switches: between these two are the program's. */
	unsigned long long outer = switches(), inner;
	set_target(&c, getpid());
	inner = switches();
	for (int i = 0; i < 100; i++)
		usleep(1000);
	inner = switches() - inner;
	read_counters(&c);
	outer = switches() - outer;
	int ok = inner > 50 && *c.calls >= inner && *c.calls <= outer;
	if (!ok)
		printf("# %llu switches, wanted %llu to %llu\n", *c.calls, inner, outer);
	bpf_link__destroy(link);
	ok = ok && fcntl(fd, F_GETFD) < 0; /* it was the link's */
	bpf_object__close(obj);
	return result(ok, "runs for the event it was given", "on_perf_event");
}

static int check_update(const char *path, const char *from, const char *to)
{
	struct bpf_program *prog, *other;
	struct bpf_object *obj = load_program(path, from, to, &prog);
	struct counters c;

	if (!obj || find_counters(obj, &c))
		return result(0, "loads", from);
	other = bpf_object__find_program_by_name(obj, to);
	struct bpf_link *link = bpf_program__attach(prog);
	if (!link)
		return result(0, "attaches", from);
	int ret = bpf_link__update_program(link, other);
	/* The kernel updates no perf event's or tracing link: the refusal comes through. */
	int ok = ret < 0 && errno == -ret;
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return result(ok, "keeps its program when the kernel refuses another", from);
}

static int hold(const char *path, int n, char **names)
{
	for (int i = 0; i < n; i++) {
		struct bpf_program *prog;
		struct bpf_object *obj = load_program(path, names[i], NULL, &prog);
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);

		if (!obj || !bpf_program__attach(prog) ||
		    bpf_prog_get_info_by_fd(bpf_program__fd(prog), &info, &len))
			return result(0, "attaches", names[i]);
		printf("prog %u\n", info.id);
	}
	printf("held\n");
	fflush(stdout);
	for (;;)
		pause();
}

static int gone(int n, char **ids)
{
	for (int try = 0; try < 600; try++) {
		int left = 0;

		for (int i = 0; i < n; i++) {
			int fd = bpf_prog_get_fd_by_id((__u32)atoi(ids[i]));

			if (fd >= 0) {
				close(fd);
				left++;
			} else if (fd != -ENOENT) {
				return 2;
			}
		}
		if (!left)
			return 0;
		usleep(100000);
	}
	return 1;
}

static int left(void)
{
	__u32 id, progs = 0, links = 0, maps = 0;

	for (id = 0; !bpf_prog_get_next_id(id, &id);)
		progs++;
	for (id = 0; !bpf_link_get_next_id(id, &id);)
		links++;
	for (id = 0; !bpf_map_get_next_id(id, &id);)
		maps++;
	printf("%u programs, %u links, %u maps\n", progs, links, maps);
	return 0;
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
			status |= strcmp(rest[i], "on_perf_event") ? check(path, rest[i])
								   : check_perf_event(path);
		return status;
	}
	if (!strcmp(mode, "cookie") && n == 2)
		return check_cookie(path, rest[0], strtoull(rest[1], NULL, 0));
	if (!strcmp(mode, "nocookie") && n == 1)
		return check_no_cookie(path, rest[0]);
	if (!strcmp(mode, "refuse") && n == 2)
		return check_refused(path, rest[0], rest[1]);
	if (!strcmp(mode, "pin") && n == 2)
		return check_pin(path, rest[0], rest[1]);
	if (!strcmp(mode, "update") && n == 2)
		return check_update(path, rest[0], rest[1]);
	if (!strcmp(mode, "hold"))
		return hold(path, n, rest);
	if (!strcmp(mode, "gone"))
		return gone(n, rest);
	if (!strcmp(mode, "left"))
		return left();
	if (!strcmp(mode, "work")) {
		workload();
		return 0;
	}
	return 2;
}
