// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lack of memory, at every place: each scenario runs with its first, second,
 * third … allocation failing, until it gets through. It must say ENOMEM, and
 * (under the sanitizers) neither leak nor touch what is not there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/strbuf.h"
#include "lib/btf/dump.h"
#include "lib/btf/ext.h"
#include "lib/btf/sanitize.h"
#include "lib/core/core.h"
#include "tests/unit/nomem.h"

static uint8_t raw[4096], swapped[4096];
static uint32_t raw_size, swapped_size;

static int make_types(struct btf *b)
{
	int id = 0;

#define STEP(call)                                                                                 \
	do {                                                                                       \
		if ((id = (call)) < 0)                                                             \
			return id;                                                                 \
	} while (0)
	STEP(btf__add_int(b, "int", 4, BTF_INT_SIGNED));
	STEP(btf__add_struct(b, "s", 16));
	STEP(btf__add_field(b, "a", 1, 0, 0));
	STEP(btf__add_field(b, "next", 3, 64, 0));
	STEP(btf__add_ptr(b, 2));
	STEP(btf__add_struct(b, "s", 8));
	STEP(btf__add_field(b, "other", 1, 0, 3));
	STEP(btf__add_func_proto(b, 1));
	STEP(btf__add_func_param(b, "p", 3));
	STEP(btf__add_func(b, "f", BTF_FUNC_GLOBAL, 5));
	STEP(btf__add_var(b, "v", BTF_VAR_GLOBAL_ALLOCATED, 1));
	STEP(btf__add_datasec(b, ".data", 4));
	STEP(btf__add_datasec_var_info(b, 7, 0, 4));
	STEP(btf__add_enum64(b, "e", 8, false));
	STEP(btf__add_enum64_value(b, "E", 1ull << 40));
	STEP(btf__add_typedef(b, "fn_t", 3));
	STEP(btf__add_float(b, "double", 8));
	STEP(btf__add_str(b, "0:0"));
	for (int i = 0; i < 60; i++) {
		char name[16];

		snprintf(name, sizeof(name), "t%d", i);
		STEP(btf__add_typedef(b, name, 1));
	}
	return 0;
}

static int edge(struct error *err)
{
	int code = error_to_errno(err);

	error_free(err);
	return code;
}

static int writes(void)
{
	struct btf *b = btf__new_empty();
	uint32_t size;

	if (!b)
		return -errno;
	int err = make_types(b);
	if (!err && !btf__raw_data(b, &size))
		err = -errno;
	/* whatever failed, what is there can be asked */
	for (uint32_t id = 0; id < btf__type_cnt(b); id++)
		btf_name(b, btf__type_by_id(b, id));
	btf__free(b);
	return err;
}

static int reads(void)
{
	struct btf *b = btf__new(raw, raw_size);

	if (!b)
		return -errno;
	int err = btf__align_of(b, 2) ? edge(btf_index_build(b)) : -errno;

	btf__free(b);
	return err;
}

static int reads_swapped(void)
{
	struct btf *b = btf__new(swapped, swapped_size);
	uint32_t size;

	if (!b)
		return -errno;
	int err = btf__raw_data(b, &size) ? 0 : -errno;
	btf__free(b);
	return err;
}

static int reads_ext(void)
{
	static const uint32_t words[] = {0x0001eb9f, 32, 0, 20, 20, 0, 20, 0, 8, 1, 1, 0, 6};
	struct btf_ext *ext = NULL;
	int err = edge(btf_ext_open(words, sizeof(words), "x.o", &ext));

	btf_ext__free(ext);
	return err;
}

static int dumps(void)
{
	struct btf *b = btf__new(raw, raw_size);
	struct strbuf sb = STRBUF_INIT;
	int err = b ? edge(btf_dump_vmlinux(b, &sb)) : -errno;

	strbuf_deinit(&sb);
	btf__free(b);
	return err;
}

static int sanitizes(void)
{
	struct btf *b = btf__new(raw, raw_size), *copy = NULL;
	int err = b ? edge(btf_sanitize(b, BTF_FEAT_FUNC, &copy)) : -errno;

	btf__free(copy);
	btf__free(b);
	return err;
}

static int relocates(void)
{
	struct btf *local = btf__new(raw, raw_size), *targ = btf__new(raw, raw_size);
	struct core *core = NULL;
	int err = local && targ ? edge(core_new(local, targ, &core)) : -ENOMEM;
	int off = err ? 0 : btf__find_str(local, "0:0");

	if (!err && off < 0)
		err = off;
	if (!err) {
		struct btf_core_relo size = {0, 2, off, CORE_FIELD_BYTE_SIZE};
		struct btf_core_relo value = {0, 9, off + 2, CORE_ENUMVAL_VALUE};
		struct bpf_insn insns[2] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 4}};

		err = edge(core_relocate(core, &size, "p", insns, 2, 0));
		insns[0] = (struct bpf_insn){.code = BPF_LD | BPF_IMM | BPF_DW};
		insns[1] = (struct bpf_insn){.imm = 1 << 8};
		if (!err)
			err = edge(core_relocate(core, &value, "p", insns, 2, 0));
	}
	core_free(core);
	btf__free(local);
	btf__free(targ);
	return err;
}

static void sweep(int (*scenario)(void))
{
	int runs = 0;

	assert_int_equal(scenario(), 0);
	for (;; runs++) {
		countdown = runs;
		failed = false;
		int err = scenario();
		countdown = -1;
		if (!failed) {
			assert_int_equal(err, 0);
			break;
		}
		if (err != -ENOMEM)
			fail_msg("allocation %d failed, the result was %d", runs, err);
	}
	assert_true(runs > 2);
}

/* A name is found without memory for a table too, only slower. */
static void finds_without_memory(void **state)
{
	for (long n = 0; n < 4; n++) {
		struct btf *b = btf__new(raw, raw_size);

		countdown = n;
		for (int i = 0; i < 12; i++) {
			assert_true(btf__find_by_name(b, "fn_t") > 0);
			assert_true(btf__find_by_name_kind(b, "f", BTF_KIND_FUNC) > 0);
			assert_int_equal(btf__find_by_name(b, "g"), -ENOENT);
			countdown = n ? countdown : 0;
		}
		countdown = -1;
		assert_int_equal(btf__find_by_name(b, "t59"), btf__type_cnt(b) - 1);
		btf__free(b);
	}
}

static int dedups(void)
{
	struct btf *b = btf__new(raw, raw_size), *doubled = btf__new_empty();
	int ret = b && doubled ? btf__add_btf(doubled, b) : -errno;

	if (ret >= 0)
		ret = btf__add_btf(doubled, b);
	if (ret >= 0)
		ret = btf__dedup(doubled, NULL);
	if (ret >= 0)
		assert_true(btf__type_cnt(doubled) < 2 * btf__type_cnt(b) - 1);
	btf__free(doubled);
	btf__free(b);
	return ret < 0 ? ret : 0;
}

#define SWEEP(scenario)                                                                            \
	static void scenario##_without_memory(void **state)                                        \
	{                                                                                          \
		sweep(scenario);                                                                   \
	}
SWEEP(writes)
SWEEP(reads)
SWEEP(reads_swapped)
SWEEP(reads_ext)
SWEEP(dumps)
SWEEP(sanitizes)
SWEEP(dedups)
SWEEP(relocates)

static int setup(void **state)
{
	struct btf *b = btf__new_empty();

	assert_int_equal(make_types(b), 0);
	const void *data = btf__raw_data(b, &raw_size);
	assert_true(raw_size <= sizeof(raw));
	memcpy(raw, data, raw_size);
	btf__set_endianness(b, BTF_BIG_ENDIAN);
	data = btf__raw_data(b, &swapped_size);
	memcpy(swapped, data, swapped_size);
	btf__free(b);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_without_memory),
		cmocka_unit_test(reads_without_memory),
		cmocka_unit_test(finds_without_memory),
		cmocka_unit_test(reads_swapped_without_memory),
		cmocka_unit_test(reads_ext_without_memory),
		cmocka_unit_test(dumps_without_memory),
		cmocka_unit_test(sanitizes_without_memory),
		cmocka_unit_test(dedups_without_memory),
		cmocka_unit_test(relocates_without_memory),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
