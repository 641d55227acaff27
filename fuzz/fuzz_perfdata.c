// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the input as a recording, through a session with every callback, in
 * the file form and in the pipe form, and looks at all that comes out of it.
 * The file form is read again in small pieces, which records cross: the same
 * must come out.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf/session/internal.h"
#include "perf/session/session.h"

static volatile uint64_t sink;
static uint64_t n_samples;

static void look_at_string(const char *s)
{
	sink += s ? strlen(s) : 0;
}

static void look_at_words(const struct u64_array *a)
{
	for (uint64_t i = 0; i < a->n; i++)
		sink += u64_array_at(a, i);
}

static void look_at_bytes(const void *p, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sink += ((const uint8_t *)p)[i];
}

static void look_at_map(struct session *s, const struct thread *thread, uint8_t mode, uint64_t addr)
{
	const struct map *map = session_find_map(s, thread, mode, addr);

	if (!map)
		return;
	if (addr < map->start || addr >= map->end)
		abort();
	look_at_string(map->dso->path);
	look_at_string(map->dso->short_name);
}

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	n_samples++;
	look_at_string(event->name);
	look_at_string(thread->comm);
	look_at_map(s, thread, sample->cpumode, sample->ip);
	look_at_words(&sample->read);
	look_at_words(&sample->chain);
	look_at_words(&sample->branches);
	look_at_words(&sample->user_regs);
	look_at_words(&sample->intr_regs);
	look_at_bytes(sample->raw, sample->raw_size);
	look_at_bytes(sample->user_stack, sample->user_stack_size);
	for (uint64_t i = 0; i < sample->chain.n; i++)
		look_at_map(s, thread, PERF_RECORD_MISC_USER, u64_array_at(&sample->chain, i));
	return NULL;
}

static struct error *on_mmap(struct session_tool *tool, struct session *s, const struct record *rec,
			     const struct record_mmap *mmap)
{
	look_at_string(mmap->filename);
	look_at_bytes(mmap->build_id, mmap->build_id ? mmap->build_id_size : 0);
	look_at_map(s, session_thread(s, mmap->pid, mmap->tid), PERF_RECORD_MISC_USER, mmap->addr);
	look_at_map(s, NULL, PERF_RECORD_MISC_KERNEL, mmap->addr);
	return NULL;
}

static struct error *on_comm(struct session_tool *tool, struct session *s, const struct record *rec,
			     const struct record_comm *comm)
{
	look_at_string(comm->comm);
	return NULL;
}

static struct error *on_ksymbol(struct session_tool *tool, struct session *s,
				const struct record *rec, const struct record_ksymbol *ksymbol)
{
	look_at_string(ksymbol->name);
	look_at_map(s, NULL, PERF_RECORD_MISC_KERNEL, ksymbol->addr);
	return NULL;
}

static struct error *on_bpf_event(struct session_tool *tool, struct session *s,
				  const struct record *rec, const struct record_bpf_event *ev)
{
	look_at_bytes(ev->tag, 8);
	return NULL;
}

static struct error *on_cgroup(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct record_cgroup *cgroup)
{
	const struct session_cgroup *known = session_cgroup(s, cgroup->id);

	look_at_string(known->path);
	look_at_string(known->unit);
	look_at_string(known->container);
	look_at_string(known->pod);
	return NULL;
}

static struct error *on_namespaces(struct session_tool *tool, struct session *s,
				   const struct record *rec, const struct record_namespaces *ns)
{
	look_at_bytes(ns->links.bytes, ns->links.n * 8);
	return NULL;
}

static struct error *on_other(struct session_tool *tool, struct session *s,
			      const struct record *rec)
{
	struct record_text_poke poke;

	look_at_bytes(rec->body.base, rec->body.size);
	if (rec->header.type != PERF_RECORD_TEXT_POKE)
		return NULL;
	struct error *err = record_text_poke_decode(rec->body, &poke);
	if (!err)
		look_at_bytes(poke.bytes, (size_t)poke.old_len + poke.new_len);
	error_free(err);
	return NULL;
}

static void look_at_header(struct session *s)
{
	const struct data_header *h = session_header(s);
	const struct data_tracing *t = session_tracing(s);

	look_at_string(h->hostname);
	look_at_string(h->osrelease);
	look_at_string(h->version);
	look_at_string(h->arch);
	look_at_string(h->cpudesc);
	look_at_string(h->cpuid);
	for (size_t i = 0; i < h->n_cmdline; i++)
		look_at_string(h->cmdline[i]);
	for (size_t i = 0; i < h->n_build_ids; i++)
		look_at_string(h->build_ids[i].filename);
	for (size_t i = 0; i < h->n_pmus; i++)
		look_at_string(h->pmus[i].name);
	for (size_t i = 0; i < h->n_groups; i++)
		look_at_string(h->groups[i].name);
	for (size_t i = 0; i < h->n_btfs; i++)
		look_at_bytes(h->btfs[i].data.p, h->btfs[i].data.size);
	for (size_t i = 0; i < h->n_bpf_progs; i++) {
		look_at_string(h->bpf_progs[i].name);
		look_at_bytes(h->bpf_progs[i].info.p, h->bpf_progs[i].info.size);
		for (int a = 0; a < SYS_PROG_ARRAYS; a++)
			look_at_bytes(h->bpf_progs[i].arrays[a].p, h->bpf_progs[i].arrays[a].size);
	}
	for (unsigned int i = 0; i < DATA_FEATURE_BITS; i++)
		look_at_bytes(h->features[i].p, h->features[i].size);
	for (size_t i = 0; t && i < t->n_events; i++) {
		look_at_string(t->events[i].system);
		look_at_bytes(t->events[i].format, t->events[i].format_size);
		look_at_bytes(t->events[i].name, t->events[i].name_size);
	}
	struct session_losses losses = session_losses(s);
	for (size_t i = 0; i < losses.n_ledger; i++)
		look_at_string(losses.ledger[i].name);
	for (size_t i = 0; i < session_n_events(s); i++)
		look_at_string(session_event(s, i)->name);
}

/* In pieces of so many bytes; 0: as always. How many samples it has, and whether it failed. */
static uint64_t read_it(const char *path, bool unordered, size_t piece)
{
	struct session_tool tool = {
		.unordered = unordered,
		.sample = on_sample,
		.mmap = on_mmap,
		.comm = on_comm,
		.ksymbol = on_ksymbol,
		.bpf_event = on_bpf_event,
		.cgroup = on_cgroup,
		.namespaces = on_namespaces,
		.other = on_other,
	};
	struct session *s = NULL;
	struct error *err = session_open(path, NULL, &s);

	n_samples = 0;
	if (!err) {
		s->input.pieces.size = piece;
		err = session_process(s, &tool);
		look_at_header(s);
	}
	if (err && !err->where && err->code != ENOMEM)
		abort(); /* an error names its place */
	const uint64_t result = n_samples << 1 | !!err;
	error_free(err);
	session_free(s);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[40];
	int fd = memfd_create("perf.data", 0), ends[2];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const uint64_t whole = read_it(path, size & 1, 0);
	if (size && read_it(path, size & 1, (size_t)64 << data[size / 2] % 8) != whole)
		abort();
	close(fd);
	/* The same through a pipe, as far as a pipe holds it without a writer. */
	if (size > 16 && !memcmp(data + 8, "\x10\0\0\0\0\0\0\0", 8) && size <= 65536) {
		if (pipe(ends) || write(ends[1], data, size) != (ssize_t)size)
			abort();
		close(ends[1]);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
		read_it(path, false, 0);
		close(ends[0]);
	}
	return 0;
}
