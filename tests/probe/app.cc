// SPDX-License-Identifier: BSD-2-Clause
/* Methods, templates, overloads, references, std::string: what the tests record of them. */
#include <string>
#include <vector>
#include <memory>
#include <map>
#include <cstdio>
#include <cstdint>
namespace app
{
namespace inner
{
enum class Color : short { Red = 3, Green = 7 };
struct Point {
	int x, y;
};
template <typename T> struct Box {
	T value;
	int tag;
};
class Shop
{
      public:
	std::string name;
	int count;
	Color color;
	std::vector<int> items;
	Box<Point> box;
	static int total;
	__attribute__((noinline)) int add(int n, const std::string &what);
	__attribute__((noinline)) int add(const Point &p);
	__attribute__((noinline)) int add(double d, int n);
	template <typename T> __attribute__((noinline)) T twice(T v);
	virtual __attribute__((noinline)) int price(int n) const;
	bool operator<(const Shop &o) const __attribute__((noinline));
	Shop(const char *n);
	~Shop();
};
int Shop::total = 9;
Shop::Shop(const char *n) : name(n), count(4), color(Color::Green)
{
	items = {1, 2, 3};
	box.value = {5, 6};
	box.tag = 77;
}
Shop::~Shop()
{
	total--;
}
int Shop::add(int n, const std::string &what)
{
	count += n;
	asm volatile("" ::: "memory");
	return count + (int)what.size();
}
int Shop::add(const Point &p)
{
	asm volatile("" ::: "memory");
	return p.x * p.y + count;
}
int Shop::add(double d, int n)
{
	asm volatile("" ::: "memory");
	return (int)(d * n) + count;
}
template <typename T> T Shop::twice(T v)
{
	asm volatile("" ::: "memory");
	return v + v + count;
}
int Shop::price(int n) const
{
	asm volatile("" ::: "memory");
	return n * count;
}
bool Shop::operator<(const Shop &o) const
{
	asm volatile("" ::: "memory");
	return count < o.count;
}
} // namespace inner
} // namespace app
namespace
{
__attribute__((noinline)) int hidden(int n)
{
	asm volatile("" : "+r"(n));
	return n + 1;
}
} // namespace
__attribute__((noinline)) int by_value(std::string s, app::inner::Point p, std::unique_ptr<int> q)
{
	asm volatile("" ::: "memory");
	return (int)s.size() + p.x + *q;
}
__attribute__((noinline)) int by_ref(int &r, int &&rr, const app::inner::Shop &s)
{
	asm volatile("" ::: "memory");
	return r + rr + s.count;
}
template <int N, typename... A> __attribute__((noinline)) int var(A... a)
{
	asm volatile("" ::: "memory");
	return N + (int)sizeof...(a);
}
int main()
{
	app::inner::Shop s("corner shop");
	app::inner::Shop t("a shop whose name is long enough not to fit");
	int r = 12;
	int sum = s.add(3, "apple") + s.add(app::inner::Point{8, 9}) + s.add(2.5, 4) +
		  s.twice<long>(21) + s.twice<short>(2) + s.price(6) + (s < t);
	sum += hidden(41) + by_value("text by value", {1, 2}, std::make_unique<int>(33)) +
	       by_ref(r, 13, t) + var<5, int, char>(1, 'c') + t.add(1, "pear");
	auto l = [&](int k) __attribute__((noinline))
	{
		asm volatile("" ::: "memory");
		return k + r;
	};
	sum += l(5);
	printf("%d\n", sum);
}
