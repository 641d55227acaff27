/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier's refusal in the user's terms. Pure: given its log, the
 * program and what is known of the program, it says which source line of
 * which file is at fault, of what kind the fault is, what the register in
 * question held and since when, and what usually mends it. No system call is
 * made; nothing in the log is trusted.
 */
#ifndef PB_VERIFIER_VERIFIER_H
#define PB_VERIFIER_VERIFIER_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/failure.h"

/* Where an instruction comes from; it holds until the next one's. */
struct verifier_line {
	uint32_t insn;
	uint32_t line;
	const char *file;
	const char *text; /* without the white space it begins with */
};

struct verifier_func {
	uint32_t insn; /* its first */
	const char *name;
};

/* What the loader knows of one instruction. */
enum verifier_note_kind {
	VERIFIER_NOTE_MAP,  /* it loads the map `name`, or a value of it */
	VERIFIER_NOTE_VAR,  /* the same, and the variable `name` of section `text` */
	VERIFIER_NOTE_CORE, /* CO-RE found no match: `text` says what; `hint` names near ones */
	VERIFIER_NOTE_GONE, /* it uses the map `name`, which was not created */
	VERIFIER_NOTE_KSYM, /* a weak symbol of the kernel, `name`, that is not there */
};

struct verifier_note {
	enum verifier_note_kind kind;
	uint32_t insn;
	const char *name;
	const char *text;
	const char *hint;
	uint32_t size;	 /* of the map's value, or of the variable; 0: unknown */
	bool lacks_type; /* CO-RE: no loaded module has the type either */
};

/* Everything is borrowed; tables ascend by instruction. */
struct verifier_input {
	int code; /* the errno that the kernel gave */
	const char *log;
	const struct bpf_insn *insns;
	uint32_t n_insns;
	const struct verifier_line *lines;
	uint32_t n_lines;
	const struct verifier_func *funcs;
	uint32_t n_funcs;
	const struct verifier_note *notes;
	uint32_t n_notes;
	const char *type_name; /* of the program: "raw_tracepoint"; NULL: unknown */
	const char *license;   /* NULL: unknown */
	bool sleepable;
	/* The context's field at a byte: "struct __sk_buff.data"; adds nothing: unknown. NULL. */
	void (*ctx_field)(void *ctx, uint32_t offset, struct strbuf *sb);
	void *ctx;
};

/*
 * The explanation: never NULL. Its code is in->code, its place not set; the
 * struct failure it carries has kind, function, file, line and so on, but not
 * object, program and section.
 */
struct error *verifier_explain(const struct verifier_input *in);

/* Whether the log holds the kernel's words at all, besides statistics. */
bool verifier_log_has_words(const char *log);

#endif
