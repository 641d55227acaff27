// SPDX-License-Identifier: BSD-2-Clause
/*
 * Attaching to USDT probes. One probe, PROVIDER:NAME, is many places: the
 * compiler puts the mark wherever it inlines or copies the function around it,
 * each time with its arguments somewhere else. A uprobe goes to each place,
 * all with the same program, which must learn at run time how the arguments of
 * the place that was hit are read. For that <bpf/usdt.bpf.h> brings two maps:
 *
 *	__bpf_usdt_specs	array: a number to a description of the arguments
 *	__bpf_usdt_ip_to_spec_id	hash: an address to that number
 *
 * Here the notes of the file are read (usdt_notes.c), their arguments parsed
 * (usdt_args.c), equal descriptions given one number, and the numbers handed to
 * the kernel as the cookies of the uprobes. A kernel without cookies (before
 * 5.15) can tell the program only the address that was hit: then the second map
 * is filled, for which the address must be known, so that a file that is loaded
 * anywhere (all libraries and most programs) takes a process.
 *
 * The uprobes are one uprobe.multi link where the kernel has it (6.6, see
 * SYS_BPF_UPROBE_MULTI), else a perf event each. The program was loaded for
 * one of the two: bpf_get_attach_cookie() differs, and in the wrong one it
 * would read what is no cookie. So what the program was loaded for decides.
 *
 * A semaphore is a counter in the process's memory that tells the program
 * whether somebody listens; the kernel raises it when it is given the
 * counter's place in the file (4.20).
 *
 * The numbers belong to the object, whose programs share the maps. They are
 * given back when a link is gone and nothing hits its places any more; after
 * bpf_link__disconnect() and of a pinned link they stay in use. The manager
 * that counts them lives as long as the object or the last link.
 *
 * How a description lies in the map differs between versions of the header:
 * the object was compiled with one of them, and its BTF says with which. So
 * members are looked up by name, as CO-RE does, and objects compiled with
 * libbpf's header work.
 */
#include "lib/attach/usdt.h"

#include <bpf/btf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/attach/internal.h"
#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "lib/sys/proc.h"

#define SPECS_MAP "__bpf_usdt_specs"
#define IPS_MAP	  "__bpf_usdt_ip_to_spec_id"

/* A map's value of another size was not made by any usdt.bpf.h. */
#define SPEC_SIZE_MAX 4096

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#elif defined(__arm__)
#define HOST_MACHINE EM_ARM
#elif defined(__s390x__)
#define HOST_MACHINE EM_S390
#elif defined(__riscv)
#define HOST_MACHINE EM_RISCV
#else
#define HOST_MACHINE EM_NONE
#endif

/* ---- the map's layout ---- */

struct spec_field {
	uint32_t bit; /* from the struct's start */
	uint32_t bits;
};

struct spec_layout {
	uint32_t size; /* of a description, in bytes */
	uint32_t args; /* bits before the first argument */
	uint32_t arg_bits;
	struct spec_field cookie, count;
	struct spec_field value, place, index, scale, reg, is_signed,
		shift; /* within an argument */
};

/* false: no such member, or it is no plain number of the struct's. */
static bool find_member(const struct btf *btf, const struct btf_type *t, const char *name,
			struct spec_field *field, uint32_t *type_id)
{
	const struct btf_member *m = btf_members(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *its = btf__name_by_offset(btf, m[i].name_off);

		if (!its || strcmp(its, name))
			continue;
		const int64_t size = btf__resolve_size(btf, m[i].type);
		const uint32_t bits = btf_member_bitfield_size(t, i);

		if (size <= 0 || size > SPEC_SIZE_MAX)
			return false;
		field->bit = btf_member_bit_offset(t, i);
		field->bits = bits ? bits : (uint32_t)size * 8;
		if (type_id)
			*type_id = m[i].type;
		return field->bit <= t->size * 8 && field->bits <= t->size * 8 - field->bit;
	}
	return false;
}

static bool find_number(const struct btf *btf, const struct btf_type *t, const char *name,
			struct spec_field *field)
{
	return find_member(btf, t, name, field, NULL) && field->bits <= 64;
}

static const struct btf_type *struct_of(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = NULL;
	int resolved = btf__resolve_type(btf, id);

	if (resolved > 0)
		t = btf__type_by_id(btf, (uint32_t)resolved);
	return t && btf_is_struct(t) && t->size <= SPEC_SIZE_MAX ? t : NULL;
}

static bool read_layout(const struct btf *btf, uint32_t type_id, struct spec_layout *l)
{
	const struct btf_type *spec = struct_of(btf, type_id), *arg = NULL;
	struct spec_field args;
	uint32_t args_type;

	if (!spec || !find_member(btf, spec, "args", &args, &args_type) ||
	    !find_number(btf, spec, "usdt_cookie", &l->cookie) ||
	    !find_number(btf, spec, "arg_cnt", &l->count))
		return false;
	const int array_id = btf__resolve_type(btf, args_type);
	const struct btf_type *array =
		array_id > 0 ? btf__type_by_id(btf, (uint32_t)array_id) : NULL;
	if (!array || !btf_is_array(array) || btf_array(array)->nelems != USDT_ARGS_MAX)
		return false;
	arg = struct_of(btf, btf_array(array)->type);
	if (!arg || !find_number(btf, arg, "val_off", &l->value) ||
	    !find_number(btf, arg, "arg_type", &l->place) ||
	    !find_number(btf, arg, "reg_off", &l->reg) ||
	    !find_number(btf, arg, "arg_signed", &l->is_signed) ||
	    !find_number(btf, arg, "arg_bitshift", &l->shift))
		return false;
	/* Since libbpf 1.7. */
	if (!find_number(btf, arg, "idx_reg_off", &l->index) ||
	    !find_number(btf, arg, "scale_bitshift", &l->scale))
		l->index.bits = l->scale.bits = 0;
	l->size = spec->size;
	l->args = args.bit;
	l->arg_bits = arg->size * 8;
	return true;
}

/* Bitfields are numbered from the low bit on little-endian machines, else from the high one. */
static void put(uint8_t *to, uint32_t base, const struct spec_field *field, uint64_t value)
{
	for (uint32_t i = 0; i < field->bits; i++) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		const uint32_t at = base + field->bit + i;
		const uint8_t mask = (uint8_t)(1u << at % 8);
#else
		const uint32_t at = base + field->bit + field->bits - 1 - i;
		const uint8_t mask = (uint8_t)(0x80u >> at % 8);
#endif

		if (value >> i & 1)
			to[at / 8] |= mask;
	}
}

/* to has layout->size bytes, all 0. false: the header is too old for an argument. */
static bool write_spec(const struct spec_layout *l, const struct usdt_arg *args, size_t n,
		       uint64_t cookie, uint8_t *to)
{
	bool known = true;

	for (size_t i = 0; i < n; i++) {
		const uint32_t base = l->args + (uint32_t)i * l->arg_bits;

		put(to, base, &l->value, args[i].value);
		put(to, base, &l->place, args[i].place);
		put(to, base, &l->reg, args[i].reg);
		put(to, base, &l->is_signed, args[i].is_signed);
		put(to, base, &l->shift, 64 - args[i].size * 8u);
		put(to, base, &l->index, args[i].index);
		put(to, base, &l->scale, args[i].scale);
		if (args[i].place == USDT_SIB && !l->index.bits)
			known = false;
	}
	put(to, 0, &l->cookie, cookie);
	put(to, 0, &l->count, n);
	return known;
}

/* ---- the manager: an object's numbers ---- */

struct usdt_manager {
	unsigned refs;	       /* the object's, and one of each link */
	struct bpf_map *specs; /* NULL: the object is closed */
	struct bpf_map *ips;
	struct spec_layout layout;
	VEC(uint32_t) free_ids; /* given back; has room for all there are */
	uint32_t next_id;	/* those from here on were never used */
	bool cookies;
};

static void manager_put(struct usdt_manager *man)
{
	if (--man->refs)
		return;
	vec_deinit(&man->free_ids);
	free(man);
}

/* The object is closed, and its maps with it. */
static void manager_leave(void *data)
{
	struct usdt_manager *man = data;

	man->specs = man->ips = NULL;
	manager_put(man);
}

static struct error *manager_new(struct bpf_object *obj, struct usdt_manager **out)
{
	struct bpf_map *specs = bpf_object__find_map_by_name(obj, SPECS_MAP);
	struct bpf_map *ips = bpf_object__find_map_by_name(obj, IPS_MAP);
	const struct btf *btf = bpf_object__btf(obj);
	struct spec_layout layout = {0};

	if (!specs || !ips)
		return error_hint(error_new(ESRCH, "the object has no map %s",
					    specs ? IPS_MAP : SPECS_MAP),
				  "#include <bpf/usdt.bpf.h> in the program");
	if (!btf || !read_layout(btf, bpf_map__btf_value_type_id(specs), &layout) ||
	    layout.size != bpf_map__value_size(specs) || bpf_map__key_size(specs) != 4 ||
	    bpf_map__key_size(ips) != 8 || bpf_map__value_size(ips) != 4)
		return error_hint(
			error_new(EINVAL,
				  "map %s does not have the layout that <bpf/usdt.bpf.h> defines",
				  SPECS_MAP),
			"compile the program again with this library's <bpf/usdt.bpf.h>");
	struct usdt_manager *man = calloc(1, sizeof(*man));
	if (!man)
		return error_nomem();
	man->refs = 1;
	man->specs = specs;
	man->ips = ips;
	man->layout = layout;
	man->cookies = sys_bpf_has(SYS_BPF_COOKIE);
	object_set_attach_data(obj, man, manager_leave);
	*out = man;
	return NULL;
}

static struct error *manager_take_id(struct usdt_manager *man, uint32_t *id)
{
	if (man->free_ids.n) {
		*id = man->free_ids.v[--man->free_ids.n];
		return NULL;
	}
	if (man->next_id >= bpf_map__max_entries(man->specs))
		return error_hint(
			error_new(E2BIG, "more than %u different argument descriptions",
				  bpf_map__max_entries(man->specs)),
			"#define a larger BPF_USDT_MAX_SPEC_CNT before including <bpf/usdt.bpf.h>");
	/* Room to give all of them back, for which there will be no excuse. */
	if (!vec_reserve(&man->free_ids, (size_t)man->next_id + 1))
		return error_nomem();
	*id = man->next_id++;
	return NULL;
}

/* ---- what a link holds of it ---- */

struct usdt_hold {
	struct usdt_manager *man;
	VEC(uint32_t) ids;
	VEC(uint64_t) ips; /* keys of the second map */
};

static void hold_release(void *ctx, bool detached)
{
	struct usdt_hold *hold = ctx;
	struct usdt_manager *man = hold->man;

	if (detached && man->ips) {
		for (size_t i = 0; i < hold->ips.n; i++)
			bpf_map_delete_elem(bpf_map__fd(man->ips), &hold->ips.v[i]);
		for (size_t i = 0; i < hold->ids.n; i++)
			man->free_ids.v[man->free_ids.n++] = hold->ids.v[i];
	}
	vec_deinit(&hold->ids);
	vec_deinit(&hold->ips);
	manager_put(man);
	free(hold);
}

static void hold_releasep(struct usdt_hold **hold)
{
	if (*hold)
		hold_release(*hold, true);
}

static struct error *hold_new(struct bpf_object *obj, struct usdt_hold **out)
{
	struct usdt_manager *man = object_attach_data(obj);

	if (!man)
		TRY(manager_new(obj, &man));
	struct usdt_hold *hold = calloc(1, sizeof(*hold));
	if (!hold)
		return error_nomem();
	hold->man = man;
	man->refs++;
	*out = hold;
	return NULL;
}

/* A number for each of n descriptions, the hold's: the last n of hold->ids. */
static struct error *hold_take_ids(struct usdt_hold *hold, size_t n)
{
	if (!vec_reserve(&hold->ids, hold->ids.n + n))
		return error_nomem();
	for (size_t i = 0; i < n; i++) {
		TRY(manager_take_id(hold->man, &hold->ids.v[hold->ids.n]));
		hold->ids.n++;
	}
	return NULL;
}

static struct error *hold_write_specs(const struct usdt_hold *hold, const uint8_t *specs)
{
	const int fd = bpf_map__fd(hold->man->specs);

	for (size_t i = 0; i < hold->ids.n; i++) {
		int ret = bpf_map_update_elem(fd, &hold->ids.v[i],
					      specs + i * hold->man->layout.size, BPF_ANY);
		if (ret)
			return error_errno(-ret, "cannot write map %s", SPECS_MAP);
	}
	return NULL;
}

static struct error *hold_ip(struct usdt_hold *hold, uint64_t ip, uint32_t id)
{
	uint64_t *slot = vec_push(&hold->ips);

	if (!slot)
		return error_nomem();
	int ret = bpf_map_update_elem(bpf_map__fd(hold->man->ips), &ip, &id, BPF_NOEXIST);
	if (!ret) {
		*slot = ip;
		return NULL;
	}
	hold->ips.n--;
	if (ret == -EEXIST)
		return error_hint(error_new(EEXIST,
					    "the object is already attached to the probe at %#llx",
					    (unsigned long long)ip),
				  "this kernel has no BPF cookies (they need Linux 5.15), so an "
				  "object can be attached to a call site only once");
	if (ret == -E2BIG)
		return error_hint(
			error_new(E2BIG, "more than %u call sites",
				  bpf_map__max_entries(hold->man->ips)),
			"#define a larger BPF_USDT_MAX_IP_CNT before including <bpf/usdt.bpf.h>");
	return error_errno(-ret, "cannot write map %s", IPS_MAP);
}

/* ---- the places of a probe ---- */

struct usdt_site {
	uint64_t offset;    /* in the file */
	uint64_t addr;	    /* virtual */
	uint64_t semaphore; /* its offset in the file; 0: none */
	size_t spec;	    /* number in specs */
	uint32_t id;
};

struct usdt_target {
	const char *provider, *name;
	uint64_t cookie;
	pid_t pid; /* -1: all */
	char *path;
	struct elf_file *file;
	struct separate_symbols separate;
	VEC(struct usdt_site) sites;
	VEC(uint8_t) specs; /* layout->size bytes each */
	size_t n_specs;
	struct u64map by_hash; /* of a spec to 1 + its number */
};

static void target_deinit(struct usdt_target *target)
{
	free(target->path);
	pb_elf_file_free(target->file);
	separate_symbols_deinit(&target->separate);
	vec_deinit(&target->sites);
	vec_deinit(&target->specs);
	u64map_deinit(&target->by_hash);
}

static bool search_symbols(const struct elf_file *file, const struct elf_section *table,
			   const char *name, size_t len, uint64_t *addr)
{
	const size_t n = pb_elf_symbol_count(file, table);

	for (size_t i = 1; i < n; i++) {
		struct elf_symbol sym;
		_cleanup_error_ struct error *err = pb_elf_symbol_at(file, table, i, &sym);

		if (err)
			return false;
		if (sym.section == SHN_UNDEF || sym.section >= SHN_LORESERVE ||
		    sym.type == STT_TLS || strncmp(sym.name, name, len) ||
		    (sym.name[len] && sym.name[len] != '@'))
			continue;
		*addr = sym.value;
		return true;
	}
	return false;
}

/* In the binary, or where its symbols are if it is stripped. */
static bool find_symbol(void *ctx, const char *name, size_t len, uint64_t *addr)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	struct usdt_target *target = ctx;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		const struct elf_section *table = pb_elf_section_by_type(target->file, types[i]);

		if (table && search_symbols(target->file, table, name, len, addr))
			return true;
	}
	if (!target->separate.tried)
		error_free(separate_symbols_open(target->file, &target->separate));
	if (!target->separate.file)
		return false;
	const struct elf_section *table = pb_elf_section_by_type(target->separate.file, SHT_SYMTAB);
	return table && search_symbols(target->separate.file, table, name, len, addr);
}

static struct error *open_target(struct usdt_target *target, const char *binary)
{
	TRY(binary_find(binary, &target->path));
	struct error *err = binary_open(target->path, &target->file);
	if (err && err->code == ENOEXEC)
		return error_hint(err, "if it is a script, give the path of its interpreter");
	return err;
}

static struct error *check_file(const struct elf_file *file)
{
	const uint16_t type = pb_elf_file_type(file);

	if (type != ET_EXEC && type != ET_DYN)
		return error_new(ENOEXEC, "%s is neither a program nor a library",
				 pb_elf_file_name(file));
	if (pb_elf_file_machine(file) != HOST_MACHINE || pb_elf_file_swapped(file) ||
	    pb_elf_file_is64(file) != (sizeof(void *) == 8))
		return error_hint(error_new(ENOEXEC, "%s is for another architecture",
					    pb_elf_file_name(file)),
				  "USDT arguments can be read only from programs of this machine's "
				  "architecture");
	return NULL;
}

/* Adds the description, or finds an equal one. */
static struct error *add_spec(struct usdt_target *target, const struct spec_layout *layout,
			      const struct usdt_arg *args, size_t n, size_t *spec)
{
	const size_t size = layout->size, before = target->specs.n;

	if (!vec_reserve(&target->specs, before + size))
		return error_nomem();
	uint8_t *bytes = target->specs.v + before;
	memset(bytes, 0, size);
	if (!write_spec(layout, args, n, target->cookie, bytes))
		return error_hint(error_new(EOPNOTSUPP,
					    "an argument uses an index register, which the "
					    "program's usdt.bpf.h does not support"),
				  "compile the program again with this library's <bpf/usdt.bpf.h>");
	const uint64_t hash = hash_bytes(bytes, size);
	const size_t known = (size_t)(uintptr_t)u64map_get(&target->by_hash, hash);

	if (known && !memcmp(target->specs.v + (known - 1) * size, bytes, size)) {
		*spec = known - 1;
		return NULL;
	}
	target->specs.n += size;
	*spec = target->n_specs++;
	if (!known && !u64map_put(&target->by_hash, hash, (void *)(uintptr_t)(*spec + 1)))
		return error_nomem();
	return NULL;
}

static struct error *semaphore_offset(const struct usdt_target *target, uint64_t addr,
				      uint64_t *offset)
{
	struct elf_segment segment;

	if (!pb_elf_segment_at(target->file, addr, &segment) || segment.flags & PF_X)
		return error_new(EBADMSG, "its semaphore is at %#llx, where the file has no data",
				 (unsigned long long)addr);
	*offset = segment.offset + (addr - segment.addr);
	return NULL;
}

static struct error *add_site(struct usdt_target *target, const struct spec_layout *layout,
			      const struct usdt_note *note)
{
	const struct usdt_frame frame = {
		.machine = pb_elf_file_machine(target->file),
		.location = note->location,
		.fixed = pb_elf_file_type(target->file) == ET_EXEC,
		.symbol = find_symbol,
		.ctx = target,
	};
	struct usdt_site site = {.addr = note->location};
	struct usdt_arg args[USDT_ARGS_MAX];
	struct elf_segment segment;
	size_t n;

	if (!pb_elf_segment_at(target->file, note->location, &segment) || !(segment.flags & PF_X))
		return error_new(EBADMSG, "it is at %#llx, where the file has no code",
				 (unsigned long long)note->location);
	site.offset = segment.offset + (note->location - segment.addr);
	if (note->semaphore)
		TRY(semaphore_offset(target, note->semaphore, &site.semaphore));
	TRY(usdt_args_parse(note->args, &frame, args, &n));
	TRY(add_spec(target, layout, args, n, &site.spec));
	struct usdt_site *slot = vec_push(&target->sites);
	if (!slot)
		return error_nomem();
	*slot = site;
	return NULL;
}

/* What there is instead. */
static struct error *not_found(const struct usdt_target *target)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_free_ char *want = text_format("%s:%s", target->provider, target->name);
	_cleanup_names_ struct names all = {0};
	struct usdt_notes notes;
	struct usdt_note note;
	size_t shown = 0;
	bool more;

	if (!want)
		return error_nomem();
	TRY(usdt_notes_open(target->file, &notes));
	for (;;) {
		TRY(usdt_notes_next(&notes, &note, &more));
		if (!more)
			break;
		_cleanup_free_ char *name = text_format("%.64s:%.64s", note.provider, note.name);
		if (!name || !names_add(&all, name))
			return error_nomem();
	}
	struct error *err =
		error_new(ENOENT, "%s has no USDT probe %s", pb_elf_file_name(target->file), want);
	names_sort(&all);
	struct nearest near = nearest_make(want);
	for (size_t i = 0; i < all.n; i++)
		if (!i || strcmp(all.v[i], all.v[i - 1]))
			nearest_offer(&near, all.v[i]);
	err = error_suggest(err, &near);
	for (size_t i = 0; i < all.n; i++) {
		if (i && !strcmp(all.v[i], all.v[i - 1]))
			continue;
		if (shown < 8)
			strbuf_addf(&text, "%s%s", shown ? ", " : "", all.v[i]);
		shown++;
	}
	if (shown > 8)
		strbuf_addf(&text, " and %zu more: see 'readelf -n'", shown - 8);
	if (!shown)
		return error_hint(err, "its note section is empty");
	return error_hint(err, "it has %s", strbuf_str(&text));
}

static struct error *find_sites(struct usdt_target *target, const struct spec_layout *layout)
{
	struct usdt_notes notes;
	struct usdt_note note;
	bool more;

	TRY(check_file(target->file));
	TRY(usdt_notes_open(target->file, &notes));
	for (;;) {
		TRY(usdt_notes_next(&notes, &note, &more));
		if (!more)
			break;
		if (strcmp(note.provider, target->provider) || strcmp(note.name, target->name))
			continue;
		TRY(error_at(add_site(target, layout, &note),
			     "%s: probe %s:%s (note at offset %#llx)",
			     pb_elf_file_name(target->file), target->provider, target->name,
			     (unsigned long long)note.note_offset));
	}
	return target->sites.n ? NULL : not_found(target);
}

/* ---- kernels without cookies: where the file stands in a process ---- */

/* By number, as a container has other paths; by path, as some file systems have other numbers. */
static bool is_mapping_of(const struct sys_map *map, const struct stat *st, const char *path)
{
	if (map->ino == st->st_ino && map->maj == major(st->st_dev) &&
	    map->min == minor(st->st_dev))
		return true;
	return path && !strcmp(map->path, path);
}

static struct error *hold_mapped(struct usdt_hold *hold, const struct usdt_target *target,
				 char *maps, const struct stat *st)
{
	_cleanup_free_ char *path = realpath(target->path, NULL);
	struct sys_map map;

	for (char *pos = maps; sys_maps_next(&pos, &map);) {
		if (!(map.prot & PROT_EXEC) || !is_mapping_of(&map, st, path))
			continue;
		for (size_t i = 0; i < target->sites.n; i++) {
			const struct usdt_site *site = &target->sites.v[i];

			if (site->offset < map.pgoff ||
			    site->offset - map.pgoff >= map.end - map.start)
				continue;
			TRY(hold_ip(hold, map.start + (site->offset - map.pgoff), site->id));
		}
	}
	return NULL;
}

static struct error *hold_ips(struct usdt_hold *hold, const struct usdt_target *target)
{
	_cleanup_free_ char *maps = NULL;
	struct stat st;

	if (pb_elf_file_type(target->file) == ET_EXEC) {
		for (size_t i = 0; i < target->sites.n; i++)
			TRY(hold_ip(hold, target->sites.v[i].addr, target->sites.v[i].id));
		return NULL;
	}
	if (target->pid < 0)
		return error_hint(
			error_new(EOPNOTSUPP,
				  "on this kernel the USDT probes of %s can be attached only in "
				  "one process",
				  target->path),
			"give a pid; attaching in all processes needs BPF cookies (Linux 5.15)");
	TRY(sys_proc_read(NULL, target->pid, "maps", &maps, NULL));
	if (stat(target->path, &st))
		return error_errno(errno, "cannot open %s", target->path);
	TRY(hold_mapped(hold, target, maps, &st));
	if (!hold->ips.n)
		return error_hint(error_new(ESRCH, "process %d has not loaded %s", (int)target->pid,
					    target->path),
				  "check /proc/%d/maps", (int)target->pid);
	return NULL;
}

/* ---- the uprobes ---- */

static struct error *check_semaphores(const struct usdt_target *target)
{
	struct sys_pmu_field field;

	for (size_t i = 0; i < target->sites.n; i++) {
		if (!target->sites.v[i].semaphore)
			continue;
		_cleanup_error_ struct error *err =
			sys_pmu_field(NULL, "uprobe", "ref_ctr_offset", &field);
		if (!err)
			return NULL;
		return error_hint(
			error_new(EOPNOTSUPP,
				  "%s:%s has a semaphore, which this kernel cannot increment",
				  target->provider, target->name),
			"this needs Linux 4.20 with CONFIG_UPROBE_EVENTS");
	}
	return NULL;
}

static struct error *attach_at_once(const struct bpf_program *prog,
				    const struct usdt_target *target, struct bpf_link **out)
{
	const size_t n = target->sites.n;
	_cleanup_free_ unsigned long *offsets = calloc(n, sizeof(*offsets));
	_cleanup_free_ unsigned long *semaphores = calloc(n, sizeof(*semaphores));
	_cleanup_free_ __u64 *cookies = calloc(n, sizeof(*cookies));
	LIBBPF_OPTS(bpf_link_create_opts, opts, .uprobe_multi.path = target->path,
		    .uprobe_multi.offsets = offsets, .uprobe_multi.ref_ctr_offsets = semaphores,
		    .uprobe_multi.cookies = cookies, .uprobe_multi.cnt = (__u32)n,
		    .uprobe_multi.pid = target->pid < 0 ? 0 : (__u32)target->pid);

	if (!offsets || !semaphores || !cookies)
		return error_nomem();
	_cleanup_uprobe_code_ struct uprobe_code code = {0};
	uprobe_code_open(target->path, &code);
	for (size_t i = 0; i < n; i++) {
		char at[32];

		snprintf(at, sizeof(at), "%#" PRIx64, target->sites.v[i].addr);
		TRY(error_prefix(uprobe_code_check(&code, at, target->sites.v[i].offset), "%s:%s",
				 target->provider, target->name));
		offsets[i] = target->sites.v[i].offset;
		semaphores[i] = target->sites.v[i].semaphore;
		cookies[i] = target->sites.v[i].id;
	}
	_cleanup_free_ char *where = text_format("the %zu call sites of %s:%s in %s", n,
						 target->provider, target->name, target->path);
	if (!where)
		return error_nomem();
	return link_attach(prog, 0, where, &opts, out);
}

static struct error *site_event(const struct usdt_target *target, const struct usdt_site *site,
				struct attach_event *event)
{
	const struct uprobe_target at = {
		.binary = target->path,
		.offset = site->offset,
		.ref_ctr_offset = site->semaphore,
	};

	return error_prefix(uprobe_event(&at, event), "probe %s:%s", target->provider,
			    target->name);
}

static struct error *attach_site(const struct bpf_program *prog, const struct usdt_target *target,
				 const struct usdt_site *site, bool cookies, struct bpf_link **out)
{
	_cleanup_attach_event_ struct attach_event event = {0};

	TRY(site_event(target, site, &event));
	return error_prefix(event_attach(prog, &event, target->pid, cookies ? site->id : 0, false,
					 out),
			    "probe %s:%s", target->provider, target->name);
}

static struct error *attach_each(const struct bpf_program *prog, const struct usdt_target *target,
				 bool cookies, struct bpf_link **out)
{
	const size_t n = target->sites.n;
	struct bpf_link **parts = calloc(n, sizeof(*parts));
	struct error *err = parts ? NULL : error_nomem();

	for (size_t i = 0; i < n && !err; i++)
		err = attach_site(prog, target, &target->sites.v[i], cookies, &parts[i]);
	if (!err && (*out = link_of_parts(parts, n)))
		return NULL;
	for (size_t i = 0; parts && i < n; i++)
		bpf_link__destroy(parts[i]);
	free(parts);
	return err ? err : error_nomem();
}

/* The places of the target, with numbers for their descriptions. */
static struct error *target_hold(struct usdt_target *target, struct bpf_object *obj,
				 struct usdt_hold **out)
{
	_cleanup_(hold_releasep) struct usdt_hold *hold = NULL;
	struct usdt_site *site;

	TRY(hold_new(obj, &hold));
	TRY(find_sites(target, &hold->man->layout));
	TRY(check_semaphores(target));
	TRY(hold_take_ids(hold, target->n_specs));
	vec_for_each (site, &target->sites)
		site->id = hold->ids.v[site->spec];
	*out = steal_ptr(hold);
	return NULL;
}

static struct error *attach_target(const struct bpf_program *prog, struct usdt_target *target,
				   struct bpf_link **out)
{
	_cleanup_(hold_releasep) struct usdt_hold *hold = NULL;
	const bool multi = (int)bpf_program__expected_attach_type(prog) == BPF_TRACE_UPROBE_MULTI;
	int fd;

	TRY(program_fd(prog, &fd));
	TRY(target_hold(target, program_object(prog), &hold));
	TRY(hold_write_specs(hold, target->specs.v));
	if (!hold->man->cookies)
		TRY(hold_ips(hold, target));
	/* A mapping of the file would get uprobes too, and its semaphore be raised for it. */
	pb_elf_file_free(target->file);
	target->file = NULL;
	TRY(multi ? attach_at_once(prog, target, out)
		  : attach_each(prog, target, hold->man->cookies, out));
	link_on_destroy(*out, hold_release, steal_ptr(hold));
	return NULL;
}

static struct error *usdt_attach(const struct bpf_program *prog, pid_t pid, const char *binary,
				 const char *provider, const char *name, uint64_t cookie,
				 struct bpf_link **out)
{
	_cleanup_(target_deinit) struct usdt_target target = {
		.provider = provider,
		.name = name,
		.cookie = cookie,
		.pid = pid == 0	 ? getpid()
		       : pid < 0 ? -1
				 : pid,
	};

	TRY(open_target(&target, binary));
	return attach_target(prog, &target, out);
}

struct error *usdt_section_split(const char *text, char **binary, char **provider, char **name)
{
	/* The last two colons: a path may hold one. */
	const char *second = strrchr(text, ':');
	const char *first = second ? memrchr(text, ':', (size_t)(second - text)) : NULL;

	if (!first || first == text || first + 1 == second || !second[1])
		return error_hint(error_new(*text ? EINVAL : EOPNOTSUPP,
					    "the section name has no binary, provider and probe"),
				  "write SEC(\"usdt/libc.so.6:libc:setjmp\"), or call "
				  "bpf_program__attach_usdt()");
	_cleanup_free_ char *got_binary = strndup(text, (size_t)(first - text));
	_cleanup_free_ char *got_provider = strndup(first + 1, (size_t)(second - first - 1));
	char *got_name = strdup(second + 1);
	if (!got_binary || !got_provider || !got_name) {
		free(got_name);
		return error_nomem();
	}
	*binary = steal_ptr(got_binary);
	*provider = steal_ptr(got_provider);
	*name = got_name;
	return NULL;
}

struct error *usdt_section_attach(const struct bpf_program *prog, struct bpf_link **link)
{
	_cleanup_free_ char *binary = NULL, *provider = NULL, *name = NULL;

	TRY(usdt_section_split(program_section(prog)->target, &binary, &provider, &name));
	return usdt_attach(prog, -1, binary, provider, name, 0, link);
}

/* ---- for who records the places ---- */

struct usdt_places {
	struct usdt_hold *hold;
	VEC(uint8_t) specs;
	VEC(struct usdt_place) v;
};

void usdt_places_free(struct usdt_places *places)
{
	struct usdt_place *place;

	if (!places)
		return;
	vec_for_each (place, &places->v)
		attach_event_deinit(&place->event);
	vec_deinit(&places->v);
	vec_deinit(&places->specs);
	hold_releasep(&places->hold);
	free(places);
}

struct usdt_place *usdt_places_at(const struct usdt_places *places, size_t i)
{
	return i < places->v.n ? &places->v.v[i] : NULL;
}

static struct error *add_place(struct usdt_places *places, const struct usdt_target *target,
			       const struct usdt_site *site)
{
	_cleanup_attach_event_ struct attach_event event = {0};

	TRY(site_event(target, site, &event));
	free(event.name);
	event.name = text_format("sdt_%s:%s", target->provider, target->name);
	struct usdt_place *place = event.name ? vec_push(&places->v) : NULL;
	if (!place)
		return error_nomem();
	place->event = event;
	place->cookie = site->id;
	event = (struct attach_event){0};
	return NULL;
}

struct error *usdt_places_of(struct bpf_program *prog, struct usdt_places **out)
{
	_cleanup_free_ char *binary = NULL, *provider = NULL, *name = NULL;
	_cleanup_(target_deinit) struct usdt_target target = {.pid = -1};
	_cleanup_(usdt_places_freep) struct usdt_places *places = calloc(1, sizeof(*places));
	struct usdt_site *site;

	if (!places)
		return error_nomem();
	if (!sys_bpf_has(SYS_BPF_COOKIE))
		return error_hint(
			error_new(EOPNOTSUPP,
				  "this kernel cannot record USDT probes: they need BPF cookies"),
			"BPF cookies need Linux 5.15");
	TRY(usdt_section_split(program_section(prog)->target, &binary, &provider, &name));
	target.provider = provider;
	target.name = name;
	TRY(open_target(&target, binary));
	TRY(target_hold(&target, program_object(prog), &places->hold));
	vec_for_each (site, &target.sites)
		TRY(add_place(places, &target, site));
	if (!vec_reserve(&places->specs, target.specs.n))
		return error_nomem();
	memcpy(places->specs.v, target.specs.v, target.specs.n);
	places->specs.n = target.specs.n;
	program_set_one_place(prog);
	*out = steal_ptr(places);
	return NULL;
}

struct error *usdt_places_write(const struct usdt_places *places)
{
	return hold_write_specs(places->hold, places->specs.v);
}

struct bpf_link *bpf_program__attach_usdt(const struct bpf_program *prog, pid_t pid,
					  const char *binary_path, const char *usdt_provider,
					  const char *usdt_name, const struct bpf_usdt_opts *opts)
{
	struct bpf_link *link = NULL;
	struct error *err = OPTS_CHECK(opts, bpf_usdt_opts);

	if (!err && (!binary_path || !usdt_provider || !usdt_name))
		err = error_new(EINVAL, "the binary, the provider and the probe name are required");
	if (!err)
		err = usdt_attach(prog, pid, binary_path, usdt_provider, usdt_name,
				  OPTS_GET(opts, usdt_cookie, 0), &link);
	return err ? edge_null(attach_error_at(prog, err)) : link;
}
