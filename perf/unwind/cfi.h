/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame information: for each address of a program, where its function saved the registers
 * of its caller. Read from .eh_frame and .debug_frame, in memory, without a system call.
 *
 * Sources: DWARF 5, 6.4 and 7.24; for .eh_frame and .eh_frame_hdr the Linux Standard Base Core
 * 5.0, 10.6; for registers the psABI of x86-64 (figure 3.36) and the DWARF ABI of arm64.
 */
#ifndef PB_PERF_UNWIND_CFI_H
#define PB_PERF_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/cursor.h"
#include "lib/base/error.h"

/*
 * Registers by their numbers in DWARF: x86-64 has 0 to 15 and the return address as 16; arm64
 * x0 to x30 and sp as 31. Rules of higher numbers (vector registers) are left out.
 */
#define CFI_REGISTERS 33

enum cfi_kind {
	CFI_SAME,      /* the register was not changed */
	CFI_UNDEFINED, /* its value is lost; of the return address: there is no caller */
	CFI_SAVED_AT,  /* in memory at the CFA + offset */
	CFI_IS_CFA,    /* it is the CFA + offset */
	CFI_REGISTER,  /* in the register `offset` */
	CFI_EXPR_AT,   /* in memory where the expression says */
	CFI_EXPR_IS,   /* it is the value of the expression */
};

struct cfi_rule {
	uint8_t reg;
	uint8_t kind;	 /* enum cfi_kind */
	uint16_t length; /* of the expression */
	int32_t offset;	 /* or where the expression is in its section */
};

/* How to get from a frame to its caller, for one address. */
struct cfi_row {
	struct cfi_rule cfa; /* CFI_IS_CFA: the register plus the offset; CFI_EXPR_IS */
	uint8_t return_reg;  /* the register whose rule is the caller's address */
	uint8_t n;
	bool is_signal; /* of a signal's trampoline: the caller was interrupted, it did not call */
	bool is_signed; /* the return address has a pointer authentication code (arm64) */
	bool in_debug_frame; /* where the expressions are */
	struct cfi_rule rules[CFI_REGISTERS];
};

/* One section; size 0: the file does not have it. The bytes are borrowed. */
struct cfi_section {
	const void *data;
	size_t size;
	uint64_t addr; /* its virtual address */
};

struct cfi_input {
	struct cfi_section eh_frame, eh_frame_hdr, debug_frame;
	bool swap;     /* the file is in the other byte order */
	bool is_arm64; /* else x86-64 */
};

struct cfi;
struct error *cfi_new(const struct cfi_input *in, struct cfi **out);
void cfi_free(struct cfi *cfi);
DEFINE_FREEP(struct cfi, cfi_free)

/* The row for a virtual address; false: there is none, or it is damaged. */
bool cfi_find(struct cfi *cfi, uint64_t addr, struct cfi_row *row);

/*
 * Calls fn for all rows, by address: each holds for [start, end). row NULL: the function's entry
 * is damaged from there on. Of functions that overlap, the one that starts last is used.
 */
typedef struct error *cfi_row_fn(void *ctx, uint64_t start, uint64_t end,
				 const struct cfi_row *row);
struct error *cfi_each_row(struct cfi *cfi, cfi_row_fn *fn, void *ctx);

/* The bytes of a rule's expression. */
struct cursor cfi_expression(const struct cfi *cfi, const struct cfi_row *row,
			     const struct cfi_rule *rule);

/* LEB128 numbers; false: they do not end within the cursor. Bits above 64 are lost. */
bool cfi_uleb(struct cursor *c, uint64_t *v);
bool cfi_sleb(struct cursor *c, int64_t *v);

#endif
