// SPDX-License-Identifier: BSD-2-Clause
/* Programs typed as text: what C they become, and what is said of those that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "lib/base/strbuf.h"
#include "oneliner/oneliner.h"

static const char switch_format[] =
	"name: sched_switch\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:u8 bytes[6];\toffset:40;\tsize:6;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:48;\tsize:4;\tsigned:0;\n"
	"\tfield:const char * where;\toffset:56;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"%d\", REC->prev_pid\n";

static const char openat_format[] =
	"name: sys_enter_openat\nID: 8\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:umode_t mode;\toffset:32;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"%d\", REC->dfd\n";

static struct error *match(void *ctx, const char *system, const char *name, struct names *found)
{
	static const char *const all[] = {"sched:sched_switch", "syscalls:sys_enter_openat"};
	_cleanup_free_ char *pattern = text_format("%s:%s", system, name);
	bool any = false;

	(void)ctx;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (!glob_match(pattern, all[i]))
			continue;
		assert_true(names_add(found, all[i]));
		any = true;
	}
	return any ? NULL : error_new(ENOENT, "unknown tracepoint %s", pattern);
}

static struct error *format(void *ctx, const char *system, const char *name, char **text,
			    size_t *size)
{
	(void)ctx;
	(void)name;
	*text = strdup(!strcmp(system, "sched") ? switch_format : openat_format);
	assert_non_null(*text);
	*size = strlen(*text);
	return NULL;
}

static bool constant(const char *name, uint64_t *value)
{
	*value = !strcmp(name, "AT_FDCWD") ? (uint64_t)-100 : 64;
	return !strcmp(name, "AT_FDCWD") || !strcmp(name, "O_CREAT");
}

static const struct oneliner_env env = {match, format, NULL, constant};

static void make(const char *text, struct oneliner *o)
{
	struct error *err =
		oneliner_generate(text, &(const struct oneliner_opts){.name = "program"}, &env, o);

	if (err)
		fail_msg("%s: %s", text, err->msg);
}

static void has(const char *text, const char *wanted)
{
	_cleanup_oneliner_ struct oneliner o = {0};

	make(text, &o);
	if (strstr(o.source, wanted))
		return;
	print_error("%s: lacks\n%s\n", text, wanted);
	print_error("%s\n", strstr(o.source, " */\n"));
	fail();
}

static void lacks(const char *text, const char *unwanted)
{
	_cleanup_oneliner_ struct oneliner o = {0};

	make(text, &o);
	if (!strstr(o.source, unwanted))
		return;
	print_error("%s: has\n%s\n", text, unwanted);
	fail();
}

static void fields_are_members_at_their_offsets(void **state)
{
	(void)state;
	has("sched:sched_switch { count(args->prev_pid); }",
	    "struct sched_switch_args {\n\t__u64 common; /* programs cannot read it */\n"
	    "\tchar prev_comm[16];\n\t__s32 prev_pid;\n\tchar pad0[4];\n\t__s64 prev_state;\n"
	    "\t__u8 bytes[6];\n\tchar pad1[2];\n\t__u32 __data_loc_name;\n\tchar pad2[4];\n"
	    "\tconst char *where;\n};\n");
	/* The arguments of a system call have the size of their type. */
	has("syscalls:sys_enter_openat { count(args->dfd); }",
	    "\t__s32 __syscall_nr;\n\tchar pad0[4];\n\t__s32 dfd;\n\tchar pad1[4];\n"
	    "\tconst char *filename;\n\t__u16 mode;\n};\n");
}

static void keys_have_the_types_of_values(void **state)
{
	(void)state;
	has("sched:sched_switch { count(args->prev_comm, args->prev_pid, args->prev_state, cpu, "
	    "\"x\", (int)args->prev_state, str(args->where), str(args->where, 16), cpu + 1, "
	    "args->prev_state + 1, args->name); }",
	    "struct counts_key {\n\tchar prev_comm[16];\n\tperf_bpf_pid prev_pid;\n"
	    "\t__s64 prev_state;\n\t__u32 cpu;\n\tchar value5[2];\n\tint prev_state6;\n"
	    "\tchar where[64];\n\tchar where8[16];\n\t__u64 cpu9;\n\t__s64 prev_state10;\n"
	    "\tchar name[64];\n};\n");
	has("sched:sched_switch { print(err(-args->prev_pid), ksym(args->where)); }",
	    "\tperf_bpf_time time;\n\tperf_bpf_errno prev_pid;\n\tperf_bpf_ksym where;\n");
}

static void constants_are_macros(void **state)
{
	static const char defined[] = "#ifndef AT_FDCWD\n#define AT_FDCWD (-100)\n#endif\n"
				      "#ifndef O_CREAT\n#define O_CREAT 0x40\n#endif\n\n";

	(void)state;
	has("syscalls:sys_enter_openat { if (args->dfd == AT_FDCWD) count(args->mode & O_CREAT); }"
	    "syscalls:sys_enter_openat { hist(O_CREAT); }",
	    defined);
	/* They are no names of columns, and have no sign. */
	has("syscalls:sys_enter_openat { count(args->mode & O_CREAT); }",
	    "struct counts_key {\n\t__u64 mode;\n};\n");
	/* Members, maps and what emit() names are something else. */
	lacks("syscalls:sys_enter_openat { emit(O_CREAT = 1); AT_FDCWD[0] = 2; count(cpu); }",
	      "#define");
}

static void calls_become_maps(void **state)
{
	(void)state;
	has("sched:sched_switch { count(); count(); }",
	    "PERF_BPF_COUNT(counts, \"\", \"sched:sched_switch\");\n"
	    "PERF_BPF_COUNT(counts_2, \"\", \"sched:sched_switch\");\n");
	has("sched:sched_switch { hist(nsecs - 1); }",
	    "PERF_BPF_LOG2(hist, \"ns\", \"nsecs - 1\");");
	has("sched:sched_switch { if (cpu) sum(args->prev_pid); }",
	    "\tif (cpu) perf_bpf_count(&sums, args->prev_pid);\n");
	has("sched:sched_switch { printf(\"%s \\\"%d\\\"\\n\", args->prev_comm, 1); }",
	    "PERF_BPF_LINES(lines, struct lines_event, 1024 * 1024, \"%s \\\\\\\"%d\\\\\\\"\");");
	has("sched:sched_switch { count(kstack); }", "perf_bpf_kernel_stack_add(args, counts, 1);");
	has("sched:sched_switch { count(\"a\\\"b\"); }",
	    "\"sched:sched_switch by \\\"a\\\\\\\"b\\\"\");");
	/* Events of one clause share the map. */
	has("*:* { count(); }", "PERF_BPF_COUNT(counts, \"\", \"*:*\");\n\n"
				"SEC(\"tracepoint/sched/sched_switch\")");
}

static void the_rest_is_as_it_was_typed(void **state)
{
	(void)state;
	has("sched:sched_switch { int x = args->prev_pid>3?1:2; /* c */ if (x) { return; } "
	    "else x++; }",
	    "\tint x = args->prev_pid>3?1:2;\n\tif (x) {\n\t\treturn 0;\n\t} else x++;\n");
	has("sched:sched_switch { for (int i = 0; i < 3; i++) count(); s.count(); p->pid = 1; }",
	    "\tfor (int i = 0; i < 3; i++) perf_bpf_count(&counts, 1);\n\ts.count();\n"
	    "\tp->pid = 1;\n");
	has("sched:sched_switch { count(); } // a */ b", "* /");
}

static void a_place_in_the_file_is_found_in_the_text(void **state)
{
	_cleanup_oneliner_ struct oneliner o = {0};
	const char *text = "sched:sched_switch { int x = wrong; count(bad); }";
	size_t at;

	(void)state;
	make(text, &o);
	const char *names[] = {"wrong", "bad;"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *p = strstr(strstr(o.source, "SEC("), names[i]), *line = p;
		unsigned n = 1;

		while (line > o.source && line[-1] != '\n')
			line--;
		for (const char *c = o.source; c < p; c++)
			n += *c == '\n';
		assert_true(oneliner_find(&o, n, p - line + 1, &at));
		assert_ptr_equal(text + at, strstr(text, i ? "bad" : "wrong"));
	}
	assert_false(oneliner_find(&o, 1, 1, &at));
	assert_false(oneliner_find(&o, 10000, 1, &at));
}

static void wrong_texts_have_a_column(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "column 1:"},
		{"sched:sched_switch", "column 1:"},
		{"sched:sched_switch {", "column 20:"},
		{"sched:sched_switch { count(); } x", "column 33:"},
		{"sched:sched_switch { }", "column 21:"},
		{", { count(); }", "column 1:"},
		{"a:b { count(); }", "unknown tracepoint a:b"},
		{"sched:sched_switch { count(args->x); }", "column 34:"},
		{"sched:sched_switch { count(args->name + 1); }", "column 28:"},
		{"sched:sched_switch { \"abc }", "column 20:"},
		{"sched:sched_switch { /* abc }", "column 20:"},
		{"sched:sched_switch { count(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17); }",
		 "column 67:"},
		{"sched:sched_switch { str(1); }", "column 22:"},
		{"sched:sched_switch { count(str(1, 1)); }", "column 35:"},
		{"sched:sched_switch,\n\nsyscalls:sys_enter_openat\n{ count(args->dfd); }",
		 "line 4, column 15:"},
		{"*:* { count(args->dfd); }", "sched:sched_switch has no field 'dfd'"},
		{"sched:sched_switch { printf(\"%q\", 1); }", "column 30:"},
		{"sched:sched_switch { printf(1); }", "column 29:"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_oneliner_ struct oneliner o = {0};
		_cleanup_error_ struct error *err = oneliner_generate(
			cases[i].text, &(const struct oneliner_opts){.name = "program"}, &env, &o);

		if (!err)
			fail_msg("%s: %s", cases[i].text, o.source);
		if (!strstr(err->msg, cases[i].message))
			fail_msg("%s: %s", cases[i].text, err->msg);
		assert_null(o.source);
	}
}

static void words_are_told_apart(void **state)
{
	(void)state;
	assert_true(oneliner_is("a:b { count(); }"));
	assert_false(oneliner_is("file.bpf.c"));
	assert_false(oneliner_is("a:b {"));
	assert_false(oneliner_is("}{"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_members_at_their_offsets),
		cmocka_unit_test(keys_have_the_types_of_values),
		cmocka_unit_test(constants_are_macros),
		cmocka_unit_test(calls_become_maps),
		cmocka_unit_test(the_rest_is_as_it_was_typed),
		cmocka_unit_test(a_place_in_the_file_is_found_in_the_text),
		cmocka_unit_test(wrong_texts_have_a_column),
		cmocka_unit_test(words_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
