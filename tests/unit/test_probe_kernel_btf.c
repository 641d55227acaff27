// SPDX-License-Identifier: BSD-2-Clause
/*
 * Paths through the running kernel's own BTF, thousands of random ones,
 * compared with a walk of the test's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <elf.h>

#include "lib/base/cleanup.h"
#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "probe/point/point.h"
#include "tests/unit/probe_find.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* Memory in which each byte tells of its address. */
static uint8_t byte_at(uint64_t address)
{
	return (uint8_t)(hash_u64(address) >> 17);
}

static uint64_t bits_at(uint64_t address, uint64_t bit, uint32_t n)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t at = bit + i;

		v |= (uint64_t)(byte_at(address + at / 8) >> (at % 8) & 1) << i;
	}
	return v;
}

static bool hash_read(void *ctx, uint64_t address, void *to, size_t size, bool user)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = byte_at(address + i);
	return true;
}

static uint64_t hash_word(void *ctx, uint16_t n)
{
	return 0xffff888000000000ull + n * 0x1000000ull;
}

static uint64_t hash_reg(void *ctx, uint16_t n)
{
	return 0x5000000 + n;
}

/* splitmix64: the same paths each time. */
static uint64_t next_random(uint64_t *seed)
{
	*seed += 0x9e3779b97f4a7c15ull;
	return hash_u64(*seed);
}

static const struct btf_type *bare(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (btf_is_mod(t) || btf_is_typedef(t))
		t = btf__type_by_id(btf, t->type);
	return t;
}

/* A path that was made up, and where it leads. */
struct trip {
	struct strbuf path;
	uint64_t value, bits; /* what C would read there, and how many bits of it */
	bool ends;
};

/*
 * Goes a random way from a pointer to a struct, to a number, a pointer or a bit field. All by the
 * type's own words; the only thing in common with what is tested is <bpf/btf.h>.
 */
static void travel(const struct btf *btf, uint32_t type, uint64_t pointer, uint64_t *seed,
		   struct trip *trip)
{
	uint64_t address = pointer, bit = 0;
	const struct btf_type *t = bare(btf, type);
	bool by_pointer = true;

	for (int steps = 0; steps < 24; steps++) {
		if (btf_is_composite(t)) {
			if (!btf_vlen(t))
				return;
			const uint32_t i = (uint32_t)(next_random(seed) % btf_vlen(t));
			const char *name = btf__name_by_offset(btf, btf_members(t)[i].name_off);
			const uint32_t width = btf_member_bitfield_size(t, i);

			bit += btf_member_bit_offset(t, i);
			if (*name) {
				strbuf_addf(&trip->path, "%s%s", by_pointer ? "->" : ".", name);
				by_pointer = false;
			}
			type = btf_members(t)[i].type;
			t = bare(btf, type);
			if (width) {
				trip->value = bits_at(address, bit, width);
				trip->bits = width;
				trip->ends = true;
				return;
			}
		} else if (btf_is_array(t)) {
			const struct btf_array *array = btf_array(t);
			const int64_t size = btf__resolve_size(btf, array->type);

			if (!array->nelems || size <= 0)
				return;
			const uint64_t i = next_random(seed) % array->nelems;
			strbuf_addf(&trip->path, "[%llu]", (unsigned long long)i);
			bit += i * (uint64_t)size * 8;
			t = bare(btf, array->type);
		} else if (btf_is_ptr(t) && btf_is_composite(bare(btf, t->type)) &&
			   next_random(seed) % 4) {
			address = bits_at(address, bit, 64);
			bit = 0;
			by_pointer = true;
			t = bare(btf, t->type);
		} else if (btf_is_ptr(t) || btf_is_int(t) || btf_is_any_enum(t)) {
			trip->bits = btf_is_ptr(t) ? 64 : t->size * 8;
			trip->ends = trip->bits <= 64;
			if (trip->ends)
				trip->value = bits_at(address, bit, (uint32_t)trip->bits);
			return;
		} else {
			return;
		}
	}
}

/* All parameters take one word, so that the n-th one is the n-th word. */
static bool is_simple(const struct btf *btf, const struct btf_type *proto)
{
	for (uint32_t i = 0; i < btf_vlen(proto); i++) {
		const struct btf_type *t;

		if (!btf_params(proto)[i].type)
			return false;
		t = bare(btf, btf_params(proto)[i].type);
		if (!btf_is_ptr(t) && !btf_is_any_enum(t) && !(btf_is_int(t) && t->size <= 8))
			return false;
	}
	const struct btf_type *ret = bare(btf, proto->type);
	return btf_vlen(proto) && !(proto->type && btf_is_composite(ret));
}

/* Whether the name has one function only, in a list that is sorted by name. */
struct named {
	const char *name;
	uint32_t id;
};

static int compare_named(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static size_t list_functions(const struct btf *btf, struct named **out)
{
	const uint32_t n = btf__type_cnt(btf);
	struct named *v = calloc(n, sizeof(*v));
	size_t count = 0, kept = 0;

	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (btf_is_func(t))
			v[count++] = (struct named){btf__name_by_offset(btf, t->name_off), id};
	}
	qsort(v, count, sizeof(*v), compare_named);
	for (size_t i = 0; i < count; i++)
		if ((!i || strcmp(v[i].name, v[i - 1].name)) &&
		    (i + 1 == count || strcmp(v[i].name, v[i + 1].name)) &&
		    is_simple(btf, btf__type_by_id(btf, btf__type_by_id(btf, v[i].id)->type)))
			v[kept++] = v[i];
	*out = v;
	return kept;
}

#define TRIPS 4000

TEST(the_kernels_structs_are_walked_right)
{
	if (access(KERNEL_BTF, R_OK)) {
		print_message("this kernel shows no BTF\n");
		skip();
	}
	struct btf *btf = btf__parse_raw(KERNEL_BTF);
	assert_non_null(btf);
	_cleanup_free_ struct named *funcs = NULL;
	const size_t n = list_functions(btf, &funcs);
	assert_true(n > 1000);

	/* A kallsyms of these functions. */
	char path[] = "/tmp/test_probe_point.ksyms.XXXXXX";
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&text, "%016llx t %s\n", 0xffffffff81000000ull + i * 16, funcs[i].name);
	assert_int_equal(write_temp(path, strbuf_str(&text), text.len), 0);
	const struct finder_opts opts = {.btf = KERNEL_BTF,
					 .kallsyms = path,
					 .machine = EM_X86_64,
					 .vmlinux = "/proc/nonexistent/vmlinux",
					 .no_debuginfod = true};
	_cleanup_(probe_finder_freep) struct probe_finder *finder = NULL;
	assert_null(probe_finder_new(&opts, &finder));

	const struct fetch_world world = {.reg = hash_reg, .word = hash_word, .read = hash_read};
	uint64_t seed = 1;
	size_t ended = 0, bit_fields = 0;
	for (size_t trips = 0; trips < TRIPS; trips++) {
		const struct named *func = &funcs[next_random(&seed) % n];
		const struct btf_type *proto =
			btf__type_by_id(btf, btf__type_by_id(btf, func->id)->type);
		const uint32_t p = (uint32_t)(next_random(&seed) % btf_vlen(proto));
		const char *name = btf__name_by_offset(btf, btf_params(proto)[p].name_off);
		const struct btf_type *t = bare(btf, btf_params(proto)[p].type);
		struct trip trip = {.path = STRBUF_INIT};

		if (!*name || !btf_is_ptr(t) || !btf_is_composite(bare(btf, t->type))) {
			continue;
		}
		strbuf_addf(&trip.path, "inlines=no;%s v=%s", func->name, name);
		travel(btf, t->type, hash_word(NULL, (uint16_t)p), &seed, &trip);
		if (trip.ends) {
			_cleanup_probe_points_ struct probe_points points = {0};
			uint64_t got = 0;

			find_with(finder, strbuf_str(&trip.path), &points);
			assert_int_equal(points.n, 1);
			const struct fetch_value *value = &points.v[0].args[0];
			if (!fetch_run(&world, value, &got, sizeof(got)) || got != trip.value)
				fail_msg("%s: %llx instead of %llx (%llu bits)%s",
					 strbuf_str(&trip.path), (unsigned long long)got,
					 (unsigned long long)trip.value,
					 (unsigned long long)trip.bits,
					 value->obstacle ? value->obstacle : "");
			assert_int_equal(value->bit_size ? value->bit_size : value->size * 8,
					 trip.bits);
			ended++;
			bit_fields += value->bit_size != 0;
		}
		strbuf_deinit(&trip.path);
	}
	print_message("%zu paths, %zu of them to bit fields\n", ended, bit_fields);
	assert_true(ended > TRIPS / 4);
	unlink(path);
	btf__free(btf);
}
