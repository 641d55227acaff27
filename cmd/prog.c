// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf prog: the programs that are loaded. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/actions.h"
#include "cmd/cmd.h"
#include "cmd/options.h"

static const struct argp_option argp_options[] = {
	ACTION_OPTION_JSON,
	{NULL},
};

static const struct argp argp = {
	argp_options,
	action_args_parse,
	"list [PROG]\n"
	"pin PROG FILE",
	"The programs that are loaded.\v"
	"PROG is 'id ID', 'name NAME', 'tag TAG' or 'pinned PATH'; or ID, NAME or PATH alone.\n"
	"FILE lies in a bpf file system, as /sys/fs/bpf.",
};

enum {
	MAX_MAPS = 1 << 16, /* of a program; the kernel allows 64 */
};

/* A program's description, and the maps that it uses. */
struct program {
	struct bpf_prog_info info;
	uint32_t *map_ids;
	uint64_t memlock;
	time_t loaded_at;
};

static void program_deinit(struct program *p)
{
	free(p->map_ids);
}
#define _cleanup_program_ __attribute__((cleanup(program_deinit)))

static bool read_program(int fd, struct program *p)
{
	__u32 len = sizeof(p->info);
	struct timespec now, up;

	if (bpf_prog_get_info_by_fd(fd, &p->info, &len))
		return false;
	uint32_t n = p->info.nr_map_ids;
	if (n && n <= MAX_MAPS) {
		p->map_ids = calloc(n, sizeof(*p->map_ids));
		if (!p->map_ids)
			return false;
		/* again: with room for the maps alone, the number of which does not change */
		memset(&p->info, 0, sizeof(p->info));
		p->info.nr_map_ids = n;
		p->info.map_ids = (uintptr_t)p->map_ids;
		len = sizeof(p->info);
		if (bpf_prog_get_info_by_fd(fd, &p->info, &len))
			return false;
		if (p->info.nr_map_ids > n)
			p->info.nr_map_ids = n;
	}
	fdinfo_u64(fd, "memlock", &p->memlock);
	/* load_time counts from the boot */
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	int64_t boot = (now.tv_sec - up.tv_sec) * INT64_C(1000000000) + now.tv_nsec - up.tv_nsec;
	p->loaded_at = (boot + (int64_t)p->info.load_time) / 1000000000;
	return true;
}

static void tag_text(const struct bpf_prog_info *i, char text[2 * BPF_TAG_SIZE + 1])
{
	for (size_t k = 0; k < BPF_TAG_SIZE; k++)
		snprintf(text + 2 * k, 3, "%02x", i->tag[k]);
}

static void add_map_ids(const struct program *p, struct strbuf *out)
{
	for (uint32_t k = 0; p->map_ids && k < p->info.nr_map_ids; k++)
		strbuf_addf(out, "%s%u", k ? "," : "", p->map_ids[k]);
}

static void list_text(const struct program *p, struct strbuf *out)
{
	const struct bpf_prog_info *i = &p->info;
	char unknown[16], tag[2 * BPF_TAG_SIZE + 1], when[40] = "";
	struct tm tm;

	strbuf_addf(out, "%u: %s  ", i->id,
		    type_text(libbpf_bpf_prog_type_str(i->type), i->type, unknown));
	if (*i->name)
		strbuf_addf(out, "name %s  ", i->name);
	tag_text(i, tag);
	strbuf_addf(out, "tag %s%s", tag, i->gpl_compatible ? "  gpl" : "");
	if (i->run_time_ns)
		strbuf_addf(out, " run_time_ns %llu run_cnt %llu",
			    (unsigned long long)i->run_time_ns, (unsigned long long)i->run_cnt);
	if (i->recursion_misses)
		strbuf_addf(out, " recursion_misses %llu", (unsigned long long)i->recursion_misses);
	if (localtime_r(&p->loaded_at, &tm))
		strftime(when, sizeof(when), "%FT%T%z", &tm);
	strbuf_addf(out, "\n\tloaded_at %s  uid %u\n\txlated %uB", when, i->created_by_uid,
		    i->xlated_prog_len);
	if (i->jited_prog_len)
		strbuf_addf(out, "  jited %uB", i->jited_prog_len);
	else
		strbuf_adds(out, "  not jited");
	strbuf_addf(out, "  memlock %" PRIu64 "B", p->memlock);
	if (p->map_ids)
		strbuf_adds(out, "  map_ids ");
	add_map_ids(p, out);
	strbuf_addch(out, '\n');
	if (i->btf_id)
		strbuf_addf(out, "\tbtf_id %u\n", i->btf_id);
}

static void list_json(const struct program *p, struct strbuf *out)
{
	const struct bpf_prog_info *i = &p->info;
	char unknown[16], tag[2 * BPF_TAG_SIZE + 1];

	strbuf_addf(out, "{\"id\":%u", i->id);
	json_add_member(out, "type",
			type_text(libbpf_bpf_prog_type_str(i->type), i->type, unknown));
	if (*i->name)
		json_add_member(out, "name", i->name);
	tag_text(i, tag);
	json_add_member(out, "tag", tag);
	strbuf_addf(out, ",\"gpl_compatible\":%s", i->gpl_compatible ? "true" : "false");
	if (i->run_time_ns)
		strbuf_addf(out, ",\"run_time_ns\":%llu,\"run_cnt\":%llu",
			    (unsigned long long)i->run_time_ns, (unsigned long long)i->run_cnt);
	if (i->recursion_misses)
		strbuf_addf(out, ",\"recursion_misses\":%llu",
			    (unsigned long long)i->recursion_misses);
	strbuf_addf(out, ",\"loaded_at\":%" PRId64 ",\"uid\":%u,\"bytes_xlated\":%u,\"jited\":%s",
		    (int64_t)p->loaded_at, i->created_by_uid, i->xlated_prog_len,
		    i->jited_prog_len ? "true" : "false");
	if (i->jited_prog_len)
		strbuf_addf(out, ",\"bytes_jited\":%u", i->jited_prog_len);
	strbuf_addf(out, ",\"bytes_memlock\":%" PRIu64, p->memlock);
	if (p->map_ids) {
		strbuf_adds(out, ",\"map_ids\":[");
		add_map_ids(p, out);
		strbuf_addch(out, ']');
	}
	if (i->btf_id)
		strbuf_addf(out, ",\"btf_id\":%u", i->btf_id);
}

static void list_one(const struct listed *object, struct strbuf *out)
{
	_cleanup_program_ struct program p = {0};

	if (!read_program(object->fd, &p))
		return;
	(object->json ? list_json : list_text)(&p, out);
	add_pids(object, out);
	if (object->json)
		strbuf_addch(out, '}');
}

static struct error *prog_list(const struct action_args *args, size_t at)
{
	return list_objects(KOBJ_PROG, args, at, list_one, NULL);
}

static struct error *prog_pin(const struct action_args *args, size_t at)
{
	_cleanup_close_ int fd = -1;

	TRY(open_object(KOBJ_PROG, args, &at, &fd));
	if (at >= args->words.n)
		return error_hint(error_new(EINVAL, "pinned to which file?"),
				  "for instance /sys/fs/bpf/NAME");
	const char *path = args->words.v[at++];
	TRY(no_more_words(args, at));
	if (!bpf_obj_pin(fd, path))
		return NULL;
	int code = errno;
	/* EINVAL is for what is wrong with the command line */
	struct error *err =
		error_errno(code == EINVAL ? EPERM : code, "the program cannot be pinned here");
	if (code == EPERM || code == EINVAL)
		err = error_hint(err, "the file must lie in a bpf file system, as /sys/fs/bpf");
	return error_at(err, "%s", path);
}

int cmd_prog(int argc, char **argv)
{
	static const struct action actions[] = {
		{"list", prog_list},
		{"show", prog_list},
		{"pin", prog_pin},
	};
	struct action_args args = {0};

	if (cmd_parse(&argp, argc, argv, 0, NULL, &args))
		return 2;
	return run_action("prog", actions, ARRAY_SIZE(actions), &args);
}
