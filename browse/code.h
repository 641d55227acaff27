/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function's code with its samples, to scroll through: which of its lines are seen and how, the
 * arrows of jumps, and where the cursor is.
 */
#ifndef PB_BROWSE_CODE_H
#define PB_BROWSE_CODE_H

#include "browse/canvas.h"
#include "lib/base/vec.h"
#include "show/annotation.h"

enum code_unit {
	CODE_PERCENT,
	CODE_PERIODS,
	CODE_SAMPLES,
	N_CODE_UNITS,
};

/* Which instructions have their address before them. */
enum code_addresses {
	CODE_OF_TARGETS, /* those to which a jump of the function goes */
	CODE_OF_CALLS,	 /* calls as well */
	CODE_OF_ALL,
	N_CODE_ADDRESSES,
};

/* How code is shown. All zero: as at first. */
struct code_look {
	enum code_unit unit;
	struct annotation_percent percent;
	bool no_source, no_bpf; /* source lines, instructions of BPF */
	bool raw;		/* operands as the disassembler writes them, and whole addresses */
	bool no_arrows, no_numbers;
	bool jumps;  /* how many go to an instruction */
	bool places; /* the source line behind the instructions */
	bool full;   /* whole addresses, not offsets in the function */
	enum code_addresses addresses;
};

struct code_line {
	const struct annotation_line *line;
	size_t row;	  /* the one that shows it, or the next that is seen */
	size_t target;	  /* of a jump within the function: to which line; SIZE_MAX: it is none */
	uint32_t n_jumps; /* that go to it */
};

/* All zero is one without code. */
struct code {
	struct code_look look;
	char *search; /* NULL: none yet */
	bool backwards;

	struct annotation a; /* a copy */
	VEC(struct code_line) lines;
	VEC(size_t) rows; /* lines that are seen */
	size_t cursor, first;
	bool is_jump;  /* the cursor is somewhere else than it was: what is around it is shown */
	size_t column; /* how much of the text is to the left of the screen */
	uint32_t most_jumps;
};

void code_deinit(struct code *code);

/* Shows another function from its hottest line on, as the look says; it is copied. */
struct error *code_set(struct code *code, const struct annotation *a);
/* The same function later: the cursor stays where it is. */
struct error *code_update(struct code *code, const struct annotation *a);
/* After a change of the look. */
struct error *code_look_anew(struct code *code);

/* NULL: there are no lines. */
const struct code_line *code_line(const struct code *code);

void code_move(struct code *code, ptrdiff_t by);
/* To a line, or what is next to it if it is not seen. */
void code_go(struct code *code, size_t line);
/* To the instruction at an address; false: there is none. */
bool code_go_address(struct code *code, uint64_t address);
/* To the hottest line; with a step of 1 or -1, to the one that is next hotter or cooler. */
bool code_go_hot(struct code *code, int step);
/* To the next line that contains what is searched, or the one before; false: there is none. */
bool code_find(struct code *code, bool backwards);

/* In percent, the largest of the events. */
double code_share(const struct code *code, const struct annotation_line *line);

/* Draws on rows from first_row on, as many as n. */
struct error *code_draw(struct code *code, struct canvas *canvas, size_t first_row, size_t n);
/* All that is seen, as text. */
struct error *code_text(struct code *code, struct strbuf *out);

#endif
