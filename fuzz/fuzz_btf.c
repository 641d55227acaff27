// SPDX-License-Identifier: BSD-2-Clause
/*
 * BTF and .BTF.ext from anywhere: opened over the input itself (so that a read
 * past it is seen), then all that can be asked of it. The first byte chooses.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/strbuf.h"
#include "lib/btf/dump.h"
#include "lib/btf/ext.h"
#include "lib/btf/sanitize.h"

static void swallow(void *ctx, const char *fmt, va_list ap)
{
}

static void ask(const struct btf *btf)
{
	uint32_t size;

	for (uint32_t id = 0; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		btf__resolve_size(btf, id);
		btf__resolve_type(btf, id);
		btf__align_of(btf, id);
		btf_skip_mods_and_typedefs(btf, id, NULL);
		btf__find_by_name_kind(btf, btf_name(btf, t), btf_kind(t));
	}
	btf__pointer_size(btf);
	btf__raw_data(btf, &size);
}

static void dump(const struct btf *btf)
{
	struct strbuf sb = STRBUF_INIT;

	error_free(btf_dump_vmlinux(btf, &sb));
	strbuf_deinit(&sb);
}

static void dump_values(const struct btf *btf)
{
	static const uint8_t bytes[256] = {1, 2, 3, 'a', 'b', 0, 255};
	struct btf_dump *d = btf_dump__new(btf, swallow, NULL, NULL);
	LIBBPF_OPTS(btf_dump_type_data_opts, opts, .emit_zeroes = true, .emit_strings = true);

	for (uint32_t id = 0; d && id < btf__type_cnt(btf) && id < 64; id++) {
		btf_dump__emit_type_decl(d, id, NULL);
		btf_dump__dump_type_data(d, id, bytes, sizeof(bytes), &opts);
	}
	btf_dump__free(d);
}

static bool section_size(void *ctx, const char *section, uint32_t *size)
{
	*size = 64;
	return true;
}

static bool symbol_offset(void *ctx, const char *section, const char *symbol, uint32_t *offset)
{
	*offset = strlen(symbol) * 4;
	return true;
}

static void change(const struct btf *btf, uint32_t features)
{
	const struct btf_layout layout = {section_size, symbol_offset, NULL};
	struct btf *copy = NULL;
	uint32_t size;

	error_free(btf_sanitize(btf, features, &copy));
	if (copy)
		btf__raw_data(copy, &size);
	btf__free(copy);

	copy = btf__new_empty();
	if (btf__add_btf(copy, btf) >= 0)
		error_free(btf_fix_datasecs(copy, &layout));
	btf__set_endianness(copy, BTF_BIG_ENDIAN);
	const void *raw = btf__raw_data(copy, &size);
	struct btf *again = btf__new(raw, size);
	if (again && btf__type_cnt(again) != btf__type_cnt(copy))
		abort();
	btf__free(again);
	btf__free(copy);
}

/* Twice the types, of which one is left; in another order; it is BTF still. */
static void rewrite(const struct btf *btf)
{
	struct btf *copy = btf__new_empty();
	uint32_t size;

	if (btf__add_btf(copy, btf) >= 0 && btf__add_btf(copy, btf) >= 0 && btf__dedup(copy, NULL))
		abort();
	const uint32_t n = btf__type_cnt(copy) - 1;
	uint32_t *map = malloc((n + 1) * sizeof(*map));
	for (uint32_t i = 0; i < n; i++)
		map[i] = n - i;
	if (btf__permute(copy, map, n, NULL))
		abort();
	free(map);
	const void *raw = btf__raw_data(copy, &size);
	struct btf *again = btf__new(raw, size);
	if (!again || btf__type_cnt(again) != btf__type_cnt(copy))
		abort();
	btf__free(again);
	btf__free(copy);
}

static void open_ext(const uint8_t *data, size_t size)
{
	struct btf_ext *ext = NULL;
	struct error *err = btf_ext_open(data, size, "fuzz", &ext);

	error_free(err);
	if (err)
		return;
	for (int kind = 0; kind < BTF_EXT_KINDS; kind++) {
		size_t n;
		const struct btf_ext_section *secs = btf_ext_sections(ext, kind, &n);

		for (size_t i = 0; i < n; i++) {
			uint32_t before = 0;

			for (uint32_t k = 0; k < secs[i].n; k++) {
				uint32_t off = *(const uint32_t *)btf_ext_rec(&secs[i], k);

				if (off < before || btf_ext_lower_bound(&secs[i], off) > k)
					abort();
				before = off;
			}
		}
	}
	btf_ext__free(ext);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct btf *btf = NULL;

	if (!size)
		return 0;
	uint8_t what = data[0];
	data++;
	size--;
	if (what == 'x') {
		open_ext(data, size);
		return 0;
	}
	/* at its own size and alignment */
	void *copy = malloc(size ? size : 1);
	memcpy(copy, data, size);
	struct error *err = btf_open(copy, size, "fuzz", NULL, (struct btf_backing){0}, &btf);
	error_free(err);
	if (!err) {
		ask(btf);
		switch (what % 4) {
		case 0:
			dump(btf);
			break;
		case 1:
			dump_values(btf);
			break;
		case 2:
			change(btf, size);
			break;
		case 3:
			rewrite(btf);
			break;
		}
		btf__free(btf);
	}
	free(copy);
	return 0;
}
