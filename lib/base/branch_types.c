// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/branch_types.h"

#include "lib/base/util.h"

const char *branch_type_name(unsigned type, unsigned new_type)
{
	static const char *const types[BRANCH_TYPE_EXTEND_ABI] = {
		"",	  "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",	"SYSCALL",
		"SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX",
	};
	static const char *const new_types[N_BRANCH_TYPES] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
		"ARCH_2",     "ARCH_3",	    "ARCH_4",	  "ARCH_5",
	};
	const char *name = type < ARRAY_SIZE(types)	      ? types[type]
			   : new_type < ARRAY_SIZE(new_types) ? new_types[new_type]
							      : NULL;

	return name ? name : "";
}
