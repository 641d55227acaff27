// SPDX-License-Identifier: BSD-2-Clause
/*
 * What test_probe_attach.sh sets probes in. It counts for itself what a probe
 * must have seen, and prints it, a line "NAME VALUE" each.
 *
 *	probed CALLS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
	int kind;
	double price;
	char label[12];
};

struct order {
	long id;
	const char *who;
	unsigned small : 5, other : 11;
	struct item items[3];
};

long placed_total = 1000;
static short discount = -7;

__attribute__((noinline)) long order_place(struct order *order, int count, const char *note,
					   unsigned char flag)
{
	placed_total += count;
	__asm__ volatile("" ::: "memory");
	return order->id * 2 + count + flag + (note ? note[0] : 0) + discount;
}

/* Three of one kind, with their parameters in the same registers. */
#define STEP(name)                                                                                 \
	__attribute__((noinline)) void name(uint64_t n, const struct order *order)                 \
	{                                                                                          \
		__asm__ volatile("" : : "r"(n), "r"(order) : "memory");                            \
	}
STEP(step_first)
STEP(step_second)
STEP(step_third)
/* This one has n elsewhere. */
__attribute__((noinline)) void step_other(const struct order *order, uint64_t n)
{
	__asm__ volatile("" : : "r"(n), "r"(order) : "memory");
}

int main(int argc, char **argv)
{
	const int calls = argc > 1 ? atoi(argv[1]) : 100;
	long retvals = 0, counts = 0, kinds = 0, bits = 0, totals = 0, odd = 0, steps = 0;

	for (int i = 0; i < calls; i++) {
		const char *note = i % 4 == 3 ? NULL : i % 2 ? "odd one" : "even one";
		struct order order = {
			.id = i,
			.who = "somebody",
			.small = i & 31,
			.other = i * 3 & 2047,
			.items = {{1, 1.5, "one"}, {2, 2.5, "two"}, {-i, i * 0.5, "three"}},
		};

		counts += -i;
		kinds += -i;
		bits += order.small * 4096 + order.other;
		totals += placed_total;
		odd += note && note[0] == 'o';
		retvals += order_place(&order, -i, note, (unsigned char)i);
		steps += 4L * i;
		step_first((uint64_t)i, &order);
		step_second((uint64_t)i, &order);
		step_third((uint64_t)i, &order);
		step_other(&order, (uint64_t)i);
		discount -= 1;
	}
	printf("calls %d\ncounts %ld\nkinds %ld\nbits %ld\ntotals %ld\nodd %ld\nretvals %ld\n"
	       "steps %ld\nnulls %d\n",
	       calls, counts, kinds, bits, totals, odd, retvals, steps, calls / 4);
	return 0;
}
