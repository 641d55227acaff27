// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads one program of an object, which the kernel should refuse, and tells
 * why; tests/cmd/test_explain.sh and the guests of tests/vm run it.
 *
 *	refused text|json|program|case FILE PROGRAM [WHO]
 *	refused open-json FILE		why it cannot be opened
 *	refused struct FILE PROGRAM	struct perf_bpf_failure, of several sizes
 *	refused btf			types that no kernel takes
 *
 * WHO is "bpf" (no capability but CAP_BPF) or "nobody" (none at all), or
 * "without-MAP": that map is not created. "program"
 * and "case" write what tests/unit/test_verifier.c reads: all that lib/verifier
 * is told of the program, and the verifier's log. "loads" is printed when it
 * loads.
 */
#include <bpf/bpf.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/object/refusal.h"

/* What is kept of a log: its beginning and its end, in whole lines. */
#define HEAD 3000
#define TAIL 3000

static char log_buf[16 * 1024 * 1024 - 1];

static void drop_capabilities(bool keep_bpf)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0}};

	if (keep_bpf)
		data[1].effective = data[1].permitted = 1u << (39 - 32);
	if (syscall(SYS_capset, &header, data)) {
		perror("capset");
		exit(2);
	}
}

static void put(const char *key, const char *text)
{
	if (text)
		printf("%s %s\n", key, text);
}

/* The verifier's words alone, where the log's end was cut off (before 6.4). */
static void write_words(const char *file, const char *program)
{
	static char words[4096];
	struct bpf_object *obj = bpf_object__open(file);
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, obj)
		bpf_program__set_autoload(prog, !strcmp(bpf_program__name(prog), program));
	prog = bpf_object__find_program_by_name(obj, program);
	bpf_program__set_log_buf(prog, words, sizeof(words));
	bpf_program__set_log_level(prog, 4);
	bpf_object__load(obj);
	bpf_object__close(obj);
	printf("\n%s", words);
}

static void write_log(const char *file, const char *program, const char *log)
{
	const size_t len = strlen(log);

	printf("log\n");
	if (len <= HEAD + TAIL) {
		printf("%s", log);
	} else {
		const char *head = memrchr(log, '\n', HEAD), *tail = strchr(log + len - TAIL, '\n');

		printf("%.*s\n", (int)(head ? head - log : 0), log);
		printf("%s", tail ? tail + 1 : "");
	}
	if (len && log[len - 1] != '\n')
		write_words(file, program);
	printf("end\n");
}

static void write_program(const char *name, const struct verifier_input *in)
{
	printf("program %s\n", name);
	put("type", in->type_name);
	put("license", in->license);
	printf("sleepable %d\ninsns ", in->sleepable);
	for (uint32_t i = 0; i < in->n_insns; i++) {
		uint64_t raw;

		memcpy(&raw, &in->insns[i], sizeof(raw));
		printf("%016llx", (unsigned long long)raw);
	}
	printf("\n");
	for (uint32_t i = 0; i < in->n_lines; i++) {
		const char *slash = strrchr(in->lines[i].file, '/');

		printf("line %u %u %s %s\n", in->lines[i].insn, in->lines[i].line,
		       slash ? slash + 1 : in->lines[i].file, in->lines[i].text);
	}
	for (uint32_t i = 0; i < in->n_funcs; i++)
		printf("func %u %s\n", in->funcs[i].insn, in->funcs[i].name);
	for (uint32_t i = 0; i < in->n_notes; i++) {
		const struct verifier_note *note = &in->notes[i];

		printf("note %u %d %u|%s|%s|%s\n", note->insn, note->kind, note->size, note->name,
		       note->text ? note->text : "", note->hint ? note->hint : "");
	}
	const char *at = strstr(in->log, "invalid bpf_context access off=");
	struct strbuf field = STRBUF_INIT;
	if (at)
		in->ctx_field(in->ctx, (uint32_t)strtoul(at + 31, NULL, 10), &field);
	if (field.len)
		printf("field %s\n", strbuf_str(&field));
	printf("end\n");
	strbuf_deinit(&field);
}

static void write_case(const char *file, const char *name, const struct verifier_input *in)
{
	printf("case %s\ncode %d\n", name, in->code);
	write_log(file, name, in->log);
}

static int print_json(void)
{
	char *json = perf_bpf_last_failure_json();

	if (!json) {
		perror("refused");
		return 2;
	}
	printf("%s\n", json);
	free(json);
	return 1;
}

/* An integer of three bytes. */
static int refused_btf(void)
{
	struct btf *btf = btf__new_empty();

	if (!btf || btf__add_int(btf, "odd", 4, 0) < 0)
		return 2;
	struct btf_type *t = (struct btf_type *)btf__type_by_id(btf, 1);
	t->size = 3;
	const int err = btf__load_into_kernel(btf);
	btf__free(btf);
	return err ? print_json() : 0;
}

/* A caller of today, of an older version, and of a newer one. */
static int show_struct(void)
{
	struct {
		struct perf_bpf_failure known;
		unsigned char newer[16];
	} f = {.known.sz = sizeof(f.known)};

	if (perf_bpf_last_failure(&f.known))
		return 2;
	printf("kind %s line %u reg %s insn %ld since %u\n", f.known.kind, f.known.line,
	       f.known.reg, f.known.insn, f.known.since_line);
	f.known.sz = sizeof(size_t);
	printf("smaller: %d\n", perf_bpf_last_failure(&f.known));
	memset(&f, 1, sizeof(f));
	f.known.sz = sizeof(f);
	const int ret = perf_bpf_last_failure(&f.known);
	bool zero = true;
	for (size_t i = 0; i < sizeof(f.newer); i++)
		zero &= !f.newer[i];
	printf("larger: %d %s, the rest %szero\n", ret, f.known.kind, zero ? "" : "not ");
	return 0;
}

int main(int argc, char **argv)
{
	struct perf_bpf_failure none = {.sz = sizeof(none)};

	if (argc == 2 && !strcmp(argv[1], "btf"))
		return refused_btf();
	if (argc > 3 && !strcmp(argv[1], "struct"))
		printf("before: %d\n", perf_bpf_last_failure(&none));
	struct bpf_object *obj = argc > 2 ? bpf_object__open(argv[2]) : NULL;
	struct bpf_program *prog;

	if (!obj && argc > 2 && !strcmp(argv[1], "open-json"))
		return print_json();
	if (!obj || argc < 4) {
		fprintf(stderr, "refused: %s\n", perf_bpf_last_error());
		return 2;
	}
	const bool is_program = !strcmp(argv[1], "program");
	const bool is_case = is_program || !strcmp(argv[1], "case");
	bpf_object__for_each_program (prog, obj)
		bpf_program__set_autoload(prog, !strcmp(bpf_program__name(prog), argv[3]));
	prog = bpf_object__find_program_by_name(obj, argv[3]);
	if (!prog) {
		fprintf(stderr, "refused: %s has no program %s\n", argv[2], argv[3]);
		return 2;
	}
	if (is_case) {
		bpf_program__set_log_buf(prog, log_buf, sizeof(log_buf));
		bpf_program__set_log_level(prog, 1);
	}
	if (argc > 4 && !strncmp(argv[4], "without-", 8))
		bpf_map__set_autocreate(bpf_object__find_map_by_name(obj, argv[4] + 8), false);
	else if (argc > 4)
		drop_capabilities(!strcmp(argv[4], "bpf"));
	const int err = bpf_object__load(obj);
	if (!err) {
		printf("loads\n");
		bpf_object__close(obj);
		return 0;
	}
	if (!strcmp(argv[1], "json")) {
		print_json();
	} else if (!strcmp(argv[1], "struct")) {
		show_struct();
	} else if (is_case) {
		_cleanup_(refusal_freep) struct load_refusal *r = NULL;

		if (refusal_new(prog, -err, log_buf, &r))
			return 2;
		if (is_program)
			write_program(argv[3], refusal_input(r));
		else if (verifier_log_has_words(log_buf))
			write_case(argv[2], argv[3], refusal_input(r));
	} else {
		printf("%s\n", perf_bpf_last_error());
		if (perf_bpf_last_hint())
			printf("hint: %s\n", perf_bpf_last_hint());
	}
	bpf_object__close(obj);
	return strcmp(argv[1], "struct") ? 1 : 0;
}
