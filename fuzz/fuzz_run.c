// SPDX-License-Identifier: BSD-2-Clause
/*
 * What perf-bpf run takes from objects and the kernel. The first byte says
 * what the rest is:
 *
 *	'e'	the size of BTF (2 bytes), the BTF, and an event, shown as each of its types
 *	'p'	records of processes, whose words are also the addresses asked for
 *	's'	the counters of what did not fit
 *	'd'	a display's declaration
 */
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "lib/btf/open.h"
#include "perf/session/session.h"
#include "run/internal.h"
#include "run/sites.h"
#include "show/csv.h"
#include "show/result_json.h"
#include "show/text_tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	MAX_TYPES = 64,
	MAX_FIELDS = 256,
	NAMES_LAST = 5000, /* inputs, before what was looked up is forgotten */
};

static const struct sys_roots nowhere = {"/proc/nonexistent", "/proc/nonexistent",
					 "/proc/nonexistent"};
static struct run_names *names;
static unsigned names_age;

static void show(const struct fields *fields, const struct btf *btf, const uint8_t *data,
		 size_t size)
{
	_cleanup_results_ struct results results = {.events = true};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct collector c = {.btf = btf};
	struct making m = {.c = &c, .names = names, .arena = &results.arena};
	struct result *r = results_add(&results, RESULT_EVENTS, "events");
	size_t n = 1 + max_of(fields->n, (size_t)1);
	struct result_column *columns = arena_alloc(&results.arena, n * sizeof(*columns));
	struct result_cell *cells = arena_alloc(&results.arena, n * sizeof(*cells));
	struct text_opts opts = {0};
	struct csv csv = {0};

	if (!r || !columns || !cells)
		return;
	columns[0] = (struct result_column){.name = "time", .unit = "time"};
	cells[0] = (struct result_cell){.kind = CELL_UINT, .u = 1};
	for (size_t i = 1; i < n; i++)
		columns[i].name = fields->n ? fields->v[i - 1].name : "data";
	struct error *err = make_event(&m, fields, data, size, cells + 1);
	strbuf_deinit(&m.text);
	if (err)
		__builtin_trap();
	r->events.table = (struct result_table){
		.columns = columns, .n_columns = n, .cells = cells, .n_rows = 1};
	results_text(&results, &opts, &out);
	results_json(&results, false, &out);
	results_csv(&csv, &results, &out);
	csv_deinit(&csv);
}

static void event(struct cursor c)
{
	uint16_t n;
	const void *raw;

	if (!cursor_u16(&c, &n) || !(raw = cursor_bytes(&c, n)))
		return;
	struct btf *btf = btf__new(raw, n);
	if (!btf)
		return;
	if (!names || !names_age--) {
		run_names_free(names);
		names = run_names_new(&nowhere, false, NULL);
		names_age = NAMES_LAST;
	}
	/* exactly so large, so that a read beyond is seen */
	size_t size = cursor_left(&c);
	_cleanup_free_ uint8_t *bytes = malloc(size);
	cursor_copy(&c, bytes, size);
	for (uint32_t id = 0; names && id < btf__type_cnt(btf) && id < MAX_TYPES; id++) {
		_cleanup_fields_ struct fields fields = {0};
		int64_t has = id ? btf__resolve_size(btf, id) : (int64_t)size;

		if (has < 0 || has > UINT32_MAX)
			continue;
		struct error *err = fields_of(btf, id, (uint32_t)has, &fields);
		if (!err && fields.n < MAX_FIELDS)
			show(&fields, btf, bytes, size);
		error_free(err);
	}
	btf__free(btf);
}

static bool forget_odd(void *ctx, int32_t pid, uint64_t ended)
{
	return !(pid & 1);
}

static void look_up(struct session *session, struct cursor c)
{
	uint64_t addr;

	while (cursor_u64(&c, &addr)) {
		const struct map *map = session_find_map_at(session, addr & 7, addr >> 3 & 0xff,
							    PERF_RECORD_MISC_USER, addr);

		if (map && (addr < map->start || addr >= map->end || !map->dso->path))
			__builtin_trap();
	}
}

/* In one ring up to half of them, and the rest in another. */
static void processes(struct cursor c)
{
	static const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
	};
	_cleanup_(session_freep) struct session *session = NULL;
	uint8_t *bytes = (uint8_t *)c.base + c.pos;
	size_t half = cursor_left(&c) / 2;

	error_free(session_new_live(NULL, &session));
	if (!session || session_add_event(session, &attr, "dummy", NULL, 0))
		return;
	error_free(session_push(session, NULL,
				(struct iovec[]){{bytes, 0}, {bytes, cursor_left(&c)}}, 2));
	error_free(session_push(session, NULL,
				&(struct iovec){bytes + half, cursor_left(&c) - half}, 1));
	error_free(session_advance(session, NULL, 1000));
	look_up(session, c);
	session_forget(session, forget_odd, NULL);
	error_free(session_advance(session, NULL, UINT64_MAX));
	look_up(session, c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_make(data, size, "input");
	_cleanup_sites_ struct sites sites = {0};
	struct display display = {0};
	uint8_t what;

	if (!cursor_u8(&c, &what))
		return 0;
	switch (what) {
	case 'e':
		event(c);
		break;
	case 'p':
		processes(c);
		break;
	case 's':
		error_free(sites_parse(data + 1, size - 1, &sites));
		sites_failed(&sites, "opens");
		break;
	case 'd': {
		_cleanup_free_ char *text = strndup((const char *)data + 1, size - 1);

		error_free(text ? display_parse(text, &display) : NULL);
		display_deinit(&display);
		break;
	}
	}
	return 0;
}
