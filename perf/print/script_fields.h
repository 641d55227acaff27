/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which fields of a sample are written: perf script's -F, with its names and
 * its rules (tools/perf/Documentation/perf-script.txt). The choice is made per
 * type of event, not per event.
 */
#ifndef PB_PERF_PRINT_FIELDS_H
#define PB_PERF_PRINT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/log.h"

#define FIELD_COMM	     (1ull << 0)
#define FIELD_TID	     (1ull << 1)
#define FIELD_PID	     (1ull << 2)
#define FIELD_TIME	     (1ull << 3)
#define FIELD_CPU	     (1ull << 4)
#define FIELD_EVENT	     (1ull << 5)
#define FIELD_TRACE	     (1ull << 6)
#define FIELD_IP	     (1ull << 7)
#define FIELD_SYM	     (1ull << 8)
#define FIELD_DSO	     (1ull << 9)
#define FIELD_ADDR	     (1ull << 10)
#define FIELD_SYMOFF	     (1ull << 11)
#define FIELD_PERIOD	     (1ull << 12)
#define FIELD_BPF_OUTPUT     (1ull << 13)
#define FIELD_MISC	     (1ull << 14)
#define FIELD_WEIGHT	     (1ull << 15)
#define FIELD_IREGS	     (1ull << 16)
#define FIELD_UREGS	     (1ull << 17)
#define FIELD_PHYS_ADDR	     (1ull << 18)
#define FIELD_DATA_PAGE_SIZE (1ull << 19)
#define FIELD_CODE_PAGE_SIZE (1ull << 20)
#define FIELD_FLAGS	     (1ull << 21)
#define FIELD_CGROUP	     (1ull << 22)
#define FIELD_UNIT	     (1ull << 23)
#define FIELD_CONTAINER	     (1ull << 24)
#define FIELD_POD	     (1ull << 25)
#define FIELD_SRCLINE	     (1ull << 26)
#define FIELD_INS_LAT	     (1ull << 27)
#define FIELD_BRSTACK	     (1ull << 28)
#define FIELD_BRSTACKSYM     (1ull << 29)
#define FIELD_BRSTACKOFF     (1ull << 30)
#define FIELD_DATA_SRC	     (1ull << 31)
#define FIELD_INSN	     (1ull << 32)
#define FIELD_INSNLEN	     (1ull << 33)
#define FIELD_DISASM	     (1ull << 34)
#define FIELD_BRSTACKINSN    (1ull << 35)
#define FIELD_BRSTACKINSNLEN (1ull << 36)
#define FIELD_BRSTACKDISASM  (1ull << 37)
#define FIELD_SRCCODE	     (1ull << 38)
#define FIELD_IPC	     (1ull << 39) /* only the decoded AUX area has it */
#define FIELD_DSOFF	     (1ull << 40) /* behind FIELD_DSO */
#define FIELD_RETIRE_LAT     (1ull << 41)
#define FIELD_TOD	     (1ull << 42)

#define FIELDS_BRANCH_CODE (FIELD_BRSTACKINSN | FIELD_BRSTACKINSNLEN | FIELD_BRSTACKDISASM)
#define FIELDS_CODE	   (FIELD_INSN | FIELD_INSNLEN | FIELD_DISASM | FIELDS_BRANCH_CODE)

/* What perf tells apart: attr.type, and all the others together. */
enum field_type {
	FIELD_TYPE_HARDWARE,
	FIELD_TYPE_SOFTWARE,
	FIELD_TYPE_TRACEPOINT,
	FIELD_TYPE_HW_CACHE,
	FIELD_TYPE_RAW,
	FIELD_TYPE_BREAKPOINT,
	FIELD_TYPE_OTHER, /* dynamic PMUs: uprobe, kprobe, … */
	FIELD_N_TYPES,
};

enum field_type field_type_of(uint32_t attr_type);

struct field_choice {
	struct {
		uint64_t fields;
		uint64_t wanted;   /* asked for by name: not to be dropped silently */
		uint64_t unwanted; /* taken away by name */
		bool user_set;
		bool by_type; /* named by "sw:…": such events must exist */
	} type[FIELD_N_TYPES];
	bool flags; /* "flags", which perf keeps apart from the types */
};

/* "comm" of FIELD_COMM. */
const char *field_name(uint64_t field);

/* Whether it is chosen for events of any type. */
bool field_choice_has(const struct field_choice *c, uint64_t field);

/* perf script's defaults. */
void field_choice_init(struct field_choice *c);

/* One argument of -F; several are applied in turn. log may be NULL. */
struct error *field_choice_parse(struct field_choice *c, const char *arg, const struct log *log);

#endif
