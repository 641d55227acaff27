/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a map is to be shown: by what its author wrote (PERF_BPF_SHOW() in
 * <bpf/perf_bpf_prog.h>, which stands in the object's BTF, or a line of the
 * object's section "config"), else by its type.
 */
#ifndef PB_RUN_DISPLAY_H
#define PB_RUN_DISPLAY_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"

enum display_kind {
	DISPLAY_NONE, /* not at all */
	DISPLAY_COUNT,
	DISPLAY_TABLE,
	DISPLAY_LOG2,
	DISPLAY_LINEAR,
	DISPLAY_HEATMAP, /* linear where step is not 0 */
	DISPLAY_STACKS,
	DISPLAY_EVENTS,
};

struct display {
	enum display_kind kind;
	bool declared;	    /* the author said so */
	char *unit, *title; /* NULL: not said */
	int64_t low;	    /* of the first range of a linear histogram */
	uint64_t step;	    /* values in each of them; 0: powers of two */
	bool floor;	    /* powers of two, and slot i counts from 2^i on, slot 0 zeros as well */
	char *type;	    /* of events: "struct open"; NULL: not said */
	char *stacks;	    /* the map of stacks; NULL: not said */
	char *format;	    /* of events: each is a line, as printf(3) has it; NULL: not said */
	char *short_stacks; /* the map of those with few frames, by the same keys; NULL: none */
};

void display_deinit(struct display *display);

/*
 * Takes "KIND[,unit=UNIT][,low=N][,step=N][,type=TYPE][,stacks=MAP[,short=MAP]][,title=TITLE]"
 * apart, with format=FORMAT in place of the title; display is all zero. EINVAL, with near names: a
 * kind or word that is none.
 */
struct error *display_parse(const char *text, struct display *display);

/* EILSEQ: an object's section "config" is no text, and says nothing of how its maps look. */
struct error *display_check_config(const char *config, size_t size);

/* The display of a map by its type alone. */
enum display_kind display_by_type(const struct bpf_object *obj, const struct bpf_map *map);

/*
 * What the inner maps of a map of maps are like, if they can be shown; NULL: they cannot, or it is
 * another map.
 */
const struct bpf_map *map_inner_shown(const struct bpf_object *obj, const struct bpf_map *map);

/*
 * The display of an object's map; display is all zero. config is the object's
 * section "config", or NULL. Errors name the map.
 */
struct error *display_of_map(const struct bpf_object *obj, const struct bpf_map *map,
			     const char *config, size_t config_size, struct display *display);

#endif
