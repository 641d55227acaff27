// SPDX-License-Identifier: BSD-2-Clause
/*
 * The features that describe the machine's shape, as perf's -I prints them. They are read here,
 * from the bytes of the file, since nothing else needs them.
 */
#include "perf/print/print_header.h"

#include <inttypes.h>

#include "perf/print/printer.h"

static const char *get_string(struct cursor *c)
{
	struct cursor sub;
	uint32_t len;

	return cursor_u32(c, &len) && cursor_take(c, len, &sub) ? cursor_cstr(&sub) : NULL;
}

/* One line for each string of a list; false: the list ends too early. */
static bool add_strings(struct cursor *c, const char *title, struct strbuf *out)
{
	uint32_t n;

	if (!cursor_u32(c, &n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const char *s = get_string(c);

		if (!s)
			return false;
		strbuf_addf(out, "# sibling %s : %s\n", title, s);
	}
	return true;
}

/*
 * Lists of sockets and threads, the ids of the core and socket of each CPU, and since Linux 5.3
 * a list of dies and the die of each CPU, which is printed in between.
 */
static bool add_cpus(const struct data_header *h, struct cursor c, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf threads = STRBUF_INIT;
	const size_t n = h->cpus_available, from = out->len;
	struct cursor ids, dies = {0};
	uint32_t core, socket, die;

	if (!add_strings(&c, "cores  ", out) || !add_strings(&c, "threads", &threads))
		return false;
	if (!n || !cursor_take(&c, (uint64_t)n * 8, &ids)) {
		strbuf_adds(out, strbuf_str(&threads));
		strbuf_adds(out, "# Core ID and Socket ID information is not available\n");
		return true;
	}
	const bool has_dies = !cursor_end(&c);
	if (has_dies) {
		struct cursor sockets = cursor_make(h->features[DATA_CPU_TOPOLOGY].p,
						    h->features[DATA_CPU_TOPOLOGY].size, NULL);

		sockets.swap = h->swap;
		strbuf_cut(out, from);
		if (!add_strings(&sockets, "sockets", out) || !add_strings(&c, "dies   ", out))
			return false;
		dies = c;
	}
	strbuf_adds(out, strbuf_str(&threads));
	for (size_t i = 0; i < n && cursor_u32(&ids, &core) && cursor_u32(&ids, &socket); i++) {
		if (!has_dies)
			strbuf_addf(out, "# CPU %zu: Core ID %d, Socket ID %d\n", i, (int)core,
				    (int)socket);
		else if (cursor_u32(&dies, &die))
			strbuf_addf(out, "# CPU %zu: Core ID %d, Die ID %d, Socket ID %d\n", i,
				    (int)core, (int)die, (int)socket);
		else
			return false;
	}
	return true;
}

bool topology_socket(const struct data_header *h, uint32_t cpu, uint32_t *socket)
{
	_cleanup_strbuf_ struct strbuf lists = STRBUF_INIT;
	struct cursor c = cursor_make(h->features[DATA_CPU_TOPOLOGY].p,
				      h->features[DATA_CPU_TOPOLOGY].size, NULL);
	struct cursor ids;

	c.swap = h->swap;
	return c.base && cpu < h->cpus_available && add_strings(&c, "", &lists) &&
	       add_strings(&c, "", &lists) &&
	       cursor_take(&c, (uint64_t)h->cpus_available * 8, &ids) &&
	       cursor_skip(&ids, (size_t)cpu * 8 + 4) && cursor_u32(&ids, socket);
}

static bool add_nodes(struct cursor c, struct strbuf *out)
{
	uint32_t n, node;
	uint64_t total, free;

	if (!cursor_u32(&c, &n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!cursor_u32(&c, &node) || !cursor_u64(&c, &total) || !cursor_u64(&c, &free))
			return false;
		const char *cpus = get_string(&c);
		if (!cpus)
			return false;
		strbuf_addf(out,
			    "# node%u meminfo  : total = %" PRIu64 " kB, free = %" PRIu64
			    " kB\n# node%u cpu list : %s\n",
			    node, total, free, node, cpus);
	}
	return true;
}

static bool add_caches(struct cursor c, struct strbuf *out)
{
	uint32_t version, n, level, ignored;

	if (!cursor_u32(&c, &version) || version != 1 || !cursor_u32(&c, &n))
		return false;
	strbuf_adds(out, "# CPU cache info:\n");
	for (uint32_t i = 0; i < n; i++) {
		if (!cursor_u32(&c, &level) || !cursor_u32(&c, &ignored) ||
		    !cursor_u32(&c, &ignored) || !cursor_u32(&c, &ignored))
			return false;
		const char *type = get_string(&c), *size = get_string(&c), *cpus = get_string(&c);
		if (!type || !size || !cpus)
			return false;
		strbuf_addf(out, "#  L%u %-15s %8s [%s]\n", level, type, size, cpus);
	}
	return true;
}

/* "24G": perf's whole numbers of the largest unit. */
static void add_size(struct strbuf *out, uint64_t bytes)
{
	static const char units[] = "BKMG";
	size_t unit = 0;

	while (unit + 2 < sizeof(units) && bytes / 1024 > 1) {
		bytes /= 1024;
		unit++;
	}
	strbuf_addf(out, "%" PRIu64 "%c", bytes, units[unit]);
}

/* The numbers of the bits that are set, "0-23,32-199", and how many they are. */
static bool add_bits(struct cursor *c, struct strbuf *out, uint64_t *n_set)
{
	const char *comma = "";
	uint64_t n_bits, word = 0, first = 0;
	bool in_range = false;

	*n_set = 0;
	if (!cursor_u64(c, &n_bits) || n_bits > (uint64_t)cursor_left(c) * 8)
		return false;
	for (uint64_t bit = 0; bit <= n_bits; bit++) {
		if (bit < n_bits && bit % 64 == 0 && !cursor_u64(c, &word))
			return false;
		const bool set = bit < n_bits && word >> bit % 64 & 1;
		*n_set += set;
		if (set && !in_range)
			first = bit;
		if (!set && in_range) {
			strbuf_addf(out, "%s%" PRIu64, comma, first);
			if (bit - 1 > first)
				strbuf_addf(out, "-%" PRIu64, bit - 1);
			comma = ",";
		}
		in_range = set;
	}
	return true;
}

static bool add_memory(struct cursor c, struct strbuf *out)
{
	uint64_t version, block, n, node, size, n_blocks;

	if (!cursor_u64(&c, &version) || version != 1 || !cursor_u64(&c, &block) ||
	    !cursor_u64(&c, &n))
		return false;
	strbuf_addf(out, "# memory nodes (nr %" PRIu64 ", block size 0x%" PRIx64 "):\n", n, block);
	for (uint64_t i = 0; i < n; i++) {
		if (!cursor_u64(&c, &node) || !cursor_u64(&c, &size))
			return false;
		_cleanup_strbuf_ struct strbuf blocks = STRBUF_INIT;
		if (!add_bits(&c, &blocks, &n_blocks))
			return false;
		strbuf_addf(out, "#  %3" PRIu64 " [", node);
		add_size(out, n_blocks * block);
		strbuf_addf(out, "]: %s\n", strbuf_str(&blocks));
	}
	return true;
}

bool print_topology(const struct data_header *h, unsigned int feature, struct strbuf *out)
{
	const size_t from = out->len;
	bool ok = false;
	struct cursor c = cursor_make(h->features[feature].p, h->features[feature].size, NULL);

	c.swap = h->swap;
	switch (feature) {
	case DATA_CPU_TOPOLOGY:
		ok = add_cpus(h, c, out);
		break;
	case DATA_NUMA_TOPOLOGY:
		ok = add_nodes(c, out);
		break;
	case DATA_CACHE:
		ok = add_caches(c, out);
		break;
	case DATA_MEM_TOPOLOGY:
		ok = add_memory(c, out);
		break;
	}
	if (!ok)
		strbuf_cut(out, from);
	return ok;
}
