// SPDX-License-Identifier: BSD-2-Clause
// Maps, variants, views, lambdas and virtual bases of C++, whose variables test_sweep.py compares.
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define OWN __attribute__((noinline, noipa))

namespace stock
{
enum class Grade : uint8_t { low = 1, middle = 5, high = 200 };

struct Point {
	int x, y;
};

struct Item {
	uint32_t id;
	std::string name;
	double price;
	Point at;
	Grade grade : 8;
	unsigned sold : 1, pieces : 7;
};

long calls = 7;
static const uint16_t table[4] = {1, 20, 300, 4000};

struct Base {
	short weight;
	explicit Base(short w) : weight(w) {}
	virtual ~Base() = default;
	virtual double area(double unit) const { return weight * unit; }
};

struct Left : virtual Base {
	int l = 3;
	explicit Left(short w) : Base(w) {}
	OWN double area(double unit) const override
	{
		double own = l * unit;
		return own + weight;
	}
};

struct Right : virtual Base {
	float r = 1.5f;
	explicit Right(short w) : Base(w) {}
};

struct Both : Left, Right {
	explicit Both(short w) : Base(w), Left(w), Right(w) {}
	OWN double area(double unit) const override
	{
		double own = l * unit + r;
		return own - weight;
	}
};

OWN Grade grade_of(int n, bool strict)
{
	Grade g = Grade::low;
	if (n > 5)
		g = Grade::high;
	else if (strict)
		g = Grade::middle;
	return g;
}

OWN void fill(Item &item, uint32_t id, std::string_view name)
{
	item.id = id;
	item.name = name;
	item.price = id + 0.25;
	item.at = {static_cast<int>(id), -static_cast<int>(id)};
	item.grade = grade_of(static_cast<int>(id) * 2, id & 1);
	item.sold = id & 1;
	item.pieces = id * 3;
}

OWN double cost(const Item &item, int n)
{
	double each = item.price * n;
	each += item.at.y + item.pieces;
	return each - item.sold;
}

OWN int add(int a, int b)
{
	int sum = a + b;
	calls += sum;
	return sum;
}

OWN double scale(double f, float g, int by)
{
	double wide = f * by;
	float narrow = g / 2;
	return wide + narrow;
}

OWN Point move(Point p, Point by)
{
	p.x += by.x;
	p.y -= by.y;
	return p;
}

OWN std::optional<int> find(const std::map<std::string, int> &of, const std::string &key)
{
	auto at = of.find(key);
	if (at == of.end())
		return std::nullopt;
	return at->second;
}

OWN size_t letters(std::string_view text, char wanted)
{
	size_t n = 0;
	for (char c : text)
		n += c == wanted;
	return n;
}

template <class T, size_t N> OWN T largest(const std::array<T, N> &of)
{
	T best = of[0];
	for (const T &one : of)
		if (best < one)
			best = one;
	return best;
}

OWN long sum(const std::vector<int> &of, long start)
{
	long total = start;
	for (size_t i = 0; i < of.size(); i++)
		total += of[i] * static_cast<long>(i);
	return total;
}

OWN double dynamic(const Base *shape, double unit)
{
	double own = shape->area(unit);
	return own / 2;
}

OWN int apply(const std::function<int(int)> &f, int times)
{
	int total = 0;
	for (int i = 0; i < times; i++)
		total += f(i);
	return total;
}

OWN long owned(std::unique_ptr<Item> item, std::shared_ptr<long> count)
{
	long n = *count + item->id;
	*count = n;
	return n * 2;
}

OWN std::pair<int, double> both(int n, double d)
{
	std::pair<int, double> p{n * 2, d / 2};
	calls += p.first;
	return p;
}

OWN int recurse(int n, int acc)
{
	if (!n)
		return acc;
	int next = acc * 2 + n;
	return recurse(n - 1, next) + 1;
}

OWN long wide(int8_t a, uint16_t b, int64_t c, bool ok, char16_t w)
{
	if (ok)
		c += a;
	long d = c << (b & 3);
	return d ^ w;
}

OWN long deep(long a, long b, long c, long d, long e, long f, long g, int h, double i, float j)
{
	long left = a - b + c - d;
	long right = e - f + g - h;
	return left * right + static_cast<long>(i * j);
}

OWN void swap(int *a, int *b)
{
	int old = *a;
	*a = *b;
	*b = old;
}

OWN int caught(int n)
{
	int got = -1;
	try {
		if (n == 3)
			throw n;
		got = table[n & 3];
	} catch (int e) {
		got = e * 5;
	}
	return got;
}
} // namespace stock

int main()
{
	using namespace stock;
	std::map<std::string, int> counts;
	long total = 0;
	for (int i = 0; i < 6; i++) {
		Item item;
		fill(item, static_cast<uint32_t>(i), "item " + std::to_string(i));
		counts[item.name] = i;
		total += static_cast<long>(cost(item, i)) + add(i, -7);
		total += static_cast<long>(scale(i + 0.5, 2.5f, i));
		total += move({i, 1}, item.at).x + find(counts, i & 1 ? "item 1" : "none").value_or(4);
		total += static_cast<long>(letters("all that is shown", static_cast<char>('a' + i)));
		total += largest(std::array<int, 3>{i, 3, -4});
		total += static_cast<long>(largest(std::array<double, 2>{1.5, i * 1.0}));
		total += sum({i, 2, 3, i}, 100);
		Left left(static_cast<short>(i));
		Both shape(static_cast<short>(-i));
		total += static_cast<long>(dynamic(&left, 2.0) + dynamic(&shape, 3.0));
		total += apply([&](int k) { return k * i + static_cast<int>(calls & 7); }, 3);
		total += owned(std::make_unique<Item>(item), std::make_shared<long>(i));
		total += both(i, 2.5).first + recurse(i, 1);
		total += wide(static_cast<int8_t>(-i), static_cast<uint16_t>(i), 1L << 40, i & 1, u'w') & 0xff;
		total += deep(i, 2, 3, 4, 5, 6, 7 * i, -i, 1.5, 2.0f);
		int a = i, b = static_cast<int>(total);
		swap(&a, &b);
		total += a - b + caught(i);
	}
	printf("%ld\n", total);
	return 0;
}
