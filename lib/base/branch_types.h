/* SPDX-License-Identifier: BSD-2-Clause */
/* The types of branches that a PMU tells apart (enum of the kernel), by perf's names. */
#ifndef PB_BASE_BRANCH_TYPES_H
#define PB_BASE_BRANCH_TYPES_H

enum {
	BRANCH_TYPE_COND = 1,
	BRANCH_TYPE_EXTEND_ABI = 15, /* the type is a new one */
	N_BRANCH_TYPES = 16,
};

/* new_type: of BRANCH_TYPE_EXTEND_ABI; "": unknown. */
const char *branch_type_name(unsigned type, unsigned new_type);

#endif
