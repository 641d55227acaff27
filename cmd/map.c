// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf map: the maps that are loaded, and their entries. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/actions.h"
#include "cmd/cmd.h"
#include "inspect/map_reader.h"
#include "inspect/value_input.h"
#include "lib/btf/open.h"
#include "show/show_entry.h"

enum {
	OUT_CHUNK = 1 << 16,
};

/* ---- a map's types ---- */

struct shown_map_fd {
	int fd;
	struct bpf_map_info info;
	struct btf *btf; /* NULL: the map has no types */
	uint32_t key_type, value_type;
};

static void map_deinit(struct shown_map_fd *map)
{
	btf__free(map->btf);
	closep(&map->fd);
}
#define _cleanup_map_ __attribute__((cleanup(map_deinit)))

/* fd becomes the map's. */
static struct error *map_init(struct shown_map_fd *map, int fd)
{
	__u32 len = sizeof(map->info);

	map->fd = fd;
	if (bpf_map_get_info_by_fd(fd, &map->info, &len))
		return error_errno(errno, "cannot read the map's info");
	if (map->info.btf_vmlinux_value_type_id) {
		map->btf = btf__load_vmlinux_btf();
		map->value_type = map->info.btf_vmlinux_value_type_id;
	} else if (map->info.btf_id) {
		map->btf = btf__load_from_kernel_by_id(map->info.btf_id);
		map->key_type = map->info.btf_key_type_id;
		map->value_type = map->info.btf_value_type_id;
	}
	return NULL;
}

static struct entry_layout layout_of(const struct shown_map_fd *map)
{
	struct entry_layout l = {
		.btf = map->btf,
		.key_type = map->key_type,
		.value_type = map->value_type,
		.key_size = map->info.key_size,
		.value_size = map->info.value_size,
		.index = map_type_indexed(map->info.type),
	};

	if (map_type_per_cpu(map->info.type)) {
		int cpus = libbpf_num_possible_cpus();

		l.cpus = cpus > 0 ? cpus : 1;
		l.stride = round_up(l.value_size, 8);
	}
	return l;
}

static struct error *format_of(const struct shown_map_fd *map, bool json, enum entry_place place,
			       struct entry_format **format)
{
	struct entry_layout layout = layout_of(map);
	_cleanup_free_ char *note = NULL;

	TRY(entry_format_new(&layout, json ? VALUE_COMPACT : VALUE_PRETTY, place, format, &note));
	if (note)
		fprintf(stderr, "perf-bpf: warning: map %s: %s; showing its bytes\n",
			map->info.name, note);
	return NULL;
}

/* ---- list ---- */

static void list_text(const struct listed *object, const struct bpf_map_info *i, uint64_t memlock,
		      bool frozen, struct strbuf *out)
{
	char unknown[16];

	strbuf_addf(out, "%u: %s  ", i->id,
		    type_or_number(libbpf_bpf_map_type_str(i->type), i->type, unknown));
	if (*i->name)
		strbuf_addf(out, "name %s  ", i->name);
	strbuf_addf(out, "flags 0x%x\n\tkey %uB  value %uB  max_entries %u  memlock %" PRIu64 "B",
		    i->map_flags, i->key_size, i->value_size, i->max_entries, memlock);
	if (i->map_extra)
		strbuf_addf(out, "  map_extra 0x%llx", (unsigned long long)i->map_extra);
	if (frozen)
		strbuf_adds(out, "  frozen");
	strbuf_addch(out, '\n');
	if (i->btf_id)
		strbuf_addf(out, "\tbtf_id %u\n", i->btf_id);
	add_pids(object, out);
}

static void list_json(const struct listed *object, const struct bpf_map_info *i, uint64_t memlock,
		      bool frozen, struct strbuf *out)
{
	struct json_writer *w = object->json;
	char unknown[16];

	jw_object(w, NULL);
	jw_u64(w, "id", i->id);
	jw_text(w, "type", type_or_number(libbpf_bpf_map_type_str(i->type), i->type, unknown));
	if (*i->name)
		jw_text(w, "name", i->name);
	jw_u64(w, "flags", i->map_flags);
	jw_u64(w, "bytes_key", i->key_size);
	jw_u64(w, "bytes_value", i->value_size);
	jw_u64(w, "max_entries", i->max_entries);
	if (i->map_extra)
		jw_u64(w, "map_extra", i->map_extra);
	jw_u64(w, "bytes_memlock", memlock);
	jw_u64(w, "frozen", frozen);
	if (i->btf_id)
		jw_u64(w, "btf_id", i->btf_id);
	add_pids(object, out);
	jw_end(w);
}

static void list_one(const struct listed *object, struct strbuf *out)
{
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);
	uint64_t memlock = 0, frozen = 0;

	if (bpf_map_get_info_by_fd(object->fd, &info, &len))
		return;
	fdinfo_u64(object->fd, "memlock", &memlock);
	fdinfo_u64(object->fd, "frozen", &frozen);
	(object->json ? list_json : list_text)(object, &info, memlock, frozen, out);
}

static struct error *map_list(const struct action_args *args, size_t at)
{
	return list_objects(KOBJ_MAP, args, at, list_one, NULL);
}

/* ---- entries ---- */

static struct error *open_map(const struct action_args *args, size_t *at, struct shown_map_fd *map)
{
	int fd;

	TRY(open_object(KOBJ_MAP, args, at, &fd));
	return map_init(map, fd);
}

struct map_dump {
	struct shown_map_fd map;
	struct map_reader *reader;
	struct entry_format *format;
};

void map_dump_free(struct map_dump *dump)
{
	if (!dump)
		return;
	entry_format_free(dump->format);
	map_reader_free(dump->reader);
	map_deinit(&dump->map);
	free(dump);
}

/* fd becomes the dump's. */
static struct error *dump_new(int fd, bool json, struct map_dump **out)
{
	_cleanup_(map_dump_freep) struct map_dump *dump = calloc(1, sizeof(*dump));

	if (!dump) {
		close(fd);
		return error_nomem();
	}
	TRY(map_init(&dump->map, fd));
	TRY(map_reader_new(dump->map.fd, &dump->reader));
	TRY(format_of(&dump->map, json, ENTRY_IN_DUMP, &dump->format));
	/* no more of it is needed: a kernel's BTF is large */
	btf__free(dump->map.btf);
	dump->map.btf = NULL;
	*out = steal_ptr(dump);
	return NULL;
}

struct error *map_dump_new(int fd, bool json, struct map_dump **out)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return copy < 0 ? error_errno(errno, "cannot read a map") : dump_new(copy, json, out);
}

struct error *map_dump_write(struct map_dump *dump, int fd)
{
	bool closed = false;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const void *key, *value;

	entry_dump_begin(dump->format, &out);
	for (;;) {
		TRY(map_reader_next(dump->reader, &key, &value));
		if (!key)
			break;
		entry_dump_add(dump->format, key, value, &out);
		if (out.len < OUT_CHUNK)
			continue;
		TRY(cmd_write_fd(fd, out.str, out.len, &closed));
		strbuf_reset(&out);
	}
	entry_dump_end(dump->format, &out);
	if (strbuf_failed(&out))
		return error_nomem();
	return cmd_write_fd(fd, strbuf_str(&out), out.len, &closed);
}

static struct error *map_dump(const struct action_args *args, size_t at)
{
	_cleanup_(map_dump_freep) struct map_dump *dump = NULL;
	_cleanup_close_ int fd = -1;

	TRY(open_object(KOBJ_MAP, args, &at, &fd));
	TRY(no_more_words(args, at));
	TRY(dump_new(steal_fd(&fd), args->json, &dump));
	return map_dump_write(dump, STDOUT_FILENO);
}

/* Bytes as bpftool takes them: decimal or 0x…, after "hex" hexadecimal. */
static struct error *read_bytes(char *const *words, size_t n, bool hex, void *data, size_t size,
				const char *what)
{
	uint8_t *bytes = data;

	if (n != size)
		return error_usage("the %s has %zu bytes, but %zu are given", what, size, n);
	for (size_t i = 0; i < n; i++) {
		char *end;
		unsigned long v = strtoul(words[i], &end, hex ? 16 : 0);

		if (end == words[i] || *end || v > 255)
			return error_usage("'%s' is not a byte", words[i]);
		bytes[i] = v;
	}
	return NULL;
}

static bool is_keyword(const char *word)
{
	static const char *const keywords[] = {"key", "value", "any", "exist", "noexist"};

	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (!strcmp(word, keywords[i]))
			return true;
	return false;
}

/*
 * "key DATA" or "value DATA" at *at. One word is a value of the type, or the
 * number where there is none; several, or all after "hex", are bytes.
 */
static struct error *read_data(const struct action_args *args, size_t *at, const char *what,
			       const struct shown_map_fd *map, uint32_t type, uint32_t size,
			       void **data)
{
	char *const *words = args->words.v;
	size_t end, n = args->words.n;

	if (*at >= n || strcmp(words[*at], what))
		return error_hint(error_usage("'%s DATA' is missing", what),
				  "for example '%s 1' or '%s hex 01 00 00 00'", what, what);
	++*at;
	bool hex = *at < n && !strcmp(words[*at], "hex");
	*at += hex;
	for (end = *at; end < n && !is_keyword(words[end]); end++)
		;
	if (end == *at)
		return error_usage("'%s' is not followed by data", what);
	_cleanup_free_ void *bytes = calloc(1, max_of(size, 1u));
	if (!bytes)
		return error_nomem();
	if (!hex && end == *at + 1 && map->btf && type) {
		TRY(error_prefix(
			error_mark_usage(value_input(map->btf, type, words[*at], bytes, size)),
			"%s", what));
	} else if (!hex && end == *at + 1 && (size == 2 || size == 4 || size == 8)) {
		TRY(error_prefix(error_mark_usage(value_input_number(words[*at], bytes, size)),
				 "%s", what));
	} else {
		struct error *err = read_bytes(words + *at, end - *at, hex, bytes, size, what);

		if (err && !map->btf)
			return error_hint(err, "the map has no BTF: give its bytes");
		TRY(err);
	}
	*at = end;
	*data = steal_ptr(bytes);
	return NULL;
}

static struct error *no_entry(const struct shown_map_fd *map, int code, const char *what)
{
	if (code == ENOENT)
		return error_new(ENOENT, "map %s has no such key", map->info.name);
	struct error *err =
		error_errno(code, "map %s: the entry cannot be %s", map->info.name, what);
	if (code == EPERM)
		return error_hint(err, "the map may be frozen or read-only, or this needs root");
	if (code == E2BIG)
		return error_hint(err,
				  map->info.max_entries
					  ? "the map is full, or the index is too large: it "
					    "has room for %u entries"
					  : "the map is full",
				  map->info.max_entries);
	return err;
}

static struct error *map_lookup(const struct action_args *args, size_t at)
{
	_cleanup_map_ struct shown_map_fd map = {.fd = -1};
	_cleanup_(entry_format_freep) struct entry_format *format = NULL;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_free_ void *key = NULL;

	TRY(open_map(args, &at, &map));
	TRY(read_data(args, &at, "key", &map, map.key_type, map.info.key_size, &key));
	TRY(no_more_words(args, at));
	TRY(format_of(&map, args->json, ENTRY_ALONE, &format));
	struct entry_layout l = layout_of(&map);
	_cleanup_free_ void *value =
		calloc(1, l.cpus ? l.cpus * l.stride : max_of(l.value_size, 1u));
	if (!value)
		return error_nomem();
	if (bpf_map_lookup_elem(map.fd, key, value))
		return no_entry(&map, errno, "read");
	entry_show(format, key, value, &out);
	return cmd_print(&out);
}

static struct error *map_update(const struct action_args *args, size_t at)
{
	static const char *const flags[] = {"any", "noexist", "exist"}; /* BPF_ANY … BPF_EXIST */
	_cleanup_map_ struct shown_map_fd map = {.fd = -1};
	_cleanup_free_ void *key = NULL, *value = NULL;
	uint64_t flag = BPF_ANY;

	TRY(open_map(args, &at, &map));
	TRY(read_data(args, &at, "key", &map, map.key_type, map.info.key_size, &key));
	TRY(read_data(args, &at, "value", &map, map.value_type, map.info.value_size, &value));
	if (at < args->words.n) {
		for (flag = 0; flag < ARRAY_SIZE(flags); flag++)
			if (!strcmp(args->words.v[at], flags[flag]))
				break;
		if (flag == ARRAY_SIZE(flags))
			return error_usage("'%s' is neither any, exist nor noexist",
					   args->words.v[at]);
		at++;
	}
	TRY(no_more_words(args, at));
	struct entry_layout l = layout_of(&map);
	_cleanup_free_ uint8_t *parts = NULL;
	if (l.cpus) { /* each CPU gets the value */
		parts = calloc(l.cpus, l.stride);
		if (!parts)
			return error_nomem();
		for (unsigned cpu = 0; cpu < l.cpus; cpu++)
			memcpy(parts + cpu * l.stride, value, l.value_size);
	}
	if (bpf_map_update_elem(map.fd, key, parts ? parts : value, flag)) {
		if (errno == EEXIST)
			return error_new(EEXIST, "map %s already has this key", map.info.name);
		return no_entry(&map, errno, "written");
	}
	return NULL;
}

static struct error *map_delete(const struct action_args *args, size_t at)
{
	_cleanup_map_ struct shown_map_fd map = {.fd = -1};
	_cleanup_free_ void *key = NULL;

	TRY(open_map(args, &at, &map));
	TRY(read_data(args, &at, "key", &map, map.key_type, map.info.key_size, &key));
	TRY(no_more_words(args, at));
	if (bpf_map_delete_elem(map.fd, key)) {
		if (errno == EINVAL && map_type_indexed(map.info.type))
			return error_usage(
				"map %s is an array: entries of arrays cannot be deleted",
				map.info.name);
		return no_entry(&map, errno, "deleted");
	}
	return NULL;
}

int cmd_map(int argc, char **argv)
{
	static const struct action actions[] = {
		{"list", map_list, INSPECT_LIST},
		{"show", map_list, INSPECT_LIST},
		{"dump", map_dump, 0},
		{"lookup", map_lookup, 0},
		{"update", map_update, INSPECT_CHANGE},
		{"delete", map_delete, INSPECT_CHANGE},
	};
	static const struct action_command command = {
		.name = "map",
		.args_doc = "list [MAP]\n"
			    "dump MAP\n"
			    "lookup MAP key DATA\n"
			    "update MAP key DATA value DATA [any|exist|noexist]\n"
			    "delete MAP key DATA",
		.doc = "Show and change loaded maps.\vMAP is 'id ID', 'name NAME' or 'pinned "
		       "PATH'; or only ID, "
		       "NAME or PATH.\nDATA is a value of the map's BTF type (3237, 0x1f, lo, "
		       "RUNNING, '{\"pid\": "
		       "1}', '[1, 2]'), or its bytes: 'hex a5 0c 00 00'.",
		.actions = actions,
		.n_actions = ARRAY_SIZE(actions),
	};

	return run_action_command(&command, argc, argv);
}
