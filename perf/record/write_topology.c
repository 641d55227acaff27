// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the header says of the machine's shape: CPUs (CPU_TOPOLOGY), memory nodes (NUMA_TOPOLOGY)
 * and caches (CACHE), as sysfs has them. The layouts are those that perf 6.1 writes; what
 * sysfs does not have is left out, and the feature is then missing.
 */
#include "perf/record/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "perf/data/features.h"

static void put_u32(struct strbuf *out, uint32_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

static void put_u64(struct strbuf *out, uint64_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

/* "sda" of "devices/…": a small file of sysfs without its newline, the caller's; NULL: none. */
static _printf_(2, 3) char *sysfs_text(const struct recording *rec, const char *fmt, ...)
{
	const char *root = (rec->roots ? rec->roots : &sys_roots_default)->sysfs;
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	char *text = NULL;
	va_list ap;

	strbuf_addf(&path, "%s/devices/system/", root ? root : "/sys");
	va_start(ap, fmt);
	strbuf_vaddf(&path, fmt, ap);
	va_end(ap);
	if (strbuf_failed(&path))
		return NULL;
	error_free(sys_read_file(strbuf_str(&path), 1 << 16, &text, NULL));
	if (text)
		text[strcspn(text, "\n")] = 0;
	return text;
}

static uint32_t sysfs_number(char *text)
{
	const uint32_t n = text ? (uint32_t)strtoul(text, NULL, 10) : UINT32_MAX;

	free(text);
	return n;
}

static struct error *put(struct recording *rec, enum data_feature feature, struct strbuf *sb)
{
	return strbuf_failed(sb) ? error_nomem()
				 : data_writer_feature(rec->writer, feature, sb->str, sb->len);
}

/* The different CPU lists that a topology file has, in the order of the CPUs. */
static struct error *put_cpu_lists(struct recording *rec, const struct sys_cpus *online,
				   const char *file, struct strbuf *out, bool *any)
{
	_cleanup_names_ struct names lists = {0};

	for (size_t i = 0; i < online->n; i++) {
		_cleanup_free_ char *list =
			sysfs_text(rec, "cpu/cpu%u/topology/%s", online->v[i], file);
		bool known = !list;

		for (size_t n = 0; !known && n < lists.n; n++)
			known = !strcmp(lists.v[n], list);
		if (!known && !names_add(&lists, list))
			return error_nomem();
	}
	*any = lists.n > 0;
	put_u32(out, (uint32_t)lists.n);
	for (size_t n = 0; n < lists.n; n++)
		feature_build_string(out, lists.v[n]);
	return NULL;
}

static struct error *put_cpus(struct recording *rec, const struct sys_cpus *online,
			      const struct sys_cpus *possible)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT, dies = STRBUF_INIT;
	bool has_sockets, has_threads, has_dies;

	TRY(put_cpu_lists(rec, online, "core_siblings_list", &sb, &has_sockets));
	TRY(put_cpu_lists(rec, online, "thread_siblings_list", &sb, &has_threads));
	TRY(put_cpu_lists(rec, online, "die_cpus_list", &dies, &has_dies));
	if (!has_sockets || !has_threads)
		return NULL;
	/* As many as NRCPUS says are available; readers count on it. */
	for (size_t i = 0; i < possible->n; i++) {
		const unsigned cpu = possible->v[i];

		put_u32(&sb, sysfs_number(sysfs_text(rec, "cpu/cpu%u/topology/core_id", cpu)));
		put_u32(&sb, sysfs_number(sysfs_text(rec, "cpu/cpu%u/topology/physical_package_id",
						     cpu)));
		put_u32(&dies, sysfs_number(sysfs_text(rec, "cpu/cpu%u/topology/die_id", cpu)));
	}
	if (has_dies)
		strbuf_add(&sb, strbuf_str(&dies), dies.len);
	return put(rec, DATA_CPU_TOPOLOGY, &sb);
}

/* "Node 0 MemTotal:  15952088 kB" */
static uint64_t meminfo_kib(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static struct error *put_nodes(struct recording *rec)
{
	_cleanup_free_ char *list = sysfs_text(rec, "node/online");
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_cpus_ struct sys_cpus nodes = {0};
	const char *root = (rec->roots ? rec->roots : &sys_roots_default)->sysfs;

	if (!list)
		return NULL;
	TRY(sys_cpus_parse(list, &nodes)); /* the same notation */
	put_u32(&sb, (uint32_t)nodes.n);
	for (size_t i = 0; i < nodes.n; i++) {
		_cleanup_free_ char *cpus = sysfs_text(rec, "node/node%u/cpulist", nodes.v[i]);
		_cleanup_free_ char *path = text_format("%s/devices/system/node/node%u/meminfo",
							root ? root : "/sys", nodes.v[i]);
		_cleanup_free_ char *meminfo = NULL;

		if (path)
			error_free(sys_read_file(path, 1 << 16, &meminfo, NULL));
		put_u32(&sb, nodes.v[i]);
		put_u64(&sb, meminfo_kib(meminfo, "MemTotal:"));
		put_u64(&sb, meminfo_kib(meminfo, "MemFree:"));
		feature_build_string(&sb, cpus ? cpus : "");
	}
	return put(rec, DATA_NUMA_TOPOLOGY, &sb);
}

struct cache_level {
	uint32_t level, line_size, sets, ways;
	char *type, *size, *cpus;
};

static void cache_level_free(struct cache_level *c)
{
	free(c->type);
	free(c->size);
	free(c->cpus);
}

/* false: the CPU has no cache of this index. */
static bool read_cache(const struct recording *rec, unsigned cpu, unsigned index,
		       struct cache_level *c)
{
	char dir[64];

	snprintf(dir, sizeof(dir), "cpu/cpu%u/cache/index%u", cpu, index);
	*c = (struct cache_level){
		.type = sysfs_text(rec, "%s/type", dir),
		.size = sysfs_text(rec, "%s/size", dir),
		.cpus = sysfs_text(rec, "%s/shared_cpu_list", dir),
	};
	if (!c->type || !c->size || !c->cpus)
		return false;
	c->level = sysfs_number(sysfs_text(rec, "%s/level", dir));
	c->line_size = sysfs_number(sysfs_text(rec, "%s/coherency_line_size", dir));
	c->sets = sysfs_number(sysfs_text(rec, "%s/number_of_sets", dir));
	c->ways = sysfs_number(sysfs_text(rec, "%s/ways_of_associativity", dir));
	return true;
}

static int by_level(const void *a, const void *b)
{
	const struct cache_level *one = a, *other = b;

	return one->level != other->level
		       ? (one->level > other->level) - (one->level < other->level)
		       : 0;
}

static struct error *put_caches(struct recording *rec, const struct sys_cpus *online)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	VEC(struct cache_level) caches = {0};
	struct cache_level c, *it;
	struct error *err = NULL;

	for (size_t i = 0; i < online->n && !err; i++) {
		for (unsigned index = 0; !err && read_cache(rec, online->v[i], index, &c);
		     index++) {
			bool known = false;

			/* A cache is listed once, not for each CPU that shares it. */
			vec_for_each (it, &caches)
				known |= it->level == c.level && !strcmp(it->type, c.type) &&
					 !strcmp(it->cpus, c.cpus);
			struct cache_level *slot = known ? NULL : vec_push(&caches);
			if (slot)
				*slot = c;
			else
				cache_level_free(&c);
			if (!slot && !known)
				err = error_nomem();
			memset(&c, 0, sizeof(c));
		}
		cache_level_free(&c);
		memset(&c, 0, sizeof(c));
	}
	if (caches.n)
		qsort(caches.v, caches.n, sizeof(*caches.v), by_level);
	put_u32(&sb, 1); /* the version of this layout */
	put_u32(&sb, (uint32_t)caches.n);
	vec_for_each (it, &caches) {
		put_u32(&sb, it->level);
		put_u32(&sb, it->line_size);
		put_u32(&sb, it->sets);
		put_u32(&sb, it->ways);
		feature_build_string(&sb, it->type);
		feature_build_string(&sb, it->size);
		feature_build_string(&sb, it->cpus);
	}
	if (!err && caches.n)
		err = put(rec, DATA_CACHE, &sb);
	vec_for_each (it, &caches)
		cache_level_free(it);
	vec_deinit(&caches);
	return err;
}

struct error *topology_begin(struct recording *rec)
{
	_cleanup_cpus_ struct sys_cpus online = {0}, possible = {0};

	TRY(sys_cpus_online(rec->roots, &online));
	TRY(sys_cpus_possible(rec->roots, &possible));
	TRY(put_cpus(rec, &online, &possible));
	TRY(put_nodes(rec));
	return put_caches(rec, &online);
}
