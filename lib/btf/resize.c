// SPDX-License-Identifier: BSD-2-Clause
/*
 * A DATASEC of another size: what grows or shrinks is its last variable, an
 * array, whose type becomes a new one with as many elements as fit.
 */
#include "lib/btf/internal.h"
#include "lib/btf/sanitize.h"

struct error *btf_resize_datasec(struct btf *btf, uint32_t id, uint32_t size)
{
	const struct btf_type *sec = btf__type_by_id(btf, id);
	const uint32_t n = sec && btf_is_datasec(sec) ? btf_vlen(sec) : 0;

	if (!n)
		return error_new(ENOENT, "the section's variables are not known");
	const struct btf_var_secinfo last = btf_var_secinfos(sec)[n - 1];
	const struct btf_type *var = btf__type_by_id(btf, last.type);
	const struct btf_type *t =
		var && btf_is_var(var) ? btf_skip_mods_and_typedefs(btf, var->type, NULL) : NULL;
	if (!t || !btf_is_array(t))
		return error_new(EINVAL, "the last variable is not an array");
	const struct btf_array array = *btf_array(t);
	const int64_t element = btf__resolve_size(btf, array.type);
	if (element <= 0 || last.offset + (uint64_t)last.size != sec->size || size <= last.offset ||
	    (size - last.offset) % element)
		return error_new(EINVAL, "the last variable's elements do not end at %u", size);

	/* A type that others have too, so a new one for this variable. */
	TRY(btf_make_types_writable(btf));
	const int new_id = btf__add_array(btf, (int)array.index_type, (int)array.type,
					  (uint32_t)((size - last.offset) / element));
	if (new_id < 0)
		return error_errno(-new_id, "cannot add an array type");
	btf_type_writable(btf, last.type)->type = (uint32_t)new_id;
	struct btf_type *writable = btf_type_writable(btf, id);
	writable->size = size;
	btf_var_secinfos(writable)[n - 1].size = size - last.offset;
	return NULL;
}
