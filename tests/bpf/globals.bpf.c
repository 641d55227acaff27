/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Global variables of every shape, for the skeletons' structs. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "globals.h"

typedef __u64 u64; /* as vmlinux.h has them */
typedef __u8 u8;

extern int LINUX_KERNEL_VERSION __kconfig;
extern bool CONFIG_BPF __kconfig __weak;

/* .data: statics between, wider alignment than the types' */
u8 first = 1;
static volatile u64 hidden = 2;
u64 matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
bool flag = true;
char wide __attribute__((aligned(32))) = 'w';
struct pair pairs[2] = {{1, 2}, {3, 4}};
enum colour colour = GREEN;
struct {
	int a;
	union {
		u8 b;
		u64 c;
	};
} nameless = {.a = 5, .c = 6};
double_word both = 7;

/* .bss */
int *pointer;
int (*function)(int, char *);
struct pair *(*table[2])[3];
point_t point;
unsigned long long words[4];
short small;

const volatile struct {
	bool yes;
	u64 limit;
} settings = {.limit = 10};
const volatile u8 bytes[3] = {1, 2, 3};

SEC("raw_tp/sys_enter")
int sum(void *ctx)
{
	static const char format[] = "literal";

	hidden += matrix[1][2] + pairs[1].second + nameless.a + both;
	words[0] = hidden + settings.limit + bytes[2] + flag + (wide == 'w') + colour + first;
	words[1] = LINUX_KERNEL_VERSION != 0;
	words[2] = CONFIG_BPF;
	words[3] = (__u64)format != 0;
	point.x = 11;
	point.y = 12;
	small = -3;
	pointer = 0;
	function = 0;
	table[1] = 0;
	return (int)words[0];
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
