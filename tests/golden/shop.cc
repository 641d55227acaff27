// SPDX-License-Identifier: BSD-2-Clause
// Inlined functions of C++, one of which is a template. Without the C++ library, as work.c.
namespace shop
{
static volatile unsigned long sink;

struct Cart {
	unsigned long total;

	__attribute__((always_inline)) inline void add(int n)
	{
		for (int i = 0; i < n; i++)
			sink = sink + i;
	}

	template <typename T> __attribute__((always_inline)) inline void all(T n)
	{
		add(n);
		total++;
	}
};

__attribute__((noinline)) void fill(Cart &c, int n)
{
	c.all<int>(n);
	sink = sink + c.total;
}
} // namespace shop

extern "C" void _start()
{
	shop::Cart c = {0};

	for (int i = 0; i < 200; i++)
		shop::fill(c, 100000);
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
}
