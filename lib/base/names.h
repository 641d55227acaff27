/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names: a list of them, globs over them, and the ones nearest to a name that
 * does not exist, for hints.
 */
#ifndef PB_BASE_NAMES_H
#define PB_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"

/* A list that owns its strings. */
struct names {
	char **v;
	size_t n;
	size_t cap;
};

void names_deinit(struct names *names);
#define _cleanup_names_ __attribute__((cleanup(names_deinit)))

/* Adds a copy; false: no memory. */
bool names_add(struct names *names, const char *name);
/* Adds a copy of the first len bytes; false: no memory. */
bool names_add_n(struct names *names, const char *name, size_t len);
void names_sort(struct names *names);

/* Whether s holds a character that makes it a pattern: one of * ? [ */
bool glob_is_pattern(const char *s);

/*
 * Whether all of name matches: * is any text, ? any character, [a-z], [!a-z]
 * and [^a-z] a set, and \ takes the next character as it is. Its cost is
 * bounded by the product of both lengths.
 */
bool glob_match(const char *pattern, const char *name);

/* The bytes of what a pattern begins with: a character, "\\" with one, "*", "?" or a set. */
size_t glob_token(const char *pattern);

/*
 * Optimal string alignment distance: insertions, deletions, replacements and
 * swaps of neighbours that make b of a, without regard to case. Stops at
 * limit: a larger distance comes out as limit + 1.
 */
unsigned name_distance(const char *a, const char *b, unsigned limit);

/*
 * Collects the names nearest to one that was not found: offer it the
 * candidates, then add the hint.
 *
 *	struct nearest near = nearest_make("sched_swich");
 *	for (…) nearest_offer(&near, candidate);
 *	err = error_new(ENOENT, "unknown tracepoint 'sched_swich'");
 *	return error_suggest(err, &near);	// hint: did you mean 'sched_switch'?
 *
 * A candidate is near when no more than a third of the wanted name's letters
 * is wrong and not many more than of the best one, or when one of the two
 * holds the other (three letters at least).
 * It borrows the candidates until the text is made.
 */
struct nearest {
	const char *want;
	unsigned limit;
	size_t n;
	struct {
		const char *name;
		unsigned score;
	} best[3];
};

struct nearest nearest_make(const char *want);
void nearest_offer(struct nearest *near, const char *candidate);
/* The same, but compares name while the text will say label, which is borrowed. */
void nearest_offer_as(struct nearest *near, const char *name, const char *label);
/* Adds the names, each between quotes: "'a', 'b' or 'c'"; false: there are none. */
bool nearest_text(const struct nearest *near, struct strbuf *sb);

/*
 * Sets the hint "did you mean 'a' or 'b'?" when names are near; without them
 * the next error_hint() sets the hint. As with error_hint(), a hint that err
 * has is kept, NULL stays NULL, and err is returned.
 */
struct error *error_suggest(struct error *err, const struct nearest *near);

/*
 * The same with a sentence that is of use either way: "did you mean 'a'? There
 * are: a, b", and without near names the sentence alone, its first letter as
 * it was given.
 */
struct error *error_suggest_and(struct error *err, const struct nearest *near, const char *fmt, ...)
	_printf_(3, 4);

/* The name of a type of the kernel's where we have one, else "type 99" in unknown. */
#define TYPE_TEXT_SIZE 16

const char *type_or_number(const char *name, uint32_t type, char unknown[TYPE_TEXT_SIZE]);

#endif
