// SPDX-License-Identifier: BSD-2-Clause
/*
 * Uses the kernel's test module bpf_testmod with the programs of tests/vm/testmod.bpf.c, by the
 * API that this library and libbpf share: tests/peers/test_modules.py builds it with either.
 *
 *	testmod_client list		the tests
 *	testmod_client FILE TEST	prints what the programs saw; 0: as it should be
 *
 * A read of the module's file in sysfs passes its tracepoints and calls its functions with
 * arguments that the module's source says, and fails; so does a write.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what))                                                                       \
			wrong(__LINE__, #what);                                                    \
	} while (0)

static void wrong(int line, const char *what)
{
	printf("line %d: not so: %s (errno: %s)\n", line, what, strerror(errno));
	exit(1);
}

#define RESULTS 4
typedef unsigned long long results[RESULTS];

static const char *file;

/* ---- the object ---- */

static struct bpf_object *open_object(void)
{
	struct bpf_object *obj = bpf_object__open_file(file, NULL);
	struct bpf_map *map;

	CHECK(obj);
	/* With libbpf 1.7 the '?' of a section holds for the first of its structs only. */
	bpf_object__for_each_map (map, obj)
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			CHECK(!bpf_map__set_autocreate(map, false));
	return obj;
}

static struct bpf_program *wants(struct bpf_object *obj, const char *name)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, name);

	CHECK(prog && !bpf_program__set_autoload(prog, true));
	return prog;
}

static struct bpf_map *wants_ops(struct bpf_object *obj, const char *name)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, name);

	CHECK(map && !bpf_map__set_autocreate(map, true));
	return map;
}

static unsigned long long *results_of(const struct bpf_object *obj)
{
	struct bpf_map *bss;

	bpf_object__for_each_map (bss, obj)
		if (strstr(bpf_map__name(bss), ".bss")) {
			size_t size;
			unsigned long long *out = bpf_map__initial_value(bss, &size);

			CHECK(out && size == sizeof(results));
			return out;
		}
	CHECK(!"the object has results");
	return NULL;
}

static void expect(const struct bpf_object *obj, const results want)
{
	const unsigned long long *got = results_of(obj);

	for (int i = 0; i < RESULTS; i++)
		printf("%lld ", (long long)got[i]);
	printf("\n");
	CHECK(!memcmp(got, want, sizeof(results)));
}

static int run(const struct bpf_program *prog)
{
	char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	if (bpf_program__type(prog) == BPF_PROG_TYPE_SCHED_CLS) {
		opts.data_in = packet;
		opts.data_size_in = sizeof(packet);
	}
	CHECK(!bpf_prog_test_run_opts(bpf_program__fd(prog), &opts));
	return (int)opts.retval;
}

/* ---- what the module does ---- */

/* The result of a read from the module at offset 5, or -errno. */
static int read_module(char *buf, size_t n)
{
	const int fd = open("/sys/kernel/bpf_testmod", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	const ssize_t got = pread(fd, buf, n, 5);
	const int err = errno;
	close(fd);
	return got < 0 ? -err : (int)got;
}

static void trigger(void)
{
	char buf[20];

	CHECK(read_module(buf, sizeof(buf)) == -EIO);
	const int fd = open("/sys/kernel/bpf_testmod", O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, "abc", 3) == -1 && errno == EIO);
	close(fd);
}

/* ---- programs that are run, and such that are attached by their section ---- */

static const struct test {
	const char *name; /* of the program; others are attached too */
	const char *other;
	results want;
} runs[] =
	{
		/* Read here as declared in bpf_testmod.h: char *, loff_t, size_t; and long, long.
		 */
		{"types", NULL, {16, 16, 0, 1}}, {"typed_variable", NULL, {41, 42}},
		{"weak", NULL, {1, 1, 1}},	 {"of_three_modules", NULL, {'y', 'x', 'y'}},
		{"iterates", NULL, {35}},
},
  attaches[] = {
	  {"tp_btf", NULL, {1, 5, 20, 1}},   {"tp_btf_bare", NULL, {1, 3}},
	  {"raw_tp", NULL, {1, 5, 20}},	     {"tracepoint", NULL, {1, 5, 20, 1}},
	  {"fentry", NULL, {1, 133}},	     {"fentry_of_the_module", NULL, {1, 23}},
	  {"fexit", NULL, {1, 2314, 10}},    {"fsession", NULL, {2, 1}},
	  {"fmod_ret", NULL, {0}},	     {"kprobe", "kretprobe", {1, 23, 1, 5}},
	  {"multi", "multi_return", {5, 5}}, {"session", NULL, {5, 5}},
};

static void test_run(const struct test *test)
{
	struct bpf_object *obj = open_object();
	const struct bpf_program *prog = wants(obj, test->name);

	CHECK(!bpf_object__load(obj));
	CHECK(!run(prog));
	expect(obj, test->want);
	bpf_object__close(obj);
}

/* What comes before it is attached, and after it is detached, is not seen. */
static void test_attach(const struct test *test)
{
	struct bpf_object *obj = open_object();
	const struct bpf_program *prog = wants(obj, test->name);
	const struct bpf_program *other = test->other ? wants(obj, test->other) : NULL;

	CHECK(!bpf_object__load(obj));
	trigger();
	struct bpf_link *link = bpf_program__attach(prog);
	CHECK(link);
	struct bpf_link *other_link = other ? bpf_program__attach(other) : NULL;
	CHECK(!other || other_link);
	trigger();
	CHECK(!bpf_link__destroy(link) && !bpf_link__destroy(other_link));
	trigger();
	expect(obj, test->want);
	bpf_object__close(obj);
}

/* ---- others ---- */

static void typeless_variable(void)
{
	struct bpf_object *obj = open_object();
	const struct bpf_program *prog = wants(obj, "typeless_variable");
	char line[512], name[256];
	unsigned long long address, want = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	CHECK(f);
	while (!want && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %255s", &address, name) == 2 &&
		    !strcmp(name, "bpf_testmod_fentry_ok"))
			want = address;
	fclose(f);
	CHECK(want);
	trigger(); /* it is 1 from now on */
	CHECK(!bpf_object__load(obj));
	CHECK(!run(prog));
	expect(obj, (results){want, 1});
	bpf_object__close(obj);
}

/* The module calls both functions when the struct is registered. */
static void ops(void)
{
	struct bpf_object *obj = open_object();
	struct bpf_map *map = wants_ops(obj, "ops");

	CHECK(!bpf_object__load(obj));
	/* What only structs have that are not created stays away. */
	CHECK(bpf_program__fd(bpf_object__find_program_by_name(obj, "ops_test_1")) >= 0);
	CHECK(bpf_program__fd(bpf_object__find_program_by_name(obj, "ops3_test_1")) < 0);
	struct bpf_link *link = bpf_map__attach_struct_ops(map);
	CHECK(link);
	CHECK(!bpf_link__destroy(link));
	link = bpf_map__attach_struct_ops(map);
	CHECK(link);
	expect(obj, (results){2, 8, 34});
	CHECK(!bpf_link__destroy(link));
	bpf_object__close(obj);
}

/* The user changes a number and leaves a function out before the object is loaded. */
static void ops_changed(void)
{
	struct {
		int data;
		struct bpf_program *test_2, *test_1;
	} * value;
	struct bpf_object *obj = open_object();
	struct bpf_map *map = wants_ops(obj, "ops");
	size_t size;

	value = bpf_map__initial_value(map, &size);
	CHECK(value && size == sizeof(*value) && value->data == 17);
	CHECK(value->test_1 == bpf_object__find_program_by_name(obj, "ops_test_1"));
	value->data = 100;
	value->test_1 = NULL;
	CHECK(!bpf_object__load(obj));
	struct bpf_link *link = bpf_map__attach_struct_ops(map);
	CHECK(link);
	expect(obj, (results){0, 4, 100});
	CHECK(!bpf_link__destroy(link));
	bpf_object__close(obj);
}

/* Registered by its value, without a link. */
static void ops_without_link(void)
{
	struct bpf_object *obj = open_object();
	struct bpf_map *map = wants_ops(obj, "ops2");

	CHECK(!bpf_object__load(obj));
	struct bpf_link *link = bpf_map__attach_struct_ops(map);
	CHECK(link);
	expect(obj, (results){1});
	CHECK(!bpf_link__destroy(link));
	bpf_object__close(obj);
}

static void ops_called(void)
{
	struct bpf_object *obj = open_object();
	struct bpf_map *map = wants_ops(obj, "ops3");

	CHECK(!bpf_object__load(obj));
	trigger();
	struct bpf_link *link = bpf_map__attach_struct_ops(map);
	CHECK(link);
	trigger();
	/* One at a time, says the module. */
	CHECK(!bpf_map__attach_struct_ops(map) && errno == EEXIST);
	CHECK(!bpf_link__destroy(link));
	trigger();
	expect(obj, (results){1});
	bpf_object__close(obj);
}

/* Programs that call the struct they are associated with. */
static void associated(void)
{
	struct bpf_object *obj = open_object();
	struct bpf_map *first = wants_ops(obj, "first"), *second = wants_ops(obj, "second");
	struct bpf_program *calls_first = wants(obj, "calls_first");
	struct bpf_program *calls_second = wants(obj, "calls_second");

	CHECK(!bpf_object__load(obj));
	CHECK(!bpf_program__assoc_struct_ops(calls_first, first, NULL));
	CHECK(!bpf_program__assoc_struct_ops(calls_second, second, NULL));
	struct bpf_link *links[] = {bpf_map__attach_struct_ops(first),
				    bpf_map__attach_struct_ops(second)};
	CHECK(links[0] && links[1]);
	CHECK(!run(calls_first) && !run(calls_second));
	expect(obj, (results){1111, 2222});
	CHECK(!bpf_link__destroy(links[0]) && !bpf_link__destroy(links[1]));
	bpf_object__close(obj);
}

/* A program that changes what the module works with. */
static void raw_tp_writes(void)
{
	struct bpf_object *obj = open_object();
	const struct bpf_program *prog = wants(obj, "raw_tp_writes");
	char buf[64] = {0};

	CHECK(!bpf_object__load(obj));
	struct bpf_link *link = bpf_program__attach(prog);
	CHECK(link);
	CHECK(read_module(buf, sizeof(buf)) == 3 && !strcmp(buf, "77\n"));
	CHECK(!bpf_link__destroy(link));
	CHECK(read_module(buf, sizeof(buf)) == -EIO);
	expect(obj, (results){1, 1024});
	bpf_object__close(obj);
}

static void set_target(void)
{
	static const char *const names[] = {"bpf_testmod_loop_test",
					    "bpf_testmod:bpf_testmod_loop_test"};
	for (size_t i = 0; i < 2; i++) {
		struct bpf_object *obj = open_object();
		struct bpf_program *prog = wants(obj, "set_target");

		CHECK(!bpf_program__set_attach_target(prog, 0, names[i]));
		CHECK(!bpf_object__load(obj));
		struct bpf_link *link = bpf_program__attach_trace(prog);
		CHECK(link);
		trigger();
		CHECK(!bpf_link__destroy(link));
		expect(obj, (results){1, 101});
		bpf_object__close(obj);
	}
}

static void multi_of_names(void)
{
	static const char *names[] = {"bpf_testmod_fentry_test3", "bpf_testmod_fentry_test11"};
	static const __u64 cookies[] = {3, 11};
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts, .syms = names, .cookies = cookies, .cnt = 2);
	struct bpf_object *obj = open_object();
	const struct bpf_program *prog = wants(obj, "multi_of_names");

	CHECK(!bpf_object__load(obj));
	struct bpf_link *link = bpf_program__attach_kprobe_multi_opts(prog, NULL, &opts);
	CHECK(link);
	trigger();
	CHECK(!bpf_link__destroy(link));
	expect(obj, (results){2, 14});
	bpf_object__close(obj);
}

/* The module's BTF by its name: types of its own, and those of the kernel below them. */
static void btf_of_the_module(void)
{
	struct btf *vmlinux = btf__load_vmlinux_btf();
	struct btf *btf = btf__load_module_btf("bpf_testmod", vmlinux);

	CHECK(vmlinux && btf && btf__base_btf(btf) == vmlinux);
	const int own = btf__find_by_name_kind(btf, "bpf_testmod_test_read_ctx", BTF_KIND_STRUCT);
	const int base = btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT);
	CHECK(own >= (int)btf__type_cnt(vmlinux));
	CHECK(base > 0 && base < (int)btf__type_cnt(vmlinux));
	CHECK(btf__find_by_name_kind(vmlinux, "bpf_testmod_test_read_ctx", BTF_KIND_STRUCT) < 0);
	printf("%u types, %d, %d\n", btf__type_cnt(btf), own, base);
	btf__free(btf);
	btf__free(vmlinux);
}

static const struct {
	const char *name;
	void (*run)(void);
} others[] = {
	{"associated", associated},
	{"btf_of_the_module", btf_of_the_module},
	{"multi_of_names", multi_of_names},
	{"ops", ops},
	{"ops_called", ops_called},
	{"ops_changed", ops_changed},
	{"ops_without_link", ops_without_link},
	{"raw_tp_writes", raw_tp_writes},
	{"set_target", set_target},
	{"typeless_variable", typeless_variable},
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* NAME NULL: prints the names. false: there is no such test. */
static bool run_tests(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		if (!name)
			puts(runs[i].name);
		else if (!strcmp(name, runs[i].name))
			return test_run(&runs[i]), true;
	for (size_t i = 0; i < ARRAY_SIZE(attaches); i++)
		if (!name)
			puts(attaches[i].name);
		else if (!strcmp(name, attaches[i].name))
			return test_attach(&attaches[i]), true;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!name)
			puts(others[i].name);
		else if (!strcmp(name, others[i].name))
			return others[i].run(), true;
	return !name;
}

/* Why something failed; not compared. */
static int warn(enum libbpf_print_level level, const char *format, va_list ap)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, ap) : 0;
}

int main(int argc, char **argv)
{
	libbpf_set_print(warn);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && !strcmp(argv[1], "list"))
		return !run_tests(NULL);
	file = argc == 3 ? argv[1] : "";
	if (argc == 3 && run_tests(argv[2]))
		return 0;
	fprintf(stderr, "usage: %s list | FILE TEST\n", argv[0]);
	return 2;
}
