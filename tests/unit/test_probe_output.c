// SPDX-License-Identifier: BSD-2-Clause
/*
 * probe/output: what the layout of arguments becomes, as a format that
 * perf/print and libtraceevent read, and as an object that the library opens.
 */
#include <stdio.h>
#include <stdlib.h>

#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include <bpf/btf.h>
#include <linux/bpf.h>

#include "lib/object/object.h"
#include "perf/format/tracing.h"
#include "probe/output/output.h"

#define MAX_ARGS 12

/* Points of up to MAX_ARGS arguments; nothing in them is owned. */
struct made {
	struct probe_points points;
	struct probe_point point[2];
	char *names[MAX_ARGS];
	struct fetch_value values[2][MAX_ARGS];
};

static void made_init(struct made *m, size_t points)
{
	*m = (struct made){0};
	m->points = (struct probe_points){.v = m->point, .n = points, .names = m->names};
	for (size_t i = 0; i < points; i++)
		m->point[i].args = m->values[i];
}

static void made_add(struct made *m, const char *name, enum fetch_kind kind, uint32_t size)
{
	const size_t i = m->points.n_args++;

	m->names[i] = (char *)name;
	for (size_t p = 0; p < m->points.n; p++)
		m->values[p][i] =
			(struct fetch_value){.name = (char *)name, .kind = kind, .size = size};
}

static struct output_layout layout_of(const struct made *m)
{
	_cleanup_output_layouts_ struct output_layouts layouts = {0};

	assert_null(output_layouts_of(&m->points, &layouts));
	assert_int_equal(layouts.v.n, 1);
	const struct output_layout layout = layouts.v.v[0];
	layouts.v.n = 0; /* its fields are the caller's */
	return layout;
}

/* How many layouts two points have, one argument each, of these types. */
static size_t layouts_of_two(enum fetch_kind a, uint32_t a_size, enum fetch_kind b, uint32_t b_size,
			     struct output_field *first)
{
	_cleanup_output_layouts_ struct output_layouts layouts = {0};
	struct made m;

	made_init(&m, 2);
	made_add(&m, "v", a, a_size);
	m.values[1][0].kind = b;
	m.values[1][0].size = b_size;
	assert_null(output_layouts_of(&m.points, &layouts));
	assert_int_equal(layouts.of[0], 0);
	assert_int_equal(layouts.of[1], layouts.v.n - 1);
	*first = layouts.v.v[0].fields.v[0];
	first->name = NULL;
	return layouts.v.n;
}

/* One field only for what it can hold without changing a value. */
TEST(test_types_differ)
{
	static const struct {
		enum fetch_kind a;
		uint32_t a_size;
		enum fetch_kind b;
		uint32_t b_size;
		size_t layouts;
		enum fetch_kind kind; /* of one layout */
		uint32_t size;
	} pairs[] = {
		{FETCH_INT, 4, FETCH_UINT, 4, 1, FETCH_INT, 8},
		{FETCH_UINT, 4, FETCH_INT, 4, 1, FETCH_INT, 8},
		{FETCH_UINT, 1, FETCH_INT, 2, 1, FETCH_INT, 4},
		{FETCH_INT, 8, FETCH_UINT, 4, 1, FETCH_INT, 8},
		{FETCH_UINT, 8, FETCH_UINT, 1, 1, FETCH_UINT, 8},
		{FETCH_INT, 8, FETCH_UINT, 8, 2, 0, 0},
		{FETCH_INT, 1, FETCH_UINT, 8, 2, 0, 0},
		{FETCH_FLOAT, 4, FETCH_FLOAT, 8, 2, 0, 0},
		{FETCH_FLOAT, 4, FETCH_INT, 4, 2, 0, 0},
		{FETCH_POINTER, 8, FETCH_UINT, 8, 2, 0, 0},
		{FETCH_STRING, 0, FETCH_UINT, 4, 2, 0, 0},
		{FETCH_BYTES, 8, FETCH_BYTES, 12, 2, 0, 0},
		{FETCH_BOOL, 1, FETCH_UINT, 1, 2, 0, 0},
		{FETCH_BYTES, 12, FETCH_BYTES, 12, 1, FETCH_BYTES, 12},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct output_field field;
		const size_t n = layouts_of_two(pairs[i].a, pairs[i].a_size, pairs[i].b,
						pairs[i].b_size, &field);

		assert_int_equal(n, pairs[i].layouts);
		if (n > 1)
			continue;
		assert_int_equal(field.kind, pairs[i].kind);
		assert_int_equal(field.size, pairs[i].size);
	}
}

TEST(test_layout)
{
	struct made m;

	made_init(&m, 1);
	made_add(&m, "a", FETCH_UINT, 1);
	made_add(&m, "b", FETCH_INT, 2);
	made_add(&m, "c", FETCH_POINTER, 8);
	made_add(&m, "d", FETCH_STRING, 0);
	made_add(&m, "e", FETCH_BYTES, 5);
	made_add(&m, "f", FETCH_UINT, 3);
	_cleanup_output_layout_ struct output_layout l = layout_of(&m);
	const struct output_field *f = l.fields.v;

	assert_int_equal(l.fields.n, 6);
	assert_int_equal(f[0].offset, 8); /* after what all tracepoints have */
	assert_int_equal(f[0].size, 1);
	assert_int_equal(f[1].offset, 12); /* widened: formats know no sign of two bytes */
	assert_int_equal(f[1].size, 4);
	assert_int_equal(f[2].offset, 16);
	assert_int_equal(f[3].offset, 24);
	assert_int_equal(f[3].size, OUTPUT_STRING);
	assert_int_equal(f[4].offset, 24 + OUTPUT_STRING);
	assert_int_equal(f[4].size, 5);
	assert_int_equal(f[5].size, 4);
	assert_int_equal(f[5].offset, 24 + OUTPUT_STRING + 8);
	assert_int_equal(l.ip_offset, 24 + OUTPUT_STRING + 16);
	assert_int_equal(l.err_offset, l.ip_offset + 8);
	assert_int_equal(l.size, l.err_offset + 8);
}

/* Room for what any of the points has; signed where one is. */
TEST(test_points_differ)
{
	struct made m;

	made_init(&m, 2);
	made_add(&m, "a", FETCH_UINT, 1);
	made_add(&m, "b", FETCH_UINT, 4);
	m.values[1][0].size = 8;
	m.values[1][1].kind = FETCH_INT;
	m.values[1][1].size = 2;
	_cleanup_output_layout_ struct output_layout l = layout_of(&m);
	assert_int_equal(l.fields.v[0].size, 8);
	assert_int_equal(l.fields.v[1].kind, FETCH_INT);
	assert_int_equal(l.fields.v[1].size, 8);

	/* A point that cannot read it has no say. */
	m.values[1][1].kind = FETCH_STRING;
	m.values[1][1].obstacle = (char *)"optimized out";
	_cleanup_output_layout_ struct output_layout again = layout_of(&m);
	assert_int_equal(again.fields.v[1].kind, FETCH_UINT);
}

TEST(test_too_much)
{
	struct output_layouts none = {0};
	struct error *err;
	struct made m;

	made_init(&m, 1);
	made_add(&m, "a", FETCH_UINT, 8);
	made_add(&m, "big", FETCH_BYTES, OUTPUT_MAX);
	err = output_layouts_of(&m.points, &none);
	assert_non_null(err);
	assert_int_equal(err->code, E2BIG);
	assert_non_null(strstr(err->msg, "'big'"));
	error_free(err);

	/* Strings share what is there. */
	made_init(&m, 1);
	for (int i = 0; i < MAX_ARGS; i++)
		made_add(&m, "s", FETCH_STRING, 0);
	_cleanup_output_layout_ struct output_layout l = layout_of(&m);
	assert_int_equal(l.fields.v[0].size, 24);
	assert_true(l.size <= OUTPUT_MAX);
}

/* The sample's bytes with these values; each field's low bytes. */
static void put(uint8_t *raw, const struct output_field *f, uint64_t value)
{
	memcpy(raw + f->offset, &value, f->size);
}

/* of_perf: what libtraceevent writes; NULL: the same. */
static void check_text(const char *format, uint32_t id, uint8_t *raw, uint32_t size,
		       const char *want, const char *of_perf)
{
	const uint16_t type = (uint16_t)id;

	_cleanup_(tracing_freep) struct tracing *t = NULL;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	memcpy(raw, &type, sizeof(type)); /* by which libtraceevent finds the event */
	assert_null(tracing_new_empty(&t));
	assert_null(tracing_add_format(t, "probe", format, strlen(format)));
	struct trace_event *ev = tracing_find(t, id);
	assert_non_null(ev);
	trace_event_print(ev, raw, size, &out);
	assert_string_equal(strbuf_str(&out), want);

	/* As perf writes it. */
	struct tep_handle *tep = tep_alloc();
	struct tep_event *event = NULL;
	struct trace_seq seq;
	struct tep_record record = {.data = (void *)raw, .size = (int)size};
	tep_set_long_size(tep, 8);
	assert_int_equal(tep_parse_format(tep, &event, format, strlen(format), "probe"), 0);
	trace_seq_init(&seq);
	tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&seq);
	assert_string_equal(seq.buffer, of_perf ? of_perf : want);
	trace_seq_destroy(&seq);
	tep_free(tep);
}

TEST(test_format)
{
	_cleanup_strbuf_ struct strbuf format = STRBUF_INIT;
	uint8_t raw[OUTPUT_MAX] = {0};
	struct made m;

	made_init(&m, 1);
	made_add(&m, "count", FETCH_UINT, 8);
	made_add(&m, "n", FETCH_INT, 1);
	made_add(&m, "name", FETCH_STRING, 0);
	made_add(&m, "p", FETCH_POINTER, 8);
	made_add(&m, "mask", FETCH_UINT, 2);
	m.values[0][4].hex = true;
	made_add(&m, "b", FETCH_BYTES, 3);
	made_add(&m, "big", FETCH_INT, 8);
	made_add(&m, "ok", FETCH_BOOL, 1);
	_cleanup_output_layout_ struct output_layout l = layout_of(&m);
	output_format(&l, "vfs_write", 65535, &format);
	assert_non_null(strstr(strbuf_str(&format), "name: vfs_write\nID: 65535\n"));

	const struct output_field *f = l.fields.v;
	put(raw, &f[0], UINT64_MAX);
	put(raw, &f[1], (uint64_t)-5);
	memcpy(raw + f[2].offset, "a b", 3);
	put(raw, &f[3], 0xffff888000001000);
	put(raw, &f[4], 0xbeef);
	memcpy(raw + f[5].offset, "\x01\x02\xff", 3);
	put(raw, &f[6], (uint64_t)INT64_MIN);
	put(raw, &f[7], 1);
	check_text(strbuf_str(&format), 65535, raw, l.size,
		   "count=18446744073709551615 n=-5 name=\"a b\" p=0xffff888000001000 mask=0xbeef "
		   "b={01 02 ff} big=-9223372036854775808 ok=1",
		   NULL);

	/* What could not be read says so. */
	uint64_t failed = 1ull << 2 | 1;
	memset(raw, 0, sizeof(raw));
	memcpy(raw + l.err_offset, &failed, 8);
	check_text(strbuf_str(&format), 65535, raw, l.size,
		   "count=0(fault) n=0 name=\"\"(fault) p=0x0 mask=0x0 b={00 00 00} big=0 ok=0",
		   NULL);
}

/* libtraceevent knows no floats: perf shows their bits. */
TEST(test_floats)
{
	_cleanup_strbuf_ struct strbuf format = STRBUF_INIT;
	uint8_t raw[OUTPUT_MAX] = {0};
	const double pi = 3.25;
	const float low = -0.5;
	struct made m;

	made_init(&m, 1);
	made_add(&m, "d", FETCH_FLOAT, 8);
	made_add(&m, "f", FETCH_FLOAT, 4);
	_cleanup_output_layout_ struct output_layout l = layout_of(&m);
	output_format(&l, "f", 65535, &format);
	memcpy(raw + l.fields.v[0].offset, &pi, 8);
	memcpy(raw + l.fields.v[1].offset, &low, 4);
	check_text(strbuf_str(&format), 65535, raw, l.size, "d=3.25 f=-0.5",
		   "d=0x400a000000000000 f=0xbf000000");
}

TEST(test_no_arguments)
{
	_cleanup_strbuf_ struct strbuf format = STRBUF_INIT;
	uint8_t raw[OUTPUT_MAX] = {0};
	struct made m;

	made_init(&m, 1);
	_cleanup_output_layout_ struct output_layout l = layout_of(&m);
	assert_int_equal(l.size, 24);
	output_format(&l, "f", 1000, &format);
	check_text(strbuf_str(&format), 1000, raw, l.size, "", NULL);
}

/* Where it was hit: an inner field, and the text's beginning if it may be one of several. */
TEST(test_many_functions)
{
	const uint64_t at = 0xffffffff81000010;
	uint8_t raw[OUTPUT_MAX] = {0};
	struct made m;

	for (int i = 0; i < 3; i++) {
		_cleanup_(tracing_freep) struct tracing *t = NULL;
		_cleanup_strbuf_ struct strbuf format = STRBUF_INIT;
		uint64_t ip = 1;

		made_init(&m, 2);
		if (i < 2)
			made_add(&m, "n", FETCH_UINT, 8);
		m.point[0].function = (char *)"one";
		m.point[1].function = (char *)(i ? "two" : "one");
		_cleanup_output_layout_ struct output_layout l = layout_of(&m);
		output_format(&l, "f", 9, &format);
		memcpy(raw + l.ip_offset, &at, 8);
		check_text(strbuf_str(&format), 9, raw, l.size,
			   i == 0   ? "n=0"
			   : i == 1 ? "(0xffffffff81000010) n=0"
				    : "(0xffffffff81000010)",
			   NULL);
		assert_null(tracing_new_empty(&t));
		assert_null(tracing_add_format(t, "probe", strbuf_str(&format), format.len));
		const struct trace_event *ev = tracing_find(t, 9);
		assert_true(trace_event_probe_ip(ev, raw, l.size, &ip));
		assert_int_equal(ip, at);
		assert_false(trace_event_probe_ip(ev, raw, l.ip_offset, &ip));
		const size_t n = trace_event_n_fields(ev);
		assert_int_equal(n, m.points.n_args + 2);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(trace_field_is_inner(ev, trace_event_field(ev, k)),
					 k >= m.points.n_args);
		memset(raw, 0, sizeof(raw));
	}
}

/* Each jump is forward, to an instruction of the program. */
static void assert_jumps_within(const struct bpf_program *prog)
{
	const struct bpf_insn *insns = bpf_program__insns(prog);
	const size_t n = bpf_program__insn_cnt(prog);

	for (size_t i = 0; i < n; i++) {
		if (insns[i].code == (BPF_LD | BPF_IMM | BPF_DW)) {
			i++;
			continue;
		}
		if (BPF_CLASS(insns[i].code) != BPF_JMP || BPF_OP(insns[i].code) == BPF_CALL ||
		    BPF_OP(insns[i].code) == BPF_EXIT)
			continue;
		assert_true(insns[i].off > 0);
		assert_true(i + 1 + (size_t)insns[i].off < n);
	}
}

/* Of tasks: a byte for each id that there can be, which the recorder maps. */
static void assert_wanted(const struct bpf_object *obj, bool of_tasks)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(obj, "wanted");

	assert_non_null(map);
	assert_int_equal(bpf_map__type(map), of_tasks ? BPF_MAP_TYPE_ARRAY : BPF_MAP_TYPE_HASH);
	assert_int_equal(bpf_map__map_flags(map), of_tasks ? BPF_F_MMAPABLE : 0);
	if (of_tasks)
		assert_int_equal(bpf_map__max_entries(map) * bpf_map__value_size(map),
				 OUTPUT_WANTED_SIZE);
}

TEST(test_object)
{
	static const char section[] = "exec=/bin/x;f a b:string";
	const struct output_opts variants[] = {
		{.definition = section, .name = "probe_f", .id = 65535, .self = 1},
		{.definition = section, .name = "probe_f", .id = 1, .filter = OUTPUT_PROCESSES},
		{.definition = section,
		 .name = "probe_f",
		 .id = 1,
		 .filter = OUTPUT_THREADS,
		 .task_pid_offset = 2000},
		{.definition = section, .name = "probe_f", .id = 1, .filter = OUTPUT_CGROUPS},
		{.definition = section,
		 .name = "probe_f",
		 .id = 1,
		 .self = 1,
		 .filter = OUTPUT_PROCESSES,
		 .task_pid_offset = 2000,
		 .follows = true,
		 .pid_ns = {.inode = 0xeffffffc,
			    .task_group_leader = 8,
			    .task_thread_pid = 16,
			    .pid_level = 4,
			    .pid_numbers = 96,
			    .upid_ns = 8,
			    .upid_size = 16,
			    .ns_inum = 24}},
	};
	struct made m;

	made_init(&m, 1);
	made_add(&m, "a", FETCH_INT, 2);
	made_add(&m, "b", FETCH_STRING, 0);
	_cleanup_output_layout_ struct output_layout l = layout_of(&m);
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;
		_cleanup_strbuf_ struct strbuf image = STRBUF_INIT;

		assert_null(output_object(&l, &variants[i], &image));
		assert_null(object_open_mem(image.str, image.len, NULL, NULL, &obj));
		struct bpf_program *prog = bpf_object__find_program_by_name(obj, "probe_f");
		assert_non_null(prog);
		assert_string_equal(bpf_program__section_name(prog), section);
		assert_int_equal(bpf_object__find_program_by_name(obj, "follow") != NULL,
				 i == 2 || i == 4);
		assert_jumps_within(prog);
		const bool of_tasks = variants[i].filter == OUTPUT_PROCESSES ||
				      variants[i].filter == OUTPUT_THREADS;
		assert_wanted(obj, of_tasks);
		struct bpf_map *events = bpf_object__find_map_by_name(obj, "events");
		assert_int_equal(bpf_map__type(events), BPF_MAP_TYPE_PERF_EVENT_ARRAY);

		/* The function's second parameter, as the prologue's maker looks for it. */
		const struct btf *btf = bpf_object__btf(obj);
		int id = btf__find_by_name_kind(btf, "probe_f", BTF_KIND_FUNC);
		assert_true(id > 0);
		const struct btf_type *t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
		assert_int_equal(btf_vlen(t), 2);
		t = btf__type_by_id(btf, btf__type_by_id(btf, btf_params(t)[1].type)->type);
		assert_true(btf_is_struct(t));
		assert_int_equal(t->size, l.size);
		assert_int_equal(btf_vlen(t), 4);
		const struct btf_member *a = &btf_members(t)[0];
		assert_string_equal(btf__name_by_offset(btf, a->name_off), "a");
		assert_int_equal(a->offset, l.fields.v[0].offset * 8);
		assert_int_equal(btf__resolve_size(btf, a->type), 4);
	}
}

/* The filter of tasks: no arguments, a program of another type, the same follower. */
TEST(test_task_filter)
{
	for (int follows = 0; follows < 2; follows++) {
		const struct output_opts opts = {
			.name = "record_tasks",
			.filter = follows ? OUTPUT_PROCESSES : OUTPUT_THREADS,
			.task_pid_offset = follows ? 2000 : 0,
			.follows = follows,
		};
		_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;
		_cleanup_strbuf_ struct strbuf image = STRBUF_INIT;

		assert_null(output_task_filter(&opts, &image));
		assert_null(object_open_mem(image.str, image.len, NULL, NULL, &obj));
		struct bpf_program *prog = bpf_object__find_program_by_name(obj, "record_tasks");
		assert_non_null(prog);
		assert_int_equal(bpf_program__type(prog), BPF_PROG_TYPE_PERF_EVENT);
		assert_jumps_within(prog);
		prog = bpf_object__find_program_by_name(obj, "follow");
		assert_int_equal(prog != NULL, follows);
		if (prog)
			assert_jumps_within(prog);
		assert_wanted(obj, true);
	}
}
