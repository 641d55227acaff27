// SPDX-License-Identifier: BSD-2-Clause
/*
 * The header's text. A skeleton is a struct with a member for each map, each
 * program, its link, and each data section; NAME__open() and its sisters fill
 * in the tables that bpf_object__open_skeleton() and its sisters read. The
 * object's bytes stand in it as a string: a compiler reads one many times
 * faster than a list of numbers.
 *
 * It compiles as C11 and as C++11 without warnings, against this library's
 * headers and against libbpf's since 1.0: members that came later are set
 * only where an object has something for them.
 */
#include "gen/internal.h"

#include <ctype.h>

#include "lib/object/object.h"

#define LINE_BYTES 100

/* Adds text in which each @ stands for the name. */
static void gen_put(struct generator *g, const char *text)
{
	for (;;) {
		const size_t plain = strcspn(text, "@");

		strbuf_add(g->out, text, plain);
		if (!text[plain])
			return;
		strbuf_adds(g->out, g->in->name);
		text += plain + 1;
	}
}

/* Programs in the order of the object. */
#define for_each_program(prog, g) bpf_object__for_each_program (prog, (g)->obj)

static struct error *put_data_structs(struct generator *g)
{
	const struct gen_map *map;

	vec_for_each (map, &g->maps) {
		if (!map->section || (g->kind == GEN_SUBSKELETON && !map->vars.n))
			continue;
		gen_put(g, "\tstruct @__");
		strbuf_addf(g->out, "%s {\n", map->ident);
		TRY(g->kind == GEN_SKELETON ? gen_data_members(g, map) : gen_data_pointers(g, map));
		strbuf_addf(g->out, "\t} %s%s;\n", g->kind == GEN_SKELETON ? "*" : "", map->ident);
	}
	return NULL;
}

/* The maps that attach; older headers of libbpf have no place for their links. */
static bool is_struct_ops(const struct gen_map *map)
{
	return bpf_map__type(map->map) == BPF_MAP_TYPE_STRUCT_OPS;
}

static bool has_struct_ops(const struct generator *g)
{
	const struct gen_map *map;

	vec_for_each (map, &g->maps)
		if (is_struct_ops(map))
			return true;
	return false;
}

/* The members "maps", "progs" and "links" of the struct. */
static void put_tables(struct generator *g)
{
	const struct gen_map *map;
	struct bpf_program *prog;

	if (g->maps.n) {
		strbuf_adds(g->out, "\tstruct {\n");
		vec_for_each (map, &g->maps)
			strbuf_addf(g->out, "\t\tstruct bpf_map *%s;\n", map->ident);
		strbuf_adds(g->out, "\t} maps;\n");
	}
	if (g->n_progs) {
		strbuf_adds(g->out, "\tstruct {\n");
		for_each_program(prog, g) strbuf_addf(g->out, "\t\tstruct bpf_program *%s;\n",
						      bpf_program__name(prog));
		strbuf_adds(g->out, "\t} progs;\n");
	}
	if ((g->n_progs || has_struct_ops(g)) && g->kind == GEN_SKELETON) {
		strbuf_adds(g->out, "\tstruct {\n");
		for_each_program(prog, g)
			strbuf_addf(g->out, "\t\tstruct bpf_link *%s;\n", bpf_program__name(prog));
		vec_for_each (map, &g->maps)
			if (is_struct_ops(map))
				strbuf_addf(g->out, "\t\tstruct bpf_link *%s;\n", map->ident);
		strbuf_adds(g->out, "\t} links;\n");
	}
}

/* The member "struct_ops": what a program sets of those structs before load. */
static struct error *put_struct_ops(struct generator *g)
{
	const struct gen_map *map;

	if (!has_struct_ops(g) || g->kind != GEN_SKELETON)
		return NULL;
	strbuf_adds(g->out, "\tstruct {\n");
	vec_for_each (map, &g->maps) {
		if (!is_struct_ops(map))
			continue;
		gen_put(g, "\t\tstruct @__struct_ops__");
		strbuf_addf(g->out, "%s {\n", map->ident);
		TRY(gen_struct_ops_members(g, map));
		strbuf_addf(g->out, "\t\t} *%s;\n", map->ident);
	}
	strbuf_adds(g->out, "\t} struct_ops;\n");
	return NULL;
}

/* Behind open: where those structs are. */
static void put_struct_ops_places(struct generator *g)
{
	const struct gen_map *map;

	vec_for_each (map, &g->maps) {
		if (!is_struct_ops(map))
			continue;
		strbuf_addf(g->out,
			    "\tobj->struct_ops.%1$s = (__typeof__(obj->struct_ops.%1$s))\n"
			    "\t\tbpf_map__initial_value(obj->maps.%1$s, NULL);\n",
			    map->ident);
	}
}

/* Allocates one of the tables that the library reads; on failure goes out. */
static void put_table_alloc(struct generator *g, const char *what, const char *type, size_t n)
{
	strbuf_addf(g->out,
		    "\n"
		    "\ts->%1$s_cnt = %3$zu;\n"
		    "\ts->%1$s_skel_sz = sizeof(*s->%1$ss);\n"
		    "\ts->%1$ss = (struct %2$s *)calloc(%3$zu, sizeof(*s->%1$ss));\n"
		    "\tif (!s->%1$ss)\n"
		    "\t\treturn -ENOMEM;\n",
		    what, type, n);
}

static void put_fill_maps(struct generator *g)
{
	const struct gen_map *map;

	if (!g->maps.n)
		return;
	put_table_alloc(g, "map", "bpf_map_skeleton", g->maps.n);
	vec_for_each (map, &g->maps) {
		const size_t i = (size_t)(map - g->maps.v);
		/* Sections go by their own names: the object's may be changed at open. */
		const char *name = map->section ? map->section : bpf_map__name(map->map);

		strbuf_addf(g->out, "\ts->maps[%zu].name = \"%s\";\n", i, name);
		strbuf_addf(g->out, "\ts->maps[%zu].map = &obj->maps.%s;\n", i, map->ident);
		if (map->section && g->kind == GEN_SKELETON)
			strbuf_addf(g->out, "\ts->maps[%zu].mmaped = (void **)&obj->%s;\n", i,
				    map->ident);
		if (is_struct_ops(map) && g->kind == GEN_SKELETON)
			strbuf_addf(g->out, "\ts->maps[%zu].link = &obj->links.%s;\n", i,
				    map->ident);
	}
}

static void put_fill_programs(struct generator *g)
{
	struct bpf_program *prog;
	size_t i = 0;

	if (!g->n_progs)
		return;
	put_table_alloc(g, "prog", "bpf_prog_skeleton", g->n_progs);
	for_each_program(prog, g)
	{
		const char *name = bpf_program__name(prog);

		strbuf_addf(g->out, "\ts->progs[%zu].name = \"%s\";\n", i, name);
		strbuf_addf(g->out, "\ts->progs[%zu].prog = &obj->progs.%s;\n", i, name);
		if (g->kind == GEN_SKELETON)
			strbuf_addf(g->out, "\ts->progs[%zu].link = &obj->links.%s;\n", i, name);
		i++;
	}
}

static void put_fill_variables(struct generator *g)
{
	const struct gen_map *map;
	const struct gen_var *var;
	size_t n = 0, i = 0;

	vec_for_each (map, &g->maps)
		n += map->vars.n;
	if (!n)
		return;
	put_table_alloc(g, "var", "bpf_var_skeleton", n);
	vec_for_each (map, &g->maps) {
		vec_for_each (var, &map->vars) {
			strbuf_addf(g->out, "\ts->vars[%zu].name = \"%s\";\n", i, var->name);
			strbuf_addf(g->out, "\ts->vars[%zu].map = &obj->maps.%s;\n", i, map->ident);
			strbuf_addf(g->out, "\ts->vars[%zu].addr = (void **)&obj->%s.%s;\n", i,
				    map->ident, var->name);
			i++;
		}
	}
}

/*
 * Bytes as a string literal: what prints stands for itself, the rest in octal
 * of as few digits as the next byte allows ("\0" but "\0001").
 */
static void put_bytes(struct strbuf *out, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t c = bytes[i];

		if (i % LINE_BYTES == 0)
			strbuf_adds(out, i ? "\"\n\t\t\"" : "\t\t\"");
		if (c == '"' || c == '\\' || c == '?') { /* ??= would be a trigraph */
			strbuf_addch(out, '\\');
			strbuf_addch(out, (char)c);
		} else if (c >= ' ' && c < 0x7f) {
			strbuf_addch(out, (char)c);
		} else {
			const bool digit = i + 1 < n && (i + 1) % LINE_BYTES &&
					   bytes[i + 1] >= '0' && bytes[i + 1] <= '7';

			strbuf_addch(out, '\\');
			if (c >> 6 || digit)
				strbuf_addch(out, (char)('0' + (c >> 6)));
			if (c >> 3 || digit)
				strbuf_addch(out, (char)('0' + (c >> 3 & 7)));
			strbuf_addch(out, (char)('0' + (c & 7)));
		}
	}
	strbuf_adds(out, "\";\n");
}

static void put_elf_bytes(struct generator *g)
{
	gen_put(g, "\n"
		   "#if defined(__GNUC__)\n"
		   "#pragma GCC diagnostic push\n"
		   "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n"
		   "#endif\n"
		   "static inline const void *@__elf_bytes(size_t *sz)\n"
		   "{\n"
		   "\tstatic const char bytes[] __attribute__((aligned(8))) =\n");
	put_bytes(g->out, g->in->elf, g->in->size);
	gen_put(g, "\n"
		   "\t*sz = sizeof(bytes) - 1;\n"
		   "\treturn bytes;\n"
		   "}\n"
		   "#if defined(__GNUC__)\n"
		   "#pragma GCC diagnostic pop\n"
		   "#endif\n");
}

/* The compiler refuses the header where it would lay a section out differently. */
static void put_asserts(struct generator *g)
{
	const bool direct = g->kind == GEN_SKELETON;
	const struct gen_map *map;
	const struct gen_var *var;

	gen_put(g, "\n"
		   "#ifdef __cplusplus\n"
		   "#define @__is(what, text) static_assert(what, text)\n"
		   "#define @__in(type) @::type\n"
		   "#else\n"
		   "#define @__is(what, text) _Static_assert(what, text)\n"
		   "#define @__in(type) struct type\n"
		   "#endif\n"
		   "__attribute__((unused)) static inline void @__assert(struct @ *s)\n"
		   "{\n"
		   "\t(void)s;\n");
	vec_for_each (map, &g->maps) {
		vec_for_each (var, &map->vars) {
			gen_put(g, "\t@__is(sizeof(");
			strbuf_addf(g->out, "%ss->%s%s%s) == %u,\n", direct ? "" : "*", map->ident,
				    direct ? "->" : ".", var->name, var->size);
			strbuf_addf(g->out, "\t\t\"unexpected size of %s\");\n", var->name);
			if (!direct)
				continue;
			gen_put(g, "\t@__is(__builtin_offsetof(@__in(@__");
			strbuf_addf(g->out, "%s), %s) == %u,\n", map->ident, var->name,
				    var->offset);
			strbuf_addf(g->out, "\t\t\"unexpected place of %s\");\n", var->name);
		}
	}
	gen_put(g, "}\n"
		   "#undef @__in\n"
		   "#undef @__is\n");
}

static bool has_variables(const struct generator *g)
{
	const struct gen_map *map;

	vec_for_each (map, &g->maps)
		if (map->vars.n)
			return true;
	return false;
}

/* Opens the file and its include guard. */
static void put_head(struct generator *g)
{
	const char *base = strrchr(g->in->path, '/');
	const char *kind = g->kind == GEN_SKELETON ? "SKEL" : "SUBSKEL";

	strbuf_adds(g->out, "/* Written by perf-bpf gen from ");
	for (const char *p = base ? base + 1 : g->in->path; *p; p++) /* no end of comment */
		strbuf_addch(g->out, *p == '*' || !isprint((unsigned char)*p) ? '_' : *p);
	strbuf_adds(g->out, ": change that, not this. */\n");
	for (int i = 0; i < 2; i++) {
		strbuf_adds(g->out, i ? "#define __" : "#ifndef __");
		for (const char *p = g->in->name; *p; p++)
			strbuf_addch(g->out, (char)toupper((unsigned char)*p));
		strbuf_addf(g->out, "_%s_H__\n", kind);
	}
	strbuf_adds(g->out, "\n"
			    "#include <bpf/libbpf.h>\n"
			    "#include <errno.h>\n"
			    "#include <stdlib.h>\n"
			    "\n");
}

static struct error *put_skeleton(struct generator *g)
{
	gen_put(g, "struct @ {\n"
		   "\tstruct bpf_object_skeleton *skeleton;\n"
		   "\tstruct bpf_object *obj;\n");
	put_tables(g);
	TRY(put_struct_ops(g));
	TRY(put_data_structs(g));
	gen_put(g, "\n"
		   "#ifdef __cplusplus\n"
		   "\tstatic inline struct @ *open(const struct bpf_object_open_opts *opts = "
		   "nullptr);\n"
		   "\tstatic inline struct @ *open_and_load();\n"
		   "\tstatic inline int load(struct @ *skel);\n"
		   "\tstatic inline int attach(struct @ *skel);\n"
		   "\tstatic inline void detach(struct @ *skel);\n"
		   "\tstatic inline void destroy(struct @ *skel);\n"
		   "\tstatic inline const void *elf_bytes(size_t *sz);\n"
		   "#endif\n"
		   "};\n"
		   "\n"
		   "static inline const void *@__elf_bytes(size_t *sz);\n"
		   "\n"
		   "static inline void @__destroy(struct @ *obj)\n"
		   "{\n"
		   "\tif (!obj)\n"
		   "\t\treturn;\n"
		   "\tbpf_object__destroy_skeleton(obj->skeleton);\n"
		   "\tfree(obj);\n"
		   "}\n"
		   "\n"
		   "static inline int @__create_skeleton(struct @ *obj)\n"
		   "{\n"
		   "\tstruct bpf_object_skeleton *s =\n"
		   "\t\t(struct bpf_object_skeleton *)calloc(1, sizeof(*s));\n"
		   "\n"
		   "\tif (!s)\n"
		   "\t\treturn -ENOMEM;\n"
		   "\tobj->skeleton = s;\n"
		   "\ts->sz = sizeof(*s);\n"
		   "\ts->name = \"@\";\n"
		   "\ts->obj = &obj->obj;\n"
		   "\ts->data = @__elf_bytes(&s->data_sz);\n");
	put_fill_maps(g);
	put_fill_programs(g);
	gen_put(g, "\treturn 0;\n"
		   "}\n"
		   "\n"
		   "static inline struct @ *@__open_opts(const struct bpf_object_open_opts *opts)\n"
		   "{\n"
		   "\tstruct @ *obj = (struct @ *)calloc(1, sizeof(*obj));\n"
		   "\tint err;\n"
		   "\n"
		   "\tif (!obj) {\n"
		   "\t\terrno = ENOMEM;\n"
		   "\t\treturn NULL;\n"
		   "\t}\n"
		   "\terr = @__create_skeleton(obj);\n"
		   "\tif (!err)\n"
		   "\t\terr = bpf_object__open_skeleton(obj->skeleton, opts);\n"
		   "\tif (err) {\n"
		   "\t\t@__destroy(obj);\n"
		   "\t\terrno = -err;\n"
		   "\t\treturn NULL;\n"
		   "\t}\n");
	put_struct_ops_places(g);
	gen_put(g, "\treturn obj;\n"
		   "}\n"
		   "\n"
		   "static inline struct @ *@__open(void)\n"
		   "{\n"
		   "\treturn @__open_opts(NULL);\n"
		   "}\n"
		   "\n"
		   "static inline int @__load(struct @ *obj)\n"
		   "{\n"
		   "\treturn bpf_object__load_skeleton(obj->skeleton);\n"
		   "}\n"
		   "\n"
		   "static inline struct @ *@__open_and_load(void)\n"
		   "{\n"
		   "\tstruct @ *obj = @__open();\n"
		   "\tint err = obj ? @__load(obj) : 0;\n"
		   "\n"
		   "\tif (err) {\n"
		   "\t\t@__destroy(obj);\n"
		   "\t\terrno = -err;\n"
		   "\t\treturn NULL;\n"
		   "\t}\n"
		   "\treturn obj;\n"
		   "}\n"
		   "\n"
		   "static inline int @__attach(struct @ *obj)\n"
		   "{\n"
		   "\treturn bpf_object__attach_skeleton(obj->skeleton);\n"
		   "}\n"
		   "\n"
		   "static inline void @__detach(struct @ *obj)\n"
		   "{\n"
		   "\tbpf_object__detach_skeleton(obj->skeleton);\n"
		   "}\n");
	put_elf_bytes(g);
	gen_put(g, "\n"
		   "#ifdef __cplusplus\n"
		   "struct @ *@::open(const struct bpf_object_open_opts *opts) { return "
		   "@__open_opts(opts); }\n"
		   "struct @ *@::open_and_load() { return @__open_and_load(); }\n"
		   "int @::load(struct @ *skel) { return @__load(skel); }\n"
		   "int @::attach(struct @ *skel) { return @__attach(skel); }\n"
		   "void @::detach(struct @ *skel) { @__detach(skel); }\n"
		   "void @::destroy(struct @ *skel) { @__destroy(skel); }\n"
		   "const void *@::elf_bytes(size_t *sz) { return @__elf_bytes(sz); }\n"
		   "#endif\n");
	return NULL;
}

static struct error *put_subskeleton(struct generator *g)
{
	gen_put(g, "struct @ {\n"
		   "\tstruct bpf_object *obj;\n"
		   "\tstruct bpf_object_subskeleton *subskel;\n");
	put_tables(g);
	TRY(put_data_structs(g));
	gen_put(g, "\n"
		   "#ifdef __cplusplus\n"
		   "\tstatic inline struct @ *open(const struct bpf_object *src);\n"
		   "\tstatic inline void destroy(struct @ *skel);\n"
		   "#endif\n"
		   "};\n"
		   "\n"
		   "static inline void @__destroy(struct @ *skel)\n"
		   "{\n"
		   "\tif (!skel)\n"
		   "\t\treturn;\n"
		   "\tbpf_object__destroy_subskeleton(skel->subskel);\n"
		   "\tfree(skel);\n"
		   "}\n"
		   "\n"
		   "static inline int @__create_subskeleton(struct @ *obj, const struct bpf_object "
		   "*src)\n"
		   "{\n"
		   "\tstruct bpf_object_subskeleton *s =\n"
		   "\t\t(struct bpf_object_subskeleton *)calloc(1, sizeof(*s));\n"
		   "\n"
		   "\tif (!s)\n"
		   "\t\treturn -ENOMEM;\n"
		   "\tobj->subskel = s;\n"
		   "\ts->sz = sizeof(*s);\n"
		   "\ts->obj = src;\n");
	put_fill_maps(g);
	put_fill_programs(g);
	put_fill_variables(g);
	gen_put(g, "\treturn 0;\n"
		   "}\n"
		   "\n"
		   "static inline struct @ *@__open(const struct bpf_object *src)\n"
		   "{\n"
		   "\tstruct @ *obj = (struct @ *)calloc(1, sizeof(*obj));\n"
		   "\tint err;\n"
		   "\n"
		   "\tif (!obj) {\n"
		   "\t\terrno = ENOMEM;\n"
		   "\t\treturn NULL;\n"
		   "\t}\n"
		   "\terr = @__create_subskeleton(obj, src);\n"
		   "\tif (!err)\n"
		   "\t\terr = bpf_object__open_subskeleton(obj->subskel);\n"
		   "\tif (err) {\n"
		   "\t\t@__destroy(obj);\n"
		   "\t\terrno = -err;\n"
		   "\t\treturn NULL;\n"
		   "\t}\n"
		   "\treturn obj;\n"
		   "}\n"
		   "\n"
		   "#ifdef __cplusplus\n"
		   "struct @ *@::open(const struct bpf_object *src) { return @__open(src); }\n"
		   "void @::destroy(struct @ *skel) { @__destroy(skel); }\n"
		   "#endif\n");
	return NULL;
}

static struct error *check_name(const char *name)
{
	bool good = *name && !isdigit((unsigned char)*name);

	for (const char *p = name; *p; p++)
		good &= isalnum((unsigned char)*p) || *p == '_';
	if (good)
		return NULL;
	return error_hint(error_new(EINVAL, "'%s' is not a valid struct name", name),
			  "choose one of letters, digits and '_': name NAME");
}

static struct error *write_header(struct generator *g)
{
	struct bpf_program *prog;

	for_each_program(prog, g) g->n_progs++;
	if (bpf_object__btf(g->obj))
		TRY(gen_types_copy(g, bpf_object__btf(g->obj)));
	TRY(gen_maps_read(g));
	put_head(g);
	TRY(g->kind == GEN_SKELETON ? put_skeleton(g) : put_subskeleton(g));
	if (has_variables(g))
		put_asserts(g);
	strbuf_adds(g->out, "\n#endif\n");
	return strbuf_failed(g->out) ? error_nomem() : NULL;
}

struct error *gen_header(enum gen_kind kind, const struct gen_input *in, struct strbuf *out)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = in->name);
	_cleanup_(bpf_object__closep) struct bpf_object *obj = NULL;
	struct generator g = {.kind = kind, .in = in, .out = out};

	TRY(check_name(in->name));
	TRY(object_open_mem_of(in->elf, in->size, in->path, &opts, in->log, &obj));
	g.obj = obj;
	struct error *err = error_at(write_header(&g), "%s", in->path);
	btf_dump__free(g.dump);
	btf__free(g.btf);
	strbuf_deinit(&g.decl);
	gen_maps_deinit(&g);
	return err;
}
