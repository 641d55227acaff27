/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * USDT probes as a binary describes them: its notes, and what the text of a
 * note says about the arguments. Bytes in, no system calls.
 */
#ifndef PB_ATTACH_USDT_H
#define PB_ATTACH_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/elf/elf_read.h"

/* A place in the code. The strings point into the file. */
struct usdt_note {
	const char *provider;
	const char *name;
	const char *args;     /* "-4@%edi 8@-24(%rbp)"; "" for none */
	uint64_t location;    /* the virtual address of its nop */
	uint64_t semaphore;   /* of a 16-bit counter of who listens; 0: none */
	uint64_t note_offset; /* of the note in its section, for messages */
};

struct usdt_notes {
	const struct elf_file *file;
	const struct elf_section *sec;
	struct cursor c;
	uint64_t base; /* where the section .stapsdt.base is now; 0: there is none */
};

/* ENOENT, with a hint: the file has no notes of probes. */
struct error *usdt_notes_open(const struct elf_file *file, struct usdt_notes *notes);
/* The next one; *more false: there was none. */
struct error *usdt_notes_next(struct usdt_notes *notes, struct usdt_note *note, bool *more);

#define USDT_ARGS_MAX 12

/* The numbers are the map's: enum __bpf_usdt_arg_type of <bpf/usdt.bpf.h>. */
enum usdt_where {
	USDT_CONST, /* value */
	USDT_REG,   /* the register */
	USDT_DEREF, /* memory at the register plus value */
	USDT_SIB,   /* plus the index << scale, too */
};

struct usdt_arg {
	enum usdt_where place;
	uint8_t size; /* 1, 2, 4 or 8 bytes */
	bool is_signed;
	uint64_t value;
	uint16_t reg, index; /* offsets in the kernel's struct pt_regs */
	uint8_t scale;	     /* 0 … 3 */
};

/* What the text of arguments refers to beyond itself. */
struct usdt_frame {
	uint16_t machine;  /* EM_… */
	uint64_t location; /* the probe's virtual address */
	bool fixed;	   /* addresses are the same in each process: ET_EXEC */
	/* The virtual address of a variable; false: it is not known. */
	bool (*symbol)(void *ctx, const char *name, size_t len, uint64_t *addr);
	void *ctx;
};

/*
 * The arguments of a note's text; *n of them. EINVAL, EOPNOTSUPP: the number
 * of the argument, what stands there, and why it cannot be read.
 */
struct error *usdt_args_parse(const char *text, const struct usdt_frame *frame,
			      struct usdt_arg args[USDT_ARGS_MAX], size_t *n);

#endif
