// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/typed_programs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
	if (!strchr(word, '{'))
		return NULL;
	*text = strdup(word);
	return *text ? NULL : error_nomem();
}

struct error *typed_program_add(struct typed_programs *programs, const struct compile_opts *compile,
				const char **path)
{
	_cleanup_free_ char *text = NULL;
	const char *name;

	TRY(find_text(*path, &text, &name));
	if (!text)
		return NULL;
	struct typed_program *p = vec_push(programs);
	if (!p)
		return error_nomem();
	*p = (struct typed_program){.text = steal_ptr(text), .name = name};
	TRY(error_mark_usage(oneliner_generate(p->text, p->name, &oneliner_host, &p->made)));
	TRY(compile_text_new(p->made.source, "program", compile, &p->file));
	*path = compile_text_path(p->file);
	return NULL;
}

struct error *typed_program_source(const char *word, char **source, bool *is_program)
{
	_cleanup_oneliner_ struct oneliner made = {0};
	_cleanup_free_ char *text = NULL;
	const char *name;

	TRY(find_text(word, &text, &name));
	*is_program = text != NULL;
	if (!text)
		return NULL;
	TRY(oneliner_generate(text, name, &oneliner_host, &made));
	*source = steal_ptr(made.source);
	return NULL;
}
