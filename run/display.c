// SPDX-License-Identifier: BSD-2-Clause
/*
 * A declaration is one line of text:
 *
 *	log2,unit=bytes,title=sizes of writes, by process
 *
 * In BTF it is the declaration tag "perf-bpf:…" of the map's variable; in the
 * section "config" (objects without BTF have no other place) a line
 *
 *	sizes: log2,unit=bytes,title=…
 *
 * Other lines of that section are none of ours, and other tags neither.
 */
#include "run/display.h"

#include <bpf/btf.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/map_reader.h"
#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "lib/base/utf8.h"
#include "lib/btf/open.h"
#include "lib/sys/uapi.h"

#define TAG "perf-bpf:"

static const char *const kind_names[] = {
	[DISPLAY_NONE] = "none",     [DISPLAY_COUNT] = "count",	  [DISPLAY_TABLE] = "table",
	[DISPLAY_LOG2] = "log2",     [DISPLAY_LINEAR] = "linear", [DISPLAY_HEATMAP] = "heatmap",
	[DISPLAY_STACKS] = "stacks", [DISPLAY_EVENTS] = "events",
};

void display_deinit(struct display *d)
{
	free(d->unit);
	free(d->title);
	free(d->type);
	free(d->stacks);
	free(d->format);
	free(d->short_stacks);
	*d = (struct display){0};
}

static struct error *parse_kind(const char *word, enum display_kind *kind)
{
	struct nearest near = nearest_make(word);

	for (size_t i = 0; i < ARRAY_SIZE(kind_names); i++) {
		if (!strcmp(word, kind_names[i])) {
			*kind = i;
			return NULL;
		}
		nearest_offer(&near, kind_names[i]);
	}
	return error_suggest(error_new(EINVAL, "unknown view '%s'", word), &near);
}

/* Puts a copy of text in the place of what was there. */
static struct error *set_text(char **slot, const char *text)
{
	char *copy = *text ? strdup(text) : NULL;

	if (*text && !copy)
		return error_nomem();
	free(*slot);
	*slot = copy;
	return NULL;
}

static struct error *parse_word(const char *key, const char *value, struct display *d)
{
	static const char *const keys[] = {"unit",   "low",   "step",	"type",
					   "stacks", "short", "format", "title"};
	struct nearest near = nearest_make(key);
	bool step = !strcmp(key, "step");
	char *end;

	if (!strcmp(key, "unit"))
		return set_text(&d->unit, value);
	if (!strcmp(key, "title"))
		return set_text(&d->title, value);
	if (!strcmp(key, "type"))
		return set_text(&d->type, value);
	if (!strcmp(key, "stacks"))
		return set_text(&d->stacks, value);
	if (!strcmp(key, "format"))
		return set_text(&d->format, value);
	if (!strcmp(key, "short"))
		return set_text(&d->short_stacks, value);
	if (step || !strcmp(key, "low")) {
		errno = 0;
		long long n = strtoll(value, &end, 0);
		if (errno || end == value || *end || (step && n <= 0))
			return error_new(EINVAL, "%s=%s: expected a number%s", key, value,
					 step ? ", at least 1" : "");
		if (step)
			d->step = n;
		else
			d->low = n;
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		nearest_offer(&near, keys[i]);
	return error_suggest(error_new(EINVAL, "unknown setting '%s='", key), &near);
}

struct error *display_parse(const char *text, struct display *d)
{
	_cleanup_free_ char *copy = strdup(text);
	char *at = copy;

	if (!copy)
		return error_nomem();
	TRY(parse_kind(strsep(&at, ","), &d->kind));
	while (at) {
		bool title = !strncmp(at, "title=", 6) || !strncmp(at, "format=", 7);
		char *word = title ? at : strsep(&at, ",");
		char *value = strchr(word, '=');

		if (title)
			at = NULL;
		if (!value)
			return error_hint(
				error_new(EINVAL, "'%s' is not KEY=VALUE", word),
				"title= or format= must come last, as it may contain commas");
		*value++ = 0;
		TRY(parse_word(word, value, d));
	}
	if (d->kind == DISPLAY_LINEAR && !d->step)
		return error_new(EINVAL, "a linear histogram needs step=");
	d->declared = true;
	return NULL;
}

/* The text behind "perf-bpf:" of the variable's tag; NULL: it has none. */
static const char *find_tag(const struct btf *btf, const char *name)
{
	int var = btf__find_by_name_kind(btf, name, BTF_KIND_VAR);

	if (var <= 0)
		return NULL;
	for (uint32_t id = btf_start_id(btf); id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (btf_is_decl_tag(t) && t->type == (uint32_t)var &&
		    !strncmp(btf_name(btf, t), TAG, strlen(TAG)))
			return btf_name(btf, t) + strlen(TAG);
	}
	return NULL;
}

struct error *display_check_config(const char *config, size_t size)
{
	size_t len = strnlen(config, size);

	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_length((const uint8_t *)config + i, len - i);
		if (!n || (iscntrl((unsigned char)config[i]) && !isspace((unsigned char)config[i])))
			return error_hint(error_new(EILSEQ,
						    "section config is not text: byte 0x%02x at "
						    "offset %zu; its views of maps are ignored",
						    (unsigned char)config[i], i),
					  "write lines 'MAP: log2,unit=bytes,title=…'");
	}
	return NULL;
}

/* The map's line of the config text; the caller's; NULL: it has none. */
static struct error *find_line(const char *config, size_t size, const char *name, char **line)
{
	const char *end = config + strnlen(config, size);
	size_t len = strlen(name);

	*line = NULL;
	for (const char *p = config; p < end;) {
		const char *stop = memchr(p, '\n', end - p);

		if (!stop)
			stop = end;
		while (p < stop && isspace((unsigned char)*p))
			p++;
		if ((size_t)(stop - p) > len && !strncmp(p, name, len) && p[len] == ':') {
			p += len + 1;
			while (p < stop && isspace((unsigned char)*p))
				p++;
			*line = strndup(p, stop - p);
			return *line ? NULL : error_nomem();
		}
		p = stop + 1;
	}
	return NULL;
}

/*
 * Whether programs send events through the object's perf event arrays: the
 * other use of those is to read counters, which a ring of ours would replace.
 */
static bool sends_events(const struct bpf_object *obj)
{
	struct bpf_program *prog;
	bool sends = false;

	bpf_object__for_each_program (prog, obj) {
		const struct bpf_insn *insns = bpf_program__insns(prog);

		for (size_t i = 0; i < bpf_program__insn_cnt(prog); i++) {
			if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg)
				continue;
			if (insns[i].imm == BPF_FUNC_perf_event_read ||
			    insns[i].imm == BPF_FUNC_perf_event_read_value)
				return false;
			sends |= insns[i].imm == BPF_FUNC_perf_event_output;
		}
	}
	return sends;
}

enum display_kind display_by_type(const struct bpf_object *obj, const struct bpf_map *map)
{
	const struct btf *btf = bpf_object__btf(obj);
	const struct btf_type *value = NULL;

	if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF ||
	    (bpf_map__type(map) == BPF_MAP_TYPE_PERF_EVENT_ARRAY && sends_events(obj)))
		return DISPLAY_EVENTS;
	if (bpf_map__is_internal(map) || map_type_unreadable(bpf_map__type(map)))
		return DISPLAY_NONE;
	/* in which <bpf/usdt.bpf.h> has the locations of arguments */
	if (!strncmp(bpf_map__name(map), "__bpf_usdt_", 11))
		return DISPLAY_NONE;
	switch ((int)bpf_map__type(map)) {
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
		return map_inner_shown(obj, map) ? DISPLAY_TABLE : DISPLAY_NONE;
	case BPF_MAP_TYPE_PROG_ARRAY:
	case BPF_MAP_TYPE_STACK_TRACE:
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
	case BPF_MAP_TYPE_CPUMAP:
	case BPF_MAP_TYPE_XSKMAP:
	case BPF_MAP_TYPE_SOCKMAP:
	case BPF_MAP_TYPE_SOCKHASH:
	case BPF_MAP_TYPE_REUSEPORT_SOCKARRAY:
	case BPF_MAP_TYPE_STRUCT_OPS:
		return DISPLAY_NONE; /* wiring, not results */
	}
	if (btf && bpf_map__btf_value_type_id(map))
		value = btf_skip_mods_and_typedefs(btf, bpf_map__btf_value_type_id(map), NULL);
	if (map_type_indexed(bpf_map__type(map)) && bpf_map__max_entries(map) == 1 && value &&
	    btf_is_int(value) && value->size <= 8)
		return DISPLAY_COUNT;
	return DISPLAY_TABLE;
}

struct error *display_of_map(const struct bpf_object *obj, const struct bpf_map *map,
			     const char *config, size_t config_size, struct display *display)
{
	const struct btf *btf = bpf_object__btf(obj);
	const char *name = bpf_map__name(map), *tag = btf ? find_tag(btf, name) : NULL;
	_cleanup_free_ char *line = NULL;

	if (!tag && config) {
		TRY(find_line(config, config_size, name, &line));
		tag = line;
	}
	if (!tag) {
		display->kind = display_by_type(obj, map);
		return NULL;
	}
	struct error *err = display_parse(tag, display);
	if (err)
		display_deinit(display);
	return error_prefix(err, "how map %s is shown", name);
}
