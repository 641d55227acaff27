// SPDX-License-Identifier: BSD-2-Clause
#include "show/stack_text.h"

#include <stdlib.h>
#include <string.h>

static bool is_word(const char *token, size_t len, const char *word)
{
	return !strncmp(token, word, len);
}

/* One word of -g; false: there is no such word. */
static bool parse_word(struct chain_opts *chain, const char *token, size_t len, bool *order_given,
		       bool *percent_given)
{
	static const struct {
		const char *word;
		int kind, value;
	} words[] = {
		{"graph", 'm', CHAIN_GRAPH},
		{"flat", 'm', CHAIN_FLAT},
		{"fractal", 'm', CHAIN_FRACTAL},
		{"folded", 'm', CHAIN_FOLDED},
		{"caller", 'o', true},
		{"callee", 'o', false},
		{"function", 'k', STACK_BY_FUNCTION},
		{"address", 'k', STACK_BY_ADDRESS},
		{"srcline", 'k', STACK_BY_LINE},
		{"percent", 'v', CHAIN_PERCENT},
		{"period", 'v', CHAIN_PERIOD},
		{"count", 'v', CHAIN_COUNT},
	};
	char *end;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!is_word(token, len, words[i].word))
			continue;
		switch (words[i].kind) {
		case 'm':
			chain->mode = (enum chain_mode)words[i].value;
			break;
		case 'o':
			chain->caller = words[i].value;
			*order_given = true;
			break;
		case 'k':
			chain->order = (enum stack_order)words[i].value;
			break;
		default:
			chain->value = (enum chain_value)words[i].value;
			break;
		}
		return true;
	}
	double number = strtod(token, &end);
	if (end != token + len || !(number >= 0))
		return false;
	if (*percent_given)
		chain->print_limit = (unsigned)min_of(number, (double)UINT32_MAX);
	else
		chain->min_percent = number;
	*percent_given = true;
	return true;
}

struct error *chain_opts_parse(const char *text, struct chain_opts *chain, bool *order_given)
{
	bool percent_given = false;

	while (*text) {
		size_t len = strcspn(text, ",");

		if (len && is_word(text, len, "none")) {
			chain->mode = CHAIN_NONE;
			return NULL;
		}
		if (len && !parse_word(chain, text, len, order_given, &percent_given))
			return error_hint(error_usage("--call-graph: invalid mode '%.*s'", (int)len,
						      text),
					  "give a list of: graph, fractal, flat, folded or none; "
					  "percent; limit; caller or callee; function, address or "
					  "srcline; "
					  "percent, period or count");
		text += len;
		text += *text == ',';
	}
	return NULL;
}
