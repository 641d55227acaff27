/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of perf/session/ see of a recording, and records that several of them read. */
#ifndef PB_TESTS_UNIT_SESSION_SEEN_H
#define PB_TESTS_UNIT_SESSION_SEEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/vec.h"
#include "perf/session/internal.h"
#include "tests/unit/image.h"
#include "tests/unit/memfile.h"

/* What a reading saw. */
struct seen {
	struct session_tool tool;
	struct strbuf text;
	size_t samples, others;
	uint64_t sum; /* over everything the samples hold */
	VEC(uint64_t) times;
	bool quiet;
};

static inline struct error *on_sample(struct session_tool *tool, struct session *s,
				      const struct record *rec, const struct sample *sample,
				      const struct session_event *event, struct thread *thread)
{
	struct seen *seen = tool->ctx;
	const struct map *map = session_find_map(s, thread, sample->cpumode, sample->ip);

	seen->samples++;
	for (uint64_t i = 0; i < sample->chain.n; i++)
		seen->sum += u64_array_at(&sample->chain, i);
	for (uint32_t i = 0; i < sample->raw_size; i++)
		seen->sum += ((const uint8_t *)sample->raw)[i];
	seen->sum += strlen(thread->comm) + strlen(event->name);
	uint64_t *t = vec_push(&seen->times);
	assert_non_null(t);
	*t = sample->time;
	if (!seen->quiet)
		strbuf_addf(&seen->text, "%s %s %d/%d %llu %s+%llx\n", event->name, thread->comm,
			    thread->pid, thread->tid, (unsigned long long)sample->time,
			    map ? map->dso->short_name : "-",
			    map ? (unsigned long long)(sample->ip - map->start + map->pgoff) : 0);
	return NULL;
}

static inline struct error *on_other(struct session_tool *tool, struct session *s,
				     const struct record *rec)
{
	((struct seen *)tool->ctx)->others++;
	return NULL;
}

static inline struct seen seen_new(void)
{
	return (struct seen){.tool = {.sample = on_sample, .other = on_other}};
}

static inline void seen_deinit(struct seen *seen)
{
	strbuf_deinit(&seen->text);
	vec_deinit(&seen->times);
}

static inline struct error *read_path(const char *path, struct seen *seen)
{
	_cleanup_(session_freep) struct session *s = NULL;

	seen->tool.ctx = seen;
	TRY(session_open(path, NULL, &s));
	return session_process(s, &seen->tool);
}

static inline void expect(image_fill_fn fill, const char *text)
{
	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		struct seen seen = seen_new();

		image_file(&im, fill);
		struct memfile f = memfile_new(im.sb.str, im.sb.len);
		struct error *err = read_path(f.path, &seen);
		if (err)
			print_message("%s: %s\n", err->where, err->msg);
		assert_null(err);
		assert_string_equal(strbuf_str(&seen.text), text);
		close(f.fd);
		seen_deinit(&seen);
		strbuf_deinit(&im.sb);
	}
}

static inline void fill_simple(struct image *im)
{
	image_comm(im, 100, 100, "alpha", 0, 0);
	image_mmap2(im, 100, 0x400000, 0x10000, 0x1000, "/bin/alpha", 0);
	image_sample(im, 11, 100, 100, 1000, 0x400123);
	image_sample(im, 12, 100, 101, 3000, 0x500000);
	image_round(im);
	image_sample(im, 11, 100, 100, 2000, 0x40ffff);
	image_round(im);
}

static inline void fill_ties(struct image *im)
{
	/* Two rings with the same times: the file's order decides. */
	image_sample(im, 11, 1, 1, 10, 0);
	image_sample(im, 11, 1, 1, 20, 0);
	image_sample(im, 11, 1, 1, 20, 0);
	image_sample(im, 12, 2, 2, 10, 0);
	image_sample(im, 12, 2, 2, 20, 0);
	image_round(im);
}

static inline void fill_kernel(struct image *im)
{
	static const struct {
		uint64_t addr, len;
		const char *name;
	} maps[] = {
		{0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text"},
		{0xffffffffc0100000, 0x10000, "/lib/modules/6.1/kernel/fs/my-fs.ko.xz"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		size_t at = image_begin(im, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
		image_u32(im, UINT32_MAX);
		image_u32(im, 0);
		image_u64(im, maps[i].addr);
		image_u64(im, maps[i].len);
		image_u64(im, 0);
		image_string(im, maps[i].name);
		image_sample_id(im, 0, 0, 0, 0);
		image_end(im, at);
	}
	for (unsigned int unregister = 0; unregister < 2; unregister++) {
		size_t at = image_begin(im, PERF_RECORD_KSYMBOL, 0);
		image_u64(im, 0xffffffffc0200000);
		image_u32(im, 0x80);
		image_u16(im, PERF_RECORD_KSYMBOL_TYPE_BPF);
		image_u16(im, (uint16_t)unregister);
		image_string(im, "bpf_prog_0011223344556677_f");
		image_sample_id(im, 0, 0, 100 + 100 * unregister, 11);
		image_end(im, at);
	}
	const uint64_t ips[] = {0xffffffff81000010, 0xffffffffc010ffff, 0xffffffffc0200040};
	for (unsigned int i = 0; i < 4; i++) {
		size_t at = im->sb.len;
		image_sample(im, 11, 1, 1, 150 + i * 30, ips[min_of(i, 2u)]);
		image_patch_u16(im, at + 4, PERF_RECORD_MISC_KERNEL);
	}
	image_round(im);
}

static inline void count_warning(void *ctx, enum log_level level, const char *fmt, va_list ap)
{
	*(int *)ctx += level == LOG_WARN;
}

#endif
