// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reading the header of a perf.data file: magic, attrs with their ids, and
 * the table of features behind the data.
 *
 * The magic number tells the byte order. The attrs are as large as the perf
 * that wrote them had them; attr.size says how much of that is meant. In a
 * file of the other byte order the flags of an attr need care: a compiler
 * lays out bit fields from the other end of each byte.
 *
 * Nothing here is fatal that leaves records readable: a file that was cut off
 * in its data section, or whose features make no sense, is warned of.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "perf/data/internal.h"
#include "perf/event/event.h"

#define ATTR_SIZE_MIN 64	/* PERF_ATTR_SIZE_VER0 */
#define IDS_MAX	      (4 << 20) /* of all events */

bool data_is_perf_data(const void *bytes, size_t size)
{
	uint64_t magic;

	if (size < 8)
		return false;
	memcpy(&magic, bytes, 8);
	return magic == DATA_MAGIC || magic == bswap_64(DATA_MAGIC);
}

bool data_is_pipe(const void *bytes, size_t size)
{
	uint64_t header_size;

	if (!data_is_perf_data(bytes, size) || size < DATA_PIPE_HEADER_SIZE)
		return false;
	memcpy(&header_size, (const uint8_t *)bytes + 8, 8);
	return header_size == DATA_PIPE_HEADER_SIZE ||
	       header_size == bswap_64(DATA_PIPE_HEADER_SIZE);
}

static struct error *decode_magic(struct cursor *c)
{
	uint64_t magic;

	if (!cursor_u64(c, &magic))
		return cursor_error(c, "is too short to be a perf.data file");
	if (magic == bswap_64(DATA_MAGIC)) {
		c->swap = true;
		return NULL;
	}
	if (magic == DATA_MAGIC)
		return NULL;
	c->pos = 0;
	struct error *err = cursor_error(c, "is not a perf.data file");
	if (!memcmp(c->base, "PERFFILE", 8))
		return error_hint(
			err, "it has the format of perf before Linux 3.0; an old perf can read it");
	return error_hint(err, "perf record and perf-bpf record write perf.data files");
}

struct error *data_header_decode_pipe(struct cursor *c, struct data_header *out)
{
	uint64_t size;

	TRY(decode_magic(c));
	if (!cursor_u64(c, &size))
		return cursor_error(c, "is too short to be a perf.data file");
	if (size != DATA_PIPE_HEADER_SIZE)
		return cursor_error(c, "the header size is %" PRIu64 "; in pipe mode it must be %d",
				    size, DATA_PIPE_HEADER_SIZE);
	out->swap = c->swap;
	out->pipe = true;
	return NULL;
}

/* Bit fields come from the other end of each byte. */
static uint64_t swap_flags(uint64_t raw)
{
	uint8_t b[8];

	memcpy(b, &raw, 8);
	for (int i = 0; i < 8; i++) {
		uint8_t v = b[i], r = 0;
		for (int bit = 0; bit < 8; bit++)
			r |= (uint8_t)((v >> bit & 1) << (7 - bit));
		b[i] = r;
	}
	memcpy(&raw, b, 8);
	return raw;
}

#define SWAP64(v) ((v) = bswap_64(v))
#define SWAP32(v) ((v) = bswap_32(v))

static void swap_attr(struct perf_event_attr *a)
{
	uint64_t flags;

	SWAP32(a->type);
	SWAP64(a->config);
	SWAP64(a->sample_period);
	SWAP64(a->sample_type);
	SWAP64(a->read_format);
	memcpy(&flags, (char *)a + offsetof(struct perf_event_attr, read_format) + 8, 8);
	flags = swap_flags(flags);
	memcpy((char *)a + offsetof(struct perf_event_attr, read_format) + 8, &flags, 8);
	/* The one flag of two bits has these turned about, too. */
	a->precise_ip = (uint64_t)((a->precise_ip & 1) << 1 | a->precise_ip >> 1) & 3;
	SWAP32(a->wakeup_events);
	SWAP32(a->bp_type);
	SWAP64(a->bp_addr);
	SWAP64(a->bp_len);
	SWAP64(a->branch_sample_type);
	SWAP64(a->sample_regs_user);
	SWAP32(a->sample_stack_user);
	a->clockid = (int32_t)bswap_32((uint32_t)a->clockid);
	SWAP64(a->sample_regs_intr);
	SWAP32(a->aux_watermark);
	a->sample_max_stack = bswap_16(a->sample_max_stack);
	SWAP32(a->aux_sample_size);
	SWAP64(a->sig_data);
}

struct error *data_attr_decode(struct cursor *c, size_t max, struct perf_event_attr *out)
{
	struct perf_event_attr attr = {0};
	struct cursor peek = *c;
	uint32_t size;

	if (!cursor_skip(&peek, offsetof(struct perf_event_attr, size)) ||
	    !cursor_u32(&peek, &size))
		return cursor_error(c, "an event's attr ends too early");
	if (!size)
		size = ATTR_SIZE_MIN;
	if (size < ATTR_SIZE_MIN || size > max)
		return cursor_error(c,
				    "the size of an event's attr is %u bytes; %d to %zu are valid",
				    size, ATTR_SIZE_MIN, max);
	const void *p = cursor_bytes(c, size);
	if (!p)
		return cursor_error(c, "an event's attr ends too early");
	memcpy(&attr, p, min_of((size_t)size, sizeof(attr)));
	attr.size = size;
	if (c->swap)
		swap_attr(&attr);
	*out = attr;
	return NULL;
}

struct data_event *data_header_add_event(struct data_header *h)
{
	struct data_event *events = reallocarray(h->events, h->n_events + 1, sizeof(*events));

	if (!events)
		return NULL;
	h->events = events;
	memset(&events[h->n_events], 0, sizeof(*events));
	return &events[h->n_events++];
}

static bool get_section(struct cursor *c, struct data_section *s)
{
	return cursor_u64(c, &s->offset) && cursor_u64(c, &s->size);
}

/*
 * room: how many ids there may still be. Those of a hole cost a file nothing, and events may share
 * theirs. Each file descriptor of a recorder has one.
 */
static struct error *decode_ids(const struct cursor *file, const struct data_section *section,
				struct data_event *ev, size_t *room)
{
	struct cursor c;

	if (!section->size)
		return NULL;
	if (!cursor_sub(file, section->offset, section->size, &c))
		return cursor_error(file,
				    "the ids of event %s are outside the file: 0x%" PRIx64
				    " bytes at 0x%" PRIx64,
				    ev->name ? ev->name : "", section->size, section->offset);
	size_t n = (size_t)(section->size / 8);
	if (n > *room)
		return cursor_error(file, "the events have more than %d ids", IDS_MAX);
	*room -= n;
	ev->ids = calloc(n, sizeof(*ev->ids));
	if (!ev->ids)
		return error_nomem();
	for (size_t i = 0; i < n; i++)
		cursor_u64(&c, &ev->ids[i]);
	ev->n_ids = n;
	return NULL;
}

/* An array of { attr, section of its ids }, attr_size bytes each. */
static struct error *decode_attrs(const struct cursor *file, const struct data_section *section,
				  uint64_t attr_size, struct data_header *h)
{
	struct cursor attrs, c;
	size_t room = IDS_MAX;

	if (attr_size < ATTR_SIZE_MIN + sizeof(struct data_section) || attr_size > section->size)
		return cursor_error(file,
				    "the header gives attrs of %" PRIu64
				    " bytes in a section of %" PRIu64,
				    attr_size, section->size);
	if (!cursor_sub(file, section->offset, section->size, &attrs))
		return cursor_error(file,
				    "the attrs are outside the file: 0x%" PRIx64
				    " bytes at 0x%" PRIx64,
				    section->size, section->offset);
	while (cursor_take(&attrs, attr_size, &c)) {
		struct perf_event_attr attr;
		struct data_section ids;

		TRY(data_attr_decode(&c, (size_t)attr_size - sizeof(ids), &attr));
		/* perf reads the ids right behind the attr, whatever room was left for it. */
		if (!get_section(&c, &ids))
			return cursor_error(&c, "an event's attr ends too early");
		struct data_event *ev = data_header_add_event(h);
		if (!ev)
			return error_nomem();
		ev->attr = attr;
		TRY(decode_ids(file, &ids, ev, &room));
	}
	return NULL;
}

static bool bit_is_set(const uint64_t *bits, unsigned int bit)
{
	return bits[bit / 64] >> (bit % 64) & 1;
}

/*
 * In the other byte order, the bitmap was an array of unsigned long, whose
 * size nobody tells: HOSTNAME, which every perf sets, shows the right guess.
 */
static void decode_feature_bits(struct cursor c, uint64_t *bits)
{
	const uint8_t *raw = c.base + c.pos;

	for (int i = 0; i < DATA_FEATURE_BITS / 64; i++)
		cursor_u64(&c, &bits[i]);
	if (!c.swap || bit_is_set(bits, DATA_HOSTNAME) || !memcmp(bits, (uint64_t[4]){0}, 32))
		return;
	for (int i = 0; i < DATA_FEATURE_BITS / 64; i++) {
		uint32_t low, high;
		memcpy(&low, raw + i * 8, 4);
		memcpy(&high, raw + i * 8 + 4, 4);
		bits[i] = bswap_32(low) | (uint64_t)bswap_32(high) << 32;
	}
	if (!bit_is_set(bits, DATA_HOSTNAME)) {
		memset(bits, 0, DATA_FEATURE_BITS / 8);
		bits[0] = 1ull << DATA_BUILD_ID;
	}
}

static bool overlaps(const struct data_section *a, const struct data_section *b)
{
	return a->offset < b->offset ? a->size > b->offset - a->offset
				     : b->size > a->offset - b->offset;
}

/*
 * attrs: where the events are. 'perf inject' of 7.2 that reads a pipe writes them over the table of
 * build-ids, which is also in the data, as records.
 */
static struct error *decode_features(const struct cursor *file, const uint64_t *bits,
				     const struct data_section *attrs, const struct log *log,
				     struct data_header *h)
{
	struct cursor table, c;

	if (!cursor_sub(file, h->data_offset + h->data_size,
			file->size - h->data_offset - h->data_size, &table))
		return NULL;
	for (unsigned int bit = 0; bit < DATA_FEATURE_BITS; bit++) {
		struct data_section s;

		if (!bit_is_set(bits, bit))
			continue;
		if (!get_section(&table, &s)) {
			log_warn(log, "%s: the feature table is truncated at feature %u",
				 file->name, bit);
			h->features_cut = true;
			return NULL;
		}
		if (bit == DATA_CHECKPOINT_BIT) {
			h->unclean = true;
			continue;
		}
		const char *name = data_feature_name(bit);
		if (!cursor_sub(file, s.offset, s.size, &c)) {
			h->features_cut = true;
			log_warn(log,
				 "%s: feature %s is outside the file: 0x%" PRIx64
				 " bytes at 0x%" PRIx64,
				 file->name, name ? name : "?", s.size, s.offset);
			continue;
		}
		if (overlaps(&s, attrs)) {
			log_info(log, "%s: feature %s is overwritten by the events", file->name,
				 name ? name : "?");
			continue;
		}
		struct error *err = data_feature_decode(h, bit, c);
		if (err && err->code == ENOMEM)
			return err;
		if (err)
			log_warn(log, "%s: %s", err->where ? err->where : file->name, err->msg);
		error_free(err);
	}
	return NULL;
}

static struct error *decode(struct cursor *c, const struct log *log, struct data_header *h)
{
	struct data_section attrs, data, event_types;
	uint64_t header_size, attr_size, bits[DATA_FEATURE_BITS / 64] = {0};

	TRY(decode_magic(c));
	h->swap = c->swap;
	if (!cursor_u64(c, &header_size) || !cursor_u64(c, &attr_size) || !get_section(c, &attrs) ||
	    !get_section(c, &data) || !get_section(c, &event_types))
		return cursor_error(c, "the header is truncated");
	if (header_size == sizeof(struct data_file_header)) {
		if (cursor_left(c) < sizeof(bits))
			return cursor_error(c, "the header is truncated");
		decode_feature_bits(*c, bits);
	} else if (header_size != offsetof(struct data_file_header, features)) {
		c->pos = 8;
		return cursor_error(c, "the header has the invalid size %" PRIu64, header_size);
	}
	c->pos = 0;
	if (data.offset > c->size || data.offset < header_size) {
		c->pos = offsetof(struct data_file_header, data);
		return cursor_error(c,
				    "the header says that the data begin at 0x%" PRIx64
				    ", but the file has only 0x%zx bytes",
				    data.offset, c->size);
	}
	h->data_offset = data.offset;
	h->data_size = data.size;
	if (!data.size) {
		h->unclean = true;
		h->data_size = c->size - data.offset;
		log_warn(log,
			 "%s: the header gives no data size: the recording was killed; reading to "
			 "the end of the file",
			 c->name);
	} else if (data.size > c->size - data.offset) {
		h->unclean = true;
		h->data_size = c->size - data.offset;
		h->missing = data.size - h->data_size;
		log_warn(log,
			 "%s: truncated: the data end at 0x%zx; 0x%" PRIx64
			 " bytes and the header features are missing",
			 c->name, c->size, data.size - h->data_size);
	}
	TRY(decode_attrs(c, &attrs, attr_size, h));
	if (data.size && h->data_size == data.size)
		TRY(decode_features(c, bits, &attrs, log, h));
	return NULL;
}

struct error *data_header_decode(const void *bytes, uint64_t size, const char *name,
				 const struct log *log, struct data_header *out)
{
	struct cursor c = cursor_make(bytes, (size_t)size, name);
	struct data_header h = {0};
	struct error *err = decode(&c, log, &h);

	if (err) {
		data_header_deinit(&h);
		return err;
	}
	*out = h;
	return NULL;
}

void data_header_deinit(struct data_header *h)
{
	for (size_t i = 0; i < h->n_events; i++) {
		free(h->events[i].name);
		free(h->events[i].ids);
	}
	free(h->events);
	free(h->cmdline);
	free(h->build_ids);
	free(h->pmus);
	free(h->pmu_caps);
	free(h->groups);
	free(h->bpf_progs);
	free(h->btfs);
	*h = (struct data_header){0};
}
