// SPDX-License-Identifier: BSD-2-Clause
/*
 * What points are found by. "b", a line that is a probe definition, then BTF:
 * every function's parameters are placed, and each argument of the definition
 * is looked for along them. Anything else is a binary: its functions by name,
 * by pattern, and by what is near.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <elf.h>

#include "probe/point/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever comes out is a program that can be run, or says why there is none. */
static void check_value(const struct fetch_value *value)
{
	if (!value->name || (!value->n_pieces && !value->obstacle) ||
	    (value->n_pieces && value->obstacle))
		__builtin_trap();
	for (size_t i = 0; i < value->n_pieces; i++) {
		const struct fetch_piece *piece = &value->pieces[i];
		size_t depth = 0;

		if (!piece->n_insns || piece->n_insns > FETCH_MAX_INSNS)
			__builtin_trap();
		for (size_t k = 0; k < piece->n_insns; k++) {
			const enum fetch_op op = piece->insns[k].op;

			if (op <= FETCH_COMM)
				depth++;
			else if (op != FETCH_DEREF)
				depth--;
			if (!depth || depth > FETCH_MAX_DEPTH)
				__builtin_trap();
		}
		if (depth != 1 || (piece->gives == FETCH_VALUE &&
				   (piece->bit_offset + piece->bit_size > 64 || !piece->bit_size)))
			__builtin_trap();
	}
}

static void look(const struct btf *btf, const struct param *param, const struct probe_def *def)
{
	_cleanup_strbuf_ struct strbuf type = STRBUF_INIT;

	btf_type_text(btf, param->type, &type);
	for (size_t i = 0; i < def->n_args; i++) {
		struct fetch_value value = {0};
		struct error *err = btf_value(btf, param, def->text, &def->args[i], &value);

		if (!err)
			check_value(&value);
		error_free(err);
		fetch_value_deinit(&value);
	}
}

static void functions(const struct btf *btf, const struct probe_def *def, uint16_t machine)
{
	const uint32_t n = btf__type_cnt(btf);

	for (uint32_t id = 1, seen = 0; id < n && seen < 64; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		struct params params = {0};

		if (!btf_is_func_proto(t))
			continue;
		seen++;
		struct error *err = params_place(btf, id, machine, &params);
		if (!err) {
			const struct param returned = params_returned(btf, id, machine);

			for (size_t i = 0; i < params.v.n && i < 16; i++)
				look(btf, &params.v.v[i], def);
			if (returned.type)
				look(btf, &returned, def);
		}
		error_free(err);
		vec_deinit(&params.v);
	}
}

static void with_btf(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	_cleanup_probe_def_ struct probe_def def = {0};
	_cleanup_free_ char *text = NULL;

	if (!end || !(text = strndup((const char *)data, (size_t)(end - data))))
		return;
	struct error *err = probe_def_parse(text, &def);
	struct btf *btf =
		err ? NULL : btf__new(end + 1, (uint32_t)(size - (size_t)(end + 1 - data)));
	if (btf) {
		functions(btf, &def, EM_X86_64);
		functions(btf, &def, EM_AARCH64);
	}
	btf__free(btf);
	error_free(err);
}

static void with_binary(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"main", "*", "a::b*", "f@V1", "puts@plt"};
	const struct finder_opts opts = {.no_dwarf = true};
	_cleanup_close_ int fd = memfd_create("fuzz", MFD_CLOEXEC);
	_cleanup_(user_freep) struct user *user = NULL;
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct error *err = user_open(path, &opts, &user);
	if (err) {
		error_free(err);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;
		struct user_funcs funcs = {0};
		uint64_t address = 0;

		error_free(user_functions(user, names[i], strchr(names[i], '*'), &funcs));
		for (size_t k = 0; k < funcs.v.n; k++)
			if (k && funcs.v.v[k].address <= funcs.v.v[k - 1].address)
				__builtin_trap();
		user_near(user, names[i], &near);
		user_symbol(user, names[i], &address);
		user_name_at(user, address, 1);
		vec_deinit(&funcs.v);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == 'b')
		with_btf(data + 1, size - 1);
	else
		with_binary(data, size);
	return 0;
}
