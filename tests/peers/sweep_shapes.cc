// SPDX-License-Identifier: BSD-2-Clause
/* Templates, statics and strings of C++, whose variables tests/peers/test_sweep.py compares. */
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline))

int made = 3;
const char *motto = "all that is shown was counted";
static double ratio = 0.5;
enum class Kind : uint8_t { None, Some = 9, Many = 200 };

namespace depot
{
std::string place = "a depot with a name that is too long to be kept inline";
static Kind last_kind = Kind::None;

template <typename T> struct Pair {
	T first, second;
	KEEP T larger() const
	{
		static int asked;
		asked++;
		made += asked & 1;
		return first < second ? second : first;
	}
	template <typename U> KEEP Pair<U> as(U bias)
	{
		Pair<U> out{static_cast<U>(first) + bias, static_cast<U>(second) + bias};
		made++;
		return out;
	}
};

template <typename K, int N> class Table
{
	std::array<K, N> keys{};
	unsigned used : 6;
	bool full : 1;
	static inline long lookups = 0;

      public:
	Table() : used(0), full(false)
	{
	}
	KEEP bool add(K key)
	{
		static const char *what = "add";
		if (used == N) {
			full = true;
			return what[0] == 'x';
		}
		keys[used] = key;
		used++;
		return true;
	}
	KEEP int find(const K &key) const
	{
		lookups++;
		for (unsigned i = 0; i < used; i++) {
			bool same = keys[i] == key;
			if (same)
				return static_cast<int>(i);
		}
		return -1;
	}
};

struct Shape {
	short sides;
	float scale = 1.5f;
	explicit Shape(short n) : sides(n)
	{
	}
	virtual ~Shape() = default;
	KEEP virtual double area(double unit) const
	{
		return sides * unit * scale;
	}
};

struct Named : Shape {
	std::string name;
	KEEP Named(short n, std::string text) : Shape(n), name(std::move(text))
	{
	}
	KEEP double area(double unit) const override
	{
		size_t length = name.size();
		return Shape::area(unit) + static_cast<double>(length);
	}
};
} // namespace depot

template <typename T, typename... More> KEEP long sum(T first, More... more)
{
	long all = static_cast<long>(first);
	if constexpr (sizeof...(more) > 0)
		all += sum(more...);
	return all;
}

template <typename T> KEEP T middle(const std::vector<T> &from)
{
	static unsigned calls;
	size_t at = from.size() / 2;
	T found = from[at];
	calls++;
	return found;
}

KEEP static size_t letters(const char *text, char wanted)
{
	size_t n = 0;
	for (const char *p = text; *p; p++)
		n += *p == wanted;
	return n;
}

KEEP static Kind classify(int n, bool strict)
{
	Kind kind = n > 5 ? Kind::Many : n ? Kind::Some : Kind::None;
	if (strict)
		depot::last_kind = kind;
	return kind;
}

KEEP static uint64_t mix(uint64_t seed, uint8_t small, int16_t below, unsigned wide)
{
	uint64_t h = seed ^ small;
	for (int i = 0; i < 4; i++) {
		h = h * 0x100000001b3ull + wide;
		h ^= static_cast<uint64_t>(below) >> i;
	}
	return h;
}

KEEP static long many(long a, long b, long c, long d, long e, long f, long g, int h)
{
	long left = a - b + c - d, right = e - f + g - h;
	made += static_cast<int>(left & 1);
	return left * right;
}

KEEP static double blend(double a, float b, int part)
{
	double share = part / 10.0;
	return a * share + static_cast<double>(b) * (1 - share) + ratio;
}

KEEP static std::string join(const std::vector<std::string> &parts, const std::string &by)
{
	std::string out;
	for (const auto &part : parts) {
		if (!out.empty())
			out += by;
		out += part;
	}
	return out;
}

KEEP static int total(const std::map<int, std::unique_ptr<depot::Shape>> &of)
{
	int n = 0;
	for (const auto &[key, shape] : of)
		n += key * shape->sides;
	return n;
}

template <typename F> KEEP int apply(F f, int times)
{
	int out = 0;
	for (int i = 0; i < times; i++)
		out += f(i);
	return out;
}

KEEP static int thrown(int n)
{
	try {
		if (n & 1)
			throw n * 3;
		return n;
	} catch (int caught) {
		return caught + made;
	}
}

int main()
{
	long sum_of = 0;
	depot::Pair<int> ints{3, -4};
	depot::Pair<double> doubles{1.25, 2.5};
	depot::Pair<unsigned char> bytes{200, 100};
	depot::Table<int, 4> numbers;
	depot::Table<std::string, 2> names;
	std::map<int, std::unique_ptr<depot::Shape>> shapes;
	std::vector<std::string> words{"one", "two", "three"};

	for (int i = 0; i < 6; i++) {
		ints.first = i * 5;
		sum_of += ints.larger() + static_cast<long>(doubles.larger()) + bytes.larger();
		sum_of += ints.as<long>(i).first + static_cast<long>(ints.as<float>(0.5f).second);
		numbers.add(i * 7);
		names.add("key " + std::to_string(i));
		sum_of += numbers.find(14) + names.find("key 1");
		sum_of += sum(i, 2.5, 'c') + sum(i, static_cast<short>(-i));
		sum_of += middle(std::vector<int>{i, i + 1, i + 2});
		sum_of += static_cast<long>(middle(words).size());
		sum_of += static_cast<long>(letters(motto, static_cast<char>('a' + i)));
		sum_of += static_cast<int>(classify(i * 2, i & 1));
		sum_of += static_cast<long>(mix(i, 250, static_cast<int16_t>(-i), 4000000000u) &
					    0xff);
		sum_of += many(i, 2, 3, 4, 5, 6, 7 * i, -i);
		sum_of += static_cast<long>(blend(i, 2.5f, i + 1));
		sum_of += static_cast<long>(join(words, ", ").size());
		shapes[i] = std::make_unique<depot::Named>(static_cast<short>(i),
							   "shape " + std::to_string(i));
		sum_of += static_cast<long>(shapes[i]->area(2.0)) + total(shapes);
		sum_of += apply([&](int k) { return k * i + made; }, 3);
		sum_of += apply([](int k) { return k - 1; }, 2);
		sum_of += thrown(i);
	}
	std::sort(words.begin(), words.end());
	printf("%ld %s\n", sum_of, words[0].c_str());
	return 0;
}
