// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program with USDT probes of <sys/sdt.h> that attaches usdt.bpf.c to them
 * through the library's public API, passes by, and compares what the BPF
 * program read with what it passed on. Prints TAP without numbers.
 *
 *	usdt_client OBJECT forms PROGRAM	twelve arguments of all forms, by a program
 *	usdt_client OBJECT section		the same by the program's section, in all processes
 *	usdt_client OBJECT sites PROGRAM	a probe of many places, few descriptions
 *	usdt_client OBJECT semaphore PROGRAM	the counter goes up and down
 *	usdt_client OBJECT again		attached and destroyed often, and twice at a time
 *	usdt_client OBJECT disconnect		a link that is let go stays
 *	usdt_client OBJECT closed		a link outlives its object
 *	usdt_client OBJECT child		of another process only; and of all
 *	usdt_client OBJECT refuse PROVIDER NAME TEXT	fails with a message that holds TEXT
 *	usdt_client - work			only the workload
 *	usdt_client OBJECT pid PID BINARY PROVIDER NAME	counts until 100 calls came, prints calls
 * and sums
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf/perf_bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define _SDT_HAS_SEMAPHORES	1
#define STAP_SDT_ARG_CONSTRAINT nor
#include <sys/sdt.h>

#include "usdt.h"

#define SEMAPHORE __attribute__((unused, section(".probes"), visibility("hidden")))
unsigned short perfbpf_twelve_semaphore SEMAPHORE;
unsigned short perfbpf_many_semaphore SEMAPHORE;
unsigned short perfbpf_none_semaphore SEMAPHORE;

enum {
	STEPS = 500,
	COOKIE = 0x1234567,
};

static struct usdt_result want;
int global_counter;
static long table[8] = {0, -1, 1L << 40, -(1L << 40), 4, 5, 6, 7};

/* The compiler knows nothing of the value. */
#define OPAQUE(v)                                                                                  \
	({                                                                                         \
		__typeof__(v) v_ = (v);                                                            \
		__asm__ volatile("" : "+r"(v_));                                                   \
		v_;                                                                                \
	})

__attribute__((noinline)) static void twelve(unsigned long n, unsigned *pointed)
{
	signed char c = OPAQUE((signed char)(n - 100));
	unsigned char uc = OPAQUE((unsigned char)(n * 3));
	volatile short s = (short)(n * 131 - 30000);
	unsigned short us = OPAQUE((unsigned short)(n * 257));
	int i = OPAQUE((int)(n * 0x01010101));
	volatile long l = -(long)n * 0x100000001;
	unsigned long ul = OPAQUE(~0ul - n);
	unsigned long at = OPAQUE(n & 7);

	*pointed = (unsigned)n - 3;
	global_counter = (int)(7 - n);
	__asm__ volatile("" ::: "memory");
	STAP_PROBE12(perfbpf, twelve, -9, c, uc, s, us, i, *pointed, l, ul, global_counter,
		     table[at], (void *)pointed);
	want.calls++;
	want.sums[0] += (unsigned long long)-9ll;
	want.sums[1] += (unsigned long long)(long long)c;
	want.sums[2] += uc;
	want.sums[3] += (unsigned long long)(long long)s;
	want.sums[4] += us;
	want.sums[5] += (unsigned long long)(long long)i;
	want.sums[6] += *pointed;
	want.sums[7] += (unsigned long long)l;
	want.sums[8] += ul;
	want.sums[9] += (unsigned long long)(long long)global_counter;
	want.sums[10] += (unsigned long long)table[at];
	want.sums[11] += (unsigned long)pointed;
}

/* Inlined: each call is a place of its own, half of them with a constant of their own. */
static inline __attribute__((always_inline)) void many(unsigned long n, unsigned long which)
{
	STAP_PROBE2(perfbpf, many, n, which);
	want.calls++;
	want.sums[0] += n;
	want.sums[1] += which;
}

__attribute__((noinline)) static void workload(void)
{
	for (unsigned long n = 0; n < STEPS; n++) {
		unsigned pointed;

		twelve(n, &pointed);
	}
}

#define MANY4(n, w) (many(n, w), many(n, w), many(n, w), many(n, w))
#define MANY16(n)   (MANY4(n, 1), MANY4(n, 1), MANY4(n, 2), MANY4(n, 1))

__attribute__((noinline)) static void many_places(void)
{
	for (unsigned long n = 0; n < STEPS; n++) {
		unsigned long v = OPAQUE(n);

		MANY16(v);
		MANY16(v);
	}
	STAP_PROBE(perfbpf, none);
}

static int result(int ok, const char *what)
{
	printf("%s - %s\n", ok ? "ok" : "not ok", what);
	if (!ok && perf_bpf_last_error()[0])
		printf("# last error: %s\n# hint: %s\n", perf_bpf_last_error(),
		       perf_bpf_last_hint() ? perf_bpf_last_hint() : "");
	return ok ? 0 : 1;
}

static struct usdt_result *got;

static struct bpf_object *load(const char *path, const char *name, struct bpf_program **prog)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	struct bpf_program *p;
	size_t size;

	*prog = NULL;
	if (!obj)
		return NULL;
	bpf_object__for_each_program (p, obj) {
		bpf_program__set_autoload(p, !strcmp(bpf_program__name(p), name));
		if (bpf_program__autoload(p))
			*prog = p;
	}
	if (!*prog || bpf_object__load(obj)) {
		bpf_object__close(obj);
		return NULL;
	}
	got = bpf_map__initial_value(bpf_object__find_map_by_name(obj, ".bss"), &size);
	got->pid = getpid();
	return obj;
}

static void clear(void)
{
	int pid = got->pid;

	memset(&want, 0, sizeof(want));
	memset(got, 0, sizeof(*got));
	got->pid = pid;
}

static struct bpf_link *attach(struct bpf_program *prog, pid_t pid, const char *name,
			       unsigned long long cookie)
{
	LIBBPF_OPTS(bpf_usdt_opts, opts, .usdt_cookie = cookie);

	return bpf_program__attach_usdt(prog, pid, "/proc/self/exe", "perfbpf", name, &opts);
}

static int same(int args)
{
	int wrong = got->calls != want.calls || got->errors;

	for (int i = 0; i < args; i++)
		wrong |= got->sums[i] != want.sums[i];
	if (wrong) {
		printf("# calls %llu, not %llu; errors %llu\n", got->calls, want.calls,
		       got->errors);
		for (int i = 0; i < args; i++)
			printf("# argument %d: %lld, not %lld\n", i, (long long)got->sums[i],
			       (long long)want.sums[i]);
	}
	return !wrong;
}

static int forms(const char *path, const char *program)
{
	static const long long sizes[USDT_ARGS] = {4, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8};
	struct bpf_program *prog;
	struct bpf_object *obj = load(path, program, &prog);
	struct bpf_link *link = obj ? attach(prog, 0, "twelve", COOKIE) : NULL;

	if (!link)
		return result(0, "forms: attached");
	workload();
	int failed = result(same(USDT_ARGS), "forms: all arguments");
	failed |= result(got->count == USDT_ARGS && got->beyond == -ENOENT, "forms: their number");
	failed |= result(!memcmp(got->sizes, sizes, sizeof(sizes)), "forms: their sizes");
	failed |= result(got->cookies == (unsigned long long)STEPS * COOKIE, "forms: the cookie");
	bpf_link__destroy(link);
	unsigned long long before = got->calls;
	workload();
	failed |= result(got->calls == before, "forms: destroyed, it counts no more");
	bpf_object__close(obj);
	return failed;
}

static int section(const char *path)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load(path, "on_section", &prog);
	struct bpf_link *link = obj ? bpf_program__attach(prog) : NULL;

	if (!link)
		return result(0, "section: attached");
	workload();
	int failed = result(same(USDT_ARGS), "section: BPF_USDT has typed arguments");
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return failed;
}

/* Numbers of the map whose description is of some probe: those that were ever used. */
static int used_specs(struct bpf_object *obj)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, "__bpf_usdt_specs");
	unsigned char value[512];
	int used = 0;

	for (unsigned i = 0; i < bpf_map__max_entries(map); i++) {
		memset(value, 0, sizeof(value));
		bpf_map_lookup_elem(bpf_map__fd(map), &i, value);
		for (size_t b = 0; b < sizeof(value); b++)
			if (value[b]) {
				used++;
				break;
			}
	}
	return used;
}

static int sites(const char *path, const char *program)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load(path, program, &prog);
	struct bpf_link *link = obj ? attach(prog, 0, "many", 1) : NULL;

	if (!link)
		return result(0, "sites: attached");
	many_places();
	int failed = result(same(2), "sites: all of 32 places");
	int used = used_specs(obj);
	printf("# %d descriptions\n", used);
	failed |= result(used >= 2 && used <= 8, "sites: equal descriptions are one");
	bpf_link__destroy(link);

	/* A probe without arguments. */
	clear();
	link = attach(prog, 0, "none", 7);
	many_places();
	failed |= result(link && got->calls == 1 && got->count == 0 && got->cookies == 7 &&
				 got->beyond == -ENOENT,
			 "sites: a probe without arguments");
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return failed;
}

static int semaphore(const char *path, const char *program)
{
	volatile unsigned short *now = &perfbpf_twelve_semaphore;
	struct bpf_program *prog;
	struct bpf_object *obj = load(path, program, &prog);

	if (!obj)
		return result(0, "semaphore: loaded");
	int failed = result(*now == 0, "semaphore: 0 at first");
	struct bpf_link *link = attach(prog, 0, "twelve", 0);
	failed |= result(link && *now == 1, "semaphore: 1 when attached");
	bpf_link__destroy(link);
	failed |= result(*now == 0, "semaphore: 0 again");
	bpf_object__close(obj);
	return failed;
}

static int again(const char *path)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load(path, "on_any", &prog);
	struct bpf_link *link, *second;

	if (!obj)
		return result(0, "again: loaded");
	unsigned times =
		3 * bpf_map__max_entries(bpf_object__find_map_by_name(obj, "__bpf_usdt_specs"));
	for (unsigned i = 0; i < times; i++) {
		link = attach(prog, 0, "twelve", i);
		if (!link)
			return result(0, "again: attached many times");
		bpf_link__destroy(link);
	}
	int failed = result(1, "again: attached many times");
	clear();
	link = attach(prog, 0, "twelve", 1);
	second = attach(prog, 0, "twelve", 100);
	if (!second) {
		failed |= result(errno == EEXIST && strstr(perf_bpf_last_hint(), "5.15"),
				 "again: twice at a place is refused without cookies");
	} else {
		workload();
		failed |= result(got->calls == 2 * STEPS && got->cookies == 101 * STEPS,
				 "again: twice at a place, each with its cookie");
	}
	bpf_link__destroy(second);
	clear();
	workload();
	failed |= result(same(USDT_ARGS) && got->cookies == STEPS, "again: one of two is left");
	bpf_link__destroy(link);

	/* More descriptions than there is room for, and none is lost by that. */
	struct bpf_link *links[64] = {0};
	unsigned n = 0;
	while (n < 64 && (links[n] = attach(prog, 0, n % 2 ? "twelve" : "none", n)))
		n++;
	int code = errno;
	unsigned room = times / 3;
	if (room < 64)
		failed |= result((n == room && code == E2BIG) || code == EEXIST,
				 "again: no more than there is room for");
	while (n)
		bpf_link__destroy(links[--n]);
	clear();
	link = attach(prog, 0, "twelve", 3);
	workload();
	failed |= result(link && same(USDT_ARGS), "again: after all that");
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return failed;
}

static int disconnect(const char *path)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load(path, "on_any", &prog);
	struct bpf_link *link = obj ? attach(prog, 0, "twelve", 1) : NULL;

	if (!link)
		return result(0, "disconnect: attached");
	bpf_link__disconnect(link);
	bpf_link__destroy(link);
	/* Another attachment must not take its description away. */
	link = attach(prog, 0, "many", 1000);
	workload();
	int failed = result(link && same(USDT_ARGS), "disconnect: a link that was let go stays");
	bpf_link__destroy(link);
	bpf_object__close(obj);
	return failed;
}

static int closed(const char *path)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load(path, "on_any", &prog);
	struct bpf_link *link = obj ? attach(prog, 0, "twelve", 1) : NULL;
	volatile unsigned short *now = &perfbpf_twelve_semaphore;

	if (!link)
		return result(0, "closed: attached");
	bpf_object__close(obj);
	int failed = result(*now == 1, "closed: the link outlives its object");
	bpf_link__destroy(link);
	return failed | result(*now == 0, "closed: and can be destroyed");
}

static int child(const char *path)
{
	struct bpf_program *prog;
	int go[2], status;

	if (pipe(go))
		return result(0, "child: a pipe");
	pid_t pid = fork();
	if (!pid) {
		char c;

		for (int i = 0; i < 2; i++) {
			if (read(go[0], &c, 1) != 1)
				_exit(1);
			workload();
			kill(getpid(), SIGSTOP);
		}
		_exit(0);
	}
	struct bpf_object *obj = load(path, "on_any", &prog);
	if (!obj)
		return result(0, "child: loaded");
	got->pid = 0;
	struct bpf_link *link = attach(prog, pid, "twelve", 1);
	workload(); /* not counted */
	clear();
	int failed = 0;
	if (write(go[1], "x", 1) != 1 || waitpid(pid, &status, WUNTRACED) != pid)
		return result(0, "child: it works");
	failed |= result(link && got->calls == STEPS, "child: counted in that process only");
	bpf_link__destroy(link);

	clear();
	link = attach(prog, -1, "twelve", 1);
	if (!link && errno == EOPNOTSUPP) {
		failed |= result(strstr(perf_bpf_last_hint(), "give a pid") != NULL,
				 "child: in all processes is refused without cookies");
	} else {
		kill(pid, SIGCONT);
		if (write(go[1], "x", 1) != 1 || waitpid(pid, &status, WUNTRACED) != pid)
			return result(0, "child: it works again");
		workload();
		failed |=
			result(link && got->calls == 2 * STEPS, "child: counted in all processes");
	}
	bpf_link__destroy(link);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	bpf_object__close(obj);
	return failed;
}

static int refuse(const char *path, const char *provider, const char *name, const char *text)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load(path, "on_any", &prog);

	if (!obj)
		return result(0, "refuse: loaded");
	struct bpf_link *link =
		bpf_program__attach_usdt(prog, 0, "/proc/self/exe", provider, name, NULL);
	const char *hint = perf_bpf_last_hint();
	int ok = !link && (strstr(perf_bpf_last_error(), text) || (hint && strstr(hint, text)));

	bpf_link__destroy(link);
	bpf_object__close(obj);
	return result(ok, "refuse: refused in words");
}

static int until_called(const char *path, int pid, const char *binary, const char *provider,
			const char *name)
{
	struct bpf_program *prog;
	struct bpf_object *obj = load(path, "on_any", &prog);
	struct bpf_link *link =
		obj ? bpf_program__attach_usdt(prog, pid, binary, provider, name, NULL) : NULL;

	if (!link)
		return result(0, "pid: attached");
	got->pid = pid > 0 ? pid : 0;
	printf("attached\n");
	fflush(stdout);
	for (int i = 0; i < 600 && *(volatile unsigned long long *)&got->calls < 100; i++)
		usleep(100000);
	/* Detached before it is read: a call between two reads is in one of them only. */
	bpf_link__destroy(link);
	printf("calls %llu errors %llu count %lld", got->calls, got->errors, got->count);
	for (int i = 0; i < got->count; i++)
		printf(" %lld", (long long)got->sums[i]);
	printf("\n");
	bpf_object__close(obj);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "forms") && argc > 3)
		return forms(argv[1], argv[3]);
	if (!strcmp(what, "section"))
		return section(argv[1]);
	if (!strcmp(what, "sites") && argc > 3)
		return sites(argv[1], argv[3]);
	if (!strcmp(what, "semaphore") && argc > 3)
		return semaphore(argv[1], argv[3]);
	if (!strcmp(what, "again"))
		return again(argv[1]);
	if (!strcmp(what, "disconnect"))
		return disconnect(argv[1]);
	if (!strcmp(what, "closed"))
		return closed(argv[1]);
	if (!strcmp(what, "child"))
		return child(argv[1]);
	if (!strcmp(what, "refuse") && argc > 5)
		return refuse(argv[1], argv[3], argv[4], argv[5]);
	if (!strcmp(what, "pid") && argc > 6)
		return until_called(argv[1], atoi(argv[3]), argv[4], argv[5], argv[6]);
	if (!strcmp(what, "work")) {
		workload();
		return want.calls != STEPS;
	}
	fprintf(stderr, "usage: see the head of usdt_client.c\n");
	return 2;
}
