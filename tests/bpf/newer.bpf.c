/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BTF of kinds that came with newer kernels: FLOAT 5.13, DECL_TAG 5.16,
 * TYPE_TAG 5.17, ENUM64 6.0 (from clang 15 on), and externs.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#if __has_attribute(btf_decl_tag)
#define NOTED __attribute__((btf_decl_tag("noted")))
#else
#define NOTED
#endif
#if __has_attribute(btf_type_tag)
#define USER __attribute__((btf_type_tag("user")))
#else
#define USER
#endif

enum wide {
	SMALL = -1,
	WIDE = 0x100000000ll,
};

struct measured {
	double mean;
	float last;
	enum wide wide;
	int USER *where;
} NOTED;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct measured);
} measures SEC(".maps");

extern int LINUX_KERNEL_VERSION __kconfig;
extern const void no_such_symbol __ksym __weak;
extern int no_such_function(int *USER p) __ksym __weak;

int counted NOTED;

static __noinline NOTED int look(__u32 key)
{
	return bpf_map_lookup_elem(&measures, &key) != NULL;
}

SEC("raw_tp/sys_enter")
int measure(void *ctx)
{
	counted++;
	if (&no_such_symbol != NULL)
		return no_such_function(&counted);
	return look(3) + (LINUX_KERNEL_VERSION >> 16 >= 5 ? 40 : 0);
}

char LICENSE[] SEC("license") = "GPL";
