// SPDX-License-Identifier: BSD-2-Clause
/*
 * BTF as a C header. C wants a type before its use, so each type is written
 * after what it needs, found by walking what it refers to:
 *
 *   complete	what stands in a struct by value, and an array's element, must
 *		be defined before;
 *   weak	behind a pointer and in a prototype a forward declaration
 *		("struct x;") will do, which also ends the cycles;
 *   typedefs	cannot be declared forward: they are always written before,
 *		with as much of their type as the use needs;
 *   no name	a struct or enum without a name is written inside of what uses
 *		it, so what it needs is needed by its user.
 *
 * Types that share a name with one written before get ___2, ___3 appended,
 * which CO-RE ignores. Tags (struct, union, enum) have one name space,
 * typedefs and the values of enums another.
 *
 * A graph from outside may be a trap: cycles by value, chains without end,
 * nameless types that double at each level. Depth and output are bounded, and
 * what was walked once is marked.
 */
#include "lib/btf/dump.h"

#include <stdlib.h>
#include <string.h>

#include "lib/btf/dump_internal.h"

struct error *dump_too_deep(uint32_t id)
{
	return error_new(EINVAL, "type %u is nested too deeply, or within itself", id);
}

/* ---- names ---- */

static bool is_c_name(const char *s)
{
	for (const char *p = s; *p; p++) {
		char c = *p | 0x20;

		if (!((c >= 'a' && c <= 'z') || *p == '_' || (p > s && *p >= '0' && *p <= '9')))
			return false;
	}
	return true;
}

/*
 * Other languages have names that C cannot say ("Option<u32>"), and a file
 * from elsewhere may have lines of C in them.
 */
const char *dump_c_name(struct btf_dump *d, const char *name)
{
	if (is_c_name(name))
		return name;
	char **slot = vec_push(&d->owned);
	if (!slot)
		return NULL;
	struct strbuf sb = STRBUF_INIT;
	if (*name >= '0' && *name <= '9')
		strbuf_addch(&sb, '_');
	for (const char *p = name; *p; p++) {
		char c[2] = {*p, 0};

		strbuf_addch(&sb, is_c_name(c) || (*p >= '0' && *p <= '9') ? *p : '_');
	}
	*slot = strbuf_steal(&sb);
	return *slot;
}

/* A name for as long as d lives. NULL: no memory. */
static const char *keep(struct btf_dump *d, const char *name)
{
	return d->grows ? arena_strdup(&d->texts, name) : name;
}

/* name, or a new name when it was taken before. */
static const char *unique_name(struct btf_dump *d, struct strmap *map, const char *name)
{
	name = dump_c_name(d, name);
	if (name)
		name = keep(d, name);
	if (!name)
		return NULL;
	uintptr_t uses = (uintptr_t)strmap_get(map, name) + 1;

	if (!strmap_put(map, name, (void *)uses))
		return NULL;
	if (uses == 1)
		return name;
	char **slot = vec_push(&d->owned);
	if (!slot)
		return NULL;
	struct strbuf sb = STRBUF_INIT;
	strbuf_addf(&sb, "%s___%zu", name, (size_t)uses);
	*slot = strbuf_steal(&sb);
	return *slot;
}

uint32_t dump_fwd_target(const struct btf_dump *d, uint32_t id)
{
	const struct btf_type *t = btf_type_at(d->btf, id);
	int kind = btf_kflag(t) ? BTF_KIND_UNION : BTF_KIND_STRUCT;
	int target = btf__find_by_name_kind(d->btf, btf_name(d->btf, t), kind);

	return target > 0 ? (uint32_t)target : id;
}

const char *dump_type_name(struct btf_dump *d, uint32_t id)
{
	const struct btf_type *t = btf_type_at(d->btf, id);

	if (d->names[id])
		return d->names[id];
	const char *name = btf_name(d->btf, t);
	switch (btf_kind(t)) {
	case BTF_KIND_FWD: {
		uint32_t target = dump_fwd_target(d, id);

		if (target != id) {
			name = dump_type_name(d, target);
			break;
		}
	}
		/* fall through */
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		/* "enum x;" declares what is defined elsewhere, and takes no name from it */
		if (btf_is_any_enum(t) && !btf_vlen(t)) {
			name = dump_c_name(d, name);
			name = name ? keep(d, name) : NULL;
		} else if (*name)
			name = unique_name(d, &d->tags, name);
		break;
	case BTF_KIND_TYPEDEF:
		name = unique_name(d, &d->idents, name);
		break;
	default:
		/* "unsigned int", in words that C knows */
		if (strspn(name,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789 ") !=
		    strlen(name))
			name = dump_c_name(d, name);
		if (name)
			name = keep(d, name);
	}
	d->names[id] = name;
	return name;
}

const char *dump_ident(struct btf_dump *d, const char *name)
{
	return unique_name(d, &d->idents, name);
}

/* ---- order ---- */

static struct error *need(struct btf_dump *d, uint32_t id, bool complete, int depth);

/* Hands the text on; called where a piece is finished. */
static void flush(struct btf_dump *d);

static bool is_builtin_typedef(const char *name)
{
	return strcmp(name, "__builtin_va_list") == 0;
}

static struct error *write_struct(struct btf_dump *d, uint32_t id, int depth)
{
	TRY(dump_struct_body(d, id, 0, depth));
	strbuf_adds(d->out, ";\n\n");
	flush(d);
	return NULL;
}

static struct error *write_forward(struct btf_dump *d, uint32_t id)
{
	const struct btf_type *t = btf_type_at(d->btf, id);
	bool is_union = btf_is_fwd(t) ? btf_kflag(t) : btf_is_union(t);

	if (d->state[id] & (DUMP_FORWARD | DUMP_DEFINED))
		return NULL;
	const char *name = dump_type_name(d, id);
	if (!name)
		return error_nomem();
	strbuf_adds(d->out, is_union ? "union " : "struct ");
	strbuf_adds(d->out, name);
	strbuf_adds(d->out, ";\n\n");
	d->state[id] |= DUMP_FORWARD;
	flush(d);
	return NULL;
}

static struct error *need_members(struct btf_dump *d, const struct btf_type *t, int depth)
{
	const struct btf_member *m = btf_members(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++)
		TRY(need(d, m[i].type, true, depth + 1));
	return NULL;
}

static struct error *need_composite(struct btf_dump *d, uint32_t id, bool complete, int depth)
{
	const struct btf_type *t = btf_type_at(d->btf, id);
	bool named = *btf_name(d->btf, t);

	if (named && !complete)
		return write_forward(d, id);
	if (d->state[id] & DUMP_DEFINING)
		return dump_too_deep(id);
	d->state[id] |= DUMP_DEFINING;
	TRY(need_members(d, t, depth));
	if (named)
		TRY(write_struct(d, id, depth));
	d->state[id] = (d->state[id] & ~DUMP_DEFINING) | DUMP_DEFINED | DUMP_WEAK;
	return NULL;
}

static struct error *write_enum(struct btf_dump *d, uint32_t id)
{
	TRY(dump_enum_body(d, id, 0));
	strbuf_adds(d->out, ";\n\n");
	flush(d);
	return NULL;
}

static struct error *need_typedef(struct btf_dump *d, uint32_t id, bool complete, int depth)
{
	const struct btf_type *t = btf_type_at(d->btf, id);

	TRY(need(d, t->type, complete, depth + 1));
	/* it may have been written on the way, or before */
	if (d->state[id] & DUMP_WEAK || is_builtin_typedef(btf_name(d->btf, t)))
		return NULL;
	const char *name = dump_type_name(d, id);
	if (!name)
		return error_nomem();
	strbuf_adds(d->out, "typedef ");
	TRY(dump_decl(d, t->type, name, 0, false, depth));
	strbuf_adds(d->out, ";\n\n");
	flush(d);
	return NULL;
}

/* Neon's types on ARM, which the compiler knows by other names. */
static struct error *need_int(struct btf_dump *d, uint32_t id)
{
	static const char *const missing[][2] = {
		{"__Poly8_t", "unsigned char"},
		{"__Poly16_t", "unsigned short"},
		{"__Poly64_t", "unsigned long long"},
		{"__Poly128_t", "unsigned __int128"},
	};
	const char *name = btf_name(d->btf, btf_type_at(d->btf, id));

	if (strncmp(name, "__Poly", 6))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(missing); i++)
		if (strcmp(name, missing[i][0]) == 0) {
			strbuf_addf(d->out, "typedef %s %s;\n\n", missing[i][1], name);
			flush(d);
		}
	return NULL;
}

/* Writes what a use of the type needs and was not written yet. */
static struct error *need(struct btf_dump *d, uint32_t id, bool complete, int depth)
{
	uint8_t done = complete ? DUMP_DEFINED : DUMP_WEAK;

	if (id == 0 || d->state[id] & (done | DUMP_DEFINED))
		return NULL;
	if (depth > DUMP_MAX_DEPTH)
		return dump_too_deep(id);
	const struct btf_type *t = btf_type_at(d->btf, id);
	switch (btf_kind(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return need_composite(d, id, complete, depth);
	case BTF_KIND_FWD: {
		uint32_t target = dump_fwd_target(d, id);

		return target == id ? write_forward(d, id) : need(d, target, complete, depth + 1);
	}
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		if (*btf_name(d->btf, t))
			TRY(write_enum(d, id));
		done = DUMP_DEFINED;
		break;
	case BTF_KIND_INT:
		TRY(need_int(d, id));
		done = DUMP_DEFINED;
		break;
	case BTF_KIND_PTR:
		TRY(need(d, t->type, false, depth + 1));
		done = DUMP_DEFINED;
		break;
	case BTF_KIND_ARRAY:
		/* C wants its element complete even behind a pointer */
		TRY(need(d, btf_array(t)->type, true, depth + 1));
		done = DUMP_DEFINED;
		break;
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		TRY(need(d, t->type, complete, depth + 1));
		break;
	case BTF_KIND_TYPEDEF:
		TRY(need_typedef(d, id, complete, depth));
		break;
	case BTF_KIND_FUNC_PROTO:
		TRY(need(d, t->type, false, depth + 1));
		for (uint32_t i = 0; i < btf_vlen(t); i++)
			TRY(need(d, btf_params(t)[i].type, false, depth + 1));
		done = DUMP_DEFINED;
		break;
	}
	d->state[id] |= done | DUMP_WEAK;
	return NULL;
}

/* ---- the object ---- */

/* Notes in target's state that something refers to it. */
static inline void refer(struct btf_dump *d, uint32_t target)
{
	d->state[target] |= DUMP_REFERENCED;
}

/* What types from first on refer to. */
static void mark_referenced(struct btf_dump *d, uint32_t first)
{
	for (uint32_t id = first; id < d->n; id++) {
		const struct btf_type *t = btf_type_at(d->btf, id);

		switch (btf_kind(t)) {
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
			for (uint32_t i = 0; i < btf_vlen(t); i++)
				refer(d, btf_members(t)[i].type);
			break;
		case BTF_KIND_FUNC_PROTO:
			refer(d, t->type);
			for (uint32_t i = 0; i < btf_vlen(t); i++)
				refer(d, btf_params(t)[i].type);
			break;
		case BTF_KIND_ARRAY:
			refer(d, btf_array(t)->type);
			refer(d, btf_array(t)->index_type);
			break;
		case BTF_KIND_PTR:
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
		case BTF_KIND_FUNC:
		case BTF_KIND_VAR:
			refer(d, t->type);
			break;
		}
	}
}

void btf_dump__free(struct btf_dump *d)
{
	char **name;

	if (!d)
		return;
	vec_for_each (name, &d->owned)
		free(*name);
	vec_deinit(&d->owned);
	strmap_deinit(&d->tags);
	strmap_deinit(&d->idents);
	strbuf_deinit(&d->own);
	arena_deinit(&d->texts);
	free(d->state);
	free(d->layouts);
	free(d->names);
	free(d);
}
DEFINE_FREEP(struct btf_dump, btf_dump__free)

/* array[0 … n - 1], of which those from old on are zero. */
static bool resize(void *array, size_t size, uint32_t old, uint32_t n)
{
	void *larger = reallocarray(*(void **)array, n, size);

	if (!larger)
		return false;
	memset((char *)larger + old * size, 0, (n - old) * size);
	*(void **)array = larger;
	return true;
}

/* Makes room for the types that were added since. */
static struct error *catch_up(struct btf_dump *d)
{
	const uint32_t n = btf__type_cnt(d->btf), old = d->n;

	if (n < old)
		return error_new(EINVAL,
				 "the dump was created for %u types, but the BTF now has %u", old,
				 n);
	if (n == old)
		return NULL;
	if (!resize(&d->state, sizeof(*d->state), old, n) ||
	    !resize(&d->layouts, sizeof(*d->layouts), old, n) ||
	    !resize(&d->names, sizeof(*d->names), old, n))
		return error_nomem();
	d->n = n;
	/* the kernel's BTF gives half its size */
	d->max_bytes = 1 << 20;
	for (const struct btf *b = d->btf; b; b = b->base)
		d->max_bytes += 16 * ((uint64_t)b->types_len + b->strs_len);
	TRY(btf_index_build(d->btf));
	mark_referenced(d, old ? old : 1);
	return NULL;
}

static struct error *dump_new(const struct btf *btf, bool grows, struct btf_dump **out)
{
	_cleanup_(btf_dump__freep) struct btf_dump *d = calloc(1, sizeof(*d));

	if (!d)
		return error_nomem();
	d->btf = btf;
	d->grows = grows;
	d->out = &d->own;
	TRY(catch_up(d));
	*out = steal_ptr(d);
	return NULL;
}

/* A type as something to write by itself, not as something that is needed. */
static struct error *dump_top(struct btf_dump *d, uint32_t id)
{
	const struct btf_type *t = btf_type_at(d->btf, id);
	bool named = *btf_name(d->btf, t);

	if (d->out->len + d->written > d->max_bytes)
		return error_new(E2BIG, "the C text of the types is too large");
	switch (btf_kind(t)) {
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		/* constants that no variable has as its type */
		if (!named && !(d->state[id] & (DUMP_REFERENCED | DUMP_DEFINED))) {
			d->state[id] |= DUMP_DEFINED | DUMP_WEAK;
			return write_enum(d, id);
		}
		return named ? need(d, id, true, 0) : NULL;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_FWD:
		return named ? need(d, id, true, 0) : NULL;
	default:
		/* not declared by itself, but its parts may be */
		return NULL;
	}
}

/* ---- the kernel's functions ---- */

/*
 * The functions that BPF programs may call have the tag "bpf_kfunc" on them
 * (pahole 1.26 and later, with Linux 6.10). Their prototypes are declared weak:
 * a program asks by bpf_ksym_exists() whether this kernel has one.
 */
#define KFUNC_TAG    "bpf_kfunc"
#define FASTCALL_TAG "bpf_fastcall" /* keeps the registers that it does not return in */

static const char kfuncs_begin[] = "#ifndef BPF_NO_KFUNC_PROTOTYPES\n"
				   "#ifndef __ksym\n"
				   "#define __ksym __attribute__((section(\".ksyms\")))\n"
				   "#endif\n"
				   "#ifndef __weak\n"
				   "#define __weak __attribute__((weak))\n"
				   "#endif\n"
				   "#ifndef __bpf_fastcall\n"
				   "#if __has_attribute(bpf_fastcall)\n"
				   "#define __bpf_fastcall __attribute__((bpf_fastcall))\n"
				   "#else\n"
				   "#define __bpf_fastcall\n"
				   "#endif\n"
				   "#endif\n"
				   "\n";
static const char kfuncs_end[] = "#endif /* BPF_NO_KFUNC_PROTOTYPES */\n\n";

/* The function that a type is a tag of; 0: it is none of these. */
static uint32_t tagged_function(const struct btf_dump *d, uint32_t id, const char *tag)
{
	const struct btf_type *t = btf_type_at(d->btf, id);

	if (!btf_is_decl_tag(t) || btf_decl_tag(t)->component_idx != -1 ||
	    strcmp(btf_name(d->btf, t), tag) || t->type >= d->n ||
	    !btf_is_func(btf_type_at(d->btf, t->type)))
		return 0;
	return t->type;
}

static struct error *write_kfunc(struct btf_dump *d, uint32_t id)
{
	const struct btf_type *t = btf_type_at(d->btf, id);
	const char *name = btf_name(d->btf, t);

	/* One declaration for each name, and none that stands for something else. */
	if (!is_c_name(name) || !*name || strmap_get(&d->idents, name))
		return NULL;
	if (d->out->len + d->written > d->max_bytes)
		return error_new(E2BIG, "the C text of the types is too large");
	if (!dump_ident(d, name))
		return error_nomem();
	strbuf_adds(d->out, "extern ");
	if (d->state[id] & DUMP_FASTCALL)
		strbuf_adds(d->out, "__bpf_fastcall ");
	TRY(dump_decl(d, t->type, name, 0, false, 0));
	strbuf_adds(d->out, " __weak __ksym;\n");
	return NULL;
}

static struct error *write_kfuncs(struct btf_dump *d)
{
	bool any = false;

	/* What the prototypes need first, and who has the second tag. */
	for (uint32_t id = 1; id < d->n; id++) {
		const uint32_t fast = tagged_function(d, id, FASTCALL_TAG);
		const uint32_t kfunc = tagged_function(d, id, KFUNC_TAG);

		if (fast)
			d->state[fast] |= DUMP_FASTCALL;
		if (!kfunc)
			continue;
		any = true;
		TRY(need(d, btf_type_at(d->btf, kfunc)->type, false, 0));
	}
	if (!any)
		return NULL;
	strbuf_adds(d->out, kfuncs_begin);
	for (uint32_t id = 1; id < d->n; id++) {
		const uint32_t kfunc = tagged_function(d, id, KFUNC_TAG);

		if (kfunc)
			TRY(write_kfunc(d, kfunc));
	}
	strbuf_adds(d->out, kfuncs_end);
	return NULL;
}

struct error *btf_dump_vmlinux(const struct btf *btf, struct strbuf *out)
{
	_cleanup_(btf_dump__freep) struct btf_dump *d = NULL;

	TRY(dump_new(btf, false, &d));
	d->out = out;
	d->max_bytes += out->len;
	strbuf_reserve(out, d->max_bytes / 32);
	strbuf_adds(out, "#ifndef __VMLINUX_H__\n"
			 "#define __VMLINUX_H__\n"
			 "\n"
			 "#ifndef BPF_NO_PRESERVE_ACCESS_INDEX\n"
			 "#pragma clang attribute push (__attribute__((preserve_access_index)), "
			 "apply_to = record)\n"
			 "#endif\n"
			 "\n");
	for (uint32_t id = 1; id < d->n; id++)
		TRY(dump_top(d, id));
	TRY(write_kfuncs(d));
	strbuf_adds(out, "#ifndef BPF_NO_PRESERVE_ACCESS_INDEX\n"
			 "#pragma clang attribute pop\n"
			 "#endif\n"
			 "\n"
			 "#endif /* __VMLINUX_H__ */\n");
	return strbuf_failed(out) ? error_nomem() : NULL;
}

/* ---- the libbpf-compatible functions ---- */

static void call_print(struct btf_dump *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	d->print(d->ctx, fmt, ap);
	va_end(ap);
}

static void flush(struct btf_dump *d)
{
	if (!d->print || !d->own.len)
		return;
	call_print(d, "%s", strbuf_str(&d->own));
	d->written += d->own.len;
	strbuf_reset(&d->own);
}

/* The end of a public call: what was written goes out, a failure becomes errno. */
static int finish(struct btf_dump *d, struct error *err)
{
	if (!err && strbuf_failed(&d->own))
		err = error_nomem();
	if (!err)
		flush(d);
	strbuf_reset(&d->own);
	return edge_int(err);
}

struct btf_dump *btf_dump__new(const struct btf *btf, btf_dump_printf_fn_t printf_fn, void *ctx,
			       const struct btf_dump_opts *opts)
{
	_cleanup_(btf_dump__freep) struct btf_dump *d = NULL;
	struct error *err = OPTS_CHECK(opts, btf_dump_opts);

	if (!err && !printf_fn)
		err = error_new(EINVAL, "btf_dump__new: the print function is NULL");
	if (!err)
		err = dump_new(btf, true, &d);
	if (err)
		return edge_null(err);
	d->print = printf_fn;
	d->ctx = ctx;
	return steal_ptr(d);
}

static struct error *check_id(struct btf_dump *d, uint32_t id)
{
	TRY(catch_up(d));
	return id < d->n ? NULL : error_new(EINVAL, "the BTF has no type %u to dump", id);
}

int btf_dump__dump_type(struct btf_dump *d, __u32 id)
{
	struct error *err = check_id(d, id);

	return finish(d, err || !id ? err : dump_top(d, id));
}

int btf_dump__emit_type_decl(struct btf_dump *d, __u32 id,
			     const struct btf_dump_emit_type_decl_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, btf_dump_emit_type_decl_opts);
	const char *name = OPTS_GET(opts, field_name, NULL);

	if (!err)
		err = check_id(d, id);
	if (!err)
		err = dump_decl(d, id, name ? name : "", OPTS_GET(opts, indent_level, 0),
				OPTS_GET(opts, strip_mods, false), 0);
	return finish(d, err);
}

int btf_dump__dump_type_data(struct btf_dump *d, __u32 id, const void *data, size_t data_sz,
			     const struct btf_dump_type_data_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, btf_dump_type_data_opts);
	int64_t bytes = 0;

	if (!err)
		err = check_id(d, id);
	if (!err && !data && data_sz)
		err = error_new(EINVAL, "the data to dump is NULL");
	if (!err)
		err = dump_data(d, id, data, data_sz, opts, &bytes);
	int status = finish(d, err);
	return status ? status : bytes < 0 ? edge_errno(-bytes) : (int)min_of(bytes, INT32_MAX);
}
