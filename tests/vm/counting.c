// SPDX-License-Identifier: BSD-2-Clause
/* See counting.h. */
#include "tests/vm/counting.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/perf_bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

unsigned long refused;

unsigned long workload_step(unsigned long i)
{
	__asm__ volatile("" ::: "memory");
	return i * 3;
}

unsigned long workload_many_a(unsigned long i)
{
	__asm__ volatile("" ::: "memory");
	return i + 1;
}

unsigned long workload_many_b(unsigned long i)
{
	__asm__ volatile("" ::: "memory");
	return i + 2;
}

unsigned long workload_many_c(unsigned long i)
{
	__asm__ volatile("" ::: "memory");
	return i + 3;
}

/* A second name of the same place. */
unsigned long workload_many_d(unsigned long i) __attribute__((alias("workload_many_a")));

void workload(void)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	const pid_t self = getpid();
	char buf[BYTES];

	refused = 0;
	for (unsigned long i = 0; i < STEPS; i++) {
		workload_step(i);
		workload_many_a(i);
		workload_many_b(i);
		workload_many_c(i);
		if (syscall(SYS_read, fd, buf, BYTES) != BYTES)
			abort();
		if (syscall(SYS_getpgid, self) < 0)
			refused++;
	}
	close(fd);
}

int result(int ok, const char *what, const char *name)
{
	printf("%s - %s %s\n", ok ? "ok" : "not ok", name, what);
	if (!ok && perf_bpf_last_error()[0])
		printf("# last error: %s\n# hint: %s\n", perf_bpf_last_error(),
		       perf_bpf_last_hint() ? perf_bpf_last_hint() : "");
	return ok ? 0 : 1;
}

struct bpf_object *load_program(const char *path, const char *name, const char *second,
				struct bpf_program **prog)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	struct bpf_program *p;

	*prog = NULL;
	if (!obj)
		return NULL;
	bpf_object__for_each_program (p, obj) {
		int wanted = !strcmp(bpf_program__name(p), name);

		bpf_program__set_autoload(p, wanted || (second &&
							!strcmp(bpf_program__name(p), second)));
		if (wanted)
			*prog = p;
	}
	if (!*prog || bpf_object__load(obj)) {
		bpf_object__close(obj);
		return NULL;
	}
	return obj;
}

int find_counters(struct bpf_object *obj, struct counters *counters)
{
	struct bpf_map *bss = bpf_object__find_map_by_name(obj, ".bss");
	const struct btf *btf = bpf_object__btf(obj);
	size_t size = bss ? bpf_map__value_size(bss) : 0;
	static char data[256];
	int id = btf ? btf__find_by_name_kind(btf, ".bss", BTF_KIND_DATASEC) : -1;

	if (!bss || size > sizeof(data) || id < 0)
		return -1;
	const struct btf_type *sec = btf__type_by_id(btf, id);
	const struct btf_var_secinfo *var = (const void *)(sec + 1);
	*counters = (struct counters){.bss = bss, .value = data, .size = size};
	for (unsigned i = 0; i < BTF_INFO_VLEN(sec->info); i++) {
		const struct btf_type *t = btf__type_by_id(btf, var[i].type);
		const char *name = btf__name_by_offset(btf, t->name_off);
		void *at = data + var[i].offset;

		if (!strcmp(name, "target"))
			counters->target = at;
		else if (!strcmp(name, "calls"))
			counters->calls = at;
		else if (!strcmp(name, "sum"))
			counters->sum = at;
		else if (!strcmp(name, "cookie"))
			counters->cookie = at;
	}
	return counters->target && counters->calls && counters->sum && counters->cookie ? 0 : -1;
}

void set_target(const struct counters *c, int pid)
{
	__u32 zero = 0;

	memset(c->value, 0, c->size);
	*c->target = pid;
	if (bpf_map__update_elem(c->bss, &zero, sizeof(zero), c->value, c->size, 0))
		abort();
}

void read_counters(const struct counters *c)
{
	__u32 zero = 0;

	if (bpf_map__lookup_elem(c->bss, &zero, sizeof(zero), c->value, c->size, 0))
		abort();
}

void measure_workload(const struct counters *c)
{
	set_target(c, getpid());
	workload();
	read_counters(c);
}
