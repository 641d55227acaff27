// SPDX-License-Identifier: BSD-2-Clause
/*
 * A server in small: four threads that handle requests through virtual calls, sorting, maps of
 * strings and signals, for the seconds that the argument says. Built without frame pointers.
 */
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

static double now()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

NOINLINE static void work(int n)
{
	for (int i = 0; i < n; i++)
		sink += i * i;
}

NOINLINE static int compare(const void *a, const void *b)
{
	work(20);
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

struct Handler {
	virtual ~Handler() = default;
	virtual void handle(int depth) = 0;
};

struct Parse : Handler {
	NOINLINE void handle(int depth) override;
};

struct Execute : Handler {
	NOINLINE void handle(int depth) override;
};

void Parse::handle(int depth)
{
	work(300);
	if (depth)
		Execute().handle(depth - 1);
	sink++;
}

void Execute::handle(int depth)
{
	char row[128];

	memset(row, depth, sizeof(row));
	work(200 + row[3]);
	if (depth)
		Parse().handle(depth - 1);
	sink++;
}

NOINLINE static void sort()
{
	int values[200];

	for (int &value : values)
		value = rand();
	qsort(values, 200, sizeof(*values), compare);
}

NOINLINE static void index()
{
	std::map<std::string, int> rows;

	for (int i = 0; i < 100; i++)
		rows[std::to_string(i)] = i;
	sink += rows.size();
}

static void on_signal(int)
{
	work(5000);
}

static void serve(double end)
{
	while (now() < end) {
		Parse().handle(12);
		sort();
		index();
		raise(SIGUSR1);
	}
}

int main(int argc, char **argv)
{
	const double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	std::vector<std::thread> threads;

	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 3; i++)
		threads.emplace_back(serve, end);
	serve(end);
	for (std::thread &thread : threads)
		thread.join();
	return 0;
}
