// SPDX-License-Identifier: BSD-2-Clause
#include "show/btf_types.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/btf/open.h"

/* Both forms: "name=value" behind each other, or members of an object. */
struct types_writer {
	const struct btf *btf;
	struct json_writer *json; /* NULL: as text, to out */
	struct strbuf *out;
};

static void add_number(struct types_writer *w, const char *name, int64_t v)
{
	if (w->json)
		jw_i64(w->json, name, v);
	else
		strbuf_addf(w->out, " %s=%" PRId64, name, v);
}

static void add_word(struct types_writer *w, const char *name, const char *word)
{
	if (w->json)
		jw_text(w->json, name, word);
	else
		strbuf_addf(w->out, " %s=%s", name, word);
}

static void add_name(struct types_writer *w, uint32_t offset)
{
	const char *name = btf__name_by_offset(w->btf, offset);

	if (!name || !*name)
		name = "(anon)";
	if (w->json)
		jw_text(w->json, "name", name);
	else
		strbuf_addf(w->out, "'%s'", name);
}

/* The members, values, parameters or variables of a type. */
static void begin_items(struct types_writer *w, const char *items)
{
	if (w->json)
		jw_array(w->json, items);
}

static void begin_item(struct types_writer *w)
{
	if (w->json)
		jw_object(w->json, NULL);
	else
		strbuf_adds(w->out, "\n\t");
}

/* Of an item, and of the items. */
static void end(struct types_writer *w)
{
	if (w->json)
		jw_end(w->json);
}

static void add_members(struct types_writer *w, const struct btf_type *t)
{
	const struct btf_member *m = btf_members(t);

	begin_items(w, "members");
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		begin_item(w);
		add_name(w, m[i].name_off);
		add_number(w, "type_id", m[i].type);
		add_number(w, "bits_offset", btf_member_bit_offset(t, i));
		if (btf_member_bitfield_size(t, i))
			add_number(w, "bitfield_size", btf_member_bitfield_size(t, i));
		end(w);
	}
	end(w);
}

static void add_value(struct types_writer *w, const struct btf_type *t, uint32_t i)
{
	bool is_signed = btf_kflag(t);
	uint64_t v;

	begin_item(w);
	if (btf_is_enum(t)) {
		add_name(w, btf_enum(t)[i].name_off);
		v = is_signed ? (uint64_t)btf_enum(t)[i].val : (uint32_t)btf_enum(t)[i].val;
	} else {
		const __u32 *words = (const __u32 *)(t + 1) + 3 * (size_t)i; /* struct btf_enum64 */

		add_name(w, words[0]);
		v = (uint64_t)words[2] << 32 | words[1];
	}
	struct strbuf *out = w->json ? jw_value(w->json, "val") : w->out;
	if (!w->json)
		strbuf_adds(out, " val=");
	if (is_signed)
		json_add_i64(out, (int64_t)v);
	else
		strbuf_add_u64(out, v);
	if (!w->json && btf_is_enum64(t))
		strbuf_adds(out, is_signed ? "LL" : "ULL");
	end(w);
}

static void add_enum(struct types_writer *w, const struct btf_type *t)
{
	add_word(w, "encoding", btf_kflag(t) ? "SIGNED" : "UNSIGNED");
	add_number(w, "size", t->size);
	add_number(w, "vlen", btf_vlen(t));
	begin_items(w, "values");
	for (uint32_t i = 0; i < btf_vlen(t); i++)
		add_value(w, t, i);
	end(w);
}

static void add_params(struct types_writer *w, const struct btf_type *t)
{
	add_number(w, "ret_type_id", t->type);
	add_number(w, "vlen", btf_vlen(t));
	begin_items(w, "params");
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		begin_item(w);
		add_name(w, btf_params(t)[i].name_off);
		add_number(w, "type_id", btf_params(t)[i].type);
		end(w);
	}
	end(w);
}

static void add_variables(struct types_writer *w, const struct btf_type *t)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(t);

	add_number(w, "size", t->size);
	add_number(w, "vlen", btf_vlen(t));
	begin_items(w, "vars");
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_type *var = btf__type_by_id(w->btf, v[i].type);

		begin_item(w);
		if (w->json)
			jw_u64(w->json, "type_id", v[i].type);
		else
			strbuf_addf(w->out, "type_id=%u", v[i].type);
		add_number(w, "offset", v[i].offset);
		add_number(w, "size", v[i].size);
		if (!w->json && var)
			strbuf_addf(w->out, " (%s '%s')", btf_is_var(var) ? "VAR" : "FUNC",
				    btf_name(w->btf, var));
		end(w);
	}
	end(w);
}

static const char *linkage_name(uint32_t linkage)
{
	static const char *const names[] = {"static", "global", "extern"};

	return linkage < ARRAY_SIZE(names) ? names[linkage] : "(unknown)";
}

static const char *encoding_name(uint32_t encoding)
{
	return encoding == BTF_INT_SIGNED ? "SIGNED"
	       : encoding == BTF_INT_CHAR ? "CHAR"
	       : encoding == BTF_INT_BOOL ? "BOOL"
	       : encoding		  ? "UNKN"
					  : "(none)";
}

static void add_rest(struct types_writer *w, const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		add_number(w, "size", t->size);
		add_number(w, "bits_offset", btf_int_offset(t));
		add_number(w, "nr_bits", btf_int_bits(t));
		add_word(w, "encoding", encoding_name(btf_int_encoding(t)));
		break;
	case BTF_KIND_ARRAY:
		add_number(w, "type_id", btf_array(t)->type);
		add_number(w, "index_type_id", btf_array(t)->index_type);
		add_number(w, "nr_elems", btf_array(t)->nelems);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		add_number(w, "size", t->size);
		add_number(w, "vlen", btf_vlen(t));
		add_members(w, t);
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		add_enum(w, t);
		break;
	case BTF_KIND_FWD:
		add_word(w, "fwd_kind", btf_kflag(t) ? "union" : "struct");
		break;
	case BTF_KIND_FUNC: /* the vlen's bits are the linkage */
		add_number(w, "type_id", t->type);
		add_word(w, "linkage", linkage_name(btf_vlen(t)));
		break;
	case BTF_KIND_FUNC_PROTO:
		add_params(w, t);
		break;
	case BTF_KIND_VAR:
		add_number(w, "type_id", t->type);
		if (!w->json)
			strbuf_addch(w->out, ',');
		add_word(w, "linkage", linkage_name(btf_var(t)->linkage));
		break;
	case BTF_KIND_DATASEC:
		add_variables(w, t);
		break;
	case BTF_KIND_FLOAT:
		add_number(w, "size", t->size);
		break;
	case BTF_KIND_DECL_TAG:
		add_number(w, "type_id", t->type);
		add_number(w, "component_idx", *(const __s32 *)(t + 1));
		break;
	default: /* pointers, modifiers, typedefs, type tags */
		add_number(w, "type_id", t->type);
	}
}

void btf_type_show(const struct btf *btf, uint32_t id, struct json_writer *json, struct strbuf *out)
{
	static const char *const kinds[] = {
		"UNKNOWN", "INT",     "PTR",	  "ARRAY",    "STRUCT",	  "UNION",  "ENUM",
		"FWD",	   "TYPEDEF", "VOLATILE", "CONST",    "RESTRICT", "FUNC",   "FUNC_PROTO",
		"VAR",	   "DATASEC", "FLOAT",	  "DECL_TAG", "TYPE_TAG", "ENUM64",
	};
	const struct btf_type *t = btf__type_by_id(btf, id);
	struct types_writer w = {btf, json, out};

	if (!t)
		return;
	const char *kind = btf_kind(t) < ARRAY_SIZE(kinds) ? kinds[btf_kind(t)] : kinds[0];
	if (json) {
		jw_object(json, NULL);
		jw_u64(json, "id", id);
		jw_text(json, "kind", kind);
	} else {
		strbuf_addf(out, "[%u] %s ", id, kind);
	}
	add_name(&w, t->name_off);
	add_rest(&w, t);
	if (json)
		jw_end(json);
	else
		strbuf_addch(out, '\n');
}
