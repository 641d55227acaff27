/* SPDX-License-Identifier: BSD-2-Clause */
/* What usdt.bpf.c counts and usdt_client.c compares. */
#ifndef PB_TESTS_VM_USDT_H
#define PB_TESTS_VM_USDT_H

enum {
	USDT_ARGS = 12,
};

struct usdt_result {
	unsigned long long calls;
	unsigned long long cookies;	    /* sum of them */
	unsigned long long errors;	    /* arguments that could not be read */
	long long count;		    /* of arguments, the last time */
	unsigned long long sums[USDT_ARGS]; /* of each argument, extended to 64 bits */
	long long sizes[USDT_ARGS];	    /* the last time */
	long long beyond;		    /* what reading argument `count` gave, the last time */
	int pid;			    /* counted are this process's; 0: all */
};

#endif
