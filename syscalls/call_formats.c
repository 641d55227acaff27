// SPDX-License-Identifier: BSD-2-Clause
#include "syscalls/call_formats.h"

#include <stdio.h>
#include <string.h>

#include "lib/btf/open.h"

/* "const char * filename" between start and end: the last word is the name. */
static bool add_field(struct arena *arena, const char *start, const char *end,
		      struct kernel_arg *arg)
{
	const char *name = end;

	while (name > start && name[-1] != ' ' && name[-1] != '*')
		name--;
	const char *type_end = name;
	while (type_end > start && type_end[-1] == ' ')
		type_end--;
	arg->name = arena_text(arena, name, (size_t)(end - name));
	arg->type = arena_text(arena, start, (size_t)(type_end - start));
	return arg->name && arg->type;
}

int call_args_of_format(const char *text, struct arena *arena, struct kernel_arg args[TRACE_ARGS])
{
	static const char tag[] = "\tfield:";
	int n = -1;

	for (const char *at = text; (at = strstr(at, tag)) != NULL;) {
		const char *start = at + sizeof(tag) - 1;
		const char *end = start + strcspn(start, ";\n");

		at = end;
		if (*end != ';')
			continue;
		if (n < 0) { /* the common fields, and then the number of the call */
			static const char nr[] = "int __syscall_nr", old_nr[] = "int nr";
			const size_t len = (size_t)(end - start);

			if ((len == sizeof(nr) - 1 && !memcmp(start, nr, len)) ||
			    (len == sizeof(old_nr) - 1 && !memcmp(start, old_nr, len)))
				n = 0;
			continue;
		}
		if (n == TRACE_ARGS)
			break;
		if (!add_field(arena, start, end, &args[n++]))
			return -2;
	}
	return n;
}

/* The function's prototype; NULL: there is none. */
static const struct btf_type *find_proto(const struct btf *btf, const char *call)
{
	static const char *const prefixes[] = {"__do_sys_", "__se_sys_"};
	char name[128];

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		snprintf(name, sizeof(name), "%s%s", prefixes[i], call);
		const int id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
		const struct btf_type *func = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
		const struct btf_type *proto = func ? btf__type_by_id(btf, func->type) : NULL;

		if (proto && btf_is_func_proto(proto) && btf_vlen(proto) <= TRACE_ARGS)
			return proto;
	}
	return NULL;
}

int call_args_of_btf(const struct btf *btf, const char *call, struct arena *arena,
		     struct kernel_arg args[TRACE_ARGS])
{
	const struct btf_type *proto = find_proto(btf, call);

	if (!proto)
		return -1;
	const struct btf_param *params = btf_params(proto);
	int n = btf_vlen(proto);
	const char *first = n == 1 ? btf__name_by_offset(btf, params[0].name_off) : NULL;

	/* SYSCALL_DEFINE0: the function has a parameter, the call has none */
	if (first && !strcmp(first, "__unused"))
		n = 0;
	for (int i = 0; i < n; i++) {
		const char *name = btf__name_by_offset(btf, params[i].name_off);

		args[i].name = arena_strdup(arena, name ? name : "");
		if (!args[i].name)
			return -2;
	}
	return n;
}
