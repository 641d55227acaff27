// SPDX-License-Identifier: BSD-2-Clause
/* The formats of printf(). */
#include "oneliner/internal.h"

/* The format, for the view: backslashes stay, and the line ends without one. */
void format_write(const struct body *b, const struct argument *a, struct strbuf *out)
{
	const struct token *t = body_token(b, a->from);
	const char *text = b->g->text + t->at;
	size_t len = t->len;

	if (len >= 4 && !memcmp(text + len - 3, "\\n\"", 3))
		len -= 3;
	else
		len--;
	strbuf_addch(out, '"');
	for (size_t i = 1; i < len; i++)
		strbuf_addf(out, text[i] == '\\' || text[i] == '"' ? "\\%c" : "%c", text[i]);
	strbuf_addch(out, '"');
}

/* Behind a conversion that begins at text[i] ('%'); *conv is its letter, 0: it is none. */
static size_t read_conversion(const char *text, size_t i, size_t len, char *conv)
{
	i++;
	while (i < len && strchr("-+ #0123456789.", text[i]))
		i++;
	while (i < len && strchr("hlzj", text[i]))
		i++;
	*conv = i < len && strchr("diuxXocsp%", text[i]) ? text[i] : 0;
	return i + 1;
}

/* printf()'s format is a string whose conversions are those of the values. */
struct error *format_check(struct body *b, const struct call *c)
{
	const struct token *t = body_token(b, c->v[0].from);
	size_t n = 1;
	char conv;

	if (t->kind != TOKEN_STRING || c->v[0].to != c->v[0].from + 1)
		return call_error(b, c->v[0].from, c->f, "the format is not a string in quotes");
	for (size_t i = 1, next; i + 1 < t->len; i = next) {
		struct value_type type;
		const size_t at = t->at + i;

		next = i + 1;
		if (b->g->text[at] != '%')
			continue;
		next = read_conversion(b->g->text + t->at, i, t->len - 1, &conv);
		if (!conv)
			return oneliner_error(
				EINVAL, b->g->name, b->g->text, at,
				"unknown conversion (%%d, %%u, %%x, %%o, %%c, %%s, %%p)");
		if (conv == '%')
			continue;
		if (n == c->n)
			return oneliner_error(EINVAL, b->g->name, b->g->text, at,
					      "the value for this conversion is missing");
		TRY(body_type(b, c->v[n].from, c->v[n].to, &type));
		if (type.size && conv != 's')
			return oneliner_error(EINVAL, b->g->name, b->g->text, at,
					      "this conversion is for numbers, and the value is a "
					      "string");
		n++;
	}
	if (n != c->n)
		return call_error(b, c->v[n].from, c->f,
				  "the format has no conversion for this value");
	return NULL;
}
