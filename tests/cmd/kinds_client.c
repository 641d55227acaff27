// SPDX-License-Identifier: BSD-2-Clause
/*
 * Attaches programs that are no tracing, by the public API, and does what they
 * are for: tests/cmd/test_kinds.sh and the guests of tests/vm run it.
 *
 *	kinds_client FILE KIND		0: it works; 77: "skip: WHY"; else what is wrong
 *
 * Each kind has a network namespace of its own, where lo is all there is, so
 * that nobody else's packets are counted or lost.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kinds.h"

void wrong(int line, const char *what)
{
	const char *hint = perf_bpf_last_hint();

	printf("line %d: not so: %s (errno: %s)\nlast error: %s\n", line, what, strerror(errno),
	       perf_bpf_last_error());
	if (hint)
		printf("hint: %s\n", hint);
	exit(1);
}

void skip(const char *why)
{
	printf("skip: %s\n", why);
	exit(77);
}

static char text[1 << 20]; /* what was read last */

/* ---- objects ---- */

const char *file;

struct bpf_object *open_with(const char *name, struct bpf_program **prog)
{
	struct bpf_object *obj = bpf_object__open_file(file, NULL);

	CHECK(obj);
	*prog = bpf_object__find_program_by_name(obj, name);
	CHECK(*prog);
	CHECK(!bpf_program__set_autoload(*prog, true));
	return obj;
}

void load(struct bpf_object *obj)
{
	const int err = bpf_object__load(obj);

	/* Where programs attach to code of the kernel or of others: lockdown, or ftrace is off. */
	if (err == -EPERM && !geteuid())
		skip("this kernel does not let itself be patched");
	CHECK(!err);
}

struct bpf_object *load_with(const char *name, struct bpf_program **prog, struct globals *g)
{
	struct bpf_object *obj = open_with(name, prog);
	size_t size;

	load(obj);
	/* seen and only_pid in the order that the compiler gave them: told apart by what they hold.
	 */
	struct bpf_map *bss = bpf_object__find_map_by_name(obj, ".bss");
	struct bpf_map *data = bpf_object__find_map_by_name(obj, ".data");
	CHECK(bss && data);
	g->seen = bpf_map__initial_value(bss, &size);
	CHECK(g->seen && size == 8);
	g->only_pid = (int *)g->seen + 1;
	g->verdict = bpf_map__initial_value(data, &size);
	CHECK(g->verdict && size == 4);
	return obj;
}

/* ---- the kinds ---- */

int run(const struct bpf_program *prog)
{
	char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet));

	CHECK(!bpf_prog_test_run_opts(bpf_program__fd(prog), &opts));
	return (int)opts.retval;
}

static void kind_freplace(void)
{
	struct bpf_program *asks, *asks_too, *answers;
	struct globals g;
	struct bpf_object *first = load_with("asks", &asks, &g);
	struct bpf_object *second = load_with("asks", &asks_too, &g);

	struct bpf_object *obj = open_with("answers", &answers);
	CHECK(bpf_program__type(answers) == BPF_PROG_TYPE_EXT);
	CHECK(!bpf_program__set_attach_target(answers, bpf_program__fd(asks), "answer"));
	load(obj);

	CHECK(run(asks) == 1);
	struct bpf_link *link = bpf_program__attach(answers);
	CHECK(link);
	CHECK(run(asks) == 42 && run(asks_too) == 1);
	/* The same program for another one's function (5.10). */
	struct bpf_link *other =
		bpf_program__attach_freplace(answers, bpf_program__fd(asks_too), "answer");
	CHECK(other);
	CHECK(run(asks) == 42 && run(asks_too) == 42);
	CHECK(!bpf_link__destroy(link));
	CHECK(run(asks) == 1 && run(asks_too) == 42);
	CHECK(!bpf_link__destroy(other));
	CHECK(run(asks_too) == 1);

	CHECK(!bpf_program__attach_freplace(answers, bpf_program__fd(asks), "answr"));
	CHECK(errno == ENOENT && strstr(perf_bpf_last_error(), "has no function 'answr'"));
	CHECK(strstr(perf_bpf_last_hint(), "did you mean 'answer'"));
	CHECK(!bpf_program__attach_freplace(answers, 0, "answer") && errno == EINVAL);
	CHECK(!bpf_program__attach_freplace(asks, 0, NULL) && errno == EINVAL);
	bpf_object__close(obj);
	bpf_object__close(second);
	bpf_object__close(first);
}

/* Everything that a fresh descriptor of the iterator says. */
static const char *read_iterator(const struct bpf_link *link)
{
	const int fd = bpf_iter_create(bpf_link__fd(link));
	size_t n = 0;
	ssize_t got;

	CHECK(fd >= 0);
	while ((got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	CHECK(!got);
	close(fd);
	text[n] = 0;
	return text;
}

static void kind_iter(void)
{
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("tasks", &prog, &g);
	struct bpf_link *link = bpf_program__attach(prog);
	char line[32];

	CHECK(link);
	snprintf(line, sizeof(line), "pid %d\n", (int)getpid());
	CHECK(strstr(read_iterator(link), line));
	/* A second reader begins anew. */
	CHECK(strstr(read_iterator(link), line));
	CHECK(!bpf_link__destroy(link));
	bpf_object__close(obj);
}

static void kind_iter_of_a_map(void)
{
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("elements", &prog, &g);
	struct bpf_map *map = bpf_object__find_map_by_name(obj, "numbers");
	union bpf_iter_link_info info = {.map.map_fd = (__u32)bpf_map__fd(map)};
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));
	const long value = 4321;
	const int key = 7;

	CHECK(!bpf_map__update_elem(map, &key, sizeof(key), &value, sizeof(value), 0));
	struct bpf_link *link = bpf_program__attach_iter(prog, &opts);
	CHECK(link);
	CHECK(!strcmp(read_iterator(link), "7 is 4321\n"));
	CHECK(!bpf_link__destroy(link));
	/* Not told which map. */
	CHECK(!bpf_program__attach(prog));
	CHECK(strstr(perf_bpf_last_hint(), "link_info"));
	bpf_object__close(obj);
}

static void kind_lsm(void)
{
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("ioctls", &prog, &g);

	*g.only_pid = (int)getpid();
	struct bpf_link *link = bpf_program__attach(prog);
	if (!link && (errno == EPERM || errno == EBUSY))
		skip("this kernel does not let itself be patched");
	CHECK(link);
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK(ioctl(fd, 0x12345678, 0) == -1);
	if (errno == ENOTTY && !*g.seen)
		skip("bpf is not among the enabled security modules (lsm=)");
	CHECK(errno == EOPNOTSUPP && *g.seen == 1);
	CHECK(!bpf_link__destroy(link));
	CHECK(ioctl(fd, 0x12345678, 0) == -1 && errno == ENOTTY && *g.seen == 1);
	link = bpf_program__attach_lsm(prog);
	CHECK(link);
	CHECK(ioctl(fd, 0x12345678, 0) == -1 && errno == EOPNOTSUPP && *g.seen == 2);
	CHECK(!bpf_link__destroy(link));
	close(fd);
	bpf_object__close(obj);
}

/* ---- sections of one's own ---- */

static long setups, loads, attaches;

static int on_setup(struct bpf_program *prog, long cookie)
{
	setups += cookie;
	return bpf_program__set_autoload(prog, cookie == 1);
}

static int on_load(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	loads += cookie;
	CHECK(!opts->prog_flags && opts->func_info_cnt == bpf_program__func_info_cnt(prog));
	return 0;
}

static int on_attach(const struct bpf_program *prog, long cookie, struct bpf_link **link)
{
	attaches += cookie;
	*link = cookie == 1 ? bpf_program__attach_raw_tracepoint(prog, "sys_enter") : NULL;
	return cookie == 1 && !*link ? -errno : 0;
}

static void kind_handlers(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = 1, .prog_setup_fn = on_setup,
		    .prog_prepare_load_fn = on_load, .prog_attach_fn = on_attach);
	const int own =
		libbpf_register_prog_handler("own+", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &opts);
	opts.cookie = 100;
	const int rest = libbpf_register_prog_handler(NULL, BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &opts);
	struct bpf_program *prog, *nobodys;
	enum bpf_attach_type attach_type;
	enum bpf_prog_type type;
	struct globals g;

	CHECK(own > 0 && rest > 0 && own != rest);
	CHECK(libbpf_register_prog_handler(NULL, BPF_PROG_TYPE_XDP, 0, NULL) == -EBUSY);
	CHECK(!libbpf_prog_type_by_name("own/any", &type, &attach_type));
	CHECK(type == BPF_PROG_TYPE_RAW_TRACEPOINT);
	CHECK(libbpf_prog_type_by_name("ownother", &type, &attach_type) == -ESRCH);

	struct bpf_object *obj = load_with("first", &prog, &g);
	CHECK(setups == 101 && loads == 1);
	nobodys = bpf_object__find_program_by_name(obj, "nobodys");
	CHECK(bpf_program__type(nobodys) == BPF_PROG_TYPE_RAW_TRACEPOINT);
	/* What the kernel was told of functions and lines. */
	CHECK(bpf_program__func_info_cnt(prog) == 1 && !bpf_program__func_info(prog)->insn_off);
	CHECK(bpf_program__line_info_cnt(prog) > 1 && !bpf_program__line_info(prog)->insn_off);
	CHECK(!bpf_program__func_info(nobodys) && !bpf_program__line_info_cnt(nobodys));

	/* The object keeps the handlers it was opened with. */
	CHECK(!libbpf_unregister_prog_handler(own) && !libbpf_unregister_prog_handler(rest));
	CHECK(libbpf_unregister_prog_handler(own) == -ENOENT);
	*g.only_pid = (int)getpid();
	struct bpf_link *link = bpf_program__attach(prog);
	CHECK(link && attaches == 1);
	getppid();
	CHECK(*g.seen >= 1);
	CHECK(!bpf_link__destroy(link));
	CHECK(!bpf_program__attach(nobodys) && errno == EOPNOTSUPP && attaches == 101);
	bpf_object__close(obj);
	obj = open_with("first", &prog);
	CHECK(bpf_program__type(prog) == BPF_PROG_TYPE_UNSPEC && bpf_object__load(obj) == -EINVAL);
	bpf_object__close(obj);
}

/* ---- maps for one program ---- */

static int load_exclusive(const char *name, struct bpf_object **obj, struct bpf_program **prog)
{
	*obj = open_with(name, prog);
	struct bpf_program *owner = bpf_object__find_program_by_name(*obj, "owner");
	struct bpf_map *map = bpf_object__find_map_by_name(*obj, "numbers");

	CHECK(!bpf_map__exclusive_program(map));
	CHECK(!bpf_map__set_exclusive_program(map, owner));
	CHECK(bpf_map__exclusive_program(map) == owner);
	const int err = bpf_object__load(*obj);
	if (!err)
		CHECK(bpf_map__set_exclusive_program(map, NULL) == -EINVAL);
	return err;
}

static void kind_exclusive(void)
{
	struct bpf_program *prog;
	struct bpf_object *obj;
	const long value = 43;
	const int key = 7;

	CHECK(!load_exclusive("owner", &obj, &prog));
	CHECK(!bpf_map_update_elem(bpf_object__find_map_fd_by_name(obj, "numbers"), &key, &value,
				   0));
	CHECK(run(prog) == 43);
	bpf_object__close(obj);
	CHECK(load_exclusive("intruder", &obj, &prog) == -EACCES);
	bpf_object__close(obj);
}

/* ---- global data of another size ---- */

static void kind_larger_data(void)
{
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);
	struct bpf_program *prog;
	struct bpf_object *obj = open_with("grows", &prog);
	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".data.grown");
	const __u32 id = bpf_map__btf_value_type_id(map);
	size_t size;

	CHECK(id && bpf_map__value_size(map) == 12);
	CHECK(!bpf_map__set_value_size(map, 4 + 16 * 4));
	CHECK(bpf_map__btf_value_type_id(map) == id);
	int *ints = bpf_map__initial_value(map, &size);
	CHECK(ints && size == 68 && ints[0] == 1 && ints[1] == 5 && ints[2] == 6 && !ints[16]);
	ints[16] = 70;
	CHECK(!bpf_object__load(obj) && run(prog) == 77);
	CHECK(!bpf_map_get_info_by_fd(bpf_map__fd(map), &info, &len));
	CHECK(info.value_size == 68 && info.btf_value_type_id);
	CHECK(bpf_map__set_value_size(map, 12) == -EBUSY);
	bpf_object__close(obj);

	obj = open_with("grows", &prog);
	map = bpf_object__find_map_by_name(obj, ".data.grown");
	/* Not a whole number of elements; and one whose last variable is no array. */
	CHECK(!bpf_map__set_value_size(map, 70) && !bpf_map__btf_value_type_id(map));
	map = bpf_object__find_map_by_name(obj, ".bss");
	CHECK(!bpf_map__set_value_size(map, 80) && !bpf_map__btf_value_type_id(map));
	CHECK(bpf_map__set_value_size(map, 0) == -EINVAL);
	CHECK(!bpf_object__load(obj) && run(prog) == 7);
	bpf_object__close(obj);
}

/* ---- modules: nf_conntrack's functions, wherever this kernel has them ---- */

static void kind_kfunc_of_a_module(void)
{
	const int is_built_in = libbpf_find_vmlinux_btf_id("bpf_skb_ct_lookup", 0) > 0;
	const int is_loaded = !access("/sys/kernel/btf/nf_conntrack", R_OK);
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("of_a_module", &prog, &g);

	/* There is no such connection; without the function, its address is 0. */
	const int got = run(prog), want = is_built_in || is_loaded ? ENOENT : 100;
	if (got != want)
		printf("got %d, wanted %d\n", got, want);
	CHECK(got == want);
	bpf_object__close(obj);
}

static void kind_fentry_of_a_module(void)
{
	struct bpf_program *prog;
	struct globals g;

	if (access("/sys/kernel/btf/nf_conntrack", R_OK))
		skip("the module nf_conntrack is not loaded");
	struct bpf_object *obj = load_with("into_a_module", &prog, &g);
	struct bpf_link *link = bpf_program__attach(prog);
	CHECK(link);
	CHECK(!bpf_link__destroy(link));
	bpf_object__close(obj);
}

/* What a program sees when another one of the object looks for a connection. */
static void sees_a_lookup(const char *name, unsigned int want)
{
	struct bpf_program *prog, *looks;
	size_t size;

	if (access("/sys/kernel/btf/nf_conntrack", R_OK))
		skip("the module nf_conntrack is not loaded");
	struct bpf_object *obj = open_with(name, &prog);
	looks = bpf_object__find_program_by_name(obj, "of_a_module");
	CHECK(looks && !bpf_program__set_autoload(looks, true));
	load(obj);
	const unsigned int *seen =
		bpf_map__initial_value(bpf_object__find_map_by_name(obj, ".bss"), &size);
	struct bpf_link *link = bpf_program__attach(prog);
	CHECK(link && seen);
	CHECK(run(looks) == ENOENT);
	if (*seen != want)
		printf("seen %u, wanted %u\n", *seen, want);
	CHECK(*seen == want);
	CHECK(!bpf_link__destroy(link));
	bpf_object__close(obj);
}

static void kind_reads_of_a_module(void)
{
	sees_a_lookup("reads_of_a_module", 17); /* of UDP */
}

static void kind_many_of_a_module(void)
{
	sees_a_lookup("many_of_a_module", 1);
}

static void kind_tracepoint_of_a_module(void)
{
	struct bpf_program *prog;

	if (access("/sys/kernel/btf/tls", R_OK))
		skip("the module tls is not loaded");
	struct bpf_object *obj = open_with("tracepoint_of_a_module", &prog);
	load(obj);
	struct bpf_link *link = bpf_program__attach(prog);
	CHECK(link);
	CHECK(!bpf_link__destroy(link));
	bpf_object__close(obj);
}

/*
 * The offset of a struct's member in the kernel's BTF, or in what sysfs has of a
 * module; -1: neither has it.
 */
static int offset_in_kernel(const char *module, const char *name, const char *member)
{
	struct btf *vmlinux = btf__load_vmlinux_btf(), *btf;
	char path[128];
	int at = -1;

	CHECK(vmlinux);
	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", module);
	btf = access(path, R_OK) ? NULL : btf__parse_split(path, vmlinux);
	const int id = btf__find_by_name_kind(btf ? btf : vmlinux, name, BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf ? btf : vmlinux, (__u32)id) : NULL;
	for (__u32 i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf ? btf : vmlinux, btf_members(t)[i].name_off),
			    member))
			at = (int)(btf_member_bit_offset(t, i) / 8);
	btf__free(btf);
	btf__free(vmlinux);
	return at;
}

static void kind_type_of_a_module(void)
{
	struct bpf_program *prog;
	struct globals g;
	struct bpf_object *obj = load_with("type_of_a_module", &prog, &g);
	const int offset = offset_in_kernel("nf_conntrack", "nf_conn", "status");
	const int got = run(prog), want = offset < 0 ? 0 : offset;

	if (got != want)
		printf("got %d, wanted %d\n", got, want);
	CHECK(got == want);
	bpf_object__close(obj);
}

/* Without CAP_SYS_ADMIN types of modules are found, and their functions are as if missing. */
static void kind_module_without_admin(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];
	const int is_built_in = libbpf_find_vmlinux_btf_id("bpf_skb_ct_lookup", 0) > 0;
	struct bpf_program *prog;
	struct globals g;

	CHECK(!syscall(SYS_capget, &head, caps));
	caps[CAP_SYS_ADMIN / 32].effective &= ~(1u << CAP_SYS_ADMIN % 32);
	CHECK(!syscall(SYS_capset, &head, caps));
	kind_type_of_a_module();
	struct bpf_object *obj = load_with("of_a_module", &prog, &g);
	CHECK(run(prog) == (is_built_in ? ENOENT : 100));
	bpf_object__close(obj);
}

/* A type that has to be there: the module has it, or the error says that no module has. */
static void kind_needs_a_module(void)
{
	struct bpf_program *prog;
	struct bpf_object *obj = open_with("needs_a_module", &prog);
	const int offset = offset_in_kernel("nf_flow_table", "flow_ports", "dest");

	if (offset >= 0) {
		load(obj);
		CHECK(run(prog) == offset);
	} else {
		CHECK(bpf_object__load(obj));
		CHECK(strstr(perf_bpf_last_error(), "struct flow_ports.dest does not exist in the "
						    "target kernel or its loaded modules ("));
		CHECK(perf_bpf_last_hint() &&
		      strstr(perf_bpf_last_hint(), "load the module that has the type (modprobe)"));
	}
	bpf_object__close(obj);
}

static void kind_symbol_of_a_module(void)
{
	struct bpf_program *prog;
	struct globals g;
	char line[512], name[256];
	unsigned long long address, want = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %255s", &address, name) == 2 &&
		    !strcmp(name, "nf_conntrack_hash")) {
			want = address;
			break;
		}
	fclose(f);
	struct bpf_object *obj = load_with("symbol_of_a_module", &prog, &g);
	CHECK(run(prog) == (int)want);
	bpf_object__close(obj);
}

/* ---- arenas: tests/bpf/arena.bpf.c ---- */

struct shared {
	int first, second;
	long *page; /* at the same address as for the program */
};

static void kind_arena(void)
{
	struct bpf_object *obj = bpf_object__open_file(file, NULL);
	struct bpf_map *map = bpf_object__find_map_by_name(obj, "arena");
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	size_t size = 0;

	CHECK(obj && map);
	const struct bpf_program *prog = bpf_object__find_program_by_name(obj, "count");
	struct shared *shared = bpf_map__initial_value(map, &size);
	CHECK(shared && size == sizeof(*shared) && shared->first == 41);
	shared->first = 100;
	const int err = bpf_object__load(obj);
	/* Debian's 7.2, emulated, has none of any size; 'perf-bpf features map.arena' says so. */
	if (err == -ENOMEM)
		skip("this kernel has no memory for an arena");
	CHECK(!err);
	shared = bpf_map__initial_value(map, &size);
	CHECK(shared && size == sizeof(*shared) && shared->first == 100);
	if (bpf_map__map_extra(map))
		CHECK((__u64)(unsigned long)shared == bpf_map__map_extra(map));
	CHECK(!bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) && opts.retval == 101);
	CHECK(shared->first == 101 && shared->second == 202);
	CHECK((char *)shared->page > (char *)shared && shared->page[1] == 4321);
	shared->first = 7;
	CHECK(!bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) && opts.retval == 8);
	bpf_object__close(obj);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{"arena", kind_arena},
	{"cgroup", kind_cgroup},
	{"cgroup_in_order", kind_cgroup_in_order},
	{"exclusive", kind_exclusive},
	{"fentry_of_a_module", kind_fentry_of_a_module},
	{"freplace", kind_freplace},
	{"handlers", kind_handlers},
	{"iter", kind_iter},
	{"iter_of_a_map", kind_iter_of_a_map},
	{"kfunc_of_a_module", kind_kfunc_of_a_module},
	{"larger_data", kind_larger_data},
	{"lsm", kind_lsm},
	{"lsm_cgroup", kind_lsm_cgroup},
	{"many_of_a_module", kind_many_of_a_module},
	{"module_without_admin", kind_module_without_admin},
	{"needs_a_module", kind_needs_a_module},
	{"netfilter", kind_netfilter},
	{"netkit", kind_netkit},
	{"netns", kind_netns},
	{"reads_of_a_module", kind_reads_of_a_module},
	{"sockmap", kind_sockmap},
	{"struct_ops", kind_struct_ops},
	{"struct_ops_link", kind_struct_ops_link},
	{"symbol_of_a_module", kind_symbol_of_a_module},
	{"tcx", kind_tcx},
	{"token", kind_token},
	{"tracepoint_of_a_module", kind_tracepoint_of_a_module},
	{"type_of_a_module", kind_type_of_a_module},
	{"xdp", kind_xdp},
};

int main(int argc, char **argv)
{
	file = argc == 3 ? argv[1] : "";
	for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[2]))
			continue;
		CHECK(!unshare(CLONE_NEWNET));
		up("lo");
		kinds[i].run();
		return 0;
	}
	fprintf(stderr, "usage: %s FILE KIND\n", argv[0]);
	return 2;
}
