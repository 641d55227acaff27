/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What globals.bpf.c and its user both know. */
struct pair {
	short first;
	int second;
};

enum colour {
	RED,
	GREEN,
};

typedef unsigned long long double_word;
typedef struct {
	int x, y;
} point_t;
