// SPDX-License-Identifier: BSD-2-Clause
// A function of C++ with parameters, which faults pages in. Without the C++ library, as work.c.
static char pages[64 * 4096];

namespace shop
{
__attribute__((noinline)) void touch(char *first, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		*(volatile char *)(first + 4096 * i) = 1;
}
} // namespace shop

extern "C" void _start()
{
	shop::touch(pages, 64);
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
}
