// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decoding records.
 *
 * A sample holds, in an order fixed by the ABI (perf_output_sample() in
 * kernel/events/core.c, man 2 perf_event_open), the fields whose bits are set
 * in attr.sample_type: first words that are always of the same size, then
 * fields that carry their own length. Every other record of the kernel ends,
 * with attr.sample_id_all, in the sample_id fields, which are found from its
 * end.
 *
 * So the place of each fixed word is known from the attr alone. A
 * sample_layout holds these places; decoding with it is one comparison of the
 * record's size and a load per field. The fields of variable size go through
 * the cursor. Nothing is copied, nothing is trusted: a length that leads past
 * the record's end ends the decoding.
 *
 * Records are read where they lie: an mmap of perf.data, where compressed
 * neighbours leave them unaligned. All loads are by memcpy().
 */
#include "perf/event/event.h"

#include "perf/event/internal.h"

#define HEADER_SIZE sizeof(struct perf_event_header)

/* Since Linux 6.8: a word of counters per branch follows the entries. */
#ifndef PERF_SAMPLE_BRANCH_COUNTERS
#define PERF_SAMPLE_BRANCH_COUNTERS (1U << 19)
#endif

bool record_header_peek(const struct cursor *c, struct perf_event_header *out)
{
	struct perf_event_header h;

	if (cursor_left(c) < sizeof(h))
		return false;
	memcpy(&h, c->base + c->pos, sizeof(h));
	if (c->swap) {
		h.type = bswap_32(h.type);
		h.misc = bswap_16(h.misc);
		h.size = bswap_16(h.size);
	}
	*out = h;
	return true;
}

static inline uint64_t load_u64(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return swap ? bswap_64(v) : v;
}

static inline uint32_t load_u32(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return swap ? bswap_32(v) : v;
}

void sample_layout_init(struct sample_layout *layout, const struct perf_event_attr *attr, bool swap)
{
	uint64_t type = attr->sample_type;
	int word = 0, back = 0;

	memset(layout, 0, sizeof(*layout));
	layout->attr = attr;
	layout->swap = swap;
	layout->type = type;
	layout->id = -1;
	if (type & PERF_SAMPLE_IDENTIFIER)
		layout->id = (int8_t)word++;
	layout->ip = (int8_t)(type & PERF_SAMPLE_IP ? word++ : -1);
	layout->tid = (int8_t)(type & PERF_SAMPLE_TID ? word++ : -1);
	layout->time = (int8_t)(type & PERF_SAMPLE_TIME ? word++ : -1);
	layout->addr = (int8_t)(type & PERF_SAMPLE_ADDR ? word++ : -1);
	if (type & PERF_SAMPLE_ID)
		layout->id = (int8_t)word++;
	layout->stream_id = (int8_t)(type & PERF_SAMPLE_STREAM_ID ? word++ : -1);
	layout->cpu = (int8_t)(type & PERF_SAMPLE_CPU ? word++ : -1);
	layout->period = (int8_t)(type & PERF_SAMPLE_PERIOD ? word++ : -1);
	layout->fixed = (uint32_t)(HEADER_SIZE + word * 8);

	layout->back_tid = layout->back_time = layout->back_id = -1;
	layout->back_stream_id = layout->back_cpu = -1;
	if (!attr->sample_id_all)
		return;
	if (type & PERF_SAMPLE_IDENTIFIER)
		layout->back_id = (int8_t)++back;
	if (type & PERF_SAMPLE_CPU)
		layout->back_cpu = (int8_t)++back;
	if (type & PERF_SAMPLE_STREAM_ID)
		layout->back_stream_id = (int8_t)++back;
	if (type & PERF_SAMPLE_ID) {
		back++;
		if (layout->back_id < 0)
			layout->back_id = (int8_t)back;
	}
	if (type & PERF_SAMPLE_TIME)
		layout->back_time = (int8_t)++back;
	if (type & PERF_SAMPLE_TID)
		layout->back_tid = (int8_t)++back;
	layout->id_all = (uint32_t)back * 8;
}

static void sample_clear(struct sample *out)
{
	zero_block(out, sizeof(*out));
	out->pid = out->tid = out->cpu = -1;
}

/* n words of elem words each, which the cursor moves past. */
static bool take_words(struct cursor *c, uint64_t n, uint64_t elem, struct u64_array *out)
{
	if (n > cursor_left(c) / (8 * elem))
		return false;
	out->n = n * elem;
	out->swap = c->swap;
	out->bytes = cursor_bytes(c, (size_t)(n * elem * 8));
	return true;
}

static unsigned int popcount64(uint64_t v)
{
	return (unsigned int)__builtin_popcountll(v);
}

static bool decode_read(const struct perf_event_attr *attr, struct cursor *c, struct sample *out)
{
	uint64_t format = attr->read_format;
	unsigned int times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			     !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	unsigned int each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	uint64_t nr;

	if (!(format & PERF_FORMAT_GROUP))
		return take_words(c, times + each, 1, &out->read);
	struct cursor peek = *c;
	if (!cursor_u64(&peek, &nr) || nr > cursor_left(c) / 8)
		return false;
	return take_words(c, 1 + times + nr * each, 1, &out->read);
}

static bool decode_branches(const struct perf_event_attr *attr, struct cursor *c,
			    struct sample *out)
{
	uint64_t nr;

	if (!cursor_u64(c, &nr))
		return false;
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX &&
	    !cursor_u64(c, &out->branch_hw_idx))
		return false;
	if (!take_words(c, nr, 3, &out->branches))
		return false;
	return !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_COUNTERS) ||
	       cursor_skip(c, (size_t)nr * 8);
}

static bool decode_regs(struct cursor *c, uint64_t mask, uint64_t *abi, struct u64_array *out)
{
	if (!cursor_u64(c, abi))
		return false;
	return !*abi || take_words(c, popcount64(mask), 1, out);
}

static bool decode_stack(struct cursor *c, struct sample *out)
{
	uint64_t size;

	if (!cursor_u64(c, &size))
		return false;
	if (!size)
		return true;
	if (size > cursor_left(c))
		return false;
	out->user_stack = cursor_bytes(c, (size_t)size);
	return cursor_u64(c, &out->user_stack_size) && out->user_stack_size <= size;
}

/* Of those behind the fixed words, the last ones, which few recordings have. */
#define SAMPLE_RARE                                                                                \
	(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |               \
	 PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |                   \
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR |                 \
	 PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE |            \
	 PERF_SAMPLE_AUX)

/* The fields behind the fixed words; the name of the one that is cut, or NULL. */
static const char *decode_variable(const struct sample_layout *layout, struct cursor *c,
				   struct sample *out)
{
	const struct perf_event_attr *attr = layout->attr;
	uint64_t type = layout->type, n;

	if (type & PERF_SAMPLE_READ && !decode_read(attr, c, out))
		return "counter values";
	if (type & PERF_SAMPLE_CALLCHAIN &&
	    (!cursor_u64(c, &n) || !take_words(c, n, 1, &out->chain)))
		return "call chain";
	if (type & PERF_SAMPLE_RAW) {
		if (!cursor_u32(c, &out->raw_size))
			return "raw data";
		out->raw = cursor_bytes(c, out->raw_size);
		if (!out->raw) {
			out->raw_size = 0;
			return "raw data";
		}
	}
	if (!(type & SAMPLE_RARE))
		return NULL;
	if (type & PERF_SAMPLE_BRANCH_STACK && !decode_branches(attr, c, out))
		return "branch stack";
	if (type & PERF_SAMPLE_REGS_USER &&
	    !decode_regs(c, attr->sample_regs_user, &out->user_regs_abi, &out->user_regs))
		return "user registers";
	if (type & PERF_SAMPLE_STACK_USER && !decode_stack(c, out))
		return "user stack";
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT) && !cursor_u64(c, &out->weight))
		return "weight";
	if (type & PERF_SAMPLE_DATA_SRC && !cursor_u64(c, &out->data_src))
		return "data source";
	if (type & PERF_SAMPLE_TRANSACTION && !cursor_u64(c, &out->transaction))
		return "transaction";
	if (type & PERF_SAMPLE_REGS_INTR &&
	    !decode_regs(c, attr->sample_regs_intr, &out->intr_regs_abi, &out->intr_regs))
		return "interrupt registers";
	if (type & PERF_SAMPLE_PHYS_ADDR && !cursor_u64(c, &out->phys_addr))
		return "physical address";
	if (type & PERF_SAMPLE_CGROUP && !cursor_u64(c, &out->cgroup))
		return "cgroup";
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE && !cursor_u64(c, &out->data_page_size))
		return "data page size";
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE && !cursor_u64(c, &out->code_page_size))
		return "code page size";
	if (type & PERF_SAMPLE_AUX &&
	    (!cursor_u64(c, &n) || n > cursor_left(c) || !cursor_skip(c, (size_t)n)))
		return "AUX data";
	return NULL;
}

/* Everything of variable size. */
#define SAMPLE_VARIABLE                                                                            \
	(~(uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |                   \
		     PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |                        \
		     PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD))

/* swap: layout->swap, a constant for the compiler. */
static inline __attribute__((always_inline)) const char *
decode_as(const struct sample_layout *layout, struct cursor *c, struct sample *out, bool swap)
{
	const uint8_t *rec = c->base, *body = rec + HEADER_SIZE;
	uint16_t misc;

	if (c->size < layout->fixed) {
		c->pos = c->size;
		return "fixed fields";
	}
	sample_clear(out);
	memcpy(&misc, rec + offsetof(struct perf_event_header, misc), 2);
	out->misc = swap ? bswap_16(misc) : misc;
	out->cpumode = out->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	out->has = layout->type;
	out->period = layout->attr->sample_period;
	if (layout->ip >= 0)
		out->ip = load_u64(body + layout->ip * 8, swap);
	if (layout->tid >= 0) {
		out->pid = (int32_t)load_u32(body + layout->tid * 8, swap);
		out->tid = (int32_t)load_u32(body + layout->tid * 8 + 4, swap);
	}
	if (layout->time >= 0)
		out->time = load_u64(body + layout->time * 8, swap);
	if (layout->addr >= 0)
		out->addr = load_u64(body + layout->addr * 8, swap);
	if (layout->id >= 0)
		out->id = load_u64(body + layout->id * 8, swap);
	if (layout->stream_id >= 0)
		out->stream_id = load_u64(body + layout->stream_id * 8, swap);
	if (layout->cpu >= 0)
		out->cpu = (int32_t)load_u32(body + layout->cpu * 8, swap);
	if (layout->period >= 0)
		out->period = load_u64(body + layout->period * 8, swap);
	if (!(layout->type & SAMPLE_VARIABLE))
		return NULL;
	c->pos = layout->fixed;
	return decode_variable(layout, c, out);
}

static const char *layout_decode(const struct sample_layout *layout, struct cursor *c,
				 struct sample *out)
{
	return layout->swap ? decode_as(layout, c, out, true) : decode_as(layout, c, out, false);
}

bool sample_has_only_stack(const struct sample *sample)
{
	if (!(sample->has & PERF_SAMPLE_STACK_USER))
		return false;
	for (uint64_t i = 0; i < sample->chain.n; i++)
		if (u64_array_at(&sample->chain, i) < PERF_CONTEXT_MAX)
			return false;
	return true;
}

bool sample_layout_decode(const struct sample_layout *layout, const void *rec, size_t size,
			  struct sample *out)
{
	struct cursor c = {.base = rec, .size = size, .swap = layout->swap};

	return !layout_decode(layout, &c, out);
}

static struct cursor rest_of(const struct cursor *c)
{
	return (struct cursor){
		.base = c->base + c->pos,
		.size = cursor_left(c),
		.swap = c->swap,
		.name = c->name,
		.origin = c->origin + c->pos,
	};
}

struct error *sample_decode(const struct perf_event_attr *attr, struct cursor c, struct sample *out)
{
	struct sample_layout layout;
	struct sample sample;
	struct cursor rec = rest_of(&c);

	sample_layout_init(&layout, attr, rec.swap);
	const char *cut = layout_decode(&layout, &rec, &sample);
	if (cut)
		return cursor_error(&rec, "the sample's %s end past the end of the record", cut);
	*out = sample;
	return NULL;
}

bool sample_layout_id_decode(const struct sample_layout *layout, const void *rec, size_t size,
			     struct sample *out)
{
	bool swap = layout->swap;
	uint16_t misc;

	if (size < HEADER_SIZE + layout->id_all)
		return false;
	const uint8_t *end = (const uint8_t *)rec + size;
	sample_clear(out);
	memcpy(&misc, (const uint8_t *)rec + offsetof(struct perf_event_header, misc), 2);
	out->misc = swap ? bswap_16(misc) : misc;
	out->cpumode = out->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (!layout->id_all)
		return true;
	out->has = layout->type & SAMPLE_ID_FIELDS;
	if (layout->back_tid >= 0) {
		out->pid = (int32_t)load_u32(end - layout->back_tid * 8, swap);
		out->tid = (int32_t)load_u32(end - layout->back_tid * 8 + 4, swap);
	}
	if (layout->back_time >= 0)
		out->time = load_u64(end - layout->back_time * 8, swap);
	if (layout->back_id >= 0)
		out->id = load_u64(end - layout->back_id * 8, swap);
	if (layout->back_stream_id >= 0)
		out->stream_id = load_u64(end - layout->back_stream_id * 8, swap);
	if (layout->back_cpu >= 0)
		out->cpu = (int32_t)load_u32(end - layout->back_cpu * 8, swap);
	return true;
}

int sample_id_pos(const struct perf_event_attr *attr)
{
	struct sample_layout layout;

	sample_layout_init(&layout, attr, false);
	return attr->sample_type & PERF_SAMPLE_IDENTIFIER ? 0 : layout.id;
}

int sample_id_pos_back(const struct perf_event_attr *attr)
{
	struct sample_layout layout;

	sample_layout_init(&layout, attr, false);
	return layout.back_id;
}

size_t sample_id_size(const struct perf_event_attr *attr)
{
	return attr->sample_id_all ? popcount64(attr->sample_type & SAMPLE_ID_FIELDS) * 8 : 0;
}

static const char *const type_names[] = {
	[PERF_RECORD_MMAP] = "MMAP",
	[PERF_RECORD_LOST] = "LOST",
	[PERF_RECORD_COMM] = "COMM",
	[PERF_RECORD_EXIT] = "EXIT",
	[PERF_RECORD_THROTTLE] = "THROTTLE",
	[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[PERF_RECORD_FORK] = "FORK",
	[PERF_RECORD_READ] = "READ",
	[PERF_RECORD_SAMPLE] = "SAMPLE",
	[PERF_RECORD_MMAP2] = "MMAP2",
	[PERF_RECORD_AUX] = "AUX",
	[PERF_RECORD_ITRACE_START] = "ITRACE_START",
	[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[PERF_RECORD_SWITCH] = "SWITCH",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PERF_RECORD_NAMESPACES] = "NAMESPACES",
	[PERF_RECORD_KSYMBOL] = "KSYMBOL",
	[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
	[PERF_RECORD_CGROUP] = "CGROUP",
	[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[RECORD_HEADER_ATTR] = "ATTR",
	[RECORD_HEADER_EVENT_TYPE] = "EVENT_TYPE",
	[RECORD_HEADER_TRACING_DATA] = "TRACING_DATA",
	[RECORD_HEADER_BUILD_ID] = "BUILD_ID",
	[RECORD_FINISHED_ROUND] = "FINISHED_ROUND",
	[RECORD_ID_INDEX] = "ID_INDEX",
	[RECORD_AUXTRACE_INFO] = "AUXTRACE_INFO",
	[RECORD_AUXTRACE] = "AUXTRACE",
	[RECORD_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
	[RECORD_THREAD_MAP] = "THREAD_MAP",
	[RECORD_CPU_MAP] = "CPU_MAP",
	[RECORD_STAT_CONFIG] = "STAT_CONFIG",
	[RECORD_STAT] = "STAT",
	[RECORD_STAT_ROUND] = "STAT_ROUND",
	[RECORD_EVENT_UPDATE] = "EVENT_UPDATE",
	[RECORD_TIME_CONV] = "TIME_CONV",
	[RECORD_HEADER_FEATURE] = "FEATURE",
	[RECORD_COMPRESSED] = "COMPRESSED",
	[RECORD_FINISHED_INIT] = "FINISHED_INIT",
	[RECORD_COMPRESSED2] = "COMPRESSED2",
};

const char *record_type_name(uint32_t type)
{
	return type < ARRAY_SIZE(type_names) ? type_names[type] : NULL;
}
