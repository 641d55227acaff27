// SPDX-License-Identifier: BSD-2-Clause
/*
 * Encoding records: each is begun with a header whose size is filled in at
 * its end, after padding to 8 bytes and the sample_id fields.
 */
#include "perf/event/encode.h"

#include "perf/event/internal.h"

#define RECORD_MAX 65528 /* the largest multiple of 8 that header.size can say */

static void put_u16(struct strbuf *out, uint16_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

static void put_u32(struct strbuf *out, uint32_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

static void put_u64(struct strbuf *out, uint64_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

static void put_pair(struct strbuf *out, int32_t a, int32_t b)
{
	put_u32(out, (uint32_t)a);
	put_u32(out, (uint32_t)b);
}

static void put_words(struct strbuf *out, const struct u64_array *a)
{
	for (uint64_t i = 0; i < a->n; i++)
		put_u64(out, u64_array_at(a, i));
}

static size_t record_begin(struct strbuf *out, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {.type = type, .misc = misc};
	size_t start = out->len;

	strbuf_add(out, &h, sizeof(h));
	return start;
}

static void record_end(struct strbuf *out, size_t start)
{
	if (out->failed)
		return;
	uint16_t size = (uint16_t)(out->len - start);
	memcpy(out->str + start + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

static void pad(struct strbuf *out, size_t start)
{
	static const char zeros[8];

	strbuf_add(out, zeros, -(out->len - start) & 7);
}

/* The string with its NUL, cut so that the record with `tail` more bytes still fits. */
static void put_string(struct strbuf *out, size_t start, const char *s, size_t tail)
{
	size_t room = RECORD_MAX - tail - (out->len - start) - 8;
	size_t len = strnlen(s, room);

	strbuf_add(out, s, len);
	strbuf_addch(out, 0);
	pad(out, start);
}

static void put_sample_id(struct strbuf *out, const struct perf_event_attr *attr,
			  const struct sample *id)
{
	static const struct sample zero;

	if (!attr || !attr->sample_id_all)
		return;
	if (!id)
		id = &zero;
	if (attr->sample_type & PERF_SAMPLE_TID)
		put_pair(out, id->pid, id->tid);
	if (attr->sample_type & PERF_SAMPLE_TIME)
		put_u64(out, id->time);
	if (attr->sample_type & PERF_SAMPLE_ID)
		put_u64(out, id->id);
	if (attr->sample_type & PERF_SAMPLE_STREAM_ID)
		put_u64(out, id->stream_id);
	if (attr->sample_type & PERF_SAMPLE_CPU)
		put_pair(out, id->cpu, 0);
	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		put_u64(out, id->id);
}

static size_t tail_size(const struct perf_event_attr *attr)
{
	return attr ? sample_id_size(attr) : 0;
}

static void kernel_record_end(struct strbuf *out, size_t start, const struct perf_event_attr *attr,
			      const struct sample *id)
{
	pad(out, start);
	put_sample_id(out, attr, id);
	record_end(out, start);
}

void record_encode_mmap(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			const struct record_mmap *mmap, const struct sample *id)
{
	size_t start = record_begin(out, PERF_RECORD_MMAP, misc);

	put_pair(out, mmap->pid, mmap->tid);
	put_u64(out, mmap->addr);
	put_u64(out, mmap->len);
	put_u64(out, mmap->pgoff);
	put_string(out, start, mmap->filename, tail_size(attr));
	kernel_record_end(out, start, attr, id);
}

void record_encode_mmap2(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			 const struct record_mmap *mmap, const struct sample *id)
{
	if (mmap->build_id)
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	size_t start = record_begin(out, PERF_RECORD_MMAP2, misc);

	put_pair(out, mmap->pid, mmap->tid);
	put_u64(out, mmap->addr);
	put_u64(out, mmap->len);
	put_u64(out, mmap->pgoff);
	if (mmap->build_id) {
		uint8_t bytes[24] = {min_of(mmap->build_id_size, 20)};

		memcpy(bytes + 4, mmap->build_id, bytes[0]);
		strbuf_add(out, bytes, sizeof(bytes));
	} else {
		put_u32(out, mmap->maj);
		put_u32(out, mmap->min);
		put_u64(out, mmap->ino);
		put_u64(out, mmap->ino_generation);
	}
	put_u32(out, mmap->prot);
	put_u32(out, mmap->flags);
	put_string(out, start, mmap->filename, tail_size(attr));
	kernel_record_end(out, start, attr, id);
}

void record_encode_comm(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			const struct record_comm *comm, const struct sample *id)
{
	if (comm->exec)
		misc |= PERF_RECORD_MISC_COMM_EXEC;
	size_t start = record_begin(out, PERF_RECORD_COMM, misc);

	put_pair(out, comm->pid, comm->tid);
	put_string(out, start, comm->comm, tail_size(attr));
	kernel_record_end(out, start, attr, id);
}

static void encode_task(struct strbuf *out, uint32_t type, const struct perf_event_attr *attr,
			uint16_t misc, const struct record_task *task, const struct sample *id)
{
	size_t start = record_begin(out, type, misc);

	put_pair(out, task->pid, task->ppid);
	put_pair(out, task->tid, task->ptid);
	put_u64(out, task->time);
	kernel_record_end(out, start, attr, id);
}

void record_encode_fork(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			const struct record_task *task, const struct sample *id)
{
	encode_task(out, PERF_RECORD_FORK, attr, misc, task, id);
}

void record_encode_exit(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			const struct record_task *task, const struct sample *id)
{
	encode_task(out, PERF_RECORD_EXIT, attr, misc, task, id);
}

void record_encode_lost(struct strbuf *out, const struct perf_event_attr *attr,
			const struct record_lost *lost, const struct sample *id)
{
	size_t start = record_begin(out, PERF_RECORD_LOST, 0);

	put_u64(out, lost->id);
	put_u64(out, lost->lost);
	kernel_record_end(out, start, attr, id);
}

void record_encode_lost_samples(struct strbuf *out, const struct perf_event_attr *attr,
				uint64_t lost, const struct sample *id)
{
	size_t start = record_begin(out, PERF_RECORD_LOST_SAMPLES, 0);

	put_u64(out, lost);
	kernel_record_end(out, start, attr, id);
}

void record_encode_ksymbol(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			   const struct record_ksymbol *ksymbol, const struct sample *id)
{
	size_t start = record_begin(out, PERF_RECORD_KSYMBOL, misc);

	put_u64(out, ksymbol->addr);
	put_u32(out, ksymbol->len);
	put_u16(out, ksymbol->type);
	put_u16(out, ksymbol->flags);
	put_string(out, start, ksymbol->name, tail_size(attr));
	kernel_record_end(out, start, attr, id);
}

void record_encode_bpf_event(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			     const struct record_bpf_event *ev, const struct sample *id)
{
	size_t start = record_begin(out, PERF_RECORD_BPF_EVENT, misc);

	put_u16(out, ev->type);
	put_u16(out, ev->flags);
	put_u32(out, ev->id);
	strbuf_add(out, ev->tag, 8);
	kernel_record_end(out, start, attr, id);
}

void record_encode_cgroup(struct strbuf *out, const struct perf_event_attr *attr,
			  const struct record_cgroup *cgroup, const struct sample *id)
{
	size_t start = record_begin(out, PERF_RECORD_CGROUP, 0);

	put_u64(out, cgroup->id);
	put_string(out, start, cgroup->path, tail_size(attr));
	kernel_record_end(out, start, attr, id);
}

void record_encode_text_poke(struct strbuf *out, const struct perf_event_attr *attr,
			     const struct record_text_poke *poke, const struct sample *id)
{
	size_t start = record_begin(out, PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_KERNEL);

	put_u64(out, poke->addr);
	put_u16(out, poke->old_len);
	put_u16(out, poke->new_len);
	strbuf_add(out, poke->bytes, (size_t)poke->old_len + poke->new_len);
	kernel_record_end(out, start, attr, id);
}

void record_encode_namespaces(struct strbuf *out, const struct perf_event_attr *attr,
			      const struct record_namespaces *ns, const struct sample *id)
{
	size_t start = record_begin(out, PERF_RECORD_NAMESPACES, 0);

	put_pair(out, ns->pid, ns->tid);
	put_u64(out, ns->links.n / 2);
	put_words(out, &ns->links);
	kernel_record_end(out, start, attr, id);
}

static void put_regs(struct strbuf *out, uint64_t abi, const struct u64_array *regs)
{
	put_u64(out, abi);
	if (abi)
		put_words(out, regs);
}

static uint64_t pair_of(int32_t a, int32_t b)
{
	const int32_t pair[2] = {a, b};
	uint64_t v;

	memcpy(&v, pair, sizeof(v));
	return v;
}

/* The fields of one word, which all samples have some of: together, since samples are many. */
static void put_sample_words(struct strbuf *out, uint64_t type, const struct sample *s)
{
	uint64_t words[9];
	size_t n = 0;

	if (type & PERF_SAMPLE_IDENTIFIER)
		words[n++] = s->id;
	if (type & PERF_SAMPLE_IP)
		words[n++] = s->ip;
	if (type & PERF_SAMPLE_TID)
		words[n++] = pair_of(s->pid, s->tid);
	if (type & PERF_SAMPLE_TIME)
		words[n++] = s->time;
	if (type & PERF_SAMPLE_ADDR)
		words[n++] = s->addr;
	if (type & PERF_SAMPLE_ID)
		words[n++] = s->id;
	if (type & PERF_SAMPLE_STREAM_ID)
		words[n++] = s->stream_id;
	if (type & PERF_SAMPLE_CPU)
		words[n++] = pair_of(s->cpu, 0);
	if (type & PERF_SAMPLE_PERIOD)
		words[n++] = s->period;
	strbuf_add(out, words, n * sizeof(*words));
}

void record_encode_sample(struct strbuf *out, const struct perf_event_attr *attr,
			  const struct sample *s)
{
	uint64_t type = attr->sample_type;
	size_t start = record_begin(out, PERF_RECORD_SAMPLE, s->misc);

	put_sample_words(out, type, s);
	if (type & PERF_SAMPLE_READ)
		put_words(out, &s->read);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put_u64(out, s->chain.n);
		put_words(out, &s->chain);
	}
	if (type & PERF_SAMPLE_RAW) {
		/* The size counts the padding, as the kernel has it. */
		uint32_t padded = (uint32_t)round_up(s->raw_size + 4, 8) - 4;
		static const char zeros[8];

		put_u32(out, padded);
		strbuf_add(out, s->raw, s->raw_size);
		strbuf_add(out, zeros, padded - s->raw_size);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		put_u64(out, s->branches.n / 3);
		if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
			put_u64(out, s->branch_hw_idx);
		put_words(out, &s->branches);
	}
	if (type & PERF_SAMPLE_REGS_USER)
		put_regs(out, s->user_regs_abi, &s->user_regs);
	if (type & PERF_SAMPLE_STACK_USER) {
		put_u64(out, round_up(s->user_stack_size, 8));
		if (s->user_stack_size) {
			strbuf_add(out, s->user_stack, (size_t)s->user_stack_size);
			pad(out, start);
			put_u64(out, s->user_stack_size);
		}
	}
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		put_u64(out, s->weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		put_u64(out, s->data_src);
	if (type & PERF_SAMPLE_TRANSACTION)
		put_u64(out, s->transaction);
	if (type & PERF_SAMPLE_REGS_INTR)
		put_regs(out, s->intr_regs_abi, &s->intr_regs);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		put_u64(out, s->phys_addr);
	if (type & PERF_SAMPLE_CGROUP)
		put_u64(out, s->cgroup);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		put_u64(out, s->data_page_size);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		put_u64(out, s->code_page_size);
	record_end(out, start);
}

void record_encode_header_attr(struct strbuf *out, const struct perf_event_attr *attr,
			       const uint64_t *ids, size_t n_ids)
{
	struct perf_event_attr copy = *attr;

	copy.size = sizeof(copy); /* how readers find where the ids begin */
	n_ids = min_of(n_ids, (RECORD_MAX - sizeof(copy) - 8) / 8);
	size_t start = record_begin(out, RECORD_HEADER_ATTR, 0);
	strbuf_add(out, &copy, sizeof(copy));
	strbuf_add(out, ids, n_ids * sizeof(*ids));
	record_end(out, start);
}

void record_encode_tracing_data(struct strbuf *out, const void *data, uint32_t size)
{
	size_t start = record_begin(out, RECORD_HEADER_TRACING_DATA, 0);

	put_u32(out, (uint32_t)round_up(size, 8));
	put_u32(out, 0);
	record_end(out, start);
	strbuf_add(out, data, size);
	static const char zeros[8];
	strbuf_add(out, zeros, -(size_t)size & 7);
}

void record_encode_build_id(struct strbuf *out, uint16_t misc, int32_t pid, const uint8_t *build_id,
			    uint8_t size, const char *filename)
{
	uint8_t bytes[24] = {0};
	size_t start = record_begin(out, RECORD_HEADER_BUILD_ID, misc | RECORD_MISC_BUILD_ID_SIZE);

	bytes[20] = min_of(size, 20);
	memcpy(bytes, build_id, bytes[20]);
	put_u32(out, (uint32_t)pid);
	strbuf_add(out, bytes, sizeof(bytes));
	/* perf pads the name to 64 bytes, and its reader wants at least one NUL. */
	size_t len = strnlen(filename, 4095);
	strbuf_add(out, filename, len);
	static const char zeros[64];
	strbuf_add(out, zeros, round_up(len + 1, 64) - len);
	pad(out, start);
	record_end(out, start);
}

void record_encode_finished_round(struct strbuf *out)
{
	record_end(out, record_begin(out, RECORD_FINISHED_ROUND, 0));
}

void record_encode_finished_init(struct strbuf *out)
{
	record_end(out, record_begin(out, RECORD_FINISHED_INIT, 0));
}

void record_encode_id_index(struct strbuf *out, const struct record_id_index_entry *entries,
			    size_t n)
{
	const size_t max = (RECORD_MAX - 16) / sizeof(*entries);

	do {
		size_t now = min_of(n, max);
		size_t start = record_begin(out, RECORD_ID_INDEX, 0);
		put_u64(out, now);
		strbuf_add(out, entries, now * sizeof(*entries));
		record_end(out, start);
		entries += now;
		n -= now;
	} while (n);
}

void record_encode_event_name(struct strbuf *out, uint64_t id, const char *name)
{
	size_t start = record_begin(out, RECORD_EVENT_UPDATE, 0);

	put_u64(out, EVENT_UPDATE_NAME);
	put_u64(out, id);
	put_string(out, start, name, 0);
	record_end(out, start);
}

bool record_encode_header_feature(struct strbuf *out, uint64_t feature, const void *data,
				  size_t size)
{
	if (size > RECORD_MAX - 16)
		return false;
	size_t start = record_begin(out, RECORD_HEADER_FEATURE, 0);
	put_u64(out, feature);
	strbuf_add(out, data, size);
	pad(out, start);
	record_end(out, start);
	return true;
}

void record_encode_ledger(struct strbuf *out, const struct record_ledger *ledger)
{
	size_t start = record_begin(out, RECORD_HEADER_EVENT_TYPE, 0);

	put_u64(out, LEDGER_MAGIC);
	put_u32(out, ledger->kind);
	put_u32(out, 0);
	put_u64(out, ledger->id);
	put_u64(out, ledger->count);
	put_string(out, start, ledger->name ? ledger->name : "", 0);
	record_end(out, start);
}
