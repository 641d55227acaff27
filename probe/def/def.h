/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probe definitions: which place of which binary, and what is to be read
 * there. As perf probe spells them (perf-probe(1), PROBE SYNTAX), with keys
 * before, as the first BPF programs of perf had them:
 *
 *	[KEY=VALUE;]... [[GROUP:]EVENT=]FUNC[@FILE][+OFFSET|%return|:LINE|;PATTERN] [ARG ...]
 *	[KEY=VALUE;]... [[GROUP:]EVENT=]FILE:LINE [ARG ...]
 *
 *	"exec=/usr/bin/shop;place=order_place order->items[2].price n=order->count"
 *	"vfs_* file->f_path.dentry->d_name.name:string count"
 *
 *	[KEY=VALUE;]... [[GROUP:]EVENT=]FILE;PATTERN [ARG ...]
 *
 * Keys: exec=PATH (a user binary or library), module=NAME (of the kernel),
 * inlines=yes|no (inlined copies too; yes), force=yes|no, unsure=yes|no.
 * FUNC may be a glob. LINE counts from the function's first line; 0 is the entry. A C++ or
 * Rust name is written as it is ("Shop::order", "Shop::operator+",
 * "shop::(anonymous namespace)::f", "Shop::order(char const*)"). A word before ':' is a FILE when
 * it has a '.' and is followed by no digits alone or "cold", as perf decides it.
 * '\' before one of @ : + % ; = takes it as a letter of the name
 * ("memcpy\@GLIBC_2.14"); a name or a path may stand in quotes, '' or "".
 *
 * ARG: [NAME=][*]BASE[.MEMBER|->MEMBER|[INDEX]]...[:TYPE][@user]
 *	[NAME=]+[u]OFFSET(ARG)[:TYPE]: what stands OFFSET bytes after the address ARG
 * BASE: a parameter, a local or global variable, $retval, $params (all of
 * them), $vars (all that can be seen at the place), %REGISTER, $comm, $stackN,
 * $argN (the N-th parameter, from 1), @SYMBOL (what stands at a symbol).
 * TYPE: u8 … u64, s8 … s64, x8 … x64; u, s or x: the size is the variable's;
 * string, ustring, bBITS@SHIFT/SIZE, bool, char. Where nothing tells types, the string of
 * "+8(%di)" or "@SYMBOL" is the text there; of a register it is what that points to.
 *
 * Pure: text in, structure out, no look at any binary.
 */
#ifndef PB_PROBE_DEF_DEF_H
#define PB_PROBE_DEF_DEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

enum probe_where {
	PROBE_ENTRY,
	PROBE_OFFSET,	 /* +OFFSET: bytes from the function's first */
	PROBE_RETURN,	 /* %return */
	PROBE_LINE,	 /* FUNC:LINE, counted from the function's line, which is 0 */
	PROBE_FILE_LINE, /* FILE:LINE; function is NULL */
	PROBE_PATTERN,	 /* ;PATTERN: the lines whose source text matches the glob, without regard
			    to spaces; with FILE;PATTERN function is NULL */
};

enum probe_base {
	PROBE_VARIABLE,
	PROBE_RETVAL,
	PROBE_PARAMS,	/* $params: becomes an argument for each parameter */
	PROBE_VARS,	/* $vars: likewise, with the locals */
	PROBE_REGISTER, /* %ax, %x0 */
	PROBE_COMM,
	PROBE_STACK,  /* $stackN: the N-th word of the stack; $stack: its address (index -1) */
	PROBE_PARAM,  /* $argN: the parameter index, from 0 */
	PROBE_SYMBOL, /* @SYMBOL */
};

enum probe_step_kind {
	PROBE_MEMBER, /* .name */
	PROBE_ARROW,  /* ->name */
	PROBE_INDEX,  /* [n] */
	PROBE_DEREF,  /* +index(…): what stands so many bytes after the address */
};

struct probe_step {
	enum probe_step_kind kind;
	char *name;
	int64_t index;
	uint32_t at; /* where in the definition's text it begins, for errors */
};

enum probe_type {
	PROBE_TYPE_NONE, /* not said: as the debug information has it */
	PROBE_TYPE_UNSIGNED,
	PROBE_TYPE_SIGNED,
	PROBE_TYPE_HEX,
	PROBE_TYPE_STRING,
	PROBE_TYPE_USTRING, /* a string that stands in user memory, whatever led there */
	PROBE_TYPE_BITS,
	PROBE_TYPE_BOOL,
	PROBE_TYPE_CHAR,
};

struct probe_arg {
	/*
	 * Of the field: NAME, or the last member's, or the base's ("retval", "ax", "stack2"); a
	 * C identifier. Where two would be the same, both are their whole paths: "a_len", "b_len",
	 * and if these are the same too, they are numbered: "a_len_2".
	 */
	char *name;
	char *text; /* as written, without "NAME=" and type */
	bool named; /* NAME= was written */
	enum probe_base base;
	char *variable; /* of PROBE_VARIABLE, PROBE_SYMBOL and PROBE_REGISTER ("ax", "x0") */
	int64_t index;	/* of PROBE_STACK and PROBE_PARAM */
	struct probe_step *steps;
	size_t n_steps;
	enum probe_type type;
	uint8_t bits; /* 8 … 64 of the numbers; 0: the size is the variable's ("x") */
	uint8_t bit_width, bit_shift; /* of PROBE_TYPE_BITS, within a number of that many bits */
	bool user;   /* @user: all that pointers lead to is the memory of the process */
	uint32_t at; /* where in the definition's text it begins */
};

struct probe_def {
	char *text;	     /* the whole, as written */
	char *exec, *module; /* NULL: not said: the kernel */
	bool inlines;	     /* yes when not said */
	bool force;
	bool unsure;	     /* also variables that may have no value yet at the probe point */
	char *group, *event; /* NULL: not said */
	char *function;	     /* may be a glob; NULL with FILE:LINE and FILE;PATTERN */
	bool is_glob;
	char *file; /* NULL: not said */
	enum probe_where where;
	uint64_t offset;
	uint32_t line;
	char *pattern;
	struct probe_arg *args;
	size_t n_args;
};

#define PROBE_MAX_ARGS	64
#define PROBE_MAX_STEPS 64

/*
 * An EINVAL or ENOENT or the like about a part of a definition: MESSAGE below the text, with a
 * mark at the byte "at" (of an argument, of a step).
 */
#define probe_def_error(text, at, code, ...)                                                       \
	error_in_text(code, "probe definition", text, at, __VA_ARGS__)

/*
 * Takes a definition apart; def is all zero. EINVAL: it is none, with the
 * column where it ends to be one, and near names of mistyped keys and types.
 */
struct error *probe_def_parse(const char *text, struct probe_def *def);
void probe_def_deinit(struct probe_def *def);
#define _cleanup_probe_def_ _cleanup_(probe_def_deinit)

/* Whether a word is by its look a source file: "shop.c", not "f", "f.isra.0" or "f.cold". */
bool probe_is_source(const char *word);

/*
 * Whether a program's section name is meant as a definition: not one of the
 * library's own sections, but "KEY=…;", "EVENT=FUNC", or words after a function.
 */
bool probe_def_is(const char *section);

#endif
