// SPDX-License-Identifier: BSD-2-Clause
/*
 * Objects opened and laid out, without a BPF system call. The objects of
 * fuzz/corpus/object are made of tests/bpf by tests/bpf/make-corpus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/btf/sanitize.h"
#include "lib/object/prepare.h"
#include "lib/sys/sys.h"

struct bytes {
	char *data;
	size_t size;
};

static struct bytes corpus(const char *name)
{
	const char *src = getenv("SRC");
	struct bytes b;
	char path[512];

	snprintf(path, sizeof(path), "%s/fuzz/corpus/object/%s", src ? src : ".", name);
	assert_null(sys_read_file(path, 1 << 20, &b.data, &b.size));
	return b;
}

/* CO-RE against the object's own types: no file of the machine's is read. */
static struct error *lay_out(struct bpf_object *obj)
{
	uint32_t size;
	const void *raw = obj->btf ? btf__raw_data(obj->btf, &size) : NULL;

	obj->btf_custom_path = strdup("the object itself");
	obj->custom_btf = raw ? btf__new(raw, size) : btf__new_empty();
	return programs_prepare(obj);
}

static struct bpf_object *open_laid_out(const char *name, struct bytes *b)
{
	struct bpf_object *obj = NULL;

	*b = corpus(name);
	struct error *err = object_open_mem(b->data, b->size, NULL, NULL, &obj);
	if (err)
		fail_msg("%s: %s: %s", name, err->where, err->msg);
	err = lay_out(obj);
	if (err)
		fail_msg("%s: %s: %s", name, err->where, err->msg);
	return obj;
}

static void expect_error(struct error *err, int code, const char *where, const char *msg)
{
	assert_non_null(err);
	assert_int_equal(err->code, code);
	if (where && (!err->where || !strstr(err->where, where)))
		fail_msg("'%s' is not in '%s'", where, err->where);
	if (!strstr(err->msg, msg))
		fail_msg("'%s' is not in '%s'", msg, err->msg);
	error_free(err);
}

TEST(section_names_say_what_a_program_is)
{
	static const struct {
		const char *name;
		enum program_kind kind;
		enum bpf_prog_type type;
		int attach_type;
		const char *target;
	} cases[] = {
		{"tracepoint/sched/sched_switch", PROGRAM_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT, 0,
		 "sched/sched_switch"},
		{"tp/a/b", PROGRAM_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT, 0, "a/b"},
		{"events/a/b", PROGRAM_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT, 0, "a/b"},
		{"syscalls:sys_enter_write", PROGRAM_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT, 0,
		 "syscalls:sys_enter_write"},
		{"raw_tp/x", PROGRAM_RAW_TRACEPOINT, BPF_PROG_TYPE_RAW_TRACEPOINT, 0, "x"},
		{"raw_tracepoint.w/x", PROGRAM_RAW_TRACEPOINT,
		 BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE, 0, "x"},
		{"tp_btf/x", PROGRAM_TP_BTF, BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, "x"},
		{"kprobe/x", PROGRAM_KPROBE, BPF_PROG_TYPE_KPROBE, 0, "x"},
		{"kprobe.multi/x*", PROGRAM_KPROBE_MULTI, BPF_PROG_TYPE_KPROBE, 42, "x*"},
		{"uretprobe//bin/sh:main", PROGRAM_URETPROBE, BPF_PROG_TYPE_KPROBE, 0,
		 "/bin/sh:main"},
		{"perf_event", PROGRAM_PERF_EVENT, BPF_PROG_TYPE_PERF_EVENT, 0, ""},
		{"perf_event/cpu-clock", PROGRAM_PERF_EVENT, BPF_PROG_TYPE_PERF_EVENT, 0,
		 "cpu-clock"},
		{"fentry/x", PROGRAM_FENTRY, BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, "x"},
		{"fexit.s/x", PROGRAM_FEXIT, BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT, "x"},
		{"xdp", PROGRAM_OTHER, BPF_PROG_TYPE_XDP, BPF_XDP, ""},
		{"socket", PROGRAM_OTHER, BPF_PROG_TYPE_SOCKET_FILTER, 0, ""},
		{"cgroup/connect4", PROGRAM_OTHER, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
		 BPF_CGROUP_INET4_CONNECT, ""},
	};
	static const char *const unknown[] = {
		"tracepoints/x", "kprobex", "a:b:c", ":b", "a:", "a=b:c", "perf_eventual", ""};
	struct section_info info;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(section_parse(cases[i].name, &info));
		assert_int_equal(info.kind, cases[i].kind);
		assert_int_equal(info.type, cases[i].type);
		assert_int_equal(info.attach_type, cases[i].attach_type);
		assert_string_equal(info.target, cases[i].target);
		assert_true(info.autoload);
	}
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		if (section_parse(unknown[i], &info))
			fail_msg("'%s' is taken for %s", unknown[i], info.kind_name);
	assert_true(section_parse("?fexit.s/x", &info));
	assert_false(info.autoload);
	assert_int_equal(info.prog_flags, BPF_F_SLEEPABLE);
	assert_true(info.needs_btf_id);
}

TEST(maps_and_data_are_found)
{
	static const char *const files[] = {"maps-14.o", "maps-19.o"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct bytes b;
		_cleanup_(bpf_object__closep) struct bpf_object *obj = open_laid_out(files[i], &b);
		struct bpf_map *map;
		size_t size;

		assert_string_equal(bpf_object__license(obj), "GPL");
		assert_int_equal(bpf_object__kversion(obj), 0x060100);
		const int *words = perf_bpf_object__config(obj, &size);
		assert_int_equal(size, 8);
		assert_int_equal(words[1], 2);

		map = bpf_object__find_map_by_name(obj, "samples");
		assert_int_equal(bpf_map__type(map), BPF_MAP_TYPE_HASH);
		assert_int_equal(bpf_map__key_size(map), 4);
		assert_int_equal(bpf_map__value_size(map), 16);
		assert_int_equal(bpf_map__max_entries(map), 64);
		assert_int_equal(bpf_map__map_flags(map), BPF_F_NO_PREALLOC);
		const struct btf_type *value =
			btf__type_by_id(bpf_object__btf(obj), bpf_map__btf_value_type_id(map));
		assert_string_equal(btf__name_by_offset(bpf_object__btf(obj), value->name_off),
				    "sample");

		map = bpf_object__find_map_by_name(obj, "outer");
		assert_int_equal(bpf_map__value_size(map), 4);
		assert_int_equal(bpf_map__max_entries(bpf_map__inner_map(map)), 3);
		assert_int_equal(bpf_map__value_size(bpf_map__inner_map(map)), 8);

		map = bpf_object__find_map_by_name(obj, ".data.named");
		assert_true(bpf_map__is_internal(map));
		const uint64_t *named = bpf_map__initial_value(map, &size);
		assert_int_equal(size, 8);
		assert_true(*named == 0x1122334455667788);
		map = bpf_object__find_map_by_name(obj, ".rodata.named");
		assert_string_equal(bpf_map__initial_value(map, NULL), "constant");
		assert_int_equal(bpf_map__map_flags(map), BPF_F_MMAPABLE | BPF_F_RDONLY_PROG);
		const uint64_t more = 99;
		map = bpf_object__find_map_by_name(obj, ".rodata");
		assert_int_equal(bpf_map__set_initial_value(map, &more, 4), -EINVAL);
		assert_int_equal(bpf_map__set_initial_value(map, &more, 8), 0);
		assert_true(*(uint64_t *)bpf_map__initial_value(map, NULL) == 99);
		assert_null(bpf_object__find_map_by_name(obj, "no such map"));
		free(b.data);
	}
}

/* Every call of a laid out program goes to the start of a function of it. */
static void check_calls(const struct bpf_program *prog, size_t functions)
{
	const struct bpf_insn *insns = bpf_program__insns(prog);

	assert_int_equal(prog->placed.n, functions);
	for (size_t i = 0; i < bpf_program__insn_cnt(prog); i++) {
		const bool call = insns[i].code == (BPF_JMP | BPF_CALL) &&
				  insns[i].src_reg == BPF_PSEUDO_CALL;
		const bool address = insns[i].code == (BPF_LD | BPF_IMM | BPF_DW) &&
				     insns[i].src_reg == BPF_PSEUDO_FUNC;
		bool found = !call && !address;

		for (size_t f = 0; f < prog->placed.n; f++)
			found = found || prog->placed.v[f].at == i + insns[i].imm + 1;
		if (!found)
			fail_msg("instruction %zu goes to %ld", i, (long)i + insns[i].imm + 1);
	}
}

TEST(subprograms_are_appended_with_their_lines)
{
	struct bytes b = corpus("maps-19.o");
	_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;

	assert_null(object_open_mem(b.data, b.size, NULL, NULL, &obj));
	struct bpf_program *count = bpf_object__find_program_by_name(obj, "count");
	struct bpf_program *loop = bpf_object__find_program_by_name(obj, "loop");
	const size_t alone = bpf_program__insn_cnt(count);

	assert_null(bpf_object__find_program_by_name(obj, "global_add"));
	assert_false(bpf_program__autoload(loop));
	assert_int_equal(bpf_program__set_autoload(loop, true), 0);
	assert_null(lay_out(obj));
	assert_true(bpf_program__insn_cnt(count) > alone);
	check_calls(count, 3); /* itself, global_add and add */
	check_calls(loop, 3);  /* itself, each and add */

	assert_int_equal(count->n_func_info, 3);
	for (uint32_t i = 0; i < count->n_func_info; i++) {
		const struct btf_type *fn = btf__type_by_id(obj->btf, count->func_info[i].type_id);

		assert_int_equal(count->func_info[i].insn_off, count->placed.v[i].at);
		assert_string_equal(btf__name_by_offset(obj->btf, fn->name_off),
				    obj->functions.v[count->placed.v[i].function].name);
	}
	assert_true(count->n_line_info > 5);
	for (uint32_t i = 1; i < count->n_line_info; i++)
		assert_true(count->line_info[i].insn_off > count->line_info[i - 1].insn_off);
	free(b.data);
}

TEST(legacy_maps_have_short_long_and_marked_forms)
{
	static const char *const files[] = {"short.o", "long.o"};
	struct bytes b;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_(bpf_object__closep) struct bpf_object *obj = open_laid_out(files[i], &b);
		struct bpf_map *map = bpf_object__find_map_by_name(obj, "others");

		assert_int_equal(bpf_map__type(map), BPF_MAP_TYPE_HASH);
		assert_int_equal(bpf_map__key_size(map), 8);
		assert_int_equal(bpf_map__value_size(map), 4);
		assert_int_equal(bpf_map__max_entries(map), 5);
		assert_int_equal(bpf_map__map_flags(map), i ? BPF_F_NO_PREALLOC : 0);
		free(b.data);
	}

	_cleanup_(bpf_object__closep) struct bpf_object *obj = open_laid_out("legacy-14.o", &b);
	struct bpf_map *map = bpf_object__find_map_by_name(obj, "entries");
	const struct btf_type *value = btf__type_by_id(obj->btf, bpf_map__btf_value_type_id(map));
	assert_string_equal(btf__name_by_offset(obj->btf, value->name_off), "entry");
	assert_non_null(bpf_object__find_map_by_name(obj, "__bpf_stdout__"));

	char *system, *name;
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, "syscall_enter_write");
	assert_null(program_tracepoint(prog, &system, &name));
	assert_string_equal(system, "syscalls");
	assert_string_equal(name, "sys_enter_write");
	free(system);
	free(name);
	free(b.data);
}

TEST(an_unknown_field_of_a_map_is_refused_unless_relaxed)
{
	LIBBPF_OPTS(bpf_object_open_opts, relaxed, .relaxed_maps = true, .object_name = "tail");
	struct bytes b = corpus("tail.o");
	struct bpf_object *obj = NULL;

	expect_error(object_open_mem(b.data, b.size, NULL, NULL, &obj), EINVAL, "section maps",
		     "map 'counts': byte 24 of its definition is not zero");
	assert_null(object_open_mem(b.data, b.size, &relaxed, NULL, &obj));
	assert_string_equal(bpf_object__name(obj), "tail");
	bpf_object__close(obj);
	free(b.data);
}

TEST(options_beyond_the_known_must_be_zero)
{
	struct {
		struct bpf_object_open_opts opts;
		uint64_t more;
	} newer = {.opts = {.sz = sizeof(newer)}};
	struct bytes b = corpus("short.o");
	struct bpf_object *obj = NULL;

	assert_null(object_open_mem(b.data, b.size, &newer.opts, NULL, &obj));
	bpf_object__close(obj);
	newer.more = 1;
	expect_error(object_open_mem(b.data, b.size, &newer.opts, NULL, &obj), EINVAL, NULL,
		     "but this version of the library does not know it");
	free(b.data);
}

TEST(what_is_no_bpf_object_is_refused_by_name)
{
	struct bytes b = corpus("short.o");
	struct bpf_object *obj = NULL;

	expect_error(object_open_file("/no/such/file.o", NULL, NULL, &obj), ENOENT,
		     "/no/such/file.o", "cannot open");
	expect_error(object_open_file("/", NULL, NULL, &obj), EISDIR, "/", "not a regular file");
	expect_error(object_open_mem("short", 5, NULL, NULL, &obj), ENOEXEC, NULL, "not an ELF");
	expect_error(object_open_file("/proc/self/exe", NULL, NULL, &obj), ENOEXEC,
		     "/proc/self/exe", "not a BPF object");

	b.data[18] = 62; /* e_machine: x86-64 */
	expect_error(object_open_mem(b.data, b.size, NULL, NULL, &obj), ENOEXEC, NULL,
		     "not a BPF object");
	free(b.data);
}

static void same_insns(const struct bpf_program *a, const struct bpf_program *b)
{
	assert_int_equal(a->n_insns, b->n_insns);
	for (size_t i = 0; i < a->n_insns; i++) {
		const struct bpf_insn *x = &a->insns[i], *y = &b->insns[i];

		if (x->code != y->code || x->dst_reg != y->dst_reg || x->src_reg != y->src_reg ||
		    x->off != y->off || x->imm != y->imm)
			fail_msg("%s: instruction %zu: %02x %u %u %d %d and %02x %u %u %d %d",
				 a->fn->name, i, x->code, x->dst_reg, x->src_reg, x->off, x->imm,
				 y->code, y->dst_reg, y->src_reg, y->off, y->imm);
	}
}

static void same_map(const struct bpf_map *a, const struct bpf_map *b)
{
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->origin, b->origin);
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->key_size, b->key_size);
	assert_int_equal(a->value_size, b->value_size);
	assert_int_equal(a->max_entries, b->max_entries);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->numa_node, b->numa_node);
	assert_int_equal(a->extra, b->extra);
	assert_int_equal(a->btf_key_type_id, b->btf_key_type_id);
	assert_int_equal(a->btf_value_type_id, b->btf_value_type_id);
	assert_int_equal(a->values_offset, b->values_offset);
	assert_int_equal(!a->pin_path, !b->pin_path);
	if (a->pin_path)
		assert_string_equal(a->pin_path, b->pin_path);
	assert_int_equal(!a->inner, !b->inner);
	if (a->inner)
		same_map(a->inner, b->inner);
}

static void same_programs(const struct bpf_object *a, const struct bpf_object *b)
{
	assert_int_equal(a->programs.n, b->programs.n);
	for (size_t i = 0; i < a->programs.n; i++) {
		const struct bpf_program *x = &a->programs.v[i], *y = &b->programs.v[i];

		assert_string_equal(x->fn->name, y->fn->name);
		assert_string_equal(x->section_name, y->section_name);
		assert_int_equal(x->type, y->type);
		assert_int_equal(x->attach_type, y->attach_type);
		same_insns(x, y);
		assert_int_equal(x->n_func_info, y->n_func_info);
		assert_int_equal(x->n_line_info, y->n_line_info);
		for (uint32_t k = 0; k < x->n_func_info; k++)
			assert_memory_equal(&x->func_info[k], &y->func_info[k],
					    sizeof(x->func_info[k]));
		for (uint32_t k = 0; k < x->n_line_info; k++)
			assert_memory_equal(&x->line_info[k], &y->line_info[k],
					    sizeof(x->line_info[k]));
	}
}

static void same_ext(const struct btf_ext *a, const struct btf_ext *b)
{
	for (int kind = 0; kind < BTF_EXT_KINDS; kind++) {
		size_t n, m;
		const struct btf_ext_section *x = btf_ext_sections(a, kind, &n);
		const struct btf_ext_section *y = btf_ext_sections(b, kind, &m);

		assert_int_equal(n, m);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(x[i].sec_name_off, y[i].sec_name_off);
			assert_int_equal(x[i].n, y[i].n);
			assert_int_equal(x[i].rec_size, y[i].rec_size);
			assert_memory_equal(x[i].recs, y[i].recs, (size_t)x[i].n * x[i].rec_size);
		}
	}
}

/* What the other order's BTF is as bytes of this order, and back. */
static void same_btf(struct btf *host, struct btf *other)
{
	const enum btf_endianness order = btf__endianness(host);
	uint32_t n, m;

	assert_int_not_equal(btf__endianness(other), order);
	const uint8_t *raw = btf__raw_data(other, &n);
	assert_int_not_equal(raw[0], *(const uint8_t *)btf__raw_data(host, &m));
	assert_int_equal(n, m);
	struct btf *again = btf__new(raw, n);
	assert_non_null(again);
	assert_int_equal(btf__endianness(again), btf__endianness(other));
	assert_int_equal(btf__set_endianness(again, order), 0);
	raw = btf__raw_data(again, &n);
	assert_int_equal(n, m);
	assert_memory_equal(raw, btf__raw_data(host, &m), n);
	btf__free(again);
}

/* The same source compiled for both orders; only the bytes of global data differ. */
TEST(an_object_of_the_other_byte_order_is_the_same)
{
	static const char *const names[] = {"maps", "legacy", "core", "newer", "struct_ops"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct bpf_object *objs[2];
		struct bytes bytes[2];
		char file[64];

		for (int big = 0; big < 2; big++) {
			snprintf(file, sizeof(file), "%s-%s.o", names[i], big ? "big" : "14");
			bytes[big] = corpus(file);
			LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = names[i]);
			struct error *err = object_open_mem(bytes[big].data, bytes[big].size, &opts,
							    NULL, &objs[big]);
			if (err)
				fail_msg("%s: %s: %s", file, err->where, err->msg);
		}
		assert_int_not_equal(pb_elf_file_swapped(objs[0]->elf),
				     pb_elf_file_swapped(objs[1]->elf));
		assert_string_equal(objs[0]->license, objs[1]->license);
		assert_int_equal(objs[0]->kversion, objs[1]->kversion);
		assert_int_equal(objs[0]->symbols.n, objs[1]->symbols.n);
		assert_int_equal(objs[0]->maps.n, objs[1]->maps.n);
		for (size_t k = 0; k < objs[0]->maps.n; k++)
			same_map(&objs[0]->maps.v[k], &objs[1]->maps.v[k]);
		assert_int_equal(objs[0]->map_values.n, objs[1]->map_values.n);
		for (size_t k = 0; k < objs[0]->map_values.n; k++)
			assert_memory_equal(&objs[0]->map_values.v[k], &objs[1]->map_values.v[k],
					    sizeof(objs[0]->map_values.v[k]));
		assert_int_equal(objs[0]->n_extern_vars, objs[1]->n_extern_vars);
		same_programs(objs[0], objs[1]);
		same_btf(objs[0]->btf, objs[1]->btf);
		if (objs[0]->btf_ext)
			same_ext(objs[0]->btf_ext, objs[1]->btf_ext);

		/* With subprograms, CO-RE and lines. */
		for (int big = 0; big < 2; big++)
			assert_null(lay_out(objs[big]));
		same_programs(objs[0], objs[1]);
		for (int big = 0; big < 2; big++) {
			bpf_object__close(objs[big]);
			free(bytes[big].data);
		}
	}
}

TEST(an_object_of_the_other_byte_order_is_not_loaded)
{
	const bool big_host = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct bytes b = corpus(big_host ? "maps-14.o" : "maps-big.o");
	struct bpf_object *obj = NULL;

	assert_null(object_open_mem_of(b.data, b.size, "other.o", NULL, NULL, &obj));
	struct error *err = object_load(obj);
	assert_non_null(err);
	assert_string_equal(err->hint, "compile it with clang --target=bpf, which selects this "
				       "machine's byte order");
	expect_error(err, LIBBPF_ERRNO__ENDIAN, "other.o",
		     big_host ? "the object is little-endian and cannot be loaded on this "
				"big-endian machine"
			      : "the object is big-endian and cannot be loaded on this "
				"little-endian machine");
	bpf_object__close(obj);
	free(b.data);
}

/* Cut off at every length, and with every bit flipped: refused or taken, never worse. */
static void sweep(const char *name)
{
	struct bytes b = corpus(name);
	size_t opened = 0;

	for (size_t i = 0; i < b.size * 9; i++) {
		_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;
		const size_t at = i / 9, bit = i % 9;
		/* A block of its own, so that the sanitizer sees a read past its end. */
		const size_t size = bit == 8 ? at : b.size;
		_cleanup_free_ char *copy = malloc(size ? size : 1);

		memcpy(copy, b.data, size);
		if (bit < 8)
			copy[at] ^= (char)(1 << bit);
		struct error *err = object_open_mem(copy, size, NULL, NULL, &obj);
		if (!err)
			err = lay_out(obj);
		if (err)
			assert_true(err->code > 0 && err->msg[0]);
		else
			opened++;
		error_free(err);
	}
	/* Many bits mean nothing to a loader, but not most. */
	assert_true(opened > 0 && opened < b.size * 9);
	free(b.data);
}

TEST(a_damaged_object_is_refused_or_taken)
{
	sweep("short.o");
	sweep("legacy-19.o");
	sweep("core-19.o");
	sweep("core-big.o");
}

TEST(an_object_at_any_alignment_opens)
{
	struct bytes b = corpus("maps-14.o");
	char *odd = malloc(b.size + 8);

	for (size_t shift = 1; shift < 8; shift++) {
		_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;

		memcpy(odd + shift, b.data, b.size);
		assert_null(object_open_mem(odd + shift, b.size, NULL, NULL, &obj));
		assert_null(lay_out(obj));
	}
	free(odd);
	free(b.data);
}

static bool has_kind(const struct btf *btf, uint32_t kind)
{
	for (uint32_t id = 1; id < btf__type_cnt(btf); id++)
		if (btf_kind(btf__type_by_id(btf, id)) == kind)
			return true;
	return false;
}

TEST(btf_loses_the_kinds_that_a_kernel_lacks)
{
	static const struct {
		uint32_t feature, kind;
	} kinds[] = {
		{BTF_FEAT_FUNC, BTF_KIND_FUNC},		{BTF_FEAT_DATASEC, BTF_KIND_DATASEC},
		{BTF_FEAT_DATASEC, BTF_KIND_VAR},	{BTF_FEAT_FLOAT, BTF_KIND_FLOAT},
		{BTF_FEAT_DECL_TAG, BTF_KIND_DECL_TAG}, {BTF_FEAT_TYPE_TAG, BTF_KIND_TYPE_TAG},
		{BTF_FEAT_ENUM64, BTF_KIND_ENUM64},	{BTF_FEAT_FUNC, BTF_KIND_FUNC_PROTO},
	};
	struct bytes b = corpus("newer-19.o");
	_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;

	assert_null(object_open_mem(b.data, b.size, NULL, NULL, &obj));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_(btf__freep) struct btf *copy = NULL;
		uint32_t size;

		assert_true(has_kind(obj->btf, kinds[i].kind));
		assert_null(btf_sanitize(obj->btf, BTF_FEAT_ALL & ~kinds[i].feature, &copy));
		assert_non_null(copy);
		if (has_kind(copy, kinds[i].kind))
			fail_msg("kind %u is still there", kinds[i].kind);
		/* Ids stay, and all is well-formed. */
		assert_true(btf__type_cnt(copy) >= btf__type_cnt(obj->btf));
		const void *raw = btf__raw_data(copy, &size);
		struct btf *again = btf__new(raw, size);
		assert_non_null(again);
		assert_true(btf__find_by_name_kind(again, "measured", BTF_KIND_STRUCT) ==
			    btf__find_by_name_kind(obj->btf, "measured", BTF_KIND_STRUCT));
		btf__free(again);
	}

	/* What is extern must go for every kernel; what is not needs no copy. */
	struct btf *copy = NULL;
	assert_null(btf_sanitize(obj->btf, BTF_FEAT_ALL, &copy));
	assert_true(btf__find_by_name_kind(copy, ".ksyms", BTF_KIND_DATASEC) < 0);
	btf__free(copy);
	free(b.data);

	struct bytes plain = corpus("maps-19.o");
	struct bpf_object *other = NULL;
	assert_null(object_open_mem(plain.data, plain.size, NULL, NULL, &other));
	assert_null(btf_sanitize(other->btf, BTF_FEAT_ALL, &copy));
	assert_null(copy);
	bpf_object__close(other);
	free(plain.data);
}

TEST(numbers_have_names)
{
	char text[64];

	assert_string_equal(libbpf_bpf_prog_type_str(BPF_PROG_TYPE_TRACEPOINT), "tracepoint");
	assert_string_equal(libbpf_bpf_prog_type_str(BPF_PROG_TYPE_SYSCALL), "syscall");
	assert_string_equal(libbpf_bpf_map_type_str(BPF_MAP_TYPE_RINGBUF), "ringbuf");
	assert_string_equal(libbpf_bpf_map_type_str(BPF_MAP_TYPE_TASK_STORAGE), "task_storage");
	assert_string_equal(libbpf_bpf_attach_type_str(BPF_PERF_EVENT), "perf_event");
	assert_string_equal(libbpf_bpf_link_type_str(BPF_LINK_TYPE_PERF_EVENT), "perf_event");
	assert_null(libbpf_bpf_map_type_str((enum bpf_map_type)9999));
	assert_int_equal(libbpf_strerror(-LIBBPF_ERRNO__VERIFY, text, sizeof(text)), 0);
	assert_string_equal(text, "the verifier rejects the program");
	assert_int_equal(libbpf_strerror(ENOENT, text, sizeof(text)), 0);
	assert_string_equal(text, "No such file or directory");
}
