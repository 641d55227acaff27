// SPDX-License-Identifier: BSD-2-Clause
#include "syscalls/call_names.h"

#include <sys/syscall.h>

#include "lib/base/util.h"

static const char *const names[] = {
#include "syscall_names.h"
/*
 * Those that are newer than the build machine's headers may be. Since 5.1 a new
 * one has the same number on all architectures (include/uapi/asm-generic/unistd.h).
 */
#define NEW(nr, name) [nr] = name
#ifndef __NR_cachestat
	NEW(451, "cachestat"), /* 6.5 */
#endif
#ifndef __NR_fchmodat2
	NEW(452, "fchmodat2"),	      /* 6.6 */
	NEW(453, "map_shadow_stack"), /* 6.6 */
#endif
#ifndef __NR_futex_wake
	NEW(454, "futex_wake"),	   /* 6.7 */
	NEW(455, "futex_wait"),	   /* 6.7 */
	NEW(456, "futex_requeue"), /* 6.7 */
#endif
#ifndef __NR_statmount
	NEW(457, "statmount"),	       /* 6.8 */
	NEW(458, "listmount"),	       /* 6.8 */
	NEW(459, "lsm_get_self_attr"), /* 6.8 */
	NEW(460, "lsm_set_self_attr"), /* 6.8 */
	NEW(461, "lsm_list_modules"),  /* 6.8 */
#endif
#ifndef __NR_mseal
	NEW(462, "mseal"), /* 6.10 */
#endif
#ifndef __NR_setxattrat
	NEW(463, "setxattrat"),	   /* 6.13 */
	NEW(464, "getxattrat"),	   /* 6.13 */
	NEW(465, "listxattrat"),   /* 6.13 */
	NEW(466, "removexattrat"), /* 6.13 */
#endif
#ifndef __NR_open_tree_attr
	NEW(467, "open_tree_attr"), /* 6.15 */
#endif
#ifndef __NR_file_getattr
	NEW(468, "file_getattr"), /* 6.17 */
	NEW(469, "file_setattr"), /* 6.17 */
#endif
};

/* 32-bit programs have numbers of their own; empty where the build machine has none. */
static const char *const names_32[] = {
#include "syscall_names_32.h"
};

static const char *const names_x32[] = {
#include "syscall_names_x32.h"
};

/* From here on, the numbers of all architectures are the same. */
enum { FIRST_COMMON = 424 };

const char *call_name(enum trace_abi abi, uint32_t nr)
{
	const char *name = NULL;

	if (abi == TRACE_ABI_32 && nr < ARRAY_SIZE(names_32))
		name = names_32[nr];
	else if (abi == TRACE_ABI_X32 && nr < ARRAY_SIZE(names_x32))
		name = names_x32[nr];
	if (!name && (abi == TRACE_ABI_NATIVE || nr >= FIRST_COMMON) && nr < ARRAY_SIZE(names))
		name = names[nr];
	return name;
}
