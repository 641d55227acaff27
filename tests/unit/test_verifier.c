// SPDX-License-Identifier: BSD-2-Clause
/*
 * The verifier's logs of five kernels (tests/unit/verifier/, which
 * tests/bpf/refused/make-cases writes) and what is made of them. With the variables PROGRAMS and
 * CASES, which name files, it prints the cases with the explanations of today instead.
 */
#include <stdio.h>

#include "lib/verifier/internal.h"
#include "tests/unit/verifier_case.h"

#define PROGRAMS_MAX 200

struct programs {
	char *text;
	struct refused_program v[PROGRAMS_MAX];
	size_t n;
};

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	if (!f || !text) {
		perror(path);
		exit(1);
	}
	if (fread(text, 1, (1 << 20) - 1, f) == (1 << 20) - 1)
		exit(1);
	fclose(f);
	return text;
}

static void read_programs(struct programs *programs, const char *path)
{
	char *at = programs->text = read_text(path);

	programs->n = 0;
	while (programs->n < PROGRAMS_MAX && program_read(&at, &programs->v[programs->n]))
		programs->n++;
}

static void free_programs(struct programs *programs)
{
	for (size_t i = 0; i < programs->n; i++)
		program_deinit(&programs->v[i]);
	free(programs->text);
}

static const struct refused_program *find_program(const struct programs *programs, const char *name)
{
	for (size_t i = 0; i < programs->n; i++)
		if (!strcmp(programs->v[i].name, name))
			return &programs->v[i];
	return NULL;
}

/* "KIND FILE:LINE" and the text, the hint. */
static char *explain_case(const struct refused_program *program, const struct refused_case *c)
{
	const struct verifier_input in = case_input(program, c);
	struct error *err = verifier_explain(&in);
	const struct failure *f = err->failure;
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s %s:%u %s\n", f ? f->kind : "no failure", f && f->file ? f->file : "-",
		    f ? f->line : 0, f && f->function ? f->function : "-");
	error_text(err, &sb);
	if (f && f->expected)
		strbuf_addf(&sb, "\nexpected: %s", f->expected);
	strbuf_addf(&sb, "\nhint: %s\n", err->hint ? err->hint : "");
	error_free(err);
	return strbuf_steal(&sb);
}

static int write_cases(const char *programs_path, const char *cases_path)
{
	static struct programs programs;
	char *text = read_text(cases_path), *at = text;
	struct refused_case c;

	read_programs(&programs, programs_path);
	while (case_read(&at, &c)) {
		const struct refused_program *program = find_program(&programs, c.name);

		if (!program) {
			fprintf(stderr, "no program %s\n", c.name);
			return 1;
		}
		char *explained = explain_case(program, &c);
		printf("case %s\ncode %d\nlog\n%send\nwant\n%send\n", c.name, c.code, c.log,
		       explained);
		free(explained);
	}
	free_programs(&programs);
	free(text);
	return 0;
}

static void check_kernel(const char *kernel)
{
	static struct programs programs;
	const char *src = getenv("SRC");
	char path[512];
	size_t n = 0, wrong = 0;
	struct refused_case c;

	snprintf(path, sizeof(path), "%s/tests/unit/verifier/programs", src ? src : ".");
	read_programs(&programs, path);
	snprintf(path, sizeof(path), "%s/tests/unit/verifier/%s", src ? src : ".", kernel);
	char *text = read_text(path), *at = text;
	for (; case_read(&at, &c); n++) {
		const struct refused_program *program = find_program(&programs, c.name);

		assert_non_null(program);
		assert_non_null(c.want);
		char *explained = explain_case(program, &c);
		if (strcmp(explained, c.want) != 0) {
			print_message("%s: %s\n%s--- wanted\n%s", kernel, c.name, explained,
				      c.want);
			wrong++;
		}
		free(explained);
	}
	free(text);
	free_programs(&programs);
	assert_true(n > 60);
	assert_int_equal(wrong, 0);
}

static void linux_5_10(void **state)
{
	check_kernel("5.10");
}

static void linux_6_1(void **state)
{
	check_kernel("6.1");
}

static void linux_6_12(void **state)
{
	check_kernel("6.12");
}

static void linux_6_18(void **state)
{
	check_kernel("6.18");
}

static void linux_7_2(void **state)
{
	check_kernel("7.2");
}

/* ---- what logs may hold besides ---- */

static struct error *explain_log(const char *log)
{
	const struct verifier_input in = {.code = EACCES, .log = log};

	return verifier_explain(&in);
}

static void a_log_without_a_program(void **state)
{
	struct error *err = explain_log("; v->n++; @ filter.bpf.c:17\n"
					"7: (61) r1 = *(u32 *)(r0 +0)\n"
					"R0 invalid mem access 'map_value_or_null'\n"
					"processed 7 insns (limit 1000000)\n");

	assert_string_equal(err->failure->kind, "null-pointer");
	assert_int_equal(err->failure->line, 17);
	assert_string_equal(err->failure->file, "filter.bpf.c");
	assert_string_equal(err->failure->source, "v->n++;");
	assert_string_equal(err->failure->state, "a pointer to a map's value, or NULL");
	assert_int_equal(err->failure->insn, 7);
	error_free(err);
}

static void words_that_no_rule_knows(void **state)
{
	struct error *err = explain_log("0: (b7) r0 = 0\nthe moon is in the wrong house\n");

	assert_string_equal(err->failure->kind, "other");
	assert_string_equal(err->msg,
			    "the kernel rejects the program: the moon is in the wrong house");
	error_free(err);
	err = explain_log("");
	assert_string_equal(err->failure->kind, "other");
	assert_int_equal(err->code, EACCES);
	error_free(err);
	assert_false(verifier_log_has_words("\nprocessed 7 insns (limit 1000000)\n"));
	assert_true(verifier_log_has_words("unreachable insn 7\n"));
}

/* At level 2 all paths stand in the log: what is refused is not always behind what stands last. */
static void paths_that_went_on_elsewhere(void **state)
{
	struct vlog log;
	const char *text = "0: (15) if r1 == 0x0 goto pc+2\n"
			   "1: (15) if r2 == 0x0 goto pc+3\n"
			   "2: (95) exit\n"
			   "\nfrom 1 to 5: R2=0\n"
			   "5: (95) exit\n"
			   "\nfrom 0 to 3: R1=0 R10=fp0\n"
			   "3: (b7) r0 = 0\n"
			   "R0 leaks addr as return value\n";

	vlog_parse(&log, text, 8);
	assert_int_equal(log.steps.n, 2);
	assert_int_equal(log.steps.v[0].insn, 0);
	assert_int_equal(log.steps.v[1].insn, 3);
	assert_int_equal(log.n_complaints, 1);
	assert_int_equal(log.hits[1], 1);
	assert_int_equal(log.total_hits, 5);
	vlog_deinit(&log);
}

/* The variable that the call's result is in, not the line's first one. */
static void several_statements_of_a_line(void **state)
{
	const struct verifier_line line = {
		0, 7, "x.bpf.c", "int k = 1; long *v = bpf_map_lookup_elem(&m, &k); return *v;"};
	const char *const log = "0: (85) call bpf_map_lookup_elem#1\n"
				"1: (79) r0 = *(u64 *)(r0 +0)\n"
				"R0 invalid mem access 'map_value_or_null'\n";
	struct bpf_insn insns[] = {{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem},
				   {.code = BPF_LDX | BPF_MEM | BPF_DW}};
	const struct verifier_input in = {.code = EACCES,
					  .log = log,
					  .insns = insns,
					  .n_insns = 2,
					  .lines = &line,
					  .n_lines = 1,
					  .type_name = "raw_tracepoint"};
	struct error *err = verifier_explain(&in);

	assert_non_null(err->hint);
	assert_non_null(strstr(err->hint, "if (!v) return 0;"));
	error_free(err);
}

static void check_state(const char *state, const char *words)
{
	struct strbuf sb = STRBUF_INIT;

	state_words(piece_of(state), &sb);
	assert_string_equal(strbuf_str(&sb), words);
	strbuf_deinit(&sb);
}

static void states_in_words(void **state)
{
	check_state("inv5", "the number 5");
	check_state("invP-5", "the number -5");
	check_state("P0x10", "the number 16");
	check_state("inv(id=0)", "any number");
	check_state("scalar()", "any number");
	check_state("inv(id=0,umax_value=255,var_off=(0x0; 0xff))", "a number from 0 to 255");
	check_state("scalar(umin=4,umax=255,var_off=(0x0; 0xff))", "a number from 4 to 255");
	check_state("Pscalar(smin=smin32=0,smax=umax=smax32=umax32=31,var_off=(0x0; 0x1f))",
		    "a number from 0 to 31");
	check_state("scalar(id=1,smax=16)", "a number of at most 16 that may be negative");
	check_state("scalar(smin=-7,smax=16)", "a number from -7 to 16");
	check_state("map_value_or_null(id=1,off=0,ks=4,vs=16,imm=0)",
		    "a pointer to a map's value, or NULL");
	check_state("map_value(map=table,ks=4,vs=16)", "a pointer to a value of map 'table'");
	check_state("map_ptr(map=table,ks=4,vs=16)", "the map 'table'");
	check_state("trusted_ptr_task_struct(off=8)",
		    "a pointer to the kernel's struct task_struct");
	check_state("ptr_or_null_sock(id=1)", "a pointer to the kernel's struct sock, or NULL");
	check_state("alloc_mem_or_null(id=2,ref_obj_id=2,off=0,imm=0)",
		    "a pointer to a ring buffer's record, or NULL");
	check_state("fp-8", "a pointer to the stack, at -8");
	check_state("something_new()", "'something_new'");
}

static void patterns(void **state)
{
	struct match m;

	assert_true(match_line(piece_of("R10 invalid mem access 'inv'"),
			       "R%d invalid mem access '%s'", &m));
	assert_int_equal(m.d[0], 10);
	assert_true(piece_is(m.s[0], "inv"));
	assert_true(
		match_line(piece_of("x off=-0x10 size=4, R1(id=0)"), "*off=%d size=%d, R%d(", &m));
	assert_int_equal(m.d[0], -16);
	assert_int_equal(m.d[2], 1);
	assert_false(match_line(piece_of("R invalid"), "R%d invalid", &m));
	assert_false(match_line(piece_of(""), "*", &m));
	assert_true(match_line(piece_of("a rest"), "a %s", &m));
	assert_true(piece_is(m.s[0], "rest"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linux_5_10),
		cmocka_unit_test(linux_6_1),
		cmocka_unit_test(linux_6_12),
		cmocka_unit_test(linux_6_18),
		cmocka_unit_test(linux_7_2),
		cmocka_unit_test(a_log_without_a_program),
		cmocka_unit_test(words_that_no_rule_knows),
		cmocka_unit_test(paths_that_went_on_elsewhere),
		cmocka_unit_test(several_statements_of_a_line),
		cmocka_unit_test(states_in_words),
		cmocka_unit_test(patterns),
	};

	if (getenv("PROGRAMS") && getenv("CASES"))
		exit(write_cases(getenv("PROGRAMS"), getenv("CASES")));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
