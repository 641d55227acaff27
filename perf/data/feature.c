// SPDX-License-Identifier: BSD-2-Clause
/*
 * The features: behind the data section stands a table of sections, one for
 * each bit that is set in the header. This file describes what is in them,
 * once for both ways: beside each feature's decoder stands its builder.
 *
 * The layouts come from tools/perf/Documentation/perf.data-file-format.txt;
 * what that leaves open, from files that perf 6.1 wrote. A string is a u32
 * length and as many bytes, with a NUL in them; perf pads it to 64 bytes.
 * Features of variable size are decoded into arrays whose element count is
 * checked against the bytes that are there before any memory is taken.
 */
#include "perf/data/features.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/vec.h"
#include "perf/data/internal.h"
#include "perf/event/encode.h"

#define STRING_ALIGN 64

static void put_u32(struct strbuf *out, uint32_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

static void put_u64(struct strbuf *out, uint64_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

static void put_string(struct strbuf *out, const char *s)
{
	static const char zeros[STRING_ALIGN];
	size_t len = strlen(s);
	size_t padded = (size_t)round_up(len + 1, STRING_ALIGN);

	put_u32(out, (uint32_t)padded);
	strbuf_add(out, s, len);
	strbuf_add(out, zeros, padded - len);
}

static const char *get_string(struct cursor *c)
{
	struct cursor sub;
	uint32_t len;

	if (!cursor_u32(c, &len) || !cursor_take(c, len, &sub))
		return NULL;
	return cursor_cstr(&sub);
}

static struct error *cut(const struct cursor *c)
{
	return cursor_error(c, "ends too early");
}

/* One more zeroed element of an array in the header. */
static bool grow(void *array, size_t n, size_t elem)
{
	void **v = array;

	if (n & (n - 1) && n >= 4)
		return memset((char *)*v + n * elem, 0, elem);
	if (n && n < 4)
		return memset((char *)*v + n * elem, 0, elem);
	void *bigger = realloc(*v, (n ? n * 2 : 4) * elem);
	if (!bigger)
		return false;
	*v = bigger;
	memset((char *)bigger + n * elem, 0, elem);
	return true;
}

#define header_push(array, n)                                                                      \
	(grow(&(array), (n), sizeof(*(array))) ? &(array)[(n)++] : (__typeof__(array))NULL)

void feature_build_string(struct strbuf *out, const char *s)
{
	put_string(out, s);
}

#define DEFINE_STRING_FEATURE(member)                                                              \
	static struct error *decode_##member(struct data_header *h, struct cursor *c)              \
	{                                                                                          \
		const char *s = get_string(c);                                                     \
		if (!s)                                                                            \
			return cut(c);                                                             \
		h->member = s;                                                                     \
		return NULL;                                                                       \
	}
DEFINE_STRING_FEATURE(hostname)
DEFINE_STRING_FEATURE(osrelease)
DEFINE_STRING_FEATURE(version)
DEFINE_STRING_FEATURE(arch)
DEFINE_STRING_FEATURE(cpudesc)
DEFINE_STRING_FEATURE(cpuid)

void feature_build_nrcpus(struct strbuf *out, uint32_t available, uint32_t online)
{
	put_u32(out, available);
	put_u32(out, online);
}

static struct error *decode_nrcpus(struct data_header *h, struct cursor *c)
{
	uint32_t available, online;

	if (!cursor_u32(c, &available) || !cursor_u32(c, &online))
		return cut(c);
	h->cpus_available = available;
	h->cpus_online = online;
	return NULL;
}

void feature_build_total_mem(struct strbuf *out, uint64_t kib)
{
	put_u64(out, kib);
}

static struct error *decode_total_mem(struct data_header *h, struct cursor *c)
{
	return cursor_u64(c, &h->total_mem) ? NULL : cut(c);
}

void feature_build_cmdline(struct strbuf *out, int argc, const char *const *argv)
{
	put_u32(out, (uint32_t)argc);
	for (int i = 0; i < argc; i++)
		put_string(out, argv[i]);
}

static struct error *decode_cmdline(struct data_header *h, struct cursor *c)
{
	uint32_t n;

	if (!cursor_u32(c, &n))
		return cut(c);
	for (uint32_t i = 0; i < n; i++) {
		const char *s = get_string(c);
		if (!s)
			return cut(c);
		const char **arg = header_push(h->cmdline, h->n_cmdline);
		if (!arg)
			return error_nomem();
		*arg = s;
	}
	return NULL;
}

void feature_build_event_desc(struct strbuf *out, const struct data_event *events, size_t n)
{
	put_u32(out, (uint32_t)n);
	put_u32(out, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < n; i++) {
		struct perf_event_attr attr = events[i].attr;

		attr.size = sizeof(attr);
		strbuf_add(out, &attr, sizeof(attr));
		put_u32(out, (uint32_t)events[i].n_ids);
		put_string(out, events[i].name ? events[i].name : "");
		strbuf_add(out, events[i].ids, events[i].n_ids * sizeof(uint64_t));
	}
}

/*
 * Attrs stand in the header too; what counts here are the names. The events
 * are in the same order.
 */
static struct error *decode_event_desc(struct data_header *h, struct cursor *c)
{
	uint32_t n, attr_size, n_ids;

	if (!cursor_u32(c, &n) || !cursor_u32(c, &attr_size))
		return cut(c);
	for (uint32_t i = 0; i < n; i++) {
		if (!cursor_skip(c, attr_size) || !cursor_u32(c, &n_ids))
			return cut(c);
		const char *name = get_string(c);
		if (!name || n_ids > cursor_left(c) / 8 || !cursor_skip(c, (size_t)n_ids * 8))
			return cut(c);
		if (i >= h->n_events)
			continue;
		char *copy = strdup(name);
		if (!copy)
			return error_nomem();
		free(h->events[i].name);
		h->events[i].name = copy;
	}
	return NULL;
}

void feature_build_sample_time(struct strbuf *out, uint64_t first, uint64_t last)
{
	put_u64(out, first);
	put_u64(out, last);
}

static struct error *decode_sample_time(struct data_header *h, struct cursor *c)
{
	uint64_t first, last;

	if (!cursor_u64(c, &first) || !cursor_u64(c, &last))
		return cut(c);
	h->first_sample_time = first;
	h->last_sample_time = last;
	return NULL;
}

void feature_build_clockid(struct strbuf *out, uint64_t resolution_ns)
{
	put_u64(out, resolution_ns);
}

void feature_build_clock_data(struct strbuf *out, uint32_t clockid, uint64_t wall_ns,
			      uint64_t clock_ns)
{
	put_u32(out, 1); /* the version */
	put_u32(out, clockid);
	put_u64(out, wall_ns);
	put_u64(out, clock_ns);
}

static struct error *decode_clockid(struct data_header *h, struct cursor *c)
{
	return cursor_u64(c, &h->clockid_resolution) ? NULL : cut(c);
}

static struct error *decode_dir_format(struct data_header *h, struct cursor *c)
{
	return cursor_u64(c, &h->dir_version) ? NULL : cut(c);
}

static struct error *decode_clock_data(struct data_header *h, struct cursor *c)
{
	uint32_t version, clockid;
	uint64_t wall, clock;

	if (!cursor_u32(c, &version) || !cursor_u32(c, &clockid) || !cursor_u64(c, &wall) ||
	    !cursor_u64(c, &clock))
		return cut(c);
	if (version != 1)
		return cursor_error(c, "has version %u; only version 1 is supported", version);
	h->clockid = clockid;
	h->clock_wall_ns = wall;
	h->clock_ns = clock;
	return NULL;
}

void feature_build_pmu_mappings(struct strbuf *out, const uint32_t *types, const char *const *names,
				size_t n)
{
	put_u32(out, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		put_u32(out, types[i]);
		put_string(out, names[i]);
	}
}

static struct error *decode_pmu_mappings(struct data_header *h, struct cursor *c)
{
	uint32_t n, type;

	if (!cursor_u32(c, &n))
		return cut(c);
	for (uint32_t i = 0; i < n; i++) {
		if (!cursor_u32(c, &type))
			return cut(c);
		const char *name = get_string(c);
		if (!name)
			return cut(c);
		struct data_pmu *pmu = header_push(h->pmus, h->n_pmus);
		if (!pmu)
			return error_nomem();
		*pmu = (struct data_pmu){.type = type, .name = name};
	}
	return NULL;
}

/*
 * CPU_PMU_CAPS: u32 n, then n pairs of strings, name and value. PMU_CAPS: u32
 * n, then for each PMU the same and its name.
 */
static struct error *decode_caps(struct data_header *h, struct cursor *c, unsigned int feature,
				 const char *pmu)
{
	const size_t first = h->n_pmu_caps;
	uint32_t n;

	if (!cursor_u32(c, &n))
		return cut(c);
	for (uint32_t i = 0; i < (n ? n : 1); i++) {
		struct data_pmu_cap cap = {.feature = feature, .pmu = pmu};

		if (n && (!(cap.name = get_string(c)) || !(cap.value = get_string(c))))
			return cut(c);
		struct data_pmu_cap *added = header_push(h->pmu_caps, h->n_pmu_caps);
		if (!added)
			return error_nomem();
		*added = cap;
	}
	if (!pmu && !(pmu = get_string(c)))
		return cut(c);
	for (size_t i = first; i < h->n_pmu_caps; i++)
		h->pmu_caps[i].pmu = pmu;
	return NULL;
}

static struct error *decode_cpu_pmu_caps(struct data_header *h, struct cursor *c)
{
	return decode_caps(h, c, DATA_CPU_PMU_CAPS, "cpu");
}

static struct error *decode_pmu_caps(struct data_header *h, struct cursor *c)
{
	uint32_t n;

	if (!cursor_u32(c, &n))
		return cut(c);
	for (uint32_t i = 0; i < n; i++)
		TRY(decode_caps(h, c, DATA_PMU_CAPS, NULL));
	return NULL;
}

/* What perf writes for a group that the user gave no name. */
#define ANONYMOUS_GROUP "{anon_group}"

void feature_build_group_desc(struct strbuf *out, const struct data_group *groups, size_t n)
{
	put_u32(out, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		put_string(out, *groups[i].name ? groups[i].name : ANONYMOUS_GROUP);
		put_u32(out, groups[i].leader);
		put_u32(out, groups[i].n_members);
	}
}

static struct error *decode_group_desc(struct data_header *h, struct cursor *c)
{
	uint64_t end = 0; /* of the group before */
	uint32_t n;

	if (!cursor_u32(c, &n))
		return cut(c);
	for (uint32_t i = 0; i < n; i++) {
		struct data_group g = {.name = get_string(c)};
		if (!g.name || !cursor_u32(c, &g.leader) || !cursor_u32(c, &g.n_members))
			return cut(c);
		if (g.leader < end || !g.n_members)
			return cursor_error(c, "group %" PRIu32 " is empty or overlaps another", i);
		end = (uint64_t)g.leader + g.n_members;
		if (!strcmp(g.name, ANONYMOUS_GROUP))
			g.name = "";
		struct data_group *group = header_push(h->groups, h->n_groups);
		if (!group)
			return error_nomem();
		*group = g;
	}
	return NULL;
}

const struct data_group *data_group_of(const struct data_header *h, size_t event)
{
	for (size_t i = 0; i < h->n_groups && event < h->n_events; i++) {
		const struct data_group *g = &h->groups[i];

		if (event >= g->leader && event - g->leader < g->n_members)
			return g->n_members > 1 && g->n_members <= h->n_events - g->leader ? g
											   : NULL;
	}
	return NULL;
}

void feature_build_build_id(struct strbuf *out, uint16_t misc, int32_t pid, const uint8_t *id,
			    uint8_t size, const char *filename)
{
	record_encode_build_id(out, misc, pid, id, size, filename);
}

struct error *data_build_id_decode(struct data_header *h, struct cursor c)
{
	struct data_build_id b = {0};
	struct perf_event_header header;
	const uint8_t *id;

	if (!record_header_peek(&c, &header) || !cursor_skip(&c, sizeof(header)) ||
	    !cursor_u32(&c, (uint32_t *)&b.pid) || !(id = cursor_bytes(&c, 24)) ||
	    !(b.filename = cursor_cstr(&c)))
		return cut(&c);
	b.misc = header.misc & ~RECORD_MISC_BUILD_ID_SIZE;
	/* Older perf did not say the size: it was always SHA-1's. */
	b.size = header.misc & RECORD_MISC_BUILD_ID_SIZE ? min_of(id[20], 20) : 20;
	memcpy(b.id, id, b.size);
	struct data_build_id *slot = header_push(h->build_ids, h->n_build_ids);
	if (!slot)
		return error_nomem();
	*slot = b;
	return NULL;
}

/* A sequence of records like RECORD_HEADER_BUILD_ID. */
static struct error *decode_build_ids(struct data_header *h, struct cursor *c)
{
	struct perf_event_header header;
	struct cursor rec;

	while (!cursor_end(c)) {
		if (!record_header_peek(c, &header) || header.size < sizeof(header) ||
		    !cursor_take(c, header.size, &rec))
			return cut(c);
		TRY(data_build_id_decode(h, rec));
	}
	return NULL;
}

static struct error *decode_compressed(struct data_header *h, struct cursor *c)
{
	__typeof__(h->compressed) z;

	if (!cursor_u32(c, &z.version) || !cursor_u32(c, &z.type) || !cursor_u32(c, &z.level) ||
	    !cursor_u32(c, &z.ratio) || !cursor_u32(c, &z.mmap_len))
		return cut(c);
	h->compressed = z;
	return NULL;
}

static struct error *decode_tracing(struct data_header *h, struct cursor *c)
{
	h->tracing = (struct data_bytes){c->base + c->pos, cursor_left(c)};
	return NULL;
}

/*
 * BPF_PROG_INFO: struct bpf_prog_info, cut to the size it had when perf was
 * built, and behind it the arrays it points to, in the order of sys_prog_arrays.
 * Its pointers are offsets among these.
 */
#define INFO(member)   ((int)offsetof(struct bpf_prog_info, member))
#define INFO_SIZE_MAX  232 /* of Linux 6.1; perf of that age refuses a larger one */
#define INFO_SIZE_REAL ((uint32_t)min_of(sizeof(struct bpf_prog_info), (size_t)INFO_SIZE_MAX))

static uint32_t info_u32(const uint8_t *info, int at)
{
	uint32_t v;

	if (at < 0)
		return (uint32_t)-at;
	memcpy(&v, info + at, sizeof(v));
	return v;
}

void feature_build_bpf_prog_info(struct strbuf *out, const struct sys_prog_info *const *progs,
				 size_t n)
{
	static const char zeros[8];

	put_u32(out, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		uint8_t info[INFO_SIZE_MAX] = {0};
		uint64_t arrays = 0, offset = 0;
		size_t sizes[SYS_PROG_ARRAYS] = {0};

		memcpy(info, &progs[i]->info, min_of(progs[i]->len, INFO_SIZE_REAL));
		for (int a = 0; a < SYS_PROG_ARRAYS; a++) {
			const struct sys_prog_array_desc *d = &sys_prog_arrays[a];
			uint64_t pointer = 0;

			if (progs[i]->arrays[a]) {
				sizes[a] =
					(size_t)info_u32(info, d->count) * info_u32(info, d->size);
				pointer = offset;
				offset += round_up(sizes[a], 8);
				arrays |= 1ull << a;
			} else {
				memset(info + d->count, 0, 4);
			}
			memcpy(info + d->pointer, &pointer, 8);
		}
		put_u32(out, INFO_SIZE_REAL);
		put_u32(out, (uint32_t)offset);
		put_u64(out, arrays);
		strbuf_add(out, info, INFO_SIZE_REAL);
		for (int a = 0; a < SYS_PROG_ARRAYS; a++) {
			if (!sizes[a])
				continue;
			strbuf_add(out, progs[i]->arrays[a], sizes[a]);
			strbuf_add(out, zeros, -sizes[a] & 7);
		}
	}
}

/* A u32 or u64 of info, which may be shorter than what we know; 0: not there. */
static uint32_t field_u32(const struct cursor *info, int at)
{
	struct cursor c = *info;
	uint32_t v;

	if (at < 0)
		return (uint32_t)-at;
	return cursor_seek(&c, (size_t)at) && cursor_u32(&c, &v) ? v : 0;
}

static uint64_t field_u64(const struct cursor *info, int at)
{
	struct cursor c = *info;
	uint64_t v;

	return cursor_seek(&c, (size_t)at) && cursor_u64(&c, &v) ? v : 0;
}

static struct error *decode_bpf_prog(struct data_header *h, struct cursor *c)
{
	uint32_t info_len, data_len;
	uint64_t arrays;
	struct cursor info, data, sub;

	if (!cursor_u32(c, &info_len) || !cursor_u32(c, &data_len) || !cursor_u64(c, &arrays) ||
	    !cursor_take(c, info_len, &info) || !cursor_take(c, data_len, &data))
		return cut(c);
	struct data_bpf_prog p = {
		.type = field_u32(&info, INFO(type)),
		.id = field_u32(&info, INFO(id)),
		.btf_id = field_u32(&info, INFO(btf_id)),
		.info = {info.base, info.size},
	};
	if (cursor_seek(&info, offsetof(struct bpf_prog_info, tag)))
		cursor_copy(&info, p.tag, sizeof(p.tag));
	if (cursor_seek(&info, offsetof(struct bpf_prog_info, name)))
		cursor_copy(&info, p.name, sizeof(p.name) - 1);
	for (int a = 0; a < SYS_PROG_ARRAYS; a++) {
		const struct sys_prog_array_desc *d = &sys_prog_arrays[a];

		p.rec_size[a] = field_u32(&info, d->size);
		uint64_t size = (uint64_t)field_u32(&info, d->count) * p.rec_size[a];
		if (!(arrays & 1ull << a) || !size)
			continue;
		if (!cursor_sub(&data, field_u64(&info, d->pointer), size, &sub))
			return cursor_error(&data, "the arrays of program %u end past its data",
					    p.id);
		p.arrays[a] = (struct data_bytes){sub.base, sub.size};
	}
	struct data_bpf_prog *slot = header_push(h->bpf_progs, h->n_bpf_progs);
	if (!slot)
		return error_nomem();
	*slot = p;
	return NULL;
}

static struct error *decode_bpf_prog_info(struct data_header *h, struct cursor *c)
{
	uint32_t n;

	if (!cursor_u32(c, &n))
		return cut(c);
	for (uint32_t i = 0; i < n; i++)
		TRY(decode_bpf_prog(h, c));
	return NULL;
}

void feature_build_bpf_btf(struct strbuf *out, const struct feature_btf *btfs, size_t n)
{
	put_u32(out, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		put_u32(out, btfs[i].id);
		put_u32(out, btfs[i].size);
		strbuf_add(out, btfs[i].data, btfs[i].size);
	}
}

static struct error *decode_bpf_btf(struct data_header *h, struct cursor *c)
{
	uint32_t n, id, size;
	struct cursor data;

	if (!cursor_u32(c, &n))
		return cut(c);
	for (uint32_t i = 0; i < n; i++) {
		if (!cursor_u32(c, &id) || !cursor_u32(c, &size) || !cursor_take(c, size, &data))
			return cut(c);
		struct data_btf *btf = header_push(h->btfs, h->n_btfs);
		if (!btf)
			return error_nomem();
		*btf = (struct data_btf){.id = id, .data = {data.base, data.size}};
	}
	return NULL;
}

static struct error *decode_e_machine(struct data_header *h, struct cursor *c)
{
	return cursor_u32(c, &h->e_machine) && cursor_u32(c, &h->e_flags) ? NULL : cut(c);
}

static struct error *decode_cacheline_size(struct data_header *h, struct cursor *c)
{
	return cursor_u32(c, &h->cacheline_size) ? NULL : cut(c);
}

const struct data_feature_ops data_features[DATA_LAST_FEATURE] = {
	[DATA_TRACING_DATA] = {"TRACING_DATA", decode_tracing, false},
	[DATA_BUILD_ID] = {"BUILD_ID", decode_build_ids, false},
	[DATA_HOSTNAME] = {"HOSTNAME", decode_hostname, true},
	[DATA_OSRELEASE] = {"OSRELEASE", decode_osrelease, true},
	[DATA_VERSION] = {"VERSION", decode_version, true},
	[DATA_ARCH] = {"ARCH", decode_arch, true},
	[DATA_NRCPUS] = {"NRCPUS", decode_nrcpus, true},
	[DATA_CPUDESC] = {"CPUDESC", decode_cpudesc, true},
	[DATA_CPUID] = {"CPUID", decode_cpuid, true},
	[DATA_TOTAL_MEM] = {"TOTAL_MEM", decode_total_mem, true},
	[DATA_CMDLINE] = {"CMDLINE", decode_cmdline, true},
	[DATA_EVENT_DESC] = {"EVENT_DESC", decode_event_desc, true},
	[DATA_CPU_TOPOLOGY] = {"CPU_TOPOLOGY", NULL, true},
	[DATA_NUMA_TOPOLOGY] = {"NUMA_TOPOLOGY", NULL, true},
	[DATA_BRANCH_STACK] = {"BRANCH_STACK", NULL, false},
	[DATA_PMU_MAPPINGS] = {"PMU_MAPPINGS", decode_pmu_mappings, true},
	[DATA_GROUP_DESC] = {"GROUP_DESC", decode_group_desc, true},
	[DATA_AUXTRACE] = {"AUXTRACE", NULL, false},
	[DATA_STAT] = {"STAT", NULL, false},
	[DATA_CACHE] = {"CACHE", NULL, true},
	[DATA_SAMPLE_TIME] = {"SAMPLE_TIME", decode_sample_time, true},
	[DATA_MEM_TOPOLOGY] = {"MEM_TOPOLOGY", NULL, true},
	[DATA_CLOCKID] = {"CLOCKID", decode_clockid, false},
	[DATA_DIR_FORMAT] = {"DIR_FORMAT", decode_dir_format, false},
	[DATA_BPF_PROG_INFO] = {"BPF_PROG_INFO", decode_bpf_prog_info, true},
	[DATA_BPF_BTF] = {"BPF_BTF", decode_bpf_btf, true},
	[DATA_COMPRESSED] = {"COMPRESSED", decode_compressed, true},
	[DATA_CPU_PMU_CAPS] = {"CPU_PMU_CAPS", decode_cpu_pmu_caps, true},
	[DATA_CLOCK_DATA] = {"CLOCK_DATA", decode_clock_data, false},
	[DATA_HYBRID_TOPOLOGY] = {"HYBRID_TOPOLOGY", NULL, true},
	[DATA_PMU_CAPS] = {"PMU_CAPS", decode_pmu_caps, true},
	[DATA_E_MACHINE] = {"E_MACHINE", decode_e_machine, true},
	[DATA_CLN_SIZE] = {"CLN_SIZE", decode_cacheline_size, true},
};

const char *data_feature_name(unsigned int feature)
{
	return feature < DATA_LAST_FEATURE ? data_features[feature].name : NULL;
}

struct error *data_feature_decode(struct data_header *h, unsigned int feature, struct cursor c)
{
	if (feature >= DATA_FEATURE_BITS)
		return cursor_error(&c, "unknown feature %u", feature);
	h->features[feature] = (struct data_bytes){cursor_bytes(&c, cursor_left(&c)), c.size};
	c.pos = 0;
	if (feature >= DATA_LAST_FEATURE || !data_features[feature].decode)
		return NULL;
	struct error *err = data_features[feature].decode(h, &c);
	return error_prefix(err, "feature %s", data_features[feature].name);
}
