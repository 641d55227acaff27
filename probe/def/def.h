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
 * Keys: exec=PATH (a user binary or library), module=NAME (of the kernel),
 * inlines=yes|no (inlined copies too; yes), force=yes|no.
 * FUNC may be a glob. LINE counts from the function's first line.
 *
 * ARG: [NAME=]BASE[.MEMBER|->MEMBER|[INDEX]]...[:TYPE[@user]]
 * BASE: a parameter, a local or global variable, $retval, $params (all of
 * them), $vars (all that can be seen at the place), %REGISTER, $comm, $stackN.
 * TYPE: u8 … u64, s8 … s64, x8 … x64, string, ustring, bBITS@SHIFT/SIZE, bool, char.
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
	PROBE_PATTERN,	 /* ;PATTERN: the lines whose source text matches the glob */
};

enum probe_base {
	PROBE_VARIABLE,
	PROBE_RETVAL,
	PROBE_PARAMS,	/* $params: becomes an argument for each parameter */
	PROBE_VARS,	/* $vars: likewise, with the locals */
	PROBE_REGISTER, /* %ax, %x0 */
	PROBE_COMM,
	PROBE_STACK, /* $stackN: the N-th word of the stack; $stack: its address (index -1) */
};

enum probe_step_kind {
	PROBE_MEMBER, /* .name */
	PROBE_ARROW,  /* ->name */
	PROBE_INDEX,  /* [n] */
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
	PROBE_TYPE_USTRING, /* a string of user memory, read from the kernel */
	PROBE_TYPE_BITS,
	PROBE_TYPE_BOOL,
	PROBE_TYPE_CHAR,
};

struct probe_arg {
	char *name; /* of the field: NAME, or the last member's, or the base's; a C identifier */
	char *text; /* as written, without "NAME=" and type */
	bool named; /* NAME= was written */
	enum probe_base base;
	char *variable; /* of PROBE_VARIABLE and PROBE_REGISTER ("ax", "x0") */
	int64_t index;	/* of PROBE_STACK */
	struct probe_step *steps;
	size_t n_steps;
	enum probe_type type;
	uint8_t bits;		      /* 8 … 64 of the numbers */
	uint8_t bit_width, bit_shift; /* of PROBE_TYPE_BITS, within a number of that many bits */
	bool user;		      /* @user: the memory is the process's */
	uint32_t at;		      /* where in the definition's text it begins */
};

struct probe_def {
	char *text;	     /* the whole, as written */
	char *exec, *module; /* NULL: not said: the kernel */
	bool inlines;	     /* yes when not said */
	bool force;
	char *group, *event; /* NULL: not said */
	char *function;	     /* may be a glob; NULL with PROBE_FILE_LINE */
	bool is_glob;
	char *file; /* NULL: not said */
	enum probe_where where;
	uint64_t offset;
	uint32_t line;
	char *pattern;
	struct probe_arg *args;
	size_t n_args;
};

/*
 * Takes a definition apart; def is all zero. EINVAL: it is none, with the
 * column where it ends to be one, and near names of mistyped keys and types.
 */
struct error *probe_def_parse(const char *text, struct probe_def *def);
void probe_def_deinit(struct probe_def *def);
#define _cleanup_probe_def_ _cleanup_(probe_def_deinit)

/*
 * Whether a program's section name is meant as a definition: not one of the
 * library's own sections, but "KEY=…;", "EVENT=FUNC", or words after a function.
 */
bool probe_def_is(const char *section);

#endif
