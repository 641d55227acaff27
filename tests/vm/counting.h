/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A workload that knows what it does, and the counters of a BPF program that
 * saw it: what client.c and ways.c have in common.
 */
#ifndef TESTS_VM_COUNTING_H
#define TESTS_VM_COUNTING_H

#include <bpf/libbpf.h>

enum {
	STEPS = 1234,
	BYTES = 7,
};

/* The sum of what workload_step() and the others were given, 0 … STEPS - 1. */
#define WORKLOAD_ARGS ((unsigned long long)STEPS * (STEPS - 1) / 2)

/* The places that are probed; workload_many_d is another name of workload_many_a. */
__attribute__((noinline)) unsigned long workload_step(unsigned long i);
__attribute__((noinline)) unsigned long workload_many_a(unsigned long i);
__attribute__((noinline)) unsigned long workload_many_b(unsigned long i);
__attribute__((noinline)) unsigned long workload_many_c(unsigned long i);
unsigned long workload_many_d(unsigned long i);

/* STEPS times: each of these with the step's number, a read of BYTES bytes, a getpgid(). */
void workload(void);
/* How many getpgid() of the last workload failed: none, unless a program says so. */
extern unsigned long refused;

/* A line of TAP, and the last error when it is "not ok"; 0 or 1. */
int result(int ok, const char *what, const char *name);

/* Opens the object and loads these two programs only; second may be NULL. NULL: it failed. */
struct bpf_object *load_program(const char *path, const char *name, const char *second,
				struct bpf_program **prog);

struct counters {
	struct bpf_map *bss;
	char *value; /* a copy of the whole map, in find_counters()'s buffer */
	size_t size;
	int *target;
	unsigned long long *calls, *sum, *cookie;
};

/* Where the globals stand in .bss: the object's BTF says it. 0, or -1: it has them not. */
int find_counters(struct bpf_object *obj, struct counters *counters);
/* From 0, for this process or, with pid 0, for none. */
void set_target(const struct counters *c, int pid);
void read_counters(const struct counters *c);
/* What a workload of this process adds to the counters. */
void measure_workload(const struct counters *c);

#endif
