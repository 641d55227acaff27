// SPDX-License-Identifier: BSD-2-Clause
// Slices, classes, templates, delegates and nested functions of D, whose variables test_sweep.py
// compares.
import core.stdc.stdio : printf;

enum Grade : ubyte { low = 1, middle = 5, high = 200 }

struct Point { int x; int y; }

struct Item { uint id; string name; double price; Point at; Grade grade; }

__gshared long calls = 7;
__gshared ushort[4] table = [1, 20, 300, 4000];

class Shape
{
	short weight;
	this(short w) { weight = w; }
	double area(double unit) { double own = weight * unit; return own + 1; }
}

class Circle : Shape
{
	float radius;
	this(short w, float r) { super(w); radius = r; }
	override double area(double unit) { double own = radius * radius * unit; return own + weight; }
}

pragma(inline, false) int add(int a, int b)
{
	int sum = a + b;
	calls += sum;
	return sum;
}

pragma(inline, false) ulong mix(ulong seed, ubyte small, short below, uint wide)
{
	ulong h = seed ^ small;
	foreach (i; 0 .. 4) {
		h = h * 0x100000001b3UL + wide;
		h ^= cast(ulong) below >> i;
	}
	return h;
}

pragma(inline, false) double scale(double f, float g, int by)
{
	double wide = f * by;
	float narrow = g / 2;
	return wide + narrow;
}

pragma(inline, false) size_t letters(string text, char wanted)
{
	size_t n = 0;
	foreach (c; text)
		if (c == wanted)
			n++;
	return n;
}

pragma(inline, false) long sum(int[] of)
{
	long total = 0;
	foreach (i, v; of)
		total += v * cast(long) i;
	return total;
}

pragma(inline, false) T largest(T)(T[] of)
{
	T best = of[0];
	foreach (v; of)
		if (v > best)
			best = v;
	return best;
}

pragma(inline, false) double dynamic(Shape shape, double unit)
{
	double own = shape.area(unit);
	return own / 2;
}

pragma(inline, false) int apply(int delegate(int) f, int times)
{
	int total = 0;
	foreach (i; 0 .. times)
		total += f(i);
	return total;
}

pragma(inline, false) int nested(int n)
{
	int base = n * 10;
	int inner(int x)
	{
		int y = x + base;
		base += y;
		return y * 2;
	}
	int first = inner(1);
	return first + inner(2);
}

pragma(inline, false) long many(long a, long b, long c, long d, long e, long f, long g, int h)
{
	long left = a - b + c - d;
	long right = e - f + g - h;
	return left * right;
}

pragma(inline, false) Point move(Point p, Point by)
{
	p.x += by.x;
	p.y -= by.y;
	return p;
}

pragma(inline, false) int pick(ref const int[3] of, size_t i)
{
	int v = of[i % 3];
	return v + 1;
}

pragma(inline, false) Grade classify(int n, bool strict)
{
	Grade g = Grade.low;
	if (n > 5)
		g = Grade.high;
	else if (strict)
		g = Grade.middle;
	return g;
}

pragma(inline, false) void fill(ref Item item, uint id, string name)
{
	item.id = id;
	item.name = name;
	item.price = id + 0.25;
	item.at = Point(cast(int) id, -cast(int) id);
	item.grade = classify(cast(int) id * 2, (id & 1) == 1);
}

pragma(inline, false) double cost(const ref Item item, int n)
{
	double each = item.price * n;
	return each + item.at.y + item.grade;
}

pragma(inline, false) void swap(int* a, int* b)
{
	int old = *a;
	*a = *b;
	*b = old;
}

pragma(inline, false) int recurse(int n, int acc)
{
	if (n == 0)
		return acc;
	int next = acc * 2 + n;
	return recurse(n - 1, next) + 1;
}

pragma(inline, false) int checked(int n)
{
	int got = -1;
	try {
		if (n == 3)
			throw new Exception("three");
		got = table[n & 3];
	} catch (Exception e) {
		got = cast(int) e.msg.length;
	}
	return got;
}

pragma(inline, false) long narrow(byte a, ushort b, long c, bool ok, wchar w)
{
	if (ok)
		c += a;
	long d = c << (b & 3);
	return d ^ w;
}

int main()
{
	long total = 0;
	foreach (i; 0 .. 6) {
		Item item;
		fill(item, i, "item");
		total += cast(long) cost(item, i) + add(i, -7);
		total += mix(i, 250, cast(short) -i, 4_000_000_000) & 0xff;
		total += cast(long) scale(i + 0.5, 2.5f, i) + letters("all that is shown", cast(char) ('a' + i));
		int[4] some = [i, 2, 3, i];
		double[2] reals = [1.5, i];
		total += sum(some[]) + largest(some[]) + cast(long) largest(reals[]);
		Shape shape = i & 1 ? new Circle(cast(short) i, i + 0.5f) : new Shape(cast(short) -i);
		total += cast(long) dynamic(shape, 2.0);
		total += apply((int k) => k * i + 1, 3) + nested(i);
		total += many(i, 2, 3, 4, 5, 6, 7 * i, -i);
		int[3] three = [1, i, 3];
		total += move(Point(i, 1), item.at).x + pick(three, i) + classify(i * 2, false);
		int a = i, b = cast(int) total;
		swap(&a, &b);
		total += a - b + recurse(i, 1) + checked(i) + narrow(cast(byte) -i, cast(ushort) i, 1L << 40, (i & 1) == 0, 'w');
	}
	printf("%ld\n", total);
	return 0;
}
