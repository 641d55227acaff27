// SPDX-License-Identifier: BSD-2-Clause
/*
 * Filters of globs: taken apart anew for each name, by a descent along
 * OR := AND ['|' AND]..., AND := NOT ['&' NOT]..., NOT := '!' NOT | '(' OR ')' | GLOB.
 * They are short, and each glob's cost is bounded.
 */
#include "probe/point/name_filter.h"

#include <errno.h>
#include <string.h>

#include "lib/base/names.h"
#include "lib/base/util.h"

#define GLOB_MAX  255
#define DEPTH_MAX 32

struct name_filter {
	const char *at;
	const char *name;
	const char *wrong; /* what; then at is where */
	int depth;
};

static bool take_or(struct name_filter *f);

static void skip(struct name_filter *f)
{
	f->at += strspn(f->at, " \t\n");
}

static bool fail(struct name_filter *f, const char *what)
{
	if (!f->wrong)
		f->wrong = what;
	return false;
}

static bool take_glob(struct name_filter *f)
{
	char glob[GLOB_MAX + 1];
	const char *s = f->at;
	bool set = false;
	size_t n = 0;

	for (; *s; s++) {
		if (strchr(" \t\n|&()", *s) || (*s == '!' && !set))
			break;
		set = *s == '[' || (set && *s != ']');
		if (n + 2 > GLOB_MAX)
			return fail(f, "this name is too long");
		if (*s == '\\' && s[1])
			glob[n++] = *s++;
		glob[n++] = *s;
	}
	glob[n] = 0;
	if (!n)
		return fail(f, "expected a name here");
	f->at = s;
	skip(f);
	return glob_match(glob, f->name);
}

static bool take_not(struct name_filter *f)
{
	bool yes;

	if (f->wrong)
		return false;
	if (++f->depth > DEPTH_MAX)
		return fail(f, "nested too deeply");
	skip(f);
	if (*f->at == '!') {
		f->at++;
		yes = !take_not(f);
	} else if (*f->at == '(') {
		f->at++;
		yes = take_or(f);
		if (f->wrong)
			return false;
		if (*f->at != ')')
			fail(f, "expected ')' here");
		else
			f->at++;
		skip(f);
	} else {
		yes = take_glob(f);
	}
	f->depth--;
	return yes;
}

static bool take_and(struct name_filter *f)
{
	bool yes = take_not(f);

	while (!f->wrong && *f->at == '&') {
		f->at++;
		yes &= take_not(f);
	}
	return yes;
}

static bool take_or(struct name_filter *f)
{
	bool yes = take_and(f);

	while (!f->wrong && *f->at == '|') {
		f->at++;
		yes |= take_and(f);
	}
	return yes;
}

static bool evaluate(struct name_filter *f)
{
	const bool yes = take_or(f);

	if (!f->wrong && *f->at)
		fail(f, "expected '|' or '&' here");
	return yes && !f->wrong;
}

struct error *name_filter_check(const char *filter)
{
	struct name_filter f = {.at = filter, .name = ""};

	evaluate(&f);
	return f.wrong ? error_mark_usage(error_in_text(EINVAL, "filter", filter,
							(size_t)(f.at - filter), "%s", f.wrong))
		       : NULL;
}

bool name_filter_match(const char *filter, const char *name)
{
	struct name_filter f = {.at = filter, .name = name};

	return evaluate(&f);
}
