// SPDX-License-Identifier: BSD-2-Clause
/*
 * Constants: flags and commands of system calls, signals and errors. Headers of the kernel have
 * them as macros, which BTF does not; so the C file defines those that the text names.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "oneliner/internal.h"

/* Whether a token can be a constant: a capital, and nothing that makes it a member, a map or a
 * call. */
static bool may_be(const char *text, const struct tokens *tokens, size_t i)
{
	const struct token *t = &tokens->v[i];

	return t->kind == TOKEN_NAME && isupper((unsigned char)text[t->at]) && t->len > 1 &&
	       !(i && (token_is(text, t - 1, ".") || token_is(text, t - 1, "->"))) &&
	       !token_is(text, t + 1, "[") && !token_is(text, t + 1, "(") &&
	       !token_is(text, t + 1, "=");
}

bool constant_is(const struct generator *g, const struct token *t)
{
	const struct constant *c;

	vec_for_each (c, &g->constants)
		if (token_is(g->text, t, c->name))
			return true;
	return false;
}

struct error *constants_find(struct generator *g)
{
	const struct clause *clause;

	if (!g->env->constant)
		return NULL;
	vec_for_each (clause, &g->clauses)
		for (size_t i = 0; i < clause->tokens.n; i++) {
			const struct token *t = &clause->tokens.v[i];
			uint64_t value;

			if (!may_be(g->text, &clause->tokens, i) || constant_is(g, t))
				continue;
			_cleanup_free_ char *name = strndup(g->text + t->at, t->len);
			if (!name)
				return error_nomem();
			if (!g->env->constant(name, &value))
				continue;
			struct constant *slot = vec_push(&g->constants);
			if (!slot)
				return error_nomem();
			*slot = (struct constant){steal_ptr(name), value};
		}
	return NULL;
}

void constants_write(const struct generator *g, struct strbuf *out)
{
	const struct constant *c;

	vec_for_each (c, &g->constants) {
		strbuf_addf(out, "#ifndef %s\n", c->name);
		if ((int64_t)c->value < 0)
			strbuf_addf(out, "#define %s (%" PRId64 ")\n", c->name, (int64_t)c->value);
		else
			strbuf_addf(out, "#define %s 0x%" PRIx64 "\n", c->name, c->value);
		strbuf_adds(out, "#endif\n");
	}
	if (g->constants.n)
		strbuf_addch(out, '\n');
}

void constants_deinit(struct generator *g)
{
	struct constant *c;

	vec_for_each (c, &g->constants)
		free(c->name);
	vec_deinit(&g->constants);
}
