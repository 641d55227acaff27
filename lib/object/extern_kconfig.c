// SPDX-License-Identifier: BSD-2-Clause
/*
 * Variables of section .kconfig that are named like an option (CONFIG_HZ):
 * their values come from the text that the caller gave at open, then from the
 * running kernel's configuration. What a value must be follows from the type:
 *
 *	bool			y, n
 *	char			y, m, n as a letter, or a number
 *	enum libbpf_tristate	y, m, n
 *	other integers		a number, decimal or 0x…, that fits
 *	array of char		"text", cut where it does not fit
 *
 * An option that is not set is not in the text: zero when it is weak.
 */
#include "lib/object/prepare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys/sys.h"

static void put_number(const struct extern_var *var, char *to, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value <<= 8 * (sizeof(value) - var->size);
#endif
	memcpy(to, &value, var->size);
}

static struct error *bad(const struct extern_var *var, const char *value)
{
	return error_hint(error_new(EINVAL, "extern '%s' cannot take the value %.64s", var->name,
				    value),
			  "declare it as bool, enum libbpf_tristate, a sufficiently wide integer, "
			  "or an array of char");
}

static struct error *put_letter(const struct bpf_object *obj, const struct extern_var *var,
				const struct btf_type *t, char letter, char *to)
{
	const char text[] = {letter, 0};

	if (btf_is_int(t) && btf_int_encoding(t) & BTF_INT_BOOL) {
		if (letter == 'm')
			return bad(var, text);
		put_number(var, to, letter == 'y');
	} else if (btf_is_int(t) && t->size == 1) {
		*to = letter;
	} else if (btf_is_any_enum(t) && !strcmp(btf_name(obj->btf, t), "libbpf_tristate") &&
		   var->size <= 8) {
		put_number(var, to, letter == 'y' ? 1 : letter == 'm' ? 2 : 0);
	} else {
		return bad(var, text);
	}
	return NULL;
}

static struct error *put_text(const struct bpf_object *obj, const struct extern_var *var,
			      const struct btf_type *t, const char *value, char *to)
{
	const size_t len = strlen(value);

	if (!btf_is_array(t) || !var->size || len < 2 || value[len - 1] != '"')
		return bad(var, value);
	size_t n = len - 2;
	if (n >= var->size) {
		n = var->size - 1;
		log_warn(obj->log, "%s: extern '%s' gets only the first %zu bytes of %s", obj->path,
			 var->name, n, value);
	}
	memcpy(to, value + 1, n);
	to[n] = 0;
	return NULL;
}

static struct error *put_integer(const struct extern_var *var, const struct btf_type *t,
				 const char *value, char *to)
{
	char *end;

	if (!btf_is_int(t) || var->size > 8)
		return bad(var, value);
	errno = 0;
	const bool negative = value[0] == '-';
	const uint64_t number =
		negative ? (uint64_t)strtoll(value, &end, 0) : strtoull(value, &end, 0);
	if (errno || end == value || *end)
		return bad(var, value);
	const unsigned bits = var->size * 8;
	const bool is_signed = btf_int_encoding(t) & BTF_INT_SIGNED;
	if (negative) {
		if (!is_signed || (int64_t)number < -(INT64_C(1) << (bits - 2)) * 2)
			return bad(var, value);
	} else if (number > UINT64_MAX >> (64 - bits + is_signed)) {
		return bad(var, value);
	}
	put_number(var, to, number);
	return NULL;
}

static struct error *put_value(struct bpf_object *obj, struct extern_var *var, const char *value,
			       char *data)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(obj->btf, var->type_id, NULL);
	char *to = data + var->offset;

	if (!t)
		return bad(var, value);
	var->is_known = true;
	if (strchr("ymn", value[0]) && value[0] && !value[1])
		return put_letter(obj, var, t, value[0], to);
	if (value[0] == '"')
		return put_text(obj, var, t, value, to);
	return put_integer(var, t, value, to);
}

/* Takes the lines NAME=VALUE of options that are asked for and have no value yet. */
static struct error *read_lines(struct bpf_object *obj, char *text, char *data)
{
	for (char *line = text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		char *equals = strchr(line, '=');
		if (strncmp(line, "CONFIG_", 7) || !equals)
			continue;
		*equals = 0;
		char *value = equals + 1;
		value[strcspn(value, "\r")] = 0;
		struct extern_var *var = strmap_get(&obj->externs, line);
		if (var && var->is_kconfig && var->is_used && !var->is_known)
			TRY(put_value(obj, var, value, data));
	}
	return NULL;
}

static const struct extern_var *first_unknown(const struct bpf_object *obj, bool only_strong)
{
	for (size_t i = 0; i < obj->n_extern_vars; i++) {
		const struct extern_var *var = &obj->extern_vars[i];

		if (var->is_kconfig && var->is_used && !var->is_known &&
		    !(only_strong && var->is_weak))
			return var;
	}
	return NULL;
}

struct error *kconfig_fill(struct bpf_object *obj)
{
	_cleanup_free_ char *kernels = NULL;
	size_t size;

	TRY(externs_fill(obj));
	if (!first_unknown(obj, false))
		return NULL;
	char *data = bpf_map__initial_value(&obj->maps.v[obj->kconfig_map - 1], &size);
	if (!data)
		return error_nomem();
	if (obj->kconfig_text) {
		_cleanup_free_ char *copy = strdup(obj->kconfig_text);

		if (!copy)
			return error_nomem();
		TRY(read_lines(obj, copy, data));
	}
	if (first_unknown(obj, false)) {
		struct error *err = sys_kernel_config(NULL, &kernels);

		if (err && first_unknown(obj, true))
			return error_prefix(err, "extern '%s'", first_unknown(obj, true)->name);
		error_free(err);
		TRY(read_lines(obj, kernels, data));
	}
	const struct extern_var *missing = first_unknown(obj, true);
	if (missing)
		return error_hint(error_new(ENOENT, "the kernel's configuration has no '%s'",
					    missing->name),
				  "declare it __weak to get zero instead");
	return NULL;
}
