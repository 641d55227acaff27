/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A shop whose orders tests/cmd/test_probe.sh looks at: it prints what the
 * probes must see, one line for each call of order_place():
 *
 *	shop ORDERS [child]		child: the same once more in a child, after exec
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct item {
	int price;
	char tag[8];
};

struct order {
	unsigned long id;
	struct item items[4];
	const char *who;
	double total;
	int left : 5;
};

static int counter;

static inline __attribute__((always_inline)) int discount(int price)
{
	__asm__ volatile("" : "+r"(price));
	return price / 2;
}

__attribute__((noinline)) int order_place(struct order *order, int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++)
		sum += order->items[i].price;
	counter += sum; /* the function's line 6 */
	return sum;
}

static void shop(long orders)
{
	struct order order = {.who = "ann", .left = -3};

	for (long i = 0; i < orders; i++) {
		order.id = 1000 + i;
		order.total = i * 0.5;
		snprintf(order.items[1].tag, sizeof(order.items[1].tag), "t%ld", i);
		order.items[2].price = (int)i * 7 - 20;
		int sum = order_place(&order, 4);
		printf("%d %lu %s %d %g %d t%ld %d %d\n", (int)getpid(), order.id, order.who,
		       order.items[2].price, order.total, order.left, i, sum, discount(sum));
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	shop(atol(argv[1]));
	if (argc > 2) {
		pid_t pid = fork();

		if (!pid)
			execl("/proc/self/exe", "shop", argv[1], (char *)NULL);
		waitpid(pid, NULL, 0);
	}
	return 0;
}
