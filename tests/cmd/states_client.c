// SPDX-License-Identifier: BSD-2-Clause
/*
 * In which state of an object (opened, prepared, loaded) which call is allowed:
 *
 *	states_client FILE	a line for each call: its name, and what it answers in each state
 *	states_client FILE run	what programs do that were set after the object was opened or
 *				prepared
 *
 * FILE is tests/bpf/states.bpf.c. Each call has an object of its own. Only public calls
 * are used, so that it also builds with libbpf, whose answers are the table in
 * tests/cmd/test_states.sh.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct subject {
	struct bpf_object *obj;
	struct bpf_program *prog; /* loaded with the object */
	struct bpf_program *off;  /* not loaded */
	struct bpf_map *map, *data, *absent, *outer, *reused;
};

static char text[4096];

static int autoload_off(struct subject *s)
{
	return bpf_program__set_autoload(s->prog, false);
}

static int autoload_on(struct subject *s)
{
	return bpf_program__set_autoload(s->off, true);
}

static int set_type(struct subject *s)
{
	return bpf_program__set_type(s->prog, BPF_PROG_TYPE_SCHED_CLS);
}

static int attach_type(struct subject *s)
{
	return bpf_program__set_expected_attach_type(s->off, BPF_XDP);
}

static int attach_target(struct subject *s)
{
	return bpf_program__set_attach_target(s->off, 0, "vfs_read");
}

static int flags(struct subject *s)
{
	return bpf_program__set_flags(s->off, 0);
}

static int log_level(struct subject *s)
{
	return bpf_program__set_log_level(s->off, 0);
}

static int log_buf(struct subject *s)
{
	return bpf_program__set_log_buf(s->off, text, sizeof(text));
}

static int insns(struct subject *s)
{
	struct bpf_insn two[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 7},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_program__set_insns(s->prog, two, 2);
}

static int kversion(struct subject *s)
{
	return bpf_object__set_kversion(s->obj, 1);
}

#define OF_A_MAP(name, call)                                                                       \
	static int name(struct subject *s)                                                         \
	{                                                                                          \
		return call;                                                                       \
	}
OF_A_MAP(map_type, bpf_map__set_type(s->map, BPF_MAP_TYPE_HASH))
OF_A_MAP(map_max_entries, bpf_map__set_max_entries(s->map, 4))
OF_A_MAP(map_flags, bpf_map__set_map_flags(s->map, 0))
OF_A_MAP(map_extra, bpf_map__set_map_extra(s->map, 0))
OF_A_MAP(map_numa_node, bpf_map__set_numa_node(s->map, 0))
OF_A_MAP(map_key_size, bpf_map__set_key_size(s->map, 4))
OF_A_MAP(map_value_size, bpf_map__set_value_size(s->map, 8))
OF_A_MAP(map_ifindex, bpf_map__set_ifindex(s->map, 0))
OF_A_MAP(map_autocreate, bpf_map__set_autocreate(s->map, true))
OF_A_MAP(map_autoattach, bpf_map__set_autoattach(s->map, true))
OF_A_MAP(data_value, bpf_map__set_initial_value(s->data, text, 8))
OF_A_MAP(data_value_size, bpf_map__set_value_size(s->data, 8))
OF_A_MAP(absent_max_entries, bpf_map__set_max_entries(s->absent, 4))
OF_A_MAP(absent_key_size, bpf_map__set_key_size(s->absent, 4))
OF_A_MAP(absent_value_size, bpf_map__set_value_size(s->absent, 8))
OF_A_MAP(absent_flags, bpf_map__set_map_flags(s->absent, 0))
OF_A_MAP(absent_autocreate, bpf_map__set_autocreate(s->absent, true))
OF_A_MAP(reused_max_entries, bpf_map__set_max_entries(s->reused, 4))
OF_A_MAP(reused_autocreate, bpf_map__set_autocreate(s->reused, true))
OF_A_MAP(map_reuse_fd, bpf_map__reuse_fd(s->map, bpf_map__fd(s->reused)))
OF_A_MAP(absent_reuse_fd, bpf_map__reuse_fd(s->absent, bpf_map__fd(s->reused)))
OF_A_MAP(inner_fd, bpf_map__set_inner_map_fd(s->outer, bpf_map__fd(s->reused)))
OF_A_MAP(pin_path, bpf_map__set_pin_path(s->absent, "/sys/fs/bpf/none"))
OF_A_MAP(prepare, bpf_object__prepare(s->obj))
OF_A_MAP(load, bpf_object__load(s->obj))
OF_A_MAP(map_fd, bpf_map__fd(s->map) < 0 ? bpf_map__fd(s->map) : 0)
OF_A_MAP(absent_fd, bpf_map__fd(s->absent) < 0 ? bpf_map__fd(s->absent) : 0)
OF_A_MAP(prog_fd, bpf_program__fd(s->prog) < 0 ? bpf_program__fd(s->prog) : 0)
OF_A_MAP(btf_fd, bpf_object__btf_fd(s->obj) < 0 ? -1 : 0)

OF_A_MAP(exclusive, bpf_map__set_exclusive_program(s->map, s->prog))
OF_A_MAP(map_pin_path, bpf_map__set_pin_path(s->map, NULL))
OF_A_MAP(get_fd_by_token, bpf_object__token_fd(s->obj))
OF_A_MAP(assoc, bpf_program__assoc_struct_ops(s->prog, s->map, NULL))
OF_A_MAP(initial_value, bpf_map__initial_value(s->data, &(size_t){0}) ? 0 : -errno)
OF_A_MAP(insns_are_there, bpf_program__insns(s->prog) && bpf_program__insn_cnt(s->prog) ? 0 : -1)
OF_A_MAP(unload_all, (bpf_program__unload(s->prog), 0))
OF_A_MAP(not_attached, (bpf_program__set_autoattach(s->prog, false), 0))

#define PINS "/sys/fs/bpf/states_client"
OF_A_MAP(map_pin, bpf_map__pin(s->map, PINS))
OF_A_MAP(map_unpin, bpf_map__unpin(s->map, PINS))
OF_A_MAP(prog_pin, bpf_program__pin(s->prog, PINS))
OF_A_MAP(pin_maps, bpf_object__pin_maps(s->obj, PINS))
OF_A_MAP(pin_programs, bpf_object__pin_programs(s->obj, PINS))
/* An element of the map, whose sizes are the object's. */
static int element(struct subject *s, int what)
{
	const size_t key_size = bpf_map__key_size(s->map), size = bpf_map__value_size(s->map);
	char key[64] = "", value[64] = "";

	switch (what) {
	case 'u':
		return bpf_map__update_elem(s->map, key, key_size, value, size, BPF_ANY);
	case 'l':
		return bpf_map__lookup_elem(s->map, key, key_size, value, size, 0);
	case 'd':
		return bpf_map__delete_elem(s->map, key, key_size, 0);
	default:
		return bpf_map__get_next_key(s->map, NULL, key, key_size);
	}
}
OF_A_MAP(update_elem, element(s, 'u'))
OF_A_MAP(lookup_elem, element(s, 'l'))
OF_A_MAP(delete_elem, element(s, 'd'))
OF_A_MAP(next_key, element(s, 'n'))

static int attach(struct subject *s)
{
	struct bpf_link *link = bpf_program__attach_raw_tracepoint(s->prog, "sched_switch");
	const int got = link ? 0 : -errno;

	bpf_link__destroy(link);
	return got;
}

static const struct call {
	const char *name;
	int (*call)(struct subject *s);
} calls[] = {
	{"bpf_object__prepare", prepare},
	{"bpf_object__load", load},
	{"bpf_object__set_kversion", kversion},
	{"bpf_object__btf_fd", btf_fd},
	{"bpf_program__fd", prog_fd},
	{"bpf_program__set_autoload false", autoload_off},
	{"bpf_program__set_autoload true", autoload_on},
	{"bpf_program__set_type", set_type},
	{"bpf_program__set_expected_attach_type", attach_type},
	{"bpf_program__set_attach_target", attach_target},
	{"bpf_program__set_flags", flags},
	{"bpf_program__set_log_level", log_level},
	{"bpf_program__set_log_buf", log_buf},
	{"bpf_program__set_insns", insns},
	{"bpf_map__fd", map_fd},
	{"bpf_map__set_type", map_type},
	{"bpf_map__set_max_entries", map_max_entries},
	{"bpf_map__set_map_flags", map_flags},
	{"bpf_map__set_map_extra", map_extra},
	{"bpf_map__set_numa_node", map_numa_node},
	{"bpf_map__set_key_size", map_key_size},
	{"bpf_map__set_value_size", map_value_size},
	{"bpf_map__set_ifindex", map_ifindex},
	{"bpf_map__set_autocreate", map_autocreate},
	{"bpf_map__set_autoattach", map_autoattach},
	{"bpf_map__reuse_fd", map_reuse_fd},
	{"bpf_map__set_inner_map_fd", inner_fd},
	{"bpf_map__set_exclusive_program", exclusive},
	{"bpf_map__set_pin_path", map_pin_path},
	{"bpf_map__pin", map_pin},
	{"bpf_map__unpin", map_unpin},
	{"bpf_map__update_elem", update_elem},
	{"bpf_map__lookup_elem", lookup_elem},
	{"bpf_map__delete_elem", delete_elem},
	{"bpf_map__get_next_key", next_key},
	{"bpf_program__insns", insns_are_there},
	{"bpf_program__pin", prog_pin},
	{"bpf_program__unload", unload_all},
	{"bpf_program__set_autoattach", not_attached},
	{"bpf_program__assoc_struct_ops", assoc},
	{"bpf_program__attach_raw_tracepoint", attach},
	{"bpf_object__pin_maps", pin_maps},
	{"bpf_object__pin_programs", pin_programs},
	{"bpf_object__token_fd", get_fd_by_token},
	{"data: bpf_map__initial_value", initial_value},
	{"data: bpf_map__set_initial_value", data_value},
	{"data: bpf_map__set_value_size", data_value_size},
	{"not created: bpf_map__fd", absent_fd},
	{"not created: bpf_map__set_max_entries", absent_max_entries},
	{"not created: bpf_map__set_key_size", absent_key_size},
	{"not created: bpf_map__set_value_size", absent_value_size},
	{"not created: bpf_map__set_map_flags", absent_flags},
	{"not created: bpf_map__set_autocreate", absent_autocreate},
	{"not created: bpf_map__set_pin_path", pin_path},
	{"not created: bpf_map__reuse_fd", absent_reuse_fd},
	{"reused: bpf_map__set_max_entries", reused_max_entries},
	{"reused: bpf_map__set_autocreate", reused_autocreate},
};

static void must(int ok, const char *what)
{
	if (ok)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static void open_subject(const char *file, int fd, struct subject *s)
{
	s->obj = bpf_object__open_file(file, NULL);
	must(s->obj != NULL, "open");
	s->prog = bpf_object__find_program_by_name(s->obj, "prog");
	s->off = bpf_object__find_program_by_name(s->obj, "off");
	s->map = bpf_object__find_map_by_name(s->obj, "map");
	s->data = bpf_object__find_map_by_name(s->obj, ".data");
	s->absent = bpf_object__find_map_by_name(s->obj, "absent");
	s->outer = bpf_object__find_map_by_name(s->obj, "outer");
	s->reused = bpf_object__find_map_by_name(s->obj, "reused");
	must(s->prog && s->off && s->map && s->data && s->absent && s->outer && s->reused, "find");
	must(!bpf_map__set_autocreate(s->absent, false), "autocreate");
	must(!bpf_map__set_autocreate(s->outer, false), "autocreate");
	must(!bpf_map__reuse_fd(s->reused, fd), "reuse");
}

/* What a call answers in a state; "0+ENAME": it works, and the object does not load then. */
static void answer(const char *file, int fd, const struct call *call, int state)
{
	struct subject s;

	open_subject(file, fd, &s);
	if (state == 1)
		must(!bpf_object__prepare(s.obj), "prepare");
	if (state == 2)
		must(!bpf_object__load(s.obj), "load");
	const int got = call->call(&s);
	printf(" %s", got < 0 ? strerrorname_np(-got) : "0");
	if (state != 2 && call->call != load) {
		const int then = bpf_object__load(s.obj);

		if (then)
			printf("+%s", strerrorname_np(-then));
	}
	bpf_object__close(s.obj);
	/* also what loading pinned */
	must(!system("rm -rf " PINS), "remove pins");
}

static int result_of(const struct bpf_program *prog)
{
	char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet));

	must(!bpf_prog_test_run_opts(bpf_program__fd(prog), &opts), "test run");
	return (int)opts.retval;
}

static void run(const char *file, int fd)
{
	struct subject s;

	for (int prepared = 0; prepared < 2; prepared++) {
		open_subject(file, fd, &s);
		if (prepared)
			must(!bpf_object__prepare(s.obj), "prepare");
		must(!bpf_program__set_autoload(s.off, true), "autoload");
		must(!insns(&s), "insns");
		must(!bpf_object__load(s.obj), "load");
		printf("prog %d off %d\n", result_of(s.prog), result_of(s.off));
		bpf_object__close(s.obj);
	}
	open_subject(file, fd, &s);
	must(!bpf_object__prepare(s.obj), "prepare");
	must(!bpf_program__set_autoload(s.prog, false), "autoload");
	must(!bpf_object__load(s.obj), "load");
	printf("prog without autoload: %s\n", strerrorname_np(-bpf_program__fd(s.prog)));
	bpf_object__close(s.obj);
}

static int quiet(enum libbpf_print_level level, const char *format, va_list ap)
{
	return getenv("VERBOSE") ? vfprintf(stderr, format, ap) : 0;
}

int main(int argc, char **argv)
{
	const int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "reused", 4, 8, 16, NULL);

	libbpf_set_print(quiet);
	must(argc >= 2 && fd >= 0, "usage: states_client FILE [run]");
	if (argc > 2)
		run(argv[1], fd);
	for (size_t i = 0; argc == 2 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		printf("%s:", calls[i].name);
		for (int state = 0; state < 3; state++)
			answer(argv[1], fd, &calls[i], state);
		puts("");
	}
	return 0;
}
