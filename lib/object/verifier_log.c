// SPDX-License-Identifier: BSD-2-Clause
/*
 * The verifier's refusal in words. Its log walks the program along one path,
 *
 *	; if (value->n > 4)		the source line, where there is line info
 *	7: (61) r1 = *(u32 *)(r0 +0)	the instruction, by number
 *	R0 invalid mem access 'map_value_or_null'
 *	processed 8 insns …
 *
 * and ends with the complaint. What a user needs of it is the complaint, the
 * line of their program that the last instruction comes from, and what one
 * does about it: the table below knows the common ones.
 */
#include "lib/object/internal.h"
#include "lib/sys/sys.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* As many lines of the log's end are shown. */
#define TAIL_LINES 12

static const struct {
	const char *text;
	const char *hint;
} hints[] = {
	{"map_value_or_null",
	 "test what bpf_map_lookup_elem() returns against NULL before using it"},
	{"mem_or_null", "test the pointer against NULL before using it"},
	{"ptr_or_null", "test the pointer against NULL before using it"},
	{"invalid mem access 'inv'",
	 "this is not a pointer that a program may follow: read what it points to with "
	 "bpf_probe_read_kernel(), bpf_probe_read_user() or BPF_CORE_READ()"},
	{"invalid mem access 'scalar'",
	 "this is not a pointer that a program may follow: read what it points to with "
	 "bpf_probe_read_kernel(), bpf_probe_read_user() or BPF_CORE_READ()"},
	{"R0 !read_ok", "return a value on every path"},
	{"!read_ok", "set the variable on every path before it is read"},
	{"cannot call GPL",
	 "the helper is for GPL programs: char LICENSE[] SEC(\"license\") = \"GPL\";"},
	{"GPL-restricted",
	 "the helper is for GPL programs: char LICENSE[] SEC(\"license\") = \"GPL\";"},
	{"GPL compatible",
	 "the helper is for GPL programs: char LICENSE[] SEC(\"license\") = \"GPL\";"},
	{"back-edge", "this kernel takes no loops: unroll it with #pragma unroll"},
	{"infinite loop", "let the loop end after a constant number of rounds"},
	{"BPF program is too large",
	 "the verifier gave up: shorten loops, or move them into bpf_loop() or a global function"},
	{"too complex", "the verifier gave up: shorten loops, or move their body into a function"},
	{"The sequence of", "the verifier gave up: shorten loops, or use bpf_loop()"},
	{"combined stack size", "a program and its subprograms have 512 bytes of stack: keep large "
				"data in a per-CPU array map"},
	{"invalid stack", "the access lies outside of the variable on the stack"},
	{"invalid indirect read from stack",
	 "set all bytes of the variable first, padding included: memset() it"},
	{"unbounded memory access",
	 "bound the index or length first: if (n > sizeof(buf)) return 0;"},
	{"min value is negative",
	 "make the index or length unsigned, or test it for being negative"},
	{"outside of the allowed memory range", "test the index against the array's size first"},
	{"invalid access to map value", "test the offset against the map's value size first"},
	{"invalid bpf_context access",
	 "the program's context has no such field, or only for another kind of program"},
	{"dereference of modified ctx", "do not add to the context pointer before reading from it"},
	{"cannot use helper", "this kind of program has not this helper"},
	{"unknown func", "this kernel, or this kind of program, has not this helper"},
	{"invalid func", "this kernel has not this helper"},
	{"write into map", "the map is read-only for programs: .rodata cannot be written"},
	{"misaligned", "align the access, or copy the bytes"},
	{"Unreleased reference", "release what was acquired on every path"},
	{"func_info", "compile with -g, or strip the object's .BTF.ext"},
};

struct lines {
	const char *v[TAIL_LINES];
	size_t n;
};

/* The verifier's closing statistics say nothing about the refusal. */
static bool is_statistics(const char *line)
{
	return !strncmp(line, "processed ", 10) || !strncmp(line, "verification time ", 18) ||
	       !strncmp(line, "stack depth ", 12) || !strncmp(line, "insns processed", 15);
}

/* "12: (85) call …": the number; -1: the line is no instruction. */
static long line_insn(const char *line)
{
	char *end;
	const long n = strtol(line, &end, 10);

	if (end == line || strncmp(end, ": (", 3) || !isxdigit((unsigned char)end[3]))
		return -1;
	return n;
}

/* Splits the log in place; keeps the last lines and the last instruction. */
static void read_log(char *log, struct lines *lines, long *insn)
{
	*insn = -1;
	lines->n = 0;
	for (char *save, *line = strtok_r(log, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		const long n = line_insn(line);

		if (n >= 0)
			*insn = n;
		if (is_statistics(line))
			continue;
		if (lines->n == TAIL_LINES)
			memmove(&lines->v[0], &lines->v[1], (TAIL_LINES - 1) * sizeof(lines->v[0]));
		else
			lines->n++;
		lines->v[lines->n - 1] = line;
	}
}

/* Where an instruction comes from: "filter.c:12: if (x > 4)". */
static void add_source(const struct bpf_program *prog, long insn, struct strbuf *sb)
{
	const struct bpf_line_info *found = NULL;

	for (uint32_t i = 0; i < prog->n_line_info; i++) {
		if (prog->line_info[i].insn_off > insn)
			break;
		found = &prog->line_info[i];
	}
	if (!found)
		return;
	const char *file = btf__name_by_offset(prog->obj->btf, found->file_name_off);
	const char *text = btf__name_by_offset(prog->obj->btf, found->line_off);
	if (!file)
		return;
	strbuf_addf(sb, "\n  at %s:%u", file, BTF_LINE_NUMBER(found->line_col));
	while (text && isspace((unsigned char)*text))
		text++;
	if (text && text[0])
		strbuf_addf(sb, ": %s", text);
}

/* What CO-RE left behind: "call unknown#2003000007". */
static const char *core_reason(const struct bpf_program *prog, const struct lines *lines)
{
	for (size_t i = lines->n; i-- > 0 && prog->obj->core;) {
		const char *hash = strstr(lines->v[i], "#");

		for (; hash; hash = strchr(hash + 1, '#')) {
			const long imm = strtol(hash + 1, NULL, 10);
			const char *why = imm > 0 && imm <= INT32_MAX
						  ? core_explain(prog->obj->core, (int32_t)imm)
						  : NULL;

			if (why)
				return why;
		}
	}
	return NULL;
}

static const char *find_hint(const struct lines *lines)
{
	for (size_t line = lines->n; line-- > 0;)
		for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
			if (strstr(lines->v[line], hints[i].text))
				return hints[i].hint;
	return NULL;
}

/* The last line that is neither an instruction nor the state of registers. */
static const char *complaint(const struct lines *lines)
{
	for (size_t i = lines->n; i-- > 0;)
		if (line_insn(lines->v[i]) < 0 && lines->v[i][0] != ';')
			return lines->v[i];
	return "";
}

/* CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON (5.8). */
static bool may_load_programs(void)
{
	const uint64_t admin = 1ull << 21, both = 1ull << 38 | 1ull << 39;
	uint64_t caps = 0;

	error_free(sys_capabilities(NULL, &caps));
	return caps & admin || (caps & both) == both;
}

/* The kernel said nothing: the errno is all there is. */
static struct error *explain_silent(const struct bpf_program *prog, int code)
{
	const char *type = libbpf_bpf_prog_type_str(prog->type);
	struct error *err = error_errno(code, "the kernel refuses the program");

	if (code == EPERM && prog->type == BPF_PROG_TYPE_TRACING && may_load_programs())
		return error_hint(err, "this kernel does not let itself be patched: 'perf-bpf "
				       "features' tells which sections work here");
	if (code == EPERM)
		return error_hint(err, "run as root, or with CAP_BPF and CAP_PERFMON; on kernels "
				       "before 5.11 raise 'ulimit -l'");
	if (code == E2BIG)
		return error_hint(err, "it has %zu instructions, more than this kernel takes",
				  prog->n_insns);
	if (code == EINVAL && libbpf_probe_bpf_prog_type(prog->type, NULL) == 0)
		return error_hint(err, "this kernel has no programs of type %s",
				  type ? type : "unknown");
	return err;
}

struct error *verifier_explain(const struct bpf_program *prog, int code, const char *log)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_free_ char *copy = strdup(log);
	struct lines lines;
	long insn;

	if (!copy)
		return error_nomem();
	read_log(copy, &lines, &insn);
	if (!lines.n)
		return explain_silent(prog, code);

	const char *core = core_reason(prog, &lines);
	strbuf_addf(&text, "the kernel refuses the program: %s", core ? core : complaint(&lines));
	if (insn >= 0)
		add_source(prog, insn, &text);
	strbuf_adds(&text, "\n  the verifier's last lines:");
	for (size_t i = 0; i < lines.n; i++)
		strbuf_addf(&text, "\n  | %s", lines.v[i]);
	if (strbuf_failed(&text))
		return error_nomem();

	struct error *err = error_new(code, "%s", strbuf_str(&text));
	const char *hint =
		core ? "guard the access with bpf_core_field_exists()" : find_hint(&lines);
	if (hint)
		return error_hint(err, "%s", hint);
	if (code == EPERM)
		return error_hint(err, "run as root, or with CAP_BPF and CAP_PERFMON");
	return err;
}
