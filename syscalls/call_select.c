// SPDX-License-Identifier: BSD-2-Clause
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/names.h"
#include "syscalls/arg_kind.h"
#include "syscalls/call_table_internal.h"

/* Calls of one expression: a byte for each number of each ABI. */
struct selection {
	const struct call_table *table;
	bool on[TRACE_ABIS][TRACE_NRS];
};

/* Names of classes besides call_class_names[]. */
static const struct {
	const char *name, *class;
} class_aliases[] = {
	{"%net", "network"},	{"net", "network"},	    {"%desc", "desc"},
	{"%%stat", "statlike"}, {"%%statfs", "statfslike"}, {"%mem", "memory"},
	{"%proc", "process"},
};

/* 0: it is not a class. Without the "%", stat and its like are calls. */
static uint64_t class_bits(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(class_aliases); i++)
		if (!strcmp(class_aliases[i].name, word))
			word = class_aliases[i].class;
	const bool percent = *word == '%';
	for (int i = 0; call_class_names[i]; i++)
		if (!strcmp(call_class_names[i], word + percent))
			return percent || !strstr(word, "stat") || strstr(word, "like") ? 1ull << i
											: 0;
	return 0;
}

enum match_kind { MATCH_NAME, MATCH_GLOB, MATCH_REGEX, MATCH_CLASS, MATCH_ALL };

/* A name may be that of the kernel's function: newstat. */
static bool matches(enum match_kind kind, const char *word, uint64_t classes, const regex_t *regex,
		    const struct call *call)
{
	const char *function = call_function_name(call->name);

	switch (kind) {
	case MATCH_ALL:
		return true;
	case MATCH_CLASS:
		return call->classes & classes;
	case MATCH_GLOB:
		return glob_match(word, call->name) || glob_match(word, function);
	case MATCH_REGEX:
		return !regexec(regex, call->name, 0, NULL, 0);
	default:
		return !strcmp(word, call->name) || !strcmp(word, function);
	}
}

static struct error *unknown(const struct call_table *table, const char *word)
{
	struct nearest near = nearest_make(word);
	struct error *err;

	if (*word == '%') {
		for (int i = 0; call_class_names[i]; i++)
			nearest_offer(&near, call_class_names[i]);
		err = error_new(EINVAL, "unknown class of system calls '%s'", word);
		return error_suggest_and(err, &near,
					 "the classes are %%file, %%desc, %%network, %%process, "
					 "%%memory, %%signal, %%ipc, %%creds, %%stat, %%lstat, "
					 "%%fstat, %%%%stat, %%statfs, %%fstatfs, %%%%statfs, "
					 "%%clock and %%pure");
	}
	for (uint32_t nr = 0; nr < TRACE_NRS; nr++)
		if (table->calls[TRACE_ABI_NATIVE][nr])
			nearest_offer(&near, table->calls[TRACE_ABI_NATIVE][nr]->name);
	for (int i = 0; call_class_names[i]; i++)
		nearest_offer(&near, call_class_names[i]);
	err = error_new(EINVAL, "unknown system call '%s'", word);
	return error_suggest(err, &near);
}

/* Cuts "@64", "@32" or "@x32" off; the bits of the ABIs that are meant. */
static unsigned cut_abi(char *word)
{
	char *at = strrchr(word, '@');
	unsigned abis = 0;

	if (!at || at == word)
		return ~0u;
	if (!strcmp(at, "@64"))
		abis = 1 << TRACE_ABI_NATIVE;
	else if (!strcmp(at, "@32"))
		abis = 1 << TRACE_ABI_32;
	else if (!strcmp(at, "@x32"))
		abis = 1 << TRACE_ABI_X32;
	else
		return ~0u;
	*at = 0;
	return abis;
}

/* Turns on what matches; how many calls. */
static unsigned turn_on(struct selection *s, enum match_kind kind, const char *word,
			uint64_t classes, const regex_t *regex, unsigned abis)
{
	unsigned n = 0;

	for (int abi = 0; abi < TRACE_ABIS; abi++)
		for (uint32_t nr = 0; nr < TRACE_NRS && abis >> abi & 1; nr++) {
			const struct call *call = s->table->calls[abi][nr];

			if (kind == MATCH_ALL)
				s->on[abi][nr] = true;
			else if (call && matches(kind, word, classes, regex, call))
				s->on[abi][nr] = true;
			else
				continue;
			n++;
		}
	return n;
}

static struct error *select_word(struct selection *s, char *word)
{
	const bool may_miss = *word == '?';
	regex_t regex = {0};

	word += may_miss;
	const unsigned abis = cut_abi(word);
	const uint64_t classes = class_bits(word);
	enum match_kind kind = classes		       ? MATCH_CLASS
			       : *word == '/'	       ? MATCH_REGEX
			       : !strcmp(word, "all")  ? MATCH_ALL
			       : glob_is_pattern(word) ? MATCH_GLOB
						       : MATCH_NAME;
	if (!strcmp(word, "none"))
		return NULL;
	if (kind == MATCH_REGEX) {
		const int code = regcomp(&regex, word + 1, REG_EXTENDED | REG_NOSUB);

		if (code) {
			char why[128];

			regerror(code, &regex, why, sizeof(why));
			return error_new(EINVAL, "'%s' is not a regular expression: %s", word + 1,
					 why);
		}
	}
	const unsigned n = turn_on(s, kind, word, classes, &regex, abis);
	if (kind == MATCH_REGEX)
		regfree(&regex);
	if (n || may_miss)
		return NULL;
	if (kind == MATCH_GLOB || kind == MATCH_REGEX)
		return error_new(EINVAL, "no system call matches '%s'", word);
	return unknown(s->table, word);
}

static struct error *select_words(struct selection *s, char *words)
{
	char *save = NULL;
	unsigned n = 0;

	for (char *word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save), n++)
		TRY(select_word(s, word));
	return n ? NULL : error_new(EINVAL, "no system call is named");
}

struct error *call_table_select(const struct call_table *table, const char *expr,
				struct trace_call *calls)
{
	_cleanup_free_ struct selection *s = calloc(1, sizeof(*s));
	const bool negated = *expr == '!' || *expr == '-';
	_cleanup_free_ char *words = strdup(expr + negated);

	if (!s || !words)
		return error_nomem();
	s->table = table;
	TRY(select_words(s, words));
	for (int abi = 0; abi < TRACE_ABIS; abi++)
		for (uint32_t nr = 0; nr < TRACE_NRS; nr++) {
			const struct call *call = table->calls[abi][nr];
			struct trace_call *to = &calls[abi * TRACE_NRS + nr];

			if (s->on[abi][nr] == negated)
				continue;
			*to = call ? call->copies : (struct trace_call){.n_args = TRACE_ARGS};
			to->traced = 1;
		}
	return NULL;
}
