// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps the garbage collections of Python that look at `generation` (2: at all
 * objects) or an older one:
 *
 *	perf-bpf record -e examples/python_gc.bpf.c/generation=2/ -- python3 -c 'import this'
 *
 * gc__start is a USDT probe: a place that Python's authors marked, with an
 * argument. 'readelf -n /usr/bin/python3' lists a program's probes. A library
 * is found as the dynamic linker finds it: SEC("usdt/libc.so.6:libc:setjmp").
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/usdt.bpf.h>

const volatile int generation = 2;

SEC("usdt//usr/bin/python3:python:gc__start")
int BPF_USDT(collects, int which)
{
	return which >= generation;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
