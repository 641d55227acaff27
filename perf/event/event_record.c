// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decoding the kernel's records other than samples. A string in them ends
 * with a NUL within the record, or the record is damaged: what stands behind
 * it is not looked at.
 */
#include "perf/event/encode.h"
#include "perf/event/event.h"

#include <string.h>
#include <sys/mman.h>

#include "perf/event/internal.h"

/* A cursor over the body; the header is checked to be there. */
static bool body_of(struct cursor *c, struct perf_event_header *h)
{
	return record_header_peek(c, h) && cursor_skip(c, sizeof(*h));
}

static struct error *cut(const struct cursor *c, const struct perf_event_header *h)
{
	const char *name = h ? record_type_name(h->type) : NULL;

	return cursor_error(c, "the %s record ends too early", name ? name : "perf");
}

static bool cursor_s32(struct cursor *c, int32_t *v)
{
	return cursor_u32(c, (uint32_t *)v);
}

#define BUILD_ID_SIZE 20
#define MAX_MINOR     0xfffffu

/*
 * Linux shares the header between all recordings of a mapping and never takes the bit back
 * (perf_event_mmap_output(), 6.18): while somebody records with build ids, others' records have it
 * beside a device and an inode. A build id is of 8 to 20 bytes between zeros. Major numbers of
 * disks can look like such a size (8: sd), but a minor number is small; none in use is 16 to 20.
 */
static bool has_build_id(struct cursor c, const struct perf_event_header *h)
{
	static const uint8_t zeros[BUILD_ID_SIZE];
	uint8_t size;
	uint32_t minor;

	if (!(h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) || !cursor_u8(&c, &size) || size < 8 ||
	    size > BUILD_ID_SIZE)
		return false;
	const uint8_t *zero = cursor_bytes(&c, 3), *id = c.base + c.pos;
	return zero && !memcmp(zero, zeros, 3) && cursor_u32(&c, &minor) &&
	       cursor_skip(&c, BUILD_ID_SIZE - sizeof(minor)) &&
	       (size >= 16 ||
		(minor > MAX_MINOR && !memcmp(id + size, zeros, BUILD_ID_SIZE - size)));
}

/* Of records that do not say it. */
static uint32_t prot_of_mmap(const struct perf_event_header *h)
{
	return h->misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : PROT_EXEC;
}

static bool begins_with_text(struct cursor c)
{
	uint8_t first, second;

	return cursor_u8(&c, &first) && cursor_u8(&c, &second) && first >= ' ' && first <= '~' &&
	       second >= ' ' && second <= '~';
}

struct error *record_mmap_decode(struct cursor c, struct record_mmap *out)
{
	struct perf_event_header h;
	struct record_mmap m = {0};

	if (!body_of(&c, &h))
		return cut(&c, NULL);
	if (!cursor_s32(&c, &m.pid) || !cursor_s32(&c, &m.tid) || !cursor_u64(&c, &m.addr) ||
	    !cursor_u64(&c, &m.len) || !cursor_u64(&c, &m.pgoff))
		return cut(&c, &h);
	if (h.type == PERF_RECORD_MMAP2) {
		if (has_build_id(c, &h)) {
			cursor_u8(&c, &m.build_id_size);
			cursor_skip(&c, 3);
			m.build_id = cursor_bytes(&c, BUILD_ID_SIZE);
		} else if (!cursor_u32(&c, &m.maj) || !cursor_u32(&c, &m.min) ||
			   !cursor_u64(&c, &m.ino) || !cursor_u64(&c, &m.ino_generation)) {
			return cut(&c, &h);
		}
		struct cursor name = c;
		if (!cursor_u32(&c, &m.prot) || !cursor_u32(&c, &m.flags))
			return cut(&c, &h);
		/*
		 * The first kernels that had MMAP2 (3.12 to 3.15, and CentOS 7's) wrote neither:
		 * the name begins here. The kernel writes no other bits into prot, but perf inject
		 * --jit writes the mode of a file there, whose bytes are not those of a name.
		 */
		if (m.prot > (PROT_READ | PROT_WRITE | PROT_EXEC) && begins_with_text(name)) {
			m.prot = prot_of_mmap(&h);
			m.flags = 0;
			c = name;
		}
	} else {
		m.prot = prot_of_mmap(&h);
	}
	m.filename = cursor_cstr(&c);
	if (!m.filename)
		return cut(&c, &h);
	*out = m;
	return NULL;
}

struct error *record_comm_decode(struct cursor c, struct record_comm *out)
{
	struct perf_event_header h;
	struct record_comm m = {0};

	if (!body_of(&c, &h))
		return cut(&c, NULL);
	if (!cursor_s32(&c, &m.pid) || !cursor_s32(&c, &m.tid) || !(m.comm = cursor_cstr(&c)))
		return cut(&c, &h);
	m.exec = h.misc & PERF_RECORD_MISC_COMM_EXEC;
	*out = m;
	return NULL;
}

struct error *record_task_decode(struct cursor c, struct record_task *out)
{
	struct perf_event_header h;
	struct record_task m = {0};

	if (!body_of(&c, &h))
		return cut(&c, NULL);
	if (!cursor_s32(&c, &m.pid) || !cursor_s32(&c, &m.ppid) || !cursor_s32(&c, &m.tid) ||
	    !cursor_s32(&c, &m.ptid) || !cursor_u64(&c, &m.time))
		return cut(&c, &h);
	*out = m;
	return NULL;
}

struct error *record_lost_decode(struct cursor c, struct record_lost *out)
{
	struct perf_event_header h;
	struct record_lost m = {0};

	if (!body_of(&c, &h))
		return cut(&c, NULL);
	if (h.type == PERF_RECORD_LOST && !cursor_u64(&c, &m.id))
		return cut(&c, &h);
	if (!cursor_u64(&c, &m.lost))
		return cut(&c, &h);
	*out = m;
	return NULL;
}

struct error *record_ksymbol_decode(struct cursor c, struct record_ksymbol *out)
{
	struct perf_event_header h;
	struct record_ksymbol m = {0};

	if (!body_of(&c, &h))
		return cut(&c, NULL);
	if (!cursor_u64(&c, &m.addr) || !cursor_u32(&c, &m.len) || !cursor_u16(&c, &m.type) ||
	    !cursor_u16(&c, &m.flags) || !(m.name = cursor_cstr(&c)))
		return cut(&c, &h);
	*out = m;
	return NULL;
}

struct error *record_bpf_event_decode(struct cursor c, struct record_bpf_event *out)
{
	struct perf_event_header h;
	struct record_bpf_event m = {0};

	if (!body_of(&c, &h))
		return cut(&c, NULL);
	if (!cursor_u16(&c, &m.type) || !cursor_u16(&c, &m.flags) || !cursor_u32(&c, &m.id) ||
	    !(m.tag = cursor_bytes(&c, 8)))
		return cut(&c, &h);
	*out = m;
	return NULL;
}

struct error *record_cgroup_decode(struct cursor c, struct record_cgroup *out)
{
	struct perf_event_header h;
	struct record_cgroup m = {0};

	if (!body_of(&c, &h))
		return cut(&c, NULL);
	if (!cursor_u64(&c, &m.id) || !(m.path = cursor_cstr(&c)))
		return cut(&c, &h);
	*out = m;
	return NULL;
}

struct error *record_namespaces_decode(struct cursor c, struct record_namespaces *out)
{
	struct perf_event_header h;
	struct record_namespaces m = {0};
	uint64_t n;

	if (!body_of(&c, &h))
		return cut(&c, NULL);
	if (!cursor_s32(&c, &m.pid) || !cursor_s32(&c, &m.tid) || !cursor_u64(&c, &n) ||
	    n > cursor_left(&c) / 16)
		return cut(&c, &h);
	m.links = (struct u64_array){cursor_bytes(&c, (size_t)n * 16), n * 2, c.swap};
	*out = m;
	return NULL;
}

const char *namespace_name(uint64_t link)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};

	return link < ARRAY_SIZE(names) ? names[link] : "unknown";
}

bool record_ledger_decode(struct cursor c, struct record_ledger *out)
{
	struct record_ledger m = {0};
	struct perf_event_header h;
	uint64_t magic;
	uint32_t reserved;

	if (!body_of(&c, &h) || h.type != RECORD_HEADER_EVENT_TYPE)
		return false;
	bool swap = c.swap;
	c.swap = false;
	if (!cursor_u64(&c, &magic) || magic != LEDGER_MAGIC)
		return false;
	c.swap = swap;
	if (!cursor_u32(&c, &m.kind) || !cursor_u32(&c, &reserved) || !cursor_u64(&c, &m.id) ||
	    !cursor_u64(&c, &m.count) || !(m.name = cursor_cstr(&c)))
		return false;
	*out = m;
	return true;
}

struct error *record_text_poke_decode(struct cursor c, struct record_text_poke *out)
{
	struct perf_event_header h;
	struct record_text_poke m = {0};

	if (!body_of(&c, &h))
		return cut(&c, NULL);
	if (!cursor_u64(&c, &m.addr) || !cursor_u16(&c, &m.old_len) ||
	    !cursor_u16(&c, &m.new_len) ||
	    !(m.bytes = cursor_bytes(&c, (size_t)m.old_len + m.new_len)))
		return cut(&c, &h);
	*out = m;
	return NULL;
}
