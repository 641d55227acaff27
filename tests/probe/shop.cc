// SPDX-License-Identifier: BSD-2-Clause
/* The same in C++. */
namespace shop {
struct Base {
	int base_id;
	virtual ~Base() {}
};
struct Virtual {
	long far;
};
class Order : public Base, public virtual Virtual {
	long total_;

    public:
	static int live;
	Order(long total) : total_(total) { base_id = 3; }
	long total(const int &extra) const;
	template <typename T> T scaled(T by) const;
};
int Order::live = 5;
__attribute__((noinline)) long Order::total(const int &extra) const
{
	return total_ + extra + far;
}
template <typename T> __attribute__((noinline)) T Order::scaled(T by) const
{
	return static_cast<T>(total_) * by;
}
namespace {
__attribute__((noinline)) int hidden(int n)
{
	asm volatile("" : "+r"(n));
	return n + 1;
}
}
}
int main(int argc, char **argv)
{
	shop::Order order(argc);
	return static_cast<int>(order.total(argc) + order.scaled<int>(2)) + shop::hidden(argc);
}
