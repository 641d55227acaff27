// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/typed_programs.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "lib/base/failure.h"
#include "lib/sys/sys.h"
#include "work/builtin.h"

enum {
	MAX_TEXT = 64 * 1024,
};

void typed_programs_deinit(struct typed_programs *programs)
{
	struct typed_program *p;

	vec_for_each (p, programs) {
		free(p->text);
		oneliner_deinit(&p->made);
		compile_text_free(p->file);
	}
	vec_deinit(programs);
	strbuf_deinit(&programs->said);
}

static struct error *read_stdin(char **text)
{
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	char part[4096];
	ssize_t n;

	while ((n = read(STDIN_FILENO, part, sizeof(part))) > 0 && all.len <= MAX_TEXT)
		strbuf_add(&all, part, n);
	if (n < 0)
		return error_errno(errno, "cannot read the program from stdin");
	*text = strbuf_steal(&all);
	return *text ? NULL : error_nomem();
}

/* The text of a program that a word is or names; NULL: it is a C file, an object or a name. */
static struct error *find_text(const char *word, char **text, const char **name)
{
	struct stat st;

	*text = NULL;
	*name = "program";
	if (!strcmp(word, "-"))
		return read_stdin(text);
	if (stat(word, &st) == 0 && S_ISREG(st.st_mode)) {
		const size_t len = strlen(word);
		_cleanup_free_ char *data = NULL;
		size_t size;

		if (len > 2 && (!strcmp(word + len - 2, ".c") || !strcmp(word + len - 2, ".o")))
			return NULL;
		if (builtin_is_name(word) && !strchr(word, '{')) {
			_cleanup_error_ struct error *err = NULL;
			const struct builtin *b;

			err = builtin_find(word, &b);
			if (!err)
				return NULL;
		}
		if (st.st_size > MAX_TEXT)
			return NULL;
		TRY(sys_read_file(word, MAX_TEXT, &data, &size));
		if (strlen(data) != size || !oneliner_is(data))
			return NULL;
		*text = steal_ptr(data);
		*name = word;
		return NULL;
	}
	if (!oneliner_body(word))
		return NULL;
	*text = strdup(word);
	return *text ? NULL : error_nomem();
}

/* *text becomes the program's. */
static struct error *add_text(struct typed_programs *programs, const struct compile_opts *compile,
			      char **text, const struct oneliner_opts *opts, const char **path)
{
	struct typed_program *p = vec_push(programs);

	if (!p)
		return error_nomem();
	*p = (struct typed_program){.text = steal_ptr(*text), .name = opts->name};
	TRY(error_mark_usage(oneliner_generate(p->text, opts, &oneliner_host, &p->made)));
	TRY(compile_text_new(p->made.source, "program", compile, &p->file));
	*path = compile_text_path(p->file);
	return NULL;
}

struct error *typed_program_add(struct typed_programs *programs, const struct compile_opts *compile,
				const char **path)
{
	_cleanup_free_ char *text = NULL;
	struct oneliner_opts opts = {0};

	TRY(find_text(*path, &text, &opts.name));
	return text ? add_text(programs, compile, &text, &opts, path) : NULL;
}

/* "{cycles,instructions}" is a group of events: the brace of a body is behind an event. */
static bool is_filter(const char *text)
{
	const char *brace = oneliner_body(text);

	if (!brace || !oneliner_is(text))
		return false;
	while (brace > text && isspace((unsigned char)brace[-1]))
		brace--;
	return brace > text && brace[-1] != ',';
}

struct error *typed_filter_add(struct typed_programs *programs, const struct compile_opts *compile,
			       const char **event)
{
	const struct oneliner_opts opts = {.name = "program", .filters = true};
	_cleanup_free_ char *text = is_filter(*event) ? strdup(*event) : NULL;

	if (!is_filter(*event))
		return NULL;
	return text ? add_text(programs, compile, &text, &opts, event) : error_nomem();
}

/* ---- messages ---- */

static void listen(void *ctx, const char *text)
{
	strbuf_adds(&((struct typed_programs *)ctx)->said, text);
}

void typed_programs_listen(struct typed_programs *programs, struct compile_opts *compile)
{
	if (!programs->n)
		return;
	programs->said = (struct strbuf)STRBUF_INIT;
	compile->said = listen;
	compile->said_ctx = programs;
}

/* The program whose C file this is. */
static const struct typed_program *find_program(const struct typed_programs *programs,
						const char *path, size_t len)
{
	const struct typed_program *p;

	vec_for_each (p, programs) {
		const char *own = p->file ? compile_text_path(p->file) : "";

		if (strlen(own) == len && !strncmp(own, path, len))
			return p;
	}
	return NULL;
}

/* A message of clang's: "PATH:LINE:COLUMN: error: TEXT". */
struct message {
	const struct typed_program *program; /* NULL: of another file */
	size_t at;
	bool is_error;
	const char *text;
};

static bool read_message(const struct typed_programs *programs, const char *line, struct message *m)
{
	const char *colon = line;
	unsigned row, column;
	int len;

	do {
		colon = strchr(colon + 1, ':');
		len = 0;
		if (colon)
			sscanf(colon, ":%u:%u: %n", &row, &column, &len);
	} while (colon && !len);
	if (!colon)
		return false;
	*m = (struct message){.program = find_program(programs, line, colon - line),
			      .text = colon + len};
	if (m->program && !oneliner_find(&m->program->made, row, column, &m->at))
		m->program = NULL;
	m->is_error = !strncmp(m->text, "error: ", 7) || !strncmp(m->text, "fatal error: ", 13);
	m->text += strcspn(m->text, ":") + 2;
	return m->program || !strstr(line, ": note: ");
}

/* What BPF cannot do, as clang's back end has it without a column. */
static bool read_backend(const struct typed_programs *programs, const char *line, struct message *m)
{
	const char *path = strstr(line, "Unsupport signed division");
	unsigned row, column;

	path = path ? strchr(path, '/') : NULL;
	const char *colon = path ? strchr(path, ':') : NULL;
	if (!colon || sscanf(colon, ":%u:%u", &row, &column) != 2)
		return false;
	*m = (struct message){.program = find_program(programs, path, colon - path),
			      .is_error = true,
			      .text = "BPF cannot divide numbers with a sign: divide (__u64)(...)"};
	return m->program && oneliner_find(&m->program->made, row, column, &m->at);
}

static struct error *show(const struct message *m, const char *line)
{
	if (!m->program)
		return error_new(ENOEXEC, "%s", line);
	struct error *err = error_mark_usage(
		oneliner_error(ENOEXEC, m->program->name, m->program->text, m->at, "%s", m->text));
	char name[64];
	if (sscanf(m->text, "use of undeclared identifier '%63[^']", name) != 1)
		return err;
	struct nearest near = nearest_make(name);
	oneliner_offer_names(&near);
	return error_suggest_and(err, &near, "variables are declared as in C; fields are args->%s",
				 name);
}

/* The first error is the result; a later one often follows from it. Warnings are printed. */
static struct error *read_said(struct typed_programs *programs, const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	struct error *first = NULL;
	char *rest = copy;

	for (char *line; rest && (line = strsep(&rest, "\n")) && !first;) {
		struct message m;

		if (!read_backend(programs, line, &m) && !read_message(programs, line, &m))
			continue;
		struct error *err = show(&m, line);
		if (m.is_error) {
			first = err;
			continue;
		}
		cmd_say("perf-bpf: warning: %s\n", err->msg);
		error_free(err);
	}
	return first;
}

/* The typed part of the line that the verifier rejects; of a line of a header, of its program. */
static const struct typed_program *find_rejected(const struct typed_programs *programs,
						 const struct failure *f, size_t *at)
{
	const struct typed_program *p = find_program(programs, f->file, strlen(f->file));

	if (p && oneliner_find(&p->made, f->line, 1, at))
		return p;
	vec_for_each (p, programs)
		if (f->program && oneliner_find_program(&p->made, f->program, at))
			return p;
	return NULL;
}

static struct error *explain_failure(const struct typed_programs *programs, struct error *err)
{
	const struct failure *f = err->failure;
	size_t at;
	const struct typed_program *p = f && f->file ? find_rejected(programs, f, &at) : NULL;

	if (!p)
		return err;
	struct error *shown = oneliner_error(err->code, p->name, p->text, at, "%s", err->msg);
	if (err->hint)
		shown = error_hint(shown, "%s", err->hint);
	if (shown->code == err->code)
		shown->failure = steal_ptr(err->failure);
	error_free(err);
	return shown;
}

struct error *typed_programs_explain(struct typed_programs *programs, struct error *err)
{
	if (programs->said.len) {
		struct error *said = read_said(programs, strbuf_str(&programs->said));

		strbuf_reset(&programs->said);
		if (said && err && (err->code == ENOEXEC || err->code == EIO)) {
			error_free(err);
			return said;
		}
		error_free(said);
	}
	return err ? explain_failure(programs, err) : NULL;
}

struct error *typed_program_source(const char *word, char **source, bool *is_program)
{
	_cleanup_oneliner_ struct oneliner made = {0};
	_cleanup_free_ char *text = NULL;
	struct oneliner_opts opts = {0};

	TRY(find_text(word, &text, &opts.name));
	*is_program = text != NULL;
	if (!text)
		return NULL;
	TRY(oneliner_generate(text, &opts, &oneliner_host, &made));
	*source = steal_ptr(made.source);
	return NULL;
}
