// SPDX-License-Identifier: BSD-2-Clause
/* What the tests of probe/dwarf/ ask about. Lines are counted in them: change both. */
struct item {
	unsigned int id : 12;
	int flags : 5;
	long price;
	char name[12];
};
struct customer;
struct order {
	unsigned long id;
	struct item items[3];
	int matrix[2][3];
	struct customer *who;
	union {
		long count;
		short low;
	};
};
struct pair {
	int a;
	long b;
};

int stock = 7;
static int sold;
__thread long seen;
extern const char *place_name(const struct order *order);
extern int hidden_elsewhere;

static inline long item_price(const struct item *item, int n)
{
	if (item->flags < 0)
		return 0;
	return item->price * n;
}

__attribute__((noinline)) long order_total(const struct order *order, int n)
{
	long total = 0;

	for (int i = 0; i < n; i++)
		total += item_price(&order->items[i], i + 1);
	sold += n;
	return total;
}

__attribute__((noinline)) struct pair order_pair(struct pair p, double rate)
{
	p.a += stock;
	seen++;
	return p;
}

int order_place(struct order *order, const char *name)
{
	struct pair p = {1, 2};
	long total = order_total(order, 2);

	p = order_pair(p, 0.5);
	if (place_name(order) == name)
		total += p.b;
	return (int)(total + p.a);
}
