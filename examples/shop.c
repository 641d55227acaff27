// SPDX-License-Identifier: BSD-2-Clause
/*
 * A service to probe: it places orders.
 *
 *	cc -g -O1 -o shop examples/shop.c
 *	perf-bpf record -e 'probe:exec=./shop;order_place order->id order->who:string' -- ./shop 20
 */
#include <stdio.h>
#include <stdlib.h>

struct order {
	unsigned long id;
	const char *who;
	unsigned long amount;
};

static unsigned long stock = 1000;

__attribute__((noinline)) int order_place(struct order *order)
{
	unsigned long price = 3;
	unsigned long total = order->amount * price;

	if (order->amount > stock)
		return -1;
	stock -= order->amount;
	printf("order %lu of %s: %lu\n", order->id, order->who, total);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const customers[] = {"ada", "grace", "linus"};
	const unsigned long orders = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;

	for (unsigned long i = 0; i < orders; i++) {
		struct order order = {.id = i, .who = customers[i % 3], .amount = i + 1};

		if (order_place(&order))
			return 1;
	}
	return 0;
}
