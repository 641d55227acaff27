// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf prog: the programs that are loaded. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/actions.h"
#include "cmd/cmd.h"
#include "cmd/job.h"
#include "cmd/prog_profile.h"
#include "cmd/streams.h"
#include "inspect/code.h"
#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/base/plain_text.h"
#include "lib/sys/prog_info.h"
#include "lib/sys/tracefs.h"
#include "watch/program_lines.h"
#include "work/loop.h"

/* A program's description, and the maps that it uses. */
struct shown_program {
	struct sys_prog_info all;
	uint64_t memlock;
	time_t loaded_at;
};

static void program_deinit(struct shown_program *p)
{
	sys_prog_info_deinit(&p->all);
}
#define _cleanup_program_ __attribute__((cleanup(program_deinit)))

static struct error *read_program(int fd, struct shown_program *p)
{
	TRY(sys_prog_info_read(fd, 1u << SYS_PROG_MAP_IDS, &p->all));
	fdinfo_u64(fd, "memlock", &p->memlock);
	/* load_time counts from the boot */
	const int64_t boot = clock_ahead(CLOCK_REALTIME, CLOCK_BOOTTIME);
	p->loaded_at = (boot + (int64_t)p->all.info.load_time) / 1000000000;
	return NULL;
}

static void list_text(const struct shown_program *p, struct strbuf *out)
{
	const uint32_t *maps = p->all.arrays[SYS_PROG_MAP_IDS];
	const struct bpf_prog_info *i = &p->all.info;
	char unknown[16], tag[2 * BPF_TAG_SIZE + 1], when[40] = "";
	struct tm tm;

	strbuf_addf(out, "%u: %s  ", i->id,
		    type_or_number(libbpf_bpf_prog_type_str(i->type), i->type, unknown));
	if (*i->name)
		strbuf_addf(out, "name %s  ", i->name);
	program_tag_text(i->tag, tag);
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
	for (uint32_t k = 0; k < sys_prog_info_count(&p->all, SYS_PROG_MAP_IDS); k++)
		strbuf_addf(out, "%s%u", k ? "," : "  map_ids ", maps[k]);
	strbuf_addch(out, '\n');
	if (i->btf_id)
		strbuf_addf(out, "\tbtf_id %u\n", i->btf_id);
}

static void list_json(const struct shown_program *p, struct json_writer *w)
{
	const uint32_t *maps = p->all.arrays[SYS_PROG_MAP_IDS];
	const uint32_t n_maps = sys_prog_info_count(&p->all, SYS_PROG_MAP_IDS);
	const struct bpf_prog_info *i = &p->all.info;
	char unknown[16];

	jw_u64(w, "id", i->id);
	jw_text(w, "type", type_or_number(libbpf_bpf_prog_type_str(i->type), i->type, unknown));
	if (*i->name)
		jw_text(w, "name", i->name);
	json_add_bytes(jw_value(w, "tag"), i->tag, BPF_TAG_SIZE);
	jw_bool(w, "gpl_compatible", i->gpl_compatible);
	if (i->run_time_ns) {
		jw_u64(w, "run_time_ns", i->run_time_ns);
		jw_u64(w, "run_cnt", i->run_cnt);
	}
	if (i->recursion_misses)
		jw_u64(w, "recursion_misses", i->recursion_misses);
	jw_i64(w, "loaded_at", p->loaded_at);
	jw_u64(w, "uid", i->created_by_uid);
	jw_u64(w, "bytes_xlated", i->xlated_prog_len);
	jw_bool(w, "jited", i->jited_prog_len);
	if (i->jited_prog_len)
		jw_u64(w, "bytes_jited", i->jited_prog_len);
	jw_u64(w, "bytes_memlock", p->memlock);
	if (n_maps) {
		jw_array(w, "map_ids");
		for (uint32_t k = 0; k < n_maps; k++)
			jw_u64(w, NULL, maps[k]);
		jw_end(w);
	}
	if (i->btf_id)
		jw_u64(w, "btf_id", i->btf_id);
}

static void list_one(const struct listed *object, struct strbuf *out)
{
	_cleanup_program_ struct shown_program p = {0};

	struct error *err = read_program(object->fd, &p);
	if (err) { /* it is gone meanwhile */
		error_free(err);
		return;
	}
	if (object->json) {
		jw_object(object->json, NULL);
		list_json(&p, object->json);
	} else {
		list_text(&p, out);
	}
	add_pids(object, out);
	if (object->json)
		jw_end(object->json);
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
		return error_hint(error_usage("the file to pin to is missing"),
				  "for example /sys/fs/bpf/NAME");
	const char *path = args->words.v[at++];
	TRY(no_more_words(args, at));
	if (!bpf_obj_pin(fd, path))
		return NULL;
	int code = errno;
	struct error *err = error_errno(code, "cannot pin the program at this path");
	if (code == EPERM || code == EINVAL)
		err = error_hint(err, "the file must be in a BPF file system such as /sys/fs/bpf");
	return error_at(err, "%s", path);
}

/* ---- dump ---- */

struct dump {
	struct code_opts opts;
	bool jited, visual;
	const char *file;
};

static struct error *read_dump_words(const struct action_args *args, size_t at, struct dump *dump)
{
	char *const *words = args->words.v;

	for (; at < args->words.n; at++) {
		const bool last = at + 1 == args->words.n;

		if (!strcmp(words[at], "file") && last)
			return error_usage("the file name is missing after 'file'");
		if (!strcmp(words[at], "file"))
			dump->file = words[++at];
		else if (!strcmp(words[at], "linum"))
			dump->opts.linum = true;
		else if (!strcmp(words[at], "opcodes"))
			dump->opts.opcodes = true;
		else if (!strcmp(words[at], "visual"))
			dump->visual = true;
		else
			return error_hint(error_usage("unexpected argument '%s'", words[at]),
					  "valid options: file FILE, linum, opcodes, visual");
	}
	if (dump->visual && (dump->jited || args->json || dump->opts.linum || dump->opts.opcodes))
		return error_usage("'visual' shows a graph of BPF instructions: it works only with "
				   "xlated and without other options");
	if (dump->file && (dump->visual || dump->opts.linum || dump->opts.opcodes))
		return error_usage(
			"'file' writes raw bytes and cannot be combined with other options");
	return NULL;
}

static struct error *write_image(const struct code *code, const struct dump *dump)
{
	const void *data;
	size_t size;

	TRY(code_image(code, dump->jited, &data, &size));
	const struct strbuf bytes = {.str = (char *)data, .len = size};
	return cmd_write_file(dump->file, &bytes, true);
}

static struct error *prog_dump(const struct action_args *args, size_t at)
{
	_cleanup_(code_freep) struct code *code = NULL;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_close_ int fd = -1;
	const struct log log = cmd_log(args->verbose);
	struct dump dump = {.opts.json = args->json};
	const char *what = at < args->words.n ? args->words.v[at++] : "";

	dump.jited = !strcmp(what, "jited");
	if (!dump.jited && strcmp(what, "xlated"))
		return error_hint(
			error_usage("what to dump is missing"),
			"perf-bpf prog dump xlated PROG: its BPF instructions; jited: its "
			"machine code");
	TRY(open_object(KOBJ_PROG, args, &at, &fd));
	TRY(read_dump_words(args, at, &dump));
	TRY(action_drop_privileges(args, 0, dump.file));
	TRY(code_read(fd, &log, &code));
	if (dump.file)
		return write_image(code, &dump);
	if (dump.visual)
		TRY(code_xlated_dot(code, &out));
	else if (dump.jited)
		TRY(code_jited(code, &dump.opts, &out));
	else
		TRY(code_xlated(code, &dump.opts, &out));
	if (!args->json)
		plain_since(&out, 0, true); /* lines of source are what was loaded with it */
	return cmd_print(&out);
}

/* ---- what programs print ---- */

#define BUSY "%s: another process is reading it, and only one can"

struct tracelog {
	struct loop *loop;
	const char *path;
	int fd;
};

/* loop_fn */
static struct error *show_log(void *ctx, uint32_t events)
{
	const struct tracelog *log = ctx;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	bool closed = false;
	char chunk[4096];
	const ssize_t n = read(log->fd, chunk, sizeof(chunk));
	const int code = errno;

	if (n > 0) { /* whole lines */
		strbuf_add(&text, chunk, (size_t)n);
		plain_since(&text, 0, true);
		TRY(cmd_write_out(strbuf_str(&text), text.len, &closed));
	}
	if (closed || !n)
		loop_end(log->loop);
	if (n >= 0 || code == EAGAIN || code == EINTR)
		return NULL;
	return code == EBUSY ? error_new(EBUSY, BUSY, log->path)
			     : error_errno(code, "%s", log->path);
}

/* Lines come as they are printed, until a signal ends it. */
static struct error *prog_tracelog(const struct action_args *args, size_t at)
{
	_cleanup_(loop_freep) struct loop *loop = NULL;
	_cleanup_free_ char *dir = NULL;

	TRY(no_more_words(args, at));
	TRY(sys_tracefs_dir(NULL, &dir));
	_cleanup_free_ char *path = text_format("%s/trace_pipe", dir);
	if (!path)
		return error_nomem();
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == EBUSY) /* 6.8 and later say so here, others at the read */
		return error_new(EBUSY, BUSY, path);
	if (fd < 0)
		return sys_hint_tracefs(error_errno(errno, "%s", path), NULL, dir, false);
	job_begin();
	streams_begin();
	TRY(loop_new(&loop));
	TRY(loop_end_if_busy(loop));
	TRY(action_drop_privileges(args, INSPECT_FILE | INSPECT_WAIT, NULL));
	struct tracelog log = {.loop = loop, .path = path, .fd = fd};
	TRY(loop_watch(loop, fd, show_log, &log));
	TRY(show_log(&log, 0)); /* older kernels say here that another process reads it */
	while (!loop_ended(loop))
		TRY(loop_turn(loop, -1));
	return NULL;
}

int cmd_prog(int argc, char **argv)
{
	static const struct action actions[] = {
		{"list", prog_list, INSPECT_LIST},	 {"show", prog_list, INSPECT_LIST},
		{"dump", prog_dump, ACTION_LATER},	 {"pin", prog_pin, INSPECT_PIN},
		{"profile", prog_profile, ACTION_LATER}, {"tracelog", prog_tracelog, ACTION_LATER},
	};
	static const struct action_command command = {
		.name = "prog",
		.args_doc = "list [PROG]\n"
			    "dump xlated|jited PROG [file FILE] [linum] [opcodes] [visual]\n"
			    "pin PROG FILE\n"
			    "profile PROG [duration SECONDS] [METRIC...] [-- COMMAND [ARGS]]\n"
			    "tracelog",
		.doc = "Show, dump, pin and profile loaded BPF programs.\vPROG is 'id ID', 'name "
		       "NAME', 'tag TAG' "
		       "or 'pinned PATH'; or only ID, NAME or PATH.\nFILE must be in a BPF file "
		       "system such as "
		       "/sys/fs/bpf.",
		.actions = actions,
		.n_actions = ARRAY_SIZE(actions),
	};

	return run_action_command(&command, argc, argv);
}
